/* SPDX-License-Identifier: MIT */
/*
 * fitted.h - what is kept of a pair: its points, and its own answer
 */
#ifndef USK_FLOW_FITTED_H
#define USK_FLOW_FITTED_H

#include "flow/reading.h"
#include "graph/graph.h"

struct fitted {
	struct usk_part part;
	struct usk_knot *line; /* b against a as the method drew it; NULL: `middle`, or it failed */
	size_t n_line;
	struct usk_witness witness;
	struct usk_counts found;
	size_t too_many; /* so many more wrong messages may not be left out */
	char *failed;	 /* why the method has no answer for it, and `middle` stands in; NULL */
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
