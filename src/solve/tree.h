/* SPDX-License-Identifier: MIT */
/*
 * tree.h - clocks against their reference by way of others
 */
#ifndef USK_SOLVE_TREE_H
#define USK_SOLVE_TREE_H

#include "solve/graph.h"
#include "solve/link.h"

/** A tie's own answer as a link, borrowed from it. */
struct usk_link usk_tie_link(const struct usk_tie *t, int64_t max_skew_e12);

/**
 * When the island's trace begins and ends by the origin: the earliest and the latest event of its
 * clocks, odd ones left out, mapped along ties. span[n_clocks]; weight[n ties]: any will do.
 */
void usk_tree_span(const struct usk_graph *g, const struct usk_tie *tie,
		   const struct usk_span *span, const int64_t *weight, uint32_t origin,
		   int64_t max_skew_e12, struct usk_span *span_out);

/**
 * What each tie weighs at a time of the origin: half its band. weight[n ties] is written where the
 * tie is of the island that the origin is in; in: any will do.
 */
void usk_tree_weigh_at(const struct usk_graph *g, const struct usk_tie *tie, uint32_t origin,
		       int64_t time_ns, int64_t max_skew_e12, int64_t *weight);

/** The same at the middle of the island's trace. */
void usk_tree_weigh(const struct usk_graph *g, const struct usk_tie *tie,
		    const struct usk_span *span, uint32_t origin, int64_t max_skew_e12,
		    int64_t *weight);

/** A time of a clock on the origin, by the estimates along its way or whatever there is. */
int64_t usk_tree_time(const struct usk_graph *g, const struct usk_tie *tie,
		      const struct usk_way *way, uint32_t clock, int64_t local_ns,
		      int64_t max_skew_e12);

/** The reverse for times that do not fall: of the origin, local[n] of a clock, which do not either.
 */
void usk_tree_locals(const struct usk_graph *g, const struct usk_tie *tie,
		     const struct usk_way *way, uint32_t clock, const int64_t *time_ns, size_t n,
		     int64_t max_skew_e12, int64_t *local_ns);

/**
 * Links of all clocks against the origin along their ways, each with knots at its first and last
 * event, `most` at most; n = 0 where there is no way, or neither side of the band goes all of it.
 * A link that is there already stays.
 */
void usk_tree_links(const struct usk_graph *g, const struct usk_tie *tie,
		    const struct usk_span *span, const struct usk_way *way, uint32_t origin,
		    int64_t max_skew_e12, size_t most, struct usk_link *link);

/**
 * The jumps of a clock, and of the origin, as the pairs on its way tell them, into clock->jump;
 * sorted. parent has those of the clock before it on its way already.
 */
void usk_tree_jumps(const struct usk_arc *arc, const struct usk_tie *tie, uint32_t origin,
		    int64_t max_skew_e12, const struct usk_clock *parent, struct usk_clock *clock);

#endif
