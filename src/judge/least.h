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

struct usk_least_options {
	double margin;	      /* share of the smallest round trip; < 0: as the round trips spread */
	int64_t asymmetry_ns; /* the two ways' minima may differ by so much */
};

/* The fewest round trips of one kind that tell how near the smallest comes to what is possible. */
enum { USK_TRIPS_MIN = 64 };

struct usk_least {
	const char *why;	      /* why there is no model, a part of a sentence; NULL */
	struct usk_delay_model model; /* of either way */
	uint64_t used;		      /* round trips that it is made from */
	uint64_t needed;	      /* how many the most frequent kind lacks, if too few */
	bool straight;	     /* no two kinds: the first byte is taken for one like the others */
	uint32_t from_bytes; /* of the shortest messages that it is made from, */
	uint32_t to_bytes;   /* and of the longest */
	int64_t smallest_ns; /* round trip of the shortest */
	int64_t margin_ns;   /* taken off that */
	/* Models of one half of the round trips, asked of the other half. */
	unsigned halves;      /* that were asked */
	uint64_t halves_over; /* round trips of the other half that took less than one says */
	unsigned widened;     /* margins were made so many times as wide until none did; 1: as is */
	uint64_t over;	      /* round trips shorter than their two minima */
	int64_t over_ns;      /* by this at most; then it was taken off */
};

/** trip[n] is sorted by at_ns. */
void usk_least_of(const struct usk_trip *trip, size_t n, const struct usk_least_options *o,
		  struct usk_least *out);

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
