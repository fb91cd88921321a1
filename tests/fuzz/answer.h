/* SPDX-License-Identifier: MIT */
/* answer.h - one table of clocks with what a reader of stamps can meet */
#ifndef FUZZ_ANSWER_H
#define FUZZ_ANSWER_H

#include "base/base.h"

/**
 * host0, a reference that was set back; host1, set back twice and stepped; host2, bounded on one
 * side; host3, which nothing ties to them; and apart, far from zero and set back by all there is,
 * the reference "a:b" and its "a".
 */
extern const char answer_json[];

/** The same, made once; it stays. */
const struct usk_clocks *answer(void);

#endif
