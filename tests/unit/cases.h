/* SPDX-License-Identifier: MIT */
/*
 * cases.h - random small corridors, and what the tests of fitting share
 *
 * Five kinds: tiny grids, where everything degenerate happens; ordinary traces at an epoch; thin
 * corridors around a line, where rounding decides; coordinates at the ends of the range; curves,
 * whose hulls have many vertices.
 */
#ifndef USK_TESTS_CASES_H
#define USK_TESTS_CASES_H

#include "../part.h"
#include "base/base.h"
#include "oracle.h"
#include "fit/corridor.h"

struct fit_case {
	uint64_t seed;
	struct oracle_points pts;
	struct usk_frame frame;
	int64_t q_a, q_b, max_skew_e12;
};

void fit_case_make(struct fit_case *c, uint64_t seed);
/** A point as the message that says it, between a = 0 and b = 1. */
struct usk_msg fit_case_msg(struct usk_point p, bool ceiling);
/** All of them, as estimators get them; msg has room for ORACLE_MAX. */
void fit_case_msgs(const struct fit_case *c, struct usk_msg *msg);
struct usk_corridor *fit_case_corridor(const struct fit_case *c);
/** A time to ask about: near the points, among them or far away. */
int64_t fit_case_time(const struct fit_case *c, struct usk_rng *r);
/* Valgrind computes long doubles as doubles: no oracle then. */
bool no_long_double(void);

#endif
