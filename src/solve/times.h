/* SPDX-License-Identifier: MIT */
/*
 * times.h - lists of times that grow, then are sorted, each once
 */
#ifndef USK_SOLVE_TIMES_H
#define USK_SOLVE_TIMES_H

#include "base/base.h"

struct usk_times {
	int64_t *x; /* free() it */
	size_t n, cap;
};

void usk_times_add(struct usk_times *t, int64_t x);
/** Sort, and keep one of equals. Cheap where they are sorted. */
void usk_times_settle(struct usk_times *t);

#endif
