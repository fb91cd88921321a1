/* SPDX-License-Identifier: MIT */
/*
 * flights.c - how long messages were under way that may have been so while a clock was set
 *
 * In    points of a pair in the order of time, the spans in which something happened
 * Out   by span, the longest of them
 * Why   a bracket may lie before or behind the truth by as long as that was
 *
 * What the offset at an end of a span leaves a point is a number of that end less one of the point.
 * So on each side of a span, and of each kind, the longest is that of the point with the least number of
 * all that lie no further away than they were under way for; where that end excludes a point, the other end
 * says how long it was, so the least number over a limit is asked for, too.
 */
#include "graph/course.h"

#include <stdlib.h>

/* How long a message was under way at most, by offsets that are possible at `at`; negative: they
 * do not explain it, or do not say. */
static usk_i128 under_way(const struct usk_offsets *v, struct usk_slope_range c, usk_i128 at,
			  const struct usk_course_point *p)
{
	usk_i128 d = p->x - at, y = (p->ceiling ? -(usk_i128)p->y : (usk_i128)p->y) * USK_E12;
	usk_i128 least = d * (d > 0 ? c.slow_e12 : c.fast_e12);
	usk_i128 most = d * (d > 0 ? c.fast_e12 : c.slow_e12);
	return !v->has[!p->ceiling] ? -1 : p->ceiling ? y - (v->lo + least) : v->hi + most - y;
}

/* Who was under way for longest while something happened between two moments. */
struct flight {
	const struct usk_span *span;
	usk_i128 at[2];
	struct usk_offsets v[2]; /* there */
	usk_i128 longest;	 /* so far, e12 */
};

static void weigh(struct flight *f, struct usk_slope_range c, const struct usk_course_point *p)
{
	const usk_i128 l = under_way(&f->v[0], c, f->at[0], p);
	const usk_i128 r = under_way(&f->v[1], c, f->at[1], p);
	const usk_i128 least = l < 0 || (r >= 0 && r < l) ? r : l;
	f->longest = least > f->longest ? least : f->longest;
}

/* Points of one kind, as they lie on one side of spans, by their numbers; a tree of those that were passed: how near
 * to it, in e12, a span may lie for a number of its own of 0. */
struct flyers {
	struct usk_slope_range c;
	bool ceiling, behind;
	struct flyer {
		usk_i128 number;
		size_t point;
	} * by_number;
	size_t n, leaves, *place;
	usk_i128 *near;
};

static int64_t slope_of(const struct flyers *f)
{
	return f->behind != f->ceiling ? f->c.fast_e12 : f->c.slow_e12;
}

static usk_i128 number_of(const struct flyers *f, const struct usk_course_point *p)
{
	const usk_i128 y = (usk_i128)p->y * USK_E12, far = (usk_i128)p->x * slope_of(f);
	return f->ceiling ? y + far : y - far;
}

static usk_i128 number_of_end(const struct flyers *f, const struct usk_offsets *v, usk_i128 at)
{
	return f->ceiling ? at * slope_of(f) - v->lo : v->hi - at * slope_of(f);
}

static int by_number(const void *a, const void *b)
{
	const struct flyer *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static struct flyers flyers_of(const struct usk_course *w, struct usk_slope_range c, bool ceiling,
			       bool behind)
{
	struct flyers f = { .c = c, .ceiling = ceiling, .behind = behind };
	f.by_number = usk_alloc(w->n + 1, sizeof *f.by_number);
	f.place = usk_alloc(w->n + 1, sizeof *f.place);
	for (size_t i = 0; i < w->n; i++) {
		if (w->p[i].ceiling == ceiling) {
			f.by_number[f.n++] = (struct flyer){ number_of(&f, &w->p[i]), i };
		}
	}
	if (f.n) {
		qsort(f.by_number, f.n, sizeof *f.by_number, by_number);
	}
	f.leaves = usk_leaves(f.n);
	f.near = usk_alloc(2 * f.leaves, sizeof *f.near);
	for (size_t k = 0; k < 2 * f.leaves; k++) {
		f.near[k] = USK_INF;
	}
	for (size_t k = 0; k < f.n; k++) {
		f.place[f.by_number[k].point] = k;
	}
	return f;
}

static void flyers_free(struct flyers *f)
{
	USK_FREE(f->by_number, f->place, f->near);
}

/* A point is on this side of the spans that are asked for from now on. */
static void pass(struct flyers *f, const struct usk_course *w, size_t i)
{
	const usk_i128 x = (usk_i128)w->p[i].x * USK_E12;
	size_t k = f->leaves + f->place[i];
	if (w->p[i].ceiling != f->ceiling) {
		return;
	}
	f->near[k] = f->by_number[f->place[i]].number + (f->behind ? x : -x);
	while (k /= 2) {
		f->near[k] =
			f->near[2 * k] < f->near[2 * k + 1] ? f->near[2 * k] : f->near[2 * k + 1];
	}
}

/* The longest time that a point was under way for, by an end of that number, of all from the k-th number on that
 * may have been so at `at`; negative: there is none. */
static usk_i128 longest(const struct flyers *f, size_t k, usk_i128 end, usk_i128 at)
{
	const usk_i128 limit = end + (f->behind ? at : -at) * USK_E12;
	bool found = false;
	if (k >= f->n) {
		return -1;
	}
	for (k += f->leaves;;) {
		found = f->near[k] <= limit;
		if (found || !(k & (k + 1))) {
			break;
		}
		for (k++; !(k & 1);) {
			k /= 2;
		}
	}
	while (found && k < f->leaves) {
		k *= 2;
		k += f->near[k] > limit;
	}
	return found ? end - f->by_number[k - f->leaves].number : -1;
}

static void ask(const struct flyers *f, struct flight *x)
{
	const usk_i128 at = x->at[f->behind];
	usk_i128 end[2];
	size_t n = 0, over;
	for (int k = 0; k < 2; k++) {
		if (x->v[k].has[!f->ceiling]) {
			end[n++] = number_of_end(f, &x->v[k], x->at[k]);
		}
	}
	if (!n) {
		return;
	}
	const usk_i128 low = n == 2 && end[1] < end[0] ? end[1] : end[0];
	const usk_i128 high = n == 2 && end[1] > end[0] ? end[1] : end[0];
	const usk_i128 by_low = longest(f, 0, low, at);
	USK_FIRST(over, 0, f->n, f->by_number[over].number > low);
	const usk_i128 by_high = high > low ? longest(f, over, high, at) : -1;
	x->longest = by_low > x->longest ? by_low : x->longest;
	x->longest = by_high > x->longest ? by_high : x->longest;
}

static int by_from(const void *a, const void *b)
{
	const struct flight *x = a, *y = b;
	return (x->span->from > y->span->from) - (x->span->from < y->span->from);
}

static int by_to(const void *a, const void *b)
{
	const struct flight *x = a, *y = b;
	return (x->span->to < y->span->to) - (x->span->to > y->span->to);
}

/* One side of all flights, from the one on which least lies there. */
static void look(const struct usk_course *w, struct usk_slope_range c, struct flight *f, size_t n,
		 bool behind)
{
	qsort(f, n, sizeof *f, behind ? by_to : by_from);
	for (int ceiling = 0; ceiling < 2; ceiling++) {
		struct flyers all = flyers_of(w, c, ceiling, behind);
		for (size_t k = 0, passed = 0; k < n; k++) {
			const struct usk_span *s = f[k].span;
			const size_t there = behind ? w->n - 1 - s->to : s->from;
			for (; passed < there; passed++) {
				pass(&all, w, behind ? w->n - 1 - passed : passed);
			}
			ask(&all, &f[k]);
		}
		flyers_free(&all);
	}
}

int64_t *usk_course_flights(const struct usk_course *w, struct usk_slope_range c,
			    const struct usk_spans *s)
{
	int64_t *out = usk_alloc(s->n + 1, sizeof *out);
	struct flight *f = usk_alloc(s->n + 1, sizeof *f);
	size_t n = 0;
	for (size_t k = 0; k < s->n; k++) {
		const struct usk_span *x = &s->span[k];
		if (!x->step || x->rises) {
			continue;
		}
		f[n] = (struct flight){ .span = x,
					.at = { w->p[x->from].x, w->p[x->to].x },
					.v = { usk_course_left_open(w, c, x->from, false),
					       usk_course_left_open(w, c, x->to, true) } };
		for (size_t i = x->from; i <= x->to; i++) {
			weigh(&f[n], c, &w->p[i]);
		}
		n++;
	}
	if (n) {
		look(w, c, f, n, false);
		look(w, c, f, n, true);
	}
	for (size_t i = 0; i < n; i++) {
		out[f[i].span - s->span] = usk_saturate(usk_ceil_div(f[i].longest, USK_E12));
	}
	free(f);
	return out;
}
