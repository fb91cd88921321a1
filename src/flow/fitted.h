/* SPDX-License-Identifier: MIT */
/*
 * fitted.h - what is kept of a pair: its points, and its own answer
 */
#ifndef USK_FLOW_FITTED_H
#define USK_FLOW_FITTED_H

#include "flow/reading.h"
#include "solve/solve.h"

struct fitted {
	struct usk_part part;
	struct usk_clock clock; /* b against a; no name, no path */
	struct usk_witness witness;
	struct usk_counts found;
	char *failed; /* why the method has no answer for it, and `middle` stands in; NULL */
};

/** Does the graph solve it? If asked for, or needed: pairs know nothing of stated ties, and have no
 * answer of their own then. */
bool usk_flow_by_graph(const struct parties *p);
/** Fit b against a: fills pair and out. */
enum usk_status usk_pair_fit(const struct pair_source *s, struct gathered *g, struct usk_pair *pair,
			     struct fitted *out, struct usk_err *err);
void usk_fitted_free(struct fitted *f);

/**
 * Judge the corrected messages of all pairs: inversions, too fast ones and the smallest delays,
 * into c's pairs and evaluation. Where what is kept of a pair proves that all of its messages are
 * in order none is read again; the others are, and all of them if the caller wants the messages.
 * Messages that are out of order are put in order then, by moving estimates once more.
 *
 * fitted[n], tie[n]  by number of the pair
 * problem            if the graph solved it: then it does so again, with these messages
 */
enum usk_status usk_judge_corrected(struct parties *p, const struct fitted *fitted,
				    struct usk_tie *tie, struct usk_graph_problem *problem,
				    struct usk_clocks *c, struct usk_err *err);

/** A sentence, if two traces or interfaces of a clock do not look like one clock's; malloc'ed, or
 * NULL. May read them again. */
char *usk_flow_apart(const struct parties *p, const struct fitted *fitted, uint32_t clock);

/** Sentences on what is not bounded, and why; on what went wrong with single pairs. */
void usk_flow_explain(struct usk_clocks *c, const struct parties *p, const struct fitted *fitted);

#endif
