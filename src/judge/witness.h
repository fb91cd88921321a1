/* SPDX-License-Identifier: MIT */
/*
 * witness.h - what is kept of a pair to judge it by, once its clocks are known
 *
 * Some of its messages and of the broadcasts that both heard, spread evenly over the trace: memory
 * does not follow its length, and it need not be read again.
 */
#ifndef USK_JUDGE_WITNESS_H
#define USK_JUDGE_WITNESS_H

#include "judge/judge.h"

/* Every stride-th that comes; where there are too many, every other one goes. */
struct usk_thinner {
	uint64_t seen, stride; /* stride 0 is 1 */
};

struct usk_witness {
	struct usk_msg *msg;
	size_t most; /* messages, even; 0: 8192 */
	size_t n_msgs, cap_msgs;
	struct usk_thinner msgs;
	struct usk_reception *heard;
	size_t n_heard, cap_heard;
	struct usk_thinner hearings;
};

/** How many messages each of so many pairs may keep. */
size_t usk_witness_share(size_t pairs);
/** w is zeroed before the first, but for most. */
void usk_witness_msgs(struct usk_witness *w, const struct usk_msg *msg, size_t n);
void usk_witness_heard(struct usk_witness *w, const struct usk_reception *heard, size_t n);
/** No more will come: gives back the room for them. */
void usk_witness_settle(struct usk_witness *w);
void usk_witness_free(struct usk_witness *w);

/** One-way delays from a to b [0] and back [1]; maps may be NULL: as recorded. */
void usk_witness_delays(const struct usk_witness *w, uint32_t a, const struct usk_map *map_a,
			const struct usk_map *map_b, struct usk_delays out[2]);
/** Broadcasts: b's stamps less a's. */
struct usk_difference usk_witness_difference(const struct usk_witness *w,
					     const struct usk_map *map_a,
					     const struct usk_map *map_b);
/**
 * Into a pair: delays and differences as corrected by the maps, or, if corrected is false, unknown;
 * differences as recorded. A map may be NULL: the reference's. Its min_delay fields must stand.
 */
void usk_witness_pair(const struct usk_witness *w, bool corrected, const struct usk_map *map_a,
		      const struct usk_map *map_b, struct usk_pair *pair);
/** Of two pairs, or more of one. */
struct usk_difference usk_differences_add(struct usk_difference a, struct usk_difference b);
extern const struct usk_difference usk_no_difference;

#endif
