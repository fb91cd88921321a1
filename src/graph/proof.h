/* SPDX-License-Identifier: MIT */
/*
 * proof.h - bounds as facts that follow from each other: what nodes.c, derive.c, chords.c and
 * proof.c share
 *
 * A fact bounds a clock's offset at one of its stamps, or its rate, and follows from earlier facts
 * by one rule (doc/proof.md). Side 0 is the lower bound with its sign turned, so that on both sides
 * a bound is an upper one, and less says more.
 */
#ifndef USK_GRAPH_PROOF_H
#define USK_GRAPH_PROOF_H

#include "graph/graph.h"
#include "num/ratio.h"

#define USK_E18	    ((usk_i128)1000000000000000000)
#define USK_NO_FACT UINT32_MAX

enum usk_rule {
	USK_BY_REFERENCE, /* what its own clock shows */
	USK_BY_MESSAGE,	  /* a: bound of the other end; why: edge */
	USK_BY_CONE,  /* a: where the cone begins; why: a rate, or USK_NO_FACT, the skew limit */
	USK_BY_CHORD, /* a, b: bounds of one calm stretch before and behind */
	USK_BY_PAIR,  /* a rate: of this side's bound a, and the other side's b before it */
	USK_BY_SUM,   /* why: of messages and bounds */
};

struct usk_fact {
	usk_i128 at; /* offset, 10^-12 ns; a rate: slope of the offset, 10^-18 */
	uint32_t node, a, b, why;
	uint8_t rule, side;
	bool used;
	uint32_t number; /* among those that are written */
};

/* A stamp of a clock. */
struct usk_node {
	int64_t x;
	uint32_t clock;
	uint32_t run;	    /* what has one rate: a clock, or of `segments` a calm stretch */
	uint32_t best[2];   /* fact; USK_NO_FACT */
	bool knot;	    /* the band bends there */
	bool calm, bounded; /* up to the next one: its rate is the clock's; within the skew limit */
	bool fell;	    /* not bounded, but its offset fell and never rose */
};

/* A message, by nodes; received: as recorded, node `to` may be later. */
struct usk_proof_edge {
	uint32_t from, to;
	int64_t received_ns;
	int64_t least_ns; /* it took so much, at least */
	uint32_t number;  /* among those that are written */
	bool used;
};

/* Messages, each so often in so many, and bounds of what they leave of offsets. */
struct usk_sum {
	int64_t scale;
	uint32_t *edge;
	int64_t *often;
	size_t n;
	uint32_t *bound; /* facts */
	size_t n_bounds;
};

struct usk_stamps {
	int64_t *x;
	size_t n, cap;
};

struct usk_prove {
	const struct usk_clocks *c;
	const struct usk_graph_problem *p;
	struct usk_node *node; /* grouped by clock, by stamps */
	uint32_t n;
	uint32_t *first; /* [clocks + 1] */
	struct usk_proof_edge *edge;
	size_t n_edges, cap_edges;
	struct usk_fact *fact;
	size_t n_facts, cap_facts;
	struct usk_sum *sum;
	size_t n_sums, cap_sums;
	uint32_t n_runs;
	uint32_t *rate[2]; /* by run: the fact of its largest slope, of its least with its sign
			      turned; USK_NO_FACT: the skew limit */
	struct usk_stamps *more; /* by clock: where bounds are wanted, too */
	bool wanting;		 /* that might help */
	bool moved, failed;	 /* failed: bounds cross, so nothing follows */
};

/** Nodes and edges. */
void usk_prove_build(struct usk_prove *x);
/** Does a clock's stamp mean one moment, and is anything known of it? */
bool usk_provable(const struct usk_prove *x, uint32_t k);
/** One more stamp of a clock at which bounds are wanted. */
void usk_prove_want(struct usk_stamps *s, int64_t at);
/** A clock's node at a stamp, or the last one before. */
uint32_t usk_prove_node(const struct usk_prove *x, uint32_t k, int64_t at);
/** Facts as good as they get: x->fact, and the best of each node. */
void usk_derive(struct usk_prove *x);
/** One more fact, if it says more than what is known of a node. */
void usk_derived(struct usk_prove *x, struct usk_fact f);
/** The largest slope of side's bound going on (back: of it going back), 10^-18. */
usk_i128 usk_prove_slope(const struct usk_prove *x, uint32_t run, int side, bool back);
/** Facts by chords, of all calm stretches of a clock. */
void usk_prove_chords(struct usk_prove *x, uint32_t clock);
/** Facts of a clock's rate, or rates. */
void usk_prove_rates(struct usk_prove *x, uint32_t clock);
/** Facts of knots by messages of all clocks together, if these keep one rate each. */
void usk_prove_sums(struct usk_prove *x);
void usk_sum_free(struct usk_sum *s);
/** What the wander of a clock adds in the middle of a chord over d ns, by the share of both parts:
 * at node e of i and j. */
usk_i128 usk_prove_chord(const struct usk_prove *x, uint32_t i, uint32_t e, uint32_t j, int side);

static inline usk_i128 usk_prove_best(const struct usk_prove *x, uint32_t i, int side)
{
	return x->fact[x->node[i].best[side]].at;
}

static inline bool usk_prove_known(const struct usk_prove *x, uint32_t i, int side)
{
	return x->node[i].best[side] != USK_NO_FACT;
}

/* What a slope of 10^-18 makes of a distance, 10^-12 ns, rounded up. */
static inline usk_i128 usk_prove_rise(usk_i128 d, usk_i128 slope)
{
	return usk_ceil_div(d * slope, 1000000);
}

#endif
