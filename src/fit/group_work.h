/* SPDX-License-Identifier: MIT */
/*
 * group_work.h - lines of all clocks while they are looked for: what group.c and group_guess.c
 * share
 */
#ifndef USK_FIT_GROUP_WORK_H
#define USK_FIT_GROUP_WORK_H

#include "fit/group.h"

#include <math.h>

/* Receptions of a broadcast are neighbours in `at`; x is y from -1 to 1, r what the guess says. */
struct usk_group_seen {
	int64_t y;
	uint32_t clock, broadcast;
	double x, r;
};

struct usk_group_clock {
	bool tied, wide;
	int64_t from, to;  /* first and last stamp */
	int64_t low, high; /* and of broadcasts that it shares with clocks that are tied */
	size_t shared;
	size_t number; /* of the unknowns: 2 (number - 1) and the next; 0: the root */
};

struct usk_group_work {
	struct usk_group *out;
	struct usk_group_seen *at;
	size_t n, *first, n_broadcasts; /* first[n_broadcasts + 1] */
	bool *shared;			/* by broadcast: with a clock that is tied */
	struct usk_group_clock *clock;
	size_t n_unknown;
	double unit;
	double *slope; /* [n_unknown], of a bundle */
};

/** Lines of all clocks that are tied to a root, the given one or another, and what they leave. */
void usk_group_guess(struct usk_group_work *g, uint32_t root);

/* To the nearest ns, cut at what a time may be. */
static inline int64_t usk_whole_ns(long double ns)
{
	const long double far = 0x1p62L;
	return (int64_t)floorl((ns < -far ? -far : ns > far ? far : ns) + 0.5L);
}

#endif
