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
 */
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
static inline bool cell_least(const struct usk_work *w, uint32_t i, uint64_t d, usk_i128 *rise)
{
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

static inline bool cell_most(const struct usk_work *w, uint32_t i, uint64_t d, usk_i128 *rise)
{
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

bool usk_cell_least(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise)
{
	return cell_least(w, i, (uint64_t)d, rise);
}

bool usk_cell_most(const struct usk_work *w, uint32_t i, usk_i128 d, usk_i128 *rise)
{
	return cell_most(w, i, (uint64_t)d, rise);
}

bool usk_fold_least(const struct usk_work *w, const struct usk_fold *f, usk_i128 d, usk_i128 *rise)
{
	*rise = f->lower == USK_SKEW ? d * (USK_E12 - w->p->max_skew_e12) : 0;
	return f->lower != USK_UNBOUNDED;
}

/* ---- marks -------------------------------------------------------------------------------------
 */

/* A set of numbers, a bit each. */
static inline void mark(uint64_t *m, uint32_t i)
{
	m[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void unmark(uint64_t *m, uint32_t i)
{
	m[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The least mark of i or more, of n words; USK_NO_EVENT: none. */
static inline uint32_t next_mark(const uint64_t *m, uint32_t n, uint32_t i)
{
	uint32_t k = i / 64;
	uint64_t bits = k < n ? m[k] >> i % 64 << i % 64 : 0;
	while (!bits && ++k < n) {
		bits = m[k];
	}
	return bits ? 64 * k + (uint32_t)__builtin_ctzll(bits) : USK_NO_EVENT;
}

/* The largest one of i or less. */
static inline uint32_t last_mark(const uint64_t *m, uint32_t i)
{
	uint32_t k = i / 64;
	uint64_t bits = m[k] << (63 - i % 64) >> (63 - i % 64);
	while (!bits && k) {
		bits = m[--k];
	}
	return bits ? 64 * k + 63 - (uint32_t)__builtin_clzll(bits) : USK_NO_EVENT;
}

/* ---- sweeps ------------------------------------------------------------------------------------
 */

/* What may move an event: its neighbour before, the one behind, its peer; LOOK: it was moved since
 * bounds were last seen not to cross. What did not change since moves nothing again. TOUCHED: it
 * was moved, but nobody was told yet. */
enum { BEFORE = 1, BEHIND = 2, PEER = 4, LOOK = 8, ALL = 15, TOUCHED = 16 };

struct usk_sweeps {
	struct usk_work *w;
	uint8_t *todo;	  /* by event */
	uint32_t *place;  /* by event: in the order of sweeps; USK_NO_EVENT: the reference's */
	uint64_t *marks;  /* places of events with something to do */
	uint32_t n_marks; /* words of it */
	uint8_t *news;	  /* by clock: whom its bounds are news to */
	bool moved;
};

static inline void todo(struct usk_sweeps *s, uint32_t i, uint8_t what)
{
	if (!(s->todo[i] & ALL) && s->place[i] != USK_NO_EVENT) {
		mark(s->marks, s->place[i]);
	}
	s->todo[i] |= what;
}

static inline void done(struct usk_sweeps *s, uint32_t i, uint32_t place, uint8_t what)
{
	uint8_t left = s->todo[i] & (uint8_t)~what;
	if (s->todo[i] && !left) {
		unmark(s->marks, place);
	}
	s->todo[i] = left;
}

/* Who may be moved by an event that was: the neighbours before and behind it, its peer. What moved
 * it is not moved back: T rises over a cell by no less at most than at least. */
enum { TELL_BEFORE = 1, TELL_BEHIND = 2, TELL_PEER = 4, TELL_BOTH = 3, TELL_ALL = 7 };

static inline void moved(struct usk_sweeps *s, uint32_t i, unsigned tell)
{
	const struct usk_work *w = s->w;
	s->moved = true;
	s->news[w->owner[i]] = USK_NEWS_TO_ALL;
	todo(s, i, LOOK);
	if (tell & TELL_BEFORE && i) {
		todo(s, i - 1, BEHIND);
	}
	if (tell & TELL_BEHIND && i + 1 < w->n) {
		todo(s, i + 1, BEFORE);
	}
	if (tell & TELL_PEER && w->peer[i] != USK_NO_EVENT) {
		todo(s, w->peer[i], PEER);
	}
}

/* An edge hands lower bounds to its receiver, upper ones to its sender. */
static inline void lower(struct usk_sweeps *s, uint32_t i, usk_i128 v, unsigned tell)
{
	if (v > s->w->lo[i]) {
		s->w->lo[i] = v;
		moved(s, i, s->w->sent[i] ? tell : tell & TELL_BOTH);
	}
}

static inline void upper(struct usk_sweeps *s, uint32_t i, usk_i128 v, unsigned tell)
{
	if (v < s->w->hi[i]) {
		s->w->hi[i] = v;
		moved(s, i, s->w->sent[i] ? tell & TELL_BOTH : tell);
	}
}

static inline uint64_t apart(const struct usk_work *w, uint32_t cell)
{
	return (uint64_t)w->x[cell + 1] - (uint64_t)w->x[cell];
}

/* To an event from its neighbour before. */
static inline void pass_on(struct usk_sweeps *s, uint32_t to)
{
	const struct usk_work *w = s->w;
	const unsigned tell = TELL_PEER | TELL_BEHIND;
	uint32_t from = to - 1;
	uint64_t d = apart(w, from);
	usk_i128 rise;
	if (w->lo[from] > -USK_INF && cell_least(w, from, d, &rise)) {
		lower(s, to, w->lo[from] + rise, tell);
	}
	if (w->hi[from] < USK_INF && cell_most(w, from, d, &rise)) {
		upper(s, to, w->hi[from] + rise, tell);
	}
}

/* From its neighbour behind. */
static inline void pass_back(struct usk_sweeps *s, uint32_t to)
{
	const struct usk_work *w = s->w;
	const unsigned tell = TELL_PEER | TELL_BEFORE;
	uint32_t from = to + 1;
	uint64_t d = apart(w, to);
	usk_i128 rise;
	if (w->lo[from] > -USK_INF && cell_most(w, to, d, &rise)) {
		lower(s, to, w->lo[from] - rise, tell);
	}
	if (w->hi[from] < USK_INF && cell_least(w, to, d, &rise)) {
		upper(s, to, w->hi[from] - rise, tell);
	}
}

static inline void look(struct usk_work *w, uint32_t i)
{
	if (w->lo[i] > w->hi[i] && w->crossed == USK_NO_EVENT) {
		w->crossed = i;
	}
}

/*
 * Events between the ends of a fold are ordered with these alone. Whether one lies before or behind
 * the moment at which its clock was set back, from the first end to it and from it to the last one
 * goes by no less time than stamps tell.
 */
static void folds(struct usk_sweeps *s)
{
	struct usk_work *w = s->w;
	for (size_t k = 0; k < w->n_folds; k++) {
		const struct usk_fold *f = &w->fold[k];
		uint32_t a = f->first, b = f->last;
		usk_i128 most = -USK_INF, least = USK_INF, l, r;
		for (uint32_t i = a; i <= b; i++) {
			if (!usk_fold_least(w, f, (usk_i128)w->x[i] - w->x[a], &l) ||
			    !usk_fold_least(w, f, (usk_i128)w->x[b] - w->x[i], &r)) {
				break;
			}
			if (w->lo[a] > -USK_INF) {
				lower(s, i, w->lo[a] + l, TELL_ALL);
			}
			if (w->hi[b] < USK_INF) {
				upper(s, i, w->hi[b] - r, TELL_ALL);
			}
			most = w->lo[i] > -USK_INF && w->lo[i] + r > most ? w->lo[i] + r : most;
			least = w->hi[i] < USK_INF && w->hi[i] - l < least ? w->hi[i] - l : least;
		}
		lower(s, b, most, TELL_ALL);
		upper(s, a, least, TELL_ALL);
	}
}

static inline void meet(struct usk_sweeps *s, uint32_t i)
{
	struct usk_work *w = s->w;
	uint32_t p = w->peer[i];
	if (p != USK_NO_EVENT && !w->sent[i]) {
		lower(s, i, w->lo[p], TELL_BOTH);
	} else if (p != USK_NO_EVENT) {
		upper(s, i, w->hi[p], TELL_BOTH);
	}
}

static inline void compare(struct usk_sweeps *s, const struct usk_pairwise *p)
{
	const struct usk_work *w = s->w;
	if (p->least > -USK_INF && w->lo[p->a] > -USK_INF) {
		lower(s, p->b, w->lo[p->a] + p->least, TELL_ALL);
	}
	if (p->least > -USK_INF && w->hi[p->b] < USK_INF) {
		upper(s, p->a, w->hi[p->b] - p->least, TELL_ALL);
	}
	if (p->most < USK_INF && w->hi[p->a] < USK_INF) {
		upper(s, p->b, w->hi[p->a] + p->most, TELL_ALL);
	}
	if (p->most < USK_INF && w->lo[p->b] > -USK_INF) {
		lower(s, p->a, w->lo[p->b] - p->most, TELL_ALL);
	}
}

/* Out from the reference, and back. */
static void pairwise(struct usk_sweeps *s)
{
	for (size_t k = 0; k < s->w->n_pairwise; k++) {
		compare(s, &s->w->pairwise[k]);
	}
	for (size_t k = s->w->n_pairwise; k-- > 0;) {
		compare(s, &s->w->pairwise[k]);
	}
}

static void visit_forth(struct usk_sweeps *s, uint32_t k)
{
	const struct usk_work *w = s->w;
	uint32_t i = w->order[k];
	uint8_t todo = s->todo[i];
	done(s, i, k, BEFORE | PEER);
	if (todo & BEFORE && i > w->first[w->owner[i]]) {
		pass_on(s, i);
	}
	if (todo & PEER) {
		meet(s, i);
	}
}

static void visit_back(struct usk_sweeps *s, uint32_t k)
{
	struct usk_work *w = s->w;
	uint32_t i = w->order[k];
	uint8_t todo = s->todo[i];
	done(s, i, k, BEHIND | PEER);
	if (todo & BEHIND && i + 1 < w->first[w->owner[i] + 1]) {
		pass_back(s, i);
	}
	if (todo & PEER) {
		meet(s, i);
	}
	if (s->todo[i] & LOOK) {
		done(s, i, k, LOOK);
		look(w, i);
	}
}

/*
 * Out from the reference: each clock's events forwards and backwards before the next clock's. A
 * path over many clocks waits at each for the next message, so a sweep by time leads over few of
 * them, and what it brings there is found to be too wide again and again. Where that takes long
 * each clock's bounds are to be as good as those of the clocks before before they lead on.
 */
enum { BY_TIME = 16 };

static void sweep_outwards(struct usk_sweeps *s)
{
	const struct usk_work *w = s->w;
	for (size_t n = 0; n < w->n_clocks; n++) {
		uint32_t k = w->outwards[n];
		for (uint32_t i = w->first[k]; i < w->first[k + 1] && k != w->reference; i++) {
			visit_forth(s, s->place[i]);
		}
		for (uint32_t i = w->first[k + 1]; i-- > w->first[k] && k != w->reference;) {
			visit_back(s, s->place[i]);
		}
	}
}

static void sweep(struct usk_sweeps *s)
{
	for (uint32_t k = 0; (k = next_mark(s->marks, s->n_marks, k)) != USK_NO_EVENT; k++) {
		visit_forth(s, k);
	}
	for (uint32_t k = s->w->n_order; k && (k = last_mark(s->marks, k - 1)) != USK_NO_EVENT;) {
		visit_back(s, k);
	}
	folds(s);
	pairwise(s);
}

/* ---- what changed ------------------------------------------------------------------------------
 */

struct usk_sweeps *usk_sweeps_begin(struct usk_work *w)
{
	struct usk_sweeps *s = usk_alloc(1, sizeof *s);
	s->w = w;
	s->todo = usk_grow(NULL, w->n + 1, sizeof *s->todo);
	s->place = usk_grow(NULL, w->n + 1, sizeof *s->place);
	s->news = usk_alloc(w->c->n_clocks + 1, sizeof *s->news);
	memset(s->place, 0xff, w->n * sizeof *s->place);
	s->n_marks = w->n_order / 64 + 1;
	s->marks = usk_alloc(s->n_marks, sizeof *s->marks);
	for (uint32_t k = 0; k < w->n_order; k++) {
		s->place[w->order[k]] = k;
	}
	usk_sweeps_all(s);
	return s;
}

void usk_sweeps_end(struct usk_sweeps *s)
{
	free(s->marks);
	free(s->place);
	free(s->todo);
	free(s->news);
	free(s);
}

void usk_sweeps_all(struct usk_sweeps *s)
{
	memset(s->todo, ALL, s->w->n);
	memset(s->news, USK_NEWS_TO_ALL, s->w->c->n_clocks);
	for (uint32_t k = 0; k < s->w->n_order; k++) {
		mark(s->marks, k);
	}
}

void usk_sweeps_touch(struct usk_sweeps *s, uint32_t i)
{
	s->todo[i] |= TOUCHED;
}

uint8_t *usk_sweeps_news(struct usk_sweeps *s, uint32_t k)
{
	return &s->news[k];
}

void usk_sweeps_runs(struct usk_sweeps *s, const bool *changed)
{
	const struct usk_work *w = s->w;
	for (uint32_t i = 0; i < w->n; i++) {
		if (changed[w->run_of[i]]) {
			todo(s, i, BEHIND);
			if (i + 1 < w->n) {
				todo(s, i + 1, BEFORE);
			}
		}
	}
}

static void tell_touched(struct usk_sweeps *s)
{
	for (uint32_t i = 0; i < s->w->n; i++) {
		if (s->todo[i] & TOUCHED) {
			s->todo[i] &= (uint8_t)~TOUCHED;
			moved(s, i, TELL_ALL);
		}
	}
}

bool usk_sweeps_run(struct usk_sweeps *s)
{
	struct usk_work *w = s->w;
	/* A circle that leads back earlier makes bounds fall for ever where nothing holds them from
	 * the other side. A path has no more events than there are: so many sweeps are enough for
	 * any, and far fewer were for all that was seen. */
	uint32_t most = 1000 + (w->n < 100000 ? w->n : 100000) / 10;
	tell_touched(s);
	s->moved = true;
	for (uint32_t round = 0; s->moved && w->crossed == USK_NO_EVENT; round++) {
		s->moved = false;
		if (round % BY_TIME == BY_TIME - 1) {
			sweep_outwards(s);
		}
		sweep(s);
		if (s->moved && round > most) {
			w->crossed = w->order[0];
		}
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
