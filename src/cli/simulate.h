/* SPDX-License-Identifier: MIT */
/* simulate.h - the options of `unskew simulate`, and how they become the simulator's */
#ifndef SIMULATE_H
#define SIMULATE_H

#include "cmd.h"
#include "sim.h"

extern const struct option_group simulate_run, simulate_clocks, simulate_settings, simulate_traffic,
	simulate_network, simulate_stacks, simulate_captures;

/** What has a value per host, or names a host; simulate_lists_free() also after a failure. */
enum usk_status simulate_lists(const struct args *args, struct sim_options *o, struct usk_err *err);
void simulate_lists_free(struct sim_options *o);

#endif
