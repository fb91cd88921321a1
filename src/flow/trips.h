/* SPDX-License-Identifier: MIT */
/* trips.h - the round trips of a pair, and the smallest of them */
#ifndef USK_FLOW_TRIPS_H
#define USK_FLOW_TRIPS_H

#include "flow/reading.h"
#include "judge/least.h"

struct trips {
	struct usk_trip *trip; /* free() it */
	size_t n;
};

/**
 * The round trips that one clock of the pair began, in the order in which it did. Of those that
 * share an answer, only the latest is used: the others would be the same evidence again, and
 * margins are made from how many there are.
 */
struct trips usk_trips_by(const struct usk_fit *fit, const struct pair_source *s, uint32_t asker);
/** All of both, in order. */
struct trips usk_trips_merge(const struct trips *a, const struct trips *b);

/** The smallest per pair of lengths, for the most frequent ones; sorts t by lengths. */
void usk_trips_lengths(struct trips t[2], const struct pair_source *s, struct usk_calibrated *out);
/** The smallest per protocol and interfaces: reads the messages again. */
enum usk_status usk_trips_ways(const struct usk_fit *fit, struct pair_source *s,
			       struct usk_calibrated *out, struct usk_err *err);

#endif
