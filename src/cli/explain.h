/* SPDX-License-Identifier: MIT */
/*
 * explain.h - why a bound holds
 */
#ifndef USK_CLI_EXPLAIN_H
#define USK_CLI_EXPLAIN_H

#include "cmd.h"

/**
 * Which messages and stretches say that n stamps, CLOCK:STAMP, were no earlier and no later on the
 * reference's clock, by a proof of this answer; of two, which was first; of one in the bracket of a
 * step, how it shows. page: as HTML, with pictures. Reads the traces, from their start, for the
 * numbers of records. What fails is in `why`.
 */
enum usk_status explain_stamps(struct usk_clocks *c, struct usk_trace **trace, size_t n_traces,
			       const char *proof, const char *const *text, size_t n, bool page,
			       FILE *out);

#endif
