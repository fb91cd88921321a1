/* SPDX-License-Identifier: MIT */
/*
 * share.h - one flow by many programs, called ranks: captures and pairs of them shared out
 *
 * All ranks run usk_sync_shared() on the same captures with the same options. Each surveys the captures
 * that it reads, joins and matches the pairs that are dealt to it, and rank 0 gets what all pairs allow
 * and solves. Every rank knows all clocks and all pairs, by the same numbers, so that what is made of a
 * pair is the same wherever it is made. How bytes and captures get from one rank to another is the
 * caller's (src/mpi).
 */
#ifndef USK_FLOW_SHARE_H
#define USK_FLOW_SHARE_H

#include "flow/reading.h"

/* What ranks send, in this machine's order of bytes: they are one program. */
struct usk_bytes {
	uint8_t *data;
	size_t n, cap, at; /* at: what was taken */
};

/* A rank that is to walk a capture which another one reads. */
struct usk_want {
	uint32_t rank, trace;
};

struct usk_share {
	void *ctx;
	unsigned rank, ranks;
	const int *reader; /* of each trace the rank that reads it */
	/* This rank cannot go on: does not come back, nor do the calls below at others. */
	void (*failed)(void *ctx, enum usk_status status, const struct usk_err *err);
	/* All ranks call these in the same order. */
	/* to[ranks] are sent, from[ranks] is what came from each, the caller's; all: to[0] to every
	 * rank. */
	void (*exchange)(void *ctx, const struct usk_bytes *to, bool all, struct usk_bytes *from);
	/* Ranks can read what they want of others, want[n] is sorted by traces, then ranks: */
	void (*bring)(void *ctx, const struct usk_want *want, size_t n);
	/* this is it, or the trace itself where it is read; until the end. */
	struct usk_trace *(*capture)(void *ctx, size_t trace);
	/* Rank 0 wants something more, and the others are to come: true. They wait for it; false: it
	 * has all. */
	bool (*ask)(void *ctx);
	/* Rank 0 solves while the others wait. */
	void (*alone)(void *ctx);
	/* What is at work from now on. */
	void (*at_work)(void *ctx, size_t trace);
};

/** usk_sync() by many ranks; *out is NULL at all but rank 0. trace[n]: captures, one a clock; what another
 * rank reads is the head of its part (part.h). opt has neither clock logs, --clock-of, --from, --to,
 * nor a method that is of all clocks together, or draws where no line fits. */
enum usk_status usk_sync_shared(struct usk_trace *const *trace, size_t n,
				const struct usk_sync_options *opt, const struct usk_share *share,
				struct usk_clocks **out, struct usk_err *err);

/** At rank 0, which got an answer: a capture of any rank, to be read. */
struct usk_trace *usk_share_trace(const struct usk_share *share, size_t trace);

/* ---- the flow's own: nothing happens where p->share is NULL ---- */

/** Is this trace read here? */
bool usk_share_reads(const struct parties *p, size_t trace);
/** Is this pair matched here? */
bool usk_share_matches(const struct pair_source *s);
/** The depth of all captures from that of those here. */
void usk_share_depth(struct parties *p, enum usk_status status, const struct usk_err *err);
/** What surveys tell, less their samples, of captures that are read elsewhere. */
void usk_share_surveys(struct parties *p, enum usk_status status, const struct usk_err *err);

/** Samples that usk_met_all() asks for, of all captures. */
void usk_share_samples(struct parties *p);
/** Those that were drawn elsewhere are not needed any more. */
void usk_share_forget(struct parties *p);
/** Of all keys a share, sorted, of all parties; s[*n] are those of captures here. The caller's. */
struct usk_sighted *usk_share_sighted(const struct parties *p, const struct usk_sighted *s,
				      size_t *n);
/** Pairs that some rank found; what it found out on packets that pass its captures. */
void usk_share_pairs(struct parties *p);
/** Who matches which pair; captures and surveys come to where they are matched. */
void usk_share_deal(struct parties *p);
/** How many joins there are of each pair. */
void usk_share_joins(struct parties *p, enum usk_status status, const struct usk_err *err);
/** What pairs allow, at rank 0. True: at another one, once rank 0 has all that it asked for. */
bool usk_share_fits(struct parties *p, struct usk_pair *pair, struct fitted *fitted,
		    enum usk_status status, const struct usk_err *err);
/** The capture of this party is walked next. */
void usk_share_need(const struct parties *p, const struct party *y);
/** A capture to be read, once it was needed. */
struct usk_trace *usk_share_capture(const struct parties *p, size_t trace);

/* ---- share_bytes.c: what is sent ---- */

void usk_bytes_put(struct usk_bytes *b, const void *data, size_t n);
/** false: there is less than that. */
bool usk_bytes_get(struct usk_bytes *b, void *out, size_t n);
void usk_bytes_free(struct usk_bytes *b, size_t n);

/** With samples, or without. */
void usk_bytes_put_survey(struct usk_bytes *b, const struct usk_survey *s, bool samples);
bool usk_bytes_get_survey(struct usk_bytes *b, struct usk_survey *out, bool samples);
/** What is kept of a pair; pair and fitted are as usk_gather() left them. */
void usk_bytes_put_fit(struct usk_bytes *b, const struct pair_source *s,
		       const struct usk_pair *pair, const struct fitted *fitted);
bool usk_bytes_get_fit(struct usk_bytes *b, struct pair_source *s, struct usk_pair *pair,
		       struct fitted *fitted);

#endif
