/* SPDX-License-Identifier: MIT */
/*
 * adjust.h - one estimate for all clocks out of the pairs' own
 */
#ifndef USK_SOLVE_ADJUST_H
#define USK_SOLVE_ADJUST_H

#include "solve/moments.h"

/**
 * What the estimates of all pairs say of x at the moments, by least squares: each tie's M says what
 * x_b - x_a is, with the weight of its messages (of the direction that has fewer) by the square of
 * its half width. Along a path without a way round that is the composition of its links.
 *
 * x[n * n_moments]  written for clocks that ties with an M connect to the reference
 * found[n]          which these are
 */
void usk_adjust(const struct usk_moments *m, int64_t *x, bool *found);

#endif
