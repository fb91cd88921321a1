/* SPDX-License-Identifier: MIT */
/*
 * hull.h - upper convex hulls of integer points, exactly
 *
 * A hull is an array of vertices sorted by strictly rising x, with strictly falling slopes: no
 * vertex lies on the line of its neighbours, so a set of points has one hull and no other. Lower
 * hulls are upper hulls of mirrored points (y negated).
 *
 * Coordinates are under 2^62 in size, so that a difference fits int64_t, a product of two
 * differences is under 2^126, and comparing two products is exact.
 */
#ifndef USK_NUM_HULL_H
#define USK_NUM_HULL_H

#include "base/base.h"

struct usk_xy {
	int64_t x, y;
};

/* A slope; den > 0, num under 2^63.5 and den under 2^63, so that cross products fit. */
struct usk_slope {
	usk_i128 num, den;
};

/* Is b (a.x < b.x < c.x) on or under the line from a to c? */
static inline bool usk_xy_under(struct usk_xy a, struct usk_xy b, struct usk_xy c)
{
	return (usk_i128)(b.y - a.y) * (c.x - a.x) <= (usk_i128)(c.y - a.y) * (b.x - a.x);
}

/* <0, 0, >0 as a is smaller than, equal to, greater than b. */
static inline int usk_slope_cmp(struct usk_slope a, struct usk_slope b)
{
	usk_i128 l = a.num * b.den, r = b.num * a.den;
	return (l > r) - (l < r);
}

static inline struct usk_slope usk_slope_neg(struct usk_slope s)
{
	return (struct usk_slope){ -s.num, s.den };
}

/** Sort by x, then falling y. Cheap where the points are nearly in order. */
void usk_xy_sort(struct usk_xy *p, size_t n);

/** Push p, whose x is not under that of the last vertex, on a hull of n; h has room for n + 1. */
static inline size_t usk_hull_push(struct usk_xy *h, size_t n, struct usk_xy p)
{
	if (n && h[n - 1].x == p.x) {
		if (p.y <= h[n - 1].y) {
			return n;
		}
		n--;
	}
	while (n >= 2 && usk_xy_under(h[n - 2], h[n - 1], p)) {
		n--;
	}
	h[n] = p;
	return n + 1;
}

/** The hull of p[n], sorted by x, into h (room for n, apart from p). O(n). */
size_t usk_hull_of_sorted(const struct usk_xy *p, size_t n, struct usk_xy *h);

/** First index with p[i].x >= x in p[n] sorted by x; n if none. */
size_t usk_xy_find(const struct usk_xy *p, size_t n, int64_t x);

/** Does x lie between the first and the last vertex? */
static inline bool usk_hull_spans(const struct usk_xy *h, size_t n, int64_t x)
{
	return n && h[0].x <= x && x <= h[n - 1].x;
}

/** The hull at x, which it spans, rounded down or up. O(log n). */
int64_t usk_hull_floor(const struct usk_xy *h, size_t n, int64_t x);
int64_t usk_hull_ceil(const struct usk_xy *h, size_t n, int64_t x);

/** The first vertex where y - s x is largest: where a line of slope s touches. O(log n), n > 0. */
size_t usk_hull_touch(const struct usk_xy *h, size_t n, struct usk_slope s);

/**
 * The vertex q with the largest (p.y + q.y)/(p.x - q.x), all being left of p: how much is left to
 * rise from q to p if one of them is mirrored. near  in: a guess at its index, any number; out: it.
 * O(1) if the guess is right, as it mostly is for one p after the other, else O(log n); n > 0.
 *
 * Along the hull it rises and then falls: those with at least s are the q with q.y + s q.x >= s p.x
 * - p.y, a run of a concave chain's vertices. Two neighbours are equal only at the top.
 */
struct usk_xy usk_hull_steepest(const struct usk_xy *h, size_t n, struct usk_xy p, size_t *near);

static inline struct usk_slope usk_rise(struct usk_xy p, struct usk_xy q)
{
	return (struct usk_slope){ (usk_i128)p.y + q.y, (usk_i128)p.x - q.x };
}

/** The line of slope s through p at x, rounded down. |x| <= 2^63. */
usk_i128 usk_line_floor(struct usk_xy p, struct usk_slope s, usk_i128 x);

#endif
