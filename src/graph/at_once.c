/* SPDX-License-Identifier: MIT */
/*
 * at_once.c - how large a step may be in a span that a slope explains
 *
 * In    points of the pair, a span of them
 * Out   the part of it in which that is known; the most that the offset may have risen or fallen between two
 *       neighbours there, and in all
 * Why   who is slewed for an hour was not set back by all of that: only so much of stamps can have been shown twice
 */
#include "graph/course.h"

#include <stdlib.h>

static bool both_known(const struct usk_offsets *v)
{
	return v->has[0] && v->has[1];
}

/* What points of a span leave open at each of them, with those before it or, behind, those behind it. false: some
 * contradict, or records tell of a break. */
static bool leave_open(const struct usk_course *w, struct usk_slope_range calm,
		       const struct usk_span *s, bool behind, struct usk_offsets *v)
{
	const struct usk_slope_range any = { -w->skew_e12, w->skew_e12 };
	const size_t n = s->to - s->from + 1;
	size_t i = behind ? n - 1 : 0;
	bool good = true;
	v[i] = usk_course_left_open(w, calm, s->from + i, behind);
	for (size_t k = 1; k < n; k++) {
		const size_t last = i;
		i = behind ? i - 1 : i + 1;
		v[i] = v[last];
		good = !usk_course_carry(w, any, behind, s->from + i, &v[i]) && good;
		good = usk_course_narrow(&v[i], &w->p[s->from + i]) && good;
	}
	return good;
}

/*
 * If a clock was set by s points of before and after lie among each other for as long as stamps were shown twice or messages
 * were under way, and what seems to be left open between neighbours is less. But a slope within S explains all of them
 * together: so what one kind of these lacks of s at one end of that stretch the other kind does not lack at the other end,
 * and the larger one is half of s at least.
 */
static int64_t at_once(const struct usk_course *w, size_t first, const struct usk_offsets *left,
		       const struct usk_offsets *right, size_t from, size_t to)
{
	usk_i128 most = 0;
	for (size_t k = from + 1; k <= to; k++) {
		const usk_i128 d = (usk_i128)w->p[first + k].x - w->p[first + k - 1].x;
		const usk_i128 up = right[k].hi - left[k - 1].lo,
			       down = left[k - 1].hi - right[k].lo;
		const usk_i128 here = (up > down ? up : down) + d * w->skew_e12;
		most = here > most ? here : most;
	}
	return usk_saturate(usk_ceil_div(2 * most, USK_E12));
}

/* Where messages of one direction are all there is before, or behind, anything may have happened; but as soon as there are
 * some of both, within S, it is known by how much. */
struct usk_sized usk_course_sized(const struct usk_course *w, struct usk_slope_range calm,
				  const struct usk_span *s)
{
	const size_t n = s->to - s->from + 1;
	struct usk_offsets *left = usk_grow(NULL, n, sizeof *left),
			   *right = usk_grow(NULL, n, sizeof *right);
	struct usk_sized out = {
		s->to, s->from, { USK_NONE, USK_NONE, { USK_NONE, USK_NONE } }, USK_NONE
	};
	size_t from = 0, to = n - 1;
	if (leave_open(w, calm, s, false, left) && leave_open(w, calm, s, true, right)) {
		while (from < to && !both_known(&left[from])) {
			from++;
		}
		while (from < to && !both_known(&right[to])) {
			to--;
		}
		if (from < to) {
			out = (struct usk_sized){ s->from + from, s->from + to,
						  usk_rise_between(calm, left[from], right[to],
								   (usk_i128)w->p[s->from + to].x -
									   w->p[s->from + from].x),
						  at_once(w, s->from, left, right, from, to) };
		}
	}
	USK_FREE(left, right);
	return out;
}
