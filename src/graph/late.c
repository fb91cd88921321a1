/* SPDX-License-Identifier: MIT */
/*
 * late.c - was a clock set back where its stamps fall, or are its records late?
 *
 * In    breaks where records alone say that a clock was set back, by no more than records may be late
 * Out   those at which it was, as nothing else agrees with messages: there T does not fall
 * Why   T of late records falls by as much as their stamps; bands have to hold it unless messages rule it out
 * Not   falls that packets decide before anything is matched (flow/falls.c)
 *
 * T before and behind a break is bounded by messages of its side alone, and from there on by the skew limit.
 * Late records of the reference make all others' T rise by as much, and by the room that there is between epochs.
 */
#include "graph/work.h"

static usk_i128 risen_by_reference(const struct usk_work *w)
{
	const struct usk_graph_back *b = &w->p->back[w->reference];
	usk_i128 all = 0;
	for (size_t i = 0; i < b->n; i++) {
		const struct usk_gap *g = &b->gap[i];
		all += g->late_ns ? (usk_i128)g->late_ns + g->after_ns - g->before_ns : 0;
	}
	return usk_e12(usk_saturate(all));
}

/* May T have risen by more than the skew limit between two stamps of a clock? */
static bool may_rise(const struct usk_work *w, uint32_t clock, int64_t from, int64_t to)
{
	bool may = false;
	for (size_t i = 0; i < w->n_breaks && !may; i++) {
		const struct usk_break *b = &w->brk[i];
		may = b->clock == clock && (b->up || b->rise_ns) && b->from_ns < to &&
		      b->to_ns > from;
	}
	return may;
}

static usk_i128 at_limit(const struct usk_work *w, usk_i128 ns)
{
	return ns * (USK_E12 + w->p->max_skew_e12);
}

static bool may_be_late(const struct usk_work *w, const struct usk_break *b, usk_i128 risen)
{
	const uint32_t first = w->first[b->clock], end = w->first[b->clock + 1];
	uint32_t before = usk_event_behind(w, b->clock, b->from_ns);
	uint32_t after = usk_event_behind(w, b->clock, (usk_i128)b->to_ns - 1);
	while (before > first && w->hi[before - 1] >= USK_INF) {
		before--;
	}
	while (after < end && w->lo[after] <= -USK_INF) {
		after++;
	}
	if (before == first || after == end) {
		return true;
	}
	const int64_t x = w->x[before - 1], y = w->x[after];
	const usk_i128 most = w->hi[before - 1] + at_limit(w, (usk_i128)b->from_ns - x);
	const usk_i128 least = w->lo[after] - at_limit(w, (usk_i128)y - b->to_ns);
	const usk_i128 fell = (usk_i128)b->far_ns * (USK_E12 - w->p->max_skew_e12);
	return may_rise(w, b->clock, x, b->from_ns) || may_rise(w, b->clock, b->to_ns, y) ||
	       least <= most - fell + risen;
}

void usk_late_decide(struct usk_work *w)
{
	const usk_i128 risen = risen_by_reference(w);
	bool any = false;
	for (size_t i = 0; i < w->n_breaks; i++) {
		any = any || (w->brk[i].back && w->brk[i].falls);
	}
	if (!any) {
		return;
	}
	usk_bound_by_order(w);
	for (size_t i = 0; i < w->n_breaks; i++) {
		struct usk_break *b = &w->brk[i];
		if (b->back && b->falls) {
			b->falls = may_be_late(w, b, risen);
			b->far_ns = b->falls ? usk_saturate(usk_ceil_div(at_limit(w, b->far_ns),
									 USK_E12))
					     : 0;
		}
	}
	usk_build_cells(w);
}
