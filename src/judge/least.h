/* SPDX-License-Identifier: MIT */
/*
 * least.h - what messages need at least, from round trips
 */
#ifndef USK_JUDGE_LEAST_H
#define USK_JUDGE_LEAST_H

#include "base/base.h"

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
