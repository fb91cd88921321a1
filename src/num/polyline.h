/* SPDX-License-Identifier: MIT */
/*
 * polyline.h - the polyline with the fewest links through a row of gates
 */
#ifndef USK_NUM_POLYLINE_H
#define USK_NUM_POLYLINE_H

#include "num/hull.h"

/* At x a polyline passes between lo and hi; all under 2^62 in size. */
struct usk_gate {
	int64_t x, lo, hi;
};

/**
 * Knots of a polyline through g[n], n >= 2, x rising strictly, lo <= hi: as few links as possible
 * where knots may lie at any x. Links steeper than most or flatter than least, parts per 10^12, are
 * avoided unless nothing else passes. Both coordinates are rounded to the nearest integer in the
 * end, so a gate may be missed by 1.
 *
 * out  room for n + 1; the first knot is at g[0].x, the last at g[n - 1].x
 * most_knots  gives up where there are more
 * Returns how many, at least 2; 0: it gave up. Cost: O(n log n); 32 n bytes.
 */
size_t usk_polyline(const struct usk_gate *g, size_t n, int64_t least_e12, int64_t most_e12,
		    size_t most_knots, struct usk_xy *out);

#endif
