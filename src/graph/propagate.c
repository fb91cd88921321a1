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
 * A sweep goes through events in their approximate order of time, forwards, then backwards: a bound
 * is carried along a whole stretch of a path by one sweep. Of many clocks in a row a sweep moves
 * the events of few: it looks at no others. Where rates and bounds take turns most sweeps would
 * move nothing: they begin with what changed since the last one.
 *
 * Lower and upper bounds do not know each other but where they cross, which is looked for between
 * sweeps: so each has a thread of its own. In sweeps events lie in the order in which they are
 * looked at, as clocks whose events lie side by side are far from each other in memory.
 */
#include "graph/marks.h"
#include "graph/work.h"

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
static struct usk_slack slack_of(const struct usk_work *w, uint32_t i)
{
	size_t lo = 0, hi = w->n_slacks;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		*(w->slack[mid].first <= i ? &lo : &hi) = mid;
	}
	return w->slack[lo];
}

/* Stamps of a clock do not fall, so d takes no more than 64 bits, and products half the work. */
bool usk_cell_least(const struct usk_work *w, uint32_t i, usk_i128 apart, usk_i128 *rise)
{
	const uint64_t d = (uint64_t)apart;
	switch ((enum usk_pace)w->cell[i].lower) {
	case USK_CALM:
		*rise = (usk_i128)d * (USK_E12 + w->run[w->run_of[i]].slow_e12);
		return true;
	case USK_SKEW:
		*rise = (usk_i128)d * (USK_E12 - w->p->max_skew_e12);
		return true;
	case USK_SLACK: {
		struct usk_slack s = slack_of(w, i);
		*rise = (usk_i128)d * (USK_E12 - w->p->max_skew_e12) - usk_e12(s.fall_ns);
		*rise = *rise < 0 && !s.falling ? 0 : *rise;
		return true;
	}
	case USK_MONOTONE:
		*rise = 0;
		return true;
	case USK_UNBOUNDED:
		break;
	}
	return false;
}

bool usk_cell_most(const struct usk_work *w, uint32_t i, usk_i128 apart, usk_i128 *rise)
{
	const uint64_t d = (uint64_t)apart;
	switch ((enum usk_pace)w->cell[i].upper) {
	case USK_CALM:
		*rise = (usk_i128)d * (USK_E12 + w->run[w->run_of[i]].fast_e12);
		return true;
	case USK_SKEW:
		*rise = (usk_i128)d * (USK_E12 + w->p->max_skew_e12);
		return true;
	case USK_SLACK:
		*rise = (usk_i128)d * (USK_E12 + w->p->max_skew_e12) +
			usk_e12(slack_of(w, i).rise_ns);
		return true;
	case USK_MONOTONE:
	case USK_UNBOUNDED:
		break;
	}
	return false;
}

bool usk_fold_least(const struct usk_work *w, const struct usk_fold *f, usk_i128 d, usk_i128 *rise)
{
	*rise = f->lower == USK_SKEW ? d * (USK_E12 - w->p->max_skew_e12) : 0;
	return f->lower != USK_UNBOUNDED;
}

/* ---- sweeps ------------------------------------------------------------------------------------
 */

/* What may move an event: its neighbour before, the one behind, its peer. What did not change since
 * moves nothing again. RECENT, OLD: it was moved since the last look at pairs began, ended.
 * TOUCHED: it was moved, but nobody was told yet. */
enum { BEFORE = 1, BEHIND = 2, PEER = 4, ALL = 7, RECENT = 8, OLD = 16, TOUCHED = 32 };

/* An event, and the cell behind it. Others by their places; USK_NO_EVENT: none. */
struct node {
	usk_i128 least, most; /* T rises by so much over the cell; -USK_INF, USK_INF: any */
	uint32_t before, behind, peer;
	uint32_t run : 31, sent : 1;
};

/* Bounds of one side; upper ones are mirrored, so that both are raised. */
struct side {
	struct usk_sweeps *s;
	bool upper;
	usk_i128 *t;	 /* -USK_INF: none */
	uint8_t *todo;	 /* by place, as all that follows */
	uint64_t *marks; /* who has something to do */
	uint64_t *look;	 /* who was moved since bounds were last seen not to cross */
	bool *changed;	 /* by clock: a bound of it was */
	bool moved;
};

struct usk_sweeps {
	struct usk_work *w;
	uint32_t *place;   /* by event: in the order of sweeps, the reference's behind all others */
	uint32_t *event;   /* by place */
	struct node *node; /* by place */
	uint32_t n_marks;  /* words of a set of places */
	struct side side[2];
	uint8_t *news;	  /* by clock: whom its bounds are news to */
	size_t *pairs_of; /* [n_clocks + 1] by clock outwards: w->pairwise with those before it */
	struct {
		uint32_t a, b;
	} * ends; /* of w->pairwise, by place: most of them say nothing new */
};

static inline void todo(struct side *b, uint32_t k, uint8_t what)
{
	if (k < b->s->w->n_order) {
		usk_mark(b->marks, k);
		b->todo[k] |= what;
	}
}

static inline void done(struct side *b, uint32_t k, uint8_t what)
{
	b->todo[k] &= (uint8_t)~what;
	if (!(b->todo[k] & ALL)) {
		usk_unmark(b->marks, k);
	}
}

/* Who may be moved by an event that was: the neighbours before and behind it, its peer. What moved
 * it is not moved back: T rises over a cell by no less at most than at least. */
enum { TELL_BEFORE = 1, TELL_BEHIND = 2, TELL_PEER = 4, TELL_ALL = 7 };

static inline void moved(struct side *b, uint32_t k, unsigned tell)
{
	const struct node *at = &b->s->node[k];
	b->moved = true;
	b->todo[k] |= RECENT;
	usk_mark(b->look, k);
	if (tell & TELL_BEFORE && at->before != USK_NO_EVENT) {
		todo(b, at->before, BEHIND);
	}
	if (tell & TELL_BEHIND && at->behind != USK_NO_EVENT) {
		todo(b, at->behind, BEFORE);
	}
	/* An edge hands lower bounds to its receiver, upper ones to its sender. */
	if (tell & TELL_PEER && at->peer != USK_NO_EVENT && at->sent != b->upper) {
		todo(b, at->peer, PEER);
	}
}

static inline void raise(struct side *b, uint32_t k, usk_i128 t, unsigned tell)
{
	if (t > b->t[k]) {
		b->t[k] = t;
		moved(b, k, tell);
	}
}

static inline void pass(struct side *b, uint32_t from, uint32_t to, usk_i128 rise, unsigned tell)
{
	if (b->t[from] > -USK_INF && rise > -USK_INF) {
		raise(b, to, b->t[from] + rise, tell);
	}
}

static inline void meet(struct side *b, uint32_t k)
{
	const struct node *at = &b->s->node[k];
	if (at->peer != USK_NO_EVENT && at->sent == b->upper) {
		raise(b, k, b->t[at->peer], TELL_BEFORE | TELL_BEHIND);
	}
}

static inline void visit_forth(struct side *b, uint32_t k)
{
	const struct node *node = b->s->node;
	uint32_t before = node[k].before;
	uint8_t what = b->todo[k];
	done(b, k, BEFORE | PEER);
	if (what & BEFORE && before != USK_NO_EVENT) {
		const struct node *cell = &node[before];
		pass(b, before, k, b->upper ? -cell->most : cell->least, TELL_PEER | TELL_BEHIND);
	}
	if (what & PEER) {
		meet(b, k);
	}
}

static inline void visit_back(struct side *b, uint32_t k)
{
	const struct node *cell = &b->s->node[k];
	uint8_t what = b->todo[k];
	done(b, k, BEHIND | PEER);
	if (what & BEHIND && cell->behind != USK_NO_EVENT) {
		pass(b, cell->behind, k, b->upper ? cell->least : -cell->most,
		     TELL_PEER | TELL_BEFORE);
	}
	if (what & PEER) {
		meet(b, k);
	}
}

static inline void compare(struct side *b, size_t i)
{
	const struct usk_sweeps *s = b->s;
	uint32_t from = b->upper ? s->ends[i].b : s->ends[i].a;
	uint32_t to = b->upper ? s->ends[i].a : s->ends[i].b;
	if ((b->todo[from] | b->todo[to]) & (RECENT | OLD)) {
		const struct usk_pairwise *p = &s->w->pairwise[i];
		pass(b, from, to, p->least, TELL_ALL);
		pass(b, to, from, -p->most, TELL_ALL);
	}
}

static void sweep(struct side *b)
{
	const struct usk_sweeps *s = b->s;
	for (uint32_t k = 0; (k = usk_next_mark(b->marks, s->n_marks, k)) != USK_NO_MARK; k++) {
		visit_forth(b, k);
	}
	for (uint32_t k = s->w->n_order;
	     k && (k = usk_last_mark(b->marks, k - 1)) != USK_NO_MARK;) {
		visit_back(b, k);
	}
}

/*
 * Out from the reference: what pairs say of a clock, then its events forwards and backwards, before
 * the next clock's. A path over many clocks waits at each for the next message, so a sweep by time
 * leads over few of them, and what it brings there is found to be too wide again and again. Where
 * that takes long each clock's bounds are to be as good as those of the clocks before before they
 * lead on. Which event's bounds cross first is an answer, and depends on the order of sweeps: only
 * where pairs are compared, which are left out then, may all sweeps that follow be of this kind.
 */
enum { BY_TIME = 16 };

static void sweep_outwards(struct side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	for (size_t n = 0; n < w->n_clocks; n++) {
		uint32_t k = w->outwards[n];
		for (size_t i = s->pairs_of[n]; i < s->pairs_of[n + 1]; i++) {
			compare(b, i);
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
static void fold(struct side *b, const struct usk_fold *f)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	uint32_t from = s->place[b->upper ? f->last : f->first];
	uint32_t to = s->place[b->upper ? f->first : f->last];
	usk_i128 most = -USK_INF, l, r;
	for (uint32_t i = f->first; i <= f->last; i++) {
		uint32_t k = s->place[i];
		if (!usk_fold_least(w, f, (usk_i128)w->x[i] - w->x[f->first], &l) ||
		    !usk_fold_least(w, f, (usk_i128)w->x[f->last] - w->x[i], &r)) {
			break;
		}
		pass(b, from, k, b->upper ? r : l, TELL_ALL);
		usk_i128 t = b->t[k] + (b->upper ? l : r);
		most = b->t[k] > -USK_INF && t > most ? t : most;
	}
	raise(b, to, most, TELL_ALL);
}

/* Out from the reference, and back. */
static void compare_all(struct side *b)
{
	const size_t pairs = b->s->w->n_pairwise, n = b->s->w->n;
	uint8_t *todo = b->todo;
	for (size_t i = 0; i < pairs; i++) {
		compare(b, i);
	}
	for (size_t i = pairs; i-- > 0;) {
		compare(b, i);
	}
	for (size_t k = 0; k < n; k++) {
		uint8_t old = todo[k] & RECENT ? OLD : 0;
		todo[k] = (todo[k] & (uint8_t) ~(RECENT | OLD)) | old;
	}
}

static void fold_and_compare(struct side *b)
{
	for (size_t k = 0; k < b->s->w->n_folds; k++) {
		fold(b, &b->s->w->fold[k]);
	}
	compare_all(b);
}

/* ---- both sides --------------------------------------------------------------------------------
 */

struct task {
	struct usk_sweeps *s;
	void (*of)(struct side *b);
};

static void do_some(void *ctx, size_t from, size_t to)
{
	const struct task *t = ctx;
	for (size_t i = from; i < to; i++) {
		t->of(&t->s->side[i]);
	}
}

static void do_both(struct usk_sweeps *s, void (*of)(struct side *b))
{
	struct task t = { s, of };
	usk_parallel(2, 1, usk_threads(s->w), do_some, &t);
}

static inline void look_at(struct usk_sweeps *s, uint32_t k, bool moved)
{
	struct usk_work *w = s->w;
	if (moved && s->side[0].t[k] > -s->side[1].t[k] && w->crossed == USK_NO_EVENT) {
		w->crossed = s->event[k];
	}
}

/* The first event whose bounds cross of those that were moved, in the order of looks. */
static void look(struct usk_sweeps *s, bool outwards)
{
	struct usk_work *w = s->w;
	uint64_t *all = s->side[0].look;
	for (uint32_t i = 0; i < s->n_marks; i++) {
		all[i] |= s->side[1].look[i];
		s->side[1].look[i] = 0;
	}
	for (size_t n = 0; outwards && n < w->n_clocks; n++) {
		uint32_t k = w->outwards[n];
		for (uint32_t i = w->first[k + 1]; i-- > w->first[k] && k != w->reference;) {
			look_at(s, s->place[i], usk_is_marked(all, s->place[i]));
		}
	}
	for (uint32_t k = w->n_order; k && (k = usk_last_mark(all, k - 1)) != USK_NO_MARK;) {
		look_at(s, k, true);
	}
	memset(all, 0, s->n_marks * sizeof *all);
}

static void load(struct side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = s->event[k];
		b->t[k] = b->upper ? -w->hi[i] : w->lo[i];
	}
}

static void store(struct side *b)
{
	const struct usk_sweeps *s = b->s;
	const struct usk_work *w = s->w;
	memset(b->changed, false, w->c->n_clocks * sizeof *b->changed);
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = s->event[k];
		usk_i128 t = b->upper ? -b->t[k] : b->t[k], *old = b->upper ? &w->hi[i] : &w->lo[i];
		if (*old != t) {
			*old = t;
			b->changed[w->owner[i]] = true;
		}
	}
}

/* ---- what changed ------------------------------------------------------------------------------
 */

static void set_cell(struct usk_sweeps *s, uint32_t k)
{
	const struct usk_work *w = s->w;
	struct node *at = &s->node[k];
	uint32_t i = s->event[k];
	usk_i128 d = at->behind == USK_NO_EVENT ? 0 : (usk_i128)w->x[i + 1] - w->x[i];
	if (!usk_cell_least(w, i, d, &at->least)) {
		at->least = -USK_INF;
	}
	if (!usk_cell_most(w, i, d, &at->most)) {
		at->most = USK_INF;
	}
}

static void place_events(struct usk_sweeps *s)
{
	const struct usk_work *w = s->w;
	uint32_t n = w->n_order;
	memcpy(s->event, w->order, n * sizeof *s->event);
	for (uint32_t i = w->first[w->reference]; i < w->first[w->reference + 1]; i++) {
		s->event[n++] = i;
	}
	for (uint32_t k = 0; k < w->n; k++) {
		s->place[s->event[k]] = k;
	}
	for (uint32_t k = 0; k < w->n; k++) {
		uint32_t i = s->event[k], own = w->owner[i], peer = w->peer[i];
		bool last = i + 1 == w->first[own + 1];
		s->node[k] = (struct node){
			.before = i == w->first[own] ? USK_NO_EVENT : s->place[i - 1],
			.behind = last ? USK_NO_EVENT : s->place[i + 1],
			.peer = peer == USK_NO_EVENT ? USK_NO_EVENT : s->place[peer],
			.run = w->run_of[i] & (UINT32_MAX >> 1),
			.sent = w->sent[i],
		};
	}
}

struct usk_sweeps *usk_sweeps_begin(struct usk_work *w)
{
	struct usk_sweeps *s = usk_alloc(1, sizeof *s);
	size_t n = (size_t)w->n + 1, clocks = w->c->n_clocks + 1;
	s->w = w;
	s->place = usk_grow(NULL, n, sizeof *s->place);
	s->event = usk_grow(NULL, n, sizeof *s->event);
	s->node = usk_grow(NULL, n, sizeof *s->node);
	s->news = usk_alloc(clocks, sizeof *s->news);
	s->pairs_of = usk_alloc(clocks + 1, sizeof *s->pairs_of);
	s->n_marks = w->n / 64 + 1;
	for (int i = 0; i < 2; i++) {
		s->side[i] = (struct side){ .s = s, .upper = i };
		s->side[i].t = usk_grow(NULL, n, sizeof *s->side[i].t);
		s->side[i].todo = usk_grow(NULL, n, sizeof *s->side[i].todo);
		s->side[i].marks = usk_alloc(s->n_marks, sizeof *s->side[i].marks);
		s->side[i].look = usk_alloc(s->n_marks, sizeof *s->side[i].look);
		s->side[i].changed = usk_alloc(clocks, sizeof *s->side[i].changed);
	}
	place_events(s);
	usk_sweeps_all(s);
	return s;
}

void usk_sweeps_end(struct usk_sweeps *s)
{
	for (int i = 0; i < 2; i++) {
		free(s->side[i].t);
		free(s->side[i].todo);
		free(s->side[i].marks);
		free(s->side[i].look);
		free(s->side[i].changed);
	}
	free(s->place);
	free(s->event);
	free(s->node);
	free(s->news);
	free(s->pairs_of);
	free(s->ends);
	free(s);
}

void usk_sweeps_all(struct usk_sweeps *s)
{
	const struct usk_work *w = s->w;
	memset(s->news, USK_NEWS_TO_ALL, w->c->n_clocks);
	memset(s->pairs_of, 0, (w->n_clocks + 2) * sizeof *s->pairs_of);
	for (uint32_t k = 0; k < w->n; k++) {
		set_cell(s, k);
	}
	for (int i = 0; i < 2; i++) {
		struct side *b = &s->side[i];
		memset(b->todo, RECENT, w->n);
		memset(b->look, 0xff, s->n_marks * sizeof *b->look);
		for (uint32_t k = 0; k < w->n_order; k++) {
			todo(b, k, ALL);
		}
	}
}

static uint32_t later(const struct usk_work *w, const uint32_t *rank, const struct usk_pairwise *p)
{
	uint32_t a = rank[w->owner[p->a]], b = rank[w->owner[p->b]];
	return a > b ? a : b;
}

/* w->pairwise by the later one of its two clocks. */
static void sort_pairs(struct usk_sweeps *s)
{
	struct usk_work *w = s->w;
	uint32_t *rank = usk_alloc(w->n_clocks, sizeof *rank);
	struct usk_pairwise *sorted = usk_grow(NULL, w->n_pairwise + 1, sizeof *sorted);
	s->ends = usk_grow(s->ends, w->n_pairwise + 1, sizeof *s->ends);
	for (uint32_t n = 0; n < w->n_clocks; n++) {
		rank[w->outwards[n]] = n;
	}
	for (size_t i = 0; i < w->n_pairwise; i++) {
		s->pairs_of[later(w, rank, &w->pairwise[i]) + 2]++;
	}
	for (size_t n = 0; n < w->n_clocks; n++) {
		s->pairs_of[n + 2] += s->pairs_of[n + 1];
	}
	for (size_t i = 0; i < w->n_pairwise; i++) {
		const struct usk_pairwise *p = &w->pairwise[i];
		size_t at = s->pairs_of[later(w, rank, p) + 1]++;
		sorted[at] = *p;
		s->ends[at].a = s->place[p->a];
		s->ends[at].b = s->place[p->b];
	}
	free(w->pairwise);
	w->pairwise = sorted;
	free(rank);
}

void usk_sweeps_pairs(struct usk_sweeps *s)
{
	sort_pairs(s);
	for (uint32_t k = 0; k < s->w->n; k++) {
		s->side[0].todo[k] |= RECENT;
		s->side[1].todo[k] |= RECENT;
	}
}

void usk_sweeps_touch(struct usk_sweeps *s, uint32_t i)
{
	s->side[0].todo[s->place[i]] |= TOUCHED;
}

uint8_t *usk_sweeps_news(struct usk_sweeps *s, uint32_t k)
{
	return &s->news[k];
}

void usk_sweeps_runs(struct usk_sweeps *s, const bool *changed)
{
	for (uint32_t k = 0; k < s->w->n; k++) {
		const struct node *at = &s->node[k];
		if (!changed[at->run]) {
			continue;
		}
		set_cell(s, k);
		for (int i = 0; i < 2 && at->behind != USK_NO_EVENT; i++) {
			todo(&s->side[i], k, BEHIND);
			todo(&s->side[i], at->behind, BEFORE);
		}
	}
}

static void tell_touched(struct usk_sweeps *s)
{
	for (uint32_t k = 0; k < s->w->n; k++) {
		if (s->side[0].todo[k] & TOUCHED) {
			s->side[0].todo[k] &= (uint8_t)~TOUCHED;
			moved(&s->side[0], k, TELL_ALL);
			moved(&s->side[1], k, TELL_ALL);
		}
	}
}

/* One round. false: it moved nothing. */
static bool go_round(struct usk_sweeps *s, bool outwards)
{
	s->side[0].moved = s->side[1].moved = false;
	if (outwards) {
		do_both(s, sweep_outwards);
		look(s, true);
	}
	do_both(s, sweep);
	look(s, false);
	if (s->w->n_folds || s->w->n_pairwise) {
		do_both(s, fold_and_compare);
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
	tell_touched(s);
	do_both(s, load);
	bool moved = true;
	for (uint32_t round = 0; moved && w->crossed == USK_NO_EVENT; round++) {
		moved = go_round(s, round % BY_TIME == BY_TIME - 1 ||
					    (w->n_pairwise && round >= BY_TIME));
		if (moved && round > most) {
			w->crossed = w->order[0];
		}
	}
	do_both(s, store);
	for (size_t k = 0; k < w->n_clocks; k++) {
		bool any = s->side[0].changed[k] || s->side[1].changed[k];
		s->news[k] = any ? USK_NEWS_TO_ALL : s->news[k];
	}
	return w->crossed == USK_NO_EVENT;
}

bool usk_propagate(struct usk_work *w)
{
	struct usk_sweeps *s = usk_sweeps_begin(w);
	bool good = usk_sweeps_run(s);
	usk_sweeps_end(s);
	return good;
}
