/* SPDX-License-Identifier: MIT */
/* Knots to corrected stamps: the 128-bit definition and the fast way, against GMP. */
#include "../part.h"
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static void set_int64(mpz_t z, int64_t v)
{
	uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	mpz_import(z, 1, 1, sizeof size, 0, 0, &size);
	if (v < 0) {
		mpz_neg(z, z);
	}
}

static bool get_int64(const mpz_t z, int64_t *v)
{
	if (mpz_sizeinbase(z, 2) > 63) {
		return false;
	}
	uint64_t size = 0;
	mpz_export(&size, NULL, 1, sizeof size, 0, 0, z);
	*v = mpz_sgn(z) < 0 ? (int64_t)(0 - size) : (int64_t)size;
	return true;
}

/* v0 + (v1 - v0)(x - x0)/(x1 - x0) + x, rounded down or up: false if over USK_TIME_MAX. */
static bool oracle_line(int64_t x0, int64_t v0, int64_t x1, int64_t v1, int64_t x, bool up,
			int64_t *out)
{
	mpz_t a, b, c, d;
	mpz_inits(a, b, c, d, NULL);
	set_int64(a, v1);
	set_int64(b, v0);
	mpz_sub(c, a, b);
	set_int64(a, x);
	set_int64(d, x0);
	mpz_sub(a, a, d);
	mpz_mul(c, c, a);
	set_int64(a, x1);
	mpz_sub(a, a, d);
	if (up) {
		mpz_cdiv_q(c, c, a);
	} else {
		mpz_fdiv_q(c, c, a);
	}
	mpz_add(c, c, b);
	set_int64(a, x);
	mpz_add(c, c, a);
	bool fits = get_int64(c, out) && *out <= USK_TIME_MAX && *out >= -USK_TIME_MAX;
	mpz_clears(a, b, c, d, NULL);
	return fits;
}

/* end + (x - x0) * slope / 10^12 + x, rounded down or up: false if over USK_TIME_MAX. */
static bool oracle_beyond(int64_t x0, int64_t end, int64_t slope_e12, int64_t x, bool up,
			  int64_t *out)
{
	mpz_t a, b;
	mpz_inits(a, b, NULL);
	set_int64(a, x);
	set_int64(b, x0);
	mpz_sub(a, a, b);
	set_int64(b, slope_e12);
	mpz_mul(a, a, b);
	set_int64(b, 1000000000000);
	if (up) {
		mpz_cdiv_q(a, a, b);
	} else {
		mpz_fdiv_q(a, a, b);
	}
	set_int64(b, end);
	mpz_add(a, a, b);
	set_int64(b, x);
	mpz_add(a, a, b);
	bool fits = get_int64(a, out) && *out <= USK_TIME_MAX && *out >= -USK_TIME_MAX;
	mpz_clears(a, b, NULL);
	return fits;
}

/* Is (o1 - o0) / (x1 - x0) less (-1), more (1) than slope / 10^12? */
static int compare_slopes(const struct usk_knot *k, int64_t slope_e12)
{
	mpz_t a, b, c;
	mpz_inits(a, b, c, NULL);
	set_int64(a, k[1].offset_ns);
	set_int64(b, k[0].offset_ns);
	mpz_sub(a, a, b);
	set_int64(b, 1000000000000);
	mpz_mul(a, a, b);
	set_int64(b, k[1].local_ns);
	set_int64(c, k[0].local_ns);
	mpz_sub(b, b, c);
	set_int64(c, slope_e12);
	mpz_mul(b, b, c);
	int order = mpz_cmp(a, b);
	mpz_clears(a, b, c, NULL);
	return order;
}

static bool oracle(const struct usk_knot *k, size_t n, struct usk_slopes before,
		   struct usk_slopes after, int64_t x, int64_t *out)
{
	size_t i = 1;
	bool left = x < k[0].local_ns;
	if (left || x > k[n - 1].local_ns) {
		const struct usk_knot *end = left ? &k[0] : &k[n - 1];
		struct usk_slopes s = left ? before : after;
		if (compare_slopes(left ? k : &k[n - 2], s.least_e12) < 0) {
			return oracle_beyond(end->local_ns, end->offset_ns, s.least_e12, x, false,
					     out);
		}
		if (compare_slopes(left ? k : &k[n - 2], s.most_e12) > 0) {
			return oracle_beyond(end->local_ns, end->offset_ns, s.most_e12, x, false,
					     out);
		}
	}
	while (i + 1 < n && x > k[i].local_ns) {
		i++;
	}
	return oracle_line(k[i - 1].local_ns, k[i - 1].offset_ns, k[i].local_ns, k[i].offset_ns, x,
			   false, out);
}

static struct usk_map *map_with(struct usk_knot *k, size_t n, struct usk_slopes before,
				struct usk_slopes after)
{
	struct usk_clock clock = {
		.quality = USK_BOUNDED, .knot = k, .n_knots = n, .before = before, .after = after
	};
	return usk_map_new(&clock, 77);
}

static struct usk_map *map_of(struct usk_knot *k, size_t n, int64_t skew_e12)
{
	const struct usk_slopes s = { -skew_e12, skew_e12 };
	return map_with(k, n, s, s);
}

/* Every stamp by the oracle, by usk_map_at() and by usk_map_many(), together and one by one. */
static void check_slopes(struct usk_knot *k, size_t n_knots, struct usk_slopes before,
			 struct usk_slopes after, const int64_t *x, size_t n)
{
	struct usk_map *m = map_with(k, n_knots, before, after);
	assert_non_null(m);
	int64_t *good = usk_alloc(n, sizeof *good), *got = usk_alloc(n, sizeof *got);
	int64_t *want = usk_alloc(n, sizeof *want);
	size_t n_good = 0;
	for (size_t i = 0; i < n; i++) {
		struct usk_err err = { 0 };
		struct usk_stamp at;
		int64_t expected = 0, one = 0;
		if (x[i] > USK_TIME_MAX || x[i] < -USK_TIME_MAX) {
			continue;
		}
		bool fits = oracle(k, n_knots, before, after, x[i], &expected);
		enum usk_status status = usk_map_many(m, &x[i], 1, &one, &err);
		if (!fits) {
			assert_int_equal(status, USK_ERANGE);
			assert_true(strlen(err.msg) > 20);
			assert_int_equal(usk_map_at(m, x[i], &at, NULL), USK_ERANGE);
			continue;
		}
		if (status || one != expected) {
			print_error(
				"x %lld: %lld, expected %lld; x0 %lld o0 %lld x1 %lld o1 %lld\n",
				(long long)x[i], (long long)one, (long long)expected,
				(long long)k[0].local_ns, (long long)k[0].offset_ns,
				(long long)k[1].local_ns, (long long)k[1].offset_ns);
		}
		assert_int_equal(status, USK_OK);
		assert_true(one == expected);
		/* The band is made of the offset itself here; its range is tested elsewhere. */
		if (!usk_map_at(m, x[i], &at, NULL)) {
			assert_true(at.reference_ns == expected);
		}
		want[n_good] = expected;
		good[n_good++] = x[i];
	}
	assert_int_equal(usk_map_many(m, good, n_good, got, NULL), USK_OK);
	assert_memory_equal(got, want, n_good * sizeof *got);
	assert_int_equal(usk_map_many(m, good, n_good, good, NULL), USK_OK);
	assert_memory_equal(good, want, n_good * sizeof *got);
	usk_map_free(m);
	free(good);
	free(got);
	free(want);
}

/* The outermost slope as it is, and cut: to nothing, to a rate, to one that stands still or falls.
 */
static void check_stamps(struct usk_knot *k, size_t n_knots, const int64_t *x, size_t n)
{
	static const struct usk_slopes any = { INT64_MIN, INT64_MAX };
	static const struct usk_slopes cut[] = {
		{ 0, 0 },
		{ -500000000, 500000000 },
		{ 21012345, 21512345 },
		{ -1000000000000, -999999999999 },
		{ INT64_MIN, INT64_MIN },
		{ 1000000000000, INT64_MAX },
	};
	check_slopes(k, n_knots, any, any, x, n);
	for (size_t i = 0; i < COUNT(cut); i++) {
		check_slopes(k, n_knots, cut[i], cut[(i + 1) % COUNT(cut)], x, n);
	}
}

/* a^-1 mod d by GMP, 0 if there is none. */
static uint64_t inverse(uint64_t a, uint64_t d)
{
	mpz_t x, y;
	mpz_inits(x, y, NULL);
	mpz_import(x, 1, 1, sizeof a, 0, 0, &a);
	mpz_import(y, 1, 1, sizeof d, 0, 0, &d);
	uint64_t out = 0;
	if (mpz_invert(x, x, y)) {
		mpz_export(&out, NULL, 1, sizeof out, 0, 0, x);
	}
	mpz_clears(x, y, NULL);
	return out;
}

static uint64_t mulmod(uint64_t a, uint64_t b, uint64_t d)
{
	return (uint64_t)((usk_u128)a * b % d);
}

/* Stamps whose n*a lies within 2,000 of a multiple of d: where a quotient is easily one off. */
static void test_near_multiples(void **state)
{
	(void)state;
	static const int64_t spans[] = { SECOND,
					 HOUR,
					 10 * HOUR,
					 SECOND + 7,
					 HOUR - 1,
					 INT64_C(1) << 40,
					 (INT64_C(1) << 62) - 1 };
	enum { R = 2000 };
	int64_t *x = usk_alloc(4 * R, sizeof *x);
	struct usk_rng r;
	usk_rng_seed(&r, 11);
	for (size_t s = 0; s < COUNT(spans); s++) {
		uint64_t d = (uint64_t)spans[s];
		for (int trial = 0; trial < 8; trial++) {
			static const uint64_t rates[] = { 500, 20, 100000, 1000 };
			uint64_t a = trial < 4 ? (uint64_t)((usk_u128)d * rates[trial] / 1000000)
					       : usk_rng_below(&r, d);
			while (a > 1 && !inverse(a, d)) {
				a--;
			}
			uint64_t inv = a ? inverse(a, d) : 0;
			int64_t x0 = trial % 2 ? 1700000000 * SECOND : -spans[s] / 2;
			if (x0 + (usk_i128)d > USK_TIME_MAX) {
				x0 = -1000;
			}
			size_t n = 0;
			for (uint64_t i = 0; i < case_count_at_most(R); i++) {
				uint64_t step = mulmod(i, inv, d);
				x[n++] = x0 + (int64_t)step;
				x[n++] = x0 + (int64_t)(step ? d - step : d);
			}
			for (int falling = 0; falling < 2; falling++) {
				struct usk_knot k[2] = {
					{ .local_ns = x0, .offset_ns = -957333333 },
					{ .local_ns = x0 + spans[s],
					  .offset_ns = falling ? -957333333 - (int64_t)a
							       : -957333333 + (int64_t)a },
				};
				check_stamps(k, 2, x, n);
			}
		}
	}
	free(x);
}

static int64_t any_time(struct usk_rng *r)
{
	uint64_t size = usk_rng_next(r) >> (1 + usk_rng_below(r, 62));
	int64_t v = (int64_t)(size & ((UINT64_C(1) << 62) - 1));
	return usk_rng_below(r, 2) ? v : -v;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Random maps of any size, stamps at, beside, between and far outside the knots, unsorted. */
static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_knot k[6];
		memset(k, 0, sizeof k);
		size_t n = 2 + usk_rng_below(&r, 5), made = 0;
		int64_t local[6];
		for (size_t i = 0; i < n; i++) {
			local[i] = usk_rng_below(&r, 8) ? any_time(&r)
							: local[made ? made - 1 : 0] + 1;
			if (!i && local[0] == INT64_MIN) {
				local[0] = 0;
			}
			made = i + 1;
		}
		qsort(local, n, sizeof *local, by_time);
		size_t m = 0;
		for (size_t i = 0; i < n; i++) {
			if (m && (local[i] <= k[m - 1].local_ns || local[i] > USK_TIME_MAX)) {
				continue;
			}
			k[m].local_ns = local[i];
			k[m].offset_ns =
				usk_rng_below(&r, 2) || !m
					? any_time(&r)
					: k[m - 1].offset_ns - (int64_t)usk_rng_below(&r, 9);
			if (m && (usk_i128)k[m].offset_ns - k[m - 1].offset_ns <
					 -((usk_i128)local[i] - k[m - 1].local_ns)) {
				k[m].offset_ns =
					k[m - 1].offset_ns - (local[i] - k[m - 1].local_ns);
				if (k[m].offset_ns < -USK_TIME_MAX) {
					continue;
				}
			}
			m++;
		}
		if (m < 2) {
			continue;
		}
		int64_t x[64];
		for (size_t i = 0; i < COUNT(x); i++) {
			const struct usk_knot *near = &k[usk_rng_below(&r, m)];
			x[i] = usk_rng_below(&r, 3)
				       ? any_time(&r)
				       : near->local_ns + (int64_t)usk_rng_below(&r, 5) - 2;
		}
		check_stamps(k, m, x, COUNT(x));
	}
}

/* Offsets of 146 years, half of them, and of nothing. */
static void test_extremes(void **state)
{
	(void)state;
	static const int64_t offsets[] = { INT64_C(1) << 61, -(INT64_C(1) << 61), 0,
					   -50 * INT64_C(31557600) * SECOND, 268 * 24 * HOUR };
	for (size_t i = 0; i < COUNT(offsets); i++) {
		for (int64_t step = -1; step <= 1; step++) {
			struct usk_knot k[3] = {
				{ .local_ns = -(INT64_C(1) << 61), .offset_ns = offsets[i] },
				{ .local_ns = 0, .offset_ns = offsets[i] + step * 12345 },
				{ .local_ns = INT64_C(1) << 61, .offset_ns = offsets[i] + step },
			};
			int64_t x[] = { -USK_TIME_MAX,
					-USK_TIME_MAX + 1,
					k[0].local_ns - 1,
					k[0].local_ns,
					k[0].local_ns + 1,
					-1,
					0,
					1,
					k[2].local_ns - 1,
					k[2].local_ns,
					k[2].local_ns + 1,
					USK_TIME_MAX - 1,
					USK_TIME_MAX };
			check_stamps(k, 3, x, COUNT(x));
		}
	}
}

static void test_never_falls(void **state)
{
	(void)state;
	struct usk_knot k[] = { { .local_ns = 0, .offset_ns = 0 },
				{ .local_ns = 1000, .offset_ns = -1000 }, /* stands still */
				{ .local_ns = 2000, .offset_ns = -1001 },
				{ .local_ns = 2001, .offset_ns = 5000 }, /* leaps */
				{ .local_ns = 3000, .offset_ns = 4600 } };
	struct usk_map *m = map_of(k, COUNT(k), 1000000000000);
	int64_t last = INT64_MIN;
	for (int64_t x = -3000; x < 9000; x++) {
		int64_t t;
		assert_int_equal(usk_map_many(m, &x, 1, &t, NULL), USK_OK);
		assert_true(t >= last);
		last = t;
	}
	usk_map_free(m);
}

/* Inside the knots lo is rounded down and hi up; outside they part by the clock's slopes. */
static void test_band(void **state)
{
	(void)state;
	struct usk_knot k[] = {
		{ .local_ns = 1000, .offset_ns = 0, .lo_ns = -10, .hi_ns = 10 },
		{ .local_ns = 2000, .offset_ns = 3, .lo_ns = -7, .hi_ns = 17 },
	};
	static const int64_t cases[][4] = {
		/* x, reference, lo, hi with a limit of 1 in 1000 */
		{ 1000, 1000, 990, 1010 },  { 2000, 2003, 1993, 2017 }, { 1001, 1001, 991, 1012 },
		{ 1999, 2001, 1991, 2016 }, { 999, 998, 988, 1010 },	{ 0, -1, -11, 11 },
		{ 2001, 2004, 1993, 2019 }, { 3000, 3004, 2992, 3018 },
	};
	struct usk_map *m = map_of(k, 2, INT64_C(1000000000));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_stamp s;
		assert_int_equal(usk_map_at(m, cases[i][0], &s, NULL), USK_OK);
		assert_int_equal(s.reference_ns, cases[i][1]);
		assert_int_equal(s.lo_ns, cases[i][2]);
		assert_int_equal(s.hi_ns, cases[i][3]);
	}
	int64_t stamp[COUNT(cases)], lows[COUNT(cases)], highs[COUNT(cases)];
	for (size_t i = 0; i < COUNT(cases); i++) {
		stamp[i] = cases[i][0];
	}
	assert_int_equal(usk_map_bands(m, stamp, COUNT(cases), lows, highs, NULL), USK_OK);
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(lows[i] == cases[i][2] && highs[i] == cases[i][3]);
	}
	struct usk_err err = { 0 };
	stamp[3] = USK_TIME_MAX + 1;
	assert_int_equal(usk_map_bands(m, stamp, COUNT(cases), lows, highs, &err), USK_ERANGE);
	assert_int_equal(err.at, 3);
	usk_map_free(m);
	const struct usk_clocks all = {
		.clock = &(struct usk_clock){ .quality = USK_BOUNDED, .knot = k, .n_knots = 2 },
		.n_clocks = 1,
	};
	m = usk_map_of(&all, 0, 0);
	assert_non_null(m);
	assert_int_equal(usk_map_bands(m, cases[0], 1, lows, highs, NULL), USK_OK);
	assert_true(lows[0] == cases[0][2] && highs[0] == cases[0][3]);
	usk_map_free(m);
	assert_null(usk_map_of(&all, 0, 1));
	assert_null(usk_map_of(&all, 1, 0));

	for (uint64_t seed = case_first(3000); seed < case_end(3000);
	     seed++) { /* beyond the knots, against GMP */
		struct usk_rng r;
		struct usk_slopes s[2];
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < 2; i++) {
			/* Time never falls, and nobody's clock runs at half the rate. */
			int64_t rate = (int64_t)usk_rng_below(&r, 2000000000001) - 1000000000000;
			uint64_t wide = usk_rng_below(&r, 3) ? 1000000 : 1;
			s[i] = (struct usk_slopes){ rate, rate + (int64_t)usk_rng_below(&r, wide) };
			k[i].local_ns = (int64_t)i * 10 * HOUR + (int64_t)usk_rng_below(&r, 99);
			k[i].offset_ns = any_time(&r) / 4;
			k[i].lo_ns = k[i].offset_ns - (int64_t)usk_rng_below(&r, 1000000);
			k[i].hi_ns = k[i].offset_ns + (int64_t)usk_rng_below(&r, 1000000);
		}
		m = map_with(k, 2, s[0], s[1]);
		for (int64_t step = -30; step < 30; step++) {
			bool left = step < 0;
			const struct usk_knot *end = &k[!left];
			int64_t x = end->local_ns + (left ? -1 : 1) +
				    step * (int64_t)usk_rng_below(&r, 9) * HOUR;
			int64_t lo = 0, hi = 0, many = 0, o = 0;
			struct usk_stamp at;
			bool fits = oracle_beyond(end->local_ns, end->lo_ns,
						  left ? s[0].most_e12 : s[1].least_e12, x, false,
						  &lo) &&
				    oracle_beyond(end->local_ns, end->hi_ns,
						  left ? s[0].least_e12 : s[1].most_e12, x, true,
						  &hi) &&
				    oracle(k, 2, s[0], s[1], x, &o);
			assert_int_equal(usk_map_at(m, x, &at, NULL), fits ? USK_OK : USK_ERANGE);
			if (fits) {
				assert_true(at.lo_ns == lo && at.hi_ns == hi);
				assert_true(lo <= at.reference_ns && at.reference_ns <= hi);
				assert_int_equal(usk_map_many(m, &x, 1, &many, NULL), USK_OK);
				assert_true(many == at.reference_ns && many == o);
			}
		}
		usk_map_free(m);
	}

	for (uint64_t seed = case_first(300); seed < case_end(300); seed++) { /* against GMP */
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < 2; i++) {
			k[i].local_ns = (int64_t)i * 10 * HOUR + (int64_t)usk_rng_below(&r, 99);
			k[i].offset_ns = any_time(&r) / 4;
			k[i].lo_ns = k[i].offset_ns - (int64_t)usk_rng_below(&r, 1000000);
			k[i].hi_ns = k[i].offset_ns + (int64_t)usk_rng_below(&r, 1000000);
		}
		m = map_of(k, 2, 0);
		for (int i = 0; i < 50; i++) {
			int64_t x = k[0].local_ns +
				    (int64_t)usk_rng_below(
					    &r, (uint64_t)(k[1].local_ns - k[0].local_ns));
			int64_t lo = 0, hi = 0;
			struct usk_stamp s;
			bool fits = oracle_line(k[0].local_ns, k[0].lo_ns, k[1].local_ns,
						k[1].lo_ns, x, false, &lo) &&
				    oracle_line(k[0].local_ns, k[0].hi_ns, k[1].local_ns,
						k[1].hi_ns, x, true, &hi);
			assert_int_equal(usk_map_at(m, x, &s, NULL), fits ? USK_OK : USK_ERANGE);
			if (fits) {
				assert_true(s.lo_ns == lo && s.hi_ns == hi);
			}
		}
		usk_map_free(m);
	}
}

/* The reference has no doubt about itself, even far from its knots. */
static void test_reference(void **state)
{
	(void)state;
	struct usk_knot k[] = { { .local_ns = 0 }, { .local_ns = 100 } };
	struct usk_clock clock = { .quality = USK_REFERENCE, .knot = k, .n_knots = 2 };
	struct usk_map *m = usk_map_new(&clock, 500000000);
	struct usk_stamp s;
	assert_int_equal(usk_map_at(m, -HOUR, &s, NULL), USK_OK);
	assert_true(s.reference_ns == -HOUR && s.lo_ns == -HOUR && s.hi_ns == -HOUR);
	usk_map_free(m);
}

static void test_without_offset(void **state)
{
	(void)state;
	struct usk_knot k[] = {
		{ .local_ns = 0, .offset_ns = USK_NONE, .lo_ns = 5, .hi_ns = USK_NONE },
		{ .local_ns = 100, .offset_ns = USK_NONE, .lo_ns = 6, .hi_ns = USK_NONE },
	};
	struct usk_map *m = map_of(k, 2, 0);
	struct usk_stamp s;
	struct usk_err err = { 0 };
	assert_int_equal(usk_map_at(m, 50, &s, &err), USK_OK);
	assert_true(s.reference_ns == USK_NONE && s.hi_ns == USK_NONE && s.lo_ns == 55);
	int64_t x = 50;
	assert_int_equal(usk_map_many(m, &x, 1, &x, &err), USK_EINPUT);
	assert_true(strlen(err.msg) > 20);
	usk_map_free(m);
	assert_null(map_of(k, 0, 0));
	usk_map_free(NULL);

	struct usk_knot later[] = { { .local_ns = 0 },
				    { .local_ns = 9 },
				    { .local_ns = 3, .epoch = 1 },
				    { .local_ns = 5, .offset_ns = 70, .epoch = 1 } };
	m = map_of(later, 4, 0);
	assert_int_equal(usk_map_at(m, 20, &s, NULL), USK_OK);
	assert_int_equal(s.reference_ns, 20);
	usk_map_free(m);

	/* Where epochs meet the skew limit says how fast the band widens, at the ends the slopes.
	 */
	struct usk_clock clock = { .knot = later,
				   .n_knots = 4,
				   .before = { 0, 1000000000 },
				   .after = { 2000000000, 3000000000 } };
	m = usk_map_of_epoch(&clock, 0, 500000000000);
	assert_int_equal(usk_map_at(m, -1000, &s, NULL), USK_OK);
	assert_true(s.lo_ns == -1001 && s.hi_ns == -1000);
	assert_int_equal(usk_map_at(m, 1009, &s, NULL), USK_OK);
	assert_true(s.lo_ns == 509 && s.hi_ns == 1509);
	usk_map_free(m);
	m = usk_map_of_epoch(&clock, 1, 500000000000);
	assert_int_equal(usk_map_at(m, -997, &s, NULL), USK_OK);
	assert_true(s.lo_ns == -1497 && s.hi_ns == -497);
	assert_int_equal(usk_map_at(m, 1005, &s, NULL), USK_OK);
	assert_true(s.lo_ns == 1007 && s.hi_ns == 1008);
	usk_map_free(m);
	assert_null(usk_map_of_epoch(&clock, 2, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_near_multiples), cmocka_unit_test(test_random),
		cmocka_unit_test(test_extremes),       cmocka_unit_test(test_never_falls),
		cmocka_unit_test(test_band),	       cmocka_unit_test(test_reference),
		cmocka_unit_test(test_without_offset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
