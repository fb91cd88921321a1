/* SPDX-License-Identifier: MIT */
/* Feasible lines, their band and contradictions, against rational brute force. */
#include "cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_contradiction(const struct fit_case *c, const struct usk_lines *l)
{
	struct usk_point p[3];
	bool side[3];
	size_t n = usk_lines_contradiction(l, p, side);
	CHECK(n == 2 || n == 3, c);
	/* together they contradict each other, and no fewer of them do */
	for (size_t without = 0; without <= n; without++) {
		struct oracle_points some = { .n = 0 };
		for (size_t i = 0; i < n; i++) {
			if (i != without) {
				some.p[some.n] = p[i];
				some.ceiling[some.n++] = side[i];
			}
		}
		struct oracle *o = oracle_new(&some, c->q_a, c->q_b, c->max_skew_e12);
		CHECK((o->n == 0) == (without == n), c);
		oracle_free(o);
	}
	for (size_t i = 0; i < n; i++) {
		bool given = false;
		for (size_t j = 0; j < c->pts.n; j++) {
			given |= c->pts.p[j].local_ns == p[i].local_ns &&
				 c->pts.p[j].offset_ns == p[i].offset_ns &&
				 c->pts.ceiling[j] == side[i];
		}
		CHECK(given, c);
	}
}

static void check_rates(const struct fit_case *c, const struct usk_lines *l, const struct oracle *o)
{
	struct usk_rate min, max;
	mpq_t want[2], got;
	mpq_inits(want[0], want[1], got, NULL);
	usk_lines_rates(l, &min, &max);
	oracle_slopes(o, want[0], want[1]);
	oracle_set(got, min.num, min.den);
	CHECK(!mpq_cmp(got, want[0]), c);
	oracle_set(got, max.num, max.den);
	CHECK(!mpq_cmp(got, want[1]), c);
	mpq_clears(want[0], want[1], got, NULL);
}

static void check_band(const struct fit_case *c, const struct usk_lines *l, const struct oracle *o)
{
	struct usk_rng r;
	usk_rng_seed(&r, c->seed);
	for (size_t i = 0; i < c->pts.n + 20; i++) {
		int64_t x = i < c->pts.n ? c->pts.p[i].local_ns : fit_case_time(c, &r);
		int64_t lo, hi, want_lo, want_hi;
		usk_lines_at(l, x, &lo, &hi);
		oracle_at(o, x, &want_lo, &want_hi);
		CHECK(lo == want_lo, c);
		CHECK(hi == want_hi, c);
	}
}

static void test_against_brute_force(void **state)
{
	(void)state;
	size_t seen[USK_CONTRADICTED + 1] = { 0 };
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		struct usk_corridor *k = fit_case_corridor(&c);
		struct usk_lines *l = usk_lines_new(k, c.q_a, c.q_b, c.max_skew_e12);
		struct oracle *o = oracle_new(&c.pts, c.q_a, c.q_b, c.max_skew_e12);
		enum usk_quality q = usk_lines_quality(l);
		seen[q]++;
		if (!o->n) {
			CHECK(q == USK_CONTRADICTED, &c);
			check_contradiction(&c, l);
		} else {
			CHECK(q == (o->has_floor && o->has_ceiling ? USK_BOUNDED : USK_ONE_SIDED),
			      &c);
			check_rates(&c, l, o);
			check_band(&c, l, o);
		}
		oracle_free(o);
		usk_lines_free(l);
		usk_corridor_free(k);
	}
	print_message("bounded %zu, one-sided %zu, contradicted %zu\n", seen[USK_BOUNDED],
		      seen[USK_ONE_SIDED], seen[USK_CONTRADICTED]);
}

static void test_nothing(void **state)
{
	(void)state;
	struct usk_frame f = { 0, 0, 0, 400000, 0, false };
	struct usk_corridor *k = usk_corridor_new(&f);
	struct usk_lines *l = usk_lines_new(k, 0, 0, 500000000);
	int64_t lo, hi;
	usk_lines_at(l, 0, &lo, &hi);
	assert_int_equal(usk_lines_quality(l), USK_ABSENT);
	assert_true(lo == USK_NONE && hi == USK_NONE);
	usk_lines_free(l);
	usk_corridor_free(k);
	usk_lines_free(NULL);
	usk_corridor_free(NULL);
}

/* One more message can only make the band narrower, everywhere. */
static void test_messages_only_tighten(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		size_t all = c.pts.n;
		int64_t lo[20], hi[20], x[20];
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < COUNT(x); i++) {
			x[i] = fit_case_time(&c, &r);
			lo[i] = hi[i] = USK_NONE;
		}
		for (size_t n = 1; n <= all; n++) {
			c.pts.n = n;
			struct usk_corridor *k = fit_case_corridor(&c);
			struct usk_lines *l = usk_lines_new(k, c.q_a, c.q_b, c.max_skew_e12);
			for (size_t i = 0; i < COUNT(x); i++) {
				int64_t a, b;
				usk_lines_at(l, x[i], &a, &b);
				if (usk_lines_quality(l) != USK_CONTRADICTED) {
					CHECK(a >= lo[i], &c);
					CHECK(hi[i] == USK_NONE || (b != USK_NONE && b <= hi[i]),
					      &c);
					lo[i] = a;
					hi[i] = b;
				}
			}
			usk_lines_free(l);
			usk_corridor_free(k);
		}
	}
}

/* Exchange the hosts: a point (t, theta) of b's clock is (t + theta, -theta) of a's, a floor still
 * a floor of a pair whose messages go the other way, that is a ceiling. */
static void test_swapped_hosts(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		c.q_a = c.q_b = 0;
		c.max_skew_e12 =
			USK_TIME_MAX; /* as far as it goes: no limit of the messages' slopes */
		struct usk_frame back = { c.frame.local_ns + c.frame.offset_ns,
					  -c.frame.offset_ns,
					  -c.frame.rate_e12,
					  c.frame.kappa_e12,
					  0,
					  false };
		if (back.local_ns > USK_TIME_MAX / 4 || back.local_ns < -USK_TIME_MAX / 4) {
			continue;
		}
		struct usk_corridor *k = fit_case_corridor(&c), *m = usk_corridor_new(&back);
		bool fits = true;
		for (size_t i = 0; i < c.pts.n; i++) {
			struct usk_msg msg = fit_case_msg(c.pts.p[i], c.pts.ceiling[i]);
			fits &= !usk_corridor_add(m, 1, 0, &msg, 1, NULL);
		}
		struct usk_lines *l = usk_lines_new(k, 0, 0, c.max_skew_e12);
		struct usk_lines *n = usk_lines_new(m, 0, 0, c.max_skew_e12);
		struct usk_rate min, max, back_min, back_max;
		usk_lines_rates(l, &min, &max);
		usk_lines_rates(n, &back_min, &back_max);
		/* slope s of b's offset is 1/(1 + s) - 1 = -s/(1 + s) of a's: where no limit cuts
		 */
		if (fits && usk_lines_quality(l) == USK_BOUNDED &&
		    usk_lines_quality(n) == USK_BOUNDED && 4 * (usk_i128)max.num < max.den &&
		    4 * (usk_i128)min.num > -(usk_i128)min.den) {
			CHECK((usk_i128)back_min.num * ((usk_i128)max.den + max.num) ==
				      -(usk_i128)max.num * back_min.den,
			      &c);
			CHECK((usk_i128)back_max.num * ((usk_i128)min.den + min.num) ==
				      -(usk_i128)min.num * back_max.den,
			      &c);
		}
		usk_lines_free(l);
		usk_lines_free(n);
		usk_corridor_free(k);
		usk_corridor_free(m);
	}
}

/* Move b's clock: every bound moves by exactly as much. */
static void test_shifted_host(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct fit_case c, d;
		fit_case_make(&c, seed);
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		int64_t by = (int64_t)usk_rng_below(&r, 1 << 20);
		by <<= usk_rng_below(&r, 38);
		d = c;
		bool fits = true;
		for (size_t i = 0; i < c.pts.n; i++) { /* same sent and received on a's clock */
			usk_i128 t = (usk_i128)c.pts.p[i].local_ns + by;
			usk_i128 y = (usk_i128)c.pts.p[i].offset_ns - by;
			fits &= t < USK_TIME_MAX / 2 && y > -USK_TIME_MAX / 2;
			d.pts.p[i] = (struct usk_point){ (int64_t)t, (int64_t)y };
		}
		d.frame.local_ns += by;
		d.frame.offset_ns -= by;
		if (!fits) {
			continue;
		}
		struct usk_corridor *k = fit_case_corridor(&c), *m = fit_case_corridor(&d);
		struct usk_lines *l = usk_lines_new(k, c.q_a, c.q_b, c.max_skew_e12);
		struct usk_lines *n = usk_lines_new(m, c.q_a, c.q_b, c.max_skew_e12);
		CHECK(usk_lines_quality(l) == usk_lines_quality(n), &c);
		for (size_t i = 0; i < c.pts.n; i++) {
			int64_t a[2], b[2];
			usk_lines_at(l, c.pts.p[i].local_ns, &a[0], &a[1]);
			usk_lines_at(n, d.pts.p[i].local_ns, &b[0], &b[1]);
			for (int j = 0; j < 2; j++) {
				if (a[j] <= USK_TIME_MAX / 2 && a[j] >= -USK_TIME_MAX / 2) {
					CHECK(a[j] - by == b[j], &c); /* not cut at the range */
				}
			}
		}
		usk_lines_free(l);
		usk_lines_free(n);
		usk_corridor_free(k);
		usk_corridor_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_against_brute_force),
		cmocka_unit_test(test_messages_only_tighten),
		cmocka_unit_test(test_swapped_hosts),
		cmocka_unit_test(test_shifted_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
