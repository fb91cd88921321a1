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

void usk_calm_course_of(struct usk_calm_course *x, const struct usk_part *p, int64_t wander_e12,
			int64_t max_skew_e12)
{
	struct usk_course *w = &x->w;
	*w = (struct usk_course){ .part = p, .skew_e12 = max_skew_e12 };
	usk_course_of(w, NULL, NULL);
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

/* The first of n rising numbers that is over t. */
static size_t first_over(const int64_t *rising, size_t n, int64_t t)
{
	size_t i;
	USK_FIRST(i, 0, n, rising[i] > t);
	return i;
}

/* Who asks supposes that something happened there: what messages before it and behind it say of rates together then says
 * nothing, as it may have hidden just that. */
void usk_calm_jump(const struct usk_calm_course *x, bool of_b, int64_t from_ns, int64_t to_ns,
		   struct usk_rise *out)
{
	const size_t n = x->w.n, before = first_over(x->least[of_b], n, from_ns);
	const int64_t until = to_ns > from_ns ? to_ns - 1 : from_ns;
	const struct usk_span s = { .from = before - 1, .to = first_over(x->most[of_b], n, until) };
	*out = (struct usk_rise){ USK_NONE, USK_NONE, { USK_NONE, USK_NONE } };
	if (before && s.to < n && s.from < s.to) {
		const struct usk_calm_stretch *l = &x->stretch[0][s.from],
					      *r = &x->stretch[1][s.to];
		*out = usk_course_rise(&x->w, l->ns > r->ns ? l->cone : r->cone, &s);
	}
}
