/* SPDX-License-Identifier: MIT */
/*
 * in_order.c - stamps that a clock may have shown twice, where it was set back by so little that a slope explains it
 *
 * In    cells with slack
 * Out   by event the nearest ones that are in order with it whatever was shown twice, and what they say
 * Why   of two stamps that are further apart than it was set back by the later one was shown later
 * Not   steps: these have folds (build.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* Of the events of one stretch, first to last. */
static void order_stretch(const struct usk_work *w, uint32_t first, uint32_t last, int64_t twice_ns,
			  struct usk_in_order *o)
{
	uint32_t p = first;
	for (uint32_t e = first + 1; e <= last; e++) {
		const usk_i128 d = (usk_i128)w->x[e] - w->x[e - 1];
		const unsigned pace = w->cell[e - 1].lower;
		const int64_t slowest =
			USK_E12 - w->p->max_skew_e12 - (pace == USK_FAST ? USK_FASTEST_E12 : 0);
		o->rise[e] = o->rise[e - 1] + (pace == USK_MONOTONE ? 0 : d * slowest);
		for (; (usk_i128)w->x[e] - w->x[p] > twice_ns; p++) {
			o->behind[p] = e;
		}
		o->before[e] = p > first ? p - 1 : USK_NO_EVENT;
	}
}

void usk_in_order(struct usk_work *w)
{
	struct usk_in_order *o = &w->in_order;
	bool any = false;
	for (size_t k = 0; k < w->n_slacks && !any; k++) {
		any = w->slack[k].twice_ns > 0;
	}
	USK_FREE(o->before, o->behind, o->rise);
	*o = (struct usk_in_order){ NULL, NULL, NULL };
	if (!any) {
		return;
	}
	o->before = usk_grow(NULL, w->n + 1, sizeof *o->before);
	o->behind = usk_grow(NULL, w->n + 1, sizeof *o->behind);
	o->rise = usk_alloc(w->n + 1, sizeof *o->rise);
	for (uint32_t i = 0; i < w->n; i++) {
		o->before[i] = o->behind[i] = USK_NO_EVENT;
	}
	for (uint32_t i = 0, end; i < w->n; i = end + 1) {
		int64_t twice = 0;
		for (end = i; w->cell[end].slack && w->cell[end].lower != USK_UNBOUNDED; end++) {
			const int64_t here = usk_slack_of(w, end).twice_ns;
			twice = here > twice ? here : twice;
		}
		if (twice) {
			order_stretch(w, i, end, twice, o);
		}
	}
}

bool usk_in_order_says(const struct usk_work *w, uint32_t i, bool upper, usk_i128 *bound)
{
	const struct usk_in_order *o = &w->in_order;
	const uint32_t *there = upper ? o->behind : o->before;
	const uint32_t p = o->rise ? there[i] : USK_NO_EVENT;
	if (p == USK_NO_EVENT || (upper ? w->hi_ns : w->lo_ns)[p] == USK_NONE) {
		return false;
	}
	/* What bends between them may have done, and beside them. */
	const struct usk_slack first = usk_slack_of(w, upper ? i - 1 : p),
			       last = usk_slack_of(w, upper ? p - 1 : i);
	const usk_i128 falls = usk_slack_began(&last, false) - usk_slack_ended(&first, false);
	const usk_i128 rise = upper ? o->rise[p] - o->rise[i] : o->rise[i] - o->rise[p];
	*bound = upper ? usk_e12(w->hi_ns[p]) - rise + falls : usk_e12(w->lo_ns[p]) + rise - falls;
	return true;
}
