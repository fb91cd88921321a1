/* SPDX-License-Identifier: MIT */
/*
 * island.h - one island while it is solved
 */
#ifndef USK_SOLVE_ISLAND_H
#define USK_SOLVE_ISLAND_H

#include "solve/rates.h"
#include "solve/tree.h"

struct usk_island_work {
	struct usk_clocks *c;
	struct usk_tie *tie;
	size_t n_ties;
	const struct usk_solve_options *opt;
	const struct usk_graph *graph;
	uint32_t *clock; /* its clocks, sorted */
	size_t n;
	/* By number of clock: */
	uint32_t *part; /* strongly connected */
	bool *odd;	/* jumps, or speaks against the others: solved behind them */
	bool *out;	/* and no clock of the model is left for it */
	struct usk_way *way;
	struct usk_link *link; /* against the reference; n = 0: none */
	struct usk_rates *rates;
	int64_t *weight;	  /* by tie */
	uint32_t reference, core; /* core: the reference's part */
	const char *how;	  /* the core was solved */
	bool moved;		  /* estimates are not what pairs and paths made them */
	bool drawn;		  /* and so were estimates, in order */
	bool joint;		  /* links of the core hold what all messages say */
};

/** So many knots at most does a clock get from its path, and as many from all messages, among n
 * clocks: of thousands 600 in all, with those of its estimate. */
size_t usk_knots_most(size_t n_clocks);

/** Writes the island's clocks. */
void usk_island_write(const struct usk_island_work *w);

/** A sentence for the user; takes text. */
void usk_island_note(struct usk_island_work *w, char *text);

#endif
