/* SPDX-License-Identifier: MIT */
/*
 * ends.c - where messages bound a clock on one side only: before the first two-sided event, behind
 * the last
 *
 * In    bounds; t_ns of events that are bounded on both sides
 * Out   t_ns of the others of the same clocks
 * Why   nobody knows what the clock did there, but its messages are in order in what is written
 * Not   clocks that are bounded on one side everywhere: these have no estimate
 *
 * T goes on from the last known event at the clock's rate, and is raised by as little as it takes
 * to be in order with what comes before. That ends in no known event: who is bounded from above
 * bounds all that is before. Before the first one it is lowered, the same way round. An event that
 * the order of its own clock's stamps alone makes known bounds no others, but has its time: T goes
 * on from no further than that allows.
 */
#include "graph/work.h"

#include <stdlib.h>

enum side { KNOWN, BEFORE, BEHIND };

/* T at event i, which goes on from event k. */
static int64_t goes_on(const struct usk_work *w, uint32_t k, uint32_t i)
{
	const struct usk_run *r = &w->run[w->run_of[k]];
	usk_i128 d = (usk_i128)w->x[i] - w->x[k];
	usk_i128 rate = USK_E12 + ((usk_i128)r->slow_e12 + r->fast_e12) / 2;
	return usk_saturate(w->t_ns[k] + usk_floor_div(d * rate, USK_E12));
}

/* Wishes; false: nothing is left open. */
static bool begin(struct usk_work *w, uint32_t k, uint8_t *side)
{
	uint32_t from = w->first[k], to = w->first[k + 1];
	while (from < to && w->t_ns[from] == USK_NONE) {
		from++;
	}
	while (to > from && w->t_ns[to - 1] == USK_NONE) {
		to--;
	}
	if (from == to) {
		return false;
	}
	for (uint32_t i = w->first[k]; i < from; i++) {
		int64_t t = goes_on(w, from, i);
		side[i] = BEFORE;
		w->t_ns[i] = w->hi_ns[i] != USK_NONE && w->hi_ns[i] < t ? w->hi_ns[i] : t;
	}
	for (uint32_t i = to; i < w->first[k + 1]; i++) {
		int64_t t = goes_on(w, to - 1, i);
		side[i] = BEHIND;
		w->t_ns[i] = w->lo_ns[i] != USK_NONE && w->lo_ns[i] > t ? w->lo_ns[i] : t;
	}
	return from > w->first[k] || to < w->first[k + 1];
}

/* Times of those of a side, in order with what comes before (down: behind). */
static void settle(const struct usk_work *w, int64_t *t, const uint8_t *side, enum side of,
		   bool down)
{
	enum { WISHES = 16 }; /* rounds: nothing may bound these */
	int round = 0;
	for (bool moved = true; moved; round++) {
		moved = false;
		for (uint32_t n = 0; n < w->n_order; n++) {
			uint32_t i = w->order[down ? w->n_order - 1 - n : n];
			if (side[i] == of) {
				int64_t v = usk_settled(w, t, i, down, round < WISHES);
				moved = moved || v != t[i];
				t[i] = v;
			}
		}
	}
}

/* Wishes of a side as far as known events allow that come before the first, behind the last. */
static void keep_in_order(struct usk_work *w, const uint8_t *side, enum side of)
{
	bool last = of == BEHIND;
	int64_t *t = usk_grow(NULL, w->n + 1, sizeof *t),
		none = last ? USK_TIME_MAX : -USK_TIME_MAX;
	for (uint32_t i = 0; i < w->n; i++) {
		t[i] = side[i] == of ? none : side[i] == KNOWN ? w->t_ns[i] : USK_NONE;
	}
	settle(w, t, side, of, last);
	for (uint32_t i = 0; i < w->n; i++) {
		int64_t bound = last ? w->lo_ns[i] : w->hi_ns[i];
		if (side[i] != of || t[i] == none) {
			continue;
		}
		int64_t v = bound != USK_NONE && last == (t[i] < bound) ? bound : t[i];
		w->t_ns[i] = last == (v < w->t_ns[i]) ? v : w->t_ns[i];
	}
	free(t);
}

void usk_estimate_ends(struct usk_work *w)
{
	uint8_t *side = usk_alloc(w->n + 1, sizeof *side);
	bool any = false;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		any = begin(w, i, side) || any;
	}
	if (any) {
		keep_in_order(w, side, BEFORE);
		keep_in_order(w, side, BEHIND);
		settle(w, w->t_ns, side, BEFORE, true);
		settle(w, w->t_ns, side, BEHIND, false);
	}
	free(side);
}
