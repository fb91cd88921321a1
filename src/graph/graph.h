/* SPDX-License-Identifier: MIT */
/*
 * graph.h - messages of all pairs -> one clock per machine
 *
 * In    every pair's points; what else ties clocks (a table of sources)
 * Out   islands, references, every clock's knots with band and estimate, jumps, disturbed stretches
 * Why   all that is known is one system of difference constraints on T(e), the reference's time at
 *       event e: a simple temporal network (Dechter, Meiri and Pearl 1991). Bounds are shortest
 *       paths, contradictions negative cycles, and a step belongs to a clock, not to a pair
 * Not   reading, matching, what single pairs look like (fit/)
 *
 *     islands     clocks that messages tie, each set a problem of its own
 *     build       events and edges from the sources; runs of each clock
 *     moments     what all clocks show at one time, roughly: ticks, the order of sweeps
 *     disturbed   where a pair shows that a clock was set or slewed
 *     propagate   shortest and longest paths from the reference (sweep): hi and lo of every event
 *     rates       each clock's constant rate from its bounds, by turns with these
 *     pairwise    what pairs say by their own rates, far from the reference
 *     straight    clocks of constant rates: the polygon of lines, a linear program
 *     conflict    breaks from what pairs show (reference: what the reference did); negative cycles
 *                 and their repair (cycles)
 *     curve       the likeliest course of a pair
 *     estimate    one time for each event, in order (settle), inside the bounds
 *     repeated    but not of stamps that were shown twice
 *     ends        and of events that are bounded on one side
 *     publish     knots, few enough, whose chords hold the bounds (gates, knots, hold); jumps
 *     written     what these put out of order nevertheless: solved with once more
 *     proof       which messages and stretches imply an answer's bounds (derive, chords)
 */
#ifndef USK_GRAPH_GRAPH_H
#define USK_GRAPH_GRAPH_H

#include "fit/fit.h"
#include "fit/estimator.h"

/* A manual tie: when a showed a_ns, b showed b_ns, give or take within_ns. */
struct usk_graph_anchor {
	uint32_t a, b;
	int64_t a_ns, b_ns, within_ns;
};

/*
 * What is stated of clocks beside their messages, as constraints: T_from(from_ns) <= T_to(to_ns), by
 * unwrapped stamps, rounding and margins on the safe side. Rows of one number are one statement,
 * which is left out whole, with a note, if messages or other statements contradict it.
 */
struct usk_stated {
	uint32_t from, to;
	int64_t from_ns, to_ns;
	int64_t width_ns; /* the statement leaves +- this open; USK_NONE: it bounds one side only */
	uint32_t number;  /* of the statement, from 0 */
	const char *noun; /* static, and its option: "anchor" */
};

/** An anchor as its two rows. */
void usk_stated_anchor(const struct usk_graph_anchor *a, uint32_t number, struct usk_stated row[2]);

/* Where a clock's records tell that it was set back: last stamp before and first one after, on
 * its unwrapped time. */
struct usk_graph_back {
	const struct usk_gap *gap;
	size_t n;
};

struct usk_graph_span {
	int64_t first_ns, last_ns;
};

/* A pair of clocks that exchanged messages. */
struct usk_graph_pair {
	uint32_t a, b; /* numbers of clocks: reference side, local side of part */
	const struct usk_part *part;
	uint64_t messages[2];	     /* a to b, b to a */
	int64_t least_ns[2];	     /* the minimum delay that a's stamps in part allow for */
	const struct usk_knot *line; /* b against a as an estimator drew it; NULL: none did */
	size_t n_line;
	int64_t residual_ns; /* Er of its line; 0: none */
	bool astray; /* what was matched may be of one time only of a clock that is of two at once: it bounds nothing */
	size_t too_many; /* so many outliers are not left out: it contradicts itself; 0: no limit */
	size_t n_outliers; /* Out: so many of its pair's outliers were added, the last ones */
};

/* A message that was received no more than early_ns before it was sent, by stamps that are likely;
 * less than 0: as long after it, at least. */
struct usk_likely {
	struct usk_msg msg;
	int64_t early_ns;
};

/* How a clock's knots came out: the same sum, the same share of its width. */
struct usk_drawn {
	uint64_t sum; /* of what they rest on; 0: nothing was drawn */
	int64_t share;
};

struct usk_graph_problem {
	struct usk_model model;
	int64_t max_skew_e12;
	uint32_t reference; /* the clock that was asked for; USK_NO_CLOCK: the best */
	bool by_residual;   /* the best reference and shortest paths go by Er, not by half widths */
	bool tree;	    /* messages along shortest paths only */
	bool paths;	    /* `linear` without the linear program */
	struct usk_graph_pair *pair;
	size_t n_pairs;
	const struct usk_stated *stated;
	size_t n_stated;
	/* Messages that points did not stand for, to be put in order too. */
	const struct usk_msg *more;
	size_t n_more;
	/* Messages whose stamps are likely so: the estimate is asked to have them in order. */
	const struct usk_likely *likely;
	size_t n_likely;
	const struct usk_graph_span *span; /* [n_clocks]: first and last event of each */
	const struct usk_graph_back *back; /* [n_clocks] */
	/* [n_clocks] Does the order of one capture tell where it was set back? For proofs. */
	const bool *told;
	unsigned threads; /* 0: as many as there are processors; the answer is the same */
	void (*progress)(void *ctx, double done, const char *what); /* may be NULL */
	void *progress_ctx;
	size_t n_notes; /* Out: so many notes were added, the last ones */
	/* [2 n_clocks] What was drawn when it was solved before, so that it need not be sought again;
	 * zeroed at first. NULL: that is not kept. */
	struct usk_drawn *drawn;
};

/**
 * Solve all clocks of c.
 *
 * c  in: clock[] with name and resolution_ns, pair[]. Out: each clock's quality, reference, path,
 *    drift, knots, jumps, stretches, slopes, wander; island, solve, how; notes are added. Clocks
 *    that nothing ties to another are absent, each an island of its own.
 *
 * Never fails: weak or contradictory data is a quality of the answer. Calling it again, with more
 * messages to put in order, replaces what it wrote, if nobody added notes or outliers meanwhile. A
 * contradiction that stands in a pair already is left as it is. The answer is the same with any
 * number of threads. Memory: some 130 bytes an event.
 */
void usk_graph_solve(struct usk_clocks *c, struct usk_graph_problem *p);

/**
 * What implies the bounds of an answer that p has: the text of doc/proof.md, to be freed. Rates and
 * wander are taken to be as the answer states. Of clocks that were set back in their records there
 * is none. Some 80 bytes for each time that a bound was narrowed, a few for each event.
 */
char *usk_graph_prove(const struct usk_clocks *c, const struct usk_graph_problem *p);

/** A pair by itself: b's clock against a, without name and path; free its knots, jumps and
 * stretches. */
void usk_graph_alone(const struct usk_fit *fit, struct usk_clock *out);

/* ---- what a pair shows by itself (disturbed.c) ------------------------------------------------
 */

/* In stamps of both clocks of a pair; INT64_MIN, INT64_MAX: no message of it says since when, until when (conflict.c ends
 * such with the clock's record). */
struct usk_within {
	int64_t b0_ns, b1_ns, a0_ns, a1_ns;
};

/* A stretch of a pair that no clock explains whose rate is calm: something happened in it. */
struct usk_bracket {
	int64_t b0_ns, b1_ns;	   /* stamps of b around it, as in usk_within */
	int64_t a0_ns, a1_ns;	   /* and of a */
	int64_t from_ns, to_ns;	   /* stamps of b of the points that show it */
	bool rises;		   /* the offset rose, or fell */
	bool step;		   /* by more than the skew limit allows: not a slew */
	bool doubted;		   /* outliers say so: they are wrong, or the clock was set */
	bool both;		   /* or it did the other one */
	bool returned;		   /* it was set there and back, if it was a step at all */
	bool open;		   /* at an end, and by more than the time to what it contradicts */
	bool falls;		   /* what a shows, in the order of b's stamps */
	bool slew;		   /* several steps, which may have been one slew */
	int64_t least_ns, most_ns; /* by so much, for a step; USK_NONE: unknown */
	int64_t at_once_ns;	   /* then the most that one of them was by; 0: unknown */
	int64_t once_ns; /* no step: by no more than this at one moment, either way; USK_NONE: unknown */
	int64_t flight_ns; /* who was under way meanwhile was so for no longer, if a was set back */
	bool slewed;	   /* one slew may have been all of it: */
	struct usk_within slew_in; /* then it may have gone on within these, if nobody was set */
};

/** Is it known by how much? */
static inline bool usk_bracket_sized(const struct usk_bracket *b)
{
	return b->least_ns != USK_NONE && b->most_ns != USK_NONE;
}

struct usk_calm {
	int64_t wander_e12; /* outside brackets the rate is constant within this */
	int64_t needed_e12; /* and would be with no less, outside them */
	struct usk_bracket *bracket;
	size_t n_brackets;
	struct usk_suspect
		*outlier; /* who contradicts what lies before and behind; sorted by time */
	size_t n_outliers;
	struct usk_bracket *doubt; /* what was if outliers are right, those left out before too */
	size_t n_doubts;
	size_t *explained; /* of those left out before, by number: brackets say as much */
	size_t n_explained;
	/* Of its own outliers, and of those left out before: brackets say of so many what happened, or may have. */
	size_t n_known[2];
	bool stepped_at_end; /* outliers would be too many, if those at ends were not right */
	bool contradicted;   /* nothing explains it: a step at every turn */
	struct usk_point point[2];
	bool ceiling[2]; /* two of its messages that contradict each other */
};

/* What the clocks of a pair may do. */
struct usk_calm_model {
	int64_t wander_e12; /* of each */
	int clocks;	    /* so many of both may: 1 if one is the reference, else 2 */
	int64_t max_skew_e12;
	bool own_rates; /* a rate of its own for each stretch */
	/* Outliers are sought at both ends too, if all are no more than these; but with rates of
	 * their own a last stretch is as good as any. */
	size_t at_ends;
	/* What happened if outliers are right is asked where fewer than these are unexplained. */
	size_t doubted_below;
};

/* A clock that is seen to be slewed is steered by a daemon, which corrects by less, unseen: its
 * rate is within this, whatever was assumed (doc/guarantees.md has the measurements). */
#define USK_STEERED_E12 INT64_C(5000000)

/**
 * What disturbed a pair, under a wander of at least what the model says. Outliers: fewer messages
 * than a step there and back costs, that contradict both what comes before them and what comes
 * behind. known_a, known_b: breaks that are known from records. O(n log n) where something
 * happened, else O(n log h).
 */
void usk_calm_of(const struct usk_part *p, const struct usk_calm_model *m,
		 const struct usk_graph_back *known_a, const struct usk_graph_back *known_b,
		 struct usk_calm *out);
void usk_calm_free(struct usk_calm *c);
/** Is what is assumed enough for messages that need so much, and nothing else was seen? */
bool usk_calm_holds(const struct usk_calm_model *m, int64_t needed_e12);
/* By how much the offset may have risen from the one to the other, and did if the fastest messages
 * of a direction, floors and ceilings, took as long before as behind; USK_NONE: unknown. */
struct usk_rise {
	int64_t least_ns, most_ns;
	int64_t likely_ns[2];
};

/* Rates are free within the skew limit for so long on either side of a bracket: slews have tails
 * that no message shows (doc/guarantees.md has the measurements). */
#define USK_MARGIN_NS INT64_C(60000000000)

#endif
