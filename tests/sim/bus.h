/* SPDX-License-Identifier: MIT */
/*
 * bus.h - a clock of two words behind a bus that many read (Kong, Spector and Siewiorek 1986)
 *
 * In    how many read, by which routine
 * Out   the time between two successive reads of one of them, by the clock, again and again
 * Why   the routines' times depend on the load and on flips of the low word: figures 1 to 7
 *
 * A word takes 66 us to ask for and 11 us on the bus, which serves one at a time, first come first
 * served: 4 words are 308 us, the least he saw, and the bus has 90 thousand words a second, the
 * most. Others do something else for 73 us between two words, or 271 us where they read one at a
 * time: that gives the 53 and 23 thousand words a second that he had of eight readers.
 */
#ifndef BUS_H
#define BUS_H

#include "base/base.h"
#include "clock/counter.h"
#include "unskew_clock.h"

struct bus_plan {
	enum counter_routine routine;
	unsigned readers; /* 1 to 64, the one that is watched included */
	unsigned bits;	  /* of a word; a tick is 2 us */
	bool interrupts;  /* 60 a second, of the one that is watched */
	unsigned pairs;
	int64_t gap_ns; /* from one pair to the next, at most */
	uint64_t seed;
};

struct bus_pair {
	int64_t at_ns, took_ns; /* took_ns: by the clock */
	unsigned between;	/* words read between the two that count */
};

void bus_run(const struct bus_plan *p, void (*seen)(void *ctx, const struct bus_pair *pair),
	     void *ctx);

/* Something measured by four reads, two before and two after it (method I). */
struct bus_run {
	struct usk_four_stamps stamps; /* by the clock, from the first on */
	int64_t begin_ns, end_ns;      /* of what is measured, on the same scale: the truth */
};

/** As often as there are pairs in the plan, something that takes so long is measured. */
void bus_measure(const struct bus_plan *p, int64_t takes_ns,
		 void (*seen)(void *ctx, const struct bus_run *run), void *ctx);

/* ---- four stamps whose noise is known --------------------------------------------------- */

/** Correlations drawn until they are some of four variables; sigma is left alone. */
void noise_draw(struct usk_rng *r, struct usk_read_noise *n);

/** V(T_A): eq. 2. */
double elapsed_variance(const struct usk_read_noise *n);
/** V(T_A) / V(T_1) where T_2 and T_3 vary half as much as T_1 and T_4, which are alike: eq. 4. */
double elapsed_variance_halves(const struct usk_read_noise *n);

struct noise_factors {
	double mean_error;	      /* of T_A, in deviations of it */
	double variance, improvement; /* V(T_A), V(T_1) / V(T_A) */
};

/** So many samples of usk_elapsed(). sigma in ns, hundreds at least, as stamps are whole ns. */
struct noise_factors noise_sample(struct usk_rng *r, const struct usk_read_noise *n,
				  size_t samples);

#endif
