/* SPDX-License-Identifier: MIT */
/* true_clocks.h - two hosts' clocks as truth.json's options state them: exact at any moment */
#ifndef TRUE_CLOCKS_H
#define TRUE_CLOCKS_H

#include "sim.h"

struct true_clocks {
	struct sim_clock clock[2];
	const char *name[2];
	int64_t start_ns, end_ns, resolution_ns;
};

/** why: the first thing that is wrong, or left empty. */
bool true_clocks_read(const char *path, const char *const name[2], struct true_clocks *out,
		      char why[512]);
void true_clocks_free(struct true_clocks *t);

/** Number of a clock's jumps back up to a moment: the epoch that it is in. */
uint32_t true_epoch(const struct sim_clock *c, int64_t true_ns);

#endif
