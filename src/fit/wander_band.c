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

/* Those of p[n], sorted by x, that stick out. */
static size_t tips_of(const struct usk_band *b, int side, const struct usk_xy *p, size_t n,
		      struct usk_xy *tip)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (m && hides(tip[m - 1], p[i], right(b, side))) {
			continue;
		}
		while (m && hides(p[i], tip[m - 1], left(b, side))) {
			m--;
		}
		tip[m++] = p[i];
	}
	return m;
}

void usk_band_add(struct usk_band *b, bool side, const struct usk_xy *p, size_t n)
{
	size_t m = 0, i = 0, j = 0;
	struct usk_xy *all = usk_alloc(b->n[side] + n + 1, sizeof *all);
	while (i < b->n[side] || j < n) {
		bool own = j == n || (i < b->n[side] && b->tip[side][i].x < p[j].x);
		all[m++] = own ? b->tip[side][i++] : p[j++];
	}
	b->tip[side] = usk_grow(b->tip[side], m + 1, sizeof *all);
	b->n[side] = tips_of(b, side, all, m, b->tip[side]);
	free(all);
}

void usk_band_slopes(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		     int64_t max_skew_e12, struct usk_band *out)
{
	*out = (struct usk_band){ .frame = p->frame,
				  .slow_e12 = -max_skew_e12,
				  .fast_e12 = max_skew_e12,
				  .least_e12 = -max_skew_e12,
				  .most_e12 = max_skew_e12,
				  .wander_e12 = wander_e12 };
	if (need->has_lo) {
		usk_i128 s = usk_floor_div(need->s_lo.num * E12, need->s_lo.den);
		out->slow_e12 = within(s - 2 * (usk_i128)wander_e12, max_skew_e12);
		out->least_e12 = within(s - wander_e12, max_skew_e12);
	}
	if (need->has_hi) {
		usk_i128 s = usk_ceil_div(need->s_hi.num * E12, need->s_hi.den);
		out->fast_e12 = within(s + 2 * (usk_i128)wander_e12, max_skew_e12);
		out->most_e12 = within(s + wander_e12, max_skew_e12);
	}
}

void usk_band_of(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		 int64_t max_skew_e12, struct usk_band *out)
{
	usk_band_cones(p, need, wander_e12, max_skew_e12, out);
	usk_band_sharpen(out);
}

void usk_band_cones(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		    int64_t max_skew_e12, struct usk_band *out)
{
	usk_band_slopes(p, need, wander_e12, max_skew_e12, out);
	for (int side = 0; side < 2; side++) {
		out->tip[side] = usk_alloc(p->n[side] + 1, sizeof *out->tip[side]);
		out->n[side] = tips_of(out, side, p->point[side], p->n[side], out->tip[side]);
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

int64_t usk_band_bend(const struct usk_band *b, bool side, size_t i)
{
	struct usk_xy p = b->tip[side][i], q = b->tip[side][i + 1];
	usk_i128 spread = (usk_i128)b->fast_e12 - b->slow_e12;
	if (spread <= 0) {
		return p.x;
	}
	/* p.y + r (x - p.x) = q.y - l (q.x - x), l - r = spread: x - p.x = (p.y - q.y + l
	 * dx)/spread */
	usk_i128 l = left(b, side);
	usk_i128 by = (((usk_i128)p.y - q.y) * E12 + l * ((usk_i128)q.x - p.x)) / spread;
	return (int64_t)(p.x + by);
}
