/* SPDX-License-Identifier: MIT */
/*
 * propagate.c - shortest and longest paths from the reference
 *
 * In    events, edges, cells
 * Out   hi(e), the least upper bound of T(e), and lo(e), the greatest lower one
 * Why   all edges and cells are difference constraints; what moves nothing more is the answer,
 *       whatever the order of sweeps (Bellman 1958)
 * Not   rates (rates.c), what to do where bounds cross (cycles.c)
 *
 * Lower and upper bounds do not know each other but where they cross, which is looked for between
 * sweeps (sweep.c): so each has a thread of its own. Where rates and bounds take turns most sweeps
 * would move nothing: they begin with what changed since the last one.
 */
#include "graph/sweep.h"

#include <stdlib.h>
#include <string.h>

void usk_bounds_reset(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		bool known = w->owner[i] == w->reference;
		w->lo[i] = known ? usk_e12(w->x[i]) : -USK_INF;
		w->hi[i] = known ? usk_e12(w->x[i]) : USK_INF;
	}
	w->crossed = USK_NO_EVENT;
}

void usk_run_slopes(const struct usk_work *w, struct usk_run *r)
{
	int64_t skew = w->p->max_skew_e12;
	int64_t slow = r->least_e12 - r->wander_e12, fast = r->most_e12 + r->wander_e12;
	r->slow_e12 = slow > -skew ? slow : -skew;
	r->fast_e12 = fast < skew ? fast : skew;
}

/* Of the bends that a cell lies in. */
struct usk_slack usk_slack_of(const struct usk_work *w, uint32_t i)
{
	size_t k;
	USK_FIRST(k, 1, w->n_slacks, w->slack[k].first > i);
	return w->slack[k - 1];
}

/* T rises by so much at least in a ns of a cell in which it has a least rate. */
static int64_t least_pace(const struct usk_work *w, uint32_t i)
{
	switch ((enum usk_pace)w->cell[i].lower) {
	case USK_CALM:
		return USK_E12 + w->run[w->run_of[i]].slow_e12;
	case USK_FAST:
		return USK_E12 - w->p->max_skew_e12 - USK_FASTEST_E12;
	default:
		return USK_E12 - w->p->max_skew_e12;
	}
}

/* Stamps of a clock do not fall, so d takes no more than 64 bits, and products half the work. */
bool usk_cell_least_going(const struct usk_work *w, uint32_t i, usk_i128 apart, usk_i128 *rise)
{
	const struct usk_cell c = w->cell[i];
	const uint64_t d = (uint64_t)apart;
	if (c.lower == USK_UNBOUNDED) {
		return false;
	}
	*rise = c.lower == USK_MONOTONE ? 0 : (usk_i128)d * least_pace(w, i);
	return true;
}

bool usk_cell_least(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise)
{
	if (!usk_cell_least_going(w, i, d, rise)) {
		return false;
	}
	if (w->cell[i].slack) {
		const struct usk_slack s = usk_slack_of(w, i);
		*rise -= usk_e12(s.fall_ns);
		*rise = *rise < 0 && !s.falling && !s.twice_ns ? 0 : *rise;
		*rise -= usk_e12(usk_slack_twice(&s, (uint64_t)d));
	}
	return true;
}

usk_i128 usk_cell_flat(const struct usk_work *w, uint32_t i)
{
	const struct usk_cell c = w->cell[i];
	const struct usk_slack s =
		c.slack ? usk_slack_of(w, i) : (struct usk_slack){ .fall_ns = 0 };
	const bool bends = s.fall_ns && !s.falling && !s.twice_ns && c.lower <= USK_FAST;
	return bends ? usk_floor_div(usk_e12(s.fall_ns), least_pace(w, i)) : 0;
}

bool usk_cell_most_going(const struct usk_work *w, uint32_t i, usk_i128 apart, usk_i128 *rise)
{
	const struct usk_cell c = w->cell[i];
	const uint64_t d = (uint64_t)apart;
	if (c.upper > USK_FAST) {
		return false;
	}
	*rise = (usk_i128)d *
		(USK_E12 + (c.upper == USK_CALM	  ? w->run[w->run_of[i]].fast_e12
			    : c.upper == USK_FAST ? w->p->max_skew_e12 + USK_FASTEST_E12
						  : w->p->max_skew_e12));
	return true;
}

bool usk_cell_most(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise)
{
	const bool any = usk_cell_most_going(w, i, d, rise);
	*rise += any && w->cell[i].slack ? usk_e12(usk_slack_of(w, i).rise_ns) : 0;
	return any;
}

static bool least_over(const struct usk_work *w, unsigned pace, usk_i128 d, usk_i128 *rise)
{
	*rise = pace == USK_SKEW ? d * (USK_E12 - w->p->max_skew_e12) : 0;
	return pace != USK_UNBOUNDED;
}

bool usk_fold_from_first(const struct usk_work *w, const struct usk_fold *f, int64_t x,
			 usk_i128 *rise)
{
	return least_over(w, f->from_first, (usk_i128)x - w->x[f->first], rise);
}

bool usk_fold_to_last(const struct usk_work *w, const struct usk_fold *f, int64_t x, usk_i128 *rise)
{
	return least_over(w, f->to_last, (usk_i128)w->x[f->last] - x, rise);
}

/* ---- both sides --------------------------------------------------------------------------------
 */

struct task {
	struct usk_sweeps *s;
	void (*of)(struct usk_side *b);
};

static void do_some(void *ctx, size_t from, size_t to)
{
	const struct task *t = ctx;
	for (size_t i = from; i < to; i++) {
		/* A copy, as threads wait for each other where one writes beside what another reads. */
		struct usk_side own = t->s->side[i];
		t->of(&own);
		t->s->side[i].moved = own.moved;
	}
}

static void do_both(struct usk_sweeps *s, void (*of)(struct usk_side *b))
{
	struct task t = { s, of };
	usk_parallel(2, 1, usk_threads(s->w), do_some, &t);
}

static inline bool crosses(const struct usk_sweeps *s, uint32_t k)
{
	return s->side[0].t[k] > -s->side[1].t[k];
}

/* The first event whose bounds cross of those that were moved, in the order of looks. */
static void look(struct usk_sweeps *s, bool outwards)
{
	struct usk_work *w = s->w;
	uint64_t *all = s->side[0].look;
	uint32_t found = USK_NO_EVENT;
	for (uint32_t i = 0; i < s->n_marks; i++) {
		all[i] |= s->side[1].look[i];
		s->since[i] |= all[i];
		s->side[1].look[i] = 0;
	}
	for (size_t n = 0; outwards && n < w->n_clocks; n++) {
		uint32_t k = w->outwards[n];
		uint32_t i = k != w->reference ? w->first[k + 1] : w->first[k];
		while (found == USK_NO_EVENT && i-- > w->first[k]) {
			uint32_t at = s->place[i];
			found = usk_is_marked(all, at) && crosses(s, at) ? i : found;
		}
	}
	for (uint32_t k = w->n_order;
	     found == USK_NO_EVENT && k && (k = usk_last_mark(all, k - 1)) != USK_NO_MARK;) {
		found = crosses(s, k) ? s->event[k] : found;
	}
	w->crossed = w->crossed == USK_NO_EVENT ? found : w->crossed;
	uint32_t first = usk_next_mark(all, s->n_marks, 0);
	s->moved = first < w->n_order ? s->event[first] : s->moved;
	memset(all, 0, s->n_marks * sizeof *all);
}

static void store(struct usk_side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	memset(b->changed, false, w->c->n_clocks * sizeof *b->changed);
	for (uint32_t k = 0; (k = usk_next_mark(s->since, s->n_marks, k)) < w->n; k++) {
		uint32_t i = s->event[k];
		usk_i128 t = b->upper ? -b->t[k] : b->t[k], *old = b->upper ? &w->hi[i] : &w->lo[i];
		if (*old != t) {
			*old = t;
			b->changed[w->owner[i]] = true;
		}
	}
}

static void store_both(struct usk_sweeps *s)
{
	for (uint32_t i = 0; i < s->n_marks; i++) {
		s->since[i] |= s->side[0].look[i] | s->side[1].look[i];
	}
	do_both(s, store);
	memset(s->since, 0, s->n_marks * sizeof *s->since);
	for (size_t k = 0; k < s->w->n_clocks; k++) {
		bool any = s->side[0].changed[k] || s->side[1].changed[k];
		s->news[k] = any ? USK_NEWS_TO_ALL : s->news[k];
	}
}

/* ---- what changed ------------------------------------------------------------------------------
 */

static void place_events(struct usk_sweeps *s)
{
	const struct usk_work *w = s->w;
	for (uint32_t k = 0; k < w->n; k++) {
		s->place[s->event[k]] = k;
	}
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = s->event[k], own = w->owner[i], peer = w->peer[i], run = w->run_of[i];
		bool last = i + 1 == w->first[own + 1], few = run < USK_MOST_SWEPT_RUNS;
		s->node[k] = (struct usk_swept){
			.ns = last ? 0 : (uint64_t)w->x[i + 1] - (uint64_t)w->x[i],
			.before = i == w->first[own] ? USK_NO_EVENT : s->place[i - 1],
			.behind = last ? USK_NO_EVENT : s->place[i + 1],
			.peer = peer == USK_NO_EVENT ? USK_NO_EVENT : s->place[peer],
			.run = run & (USK_MOST_SWEPT_RUNS - 1),
			.sent = w->sent[i],
			.slack = w->cell[i].slack,
			.calm_least = few && usk_cell_keeps(w->cell[i], false),
			.calm_most = few && usk_cell_keeps(w->cell[i], true),
		};
	}
}

struct usk_sweeps *usk_sweeps_begin(struct usk_work *w)
{
	struct usk_sweeps *s = usk_alloc(1, sizeof *s);
	size_t n = (size_t)w->n + 1, clocks = w->c->n_clocks + 1;
	s->w = w;
	s->place = usk_grow(NULL, n, sizeof *s->place);
	s->event = w->order;
	s->node = usk_grow(NULL, n, sizeof *s->node);
	s->news = usk_alloc(clocks, sizeof *s->news);
	s->touched = usk_alloc(n, sizeof *s->touched);
	s->pairs_of = usk_alloc(clocks + 1, sizeof *s->pairs_of);
	s->n_marks = w->n / 64 + 1;
	s->n_order = w->n_order;
	s->pace = usk_grow(NULL, w->n_runs + 1, sizeof *s->pace);
	s->since = usk_alloc(s->n_marks, sizeof *s->since);
	for (int i = 0; i < 2; i++) {
		s->side[i] = (struct usk_side){ .s = s, .upper = i };
		s->side[i].t = usk_grow(NULL, n, sizeof *s->side[i].t);
		if (w->n_slacks) {
			s->side[i].forth = usk_grow(NULL, n, sizeof *s->side[i].forth);
			s->side[i].back = usk_grow(NULL, n, sizeof *s->side[i].back);
		}
		s->side[i].todo = usk_grow(NULL, n, sizeof *s->side[i].todo);
		s->side[i].marks = usk_alloc(s->n_marks, sizeof *s->side[i].marks);
		s->side[i].look = usk_alloc(s->n_marks, sizeof *s->side[i].look);
		s->side[i].recent = usk_alloc(s->n_marks, sizeof *s->side[i].recent);
		s->side[i].changed = usk_alloc(clocks, sizeof *s->side[i].changed);
	}
	place_events(s);
	usk_sweeps_all(s);
	s->moved = s->event[0];
	return s;
}

void usk_sweeps_end(struct usk_sweeps *s)
{
	for (int i = 0; i < 2; i++) {
		USK_FREE(s->side[i].t, s->side[i].forth, s->side[i].back, s->side[i].todo,
			 s->side[i].marks, s->side[i].look, s->side[i].recent, s->side[i].pairs,
			 s->side[i].changed);
	}
	USK_FREE(s->place, s->since, s->node, s->news, s->touched, s->pairs_of, s->by_clock,
		 s->pace, s->of_event, s->pair_at, s);
}

void usk_sweeps_all(struct usk_sweeps *s)
{
	const struct usk_work *w = s->w;
	memset(s->news, USK_NEWS_TO_ALL, w->c->n_clocks);
	s->stale = true;
	memset(s->pairs_of, 0, (w->n_clocks + 2) * sizeof *s->pairs_of);
	for (int i = 0; i < 2; i++) {
		struct usk_side *b = &s->side[i];
		memset(b->todo, 0, w->n);
		memset(b->recent, 0xff, s->n_marks * sizeof *b->recent);
		memset(b->look, 0xff, s->n_marks * sizeof *b->look);
		for (uint32_t k = 0; k < w->n && b->forth; k++) {
			b->forth[k] = b->back[k] = -USK_INF;
		}
		for (uint32_t k = 0; k < w->n_order; k++) {
			usk_sweep_todo(b, k, ALL);
		}
	}
}

static uint32_t later(const struct usk_work *w, const uint32_t *rank, const struct usk_pairwise *p)
{
	uint32_t a = rank[w->owner[p->a]], b = rank[w->owner[p->b]];
	return a > b ? a : b;
}

/* Which pairs are to be looked at when a clock is, and of which places they are. */
static void place_pairs(struct usk_sweeps *s)
{
	struct usk_work *w = s->w;
	uint32_t *rank = usk_alloc(w->n_clocks, sizeof *rank);
	s->by_clock = usk_grow(NULL, w->n_pairwise + 1, sizeof *s->by_clock);
	for (uint32_t n = 0; n < w->n_clocks; n++) {
		rank[w->outwards[n]] = n;
	}
	for (size_t i = 0; i < w->n_pairwise; i++) {
		s->pairs_of[later(w, rank, &w->pairwise[i]) + 2]++;
	}
	for (size_t n = 0; n < w->n_clocks; n++) {
		s->pairs_of[n + 2] += s->pairs_of[n + 1];
	}
	for (uint32_t i = 0; i < w->n_pairwise; i++) {
		struct usk_pairwise *p = &w->pairwise[i];
		s->by_clock[s->pairs_of[later(w, rank, p) + 1]++] = i;
		p->a = s->place[p->a];
		p->b = s->place[p->b];
	}
	free(rank);
}

/* Which pairs an event is in. */
static void list_pairs(struct usk_sweeps *s)
{
	const size_t n = s->w->n, pairs = s->w->n_pairwise;
	uint32_t *at = s->of_event = usk_alloc(n + 2, sizeof *at);
	s->pair_at = usk_grow(NULL, 2 * pairs + 1, sizeof *s->pair_at);
	s->n_pair_marks = (uint32_t)(pairs / 64 + 1);
	for (size_t i = 0; i < pairs; i++) {
		at[s->w->pairwise[i].a + 2]++;
		at[s->w->pairwise[i].b + 2]++;
	}
	for (size_t k = 0; k < n; k++) {
		at[k + 2] += at[k + 1];
	}
	for (uint32_t i = 0; i < pairs; i++) {
		s->pair_at[at[s->w->pairwise[i].a + 1]++] = i;
		s->pair_at[at[s->w->pairwise[i].b + 1]++] = i;
	}
}

void usk_sweeps_pairs(struct usk_sweeps *s)
{
	place_pairs(s);
	list_pairs(s);
	for (int i = 0; i < 2; i++) {
		s->side[i].pairs = usk_alloc(s->n_pair_marks, sizeof *s->side[i].pairs);
		memset(s->side[i].recent, 0xff, s->n_marks * sizeof *s->side[i].recent);
	}
}

void usk_sweeps_touch(struct usk_sweeps *s, uint32_t i)
{
	s->touched[s->place[i]] = true;
}

uint8_t *usk_sweeps_news(struct usk_sweeps *s, uint32_t k)
{
	return &s->news[k];
}

static void tell_runs(struct usk_side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	for (uint32_t i = 0; i + 1 < w->n; i++) {
		if (s->changed[w->run_of[i]] && w->owner[i + 1] == w->owner[i]) {
			usk_sweep_todo(b, s->place[i], BEHIND);
			usk_sweep_todo(b, s->place[i + 1], BEFORE);
		}
	}
}

void usk_sweeps_runs(struct usk_sweeps *s, const bool *changed)
{
	s->changed = changed;
	do_both(s, tell_runs);
}

/* Bounds that others narrowed: of all events if what sides know is stale. */
static void tell_touched(struct usk_side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	for (uint32_t k = 0; k < w->n; k++) {
		if (s->touched[k] || s->stale) {
			b->t[k] = b->upper ? -w->hi[s->event[k]] : w->lo[s->event[k]];
		}
		if (s->touched[k]) {
			usk_sweep_moved(b, k, TELL_ALL);
		}
	}
}

/* So many sweeps are by time before one goes outwards. Which event's bounds cross first is an answer,
 * and depends on the order of sweeps: only where pairs are compared, which are left out then, may
 * all that follow be of this kind. */
enum { BY_TIME = 16 };

/* One round. false: it moved nothing. */
static bool go_round(struct usk_sweeps *s, bool outwards)
{
	s->side[0].moved = s->side[1].moved = false;
	if (outwards) {
		do_both(s, usk_sweep_outwards);
		look(s, true);
	}
	do_both(s, usk_sweep);
	look(s, false);
	if (s->w->n_folds || s->w->n_weak || s->w->n_pairwise) {
		do_both(s, usk_sweep_all_else);
	}
	return s->side[0].moved || s->side[1].moved;
}

bool usk_sweeps_run(struct usk_sweeps *s)
{
	struct usk_work *w = s->w;
	/* A circle that leads back earlier makes bounds fall for ever where nothing holds them from
	 * the other side. A path has no more events than there are: so many sweeps are enough for
	 * any, and far fewer were for all that was seen. */
	uint32_t most = 1000 + (w->n < 100000 ? w->n : 100000) / 10;
	for (size_t i = 0; i < w->n_runs; i++) {
		s->pace[i] = (struct usk_pace_of){ USK_E12 + w->run[i].slow_e12,
						   USK_E12 + w->run[i].fast_e12 };
	}
	do_both(s, tell_touched);
	memset(s->touched, false, w->n * sizeof *s->touched);
	s->stale = false;
	bool moved = true;
	for (uint32_t round = 0; moved && w->crossed == USK_NO_EVENT; round++) {
		moved = go_round(s, round % BY_TIME == BY_TIME - 1 ||
					    (w->n_pairwise && round >= BY_TIME));
		if (moved && round > most) {
			w->crossed = s->moved; /* on the circle, or behind it */
		}
	}
	store_both(s);
	return w->crossed == USK_NO_EVENT;
}

bool usk_propagate(struct usk_work *w)
{
	struct usk_sweeps *s = usk_sweeps_begin(w);
	bool good = usk_sweeps_run(s);
	usk_sweeps_end(s);
	return good;
}
