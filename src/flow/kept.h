/* SPDX-License-Identifier: MIT */
/*
 * kept.h - messages of pairs, kept in few bytes while they are read
 */
#ifndef USK_FLOW_KEPT_H
#define USK_FLOW_KEPT_H

#include "base/base.h"

struct usk_kept;

struct usk_kept *usk_kept_new(size_t n_pairs);
void usk_kept_free(struct usk_kept *k);

/** Messages of this pair come, all of them: those that came before are forgotten. */
void usk_kept_begin(struct usk_kept *k, size_t pair);
/** n messages between the pair's first clock, a, and its other one; O(n), 8 bytes each, more where
 * they are seconds apart. */
void usk_kept_add(struct usk_kept *k, size_t pair, uint32_t a, const struct usk_msg *msg, size_t n);
/** False: they were too many, or no temporary file could be written. Then there are none. */
bool usk_kept_all(const struct usk_kept *k);

/* The clocks of a pair. */
struct usk_kept_pair {
	uint32_t a, b;
};

/** n messages of a pair; their `bytes` are 0. False: no more. */
typedef bool usk_kept_take(void *ctx, size_t pair, const struct usk_msg *msg, size_t n);
/** All that are kept, in the order in which they came, of each pair those since its begin().
 * USK_EIO: the temporary file cannot be read. */
enum usk_status usk_kept_read(struct usk_kept *k, const struct usk_kept_pair *of,
			      usk_kept_take *take, void *ctx, struct usk_err *err);

#endif
