/* SPDX-License-Identifier: MIT */
/*
 * wander.c - the model `wander`: every pair's rate stays within a constant +- so much
 *
 * In    a pair's corridor, the wander that is assumed
 * Out   its verdict; the local clock's knots
 * Why   quartz wanders: a straight line is a fiction that ends after minutes, and a band drawn by
 *       it gets too narrow long before the data say so
 * Not   who is wrong (wander_suspects.c)
 */
#include "fit/pieces.h"
#include "fit/wander.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>

static void name_point(const struct usk_part *p, struct usk_xy at, bool ceiling,
		       struct usk_verdict *v)
{
	v->ceiling[v->n_points] = ceiling;
	v->point[v->n_points++] = usk_part_recorded(p, at, ceiling);
}

static void contradict(const struct usk_part *p, struct usk_xy floor, struct usk_xy ceiling,
		       struct usk_verdict *v)
{
	v->quality = USK_CONTRADICTED;
	v->wander.needed_e12 = v->wander.used_e12 = 0;
	v->n_points = 0;
	name_point(p, floor, false, v);
	name_point(p, ceiling, true, v);
}

/* No wander within the skew limit: two messages say so. */
static void contradict_need(const struct usk_part *p, const struct usk_need *n, int64_t limit_e12,
			    struct usk_verdict *v)
{
	struct usk_slope limit = { limit_e12, USK_E12 };
	if (n->crossed) {
		contradict(p, n->cross_floor, n->cross_ceiling, v);
	} else if (n->has_lo && usk_slope_cmp(n->s_lo, limit) > 0) {
		contradict(p, n->lo_floor, n->lo_ceiling, v);
	} else {
		contradict(p, n->hi_floor, n->hi_ceiling, v);
	}
}

/* How far the band's slopes lie from the frame's rate: the corridor's cone has to hold them. */
static int64_t reach(const struct usk_part *p, int64_t wander_e12, int64_t limit_e12)
{
	struct usk_need need;
	struct usk_band b;
	usk_need_of(p, &need);
	usk_band_slopes(p, &need, wander_e12, limit_e12, &b);
	usk_i128 up = (usk_i128)b.fast_e12 - p->frame.rate_e12;
	usk_i128 down = (usk_i128)p->frame.rate_e12 - b.slow_e12;
	return (int64_t)(up > down ? up : down);
}

/* Every stretch by itself: what it is, what cone it needs. */
static void ask_stretches(const struct usk_part *p, const struct usk_pieces *s, int64_t limit_e12,
			  struct usk_verdict *v)
{
	int64_t most = 0;
	v->quality = p->n[0] || p->n[1] ? USK_ONE_SIDED : USK_ABSENT;
	for (size_t i = 0; i <= s->n; i++) {
		struct usk_part part = usk_pieces_part(p, s, i);
		struct usk_need need;
		usk_need_of(&part, &need);
		if (usk_need_within(&need, limit_e12) == USK_NO_WANDER) {
			contradict_need(p, &need, limit_e12, v);
			return;
		}
		if (part.n[0] && part.n[1]) {
			v->quality = USK_BOUNDED;
		}
		if (part.n[0] || part.n[1]) {
			int64_t r = reach(&part, v->wander.used_e12, limit_e12);
			most = r > most ? r : most;
		}
	}
	if (most > p->frame.kappa_e12) {
		/* and a little more: what is found then may ask for more in turn */
		v->kappa_e12 = most + most / 4;
	}
	usk_pieces_apart(s, v);
}

static bool has_bounded(const struct usk_part *p, const struct usk_pieces *s)
{
	bool any = !p->n[0] || !p->n[1];
	for (size_t i = 0; i <= s->n && !any; i++) {
		struct usk_part part = usk_pieces_part(p, s, i);
		any = part.n[0] && part.n[1];
	}
	return any;
}

/* Stretches between jumps, and the wander that they need. Without a jump there is one. */
static void cut(const struct usk_fit *fit, const struct usk_part *p, bool whole,
		struct usk_wander *w, struct usk_pieces *s)
{
	struct usk_need need;
	*s = (struct usk_pieces){ .n = 0 };
	usk_need_of(p, &need);
	w->assumed_e12 = fit->model.wander_e12;
	w->needed_e12 = usk_need_within(&need, fit->max_skew_e12);
	if ((w->needed_e12 > w->assumed_e12 && !whole) || fit->n_back) {
		usk_pieces_jumps(fit, p, w, s);
		if (s->never || fit->n_back || has_bounded(p, s)) {
			return;
		}
		/* Nothing on either side of a jump says that it was one. */
		usk_pieces_free(s);
		w->needed_e12 = usk_need_within(&need, fit->max_skew_e12);
	}
	w->used_e12 = w->needed_e12 <= w->assumed_e12  ? w->assumed_e12
		      : w->needed_e12 == USK_NO_WANDER ? 0
						       : 2 * w->needed_e12;
}

/* Who has to go? Where too many have, none goes, and none of what they say is a jump. */
static void accuse(const struct usk_fit *fit, const struct usk_part *p, size_t max_outliers,
		   struct usk_verdict *v)
{
	size_t n = usk_wander_suspects(fit, p, max_outliers, &v->suspect);
	v->too_many = n > max_outliers;
	v->n_suspects = v->too_many ? 0 : n;
}

/* More than any quartz wanders by itself: something was set, or slewed. */
#define SET_E12 INT64_C(10000000)

/*
 * Around a step the fastest message of a second hides those nearest to it, so its bracket is up to
 * a second wide, in which the skew limit alone explains a step of 1 ms. A cone that holds every
 * rate within the limit hides none that could tell.
 */
static void look_closer(const struct usk_part *p, int64_t limit_e12, struct usk_verdict *v)
{
	int64_t rate = p->frame.rate_e12, all = limit_e12 + (rate < 0 ? -rate : rate);
	v->kappa_e12 = all > p->frame.kappa_e12 ? all : 0;
}

void usk_wander_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *v)
{
	struct usk_part part;
	struct usk_pieces s;
	struct usk_need need;
	int64_t limit = fit->max_skew_e12;
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	usk_need_of(&part, &need);
	if (usk_need_within(&need, limit) > fit->model.wander_e12) {
		accuse(fit, &part, max_outliers, v);
	}
	if (v->too_many && usk_need_within(&need, limit) == USK_NO_WANDER) {
		v->wander.assumed_e12 = fit->model.wander_e12;
		contradict_need(&part, &need, limit, v);
		look_closer(&part, limit, v);
		usk_part_free(&part);
		return;
	}
	cut(fit, &part, v->too_many, &v->wander, &s);
	if (s.never) {
		contradict(&part, s.floor, s.ceiling, v);
		if (!v->n_suspects) {
			v->n_suspects = usk_part_unordered(fit, &part, max_outliers, &v->suspect);
		}
	} else {
		ask_stretches(&part, &s, limit, v);
	}
	if (s.n || s.never || v->wander.needed_e12 > SET_E12) {
		look_closer(&part, limit, v);
	}
	v->n_cuts = s.n;
	if (v->n_suspects) { /* without them all may look different */
		v->kappa_e12 = 0;
		v->n_apart = 0;
	}
	usk_pieces_free(&s);
	usk_part_free(&part);
}

static double ppm(usk_i128 e12)
{
	return (double)e12 * 1e-6;
}

/*
 * Where a clock cannot leave a straight line by more than the tube around the middle is wide,
 * h/20, the line is the better guess: all of the stretch speaks for it.
 */
static bool is_short(const struct usk_band *b, usk_i128 x0, usk_i128 x1)
{
	enum { SHARE = 20 };
	usk_i128 lo, hi, middle = usk_floor_div(x0 + x1, 2);
	usk_band_lo(b, middle, &lo);
	usk_band_hi(b, middle, &hi);
	/* wander (x1 - x0)/2 against (hi - lo)/2 / 20 */
	return b->wander_e12 * (x1 - x0) * SHARE < (hi - lo) * USK_E12;
}

static enum usk_status draw(const struct usk_fit *fit, const struct usk_band *b, usk_i128 x0,
			    usk_i128 x1, const struct usk_estimator *method, struct usk_knot **line,
			    size_t *n, struct usk_err *err)
{
	if (method->estimate != usk_est_middle) {
		return method->estimate(fit, line, n, err);
	}
	if (fit->lines->quality == USK_BOUNDED && is_short(b, x0, x1)) {
		return usk_middle_line(fit, line, n, err);
	}
	return USK_OK;
}

/* One stretch without jumps; ctx: the wander. */
static enum usk_status fit_stretch(void *ctx, const struct usk_fit *fit,
				   const struct usk_part *part, const struct usk_estimator *method,
				   struct usk_clock *clock, struct usk_err *err)
{
	const struct usk_wander *wander = ctx;
	struct usk_knot *line = NULL;
	size_t n_line = 0;
	bool both = part->n[0] && part->n[1];
	if (!part->n[0] && !part->n[1]) {
		clock->quality = USK_ABSENT;
		return USK_OK;
	}
	struct usk_need need;
	struct usk_band band;
	usk_i128 x0, x1;
	usk_fit_span(fit, &x0, &x1);
	usk_need_of(part, &need);
	usk_band_of(part, &need, wander->used_e12, fit->max_skew_e12, &band);
	enum usk_status status =
		both ? draw(fit, &band, x0, x1, method, &line, &n_line, err) : USK_OK;
	if (status) {
		usk_band_free(&band);
		return status;
	}
	clock->knot = usk_band_knots(&band, x0, x1, line, n_line, &clock->n_knots);
	clock->quality = both ? USK_BOUNDED : USK_ONE_SIDED;
	if (both) {
		const struct usk_knot *a = clock->knot, *z = a + clock->n_knots - 1;
		double rise = (double)((usk_i128)z->offset_ns - a->offset_ns);
		double run = (double)((usk_i128)z->local_ns - a->local_ns);
		clock->drift_ppm = 0 - 1e6 * rise / run;
		clock->drift_min_ppm = 0 - ppm(band.most_e12);
		clock->drift_max_ppm = 0 - ppm(band.least_e12);
	}
	usk_band_free(&band);
	free(line);
	return USK_OK;
}

enum usk_status usk_wander_fit(const struct usk_fit *fit, const struct usk_verdict *v,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err)
{
	clock->quality = v->quality;
	clock->resolution_ns = fit->lines->q_ns[USK_FLOOR];
	clock->drift_ppm = clock->drift_min_ppm = clock->drift_max_ppm = NAN;
	clock->before = clock->after = usk_skew_slopes(fit->max_skew_e12);
	clock->knot = NULL;
	clock->n_knots = 0;
	if (v->quality != USK_BOUNDED && v->quality != USK_ONE_SIDED) {
		return USK_OK;
	}
	if (fit->first_local_ns < -USK_TIME_MAX || fit->last_local_ns > USK_TIME_MAX) {
		return usk_fail(err, USK_ERANGE, 0, "an event is over 2^62 ns (146 years) from 0");
	}
	struct usk_part part;
	struct usk_pieces s;
	struct usk_wander wander;
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	cut(fit, &part, v->too_many, &wander, &s);
	const struct usk_piece_fit one = { &wander, fit_stretch };
	enum usk_status status = s.n ? usk_pieces_fit(fit, &part, &s, &one, method, clock, err)
				     : fit_stretch(&wander, fit, &part, method, clock, err);
	usk_pieces_free(&s);
	usk_part_free(&part);
	return status;
}

enum usk_status usk_wander_middle(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				  struct usk_err *err)
{
	struct usk_verdict v = { .quality = USK_ABSENT };
	struct usk_clock clock = { .quality = USK_ABSENT };
	usk_wander_ask(fit, 0, &v);
	enum usk_status status =
		v.quality != USK_BOUNDED
			? usk_fail(err, USK_EINPUT, 0,
				   "middle needs messages in both directions that some clock fits")
			: usk_wander_fit(fit, &v, usk_estimator_find("middle"), &clock, err);
	if (!status && clock.knot[clock.n_knots - 1].epoch) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "its clock was put back: no single line corrects that");
	}
	if (status) {
		free(clock.knot);
	} else {
		*out = clock.knot;
		*n = clock.n_knots;
	}
	usk_verdict_free(&v);
	free(clock.jump);
	return status;
}
