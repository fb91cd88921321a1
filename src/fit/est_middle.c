/* SPDX-License-Identifier: MIT */
/*
 * est_middle.c - the default
 *
 * Source  ours: the support lines where they fit all messages, else the mean of the extreme lines
 *
 * Support is the most accurate of the estimators of a straight line (17 to 160 times the bisector
 * in our trials), but nothing keeps it inside the band: its two lines come from different messages.
 * The vertices of the feasible polygon are lines that fit, so their mean does, whatever the data.
 *
 * Under `wander` it is a polyline around the middle of the band (wander_knots.c), and this line
 * only where the clock cannot have left it by much.
 */
#include "fit/fit.h"

#include <stdlib.h>

/* The slope of the two knots is within the limit, they are in the band, and no vertex is on the
 * wrong side of the line: by no more than 1 ns, which is what rounding the two may have cost. */
static bool fits(const struct usk_lines *l, const struct usk_knot k[2])
{
	usk_i128 x0 = (usk_i128)k[0].local_ns - l->frame.local_ns;
	struct usk_slope s = { (usk_i128)k[1].offset_ns - k[0].offset_ns,
			       (usk_i128)k[1].local_ns - k[0].local_ns };
	usk_i128 size = s.num < 0 ? -s.num : s.num;
	if (size > 1 && (size - 1) * l->limit.den > l->limit.num * s.den) {
		return false;
	}
	for (int i = 0; i < 2; i++) {
		int64_t lo, hi;
		usk_lines_at(l, k[i].local_ns, &lo, &hi);
		if ((lo != USK_NONE && k[i].offset_ns < lo - 1) ||
		    (hi != USK_NONE && k[i].offset_ns > hi + 1)) {
			return false;
		}
	}
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		usk_i128 y0 = (usk_i128)k[0].offset_ns - l->frame.offset_ns;
		for (size_t i = 0; i < h->n; i++) {
			usk_i128 rise = s.num * (h->hull[i].x - x0);
			usk_i128 y = side == USK_FLOOR ? y0 + usk_ceil_div(rise, s.den)
						       : -y0 - usk_floor_div(rise, s.den);
			if (y + 1 < h->hull[i].y) {
				return false;
			}
		}
	}
	return true;
}

/* A sum of lines by their values at two points. */
struct mean {
	usk_i128 x[2], sum[2];
	size_t n;
};

static void add(struct mean *m, struct usk_xy p, struct usk_slope s, bool ceiling)
{
	for (int i = 0; i < 2; i++) {
		usk_i128 y = usk_line_floor(p, s, m->x[i]);
		m->sum[i] += ceiling ? -y : y;
	}
	m->n++;
}

static bool set_by_messages(const struct usk_lines *l, bool max)
{
	return max ? l->has_free_max && !usk_slope_cmp(l->max, l->free_max)
		   : l->has_free_min && !usk_slope_cmp(l->min, l->free_min);
}

void usk_lines_mean(const struct usk_lines *l, const usk_i128 x[2], usk_i128 y[2])
{
	struct mean m = { .x = { x[0], x[1] } };
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		struct usk_slope flat = side == USK_FLOOR ? l->min : usk_slope_neg(l->max);
		struct usk_slope steep = side == USK_FLOOR ? l->max : usk_slope_neg(l->min);
		/* Where messages set the extreme slope, floor and ceiling have its line in common.
		 */
		if (side == USK_FLOOR || !set_by_messages(l, false)) {
			add(&m, h->hull[side == USK_FLOOR ? h->touch_flat : h->touch_steep],
			    side == USK_FLOOR ? flat : steep, side);
		}
		if (side == USK_FLOOR || !set_by_messages(l, true)) {
			add(&m, h->hull[side == USK_FLOOR ? h->touch_steep : h->touch_flat],
			    side == USK_FLOOR ? steep : flat, side);
		}
		for (size_t i = h->touch_steep; i < h->touch_flat; i++) {
			struct usk_slope edge = { h->hull[i + 1].y - h->hull[i].y,
						  h->hull[i + 1].x - h->hull[i].x };
			if (usk_slope_cmp(edge, steep)) {
				add(&m, h->hull[i], edge, side);
			}
		}
	}
	for (int i = 0; i < 2; i++) {
		y[i] = usk_floor_div(m.sum[i], (usk_i128)m.n);
	}
}

enum usk_status usk_middle_line(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	usk_i128 x[2], y[2];
	if (l->quality != USK_BOUNDED) {
		return usk_fail(err, USK_EINPUT, 0,
				"middle needs messages in both directions that some line fits");
	}
	if (!usk_est_support.estimate(fit, out, n, NULL)) {
		if (fits(l, *out)) {
			return USK_OK;
		}
		free(*out);
		*out = NULL;
	}
	usk_fit_span(fit, &x[0], &x[1]);
	usk_lines_mean(l, x, y);
	return usk_fit_straight(fit, y[0], y[1], out, n);
}
