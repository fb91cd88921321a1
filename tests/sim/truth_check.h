/* SPDX-License-Identifier: MIT */
/* truth_check.h - one simulated scenario, synchronised and held against its truth */
#ifndef TRUTH_CHECK_H
#define TRUTH_CHECK_H

#include "true_clocks.h"

struct job {
	const char *unskew, *dir;
	uint64_t seed;
};

struct scenario {
	const char *name;
	const char *simulate; /* options of `unskew simulate` */
	const char *sync;     /* further options of `unskew sync` */
	double most_ns;	      /* mean half width at the most; 0: any */
};

/** Prints a line, and on failure why and the commands; returns whether all held. */
bool check_scenario(const struct job *job, const struct scenario *s);

/**
 * The band of the sync answer at random true moments; *width_ns: its mean half width.
 * strict: between the outer knots the estimate is wrong by less than half the half width.
 */
bool check_band(const char *json_path, const struct true_clocks *t, uint64_t seed, bool strict,
		double *width_ns, char why[512]);

struct match_counts {
	size_t expected, found; /* unambiguous true messages, and those of them that were matched */
	size_t matched;
};

/** Matched messages against true ones. */
bool check_messages(const char *true_path, const char *matched_path, struct match_counts *counts,
		    char why[512]);

#endif
