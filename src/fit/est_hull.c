/* SPDX-License-Identifier: MIT */
/*
 * est_hull.c - the bisector of the two extreme lines through the corridor
 *
 * Source  Duda, Harrus, Haddad, Bernard: Estimating global time in distributed systems (ICDCS
 *         1987); Haddad; Ashton 1995, section 3: "hull"
 *
 * In the plane of A's and B's stamps the extreme lines B = a + b A have rates b1 and b2, and the
 * answer runs through their crossing with b = tan((atan b1 + atan b2)/2). With g = 1/b = 1 + s, s
 * being the slope of the offset, the same angle is bisected by
 *
 *     g = (g1 w2 + g2 w1)/(w1 + w2),     w = sqrt(1 + g^2),
 *
 * a weighted mean of the two: so the answer is the same weighted mean of the two lines, their
 * crossing need not be found, and no digit of s is lost in 1 + s. The slopes are what messages
 * alone allow; where they set no limit, it is the skew limit with the middle of its intercepts.
 */
#include "fit/fit.h"

#include <math.h>

struct extreme {
	double slope;
	usk_i128 y[2];
};

static struct extreme extreme(const struct usk_lines *l, bool max, const usk_i128 x[2])
{
	const struct usk_half *f = &l->half[USK_FLOOR], *c = &l->half[USK_CEILING];
	struct usk_slope s = max ? l->max : l->min;
	bool free = max ? l->has_free_max : l->has_free_min;
	struct extreme e;
	if (free) {
		s = max ? l->free_max : l->free_min;
	}
	for (int i = 0; i < 2; i++) {
		if (free) {
			/* a steep line may be far away at the ends: what matters is that it is far
			 */
			usk_i128 far = (usk_i128)1 << 80;
			usk_i128 y = usk_line_floor(max ? l->max_floor : l->min_floor, s, x[i]);
			e.y[i] = y > far ? far : y < -far ? -far : y;
			continue;
		}
		size_t low = max ? f->touch_steep : f->touch_flat;
		size_t high = max ? c->touch_flat : c->touch_steep;
		e.y[i] =
			usk_floor_div(usk_line_floor(f->hull[low], s, x[i]) -
					      usk_line_floor(c->hull[high], usk_slope_neg(s), x[i]),
				      2);
	}
	e.slope = (double)s.num / (double)s.den;
	return e;
}

enum usk_status usk_est_hull(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
			     struct usk_err *err)
{
	const struct usk_lines *l = fit->plain ? fit->plain : fit->lines;
	if (l->quality != USK_BOUNDED) {
		return usk_fail(err, USK_EINPUT, 0,
				"hull needs messages in both directions that some line fits");
	}
	usk_i128 x[2], y[2];
	usk_fit_span(fit, &x[0], &x[1]);
	struct extreme a = extreme(l, false, x), b = extreme(l, true, x);
	double wa = sqrt(1 + (1 + a.slope) * (1 + a.slope));
	double wb = sqrt(1 + (1 + b.slope) * (1 + b.slope));
	for (int i = 0; i < 2; i++) {
		usk_i128 gap = b.y[i] - a.y[i];
		gap = (usk_i128)floor((double)gap * (wa / (wa + wb)) + 0.5);
		y[i] = a.y[i] + gap;
	}
	return usk_fit_straight(fit, y[0], y[1], out, n);
}
