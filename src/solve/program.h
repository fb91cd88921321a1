/* SPDX-License-Identifier: MIT */
/*
 * program.h - clocks of constant rates as one linear program
 *
 * Clock i is T(y) = B(y) + phi(y): B a line near the truth, through (e0, t0) and (e1, t1), and
 *
 *     phi(y) = ((e1 - y) u + (y - e0) v) / (e1 - e0)                                         (1)
 *
 * with two unknowns u, v. A message from i at p to j at y says phi_i(p) - phi_j(y) <= c,
 * c = B_j(y) - B_i(p); of a tie the vertices of its hulls say all. The largest phi_i(t) is asked in
 * dual form: with a column of A' per message
 *
 *     minimise c.x   so that   A' x = the weights of u, v in (1) at t,   x >= 0              (2)
 */
#ifndef USK_SOLVE_PROGRAM_H
#define USK_SOLVE_PROGRAM_H

#include "solve/joint.h"

struct usk_lp_line {
	uint32_t clock;
	int64_t e0, e1, t0, t1;
	int row;	  /* of u in (2), v is the next; -1: the reference */
	long double most; /* |u|, |v| <= most, ns */
};

/* A column of (2): a message, or a limit of a rate. */
struct usk_lp_column {
	struct usk_against say;
	bool limit, own; /* own: against the reference */
	long double c;	 /* ns, rounded up */
};

struct usk_program {
	struct usk_island_work *w;
	struct usk_lp_line *line; /* of the core's clocks */
	size_t n_lines;
	uint32_t *number; /* clock -> line */
	int n_rows;
	struct usk_lp_column *column; /* those of a tie and side are neighbours */
	size_t n_columns, cap_columns;
	int *start, *row;
	double *value, *cost; /* cost: c in units */
	size_t n_values, cap_values;
	long double unit; /* ns */
};

/** Columns for all ties of the core, scaled; free with usk_program_free(). */
void usk_program_of(struct usk_island_work *w, struct usk_program *out);
void usk_program_free(struct usk_program *p);

/* Fixed point: units of 2^-20 ns. */
enum { USK_LP_BITS = 20 };

/** B(y) in fixed point, rounded down; the reference's is y. */
usk_i128 usk_lp_base(const struct usk_lp_line *l, int64_t y);

#endif
