/* SPDX-License-Identifier: MIT */
/*
 * at_once.c - by how much a clock of a pair may have been set at one moment of a bracket that a slope explains
 *
 * In    points of the pair, a span of them
 * Out   the most that the offset may have risen or fallen between two neighbours
 * Why   who is slewed for an hour was not set back by all of that: only so much of stamps can have been shown twice
 * Not   by how much in all (usk_course_rise())
 */
#include "graph/course.h"

#include <stdlib.h>

static bool both_known(const struct usk_offsets *v)
{
	return v->has[0] && v->has[1];
}

/*
 * If a clock was set by s points of before and after lie among each other for as long as stamps were shown twice or messages
 * were under way, and what seems to be left open between neighbours is less. But a slope within S explains all of them
 * together: so what one kind of these lacks of s at one end of that stretch the other kind does not lack at the other end,
 * and the larger one is half of s at least.
 */
int64_t usk_course_at_once(const struct usk_course *w, struct usk_slope_range calm,
			   const struct usk_span *s)
{
	const struct usk_slope_range any = { -w->skew_e12, w->skew_e12 };
	const size_t n = s->to - s->from + 1;
	struct usk_offsets *left = usk_grow(NULL, n, sizeof *left);
	bool known = true;
	left[0] = usk_course_left_open(w, calm, s->from, false);
	for (size_t k = 1; k < n; k++) {
		left[k] = left[k - 1];
		known = !usk_course_carry(w, any, false, s->from + k, &left[k]) && known;
		known = usk_course_narrow(&left[k], &w->p[s->from + k]) && known;
	}
	struct usk_offsets right = usk_course_left_open(w, calm, s->to, true);
	usk_i128 most = 0;
	for (size_t k = n - 1; k > 0 && known; k--) {
		const usk_i128 d = (usk_i128)w->p[s->from + k].x - w->p[s->from + k - 1].x;
		const struct usk_offsets *l = &left[k - 1];
		known = both_known(l) && both_known(&right);
		const usk_i128 up = right.hi - l->lo, down = l->hi - right.lo;
		const usk_i128 here = (up > down ? up : down) + d * w->skew_e12;
		most = here > most ? here : most;
		usk_course_carry(w, any, true, s->from + k - 1, &right);
		known = usk_course_narrow(&right, &w->p[s->from + k - 1]) && known;
	}
	free(left);
	return known ? usk_saturate(usk_ceil_div(2 * most, USK_E12)) : USK_NONE;
}
