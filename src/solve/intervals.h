/* SPDX-License-Identifier: MIT */
/*
 * intervals.h - for each interval of the trace the path that is best there
 */
#ifndef USK_SOLVE_INTERVALS_H
#define USK_SOLVE_INTERVALS_H

#include "solve/island.h"

/**
 * Intervals are the model's segments, or lie between the cuts of any pair. Where another path than
 * that of the whole trace is the shortest in one of them, the clock's link is narrowed by its band,
 * with the estimate that goes with it there, and the clock is told its paths (usk_clock.route).
 * No link gets wider.
 */
void usk_island_intervals(struct usk_island_work *w);

#endif
