/* SPDX-License-Identifier: MIT */
/* test_seen.c - the order that two clocks show, and strays */
#include "../part.h"
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

/* ---- the same, by all that was seen before ---------------------------------------------------- */

enum { FEW = 60, SAID_TWICE = 2, SAID_OFTEN = 8 };

static int falling(const void *pa, const void *pb)
{
	const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a < b) - (a > b);
}

/* The next of its conversation and part, if that went the other way. */
static size_t answer_to(const struct usk_seen *s, size_t n, size_t i)
{
	for (size_t k = i + 1; k < n; k++) {
		if (s[k].with == s[i].with && s[k].part == s[i].part) {
			return s[k].back != s[i].back ? k : SIZE_MAX;
		}
	}
	return SIZE_MAX;
}

/* Is a packet, with its answer, over 1 ms below what two that came before with theirs show, of other parts? */
static bool is_below(const struct usk_seen *s, size_t n, size_t i)
{
	const size_t next = answer_to(s, n, i);
	int64_t shown[FEW];
	size_t m = 0;
	for (size_t k = 0; k < i; k++) {
		const size_t answer = answer_to(s, n, k);
		if (answer < i && s[k].part != s[i].part) {
			shown[m++] = s[k].p_ns < s[answer].p_ns ? s[k].p_ns : s[answer].p_ns;
		}
	}
	qsort(shown, m, sizeof *shown, falling);
	return next != SIZE_MAX && m >= SAID_TWICE && shown[SAID_TWICE - 1] - s[i].p_ns > MS &&
	       shown[SAID_TWICE - 1] - s[next].p_ns > MS;
}

/* Was it sent back over 1 ms before eight that had come by then were sent there? */
static bool is_early(const struct usk_seen *s, size_t i)
{
	int64_t sent[FEW];
	size_t m = 0;
	for (size_t k = 0; k < i; k++) {
		if (!s[k].back && s[k].q_ns < s[i].q_ns) {
			sent[m++] = s[k].p_ns;
		}
	}
	qsort(sent, m, sizeof *sent, falling);
	return s[i].back && m >= SAID_OFTEN && sent[SAID_OFTEN - 1] - s[i].p_ns > MS;
}

static void test_all_before(void **state)
{
	(void)state;
	size_t fell = 0, contradict = 0;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct usk_rng r;
		struct usk_seen s[FEW];
		usk_rng_seed(&r, seed);
		const size_t n = usk_rng_below(&r, FEW + 1), parts = 1 + usk_rng_below(&r, 4);
		const uint64_t spread = 1 + usk_rng_below(&r, 30);
		const int64_t by = (int64_t)usk_rng_below(&r, 12) * MS;
		int64_t q = 0;
		for (size_t i = 0; i < n; i++) {
			q += (int64_t)usk_rng_below(&r, 3) * MS / 2;
			s[i] = (struct usk_seen){ .p_ns = q - (i > n / 2 ? by : 0) +
							  (int64_t)usk_rng_below(&r, spread) * MS /
								  2,
						  .q_ns = q,
						  .part = (uint32_t)usk_rng_below(&r, parts),
						  .with = (uint32_t)usk_rng_below(&r, 2),
						  .back = usk_rng_below(&r, 2) };
		}
		size_t late = 0, first = SIZE_MAX, early = 0;
		for (size_t i = 0; i < n; i++) {
			const bool below = is_below(s, n, i);
			first = below && !late ? i : first;
			late += below;
			early += is_early(s, i);
		}
		first = late < SAID_TWICE ? SIZE_MAX : first;
		if (usk_seen_fall(s, n) != first ||
		    usk_seen_contradict(s, n) != (early >= SAID_OFTEN)) {
			fail_msg("seed %llu", (unsigned long long)seed);
		}
		fell += first != SIZE_MAX;
		contradict += early >= SAID_OFTEN;
	}
	assert_true(fell > case_count(4000) / 20 && contradict > 0);
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
		cmocka_unit_test(test_all_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
