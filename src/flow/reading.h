/* SPDX-License-Identifier: MIT */
/*
 * reading.h - a pair's messages read: once, or as often as wrong ones have to go
 */
#ifndef USK_FLOW_READING_H
#define USK_FLOW_READING_H

#include "fit/model.h"
#include "flow/flow.h"
#include "judge/witness.h"

/* A message as the corridor knows it, and who it is. */
struct suspected {
	struct usk_msg leaned;
	struct usk_msg *msg;
	bool found;
};

/* One reading of the pair's messages. */
struct reading {
	struct pair_source *source;
	struct usk_corridor *corridor, *plain; /* plain: without minimum delays */
	struct usk_judge judge;
	struct usk_witness *witness; /* NULL: none is kept */
	struct suspected *suspected; /* sorted by leaned */
	size_t n_suspected;
	const struct usk_sink *also; /* the caller's */
	bool keep;		     /* all messages, for estimators that need them */
	struct usk_msg *msg;
	size_t n_msgs, cap_msgs;
	int64_t from_ns, to_ns; /* stamps of the reference */
	enum usk_status status;
	struct usk_err *err;
};

/** |rate - 1| that no clock exceeds, parts per 10^12. */
int64_t usk_limit_e12(const struct usk_sync_options *o);

/** A reading that only judges, as recorded; the caller sets what else is wanted. */
struct reading usk_reading_of(struct pair_source *s, struct usk_err *err);
enum usk_status usk_reading_once(struct reading *r, struct usk_counts *counts,
				 struct usk_evidence *evidence);
/** What it counted, into the pair. */
void usk_reading_recorded(const struct reading *r, struct usk_pair *pair);

/** A pair of which nothing is known. */
void usk_pair_blank(struct usk_pair *pair, const struct pair_source *s);
/** Inversions as recorded, of both directions. */
uint64_t usk_pair_inversions(const struct usk_pair *pair);

/* What a pair's messages allow, those left out that speak against all others. */
struct gathered {
	struct usk_frame frame;
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	/* The same without minimum delays, if there are some; else NULL. */
	struct usk_corridor *plain_corridor;
	struct usk_lines *plain;
	struct usk_msg *msg; /* if they are to be kept; sorted as usk_fit asks for it */
	size_t n_msgs;
	struct usk_verdict verdict;
	struct usk_witness witness;
	struct usk_counts found;
};

/**
 * Read until the messages fit, or too many would have to go: then none is left out. Writes the
 * pair's quality, counts, delays as recorded, outliers and contradiction. free with
 * usk_gathered_free(), after a failure too.
 */
enum usk_status usk_pair_gather(struct pair_source *s, bool keep, struct usk_pair *pair,
				struct gathered *out, struct usk_err *err);
void usk_gathered_free(struct gathered *g);
/** As estimators get it; borrowed. */
struct usk_fit usk_gathered_fit(const struct gathered *g, const struct pair_source *s);

#endif
