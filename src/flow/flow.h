/* SPDX-License-Identifier: MIT */
/*
 * flow.h - the stages in a row: who takes part, one pair after the other, all clocks
 */
#ifndef USK_FLOW_H
#define USK_FLOW_H

#include "flow/delays.h"
#include "judge/judge.h"
#include "match/match.h"

/* A clock that takes part: the one of a capture, or one that tables name. */
struct party {
	char *name;
	size_t trace; /* its capture, SIZE_MAX if only tables name it */
	bool stamped; /* first and last are known */
	int64_t first_ns, last_ns;
	int64_t previous_ns; /* the stamp noted last */
	int64_t grid_ns;     /* gcd of stamp differences */
	uint64_t stamps;
	int64_t resolution_ns;
	struct usk_survey survey;
	struct usk_addr *stated; /* --local */
	size_t n_stated;
};

struct parties {
	struct usk_trace *const *trace;
	size_t n_traces;
	uint64_t *events; /* per trace */
	uint32_t **clock; /* per table: its numbers -> parties */
	struct party *party;
	size_t n;
	uint32_t depth;
	uint32_t reference;
	struct usk_model model;
	struct usk_counts left_out;
	struct delays delays;
	/* Work in bytes, for progress. */
	const struct usk_sync_options *opt;
	uint64_t work_done, work_all;
	const char *doing;
};

/** Pass 1 over every trace: names, spans, resolutions, samples. */
enum usk_status usk_parties_open(struct usk_trace *const *trace, size_t n,
				 const struct usk_sync_options *opt, struct parties *out,
				 struct usk_err *err);
void usk_parties_free(struct parties *p);
void usk_parties_progress(struct parties *p, uint64_t bytes);
/** What messages from one to the other need at least; NULL is 0. */
const struct usk_delay_model *usk_parties_delay(const struct parties *p, uint32_t from,
						uint32_t to);
/** A sentence on names that --min-delay's file has and no trace has; malloc'ed, NULL if none. */
char *usk_parties_delay_note(const struct parties *p);

/* The messages of one pair, which can be read as often as needed. */
struct pair_source {
	struct parties *parties;
	uint32_t a, b; /* parties; a is the reference side */
	struct usk_coarse coarse;
	struct usk_msg *exclude; /* left out in the next reading */
	size_t n_exclude;
};

/** Look how the two lie to each other; coarse.joins is 0 if they share nothing. */
enum usk_status usk_pair_open(struct parties *p, uint32_t a, uint32_t b, struct pair_source *out,
			      struct usk_err *err);
void usk_pair_close(struct pair_source *s);
/** Read every message; numbers in them are parties. counts and evidence may be NULL. */
enum usk_status usk_pair_read(struct pair_source *s, const struct usk_sink *sink,
			      struct usk_counts *counts, struct usk_evidence *evidence,
			      struct usk_err *err);

/** Fit b against a: fills pair and clock. */
enum usk_status usk_pair_fit(struct pair_source *s, struct usk_pair *pair, struct usk_clock *clock,
			     struct usk_counts *counts, struct usk_evaluation *evaluation,
			     struct usk_err *err);
/** What matching one pair found, added up over all. */
void usk_counts_add(struct usk_counts *to, const struct usk_counts *found);
/** Only count and measure, as recorded. */
enum usk_status usk_pair_check(struct pair_source *s, struct usk_pair *pair,
			       struct usk_counts *counts, struct usk_evaluation *evaluation,
			       struct usk_err *err);

/** Check the arguments and open the parties, two at least. */
enum usk_status usk_flow_open(struct usk_trace *const *trace, size_t n,
			      const struct usk_sync_options *opt, struct parties *out,
			      struct usk_err *err);
extern const struct usk_sync_options usk_sync_defaults;
/** Why a pair is not bounded and what would help, a sentence; NULL if it is. malloc'ed. */
char *usk_pair_explain(const struct usk_pair *p, const struct parties *parties,
		       const struct usk_counts *counts);

#endif
