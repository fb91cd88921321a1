/* SPDX-License-Identifier: MIT */
/*
 * est_least_violation.c - the line through a vertex of each hull that does least wrong
 *
 * Source  Ashton 1995, 4.2.2: what c.hull does where no line fits
 *
 * Over the vertices of both hulls, those on the wrong side of a line are wrong by their vertical
 * distance from it in the plane of A's (x) and B's stamps (y). The line with the smallest sum is
 * the answer; of equal ones that with the smallest |beta - 1|, then the smaller beta, then the
 * smaller offset. Lines along which B's clock does not advance are none of a clock.
 *
 * A distance in B's stamps is beta times that in offsets. With s = num/den, the slope of the
 * offset, beta = den/(den + num), so that the sum is sum(den * over)/(den + num), exactly: a whole
 * number over another.
 *
 * The lines through one vertex: the sum is convex in beta and beta falls as s rises, so along the
 * slopes to the other hull's vertices it falls, then rises, and a binary search finds the least.
 * Where lines fit, only the two extreme ones go through a vertex of each hull without doing wrong.
 */
#include "fit/fit.h"
#include "num/ratio.h"

#include <stdlib.h>

/* A line of the offset and its sum, wrong/(den + num). */
struct candidate {
	struct usk_line line;
	usk_u128 wrong;
};

static usk_u128 advance(const struct candidate *c)
{
	return (usk_u128)(c->line.s.den + c->line.s.num);
}

/* whole * den + rest; what does not fit is as bad as anything. */
static usk_u128 scaled(usk_u128 whole, usk_u128 rest, usk_u128 den)
{
	usk_u128 v;
	if (__builtin_mul_overflow(whole, den, &v) || __builtin_add_overflow(v, rest, &v)) {
		return ~(usk_u128)0;
	}
	return v;
}

static void score(const struct usk_lines *l, struct candidate *c)
{
	usk_u128 whole = 0, rest = 0, den = (usk_u128)c->line.s.den;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < l->half[side].n; i++) {
			struct usk_over o = usk_line_over(&c->line, l->half[side].hull[i], side);
			if (o.whole >= 0) {
				whole += (usk_u128)o.whole;
				rest += (usk_u128)o.rest;
			}
		}
	}
	c->wrong = scaled(whole + rest / den, rest % den, den);
}

static int compare_wrong(const struct candidate *c, const struct candidate *d)
{
	return usk_ratio_cmp(c->wrong, advance(c), d->wrong, advance(d));
}

static usk_u128 size(usk_i128 v)
{
	return (usk_u128)(v < 0 ? -v : v);
}

/* Is c to be preferred? Both are scored. */
static bool better(const struct candidate *c, const struct candidate *d)
{
	struct usk_slope s = c->line.s, t = d->line.s;
	int order = compare_wrong(c, d);
	if (!order) { /* |beta - 1| = |num|/(den + num) */
		order = usk_ratio_cmp(size(s.num), advance(c), size(t.num), advance(d));
	}
	if (!order) {
		order = (s.num < 0) - (t.num < 0);
	}
	if (order) {
		return order < 0;
	}
	return usk_line_over(&d->line, c->line.p, USK_FLOOR).whole < 0;
}

static void prefer(struct candidate *best, const struct candidate *c)
{
	if (!best->line.s.den || better(c, best)) {
		*best = *c;
	}
}

static int compare_slopes(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	return usk_slope_cmp(a->line.s, b->line.s);
}

/* The lines through p and each vertex of the ceilings, by slope, each once. */
static size_t through(const struct usk_half *ceiling, struct usk_xy p, struct candidate *c)
{
	size_t n = 0, once = 0;
	for (size_t i = 0; i < ceiling->n; i++) {
		usk_i128 dx = (usk_i128)ceiling->hull[i].x - p.x;
		usk_i128 dy = -(usk_i128)ceiling->hull[i].y - p.y;
		struct usk_slope s = { dx < 0 ? -dy : dy, dx < 0 ? -dx : dx };
		if (s.den && s.den + s.num > 0) {
			c[n++] = (struct candidate){ .line = { p, s } };
		}
	}
	qsort(c, n, sizeof *c, compare_slopes);
	for (size_t i = 0; i < n; i++) {
		if (!once || compare_slopes(&c[once - 1], &c[i])) {
			c[once++] = c[i];
		}
	}
	return once;
}

/* The best of the lines through each floor. */
static struct candidate search(const struct usk_lines *l)
{
	const struct usk_half *f = &l->half[USK_FLOOR];
	struct candidate *c = usk_alloc(l->half[USK_CEILING].n, sizeof *c);
	struct candidate best = { .line.s.den = 0 };
	for (size_t i = 0; i < f->n; i++) {
		size_t n = through(&l->half[USK_CEILING], f->hull[i], c);
		size_t lo = 0, hi = n ? n - 1 : 0;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			score(l, &c[mid]);
			score(l, &c[mid + 1]);
			if (compare_wrong(&c[mid], &c[mid + 1]) > 0) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		for (size_t j = lo; j < n; j++) {
			score(l, &c[j]);
			if (compare_wrong(&c[j], &c[lo]) > 0) {
				break;
			}
			prefer(&best, &c[j]);
		}
	}
	free(c);
	return best;
}

static struct candidate extreme(const struct usk_lines *l)
{
	struct candidate best = { .line.s.den = 0 };
	struct candidate min = { .line = { l->min_floor, l->free_min } };
	struct candidate max = { .line = { l->max_floor, l->free_max } };
	if (l->has_free_min && min.line.s.den + min.line.s.num > 0) {
		prefer(&best, &min);
	}
	if (l->has_free_max && max.line.s.den + max.line.s.num > 0) {
		prefer(&best, &max);
	}
	return best;
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	if (!l->half[USK_FLOOR].n || !l->half[USK_CEILING].n) {
		return usk_fail(err, USK_EINPUT, 0,
				"least-violation needs messages in both directions");
	}
	struct candidate best = l->quality == USK_BOUNDED ? extreme(l) : search(l);
	if (!best.line.s.den) {
		return usk_fail(err, USK_EINPUT, 0,
				"no line through a message of each direction has the clock "
				"advance: least-violation needs messages at more times");
	}
	usk_i128 x[2];
	usk_fit_span(fit, &x[0], &x[1]);
	return usk_fit_straight(fit, usk_line_floor(best.line.p, best.line.s, x[0]),
				usk_line_floor(best.line.p, best.line.s, x[1]), out, n);
}

USK_ESTIMATOR(least_violation, "least-violation", "Ashton 1995, section 4.2.2",
	      "the line through a vertex of each hull with the least total violation", false,
	      .estimate = estimate, .violates = true);
