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

/** The line through a and b, a left of b, at x: rounded down, or up. */
static inline usk_i128 usk_chord(struct usk_xy a, struct usk_xy b, int64_t x, bool up)
{
	usk_i128 rise = ((usk_i128)b.y - a.y) * ((usk_i128)x - a.x), run = (usk_i128)b.x - a.x;
	return a.y + (up ? usk_ceil_div(rise, run) : usk_floor_div(rise, run));
}

/** The polyline p[n], n >= 2, likewise; *hint is where the last question was answered, 0 to begin
 * with; x must not fall. */
static inline usk_i128 usk_chords_at(const struct usk_xy *p, size_t n, size_t *hint, int64_t x,
				     bool up)
{
	while (*hint + 2 < n && p[*hint + 1].x < x) {
		++*hint;
	}
	return usk_chord(p[*hint], p[*hint + 1], x, up);
}

/* Gate i of a row: nobody needs all of them at once. */
typedef struct usk_gate usk_gate_at(const void *row, size_t i);

/**
 * Knots of a polyline through gates 0 to n - 1, n >= 2, x rising strictly, lo <= hi: as few links
 * as possible where knots may lie at any x. Links steeper than most or flatter than least, parts
 * per 10^12, are avoided unless nothing else passes. Both coordinates are rounded to the nearest
 * integer in the end, so a gate may be missed by 1.
 *
 * most_knots  gives up where there are more whose x is none of beside, which is sorted
 * out  free() it; the first knot is at the first gate's x, the last at the last one's
 * Returns how many, at least 2; 0: it gave up. Cost: O(n log n), each gate asked for a few times at
 * most; memory for knots and two hulls of gates' ends.
 */
size_t usk_polyline(usk_gate_at *gate, const void *row, size_t n, int64_t least_e12,
		    int64_t most_e12, const int64_t *beside, size_t n_beside, size_t most_knots,
		    struct usk_xy **out);

#endif
