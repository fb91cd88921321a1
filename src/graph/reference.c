/* SPDX-License-Identifier: MIT */
/*
 * reference.c - where the reference may have been set: what that does to all other clocks
 *
 * In    brackets of pairs with the reference, and whose they may be; breaks that its records tell
 * Out   breaks of all other clocks, wherever they may have been then
 * Why   the reference is right by definition, so whatever it does appears in the others' offsets
 * Not   whose a bracket was (blame.c); messages that were under way meanwhile (under_way.c)
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

/* What a bracket of the reference and another clock says of the reference: all of it or, where it is excluded that all of
 * it was the reference's, the part that other pairs may hide. */
static void break_by_bracket(struct usk_work *w, uint32_t number, struct usk_under_way **u)
{
	const size_t first_break = w->n_breaks;
	const struct usk_seen *s = &w->seen[number];
	const bool a = s->a == w->reference, in_part = s->excluded[!a];
	const uint32_t other = a ? s->b : s->a;
	const bool rises = usk_seen_rises_for(s, other);
	const int64_t part = s->part_ns[!a];
	const struct usk_bracket at = usk_seen_of(s, w->reference);
	const int64_t far = in_part ? part : usk_bracket_farthest(&at);
	struct usk_break b = usk_break_of(&at, rises, number);
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
	b.far_ns = in_part ? part : usk_bracket_set_back(&at, s->b == w->reference);
	usk_i128 from, to;
	usk_seen_done_by(w, s, w->reference, &from, &to);
	usk_break_everyone(w, other, from, to, far, b);
	if (usk_seen_sets_back(w, s)) {
		const struct usk_when when[] = { { s->at.a0_ns, s->at.a1_ns },
						 { s->at.b0_ns, s->at.b1_ns } };
		const struct usk_fell_back back = {
			.far_ns = far,
			.from = from,
			.own = when[!a],
			.other = other,
			.others = when[a],
			.bracket = number,
			.flight_ns = s->at.doubted ? 0 : s->at.flight_ns,
			.first_break = first_break,
		};
		*u = *u ? *u : usk_under_way_begin(w);
		usk_under_way_note(w, &back, *u);
	}
	if (s->at.slewed && !in_part && !s->at.doubted) {
		usk_seen_place(w, s, &s->at.slew_in, w->reference, &from, &to);
		usk_break_everyone(w, other, from, to, 0, usk_slew_of(&s->at, rises, number));
	}
}

void usk_break_by_reference(struct usk_work *w)
{
	struct usk_under_way *u = NULL;
	for (uint32_t i = 0; i < w->n_seen; i++) {
		if (usk_seen_has(&w->seen[i], w->reference)) {
			break_by_bracket(w, i, &u);
		}
	}
	usk_under_way_end(w, u);
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
