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
#ifndef USK_NUM_CONE_H
#define USK_NUM_CONE_H

#include "num/hull.h"

#define USK_SECOND INT64_C(1000000000)
#define USK_E12	   INT64_C(1000000000000)

/* Times in which no point stands in for another, nor for one before or behind them. */
struct usk_apart {
	int64_t from, to; /* both included */
};

struct usk_cone {
	int64_t rate_e12, kappa_e12;   /* kappa > 0 */
	int64_t phase;		       /* (x + phase) / 1e9 rounded down is a point's second */
	const struct usk_apart *apart; /* sorted, each behind the one before */
	size_t n_apart;
};

/* How many of the times apart begin at x or before. */
static inline size_t usk_cone_apart(const struct usk_cone *c, int64_t x)
{
	size_t lo = 0, hi = c->n_apart;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (c->apart[mid].from <= x) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

/* The first x of the second that x lies in, or of what is left of it behind a time apart. */
static inline int64_t usk_cone_second(const struct usk_cone *c, int64_t x)
{
	int64_t from_start = (x + c->phase) % USK_SECOND;
	int64_t start = x - (from_start < 0 ? from_start + USK_SECOND : from_start);
	size_t i = c->n_apart ? usk_cone_apart(c, x) : 0;
	if (i && c->apart[i - 1].to >= start) {
		start = x <= c->apart[i - 1].to ? x : c->apart[i - 1].to + 1;
	}
	return start;
}

/* The x behind the last one that usk_cone_second() has this start for; x is one of them. */
static inline int64_t usk_cone_end(const struct usk_cone *c, int64_t x)
{
	int64_t from_start = (x + c->phase) % USK_SECOND;
	int64_t end = x - (from_start < 0 ? from_start + USK_SECOND : from_start) + USK_SECOND;
	size_t i = c->n_apart ? usk_cone_apart(c, x) : 0;
	if (i && x <= c->apart[i - 1].to) {
		return x + 1;
	}
	return i < c->n_apart && c->apart[i].from < end ? c->apart[i].from : end;
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
