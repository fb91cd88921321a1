/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - a clock's knots as corrected time, and what may be done to them
 *
 * T(x) = x + offset(x), as everyone who applies the knots computes it: T never falls between knots
 * that do not. Times are absolute.
 */
#ifndef USK_FIT_TIMELINE_H
#define USK_FIT_TIMELINE_H

#include "fit/model.h"

struct usk_timeline {
	struct usk_knot *knot;
	size_t n, cap;
	const struct usk_part *part; /* points that it keeps in order with */
};

/** Append n knots, all right of those there are. */
void usk_timeline_add(struct usk_timeline *l, const struct usk_knot *k, size_t n);

static inline usk_i128 usk_knot_time(const struct usk_knot *k)
{
	return (usk_i128)k->local_ns + k->offset_ns;
}

/** T at a stamp between the first knot and the last. O(log n). */
usk_i128 usk_timeline_at(const struct usk_timeline *l, int64_t local_ns);

/**
 * Lower T to the level wherever it is over it; elsewhere it stays, to the bit at every point of the
 * part that is less than 2 ns off it.
 */
void usk_timeline_lower(struct usk_timeline *l, usk_i128 level);
/** The same upwards, behind the knots before `from`. */
void usk_timeline_lift(struct usk_timeline *l, size_t from, usk_i128 level);

/**
 * A knot in the last segments where the lower bound of T reaches the level, so that who pushes it
 * down to the level from the end on (as T never falls) pushes no more than that. And where the
 * upper bound does, behind the knots before `from`. All knots have both bounds.
 */
void usk_timeline_mark_lower(struct usk_timeline *l, usk_i128 level);
void usk_timeline_mark_upper(struct usk_timeline *l, size_t from, usk_i128 level);

/**
 * Does T never fall within a run of knots, is it within the band at every knot and on the right
 * side of every point? run[n_runs]: stamps at which a run begins, which need not go on from the one
 * before (a clock that was put back). If not, *at is where.
 */
bool usk_timeline_check(const struct usk_timeline *l, const int64_t *run, size_t n_runs,
			int64_t *at);

#endif
