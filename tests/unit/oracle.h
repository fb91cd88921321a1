/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - the feasible lines of a handful of points, by brute force in rationals
 *
 * Every vertex of the polygon of feasible lines is a line through two points, or through one at a
 * limit of the slope. So: try them all, keep those on the right side of every point. Nothing here
 * knows of hulls, and nothing is rounded.
 */
#ifndef USK_TESTS_ORACLE_H
#define USK_TESTS_ORACLE_H

#include "base/answer.h"

#include <gmp.h>

enum { ORACLE_MAX = 24 };

struct oracle_points {
	struct usk_point p[ORACLE_MAX]; /* absolute, as recorded */
	bool ceiling[ORACLE_MAX];
	size_t n;
};

struct oracle {
	mpq_t *slope, *at_zero; /* of the feasible polygon's vertices */
	size_t n;
	bool has_floor, has_ceiling;
};

/** Floors are lowered by q_b, ceilings lifted by q_a; both may be negative. */
struct oracle *oracle_new(const struct oracle_points *pts, int64_t q_a, int64_t q_b,
			  int64_t max_skew_e12);
void oracle_free(struct oracle *o);
/** As usk_lines_at(), for a polygon that is not empty. */
void oracle_at(const struct oracle *o, int64_t x, int64_t *lo, int64_t *hi);
/** Smallest and largest slope. */
void oracle_slopes(const struct oracle *o, mpq_t min, mpq_t max);

void oracle_set(mpq_t q, int64_t num, int64_t den);

#endif
