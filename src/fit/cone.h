/* SPDX-License-Identifier: MIT */
/*
 * cone.h - points that no other point of their second can stand in for
 *
 * A point p dominates q if q lies in the cone that spreads down from p: around a line of slope r,
 * by k for every unit to either side,
 *
 *     y_q <= y_p + r (x_q - x_p) - k |x_q - x_p|.
 *
 * With A = y - (r - k) x and B = y - (r + k) x that is A_q <= A_p and B_q <= B_p: for x_q >= x_p
 * the first says it and, as k >= 0, implies the second; for x_q <= x_p the other way round. So it
 * is a partial order, and what is undominated in a set does not depend on how the set was put
 * together. Sorted by x the undominated have rising A and falling B: a stack.
 */
#ifndef USK_FIT_CONE_H
#define USK_FIT_CONE_H

#include "base/base.h"
#include "num/hull.h"
#include "fit/corridor.h"

#include <stdlib.h>

#define USK_SECOND INT64_C(1000000000)
#define USK_E12	   INT64_C(1000000000000)

struct usk_cone {
	int64_t rate_e12, kappa_e12; /* kappa > 0 */
	int64_t phase;		     /* (x + phase) / window_ns rounded down is a point's second */
	int64_t window_ns;	     /* a second, or more of them */
};

/** Of a corridor's floors. */
static inline struct usk_cone usk_cone_of(const struct usk_frame *f)
{
	int64_t rate = f->rate_e12, kappa = f->kappa_e12;
	rate = rate > USK_E12 ? USK_E12 : rate < -USK_E12 ? -USK_E12 : rate;
	kappa = kappa > USK_E12 ? USK_E12 : kappa < 400000 ? 400000 : kappa;
	int64_t window = f->window_ns > USK_SECOND ? f->window_ns : USK_SECOND;
	int64_t phase = f->local_ns % window;
	return (struct usk_cone){ rate, kappa, phase < 0 ? phase + window : phase, window };
}

/* The first x of the second that x lies in. */
static inline int64_t usk_cone_second(const struct usk_cone *c, int64_t x)
{
	int64_t from_start = (x + c->phase) % c->window_ns;
	return x - (from_start < 0 ? from_start + c->window_ns : from_start);
}

/* Does p, whose second q is in and which is not right of q, dominate q? */
static inline bool usk_cone_hides_right(const struct usk_cone *c, struct usk_xy p, struct usk_xy q)
{
	return (usk_i128)(q.y - p.y) * USK_E12 <=
	       (usk_i128)(c->rate_e12 - c->kappa_e12) * (q.x - p.x);
}

/* Does p, which is not left of q, dominate q? */
static inline bool usk_cone_hides_left(const struct usk_cone *c, struct usk_xy p, struct usk_xy q)
{
	return (usk_i128)(q.y - p.y) * USK_E12 <=
	       (usk_i128)(c->rate_e12 + c->kappa_e12) * (q.x - p.x);
}

/**
 * Of p[n], sorted by x and of one second, in place those that no other dominates from the left, or
 * none from the right: a clock that was set once in that second was so on one side of each point.
 */
static inline size_t usk_cone_either_side(const struct usk_cone *c, struct usk_xy *p, size_t n)
{
	size_t m = 0, best = 0;
	for (size_t i = 0; i < n; i++) { /* of one moment the highest */
		if (m && p[m - 1].x == p[i].x) {
			p[m - 1].y = p[i].y > p[m - 1].y ? p[i].y : p[m - 1].y;
		} else {
			p[m++] = p[i];
		}
	}
	bool *keep = usk_alloc(m + 1, sizeof *keep);
	for (size_t i = 0; i < m; i++) {
		if (!i || !usk_cone_hides_right(c, p[best], p[i])) {
			keep[i] = true;
			best = i;
		}
	}
	for (size_t i = m; i-- > 0;) {
		if (i + 1 == m || !usk_cone_hides_left(c, p[best], p[i])) {
			keep[i] = true;
			best = i;
		}
	}
	n = 0;
	for (size_t i = 0; i < m; i++) {
		if (keep[i]) {
			p[n++] = p[i];
		}
	}
	free(keep);
	return n;
}

/** Push p, not left of the last of k[n], which has room for n + 1; start = second of p. */
static inline size_t usk_cone_push(const struct usk_cone *c, struct usk_xy *k, size_t n,
				   struct usk_xy p, int64_t start)
{
	if (n && k[n - 1].x >= start && usk_cone_hides_right(c, k[n - 1], p)) {
		return n;
	}
	while (n && k[n - 1].x >= start && usk_cone_hides_left(c, p, k[n - 1])) {
		n--;
	}
	k[n] = p;
	return n + 1;
}

#endif
