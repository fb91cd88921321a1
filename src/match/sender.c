/* SPDX-License-Identifier: MIT */
/*
 * sender.c - two sightings of one packet: who sent it?
 *
 * In    a packet that both captures have; their streams, and what directions between addresses are known
 *       for (direction.c)
 * Out   a message from one to the other, a reception by both, or a count: direction unknown
 * Why   stated addresses, the link layer, interfaces, addresses that end every packet, hops and
 *       exchanges each tell of some streams; the strongest that speaks decides, and hops may refute it
 * Not   which packets belong together (pair.c)
 */
#include "match/walk.h"

#include <stdlib.h>

/* ---- messages out ------------------------------------------------------------- */

int usk_msg_order(const void *a, const void *b)
{
	const struct usk_msg *x = a, *y = b;
	int order = usk_order(x->sent_ns, y->sent_ns);
	order = order ? order : usk_order(x->received_ns, y->received_ns);
	return order ? order : usk_order(x->from, y->from);
}

static void hand_out(void *ctx)
{
	struct walk *w = ctx;
	const struct handful *h = &w->handed;
	if (w->sink->origins) {
		w->sink->origins(w->sink->ctx, h->origin, h->n);
	}
	w->enough = !w->sink->put(w->sink->ctx, h->msg, h->n);
}

void usk_walk_handed(struct walk *w)
{
	usk_job_end(w->helpers, &w->hands);
	w->stopped = w->enough;
}

void usk_walk_flush(struct walk *w)
{
	usk_walk_handed(w);
	if (w->out.n && !w->stopped) {
		struct handful spare = w->handed;
		w->handed = w->out;
		w->out = spare;
		if (w->beside) {
			usk_job_begin(w->helpers, &w->hands, hand_out, w);
		} else {
			hand_out(w);
			usk_walk_handed(w);
		}
	}
	w->out.n = 0;
}

static inline void emit(struct walk *w, const struct doubt *d, bool p_sends, uint8_t source)
{
	/* Written where it goes: a copy would wait for its own parts. */
	struct usk_msg *m = &w->out.msg[w->out.n];
	m->sent_ns = p_sends ? d->p_ns : d->q_ns;
	m->received_ns = p_sends ? d->q_last_ns : d->p_last_ns;
	m->from = w->of[!p_sends].clock;
	m->to = w->of[p_sends].clock;
	m->bytes = d->bytes;
	w->out.origin[w->out.n] = (struct usk_origin){ d->proto, p_sends ? d->p_iface : d->q_iface,
						       p_sends ? d->q_iface : d->p_iface };
	if (w->opt->n_exclude &&
	    bsearch(m, w->opt->exclude, w->opt->n_exclude, sizeof *m, usk_msg_order)) {
		return;
	}
	w->decided_by[source]++;
	if (++w->out.n == w->cap_out) {
		usk_walk_flush(w);
	}
}

static void settle(struct walk *w, struct direction *d, bool last)
{
	enum role role = usk_direction_decide(&w->directions, d, last);
	if (role == ROLE_UNKNOWN && !last) {
		return;
	}
	for (size_t i = 0; i < d->n_doubts; i++) {
		if (role == ROLE_UNKNOWN) {
			w->counts->direction_unknown++;
		} else {
			emit(w, &d->doubt[i], role == ROLE_SENDS, d->source);
		}
	}
	w->n_doubts -= d->n_doubts;
	d->n_doubts = 0;
}

void usk_walk_settle_doubts(struct walk *w)
{
	for (size_t i = 0; i < w->directions.n; i++) {
		settle(w, &w->directions.of[i], true);
	}
}

/*
 * When a packet was received for certain. Where the file does not tell coming from going the other
 * capture's host may lie between two sightings, as between two taps: at the last one then; and of a
 * packet with one sighting nobody knows which of them that is: INT64_MIN.
 */
static int64_t last_of(const struct walk *w, int me, const struct seen *s)
{
	const struct side *side = &w->side[me];
	if (!side->again || side->stream[s->stream].sides != 1 << USK_SIDE_UNKNOWN) {
		return s->time_ns;
	}
	return side->again[s - side->ring].last_ns;
}

/* bytes: the payload as the receiver saw it, as a large segment is many messages. */
static inline struct doubt doubt_of(const struct walk *w, const struct seen *p,
				    const struct seen *q, uint32_t bytes)
{
	return (struct doubt){
		.p_ns = p->time_ns,
		.q_ns = q->time_ns,
		.p_last_ns = last_of(w, 0, p),
		.q_last_ns = last_of(w, 1, q),
		.bytes = bytes,
		.proto = w->side[0].stream[p->stream].who.proto,
		.p_iface = p->iface,
		.q_iface = q->iface,
	};
}

/* Doubts are held until evidence comes, within reason. */
static void doubt(struct walk *w, uint32_t which, const struct seen *p, const struct seen *q)
{
	enum { HOLD = 4096, HOLD_ALL = 1 << 20 };
	if (which == NOBODY) {
		w->counts->direction_unknown++;
		return;
	}
	struct direction *d = &w->directions.of[which];
	if (!d->passing && !w->chooses) {
		struct usk_sighting s = {
			.p_ns = p->time_ns, .q_ns = q->time_ns, .ttl_p = p->ttl, .ttl_q = q->ttl
		};
		usk_direction_vote(&w->directions, which, &s);
	}
	if (d->n_doubts == HOLD || w->n_doubts >= HOLD_ALL) {
		settle(w, d, true);
	}
	d->doubt = usk_room(d->doubt, d->n_doubts, &d->cap_doubts, sizeof *d->doubt);
	w->n_doubts++;
	d->doubt[d->n_doubts++] = doubt_of(w, p, q, p->bytes);
	settle(w, d, false);
}

/* That me received what goes to all does not show that the other one sent it. */
static bool from_anybody(const struct walk *w, int me, const struct stream *st)
{
	return st->group && st->own_role == ROLE_RECEIVES &&
	       !usk_addr_among(st->who.src, w->own[!me], w->n_own[!me]);
}

/* What two captures, each on its own grounds, make of one stream: the role of the first. */
static enum role combine(const struct walk *w, const struct stream *a, const struct stream *b,
			 uint8_t *source)
{
	uint8_t x = a->own_role, y = b->own_role;
	bool from_a = y == ROLE_UNKNOWN || (x != ROLE_UNKNOWN && a->own_source < b->own_source);
	bool clash = x == y && a->own_source == b->own_source;
	*source = from_a ? a->own_source : b->own_source;
	if (clash) {
		/* Both received it: a third party's, if it goes to a group; else one of them may
		 * have passed it on, as may both have if both sent it: neither is believed. */
		bool third =
			(a->group || b->group) && x == ROLE_RECEIVES && a->own_source == FROM_LINK;
		return third ? ROLE_NEITHER : ROLE_UNKNOWN;
	}
	if ((y == ROLE_UNKNOWN && from_anybody(w, 0, a)) ||
	    (x == ROLE_UNKNOWN && from_anybody(w, 1, b))) {
		return ROLE_UNKNOWN;
	}
	if (from_a || y == ROLE_NEITHER) {
		return from_a ? x : y;
	}
	return y == ROLE_SENDS ? ROLE_RECEIVES : ROLE_SENDS;
}

/* An address that ends every packet tells who one is unless the capture is filtered, and of
 * somebody on the way. Exchanges know better. */
static bool refuted(const struct walk *w, const struct stream *a, enum role role)
{
	bool guess = w->guess[a->own_source != FROM_ADDRESS];
	uint32_t which = usk_direction_known(&w->directions, a->who.src, a->who.dst);
	enum role other = which == NOBODY ? ROLE_UNKNOWN : (enum role)w->directions.of[which].role;
	return other == ROLE_UNKNOWN ? guess : other != role;
}

/* Contents that repeat, told apart by IP-IDs of which nothing shows that they are kept. */
static bool is_doubtful(const struct walk *w, const struct stream *a)
{
	uint32_t which = usk_direction_known(&w->directions, a->who.src, a->who.dst);
	return which != NOBODY && w->directions.of[which].doubtful;
}

/*
 * The same, held against the hops that are left, which fall on the way and never rise: more: how
 * many more one packet had in the first capture. Where a capture sees packets from several vantage
 * points they decide; else what they contradict is left out, but for a guess.
 */
static enum role role_of(const struct walk *w, const struct stream *a, const struct stream *b,
			 int more, uint8_t *source, bool *disputed)
{
	enum role role = combine(w, a, b, source);
	if (*source == FROM_ADDRESS && refuted(w, a, role)) {
		role = ROLE_UNKNOWN;
	}
	enum role nearer = more > 0 ? ROLE_SENDS : ROLE_RECEIVES;
	*disputed = is_doubtful(w, a);
	if (*disputed || !more || role == nearer || role == ROLE_NEITHER) {
		return role;
	}
	if (w->chooses) {
		*source = FROM_TTL;
		return nearer;
	}
	*disputed = role != ROLE_UNKNOWN && *source != FROM_ADDRESS;
	return ROLE_UNKNOWN;
}

/* Of tied streams. Not all packets of one set out with as many hops: those of one packet that both
 * captures have are compared, or of streams that have one number of them. */
static int more_hops(const struct walk *w, const struct stream *a, const struct stream *b)
{
	return w->chooses || a->met ? a->ttl - b->ttl : 0;
}

static bool of_family(struct usk_addr a, const struct usk_addr *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (usk_addr_is_v4(list[i]) == usk_addr_is_v4(a)) {
			return true;
		}
	}
	return false;
}

static bool is_group(const struct stream *a, uint8_t has)
{
	return has & USK_HAS_GROUP || !usk_addr_is_unicast(a->who.dst);
}

uint32_t usk_walk_direction(struct walk *w, struct usk_addr src, struct usk_addr dst, bool group)
{
	/* Answers to what went to all tell who is nearer only if one of the two captures is who
	 * asked, and the other one who answers: not what both overhear. */
	bool ours = usk_addr_among(src, w->own[0], w->n_own[0]) ||
		    usk_addr_among(src, w->own[1], w->n_own[1]);
	return group && !ours
		       ? NOBODY
		       : usk_direction_find(&w->directions, src, group ? USK_ANYBODY : dst, ours);
}

/* To nobody in particular, from an address that is surely neither's: a third one sent it. Of other
 * scope than those that are known, an address may be anybody's. */
static bool overheard(const struct walk *w, const struct stream *a, uint8_t has)
{
	if (!is_group(a, has) || !usk_addr_is_unicast(a->who.src)) {
		return false;
	}
	for (int me = 0; me < 2; me++) {
		if (!of_family(a->who.src, w->own[me], w->n_own[me]) ||
		    usk_addr_among(a->who.src, w->own[me], w->n_own[me])) {
			return false;
		}
	}
	return true;
}

/* The first packet that tied streams share. */
static void meet(struct walk *w, const struct seen *p, const struct seen *q)
{
	struct stream *a = &w->side[0].stream[p->stream], *b = &w->side[1].stream[q->stream];
	a->met = 1;
	a->ttl = p->ttl;
	b->ttl = q->ttl;
	usk_walk_agree(w, p->stream, q->stream);
}

/* With how many hops left a packet that has so many set out, as hosts do. */
static int set_out(int ttl)
{
	return ttl <= 64 ? 64 : ttl <= 128 ? 128 : 255;
}

/*
 * Datagrams with the same contents and other addresses: one, before and after NAT, or two of two clients
 * that count alike? Who rewrites addresses forwards, which takes a hop each way. IP-IDs that agree
 * show it, too, and numbers of TCP, which begin anywhere.
 */
static bool one_packet(const struct walk *w, const struct stream *a, const struct stream *b,
		       const struct seen *p, const struct seen *q)
{
	bool named = p->has & q->has & USK_HAS_IP_ID && p->ip_id;
	if (a->who.proto == TCP ||
	    (usk_addr_same(a->who.src, b->who.src) && usk_addr_same(a->who.dst, b->who.dst)) ||
	    (named && p->ip_id == q->ip_id)) {
		return true;
	}
	uint32_t which = usk_direction_known(&w->directions, a->who.src, a->who.dst);
	return p->ttl != q->ttl && set_out(p->ttl) == set_out(q->ttl) &&
	       (w->chooses || usk_direction_falls(&w->directions, which, p->ttl > q->ttl));
}

void usk_walk_sighting(struct walk *w, struct seen *p, struct seen *q)
{
	usk_mark(&w->side[0], p, SEEN_MATCHED);
	usk_mark(&w->side[1], q, SEEN_MATCHED);
	struct stream *a = &w->side[0].stream[p->stream], *b = &w->side[1].stream[q->stream];
	if (a->peer == NOBODY && !one_packet(w, a, b, p, q)) {
		w->counts->alike++;
		return;
	}
	if (a->peer != NOBODY && !a->met) {
		meet(w, p, q);
	}
	uint8_t source = a->source;
	bool disputed = a->disputed;
	enum role role =
		a->peer != NOBODY ? a->role : role_of(w, a, b, p->ttl - q->ttl, &source, &disputed);
	if (role == ROLE_UNKNOWN && overheard(w, a, p->has | q->has)) {
		role = ROLE_NEITHER;
	}
	int64_t p_last = last_of(w, 0, p), q_last = last_of(w, 1, q);
	/* Hops of a packet against those of others of its stream. */
	disputed |= (role == ROLE_SENDS && p->ttl < q->ttl) ||
		    (role == ROLE_RECEIVES && p->ttl > q->ttl);
	if (p_last == INT64_MIN || q_last == INT64_MIN) {
		w->counts->ambiguous++;
	} else if (disputed) {
		w->counts->direction_unknown++;
	} else if (role == ROLE_NEITHER && w->sink->broadcasts) {
		struct usk_reception both = { p->time_ns, q->time_ns };
		usk_walk_handed(w);
		w->sink->broadcasts(w->sink->ctx, &both, 1);
	} else if (role == ROLE_NEITHER) {
		w->counts->direction_unknown++;
	} else if (role == ROLE_UNKNOWN) {
		if (a->direction == NOBODY) {
			a->direction = usk_walk_direction(w, a->who.src, a->who.dst,
							  is_group(a, p->has | q->has));
		}
		doubt(w, a->direction, p, q);
		if (a->direction != NOBODY && w->directions.of[a->direction].role != ROLE_UNKNOWN &&
		    a->peer != NOBODY) {
			usk_walk_agree(w, p->stream, a->peer);
		}
	} else {
		bool p_sends = role == ROLE_SENDS;
		struct doubt d = doubt_of(w, p, q, p_sends ? q->bytes : p->bytes);
		emit(w, &d, p_sends, source);
	}
}

/* ---- streams of both captures ------------------------------------------------- */

void usk_walk_agree(struct walk *w, uint32_t p, uint32_t q)
{
	static const uint8_t opposite[] = { [ROLE_UNKNOWN] = ROLE_UNKNOWN,
					    [ROLE_SENDS] = ROLE_RECEIVES,
					    [ROLE_RECEIVES] = ROLE_SENDS,
					    [ROLE_NEITHER] = ROLE_NEITHER };
	struct stream *a = &w->side[0].stream[p], *b = &w->side[1].stream[q];
	uint8_t source;
	bool disputed;
	enum role role = role_of(w, a, b, more_hops(w, a, b), &source, &disputed);
	a->disputed = b->disputed = disputed;
	if (role == ROLE_UNKNOWN && !disputed && a->direction == NOBODY) {
		a->direction = usk_direction_known(&w->directions, a->who.src, a->who.dst);
	}
	if (role == ROLE_UNKNOWN && !disputed && a->direction != NOBODY) {
		role = w->directions.of[a->direction].role;
		source = w->directions.of[a->direction].source;
	}
	a->role = (uint8_t)role;
	b->role = opposite[role];
	a->source = b->source = source;
}

void usk_walk_link(struct walk *w, uint32_t p, uint32_t q)
{
	struct stream *a = &w->side[0].stream[p], *b = &w->side[1].stream[q];
	a->peer = q;
	b->peer = p;
	usk_walk_agree(w, p, q);
	if (a->reverse != NOBODY && b->reverse != NOBODY) {
		struct stream *ar = &w->side[0].stream[a->reverse];
		struct stream *br = &w->side[1].stream[b->reverse];
		if (ar->peer == NOBODY && br->peer == NOBODY) {
			ar->peer = b->reverse;
			br->peer = a->reverse;
			usk_walk_agree(w, a->reverse, b->reverse);
		}
	}
}

/* How well two vantage points tell of each other: for certain, and with little between them. */
static int fitness(const struct walk *w, uint32_t p, uint32_t q)
{
	const struct stream *a = &w->side[0].stream[p], *b = &w->side[1].stream[q];
	uint8_t source;
	bool disputed;
	enum role role = role_of(w, a, b, more_hops(w, a, b), &source, &disputed);
	return (role == ROLE_UNKNOWN ? UINT8_MAX : 2 * UINT8_MAX) + 1 - abs(a->ttl - b->ttl);
}

static void untie(struct walk *w, int me, uint32_t which)
{
	struct stream *st = &w->side[me].stream[which];
	st->peer = NOBODY;
	st->role = st->own_role;
	st->source = st->own_source;
	st->disputed = 0;
	st->met = 0;
}

void usk_walk_consider(struct walk *w, uint32_t p, uint32_t q)
{
	struct stream *a = &w->side[0].stream[p], *b = &w->side[1].stream[q];
	int fit = fitness(w, p, q);
	if (a->peer == q || (a->peer != NOBODY && fitness(w, p, a->peer) >= fit) ||
	    (b->peer != NOBODY && fitness(w, b->peer, q) >= fit)) {
		return;
	}
	if (a->peer != NOBODY) {
		untie(w, 1, a->peer);
	}
	if (b->peer != NOBODY) {
		untie(w, 0, b->peer);
	}
	a->peer = q;
	b->peer = p;
	usk_walk_agree(w, p, q);
}
