/* SPDX-License-Identifier: MIT */
/*
 * wander_sharpen.c - a band that is as narrow as the model is, where points are few
 *
 * In    a band
 * Out   the same with more tips: bounds that hold for each rate by itself
 * Why   the band's cones let one rate come from the left and another from the right. Where points
 *       are far apart against the time they span, as in a short trace, that costs half its width
 * Not   the cones (wander_band.c)
 *
 * Floors, and ceilings mirrored: for one mean rate r the bound at t is the larger of
 *
 *     A(r) = max over x <= t of y + (r - wander)(t - x)       rising in r
 *     B(r) = max over x > t of y - (r + wander)(x - t)        falling in r
 *
 * and what is certain is the smallest of that over all feasible r: where the two are equal, found
 * by bisection over whole e12. Between two of these, s - 1 and s, both A(s - 1) and B(s) bound it
 * from below. A and B are tangents to the hulls of the points on either side.
 */
#include "fit/wander.h"
#include "num/cone.h"

#include <stdlib.h>

#define E12 USK_E12

static usk_i128 tangent_e12(const struct usk_xy *h, size_t n, usk_i128 slope_e12, usk_i128 x)
{
	size_t i = usk_hull_touch(h, n, (struct usk_slope){ slope_e12, E12 });
	return (usk_i128)h[i].y * E12 + slope_e12 * (x - h[i].x);
}

/* ---- hulls left and right of a moving x ------------------------------------------------ */

static struct usk_xy mirrored(struct usk_xy p)
{
	return (struct usk_xy){ -p.x, p.y };
}

static void begin(struct usk_exactly *e, const struct usk_band *b, bool side)
{
	size_t n = b->n[side], m = 0;
	for (int k = 0; k < 2; k++) {
		e->hull[k] = usk_alloc(n + 1, sizeof *e->hull[k]);
	}
	e->undo = usk_alloc(n + 1, sizeof *e->undo);
	struct usk_xy *h = e->hull[1];
	for (size_t i = n; i-- > 0;) {
		struct usk_xy p = mirrored(b->tip[side][i]);
		size_t at = m;
		while (at >= 2 && usk_xy_under(h[at - 2], h[at - 1], p)) {
			at--;
		}
		e->undo[i] = (struct usk_undo){ h[at], at, m };
		h[at] = p;
		m = at + 1;
	}
	e->n[1] = m;
}

/* Move x on: tips that it passes change hulls. */
static void advance(struct usk_exactly *e, const struct usk_band *b, bool side, int64_t x)
{
	for (; e->at < b->n[side] && b->tip[side][e->at].x <= x; e->at++) {
		const struct usk_undo *u = &e->undo[e->at];
		e->hull[1][u->at] = u->was;
		e->n[1] = u->n;
		e->n[0] = usk_hull_push(e->hull[0], e->n[0], b->tip[side][e->at]);
	}
}

void usk_exactly_free(struct usk_exactly *e)
{
	free(e->hull[0]);
	free(e->hull[1]);
	free(e->undo);
}

/* ---- the bound ---------------------------------------------------------------------------- */

usk_i128 usk_exactly_at(struct usk_exactly *e, const struct usk_band *b, bool side, int64_t x)
{
	int64_t from = side ? -b->most_e12 : b->least_e12, to = side ? -b->least_e12 : b->most_e12;
	const struct usk_xy *l = e->hull[0], *r = e->hull[1];
	usk_i128 w = b->wander_e12;
	if (!e->undo) {
		begin(e, b, side);
		l = e->hull[0];
		r = e->hull[1];
	}
	advance(e, b, side, x);
	size_t nl = e->n[0], nr = e->n[1];
	if (!nl ||
	    (nr && tangent_e12(l, nl, to - w, x) < tangent_e12(r, nr, -to - w, -(usk_i128)x))) {
		return usk_floor_div(tangent_e12(r, nr, -to - w, -(usk_i128)x), E12);
	}
	if (!nr || tangent_e12(l, nl, from - w, x) >= tangent_e12(r, nr, -from - w, -(usk_i128)x)) {
		return usk_floor_div(tangent_e12(l, nl, from - w, x), E12);
	}
	/* A < B at `from`, A >= B at `to` */
	while (to - from > 1) {
		int64_t mid = from + (to - from) / 2;
		bool up =
			tangent_e12(l, nl, mid - w, x) < tangent_e12(r, nr, -mid - w, -(usk_i128)x);
		*(up ? &from : &to) = mid;
	}
	usk_i128 a = tangent_e12(l, nl, from - w, x);
	usk_i128 z = tangent_e12(r, nr, -to - w, -(usk_i128)x);
	return usk_floor_div(a > z ? a : z, E12);
}

/* ---- where ---------------------------------------------------------------------------------- */

enum { SHARE = 20, MOST_IN_GAP = 64, MOST_ONE_SIDED = 1024 };
#define MOST_IN_ALL ((uint64_t)1 << 18)

/* How far the bound dips under the chord of tips i and i + 1, at most, and half the band there. */
static usk_i128 dip(const struct usk_band *b, int side, size_t i, usk_i128 *half)
{
	struct usk_xy p = b->tip[side][i], q = b->tip[side][i + 1];
	usk_i128 x = usk_band_bend(b, side, i), run = (usk_i128)q.x - p.x;
	usk_i128 y = usk_floor_div(usk_band_half_e12(b, side, i + 1, x), E12);
	*half = 0;
	if (b->n[!side]) {
		usk_i128 z = usk_band_half_e12(b, !side, usk_band_next(b, !side, x), x);
		*half = -(y + usk_floor_div(z, E12)) / 2;
	}
	return p.y + usk_floor_div(((usk_i128)q.y - p.y) * (x - p.x), run) - y;
}

/* How many bounds a gap is worth. */
static usk_i128 worth(const struct usk_band *b, int side, size_t i, uint64_t fair)
{
	usk_i128 half, d = dip(b, side, i, &half);
	usk_i128 room = (usk_i128)b->tip[side][i + 1].x - b->tip[side][i].x - 1;
	usk_i128 n = d * SHARE <= half ? 0 : half > 0 ? 2 * SHARE * d / half : MOST_IN_GAP;
	usk_i128 most = MOST_IN_GAP;
	if (!b->n[!side]) { /* no width to compare with */
		n = d;
		most = fair < MOST_ONE_SIDED ? fair : MOST_ONE_SIDED;
	}
	n = n < most ? n : most;
	return n < room ? n : room;
}

static void sharpen_side(struct usk_band *b, int side, struct usk_xy **out, size_t *n_out)
{
	struct usk_exactly e = { .n = { 0 } };
	size_t n = 0, cap = 0;
	uint64_t fair = b->n[side] ? MOST_IN_ALL / 4 / b->n[side] : 0;
	struct usk_xy *p = NULL;
	for (size_t i = 0; i + 1 < b->n[side] && n < MOST_IN_ALL; i++) {
		int64_t x0 = b->tip[side][i].x, x1 = b->tip[side][i + 1].x;
		usk_i128 more = worth(b, side, i, fair);
		for (usk_i128 k = 1; k <= more; k++) {
			int64_t x = (int64_t)(x0 + ((usk_i128)x1 - x0) * k / (more + 1));
			p = usk_room(p, n, &cap, sizeof *p);
			p[n++] = (struct usk_xy){ x, usk_saturate(usk_exactly_at(&e, b, side, x)) };
		}
	}
	usk_exactly_free(&e);
	*out = p;
	*n_out = n;
}

void usk_band_sharpen(struct usk_band *b)
{
	struct usk_xy *p[2];
	size_t n[2];
	for (int side = 0; side < 2; side++) {
		sharpen_side(b, side, &p[side], &n[side]);
	}
	for (int side = 0; side < 2; side++) {
		usk_band_add(b, side, p[side], n[side]);
		free(p[side]);
	}
}
