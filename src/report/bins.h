/* SPDX-License-Identifier: MIT */
/*
 * bins.h - how many values lie where: exact counts in bins of one round width
 *
 * While values come they are counted in fine bins, 1 ns wide to begin with, that become ten times
 * as wide whenever more of them are in use than may be. The bins that are shown are the narrowest
 * of 1, 2, 5, 10, 20, 50 ... ns, no narrower than the fine ones, of which the values up to the
 * 99th percentile take at most 2 sqrt(n), but 10 to 100; they go on to the largest value, but are
 * 128 at most. Edges are multiples of the width, and every value is counted in the bin it is in.
 */
#ifndef USK_BINS_H
#define USK_BINS_H

#include "base/base.h"

enum { USK_BINS_SHOWN = 128 };

struct usk_bins;

/** most: fine bins in use at a time, at least 16. Memory: up to 64 bytes each. */
struct usk_bins *usk_bins_new(size_t most);
void usk_bins_free(struct usk_bins *b);
/** Cost: O(1) amortised. */
void usk_bins_add(struct usk_bins *b, int64_t value);

struct usk_bins_shown {
	uint64_t n;		/* values; if 0 all else is 0 */
	int64_t min_ns, max_ns; /* exact */
	int64_t median_ns,
		p99_ns; /* lower edge of the fine bin that it is in, but min_ns at least */
	int64_t low_ns; /* where bin[0] begins */
	int64_t bin_ns, fine_ns;
	uint64_t bin[USK_BINS_SHOWN];
	size_t n_bins;
	uint64_t above; /* values over the last bin */
};

void usk_bins_show(const struct usk_bins *b, struct usk_bins_shown *out);

#endif
