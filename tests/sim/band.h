/* SPDX-License-Identifier: MIT */
/*
 * band.h - what knots say of a moment, as the contract defines it
 *
 * Straight lines between knots, offsets and lo rounded down, hi up. Beyond the outermost knots the
 * offset's slope goes on; hi rises and lo falls from there by the slopes that the clock states, by
 * the skew limit where it states none. Written apart from the library's maps, so that tests do not
 * ask the library whether it is right.
 */
#ifndef BAND_H
#define BAND_H

#include "base/base.h"

enum band_side { BAND_LO, BAND_OFFSET, BAND_HI };

/* The knots of one epoch, sorted. */
struct band {
	const struct usk_knot *knot;
	size_t n;
	struct usk_slopes before, after; /* of the offset, beyond its outermost knots */
};

/** Those of an epoch among knot[n]; n is 0 if it has none. */
struct band band_of(const struct usk_knot *knot, size_t n, uint32_t epoch, int64_t max_skew_e12);

/** Likewise, with the slopes that the clock states beyond its outermost epochs. */
struct band band_of_clock(const struct usk_clock *c, uint32_t epoch, int64_t max_skew_e12);

/** A side at a local time; USK_NONE where it is unknown. Needs two knots. */
int64_t band_at(const struct band *b, int64_t local_ns, enum band_side side);

#endif
