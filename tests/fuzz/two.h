/* SPDX-License-Identifier: MIT */
/* two.h - two captures in one input, and what has to hold of any answer about them */
#ifndef FUZZ_TWO_H
#define FUZZ_TWO_H

#include "base/base.h"

/** usk_check() or usk_sync(). */
typedef enum usk_status fuzz_answer(struct usk_trace *const *trace, size_t n,
				    const struct usk_sync_options *opt, struct usk_clocks **out,
				    struct usk_err *err);

/** What LLVMFuzzerTestOneInput() returns. */
int fuzz_two(const uint8_t *data, size_t size, fuzz_answer *answer);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
