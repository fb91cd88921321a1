/* SPDX-License-Identifier: MIT */
/*
 * wander_chords.c - the band between few knots
 *
 * In    a band, places of knots
 * Out   lo and hi at the knots so that straight lines between them hold the band
 * Why   hi has peaks and lo has valleys between the points they come from, which chords cut off
 *
 * Between two points of a side the bound is the outer one of two straight lines: it bends at the
 * points and where the two cross. At whole times it bends at the crossing rounded down and at the
 * next whole one, so what a chord cuts off is found by looking there.
 */
#include "fit/wander.h"
#include "num/cone.h"

#include <stdlib.h>
#include <string.h>

#define E12 USK_E12

static int compare(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/* Offsets end at 146 years. */
static int64_t cut(const struct usk_band *b, usk_i128 y)
{
	return usk_saturate((usk_i128)usk_cut(b->frame.offset_ns + y) - b->frame.offset_ns);
}

void usk_bends_of(const struct usk_band *b, int64_t x0, int64_t x1, const int64_t *more,
		  size_t n_more, struct usk_bends *out)
{
	size_t n = 0, m = 0;
	int64_t *x = usk_alloc(3 * (b->n[0] + b->n[1]) + n_more + 2, sizeof *x);
	x[n++] = x0;
	x[n++] = x1;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < b->n[side]; i++) {
			x[n++] = b->tip[side][i].x;
			if (i + 1 < b->n[side]) {
				x[n] = usk_band_bend(b, side, i);
				x[n + 1] = x[n] + 1;
				n += 2;
			}
		}
	}
	if (n_more) {
		memcpy(x + n, more, n_more * sizeof *x);
	}
	n += n_more;
	qsort(x, n, sizeof *x, compare);
	out->at = usk_alloc(n, sizeof *out->at);
	size_t next[2] = { 0, 0 };
	for (size_t k = 0; k < n; k++) {
		if (x[k] < x0 || x[k] > x1 || (m && out->at[m - 1].x == x[k])) {
			continue;
		}
		struct usk_bend bend = { x[k], -USK_TIME_MAX, USK_TIME_MAX };
		for (int side = 0; side < 2; side++) {
			while (next[side] < b->n[side] && b->tip[side][next[side]].x < x[k]) {
				next[side]++;
			}
			if (b->n[side]) {
				usk_i128 y = usk_floor_div(
					usk_band_half_e12(b, side, next[side], x[k]), E12);
				*(side ? &bend.hi : &bend.lo) = cut(b, side ? -y : y);
			}
		}
		out->at[m++] = bend;
	}
	out->n = m;
	free(x);
}

/* What a chord from (x0, y0) to (x1, y1) is above y at x, rounded up. */
static usk_i128 above(int64_t x0, int64_t y0, int64_t x1, int64_t y1, int64_t x, int64_t y)
{
	usk_i128 rise = ((usk_i128)y1 - y0) * ((usk_i128)x - x0);
	return y0 + usk_ceil_div(rise, (usk_i128)x1 - x0) - (usk_i128)y;
}

/* What the chords over bends from..to cut off at a bend between. */
static void cut_off(const struct usk_bend *from, const struct usk_bend *to,
		    const struct usk_bend *at, usk_i128 e[2])
{
	e[0] = above(from->x, from->lo, to->x, to->lo, at->x, at->lo);
	e[1] = above(from->x, -from->hi, to->x, -to->hi, at->x, -at->hi);
}

static size_t find(const struct usk_bends *b, int64_t x)
{
	size_t lo = 0, hi = b->n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (b->at[mid].x < x) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static usk_i128 size(usk_i128 v)
{
	return v < 0 ? -v : v;
}

/*
 * Between bends i and k: where to split, or 0. Where a chord cuts the band off, all of it has to be
 * moved outwards; where it stays outside, the band is wider than it need be. Both cost width.
 */
static size_t worst(const struct usk_bends *b, size_t i, size_t k, int64_t share)
{
	enum { PIECES = 64 }; /* of a trace of less than as many seconds */
	usk_i128 most = 0, apart = ((usk_i128)b->at[b->n - 1].x - b->at[0].x) / PIECES;
	size_t at = 0;
	apart = apart < 1 ? 1 : apart < USK_SECOND ? apart : USK_SECOND;
	for (size_t j = i + 1; j < k; j++) {
		usk_i128 e[2];
		const struct usk_bend *p = &b->at[j];
		cut_off(&b->at[i], &b->at[k], p, e);
		e[0] = size(e[1]) > size(e[0]) ? size(e[1]) : size(e[0]);
		if (p->x - b->at[i].x >= apart && b->at[k].x - p->x >= apart && e[0] > most &&
		    2 * share * e[0] > (usk_i128)p->hi - p->lo) {
			most = e[0];
			at = j;
		}
	}
	return at;
}

size_t usk_bends_split(const struct usk_bends *b, int64_t **x, size_t n, int64_t share)
{
	size_t m = 0, n_ahead = 0, cap = 0, cap_ahead = 0;
	size_t *ahead = NULL; /* ends of spans to come, as a stack */
	int64_t *out = NULL;
	/* Splitting always next to an end would look at every bend again and again. */
	uint64_t budget = 64 * (uint64_t)b->n;
	for (size_t i = n; i-- > 0;) {
		ahead = usk_room(ahead, n_ahead, &cap_ahead, sizeof *ahead);
		ahead[n_ahead++] = find(b, (*x)[i]);
	}
	for (size_t from = 0; n_ahead;) {
		size_t to = ahead[n_ahead - 1], at = 0;
		if (m && to - from < budget) {
			budget -= to - from;
			at = worst(b, from, to, share);
		}
		if (at) {
			ahead = usk_room(ahead, n_ahead, &cap_ahead, sizeof *ahead);
			ahead[n_ahead++] = at;
			continue;
		}
		n_ahead--;
		out = usk_room(out, m, &cap, sizeof *out);
		out[m++] = b->at[to].x;
		from = to;
	}
	free(ahead);
	free(*x);
	*x = out;
	return m;
}

void usk_bends_chords(const struct usk_band *b, const struct usk_bends *bends,
		      struct usk_knot *knot, size_t n)
{
	usk_i128 before[2] = { 0, 0 };
	struct usk_bend here = bends->at[0];
	for (size_t i = 0, j = 0; i < n; i++) {
		usk_i128 after[2] = { 0, 0 };
		struct usk_bend next = here;
		if (i + 1 < n) {
			usk_i128 y;
			next.x = (int64_t)((usk_i128)knot[i + 1].local_ns - b->frame.local_ns);
			next.lo = usk_band_lo(b, next.x, &y) ? cut(b, y) : -USK_TIME_MAX;
			next.hi = usk_band_hi(b, next.x, &y) ? cut(b, y) : USK_TIME_MAX;
		}
		for (; j < bends->n && bends->at[j].x < next.x; j++) {
			usk_i128 e[2];
			if (bends->at[j].x <= here.x) {
				continue;
			}
			cut_off(&here, &next, &bends->at[j], e);
			after[0] = e[0] > after[0] ? e[0] : after[0];
			after[1] = e[1] > after[1] ? e[1] : after[1];
		}
		usk_i128 lo = here.lo - (before[0] > after[0] ? before[0] : after[0]);
		usk_i128 hi = here.hi + (before[1] > after[1] ? before[1] : after[1]);
		knot[i].lo_ns = b->n[0] ? usk_cut(b->frame.offset_ns + lo) : USK_NONE;
		knot[i].hi_ns = b->n[1] ? usk_cut(b->frame.offset_ns + hi) : USK_NONE;
		before[0] = after[0];
		before[1] = after[1];
		here = next;
	}
}
