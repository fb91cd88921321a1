/* SPDX-License-Identifier: MIT */
/*
 * chain.h - a clock that keeps one rate for a given time, then another, without jumping (Clement
 * 2009): lines that meet at the borders
 *
 * All relative to the part's frame.
 */
#ifndef USK_FIT_CHAIN_H
#define USK_FIT_CHAIN_H

#include "fit/pieces.h"

/* Where borders are: at origin + k length. */
struct usk_grid {
	int64_t origin, length;
};

/* The first border right of x. */
static inline usk_i128 usk_grid_next(const struct usk_grid *g, usk_i128 x)
{
	return g->origin + (usk_floor_div(x - g->origin, g->length) + 1) * (usk_i128)g->length;
}

/* What a border lets through: y of floor and ceiling, the latter negated; as in usk_part. */
struct usk_gate {
	bool has[2];
	int64_t y[2];
};

/** The lines that fit the points of a segment from x0 to x1 and go through the gates at its ends;
 * NULL: none. */
struct usk_lines *usk_chain_lines(const struct usk_part *segment, int64_t x0,
				  const struct usk_gate *g0, int64_t x1, const struct usk_gate *g1,
				  int64_t max_skew_e12);
/** Their values at x, rounded outwards. */
struct usk_gate usk_chain_gate(const struct usk_lines *l, int64_t x);

/** Where no chain goes on: cuts, at a border or within a segment that no line fits. never: there is
 * no answer, and the last cuts are those that would have to be jumps. */
void usk_chain_cuts(const struct usk_fit *fit, const struct usk_part *p, const struct usk_grid *g,
		    const struct usk_piece_ask *ask, size_t max_outliers, struct usk_pieces *out,
		    struct usk_verdict *v);

/** How far the slopes of a stretch without cuts can lie from the frame's rate, e12. */
int64_t usk_chain_reach(const struct usk_fit *fit, const struct usk_part *part,
			const struct usk_grid *g);

/** A stretch without cuts, as usk_piece_fit has it; ctx is the grid. */
enum usk_status usk_chain_fit(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
			      const struct usk_estimator *method, struct usk_clock *clock,
			      struct usk_err *err);

#endif
