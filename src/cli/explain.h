/* SPDX-License-Identifier: MIT */
/*
 * explain.h - why a bound holds
 */
#ifndef USK_CLI_EXPLAIN_H
#define USK_CLI_EXPLAIN_H

#include "cmd.h"

/**
 * Which messages and stretches say that a clock's stamp, CLOCK:STAMP, was no earlier and no later on
 * the reference's clock, by a proof of this answer; page: as HTML, with a picture. Reads the traces,
 * from their start, for the numbers of records. What fails is in `why`.
 */
enum usk_status explain_stamp(const struct usk_clocks *c, struct usk_trace **trace, size_t n_traces,
			      const char *proof, const char *text, bool page, FILE *out);

#endif
