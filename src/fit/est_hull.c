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
 *
 * Where no line fits, the one of least violation is the answer (Ashton 1995, 4.2.2), and that is
 * told.
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

/* Does the map through these two keep every message in order? */
static bool in_order(const struct usk_lines *l, const usk_i128 x[2], const usk_i128 y[2])
{
	usk_i128 run = x[1] - x[0], rise = y[1] - y[0], far = (usk_i128)1 << 62;
	bool good = true;
	if (run <= 0 || rise > far || rise < -far) {
		return true;
	}
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		for (size_t i = 0; i < h->n && good; i++) {
			usk_i128 at = y[0] + usk_floor_div(rise * (h->hull[i].x - x[0]), run);
			good = side == USK_FLOOR ? at >= h->hull[i].y
						 : at <= -(usk_i128)h->hull[i].y;
		}
	}
	return good;
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->plain ? fit->plain : fit->lines;
	if (l->quality == USK_CONTRADICTED) {
		struct usk_fit plain = *fit;
		plain.lines = l;
		usk_fit_drawn_by(fit, "least-violation");
		return usk_est_least_violation.estimate(&plain, out, n, err);
	}
	if (l->quality != USK_BOUNDED) {
		return usk_fail(err, USK_EINPUT, 0, "hull needs messages in both directions");
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
	/* Where the extreme lines cross at a message, the answer touches it and rounding decides.
	 */
	for (int i = 0; i < 2 && !in_order(l, x, y); i++) {
		const usk_i128 moved[] = { y[0] + 1 - 2 * i, y[1] + 1 - 2 * i };
		if (in_order(l, x, moved)) {
			y[0] = moved[0];
			y[1] = moved[1];
		}
	}
	return usk_fit_straight(fit, y[0], y[1], out, n);
}

USK_ESTIMATOR(hull, "hull", "Duda et al., ICDCS 1987; Haddad 1988; Ashton 1995, section 3",
	      "bisects the angle of the two extreme lines that messages allow; least-violation "
	      "where no line fits",
	      false, .estimate = estimate, .violates = true);
