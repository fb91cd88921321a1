/* SPDX-License-Identifier: MIT */
/*
 * compare.h - estimators side by side
 */
#ifndef USK_COMPARE_H
#define USK_COMPARE_H

#include "fit/estimator.h"

/* What one estimator says of a pair, judged by the pair's messages (Ashton 1995, section 6.1). */
struct usk_method_score {
	const struct usk_estimator *method;
	char *failed;	       /* why it has no answer, a sentence: then nothing else holds; NULL */
	const char *drawn_by;  /* the method that drew it in its place, static; NULL */
	struct usk_knot *line; /* as drawn, not settled into the band; lo_ns, hi_ns are USK_NONE */
	size_t n_knots;
	int64_t b_ns;	       /* b's stamp when a shows the pair's a_ns, rounded down; */
	int32_t b_ps;	       /* the rest in thousandths, 0 to 999 */
	double beta_minus_one; /* rate of b against a less 1, by the outer knots */
	uint64_t corrected_inversions;
	struct usk_violations too_fast;
	uint64_t too_fast_a_to_b, too_fast_b_to_a;
	struct usk_delays a_to_b, b_to_a; /* by the line */
	struct usk_difference broadcasts; /* of broadcasts, by the line */
	bool by_exchanges;		  /* its line is least squares through exchanges: */
	struct usk_round_trips trips;
	double seconds; /* that it took, once messages were sorted, exchanges found and hulls made
			 */
};

struct usk_compared_pair {
	uint32_t a, b; /* indices into the names of clocks; a is the reference side */
	uint64_t a_to_b, b_to_a;
	enum usk_quality quality;
	int64_t a_ns; /* middle of a's stamps in the messages, rounded down; USK_NONE */
	uint64_t recorded_inversions;
	struct usk_delays recorded_a_to_b, recorded_b_to_a;
	struct usk_difference broadcasts_recorded;
	int64_t half_best_ns, half_worst_ns, half_mean_ns; /* of the model's band; USK_NONE */
	uint64_t hull_a_to_b, hull_b_to_a;		   /* messages on the two half hulls */
	struct usk_margin *margin;	/* of exchanges, of many the extremes; sorted by T1 */
	size_t n_margins, exchanges;	/* exchanges: all of them */
	bool margins_by_b;		/* b's clock stamped T1, else a's */
	struct usk_method_score *score; /* one per method */
};

/* What a method leaves wrong over all pairs that it has an answer for. */
struct usk_method_total {
	const struct usk_estimator *method;
	size_t answers;
	uint64_t messages, recorded_inversions, corrected_inversions;
	struct usk_violations too_fast;
	struct usk_difference broadcasts;
};

struct usk_comparison {
	struct usk_model model;
	int64_t max_skew_e12;
	char **clock; /* names */
	size_t n_clocks;
	struct usk_counts counts;
	struct usk_compared_pair *pair;
	size_t n_pairs;
	struct usk_method_total *total; /* [n_methods] */
	size_t n_methods;
	int64_t half_best_ns, half_worst_ns, half_mean_ns; /* over all pairs; USK_NONE */
	struct usk_difference broadcasts_recorded;	   /* likewise */
	char **note;					   /* sentences for the user */
	size_t n_notes;
};

/**
 * Match once, then let estimators draw their lines through the same messages, and judge each line
 * as it is. Pairs, and messages that are left out as outliers, are those of usk_sync(). Where no
 * line of the model fits, those that need none still have an answer.
 *
 * method[n_methods]  rows of the table of estimators; n_methods 0: all of them
 * opt                may be NULL; its method does not matter
 * Memory             the messages of one pair, 32 bytes each, and what the estimators need
 */
enum usk_status usk_compare(struct usk_trace *const *trace, size_t n,
			    const struct usk_sync_options *opt,
			    const struct usk_estimator *const *method, size_t n_methods,
			    struct usk_comparison **out, struct usk_err *err);
void usk_comparison_free(struct usk_comparison *c);

#endif
