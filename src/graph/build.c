/* SPDX-License-Identifier: MIT */
/*
 * build.c - events and edges of an island, from whatever ties its clocks
 *
 * In    pairs' points, anchors, messages that points do not stand for; breaks
 * Out   events grouped by clock, cells between them, runs
 * Why   nobody behind this file knows where a constraint came from, or which model a run is of
 * Not   bounds (propagate.c), where breaks are (conflict.c), what is at the same time (moments.c)
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- sources -----------------------------------------------------------------------------------
 */

static const struct usk_source sources[] = {
	{ "messages", usk_source_messages },
	{ "messages that points do not stand for", usk_source_more },
	{ "messages as they are likely", usk_source_likely },
	{ "what is stated", usk_source_stated },
};

void usk_constraint_add(struct usk_constraints *c, struct usk_constraint row)
{
	*USK_ADD(c->row, c->n, c->cap) = row;
}

/* ---- events ------------------------------------------------------------------------------------
 */

/* A stamp of a clock, and what it is an end of. */
struct end {
	int64_t x;
	uint32_t edge;
	enum { RECEIVED, SENT, WISHED } part;
};

static int by_stamp(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;
	if (a->x != b->x) {
		return a->x < b->x ? -1 : 1;
	}
	if (a->edge != b->edge) {
		return a->edge < b->edge ? -1 : 1;
	}
	return (int)a->part - (int)b->part;
}

#define NO_EDGE UINT32_MAX

/* Puts the ends of each clock side by side. */
struct placing {
	const struct usk_work *w;
	uint32_t *at;	 /* by clock: how many, then where the next one goes */
	struct end *end; /* NULL: they are counted */
};

static void put_end(struct placing *p, uint32_t k, struct end e)
{
	if (p->end) {
		p->end[p->at[k]] = e;
	}
	p->at[k]++;
}

static void put_stamp(struct placing *p, uint32_t k, int64_t x)
{
	put_end(p, k, (struct end){ x, NO_EDGE, RECEIVED });
}

/* Where lines that estimators drew bend, by both clocks: between events the estimate would not. */
static void put_bends(struct placing *p)
{
	enum { MOST = 1 << 19 };
	const struct usk_work *w = p->w;
	size_t all = 0;
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		size_t n = w->p->pair[i].n_line;
		all += w->tied[i] && n > 2 ? n : 0;
	}
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *g = &w->p->pair[i];
		for (size_t k = 1; w->tied[i] && k + 1 < g->n_line; k += all / MOST + 1) {
			const struct usk_knot *bend = &g->line[k];
			int64_t at[] = { bend->local_ns,
					 usk_saturate((usk_i128)bend->local_ns + bend->offset_ns) };
			uint32_t of[] = { g->b, g->a };
			for (int side = 0; side < 2; side++) {
				const struct usk_graph_span *s = &w->p->span[of[side]];
				if (of[side] != w->reference && s->first_ns < at[side] &&
				    at[side] < s->last_ns) {
					put_stamp(p, of[side], at[side]);
				}
			}
		}
	}
}

static bool is_doubted(const struct usk_work *w, const struct usk_break *b)
{
	return b->bracket != UINT32_MAX && w->seen[b->bracket].at.doubted;
}

/* Where something happened to a clock, as far as it was seen. */
static void put_breaks(struct placing *p)
{
	const struct usk_work *w = p->w;
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *b = &w->brk[i];
		struct usk_graph_span s = w->p->span[b->clock];
		/* What outliers say may lie beyond all that is known. */
		s.first_ns -= is_doubted(w, b);
		s.last_ns += is_doubted(w, b);
		put_stamp(p, b->clock, (int64_t)usk_clamp(b->from_ns, s.first_ns, s.last_ns));
		put_stamp(p, b->clock, (int64_t)usk_clamp(b->to_ns, s.first_ns, s.last_ns));
	}
}

static void put_all(struct placing *p, const struct usk_constraints *c)
{
	const struct usk_work *w = p->w;
	for (size_t i = 0; i < c->n; i++) {
		const struct usk_constraint *r = &c->row[i];
		put_end(p, r->from, (struct end){ r->from_ns, (uint32_t)i, SENT });
		if (!r->only) {
			put_end(p, r->to, (struct end){ r->to_ns, (uint32_t)i, RECEIVED });
		}
		if (r->wish) {
			put_end(p, r->to, (struct end){ r->wish_ns, (uint32_t)i, WISHED });
		}
	}
	put_bends(p);
	put_breaks(p);
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		const struct usk_graph_span *span = &w->p->span[k];
		const struct usk_graph_back *back = &w->p->back[k];
		struct usk_ticks_of ticks = usk_ticks_of(w, k);
		put_stamp(p, k, INT64_MIN);
		put_stamp(p, k, INT64_MAX);
		put_stamp(p, k, span->first_ns);
		put_stamp(p, k, span->last_ns);
		for (uint64_t n = ticks.begin; n < ticks.end; n++) {
			put_stamp(p, k, usk_tick_at(w, k, ticks.finer, n));
		}
		/* Records say where a clock was set back: beside that its rate is known. */
		for (size_t n = 0; n < back->n; n++) {
			put_stamp(p, k, back->gap[n].before_ns);
			put_stamp(p, k, back->gap[n].after_ns);
		}
	}
}

/* The outermost ones lie where the next ones do. */
static void sort_ends(void *ctx, size_t from, size_t to)
{
	const struct placing *p = ctx;
	for (size_t k = from; k < to; k++) {
		struct end *end = &p->end[p->w->first[k]];
		size_t n = p->w->first[k + 1] - p->w->first[k];
		qsort(end, n, sizeof *end, by_stamp);
		end[0].x = end[1].x;
		end[n - 1].x = end[n - 2].x;
	}
}

static void place_events(struct usk_work *w, const struct usk_constraints *c)
{
	size_t all = w->n_clocks;
	struct placing p = { w, usk_alloc(all + 1, sizeof *p.at), NULL };
	w->first = usk_alloc(all + 2, sizeof *w->first);
	w->beyond_ns = usk_alloc(2 * all + 2, sizeof *w->beyond_ns);
	put_all(&p, c);
	for (size_t i = 0; i < all; i++) {
		w->first[i + 1] = w->first[i] + p.at[i];
	}
	w->n = w->first[all];
	memcpy(p.at, w->first, all * sizeof *p.at);
	struct end *end = p.end = usk_grow(NULL, w->n + 1, sizeof *end);
	put_all(&p, c);
	free(p.at);
	usk_parallel(all, 1, usk_threads(w), sort_ends, &p);
	uint32_t *sent = usk_grow(NULL, c->n + 1, sizeof *sent);
	w->x = usk_grow(NULL, w->n + 1, sizeof *w->x);
	w->peer = usk_grow(NULL, w->n + 1, sizeof *w->peer);
	w->wished = usk_alloc(w->n + 1, sizeof *w->wished);
	w->wish = usk_grow(NULL, c->n + 1, sizeof *w->wish);
	w->n_wishes = 0;
	memset(w->peer, 0xff, w->n * sizeof *w->peer);
	w->sent = usk_alloc(w->n + 1, sizeof *w->sent);
	w->pair_of = usk_grow(NULL, w->n + 1, sizeof *w->pair_of);
	w->owner = usk_grow(NULL, w->n + 1, sizeof *w->owner);
	for (uint32_t k = 0; k < all; k++) {
		for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
			const struct end *e = &end[i];
			w->x[i] = e->x;
			w->owner[i] = k;
			w->sent[i] = e->part == SENT;
			w->pair_of[i] = e->edge == NO_EDGE ? UINT32_MAX : c->row[e->edge].pair;
			if (w->sent[i]) {
				sent[e->edge] = i;
			}
		}
	}
	for (uint32_t i = 0; i < w->n; i++) {
		const struct end *e = &end[i];
		if (e->edge != NO_EDGE && e->part == RECEIVED) {
			w->peer[i] = sent[e->edge];
			w->peer[w->peer[i]] = i;
		} else if (e->edge != NO_EDGE && e->part == WISHED) {
			struct usk_wish wish = { sent[e->edge], i, c->row[e->edge].early_ns,
						 c->row[e->edge].only };
			w->wish[w->n_wishes++] = wish;
			w->wished[i] = w->wished[wish.sent] = (uint32_t)w->n_wishes;
		}
	}
	free(sent);
	free(end);
}

/* ---- cells -------------------------------------------------------------------------------------
 */

static uint8_t weaker(unsigned a, unsigned b)
{
	return (uint8_t)(a > b ? a : b);
}

static void weaken(struct usk_cell *c, enum usk_pace lower, enum usk_pace upper)
{
	c->lower = weaker(c->lower, lower);
	c->upper = weaker(c->upper, upper);
}

uint32_t usk_event_behind(const struct usk_work *w, uint32_t k, usk_i128 x)
{
	uint32_t i;
	USK_FIRST(i, w->first[k], w->first[k + 1], w->x[i] > x);
	return i;
}

/* Cells that overlap (from, to): [*a, *b). */
static void cells_over(const struct usk_work *w, uint32_t k, usk_i128 from, usk_i128 to,
		       uint32_t *a, uint32_t *b)
{
	*a = usk_event_behind(w, k, from);
	*a -= *a > w->first[k];
	*b = usk_event_behind(w, k, to - 1);
	*b = *b < w->first[k + 1] ? *b : w->first[k + 1] - 1;
}

/* Where many overlap: begins less ends, by cell. */
struct around {
	int32_t *margins, *folds;
};

static void count_over(int32_t *begins, uint32_t i, uint32_t end)
{
	if (i < end) {
		begins[i]++;
		begins[end]--;
	}
}

static void break_cells(struct usk_work *w, const struct usk_break *b, struct around *around)
{
	uint32_t k = b->clock, i, end;
	/* Rates that are constant for a while have no tails, and a clock that was set and set back no slew. */
	bool back = b->bracket != UINT32_MAX && w->seen[b->bracket].at.returned;
	const bool tails = w->p->model.kind == USK_WANDER && !back && !b->in_part;
	const int64_t margin = tails ? USK_MARGIN_NS : 0;
	usk_i128 from = (usk_i128)b->from_ns - margin, to = (usk_i128)b->to_ns + margin;
	cells_over(w, k, from, to, &i, &end);
	count_over(around->margins, i, end);
	cells_over(w, k, b->from_ns, b->to_ns, &i, &end);
	if (i < end && (b->rise_ns || b->fall_ns)) {
		w->slack = usk_grow(w->slack, w->n_slacks + 2, sizeof *w->slack);
		w->slack[w->n_slacks++] = (struct usk_slack){ .first = i,
							      .falling = b->falls,
							      .rise_ns = b->rise_ns,
							      .fall_ns = b->fall_ns,
							      .twice_ns = b->twice_ns };
		w->slack[w->n_slacks++] = (struct usk_slack){ .first = end,
							      .falling = 0U - b->falls,
							      .rise_ns = -b->rise_ns,
							      .fall_ns = -b->fall_ns,
							      .twice_ns = -b->twice_ns };
	}
	const enum usk_pace goes_on = b->in_part ? USK_CALM : USK_SKEW;
	for (; i < end; i++) {
		weaken(&w->cell[i],
		       b->down	      ? (b->falls ? USK_UNBOUNDED : USK_MONOTONE)
		       : b->fast_down ? USK_FAST
				      : goes_on,
		       b->up	    ? USK_UNBOUNDED
		       : b->fast_up ? USK_FAST
				    : goes_on);
		w->cell[i].slack = w->cell[i].slack || b->rise_ns || b->fall_ns;
	}
	if (!b->fold_ns) {
		return;
	}
	const usk_i128 begin = (usk_i128)b->from_ns - b->fold_ns,
		       last = (usk_i128)b->to_ns + b->fold_ns;
	cells_over(w, k, begin, last, &i, &end);
	if (end <= i) {
		return;
	}
	const uint8_t pace = b->vague ? USK_MONOTONE : USK_SKEW;
	*USK_APPEND(w->fold, w->n_folds) =
		(struct usk_fold){ i, end, w->x[i] <= begin ? pace : USK_UNBOUNDED,
				   w->x[end] >= last ? pace : USK_UNBOUNDED };
	count_over(around->folds, i, end);
}

/* What lies around breaks: each cell once, however many overlap there. */
static void widen_cells(struct usk_work *w, const struct around *around)
{
	int32_t margins = 0, folds = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		margins += around->margins[i];
		folds += around->folds[i];
		if (margins) {
			weaken(&w->cell[i], USK_SKEW, USK_SKEW);
		}
		if (folds) {
			w->cell[i].folded = true;
			w->cell[i].lower = w->cell[i].upper = USK_UNBOUNDED;
		}
	}
}

static void break_all(struct usk_work *w)
{
	struct around around = { usk_alloc(w->n + 1, sizeof *around.margins),
				 usk_alloc(w->n + 1, sizeof *around.folds) };
	for (size_t i = 0; i < w->n_breaks; i++) {
		break_cells(w, &w->brk[i], &around);
	}
	widen_cells(w, &around);
	USK_FREE(around.margins, around.folds);
}

/* Folds and slacks begin with their first event. */
static int by_first(const void *a, const void *b)
{
	return usk_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Where bends overlap T may jump in each: from where each begins and where it ends to what all of
 * them say from there on. */
static void add_slacks(struct usk_work *w)
{
	if (w->n_slacks) {
		qsort(w->slack, w->n_slacks, sizeof *w->slack, by_first);
	}
	for (size_t i = 1; i < w->n_slacks; i++) {
		struct usk_slack *s = &w->slack[i], *last = s - 1;
		s->falling += last->falling;
		s->ended_rise_ns = last->ended_rise_ns - (s->rise_ns < 0 ? s->rise_ns : 0);
		s->ended_fall_ns = last->ended_fall_ns - (s->fall_ns < 0 ? s->fall_ns : 0);
		s->rise_ns = usk_saturate((usk_i128)s->rise_ns + last->rise_ns);
		s->fall_ns = usk_saturate((usk_i128)s->fall_ns + last->fall_ns);
		s->twice_ns = usk_saturate((usk_i128)s->twice_ns + last->twice_ns);
	}
}

/* Folds that overlap are one: what is behind the one may be before the other. */
static void unite_folds(struct usk_work *w)
{
	size_t n = 0;
	if (w->n_folds) {
		qsort(w->fold, w->n_folds, sizeof *w->fold, by_first);
	}
	for (size_t i = 0; i < w->n_folds; i++) {
		struct usk_fold *last = n ? &w->fold[n - 1] : NULL, f = w->fold[i];
		if (last && f.first < last->last) {
			last->last = f.last > last->last ? f.last : last->last;
			last->from_first = weaker(last->from_first, f.from_first);
			last->to_last = weaker(last->to_last, f.to_last);
		} else {
			w->fold[n++] = f;
		}
	}
	w->n_folds = n;
	for (size_t i = 0; i < n; i++) {
		struct usk_fold *f = &w->fold[i];
		for (size_t k = 0; k < w->n_breaks; k++) {
			const struct usk_break *b = &w->brk[k];
			if (b->down && b->clock == w->owner[f->first] &&
			    b->from_ns < w->x[f->last] && w->x[f->first] < b->to_ns) {
				const unsigned pace = b->falls ? USK_UNBOUNDED : USK_MONOTONE;
				f->from_first = weaker(f->from_first, pace);
				f->to_last = weaker(f->to_last, pace);
			}
		}
	}
}

static bool keeps_rate(struct usk_cell c)
{
	return c.lower == USK_CALM && c.upper == USK_CALM && !c.folded;
}

/* `segments`: a run for so long of the reference's time; which is near enough by the clock's own,
 * if the cell in which one ends may be of either. */
static void cut_into_runs(struct usk_work *w)
{
	int64_t length = w->p->model.kind == USK_SEGMENTS ? w->p->model.segment_ns : 0;
	bool own = w->p->model.kind == USK_SEGMENTS;
	w->n_runs = 0;
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		for (uint32_t e = w->first[k]; e < w->first[k + 1]; e++) {
			bool begins = e == w->first[k];
			usk_i128 d = begins ? 0 : (usk_i128)w->x[e] - w->x[w->first[k]];
			usk_i128 l = begins ? 0 : (usk_i128)w->x[e - 1] - w->x[w->first[k]];
			if (!begins && length && d / length != l / length) {
				weaken(&w->cell[e - 1], USK_SKEW, USK_SKEW);
				begins = true;
			}
			begins = begins ||
				 (own && !keeps_rate(w->cell[e - 1]) && keeps_rate(w->cell[e]));
			if (begins) {
				*USK_APPEND(w->run, w->n_runs) = (struct usk_run){
					.least_e12 = -w->p->max_skew_e12,
					.most_e12 = w->p->max_skew_e12,
					.wander_e12 = w->wander_e12[k],
					.clock = k,
				};
				usk_run_slopes(w, &w->run[w->n_runs - 1]);
			}
			w->run_of[e] = (uint32_t)w->n_runs - 1;
		}
	}
}

uint32_t usk_wish_end(const struct usk_work *w, uint32_t i)
{
	/* Mostly there are none, and nobody looks at what is far from all else in memory. */
	uint32_t n = w->n_wishes ? w->wished[i] : 0;
	return !n ? USK_NO_EVENT : w->sent[i] ? w->wish[n - 1].received : w->wish[n - 1].sent;
}

int64_t usk_wish_slack(const struct usk_work *w, uint32_t i)
{
	return w->wish[w->wished[i] - 1].early_ns;
}

void usk_build_cells(struct usk_work *w)
{
	memset(w->cell, 0, w->n * sizeof *w->cell);
	w->n_folds = w->n_slacks = 0;
	if (w->n_breaks) {
		break_all(w);
	}
	add_slacks(w);
	usk_in_order(w);
	unite_folds(w);
	cut_into_runs(w);
}

void usk_build(struct usk_work *w)
{
	struct usk_constraints c = { .n = 0 };
	for (size_t i = 0; i < COUNT(sources); i++) {
		sources[i].emit(w, &c);
	}
	usk_moments(w, c.n);
	place_events(w, &c);
	free(c.row);
	usk_moments_order(w);
	w->cell = usk_alloc(w->n + 1, sizeof *w->cell);
	w->run_of = usk_alloc(w->n + 1, sizeof *w->run_of);
	w->lo = usk_grow(NULL, w->n + 1, sizeof *w->lo);
	w->hi = usk_grow(NULL, w->n + 1, sizeof *w->hi);
	usk_build_cells(w);
}

void usk_build_forget(struct usk_work *w)
{
	USK_FREE(w->beyond_ns, w->first, w->x, w->peer, w->wished, w->wish, w->weak, w->weak_of,
		 w->sent, w->pair_of, w->owner, w->order, w->cell, w->run_of, w->run, w->rough,
		 w->fold, w->slack, w->in_order.before, w->in_order.behind, w->in_order.rise, w->lo,
		 w->hi, w->outwards);
	w->run = NULL;
	w->weak = NULL;
	w->weak_of = NULL;
	w->n_weak = 0;
	w->fold = NULL;
	w->slack = NULL;
	w->in_order = (struct usk_in_order){ NULL, NULL, NULL };
	w->order = NULL;
}

void usk_build_free(struct usk_work *w)
{
	USK_FREE(w->lo_ns, w->hi_ns, w->t_ns, w->filled, w->brk, w->seen, w->left_out, w->distance);
	usk_fallings_free(w);
	usk_straight_forget(w);
	usk_build_forget(w);
}
