/* SPDX-License-Identifier: MIT */
/* met.h - packets that clocks of several files share with other clocks' files */
#ifndef USK_FLOW_MET_H
#define USK_FLOW_MET_H

#include "flow/flow.h"

/* A packet of a file of a clock's, and of one of another clock. */
struct met {
	uint64_t other;	 /* the other's clock and file */
	uint64_t order;	 /* its record there */
	uint64_t record; /* the clock's own */
	int64_t at_ns;	 /* its unwrapped time, in any file */
	uint32_t clock;
	uint32_t way; /* the clock's own */
	struct usk_seen
		seen; /* as recorded; the clock's own unwrapped once its files are in order */
};

/** Of those clocks, by clock, other file, and order there; *n of them, the caller's. run_on: their stamps are
 * unwrapped, as their files are in order. */
struct met *usk_met_all(const struct parties *p, const bool *those, bool run_on, size_t *n);
/** Of that order those from m on that are of one file of another clock; whole: of any of its files. */
size_t usk_met_group(const struct met *m, size_t n, bool whole);
/** Such a group in the order of the other clock's records in a file, or of its time; how many agree, into
 * out[n]. */
size_t usk_met_order(const struct met *m, size_t n, bool whole, struct usk_seen *out,
		     int64_t *ways);
/** Of as many as fit some contents, the same of all clocks. */
uint64_t usk_met_mask(const struct parties *p);

#endif
