/* SPDX-License-Identifier: MIT */
/*
 * cable.h - both ends of a line in one simulated time
 *
 * In    what steps cost, how often and for how long a side is held up
 * Out   line_ask() on one side, line_answer() for ever on the other, in the order of true time
 * Why   what no test on a real machine meets often: a side that goes on in the middle of a later
 *       exchange
 */
#ifndef CABLE_H
#define CABLE_H

#include "line/line.h"

struct cable_plan {
	uint64_t seed;
	int64_t pin_ns, pin_more_ns; /* to set or read pins: at least, and up to so much more */
	int64_t clock_ns;	     /* to read a clock */
	double held_up;		     /* how likely at each step */
	int64_t longest_ns;	     /* for so long at most; short ones are the most */
	int64_t delay_ns;	     /* from a pin set to a pin seen */
	bool noise;		     /* pins say anything */
	/* The other's clock: shows so much more, and runs so much faster; its rate swings by
	 * 10^-7 around that, once in ten minutes. */
	int64_t offset_ns, faster_e9;
	bool swings;
};

struct cable;

/** Run it until ask() returns. l is the side that asks; its clock shows the true ns. */
void cable_run(const struct cable_plan *p, void (*ask)(struct line *l, void *ctx), void *ctx);

/** What the other's clock shows at a true ns, rounded down. */
int64_t cable_theirs(const struct cable_plan *p, int64_t true_ns);

#endif
