/* SPDX-License-Identifier: MIT */
/*
 * linear.c - the answer of the `linear` model for a pair: knots with band and estimate
 *
 * In    a pair's corridor and feasible lines, the estimator, first and last event
 * Out   the clock's quality, drift and knots
 * Why   knots at every vertex of both hulls: the band has no other breakpoints, and an estimate
 *       that is right at each of them is right for every message (doc/guarantees.md)
 * Not   more than two clocks (solve/), other models
 */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/* The times of the knots, absolute, sorted, each once. */
static int64_t *knot_times(const struct usk_fit *fit, size_t *n)
{
	const struct usk_lines *l = fit->lines;
	int64_t *x = usk_alloc(l->half[0].n + l->half[1].n + 2, sizeof *x);
	size_t k = 0;
	usk_i128 x0, x1;
	usk_fit_span(fit, &x0, &x1);
	x[k++] = (int64_t)(l->frame.local_ns + x0);
	x[k++] = (int64_t)(l->frame.local_ns + x1);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < l->half[side].n; i++) {
			x[k++] = l->frame.local_ns + l->half[side].hull[i].x;
		}
	}
	qsort(x, k, sizeof *x, compare);
	*n = 1;
	for (size_t i = 1; i < k; i++) {
		if (x[i] != x[*n - 1]) {
			x[(*n)++] = x[i];
		}
	}
	return x;
}

/* offset(x) of the integer polyline, as everyone who applies it computes it. */
static int64_t applied(const struct usk_knot *k, size_t n, int64_t x)
{
	size_t i = 0, end = n - 1;
	while (end - i > 1) {
		size_t mid = i + (end - i) / 2;
		if (k[mid].local_ns < x) {
			i = mid;
		} else {
			end = mid;
		}
	}
	usk_i128 rise = (usk_i128)k[i + 1].offset_ns - k[i].offset_ns;
	usk_i128 run = (usk_i128)k[i + 1].local_ns - k[i].local_ns;
	return (int64_t)(k[i].offset_ns + usk_floor_div(rise * ((usk_i128)x - k[i].local_ns), run));
}

/* Every vertex against the map as it will be applied, and the map against itself. */
static enum usk_status verify(const struct usk_lines *l, const struct usk_knot *k, size_t n,
			      struct usk_err *err)
{
	int64_t at = 0;
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		at = k[i].local_ns;
		good = (k[i].lo_ns == USK_NONE || k[i].lo_ns <= k[i].offset_ns) &&
		       (k[i].hi_ns == USK_NONE || k[i].offset_ns <= k[i].hi_ns) &&
		       (!i || ((usk_i128)k[i].local_ns + k[i].offset_ns >=
			       (usk_i128)k[i - 1].local_ns + k[i - 1].offset_ns));
	}
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		for (size_t i = 0; i < n && good; i++) { /* bends, between vertices */
			at = k[i].local_ns;
			usk_i128 x = (usk_i128)at - l->frame.local_ns;
			usk_i128 y = (usk_i128)k[i].offset_ns - l->frame.offset_ns;
			good = !h->n || x < h->hull[0].x || x > h->hull[h->n - 1].x ||
			       usk_hull_ceil(h->hull, h->n, (int64_t)x) <=
				       (side == USK_FLOOR ? y : -y);
		}
		for (size_t i = 0; i < l->half[side].n && good; i++) {
			struct usk_xy p = l->half[side].hull[i];
			at = l->frame.local_ns + p.x;
			usk_i128 y = (usk_i128)applied(k, n, at) - l->frame.offset_ns;
			good = p.y <= (side == USK_FLOOR ? y : -y);
		}
	}
	return good ? USK_OK
		    : usk_fail(err, USK_EINPUT, 0,
			       "the correction failed its own check at %lld ns: please report this",
			       (long long)at);
}

/* ---- the ends ------------------------------------------------------------------ */

/*
 * The outermost slope goes on beyond the knots. Two hull vertices may be microseconds apart, where
 * rounding to 1 ns alone bends the line by hundreds of ppm: such an end would lead astray.
 */
#define END_NS INT64_C(1000000000)

/* A bound on the chord of a and b: lo rounded down, hi up. */
static usk_i128 chord(int64_t ya, int64_t yb, const struct usk_knot *a, const struct usk_knot *b,
		      int64_t x, bool up)
{
	usk_i128 rise = ((usk_i128)yb - ya) * ((usk_i128)x - a->local_ns);
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return ya + (up ? usk_ceil_div(rise, run) : usk_floor_div(rise, run));
}

/*
 * May knot k go, so that a and b are neighbours? The band must stay as it is to 1 ns, and the
 * estimate no nearer to a wall than k's is, or 1 ns off.
 */
static bool can_go(const struct usk_lines *l, const struct usk_knot *a, const struct usk_knot *b,
		   const struct usk_knot *k)
{
	int64_t x = k->local_ns;
	if (chord(a->lo_ns, b->lo_ns, a, b, x, false) < (usk_i128)k->lo_ns - 1 ||
	    chord(a->hi_ns, b->hi_ns, a, b, x, true) > (usk_i128)k->hi_ns + 1) {
		return false;
	}
	usk_i128 y = chord(a->offset_ns, b->offset_ns, a, b, x, false);
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		for (size_t i = 0; i < h->n; i++) {
			if (l->frame.local_ns + h->hull[i].x != x) {
				continue;
			}
			/* As the messages have it, not weakened by the resolution. */
			usk_i128 wall = (usk_i128)h->hull[i].y + l->q_ns[side];
			usk_i128 here = y - l->frame.offset_ns,
				 was = k->offset_ns - l->frame.offset_ns;
			usk_i128 gap = (side == USK_FLOOR ? here : -here) - wall;
			usk_i128 had = (side == USK_FLOOR ? was : -was) - wall;
			if (gap < (had < 1 ? had : 1)) {
				return false;
			}
		}
	}
	return true;
}

/*
 * Drop knots behind the first or before the last until that segment is 1 s long; the `most` knots
 * next to that end may go.
 */
static size_t lengthen(const struct usk_lines *l, struct usk_knot *k, size_t n, size_t most,
		       bool front)
{
	const struct usk_knot *end = front ? &k[0] : &k[n - 1];
	size_t want = 1;
	while (want <= most) {
		const struct usk_knot *b = front ? &k[want] : &k[n - 1 - want];
		usk_i128 length = (usk_i128)b->local_ns - end->local_ns;
		if (length >= END_NS || length <= -END_NS) {
			break;
		}
		want++;
	}
	for (; want > 1; want--) {
		const struct usk_knot *b = front ? &k[want] : &k[n - 1 - want];
		bool good = true;
		for (size_t i = 1; i < want && good; i++) {
			good = front ? can_go(l, end, b, &k[i]) : can_go(l, b, end, &k[n - 1 - i]);
		}
		if (good) {
			break;
		}
	}
	size_t gone = want - 1, from = front ? want : n - 1;
	for (size_t i = from; gone && i < n; i++) {
		k[i - gone] = k[i];
	}
	return n - gone;
}

static double ppm(struct usk_slope s)
{
	return 1e6 * (double)s.num / (double)s.den;
}

/* A polyline bends between the corridor's vertices, too: knots there, where they have room. */
static void add_bends(const struct usk_lines *l, const struct usk_knot *line, size_t n_line,
		      struct usk_knot **knot, size_t *n)
{
	const struct usk_knot *old = *knot;
	struct usk_knot *k = usk_alloc(*n + n_line, sizeof *k);
	size_t all = 0, i = 0;
	for (size_t j = 0; i < *n; k[all++] = old[i++]) {
		for (; i && j < n_line && line[j].local_ns <= old[i].local_ns; j++) {
			int64_t x = line[j].local_ns;
			if (x > k[all - 1].local_ns && x < old[i].local_ns) {
				k[all].local_ns = x;
				k[all].offset_ns = USK_NONE;
				usk_lines_at(l, x, &k[all].lo_ns, &k[all].hi_ns);
				all += usk_knot_has_room(l, &k[all]);
			}
		}
	}
	free(*knot);
	*knot = k;
	*n = all;
}

static enum usk_status estimate(const struct usk_fit *fit, const struct usk_estimator *method,
				struct usk_knot **knot, size_t *n, struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	struct usk_knot *line = NULL;
	size_t n_line = 0;
	enum usk_status status = method->estimate(fit, &line, &n_line, err);
	if (status) {
		return status;
	}
	bool strict = true;
	if (l->q_ns[0] || l->q_ns[1]) {
		struct usk_lines *s = usk_lines_new(fit->corridor, 0, 0, (int64_t)l->limit.num);
		strict = s->quality == USK_BOUNDED;
		usk_lines_free(s);
	}
	if (n_line > 2) {
		add_bends(l, line, n_line, knot, n);
	}
	usk_knots_settle(l, strict, line, n_line, *knot, *n);
	free(line);
	/* The second round must not reach over what the first has left out. */
	size_t all = *n, inner = all - 2;
	*n = lengthen(l, *knot, all, inner, true);
	*n = lengthen(l, *knot, *n, *n < all ? (*n > 3 ? *n - 3 : 0) : inner, false);
	return verify(l, *knot, *n, err);
}

enum usk_status usk_fit_linear(const struct usk_fit *fit, const struct usk_estimator *method,
			       struct usk_clock *clock, struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	clock->quality = l->quality;
	clock->resolution_ns = l->q_ns[USK_FLOOR];
	clock->drift_ppm = clock->drift_min_ppm = clock->drift_max_ppm = NAN;
	clock->knot = NULL;
	clock->n_knots = 0;
	if (l->quality != USK_BOUNDED && l->quality != USK_ONE_SIDED) {
		return USK_OK;
	}
	if (fit->first_local_ns < -USK_TIME_MAX || fit->last_local_ns > USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "an event is over 2^62 ns (146 years) from 0");
	}
	size_t n;
	int64_t *x = knot_times(fit, &n);
	struct usk_knot *k = usk_alloc(n, sizeof *k);
	for (size_t i = 0; i < n; i++) {
		k[i].local_ns = x[i];
		k[i].offset_ns = USK_NONE;
		usk_lines_at(l, x[i], &k[i].lo_ns, &k[i].hi_ns);
	}
	free(x);
	if (l->quality == USK_BOUNDED) {
		enum usk_status status = estimate(fit, method, &k, &n, err);
		if (status) {
			free(k);
			return status;
		}
		clock->drift_ppm =
			0 - ppm((struct usk_slope){ (usk_i128)k[n - 1].offset_ns - k[0].offset_ns,
						    (usk_i128)k[n - 1].local_ns - k[0].local_ns });
		clock->drift_min_ppm = 0 - ppm(l->max);
		clock->drift_max_ppm = 0 - ppm(l->min);
	}
	clock->knot = k;
	clock->n_knots = n;
	clock->before = clock->after = usk_skew_slopes(fit->max_skew_e12);
	return USK_OK;
}
