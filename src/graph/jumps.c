/* SPDX-License-Identifier: MIT */
/*
 * jumps.c - what is told of a clock's steps, slews and disturbed stretches
 *
 * In    breaks, what pairs showed and whose it may be, bounds
 * Out   jumps with their sizes, stretches in which the rate is free
 */
#include "graph/drawing.h"

#include <stdlib.h>

static bool may_be_of(const struct usk_jump *j, uint32_t k)
{
	return k != USK_NO_CLOCK && (j->of == k || j->or_of == k);
}

/* The same event as several pairs saw it: what all of them allow. In what both reach over may lie
 * two events, and nobody who both may be of need be of either: it is named after the one of which
 * more is known. */
static void unite(struct usk_jump *last, const struct usk_jump *j)
{
	if (j->or_of == USK_NO_CLOCK && last->or_of != USK_NO_CLOCK) {
		last->of = j->of;
		last->or_of = j->or_of;
	}
	last->before_local_ns = j->before_local_ns > last->before_local_ns ? j->before_local_ns
									   : last->before_local_ns;
}

/* Those of one kind, to out. */
static size_t unite_kind(const struct usk_jump *j, size_t n, unsigned kind, struct usk_jump *out)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		if (j[i].kind != kind) {
			continue;
		}
		if (m && j[i].after_local_ns < out[m - 1].before_local_ns) {
			unite(&out[m - 1], &j[i]);
		} else {
			out[m++] = j[i];
		}
	}
	return m;
}

/* Jumps, and bends where there is none: it is in its own bracket alone that a clock may have
 * jumped, whatever it did beside that. j: sorted; room for 2 n + 1. */
static size_t unite_jumps(struct usk_jump *j, size_t n)
{
	struct usk_jump *jump = usk_grow(NULL, n + 1, sizeof *jump);
	struct usk_jump *bend = usk_grow(NULL, n + 1, sizeof *bend);
	size_t n_jumps = unite_kind(j, n, USK_JUMP, jump);
	size_t n_bends = unite_kind(j, n, USK_BEND, bend), m = 0, k = 0;
	for (size_t i = 0; i < n_bends; i++) {
		int64_t from = bend[i].after_local_ns, to = bend[i].before_local_ns;
		for (; k < n_jumps && jump[k].after_local_ns < to; k++) {
			if (from < jump[k].after_local_ns) {
				j[m] = bend[i];
				j[m].after_local_ns = from;
				j[m++].before_local_ns = jump[k].after_local_ns;
			}
			j[m++] = jump[k];
			from = jump[k].before_local_ns > from ? jump[k].before_local_ns : from;
		}
		if (m && j[m - 1].kind == USK_JUMP && j[m - 1].before_local_ns > from) {
			from = j[m - 1].before_local_ns;
		}
		if (from < to) {
			j[m] = bend[i];
			j[m++].after_local_ns = from;
		}
	}
	while (k < n_jumps) {
		j[m++] = jump[k++];
	}
	free(jump);
	free(bend);
	return m;
}

/* By how much the offset rose over a bracket, by the bounds at its ends, at the rates that the
 * clock has before and behind: what goes beyond these is told as part of it. */
static void size_jump(const struct usk_work *w, uint32_t k, struct usk_jump *j)
{
	uint32_t a = w->first[k], b = w->first[k + 1] - 1;
	j->size_lo_ns = j->size_hi_ns = USK_NONE;
	const uint32_t from = usk_event_behind(w, k, j->after_local_ns);
	const uint32_t to = usk_event_behind(w, k, (usk_i128)j->before_local_ns - 1);
	a = from > a ? from - 1 : a;
	b = to < b ? to : b;
	b = b < a ? a : b;
	if (w->lo_ns[a] == USK_NONE || w->lo_ns[b] == USK_NONE || w->hi_ns[a] == USK_NONE ||
	    w->hi_ns[b] == USK_NONE || w->filled[a] || w->filled[b]) {
		return;
	}
	const struct usk_run *r = &w->run[w->run_of[a]], *q = &w->run[w->run_of[b]];
	int64_t slow = r->slow_e12 < q->slow_e12 ? r->slow_e12 : q->slow_e12;
	int64_t fast = r->fast_e12 > q->fast_e12 ? r->fast_e12 : q->fast_e12;
	usk_i128 d = (usk_i128)w->x[b] - w->x[a];
	usk_i128 least = (usk_i128)w->lo_ns[b] - w->hi_ns[a],
		 most = (usk_i128)w->hi_ns[b] - w->lo_ns[a];
	usk_i128 lo = least - usk_ceil_div(d * (USK_E12 + fast), USK_E12);
	usk_i128 hi = most - usk_floor_div(d * (USK_E12 + slow), USK_E12);
	/* What passed is known by the time of the clock that was not set, or stood still: a clock
	 * that did shows less than passed, as one does that was set back. */
	bool mine = may_be_of(j, k), refs = may_be_of(j, w->reference), nobody = !mine && !refs;
	bool by_reference = refs || nobody || hi > 0, by_own = mine || nobody || lo < 0;
	if (by_own) {
		usk_i128 l = usk_floor_div(least * USK_E12, USK_E12 + (least < 0 ? slow : fast));
		usk_i128 h = usk_ceil_div(most * USK_E12, USK_E12 + (most < 0 ? fast : slow));
		lo = !by_reference || l - d < lo ? l - d : lo;
		hi = !by_reference || h - d > hi ? h - d : hi;
	}
	j->size_lo_ns = usk_saturate(lo - 1);
	j->size_hi_ns = usk_saturate(hi + 1);
}

/* Where order alone says what is known nobody knows whether T fell: a bracket with such events
 * lasts from the last one before them that is known to the first behind. false: there are none in
 * it. */
static bool reach_known(const struct usk_work *w, uint32_t k, struct usk_jump *j)
{
	uint32_t first = w->first[k], end = w->first[k + 1];
	uint32_t from = usk_event_behind(w, k, (usk_i128)j->after_local_ns - 1);
	uint32_t to = usk_event_behind(w, k, j->before_local_ns), e = from;
	while (e < to && !w->filled[e]) {
		e++;
	}
	if (e == to) {
		return false;
	}
	while (from > first && w->filled[from]) {
		from--;
	}
	while (to < end && w->filled[to - 1]) {
		to++;
	}
	j->after_local_ns = w->x[from] < j->after_local_ns ? w->x[from] : j->after_local_ns;
	j->before_local_ns = w->x[to - 1] > j->before_local_ns ? w->x[to - 1] : j->before_local_ns;
	return true;
}

/* Whose a bracket of clock i is told as. Bands allow for more than is likely; told: it has to be,
 * whoever it was. false: it need not. */
static bool name(const struct usk_work *w, uint32_t i, const struct usk_seen *s, bool told,
		 struct usk_jump *j)
{
	uint32_t pair[] = { s->a, s->b };
	bool mine = false, refs = false, between_others = s->a != i && s->b != i;
	for (int k = 0; k < 2; k++) {
		mine = mine || (pair[k] == i && s->may_be[k]);
		refs = refs || (pair[k] == w->reference && s->may_be[k]);
	}
	bool rather_theirs = between_others && s->may_be[0] && s->may_be[1];
	if (!told && ((!mine && !refs) || rather_theirs)) {
		return false;
	}
	j->kind = s->at.step ? USK_JUMP : USK_BEND;
	j->of = mine				       ? i
		: !s->may_be[0]			       ? s->b
		: s->may_be[1] && s->b == w->reference ? s->b
						       : s->a;
	uint32_t other = s->a == j->of ? s->b : s->a;
	bool both = s->may_be[0] && s->may_be[1];
	j->or_of = both || !s->sure ? other : USK_NO_CLOCK;
	j->likely = !both && !s->sure;
	return true;
}

/* Is nothing known of a clock before a bracket, or behind it? */
static bool leaves_end_open(const struct usk_work *w, const struct usk_break *b)
{
	uint32_t first = w->first[b->clock], last = w->first[b->clock + 1] - 1;
	return b->from_ns <= w->x[first] || b->to_ns >= w->x[last];
}

void usk_write_jumps(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	size_t cap = 0;
	for (size_t n = 0; n < w->n_breaks; n++) {
		const struct usk_break *b = &w->brk[n];
		const struct usk_seen *s = b->bracket == UINT32_MAX ? NULL : &w->seen[b->bracket];
		if (b->clock != i || b->fast_up || b->fast_down ||
		    (s && s->at.doubted && !leaves_end_open(w, b))) {
			continue; /* outliers are told instead */
		}
		struct usk_jump j = { .kind = b->of_reference ? USK_JUMP : USK_BEND,
				      .of = b->of_reference ? w->reference : i,
				      .or_of = b->of_reference ? USK_NO_CLOCK : w->reference,
				      .after_local_ns =
					      usk_saturate((usk_i128)b->from_ns - b->fold_ns),
				      .before_local_ns =
					      usk_saturate((usk_i128)b->to_ns + b->fold_ns),
				      .size_lo_ns = USK_NONE,
				      .size_hi_ns = USK_NONE };
		if (b->back) { /* its own records say so */
			j.kind = USK_JUMP;
			j.or_of = USK_NO_CLOCK;
		}
		bool told = reach_known(w, i, &j);
		if (s && !name(w, i, s, told, &j)) {
			continue;
		}
		*USK_ADD(k->jump, k->n_jumps, cap) = j;
	}
	if (!k->n_jumps) {
		return;
	}
	usk_sort(k->jump, k->n_jumps, sizeof *k->jump,
		 KEYS(BY(usk_jump, after_local_ns), BY(usk_jump, before_local_ns)));
	k->jump = usk_grow(k->jump, 2 * k->n_jumps + 1, sizeof *k->jump);
	k->n_jumps = unite_jumps(k->jump, k->n_jumps);
	for (size_t n = 0; n < k->n_jumps; n++) {
		size_jump(w, i, &k->jump[n]);
	}
}

/* What happened last leaves nothing known of the clock if no messages both ways come after it, and
 * what happened first likewise: it lasts until the end. */
void usk_reach_ends(const struct usk_drawing *d, struct usk_clock *k)
{
	const struct usk_work *w = d->w;
	uint32_t first = w->first[d->clock], last = w->first[d->clock + 1] - 1;
	int64_t from = w->x[d->from], to = w->x[d->to - 1];
	for (size_t n = 0; n < k->n_jumps; n++) {
		struct usk_jump *j = &k->jump[n];
		bool is_last = j->before_local_ns >= to || (d->adrift && n + 1 == k->n_jumps);
		bool is_first = j->after_local_ns <= from || (d->adrift && !n);
		if (!d->tied[1] && is_last && j->before_local_ns < w->x[last]) {
			j->before_local_ns = w->x[last];
		}
		if (!d->tied[0] && is_first && j->after_local_ns > w->x[first]) {
			j->after_local_ns = w->x[first];
		}
	}
}

void usk_write_stretches(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	size_t cap = 0;
	for (uint32_t e = w->first[i]; e + 1 < w->first[i + 1]; e++) {
		struct usk_disturbed *last =
			k->n_stretches ? &k->stretch[k->n_stretches - 1] : NULL;
		if (usk_cell_calm(w->cell[e])) {
			continue;
		}
		if (last && last->to_ns == w->x[e]) {
			last->to_ns = w->x[e + 1];
			continue;
		}
		*USK_ADD(k->stretch, k->n_stretches, cap) =
			(struct usk_disturbed){ w->x[e], w->x[e + 1], 0 };
	}
}
