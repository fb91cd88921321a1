/* SPDX-License-Identifier: MIT */
/*
 * fill.c - bounds of events that have none on a side, from those of other events of their clock
 *
 * In    bounds in whole ns, and where T may fall
 * Out   bounds on more sides, w->filled says on which; of events of one stamp one band
 * Why   where T may fall no edge goes from a bound to what comes behind it, but the order of stamps still
 *       tells: a band that is wide is more than none
 * Not   anything of other clocks, but that no band excludes a message (give_way())
 */
#include "graph/work.h"

#include <stdlib.h>

/* An outermost event that was moved out has jumped by what is known. */
static void bound_beyond(struct usk_work *w, uint32_t k)
{
	for (uint32_t last = 0; last < 2; last++) {
		uint32_t e = last ? w->first[k + 1] - 1 : w->first[k], next = last ? e - 1 : e + 1;
		usk_i128 d = (usk_i128)w->x[e] - w->x[next], far = w->beyond_ns[2 * k + last];
		usk_i128 more = far + usk_ceil_div((d < 0 ? -d : d) * w->p->max_skew_e12, USK_E12);
		if (far && w->lo_ns[e] == USK_NONE && w->lo_ns[next] != USK_NONE) {
			w->lo_ns[e] = usk_saturate(w->lo_ns[next] + d - more);
		}
		if (far && w->hi_ns[e] == USK_NONE && w->hi_ns[next] != USK_NONE) {
			w->hi_ns[e] = usk_saturate(w->hi_ns[next] + d + more);
		}
	}
}

/* An event that has a bound. */
struct known {
	uint32_t event;
	int64_t ns;
};

/* What a bound says of another event of its clock, times sign: the less, the more T may have fallen between. */
static usk_i128 says(const struct usk_work *w, const struct known *k, uint32_t i, int sign)
{
	const uint32_t a = k->event < i ? k->event : i, b = k->event < i ? i : k->event;
	return (usk_i128)sign * k->ns - usk_fell(w, w->owner[i], w->x[a], w->x[b], true);
}

/* Is it between the ends of a fold? */
static bool is_within(const struct usk_work *w, uint32_t i)
{
	return w->cell[i].folded && i > w->first[w->owner[i]] && w->cell[i - 1].folded;
}

static void better(struct known *best, uint32_t i, int64_t ns, int sign)
{
	if (best->ns == USK_NONE || sign * ns > sign * best->ns) {
		*best = (struct known){ i, ns };
	}
}

/* One side of a clock's events, in the direction in which what bounds one bounds those behind it: the best bound
 * so far does, or the last one, over less that may fall, or the best one that no fold is around. */
static void fill_side(struct usk_work *w, uint32_t n, bool upper)
{
	const uint32_t first = w->first[n], end = w->first[n + 1];
	const uint8_t side = upper ? USK_FILLED_HI : USK_FILLED_LO;
	const int sign = upper ? -1 : 1;
	int64_t *ns = upper ? w->hi_ns : w->lo_ns;
	struct known known[] = { { 0, USK_NONE }, { 0, USK_NONE }, { 0, USK_NONE } };
	for (uint32_t k = first; k < end; k++) {
		const uint32_t i = upper ? first + (end - 1 - k) : k;
		usk_i128 most = -USK_INF;
		if (!(w->filled[i] & side)) {
			known[0] = (struct known){ i, ns[i] };
			better(&known[1], i, ns[i], sign);
			if (!is_within(w, i)) {
				better(&known[2], i, ns[i], sign);
			}
			continue;
		}
		for (size_t m = 0; m < COUNT(known); m++) {
			usk_i128 v = known[m].ns == USK_NONE ? most : says(w, &known[m], i, sign);
			most = v > most ? v : most;
		}
		ns[i] = most > -USK_INF ? usk_saturate(sign * most) : ns[i];
	}
}

/* A bound that was filled in gives way to one, at all events of that stamp. */
static void widen_open(struct usk_work *w, uint32_t i, bool upper, int64_t to)
{
	uint32_t first = w->first[w->owner[i]], end = w->first[w->owner[i] + 1];
	while (i > first && w->x[i - 1] == w->x[i]) {
		i--;
	}
	for (int64_t x = w->x[i]; i < end && w->x[i] == x; i++) {
		if (upper && w->filled[i] & USK_FILLED_HI && w->hi_ns[i] < to) {
			w->hi_ns[i] = to;
		} else if (!upper && w->filled[i] & USK_FILLED_LO && w->lo_ns[i] > to) {
			w->lo_ns[i] = to;
		}
	}
}

/* What is filled in at stamps that were shown twice may contradict a message between them. */
static void give_way(struct usk_work *w, uint32_t from, uint32_t to)
{
	int64_t lo = w->lo_ns[from], hi = w->hi_ns[to];
	if (lo != USK_NONE && hi != USK_NONE && lo > hi) {
		widen_open(w, from, false, hi);
		widen_open(w, to, true, lo);
	}
}

static uint32_t next_stamp(const struct usk_work *w, uint32_t i)
{
	uint32_t end = i + 1, last = w->first[w->owner[i] + 1];
	while (end < last && w->x[end] == w->x[i]) {
		end++;
	}
	return end;
}

/* Events of one stamp, which has one band. If their bounds contradict each other T did fall, and
 * the stamp may be of any time between. */
static void spread(struct usk_work *w, uint32_t from, uint32_t end)
{
	int64_t lo = USK_NONE, hi = USK_NONE;
	for (uint32_t i = from; i < end; i++) {
		lo = w->lo_ns[i] > lo ? w->lo_ns[i] : lo;
		hi = w->hi_ns[i] != USK_NONE && (hi == USK_NONE || w->hi_ns[i] < hi) ? w->hi_ns[i]
										     : hi;
	}
	for (uint32_t i = from; i < end && lo != USK_NONE && hi != USK_NONE && lo > hi; i++) {
		w->lo_ns[i] = w->lo_ns[i] > hi ? hi : w->lo_ns[i];
		w->hi_ns[i] = w->hi_ns[i] != USK_NONE && w->hi_ns[i] < lo ? lo : w->hi_ns[i];
	}
}

/*
 * Where T may fall nothing may bound an event on a side. What bounds other events of the clock does
 * so in the order of stamps, less what T may have fallen by meanwhile: of one that is shown once all that are
 * lower came before. Not over messages: a stamp that is shown twice has no one time that others could be told.
 */
void usk_fill(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		bound_beyond(w, i);
	}
	for (uint32_t i = 0; i < w->n; i++) {
		w->filled[i] = (w->lo_ns[i] == USK_NONE ? USK_FILLED_LO : 0) |
			       (w->hi_ns[i] == USK_NONE ? USK_FILLED_HI : 0);
	}
	usk_fallings_of(w);
	for (uint32_t n = 0; n < w->n_clocks; n++) {
		fill_side(w, n, false);
		fill_side(w, n, true);
	}
	for (uint32_t i = 0, end; i < w->n; i = end) {
		end = next_stamp(w, i);
		spread(w, i, end);
		for (uint32_t k = i; k < end; k++) {
			w->filled[k] &= (w->lo_ns[k] == USK_NONE ? 0 : USK_FILLED_LO) |
					(w->hi_ns[k] == USK_NONE ? 0 : USK_FILLED_HI);
		}
	}
	for (uint32_t i = 0; i < w->n; i++) { /* no band excludes a message */
		if (w->peer[i] != USK_NO_EVENT && w->sent[i]) {
			give_way(w, i, w->peer[i]);
		}
	}
}
