/* SPDX-License-Identifier: MIT */
/*
 * rates.h - how fast clocks can run against their reference
 */
#ifndef USK_SOLVE_RATES_H
#define USK_SOLVE_RATES_H

#include "solve/graph.h"

/* At every moment the clock's T rises by 1 + min to 1 + max per ns of its own time. */
struct usk_rates {
	int64_t min_e12, max_e12; /* rounded outwards, within the skew limit */
	int64_t wander_e12; /* and by so much about a constant at most: the sum along a path */
};

/**
 * Of all clocks, from what each pair says of its own rate, along whichever paths say most: with
 * r = ln(1 + rate) a tie is two inequalities between r's of two clocks, so bounds are shortest
 * paths. Ties that do not hold, and clocks with leave_out[i] (may be NULL), say nothing.
 *
 * rates[n_clocks]  out; the skew limit where nothing says more
 * Returns false if the ties contradict each other: then bounds are those of the skew limit too.
 */
bool usk_rates_of(const struct usk_graph *g, const struct usk_tie *tie, uint32_t origin,
		  int64_t max_skew_e12, const bool *leave_out, struct usk_rates *rates);

#endif
