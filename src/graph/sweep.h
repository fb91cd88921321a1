/* SPDX-License-Identifier: MIT */
/*
 * sweep.h - bounds of one side while they are swept: what propagate.c and sweeps.c share
 *
 * Events lie in the order in which sweeps look at them, as clocks whose events lie side by side are
 * far from each other in memory. Upper bounds are mirrored: so one piece of code raises both.
 */
#ifndef USK_GRAPH_SWEEP_H
#define USK_GRAPH_SWEEP_H

#include "graph/marks.h"
#include "graph/work.h"

/* What may move an event: its neighbour before, the one behind, its peer. What did not change since
 * moves nothing again. */
enum { BEFORE = 1, BEHIND = 2, PEER = 4, ALL = 7 };

/* An event, and the cell behind it. Others by their places; USK_NO_EVENT: none. What T rises by over
 * a cell is worked out whenever it is asked, as rates change often: to keep it took twice the room. */
struct usk_swept {
	uint64_t ns; /* the cell's length */
	uint32_t before, behind, peer;
	uint32_t run : 28, sent : 1, slack : 1;
	uint32_t calm_least : 1, calm_most : 1; /* the cell's rate is the run's */
};

enum { USK_MOST_SWEPT_RUNS = 1 << 28 };

/* How fast T of a run goes, by its stamps: 10^12 is as fast as these. */
struct usk_pace_of {
	int64_t slow_e12, fast_e12;
};

/* Bounds of one side; upper ones are mirrored, so that both are raised. */
struct usk_side {
	struct usk_sweeps *s;
	bool upper;
	usk_i128 *t; /* -USK_INF: none */
	/* By place: what those before, behind in cells with slack say, if T did not jump; NULL if there are none. */
	usk_i128 *forth, *back;
	uint8_t *todo;	  /* by place, as all that follows */
	uint64_t *marks;  /* who has something to do */
	uint64_t *look;	  /* who was moved since bounds were last seen not to cross */
	uint64_t *recent; /* who was moved since its pairs were marked */
	uint64_t *
		pairs; /* of w->pairwise those with an event that was moved since they were compared */
	bool *changed; /* by clock: a bound of it was */
	bool moved;
};

struct usk_sweeps {
	struct usk_work *w;
	uint32_t *place;	  /* by event: in the order of sweeps */
	const uint32_t *event;	  /* by place: w->order */
	struct usk_swept *node;	  /* by place */
	uint32_t n_marks;	  /* words of a set of places */
	uint32_t n_order;	  /* places without the reference's, which come behind */
	struct usk_pace_of *pace; /* by run */
	uint64_t *since;	  /* places of events that were moved in this run */
	bool *touched;		  /* by place: it was moved, but nobody was told yet */
	const bool *changed;	  /* by run: its slopes were, likewise */
	bool stale;		  /* what sides know of all bounds is */
	uint32_t moved;		  /* an event that the last sweep moved */
	struct usk_side side[2];
	uint8_t *news;	  /* by clock: whom its bounds are news to */
	size_t *pairs_of; /* [n_clocks + 1] by clock outwards: where those with it and others before it
			       begin in by_clock */
	uint32_t *by_clock; /* numbers of w->pairwise, whose events are places here */
	uint32_t n_pair_marks;
	uint32_t *of_event; /* [n + 1] by place: where its pairs begin in pair_at */
	uint32_t *pair_at;
};

/* By how much T rises over the cell behind an event, at least and at most: as usk_cell_least() and
 * usk_cell_most() have it, -USK_INF and USK_INF if nobody knows. */
static inline usk_i128 usk_swept_least(const struct usk_sweeps *s, uint32_t k)
{
	const struct usk_swept *at = &s->node[k];
	usk_i128 rise;
	if (at->calm_least) {
		return (usk_i128)at->ns * s->pace[at->run].slow_e12;
	}
	return usk_cell_least(s->w, s->event[k], at->ns, &rise) ? rise : -USK_INF;
}

static inline usk_i128 usk_swept_most(const struct usk_sweeps *s, uint32_t k)
{
	const struct usk_swept *at = &s->node[k];
	usk_i128 rise;
	if (at->calm_most) {
		return (usk_i128)at->ns * s->pace[at->run].fast_e12;
	}
	return usk_cell_most(s->w, s->event[k], at->ns, &rise) ? rise : USK_INF;
}

static inline void usk_sweep_todo(struct usk_side *b, uint32_t k, uint8_t what)
{
	if (k < b->s->n_order) {
		usk_mark(b->marks, k);
		b->todo[k] |= what;
	}
}

/* Who may be moved by an event that was: the neighbours before and behind it, its peer. What moved
 * it is not moved back: T rises over a cell by no less at most than at least. */
enum { TELL_BEFORE = 1, TELL_BEHIND = 2, TELL_PEER = 4, TELL_ALL = 7 };

static inline void usk_sweep_moved(struct usk_side *b, uint32_t k, unsigned tell)
{
	const struct usk_swept *at = &b->s->node[k];
	b->moved = true;
	usk_mark(b->recent, k);
	usk_mark(b->look, k);
	if (tell & TELL_BEFORE && at->before != USK_NO_EVENT) {
		usk_sweep_todo(b, at->before, BEHIND);
	}
	if (tell & TELL_BEHIND && at->behind != USK_NO_EVENT) {
		usk_sweep_todo(b, at->behind, BEFORE);
	}
	/* An edge hands lower bounds to its receiver, upper ones to its sender. */
	if (tell & TELL_PEER && at->peer != USK_NO_EVENT && at->sent != b->upper) {
		usk_sweep_todo(b, at->peer, PEER);
	}
}

/** Forwards, then backwards in the order of time. */
void usk_sweep(struct usk_side *b);
/** Clock by clock, out from the reference. */
void usk_sweep_outwards(struct usk_side *b);
/** What is not between neighbours: folds, messages that may be later than they look, and what pairs say. */
void usk_sweep_all_else(struct usk_side *b);

#endif
