/* SPDX-License-Identifier: MIT */
/*
 * feed.h - the packets of one capture that can have a counterpart in another, one after the other
 */
#ifndef USK_FEED_H
#define USK_FEED_H

#include "match/match.h"

struct usk_fed {
	struct usk_packet packet;
	int64_t common_ns; /* on the first capture's clock, roughly */
	uint64_t device;   /* a bit for its interface and its device; 0: unknown */
	uint8_t on;	   /* its interface */
};

enum { USK_FEED = 64, USK_FEED_FACES = 64 };

/* What was read at once, and what was known by then. */
struct usk_fed_batch {
	size_t n; /* 0: it ended before */
	size_t n_faces;
	uint64_t unmatched, pos;
	enum usk_status status; /* why it ended */
	struct usk_fed packet[USK_FEED];
};

struct usk_fed_batches {
	struct usk_fed_batch *of;
	size_t n, cap;
};

/* A capture that is being read: some batches are taken while the next ones are read. */
struct usk_feed {
	const struct usk_walker *of;
	const struct usk_coarse *map; /* NULL: its own clock is the common one */
	struct usk_depth depth;
	int64_t from_ns, to_ns; /* stamps outside of these are left out */
	struct usk_helpers *helpers;
	/* Who reads. */
	struct usk_job reads;
	struct usk_fed_batches next;
	size_t most; /* batches ahead */
	size_t hint;
	struct usk_epoch_place place;
	struct usk_counts left_out; /* counted in pass 1 already */
	struct usk_err err;
	/* Its first interfaces, as it told of them: n_faces of a batch are not written any more. */
	struct usk_iface face[USK_FEED_FACES];
	size_t n_faces;
	/* Who takes. */
	struct usk_fed_batches now;
	const struct usk_fed_batch *batch;
	size_t at;		/* of the batch's packets */
	uint64_t unmatched;	/* lay outside */
	enum usk_status status; /* why it ended */
};

/** Rewind it, and read on from then on. `of` to `helpers` are set, all else is zeroed. */
enum usk_status usk_feed_begin(struct usk_feed *f, struct usk_err *err);
void usk_feed_end(struct usk_feed *f);

/** To the next batch; false: there is none, or f->status and f->err say why not. */
bool usk_feed_more(struct usk_feed *f);

/** The next packet, good until the next call; NULL: none, and no more calls. */
static inline const struct usk_fed *usk_feed_next(struct usk_feed *f)
{
	return f->at < f->batch->n || usk_feed_more(f) ? &f->batch->packet[f->at++] : NULL;
}

#endif
