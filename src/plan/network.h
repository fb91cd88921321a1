/* SPDX-License-Identifier: MIT */
/* network.h - building a network of links */
#ifndef USK_PLAN_NETWORK_H
#define USK_PLAN_NETWORK_H

#include "plan/plan.h"
#include "read/trace.h"

/** The number of a name, which is added if it is new. O(clocks) */
uint32_t usk_network_clock(struct usk_network *n, const char *name, size_t length);
/** The link of two clocks, its a the smaller; without messages, if it is new. Until the next one. */
struct usk_plan_link *usk_network_link(struct usk_network *n, uint32_t a, uint32_t b);
void usk_reservoir_add(struct usk_reservoir *s, int64_t value);

#endif
