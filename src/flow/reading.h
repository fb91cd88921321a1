/* SPDX-License-Identifier: MIT */
/*
 * reading.h - messages of pairs read: once, or as often as wrong ones have to go
 */
#ifndef USK_FLOW_READING_H
#define USK_FLOW_READING_H

#include "fit/fit.h"
#include "graph/graph.h"
#include "flow/flow.h"
#include "judge/witness.h"

/* A message that is known by its point alone. */
struct suspected {
	uint32_t pair;
	struct usk_msg leaned; /* as the corridor knows it */
	struct usk_msg *msg;   /* who it is, once found */
	bool found;
};

struct suspects {
	struct suspected *row;
	size_t n, cap;
};

/* One reading of a pair's messages. */
struct reading {
	struct pair_source *source;
	struct usk_corridor *corridor, *plain; /* plain: without minimum delays */
	struct usk_judge judge;
	bool watch; /* keep a witness */
	struct usk_witness witness;
	const struct suspects *suspects; /* sorted by pair and leaned; NULL: nobody */
	const struct usk_sink *also;	 /* the caller's; its start() and keep() are not called */
	bool placed;			 /* both clocks have an estimate: judge's maps */
	bool keep;			 /* all messages, for estimators that need them */
	struct usk_msg *msg;
	size_t n_msgs, cap_msgs;
	struct usk_counts counts;
	struct usk_evidence evidence;
	enum usk_status status;
	struct usk_err *err;
};

/** A reading that only judges, as recorded; the caller sets what else is wanted. */
struct reading usk_reading_of(struct pair_source *s, struct usk_err *err);
/** What it counted, into the pair. */
void usk_reading_recorded(const struct reading *r, struct usk_pair *pair);

/* What happens around the reading of each of several pairs. */
struct reading_plan {
	void *ctx;
	/* Before a pair's first message: what is wanted besides judging it as recorded. May be
	 * asked of all pairs before the first is finished. */
	void (*begin)(void *ctx, size_t pair, struct reading *r);
	/* After its last; what is left in r is freed. NULL: nothing. parallel: of several pairs at
	 * the same time. */
	enum usk_status (*finish)(void *ctx, size_t pair, struct reading *r, struct usk_err *err);
	bool parallel;
};

/**
 * The messages of these pairs, each once: pair[n] are numbers of p's pairs, rising. Tables are read
 * once for all of them, captures pair by pair.
 */
enum usk_status usk_readings(struct parties *p, const uint32_t *pair, size_t n,
			     const struct reading_plan *plan, struct usk_err *err);
/** Bytes that this takes. */
uint64_t usk_readings_size(const struct parties *p, const uint32_t *pair, size_t n);

/** One more of them. */
void usk_suspect(struct suspects *s, size_t pair, struct usk_msg *msg);
/** They become what was recorded, and s is freed: reads pairs with a minimum delay once more, as
 * others need no look. */
enum usk_status usk_readings_name(struct parties *p, struct suspects *s, struct usk_err *err);

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
	bool bounded;	 /* both directions, and not contradicted */
	size_t too_many; /* so many more that contradict it may not be left out */
	struct usk_witness witness;
	struct usk_counts found;
};

/* Takes what a pair's messages allow; it is freed afterwards. */
typedef enum usk_status usk_gathered_take(void *ctx, size_t pair, struct gathered *g,
					  struct usk_err *err);

/**
 * Read all pairs until their messages fit, or too many would have to go: then none is left out. All
 * that are not yet settled are read together. Writes out[pair]: qualities, counts, delays as
 * recorded, outliers and contradictions; the last may come after take(). out may be NULL.
 */
enum gather_how {
	GATHER = 0,
	GATHER_KEEP = 1,     /* all messages, of as many pairs at a time as memory allows */
	GATHER_PARALLEL = 2, /* take() may be called for several pairs at the same time */
};
enum usk_status usk_gather(struct parties *p, unsigned how, struct usk_pair *out,
			   usk_gathered_take *take, void *ctx, struct usk_err *err);
/** What usk_gather() put into out[n]. */
void usk_gathered_wrong_free(struct usk_pair *out, size_t n);
void usk_gathered_free(struct gathered *g);
/** As estimators get it; borrowed. */
struct usk_fit usk_gathered_fit(const struct gathered *g, const struct pair_source *s);

#endif
