/* SPDX-License-Identifier: MIT */
/*
 * est_support.c - the mean of the lines that lean on each direction's fastest messages
 *
 * Source  Moon, Skelly, Towsley: Estimation and removal of clock skew from network delay
 *         measurements (INFOCOM 1999); Zhang, Liu, Xia: Clock synchronization algorithms for
 *         network measurements (INFOCOM 2002). Both look at one direction; the mean is ours.
 *
 * Of all lines on or over a set of points, the one with the smallest summed distance runs along the
 * hull's edge that faces the mean abscissa: its height there is what the sum is a multiple of. The
 * floor's line is too low by the smallest delay, the ceiling's too high: the mean is right where
 * both directions are equally fast at their best.
 */
#include "fit/fit.h"

/* The slope of the edge of h that faces sum / n. */
static struct usk_slope facing(const struct usk_half *h, usk_i128 sum, uint64_t n, size_t *from)
{
	size_t i = 0;
	while (i + 2 < h->n && (usk_i128)h->hull[i + 1].x * (usk_i128)n <= sum) {
		i++;
	}
	*from = i;
	return (struct usk_slope){ h->hull[i + 1].y - h->hull[i].y,
				   h->hull[i + 1].x - h->hull[i].x };
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	const struct usk_half *f = &l->half[USK_FLOOR], *c = &l->half[USK_CEILING];
	struct usk_slope slope[2];
	size_t from[2] = { 0, 0 };

	if (!f->n || !c->n || (f->n < 2 && c->n < 2)) {
		return usk_fail(
			err, USK_EINPUT, 0,
			"the support lines need messages in both directions and at two times");
	}
	for (int side = 0; side < 2; side++) {
		uint64_t count;
		usk_i128 sum = usk_corridor_sum(fit->corridor, side, &count);
		if (l->half[side].n >= 2) {
			slope[side] = facing(&l->half[side], sum, count, &from[side]);
		}
	}
	for (int side = 0; side < 2; side++) {
		if (l->half[side].n < 2) { /* a point has no slope: it takes the other side's */
			slope[side] = usk_slope_neg(slope[!side]);
		}
	}
	usk_i128 x[2], y[2];
	usk_fit_span(fit, &x[0], &x[1]);
	for (int i = 0; i < 2; i++) {
		usk_i128 low = usk_line_floor(f->hull[from[0]], slope[0], x[i]);
		usk_i128 high = -usk_line_floor(c->hull[from[1]], slope[1], x[i]);
		y[i] = usk_floor_div(low + high, 2);
	}
	return usk_fit_straight(fit, y[0], y[1], out, n);
}

USK_ESTIMATOR(support, "support",
	      "Moon, Skelly, Towsley, INFOCOM 1999; Zhang, Liu, Xia, INFOCOM 2002",
	      "the mean of the two support lines, each along one direction's fastest messages",
	      false, .estimate = estimate);
