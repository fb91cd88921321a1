/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the state of one walk, shared by reading in step (walk.c) and pairing (pair.c)
 */
#ifndef USK_WALK_H
#define USK_WALK_H

#include "match/match.h"
#include "match/way.h"
#include "match/window.h"

/* MAX_CHAIN: packets of one key that are looked at; more are nobody's. */
enum { OUT_BATCH = 512, MAX_CHAIN = 64 };

struct walk {
	const struct usk_walk_options *opt;
	struct side side[2];
	struct ways ways;
	struct usk_addr own[2][16]; /* among these is each capture's own; none: not known */
	size_t n_own[2];
	size_t n_doubts; /* held in all */
	bool ip_id_kept;
	int64_t lag_ns; /* a send is surely read when its receive is this old */
	/* Out */
	const struct usk_sink *sink;
	struct usk_msg out[OUT_BATCH];
	struct usk_origin origin[OUT_BATCH];
	size_t n_out;
	struct usk_msg *exclude; /* sorted */
	struct usk_counts *counts;
	uint64_t decided_by[FROM_EXCHANGE + 1]; /* messages by enum role_source */
	bool stopped;				/* the sink wants no more */
};

/** Tie a stream of the first capture to the same stream of the second. */
void usk_walk_link(struct walk *w, uint32_t p, uint32_t q);
/** Look for the send of a packet that has become old enough. */
void usk_walk_pair(struct walk *w, int side, uint64_t number);
/** The way of a stream became known or doubtful: set the roles of it and of its peer. */
void usk_walk_agree(struct walk *w, uint32_t p, uint32_t q);
/** Hand out what was in doubt until now. */
void usk_walk_settle_doubts(struct walk *w);
void usk_walk_flush(struct walk *w);

#endif
