/* SPDX-License-Identifier: MIT */
/*
 * reading.h - messages of pairs read: once, or as often as wrong ones have to go
 */
#ifndef USK_FLOW_READING_H
#define USK_FLOW_READING_H

#include "fit/fit.h"
#include "graph/graph.h"
#include "flow/flow.h"
#include "flow/kept.h"
#include "judge/judge.h"

/* A message that is known by its point alone. */
struct suspected {
	uint32_t pair;
	struct usk_msg moved_msg; /* as the corridor knows it */
	struct usk_msg *msg;	  /* who it is, once found */
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
	int64_t moved_ns;		       /* the longest of these */
	struct usk_judge judge;
	bool watch; /* keep delay samples */
	struct usk_delay_samples samples;
	const struct suspects *suspects; /* sorted by pair and moved_msg; NULL: nobody */
	struct usk_kept *kept;		 /* keeps them for the caller; NULL: nobody does */
	const struct usk_sink *also;	 /* the caller's; its start() and keep() are not called */
	bool judged;			 /* that was done before: they are handed over only */
	bool placed;			 /* both clocks have an estimate: judge's maps */
	bool published;			 /* they are of stamps, also where clocks have logs */
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
/** What p->kept has of all pairs, to the sink that begin() sets; nothing is finished. */
enum usk_status usk_readings_kept(struct parties *p, const struct reading_plan *plan,
				  struct usk_err *err);
/** Bytes that usk_readings() takes. */
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
	int64_t moved_ns;    /* the longest of these */
	struct usk_msg *msg; /* if they are to be kept; sorted as usk_fit asks for it */
	size_t n_msgs;
	bool bounded;	 /* both directions, and not contradicted */
	size_t too_many; /* so many more that contradict it may not be left out */
	struct usk_delay_samples samples;
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

/* ---- broadcasts of all clocks (together.c) ---- */

/** What they say, for estimators that ask; two clocks need no such look. */
enum usk_status usk_flow_group(struct parties *p, struct usk_err *err);

/* ---- the round trips of a pair, and the smallest of them ---- */

struct trips {
	struct usk_trip *trip; /* free() it */
	size_t n;
};

/**
 * The round trips that one clock of the pair began, in the order in which it did. Of those that
 * share an answer, only the latest is used: the others would be the same evidence again, and
 * margins are made from how many there are.
 */
struct trips usk_trips_by(const struct usk_fit *fit, const struct pair_source *s, uint32_t asker);
/** All of both, in order. */
struct trips usk_trips_merge(const struct trips *a, const struct trips *b);

/** The smallest per pair of lengths, for the most frequent ones; sorts t by lengths. */
void usk_trips_lengths(struct trips t[2], const struct pair_source *s, struct usk_calibrated *out);
/** The smallest per protocol and interfaces: reads the messages again. */
enum usk_status usk_trips_ways(const struct usk_fit *fit, struct pair_source *s,
			       struct usk_calibrated *out, struct usk_err *err);

/* ---- what is kept of a pair: its points, and its own answer ---- */

struct fitted {
	struct usk_part part;
	struct usk_knot *line; /* b against a as the method drew it; NULL: `middle`, or it failed */
	size_t n_line;
	struct usk_delay_samples samples;
	struct usk_counts found;
	size_t too_many;      /* so many more wrong messages may not be left out */
	size_t astray;	      /* see usk_coarse */
	const char *drawn_by; /* the method that drew it in the place of that asked, static; NULL */
	struct usk_point *hull[2]; /* of floors and ceilings as recorded, if somebody asks */
	size_t n_hull[2];
	char *failed; /* why the method has no answer for it, and `middle` stands in; NULL */
};

/** What is kept of a pair's messages: fills pair and out. */
enum usk_status usk_pair_fit(const struct pair_source *s, struct gathered *g, struct usk_pair *pair,
			     struct fitted *out, struct usk_err *err);
void usk_fitted_free(struct fitted *f);

/**
 * Solve, and judge the corrected messages of all pairs: inversions, too fast ones and the smallest
 * delays, into c's pairs and evaluation. Where what is kept of a pair proves that all of its
 * messages are in order none is read again; the others are, and all of them if the caller wants the
 * messages. Messages that are out of order become constraints, and all is solved again: this ends,
 * as messages are finitely many.
 *
 * fitted[n]  by number of the pair;  problem  its `more` is written
 */
enum usk_status usk_judge_corrected(struct parties *p, const struct fitted *fitted,
				    struct usk_graph_problem *problem, struct usk_clocks *c,
				    struct usk_err *err);

/** Do a pair's points stand for what was dropped, by the knots of its two clocks? (thinned.c) */
struct usk_thinned *usk_thinned_new(const struct usk_frame *f, const struct usk_clock *a,
				    const struct usk_clock *b);
void usk_thinned_free(struct usk_thinned *t);
/** By how many ns at most a message has less room that was dropped for the point at b's stamp x
 * and a's stamp u, both less the frame's origin. Cheap where points come in order. */
long double usk_thinned_lacks(struct usk_thinned *t, int64_t x, int64_t u);

/** A sentence, if two traces or interfaces of a clock do not look like one clock's; malloc'ed, or
 * NULL. May read them again. */
char *usk_flow_apart(const struct parties *p, const struct fitted *fitted, uint32_t clock);

/** Sentences on what is not bounded, and why; on what went wrong with single pairs. */
void usk_flow_explain(struct usk_clocks *c, const struct parties *p, const struct fitted *fitted);

#endif
