/* SPDX-License-Identifier: MIT */
/* test_seen.c - the order that two clocks show, and strays */
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 1000 };

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

/* One packet every 10 ms, in the order of q, there and back, under way for up to 2 ms. p: of two parts, the
 * first up to from, both again and again behind it. */
static void make(struct usk_seen *s, struct usk_rng *r, size_t from)
{
	for (size_t i = 0; i < N; i++) {
		int64_t q = (int64_t)i * 10 * MS, way = (int64_t)usk_rng_below(r, 2 * MS);
		bool back = usk_rng_below(r, 2);
		s[i] = (struct usk_seen){ .p_ns = 7 * SECOND + q + (back ? way : -way),
					  .q_ns = q,
					  .part = i >= from ? (uint32_t)(i & 1) : 0,
					  .back = back };
	}
}

static void test_order_that_agrees(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	int64_t ways;
	usk_rng_seed(&r, 1);
	make(s, &r, 0);
	assert_int_equal(usk_seen_agreeing(s, N, &ways), N);
	assert_true(ways > 2 * MS && ways < 100 * MS);
	assert_true(usk_seen_fall(s, N) == SIZE_MAX);
	assert_false(usk_seen_contradict(s, N));
}

/* From 600 on p shows half a second less: its own part's order says nothing of files. */
static void test_falls(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	int64_t ways;
	usk_rng_seed(&r, 2);
	make(s, &r, N);
	for (size_t i = 600; i < N; i++) {
		s[i].p_ns -= SECOND / 2;
	}
	assert_int_equal(usk_seen_agreeing(s, N, &ways), N);
	assert_true(usk_seen_contradict(s, N));
	assert_true(usk_seen_fall(s, N) == SIZE_MAX);
	for (size_t i = 700; i < N; i++) {
		s[i].part = 1; /* by then p is beyond what it showed before */
	}
	assert_true(usk_seen_fall(s, N) == SIZE_MAX);
	for (size_t i = 620; i < N; i++) {
		s[i].part = 1;
	}
	assert_in_range(usk_seen_fall(s, N), 620, 640);
	/* Below the highest of all other parts, that of its own not counted. */
	for (size_t i = 0; i < 620; i++) {
		s[i].part = i < 300 ? 2 : 0;
	}
	assert_in_range(usk_seen_fall(s, N), 620, 640);
	for (size_t i = 300; i < N; i++) {
		s[i].part = 0;
	}
	assert_true(usk_seen_fall(s, N) == SIZE_MAX);
}

/* Packets wait in a queue, for a tenth of a second at times, and overtake those of the other part. */
static void test_queues(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	for (unsigned seed = 3; seed < 103; seed++) {
		usk_rng_seed(&r, seed);
		make(s, &r, 0);
		for (size_t i = 0; i < N; i++) {
			bool waits = s[i].back && (i / 100 & 1) && s[i].part;
			s[i].p_ns += waits ? 100 * MS + (int64_t)usk_rng_below(&r, 10 * MS) : 0;
		}
		assert_true(usk_seen_fall(s, N) == SIZE_MAX);
		assert_false(usk_seen_contradict(s, N));
	}
}

/* One direction alone may have become faster. */
static void test_one_way(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	usk_rng_seed(&r, 4);
	make(s, &r, N);
	for (size_t i = 0; i < N; i++) {
		s[i].p_ns -= i >= 600 ? SECOND / 2 : 0;
		s[i].with = s[i].back;
		s[i].part = i >= 600;
	}
	assert_true(usk_seen_fall(s, N) == SIZE_MAX);
}

/* Clocks that run on, or are set forward, whatever ways are, coarse stamps, too; and any that is set back
 * further than messages are under way. */
static void test_senders_known(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	for (unsigned seed = 1; seed <= 300; seed++) {
		usk_rng_seed(&r, seed);
		const int64_t tick = seed % 3 ? 1 : 16 * MS, most = (int64_t)(1 + seed % 100) * MS;
		const int64_t by = (int64_t)usk_rng_below(&r, 100) * SECOND;
		const bool forth = seed % 2, of_q = seed % 4 < 2;
		for (size_t i = 0; i < N; i++) {
			int64_t sent = (int64_t)i * 10 * MS;
			int64_t came = sent + (int64_t)usk_rng_below(&r, (uint64_t)most);
			const bool back = usk_rng_below(&r, 2);
			int64_t p = back ? came : sent, q = back ? sent : came;
			int64_t *set = of_q ? &q : &p;
			*set += *set < 5 * SECOND ? 0 : forth ? by : -by;
			s[i] = (struct usk_seen){ .p_ns = p / tick * tick + 7 * SECOND,
						  .q_ns = q / tick * tick,
						  .back = back };
		}
		usk_sort(s, N, sizeof *s, KEYS(BY(usk_seen, q_ns), BY(usk_seen, p_ns)));
		assert_int_equal(usk_seen_contradict(s, N), !forth && by > 0);
	}
}

static void test_strays(void **state)
{
	(void)state;
	struct usk_rng r;
	struct usk_seen s[N];
	int64_t ways;
	usk_rng_seed(&r, 4);
	make(s, &r, 0);
	for (size_t i = 50; i < N; i += 100) {
		s[i].p_ns += (int64_t)usk_rng_below(&r, 100) * SECOND - 50 * SECOND;
	}
	s[0].part = 9; /* alone in its part */
	size_t left = usk_seen_agreeing(s, N, &ways);
	assert_in_range(left, N - 11, N - 10);
	assert_false(usk_seen_contradict(s, left));
	assert_int_equal(usk_seen_agreeing(s, 0, &ways), 0);
	assert_int_equal(usk_seen_agreeing(s, 1, &ways), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_that_agrees),
		cmocka_unit_test(test_falls),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_senders_known),
		cmocka_unit_test(test_strays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
