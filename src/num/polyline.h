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

/* Gate i of a row: nobody needs all of them at once. */
typedef struct usk_gate usk_gate_at(const void *row, size_t i);

/**
 * Knots of a polyline through gates 0 to n - 1, n >= 2, x rising strictly, lo <= hi: as few links
 * as possible where knots may lie at any x. Links steeper than most or flatter than least, parts
 * per 10^12, are avoided unless nothing else passes. Both coordinates are rounded to the nearest
 * integer in the end, so a gate may be missed by 1.
 *
 * most_knots  gives up where there are more
 * out  free() it; the first knot is at the first gate's x, the last at the last one's
 * Returns how many, at least 2; 0: it gave up. Cost: O(n log n), each gate asked for a few times at
 * most; memory for knots and two hulls of gates' ends.
 */
size_t usk_polyline(usk_gate_at *gate, const void *row, size_t n, int64_t least_e12,
		    int64_t most_e12, size_t most_knots, struct usk_xy **out);

#endif
