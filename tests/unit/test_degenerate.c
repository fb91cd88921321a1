/* SPDX-License-Identifier: MIT */
/*
 * test_degenerate.c - every table of up to three messages on a small grid, and estimators on it
 *
 * One message each way, all at one instant, vertical and coincident points, one direction only, a
 * clock that runs backwards: all of them are among these. middle, hull and support against their
 * definitions, searched from end to end; all rows of the table give a line or a sentence. (The
 * others' definitions: test_ashton.c, test_exchange_estimators.c, test_broadcast.c.)
 */
#include "cases.h"
#include "fit/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Units are this many ns, so that what is rounded does not count. */
#define UNIT INT64_C(40000000)

enum { GRID = 4, MOST = 3, PLACES = 2 * GRID * GRID };

/* Messages as points of the offset, in units; y counts eighths in flat tables. */
struct tiny {
	size_t n;
	int x[MOST], y[MOST];
	bool ceiling[MOST];
	int eighths; /* 1: slopes within a skew limit of one half; 8: steep, clocks that fall */
	struct usk_msg msg[MOST];
	struct fit_case c; /* the same, for the oracle */
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
};

static int64_t local_ns(const struct tiny *t, size_t i)
{
	return UNIT * t->x[i];
}

static int64_t offset_ns(const struct tiny *t, size_t i)
{
	return UNIT / 8 * t->eighths * t->y[i];
}

static void tiny_make(struct tiny *t, const size_t *place, size_t n, int eighths)
{
	memset(t, 0, sizeof *t);
	t->n = n;
	t->eighths = eighths;
	t->c.pts.n = n;
	for (size_t i = 0; i < n; i++) {
		t->ceiling[i] = place[i] >= PLACES / 2;
		t->x[i] = (int)(place[i] % GRID);
		t->y[i] = (int)(place[i] / GRID % GRID);
		t->c.pts.p[i] = (struct usk_point){ local_ns(t, i), offset_ns(t, i) };
		t->c.pts.ceiling[i] = t->ceiling[i];
		t->msg[i] = fit_case_msg(t->c.pts.p[i], t->ceiling[i]);
	}
	usk_msg_sort(t->msg, n, 1);
	struct usk_frame f = { .kappa_e12 = 400000 };
	t->corridor = usk_corridor_new(&f);
	assert_int_equal(usk_corridor_add(t->corridor, 0, 1, t->msg, n, NULL), USK_OK);
	t->c.max_skew_e12 = USK_MAX_SKEW_E12;
	t->lines = usk_lines_new(t->corridor, 0, 0, t->c.max_skew_e12);
	t->fit = (struct usk_fit){
		.corridor = t->corridor,
		.lines = t->lines,
		.msg = t->msg,
		.n_msgs = n,
		.b = 1,
		.max_skew_e12 = t->c.max_skew_e12,
		.first_local_ns = usk_msg_stamp(&t->msg[0], 1),
		.last_local_ns = usk_msg_stamp(&t->msg[n - 1], 1),
	};
}

static void tiny_free(struct tiny *t)
{
	usk_lines_free(t->lines);
	usk_corridor_free(t->corridor);
}

static void tiny_fail(const struct tiny *t, const char *method, const char *what)
{
	char text[200] = "";
	for (size_t i = 0; i < t->n; i++) {
		size_t n = strlen(text);
		snprintf(text + n, sizeof text - n, " %s(%d, %d)",
			 t->ceiling[i] ? "ceiling" : "floor", t->x[i], t->y[i] * t->eighths);
	}
	fail_msg("%s:%s: %s", method, text, what);
}

struct answer {
	enum usk_status status;
	struct usk_knot *knot;
	size_t n;
};

static struct answer ask(const struct tiny *t, const struct usk_estimator *e)
{
	struct answer a = { .knot = NULL };
	struct usk_err err = { 0 };
	a.status = usk_estimator_run(e, &t->fit, &a.knot, &a.n, &err);
	bool good = a.status ? a.status == USK_EINPUT && err.msg[0] && !a.knot : a.n >= 2;
	for (size_t i = 1; i < a.n && good; i++) {
		good = a.knot[i].local_ns > a.knot[i - 1].local_ns;
	}
	if (!good) {
		tiny_fail(t, e->name, "neither a line nor a sentence");
	}
	return a;
}

/* Every table with up to three messages; it does not matter which is which. */
static void each(void (*check)(const struct tiny *t, void *ctx), void *ctx)
{
	size_t p[MOST];
	for (int eighths = 1; eighths <= 8; eighths += 7) {
		for (size_t n = 1; n <= MOST; n++) {
			for (p[0] = 0; p[0] < PLACES; p[0]++) {
				for (p[1] = p[0]; p[1] < (n > 1 ? PLACES : p[0] + 1); p[1]++) {
					for (p[2] = p[1]; p[2] < (n > 2 ? PLACES : p[1] + 1);
					     p[2]++) {
						struct tiny t;
						tiny_make(&t, p, n, eighths);
						check(&t, ctx);
						tiny_free(&t);
					}
				}
			}
		}
	}
}

/* ---- what lines fit ---------------------------------------------------------------------- */

struct slopes {
	bool floor, ceiling, fits;
	long double free_min, free_max, min, max; /* infinite: nothing limits it */
};

static struct slopes slopes_of(const struct tiny *t)
{
	struct slopes s = { .fits = true, .free_min = -INFINITY, .free_max = INFINITY };
	for (size_t i = 0; i < t->n; i++) {
		s.floor |= !t->ceiling[i];
		s.ceiling |= t->ceiling[i];
		for (size_t k = 0; k < t->n; k++) {
			if (t->ceiling[i] || !t->ceiling[k]) {
				continue;
			}
			long double dt = (long double)(local_ns(t, i) - local_ns(t, k));
			long double dy = (long double)(offset_ns(t, i) - offset_ns(t, k));
			s.free_min = dt > 0 && dy / dt > s.free_min ? dy / dt : s.free_min;
			s.free_max = dt < 0 && dy / dt < s.free_max ? dy / dt : s.free_max;
			s.fits &= dt != 0 || dy <= 0;
		}
	}
	s.min = s.free_min > -0.5L ? s.free_min : -0.5L;
	s.max = s.free_max < 0.5L ? s.free_max : 0.5L;
	s.fits &= s.min <= s.max;
	return s;
}

/* ---- hull: in the plane of both clocks' stamps ---------------------------------------------- */

/* B = alpha + beta A */
struct plane_line {
	long double alpha, beta;
};

/* The extreme line: through the messages that set its slope, else the middle of what they leave. */
static struct plane_line extreme(const struct tiny *t, long double slope)
{
	long double low = -INFINITY, high = INFINITY;
	for (size_t i = 0; i < t->n; i++) {
		long double v = (long double)offset_ns(t, i) - slope * (long double)local_ns(t, i);
		if (t->ceiling[i]) {
			high = v < high ? v : high;
		} else {
			low = v > low ? v : low;
		}
	}
	/* A = B + a + s B */
	long double a = (low + high) / 2;
	return (struct plane_line){ -a / (1 + slope), 1 / (1 + slope) };
}

static void check_hull(const struct tiny *t, void *ctx)
{
	size_t *answers = ctx;
	struct slopes s = slopes_of(t);
	struct answer a = ask(t, usk_estimator_find("hull"));
	/* Where no line fits it is the one of least violation (test_ashton.c has the oracle). */
	bool fits = s.floor && s.ceiling && s.fits;
	if (a.status ? fits : !(s.floor && s.ceiling)) {
		tiny_fail(t, "hull", a.status ? "no answer" : "an answer");
	}
	long double s1 = isinf(s.free_min) ? -0.5L : s.free_min;
	long double s2 = isinf(s.free_max) ? 0.5L : s.free_max;
	if (!a.status && fits && s1 > -0.9L && !no_long_double()) {
		struct plane_line p = extreme(t, s1), q = extreme(t, s2), mid;
		mid.beta = tanl((atanl(p.beta) + atanl(q.beta)) / 2);
		/* Through their crossing; parallel ones have the middle intercept. */
		long double x = (q.alpha - p.alpha) / (p.beta - q.beta);
		mid.alpha = s1 < s2 ? p.alpha + (p.beta - mid.beta) * x : (p.alpha + q.alpha) / 2;
		for (size_t i = 0; i < a.n; i++) {
			long double local = (long double)a.knot[i].local_ns;
			long double want = (local - mid.alpha) / mid.beta - local;
			if (fabsl(want - (long double)a.knot[i].offset_ns) > 2) {
				tiny_fail(t, "hull", "another line");
			}
		}
		++*answers;
	}
	free(a.knot);
}

/* ---- support: each side's line of least sum of distances ----------------------------------- */

/* offset = y + (dy/dx)(local - x), exact in units and eighths */
struct lean {
	int x, y, dx, dy;
};

/* How much higher than a point, times dx; mirrored for a ceiling. */
static int above(const struct tiny *t, const struct lean *l, size_t i)
{
	int v = l->y * l->dx + l->dy * (t->x[i] - l->x) - t->y[i] * l->dx;
	return t->ceiling[i] ? -v : v;
}

/* All best lines of a side through two of its points: at most as many as pairs. */
static size_t best_lines(const struct tiny *t, bool ceiling, struct lean out[MOST * MOST])
{
	size_t n = 0;
	int best = 0, best_dx = 1;
	for (size_t i = 0; i < t->n; i++) {
		for (size_t k = 0; k < t->n; k++) {
			struct lean l = { t->x[i], t->y[i], t->x[k] - t->x[i], t->y[k] - t->y[i] };
			int sum = 0;
			bool good =
				t->ceiling[i] == ceiling && t->ceiling[k] == ceiling && l.dx > 0;
			for (size_t m = 0; m < t->n && good; m++) {
				int v = t->ceiling[m] == ceiling ? above(t, &l, m) : 0;
				good = v >= 0;
				sum += v;
			}
			if (!good || (n && sum * best_dx > best * l.dx)) {
				continue;
			}
			n = n && sum * best_dx == best * l.dx ? n : 0;
			best = sum;
			best_dx = l.dx;
			out[n++] = l;
		}
	}
	return n;
}

/* Of points at one instant, a line of the other side's slope through the extreme one. */
static size_t lines_of(const struct tiny *t, bool ceiling, struct lean out[MOST * MOST])
{
	struct lean other[MOST * MOST];
	size_t n = best_lines(t, ceiling, out), m = n ? 0 : best_lines(t, !ceiling, other);
	for (size_t k = 0; k < m; k++) {
		struct lean l = other[k];
		bool any = false;
		for (size_t i = 0; i < t->n; i++) {
			bool more = !any || (ceiling ? t->y[i] < l.y : t->y[i] > l.y);
			if (t->ceiling[i] == ceiling && more) {
				l.x = t->x[i];
				l.y = t->y[i];
				any = true;
			}
		}
		out[n] = l;
		n += any;
	}
	return n;
}

static long double value(const struct tiny *t, const struct lean *l, int64_t local)
{
	long double unit = (long double)UNIT / 8 * t->eighths;
	return unit * ((long double)l->y +
		       (long double)l->dy / l->dx * ((long double)local / UNIT - l->x));
}

/* Is it the mean of two lines that lean on the two sides? *low, *high: which. */
static bool is_support(const struct tiny *t, const struct answer *a, struct lean *low,
		       struct lean *high)
{
	struct lean f[MOST * MOST], c[MOST * MOST];
	size_t n = lines_of(t, false, f), m = lines_of(t, true, c);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < m; k++) {
			bool good = true;
			for (size_t j = 0; j < a->n && good; j++) {
				int64_t x = a->knot[j].local_ns;
				long double mean = (value(t, &f[i], x) + value(t, &c[k], x)) / 2;
				good = fabsl(mean - (long double)a->knot[j].offset_ns) <= 1;
			}
			if (good) {
				*low = f[i];
				*high = c[k];
				return true;
			}
		}
	}
	return false;
}

static void check_support(const struct tiny *t, void *ctx)
{
	size_t *answers = ctx;
	struct lean l[MOST * MOST], low, high;
	struct slopes s = slopes_of(t);
	bool sloped = best_lines(t, false, l) || best_lines(t, true, l);
	struct answer a = ask(t, usk_estimator_find("support"));
	if ((!a.status) != (s.floor && s.ceiling && sloped)) {
		tiny_fail(t, "support", a.status ? "no answer" : "an answer");
	}
	if (!a.status && !no_long_double()) {
		if (!is_support(t, &a, &low, &high)) {
			tiny_fail(t, "support", "another line");
		}
		++*answers;
	}
	free(a.knot);
}

/* ---- middle: support where it is feasible, else the mean of the polygon's vertices --------- */

/* Is the mean of the two feasible? In units, times 2 dx1 dx2. */
static bool feasible(const struct tiny *t, const struct lean *f, const struct lean *c)
{
	int slope = f->dy * c->dx + c->dy * f->dx; /* eighths a unit, over 2 dx1 dx2 */
	int size = (slope < 0 ? -slope : slope) * t->eighths;
	if (size > 8 * f->dx * c->dx) { /* one half is 4 eighths */
		return false;
	}
	for (size_t i = 0; i < t->n; i++) {
		int v = (f->y * f->dx + f->dy * (t->x[i] - f->x)) * c->dx +
			(c->y * c->dx + c->dy * (t->x[i] - c->x)) * f->dx -
			2 * t->y[i] * f->dx * c->dx;
		if (t->ceiling[i] ? v > 0 : v < 0) {
			return false;
		}
	}
	return true;
}

static void check_middle(const struct tiny *t, void *ctx)
{
	size_t *answers = ctx;
	struct slopes s = slopes_of(t);
	struct answer a = ask(t, usk_estimator_find("middle"));
	struct answer b = ask(t, usk_estimator_find("support"));
	if ((!a.status) != (s.floor && s.ceiling && s.fits)) {
		tiny_fail(t, "middle", a.status ? "no answer" : "an answer");
	}
	struct lean low, high;
	bool lean = !a.status && !b.status && is_support(t, &b, &low, &high) &&
		    feasible(t, &low, &high);
	if (lean && memcmp(a.knot, b.knot, a.n * sizeof *a.knot)) {
		tiny_fail(t, "middle", "not support");
	}
	if (!a.status && !lean && !no_long_double()) {
		struct oracle *o = oracle_new(&t->c.pts, 0, 0, t->c.max_skew_e12);
		for (size_t k = 0; k < a.n; k++) {
			long double sum = 0;
			size_t n = 0;
			for (size_t i = 0; i < o->n; i++) {
				bool again = false;
				for (size_t j = 0; j < i; j++) {
					again |= mpq_equal(o->slope[i], o->slope[j]) &&
						 mpq_equal(o->at_zero[i], o->at_zero[j]);
				}
				if (!again) {
					sum += (long double)mpq_get_d(o->at_zero[i]) +
					       (long double)mpq_get_d(o->slope[i]) *
						       (long double)a.knot[k].local_ns;
					n++;
				}
			}
			if (fabsl(sum / (long double)n - (long double)a.knot[k].offset_ns) > 2) {
				tiny_fail(t, "middle", "not the mean of the vertices");
			}
		}
		oracle_free(o);
	}
	*answers += !a.status;
	free(a.knot);
	free(b.knot);
}

/* ---- all rows -------------------------------------------------------------------------------- */

struct families {
	size_t each_way, one_instant, vertical, coincident, one_direction, falling;
};

static void check_all(const struct tiny *t, void *ctx)
{
	struct families *f = ctx;
	size_t floors = 0;
	bool instant = true, coincident = false, vertical = false, falls = false;
	for (size_t i = 0; i < t->n; i++) {
		floors += !t->ceiling[i];
		for (size_t k = 0; k < i; k++) {
			bool here = t->x[i] == t->x[k];
			bool same = here && t->y[i] == t->y[k];
			/* Reference against local stamps. */
			int64_t dx = local_ns(t, i) - local_ns(t, k);
			int64_t dr = dx + offset_ns(t, i) - offset_ns(t, k);
			instant &= same;
			coincident |= same && t->ceiling[i] == t->ceiling[k];
			vertical |= (here && !same) || (dx && !dr);
			falls |= (dx > 0 && dr < 0) || (dx < 0 && dr > 0);
		}
	}
	f->each_way += t->n == 2 && floors == 1;
	f->one_instant += t->n > 1 && instant;
	f->vertical += vertical;
	f->coincident += coincident;
	f->one_direction += t->n > 1 && (floors == 0 || floors == t->n);
	f->falling += falls;
	for (size_t row = 0; usk_estimators()[row]; row++) {
		const struct usk_estimator *e = usk_estimators()[row];
		struct answer a = ask(t, e);
		if (!a.status && (floors == 0 || floors == t->n)) {
			tiny_fail(t, e->name, "an answer of one direction");
		}
		free(a.knot);
	}
}

static void test_hull(void **state)
{
	size_t n = 0;
	(void)state;
	each(check_hull, &n);
	print_message("%zu answers\n", n);
	assert_true(n > 1000 || no_long_double());
}

static void test_support(void **state)
{
	size_t n = 0;
	(void)state;
	each(check_support, &n);
	print_message("%zu answers\n", n);
	assert_true(n > 1000 || no_long_double());
}

static void test_middle(void **state)
{
	size_t n = 0;
	(void)state;
	each(check_middle, &n);
	print_message("%zu answers\n", n);
	assert_true(n > 1000);
}

static void test_all_rows(void **state)
{
	struct families f = { 0 };
	(void)state;
	each(check_all, &f);
	print_message(
		"%zu one each way, %zu at one instant, %zu vertical, %zu coincident, %zu of one "
		"direction, %zu that fall\n",
		f.each_way, f.one_instant, f.vertical, f.coincident, f.one_direction, f.falling);
	assert_true(f.each_way && f.one_instant && f.vertical && f.coincident && f.one_direction &&
		    f.falling);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hull),
		cmocka_unit_test(test_support),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_all_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
