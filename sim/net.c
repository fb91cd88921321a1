/* SPDX-License-Identifier: MIT */
/*
 * net.c - the way between two hosts, and what the captures at both ends see of it
 *
 * In    packets that a host sends
 * Out   records in both captures, rows of the truth, packets delivered to the other end
 * Why   one place tells captures and truth of every packet, so that they cannot disagree
 * Not   bandwidth: a path is never full
 *
 * A path keeps order, as real ones mostly do; a packet that is reordered takes longer without
 * holding back those behind it. Receive offload merges at the receiving host: the record gets
 * the stamp of its first packet, the stack gets the whole when the merge ends.
 */
#include "world.h"

#define MERGE_WAIT 15000 /* ns that the receiving card waits for more */
#define STACK_MIN  500	 /* ns from a cause to the packet that it makes */
#define STACK_MORE 2500
#define SEND_GAP   300 /* ns between packets of a host */

static bool chance(struct usk_rng *r, double share)
{
	return share > 0 && usk_rng_unit(r) < share;
}

/* ---- what captures see --------------------------------------------------------- */

static bool asleep(const struct world *w, uint32_t host)
{
	return sim_clock_asleep(&w->host[host].clock, w->now_ns);
}

static bool records(struct world *w, uint32_t host)
{
	return w->now_ns >= w->host[host].from_ns && !chance(&w->recorder, w->o->capture_loss);
}

static int64_t stamp(const struct world *w, uint32_t host)
{
	const struct host *h = &w->host[host];
	return sim_stamp(sim_clock_read(&h->clock, w->now_ns), h->capture.resolution_ns);
}

static uint32_t visible(const struct world *w, const struct sim_packet *p)
{
	if (p->proto == PROTO_TCP) {
		return 0;
	}
	uint32_t least = UINT32_MAX;
	for (int i = 0; i < 2; i++) {
		const struct sim_capture *c = &w->host[i ? p->server : p->client].capture;
		uint32_t n = sim_visible(p, c->link, c->vlan, w->o->snaplen);
		least = n < least ? n : least;
	}
	return least;
}

static uint32_t sender(const struct sim_packet *p)
{
	return p->from_client ? p->client : p->server;
}

static uint32_t receiver(const struct sim_packet *p)
{
	return p->from_client ? p->server : p->client;
}

/* ---- sending ------------------------------------------------------------------- */

static void transmit(struct world *w, struct path *path, struct sim_packet *p, int64_t leave_ns)
{
	const struct sim_options *o = w->o;
	struct usk_rng *r = &w->network;
	if (chance(r, o->loss)) {
		return;
	}
	int64_t at = leave_ns + net_delay(o, r, path, p->len);
	if (chance(r, o->reorder)) {
		at += (int64_t)usk_rng_exponential(r,
						   (double)(path->dmin_ns + 4 * o->tail_ns) + 1e4);
	} else {
		at = at > path->last_ns ? at : path->last_ns + 1;
		path->last_ns = at;
	}
	p->doubled = chance(r, o->dup);
	world_later(w, at, EVENT_ARRIVE, p);
	if (p->doubled) {
		struct sim_packet copy = *p;
		copy.copy = true;
		world_later(w, at + 1 + (int64_t)usk_rng_exponential(r, 1e5), EVENT_ARRIVE, &copy);
	}
}

void net_submit(struct world *w, const struct sim_packet *p)
{
	struct host *h = &w->host[sender(p)];
	int64_t at = w->now_ns + STACK_MIN + (int64_t)usk_rng_below(&w->traffic, STACK_MORE);
	at = at > h->tx_free_ns ? at : h->tx_free_ns;
	h->tx_free_ns = at + SEND_GAP;
	world_later(w, at, EVENT_SEND, p);
}

static void record_sent(struct world *w, struct sim_packet *p)
{
	uint32_t from = sender(p);
	p->id = w->next_id++;
	p->sent_recorded = records(w, from);
	p->sent_ns = stamp(w, from);
	w->records += p->sent_recorded;
	if (w->ledger && p->sent_recorded) {
		sim_capture_write(&w->host[from].capture, p->sent_ns, p, p->from_client, false,
				  w->o->tso);
	}
}

void net_send(struct world *w, struct sim_packet *p)
{
	struct path *path = &w->path[w->flow[p->flow].path[p->from_client ? CLIENT : SERVER]];
	if (asleep(w, sender(p))) {
		return;
	}
	record_sent(w, p);
	if (w->ledger) {
		ledger_sent(w->ledger, p, w->now_ns, visible(w, p));
	}
	if (p->proto != PROTO_TCP || p->len <= w->mss) {
		transmit(w, path, p, w->now_ns);
		return;
	}
	/* The card cuts it: consecutive IP-IDs; PSH and FIN go with the last. 10 Gbit/s. */
	struct sim_packet piece = *p;
	uint32_t i = 0;
	for (uint32_t done = 0; done < p->len; done += piece.len, i++) {
		piece.len = p->len - done < w->mss ? p->len - done : w->mss;
		bool end = done + piece.len == p->len;
		piece.flags = (uint8_t)(end ? p->flags : p->flags & ~(TCP_PSH | TCP_FIN));
		piece.offset = p->offset + done;
		piece.seq = p->seq + done;
		piece.ip_id = p->with_ip_id ? (uint16_t)(p->ip_id + i) : 0;
		transmit(w, path, &piece, w->now_ns + (int64_t)i * w->o->mtu * 4 / 5);
	}
}

/* ---- arriving ------------------------------------------------------------------- */

static void deliver(struct world *w, const struct sim_packet *p)
{
	if (p->proto == PROTO_TCP) {
		tcp_input(w, p);
	} else if (!p->copy && !p->broadcast) {
		datagram_input(w, p);
	}
}

static void tell_truth(struct world *w, const struct sim_packet *p, int64_t received_ns)
{
	if (w->broadcasts && p->broadcast) {
		struct sim_message m = { .id = p->id,
					 .from = sender(p),
					 .to = receiver(p),
					 .bytes = p->len,
					 .sent_ns = p->sent_ns,
					 .received_ns = received_ns };
		broadcasts_row(w->broadcasts, &m);
	}
	if (w->ledger && p->sent_recorded) {
		ledger_received(w->ledger, p, w->now_ns, received_ns, visible(w, p));
	}
}

static struct merge *merge_of(struct world *w, const struct sim_packet *p)
{
	return &w->flow[p->flow].merge[p->from_client ? SERVER : CLIENT];
}

/* Ends a merge; it is delivered after it was closed, since delivery may begin another. */
static void settle(struct world *w, struct merge *m)
{
	struct sim_packet p = m->packet;
	m->open = false;
	if (m->recorded && w->ledger) {
		/* Software merging leaves the sum to be filled in later, as the tap shows it. */
		sim_capture_settle(&w->host[receiver(&p)].capture, m->ticket, &p, m->pieces > 1);
		tell_truth(w, &p, m->stamp_ns);
	}
	deliver(w, &p);
}

static bool joins(const struct merge *m, const struct sim_packet *p)
{
	const struct sim_packet *q = &m->packet;
	return m->open && p->generation == q->generation && p->offset == q->offset + q->len &&
	       p->tsval == q->tsval && p->ack_offset == q->ack_offset && p->len <= m->piece &&
	       q->len + p->len + 100 <= 65535 &&
	       (!p->with_ip_id || p->ip_id == (uint16_t)(q->ip_id + m->pieces));
}

static void merge(struct world *w, const struct sim_packet *p)
{
	struct merge *m = merge_of(w, p);
	if (joins(m, p)) {
		m->packet.len += p->len;
		m->packet.flags |= p->flags;
		m->pieces++;
	} else {
		if (m->open) {
			settle(w, m);
			m = merge_of(w, p);
		}
		uint32_t to = receiver(p);
		*m = (struct merge){ .open = true, .packet = *p, .pieces = 1, .piece = p->len };
		m->close_at_ns = w->now_ns + MERGE_WAIT;
		m->recorded = records(w, to);
		if (m->recorded) {
			w->records++;
			m->stamp_ns = stamp(w, to);
		}
		if (m->recorded && w->ledger) {
			m->ticket = sim_capture_reserve(&w->host[to].capture, m->stamp_ns, p,
							!p->from_client);
		}
		queue_push(&w->queue, m->close_at_ns, EVENT_GRO,
			   2 * p->flow + (p->from_client ? SERVER : CLIENT));
	}
	if (p->len < m->piece || p->flags & TCP_PSH) {
		settle(w, m);
	}
}

void net_merged(struct world *w, uint32_t flow_and_side)
{
	struct merge *m = &w->flow[flow_and_side / 2].merge[flow_and_side % 2];
	if (m->open && m->close_at_ns <= w->now_ns) {
		settle(w, m);
	}
}

void net_arrive(struct world *w, const struct sim_packet *p)
{
	uint32_t to = receiver(p);
	if (asleep(w, to)) {
		return;
	}
	if (w->o->gro && p->proto == PROTO_TCP) {
		if (p->len) {
			merge(w, p);
			return;
		}
		/* A segment without data ends the merge of its direction: order is kept. */
		struct merge *m = merge_of(w, p);
		if (m->open) {
			settle(w, m);
		}
	}
	if (records(w, to)) {
		int64_t at = stamp(w, to);
		w->records++;
		if (w->ledger) {
			sim_capture_write(&w->host[to].capture, at, p, !p->from_client, true,
					  false);
			tell_truth(w, p, at);
		}
	}
	deliver(w, p);
}

/* ---- broadcasts ------------------------------------------------------------------ */

/* All that hear a host get the same frame at nearly the same time; it crosses no router. */
void net_broadcast(struct world *w, uint32_t host)
{
	const struct outgoing *out = &w->outgoing;
	struct sim_packet p = {
		.proto = PROTO_UDP,
		.broadcast = true,
		.from_client = true,
		.client = (uint16_t)host,
		.server = (uint16_t)host,
		.client_port = 39999,
		.server_port = 39999,
		.v6 = w->o->ipv6,
		.with_ip_id = w->o->ip_id && !w->o->ipv6,
	};
	queue_push(&w->queue, w->now_ns + pause_ns(w, 1e9 / w->o->broadcast), EVENT_BROADCAST,
		   host);
	if (asleep(w, host)) {
		return;
	}
	datagram_fill(w, &p);
	p.ip_id = p.with_ip_id ? w->host[host].ip_id++ : 0;
	record_sent(w, &p);
	int64_t shared = net_delay_shared(w->o, &w->network, host, p.len);
	for (uint32_t i = out->first[host]; i < out->first[host + 1]; i++) {
		const struct path *path = &w->path[out->path[i]];
		p.server = (uint16_t)path->to;
		if (w->ledger) {
			ledger_sent(w->ledger, &p, w->now_ns, visible(w, &p));
		}
		int64_t own = net_delay_own(w->o, &w->network, path);
		if (!chance(&w->network, w->o->loss)) {
			world_later(w, w->now_ns + shared + own, EVENT_ARRIVE, &p);
		}
	}
}

/* ---- unrelated traffic ----------------------------------------------------------- */

void net_start_chatter(struct world *w)
{
	for (uint32_t h = 0; h < w->o->hosts && w->o->chatter > 0; h++) {
		queue_push(&w->queue, w->now_ns + pause_ns(w, 1e9 / w->o->chatter), EVENT_CHATTER,
			   h);
	}
}

/* A scan's SYN, a lookup or its answer: an address outside, seen at one host only. */
void net_chatter(struct world *w, uint32_t host)
{
	struct usk_rng *r = &w->recorder;
	uint64_t x = usk_rng_next(r);
	struct sim_packet p = {
		.unrelated = true,
		.client = (uint16_t)host,
		.server = (uint16_t)host,
		.remote = UINT32_C(0xcb007100) | (x >> 8 & 0xff),
		.v6 = w->o->ipv6,
		.hops = 12,
		.client_port = (uint16_t)(50000 + (x >> 16 & 0x3fff)),
		.server_port = (uint16_t)(40000 + (x >> 32 & 0x1fff)),
		.ip_id = (uint16_t)(w->o->ipv6 ? 0 : x >> 48),
		.nonce = { usk_rng_next(r) & UINT64_C(0x3f3f3f3f3f3f3f3f), usk_rng_next(r) },
	};
	switch (x % 3) {
	case 0:
		p.proto = PROTO_TCP;
		p.flags = TCP_SYN;
		p.seq = (uint32_t)p.nonce[0];
		p.mss = 1460;
		p.window = 1024;
		break;
	default:
		p.proto = PROTO_UDP;
		p.from_client = x % 3 == 1;
		p.len = 24 + (uint32_t)(x >> 40 & 0x7f);
		break;
	}
	if (!asleep(w, host) && records(w, host)) {
		w->records++;
		if (w->ledger) {
			sim_capture_write(&w->host[host].capture, stamp(w, host), &p, true,
					  !p.from_client, false);
		}
	}
	queue_push(&w->queue, w->now_ns + pause_ns(w, 1e9 / w->o->chatter), EVENT_CHATTER, host);
}
