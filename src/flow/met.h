/* SPDX-License-Identifier: MIT */
/* met.h - packets that clocks of several files share with other clocks' files */
#ifndef USK_FLOW_MET_H
#define USK_FLOW_MET_H

#include "flow/flow.h"

/* A packet of a file of a clock's, and of one of another clock. */
struct met {
	uint64_t other; /* the other's clock and file */
	uint64_t order; /* its record there */
	int64_t at_ns;	/* its unwrapped time, in any file */
	uint32_t clock;
	struct usk_seen
		seen; /* as recorded; the clock's own unwrapped once its files are in order */
};

/** Of all clocks of several files, by clock, other file, and order there; *n of them, the caller's. run_on:
 * their stamps are unwrapped, as their files are in order. */
struct met *usk_met_all(const struct parties *p, bool run_on, size_t *n);

#endif
