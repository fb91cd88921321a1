/* SPDX-License-Identifier: MIT */
/*
 * simplex.h - small linear programs, exactly
 *
 *     maximise  c.x   so that   A x <= b,   x of any sign
 *
 * A dense tableau of rationals, Bland's rule: slow and sure. It is kept, so that the next question
 * to the same rows begins at a feasible corner, the last one's best.
 */
#ifndef USK_TESTS_SIMPLEX_H
#define USK_TESTS_SIMPLEX_H

#include <gmp.h>
#include <stddef.h>

enum simplex_answer { SIMPLEX_OPTIMAL, SIMPLEX_INFEASIBLE, SIMPLEX_UNBOUNDED };

struct simplex_tableau;

struct simplex {
	size_t n, m;			 /* unknowns, rows */
	mpq_t *a, *b;			 /* a[row * n + unknown] */
	struct simplex_tableau *tableau; /* from the first question on: no rows any more */
};

void simplex_new(struct simplex *s, size_t n);
/** A new row of zeros; returns its number. */
size_t simplex_row(struct simplex *s);
void simplex_free(struct simplex *s);

/** best: set if SIMPLEX_OPTIMAL. */
enum simplex_answer simplex_solve(struct simplex *s, mpq_t *c, mpq_t best);

#endif
