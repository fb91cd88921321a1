/* SPDX-License-Identifier: MIT */
/* The linear model's answer: band and order, checked on the integer map against every message. */
#include "alone.h"
#include "cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define E12 INT64_C(1000000000000)

/* The correction as it is defined: T(x) - x. */
static int64_t offset_at(const struct usk_clock *k, int64_t x)
{
	size_t i = 0;
	while (i + 2 < k->n_knots && k->knot[i + 1].local_ns < x) {
		i++;
	}
	const struct usk_knot *a = &k->knot[i], *b = a + 1;
	usk_i128 rise = (usk_i128)b->offset_ns - a->offset_ns;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return (int64_t)(a->offset_ns + usk_floor_div(rise * ((usk_i128)x - a->local_ns), run));
}

static void check_knots(const struct fit_case *c, const struct usk_clock *k, const struct oracle *o)
{
	CHECK(k->n_knots >= 2, c);
	for (size_t i = 0; i < k->n_knots; i++) {
		const struct usk_knot *n = &k->knot[i];
		int64_t lo, hi;
		oracle_at(o, n->local_ns, &lo, &hi);
		CHECK(n->lo_ns == lo && n->hi_ns == hi && n->epoch == 0, c);
		if (i) {
			CHECK(n[-1].local_ns < n->local_ns, c);
		}
		if (k->quality == USK_ONE_SIDED) {
			CHECK(n->offset_ns == USK_NONE, c);
			continue;
		}
		CHECK(n->offset_ns >= lo && (hi == USK_NONE || n->offset_ns <= hi), c);
		if (i) { /* T never falls */
			CHECK((usk_i128)n->offset_ns - n[-1].offset_ns >=
				      -((usk_i128)n->local_ns - n[-1].local_ns),
			      c);
		}
	}
}

/* A receiver that rounds down to q may have been up to q later: what it says holds there. */
static struct oracle_points as_meant(const struct fit_case *c)
{
	struct oracle_points pts = c->pts;
	for (size_t i = 0; i < pts.n; i++) {
		int64_t q = pts.ceiling[i] ? c->q_a : c->q_b;
		q = q > 1 ? q : 0;
		pts.p[i].local_ns += pts.ceiling[i] ? 0 : q;
		pts.p[i].offset_ns += pts.ceiling[i] ? q : -q;
	}
	return pts;
}

/* No message is received before it was sent by more than the receiver's own q, which its clock took
 * for up to S more. */
static void check_messages(const struct fit_case *c, const struct usk_clock *k)
{
	for (size_t i = 0; i < c->pts.n; i++) {
		struct usk_point p = c->pts.p[i];
		usk_i128 off = offset_at(k, p.local_ns);
		usk_i128 clear = c->pts.ceiling[i] ? p.offset_ns - off : off - p.offset_ns;
		int64_t q = c->pts.ceiling[i] ? c->q_a : c->q_b;
		usk_i128 more = c->pts.ceiling[i]
					? 0
					: usk_ceil_div((usk_i128)q * c->max_skew_e12, E12) + 1;
		CHECK(clear >= (q > 1 ? -(q + more) : 0), c);
	}
}

static void check_drift(const struct fit_case *c, const struct usk_clock *k, const struct oracle *o)
{
	if (k->quality == USK_ONE_SIDED) {
		CHECK(isnan(k->drift_ppm) && isnan(k->drift_min_ppm) && isnan(k->drift_max_ppm), c);
		return;
	}
	mpq_t min, max;
	mpq_inits(min, max, NULL);
	oracle_slopes(o, min, max);
	/* Outwards to whole parts per 10^12, and no further. */
	double below = -1e6 * mpq_get_d(max) - k->drift_min_ppm,
	       much = 1e-9 * fabs(k->drift_min_ppm);
	double above = k->drift_max_ppm + 1e6 * mpq_get_d(min),
	       more = 1e-9 * fabs(k->drift_max_ppm);
	CHECK(below >= -much && below <= 1e-6 + much, c);
	CHECK(above >= -more && above <= 1e-6 + more, c);
	mpq_clears(min, max, NULL);
	const struct usk_knot *a = &k->knot[0], *b = &k->knot[k->n_knots - 1];
	double want = -1e6 * ((double)b->offset_ns - (double)a->offset_ns) /
		      ((double)b->local_ns - (double)a->local_ns);
	if (a->offset_ns < INT64_C(1) << 50 && a->offset_ns > -(INT64_C(1) << 50) &&
	    fabs((double)a->local_ns) < 1e15) {
		CHECK(fabs(k->drift_ppm - want) <= 1e-6 * fabs(want) + 1e-9, c);
	}
}

/* Is a bound, on the reference, further than 146 years from 1970? */
static bool is_far(const struct usk_fit *fit, const struct oracle *o)
{
	const int64_t at[] = { fit->first_local_ns, fit->last_local_ns };
	bool far = false;
	for (size_t i = 0; i < COUNT(at); i++) {
		int64_t bound[2];
		oracle_at(o, at[i], &bound[0], &bound[1]);
		for (int k = 0; k < 2; k++) {
			usk_i128 t = (usk_i128)at[i] + bound[k];
			far = far ||
			      (bound[k] != USK_NONE && (t > USK_TIME_MAX || t < -USK_TIME_MAX));
		}
	}
	return far;
}

/* No stamp has such a time, so bounds may be missing; those that are there are the oracle's. */
static void check_far(const struct fit_case *c, const struct usk_clock *k, const struct oracle *o)
{
	for (size_t i = 0; i < k->n_knots; i++) {
		const struct usk_knot *n = &k->knot[i];
		int64_t lo, hi;
		oracle_at(o, n->local_ns, &lo, &hi);
		CHECK(n->lo_ns == USK_NONE || n->lo_ns <= lo, c);
		CHECK(n->hi_ns == USK_NONE || n->hi_ns >= hi, c);
	}
}

static void test_every_estimator_is_in_order(void **state)
{
	(void)state;
	uint64_t answers = 0;
	for (uint64_t seed = case_first(12000); seed < case_end(12000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_corridor *corridor = fit_case_corridor(&c);
		struct usk_lines *l = usk_lines_new(corridor, c.q_a, c.q_b, c.max_skew_e12);
		struct oracle_points pts = as_meant(&c);
		struct oracle *o = oracle_new(&pts, 0, 0, c.max_skew_e12);
		struct usk_msg msg[ORACLE_MAX];
		fit_case_msgs(&c, msg);
		struct usk_fit fit = { .corridor = corridor,
				       .lines = l,
				       .msg = msg,
				       .n_msgs = c.pts.n,
				       .a = 0,
				       .b = 1,
				       .first_local_ns = USK_TIME_MAX,
				       .last_local_ns = -USK_TIME_MAX };
		for (size_t i = 0; i < c.pts.n; i++) {
			int64_t t = c.pts.p[i].local_ns;
			fit.first_local_ns = t < fit.first_local_ns ? t : fit.first_local_ns;
			fit.last_local_ns = t > fit.last_local_ns ? t : fit.last_local_ns;
		}
		if (fit.first_local_ns > -USK_TIME_MAX / 2 &&
		    fit.last_local_ns < USK_TIME_MAX / 2) {
			fit.first_local_ns -= (int64_t)usk_rng_below(&r, 3);
			fit.last_local_ns += (int64_t)usk_rng_below(&r, 1 << 20);
		}
		for (size_t row = 0; usk_estimators()[row]; row++) {
			const struct usk_estimator *e = usk_estimators()[row];
			struct usk_clock k;
			memset(&k, 0, sizeof k);
			struct usk_err err = { 0 };
			enum usk_status status = fit_alone(&fit, e, &k, &err);
			if (status) { /* the band always has a middle and a bisector */
				CHECK(status == USK_EINPUT && strcmp(e->name, "middle") != 0 &&
					      strcmp(e->name, "hull") != 0,
				      &c);
				CHECK(err.msg[0], &c);
				CHECK(!strstr(err.msg, "check"), &c);
				continue;
			}
			if (!o->n) {
				CHECK(k.quality == USK_CONTRADICTED, &c);
				CHECK(!k.knot && !k.n_knots, &c);
				continue;
			}
			if (k.quality != USK_CONTRADICTED && is_far(&fit, o)) {
				check_far(&c, &k, o);
				free(k.knot);
				continue;
			}
			CHECK(k.quality == (o->has_floor && o->has_ceiling ? USK_BOUNDED
									   : USK_ONE_SIDED),
			      &c);
			check_knots(&c, &k, o);
			check_drift(&c, &k, o);
			CHECK(k.knot[0].local_ns <= fit.first_local_ns &&
				      k.knot[k.n_knots - 1].local_ns >= fit.last_local_ns,
			      &c);
			if (k.quality == USK_BOUNDED) {
				check_messages(&c, &k);
				answers++;
			}
			free(k.knot);
		}
		oracle_free(o);
		usk_lines_free(l);
		usk_corridor_free(corridor);
	}
	print_message("%llu answers\n", (unsigned long long)answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_estimator_is_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
