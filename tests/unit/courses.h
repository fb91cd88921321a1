/* SPDX-License-Identifier: MIT */
/*
 * courses.h - points of a pair in the order of time, at random, and what they say, point by point
 *
 * Few points at small numbers, so that they lie on one another, and at what slopes leave open.
 */
#ifndef COURSES_H
#define COURSES_H

#include "../part.h"
#include "graph/course.h"

enum { MOST = 9 };

struct course {
	uint64_t seed;
	struct usk_rng r;
	struct usk_part part;
	struct usk_course_point p[MOST + 1];
	struct usk_slope_range c;
	struct usk_between happened[2];
	struct usk_course w;
	struct usk_outlook *outlook;
	struct usk_stamps *stamps;
};

/** From, to, or between. */
int64_t among(struct usk_rng *r, int64_t from, int64_t to);
struct usk_course_point course_point(struct course *k, int64_t x);
/** Points, what happened, and what is asked of them; to be ended. */
void course_begin(struct course *k, uint64_t seed);
void course_end(struct course *k);
int64_t offset(const struct usk_course_point *p);
/** What a showed as the message says that p is of. */
int64_t a_stamp(const struct usk_part *part, const struct usk_course_point *p);
bool against(struct usk_slope_range c, const struct usk_course_point *p,
	     const struct usk_course_point *q, bool behind);
/** Do records tell of a break between point i of p[n] and the one before as seen from nearby? */
bool is_fresh(const struct usk_course_point *p, size_t n, size_t i, bool behind);
/** Points from p[next] on, or those before it, as far as they can be of one event with q: what they leave open there. */
struct usk_offsets course_look(struct usk_slope_range c, const struct usk_course_point *p, size_t n,
			       const struct usk_course_point *q, size_t next, bool behind);
/** From the last message that b sent before and that a received before it sent the one that is before, to the first one
 * behind of which the same is true the other way round. Stamps of a: one more on each side, and from the last message
 * before that a sent to the first one behind that it received. None: open. */
struct usk_bracket bracket(const struct usk_part *part, const struct usk_course_point *p, size_t n,
			   const struct usk_span *s);
bool same_bracket(const struct usk_bracket *a, const struct usk_bracket *b);
bool offsets_alike(struct usk_offsets a, struct usk_offsets b);

#endif
