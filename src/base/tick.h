/* SPDX-License-Identifier: MIT */
/*
 * tick.h - how an interface of a pcapng capture counts time (if_tsresol, if_tsoffset)
 */
#ifndef USK_TICK_H
#define USK_TICK_H

#include "base/base.h"

/* ns = (ticks * multiply / divide >> shift) + offset */
struct usk_tick {
	uint64_t multiply, divide;
	unsigned shift; /* of binary fractions of a second */
	int64_t offset_s;
};

enum { USK_TICK_DEFAULT = 6 }; /* if_tsresol where none is stated: us */

/** Of an if_tsresol: 10^-n s, or 2^-n s with the upper bit set. offset_s is 0. */
struct usk_tick usk_tick(uint8_t resolution);

/** Its length, rounded up; 0 for 1 ns or finer. */
int64_t usk_tick_ns(const struct usk_tick *t);

/** Does it count ns from 1970? */
bool usk_tick_is_ns(const struct usk_tick *t);

/** The time after so many ticks, rounded down; false over USK_TIME_MAX. */
bool usk_tick_time(const struct usk_tick *t, uint64_t ticks, int64_t *ns);

/* Of a CTF clock, which shows so many cycles a second; 0 is offset_s s and offset_cycles. */
struct usk_cycles {
	uint64_t hz; /* > 0 */
	int64_t offset_s;
	uint64_t offset_cycles;
};
/** What it shows as a time, rounded down; false over USK_TIME_MAX. */
bool usk_cycles_time(const struct usk_cycles *c, uint64_t cycles, int64_t *ns);

#endif
