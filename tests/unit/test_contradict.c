/* SPDX-License-Identifier: MIT */
/* Which clocks' stamps are not in the order of time: clocks in a ring, each of which sends to the next one
 * alone, so that no two say anything. */
#include "../part.h"
#include "flow/flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOCKS = 5, MESSAGES = 200 };

#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)

struct ring {
	struct parties p;
	struct pair_source pair[CLOCKS];
	struct usk_sighting s[CLOCKS][MESSAGES];
};

/* What a clock shows; the first of them is set back, or forward, by so much after half of the time. */
static int64_t shows(uint32_t clock, int64_t t, int64_t by)
{
	return 7 * SECOND * clock + t + (clock == 0 && t > 5 * SECOND ? by : 0);
}

static void make(struct ring *x, uint64_t seed, int64_t by)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*x = (struct ring){ .p = { .pair = x->pair,
				   .n = CLOCKS,
				   .n_pairs = CLOCKS,
				   .model = { .kind = USK_WANDER } } };
	for (uint32_t i = 0; i < CLOCKS; i++) {
		uint32_t from = i, to = (i + 1) % CLOCKS;
		bool forth = (seed + i) & 1; /* which of the two is called a */
		x->pair[i] = (struct pair_source){ .a = forth ? from : to,
						   .b = forth ? to : from,
						   .sample = { .s = x->s[i], .n = MESSAGES },
						   .in_tables = MESSAGES };
		for (size_t k = 0; k < MESSAGES; k++) {
			int64_t t = (int64_t)usk_rng_below(&r, 10 * SECOND);
			int64_t u = t + MS + (int64_t)usk_rng_below(&r, MS);
			int64_t sent = shows(from, t, by), received = shows(to, u, by);
			x->s[i][k] = (struct usk_sighting){ .p_ns = forth ? sent : received,
							    .q_ns = forth ? received : sent,
							    .ttl_p = forth };
		}
	}
}

static void test_ring(void **state)
{
	(void)state;
	struct ring *x = malloc(sizeof *x);
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		const int64_t by = (int64_t)(seed % 3) * 2 * SECOND;
		size_t those[CLOCKS] = { 0 };
		make(x, seed, by);
		assert_false(usk_clocks_contradict(&x->p, seed & 1, those));
		make(x, seed, -4 * SECOND);
		assert_true(usk_clocks_contradict(&x->p, seed & 1, those));
		assert_true(those[0] > 0);
	}
	free(x);
}

/* A pair counts once for each of its clocks, and of tables alone if it has some. */
static void test_pair(void **state)
{
	(void)state;
	struct ring *x = malloc(sizeof *x);
	size_t those[CLOCKS] = { 0 };
	make(x, 1, -4 * SECOND);
	for (size_t k = 0; k < MESSAGES; k += 2) {
		struct usk_sighting *s = &x->s[0][k]; /* sent by b instead */
		s->ttl_p = !s->ttl_p;
		s->q_ns += s->ttl_p ? 4 * MS : -4 * MS;
	}
	assert_true(usk_clocks_contradict(&x->p, true, those));
	assert_int_equal(those[0], 1);
	assert_int_equal(those[1], 1);
	assert_int_equal(those[2] + those[3] + those[4], 0);
	for (uint32_t i = 0; i < CLOCKS; i++) {
		x->pair[i].in_tables = 0;
		those[i] = 0;
	}
	assert_false(usk_clocks_contradict(&x->p, true, those));
	assert_true(usk_clocks_contradict(&x->p, false, those));
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ring),
					    cmocka_unit_test(test_pair) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
