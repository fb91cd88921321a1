/* SPDX-License-Identifier: MIT */
/*
 * wander.h - a clock whose rate stays within a constant +- the wander
 *
 * In    points of a pair, or of a stretch of it, as struct usk_part has them: relative, ceilings
 *       negated, weakened
 * Out   the rates that are feasible, the least wander that is, the band, knots with an estimate
 *
 * With floors (t_m, l_m) and ceilings (t_k, u_k)
 *
 *     s_lo = max over ceilings k before floors m of (l_m - u_k)/(t_m - t_k)
 *     s_hi = min over floors m before ceilings k of (u_k - l_m)/(t_k - t_m)
 *
 * the offset rises by at least s_lo somewhere, and by at most s_hi somewhere, whatever the model.
 * A mean rate r with wander w allows slopes from r - w to r + w: it is feasible if and only if
 * r + w >= s_lo and r - w <= s_hi. So some r is if and only if w >= (s_lo - s_hi)/2: that is needed
 * (doc/guarantees.md).
 */
#ifndef USK_FIT_WANDER_H
#define USK_FIT_WANDER_H

#include "fit/model.h"

/* ---- what points need (wander_need.c) ------------------------------------------ */

/* No wander makes it true: a floor over a ceiling at one moment. */
#define USK_NO_WANDER INT64_MAX

/* s_lo and s_hi of some points, and the two points of each that say so. All as in usk_part. */
struct usk_need {
	bool has_lo, has_hi; /* is there a ceiling before a floor, a floor before one? */
	struct usk_slope s_lo, s_hi;
	struct usk_xy lo_floor, lo_ceiling, hi_floor, hi_ceiling;
	bool crossed; /* a floor over a ceiling at one moment: cross_floor, cross_ceiling */
	struct usk_xy cross_floor, cross_ceiling;
};

/** (s_lo - s_hi)/2, not under 0, parts per 10^12, rounded up; USK_NO_WANDER if crossed. O(1). */
int64_t usk_need_wander(const struct usk_need *n);
/**
 * The same with rates within +-max_skew_e12: USK_NO_WANDER too where s_lo is over it or s_hi under
 * its negative. O(1).
 */
int64_t usk_need_within(const struct usk_need *n, int64_t max_skew_e12);

/** Of all points of a part. O(n log h). */
void usk_need_of(const struct usk_part *p, struct usk_need *out);

/*
 * The same point by point, for cuts: need holds of what was pushed so far. To go backwards in time
 * push points with their x negated, rising: s_lo of those is -s_hi, s_hi is -s_lo, and what they
 * need is the same.
 */
struct usk_needing {
	struct usk_need need;
	struct usk_xy *hull[2]; /* upper hulls of the points so far, both mirrored as in usk_part */
	size_t n[2], cap[2];
};

/** Push a point whose x is not under that of any before. O(log h) amortised. */
void usk_needing_push(struct usk_needing *g, bool ceiling, struct usk_xy p);
/** Begin again with no point; memory stays. Zeroed is begun. */
void usk_needing_clear(struct usk_needing *g);
void usk_needing_free(struct usk_needing *g);

/* ---- the band (wander_band.c) ---------------------------------------------------- */

/*
 * The band of a part: the lower envelope of hi's cones, the upper one of lo's.
 *
 *     hi(t) = min( min over t_k <= t of u_k + fast (t - t_k),  min over t_k >= t of u_k - slow (t_k
 * - t) ) lo(t) = max( max over t_m <= t of l_m + slow (t - t_m),  max over t_m >= t of l_m - fast
 * (t_m - t) )
 *
 * slow = s_lo - 2 wander and fast = s_hi + 2 wander in whole e12, rounded outwards, cut at the skew
 * limit: every slope that a feasible rate allows.
 */
struct usk_band {
	struct usk_frame frame;
	int64_t slow_e12, fast_e12; /* of the offset, absolute: the frame's rate is not taken off */
	int64_t least_e12, most_e12; /* feasible mean rates, within the skew limit */
	int64_t wander_e12;
	struct usk_xy *tip[2]; /* points that the band touches, as in usk_part; owned */
	size_t n[2];
	int64_t q_ns[2]; /* as usk_part has it */
};

/**
 * The band of p under a wander that is at least what p needs within the skew limit (not checked:
 * with less, lo may be over hi). Two sweeps, O(n).
 */
void usk_band_of(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		 int64_t max_skew_e12, struct usk_band *out);
/** The same in O(n): cones alone. */
void usk_band_cones(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		    int64_t max_skew_e12, struct usk_band *out);
/** Its slopes and rates alone, without tips: nothing to free. */
void usk_band_slopes(const struct usk_part *p, const struct usk_need *need, int64_t wander_e12,
		     int64_t max_skew_e12, struct usk_band *out);
void usk_band_free(struct usk_band *b);
/** Bounds p[n] of a side, sorted by x, are true as well: take them in. */
void usk_band_add(struct usk_band *b, bool side, const struct usk_xy *p, size_t n);
/** lo rounded down, hi rounded up, relative to the frame; false where nothing bounds it. O(log). */
bool usk_band_lo(const struct usk_band *b, usk_i128 x, usk_i128 *lo);
bool usk_band_hi(const struct usk_band *b, usk_i128 x, usk_i128 *hi);

/** The first tip of a side that is not left of x. */
size_t usk_band_next(const struct usk_band *b, bool side, usk_i128 x);
/** A side's bound at x in e12, exactly, mirrored for the ceiling; i = usk_band_next(), n[side] > 0.
 */
usk_i128 usk_band_half_e12(const struct usk_band *b, bool side, size_t i, usk_i128 x);

/** Where the bound bends between tips i and i + 1 of a side, rounded down. */
int64_t usk_band_bend(const struct usk_band *b, bool side, size_t i);

/* ---- narrower where points are few (wander_sharpen.c) -------------------------------- */

/**
 * A side's bound at x under each feasible rate by itself, and of these the weakest: exact, where
 * `hi` above lets one rate come from the left and another from the right. Rounded down, mirrored
 * for the ceiling. x rises from call to call; begin with a zeroed one, of a band that stays as it
 * is. O(log^2) amortised.
 */
struct usk_exactly {
	struct usk_xy *hull[2]; /* of tips left of x and at it; of those right of it, x negated */
	size_t n[2], at;
	struct usk_undo {
		struct usk_xy was;
		size_t at, n;
	} * undo; /* what each tip did to the right hull */
};

usk_i128 usk_exactly_at(struct usk_exactly *e, const struct usk_band *b, bool side, int64_t x);
void usk_exactly_free(struct usk_exactly *e);

/** Take in exact bounds wherever the band is wider by h/20 or more for want of points. */
void usk_band_sharpen(struct usk_band *b);

/* ---- between knots (wander_chords.c) ------------------------------------------------ */

/* Everywhere that lo or hi bends, from x0 to x1: lo rounded down, hi up. Between neighbours both
 * are straight, or there is no whole x. */
struct usk_bend {
	int64_t x, lo, hi;
};

struct usk_bends {
	struct usk_bend *at; /* x rises strictly; the first is x0, the last x1 */
	size_t n;
};

/** more[n_more]: other places to look at, in any order. */
void usk_bends_of(const struct usk_band *b, int64_t x0, int64_t x1, const int64_t *more,
		  size_t n_more, struct usk_bends *out);

/**
 * Split spans between x[n] (sorted, each a bend) where chords of lo and hi would be further off
 * than h/share, h being half the band's width there, as long as pieces are 1 s long. x has room for
 * what comes: *x grows. O(bends log) and bounded.
 */
size_t usk_bends_split(const struct usk_bends *bends, int64_t **x, size_t n, int64_t share);

/** Give knots (absolute, local_ns is set, first and last are the bends' ends) lo and hi so that
 * their chords hold the band: what a chord cuts off is added to both its ends. */
void usk_bends_chords(const struct usk_band *b, const struct usk_bends *bends,
		      struct usk_knot *knot, size_t n);

/* ---- knots of a stretch (wander_knots.c) ------------------------------------------- */

/**
 * Knots from x0 to x1 (relative, both are knots, x0 < x1) with band and estimate, absolute, epoch
 * 0. Between knots the chords of lo and hi hold the band. The estimate is in the band, so in order
 * with every message if the band's slopes, slow to fast, are within the corridor's cone
 * (doc/guarantees.md): in order as recorded and by 1 ns where there is room. T never falls. Where
 * one side is missing, that side and the estimate are USK_NONE; n[0] + n[1] > 0.
 *
 * line[n_line]  what an estimator drew, absolute; NULL: the middle of the band
 * Returns the knots, malloc'ed, *n >= 2.
 */
struct usk_knot *usk_band_knots(const struct usk_band *b, usk_i128 x0, usk_i128 x1,
				const struct usk_knot *line, size_t n_line, size_t *n);

/** A point as it was recorded: absolute, not mirrored, not weakened. */
static inline struct usk_point usk_part_recorded(const struct usk_part *p, struct usk_xy at,
						 bool ceiling)
{
	usk_i128 y = (usk_i128)at.y + p->q_ns[ceiling];
	return (struct usk_point){
		(int64_t)(p->frame.local_ns + (usk_i128)at.x),
		(int64_t)(p->frame.offset_ns + (ceiling ? -y : y)),
	};
}

/* ---- who is wrong (wander_suspects.c) -------------------------------------------------- */

/**
 * Messages that those next to them in time contradict, of points that need more than the model's
 * wander, worst first; *out is handed over, NULL if there are none. Doubtful ones are not among
 * them: what they need is then the clock's. `most`: as many are expected. O(n log n) and what a
 * cover takes, which grows with `most` and n/16.
 */
size_t usk_wander_suspects(const struct usk_fit *fit, const struct usk_part *p, size_t most,
			   struct usk_suspect **out);

/* ---- the row (wander.c) -------------------------------------------------------------- */

void usk_wander_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *out);
enum usk_status usk_wander_fit(const struct usk_fit *fit, const struct usk_verdict *v,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err);
/** `middle` as an estimator: the line that usk_wander_fit() would draw. */
enum usk_status usk_wander_middle(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				  struct usk_err *err);

#endif
