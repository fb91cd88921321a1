/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - --timeline FILE: all that happened on one time, as Chrome trace JSON
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "cmd.h"
#include "messages.h"

/**
 * Match the traces as they are, then draw them by the clocks of c.
 * clock[n]  the trace's clock in c; USK_NO_CLOCK for tables
 */
enum usk_status timeline_match_and_draw(struct usk_trace *const *trace, const uint32_t *clock,
					size_t n, const struct usk_clocks *c, const char *path,
					const struct usk_write_options *opt,
					struct usk_notes *notes, struct usk_err *err);

#endif
