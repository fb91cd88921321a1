/* SPDX-License-Identifier: MIT */
/*
 * reference.c - where the reference may have been set: what that does to all other clocks
 *
 * In    brackets of pairs with the reference, and whose they may be; breaks that its records tell
 * Out   breaks of all other clocks, wherever they may have been then; messages that were in flight
 * Why   the reference is right by definition, so whatever it does appears in the others' offsets
 * Not   whose a bracket was (blame.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* An outermost event that nobody knows to be outside of [from, to] goes there: by so much as the
 * clock may take, and has jumped by. */
static void move_out(struct usk_work *w, uint32_t k, bool last, usk_i128 by, int64_t far)
{
	uint32_t e = last ? w->first[k + 1] - 1 : w->first[k], next = last ? e - 1 : e + 1;
	usk_i128 ns = usk_ceil_div(by, USK_E12 - w->p->max_skew_e12) + far;
	int64_t x = usk_saturate(w->x[next] + (last ? ns : -ns));
	w->x[e] = last == (x > w->x[e]) ? x : w->x[e];
	w->beyond_ns[2 * k + last] = usk_saturate((usk_i128)w->beyond_ns[2 * k + last] + far);
}

/* Stamps of a fold are in no order with each other: all of it, then. */
static void unfold(const struct usk_work *w, uint32_t k, uint32_t *first, uint32_t *last)
{
	for (size_t i = 0; i < w->n_folds; i++) {
		const struct usk_fold *f = &w->fold[i];
		if (w->owner[f->first] == k) {
			*first = f->first < *first && *first < f->last ? f->first : *first;
			*last = f->first < *last && *last < f->last ? f->last : *last;
		}
	}
}

void usk_break_between(struct usk_work *w, usk_i128 from, usk_i128 to, int64_t far,
		       struct usk_break b)
{
	const uint32_t k = b.clock;
	if (k == w->reference || w->first[k] == w->first[k + 1]) {
		return;
	}
	uint32_t first = w->first[k], last = w->first[k + 1] - 1;
	/* What nothing says of a stamp that may have been shown twice, its neighbours do. */
	for (uint32_t e = first; e <= last && (w->hi[e] < from || w->hi[e] >= USK_INF); e++) {
		first = w->hi[e] < USK_INF ? e : first;
	}
	for (uint32_t e = last + 1; e-- > first && (w->lo[e] > to || w->lo[e] <= -USK_INF);) {
		last = w->lo[e] > -USK_INF ? e : last;
	}
	unfold(w, k, &first, &last);
	if (w->hi[first] >= from && w->hi[first] < USK_INF && from > -USK_INF) {
		move_out(w, k, false, w->hi[first] - from, far);
	}
	if (w->lo[last] <= to && w->lo[last] > -USK_INF && to < USK_INF) {
		move_out(w, k, true, to - w->lo[last], far);
	}
	b.from_ns = w->x[first];
	b.to_ns = w->x[last];
	usk_break_add(w, b);
}

/* Where the reference may have been set, by up to `far`, all other clocks jump against it. */
void usk_break_everyone(struct usk_work *w, uint32_t except, usk_i128 from, usk_i128 to,
			int64_t far, struct usk_break b)
{
	for (b.clock = 0; b.clock < w->n_clocks; b.clock++) {
		if (b.clock != except) {
			usk_break_between(w, from, to, far, b);
		}
	}
}

/* What bounds do not rest on any more the estimate is still asked, where it can. */
static void wish_only(struct usk_work *w, uint32_t sent, uint32_t received)
{
	w->peer[sent] = w->peer[received] = USK_NO_EVENT;
	if (!w->wished[sent] && !w->wished[received]) {
		w->wish[w->n_wishes++] = (struct usk_wish){ sent, received, 0, false };
		w->wished[sent] = w->wished[received] = (uint32_t)w->n_wishes;
	}
}

/* In stamps of a clock, when something happened to the reference. */
struct when {
	usk_i128 from, to;
};

/*
 * A message that was under way while the reference was set back took less by the reference's clock
 * than it did, by as much. It was sent before the end of where that was, and not long before it, by
 * its sender's clock; and received behind its beginning, and not long behind, by its receiver's. The reference showed
 * up to that much more before it was set back, and less behind.
 */
static void leave_out_under_way(struct usk_work *w, uint32_t number)
{
	const struct usk_seen *s = &w->seen[number];
	bool a = s->a == w->reference;
	usk_i128 long_ns = s->at.flight_ns;
	struct when *sent = usk_alloc(w->n_clocks, sizeof *sent);
	struct when *received = usk_alloc(w->n_clocks, sizeof *received);
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *b = &w->brk[i];
		if (b->bracket == number && !b->fast_up && !b->fast_down) {
			sent[b->clock] = (struct when){ b->from_ns - long_ns, b->to_ns };
			received[b->clock] = (struct when){ b->from_ns, b->to_ns + long_ns };
		}
	}
	usk_i128 from = a ? s->at.a0_ns : s->at.b0_ns, to = a ? s->at.a1_ns : s->at.b1_ns;
	const int64_t far = usk_bracket_farthest(&s->at);
	sent[w->reference] = (struct when){ from - long_ns, to + far };
	received[w->reference] = (struct when){ from - far, to + long_ns };
	for (uint32_t clock = 0; clock < w->n_clocks; clock++) {
		uint32_t i = usk_event_behind(w, clock, sent[clock].from - 1);
		for (; i < w->first[clock + 1] && w->x[i] <= sent[clock].to; i++) {
			uint32_t k = w->sent[i] ? w->peer[i] : USK_NO_EVENT;
			const struct when *x = k == USK_NO_EVENT ? NULL : &received[w->owner[k]];
			if (x && w->x[k] >= x->from && w->x[k] <= x->to) {
				wish_only(w, i, k);
			}
		}
	}
	free(sent);
	free(received);
}

/* What a bracket of the reference and another clock says of the reference: all of it or, where it is excluded that all of
 * it was the reference's, the part that other pairs may hide. */
static void break_by_bracket(struct usk_work *w, uint32_t number)
{
	const struct usk_seen *s = &w->seen[number];
	const bool a = s->a == w->reference, in_part = s->excluded[!a];
	const uint32_t other = a ? s->b : s->a;
	const bool rises = usk_seen_rises_for(s, other);
	const int64_t part = s->part_ns[!a];
	const int64_t far = in_part ? part : usk_bracket_farthest(&s->at);
	struct usk_break b = usk_break_of(&s->at, rises, number);
	/* Where a slew explains it T may jump in each cell of the bracket, and if it may in both directions nothing is
	 * known in there: of that all was the other clock's. */
	if (in_part && (!part || !s->at.step)) {
		return;
	}
	if (in_part) {
		b.in_part = true;
		b.up = b.down = false;
		b.rise_ns = rises || s->at.both ? part : 0;
		b.fall_ns = rises && !s->at.both ? 0 : part;
	}
	b.falls = true;
	b.far_ns = in_part ? part : usk_bracket_set_back(&s->at, s->b == w->reference);
	usk_break_everyone(w, other, s->from, s->to, far, b);
	if (s->at.slewed && !in_part && !s->at.doubted) {
		usk_i128 from, to;
		usk_seen_place(w, s, &s->at.slew_in, &from, &to);
		usk_break_everyone(w, other, from, to, 0, usk_slew_of(&s->at, rises, number));
	}
	if (!in_part && usk_seen_sets_back(w, s) && s->at.step && !s->at.doubted) {
		leave_out_under_way(w, number);
	}
}

void usk_break_by_reference(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n_seen; i++) {
		if (usk_seen_has(&w->seen[i], w->reference)) {
			break_by_bracket(w, i);
		}
	}
	const struct usk_graph_back *b = &w->p->back[w->reference];
	for (size_t k = 0; k < b->n; k++) {
		const struct usk_break own = { .up = true,
					       .down = true,
					       .falls = true,
					       .of_reference = true,
					       .bracket = UINT32_MAX };
		usk_break_everyone(w, USK_NO_CLOCK, usk_e12(b->gap[k].before_ns),
				   usk_e12(b->gap[k].after_ns),
				   b->gap[k].after_ns - b->gap[k].before_ns, own);
	}
}
