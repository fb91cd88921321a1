/* SPDX-License-Identifier: MIT */
/*
 * test_chain.c - lines of given length that meet, against a linear program
 *
 * The program knows nothing of gates: a value at every border, a row for every message. With one
 * segment a chain is a line, and its band that of `linear` to the bit.
 */
#include "cases.h"
#include "fit/segments.h"
#include "num/lp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 60, SEGMENTS = 6 };

/* Floors and ceilings around lines that meet, from 0 on. */
struct polygon {
	uint64_t seed;
	int64_t length, lasts, skew_e12;
	size_t segments, n;
	struct usk_point p[MOST];
	bool ceiling[MOST];
};

static int64_t within(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)usk_rng_below(r, (uint64_t)(hi - lo + 1));
}

static void make(struct polygon *c, uint64_t seed)
{
	struct usk_rng r;
	double v[SEGMENTS + 1];
	usk_rng_seed(&r, seed);
	*c = (struct polygon){ .seed = seed };
	c->segments = (size_t)within(&r, 1, SEGMENTS);
	c->length = within(&r, 20, 1000);
	c->lasts = (int64_t)c->segments * c->length - within(&r, 0, c->length - 10);
	c->skew_e12 = within(&r, 0, 1) ? 500000000000 : 200000000000;
	v[0] = (double)within(&r, -100, 100);
	double steep = (double)c->skew_e12 * 1e-12 * (double)c->length * 0.8;
	for (size_t i = 1; i <= c->segments; i++) {
		v[i] = v[i - 1] + steep * (2 * usk_rng_unit(&r) - 1);
	}
	c->n = (size_t)within(&r, 2, MOST);
	double tail = (double)within(&r, 1, 300);
	for (size_t i = 0; i < c->n; i++) {
		int64_t x = within(&r, 0, c->lasts);
		size_t k = (size_t)(x / c->length);
		double f = (double)(x - (int64_t)k * c->length) / (double)c->length;
		double y = k < c->segments ? v[k] + f * (v[k + 1] - v[k]) : v[k];
		double delay = usk_rng_exponential(&r, tail);
		c->ceiling[i] = i < 2 ? i == 1 : within(&r, 0, 1) == 1;
		c->p[i].local_ns = x;
		c->p[i].offset_ns = (int64_t)(c->ceiling[i] ? ceil(y + delay) : floor(y - delay));
	}
}

/* The program: columns are values at borders; the offset at x is to be as high or low as can be. */
struct program {
	int start[SEGMENTS + 2], row[(SEGMENTS + 1) * (MOST + SEGMENTS)];
	double value[(SEGMENTS + 1) * (MOST + SEGMENTS)];
	double col_lo[SEGMENTS + 1], col_hi[SEGMENTS + 1];
	double row_lo[MOST + SEGMENTS], row_hi[MOST + SEGMENTS];
	struct usk_lp_problem p;
};

static double share(const struct polygon *c, int64_t x, size_t border)
{
	double at = (double)x / (double)c->length, k = (double)border;
	return at > k - 1 && at < k + 1 ? 1 - fabs(at - k) : 0;
}

static struct usk_lp *program(const struct polygon *c, struct program *g)
{
	int n = 0;
	size_t cols = c->segments + 1;
	for (size_t j = 0; j < cols; j++) {
		g->start[j] = n;
		g->col_lo[j] = -1e5;
		g->col_hi[j] = 1e5;
		for (size_t i = 0; i < c->n + c->segments; i++) {
			bool point = i < c->n;
			size_t k = i - c->n; /* else a segment's rise */
			double v = point	? share(c, c->p[i].local_ns, j)
				   : j == k	? -1
				   : j == k + 1 ? 1
						: 0;
			if (v != 0) {
				g->row[n] = (int)i;
				g->value[n++] = v;
			}
		}
	}
	g->start[cols] = n;
	double steep = (double)c->skew_e12 * 1e-12 * (double)c->length;
	for (size_t i = 0; i < c->n + c->segments; i++) {
		bool point = i < c->n, ceiling = point && c->ceiling[i];
		double y = point ? (double)c->p[i].offset_ns : 0;
		g->row_lo[i] = !point ? -steep : ceiling ? -USK_LP_INF : y;
		g->row_hi[i] = !point ? steep : ceiling ? y : USK_LP_INF;
	}
	g->p = (struct usk_lp_problem){ .n_rows = (int)(c->n + c->segments),
					.n_cols = (int)cols,
					.start = g->start,
					.row = g->row,
					.value = g->value,
					.col_lo = g->col_lo,
					.col_hi = g->col_hi,
					.row_lo = g->row_lo,
					.row_hi = g->row_hi };
	return usk_lp_new(&g->p);
}

static double extreme(struct usk_lp *lp, const struct polygon *c, int64_t x, bool high)
{
	for (size_t j = 0; j <= c->segments; j++) {
		usk_lp_set_cost(lp, (int)j, high ? -share(c, x, j) : share(c, x, j));
	}
	assert_int_equal(usk_lp_solve(lp, USK_LP_PRIMAL), USK_LP_OPTIMAL);
	return high ? -usk_lp_objective(lp) : usk_lp_objective(lp);
}

static struct usk_corridor *corridor_of(const struct polygon *c)
{
	struct usk_frame f = { .kappa_e12 = 1000000000000 };
	struct usk_corridor *k = usk_corridor_new(&f);
	for (size_t i = 0; i < c->n; i++) {
		struct usk_msg m = fit_case_msg(c->p[i], c->ceiling[i]);
		assert_int_equal(usk_corridor_add(k, 0, 1, &m, 1, NULL), USK_OK);
	}
	return k;
}

static enum usk_status solve(const struct polygon *c, int64_t length, struct usk_clock *clock)
{
	struct usk_corridor *k = corridor_of(c);
	struct usk_lines *l = usk_lines_new(k, 0, 0, c->skew_e12);
	struct usk_fit fit = {
		.model = { .kind = USK_SEGMENTS, .segment_ns = length },
		.max_skew_e12 = c->skew_e12,
		.corridor = k,
		.lines = l,
		.plain = l,
		.last_local_ns = c->lasts,
		.b = 1,
	};
	struct usk_verdict v = { .n_points = 0 };
	struct usk_err err = { .msg = "" };
	usk_segments_ask(&fit, 0, &v);
	CHECK(v.quality == USK_BOUNDED && !v.n_suspects, c);
	enum usk_status status =
		usk_segments_fit(&fit, &v, usk_estimator_find("middle"), clock, &err);
	if (status) {
		print_message("seed %llu: %s\n", (unsigned long long)c->seed, err.msg);
	}
	usk_verdict_free(&v);
	usk_lines_free(l);
	usk_corridor_free(k);
	return status;
}

/* A corridor forgets a point that another one of its side implies by the cone, here of slope 1. */
static bool forgotten(const struct polygon *c, size_t i)
{
	bool implied = false;
	for (size_t j = 0; j < c->n && !implied; j++) {
		int64_t dx = c->p[j].local_ns - c->p[i].local_ns;
		int64_t up = c->p[j].offset_ns - c->p[i].offset_ns;
		up = c->ceiling[i] ? -up : up;
		implied = c->ceiling[i] == c->ceiling[j] && (dx || up) && up >= (dx < 0 ? -dx : dx);
	}
	return implied;
}

/* Strictly within a segment that has no point which is remembered. */
static bool silent(const struct polygon *c, int64_t x)
{
	bool any = x % c->length == 0;
	for (size_t i = 0; i < c->n && !any; i++) {
		any = (c->p[i].local_ns + c->length - 1) / c->length ==
			      (x + c->length - 1) / c->length &&
		      !forgotten(c, i);
	}
	return !any;
}

static void band_is_that_of_the_program(void **state)
{
	(void)state;
	if (!usk_lp_solver()) {
		skip();
	}
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		static struct program g;
		struct polygon c;
		struct usk_clock clock = { .quality = USK_ABSENT };
		make(&c, seed);
		CHECK(solve(&c, c.length, &clock) == USK_OK, &c);
		CHECK(clock.n_jumps == 0 && clock.quality == USK_BOUNDED, &c);
		struct usk_lp *lp = program(&c, &g);
		/* Gates are whole ns, and what is 1 ns at a gate is more behind a near point. */
		double slack = 30;
		for (size_t i = 0; i < clock.n_knots; i++) {
			const struct usk_knot *k = &clock.knot[i];
			double hi = extreme(lp, &c, k->local_ns, true);
			double lo = extreme(lp, &c, k->local_ns, false);
			CHECK((double)k->hi_ns >= hi - 1e-6 && (double)k->lo_ns <= lo + 1e-6, &c);
			/* Where nothing is said it is a little wider than it would have to be. */
			if (!silent(&c, k->local_ns)) {
				CHECK((double)k->hi_ns <= hi + slack, &c);
				CHECK((double)k->lo_ns >= lo - slack, &c);
			}
			CHECK(k->lo_ns <= k->offset_ns && k->offset_ns <= k->hi_ns, &c);
		}
		/* Between knots chords hold it. */
		struct usk_map *map = usk_map_new(&clock, c.skew_e12);
		for (int64_t x = 0; x <= c.lasts; x += 1 + c.lasts / 17) {
			struct usk_stamp at;
			assert_int_equal(usk_map_at(map, x, &at, NULL), USK_OK);
			CHECK((double)(at.hi_ns - x) >= extreme(lp, &c, x, true) - 1e-6, &c);
			CHECK((double)(at.lo_ns - x) <= extreme(lp, &c, x, false) + 1e-6, &c);
		}
		usk_map_free(map);
		usk_lp_free(lp);
		free(clock.knot);
		free(clock.jump);
	}
}

static void one_segment_is_a_line(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		struct polygon c;
		struct usk_clock clock = { .quality = USK_ABSENT };
		make(&c, seed);
		struct usk_corridor *k = corridor_of(&c);
		struct usk_lines *l = usk_lines_new(k, 0, 0, c.skew_e12);
		if (usk_lines_quality(l) == USK_BOUNDED) {
			CHECK(solve(&c, 1000000, &clock) == USK_OK, &c);
			for (size_t i = 0; i < clock.n_knots; i++) {
				int64_t lo, hi;
				usk_lines_at(l, clock.knot[i].local_ns, &lo, &hi);
				CHECK(clock.knot[i].lo_ns == lo && clock.knot[i].hi_ns == hi, &c);
			}
			free(clock.knot);
			free(clock.jump);
		}
		usk_lines_free(l);
		usk_corridor_free(k);
	}
}

/* Far apart in time, with borders by the billion between: they cost nothing. */
static void empty_segments_cost_nothing(void **state)
{
	(void)state;
	struct polygon c = { .seed = 0, .lasts = 1000000000000, .skew_e12 = 500000000, .n = 4 };
	const int64_t x[] = { 0, 1, 999999999999, 1000000000000 };
	struct usk_clock clock = { .quality = USK_ABSENT };
	for (size_t i = 0; i < c.n; i++) {
		c.p[i] = (struct usk_point){ x[i], i % 2 ? 50 : -50 };
		c.ceiling[i] = i % 2;
	}
	assert_int_equal(solve(&c, 7, &clock), USK_OK);
	assert_true(clock.n_knots < 12);
	free(clock.knot);
	free(clock.jump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(band_is_that_of_the_program),
		cmocka_unit_test(one_segment_is_a_line),
		cmocka_unit_test(empty_segments_cost_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
