/* SPDX-License-Identifier: MIT */
/*
 * cover.h - the fewest vertices that touch every edge of a bipartite graph
 */
#ifndef USK_NUM_COVER_H
#define USK_NUM_COVER_H

#include "base/base.h"

struct usk_edge {
	uint32_t left, right;
};

/**
 * A minimum vertex cover of e[n], whose ends are under n_side[0] and n_side[1], each edge once, in
 * any order (they are sorted). in[side][i] becomes true for those in it and false for the others.
 * Returns its size; if that is over most, most + 1, and `in` says nothing. A matching is as large
 * as the cover (Koenig 1931), so where a greedy one is over most the work ends at once.
 *
 * Cost: O(n sqrt(size)) (Hopcroft and Karp 1973).
 */
size_t usk_cover(struct usk_edge *e, size_t n, const size_t n_side[2], size_t most, bool *in[2]);

#endif
