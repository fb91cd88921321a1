/* SPDX-License-Identifier: MIT */
/*
 * corners.h - a convex function of time that answers with a value and a tangent, as a polyline
 */
#ifndef USK_GRAPH_CORNERS_H
#define USK_GRAPH_CORNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usk_corner {
	int64_t x;
	long double y, slope; /* a tangent: the function is not under it */
};

/**
 * Points of the function from x0 to x1, both included, so that no chord is more than 1/32 over it,
 * or `most` of them where the chords are furthest off. It is asked next where the tangents of two
 * neighbours cross: where it has a corner that is the corner.
 *
 * ask       false: it has no answer
 * out[most] most >= 2
 * Returns how many; 0 if a question had no answer.
 */
size_t usk_corners(bool (*ask)(void *ctx, int64_t x, struct usk_corner *out), void *ctx, int64_t x0,
		   int64_t x1, size_t most, struct usk_corner *out);

#endif
