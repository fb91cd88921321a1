/* SPDX-License-Identifier: MIT */
/*
 * The ring, its chains and the streams' sends, under random operations, against lists that are
 * searched from end to end.
 */
#include "match/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 4242

static void assert_chain(const struct side *s, const uint64_t *key, const bool *indexed, uint64_t k)
{
	uint64_t want = s->head - 1, got = usk_side_find(s, k);
	for (;; want--) {
		while (want >= s->tail && !(indexed[want] && key[want] == k)) {
			want--;
		}
		if (want < s->tail) {
			assert_true(got == UINT64_MAX);
			return;
		}
		if (got != want) {
			fail_msg("seed %d: key %llu: %llu, expected %llu of %llu to %llu", SEED,
				 (unsigned long long)k, (unsigned long long)got,
				 (unsigned long long)want, (unsigned long long)s->tail,
				 (unsigned long long)s->head);
		}
		got = usk_side_older(s, got);
	}
}

/* Packets come in bursts and go in bursts: the ring laps and grows; every chain is asked. */
static void test_chains(void **state)
{
	enum { PACKETS = 300000 };
	uint64_t *key = usk_alloc(PACKETS + 1, sizeof *key);
	bool *indexed = usk_alloc(PACKETS + 1, sizeof *indexed);
	struct side s;
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	usk_side_init(&s, false);
	size_t first_ring = s.mask;
	while (s.head <= PACKETS - 5000) {
		/* Keys that share buckets, few enough to come again. */
		uint64_t keys = 1 + usk_rng_below(&r, 300);
		for (uint64_t n = usk_rng_below(&r, 5000); n; n--) {
			struct seen *p = usk_side_push(&s);
			uint64_t number = s.head - 1;
			assert_ptr_equal(p, usk_seen(&s, number));
			assert_true(p->state == 0 && p->taken == 0 && p->number == 0);
			p->key = key[number] = usk_rng_below(&r, keys) << usk_rng_below(&r, 2) * 40;
			p->common_ns = (int64_t)number;
			indexed[number] = usk_rng_below(&r, 4);
			if (indexed[number]) {
				usk_side_index(&s, number);
			}
		}
		uint64_t live = s.head - s.tail;
		s.tail += usk_rng_below(&r, 3) ? usk_rng_below(&r, live + 1) : 0;
		for (uint64_t i = s.tail; i < s.head; i++) {
			assert_true(usk_seen(&s, i)->common_ns == (int64_t)i);
		}
		for (int i = 0; i < 30; i++) {
			uint64_t k = usk_rng_below(&r, keys + 1) << usk_rng_below(&r, 2) * 40;
			assert_chain(&s, key, indexed, k);
		}
	}
	assert_true(s.mask > first_ring);
	usk_side_free(&s);
	free(key);
	free(indexed);
}

/* ---- sends of a stream ------------------------------------------------------------------ */

struct range {
	uint64_t start, end;
};

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/*
 * Ranges in order, with holes, resent whole, in part or merged, on a stream that wraps; positions
 * are asked at random. What comes back must be what the list of all live sends gives.
 */
static void test_covering(void **state)
{
	enum { SENDS = 40000, CAP = 512 };
	struct range *range = usk_alloc(SENDS + 1, sizeof *range);
	(void)state;
	for (int neat = 0; neat < 3; neat++) {
		struct side s;
		struct usk_rng r;
		struct usk_packet tuple = { .sport = 1, .dport = 2, .proto = 6 };
		usk_rng_seed(&r, SEED + (uint64_t)neat);
		usk_side_init(&s, false);
		uint32_t which = usk_stream_new(&s, &tuple, 0);
		struct stream *st = &s.stream[which];
		uint64_t base = UINT64_C(1) << 40 | 0xfff00000, next = base, copies = 0;
		st->position = base;
		while (s.head < SENDS) {
			for (uint64_t n = usk_rng_below(&r, 200); n && s.head < SENDS; n--) {
				struct seen *p = usk_side_push(&s);
				uint64_t number = s.head - 1, start = next;
				uint32_t span = 1 + (uint32_t)usk_rng_below(&r, 3000);
				uint64_t kind = neat ? usk_rng_below(&r, neat == 1 ? 200 : 8) : 1;
				if (kind == 0 && number > 10) {
					/* Something of the last hundred again, a piece or more. */
					uint64_t back =
						usk_rng_below(&r, number < 100 ? number - 1 : 100);
					start = range[number - 1 - back].start +
						usk_rng_below(&r, 500);
					copies++;
				} else if (kind == 2) {
					start += 1 + usk_rng_below(&r, 5000); /* a hole */
				}
				p->seq = (uint32_t)start;
				p->bytes = span;
				p->has = USK_HAS_IP_ID;
				p->ip_id = (uint16_t)number;
				range[number] = (struct range){ start, start + span };
				assert_true(usk_unwrap(st, p->seq) == start);
				assert_true(usk_stream_send(&s, st, number, 0));
				next = start + span > next ? start + span : next;
				st->position = start > st->position ? start : st->position;
			}
			uint64_t live = s.head - s.tail;
			s.tail += usk_rng_below(&r, 2) ? usk_rng_below(&r, live + 1) : 0;
			for (int i = 0; i < 20 && s.tail < s.head; i++) {
				uint64_t some = s.tail + usk_rng_below(&r, s.head - s.tail);
				uint64_t at = range[some].start - 10 + usk_rng_below(&r, 3100);
				uint64_t got[CAP], want[CAP];
				size_t n = usk_stream_covering(&s, st, at, got, CAP), m = 0;
				for (uint64_t k = s.tail; k < s.head && m < CAP; k++) {
					if (range[k].start <= at && range[k].end > at) {
						want[m++] = k;
					}
				}
				qsort(got, n, sizeof *got, by_number);
				if (n != m || memcmp(got, want, n * sizeof *got) != 0) {
					fail_msg("seed %d, %d: %zu sends cover %llu, expected %zu",
						 SEED, neat, n, (unsigned long long)at, m);
				}
			}
		}
		assert_true(neat ? copies > 100 : copies == 0);
		assert_true(next - base > UINT64_C(1) << 20);
		usk_side_free(&s);
	}
	free(range);
}

/* The same packet twice, of one identity: the second is none; with another it is a copy. */
static void test_twice(void **state)
{
	(void)state;
	for (int other = 0; other < 2; other++) {
		struct side s;
		struct usk_packet tuple = { .proto = 6 };
		usk_side_init(&s, false);
		uint32_t which = usk_stream_new(&s, &tuple, 0);
		struct stream *st = &s.stream[which];
		st->position = UINT64_C(1) << 40;
		for (int i = 0; i < 2; i++) {
			struct seen *p = usk_side_push(&s);
			p->seq = 5;
			p->bytes = 100;
			p->context = 7;
			p->has = USK_HAS_IP_ID | USK_HAS_TIMESTAMPS;
			p->ip_id = (uint16_t)(9 + (other ? i : 0));
			assert_int_equal(usk_stream_send(&s, st, s.head - 1, 0), !i || other);
			assert_int_equal(p->state & SEEN_RESENT, 0);
		}
		uint64_t out[4];
		assert_int_equal(usk_stream_covering(&s, st, (UINT64_C(1) << 40) + 5, out, 4),
				 1 + other);
		assert_int_equal(usk_stream_covering(&s, st, (UINT64_C(1) << 40) + 105, out, 4), 0);
		assert_int_equal(usk_stream_covering(&s, st, (UINT64_C(1) << 40) + 5, out, 1), 1);
		usk_side_free(&s);
	}
}

/* ---- streams ---------------------------------------------------------------------------- */

static struct usk_packet tuple_of(unsigned i)
{
	/* Pairs of directions; 0 is its own reverse. */
	struct usk_packet p = { .proto = 6 };
	unsigned flow = i / 2;
	p.src = (struct usk_addr){ flow % 3, 1000 + flow };
	p.dst = (struct usk_addr){ flow % 5, flow ? 7 : 1000 };
	p.sport = (uint16_t)(flow ? flow * 3 : 0);
	p.dport = (uint16_t)(flow ? 80 : 0);
	if (i & 1) {
		struct usk_addr a = p.src;
		uint16_t port = p.sport;
		p.src = p.dst;
		p.dst = a;
		p.sport = p.dport;
		p.dport = port;
	}
	return p;
}

static uint32_t find(const struct side *s, unsigned i)
{
	struct usk_packet p = tuple_of(i);
	return usk_stream_find(s, &p, 0);
}

/* Streams come and go on both sides, with what they sent, peers and ways back; all links lead to the
 * living, and of those that are gone nothing is left. */
static void test_streams(void **state)
{
	enum { TUPLES = 3000 };
	struct side side[2];
	bool alive[2][TUPLES] = { { false } };
	struct usk_rng r;
	uint64_t sweeps = 0;
	(void)state;
	usk_rng_seed(&r, SEED);
	usk_side_init(&side[0], false);
	usk_side_init(&side[1], false);
	for (int step = 0; step < 60000; step++) {
		int me = (int)usk_rng_below(&r, 2);
		struct side *s = &side[me], *other = &side[!me];
		unsigned i = 2 + (unsigned)usk_rng_below(&r, TUPLES - 2);
		i = step % 20000 < 10000 ? i % 40 + 2 : i; /* calm and busy times */
		uint32_t which = find(s, i);
		assert_true((which != NOBODY) == alive[me][i]);
		if (which == NOBODY) {
			if (s->live >= s->sweep_at) {
				usk_side_sweep(s, other);
				sweeps++;
				for (unsigned k = 2; k < TUPLES; k++) {
					uint32_t f = find(s, k);
					assert_true(!alive[me][k] || (f != NOBODY) || s->tail > 1);
					alive[me][k] = f != NOBODY;
				}
				size_t count = 0;
				for (size_t k = 0; k < s->n_streams; k++) {
					const struct stream *st = &s->stream[k];
					count += st->alive;
					assert_true(!st->alive || st->last >= s->tail);
				}
				assert_int_equal(count, s->live);
			}
			struct usk_packet p = tuple_of(i);
			which = usk_stream_new(s, &p, 0);
			alive[me][i] = true;
			uint32_t peer = find(other, i);
			if (peer != NOBODY && other->stream[peer].peer == NOBODY) {
				other->stream[peer].peer = which;
				s->stream[which].peer = peer;
			}
		}
		struct seen *seen = usk_side_push(s);
		struct stream *st = &s->stream[which];
		st->last = s->head - 1;
		seen->bytes = 1;
		seen->seq = (uint32_t)st->packets++;
		assert_true(usk_stream_send(s, st, st->last, 0));
		s->recent = which;
		assert_true(st->alive);
		uint32_t back = find(s, i ^ 1);
		assert_true(st->reverse == back);
		assert_true(back == NOBODY || s->stream[back].reverse == which);
		if (st->peer != NOBODY) {
			assert_true(other->stream[st->peer].alive);
			assert_true(other->stream[st->peer].peer == which);
			assert_true(other->stream[st->peer].who.sport == st->who.sport);
		}
		if (s->head - s->tail > 500) {
			s->tail = s->head - 500;
		}
	}
	assert_true(sweeps > 5);
	usk_side_free(&side[0]);
	usk_side_free(&side[1]);
}

/* Where both ends are the same, the way back is the way itself: no link to oneself. */
static void test_to_itself(void **state)
{
	struct side s;
	(void)state;
	usk_side_init(&s, false);
	struct usk_packet p = tuple_of(0);
	p.dst = p.src;
	uint32_t which = usk_stream_new(&s, &p, 0);
	assert_true(s.stream[which].reverse == NOBODY);
	assert_true(usk_stream_find(&s, &p, 0) == which);
	usk_side_free(&s);
}

/* A stream that runs backwards costs no square: it is given up. Its list keeps to the window. */
static void test_unruly(void **state)
{
	enum { PACKETS = 20000 };
	struct side s;
	struct usk_packet packet = { .sport = 1, .dport = 2, .proto = 6 };
	(void)state;
	for (int backwards = 0; backwards < 2; backwards++) {
		usk_side_init(&s, false);
		uint32_t which = usk_stream_new(&s, &packet, 0);
		struct stream *st = &s.stream[which];
		st->position = UINT64_C(1) << 40;
		size_t taken = 0;
		for (uint32_t i = 0; i < PACKETS; i++) {
			struct seen *p = usk_side_push(&s);
			p->bytes = 1;
			p->seq = backwards ? PACKETS - i : i;
			if (!backwards && i % 100 == 50) {
				p->seq = 0; /* again and again what expired long ago */
			}
			p->has = 0;
			p->common_ns = i;
			st->packets++;
			taken += usk_stream_send(&s, st, s.head - 1, 0);
			s.tail = s.head > 200 ? s.head - 200 : s.tail;
		}
		assert_int_equal(taken, PACKETS);
		assert_false(st->unruly);
		assert_true(st->cap_sends <= 1024);
		usk_side_free(&s);
	}
	usk_side_init(&s, false);
	uint32_t which = usk_stream_new(&s, &packet, 0);
	struct stream *st = &s.stream[which];
	st->position = UINT64_C(1) << 40;
	for (uint32_t i = 0; i < PACKETS; i++) {
		struct seen *p = usk_side_push(&s);
		p->bytes = 1;
		p->seq = PACKETS - i;
		p->has = 0;
		st->packets++;
		assert_true(usk_stream_send(&s, st, s.head - 1, 0) != st->unruly);
	}
	assert_true(st->unruly);
	usk_side_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),	  cmocka_unit_test(test_covering),
		cmocka_unit_test(test_twice),	  cmocka_unit_test(test_streams),
		cmocka_unit_test(test_to_itself), cmocka_unit_test(test_unruly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
