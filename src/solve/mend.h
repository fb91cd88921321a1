/* SPDX-License-Identifier: MIT */
/*
 * mend.h - estimates of all clocks moved so that every message is in order
 */
#ifndef USK_SOLVE_MEND_H
#define USK_SOLVE_MEND_H

#include "solve/link.h"
#include "solve/solve.h"

struct usk_mending {
	/* By number of clock: its estimate and band, all three curves known; n = 0: it has none. */
	struct usk_link *link;
	const bool *is_reference; /* its time is what it shows, it needs no link */
	const bool *odd;	  /* its band does not widen those of others */
	const int64_t *q_ns;	  /* what its stamps are rounded down to; 0 for 1 ns */
	size_t n_clocks;
	const struct usk_tie *tie;
	size_t n_ties;
	/* Messages beside the points of ties; what bands exclude by more than they are wide
	 * anywhere is left as it is. */
	const struct usk_msg *more;
	size_t n_more;
	unsigned threads;
	bool *moved; /* [n_clocks], out: the link is another now */
};

/**
 * Moves M where messages are out of order, by as little as that takes (sequence.h): knots of its
 * own there, elsewhere as it was. Bands hold the estimate afterwards too: where they and messages
 * contradict each other they are widened.
 *
 * Returns how many messages are still received before they were sent, by more than the receiver's
 * resolution: they contradict each other.
 */
size_t usk_mend(struct usk_mending *m);

/** The same of a solution: tie[] as usk_solve() left it. Returns whether anything was moved. */
bool usk_mend_clocks(struct usk_clocks *c, const struct usk_tie *tie, size_t n_ties,
		     const struct usk_msg *more, size_t n_more, unsigned threads);

#endif
