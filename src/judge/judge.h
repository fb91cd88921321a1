/* SPDX-License-Identifier: MIT */
/*
 * judge.h - delays and violations of messages, as recorded or as corrected
 */
#ifndef USK_JUDGE_H
#define USK_JUDGE_H

#include "base/base.h"

struct usk_bar {
	uint16_t bucket, count; /* count 0: an empty slot */
};

/*
 * Counts of values by their distance from the first one: 64 steps an octave on either side, so to
 * 1.6 % of that distance. Two clocks an hour apart have delays of an hour, but it is their spread
 * that tells. Few values, of one pair among thousands, take little memory.
 */
struct usk_histogram {
	uint64_t n;
	int64_t min, max;
	int64_t origin;	     /* the first value */
	struct usk_bar *few; /* a hash of n_slots, n_used of them in use; NULL if all is there */
	size_t n_slots, n_used;
	uint64_t *all;
};

void usk_histogram_add(struct usk_histogram *h, int64_t value);
/** The smallest value v such that share of all values are at most v, as exact as the buckets are.
 */
int64_t usk_histogram_quantile(const struct usk_histogram *h, double share);
void usk_histogram_free(struct usk_histogram *h);

/** Stamps on the common timeline; those that a map has no answer for stay as they are, and are
 * counted. m may be NULL: all stay as they are. */
uint64_t usk_judge_correct(const struct usk_map *m, const int64_t *t, size_t n, int64_t *out);

/* Messages received before they were sent (by more than the receiver's resolution), or faster
 * than they can be. Reads messages as a sink would. */
struct usk_judge {
	uint32_t a, b;
	int64_t q_a_ns, q_b_ns;
	const struct usk_map *map_a, *map_b;	       /* NULL: as recorded */
	const struct usk_delay_model *least[2];	       /* minimum delays, likewise [2]; NULL is 0 */
	uint64_t count[2], inversions[2], too_fast[2]; /* [0] a to b, [1] b to a */
	int64_t fastest[2], slowest[2];		       /* delays; of no meaning where count is 0 */
	uint64_t uncorrected; /* stamps that a map has no answer for: taken as they are */
	usk_i128 violation_sum;
	int64_t violation_max;
	struct usk_histogram delay[2];
	struct usk_msg *left_out; /* not judged by maps; sorted by usk_msg_order(); the caller's */
	size_t n_left_out;
	bool with_delays;
	bool keep_inverted;
	struct usk_msg *inverted; /* as they were read */
	size_t n_inverted, cap_inverted;
};

void usk_judge_add(struct usk_judge *j, const struct usk_msg *msg, size_t n);
struct usk_delays usk_judge_delays(const struct usk_judge *j, bool back);
struct usk_violations usk_judge_violations(const struct usk_judge *j);
/** So many more; percent, of all messages, is the caller's. */
void usk_violations_add(struct usk_violations *all, uint64_t n, usk_i128 sum_ns, int64_t max_ns);
void usk_judge_free(struct usk_judge *j);

#endif
