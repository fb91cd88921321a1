/* SPDX-License-Identifier: MIT */
/*
 * net.h - messages among a few clocks as the graph gets them, and its answer
 */
#ifndef USK_TESTS_NET_H
#define USK_TESTS_NET_H

#include "graph/graph.h"

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define SKEW   INT64_C(500000000)

enum { MOST = 4000, CLOCKS = 4 };

/* Messages among a few clocks, their pairs, and the answer. */
struct net {
	struct usk_msg m[MOST];
	size_t n;
	uint32_t n_clocks;
	struct usk_model model;
	struct usk_gap back[CLOCKS]; /* where each was set back; before is after: nowhere */
	struct usk_stated stated[8];
	size_t n_stated;
	struct usk_likely likely[4]; /* the estimate is asked to have them in order */
	size_t n_likely;
	unsigned threads;
	bool twice;  /* solve, and solve again */
	bool astray; /* no pair's messages are to bound anything */
};

/** An anchor more. */
void state_anchor(struct net *net, struct usk_graph_anchor a);
void say(struct net *net, uint32_t from, uint32_t to, int64_t sent, int64_t received);
/** What was said between a and b, as a corridor remembers it; n: both directions. */
bool part_of(const struct net *net, uint32_t a, uint32_t b, struct usk_part *out, uint64_t n[2]);
/** First and last event of each clock, span[CLOCKS]. */
void net_span(const struct net *net, struct usk_graph_span *span);
/** Free with usk_clocks_free(). */
struct usk_clocks *solve(const struct net *net);

#endif
