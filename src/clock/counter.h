/* SPDX-License-Identifier: MIT */
/*
 * counter.h - a counter of two words behind a bus of one word, which can flip between them
 *
 * Source  Kong, Spector and Siewiorek 1986, section 3.2
 */
#ifndef USK_CLOCK_COUNTER_H
#define USK_CLOCK_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

enum counter_routine {
	VARYING_READ, /* 3 reads, 4 if the low word flipped meanwhile */
	FOUR_READ,    /* 4 reads: the value at the first read of the low word */
	ONE_READ,     /* 1 read: counts the flips itself, so it must be called once in each */
	ROUTINES,
};

/** "varying-read", ... */
const char *routine_name(enum counter_routine r);

/*
 * In which form. As printed, 4-Read is wrong where no tick falls between its two reads of the low
 * word after a flip, and where the high word wraps; Varying-Read where that wraps; 1-Read where two
 * calls see one value. As hardened, none is wrong as long as a call lasts less than a
 * period of the low word and 1-Read is called at least once in each.
 */
enum counter_form { AS_PRINTED, HARDENED };

struct counter {
	/** Reads one word now: 0 to 2^bits - 1. */
	uint64_t (*word)(void *ctx, bool high);
	void *ctx;
	unsigned bits; /* of a word, 1 to 32; the counter has twice as many */
	enum counter_routine routine;
	enum counter_form form;
	/* 1-Read's memory; both 0 when the counter was reset to 0, or what counter_start()
	 * read. */
	uint64_t old_low, high;
};

/** Let 1-Read go on from the counter's present value. Needs nothing for the others. */
void counter_start(struct counter *c);

/** high x 2^bits + low. 1-Read's high word runs on beyond 2^bits. One to four reads. */
uint64_t counter_read(struct counter *c);

#endif
