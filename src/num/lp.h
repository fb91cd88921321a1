/* SPDX-License-Identifier: MIT */
/*
 * lp.h - linear programs in doubles
 *
 *     minimise   sum cost_j x_j
 *     so that    row_lo_i <= sum a_ij x_j <= row_hi_i,   col_lo_j <= x_j <= col_hi_j
 *
 * In    numbers that the caller has centred and scaled to O(1): the solver's tolerances are
 *       absolute, and stamps do not survive them
 * Out   x, prices of the rows, or the proof that there is no x
 * Why   many questions to one problem: what was solved is where the next one starts
 * Not   exactness: an answer is a proposal, to be checked in integers by whoever asked
 *
 * Without COIN-OR CLP usk_lp_new() returns NULL.
 */
#ifndef USK_NUM_LP_H
#define USK_NUM_LP_H

#include <float.h>

/* No bound; negated below. */
#define USK_LP_INF DBL_MAX

/* All arrays are borrowed for the call. Columns are sparse, one after the other. */
struct usk_lp_problem {
	int n_rows, n_cols;
	const int *start;    /* [n_cols + 1], where each column begins in row[] and value[] */
	const int *row;	     /* row numbers, each once in a column */
	const double *value; /* a_ij */
	const double *col_lo, *col_hi, *cost; /* [n_cols]; NULL: 0, USK_LP_INF, 0 */
	const double *row_lo, *row_hi;	      /* [n_rows]; NULL: -USK_LP_INF, USK_LP_INF */
};

enum usk_lp_answer {
	USK_LP_OPTIMAL,
	USK_LP_INFEASIBLE, /* no x */
	USK_LP_UNBOUNDED,  /* x as good as one likes */
	USK_LP_FAILED,	   /* the numbers were too bad */
};

/* Whichever stays feasible from the last solution: primal after new costs, dual after new bounds.
 */
enum usk_lp_way { USK_LP_PRIMAL, USK_LP_DUAL };

struct usk_lp;

/** NULL only if no solver is built in. */
struct usk_lp *usk_lp_new(const struct usk_lp_problem *p);
void usk_lp_free(struct usk_lp *lp);

/** More columns, behind those there are; n_rows, row_lo and row_hi of p are not looked at. The
 * basis stays: new columns are at 0, or their bound. */
void usk_lp_add_cols(struct usk_lp *lp, const struct usk_lp_problem *p);

/** From the last basis on. */
enum usk_lp_answer usk_lp_solve(struct usk_lp *lp, enum usk_lp_way way);

/** New bounds of a row; the basis stays. */
void usk_lp_set_row(struct usk_lp *lp, int row, double lo, double hi);

/* After USK_LP_OPTIMAL; borrowed until the next solve. */
const double *usk_lp_x(const struct usk_lp *lp);     /* [n_cols] */
const double *usk_lp_price(const struct usk_lp *lp); /* [n_rows], d objective / d row bound */

/**
 * Why there is no optimum: after USK_LP_INFEASIBLE [n_rows] weights of rows that contradict each
 * other (their sizes; CLP is not faithful to signs), after USK_LP_UNBOUNDED [n_cols] a direction
 * that improves for ever; NULL if the solver has none. The caller frees it.
 */
double *usk_lp_ray(struct usk_lp *lp);

/** "CLP 1.17.6"; NULL if no solver is built in. Static. */
const char *usk_lp_solver(void);

#endif
