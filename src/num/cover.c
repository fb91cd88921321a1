/* SPDX-License-Identifier: MIT */
/*
 * cover.c - the fewest vertices that touch every edge of a bipartite graph
 *
 * In    edges
 * Out   a minimum vertex cover
 * Why   of messages that contradict each other the fewest are wrong
 * Source  Hopcroft and Karp, SIAM Journal on Computing 2(4), 1973; Koenig 1931
 *
 * Edges of a left vertex stand together: first[v] to first[v + 1]. mate[side][v] is who v is
 * matched with. A phase numbers left vertices by their distance from the free ones along
 * alternating paths, then finds disjoint shortest paths to free right ones and turns them round.
 */
#include "num/cover.h"

#include <stdlib.h>

#define FREE UINT32_MAX

struct graph {
	const struct usk_edge *e;
	size_t *first; /* n_left + 1 */
	size_t *next;  /* the edge that a path through a left vertex tries */
	size_t n_left, n_right;
	uint32_t *mate[2];
	uint32_t *depth; /* of left vertices; FREE: not reached */
	uint32_t *queue;
	size_t size;
};

static int by_ends(const void *pa, const void *pb)
{
	const struct usk_edge *a = pa, *b = pb;
	if (a->left != b->left) {
		return a->left < b->left ? -1 : 1;
	}
	return (a->right > b->right) - (a->right < b->right);
}

static void match(struct graph *g, uint32_t left, uint32_t right)
{
	g->mate[0][left] = right;
	g->mate[1][right] = left;
}

static void greedy(struct graph *g, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (g->mate[0][g->e[i].left] == FREE && g->mate[1][g->e[i].right] == FREE) {
			match(g, g->e[i].left, g->e[i].right);
			g->size++;
		}
	}
}

/* Distances from free left vertices. Is there a free right one behind? */
static bool layer(struct graph *g)
{
	size_t head = 0, tail = 0;
	bool found = false;
	for (uint32_t v = 0; v < g->n_left; v++) {
		bool is_free = g->mate[0][v] == FREE && g->first[v] < g->first[v + 1];
		g->depth[v] = is_free ? 0 : FREE;
		g->next[v] = g->first[v];
		if (is_free) {
			g->queue[tail++] = v;
		}
	}
	while (head < tail) {
		uint32_t v = g->queue[head++];
		for (size_t i = g->first[v]; i < g->first[v + 1]; i++) {
			uint32_t u = g->mate[1][g->e[i].right];
			found |= u == FREE;
			if (u != FREE && g->depth[u] == FREE) {
				g->depth[u] = g->depth[v] + 1;
				g->queue[tail++] = u;
			}
		}
	}
	return found;
}

/* A path from a free left vertex to a free right one, turned round. The queue serves as stack. */
static bool augment(struct graph *g, uint32_t root)
{
	size_t n = 0;
	g->queue[n++] = root;
	while (n) {
		uint32_t v = g->queue[n - 1];
		if (g->next[v] == g->first[v + 1]) {
			g->depth[v] = FREE; /* leads nowhere */
			n--;
			continue;
		}
		uint32_t right = g->e[g->next[v]].right, u = g->mate[1][right];
		if (u != FREE) {
			if (g->depth[u] == g->depth[v] + 1) {
				g->queue[n++] = u;
			} else {
				g->next[v]++;
			}
			continue;
		}
		while (n--) {
			uint32_t w = g->queue[n];
			match(g, w, g->e[g->next[w]].right);
			g->depth[w] = FREE;
		}
		return true;
	}
	return false;
}

/* What alternating paths from free left vertices reach: left of that is not in the cover, right is.
 */
static void koenig(struct graph *g, bool *in[2])
{
	layer(g);
	for (uint32_t v = 0; v < g->n_right; v++) {
		in[1][v] = false;
	}
	for (uint32_t v = 0; v < g->n_left; v++) {
		in[0][v] = g->mate[0][v] != FREE && g->depth[v] == FREE;
		for (size_t i = g->first[v]; g->depth[v] != FREE && i < g->first[v + 1]; i++) {
			in[1][g->e[i].right] = true;
		}
	}
}

size_t usk_cover(struct usk_edge *e, size_t n, const size_t n_side[2], size_t most, bool *in[2])
{
	struct graph g = { .e = e, .n_left = n_side[0], .n_right = n_side[1] };
	if (n) {
		qsort(e, n, sizeof *e, by_ends);
	}
	g.first = usk_alloc(g.n_left + 1, sizeof *g.first);
	g.next = usk_alloc(g.n_left + 1, sizeof *g.next);
	g.depth = usk_alloc(g.n_left + 1, sizeof *g.depth);
	g.queue = usk_alloc(g.n_left + 1, sizeof *g.queue);
	for (size_t i = 0; i < n; i++) {
		g.first[e[i].left + 1]++;
	}
	for (size_t v = 0; v < g.n_left; v++) {
		g.first[v + 1] += g.first[v];
	}
	for (int side = 0; side < 2; side++) {
		g.mate[side] = usk_alloc(n_side[side] + 1, sizeof *g.mate[side]);
		for (size_t v = 0; v < n_side[side]; v++) {
			g.mate[side][v] = FREE;
		}
	}
	greedy(&g, n);
	while (g.size <= most && layer(&g)) {
		for (uint32_t v = 0; v < g.n_left; v++) {
			if (g.mate[0][v] == FREE && g.depth[v] == 0) {
				g.size += augment(&g, v);
			}
		}
	}
	if (g.size <= most) {
		koenig(&g, in);
	}
	free(g.first);
	free(g.next);
	free(g.depth);
	free(g.queue);
	free(g.mate[0]);
	free(g.mate[1]);
	return g.size <= most ? g.size : most + 1;
}
