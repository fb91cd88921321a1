/* SPDX-License-Identifier: MIT */
/*
 * simplex.h - small linear programs, exactly
 *
 *     maximise  c.x   so that   A x <= b,   x of any sign
 *
 * A dense tableau of rationals, Bland's rule: slow and sure.
 */
#ifndef USK_TESTS_SIMPLEX_H
#define USK_TESTS_SIMPLEX_H

#include <gmp.h>
#include <stddef.h>

enum simplex_answer { SIMPLEX_OPTIMAL, SIMPLEX_INFEASIBLE, SIMPLEX_UNBOUNDED };

struct simplex {
	size_t n, m;  /* unknowns, rows */
	mpq_t *a, *b; /* a[row * n + unknown] */
};

void simplex_new(struct simplex *s, size_t n);
/** A new row of zeros; returns its number. */
size_t simplex_row(struct simplex *s);
void simplex_free(struct simplex *s);

/** best: set if SIMPLEX_OPTIMAL. */
enum simplex_answer simplex_solve(const struct simplex *s, mpq_t *c, mpq_t best);

#endif
