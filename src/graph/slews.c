/* SPDX-License-Identifier: MIT */
/*
 * slews.c - steps of a pair that may be one slew
 *
 * In    where a pair shows that the skew limit does not hold, its points
 * Out   the same, those that one slew may have led through as one; how far a slew may have gone on beyond them
 * Why   a daemon may slew a clock faster than the skew limit (chrony by up to 8 %). Each time that this is more
 *       than delays hide a step explains it, but between these steps the clock did not keep to the limit either
 */
#include "graph/course.h"

#include <stdlib.h>
#include <string.h>

/* Which of them no slew explains, as their `step`; free() them. */
static struct usk_spans steps_for_certain(const struct usk_course *w, const struct usk_spans *s)
{
	struct usk_course faster = *w;
	struct usk_spans out = { .n = s->n, .span = usk_alloc(s->n + 1, sizeof *s->span) };
	memcpy(out.span, s->span, s->n * sizeof *s->span);
	faster.skew_e12 += USK_FASTEST_E12;
	struct usk_spans steps = usk_course_steps(&faster);
	usk_course_mark(&out, &steps);
	free(steps.span);
	return out;
}

/* Does a stretch tell that the offset rose, or fell, by no more than that rate for a while? */
static bool held(int64_t rate_e12, const struct usk_need *n, bool rising)
{
	return rising ? n->has_hi && usk_slope_e12(n->s_hi, true) <= rate_e12
		      : n->has_lo && usk_slope_e12(n->s_lo, false) >= -rate_e12;
}

/*
 * How far from one point towards another nothing tells that the offset rose, or fell, by no more than that rate: to the
 * first point that does, or to where records tell of a break, or to `end`; *to_end: nothing does on the whole way. happens:
 * by point whether something may have happened before it, which says nothing of rates; NULL: nowhere.
 */
static size_t unheld(const struct usk_course *w, int64_t rate_e12, size_t at, size_t end,
		     bool rises, const bool *happens, bool *to_end)
{
	const bool back = end < at;
	struct usk_needing g = { .n = { 0 } };
	size_t i = at;
	for (;; i = back ? i - 1 : i + 1) {
		const struct usk_course_point *p = &w->p[i];
		if (i != at && happens && happens[back ? i + 1 : i]) {
			usk_needing_clear(&g);
		}
		usk_needing_push(&g, p->ceiling, (struct usk_xy){ back ? -p->x : p->x, p->y });
		const bool told = held(rate_e12, &g.need, rises != back);
		*to_end = i == end && !told;
		if (told || i == end || (back ? p->fresh : p[1].fresh)) {
			break;
		}
	}
	usk_needing_free(&g);
	return i;
}

/* A slew goes on at one rate: no less than that which takes it through the least that it did in all the time of it. */
static int64_t rate_of(const struct usk_course *w, const struct usk_spans *s, size_t k)
{
	const struct usk_span *x = &s->span[k];
	const struct usk_rise size = usk_course_rise(w, s->cone, x);
	const int64_t least = x->rises ? size.least_ns : size.most_ns; /* either is of the offset */
	const usk_i128 by = least == USK_NONE ? 0 : x->rises ? least : -(usk_i128)least;
	const usk_i128 d = (usk_i128)w->p[x->to].x - w->p[x->from].x;
	const usk_i128 most = (usk_i128)w->skew_e12 + USK_FASTEST_E12;
	return (int64_t)(d > 0 ? usk_clamp(by * USK_E12 / d, w->skew_e12, most) : w->skew_e12);
}

/*
 * A slew may have begun as early, and lasted as long, as nothing tells that its rate was less, whatever else happened
 * meanwhile. One that went on to where another one shows is that one, and lasted as long.
 */
static void reach_out(const struct usk_course *w, const struct usk_spans *s)
{
	bool *happens = usk_course_happens(w, s), open;
	size_t first[] = { 0, 0 }, last[] = { w->n - 1, w->n - 1 }; /* by direction */
	for (size_t k = 0; k < s->n; k++) {
		struct usk_span *x = &s->span[k];
		if (x->slewed) {
			const size_t end = first[x->rises] < x->from ? first[x->rises] : x->from;
			x->began =
				unheld(w, rate_of(w, s, k), x->from, end, x->rises, happens, &open);
			first[x->rises] = x->to;
		}
	}
	for (size_t k = s->n; k--;) {
		struct usk_span *x = &s->span[k];
		if (x->slewed) {
			const size_t end = last[x->rises] > x->to ? last[x->rises] : x->to;
			x->ended =
				unheld(w, rate_of(w, s, k), x->to, end, x->rises, happens, &open);
			last[x->rises] = x->from;
		}
	}
	free(happens);
}

/* By how much a clock was set in it at most, if it was; 0: unknown. */
static int64_t most_of(const struct usk_course *w, const struct usk_spans *s, size_t k)
{
	const struct usk_rise size = usk_course_rise(w, s->cone, &s->span[k]);
	if (size.least_ns == USK_NONE || size.most_ns == USK_NONE) {
		return 0;
	}
	const int64_t least = size.least_ns < 0 ? -size.least_ns : size.least_ns;
	const int64_t most = size.most_ns < 0 ? -size.most_ns : size.most_ns;
	return least > most ? least : most;
}

static void swallow(struct usk_span *all, const struct usk_span *x)
{
	const bool known = all->at_once_ns && x->at_once_ns;
	all->to = x->to > all->to ? x->to : all->to;
	all->from = x->from < all->from ? x->from : all->from;
	all->at_once_ns = !known			    ? 0
			  : x->at_once_ns > all->at_once_ns ? x->at_once_ns
							    : all->at_once_ns;
	all->slew = all->slewed = true;
}

void usk_course_unite_slews(const struct usk_course *w, struct usk_spans *s)
{
	if (!s->n) {
		return;
	}
	struct usk_spans certain = steps_for_certain(w, s);
	size_t last[] = { SIZE_MAX, SIZE_MAX }; /* by direction: what a step may go on with */
	size_t n = 0;
	for (size_t k = 0; k < s->n; k++) {
		struct usk_span x = s->span[k];
		size_t *of = &last[x.rises];
		x.slewed = x.step && !certain.span[k].step;
		x.at_once_ns = most_of(w, s, k);
		bool one = x.slewed && *of != SIZE_MAX;
		if (one && s->span[*of].to < x.from) {
			unheld(w, w->skew_e12, s->span[*of].to, x.from, x.rises, NULL, &one);
		}
		if (one) {
			swallow(&s->span[*of], &x);
			continue;
		}
		*of = !x.step ? *of : certain.span[k].step ? SIZE_MAX : n;
		s->span[n++] = x;
	}
	s->n = n;
	for (size_t k = 0; k < n; k++) {
		s->n_slews += s->span[k].slew;
	}
	reach_out(w, s);
	free(certain.span);
}
