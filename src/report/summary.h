/* SPDX-License-Identifier: MIT */
/*
 * summary.h - what a page holds of the messages that an answer was made of
 *
 * Give its sink to usk_sync(). Memory follows the points that may be held, not the messages.
 */
#ifndef USK_SUMMARY_H
#define USK_SUMMARY_H

#include "base/index.h"
#include "fit/corridor.h"

/* ---- messages of a pair, thinned out so that no extreme is lost ---- */

/*
 * Local time is cut into buckets of a power of two. Of each bucket and direction the messages of
 * the lowest and of the highest level are held, and counted all. A pair with few messages holds
 * them all. When more points are held than may be, buckets are made, of 1 ns, then doubled until
 * there is room: what is held in the end does not depend on the order in which messages came.
 */

/* A message as a point; the level is what extremes are taken of. */
struct usk_thin_point {
	int64_t level;
	int64_t local_ns, other_ns; /* the stamps of the local clock and of the other one */
	uint32_t local_epoch, other_epoch;
};

struct usk_thin;

/** most: points that may be held, at least 8; SIZE_MAX: all messages. */
struct usk_thin *usk_thin_new(size_t most);
void usk_thin_free(struct usk_thin *t);
/** back: of the second direction. Cost: O(1) amortised. */
void usk_thin_add(struct usk_thin *t, bool back, const struct usk_thin_point *p);

/** Bucket k is [k, k + 1) x this, on the local clock; 1 too where all messages are held. */
int64_t usk_thin_bucket_ns(struct usk_thin *t);
uint64_t usk_thin_total(const struct usk_thin *t, bool back);

/** Points that are held of a direction. */
size_t usk_thin_held(struct usk_thin *t, bool back);

struct usk_thin_row {
	struct usk_thin_point point;
	uint64_t stands_for; /* messages of its bucket, at its first point; 0 at the others */
};

/** What is held of a direction, sorted by local epoch, local and other stamp; *out is handed over.
 */
size_t usk_thin_rows(struct usk_thin *t, bool back, struct usk_thin_row **out);

/* ---- how many values lie where: exact counts in bins of one round width ---- */

/*
 * While values come they are counted in fine bins, 1 ns wide to begin with, that become ten times
 * as wide whenever more of them are in use than may be. The bins that are shown are the narrowest
 * of 1, 2, 5, 10, 20, 50 ... ns, no narrower than the fine ones, of which the values up to the
 * 99th percentile take at most 2 sqrt(n), but 10 to 100; they go on to the largest value, but are
 * 128 at most. Edges are multiples of the width, and every value is counted in the bin it is in.
 */

enum { USK_BINS_SHOWN = 128 };

struct usk_bins;

/** most: fine bins in use at a time, at least 16. Memory: up to 96 bytes each. */
struct usk_bins *usk_bins_new(size_t most);
void usk_bins_free(struct usk_bins *b);
/** n more. Cost: O(1) each, amortised. */
void usk_bins_add(struct usk_bins *b, const int64_t *value, size_t n);

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
	/* What is shown of hulls; NULL if a clock was set back, or pairs are very many. */
	struct usk_point *hull[2];
	size_t n_hull[2];
	struct usk_corridor *corridor; /* of pairs whose hulls nobody told: has them, too */
};

struct usk_summary {
	struct usk_sink sink;
	bool full;	  /* hold every message */
	bool of_messages; /* there were some to hold: else there is the answer alone */
	struct usk_summary_pair *pair;
	size_t n_pairs, n_shown;
	/* private */
	struct usk_index numbers; /* + 1, by both clocks, the smaller first */
	size_t last;		  /* the pair of the message before */
	const struct usk_corrected *at;
};

void usk_summary_new(struct usk_summary *s, bool full);
/** Of an answer without its messages: which pairs are shown. */
void usk_summary_alone(struct usk_summary *s, const struct usk_clocks *c);
void usk_summary_free(struct usk_summary *s);

/** The hull of a pair's floors or ceilings, by stamps as recorded; borrowed. */
const struct usk_point *usk_summary_hull(const struct usk_summary_pair *p, bool ceiling, size_t *n);

/**
 * Points for each of n pairs that want so many, `most` in all: those of first[n] get what keeps
 * their buckets under 1/100 of the trace before the others get any; the rest is shared evenly by
 * those that want more. share[n] is written; none is under 16.
 */
void usk_summary_share(const uint64_t *want, const bool *first, size_t n, size_t most,
		       size_t *share);

#endif
