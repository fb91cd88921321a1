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
#include "fit/wander.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>

static void part_of_fit(const struct usk_fit *fit, struct usk_part *part)
{
	usk_part_of(fit->corridor, fit->lines->q_ns, part);
}

static void name_point(const struct usk_part *p, struct usk_xy at, bool ceiling,
		       struct usk_verdict *v)
{
	v->ceiling[v->n_points] = ceiling;
	v->point[v->n_points++] = usk_part_recorded(p, at, ceiling);
}

/* No wander within the skew limit: two messages say so. */
static void contradict(const struct usk_part *p, const struct usk_need *n, int64_t max_skew_e12,
		       struct usk_verdict *v)
{
	struct usk_slope limit = { max_skew_e12, USK_E12 };
	struct usk_xy floor = n->hi_floor, ceiling = n->hi_ceiling;
	if (n->crossed) {
		floor = n->cross_floor;
		ceiling = n->cross_ceiling;
	} else if (n->has_lo && usk_slope_cmp(n->s_lo, limit) > 0) {
		floor = n->lo_floor;
		ceiling = n->lo_ceiling;
	}
	v->quality = USK_CONTRADICTED;
	name_point(p, floor, false, v);
	name_point(p, ceiling, true, v);
}

/* How far the band's slopes lie from the frame's rate: the corridor's cone has to hold them. */
static int64_t reach(const struct usk_band *b)
{
	usk_i128 up = (usk_i128)b->fast_e12 - b->frame.rate_e12;
	usk_i128 down = (usk_i128)b->frame.rate_e12 - b->slow_e12;
	return (int64_t)(up > down ? up : down);
}

void usk_wander_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *v)
{
	struct usk_part part;
	struct usk_need need;
	part_of_fit(fit, &part);
	usk_need_of(&part, &need);
	int64_t assumed = fit->model.wander_e12, limit = (int64_t)fit->lines->limit.num;
	int64_t needed = usk_need_within(&need, limit);
	v->quality = part.n[0] && part.n[1]   ? USK_BOUNDED
		     : part.n[0] || part.n[1] ? USK_ONE_SIDED
					      : USK_ABSENT;
	v->wander.assumed_e12 = assumed;
	if (needed > assumed) {
		v->n_suspects = usk_wander_suspects(fit, &part, max_outliers, &v->suspect);
	}
	if (needed == USK_NO_WANDER) {
		contradict(&part, &need, limit, v);
	} else {
		v->wander.needed_e12 = needed;
		v->wander.used_e12 = needed > assumed ? 2 * needed : assumed;
		struct usk_band band;
		usk_band_of(&part, &need, v->wander.used_e12, limit, &band);
		bool settled = v->quality != USK_ABSENT && !v->n_suspects;
		if (settled && reach(&band) > part.frame.kappa_e12) {
			/* and a little more: what is found then may ask for more in turn */
			v->kappa_e12 = reach(&band) + reach(&band) / 4;
		}
		usk_band_free(&band);
	}
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
	usk_band_of(part, &need, wander->used_e12, (int64_t)fit->lines->limit.num, &band);
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
	struct usk_wander wander = v->wander;
	part_of_fit(fit, &part);
	enum usk_status status = fit_stretch(&wander, fit, &part, method, clock, err);
	usk_part_free(&part);
	return status;
}
