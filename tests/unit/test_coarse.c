/* SPDX-License-Identifier: MIT */
/* The rough map between two clocks: drift, steps, slews, and joins that are wrong. */
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED   5
#define MS     INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static const struct {
	const char *name;
	size_t n;
	int64_t lasts_ns, offset_ns;
	double drift_ppm, wrong;
	int64_t step_ns; /* of q, two thirds in */
	int64_t delay_ns;
} cases[] = {
	{ "one join", 1, HOUR, 5 * SECOND, 0, 0, 0, 200000 },
	{ "two", 2, HOUR, 5 * SECOND, 20, 0, 0, 200000 },
	{ "a minute", 1000, 60 * SECOND, 0, 0, 0, 0, 200000 },
	{ "an hour", 5000, HOUR, -HOUR, 30, 0, 0, 200000 },
	{ "ten hours, sparse", 300, 10 * HOUR, 268 * 24 * HOUR, 400, 0, 0, 200000 },
	{ "ten hours", 60000, 10 * HOUR, -50 * 365 * 24 * HOUR, -400, 0, 0, 200000 },
	{ "slow way", 5000, HOUR, 7, 30, 0, 0, 300 * MS },
	{ "a step", 5000, HOUR, 7, 30, 0, HOUR, 200000 },
	{ "a small step", 5000, HOUR, 7, -30, 0, SECOND, 200000 },
	{ "some wrong", 5000, HOUR, 7 * HOUR, 30, 0.05, 0, 200000 },
	{ "many wrong", 5000, HOUR, 7 * HOUR, 30, 0.3, 0, 200000 },
	{ "many wrong, few joins", 300, HOUR, 7, 30, 0.3, 0, 200000 },
	{ "many wrong, ten hours", 40000, 10 * HOUR, 7 * HOUR, 300, 0.3, 0, 200000 },
	{ "many wrong and a step", 20000, 10 * HOUR, 7 * HOUR, 300, 0.2, HOUR, 200000 },
};

static int64_t q_of(size_t c, int64_t p, bool *near_step)
{
	int64_t since = p - 1700000000 * SECOND, step_at = cases[c].lasts_ns / 3 * 2;
	int64_t q = p + cases[c].offset_ns + (int64_t)((double)since * cases[c].drift_ppm * 1e-6);
	/* A group of joins may lie on both sides of it. */
	size_t group = cases[c].n / 512 > 15 ? cases[c].n / 512 : 15;
	int64_t reach = cases[c].lasts_ns / (int64_t)(cases[c].n / (2 * group) + 1);
	*near_step = cases[c].step_ns && since > step_at - reach && since < step_at + reach;
	return q + (since > step_at ? cases[c].step_ns : 0);
}

static void test_maps(void **state)
{
	(void)state;
	for (size_t c = 0; c < COUNT(cases) * 4; c++) {
		size_t k = c % COUNT(cases), n = cases[k].n;
		struct usk_sighting *s = usk_alloc(n, sizeof *s);
		struct usk_rng r;
		struct usk_coarse map;
		usk_rng_seed(&r, SEED + c);
		for (size_t i = 0; i < n; i++) {
			int64_t at = 1700000000 * SECOND +
				     (int64_t)usk_rng_below(&r, (uint64_t)cases[k].lasts_ns);
			bool near;
			int64_t delay = cases[k].delay_ns / 4 +
					(int64_t)usk_rng_exponential(&r, (double)cases[k].delay_ns);
			s[i].p_ns = at + (i & 1 ? delay : 0);
			s[i].q_ns = q_of(k, at + (i & 1 ? 0 : delay), &near);
			if (usk_rng_unit(&r) < cases[k].wrong) {
				s[i].p_ns = 1700000000 * SECOND +
					    (int64_t)usk_rng_below(&r, (uint64_t)cases[k].lasts_ns);
			}
		}
		usk_coarse_fit(s, n, &map);
		assert_int_equal(map.joins, n);
		assert_true(map.n_knots >= 1);
		/* The walk needs sends within spread of where the map says, and a small window. */
		int64_t worst = 0, lasts = cases[k].lasts_ns;
		size_t hint = 0;
		for (int i = 0; i <= 2000; i++) {
			int64_t p = 1700000000 * SECOND + lasts / 2000 * i;
			bool near;
			int64_t q = q_of(k, p, &near);
			/* With few joins nothing is known of the ends. */
			if (near || (n < 3 && cases[k].drift_ppm != 0.0)) {
				continue;
			}
			int64_t error = usk_coarse_to_p(&map, q, &hint) - p;
			error = error < 0 ? -error : error;
			worst = error > worst ? error : worst;
		}
		int64_t delay = cases[k].delay_ns;
		/* Between the last knot and the end the offset stays: drift times half a group. */
		int64_t beyond = (int64_t)((double)lasts / (double)map.n_knots *
					   (cases[k].drift_ppm < 0 ? -cases[k].drift_ppm
								   : cases[k].drift_ppm) *
					   1e-6);
		/* A group half wrong may err by a little more. */
		int64_t allowed = 4 * delay + beyond + (cases[k].wrong > 0.0 ? 20 * MS : 0);
		if (worst > allowed || (n > 2 && worst > 2 * map.spread_ns + beyond + MS)) {
			fail_msg("seed %zu, %s: off by %lld ns", SEED + c, cases[k].name,
				 (long long)worst);
		}
		if (!cases[k].step_ns && map.spread_ns > 200 * (delay + beyond) + SECOND) {
			fail_msg("seed %zu, %s: spread %lld ns", SEED + c, cases[k].name,
				 (long long)map.spread_ns);
		}
		if (n >= 300 && !cases[k].step_ns) {
			double drift = cases[k].drift_ppm * 1e-6;
			double error = map.rate + drift / (1 + drift);
			double most = 8 * (double)delay / (double)lasts + 1e-7;
			if (error > most || error < -most) {
				fail_msg("seed %zu, %s: rate off by %g", SEED + c, cases[k].name,
					 error);
			}
		}
		usk_coarse_free(&map);
		free(s);
	}
}

/* Joins that all lie at one moment, at the ends of time, or anywhere at all. */
static void test_degenerate(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, SEED);
	for (int kind = 0; kind < 60; kind++) {
		struct usk_sighting s[200];
		struct usk_coarse map;
		size_t n = 1 + usk_rng_below(&r, COUNT(s));
		for (size_t i = 0; i < n; i++) {
			uint64_t x = usk_rng_next(&r), y = usk_rng_next(&r);
			switch (kind % 4) {
			case 0: /* anything that is a time */
				s[i].p_ns = (int64_t)(x % (UINT64_C(1) << 63)) - USK_TIME_MAX;
				s[i].q_ns = (int64_t)(y % (UINT64_C(1) << 63)) - USK_TIME_MAX;
				break;
			case 1: /* the ends of time */
				s[i].p_ns = x & 1 ? USK_TIME_MAX : -USK_TIME_MAX;
				s[i].q_ns = y & 1 ? USK_TIME_MAX : -USK_TIME_MAX;
				break;
			case 2: /* one moment of q */
				s[i].p_ns = (int64_t)(x % 1000);
				s[i].q_ns = 77;
				break;
			default: /* neighbours in time, years apart on the other clock */
				s[i].p_ns = x & 1 ? USK_TIME_MAX : -USK_TIME_MAX;
				s[i].q_ns = (int64_t)i / 20;
				break;
			}
		}
		usk_coarse_fit(s, n, &map);
		size_t hint = 0;
		for (int i = 0; i < 1000; i++) {
			uint64_t x = usk_rng_next(&r);
			int64_t q = (int64_t)(x % (UINT64_C(1) << 63)) - USK_TIME_MAX;
			int64_t p = usk_coarse_to_p(&map, i & 1 ? q : q % 1000, &hint);
			assert_true(kind % 4 != 2 || q <= 77 || (i & 1) == 0 || p > q - 2000);
		}
		assert_true(map.spread_ns >= 0);
		usk_coarse_free(&map);
	}
	struct usk_coarse none;
	usk_coarse_fit(NULL, 0, &none);
	assert_int_equal(none.joins, 0);
	usk_coarse_free(&none);
}

/* The hint only speeds up. */
static void test_hint(void **state)
{
	struct usk_sighting s[3000];
	struct usk_coarse map;
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	for (size_t i = 0; i < COUNT(s); i++) {
		s[i].q_ns = (int64_t)i * SECOND;
		s[i].p_ns = s[i].q_ns + (int64_t)usk_rng_below(&r, 1000000);
	}
	usk_coarse_fit(s, COUNT(s), &map);
	assert_true(map.n_knots > 100);
	size_t hint = 0;
	for (int i = 0; i < 20000; i++) {
		int64_t q = (int64_t)usk_rng_below(&r, 3200 * (uint64_t)SECOND) - 100 * SECOND;
		size_t fresh = 0;
		assert_true(usk_coarse_to_p(&map, q, &hint) == usk_coarse_to_p(&map, q, &fresh));
	}
	usk_coarse_free(&map);
}

enum { PACKETS = 1000 }; /* one each 10 ms, to and fro by turns */

/* A capture of them, as sampled. What its clock shows is the true time, and what it was set by so far. */
struct seen_by {
	struct usk_survey survey;
	struct usk_sample sample[PACKETS];
	struct usk_ends way[2];
};

static void see(struct seen_by *x, size_t i, int64_t at_ns)
{
	x->sample[i] = (struct usk_sample){ .key = i + 1, .time_ns = at_ns, .way = i & 1 };
	x->survey.n_samples = i + 1;
	x->survey.sample = x->sample;
	x->survey.way = x->way;
	x->survey.n_ways = 2;
	x->way[0] = (struct usk_ends){ { 0, 0xffff0a000001 }, { 0, 0xffff0a000002 }, false };
	x->way[1] = (struct usk_ends){ { 0, 0xffff0a000002 }, { 0, 0xffff0a000001 }, false };
}

/* How many are between others. */
static size_t astray(const struct seen_by *p, const struct seen_by *q)
{
	struct usk_coarse map;
	usk_coarse_join(&p->survey, &q->survey, &map);
	size_t n = map.astray;
	usk_coarse_free(&map);
	return n;
}

/* Of one clock set_ns from packet `from` to packet `to`; of both directions, or of one that was so long under way. */
static size_t astray_of(int64_t set_ns, size_t from, size_t to, size_t each, bool one_way)
{
	static struct seen_by x, y;
	for (size_t i = 0; i < PACKETS; i++) {
		int64_t at = 1700000000 * SECOND + (int64_t)i * 10 * MS;
		bool set = i >= from && i < to && (i - from) % each == 0 && !(one_way && i & 1);
		see(&x, i, at + (i & 1 ? 50000 : 0));
		see(&y, i, at + (i & 1 ? 0 : 50000) + (set ? set_ns : 0));
	}
	size_t n = astray(&x, &y);
	assert_true(!n == !astray(&y, &x));
	return n;
}

/* One that is set for good while 10 packets are under way. */
static size_t astray_in_flight(int64_t set_ns)
{
	static struct seen_by x, y;
	const int64_t begin = 1700000000 * SECOND, set = begin + 4 * SECOND;
	for (size_t i = 0; i < PACKETS; i++) {
		int64_t at = begin + (int64_t)i * 10 * MS, there = at + (i & 1 ? 0 : 100 * MS);
		see(&x, i, at + (i & 1 ? 100 * MS : 0));
		see(&y, i, there + (there >= set ? set_ns : 0));
	}
	return astray(&x, &y) + astray(&y, &x);
}

static void test_two_times_at_once(void **state)
{
	(void)state;
	assert_int_equal(astray_of(0, 0, PACKETS, 1, false), 0);
	/* Set forward, and back by so much that no stamp repeats. */
	assert_int_equal(astray_of(3 * SECOND, 400, PACKETS, 1, false), 0);
	assert_int_equal(astray_of(-20 * SECOND, 700, PACKETS, 1, false), 0);
	assert_int_equal(astray_in_flight(3 * SECOND), 0);
	assert_int_equal(astray_in_flight(-20 * SECOND), 0);
	assert_true(astray_in_flight(-2 * SECOND) > 0);
	/* Set back, for good or to where it was: what it shows from then on it showed before. */
	assert_int_equal(astray_of(-4 * SECOND, 600, PACKETS, 1, false), 400);
	assert_int_equal(astray_of(3 * SECOND, 400, 600, 1, false), 200);
	/* Less than what is followed; packets that were long under way. */
	assert_int_equal(astray_of(-900 * MS, 600, PACKETS, 1, false), 0);
	assert_int_equal(astray_of(2 * SECOND, 0, PACKETS, 10, true), 0);
	/* A few of both directions that lie there alone. */
	assert_true(astray_of(2 * SECOND, 0, PACKETS, 33, false) >= 20);
	assert_int_equal(astray_of(2 * SECOND, 400, 402, 1, false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_degenerate),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_two_times_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
