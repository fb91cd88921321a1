/* SPDX-License-Identifier: MIT */
/*
 * bellman.h - the bounds of every event by relaxation of all constraints, exact and slow
 *
 * In    events of some clocks, messages between them, which runs of a clock are known to be whole,
 *       how far each clock's rate may stray from one constant that is not known
 * Out   bounds of T, the reference's time, at every event and between them
 * Why   an engine's band and this one both hold the truth, so they must meet; how much wider the
 *       engine's is says what it leaves unused
 * Not   fast, not the tightest: the constant is bounded by all pairs of events, but not split into
 *       cases, as an engine may do
 *
 * Shares no code with the library but integer division. Times are in 10^-12 ns, rates in 10^-12, so
 * that products are exact; only rates are rounded, outwards.
 */
#ifndef BELLMAN_H
#define BELLMAN_H

#include "base/base.h"

struct bellman_event {
	uint32_t clock, run; /* runs of a clock are in order; between two its stamps may do anything
			      */
	int64_t local_ns;
	usk_i128 lo, hi; /* of T, filled in */
};

struct bellman_message {
	size_t sent, received; /* events */
};

struct bellman_clock {
	int64_t wander_e12;	    /* half the range of its rate */
	int64_t slow_e12, fast_e12; /* bounds of the constant, filled in */
};

struct bellman {
	struct bellman_event *event;
	size_t n;
	const struct bellman_message *message;
	size_t n_messages;
	struct bellman_clock *clock;
	uint32_t n_clocks, reference;
	int64_t max_skew_e12;
	int64_t resolution_ns; /* what stamps are rounded down to; 0: they are exact */
	size_t *order;	       /* of the events by clock, run and stamp; by bellman_solve() */
};

#define BELLMAN_NONE ((usk_i128)1 << 122) /* -BELLMAN_NONE: nothing bounds it from below */

/*
 * The bounds are of T when a clock reads a stamp exactly. A message may be stamped up to the
 * resolution later, and the reference's own stamps stand for as much.
 */
/** False: no clocks fit. Cost: the square of the events of a run, some dozen times. */
bool bellman_solve(struct bellman *b);
void bellman_free(struct bellman *b); /* what bellman_solve() took */

/** Bounds at any stamp of a run, whole ns, rounded outwards; USK_NONE where nothing bounds it. */
void bellman_at(const struct bellman *b, uint32_t clock, uint32_t run, int64_t local_ns,
		int64_t *lo_ns, int64_t *hi_ns);

#endif
