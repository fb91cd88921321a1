/* SPDX-License-Identifier: MIT */
/*
 * paths.c - who is the reference, and which path leads from it to every clock
 *
 * In    pairs that exchanged messages
 * Out   paths along two-way pairs where there are any, then along narrow ones, or those of little
 *       residual deviation (Clement 2009, section 10)
 * Not   bounds: these need no way (propagate.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* How long a step is: whether messages go one way only, what it leaves open, hops. */
struct length {
	uint32_t one_way;
	uint32_t hops;
	usk_i128 width_ns;
};

static int compare(const struct length *a, const struct length *b)
{
	int order = usk_order(a->one_way, b->one_way);
	order = order ? order : (a->width_ns > b->width_ns) - (a->width_ns < b->width_ns);
	return order ? order : usk_order(a->hops, b->hops);
}

/* The least that ceilings of a pair are over floors beside them. */
static int64_t width_of(const struct usk_part *p)
{
	int64_t least = USK_TIME_MAX;
	for (size_t i = 0, j = 0; i < p->n[0] && j < p->n[1];) {
		int64_t gap = usk_saturate(-((usk_i128)p->point[0][i].y + p->point[1][j].y));
		least = gap > 0 && gap < least ? gap : least;
		if (p->point[0][i].x <= p->point[1][j].x) {
			i++;
		} else {
			j++;
		}
	}
	return least;
}

/* By Er, one that has none is far off: nothing else leads to its clocks. */
static void measure(void *ctx, size_t from, size_t to)
{
	struct usk_work *w = ctx;
	for (size_t i = from; i < to; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		w->distance[i] = !w->p->by_residual ? width_of(p->part)
				 : p->residual_ns   ? p->residual_ns
						    : USK_TIME_MAX;
	}
}

void usk_paths_measure(struct usk_work *w)
{
	w->distance = usk_grow(NULL, w->p->n_pairs + 1, sizeof *w->distance);
	usk_parallel(w->p->n_pairs, 16, w->p->threads, measure, w);
}

static void put_arc(struct usk_arc *out, size_t *at, uint32_t a, uint32_t b, struct usk_arc arc)
{
	const uint32_t both[] = { a, b };
	for (int k = 0; k < 2; k++) {
		arc.to = both[!k];
		if (out) {
			out[at[both[k]]] = arc;
		}
		at[both[k]]++;
	}
}

/* Puts each clock's arcs side by side; NULL: counts them. */
static void put_arcs(const struct usk_work *w, struct usk_arc *out, size_t *at)
{
	for (uint32_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		if (w->tied[i]) {
			put_arc(out, at, p->a, p->b,
				(struct usk_arc){ .pair = i,
						  .one_way = !p->part->n[0] || !p->part->n[1],
						  .width_ns = w->distance[i] });
		}
	}
	for (size_t i = 0; i < w->p->n_stated; i++) {
		const struct usk_stated *s = &w->p->stated[i];
		const bool one_way = s->width_ns == USK_NONE;
		put_arc(out, at, s->from, s->to,
			(struct usk_arc){ .pair = UINT32_MAX,
					  .one_way = one_way,
					  .width_ns = one_way ? 0 : s->width_ns });
	}
}

struct usk_arcs usk_arcs_of(const struct usk_work *w)
{
	size_t n = w->n_clocks, *at = usk_alloc(n + 1, sizeof *at);
	struct usk_arcs g = { usk_alloc(n + 2, sizeof *g.first), NULL };
	put_arcs(w, NULL, at);
	for (size_t i = 0; i < n; i++) {
		g.first[i + 1] = g.first[i] + at[i];
		at[i] = g.first[i];
	}
	g.arc = usk_alloc(g.first[n] + 1, sizeof *g.arc);
	put_arcs(w, g.arc, at);
	free(at);
	return g;
}

void usk_arcs_free(struct usk_arcs *g)
{
	USK_FREE(g->first, g->arc);
}

/* ---- shortest ways (Dijkstra), by a heap --------------------------------------------------------
 */

struct entry {
	struct length length;
	uint32_t clock;
};

struct heap {
	struct entry *entry;
	size_t n, cap;
};

static bool sooner(const struct entry *a, const struct entry *b)
{
	int c = compare(&a->length, &b->length);
	return c < 0 || (!c && a->clock < b->clock);
}

/* A clock whose length falls is put in once more; the older entry is passed over. */
static void push(struct heap *h, struct entry e)
{
	h->entry = usk_room(h->entry, h->n, &h->cap, sizeof *h->entry);
	USK_HEAP_PUT(h->entry, h->n, e, sooner);
	h->n++;
}

static uint32_t pop(struct heap *h)
{
	uint32_t top = h->entry[0].clock;
	h->n--;
	USK_HEAP_TAKE(h->entry, h->n, sooner);
	return top;
}

static struct length paths(const struct usk_work *w, const struct usk_arcs *g, uint32_t from,
			   struct usk_path *path)
{
	size_t n = w->c->n_clocks;
	struct length *key = usk_alloc(n, sizeof *key), sum = { 0, 0, 0 };
	bool *done = usk_alloc(n, sizeof *done);
	struct heap h = { .n = 0 };
	for (size_t i = 0; i < n; i++) {
		path[i] = (struct usk_path){ false, USK_NO_CLOCK, UINT32_MAX, 0 };
	}
	path[from].reached = true;
	push(&h, (struct entry){ sum, from });
	while (h.n) {
		uint32_t k = pop(&h);
		if (done[k]) {
			continue;
		}
		done[k] = true;
		path[k].hops = key[k].hops;
		sum.one_way += key[k].one_way;
		sum.hops += key[k].hops;
		/* One direction leaves everything open: how much more says nothing. */
		sum.width_ns += key[k].one_way ? 0 : key[k].width_ns;
		for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
			const struct usk_arc *a = &g->arc[i];
			struct length l = { key[k].one_way + a->one_way, key[k].hops + 1,
					    key[k].width_ns + a->width_ns };
			if (!done[a->to] &&
			    (!path[a->to].reached || compare(&l, &key[a->to]) < 0)) {
				path[a->to] = (struct usk_path){ true, k, a->pair, l.hops };
				key[a->to] = l;
				push(&h, (struct entry){ l, a->to });
			}
		}
	}
	USK_FREE(h.entry, key, done);
	return sum;
}

void usk_paths_of(const struct usk_work *w, uint32_t from, struct usk_path *path)
{
	struct usk_arcs g = usk_arcs_of(w);
	paths(w, &g, from, path);
	usk_arcs_free(&g);
}

uint32_t *usk_paths_outwards(const struct usk_work *w, const struct usk_path *path)
{
	size_t *at = usk_alloc(w->n_clocks + 2, sizeof *at);
	uint32_t *out = usk_alloc(w->n_clocks + 1, sizeof *out);
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		const struct usk_path *k = &path[i];
		at[(k->reached ? k->hops : w->n_clocks) + 1]++;
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		at[i + 1] += at[i];
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		const struct usk_path *k = &path[i];
		out[at[k->reached ? k->hops : w->n_clocks]++] = i;
	}
	free(at);
	return out;
}

/* In how many of its pairs something happened, and how often its records tell of it. */
static size_t brackets_of(const struct usk_work *w, uint32_t k)
{
	size_t n = w->p->back[k].n;
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		n += w->tied[i] && (p->a == k || p->b == k) && w->calm[i].n_brackets;
	}
	return n;
}

/* Of very many clocks those with the most partners are looked at. */
enum { CANDIDATES = 64 };

static size_t partners(const struct usk_arcs *g, uint32_t k)
{
	return g->first[k + 1] - g->first[k];
}

/* As many partners as this has a clock that may become the reference. */
static size_t partners_least(const struct usk_work *w, const struct usk_arcs *g)
{
	size_t least = 0;
	for (size_t n = w->n_clocks; n > CANDIDATES; least++) {
		n = 0;
		for (uint32_t i = 0; i < w->n_clocks; i++) {
			n += partners(g, i) > least;
		}
		if (!n) {
			return least;
		}
	}
	return least;
}

/* A clock that may become the reference. */
struct candidate {
	uint32_t clock;
	size_t disturbed;
	struct length sum;
};

struct choice {
	const struct usk_work *w;
	const struct usk_arcs *arcs;
	struct candidate *of;
};

static void judge(void *ctx, size_t from, size_t to)
{
	const struct choice *x = ctx;
	struct usk_path *path = usk_alloc(x->w->c->n_clocks, sizeof *path);
	for (size_t i = from; i < to; i++) {
		struct candidate *k = &x->of[i];
		k->disturbed = brackets_of(x->w, k->clock);
		k->sum = paths(x->w, x->arcs, k->clock, path);
	}
	free(path);
}

uint32_t usk_paths_reference(const struct usk_work *w)
{
	if (w->p->reference != USK_NO_CLOCK) {
		return w->p->reference;
	}
	struct usk_arcs g = usk_arcs_of(w);
	struct candidate of[4 * CANDIDATES], *best = of;
	size_t few = partners_least(w, &g), n = 0;
	for (uint32_t k = 0; k < w->n_clocks && n < COUNT(of); k++) {
		if (partners(&g, k) >= few) {
			of[n++].clock = k;
		}
	}
	usk_parallel(n, 1, w->n_clocks > CANDIDATES ? w->p->threads : 1, judge,
		     &(struct choice){ w, &g, of });
	for (struct candidate *k = of; k < of + n; k++) {
		if (k->disturbed < best->disturbed ||
		    (k->disturbed == best->disturbed && compare(&k->sum, &best->sum) < 0)) {
			best = k;
		}
	}
	usk_arcs_free(&g);
	return n ? best->clock : USK_NO_CLOCK;
}
