/* SPDX-License-Identifier: MIT */
/*
 * blame.c - whose a bracket was that a pair shows
 *
 * In    brackets of pairs, bounds by order alone, what other pairs of their clocks say
 * Out   which clocks may have done it, and which it was, as is certain or likely
 * Why   bands need no blame: a break is put into every clock that may have done it, and costs next
 *       to nothing where messages stand on both sides. It is for the report, and to spare clocks
 *       that other messages clear
 * Not   what breaks are there (conflict.c)
 */
#include "graph/course.h"

#include <stdlib.h>

/* When a clock showed a stamp of its own, at the earliest or at the latest. */
static usk_i128 time_of(const struct usk_work *w, uint32_t k, int64_t ns, bool latest)
{
	uint32_t i = usk_event_behind(w, k, (usk_i128)ns - 1);
	i -= i == w->first[k + 1];
	return k == w->reference ? usk_e12(ns) : latest ? w->hi[i] : w->lo[i];
}

/* The same of what another clock did, maybe when nothing was recorded of this one yet, or any more. */
static usk_i128 since(const struct usk_work *w, uint32_t k, int64_t ns)
{
	return ns > w->p->span[k].first_ns ? time_of(w, k, ns, false) : -USK_INF;
}

static usk_i128 until(const struct usk_work *w, uint32_t k, int64_t ns)
{
	return ns < w->p->span[k].last_ns ? time_of(w, k, ns, true) : USK_INF;
}

/* Did a clock's T rise in it, if it was that clock's? */
bool usk_seen_rises_for(const struct usk_seen *s, uint32_t k)
{
	return s->at.rises == (s->b == k);
}

bool usk_seen_has(const struct usk_seen *s, uint32_t k)
{
	return s->a == k || s->b == k;
}

/* Was the reference set back in it, if it was the reference? */
bool usk_seen_sets_back(const struct usk_work *w, const struct usk_seen *s)
{
	const bool either = !s->at.step && s->at.least_ns < 0 && s->at.most_ns > 0;
	return usk_seen_has(s, w->reference) &&
	       (s->at.both || either || usk_seen_rises_for(s, w->reference));
}

/* Of both clocks one may be known better; but of the other one the record may begin only later, or have ended before. */
void usk_seen_place(const struct usk_work *w, const struct usk_seen *s, const struct usk_within *at,
		    uint32_t k, usk_i128 *from, usk_i128 *to)
{
	const bool a = s->a == k;
	const uint32_t other = a ? s->b : s->a;
	const usk_i128 begin[] = { time_of(w, k, a ? at->a0_ns : at->b0_ns, false),
				   since(w, other, a ? at->b0_ns : at->a0_ns) };
	const usk_i128 end[] = { time_of(w, k, a ? at->a1_ns : at->b1_ns, true),
				 until(w, other, a ? at->b1_ns : at->a1_ns) };
	*from = begin[0] > begin[1] ? begin[0] : begin[1];
	*to = end[0] < end[1] ? end[0] : end[1];
}

/* If it is the reference that was set back it showed less behind it than before, by as much. */
void usk_seen_done_by(const struct usk_work *w, const struct usk_seen *s, uint32_t k,
		      usk_i128 *from, usk_i128 *to)
{
	const struct usk_within at = { s->at.b0_ns, s->at.b1_ns, s->at.a0_ns, s->at.a1_ns };
	const usk_i128 more = usk_seen_sets_back(w, s) ? usk_e12(usk_bracket_farthest(&s->at)) : 0;
	usk_seen_place(w, s, &at, k, from, to);
	*from -= more;
	*to += more;
}

/* Whoever did it. */
static void place(const struct usk_work *w, struct usk_seen *s)
{
	usk_i128 from, to;
	usk_seen_done_by(w, s, s->a, &s->from, &s->to);
	usk_seen_done_by(w, s, s->b, &from, &to);
	s->from = s->from < from ? s->from : from;
	s->to = s->to > to ? s->to : to;
}

bool usk_seen_overlap(const struct usk_seen *s, const struct usk_seen *t)
{
	return s->from <= t->to && t->from <= s->to;
}

static int by_from(const void *pa, const void *pb, void *ctx)
{
	const struct usk_seen *seen = ctx;
	const struct usk_seen *a = &seen[((const struct usk_seen_nth *)pa)->seen],
			      *b = &seen[((const struct usk_seen_nth *)pb)->seen];
	return (a->from > b->from) - (a->from < b->from);
}

void usk_seen_sort(const struct usk_work *w, struct usk_seen_order *o)
{
	if (o->n) {
		qsort_r(o->item, o->n, sizeof *o->item, by_from, w->seen);
	}
	for (size_t i = 0; i < o->n; i++) {
		const usk_i128 to = w->seen[o->item[i].seen].to;
		o->item[i].latest = i && o->item[i - 1].latest > to ? o->item[i - 1].latest : to;
	}
}

/* What is doubted is none of them. */
static void order_seen(struct usk_work *w)
{
	struct usk_seen_order *o = &w->by_begin;
	o->item = usk_alloc(w->n_seen + 1, sizeof *o->item);
	o->n = 0;
	for (uint32_t i = 0; i < w->n_seen; i++) {
		o->item[o->n].seen = i;
		o->n += !w->seen[i].at.doubted;
	}
	usk_seen_sort(w, o);
}

const struct usk_seen *usk_seen_near(const struct usk_work *w, const struct usk_seen_order *o,
				     const struct usk_seen *s, size_t *at)
{
	if (*at == o->n) {
		USK_FIRST(*at, 0, o->n, w->seen[o->item[*at].seen].from > s->to);
	}
	return *at && o->item[*at - 1].latest >= s->from ? &w->seen[o->item[--*at].seen] : NULL;
}

bool usk_seen_sized(const struct usk_seen *s)
{
	return usk_bracket_sized(&s->at);
}

usk_i128 usk_seen_told_apart(const struct usk_work *w, const struct usk_seen *s)
{
	usk_i128 rate = 2 * (usk_i128)w->p->max_skew_e12;
	return usk_ceil_div(usk_bracket_farthest(&s->at) * rate, USK_E12);
}

bool usk_seen_placed(const struct usk_seen *s)
{
	return s->from > -USK_INF && s->to < USK_INF;
}

bool usk_seen_alike(const struct usk_work *w, const struct usk_seen *s, const struct usk_seen *t,
		    uint32_t k)
{
	usk_i128 more = usk_seen_told_apart(w, s);
	bool same = (s->b == k) == (t->b == k);
	usk_i128 least = same ? t->at.least_ns : -(usk_i128)t->at.most_ns;
	usk_i128 most = same ? t->at.most_ns : -(usk_i128)t->at.least_ns;
	return usk_seen_placed(s) && usk_seen_placed(t) && usk_seen_overlap(s, t) &&
	       usk_seen_sized(s) && usk_seen_sized(t) && least <= s->at.most_ns + more &&
	       s->at.least_ns - more <= most;
}

/* Whether other pairs of a bracket's clocks show the same, of a, of b. */
struct shared {
	bool by[2];
};

/* Does another pair of clock k show the same at the same time? With `theirs` it does not count if
 * one of the other clock of that pair does, too. */
static bool supported(const struct usk_work *w, size_t i, uint32_t k, const struct shared *theirs)
{
	const struct usk_seen *s = &w->seen[i], *t;
	bool any = false;
	for (size_t at = w->by_begin.n; !any && (t = usk_seen_near(w, &w->by_begin, s, &at));) {
		any = t != s && usk_seen_has(t, k) && !usk_seen_has(t, s->a == k ? s->b : s->a) &&
		      usk_seen_alike(w, s, t, k) && !(theirs && theirs[t - w->seen].by[t->a == k]);
	}
	return any;
}

/*
 * That another pair of a clock would have shown it is certain. Two pairs of a clock that say the
 * same make it likely that it was this one, unless one of them has as good a reason to be of its
 * other clock.
 */
static void blame(struct usk_work *w)
{
	struct shared *shared = usk_alloc(w->n_seen + 1, sizeof *shared);
	for (size_t i = 0; i < w->n_seen; i++) {
		place(w, &w->seen[i]);
	}
	order_seen(w);
	w->others = usk_others_begin(w);
	for (size_t k = 0; k < w->by_begin.n; k++) {
		const size_t i = w->by_begin.item[k].seen;
		shared[i].by[0] = supported(w, i, w->seen[i].a, NULL);
		shared[i].by[1] = supported(w, i, w->seen[i].b, NULL);
	}
	for (size_t i = 0; i < w->n_seen; i++) {
		struct usk_seen *s = &w->seen[i];
		if (s->at.doubted) { /* if it was anything */
			continue;
		}
		bool support[2] = { supported(w, i, s->a, shared), supported(w, i, s->b, shared) };
		const int64_t part[2] = { usk_others_hide(w, w->others, s, s->a),
					  usk_others_hide(w, w->others, s, s->b) };
		bool clear[2] = { part[0] != USK_NONE, part[1] != USK_NONE };
		bool known = clear[0] != clear[1], any = support[0] || support[1];
		int more = known || any ? 0
					: usk_others_vote(w, w->others, s, s->a) -
						  usk_others_vote(w, w->others, s, s->b);
		s->sure = known || any;
		for (int k = 0; k < 2; k++) {
			s->excluded[k] = clear[k] && !clear[!k];
			s->part_ns[k] = part[k];
			s->may_be[k] = known ? !clear[k]
				       : any ? support[k]
				       : k   ? more <= 0
					     : more >= 0;
		}
	}
	free(shared);
}

static void forget(struct usk_work *w)
{
	usk_others_end(w, w->others);
	free(w->by_begin.item);
	w->by_begin = (struct usk_seen_order){ NULL, 0 };
	w->others = NULL;
}

static uint8_t by_order(unsigned pace)
{
	return pace == USK_UNBOUNDED ? USK_UNBOUNDED : USK_MONOTONE;
}

void usk_order_alone(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		w->cell[i].lower = by_order(w->cell[i].lower);
		w->cell[i].upper = USK_UNBOUNDED;
	}
	for (size_t k = 0; k < w->n_folds; k++) {
		struct usk_fold *f = &w->fold[k];
		f->from_first = by_order(f->from_first);
		f->to_last = by_order(f->to_last);
	}
}

void usk_bound_by_order(struct usk_work *w)
{
	usk_order_alone(w);
	usk_bounds_reset(w);
	usk_propagate(w);
}

/* May the reference have been set back within a bracket of another clock? */
static bool falls_within(const struct usk_work *w, const struct usk_break *b)
{
	bool any = false;
	for (size_t k = 0; k < w->n_breaks && !any; k++) {
		const struct usk_break *x = &w->brk[k];
		any = x->falls && (x->down || x->fall_ns) && x->clock == b->clock &&
		      x->from_ns < b->to_ns && x->to_ns > b->from_ns;
	}
	return any;
}

/* By how much a clock was set back that no message says at most: by no more than the time between the ends of its
 * bracket, where order alone bounds that. */
static void size_folds(struct usk_work *w)
{
	for (size_t k = 0; k < w->n_breaks; k++) {
		struct usk_break *b = &w->brk[k];
		if (!b->vague || !b->fold_ns) {
			continue;
		}
		const uint32_t first = w->first[b->clock], end = w->first[b->clock + 1];
		const uint32_t from = usk_event_behind(w, b->clock, b->from_ns);
		const uint32_t to = usk_event_behind(w, b->clock, (usk_i128)b->to_ns - 1);
		const usk_i128 lo = from > first ? w->lo[from - 1] : -USK_INF;
		const usk_i128 hi = to < end ? w->hi[to] : USK_INF;
		const struct usk_seen *s = &w->seen[b->bracket];
		const int64_t mixed = usk_bracket_mixed(&s->at, s->b == b->clock);
		if (lo > -USK_INF && hi < USK_INF && hi >= lo && !falls_within(w, b)) {
			b->fold_ns = usk_saturate(usk_ceil_div(hi - lo, USK_E12) + mixed);
		}
	}
}

/*
 * What lies before and behind what is told by order alone, as no rate is known yet that holds: no
 * message is received before it is sent, and no clock's time falls.
 */
void usk_blame(struct usk_work *w)
{
	if (!w->n_seen && !w->p->back[w->reference].n) {
		return;
	}
	usk_bound_by_order(w);
	size_folds(w);
	blame(w);
	usk_break_alike(w);
	usk_break_by_reference(w);
	forget(w);
	usk_build_cells(w);
}
