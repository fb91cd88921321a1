/* SPDX-License-Identifier: MIT */
/*
 * sequence.h - times for events so that none is before what led to it
 */
#ifndef USK_SOLVE_SEQUENCE_H
#define USK_SOLVE_SEQUENCE_H

#include "base/base.h"

/* Whose bands say more: those of a lower rank are never widened for those of a higher one. */
enum usk_rank { USK_RANK_FIXED, USK_RANK_SOUND, USK_RANK_ODD, USK_RANKS };

/* A stamp of a clock. */
struct usk_event_time {
	uint32_t clock;
	int64_t local_ns;
	enum usk_rank rank; /* fixed: its time is what was wished */
	int64_t low, high;  /* its time by the band; -USK_TIME_MAX, USK_TIME_MAX: unknown */
	int64_t wish;	    /* by the estimate as it is */
	int64_t time_ns;    /* out */
};

/* One event is not before another: sent and received; q: by more than so much. */
struct usk_sequel {
	uint32_t before, behind; /* indices of events */
	int64_t q_ns;
};

/**
 * Fills in time_ns: as near to what is wished as can be, such that of each clock it does not fall
 * from event to event, and for each sequel
 *
 *     time(behind) >= time(before) + 1      where bands have room for that; else
 *     time(behind) >= time(before)          where they have room for that; else
 *     time(behind) >= time(before) - q
 *
 * The last holds always, if it can with fixed times alone; where bands contradict it times lie
 * outside of them, of the highest rank if that is enough.
 *
 * event[n]  sorted by clock and local_ns, each once
 */
void usk_sequence(struct usk_event_time *event, size_t n, const struct usk_sequel *sequel,
		  size_t n_sequels);

#endif
