/* SPDX-License-Identifier: MIT */
/*
 * tree.c - clocks against their reference by way of others
 *
 * In    ways through the graph, pairs' own answers
 * Out   weights of ties, links to the reference, jumps
 * Why   a path of bands is a band: U of a chain is the U of one link after the other, so widths
 *       are never just added
 * Not   which ways (graph.c), messages off them (bounds.h)
 */
#include "solve/tree.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct usk_link usk_tie_link(const struct usk_tie *t, int64_t max_skew_e12)
{
	const struct usk_clock *k = t->fitted;
	/* Of a pair whose messages go one way one side, whatever its knots say of the other. */
	bool both = k->quality == USK_BOUNDED;
	struct usk_link l = { .knot = k->knot, .n = k->n_knots };
	l.has[USK_LOWER] = both || t->messages[0];
	l.has[USK_MIDDLE] = both;
	l.has[USK_UPPER] = both || t->messages[1];
	l.skew_e12 = max_skew_e12;
	for (size_t i = 0; i < l.n; i++) {
		const struct usk_knot *at = &k->knot[i];
		l.has[USK_LOWER] = l.has[USK_LOWER] && at->lo_ns != USK_NONE;
		l.has[USK_MIDDLE] = l.has[USK_MIDDLE] && at->offset_ns != USK_NONE;
		l.has[USK_UPPER] = l.has[USK_UPPER] && at->hi_ns != USK_NONE;
	}
	return l;
}

static enum usk_curve leading(const struct usk_link *l)
{
	return l->has[USK_MIDDLE] ? USK_MIDDLE : l->has[USK_UPPER] ? USK_UPPER : USK_LOWER;
}

/* ---- weights ------------------------------------------------------------------------ */

/* A time of one end of an arc as the other shows it, near enough to weigh by. */
static int64_t across(const struct usk_tie *t, bool to_a, int64_t at, int64_t max_skew_e12)
{
	struct usk_link l = usk_tie_link(t, max_skew_e12);
	usk_hint hint = 0;
	return to_a ? usk_link_at(&l, leading(&l), at, &hint)
		    : usk_link_back(&l, leading(&l), at, &hint);
}

/* The clocks that are reached, those nearer to the origin first. */
static uint32_t *by_hops(const struct usk_way *way, size_t n_clocks, size_t *n)
{
	uint32_t *order = usk_alloc(n_clocks + 1, sizeof *order);
	size_t *fill = usk_alloc(n_clocks + 2, sizeof *fill);
	*n = 0;
	for (size_t i = 0; i < n_clocks; i++) {
		fill[way[i].hops + 1] += way[i].reached;
		*n += way[i].reached;
	}
	for (size_t h = 1; h <= n_clocks; h++) {
		fill[h] += fill[h - 1];
	}
	for (uint32_t i = 0; i < n_clocks; i++) {
		if (way[i].reached) {
			order[fill[way[i].hops]++] = i;
		}
	}
	free(fill);
	return order;
}

static int64_t half_width(const struct usk_tie *t, int64_t local_ns, int64_t max_skew_e12)
{
	struct usk_link l = usk_tie_link(t, max_skew_e12);
	usk_hint hint = 0;
	if (!l.has[USK_LOWER] || !l.has[USK_UPPER]) {
		return 0;
	}
	usk_i128 width = (usk_i128)usk_link_at(&l, USK_UPPER, local_ns, &hint) -
			 usk_link_at(&l, USK_LOWER, local_ns, &hint);
	return usk_cut(usk_ceil_div(width > 0 ? width : 0, 2));
}

void usk_tree_span(const struct usk_graph *g, const struct usk_tie *tie,
		   const struct usk_span *span, const int64_t *weight, uint32_t origin,
		   int64_t max_skew_e12, struct usk_span *span_out)
{
	struct usk_way *way = usk_alloc(g->n_clocks, sizeof *way);
	size_t n;
	usk_graph_paths(g, weight, origin, NULL, 0, way); /* any will do */
	uint32_t *order = by_hops(way, g->n_clocks, &n);
	/* Upwards: when the trace begins and ends, by the origin. */
	int64_t *first = usk_alloc(g->n_clocks, sizeof *first);
	int64_t *last = usk_alloc(g->n_clocks, sizeof *last);
	for (size_t k = 0; k < n; k++) {
		first[order[k]] = span[order[k]].first_ns;
		last[order[k]] = span[order[k]].last_ns;
	}
	for (size_t k = n; k-- > 1;) {
		uint32_t i = order[k], up = way[i].from;
		if (g->odd && g->odd[i]) {
			continue;
		}
		const struct usk_arc *a = &g->arc[way[i].arc];
		int64_t from = across(&tie[a->tie], !a->turned, first[i], max_skew_e12);
		int64_t to = across(&tie[a->tie], !a->turned, last[i], max_skew_e12);
		first[up] = from < first[up] ? from : first[up];
		last[up] = to > last[up] ? to : last[up];
	}
	*span_out = (struct usk_span){ first[origin], last[origin] };
	free(first);
	free(last);
	free(order);
	free(way);
}

void usk_tree_weigh_at(const struct usk_graph *g, const struct usk_tie *tie, uint32_t origin,
		       int64_t time_ns, int64_t max_skew_e12, int64_t *weight)
{
	struct usk_way *way = usk_alloc(g->n_clocks, sizeof *way);
	int64_t *local = usk_alloc(g->n_clocks, sizeof *local);
	size_t n;
	usk_graph_paths(g, weight, origin, NULL, 0, way);
	uint32_t *order = by_hops(way, g->n_clocks, &n);
	local[origin] = time_ns;
	for (size_t k = 1; k < n; k++) {
		uint32_t i = order[k];
		const struct usk_arc *a = &g->arc[way[i].arc];
		local[i] = across(&tie[a->tie], a->turned, local[way[i].from], max_skew_e12);
	}
	for (size_t k = 0; k < n; k++) {
		uint32_t i = order[k];
		for (size_t j = g->first[i]; j < g->first[i + 1]; j++) {
			if (g->arc[j].holds && g->arc[j].turned) {
				weight[g->arc[j].tie] =
					half_width(&tie[g->arc[j].tie], local[i], max_skew_e12);
			}
		}
	}
	free(local);
	free(order);
	free(way);
}

void usk_tree_weigh(const struct usk_graph *g, const struct usk_tie *tie,
		    const struct usk_span *span, uint32_t origin, int64_t max_skew_e12,
		    int64_t *weight)
{
	struct usk_span all;
	usk_tree_span(g, tie, span, weight, origin, max_skew_e12, &all);
	int64_t middle = (int64_t)(((usk_i128)all.first_ns + all.last_ns) / 2);
	usk_tree_weigh_at(g, tie, origin, middle, max_skew_e12, weight);
}

int64_t usk_tree_time(const struct usk_graph *g, const struct usk_tie *tie,
		      const struct usk_way *way, uint32_t clock, int64_t local_ns,
		      int64_t max_skew_e12)
{
	for (; way[clock].from != USK_NO_CLOCK; clock = way[clock].from) {
		const struct usk_arc *a = &g->arc[way[clock].arc];
		local_ns = across(&tie[a->tie], !a->turned, local_ns, max_skew_e12);
	}
	return local_ns;
}

void usk_tree_locals(const struct usk_graph *g, const struct usk_tie *tie,
		     const struct usk_way *way, uint32_t clock, const int64_t *time_ns, size_t n,
		     int64_t max_skew_e12, int64_t *local_ns)
{
	size_t hops = way[clock].hops;
	const struct usk_arc **arc = usk_alloc(hops + 1, sizeof *arc);
	for (size_t h = hops; h-- > 0; clock = way[clock].from) {
		arc[h] = &g->arc[way[clock].arc];
	}
	memcpy(local_ns, time_ns, n * sizeof *local_ns);
	for (size_t h = 0; h < hops; h++) {
		struct usk_link l = usk_tie_link(&tie[arc[h]->tie], max_skew_e12);
		enum usk_curve c = leading(&l);
		usk_hint hint = 0;
		for (size_t k = 0; k < n; k++) {
			local_ns[k] = arc[h]->turned ? usk_link_at(&l, c, local_ns[k], &hint)
						     : usk_link_back(&l, c, local_ns[k], &hint);
			if (k && local_ns[k] < local_ns[k - 1]) {
				local_ns[k] = local_ns[k - 1];
			}
		}
	}
	free(arc);
}

/* ---- links ----------------------------------------------------------------------------- */

static struct usk_link step(const struct usk_tie *t, bool turned, const struct usk_span *span,
			    int64_t max_skew_e12)
{
	struct usk_link own = usk_tie_link(t, max_skew_e12);
	struct usk_link l = usk_link_of(own.knot, own.n, max_skew_e12);
	memcpy(l.has, own.has, sizeof l.has);
	if (turned) {
		struct usk_link back = usk_link_turn(&l, span->first_ns, span->last_ns);
		usk_link_free(&l);
		l = back;
	} else {
		usk_link_reach(&l, span->first_ns, span->last_ns);
	}
	return l;
}

void usk_tree_links(const struct usk_graph *g, const struct usk_tie *tie,
		    const struct usk_span *span, const struct usk_way *way, uint32_t origin,
		    int64_t max_skew_e12, size_t most, struct usk_link *link)
{
	size_t n;
	uint32_t *order = by_hops(way, g->n_clocks, &n);
	link[origin] = (struct usk_link){ .n = 0 };
	for (size_t k = 1; k < n; k++) {
		uint32_t i = order[k], up = way[i].from;
		const struct usk_arc *a = &g->arc[way[i].arc];
		struct usk_link l = { .n = 0 };
		if (link[i].n) {
			continue;
		}
		if (up == origin || link[up].n) {
			l = step(&tie[a->tie], a->turned, &span[i], max_skew_e12);
		}
		if (l.n && up != origin) {
			struct usk_link chained = usk_link_chain(&l, &link[up]);
			usk_link_free(&l);
			l = chained;
		}
		if (l.n && !l.has[USK_LOWER] && !l.has[USK_UPPER]) {
			usk_link_free(&l);
		}
		if (l.n) {
			usk_link_thin(&l, most);
		}
		link[i] = l;
	}
	free(order);
}

/* ---- jumps -------------------------------------------------------------------------------- */

static void add_jump(struct usk_clock *k, struct usk_jump j)
{
	size_t i = k->n_jumps++;
	k->jump = usk_grow(k->jump, k->n_jumps, sizeof *k->jump);
	for (; i && k->jump[i - 1].after_local_ns > j.after_local_ns; i--) {
		k->jump[i] = k->jump[i - 1];
	}
	k->jump[i] = j;
}

static int64_t negated(int64_t v)
{
	return v == USK_NONE ? USK_NONE : -v;
}

void usk_tree_jumps(const struct usk_arc *arc, const struct usk_tie *tie, uint32_t origin,
		    int64_t max_skew_e12, const struct usk_clock *parent, struct usk_clock *clock)
{
	struct usk_link l = usk_tie_link(tie, max_skew_e12);
	uint32_t number = arc->to;
	const enum usk_curve low = USK_LOWER, high = USK_UPPER;
	/* A bracket by another clock than the tie's own needs both sides. */
	bool both = l.has[USK_LOWER] && l.has[USK_UPPER];
	usk_hint at[2] = { 0 };
	bool direct = tie->a == origin || tie->b == origin;
	for (size_t i = 0; i < tie->fitted->n_jumps; i++) {
		struct usk_jump j = tie->fitted->jump[i];
		if (j.of != number && !(direct && j.of == origin)) {
			continue; /* the clock on the way jumped: its own link has it */
		}
		if (arc->turned && !both) {
			continue;
		}
		if (arc->turned) {
			int64_t after = usk_link_at(&l, low, j.after_local_ns, &at[0]);
			int64_t before = usk_link_at(&l, high, j.before_local_ns, &at[1]);
			int64_t least = negated(j.size_hi_ns);
			j.size_hi_ns = negated(j.size_lo_ns);
			j.size_lo_ns = least;
			j.after_local_ns = after;
			j.before_local_ns = before;
		}
		add_jump(clock, j);
	}
	for (size_t i = 0; !direct && both && i < parent->n_jumps; i++) {
		struct usk_jump j = parent->jump[i];
		if (j.of != origin) {
			continue;
		}
		j.after_local_ns = arc->turned ? usk_link_at(&l, low, j.after_local_ns, &at[0])
					       : usk_link_back(&l, high, j.after_local_ns, &at[0]);
		j.before_local_ns = arc->turned ? usk_link_at(&l, high, j.before_local_ns, &at[1])
						: usk_link_back(&l, low, j.before_local_ns, &at[1]);
		add_jump(clock, j);
	}
}
