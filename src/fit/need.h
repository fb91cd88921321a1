/* SPDX-License-Identifier: MIT */
/*
 * need.h - the rates, and the least wander, that points need
 *
 * With floors (t_m, l_m) and ceilings (t_k, u_k)
 *
 *     s_lo = max over ceilings k before floors m of (l_m - u_k)/(t_m - t_k)
 *     s_hi = min over floors m before ceilings k of (u_k - l_m)/(t_k - t_m)
 *
 * the offset rises by at least s_lo somewhere, and by at most s_hi somewhere, whatever the model.
 * A constant rate r with wander w allows slopes from r - w to r + w: it is feasible if and only if
 * r + w >= s_lo and r - w <= s_hi. So some r is if and only if w >= (s_lo - s_hi)/2: that is needed
 * (doc/guarantees.md).
 */
#ifndef USK_FIT_NEED_H
#define USK_FIT_NEED_H

#include "fit/part.h"

/* No wander makes it true: a floor over a ceiling at one moment. */
#define USK_NO_WANDER INT64_MAX

/* s_lo and s_hi of some points, all as in usk_part. */
struct usk_need {
	bool has_lo, has_hi; /* is there a ceiling before a floor, a floor before one? */
	struct usk_slope s_lo, s_hi;
	bool crossed; /* a floor over a ceiling at one moment */
};

/**
 * (s_lo - s_hi)/2, not under 0, parts per 10^12, rounded up; USK_NO_WANDER if crossed, or if rates
 * within +-max_skew_e12 do not reach s_lo and s_hi. O(1).
 */
int64_t usk_need_within(const struct usk_need *n, int64_t max_skew_e12);

/** Of all points of a part. O(n log h). */
void usk_need_of(const struct usk_part *p, struct usk_need *out);

/* The same point by point: need holds of what was pushed so far. */
struct usk_needing {
	struct usk_need need;
	struct usk_xy *hull[2]; /* upper hulls of the points so far, both mirrored as in usk_part */
	size_t n[2], cap[2];
	struct usk_xy touch[2]; /* where s_lo touches the ceilings' hull, s_hi the floors' */
};

/** Push a point whose x is not under that of any before. O(1), but O(log h) if need changes. */
void usk_needing_push(struct usk_needing *g, bool ceiling, struct usk_xy p);
/** Begin again with no point; memory stays. Zeroed is begun. */
void usk_needing_clear(struct usk_needing *g);
void usk_needing_free(struct usk_needing *g);

/** A slope in e12, rounded down or up. */
static inline int64_t usk_slope_e12(struct usk_slope s, bool up)
{
	usk_i128 e12 = s.num * USK_E12;
	return usk_saturate(up ? usk_ceil_div(e12, s.den) : usk_floor_div(e12, s.den));
}

#endif
