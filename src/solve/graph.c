/* SPDX-License-Identifier: MIT */
/*
 * graph.c - islands, strongly connected parts, shortest paths
 */
#include "solve/graph.h"

#include <stdlib.h>

static void put_arc(struct usk_graph *g, size_t *fill, uint32_t from, struct usk_arc arc)
{
	g->arc[fill[from]++] = arc;
}

static int by_to(const void *pa, const void *pb)
{
	const struct usk_arc *a = pa, *b = pb;
	return a->to != b->to ? (a->to > b->to) - (a->to < b->to)
			      : (a->tie > b->tie) - (a->tie < b->tie);
}

struct usk_graph usk_graph_of(const struct usk_tie *tie, size_t n, size_t n_clocks)
{
	struct usk_graph g = { .n_clocks = n_clocks };
	g.first = usk_alloc(n_clocks + 1, sizeof *g.first);
	g.arc = usk_alloc(2 * n + 1, sizeof *g.arc);
	for (size_t i = 0; i < n; i++) {
		g.first[tie[i].a + 1]++;
		g.first[tie[i].b + 1]++;
	}
	for (size_t i = 0; i < n_clocks; i++) {
		g.first[i + 1] += g.first[i];
	}
	size_t *fill = usk_alloc(n_clocks + 1, sizeof *fill);
	for (size_t i = 0; i < n_clocks; i++) {
		fill[i] = g.first[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct usk_tie *t = &tie[i];
		enum usk_quality q = t->fitted->quality;
		bool holds = (q == USK_BOUNDED || q == USK_ONE_SIDED) && t->fitted->n_knots >= 2;
		bool ahead = t->messages[0] > 0, back = t->messages[1] > 0;
		put_arc(&g, fill, t->a, (struct usk_arc){ t->b, i, false, ahead, back, holds });
		put_arc(&g, fill, t->b, (struct usk_arc){ t->a, i, true, back, ahead, holds });
	}
	free(fill);
	for (size_t i = 0; i < n_clocks; i++) {
		qsort(g.arc + g.first[i], g.first[i + 1] - g.first[i], sizeof *g.arc, by_to);
	}
	return g;
}

void usk_graph_free(struct usk_graph *g)
{
	free(g->first);
	free(g->arc);
	*g = (struct usk_graph){ 0 };
}

size_t usk_graph_islands(const struct usk_graph *g, uint32_t *island)
{
	uint32_t *todo = usk_alloc(g->n_clocks + 1, sizeof *todo), count = 0;
	for (size_t i = 0; i < g->n_clocks; i++) {
		island[i] = USK_NO_CLOCK;
	}
	for (uint32_t i = 0; i < g->n_clocks; i++) {
		if (island[i] != USK_NO_CLOCK) {
			continue;
		}
		size_t n = 0;
		todo[n++] = i;
		island[i] = count;
		while (n) {
			uint32_t at = todo[--n];
			for (size_t k = g->first[at]; k < g->first[at + 1]; k++) {
				uint32_t to = g->arc[k].to;
				if (island[to] == USK_NO_CLOCK) {
					island[to] = count;
					todo[n++] = to;
				}
			}
		}
		count++;
	}
	free(todo);
	return count;
}

/* ---- strongly connected parts (Tarjan 1972, with a stack of its own) ----------------- */

struct tarjan {
	const struct usk_graph *g;
	const bool *leave_out;
	uint32_t *index, *low, *stack; /* index 0: not seen yet */
	bool *on_stack;
	size_t n_stack;
	uint32_t next;
	struct frame {
		uint32_t clock;
		size_t arc;
	} * frame;
	size_t n_frames;
};

static void enter(struct tarjan *t, uint32_t clock)
{
	t->index[clock] = t->low[clock] = t->next++;
	t->stack[t->n_stack++] = clock;
	t->on_stack[clock] = true;
	t->frame[t->n_frames++] = (struct frame){ clock, t->g->first[clock] };
}

static bool counts(const struct tarjan *t, const struct frame *f, const struct usk_arc *a)
{
	return a->sends && a->holds &&
	       !(t->leave_out && (t->leave_out[f->clock] || t->leave_out[a->to]));
}

static void visit(struct tarjan *t, uint32_t root, uint32_t *part)
{
	enter(t, root);
	while (t->n_frames) {
		struct frame *f = &t->frame[t->n_frames - 1];
		uint32_t at = f->clock;
		if (f->arc < t->g->first[at + 1]) {
			const struct usk_arc *a = &t->g->arc[f->arc++];
			if (!counts(t, f, a)) {
				continue;
			}
			if (!t->index[a->to]) {
				enter(t, a->to);
			} else if (t->on_stack[a->to] && t->index[a->to] < t->low[at]) {
				t->low[at] = t->index[a->to];
			}
			continue;
		}
		t->n_frames--;
		if (t->n_frames) {
			uint32_t parent = t->frame[t->n_frames - 1].clock;
			t->low[parent] = t->low[at] < t->low[parent] ? t->low[at] : t->low[parent];
		}
		if (t->low[at] == t->index[at]) {
			uint32_t member;
			do {
				member = t->stack[--t->n_stack];
				t->on_stack[member] = false;
				part[member] = at; /* renumbered later */
			} while (member != at);
		}
	}
}

size_t usk_graph_parts(const struct usk_graph *g, const bool *leave_out, uint32_t *part)
{
	size_t n = g->n_clocks;
	struct tarjan t = { .g = g, .leave_out = leave_out, .next = 1 };
	t.index = usk_alloc(n + 1, sizeof *t.index);
	t.low = usk_alloc(n + 1, sizeof *t.low);
	t.stack = usk_alloc(n + 1, sizeof *t.stack);
	t.on_stack = usk_alloc(n + 1, sizeof *t.on_stack);
	t.frame = usk_alloc(n + 1, sizeof *t.frame);
	for (uint32_t i = 0; i < n; i++) {
		if (!t.index[i]) {
			visit(&t, i, part);
		}
	}
	uint32_t count = 0, *number = t.index;
	for (size_t i = 0; i < n; i++) {
		number[i] = USK_NO_CLOCK;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t root = part[i];
		number[root] = number[root] == USK_NO_CLOCK ? count++ : number[root];
		part[i] = number[root];
	}
	free(t.index);
	free(t.low);
	free(t.stack);
	free(t.on_stack);
	free(t.frame);
	return count;
}

/* ---- shortest paths --------------------------------------------------------------------- */

struct heap {
	struct entry {
		struct usk_way way;
		uint32_t clock;
	} * entry;
	size_t n, cap;
};

static bool before(const struct entry *a, const struct entry *b)
{
	int c = usk_way_cmp(&a->way, &b->way);
	return c ? c < 0 : a->clock < b->clock;
}

static void push(struct heap *h, struct entry e)
{
	if (h->n == h->cap) {
		h->cap = h->cap ? 2 * h->cap : 64;
		h->entry = usk_grow(h->entry, h->cap, sizeof *h->entry);
	}
	size_t i = h->n++;
	for (; i && before(&e, &h->entry[(i - 1) / 2]); i = (i - 1) / 2) {
		h->entry[i] = h->entry[(i - 1) / 2];
	}
	h->entry[i] = e;
}

static struct entry pop(struct heap *h)
{
	struct entry top = h->entry[0], last = h->entry[--h->n];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
		child += child + 1 < h->n && before(&h->entry[child + 1], &h->entry[child]);
		if (!before(&h->entry[child], &last)) {
			break;
		}
		h->entry[i] = h->entry[child];
	}
	h->entry[i] = last;
	return top;
}

void usk_graph_paths(const struct usk_graph *g, const int64_t *weight, uint32_t origin,
		     const uint32_t *part, uint32_t within, struct usk_way *way)
{
	struct heap h = { 0 };
	for (size_t i = 0; i < g->n_clocks; i++) {
		way[i] = (struct usk_way){ .from = USK_NO_CLOCK };
	}
	way[origin].reached = true;
	push(&h, (struct entry){ way[origin], origin });
	while (h.n) {
		struct entry e = pop(&h);
		if (usk_way_cmp(&e.way, &way[e.clock]) > 0) {
			continue;
		}
		for (size_t k = g->first[e.clock]; k < g->first[e.clock + 1]; k++) {
			const struct usk_arc *a = &g->arc[k];
			if (!a->holds || (part && part[a->to] != within)) {
				continue;
			}
			bool both = a->sends && a->receives;
			bool avoid = g->odd && g->odd[e.clock] && e.clock != origin;
			struct usk_way next = { .one_way = e.way.one_way + !both + avoid,
						.width_ns = e.way.width_ns +
							    (both ? weight[a->tie] : 0),
						.hops = e.way.hops + 1,
						.from = e.clock,
						.arc = (uint32_t)k,
						.reached = true };
			int c = usk_way_cmp(&next, &way[a->to]);
			if (c < 0) {
				way[a->to] = next;
				push(&h, (struct entry){ next, a->to });
			} else if (!c && a->to != origin && next.from < way[a->to].from) {
				way[a->to].from = next.from;
				way[a->to].arc = next.arc;
			}
		}
	}
	free(h.entry);
}

uint32_t *usk_way_path(const struct usk_way *way, uint32_t clock, size_t *n)
{
	*n = way[clock].reached ? way[clock].hops + 1 : 0;
	uint32_t *path = usk_alloc(*n + 1, sizeof *path);
	for (size_t k = *n; k-- > 0; clock = way[clock].from) {
		path[k] = clock;
	}
	return path;
}
