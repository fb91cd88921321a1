/* SPDX-License-Identifier: MIT */
/*
 * wander_band.c - the band that a wander leaves
 *
 * In    points of a pair in the order of time, the rates that are feasible
 * Out   the points that the band touches; the band at any time
 * Why   hi and lo are envelopes of cones, one per point: those that stick out are all that counts
 * Not   knots (wander_knots.c)
 *
 * A floor p bounds the offset by a cone below it, of slope slow to its right and fast to its left;
 * one that lies in another's cone says nothing. A ceiling, mirrored, has a cone of slopes -fast and
 * -slow. Sorted by x, those that stick out are a stack, and at any time the two next to it are the
 * ones that bound it most.
 */
#include "fit/wander.h"

#include <stdlib.h>

#define E12 INT64_C(1000000000000)

static int64_t right(const struct usk_band *b, int side)
{
	return side ? -b->fast_e12 : b->slow_e12;
}

static int64_t left(const struct usk_band *b, int side)
{
	return side ? -b->slow_e12 : b->fast_e12;
}

static int64_t within(usk_i128 slope, int64_t limit)
{
	return slope > limit ? limit : slope < -limit ? -limit : (int64_t)slope;
}

/* Is q in p's cone? slope: of the side of p that q is on. */
static bool hides(struct usk_xy p, struct usk_xy q, int64_t slope)
{
	return ((usk_i128)q.y - p.y) * E12 <= (usk_i128)slope * ((usk_i128)q.x - p.x);
}

void usk_band_of(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		 int64_t max_skew_e12, struct usk_band *out)
{
	*out = (struct usk_band){ .frame = p->frame,
				  .slow_e12 = -max_skew_e12,
				  .fast_e12 = max_skew_e12 };
	if (need->has_lo) {
		usk_i128 s = usk_floor_div(need->s_lo.num * E12, need->s_lo.den);
		out->slow_e12 = within(s - 2 * (usk_i128)wander_e12, max_skew_e12);
	}
	if (need->has_hi) {
		usk_i128 s = usk_ceil_div(need->s_hi.num * E12, need->s_hi.den);
		out->fast_e12 = within(s + 2 * (usk_i128)wander_e12, max_skew_e12);
	}
	for (int side = 0; side < 2; side++) {
		struct usk_xy *tip = out->tip[side] = usk_alloc(p->n[side] + 1, sizeof *tip);
		size_t n = 0;
		for (size_t i = 0; i < p->n[side]; i++) {
			struct usk_xy q = p->point[side][i];
			if (n && hides(tip[n - 1], q, right(out, side))) {
				continue;
			}
			while (n && hides(q, tip[n - 1], left(out, side))) {
				n--;
			}
			tip[n++] = q;
		}
		out->n[side] = n;
		out->q_ns[side] = p->q_ns[side];
	}
}

void usk_band_free(struct usk_band *b)
{
	free(b->tip[0]);
	free(b->tip[1]);
	*b = (struct usk_band){ .n = { 0 } };
}

usk_i128 usk_band_half_e12(const struct usk_band *b, bool side, size_t i, usk_i128 x)
{
	const struct usk_xy *t = b->tip[side];
	usk_i128 y = 0;
	if (i > 0) {
		y = (usk_i128)t[i - 1].y * E12 + right(b, side) * (x - t[i - 1].x);
	}
	if (i < b->n[side]) {
		usk_i128 z = (usk_i128)t[i].y * E12 + left(b, side) * (x - t[i].x);
		y = i && y > z ? y : z;
	}
	return y;
}

size_t usk_band_next(const struct usk_band *b, bool side, usk_i128 x)
{
	/* beyond 2^62 there is no tip */
	return x > USK_TIME_MAX	   ? b->n[side]
	       : x < -USK_TIME_MAX ? 0
				   : usk_xy_find(b->tip[side], b->n[side], (int64_t)x);
}

bool usk_band_lo(const struct usk_band *b, usk_i128 x, usk_i128 *lo)
{
	usk_i128 y = usk_band_half_e12(b, false, usk_band_next(b, false, x), x);
	*lo = usk_floor_div(y, E12);
	return b->n[0] > 0;
}

bool usk_band_hi(const struct usk_band *b, usk_i128 x, usk_i128 *hi)
{
	usk_i128 y = usk_band_half_e12(b, true, usk_band_next(b, true, x), x);
	*hi = -usk_floor_div(y, E12);
	return b->n[1] > 0;
}
