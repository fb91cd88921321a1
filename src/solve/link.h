/* SPDX-License-Identifier: MIT */
/*
 * link.h - bands as links of a chain: turned round, put one after the other, thinned
 *
 * A link is a clock's knots of one epoch. By it a local time x is on the reference between
 * L(x) = x + lo(x) and U(x) = x + hi(x); the estimate is M(x) = x + offset(x). Between knots all
 * are straight, beyond them U rises by 1 + S and L by 1 - S per ns to the right, to the left the
 * other way round, S the skew limit; M keeps its outermost slope.
 *
 * Every result holds what the exact one holds: L rounded down, U up. Why, and by how much they are
 * wider: doc/guarantees.md.
 */
#ifndef USK_SOLVE_LINK_H
#define USK_SOLVE_LINK_H

#include "base/base.h"

enum usk_curve { USK_LOWER, USK_MIDDLE, USK_UPPER };

struct usk_link {
	struct usk_knot *knot; /* strictly rising, L and U not falling */
	size_t n;	       /* at least 2 */
	bool has[3];	       /* by usk_curve: known at every knot */
	int64_t skew_e12;
};

/**
 * A copy of knots of one epoch, n >= 2. Where L or U falls it is pushed outwards: as T never
 * falls, the largest U so far is a bound too.
 */
struct usk_link usk_link_of(const struct usk_knot *knot, size_t n, int64_t skew_e12);
void usk_link_free(struct usk_link *b);

/* Where the last question was answered; 0 to begin with. Fast if the next is near. */
typedef size_t usk_hint;

/** The curve at a local time, cut at +-USK_TIME_MAX; U rounded up, the others down. b has it. */
int64_t usk_link_at(const struct usk_link *b, enum usk_curve c, int64_t local_ns, usk_hint *at);

/**
 * The reverse: for L the last local time x with L(x) <= t, rounded up; for U the first with
 * U(x) >= t, rounded down; for M the first with M(x) >= t, rounded down. So the reverse of L is an
 * upper bound of the reverse clock. b has it.
 */
int64_t usk_link_back(const struct usk_link *b, enum usk_curve c, int64_t t, usk_hint *at);

/** The reference by the clock's time: a against b from b against a. first, last: of a's events. */
struct usk_link usk_link_turn(const struct usk_link *b, int64_t first_ns, int64_t last_ns);

/** c against a from c against b (inner) and b against a (outer). */
struct usk_link usk_link_chain(const struct usk_link *inner, const struct usk_link *outer);

/** Knots at first and last where these lie beyond the outermost. */
void usk_link_reach(struct usk_link *b, int64_t first_ns, int64_t last_ns);

/** Without what lies before first or behind last; with knots at both. first < last. */
void usk_link_crop(struct usk_link *b, int64_t first_ns, int64_t last_ns);

/**
 * Fewer knots: `most` or less, at least 2 however. The band grows by as little as that takes, and
 * never shrinks; M stays in it, and as it is at the knots that stay.
 */
void usk_link_thin(struct usk_link *b, size_t most);

/** As thin, but of any number: all that go within so many ns. */
void usk_link_smooth(struct usk_link *b, int64_t tolerance_ns);

/** The smaller U and the larger L of two links of one clock; M is a's where it has one, put into
 * the band. */
struct usk_link usk_link_meet(const struct usk_link *a, const struct usk_link *b);

#endif
