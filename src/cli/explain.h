/* SPDX-License-Identifier: MIT */
/*
 * explain.h - a bound in words
 */
#ifndef USK_CLI_EXPLAIN_H
#define USK_CLI_EXPLAIN_H

#include "cmd.h"

/**
 * Which messages and stretches say that a clock's stamp x was no earlier and no later on the
 * reference's clock, by a proof of this answer. at: what the answer says. Reads the traces, from
 * their start, for the numbers of records.
 */
enum usk_status explain(const struct usk_clocks *c, struct usk_trace **trace, size_t n_traces,
			const char *proof, uint32_t clock, int64_t x, const struct usk_stamp *at,
			FILE *out, struct usk_err *err);

#endif
