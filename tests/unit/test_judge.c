/* SPDX-License-Identifier: MIT */
/* Delays by size against sorted ones; inversions and violations against counting by hand. */
#include "judge/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 31

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int64_t some_value(struct usk_rng *r, int kind)
{
	int64_t size = (int64_t)(usk_rng_next(r) >> (1 + usk_rng_below(r, 63)));
	switch (kind) {
	case 0: /* any size, any sign */
		return usk_rng_below(r, 2) ? size : -size;
	case 1: /* delays */
		return 50000 + (int64_t)usk_rng_exponential(r, 50000);
	case 2: /* small ones, each exact */
		return (int64_t)usk_rng_below(r, 128) - 64;
	case 3:
		return -size - 1;
	case 4: /* the ends */
		return usk_rng_below(r, 2) ? INT64_MAX : INT64_MIN;
	default:
		return 12345678;
	}
}

static int64_t quantile(const struct usk_histogram *h, double share)
{
	int64_t got;
	usk_histogram_quantiles(h, &share, 1, &got);
	return got;
}

static void test_quantiles(void **state)
{
	static const double shares[] = { 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	(void)state;
	for (int k = 0; k < 60; k++) {
		struct usk_rng r;
		struct usk_histogram h = { 0 };
		usk_rng_seed(&r, SEED + (uint64_t)k);
		size_t n = 1 + usk_rng_below(&r, k < 30 ? 20 : 5000);
		int64_t *v = usk_alloc(n, sizeof *v);
		for (size_t i = 0; i < n; i++) {
			v[i] = some_value(&r, k % 6);
			usk_histogram_add(&h, v[i]);
		}
		int64_t first = v[0];
		qsort(v, n, sizeof *v, by_value);
		assert_true(h.n == n && h.min == v[0] && h.max == v[n - 1]);
		int64_t all[COUNT(shares)];
		usk_histogram_quantiles(&h, shares, COUNT(shares), all);
		for (size_t i = 0; i < COUNT(shares); i++) {
			int64_t got = all[i];
			size_t rank = (size_t)(shares[i] * (double)n);
			int64_t want = v[rank < n ? rank : n - 1];
			/* To a 64th of the distance from the first. */
			double size = (double)want - (double)first;
			size = size < 0 ? -size : size;
			double off = (double)got - (double)want;
			if (off > size / 64 || off < -size / 64 || got < v[0] || got > v[n - 1]) {
				fail_msg("seed %d: share %g of %zu: %lld, expected %lld", SEED + k,
					 shares[i], n, (long long)got, (long long)want);
			}
			if (k % 6 == 2) {
				assert_int_equal(got, want);
			}
		}
		usk_histogram_free(&h);
		free(v);
	}
	struct usk_histogram none = { 0 };
	assert_true(quantile(&none, 0.5) == USK_NONE);
	usk_histogram_free(&none);
}

/* More of one value than a small count holds. */
static void test_many_of_few(void **state)
{
	struct usk_histogram h = { 0 };
	(void)state;
	for (int i = 0; i < 300000; i++) {
		usk_histogram_add(&h, 1000 + i % 3);
	}
	assert_int_equal(quantile(&h, 0.3333), 1000);
	assert_int_equal(quantile(&h, 0.3334), 1001);
	assert_int_equal(quantile(&h, 0.6666), 1001);
	assert_int_equal(quantile(&h, 1), 1002);
	usk_histogram_free(&h);
}

/* As recorded, and as corrected by two maps, against the definition. */
static void test_judge(void **state)
{
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	for (int k = 0; k < 20; k++) {
		struct usk_knot knot[2][2] = {
			{ { .local_ns = 0 }, { .local_ns = 1000000 } },
			{ { .local_ns = 0, .offset_ns = 300, .lo_ns = 300, .hi_ns = 300 },
			  { .local_ns = 1000000, .offset_ns = -700, .lo_ns = -700, .hi_ns = -700 } }
		};
		struct usk_map *map[2];
		for (int i = 0; i < 2; i++) {
			struct usk_clock c = { .quality = USK_BOUNDED,
					       .knot = knot[i],
					       .n_knots = 2 };
			map[i] = usk_map_new(&c, 0);
			assert_non_null(map[i]);
		}
		struct usk_judge j = {
			.a = 7,
			.b = 3,
			.q_a_ns = (int64_t)usk_rng_below(&r, 100),
			.q_b_ns = (int64_t)usk_rng_below(&r, 100),
			.map_a = k & 1 ? map[0] : NULL,
			.map_b = k & 1 ? map[1] : NULL,
			.with_delays = k & 2,
		};
		struct usk_msg m[500];
		uint64_t count[2] = { 0 }, inversions[2] = { 0 }, fast = 0;
		int64_t worst = 0, sum = 0, min = INT64_MAX, max = INT64_MIN;
		for (size_t i = 0; i < COUNT(m); i++) {
			bool back = usk_rng_below(&r, 3) == 0;
			m[i] = (struct usk_msg){
				.from = back ? 3 : 7,
				.to = back ? 7 : 3,
				.sent_ns = (int64_t)usk_rng_below(&r, 2000000) - 500000,
			};
			m[i].received_ns = m[i].sent_ns + (int64_t)usk_rng_below(&r, 1000) - 300;
			int64_t t[2] = { m[i].sent_ns, m[i].received_ns };
			for (int e = 0; e < 2 && k & 1; e++) {
				struct usk_stamp s;
				assert_int_equal(usk_map_at(map[back != (e == 1)], t[e], &s, NULL),
						 USK_OK);
				t[e] = s.reference_ns;
			}
			int64_t delay = t[1] - t[0];
			count[back]++;
			inversions[back] += delay < (back ? -j.q_a_ns : -j.q_b_ns);
			if (delay < 0) {
				fast++;
				sum -= delay;
				worst = -delay > worst ? -delay : worst;
			}
			if (!back) {
				min = delay < min ? delay : min;
				max = delay > max ? delay : max;
			}
		}
		usk_judge_add(&j, m, 123);
		usk_judge_add(&j, m + 123, COUNT(m) - 123);
		struct usk_delays d[2] = { usk_judge_delays(&j, false),
					   usk_judge_delays(&j, true) };
		for (int back = 0; back < 2; back++) {
			assert_int_equal(d[back].n, count[back]);
			assert_int_equal(d[back].inversions, inversions[back]);
		}
		assert_true(d[0].min_ns == (k & 2 ? min : USK_NONE));
		assert_true(d[0].max_ns == (k & 2 ? max : USK_NONE));
		assert_true(!(k & 2) || (d[0].median_ns >= min && d[0].p99_ns <= max));
		struct usk_violations v = usk_judge_violations(&j);
		assert_int_equal(v.count, fast);
		assert_int_equal(v.max_ns, worst);
		assert_int_equal(v.mean_ns, sum / (int64_t)fast);
		double percent = 100.0 * (double)fast / (double)COUNT(m);
		assert_true(v.percent > percent - 1e-9 && v.percent < percent + 1e-9);
		usk_judge_free(&j);
		usk_map_free(map[0]);
		usk_map_free(map[1]);
	}
}

/* The longest delays that stamps allow, one bit more than 63. */
static void test_ends_of_time(void **state)
{
	struct usk_judge j = { .a = 0, .b = 1, .with_delays = true };
	static const struct usk_msg m[] = {
		{ .sent_ns = USK_TIME_MAX, .received_ns = -USK_TIME_MAX, .from = 0, .to = 1 },
		{ .sent_ns = -USK_TIME_MAX, .received_ns = USK_TIME_MAX, .from = 0, .to = 1 },
	};
	(void)state;
	usk_judge_add(&j, m, COUNT(m));
	struct usk_delays d = usk_judge_delays(&j, false);
	assert_true(d.min_ns == -INT64_MAX && d.max_ns == INT64_MAX && d.inversions == 1);
	assert_true(usk_judge_violations(&j).max_ns == INT64_MAX);
	d = usk_judge_delays(&j, true);
	assert_true(d.n == 0 && d.min_ns == USK_NONE && d.median_ns == USK_NONE);
	usk_judge_free(&j);
	struct usk_judge none = { 0 };
	assert_true(usk_judge_violations(&none).percent == 0.0);
	usk_judge_free(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_many_of_few),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_ends_of_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
