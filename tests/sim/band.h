/* SPDX-License-Identifier: MIT */
/*
 * band.h - what knots say of a moment, as the contract defines it
 *
 * Straight lines between knots, offsets and lo rounded down, hi up. Beyond the outermost knots the
 * offset's slope goes on, cut to the least and most that the clock's rate allows there; hi and lo
 * part by these two, and where these are of 10^6 ppm there are none. Knots of an epoch that another
 * one follows or comes before: by the skew limit. Written apart from the library's maps, so that
 * tests do not ask the library whether it is right.
 */
#ifndef BAND_H
#define BAND_H

#include "base/base.h"

enum band_side { BAND_LO, BAND_OFFSET, BAND_HI };

/* The knots of one epoch, sorted, and what the offset's slope is within beyond them. */
struct band {
	const struct usk_knot *knot;
	size_t n;
	struct usk_slopes before, after;
};

/** Those of an epoch; n is 0 if it has none. Borrows the clock's knots. */
struct band band_of(const struct usk_clock *clock, uint32_t epoch, int64_t max_skew_e12);

/** A side at a local time; USK_NONE where it is unknown. Needs two knots. */
int64_t band_at(const struct band *b, int64_t local_ns, enum band_side side);

#endif
