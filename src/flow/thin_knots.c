/* SPDX-License-Identifier: MIT */
/*
 * thin_knots.c - fewer knots, for bounds that get wider by a small share
 *
 * In    knots whose bounds and estimate are known
 * Out   some of them: what they leave out lies within a share of the width of their chords
 * Why   a clock that a daemon slews has a knot at each of its adjustments, though hardly any of them
 *       is seen at the width of the band
 */
#include "flow/flow.h"

#include <math.h>
#include <stdlib.h>

/* Slopes from a knot that pass all gates so far. */
struct window {
	long double least, most;
};

static void through(struct window *w, const struct usk_knot *a, int64_t from,
		    const struct usk_knot *b, long double lo, long double hi)
{
	long double d = (long double)(b->local_ns - a->local_ns);
	long double x = (lo - (long double)from) / d, y = (hi - (long double)from) / d;
	w->least = x > w->least ? x : w->least;
	w->most = y < w->most ? y : w->most;
}

static bool passes(const struct window *w, const struct usk_knot *a, int64_t from,
		   const struct usk_knot *b, int64_t to)
{
	long double s =
		((long double)to - (long double)from) / (long double)(b->local_ns - a->local_ns);
	return s >= w->least && s <= w->most;
}

/* A small share of the width, of which bounds get half at once. */
static int64_t spare(const struct usk_knot *k)
{
	return (k->hi_ns - k->lo_ns) / 200;
}

size_t usk_knots_thin_out(struct usk_knot *k, size_t n)
{
	size_t kept = 1;
	const long double far = HUGE_VALL;
	struct usk_knot *out = usk_alloc(n, sizeof *out);
	out[0] = k[0];
	for (size_t at = 0; at + 1 < n;) {
		struct window lo = { -far, far }, mid = lo, hi = lo;
		const struct usk_knot *a = &k[at];
		size_t best = at + 1;
		for (size_t i = at + 1; i < n; i++) {
			const struct usk_knot *b = &k[i];
			int64_t s = spare(b);
			if (passes(&lo, a, a->lo_ns - spare(a) / 2, b, b->lo_ns - s / 2) &&
			    passes(&hi, a, a->hi_ns + spare(a) / 2, b, b->hi_ns + s / 2) &&
			    passes(&mid, a, a->offset_ns, b, b->offset_ns)) {
				best = i;
			}
			/* 2 ns are for what chords are rounded by. */
			through(&lo, a, a->lo_ns - spare(a) / 2, b, (long double)b->lo_ns - s,
				(long double)b->lo_ns - 2);
			through(&hi, a, a->hi_ns + spare(a) / 2, b, (long double)b->hi_ns + 2,
				(long double)b->hi_ns + s);
			through(&mid, a, a->offset_ns, b, (long double)b->offset_ns - s / 2,
				(long double)b->offset_ns + s / 2);
			if (lo.least > lo.most || hi.least > hi.most || mid.least > mid.most) {
				break;
			}
		}
		at = best;
		out[kept++] = k[at];
	}
	for (size_t i = 0; i < kept; i++) {
		k[i] = out[i];
		k[i].lo_ns -= spare(&out[i]) / 2;
		k[i].hi_ns += spare(&out[i]) / 2;
	}
	free(out);
	return kept;
}
