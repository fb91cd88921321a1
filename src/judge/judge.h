/* SPDX-License-Identifier: MIT */
/*
 * judge.h - delays and violations of messages, as recorded or as corrected
 */
#ifndef USK_JUDGE_H
#define USK_JUDGE_H

#include "base/base.h"
#include "flow/calibrate.h"

struct usk_bar {
	uint64_t bucket : 16, count : 48; /* count 0: an empty slot */
};

/*
 * Counts of values by their distance from the first one: 64 steps an octave on either side, so to
 * 1.6 % of that distance. Two clocks an hour apart have delays of an hour, but it is their spread
 * that tells. Few values, of one pair among thousands, take little memory: 2 bytes each.
 */
struct usk_histogram {
	uint64_t n;
	int64_t min, max;
	int64_t origin; /* the first value */
	uint16_t *few;	/* the bucket of each value, as long as they are few */
	size_t n_few, cap_few;
	struct usk_bar *bar; /* a hash of n_slots, n_used of them in use */
	size_t n_slots, n_used;
};

void usk_histogram_add(struct usk_histogram *h, int64_t value);
/** For each of n shares the smallest value v such that this share of all values are at most v, as
 * exact as the buckets are. */
void usk_histogram_quantiles(const struct usk_histogram *h, const double *share, size_t n,
			     int64_t *out);
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
	uint64_t left_out_inversions; /* of these and of their copies */
	bool with_delays;
	bool keep_inverted;
	bool by_bounds; /* only what both clocks' bounds exclude is kept, no more is judged */
	struct usk_msg *inverted; /* as they were read */
	size_t n_inverted, cap_inverted;
};

void usk_judge_add(struct usk_judge *j, const struct usk_msg *msg, size_t n);
/** By how much the bounds of its two clocks exclude a message, the receiver's q ns later; 0: they
 * do not, or one of them is not known. Maps may be NULL: the reference's. */
int64_t usk_judge_excluded(const struct usk_map *from, const struct usk_map *to,
			   const struct usk_msg *msg, int64_t q_ns);
struct usk_delays usk_judge_delays(const struct usk_judge *j, bool back);
struct usk_violations usk_judge_violations(const struct usk_judge *j);
/** So many more; percent, of all messages, is the caller's. */
void usk_violations_add(struct usk_violations *all, uint64_t n, usk_i128 sum_ns, int64_t max_ns);
void usk_judge_free(struct usk_judge *j);

/* ---- what is kept of a pair to judge it by, once its clocks are known ---- */

/* Some of its messages and of the broadcasts that both received, spread evenly over the trace: memory
 * does not follow its length, and it need not be read again. */

/* Every stride-th that comes; where there are too many, every other one goes. */
struct usk_thinner {
	uint64_t seen, stride; /* stride 0 is 1 */
};

struct usk_delay_samples {
	struct usk_msg *msg;
	size_t most; /* messages, even; 0: 8192 */
	size_t n_msgs, cap_msgs;
	struct usk_thinner msgs;
	struct usk_reception *broadcasts;
	size_t n_broadcasts, cap_broadcasts;
	struct usk_thinner received;
};

/** How many messages each of so many pairs may keep. */
size_t usk_delay_samples_share(size_t pairs);
/** w is zeroed before the first, but for most. */
void usk_delay_samples_msgs(struct usk_delay_samples *w, const struct usk_msg *msg, size_t n);
void usk_delay_samples_broadcasts(struct usk_delay_samples *w,
				  const struct usk_reception *broadcasts, size_t n);
/** No more will come: gives back the room for them. */
void usk_delay_samples_settle(struct usk_delay_samples *w);
void usk_delay_samples_free(struct usk_delay_samples *w);

/** One-way delays from a to b [0] and back [1]; maps may be NULL: as recorded. */
void usk_delay_samples_delays(const struct usk_delay_samples *w, uint32_t a,
			      const struct usk_map *map_a, const struct usk_map *map_b,
			      struct usk_delays out[2]);
/** Broadcasts: b's stamps less a's. */
struct usk_difference usk_delay_samples_difference(const struct usk_delay_samples *w,
						   const struct usk_map *map_a,
						   const struct usk_map *map_b);
/**
 * Into a pair: delays and differences as corrected by the maps, or, if corrected is false, unknown;
 * differences as recorded. A map may be NULL: the reference's. Its min_delay fields must stand.
 */
void usk_delay_samples_pair(const struct usk_delay_samples *w, bool corrected,
			    const struct usk_map *map_a, const struct usk_map *map_b,
			    struct usk_pair *pair);
/** Of two pairs, or more of one. */
struct usk_difference usk_differences_add(struct usk_difference a, struct usk_difference b);
extern const struct usk_difference usk_no_difference;

/* ---- what messages need at least, from round trips ---- */

/* Both delays of a message and one back: between these, by the reference's clock. */
struct usk_trip {
	int64_t low_ns, high_ns;
	int64_t at_ns;	      /* when it began, by any one clock */
	uint32_t there, back; /* bytes of payload */
	bool used; /* known well enough to draw on; the others may still speak against a model */
};

/* The fewest round trips of one kind that tell how near the smallest comes to what is possible. */
enum { USK_TRIPS_MIN = 64 };

/** trip[n] is sorted by at_ns. Returns why there is no model, a part of a sentence, or NULL. Sets
 * all of out that round trips tell, but for their number, and zero else. */
const char *usk_least_of(const struct usk_trip *trip, size_t n,
			 const struct usk_calibrate_options *o, struct usk_calibrated *out);

/** By how much both minima of a round trip, together, are more than it took; <= 0: they are not. */
static inline int64_t usk_trip_over(const struct usk_trip *t, const struct usk_delay_model *m)
{
	int64_t took = t->used ? t->low_ns : t->high_ns;
	usk_i128 sum = (usk_i128)usk_delay_model_ns(m, t->there) + usk_delay_model_ns(m, t->back);
	sum -= took;
	return sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/** Takes so much off what every message needs; nothing is left where it was less. */
void usk_delay_model_shorten(struct usk_delay_model *m, int64_t ns);

#endif
