/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define US     INT64_C(1000)
#define START  (1700000000 * SECOND)

/* What NAT of a node shows of all hosts behind it: this and the node's number. */
#define OUTSIDE UINT32_C(0xcb007100)

enum { SEGMENT = 1000, MAX_SEGMENTS = 8, SNAP = 160 };

/* Who talks: hosts of the path, or of a network behind one of its routers. */
struct talk {
	uint32_t from, to; /* nodes; from < to */
	bool beyond[2];	   /* the host itself stands behind that node */
	uint32_t address[2];
	uint16_t port[2];
	uint8_t proto;
	uint32_t seq[2];
	bool constant; /* datagrams say the same again and again */
};

static uint64_t below(struct path *p, uint64_t n)
{
	return usk_rng_below(&p->r, n);
}

static bool chance(struct path *p, double share)
{
	return usk_rng_unit(&p->r) < share;
}

/* ---- captures -------------------------------------------------------------------------------- */

static int64_t local(const struct watch *w, int64_t t)
{
	return t + w->offset_ns + (t - START) / 1000 * w->rate_e9 / 1000000;
}

/* ---- the way --------------------------------------------------------------------------------- */

/* A packet at an interface of a node. */
struct passing {
	uint32_t node;
	bool right, going;
	bool tagged; /* of what goes to a group */
	int64_t t;
	struct packet k;
};

enum { PASSINGS = 2 * NODES };

/* What a node makes of a packet that it forwards. NAT hides all to its left behind an address. */
static void change(const struct path *p, const struct talk *c, uint32_t node, bool to_right,
		   struct packet *k)
{
	uint16_t port = (uint16_t)(0x1111 * node);
	k->ttl = (uint8_t)(k->ttl - (p->node[node] == ROUTER || p->node[node] == NAT));
	if (p->node[node] != NAT) {
		return;
	}
	if (to_right) {
		k->src = OUTSIDE + node;
		k->sport ^= port;
		return;
	}
	k->dst = c->address[0];
	k->dport ^= port;
	for (uint32_t i = c->from; i < node; i++) {
		k->dst = p->node[i] == NAT ? OUTSIDE + i : k->dst;
	}
	k->ip_id = p->ids_anew ? (uint16_t)(k->ip_id * 7919u + 13) : k->ip_id;
}

/* Where a packet passes from t on; how often. *arrived: it was not lost on the way. */
static size_t travel(struct path *p, const struct talk *c, int side, struct packet k, int64_t t,
		     struct passing *out, bool *arrived)
{
	bool right = !side;
	uint32_t i = right ? c->from : c->to, last = right ? c->to : c->from;
	size_t n = 0;
	bool comes = c->beyond[side];
	for (*arrived = false;;) {
		if (comes) {
			out[n++] = (struct passing){ i, !right, false, false, t, k };
			if (i == last && !c->beyond[!side]) {
				break;
			}
			t += 2 * US + (int64_t)below(p, 20000);
			change(p, c, i, right, &k);
		}
		out[n++] = (struct passing){ i, right, true, false, t, k };
		if (i == last) {
			break;
		}
		if (chance(p, p->loss)) {
			return n;
		}
		t += 10 * US + (int64_t)below(p, 100000);
		i += right ? 1u : -1u;
		comes = true;
	}
	*arrived = true;
	return n;
}

static void show(struct path *p, struct watch *w, const struct passing *x, uint64_t first,
		 uint32_t n)
{
	struct packet k = x->k;
	bool cooked = w->how == WATCH_COOKED || w->how == WATCH_COOKED2;
	if (x->t < w->from_ns || (w->how == WATCH_NIC && x->right != w->right) ||
	    chance(p, w->loss) || (w->only && k.src != w->only && k.dst != w->only)) {
		return;
	}
	/* The taps lie on the links: before what comes, behind what goes. */
	int64_t t = x->t + (w->how != WATCH_TAPS ? 0 : x->going ? 3000 : -300);
	k.link = w->how == WATCH_COOKED ? LINK_SLL : cooked ? LINK_SLL2 : LINK_ETHERNET;
	k.cooked = x->going ? 4 : p->node[w->node] == BRIDGE ? 3 : 0;
	w->shown = usk_room(w->shown, w->n, &w->cap, sizeof *w->shown);
	struct shown *s = &w->shown[w->n];
	*s = (struct shown){ .stamp_ns = local(w, t), .true_ns = t, .first = first, .n = n };
	s->iface = (w->how == WATCH_BOTH || w->how == WATCH_TAPS) && x->right;
	s->at = (uint32_t)w->data.n;
	s->group = k.multicast;
	s->wire = packet_bytes(&k, &w->data);
	s->captured = (uint32_t)w->data.n - s->at;
	s->order = w->n++;
}

/* A VLAN's own device, number 0, is above the one that has its tags, and that other packets pass.
 */
static void pass_vlan(struct path *p, struct watch *w, const struct passing *x, uint64_t first,
		      uint32_t n)
{
	struct passing on[2] = { *x, *x };
	bool plain = x->k.multicast && !x->tagged;
	struct passing *above = &on[!x->going], *under = &on[x->going];
	above->t += x->going ? 0 : 200;
	under->t += x->going ? 1500 : 0;
	under->k.tags = !plain;
	under->k.device = w->how == WATCH_COOKED2;
	for (int i = 0; i < 2; i++) {
		if (&on[i] == under ? !w->bonded || w->how != WATCH_NIC : w->bonded && !plain) {
			show(p, w, &on[i], first, n);
		}
	}
}

static void pass_bond(struct path *p, struct watch *w, const struct passing *x, uint64_t first,
		      uint32_t n)
{
	struct passing again = *x;
	show(p, w, x, first, n);
	if (!w->bonded) {
		return;
	}
	again.t += x->going ? 1500 : 200;
	if (w->how == WATCH_COOKED2) {
		/* Devices are told apart, and a busy host is in no hurry to pass on what came. Who
		 * answers had it from the last one, all of which are recorded. */
		bool late = !x->going && w->loss <= 0 && chance(p, 0.3);
		again.k.device++;
		again.t += late ? (int64_t)below(p, 8 * MS) : 0;
	}
	show(p, w, &again, first, n);
}

static void pass(struct path *p, const struct passing *x, uint64_t first, uint32_t n)
{
	for (int i = 0; i < 2; i++) {
		struct watch *w = &p->watch[i];
		if (w->node == x->node) {
			(p->vlan ? pass_vlan : pass_bond)(p, w, x, first, n);
		}
	}
}

/* n segments; offload at the ends shows them as one. When the last one arrives, 0: one is lost. */
static int64_t send(struct path *p, struct talk *c, int side, const struct packet *k, uint32_t n,
		    int64_t t)
{
	struct passing way[MAX_SEGMENTS][PASSINGS];
	size_t steps[MAX_SEGMENTS];
	bool all = true, cut = n > 1 && !c->beyond[side];
	for (uint32_t i = 0; i < n; i++) {
		struct packet piece = *k;
		bool arrived;
		piece.seq += i * k->payload;
		piece.ip_id = (uint16_t)(k->ip_id ? k->ip_id + i : 0);
		steps[i] = travel(p, c, side, piece, t + (int64_t)i * 200 * US, way[i], &arrived);
		all = all && arrived;
	}
	bool merge = all && n > 1 && !c->beyond[!side] && chance(p, 0.5);
	for (uint32_t i = 0; i < n; i++) {
		for (size_t m = cut; m + merge < steps[i]; m++) {
			pass(p, &way[i][m], p->packets + i, 1);
			/* The network makes a copy of what it carries. */
			struct passing copy = way[i][m];
			copy.t += 700;
			if (m && !copy.going && chance(p, p->doubling)) {
				pass(p, &copy, p->packets + i, 1);
			}
		}
	}
	if (cut) {
		way[0][0].k.payload *= n;
		pass(p, &way[0][0], p->packets, n);
	}
	struct passing *end = &way[0][steps[0] - 1];
	int64_t arrives = way[n - 1][steps[n - 1] - 1].t;
	if (merge) {
		end->t = arrives;
		end->k.payload = n * k->payload;
		pass(p, end, p->packets, n);
	}
	p->packets += n;
	p->id[side] = (uint16_t)(p->id[side] + n);
	return all ? arrives : 0;
}

/* ---- traffic --------------------------------------------------------------------------------- */

static struct packet packet_of(struct path *p, const struct talk *c, int side, int64_t t)
{
	struct packet k = { .v6 = p->v6,
			    .proto = c->proto,
			    .src = c->address[side],
			    .dst = c->address[!side],
			    .sport = c->port[side],
			    .dport = c->port[!side],
			    .ip_id = p->no_ids ? 0 : p->id[side],
			    .ttl = 64,
			    .window = 500,
			    .timestamps = p->ticks,
			    .tsval = (uint32_t)((t - START) / (4 * MS)) + 1000 };
	k.tsecr = k.tsval - 1;
	for (uint32_t i = c->from; i <= c->to && side; i++) {
		if (p->node[i] == NAT) {
			k.dst = OUTSIDE + i;
			k.dport ^= (uint16_t)(0x1111 * i);
		}
	}
	return k;
}

/* Bytes one way, and the acknowledgement of what arrived; sent anew if lost, or without need. */
static int64_t exchange(struct path *p, struct talk *c, int64_t t)
{
	int side = (int)below(p, 2);
	uint32_t n = p->offload ? 1 + (uint32_t)below(p, MAX_SEGMENTS) : 1;
	for (int64_t arrives = 0; !arrives;) {
		struct packet k = packet_of(p, c, side, t);
		k.seq = c->seq[side];
		k.ack = c->seq[!side];
		k.payload = SEGMENT;
		arrives = send(p, c, side, &k, n, t);
		if (arrives && chance(p, 0.03)) {
			arrives = 0;
			t += (int64_t)below(p, 300) * US;
		} else if (!arrives) {
			t += 200 * MS + (int64_t)below(p, 5) * MS;
		} else {
			t = arrives + 20 * US + (int64_t)below(p, 200000);
		}
	}
	c->seq[side] += n * SEGMENT;
	uint32_t acks = 1 + chance(p, 0.05);
	uint16_t window = (uint16_t)(500 + below(p, 3));
	for (uint32_t i = 0; i < acks; i++) {
		struct packet ack = packet_of(p, c, !side, t);
		ack.seq = c->seq[!side];
		ack.ack = c->seq[side];
		ack.window = window;
		send(p, c, !side, &ack, 1, t + (int64_t)i * 50 * US);
	}
	return t;
}

static void talk_tcp(struct path *p, struct talk *c, int64_t t, uint64_t rounds)
{
	for (int side = 0; side < 2; side++) {
		c->seq[side] = (uint32_t)usk_rng_next(&p->r);
	}
	for (uint64_t i = 0; i < rounds; i++) {
		t = exchange(p, c, t) + (int64_t)below(p, 20) * MS;
	}
}

static void talk_datagrams(struct path *p, struct talk *c, int64_t t, uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		int side = c->proto == ICMP ? 0 : (int)below(p, 2);
		struct packet k = packet_of(p, c, side, t);
		k.payload = 100;
		k.content = c->constant ? 7 : usk_rng_next(&p->r);
		k.dport = c->proto == ICMP ? (uint16_t)i : k.dport;
		int64_t arrives = send(p, c, side, &k, 1, t);
		if (arrives && c->proto == ICMP) {
			struct packet answer = packet_of(p, c, 1, arrives);
			answer.payload = 100;
			answer.content = k.content;
			answer.flags = 254; /* an answer's type is 0, which the builder has no way
					       to say: any other one will do */
			answer.sport = packet_of(p, c, 1, arrives).dport;
			answer.dport = (uint16_t)i;
			send(p, c, 1, &answer, 1, arrives + 5 * US + (int64_t)below(p, 50000));
		}
		t += (int64_t)below(p, 40) * MS;
	}
}

/* To all on a link, alike on a VLAN and beside it: one of them, some time after the other. */
static void solicit(struct path *p, int64_t t, bool tagged)
{
	uint32_t node = (uint32_t)below(p, p->n - 1);
	bool right = below(p, 2);
	uint32_t from = right ? node : node + 1, to = right ? node + 1 : node;
	struct packet k = { .v6 = p->v6,
			    .multicast = true,
			    .proto = UDP,
			    .src = UINT32_C(0x0a000001) + from,
			    .sport = 5353,
			    .dport = 5353,
			    .ttl = 255,
			    .payload = 60,
			    .content = usk_rng_next(&p->r) };
	for (int i = 0; i < 2; i++, tagged = !tagged) {
		struct passing out = { from, right, true, tagged, t, k };
		struct passing in = { to, !right, false, tagged, t, k };
		in.t += 10 * US + (int64_t)below(p, 20000);
		pass(p, &out, p->packets, 1);
		pass(p, &in, p->packets, 1);
		p->packets++;
		t += (int64_t)below(p, 700) * US;
	}
}

/* Hosts of the path, or such as stand behind a node between. */
static void draw_talk(struct path *p, struct talk *c, uint64_t number)
{
	static const uint8_t protos[] = { TCP, TCP, UDP, ICMP };
	*c = (struct talk){ .from = 0, .to = p->n - 1 };
	if (chance(p, 0.25)) {
		c->from = (uint32_t)below(p, p->n - 1);
	}
	if (chance(p, 0.25)) {
		c->to = c->from + 1 + (uint32_t)below(p, p->n - 1 - c->from);
	}
	c->beyond[0] = c->from > 0;
	c->beyond[1] = c->to < p->n - 1;
	c->address[0] = UINT32_C(0x0a000001) + c->from + (c->beyond[0] ? 64 : 0);
	c->address[1] = UINT32_C(0x0a000001) + c->to + (c->beyond[1] ? 128 : 0);
	c->proto = protos[below(p, COUNT(protos))];
	c->port[0] = (uint16_t)(40000 + number);
	c->port[1] = c->proto == ICMP ? 0 : (uint16_t)(80 + below(p, 2));
	c->constant = c->proto == UDP && chance(p, 0.2);
}

/* ---- a path ---------------------------------------------------------------------------------- */

static void draw_watch(struct path *p, struct watch *w)
{
	w->how = (enum watching)below(p, WATCH_KINDS);
	w->node = (uint32_t)below(p, p->n);
	w->right = w->node == 0 || (w->node + 1 < p->n && below(p, 2));
	w->bonded = chance(p, 0.15);
	w->loss = chance(p, 0.5) ? 0 : chance(p, 0.7) ? 0.01 : 0.2;
	w->from_ns = START + (chance(p, 0.3) ? (int64_t)below(p, 1000) * MS : 0);
	w->offset_ns = (int64_t)below(p, 2000000000) - 1000000000;
	w->rate_e9 = (int64_t)below(p, 100000) - 50000;
	if (chance(p, 0.15)) {
		w->only = chance(p, 0.5) ? UINT32_C(0x0a000001)
					 : OUTSIDE + 1 + (uint32_t)below(p, NODES - 2);
	}
}

void path_make(struct path *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	usk_rng_seed(&p->r, seed);
	p->from_ns = START;
	p->n = 2 + (uint32_t)below(p, NODES - 1);
	p->v6 = chance(p, 0.2);
	for (uint32_t i = 1; i + 1 < p->n; i++) {
		p->node[i] = (uint8_t)(1 + below(p, 3));
		p->node[i] = p->node[i] == NAT && p->v6 ? ROUTER : p->node[i];
	}
	p->no_ids = chance(p, 0.3);
	p->ids_anew = chance(p, 0.2);
	p->ticks = chance(p, 0.7);
	p->offload = chance(p, 0.4);
	p->loss = chance(p, 0.5) ? 0 : 0.02;
	p->doubling = chance(p, 0.8) ? 0 : 0.01;
	p->id[0] = (uint16_t)usk_rng_next(&p->r);
	p->id[1] = (uint16_t)usk_rng_next(&p->r);
	p->id[0] = (uint16_t)usk_rng_next(&p->r);
	p->id[1] = (uint16_t)usk_rng_next(&p->r);
	draw_watch(p, &p->watch[0]);
	do {
		draw_watch(p, &p->watch[1]);
	} while (p->watch[1].node == p->watch[0].node &&
		 (p->watch[0].how == WATCH_TAPS) == (p->watch[1].how == WATCH_TAPS));
	p->vlan = chance(p, 0.3);
	for (int i = 0; i < 20 && p->vlan; i++) {
		solicit(p, START + (int64_t)below(p, 1500) * MS, below(p, 2));
	}
	uint64_t talks = 1 + below(p, 4);
	for (uint64_t i = 0; i < talks; i++) {
		struct talk c;
		draw_talk(p, &c, i);
		int64_t t = START + (int64_t)below(p, 500) * MS;
		(c.proto == TCP ? talk_tcp : talk_datagrams)(p, &c, t, 20 + below(p, 60));
	}
}

static int by_stamp(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order = usk_order(x->stamp_ns, y->stamp_ns);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

struct bytes path_file(struct path *p, int which)
{
	struct watch *w = &p->watch[which];
	struct bytes b = { 0 };
	bool ng = w->how == WATCH_BOTH || w->how == WATCH_TAPS;
	uint32_t link = w->how == WATCH_COOKED	  ? LINK_SLL
			: w->how == WATCH_COOKED2 ? LINK_SLL2
						  : LINK_ETHERNET;
	if (w->n) {
		qsort(w->shown, w->n, sizeof *w->shown, by_stamp);
	}
	if (ng) {
		ng_section(&b);
		ng_interface(&b, link, SNAP, 9);
		ng_interface(&b, link, SNAP, 9);
	} else {
		pcap_begin(&b, MAGIC_NS, SNAP, link);
	}
	for (size_t i = 0; i < w->n; i++) {
		struct shown *s = &w->shown[i];
		/* A stamp of its own tells which record a message is of. */
		if (i && s->stamp_ns <= s[-1].stamp_ns) {
			s->stamp_ns = s[-1].stamp_ns + 1;
		}
		uint32_t kept = s->captured < SNAP ? s->captured : SNAP;
		if (ng) {
			ng_packet(&b, s->iface, (uint64_t)s->stamp_ns, w->data.data + s->at, kept,
				  s->wire);
		} else {
			pcap_record_ns(&b, s->stamp_ns, w->data.data + s->at, kept, s->wire);
		}
	}
	return b;
}

void path_free(struct path *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->watch[i].shown);
		bytes_free(&p->watch[i].data);
	}
}
