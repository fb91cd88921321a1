/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what a page holds of the messages that an answer was made of
 *
 * Give its sink to usk_sync(). Memory follows the points that may be held, not the messages.
 */
#ifndef USK_SUMMARY_H
#define USK_SUMMARY_H

#include "report/bins.h"
#include "report/thin.h"

/* What a page holds: messages, outliers among them, and pairs of clocks. */
enum { USK_PAGE_POINTS = 100000, USK_PAGE_OUTLIERS = 10000, USK_PAGE_PAIRS = 2000 };

/* A pair of clocks; [0] from a to b, [1] back. */
struct usk_summary_pair {
	uint32_t a, b;
	bool shown;	       /* in the page: of too many pairs some are not */
	bool corrected;	       /* levels are corrected delays; else delays as recorded, less */
	int64_t rate_e12;      /* this slope over b's stamps (added for [1]) */
	int64_t origin_ns;     /* from this one on */
	struct usk_thin *thin; /* NULL, as all else, if not shown or without messages */
	struct usk_bins *recorded[2], *delay[2]; /* delay: corrected */
	struct usk_corridor *corridor; /* whose hulls are shown; NULL too if a clock was put
					  back, or pairs are very many */
};

struct usk_summary {
	struct usk_sink sink;
	bool full;	  /* hold every message */
	bool of_messages; /* there were some to hold: else there is the answer alone */
	struct usk_summary_pair *pair;
	size_t n_pairs, n_shown;
	/* private */
	uint32_t *slot; /* by both clocks: 1 + number of the pair, 0 empty */
	size_t n_slots;
	size_t last; /* the pair of the message before */
	const struct usk_corrected *at;
};

void usk_summary_new(struct usk_summary *s, bool full);
/** Of an answer without its messages: which pairs are shown. */
void usk_summary_alone(struct usk_summary *s, const struct usk_clocks *c);
void usk_summary_free(struct usk_summary *s);

/**
 * Points for each of n pairs that want so many, `most` in all: those of first[n] get what keeps
 * their buckets under 1/100 of the trace before the others get any; the rest is shared evenly by
 * those that want more. share[n] is written; none is under 16.
 */
void usk_summary_share(const uint64_t *want, const bool *first, size_t n, size_t most,
		       size_t *share);

#endif
