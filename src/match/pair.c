/* SPDX-License-Identifier: MIT */
/*
 * pair.c - which send does this packet come from?
 *
 * In    a packet that is old enough for its send to have been read, the window of both sides
 * Out   a message, or a count: ambiguous, direction unknown
 * Why   ranges of bytes survive offload, which cuts and merges segments: a received segment
 *       belongs to the send that covers its first byte. Everything else matches whole, by content.
 *       Copies are told apart by IP-ID and by the sender's time stamp, or dropped
 * Not   time: two stamps are compared only to exclude sends far after their receive
 *
 * After Clement and Dagenais 2009, section 7 (TCP by sequence numbers, retransmissions and
 * duplicate acknowledgements left out), with ranges instead of equal segments.
 */
#include "match/walk.h"

#include <stdlib.h>

enum { MAX_COPIES = 64 };

/* TCP time stamps of ordinary stacks tick every 1 to 10 ms. */
#define LONGEST_TICK_NS INT64_C(10000000)

/* What the IP-ID says of two sightings. */
enum identity { ID_SILENT, ID_SAME, ID_OTHER };

/* ---- messages out ------------------------------------------------------------- */

int usk_msg_order(const void *a, const void *b)
{
	const struct usk_msg *x = a, *y = b;
	int order = usk_order(x->sent_ns, y->sent_ns);
	order = order ? order : usk_order(x->received_ns, y->received_ns);
	return order ? order : usk_order(x->from, y->from);
}

void usk_walk_flush(struct walk *w)
{
	if (w->n_out && !w->stopped) {
		if (w->sink->origins) {
			w->sink->origins(w->sink->ctx, w->origin, w->n_out);
		}
		w->stopped = !w->sink->put(w->sink->ctx, w->out, w->n_out);
	}
	w->n_out = 0;
}

static inline void emit(struct walk *w, const struct doubt *d, bool p_sends, uint8_t source)
{
	/* Written where it goes: a copy would wait for its own parts. */
	struct usk_msg *m = &w->out[w->n_out];
	m->sent_ns = p_sends ? d->p_ns : d->q_ns;
	m->received_ns = p_sends ? d->q_last_ns : d->p_last_ns;
	m->from = w->of[!p_sends].clock;
	m->to = w->of[p_sends].clock;
	m->bytes = d->bytes;
	w->origin[w->n_out] = (struct usk_origin){ d->proto, p_sends ? d->p_iface : d->q_iface,
						   p_sends ? d->q_iface : d->p_iface };
	if (w->opt->n_exclude &&
	    bsearch(m, w->opt->exclude, w->opt->n_exclude, sizeof *m, usk_msg_order)) {
		return;
	}
	w->decided_by[source]++;
	if (++w->n_out == OUT_BATCH) {
		usk_walk_flush(w);
	}
}

static void settle(struct walk *w, struct way *way, bool last)
{
	enum role role = usk_way_decide(&w->ways, way, last);
	if (role == ROLE_UNKNOWN && !last) {
		return;
	}
	for (size_t i = 0; i < way->n_doubts; i++) {
		if (role == ROLE_UNKNOWN) {
			w->counts->direction_unknown++;
		} else {
			emit(w, &way->doubt[i], role == ROLE_SENDS, way->source);
		}
	}
	w->n_doubts -= way->n_doubts;
	way->n_doubts = 0;
}

void usk_walk_settle_doubts(struct walk *w)
{
	for (size_t i = 0; i < w->ways.n; i++) {
		settle(w, &w->ways.way[i], true);
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
	struct way *way = &w->ways.way[which];
	if (!way->passing && !w->chooses) {
		struct usk_sighting s = {
			.p_ns = p->time_ns, .q_ns = q->time_ns, .ttl_p = p->ttl, .ttl_q = q->ttl
		};
		usk_way_vote(&w->ways, which, &s);
	}
	if (way->n_doubts == HOLD || w->n_doubts >= HOLD_ALL) {
		settle(w, way, true);
	}
	way->doubt = usk_room(way->doubt, way->n_doubts, &way->cap_doubts, sizeof *way->doubt);
	w->n_doubts++;
	way->doubt[way->n_doubts++] = doubt_of(w, p, q, p->bytes);
	settle(w, way, false);
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
		/* Both received it: a third party's multicast. Both sent it: neither is believed.
		 */
		bool third = x == ROLE_RECEIVES && a->own_source == FROM_LINK;
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
	uint32_t which = usk_way_known(&w->ways, a->who.src, a->who.dst);
	enum role other = which == NOBODY ? ROLE_UNKNOWN : (enum role)w->ways.way[which].role;
	return other == ROLE_UNKNOWN ? guess : other != role;
}

/* Contents that repeat, told apart by IP-IDs of which nothing shows that they are kept. */
static bool is_doubtful(const struct walk *w, const struct stream *a)
{
	uint32_t which = usk_way_known(&w->ways, a->who.src, a->who.dst);
	return which != NOBODY && w->ways.way[which].doubtful;
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

uint32_t usk_walk_way(struct walk *w, struct usk_addr src, struct usk_addr dst, bool group)
{
	/* Answers to what went to all tell who is nearer only if one of the two captures is who
	 * asked, and the other one who answers: not what both overhear. */
	bool ours = usk_addr_among(src, w->own[0], w->n_own[0]) ||
		    usk_addr_among(src, w->own[1], w->n_own[1]);
	return group && !ours ? NOBODY
			      : usk_way_find(&w->ways, src, group ? USK_ANYBODY : dst, ours);
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

/* Two sightings of one packet: who sent it? */
static void sighting(struct walk *w, struct seen *p, struct seen *q)
{
	usk_mark(&w->side[0], p, SEEN_MATCHED);
	usk_mark(&w->side[1], q, SEEN_MATCHED);
	struct stream *a = &w->side[0].stream[p->stream], *b = &w->side[1].stream[q->stream];
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
	} else if (role == ROLE_NEITHER && w->sink->heard) {
		struct usk_reception both = { p->time_ns, q->time_ns };
		w->sink->heard(w->sink->ctx, &both, 1);
	} else if (role == ROLE_NEITHER) {
		w->counts->direction_unknown++;
	} else if (role == ROLE_UNKNOWN) {
		if (a->way == NOBODY) {
			a->way = usk_walk_way(w, a->who.src, a->who.dst,
					      is_group(a, p->has | q->has));
		}
		doubt(w, a->way, p, q);
		if (a->way != NOBODY && w->ways.way[a->way].role != ROLE_UNKNOWN &&
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
	if (role == ROLE_UNKNOWN && !disputed && a->way == NOBODY) {
		a->way = usk_way_known(&w->ways, a->who.src, a->who.dst);
	}
	if (role == ROLE_UNKNOWN && !disputed && a->way != NOBODY) {
		role = w->ways.way[a->way].role;
		source = w->ways.way[a->way].source;
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

/* ---- identity of copies ------------------------------------------------------- */

static enum identity identity(const struct walk *w, const struct seen *sent, const struct seen *got,
			      uint64_t offset)
{
	if (!w->ip_id_kept || !(sent->has & got->has & USK_HAS_IP_ID) ||
	    (!sent->ip_id && !got->ip_id)) {
		return ID_SILENT;
	}
	/* The pieces that offload cuts from a segment count on from its IP-ID, one a piece, or all
	 * keep it. Nobody cuts pieces of less than 256 bytes, nor of two sizes but for the last;
	 * some may have been merged again. */
	uint16_t ahead = (uint16_t)(got->ip_id - sent->ip_id);
	uint64_t size = ahead ? offset / ahead : 0;
	bool piece = offset && ahead && offset % ahead == 0 && size >= 256 &&
		     (!sent->piece || size == sent->piece) &&
		     (got->bytes % size == 0 || offset + got->bytes >= sent->bytes);
	return ahead == 0 || piece ? ID_SAME : ID_OTHER;
}

static bool same_content(const struct seen *a, const struct seen *b)
{
	return a->context == b->context &&
	       !(a->has & b->has & USK_HAS_WINDOW && a->window != b->window);
}

/*
 * Are two sightings within the window of each other? It may still hold older ones: how often it
 * is swept must not show in the answer.
 */
static bool near(const struct walk *w, const struct seen *a, const struct seen *b)
{
	usk_i128 apart = (usk_i128)a->common_ns - b->common_ns;
	usk_i128 window = (usk_i128)w->lag_ns * 2 + 2000000000;
	return apart <= window && -apart <= window;
}

/* Could this send, by its stamp, come before that receive? */
static bool in_time(const struct walk *w, const struct seen *sent, const struct seen *got)
{
	usk_i128 latest = (usk_i128)got->common_ns + w->lag_ns;
	return sent->common_ns <= latest && near(w, sent, got);
}

static void ambiguous(struct walk *w, int me, struct seen *got)
{
	if (!(got->state & SEEN_AMBIGUOUS)) {
		usk_mark(&w->side[me], got, SEEN_AMBIGUOUS);
		w->counts->ambiguous++;
	}
}

/* ---- ranges of bytes ----------------------------------------------------------- */

/* When a third duplicate ACK asked for this byte again; INT64_MIN if none did. */
static int64_t asked_again(const struct stream *st, uint32_t seq)
{
	for (unsigned i = 0; i < COUNT(st->lost) && i < st->n_lost; i++) {
		if (st->lost[i] == seq) {
			return st->lost_ns[i];
		}
	}
	return INT64_MIN;
}

/* May these bytes have been sent again, though no capture shows it? */
static bool may_be_anew(const struct walk *w, const struct stream *mine,
			const struct stream *theirs, const struct seen *got)
{
	int64_t here = asked_again(mine, got->seq);
	if (here == INT64_MIN) {
		return asked_again(theirs, got->seq) != INT64_MIN;
	}
	/* What comes sooner after the request than an answer can was only overtaken. */
	return (usk_i128)got->time_ns - here >= w->ways.shortest_ns / 2;
}

/* Did the capture record these very bytes of this very stream more than once? */
static bool has_twin(const struct side *s, const struct seen *got, uint64_t number)
{
	size_t steps = 0;
	for (uint64_t i = usk_side_find(s, got->key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(s, i), steps++) {
		const struct seen *c = usk_seen(s, i);
		if (i != number && c->stream == got->stream && c->seq == got->seq) {
			return true;
		}
	}
	return steps == MAX_CHAIN;
}

/*
 * One send is left that may be the source. Without an IP-ID that says so, is it surely the one? The
 * capture of the sender may have missed a copy: it shows in a send below what was sent before, in
 * duplicate acknowledgements, or, where that capture misses sends, in a second receive.
 */
static bool is_certain(const struct walk *w, int me, const struct seen *sent,
		       const struct seen *got, uint64_t number, bool alone)
{
	const struct side *mine = &w->side[me], *theirs = &w->side[!me];
	const struct stream *st = &mine->stream[got->stream];
	bool stamped = sent->has & got->has & USK_HAS_SHARED_TIMESTAMPS;
	/* Or one that began within the stream, just before: the original may lie before its time.
	 */
	const struct stream *from = &theirs->stream[sent->stream];
	bool early = from->midway && usk_unwrap(from, sent->seq) < from->opening;
	if (sent->state & SEEN_RESENT ||
	    ((theirs->misses || early) && has_twin(mine, got, number))) {
		return false;
	}
	/* What arrived before all later bytes filled no hole. */
	bool in_order = st->role == ROLE_RECEIVES && !(got->state & SEEN_LATE);
	bool lost = !in_order && may_be_anew(w, st, from, got);
	/* Of two copies, time stamps told which. Of one, they tell only if the other one's would
	 * have been a later tick: if it came a round trip later, and that is long. */
	int64_t trip = w->ways.shortest_ns ? w->ways.shortest_ns : w->lag_ns / 4;
	return !lost || (stamped && (!alone || trip > LONGEST_TICK_NS));
}

static void pair_range(struct walk *w, int me, uint64_t number)
{
	struct side *mine = &w->side[me], *theirs = &w->side[!me];
	struct seen *got = usk_seen(mine, number);
	struct stream *st = &mine->stream[got->stream];
	if (st->peer == NOBODY) {
		return;
	}
	struct stream *from = &theirs->stream[st->peer];
	uint64_t copy[MAX_COPIES], position = usk_unwrap(from, got->seq);
	size_t n = usk_stream_covering(theirs, from, position, copy, COUNT(copy));
	if (from->unruly) {
		ambiguous(w, me, got);
		return;
	}
	struct seen *sent = NULL;
	enum identity id = ID_SILENT;
	size_t possible = 0;
	for (size_t i = 0; i < n; i++) {
		struct seen *c = usk_seen(theirs, copy[i]);
		uint32_t offset = got->seq - c->seq;
		enum identity this = identity(w, c, got, offset);
		if (!in_time(w, c, got) || this == ID_OTHER || c->context != got->context ||
		    (st->role == ROLE_UNKNOWN && (offset || c->state & SEEN_MATCHED))) {
			continue;
		}
		possible++;
		sent = c;
		id = this;
		if (this == ID_SAME && !offset) {
			/* This very packet; that it might be a piece of another is chance. */
			possible = 1;
			break;
		}
	}
	if (!possible && n < COUNT(copy)) {
		return;
	}
	bool itself = id == ID_SAME && sent->seq == got->seq;
	if (possible != 1 || (n == COUNT(copy) && !itself) ||
	    (id != ID_SAME && !is_certain(w, me, sent, got, number, n == 1))) {
		ambiguous(w, me, got);
		return;
	}
	uint32_t offset = got->seq - sent->seq;
	uint16_t ahead = (uint16_t)(got->ip_id - sent->ip_id);
	if (id == ID_SAME && ahead) {
		sent->piece = offset / ahead;
	} else if (id != ID_SAME && !sent->piece && got->bytes >= 1024) {
		sent->piece = 1024; /* no smaller than that: 64 of them are a whole segment */
	}
	w->counts->unsure += theirs->misses && id != ID_SAME;
	/* Bytes that came twice: the later one is a copy made on the way. */
	if (!usk_seen_take(sent, offset)) {
		ambiguous(w, me, got);
		return;
	}
	if (st->role == ROLE_UNKNOWN) {
		/* It may turn out to be the send. */
		usk_seen_take(got, 0);
	}
	sighting(w, me ? sent : got, me ? got : sent);
}

/* ---- whole packets --------------------------------------------------------------- */

/* Could these be one stream, before and after NAT? */
static bool kin(const struct stream *a, const struct stream *b)
{
	return a->who.proto == b->who.proto &&
	       (a->who.sport == b->who.sport || a->who.dport == b->who.dport) &&
	       usk_addr_is_unicast(a->who.dst) && usk_addr_is_unicast(b->who.dst);
}

/* Tied streams match each other only, untied ones only untied ones. */
static bool may_pair(const struct stream *st, const struct seen *other, const struct side *theirs)
{
	if (st->peer != NOBODY) {
		return other->stream == st->peer;
	}
	const struct stream *b = &theirs->stream[other->stream];
	return b->peer == NOBODY && kin(st, b);
}

static void pair_whole(struct walk *w, int me, uint64_t number)
{
	struct side *mine = &w->side[me], *theirs = &w->side[!me];
	struct seen *got = usk_seen(mine, number);
	const struct stream *st = &mine->stream[got->stream];
	struct seen *sent = NULL;
	size_t possible = 0, steps = 0;
	enum identity id = ID_SILENT;
	for (uint64_t i = usk_side_find(theirs, got->key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(theirs, i), steps++) {
		struct seen *c = usk_seen(theirs, i);
		if (!may_pair(st, c, theirs)) {
			continue;
		}
		enum identity this = identity(w, c, got, 0);
		if (!same_content(c, got) || !in_time(w, c, got) || this == ID_OTHER) {
			continue;
		}
		possible++;
		sent = c;
		id = this;
	}
	if (!possible) {
		return;
	}
	size_t twins = 0;
	bool first = true;
	for (uint64_t i = usk_side_find(mine, got->key); i != UINT64_MAX && steps < 2 * MAX_CHAIN;
	     i = usk_side_older(mine, i), steps++) {
		const struct seen *c = usk_seen(mine, i);
		bool related = st->peer != NOBODY ? c->stream == got->stream
						  : mine->stream[c->stream].peer == NOBODY &&
							    kin(st, &mine->stream[c->stream]);
		if (i != number && related && near(w, c, got) && same_content(c, got) &&
		    identity(w, c, got, 0) != ID_OTHER) {
			twins++;
			first = first && i > number;
		}
	}
	bool copied_on_the_way = twins && id == ID_SAME && first;
	if (possible > 1 || steps >= MAX_CHAIN || (twins && !copied_on_the_way) ||
	    sent->state & SEEN_MATCHED) {
		ambiguous(w, me, got);
		return;
	}
	sighting(w, me ? sent : got, me ? got : sent);
}

/* Has a vantage point that is tied to the other capture this very packet, too? */
static bool passed(const struct walk *w, int me, uint64_t number)
{
	const struct side *mine = &w->side[me];
	const struct seen *got = usk_seen(mine, number);
	size_t steps = 0;
	for (uint64_t i = usk_side_find(mine, got->key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(mine, i), steps++) {
		const struct seen *c = usk_seen(mine, i);
		if (c->stream != got->stream && mine->stream[c->stream].peer != NOBODY &&
		    same_content(c, got)) {
			return true;
		}
	}
	return false;
}

void usk_walk_pair(struct walk *w, int me, uint64_t number)
{
	struct side *mine = &w->side[me];
	struct seen *got = usk_seen(mine, number);
	const struct stream *st = &mine->stream[got->stream];
	if (st->role == ROLE_SENDS || got->state & SEEN_MATCHED) {
		return;
	}
	if (got->state & SEEN_RANGE) {
		pair_range(w, me, number);
	} else {
		pair_whole(w, me, number);
	}
	if (w->of[me].survey->passing.several && st->peer == NOBODY &&
	    !(got->state & (SEEN_MATCHED | SEEN_AMBIGUOUS)) && passed(w, me, number)) {
		usk_mark(mine, got, SEEN_AMBIGUOUS);
		w->counts->passed++;
	}
}
