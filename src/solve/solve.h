/* SPDX-License-Identifier: MIT */
/*
 * solve.h - pairs of clocks -> one clock per machine
 *
 * In    every pair that exchanged messages: what its messages say, and its own answer
 * Out   islands, their references, paths, and every clock's knots against its reference
 * Why   most clocks never talk to the reference; and messages of all pairs together say more than
 *       a path through them
 * Not   reading, matching, the fit of a pair
 */
#ifndef USK_SOLVE_SOLVE_H
#define USK_SOLVE_SOLVE_H

#include "fit/model.h"

/* A pair of clocks as the solver gets it. */
struct usk_tie {
	uint32_t a, b; /* numbers of clocks: reference side, local side of part and fitted */
	/*
	 * What its messages say: a floor (t, l) that T_a(t + l) <= T_b(t), a ceiling (t, u) that
	 * T_b(t) <= T_a(t + u), weakened. Minimum delays are in a's stamps already.
	 */
	const struct usk_part *part;
	/* b against a by this pair alone, as usk_model_row.fit() left it: quality, drift, knots,
	 * jumps. Of one epoch: the time of a clock that was put back runs on here. Absent,
	 * contradicted: the pair ties nothing, and its part is not looked at. */
	const struct usk_clock *fitted;
	int64_t wander_e12;   /* used_e12 of its verdict; 0 for linear */
	uint64_t messages[2]; /* a to b, b to a, as matched */
	uint32_t pair;	      /* in usk_clocks.pair: gets the contradictions */
	/*
	 * Out: 0, or the cone that the corridor needs so that messages it has dropped are in order
	 * by the clocks' final rates: read again with this much to be sure of every message.
	 */
	int64_t kappa_e12;
	bool odd[2]; /* out: a, b is a clock that is solved behind the others */
};

/* The first and last event of a clock, by itself. */
struct usk_span {
	int64_t first_ns, last_ns;
};

struct usk_solve_options {
	struct usk_model model;
	int64_t max_skew_e12;
	uint32_t reference; /* the clock that was asked for; USK_NO_CLOCK: the best */
	bool tree;	    /* along shortest paths only; else all messages jointly */
	bool paths;	    /* jointly without the linear program */
	/* What a pair's messages were fitted with: `middle` is drawn anew for all clocks together,
	 * other methods' lines are composed along paths. NULL: middle. */
	const struct usk_estimator *method;
	const struct usk_span *span; /* [n_clocks] */
	unsigned threads; /* 0: as many as there are processors; the answer is the same */
	void (*progress)(void *ctx, double done, const char *what); /* may be NULL */
	void *progress_ctx;
};

/**
 * Solve all pairs of c.
 *
 * c        in: clock[] with name and resolution_ns, pair[]. Out: each clock's quality, reference,
 *          path, drift, knots, jumps; island, solve, how; sentences are added to note. Clocks
 *          that nothing ties to another are absent, each an island of its own.
 * tie[n]   of each two clocks one at most; kappa_e12 is written
 *
 * Islands are sorted by their smallest clock's number, the clocks in them too. What is
 * contradicted across clocks is an answer, not a failure: the odd one out is named in a note.
 * USK_ERANGE: a time over USK_TIME_MAX; USK_EINPUT: the answer failed its own check.
 */
enum usk_status usk_solve(struct usk_clocks *c, struct usk_tie *tie, size_t n,
			  const struct usk_solve_options *opt, struct usk_err *err);

#endif
