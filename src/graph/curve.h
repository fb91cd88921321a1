/* SPDX-License-Identifier: MIT */
/*
 * curve.h - the likeliest course of a pair
 */
#ifndef USK_GRAPH_CURVE_H
#define USK_GRAPH_CURVE_H

#include "graph/graph.h"

/**
 * b against a as their fastest messages say: knots that rise in time, as those that an estimator
 * draws. Each stretch between brackets, and between what the clocks' records tell of them, has its
 * own. NULL if messages go one way only; else free() it. O(n log n).
 */
struct usk_knot *usk_pair_curve(const struct usk_part *p, const struct usk_calm *calm,
				const struct usk_graph_back *back_a,
				const struct usk_graph_back *back_b, size_t *n);

#endif
