/* SPDX-License-Identifier: MIT */
/*
 * intervals.c - for each interval of the trace the path that is best there
 *
 * In    links along the paths that are best in the middle of the trace, ties whose rates change
 * Out   links that are as narrow as any of the paths that are best somewhere; which these are
 * Why   a pair that was cut into segments has one that is wide, where its messages were slow or
 *       few: Clement takes the shortest path of each interval
 * Not   which way jumps go (tree.c): along the paths of the whole trace
 *
 * The band of every path is true at all times, so they are intersected, everywhere. The estimate is
 * that of the best path at the middle of an interval, and goes from one to the next in between.
 */
#include "fit/fit.h"
#include "solve/intervals.h"
#include "solve/times.h"

#include <stdlib.h>
#include <string.h>

/* So many intervals at most, as each is a tree of all clocks; longer ones then. */
static size_t intervals_most(size_t n_clocks)
{
	return n_clocks <= 10 ? 64 : n_clocks <= 50 ? 16 : 4;
}

struct intervals {
	struct usk_island_work *w;
	size_t n, n_clocks;
	int64_t *border;      /* [n - 1], by the reference */
	int64_t *middle;      /* [n] */
	struct usk_way **way; /* [n] */
	/* Of the interval that is looked at, and of the one before: */
	struct usk_link *now, *before;
};

/* ---- which ------------------------------------------------------------------------------------
 */

/* Where any pair was cut. */
static void cuts(const struct usk_island_work *w, struct usk_times *t)
{
	const struct usk_graph *g = w->graph;
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = g->first[w->clock[i]]; k < g->first[w->clock[i] + 1]; k++) {
			const struct usk_arc *a = &g->arc[k];
			const struct usk_tie *tie = &w->tie[a->tie];
			for (size_t j = 0; j < tie->fitted->n_jumps && a->holds && !a->turned;
			     j++) {
				const struct usk_jump *x = &tie->fitted->jump[j];
				usk_i128 both = (usk_i128)x->after_local_ns + x->before_local_ns;
				usk_times_add(t, usk_tree_time(g, w->tie, w->way, tie->b,
							       (int64_t)usk_floor_div(both, 2),
							       w->opt->max_skew_e12));
			}
		}
	}
}

static void choose(struct intervals *v)
{
	const struct usk_island_work *w = v->w;
	struct usk_times t = { 0 };
	struct usk_span all;
	usk_tree_span(w->graph, w->tie, w->opt->span, w->weight, w->reference, w->opt->max_skew_e12,
		      &all);
	int64_t length = w->opt->model.segment_ns;
	usk_i128 most = (usk_i128)intervals_most(w->n);
	if (length > 0) {
		usk_i128 run = (usk_i128)all.last_ns - all.first_ns;
		usk_i128 times = usk_ceil_div(run, most * length);
		usk_i128 step = length * (times > 1 ? times : 1);
		for (usk_i128 x = all.first_ns + step; x < all.last_ns; x += step) {
			usk_times_add(&t, (int64_t)x);
		}
	} else {
		cuts(w, &t);
	}
	usk_times_settle(&t);
	size_t every = t.n / (size_t)most + 1;
	v->border = usk_alloc(t.n + 1, sizeof *v->border);
	v->n = 1;
	for (size_t i = every - 1; i < t.n; i += every) {
		if (t.x[i] > all.first_ns && t.x[i] < all.last_ns) {
			v->border[v->n++ - 1] = t.x[i];
		}
	}
	free(t.x);
	v->middle = usk_alloc(v->n, sizeof *v->middle);
	for (size_t k = 0; k < v->n; k++) {
		usk_i128 from = k ? v->border[k - 1] : all.first_ns;
		usk_i128 to = k + 1 < v->n ? v->border[k] : all.last_ns;
		v->middle[k] = (int64_t)usk_floor_div(from + to, 2);
	}
}

static void find_ways(struct intervals *v)
{
	struct usk_island_work *w = v->w;
	size_t ties = w->n_ties;
	int64_t *weight = usk_alloc(ties + 1, sizeof *weight);
	v->way = usk_alloc(v->n, sizeof(struct usk_way *));
	for (size_t k = 0; k < v->n; k++) {
		memcpy(weight, w->weight, ties * sizeof *weight);
		usk_tree_weigh_at(w->graph, w->tie, w->reference, v->middle[k],
				  w->opt->max_skew_e12, weight);
		v->way[k] = usk_alloc(v->n_clocks, sizeof **v->way);
		usk_graph_paths(w->graph, weight, w->reference, NULL, 0, v->way[k]);
	}
	free(weight);
}

static bool same_path(const struct usk_way *a, const struct usk_way *b, uint32_t i)
{
	while (a[i].from != USK_NO_CLOCK && a[i].from == b[i].from && a[i].arc == b[i].arc) {
		i = a[i].from;
	}
	return a[i].from == USK_NO_CLOCK && b[i].from == USK_NO_CLOCK;
}

/* Is a clock better served by more than one path, or by another? */
static bool changes(const struct intervals *v, uint32_t i)
{
	bool same = true;
	for (size_t k = 0; k < v->n && same; k++) {
		same = same_path(v->w->way, v->way[k], i);
	}
	return !same;
}

/* ---- links ------------------------------------------------------------------------------------
 */

static bool complete(const struct usk_link *l)
{
	return l->n && l->has[USK_LOWER] && l->has[USK_MIDDLE] && l->has[USK_UPPER];
}

/* Links of all clocks along the ways of interval k, into now; those so far into before. */
static void go_to(struct intervals *v, size_t k)
{
	struct usk_island_work *w = v->w;
	struct usk_link *last = v->before;
	v->before = v->now;
	v->now = last;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t c = w->clock[i];
		const struct usk_link *old = &v->before[c];
		usk_link_free(&v->now[c]);
		if (k && old->n && same_path(v->way[k - 1], v->way[k], c)) {
			v->now[c] = usk_link_of(old->knot, old->n, old->skew_e12);
			memcpy(v->now[c].has, old->has, sizeof old->has);
		}
	}
	usk_tree_links(w->graph, w->tie, w->opt->span, v->way[k], w->reference,
		       w->opt->max_skew_e12, usk_knots_most(w->n), v->now);
}

/* What is made of a clock. */
struct weaving {
	uint32_t clock;
	int64_t *middle; /* [n], by the clock */
	struct usk_link band, line;
	size_t cap;
	bool failed;
};

static void add_knot(struct weaving *x, int64_t local, usk_i128 time)
{
	struct usk_link *l = &x->line;
	const struct usk_knot *last = l->n ? &l->knot[l->n - 1] : NULL;
	if (last && last->local_ns >= local) {
		return;
	}
	if (last && time < (usk_i128)last->local_ns + last->offset_ns) {
		time = (usk_i128)last->local_ns + last->offset_ns; /* never falls */
	}
	l->knot = usk_room(l->knot, l->n, &x->cap, sizeof *l->knot);
	l->knot[l->n++] = (struct usk_knot){ local, usk_cut(time - local), USK_NONE, USK_NONE, 0 };
}

/* The estimate from one middle to the next: from a's to b's. */
static void weave(struct weaving *x, const struct usk_link *a, const struct usk_link *b,
		  int64_t from, int64_t to)
{
	struct usk_times t = { 0 };
	usk_hint at[2] = { 0 };
	const struct usk_link *both[2] = { a, b };
	usk_times_add(&t, from);
	usk_times_add(&t, to);
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < both[k]->n; i++) {
			int64_t local = both[k]->knot[i].local_ns;
			if (local > from && local < to) {
				usk_times_add(&t, local);
			}
		}
	}
	usk_times_settle(&t);
	for (size_t i = 0; i < t.n; i++) {
		usk_i128 y = usk_link_at(a, USK_MIDDLE, t.x[i], &at[0]);
		usk_i128 more = usk_link_at(b, USK_MIDDLE, t.x[i], &at[1]) - y;
		usk_i128 run = (usk_i128)to - from, so_far = (usk_i128)t.x[i] - from;
		add_knot(x, t.x[i], y + (run > 0 ? usk_floor_div(more * so_far, run) : 0));
	}
	free(t.x);
}

static void take(const struct intervals *v, struct weaving *x, size_t k)
{
	const struct usk_link *now = &v->now[x->clock], *before = &v->before[x->clock];
	const struct usk_span *span = &v->w->opt->span[x->clock];
	if (!complete(now)) {
		x->failed = true;
		return;
	}
	struct usk_link met = usk_link_meet(&x->band, now);
	usk_link_free(&x->band);
	usk_link_thin(&met, 4 * usk_knots_most(v->w->n));
	x->band = met;
	if (!k && x->middle[0] > span->first_ns) {
		weave(x, now, now, span->first_ns, x->middle[0]);
	} else if (k) {
		weave(x, before, now, x->middle[k - 1], x->middle[k]);
	}
	if (k + 1 == v->n && x->middle[k] < span->last_ns) {
		weave(x, now, now, x->middle[k], span->last_ns);
	}
}

/* The clock's new link. */
static void finish(struct intervals *v, struct weaving *x)
{
	const struct usk_span *span = &v->w->opt->span[x->clock];
	if (!x->failed && x->line.n > 1) {
		x->band.has[USK_MIDDLE] = false;
		x->line.has[USK_MIDDLE] = true;
		x->line.skew_e12 = x->band.skew_e12;
		usk_link_smooth(&x->line, 1);
		struct usk_link with = usk_link_meet(&x->band, &x->line);
		usk_link_crop(&with, span->first_ns, span->last_ns);
		usk_link_thin(&with, usk_knots_most(v->w->n));
		usk_link_free(&v->w->link[x->clock]);
		v->w->link[x->clock] = with;
		v->w->moved = true;
	}
	usk_link_free(&x->band);
	usk_link_free(&x->line);
	free(x->middle);
}

/* ---- for the user ------------------------------------------------------------------------------
 */

static void tell(const struct intervals *v, uint32_t i)
{
	const struct usk_island_work *w = v->w;
	struct usk_clock *c = &w->c->clock[i];
	const struct usk_span *span = &w->opt->span[i];
	int64_t *local = usk_alloc(v->n, sizeof *local);
	usk_tree_locals(w->graph, w->tie, w->way, i, v->border, v->n - 1, w->opt->max_skew_e12,
			local);
	c->route = usk_alloc(v->n, sizeof *c->route);
	for (size_t k = 0; k < v->n; k++) {
		int64_t from = k ? local[k - 1] : span->first_ns;
		int64_t to = k + 1 < v->n ? local[k] : span->last_ns;
		if (c->n_routes && same_path(v->way[k - 1], v->way[k], i)) {
			c->route[c->n_routes - 1].to_ns = to;
		} else {
			struct usk_route *x = &c->route[c->n_routes++];
			*x = (struct usk_route){ .from_ns = from, .to_ns = to };
			x->path = usk_way_path(v->way[k], i, &x->n_path);
		}
	}
	free(local);
}

void usk_island_intervals(struct usk_island_work *w)
{
	struct intervals v = { .w = w, .n_clocks = w->graph->n_clocks };
	choose(&v);
	find_ways(&v);
	v.now = usk_alloc(v.n_clocks, sizeof *v.now);
	v.before = usk_alloc(v.n_clocks, sizeof *v.before);
	struct weaving *x = usk_alloc(w->n, sizeof *x);
	size_t n = 0;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t c = w->clock[i];
		const struct usk_link *l = &w->link[c];
		if (c == w->reference || !complete(l) || !changes(&v, c)) {
			continue;
		}
		x[n] = (struct weaving){ .clock = c,
					 .band = usk_link_of(l->knot, l->n, l->skew_e12) };
		x[n].middle = usk_alloc(v.n, sizeof *x[n].middle);
		usk_tree_locals(w->graph, w->tie, w->way, c, v.middle, v.n, w->opt->max_skew_e12,
				x[n++].middle);
	}
	for (size_t k = 0; k < v.n && n; k++) {
		go_to(&v, k);
		for (size_t i = 0; i < n; i++) {
			take(&v, &x[i], k);
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (!x[i].failed) {
			tell(&v, x[i].clock);
		}
		finish(&v, &x[i]);
	}
	for (size_t k = 0; k < v.n; k++) {
		free(v.way[k]);
	}
	for (size_t i = 0; i < v.n_clocks; i++) {
		usk_link_free(&v.now[i]);
		usk_link_free(&v.before[i]);
	}
	free(x);
	free(v.now);
	free(v.before);
	free(v.way);
	free(v.border);
	free(v.middle);
}
