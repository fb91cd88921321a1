/* SPDX-License-Identifier: MIT */
/*
 * pair.c - which send does this packet come from?
 *
 * In    a packet that is old enough for its send to have been read, the window of both sides
 * Out   two sightings of one packet, or a count: ambiguous
 * Why   ranges of bytes survive offload, which cuts and merges segments: a received segment
 *       belongs to the send that covers its first byte. Everything else matches whole, by content.
 *       Copies are told apart by IP-ID and by the sender's time stamp, or dropped
 * Not   time: two stamps are compared only to exclude sends far after their receive; who sent it
 *       (sender.c)
 *
 * After Clement and Dagenais 2009, section 7 (TCP by sequence numbers, retransmissions and
 * duplicate acknowledgements left out), with ranges instead of equal segments.
 */
#include "match/walk.h"

enum { MAX_COPIES = 64 };

/* TCP time stamps of ordinary stacks tick every 1 to 10 ms. */
#define LONGEST_TICK_NS INT64_C(10000000)

/* What the IP-ID says of two sightings. */
enum identity { ID_SILENT, ID_SAME, ID_OTHER };

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

/* Could this send, by its stamp, come before that receive? If none could, only what cannot be a copy
 * contradicts stamps: nobody gives an IP-ID again within the window, nor a time stamp a tick later. */
static bool in_time(const struct walk *w, const struct seen *sent, const struct seen *got,
		    enum identity id, bool copies, bool late)
{
	/* So long after its receive, beyond what the map may err by. */
	usk_i128 by = (usk_i128)sent->common_ns - got->common_ns - w->lag_ns;
	bool stamped = sent->has & got->has & USK_HAS_SHARED_TIMESTAMPS;
	bool alone = !copies || (stamped && by > LONGEST_TICK_NS);
	bool itself = sent->seq == got->seq && (id == ID_SAME || (id == ID_SILENT && alone));
	return near(w, sent, got) && (late ? by > 0 && itself : by <= 0);
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
	return (usk_i128)got->time_ns - here >= w->directions.shortest_ns / 2;
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
	int64_t trip = w->directions.shortest_ns ? w->directions.shortest_ns : w->lag_ns / 4;
	return !lost || (stamped && (!alone || trip > LONGEST_TICK_NS));
}

static void pair_range(struct walk *w, int me, uint64_t number, bool late)
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
		if (!in_time(w, c, got, this, true, late) || this == ID_OTHER ||
		    c->context != got->context ||
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
	usk_walk_sighting(w, me ? sent : got, me ? got : sent);
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

static void pair_whole(struct walk *w, int me, uint64_t number, bool late)
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
		if (!same_content(c, got) ||
		    !in_time(w, c, got, this, st->who.proto == TCP, late) || this == ID_OTHER) {
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
	usk_walk_sighting(w, me ? sent : got, me ? got : sent);
}

/* Has a vantage point that is tied to the other capture this very packet, whose own is not, too? */
static bool passed(const struct walk *w, int me, uint64_t number)
{
	const struct side *mine = &w->side[me];
	const struct seen *got = usk_seen(mine, number);
	size_t steps = 0;
	for (uint64_t i = usk_side_find(mine, got->key); i != UINT64_MAX && steps < MAX_CHAIN;
	     i = usk_side_older(mine, i), steps++) {
		const struct seen *c = usk_seen(mine, i);
		if (mine->stream[c->stream].peer != NOBODY && same_content(c, got)) {
			return true;
		}
	}
	return false;
}

static void pair_seen(struct walk *w, int me, uint64_t number, bool late)
{
	if (usk_seen(&w->side[me], number)->state & SEEN_RANGE) {
		pair_range(w, me, number, late);
	} else {
		pair_whole(w, me, number, late);
	}
}

static bool is_done(const struct seen *got)
{
	return got->state & (SEEN_MATCHED | SEEN_AMBIGUOUS);
}

bool usk_walk_pair(struct walk *w, int me, uint64_t number)
{
	struct side *mine = &w->side[me];
	struct seen *got = usk_seen(mine, number);
	const struct stream *st = &mine->stream[got->stream];
	if (st->role == ROLE_SENDS || got->state & SEEN_MATCHED) {
		return true;
	}
	pair_seen(w, me, number, false);
	if (w->of[me].survey->passing.several && st->peer == NOBODY && !is_done(got) &&
	    passed(w, me, number)) {
		usk_mark(mine, got, SEEN_AMBIGUOUS);
		w->counts->passed++;
	}
	return is_done(got);
}

void usk_walk_pair_late(struct walk *w, int me, uint64_t number)
{
	struct side *mine = &w->side[me];
	const struct seen *got = usk_seen(mine, number);
	const struct stream *st = &mine->stream[got->stream];
	if (is_done(got) || st->role != ROLE_RECEIVES || st->peer == NOBODY) {
		return;
	}
	pair_seen(w, me, number, true);
}
