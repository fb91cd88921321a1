/* SPDX-License-Identifier: MIT */
/*
 * sweep.c - bounds of one side, carried along paths
 *
 * In    events and cells in the order of sweeps, who has something to do
 * Out   narrower bounds, and who has something to do for it
 *
 * A sweep goes through events in their approximate order of time, forwards, then backwards: a bound
 * is carried along a whole stretch of a path by one sweep. Of many clocks in a row a sweep moves
 * the events of few: it looks at no others.
 */
#include "graph/sweep.h"

static inline void done(struct usk_side *b, uint32_t k, uint8_t what)
{
	b->todo[k] &= (uint8_t)~what;
	if (!(b->todo[k] & ALL)) {
		usk_unmark(b->marks, k);
	}
}

static inline void narrow(struct usk_side *b, uint32_t k, usk_i128 t, unsigned tell)
{
	if (t > b->t[k]) {
		b->t[k] = t;
		usk_sweep_moved(b, k, tell);
	}
}

static inline void pass(struct usk_side *b, uint32_t from, uint32_t to, usk_i128 rise,
			unsigned tell)
{
	if (b->t[from] > -USK_INF && rise > -USK_INF) {
		narrow(b, to, b->t[from] + rise, tell);
	}
}

static inline void meet(struct usk_side *b, uint32_t k)
{
	const struct usk_swept *at = &b->s->node[k];
	if (at->peer != USK_NO_EVENT && at->sent == b->upper) {
		narrow(b, k, b->t[at->peer], TELL_BEFORE | TELL_BEHIND);
	}
}

/* Where stamps may have been shown twice, over all cells to the nearest events that are in order with one by theirs. */
static void spend_far(struct usk_side *b, uint32_t i, usk_i128 best, bool forth)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_in_order *o = &s->w->in_order;
	const uint32_t *there = forth ? o->behind : o->before,
		       *back = forth ? o->before : o->behind;
	for (uint32_t e = there[i]; e != USK_NO_EVENT && back[e] == i; e = forth ? e + 1 : e - 1) {
		const struct usk_slack all = usk_slack_of(s->w, forth ? e - 1 : e);
		const usk_i128 rise = forth ? o->rise[e] - o->rise[i] : o->rise[i] - o->rise[e];
		narrow(b, s->place[e],
		       best + rise +
			       (forth ? -usk_slack_began(&all, false)
				      : usk_slack_ended(&all, false)),
		       TELL_ALL);
	}
}

/* From one end of a cell with slack to the other. However many such cells there are between two events, T jumps by no
 * more in all of them than what began before the second and had not ended by the first: so what the first says is
 * carried on as if it did not, with all that ended by there, and less all that began is a bound. */
static void spend(struct usk_side *b, uint32_t from, uint32_t to, bool forth)
{
	const struct usk_sweeps *s = b->s;
	const uint32_t cell = forth ? from : to, i = s->event[cell];
	usk_i128 *carried = forth ? b->forth : b->back, rise;
	const bool rises = b->upper == forth;
	if (!(rises ? usk_cell_most_going : usk_cell_least_going)(s->w, i, s->node[cell].ns,
								  &rise)) {
		return;
	}
	const struct usk_slack all = usk_slack_of(s->w, i);
	const usk_i128 ended = usk_slack_ended(&all, rises);
	const usk_i128 began = usk_slack_began(&all, rises);
	const usk_i128 own =
		b->t[from] > -USK_INF ? b->t[from] + (forth ? ended : -began) : -USK_INF;
	const usk_i128 best = own > carried[from] ? own : carried[from];
	const usk_i128 v = best + (rises ? -rise : rise);
	if (best <= -USK_INF || v <= carried[to]) {
		return;
	}
	const uint32_t next = forth ? s->node[to].behind : s->node[to].before;
	carried[to] = v;
	if (next != USK_NO_EVENT) {
		usk_sweep_todo(b, next, forth ? BEFORE : BEHIND);
	}
	const usk_i128 twice = rises ? 0 : usk_e12(usk_slack_twice(&all, s->node[cell].ns));
	narrow(b, to, v + (forth ? -began : ended) - twice, TELL_ALL);
	if (!rises && s->w->in_order.rise) {
		spend_far(b, s->event[from], best, forth);
	}
}

static inline void visit_forth(struct usk_side *b, uint32_t k)
{
	const struct usk_sweeps *s = b->s;
	uint32_t before = s->node[k].before;
	uint8_t what = b->todo[k];
	done(b, k, BEFORE | PEER);
	if (what & BEFORE && before != USK_NO_EVENT) {
		usk_i128 by = b->upper ? -usk_swept_most(s, before) : usk_swept_least(s, before);
		/* What came from one side may go on to the other, over stamps that were shown twice. */
		const bool slack = s->node[before].slack;
		pass(b, before, k, by, slack ? TELL_ALL : TELL_PEER | TELL_BEHIND);
		if (slack) {
			spend(b, before, k, true);
		}
	}
	if (what & PEER) {
		meet(b, k);
	}
}

static inline void visit_back(struct usk_side *b, uint32_t k)
{
	const struct usk_sweeps *s = b->s;
	uint32_t behind = s->node[k].behind;
	uint8_t what = b->todo[k];
	done(b, k, BEHIND | PEER);
	if (what & BEHIND && behind != USK_NO_EVENT) {
		usk_i128 by = b->upper ? usk_swept_least(s, k) : -usk_swept_most(s, k);
		const bool slack = s->node[k].slack;
		pass(b, behind, k, by, slack ? TELL_ALL : TELL_PEER | TELL_BEFORE);
		if (slack) {
			spend(b, behind, k, false);
		}
	}
	if (what & PEER) {
		meet(b, k);
	}
}

/* What a pair says of the bounds of both its events. */
static inline void compare(struct usk_side *b, const struct usk_pairwise *p)
{
	uint32_t from = b->upper ? p->b : p->a, to = b->upper ? p->a : p->b;
	pass(b, from, to, p->least, TELL_ALL);
	pass(b, to, from, -p->most, TELL_ALL);
}

/* Of a side and of what is swept nothing changes meanwhile but what they point to: of copies of its own a
 * compiler knows that, too. */
void usk_sweep(struct usk_side *side)
{
	struct usk_sweeps s = *side->s;
	struct usk_side b = *side;
	b.s = &s;
	for (uint32_t k = 0; (k = usk_next_mark(b.marks, s.n_marks, k)) != USK_NO_MARK; k++) {
		visit_forth(&b, k);
	}
	for (uint32_t k = s.n_order; k && (k = usk_last_mark(b.marks, k - 1)) != USK_NO_MARK;) {
		visit_back(&b, k);
	}
	side->moved = b.moved;
}

/*
 * Out from the reference: what pairs say of a clock, then its events forwards and backwards, before
 * the next clock's. A path over many clocks waits at each for the next message, so a sweep by time
 * leads over few of them, and what it brings there is found to be too wide again and again. Where
 * that takes long each clock's bounds are to be as good as those of the clocks before before they
 * lead on.
 */
void usk_sweep_outwards(struct usk_side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	for (size_t n = 0; n < w->n_clocks; n++) {
		uint32_t k = w->outwards[n];
		for (size_t i = s->pairs_of[n]; i < s->pairs_of[n + 1]; i++) {
			const struct usk_pairwise *p = &w->pairwise[s->by_clock[i]];
			if (usk_is_marked(b->recent, p->a) || usk_is_marked(b->recent, p->b) ||
			    usk_is_marked(b->pairs, s->by_clock[i])) {
				compare(b, p);
			}
		}
		for (uint32_t i = w->first[k]; i < w->first[k + 1] && k != w->reference; i++) {
			visit_forth(b, s->place[i]);
		}
		for (uint32_t i = w->first[k + 1]; i-- > w->first[k] && k != w->reference;) {
			visit_back(b, s->place[i]);
		}
	}
}

/* ---- what is not between neighbours ------------------------------------------------------------
 */

/*
 * Events between the ends of a fold are ordered with these alone. Whether one lies before or behind
 * the moment at which its clock was set back, from the first end to it and from it to the last one
 * goes by no less time than stamps tell.
 */
static void fold(struct usk_side *b, const struct usk_fold *f)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	uint32_t from = s->place[b->upper ? f->last : f->first];
	uint32_t to = s->place[b->upper ? f->first : f->last];
	usk_i128 most = -USK_INF, l, r;
	for (uint32_t i = f->first; i <= f->last; i++) {
		uint32_t k = s->place[i];
		const bool after = usk_fold_from_first(w, f, w->x[i], &l);
		const bool before = usk_fold_to_last(w, f, w->x[i], &r);
		if (b->upper ? before : after) {
			pass(b, from, k, b->upper ? r : l, TELL_ALL);
		}
		usk_i128 t = b->t[k] + (b->upper ? l : r);
		most = (b->upper ? after : before) && b->t[k] > -USK_INF && t > most ? t : most;
	}
	narrow(b, to, most, TELL_ALL);
}

static inline void mark_pairs(struct usk_side *b, uint32_t k)
{
	const struct usk_sweeps *s = b->s;
	if (usk_is_marked(b->recent, k)) {
		usk_unmark(b->recent, k);
		for (uint32_t n = s->of_event[k]; n < s->of_event[k + 1]; n++) {
			usk_mark(b->pairs, s->pair_at[n]);
		}
	}
}

static inline void compare_marked(struct usk_side *b, uint32_t i)
{
	const struct usk_pairwise *p = &b->s->w->pairwise[i];
	compare(b, p);
	mark_pairs(b, p->a);
	mark_pairs(b, p->b);
	/* What it says of the one leaves nothing to say of the other. */
	usk_unmark(b->pairs, i);
}

/* Out from the reference, and back. */
static void compare_pairs(struct usk_side *b)
{
	const struct usk_sweeps *s = b->s;
	for (uint32_t k = 0; (k = usk_next_mark(b->recent, s->n_marks, k)) < s->w->n; k++) {
		mark_pairs(b, k);
	}
	for (uint32_t i = 0; (i = usk_next_mark(b->pairs, s->n_pair_marks, i)) != USK_NO_MARK;
	     i++) {
		compare_marked(b, i);
	}
	for (uint32_t i = (uint32_t)s->w->n_pairwise;
	     i && (i = usk_last_mark(b->pairs, i - 1)) != USK_NO_MARK;) {
		compare_marked(b, i);
	}
}

void usk_sweep_all_else(struct usk_side *b)
{
	for (size_t k = 0; k < b->s->w->n_folds; k++) {
		fold(b, &b->s->w->fold[k]);
	}
	for (size_t k = 0; k < b->s->w->n_weak; k++) {
		const struct usk_weak *x = &b->s->w->weak[k];
		const uint32_t sent = b->s->place[x->sent], received = b->s->place[x->received];
		if (x->by_ns != USK_NONE) {
			pass(b, b->upper ? received : sent, b->upper ? sent : received,
			     -usk_e12(x->by_ns), TELL_ALL);
		}
	}
	if (b->s->w->n_pairwise) {
		compare_pairs(b);
	}
}
