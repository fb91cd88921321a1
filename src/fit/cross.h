/* SPDX-License-Identifier: MIT */
/*
 * cross.h - the way of corrected time from one piece of a clock to the next
 */
#ifndef USK_FIT_CROSS_H
#define USK_FIT_CROSS_H

#include "fit/pieces.h"
#include "fit/timeline.h"

#define USK_FAR ((usk_i128)1 << 100) /* where nothing bounds T */

/* What each side of a cut knows, and where time jumps. */
struct usk_bracket {
	const struct usk_cut *cut;
	struct usk_knot left, right;	     /* the last knot before, the first one behind */
	int64_t left_rate, right_rate, skew; /* of the offset, e12 */
	/* T of any message or band before is at least, behind at most: [0] as it is, [1] kept 1 ns
	 * off the messages. */
	usk_i128 before[2], behind[2];
	/* What usk_bracket_blame() finds. */
	uint32_t of, local;	    /* who jumped; fit->b */
	bool other_back;	    /* the other clock was put back meanwhile */
	int64_t jump_from, jump_to; /* between which two stamps */
};

static inline usk_i128 usk_larger(usk_i128 a, usk_i128 b)
{
	return a > b ? a : b;
}

static inline usk_i128 usk_smaller(usk_i128 a, usk_i128 b)
{
	return a < b ? a : b;
}

/* The band at a knot, as bounds of T. */
static inline usk_i128 usk_knot_lower(const struct usk_knot *k)
{
	return k->lo_ns == USK_NONE ? -USK_FAR : (usk_i128)k->local_ns + k->lo_ns;
}

static inline usk_i128 usk_knot_upper(const struct usk_knot *k)
{
	return k->hi_ns == USK_NONE ? USK_FAR : (usk_i128)k->local_ns + k->hi_ns;
}

/** Where it has to be known how long a clock showed nothing, before anyone can be blamed. */
struct usk_gap_query usk_bracket_asks(const struct usk_fit *fit, const struct usk_bracket *b);

/** Who jumped, and between which two stamps; gap: the answer to what it asks. */
void usk_bracket_blame(const struct usk_fit *fit, struct usk_bracket *b, struct usk_gap gap);

/** Was the local clock put forward, for certain? */
bool usk_bracket_forward(const struct usk_bracket *b);

/** Put the knots across and those of the next piece behind the line, which ends in b->left. false:
 * there is no way that does not fall. */
bool usk_bracket_cross(const struct usk_bracket *b, struct usk_timeline *l,
		       const struct usk_clock *next);

#endif
