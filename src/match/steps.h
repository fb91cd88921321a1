/* SPDX-License-Identifier: MIT */
/*
 * steps.h - inside of the coarse map: where one of the clocks was stepped
 */
#ifndef USK_MATCH_STEPS_H
#define USK_MATCH_STEPS_H

#include "match/match.h"

/** p - q, cut at the range of times. */
static inline int64_t usk_sighting_offset(const struct usk_sighting *s)
{
	usk_i128 x = (usk_i128)s->p_ns - s->q_ns;
	return x > USK_TIME_MAX ? USK_TIME_MAX : x < -USK_TIME_MAX ? -USK_TIME_MAX : (int64_t)x;
}

/* How far a lies from the line through b that has that rate. */
static inline double usk_coarse_apart(const struct usk_coarse_knot *a,
				      const struct usk_coarse_knot *b, double rate)
{
	double run = (double)((usk_i128)a->q_ns - b->q_ns);
	double rise = (double)((usk_i128)a->p_minus_q_ns - b->p_minus_q_ns);
	return rise < run * rate ? run * rate - rise : rise - run * rate;
}

/* Sightings of one stretch of time without a step. */
struct usk_stretch {
	size_t from, n;
};

/**
 * Knots on both sides of steps, so that the map follows them to the sighting, and the slopes of
 * all. s[n] sorted by q; c has two knots at least. Returns the longest stretch between two steps.
 */
struct usk_stretch usk_coarse_steps(struct usk_coarse *c, const struct usk_sighting *s, size_t n);

/** How far off the map sightings are that agree with their neighbours, unlike wrong joins: 0 if
 * none are unusually far, 1 s at most. middle_ns: how far off the middle one of all is. */
int64_t usk_coarse_off(const struct usk_coarse *c, const struct usk_sighting *s, size_t n,
		       int64_t middle_ns);

#endif
