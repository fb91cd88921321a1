/* SPDX-License-Identifier: MIT */
/*
 * calm.c - what may have happened to the clocks of a pair without showing in its messages
 *
 * In    points of the pair, two stamps of a clock
 * Out   by how much the offset may have risen between them
 * Why   a step that another pair shows would show here if it was of the clock that both have
 * Not   what does show (course.c)
 */
#include "graph/course.h"

#include <stdlib.h>

static int64_t stamp_of(const struct usk_course *w, size_t i, bool of_b)
{
	return of_b ? usk_saturate((usk_i128)w->part->frame.local_ns + w->p[i].x)
		    : usk_course_a_stamp(w->part, &w->p[i]);
}

/* Slopes in mirrored time. */
static struct usk_slope_range mirrored(struct usk_slope_range c)
{
	return (struct usk_slope_range){ -c.fast_e12, -c.slow_e12 };
}

/* By point the longest calm stretch up to it or, behind, from it on. */
static struct usk_calm_stretch *longest(const struct usk_course *w, int64_t wander,
					const bool *happens, bool behind)
{
	struct usk_calm_stretch best = { .ns = -1 }, *out = usk_alloc(w->n + 1, sizeof *out);
	struct usk_needing g = { .n = { 0 } };
	usk_i128 began = 0;
	for (size_t k = 0; k < w->n; k++) {
		const size_t i = behind ? w->n - 1 - k : k;
		const struct usk_course_point *p = &w->p[i];
		const int64_t x = behind ? -p->x : p->x;
		if (!k || happens[behind ? i + 1 : i]) {
			usk_needing_clear(&g);
			began = x;
		}
		usk_needing_push(&g, p->ceiling, (struct usk_xy){ x, p->y });
		if (x - began > best.ns) {
			const struct usk_slope_range c = usk_course_cone(w, wander, &g.need);
			best = (struct usk_calm_stretch){ x - began, behind ? mirrored(c) : c };
		}
		out[i] = best;
	}
	usk_needing_free(&g);
	return out;
}

/* The first of n rising numbers that is over t. */
static size_t first_over(const int64_t *rising, size_t n, int64_t t)
{
	size_t i;
	USK_FIRST(i, 0, n, rising[i] > t);
	return i;
}

/* May something have happened between two stamps, the first one of a point and those behind, the last of those before? */
static bool is_within(const struct usk_happened *h, int64_t least, int64_t most)
{
	size_t i;
	USK_FIRST(i, 0, h->n, h->within[i].from_ns >= most);
	return i && h->within[i - 1].to_ns > least;
}

static void note_happened(const struct usk_calm_course *x, const struct usk_happened known[2],
			  bool *happens)
{
	for (size_t i = 1; i < x->w.n; i++) {
		happens[i] = happens[i] || x->w.p[i].fresh;
		for (int b = 0; b < 2; b++) {
			happens[i] = happens[i] ||
				     is_within(&known[b], x->least[b][i - 1], x->most[b][i]);
		}
	}
}

void usk_calm_course_of(struct usk_calm_course *x, const struct usk_part *p, int64_t wander_e12,
			int64_t max_skew_e12, const struct usk_happened known[2])
{
	struct usk_course *w = &x->w;
	*w = (struct usk_course){ .part = p, .skew_e12 = max_skew_e12 };
	usk_course_of(w, known[0].back, known[1].back);
	struct usk_spans spans = usk_course_spans(w, wander_e12);
	bool *happens = usk_course_happens(w, &spans);
	for (int b = 0; b < 2; b++) {
		int64_t *most = usk_alloc(w->n + 1, sizeof *most);
		int64_t *least = usk_alloc(w->n + 1, sizeof *least);
		for (size_t i = 0; i < w->n; i++) {
			most[i] = least[i] = stamp_of(w, i, b);
		}
		usk_most_before(most, w->n);
		usk_least_behind(least, w->n);
		x->most[b] = most;
		x->least[b] = least;
	}
	note_happened(x, known, happens);
	for (int b = 0; b < 2; b++) {
		x->stretch[b] = longest(w, wander_e12, happens, b);
	}
	USK_FREE(happens, spans.span);
}

void usk_calm_course_free(struct usk_calm_course *x)
{
	for (int b = 0; b < 2; b++) {
		USK_FREE(x->most[b], x->least[b], x->stretch[b]);
	}
	free(x->w.p);
}

/* From which point on, and before which one, nothing else happened to a clock than between points `last` and `behind`; none
 * are left if something else may have happened there. */
static struct usk_range calm_points(const struct usk_calm_course *x, bool of_b,
				    const struct usk_calm_around *c, size_t last, size_t behind)
{
	const int64_t *most = x->most[of_b], *least = x->least[of_b];
	int64_t since = c->since_ns, until = c->until_ns;
	for (size_t i = 0; i < c->n_others; i++) {
		const struct usk_stamps_within *o = &c->other[i];
		const bool before = o->from_ns < most[last];
		since = (before || o->to_ns <= least[behind]) && o->to_ns > since ? o->to_ns
										  : since;
		until = o->to_ns > least[behind] && o->from_ns < until ? o->from_ns : until;
	}
	return (struct usk_range){ first_over(least, x->w.n, since),
				   first_over(most, x->w.n, until) };
}

/* Who asks supposes that something happened there: what messages before it and behind it say of rates together then says
 * nothing, as it may have hidden just that. */
struct usk_rise usk_calm_jump(const struct usk_calm_course *x, bool of_b,
			      const struct usk_stamps_within *at,
			      const struct usk_calm_around *const calm[2])
{
	const struct usk_course *w = &x->w;
	const struct usk_rise unknown = { USK_NONE, USK_NONE, { USK_NONE, USK_NONE } };
	/* All points up to one have no later stamps, all from one on no earlier ones. */
	const size_t before = first_over(x->most[of_b], w->n, at->from_ns);
	const size_t behind =
		first_over(x->least[of_b], w->n, at->to_ns - (at->to_ns > at->from_ns));
	if (!before || behind >= w->n || before > behind) {
		return unknown;
	}
	const size_t last = before - 1;
	const struct usk_range a = calm_points(x, false, calm[0], last, behind),
			       b = calm_points(x, true, calm[1], last, behind);
	const size_t first = a.first > b.first ? a.first : b.first;
	const size_t end = a.end < b.end ? a.end : b.end;
	if (first > last || behind >= end) {
		return unknown;
	}
	const struct usk_calm_stretch *l = &x->stretch[0][last], *r = &x->stretch[1][behind];
	const struct usk_slope_range c = l->ns > r->ns ? l->cone : r->cone;
	return usk_rise_between(c, usk_course_left_open_until(w, c, last, false, first),
				usk_course_left_open_until(w, c, behind, true, end - 1),
				(usk_i128)w->p[behind].x - w->p[last].x);
}
