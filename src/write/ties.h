/* SPDX-License-Identifier: MIT */
/*
 * ties.h - packets of one corrected time: what was sent comes before what was received
 *
 * In    packets of several traces with the same corrected stamp
 * Out   an order that keeps each trace's own and puts a packet's sending before its arrival
 * Why   delays shorter than 1 ns of band do not exist, but identical clocks and coarse stamps do
 * Not   packets whose sender cannot be told: they stay in the order of the traces
 */
#ifndef USK_TIES_H
#define USK_TIES_H

#include "write/queue.h"

enum { USK_TIES_MAX = 64 }; /* the work is quadratic; more at one ns are ordered in parts */

struct tie {
	struct packet packet;
	const struct usk_trace *trace;
	size_t source;
	const struct usk_addr *local; /* addresses of the clock's host */
	size_t n_local;
	/* private */
	struct usk_packet seen; /* decoded; key 0 if it tells nothing */
	int sent;
};

/** Those of one source must stand in their own order. */
void usk_ties_order(struct tie *tie, size_t n);

#endif
