/* SPDX-License-Identifier: MIT */
/*
 * corners.h - where a bound of a linear program's clock bends, within its events and beyond
 *
 * The bound of sign s at x, max s phi(x) over all solutions (program.h), is convex in x. Asked at x
 * it has a value, and a tangent, which it is nowhere under.
 */
#ifndef USK_GRAPH_CORNERS_H
#define USK_GRAPH_CORNERS_H

#include "graph/program.h"

struct usk_corner {
	int64_t x;
	long double y, slope; /* ns, ns a ns; y is proved */
};

struct usk_bound_asked {
	struct usk_asker *asker;
	int line, sign; /* upper bound: 1; lower: -1 */
	size_t asked;
};

/* A solution of the largest rate, or the smallest: u and v, ns. Far away it is the bound. */
struct usk_outermost {
	long double u, v;
};

/* Corners beyond an end at most, the end itself included. */
enum { USK_CORNERS_BEYOND = 16 };

/** Corners from the line's first event to its last one, both included, so that no chord is more
 * than 1/32 ns over the bound, or `most` of them where chords are furthest off. Returns how many; 0
 * if a question had no answer. Cost: a question each. */
size_t usk_ask_corners(struct usk_bound_asked *q, size_t most, struct usk_corner *out);

/** Likewise on from an end, outwards; where the bound has the outermost rate from there on, as most
 * have, that takes no question. Left to right, the end included; returns how many, at least 1. */
size_t usk_ask_beyond(struct usk_bound_asked *q, const struct usk_corner *end,
		      const struct usk_outermost *o, struct usk_corner out[USK_CORNERS_BEYOND]);

#endif
