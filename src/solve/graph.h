/* SPDX-License-Identifier: MIT */
/*
 * graph.h - clocks and the messages between them as a graph
 *
 * An arc leads from a clock to another that it exchanged messages with; every tie is two of them.
 * Islands are connected by messages in any direction and whatever they say. Parts of an island are
 * strongly connected: there are messages from each clock to each other one, if by way of others.
 * Paths go along ties that hold, by which clocks are bounded.
 */
#ifndef USK_SOLVE_GRAPH_H
#define USK_SOLVE_GRAPH_H

#include "solve/solve.h"

struct usk_arc {
	uint32_t to, tie;
	bool turned;	      /* `to` is the tie's a: its link has to be turned round on this way */
	bool sends, receives; /* there are messages to `to`, from `to` */
	bool holds;	      /* the tie is bounded, or one-sided at least */
};

struct usk_graph {
	size_t n_clocks;
	size_t *first; /* [n_clocks + 1]: where each clock's arcs begin, sorted by `to` */
	struct usk_arc *arc;
	const bool *odd; /* paths by way of such a clock only if there is no other; may be NULL */
};

struct usk_graph usk_graph_of(const struct usk_tie *tie, size_t n, size_t n_clocks);
void usk_graph_free(struct usk_graph *g);

/** Numbers each clock's island by the order of their smallest clocks; returns how many. */
size_t usk_graph_islands(const struct usk_graph *g, uint32_t *island);

/**
 * Numbers each clock's strongly connected part, likewise. Ties that do not hold do not count, nor
 * do clocks with leave_out[i] (may be NULL), each a part of its own.
 */
size_t usk_graph_parts(const struct usk_graph *g, const bool *leave_out, uint32_t *part);

/* How far a clock is: ties in one direction only weigh more than any others. */
struct usk_way {
	uint64_t one_way;  /* such ties on the path, and odd clocks */
	usk_i128 width_ns; /* sum of the others' weights */
	uint32_t hops;
	uint32_t from; /* the clock before it on its path; USK_NO_CLOCK: the origin, or no path */
	uint32_t arc;  /* in graph.arc: from `from` to it */
	bool reached;
};

static inline int usk_way_cmp(const struct usk_way *a, const struct usk_way *b)
{
	if (a->reached != b->reached) {
		return a->reached ? -1 : 1;
	}
	if (a->one_way != b->one_way) {
		return a->one_way < b->one_way ? -1 : 1;
	}
	if (a->width_ns != b->width_ns) {
		return a->width_ns < b->width_ns ? -1 : 1;
	}
	return (a->hops > b->hops) - (a->hops < b->hops);
}

/**
 * Shortest paths from a clock to all others (Dijkstra 1959); the same every time: of equal ones
 * that by way of smaller numbers.
 *
 * weight[tie]  ns, >= 0; of ties in both directions
 * within       only clocks with part[i] == within; part NULL: all
 * way[n]       out
 */
void usk_graph_paths(const struct usk_graph *g, const int64_t *weight, uint32_t origin,
		     const uint32_t *part, uint32_t within, struct usk_way *way);

/** The clocks from the origin to one, both included; n = 0: it is not reached. free() it. */
uint32_t *usk_way_path(const struct usk_way *way, uint32_t clock, size_t *n);

#endif
