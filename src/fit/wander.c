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

/* Stretches between jumps, and the wander that they need. Without a jump there is one. */
static void cut(const struct usk_fit *fit, const struct usk_part *p, struct usk_wander *w,
		struct usk_pieces *s)
{
	struct usk_need need;
	*s = (struct usk_pieces){ .n = 0 };
	usk_need_of(p, &need);
	w->assumed_e12 = w->used_e12 = fit->model.wander_e12;
	w->needed_e12 = usk_need_within(&need, fit->max_skew_e12);
	if (w->needed_e12 > w->assumed_e12 || fit->n_back) {
		usk_pieces_jumps(fit, p, w, s);
	}
}

void usk_wander_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *v)
{
	struct usk_part part;
	struct usk_pieces s;
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	cut(fit, &part, &v->wander, &s);
	bool more = s.n || v->wander.needed_e12 > v->wander.assumed_e12;
	if (s.never) {
		contradict(&part, s.floor, s.ceiling, v);
	} else {
		ask_stretches(&part, &s, fit->max_skew_e12, v);
	}
	if (more) {
		v->n_suspects = usk_wander_suspects(fit, &part, max_outliers, &v->suspect);
	}
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
	if (both && method->estimate != usk_est_middle) {
		enum usk_status status = method->estimate(fit, &line, &n_line, err);
		if (status) {
			return status;
		}
	}
	struct usk_need need;
	struct usk_band band;
	usk_i128 x0, x1;
	usk_fit_span(fit, &x0, &x1);
	usk_need_of(part, &need);
	usk_band_of(part, &need, wander->used_e12, fit->max_skew_e12, &band);
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
	cut(fit, &part, &wander, &s);
	const struct usk_piece_fit one = { &wander, fit_stretch };
	enum usk_status status = s.n ? usk_pieces_fit(fit, &part, &s, &one, method, clock, err)
				     : fit_stretch(&wander, fit, &part, method, clock, err);
	usk_pieces_free(&s);
	usk_part_free(&part);
	return status;
}
