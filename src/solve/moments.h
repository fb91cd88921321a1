/* SPDX-License-Identifier: MIT */
/*
 * moments.h - all messages of an island at some moments: difference constraints
 *
 * At a moment each clock i of the core shows a time t_i that is near to it. With unknowns
 * x_i = T_i(t_i) - moment every message from i to j bounds x_i - x_j, the more loosely the further
 * away it is, by what the rates of the two clocks allow in between; so does what the pair alone
 * says of that moment. The least such bound is the length of an arc from j to i, and the largest
 * x_i there is (x of the reference being 0) is the shortest path from the reference to i.
 */
#ifndef USK_SOLVE_MOMENTS_H
#define USK_SOLVE_MOMENTS_H

#include "solve/joint.h"

#define USK_FAR (INT64_MAX / 4) /* no bound */

/* Messages of a tie in one direction; clocks by their number in the core. */
struct usk_flow {
	uint32_t from, to, tie;
	bool ceiling;
};

struct usk_moments {
	struct usk_island_work *w;
	uint32_t *clock;  /* [n]: the core's clocks */
	uint32_t *number; /* by clock: the reverse */
	size_t n;
	uint32_t reference;
	int64_t *moment; /* [n_moments], on the reference */
	size_t n_moments;
	int64_t *local; /* [n * n_moments]: what each clock shows; does not fall */
	struct usk_flow *flow;
	size_t n_flows;
	size_t *in, *out; /* [n + 1]: where a clock's flows begin in by_to, by_from */
	uint32_t *by_to, *by_from;
	int64_t *least;	     /* [n_flows * n_moments]: x_from - x_to is no larger; USK_FAR: any */
	int64_t *low, *high; /* [n * n_moments]: bounds of x */
	unsigned threads;
};

/** `most` moments at most, over the whole trace of the core. */
struct usk_moments *usk_moments_new(struct usk_island_work *w, size_t most);
void usk_moments_free(struct usk_moments *m);

/** What clock i of the core shows at moment k, and x's bounds there. */
static inline size_t usk_moments_at(const struct usk_moments *m, size_t i, size_t k)
{
	return i * m->n_moments + k;
}

/** The times of a flow's message: its point p of the tie's part, sent by one clock, received by the
 * other. */
void usk_flow_times(const struct usk_moments *m, const struct usk_flow *f, struct usk_xy p,
		    int64_t *sent, int64_t *received);

/** Fills least[], by the rates in w->rates. O(points + moments) a flow. */
void usk_moments_weigh(struct usk_moments *m);

/**
 * Fills low[] and high[] by two runs of Bellman and Ford's algorithm a moment. false: some messages
 * contradict each other; conflict gets them.
 */
bool usk_moments_bound(struct usk_moments *m, struct usk_conflict *conflict);

/**
 * Shortest paths at one moment from the distances in dist[n] on; back: against the arcs. Arcs are
 * least[flow * n_moments + k], copied by the caller into length[n_flows]. Scratch is for n clocks.
 * Returns USK_NO_CLOCK, or a clock on a negative cycle: then last[] leads round it.
 */
struct usk_run {
	int64_t *dist;
	uint32_t *queue, *hops, *last; /* last: the flow by which a clock was reached */
	bool *queued;
};
void usk_run_new(struct usk_run *r, size_t n);
void usk_run_free(struct usk_run *r);
uint32_t usk_moments_run(const struct usk_moments *m, const int64_t *length, bool back,
			 struct usk_run *r);

/**
 * Rates of clocks that their bounds at the moments allow: where these say more than w->rates, they
 * are narrowed. Returns whether it is worth to weigh again.
 */
bool usk_moments_rates(struct usk_moments *m);

/** low[] and high[] as the links have them at the moments. */
void usk_moments_bands(struct usk_moments *m);

/** Narrows w->link by low[] and high[]; between moments by what rates allow. */
void usk_moments_narrow(struct usk_moments *m);

#endif
