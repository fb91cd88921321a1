/* SPDX-License-Identifier: MIT */
/*
 * window.c - recent packets and streams of one side of the walk
 *
 * In    packets in the order they were read
 * Out   the ones of a key, the sends that cover a byte
 * Why   everything is found in O(1): hash chains for packets that match whole, a sorted list per
 *       stream for ranges of bytes; expiry costs nothing
 * Not   the decision which two packets are one (walk.c)
 */
#include "match/window.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RING = 4096, FIRST_SLOTS = 1024 };

/* Sends that may be moved and looked through, a packet of their stream. */
enum { LABOUR = 1024 };

void usk_side_init(struct side *s, bool doubled)
{
	memset(s, 0, sizeof *s);
	s->mask = FIRST_RING - 1;
	s->ring = usk_alloc(FIRST_RING, sizeof *s->ring);
	s->again = doubled ? usk_alloc(FIRST_RING, sizeof *s->again) : NULL;
	s->bucket = usk_alloc(FIRST_RING, sizeof *s->bucket);
	s->n_slots = FIRST_SLOTS;
	s->slot = usk_alloc(s->n_slots, sizeof *s->slot);
	s->sweep_at = FIRST_SLOTS / 2;
	s->recent = NOBODY;
	/* Number 0 is never given, so that 0 can mean none. */
	s->tail = s->drained = s->head = 1;
}

void usk_side_free(struct side *s)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		free(s->stream[i].send);
	}
	USK_FREE(s->ring, s->again, s->bucket, s->stream, s->slot, s->free_stream, s->lonely);
}

/* ---- packets by key --------------------------------------------------------- */

/* A running number from its low 32 bits: the window is far shorter than 2^32 packets. */
static uint64_t whole_number(const struct side *s, uint32_t low)
{
	return s->head - (uint32_t)((uint32_t)s->head - low);
}

static bool in_window(const struct side *s, uint64_t number)
{
	return number >= s->tail && number < s->head;
}

void usk_side_index(struct side *s, uint64_t number)
{
	struct seen *p = usk_seen(s, number);
	uint32_t *b = &s->bucket[(size_t)p->key & s->mask];
	p->number = *b;
	p->state |= SEEN_INDEXED;
	*b = (uint32_t)number;
}

static uint64_t follow(const struct side *s, uint32_t low, uint64_t below, uint64_t key)
{
	/* Contents that share a bucket by chance are few; by design they would cost without end. */
	for (int steps = 0; steps < 4096; steps++) {
		uint64_t number = whole_number(s, low);
		/* Numbers only fall along a chain; anything else is a leftover of an old lap. */
		if (!low || !in_window(s, number) || number >= below) {
			return UINT64_MAX;
		}
		const struct seen *p = usk_seen(s, number);
		if (p->key == key) {
			return number;
		}
		below = number;
		low = p->number;
	}
	return UINT64_MAX;
}

uint64_t usk_side_find(const struct side *s, uint64_t key)
{
	return follow(s, s->bucket[(size_t)key & s->mask], UINT64_MAX, key);
}

uint64_t usk_side_older(const struct side *s, uint64_t number)
{
	const struct seen *p = usk_seen(s, number);
	return follow(s, p->number, number, p->key);
}

void usk_side_grow(struct side *s)
{
	size_t size = (s->mask + 1) * 2;
	struct seen *ring = usk_alloc(size, sizeof *ring);
	struct again *again = s->again ? usk_alloc(size, sizeof *again) : NULL;
	for (uint64_t i = s->tail; i < s->head; i++) {
		ring[i & (size - 1)] = *usk_seen(s, i);
		if (again) {
			again[i & (size - 1)] = s->again[i & s->mask];
		}
	}
	USK_FREE(s->ring, s->again);
	s->again = again;
	free(s->bucket);
	s->ring = ring;
	s->mask = size - 1;
	s->bucket = usk_alloc(size, sizeof *s->bucket);
	for (uint64_t i = s->tail; i < s->head; i++) {
		if (usk_seen(s, i)->state & SEEN_INDEXED) {
			usk_side_index(s, i);
		}
	}
}

/* ---- streams ----------------------------------------------------------------- */

static size_t hash_of(const struct tuple *t)
{
	uint64_t ports = (uint64_t)t->sport << 32 | (uint64_t)t->dport << 16 | t->proto;
	return (size_t)usk_fold(t->src.lo + t->dst.hi * 3,
				t->dst.lo + t->src.hi * 5 + (ports << 16));
}

uint32_t usk_stream_find(const struct side *s, const struct usk_packet *p, uint16_t vantage)
{
	const struct tuple t = usk_tuple_of(p);
	size_t at = SIZE_MAX;
	uint32_t which;
	do {
		which = usk_stream_each(s, &t, &at);
	} while (which != NOBODY && s->stream[which].vantage != vantage);
	return which;
}

uint32_t usk_stream_each(const struct side *s, const struct tuple *t, size_t *at)
{
	size_t i = *at == SIZE_MAX ? hash_of(t) & (s->n_slots - 1) : *at;
	for (; s->slot[i]; i = (i + 1) & (s->n_slots - 1)) {
		if (usk_tuple_same(&s->stream[s->slot[i] - 1].who, t)) {
			*at = (i + 1) & (s->n_slots - 1);
			return s->slot[i] - 1;
		}
	}
	*at = i;
	return NOBODY;
}

static void place(struct side *s, uint32_t which)
{
	size_t i = hash_of(&s->stream[which].who) & (s->n_slots - 1);
	while (s->slot[i]) {
		i = (i + 1) & (s->n_slots - 1);
	}
	s->slot[i] = which + 1;
}

static void rebuild(struct side *s, size_t n_slots)
{
	free(s->slot);
	s->n_slots = n_slots;
	s->slot = usk_alloc(n_slots, sizeof *s->slot);
	for (size_t i = 0; i < s->n_streams; i++) {
		if (s->stream[i].alive) {
			place(s, (uint32_t)i);
		}
	}
}

uint32_t usk_stream_new(struct side *s, const struct usk_packet *p, uint16_t vantage)
{
	uint32_t which;
	if (s->n_free) {
		which = s->free_stream[--s->n_free];
	} else {
		s->stream = usk_room(s->stream, s->n_streams, &s->cap_streams, sizeof *s->stream);
		which = (uint32_t)s->n_streams++;
	}
	struct stream *st = &s->stream[which];
	memset(st, 0, sizeof *st);
	st->who = usk_tuple_of(p);
	st->alive = 1;
	st->peer = st->direction = NOBODY;
	st->vantage = vantage;
	st->ttl = p->ttl;
	struct tuple back = { p->dst, p->src, p->dport, p->sport, p->proto };
	size_t at = SIZE_MAX;
	st->reverse = usk_stream_each(s, &back, &at);
	if (st->reverse != NOBODY && st->reverse != which) {
		s->stream[st->reverse].reverse = which;
	} else {
		st->reverse = NOBODY;
	}
	s->live++;
	if (s->live * 2 > s->n_slots) {
		rebuild(s, s->n_slots * 2);
	} else {
		place(s, which);
	}
	return which;
}

void usk_side_sweep(struct side *s, struct side *other)
{
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->stream[i];
		if (!st->alive || st->last >= s->tail) {
			continue;
		}
		if (st->peer != NOBODY) {
			other->stream[st->peer].peer = NOBODY;
			other->stream[st->peer].met = 0;
		}
		if (st->reverse != NOBODY) {
			s->stream[st->reverse].reverse = NOBODY;
		}
		free(st->send);
		st->send = NULL;
		st->alive = 0;
		*USK_ADD(s->free_stream, s->n_free, s->cap_free) = (uint32_t)i;
		s->live--;
	}
	/* Several may have named one that is gone as their way back. */
	for (size_t i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->stream[i];
		if (st->alive && st->reverse != NOBODY && !s->stream[st->reverse].alive) {
			st->reverse = NOBODY;
		}
	}
	s->recent = NOBODY;
	rebuild(s, s->n_slots);
	s->sweep_at = s->live * 2 > FIRST_SLOTS / 2 ? s->live * 2 : FIRST_SLOTS / 2;
}

/* ---- sends of a stream -------------------------------------------------------- */

static void drop_expired(const struct side *s, struct stream *st)
{
	while (st->n_sends && st->send[st->head].number < s->tail) {
		st->head++;
		st->n_sends--;
	}
	if (!st->n_sends) {
		st->head = 0;
	}
}

/* How many sends start at or before a position. */
static uint32_t upto(struct stream *st, uint64_t position)
{
	const struct send *v = st->send + st->head;
	uint32_t lo = 0, hi = st->n_sends;
	/* Mostly the one after the one found last. */
	uint32_t guess = st->hint > st->head ? st->hint - st->head : 0;
	for (int i = 0; i < 2 && guess < hi; i++, guess++) {
		if (v[guess].start <= position &&
		    (guess + 1 == hi || v[guess + 1].start > position)) {
			st->hint = st->head + guess;
			return guess + 1;
		}
	}
	USK_FIRST(lo, lo, hi, v[lo].start > position);
	st->hint = st->head + (lo ? lo - 1 : 0);
	return lo;
}

/* Room for one more. Sends are sorted by start, so expired ones may stand between others. */
static void make_room(const struct side *s, struct stream *st)
{
	if (st->head + st->n_sends < st->cap_sends) {
		return;
	}
	uint32_t live = 0;
	for (uint32_t i = st->head; i < st->head + st->n_sends; i++) {
		if (st->send[i].number >= s->tail) {
			st->send[live++] = st->send[i];
		}
	}
	st->head = 0;
	st->n_sends = live;
	if (live >= st->cap_sends / 2) {
		st->cap_sends = st->cap_sends ? st->cap_sends * 2 : 8;
		st->send = usk_grow(st->send, st->cap_sends, sizeof *st->send);
	}
}

/* No network turns a stream round packet by packet: only what that costs would be felt. */
static bool too_much(struct stream *st, size_t labour)
{
	st->labour += labour;
	st->unruly |= st->labour > (uint64_t)LABOUR * st->packets + LABOUR * LABOUR;
	return st->unruly;
}

bool usk_seen_take(struct seen *sent, uint32_t offset)
{
	/* A window that slides, as against replay: pieces come nearly in order. Their size is known
	 * before the first one that is not at the start, or never. */
	uint32_t which = offset / (sent->piece ? sent->piece : 512);
	uint16_t piece = (uint16_t)(which < UINT16_MAX ? which : UINT16_MAX);
	if (!sent->taken || piece > sent->window) {
		unsigned ahead = sent->taken ? (unsigned)(piece - sent->window) : 64u;
		sent->taken = (ahead < 64 ? sent->taken << ahead : 0) | 1;
		sent->window = piece;
		return true;
	}
	unsigned back = (unsigned)(sent->window - piece);
	if (back >= 64 || sent->taken >> back & 1) {
		return false;
	}
	sent->taken |= UINT64_C(1) << back;
	return true;
}

bool usk_stream_send(struct side *s, struct stream *st, uint64_t number, uint32_t tsval)
{
	struct seen *p = usk_seen(s, number);
	uint64_t start = usk_unwrap(st, p->seq), end = start + usk_span(p);
	if (st->unruly) {
		return false;
	}
	make_room(s, st);
	struct send *v = st->send + st->head;
	if (st->openers < 2) {
		st->openers++;
		st->opening = end > st->opening ? end : st->opening;
	}
	s->misses |= st->role == ROLE_SENDS && st->highest && start > st->highest &&
		     !(p->state & SEEN_SYN);
	if (start >= st->highest && (!st->n_sends || start >= v[st->n_sends - 1].end)) {
		/* The next bytes, or later ones if the capture missed some: nearly every packet. */
		v[st->n_sends++] = (struct send){ start, end, number };
	} else {
		uint64_t copy[8];
		size_t n = usk_stream_covering(s, st, start, copy, COUNT(copy));
		for (size_t i = 0; i < n; i++) {
			const struct seen *c = usk_seen(s, copy[i]);
			/* One packet on two interfaces of a host: same identity, same bytes. */
			if (c->seq == p->seq && usk_span(c) == usk_span(p) && c->has == p->has &&
			    p->has & USK_HAS_IP_ID && p->ip_id && c->ip_id == p->ip_id &&
			    c->context == p->context) {
				return false;
			}
		}
		/* A later tick than that of what came behind the original tells it from that. */
		bool ticked =
			p->has & USK_HAS_TIMESTAMPS && (int32_t)(tsval - st->highest_tsval) > 0;
		if (!n && start < st->highest && !ticked) {
			p->state |= SEEN_RESENT;
		}
		s->misses |= st->role == ROLE_SENDS && !n && start < st->highest;
		make_room(s, st);
		v = st->send + st->head;
		uint32_t i = upto(st, start);
		if (too_much(st, st->n_sends - i)) {
			return false;
		}
		bool overlaps =
			(i && v[i - 1].end > start) || (i < st->n_sends && v[i].start < end) || n;
		memmove(v + i + 1, v + i, (st->n_sends - i) * sizeof *v);
		v[i] = (struct send){ start, end, number };
		st->n_sends++;
		if (overlaps) {
			st->messy = number;
		}
	}
	st->longest = end - start > st->longest ? end - start : st->longest;
	if (end > st->highest) {
		st->highest = end;
		st->highest_tsval = tsval;
	}
	return true;
}

size_t usk_stream_covering(struct side *s, struct stream *st, uint64_t position, uint64_t *out,
			   size_t cap)
{
	drop_expired(s, st);
	size_t n = 0;
	uint32_t i = st->n_sends ? upto(st, position) : 0;
	const struct send *v = i ? st->send + st->head : NULL;
	bool messy = st->messy >= s->tail && st->messy;
	uint32_t from = i;
	while (i-- && n < cap) {
		if (v[i].end > position && v[i].number >= s->tail) {
			out[n++] = v[i].number;
		}
		/* Without overlaps only the nearest can cover it; with them, none longer than the
		 * longest. */
		if (!messy || v[i].start + st->longest <= position) {
			break;
		}
	}
	too_much(st, from - i);
	return n;
}
