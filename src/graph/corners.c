/* SPDX-License-Identifier: MIT */
/*
 * corners.c - a convex function as a polyline, by its tangents
 */
#include "graph/corners.h"

#include <math.h>
#include <string.h>

/* How far the chord of a and b can be over the function at most, and where. */
static long double gap(const struct usk_corner *a, const struct usk_corner *b, int64_t *at)
{
	long double run = (long double)b->x - (long double)a->x;
	long double turn = b->slope - a->slope;
	if (b->x - a->x < 2 || turn <= 0) {
		return 0;
	}
	/* a.y + a.slope d = b.y - b.slope (run - d) */
	long double d = (b->y - a->y - b->slope * run) / -turn;
	d = roundl(fminl(fmaxl(d, 1), run - 1));
	*at = a->x + (int64_t)d;
	long double left = a->y + a->slope * d, right = b->y - b->slope * (run - d);
	return a->y + (b->y - a->y) * (d / run) - fmaxl(left, right);
}

size_t usk_corners(bool (*ask)(void *ctx, int64_t x, struct usk_corner *out), void *ctx, int64_t x0,
		   int64_t x1, size_t most, struct usk_corner *out)
{
	size_t n = 2;
	if (!ask(ctx, x0, &out[0]) || !ask(ctx, x1, &out[1])) {
		return 0;
	}
	while (n < most) {
		long double widest = 1 / 32.0L;
		size_t after = n;
		int64_t at = 0;
		for (size_t i = 0; i + 1 < n; i++) {
			int64_t here = 0;
			long double g = gap(&out[i], &out[i + 1], &here);
			if (g > widest) {
				widest = g;
				after = i;
				at = here;
			}
		}
		if (after == n) {
			break;
		}
		struct usk_corner found;
		if (!ask(ctx, at, &found)) {
			return 0;
		}
		memmove(&out[after + 2], &out[after + 1], (n - after - 1) * sizeof *out);
		out[after + 1] = found;
		n++;
	}
	return n;
}
