/* SPDX-License-Identifier: MIT */
/*
 * est_lp_rate.c - the middle rate of the feasible lines through the best equivalence
 *
 * Source  Sirdey, Maurice: A linear programming approach to highly precise clock synchronization
 *         over a packet network (4OR 6(4), 2008), as Poirier 2010, section 2.3, tells it
 *
 * Each message is a constraint; the offset at one instant is known from elsewhere, and the lines
 * nearest to it there are those that count. The instant is the middle of the best equivalence: the
 * exchange of the smallest round trip (Ashton 1995, 4.1.2).
 *
 * No linear program is solved. If the value at that instant is inside the band, the lines through
 * it are a range of slopes that each hull vertex narrows. If it is outside, the nearest value is
 * the band's wall, and the lines that touch the wall there are known: on an edge of the hull that
 * edge, at a vertex all between its two edges, beyond the hull's last touching vertex the extreme
 * slope.
 *
 * Everything is doubled, as an exchange's middle may lie between two ns.
 */
#include "fit/fit.h"

/* An exchange that takes longer is an equivalence only where there is none that is quicker. */
#define QUICK_NS INT64_C(50000000)

/* What touches a half's wall at an instant: lines through p, slopes from low to high; mirrored. */
struct touch {
	struct usk_xy p;
	struct usk_slope low, high;
};

static struct touch touch_at(const struct usk_lines *l, bool side, usk_i128 x2)
{
	const struct usk_half *h = &l->half[side];
	size_t from = h->touch_steep, to = h->touch_flat;
	struct usk_slope steep = side ? usk_slope_neg(l->min) : l->max;
	struct usk_slope flat = side ? usk_slope_neg(l->max) : l->min;
	if (x2 < 2 * (usk_i128)h->hull[from].x) {
		return (struct touch){ h->hull[from], steep, steep };
	}
	if (x2 > 2 * (usk_i128)h->hull[to].x) {
		return (struct touch){ h->hull[to], flat, flat };
	}
	size_t i = usk_xy_find(h->hull, h->n, (int64_t)usk_ceil_div(x2, 2));
	struct usk_slope left = steep, right = flat;
	if (i > from) {
		left = (struct usk_slope){ h->hull[i].y - h->hull[i - 1].y,
					   h->hull[i].x - h->hull[i - 1].x };
	}
	if (x2 != 2 * (usk_i128)h->hull[i].x) {
		return (struct touch){ h->hull[i], left, left };
	}
	if (i < to) {
		right = (struct usk_slope){ h->hull[i + 1].y - h->hull[i].y,
					    h->hull[i + 1].x - h->hull[i].x };
	}
	return (struct touch){ h->hull[i], right, left };
}

/* Is (x2, y2), mirrored as the half is, under the wall? Slopes are at most 1/2 in size. */
static bool under(const struct touch *t, usk_i128 x2, usk_i128 y2)
{
	usk_i128 dx = x2 - 2 * (usk_i128)t->p.x, dy = y2 - 2 * (usk_i128)t->p.y;
	if ((dy < 0 ? -dy : dy) > (dx < 0 ? -dx : dx)) {
		return dy < 0; /* and the products below are under 2^127 */
	}
	return t->low.den * dy < t->low.num * dx;
}

static long double value(struct usk_slope s)
{
	return usk_real(s.num) / usk_real(s.den);
}

/* The middle slope of all feasible lines through a point inside the band. */
static long double middle_slope(const struct usk_lines *l, usk_i128 x2, usk_i128 y2)
{
	long double high = value(l->limit), low = -high;
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		for (size_t i = 0; i < h->n; i++) {
			usk_i128 dx = 2 * (usk_i128)h->hull[i].x - x2;
			usk_i128 dy = 2 * (usk_i128)h->hull[i].y;
			dy = (side == USK_FLOOR ? dy : -dy) - y2;
			if (!dx) {
				continue;
			}
			long double s = usk_real(dy) / usk_real(dx);
			if ((dx > 0) == (side == USK_FLOOR)) {
				low = s > low ? s : low;
			} else {
				high = s < high ? s : high;
			}
		}
	}
	return (low + high) / 2;
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	struct usk_couple best;
	if (l->quality != USK_BOUNDED) {
		return usk_fail(err, USK_EINPUT, 0,
				"lp-rate needs messages in both directions that some line fits");
	}
	if (!usk_couple_best(fit, QUICK_NS, &best)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "lp-rate");
	}
	usk_i128 x2 = best.local2 - 2 * (usk_i128)l->frame.local_ns;
	usk_i128 y2 = best.offset2 - 2 * (usk_i128)l->frame.offset_ns;
	for (int side = 0; side < 2; side++) {
		struct touch t = touch_at(l, side, x2);
		if (under(&t, x2, side == USK_FLOOR ? y2 : -y2)) {
			long double slope = (value(t.low) + value(t.high)) / 2;
			int64_t y = side == USK_FLOOR ? t.p.y : -t.p.y;
			struct usk_point p = { l->frame.local_ns + t.p.x, l->frame.offset_ns + y };
			return usk_fit_through(fit, p, 0, 0, side == USK_FLOOR ? slope : -slope,
					       out, n);
		}
	}
	return usk_fit_from_couple(fit, &best, middle_slope(l, x2, y2), out, n);
}

USK_ESTIMATOR(lp_rate, "lp-rate", "Sirdey, Maurice, 4OR 6(4), 2008; Poirier 2010, section 2.3",
	      "the middle rate of the feasible lines nearest to the best exchange", true,
	      .estimate = estimate);
