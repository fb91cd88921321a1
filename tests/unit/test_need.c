/* SPDX-License-Identifier: MIT */
/* What points need, against all pairs of them; numbers and rows sorted, against qsort's order. */
#include "cases.h"
#include "fit/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 24, LONG = 1000 };

struct points {
	uint64_t seed;
	struct usk_xy p[MOST];
	bool ceiling[MOST];
	size_t n;
};

static void make(struct points *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*c = (struct points){ .seed = seed, .n = 1 + usk_rng_below(&r, MOST) };
	int64_t x = -20;
	for (size_t i = 0; i < c->n; i++) {
		x += 1 + (int64_t)usk_rng_below(&r, 4);
		c->p[i] = (struct usk_xy){ x, (int64_t)usk_rng_below(&r, 12) - 8 };
		c->ceiling[i] = usk_rng_below(&r, 2);
	}
}

/* Of all pairs: the steepest that a floor is over a ceiling before it, or the other way round. */
static bool steepest(const struct points *c, size_t n, bool ceiling, struct usk_slope *out)
{
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (c->ceiling[i] != ceiling || c->ceiling[k] == ceiling) {
				continue;
			}
			struct usk_slope s = usk_rise(c->p[i], c->p[k]);
			if (!any || usk_slope_cmp(s, *out) > 0) {
				*out = s;
				any = true;
			}
		}
	}
	return any;
}

static void test_need(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct points c;
		struct usk_needing g = { .n = { 0 } };
		make(&c, seed);
		for (size_t i = 0; i < c.n; i++) {
			usk_needing_push(&g, c.ceiling[i], c.p[i]);
			struct usk_slope lo = { 0, 1 }, hi = lo;
			bool has_lo = steepest(&c, i + 1, false, &lo);
			bool has_hi = steepest(&c, i + 1, true, &hi);
			CHECK(g.need.has_lo == has_lo && g.need.has_hi == has_hi, &c);
			CHECK(!has_lo || !usk_slope_cmp(g.need.s_lo, lo), &c);
			CHECK(!has_hi || !usk_slope_cmp(g.need.s_hi, usk_slope_neg(hi)), &c);
		}
		usk_needing_free(&g);
	}
}

/* A rate of any size, often one that ends at a part per 10^12, or near one half. */
static struct usk_slope any_slope(struct usk_rng *r)
{
	static const int64_t dens[] = { 1, 2, 3, 7, 1000, 1000000, 999983 };
	return (struct usk_slope){ (int64_t)usk_rng_below(r, 2000) - 1000,
				   dens[usk_rng_below(r, COUNT(dens))] *
					   (1 + (int64_t)usk_rng_below(r, 2000000)) };
}

/* The least number of parts per 10^12 that two rates may wander apart by: one less is too few. */
static void test_wander(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_need need = { true, true, any_slope(&r), any_slope(&r), false };
		int64_t limit = (int64_t)usk_rng_below(&r, 2)
					? INT64_C(2000000000000000)
					: (int64_t)usk_rng_below(&r, 1000000000);
		int64_t e12 = usk_need_within(&need, limit);
		const usk_i128 e = 1000000000000, den = need.s_lo.den * need.s_hi.den;
		usk_i128 apart =
			(need.s_lo.num * need.s_hi.den - need.s_hi.num * need.s_lo.den) * e;
		bool beyond = need.s_lo.num * e > limit * need.s_lo.den ||
			      -need.s_hi.num * e > limit * need.s_hi.den;
		const usk_i128 twice = 2 * (usk_i128)e12;
		bool right = e12 == USK_NO_WANDER ? beyond
						  : !beyond && e12 >= 0 && apart <= twice * den &&
							    (e12 == 0 || apart > (twice - 2) * den);
		if (!right) {
			fail_msg("seed %llu: %lld", (unsigned long long)seed, (long long)e12);
		}
	}
}

static void test_sorted(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct usk_rng r;
		int64_t v[LONG];
		uint64_t row[2 * LONG];
		usk_rng_seed(&r, seed);
		size_t n = usk_rng_below(&r, LONG + 1);
		int shift = (int)usk_rng_below(&r, 64);
		for (size_t i = 0; i < n; i++) {
			v[i] = (int64_t)usk_rng_next(&r) >> shift;
			row[2 * i] = usk_rng_next(&r) >> shift;
			row[2 * i + 1] = i;
		}
		usk_sort_numbers(v, n);
		usk_sort_rows(row, n, 2);
		for (size_t i = 1; i < n; i++) {
			assert_true(v[i - 1] <= v[i]);
			assert_true(
				row[2 * i - 2] < row[2 * i] ||
				(row[2 * i - 2] == row[2 * i] && row[2 * i - 1] < row[2 * i + 1]));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_wander),
		cmocka_unit_test(test_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
