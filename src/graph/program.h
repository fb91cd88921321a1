/* SPDX-License-Identifier: MIT */
/*
 * program.h - clocks of constant rates as one linear program, and questions to it
 *
 * Clock i is T(y) = B(y) + phi(y): B a line near the truth, through (e0, t0) and (e1, t1), and
 *
 *     phi(y) = ((e1 - y) u + (y - e0) v) / (e1 - e0)                                         (1)
 *
 * with two unknowns u, v. An edge from i at p to j at y says phi_i(p) - phi_j(y) <= c,
 * c = B_j(y) - B_i(p); of all edges from i to j the vertices of their hull say all. What is known
 * of a clock's ends and its rate are columns too: they bound every unknown. The largest phi_i(t)
 * is asked in dual form: with a column of A' per edge
 *
 *     minimise c.x   so that   A' x = the weights of u, v in (1) at t,   x >= 0              (2)
 *
 * Every question has the same feasible prices, so the dual simplex goes on from the last basis; the
 * prices are the u, v of a solution, whose line touches the bound. And any x >= 0 proves one:
 *
 *     phi_i(t) <= c.x + sum over rows of |rest of (2)| times the largest |u| or |v|          (3)
 */
#ifndef USK_GRAPH_PROGRAM_H
#define USK_GRAPH_PROGRAM_H

#include "graph/work.h"
#include "num/lp.h"

struct usk_lp_line {
	uint32_t clock;
	int64_t e0, e1, t0, t1;
	int row;	  /* of u in (2), v is the next; -1: the reference */
	long double most; /* |u|, |v| <= most, ns */
};

/* A column of (2): an edge, or a limit of one clock. */
struct usk_lp_column {
	uint32_t from, to;	      /* clocks; the same: a limit */
	long double c;		      /* ns, rounded up */
	int64_t sent_ns, received_ns; /* of an edge */
};

struct usk_program {
	const struct usk_work *w;
	struct usk_lp_line *line; /* of clocks that are bounded on both sides */
	size_t n_lines;
	uint32_t *number; /* clock -> line; UINT32_MAX: none */
	int n_rows;
	struct usk_lp_column *column; /* those of the same two clocks are neighbours */
	size_t n_columns, cap_columns;
	int *start, *row;
	double *value, *cost; /* cost: c in units */
	size_t n_values, cap_values;
	long double unit; /* ns */
};

/** Columns for all edges between clocks that w->lo and w->hi bound; free it. */
void usk_program_of(const struct usk_work *w, struct usk_program *out);
void usk_program_free(struct usk_program *p);

/* Fixed point: units of 2^-20 ns. */
enum { USK_LP_BITS = 20 };

/** B(y) in fixed point, rounded down; the reference's is y. */
usk_i128 usk_lp_base(const struct usk_lp_line *l, int64_t y);

/** What column k takes of its c where the unknowns are these, ns. */
long double usk_column_takes(const struct usk_program *p, size_t k, const long double *unknown);

struct usk_asker {
	const struct usk_program *program;
	struct usk_lp *lp;
	/* Few columns matter: the solver knows those that a solution so far was against. */
	size_t *known; /* its columns */
	size_t n_known;
	bool *is_known;	      /* by column */
	int asked;	      /* line of the last question; -1 none */
	bool counts;	      /* do the next solutions? */
	long double *unknown; /* by row: sums over those that do, ns */
	uint64_t solutions;
};

/** USK_LP_OPTIMAL: there is a solution. Begins with what `like` knows, which may be NULL. Free with
 * usk_asker_free() in any case. */
enum usk_lp_answer usk_asker_new(struct usk_asker *k, const struct usk_program *p,
				 const struct usk_asker *like);
void usk_asker_free(struct usk_asker *k);

/** A bound of u weight[0] + v weight[1] of line i, ns, by (3); INFINITY if there is none. */
long double usk_ask(struct usk_asker *k, int i, const double weight[2]);

/** Where there is no solution: the clock that most of the edges which speak against each other are
 * of, the reference left out; USK_NO_CLOCK if unproved. */
uint32_t usk_ask_whose(struct usk_asker *k);

#endif
