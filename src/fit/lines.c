/* SPDX-License-Identifier: MIT */
/*
 * lines.c - all lines of constant rate that fit a corridor, and the band they fill
 *
 * In    the two hulls of a corridor, stamp resolutions, the skew limit
 * Out   the feasible rates, the band at any time, or the points that contradict each other
 * Why   Poirier's report of the best and worst case without a linear program per point
 * Not   a line out of them (est_*.c), a correction in integers (linear.c)
 *
 * A line of slope s fits if l_f - s t_f <= u_c - s t_c for every floor f and ceiling c, so for
 * t_c < t_f s is at least, for t_f < t_c at most, the slope from one to the other, and l <= u where
 * the times are equal. Only hull vertices matter. With the skew limit the feasible slopes are
 * [min, max], and for each the intercepts are an interval.
 *
 * The upper bound at x is the largest, over those slopes, of the smallest u_c + s (x - t_c).
 * Without limits on s it would be the ceilings' hull; with them it is the hull between the points
 * where lines of slope min and max touch it, and these lines beyond. The lower bound is its mirror
 * image. So two hulls and two rational slopes hold everything, exactly.
 */
#include "fit/fit.h"

#include <stdlib.h>

/* The pair p of P, q of Q, q left of p, with the largest (y_p + y_q)/(x_p - x_q). */
struct pair {
	bool any;
	struct usk_slope slope;
	struct usk_xy p, q;
};

static struct pair steepest(const struct usk_half *hp, const struct usk_half *hq)
{
	struct pair best = { .any = false };
	size_t near = 0;
	for (size_t i = 0; i < hp->n; i++) {
		struct usk_xy p = hp->hull[i];
		size_t left = usk_xy_find(hq->hull, hq->n, p.x);
		if (!left) {
			continue;
		}
		struct usk_xy q = usk_hull_steepest(hq->hull, left, p, &near);
		struct usk_slope s = usk_rise(p, q);
		if (!best.any || usk_slope_cmp(s, best.slope) > 0) {
			best = (struct pair){ true, s, p, q };
		}
	}
	return best;
}

static void accuse(struct usk_lines *l, struct usk_xy p, bool side)
{
	l->point[l->n_points] = p;
	l->side[l->n_points++] = side;
}

/*
 * Does a hull rise over the other? Their difference is concave, so it is largest at a vertex of
 * either: that vertex and the edge (or vertex) of the other hull there contradict each other.
 * Helly: half-planes of (intercept, slope) that have nothing in common contain three that have not.
 */
static void accuse_crossing(struct usk_lines *l)
{
	usk_i128 worst = 0;
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side], *o = &l->half[!side];
		for (size_t i = 0; i < h->n; i++) {
			struct usk_xy p = h->hull[i];
			if (!usk_hull_spans(o->hull, o->n, p.x)) {
				continue;
			}
			/* ceil(y + Y) > 0 if and only if y + Y > 0, y being an integer */
			usk_i128 over = (usk_i128)p.y + usk_hull_ceil(o->hull, o->n, p.x);
			if (over > worst) {
				worst = over;
				size_t j = usk_xy_find(o->hull, o->n, p.x);
				l->n_points = 0;
				accuse(l, p, side);
				accuse(l, o->hull[j], !side);
				if (o->hull[j].x != p.x) {
					accuse(l, o->hull[j - 1], !side);
				}
			}
		}
	}
}

/* The pair at one instant that overlaps most. */
static bool accuse_instant(struct usk_lines *l)
{
	const struct usk_half *f = &l->half[USK_FLOOR], *c = &l->half[USK_CEILING];
	usk_i128 worst = 0;
	for (size_t i = 0, j = 0; i < f->n && j < c->n;) {
		int64_t x = f->hull[i].x, y = c->hull[j].x;
		if (x == y && (usk_i128)f->hull[i].y + c->hull[j].y > worst) {
			worst = (usk_i128)f->hull[i].y + c->hull[j].y;
			l->n_points = 0;
			accuse(l, f->hull[i], USK_FLOOR);
			accuse(l, c->hull[j], USK_CEILING);
		}
		i += x <= y;
		j += y <= x;
	}
	return worst > 0;
}

static void find_slopes(struct usk_lines *l)
{
	struct usk_half *f = &l->half[USK_FLOOR], *c = &l->half[USK_CEILING];
	struct pair low = steepest(f, c), high = steepest(c, f);

	l->min = usk_slope_neg(l->limit);
	l->max = l->limit;
	if (low.any) {
		l->has_free_min = true;
		l->free_min = low.slope;
		l->min_floor = low.p;
		l->min_ceiling = low.q;
		l->min = usk_slope_cmp(low.slope, l->min) > 0 ? low.slope : l->min;
	}
	if (high.any) {
		l->has_free_max = true;
		l->free_max = usk_slope_neg(high.slope);
		l->max_ceiling = high.p;
		l->max_floor = high.q;
		l->max = usk_slope_cmp(l->free_max, l->max) < 0 ? l->free_max : l->max;
	}
	l->quality = f->n && c->n ? USK_BOUNDED : f->n || c->n ? USK_ONE_SIDED : USK_ABSENT;
	bool instant = accuse_instant(l);
	if (!instant && usk_slope_cmp(l->min, l->max) <= 0) {
		return;
	}
	l->quality = USK_CONTRADICTED;
	if (instant) {
		return;
	}
	if (low.any && usk_slope_cmp(low.slope, l->limit) > 0) {
		accuse(l, low.p, USK_FLOOR);
		accuse(l, low.q, USK_CEILING);
	} else if (high.any && usk_slope_cmp(high.slope, l->limit) > 0) {
		accuse(l, high.p, USK_CEILING);
		accuse(l, high.q, USK_FLOOR);
	} else {
		accuse_crossing(l);
	}
}

struct usk_lines *usk_lines_of(const struct usk_frame *frame, struct usk_xy *const point[2],
			       const size_t n[2], const int64_t q[2], int64_t max_skew_e12)
{
	struct usk_lines *l = usk_alloc(1, sizeof *l);
	l->frame = *frame;
	l->limit = (struct usk_slope){ usk_clamp(max_skew_e12, 0, USK_MAX_SKEW_E12), USK_E12 };
	for (int side = 0; side < 2; side++) {
		struct usk_half *h = &l->half[side];
		l->q_ns[side] = q[side];
		h->hull = usk_grow(NULL, n[side] + 1, sizeof *h->hull);
		h->n = usk_hull_of_sorted(point[side], n[side], h->hull);
		h->hull = usk_grow(h->hull, h->n + 1, sizeof *h->hull);
	}
	find_slopes(l);
	if (l->quality != USK_BOUNDED && l->quality != USK_ONE_SIDED) {
		return l;
	}
	for (int side = 0; side < 2; side++) {
		struct usk_half *h = &l->half[side];
		bool up = side == USK_FLOOR;
		if (h->n) {
			h->touch_steep =
				usk_hull_touch(h->hull, h->n, up ? l->max : usk_slope_neg(l->min));
			h->touch_flat =
				usk_hull_touch(h->hull, h->n, up ? l->min : usk_slope_neg(l->max));
		}
	}
	return l;
}

struct usk_lines *usk_lines_new(struct usk_corridor *c, int64_t q_a_ns, int64_t q_b_ns,
				int64_t max_skew_e12)
{
	const int64_t q[2] = { (int64_t)usk_clamp(q_b_ns, 0, USK_TIME_MAX / 4),
			       (int64_t)usk_clamp(q_a_ns, 0, USK_TIME_MAX / 4) };
	struct usk_xy *weak[2];
	size_t n[2];
	for (int side = 0; side < 2; side++) {
		const struct usk_xy *p = usk_corridor_half(c, side, &n[side]);
		weak[side] = usk_alloc(n[side] ? n[side] : 1, sizeof *weak[side]);
		for (size_t i = 0; i < n[side]; i++) {
			weak[side][i] = (struct usk_xy){ p[i].x, p[i].y - q[side] };
		}
	}
	struct usk_lines *l = usk_lines_of(usk_corridor_frame(c), weak, n, q, max_skew_e12);
	free(weak[0]);
	free(weak[1]);
	return l;
}

void usk_lines_free(struct usk_lines *l)
{
	if (l) {
		USK_FREE(l->half[0].hull, l->half[1].hull, l);
	}
}

enum usk_quality usk_lines_quality(const struct usk_lines *l)
{
	return l->quality;
}

/* Under the skew limit num fits as den does; where the data contradict it, num may be cut. */
static struct usk_rate rate_of(struct usk_slope s)
{
	return (struct usk_rate){ (int64_t)usk_clamp(s.num, -INT64_MAX, INT64_MAX),
				  (int64_t)s.den };
}

void usk_lines_rates(const struct usk_lines *l, struct usk_rate *min, struct usk_rate *max)
{
	*min = rate_of(l->min);
	*max = rate_of(l->max);
}

usk_i128 usk_lines_half_floor(const struct usk_lines *l, bool ceiling, usk_i128 x)
{
	const struct usk_half *h = &l->half[ceiling];
	if (x <= h->hull[h->touch_steep].x) {
		return usk_line_floor(h->hull[h->touch_steep],
				      ceiling ? usk_slope_neg(l->min) : l->max, x);
	}
	if (x >= h->hull[h->touch_flat].x) {
		return usk_line_floor(h->hull[h->touch_flat],
				      ceiling ? usk_slope_neg(l->max) : l->min, x);
	}
	return usk_hull_floor(h->hull, h->n, (int64_t)x);
}

void usk_lines_at(const struct usk_lines *l, int64_t local_ns, int64_t *lo_ns, int64_t *hi_ns)
{
	bool known = l->quality == USK_BOUNDED || l->quality == USK_ONE_SIDED;
	usk_i128 x = (usk_i128)local_ns - l->frame.local_ns;
	*lo_ns = *hi_ns = USK_NONE;
	if (known && l->half[USK_FLOOR].n) {
		usk_i128 lo = l->frame.offset_ns + usk_lines_half_floor(l, USK_FLOOR, x);
		*lo_ns = lo < -USK_TIME_MAX ? USK_NONE : usk_cut(lo);
	}
	if (known && l->half[USK_CEILING].n) {
		usk_i128 hi = l->frame.offset_ns - usk_lines_half_floor(l, USK_CEILING, x);
		*hi_ns = hi > USK_TIME_MAX ? USK_NONE : usk_cut(hi);
	}
}

size_t usk_lines_contradiction(const struct usk_lines *l, struct usk_point point[3], bool side[3])
{
	for (size_t i = 0; i < l->n_points; i++) {
		int64_t y = l->point[i].y + l->q_ns[l->side[i]];
		point[i] = (struct usk_point){ l->frame.local_ns + l->point[i].x,
					       l->frame.offset_ns + (l->side[i] ? -y : y) };
		side[i] = l->side[i];
	}
	return l->n_points;
}
