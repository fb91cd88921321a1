/* SPDX-License-Identifier: MIT */
/*
 * pairwise.c - what a pair says by its own rates of its two clocks at one moment
 *
 * In    a pair's edges, wander of its clocks
 * Out   by how much T of a tick of the one is over T of the other's at least, and at most
 * Why   far from the reference a clock's rate is known badly, as bounds are wide; but two
 *       neighbours know the rate of each other as well as anywhere, and a path that goes from clock
 *       to clock at one moment asks for no more
 * Not   pairs of the reference (rates.c does the same), clocks that something happened to
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* A pair, by where the later one of its clocks is on the way out from the reference. */
struct near {
	uint32_t later, pair;
};

struct search {
	struct usk_work *w;
	const struct near *pair;     /* to look at */
	struct usk_pairwise **found; /* by pair to look at */
	size_t *n;
};

/* One constant rate from the first event to the last? */
static bool whole(const struct usk_work *w, uint32_t k)
{
	uint32_t i = w->first[k], last = w->first[k + 1] - 1;
	while (i < last && usk_cell_calm(w->cell[i])) {
		i++;
	}
	return i == last && w->run_of[last] == w->run_of[w->first[k]];
}

/* ---- the one's reading, by the other's stamps --------------------------------------------------
 */

/* A tick that both clocks have, by events. */
struct twin {
	uint64_t moment;
	uint32_t a, b;
	uint32_t at; /* of the events of the pair */
};

/* T of b less T of a's tick, as b is shown when a shows `reading`. false: too far to tell. */
static bool apart(const struct usk_run *r, usk_i128 reading, int64_t tick, bool most, usk_i128 *out)
{
	usk_i128 d = reading - usk_e12(tick), far = usk_e12(INT64_C(100000000000000));
	usk_i128 slope = most == (d > 0) ? r->fast_e12 : r->slow_e12;
	*out = d + (most ? usk_ceil_div(d * (d < far && -d < far ? slope : 0), USK_E12)
			 : usk_floor_div(d * (d < far && -d < far ? slope : 0), USK_E12));
	return d < far && -d < far;
}

/* Events of b that are ends of the pair's edges, or ticks of both: b's only clock is a. */
static size_t events_of(const struct usk_work *w, uint32_t a, uint32_t b, struct usk_work *own,
			struct twin *twin)
{
	struct usk_ticks_of ta = usk_ticks_of(w, a), tb = usk_ticks_of(w, b);
	unsigned f = ta.finer < tb.finer ? ta.finer : tb.finer;
	uint64_t tick = tb.begin >> (tb.finer - f);
	const uint64_t end = tb.end >> (tb.finer - f);
	int64_t at = usk_tick_at(w, b, f, tick);
	size_t n = 0;
	for (uint32_t i = w->first[b]; i < w->first[b + 1]; i++) {
		uint32_t p = w->peer[i], ea = USK_NO_EVENT;
		bool edge = p != USK_NO_EVENT && w->owner[p] == a;
		/* An anchor may be of a time long before and behind all ticks. */
		while (tick < end && w->x[i] > at) {
			at = usk_tick_at(w, b, f, ++tick);
		}
		if (w->x[i] == at) {
			int64_t x = usk_tick_at(w, a, f, tick++);
			at = usk_tick_at(w, b, f, tick);
			uint32_t e = usk_event_behind(w, a, x);
			ea = e > w->first[a] && w->x[e - 1] == x ? e - 1 : USK_NO_EVENT;
		}
		if (ea != USK_NO_EVENT) {
			twin[n++] = (struct twin){ (tick - 1) << (USK_FINEST - f), ea, i, own->n };
		}
		if (ea != USK_NO_EVENT || edge) {
			own->x[own->n] = w->x[i];
			own->lo[own->n] = edge && !w->sent[i] ? usk_e12(w->x[p]) : -USK_INF;
			own->hi[own->n] = edge && w->sent[i] ? usk_e12(w->x[p]) : USK_INF;
			own->n++;
		}
	}
	return n;
}

static void look(struct search *s, size_t n)
{
	const struct usk_work *w = s->w;
	const struct usk_graph_pair *p = &w->p->pair[s->pair[n].pair];
	const struct usk_run *ra = &w->run[w->run_of[w->first[p->a]]];
	const struct usk_run *rb = &w->run[w->run_of[w->first[p->b]]];
	uint32_t most = w->first[p->b + 1] - w->first[p->b], first[2] = { 0, 0 };
	usk_i128 skew = w->p->max_skew_e12, e12 = USK_E12;
	struct usk_graph_problem model = *w->p;
	struct usk_run run = { .clock = 0 };
	struct twin *twin = usk_grow(NULL, most, sizeof *twin);
	struct usk_work own = { .p = &model, .run = &run, .first = first };
	own.x = usk_grow(NULL, most, sizeof *own.x);
	own.lo = usk_grow(NULL, most, sizeof *own.lo);
	own.hi = usk_grow(NULL, most, sizeof *own.hi);
	own.cell = usk_alloc(most, sizeof *own.cell);
	own.run_of = usk_alloc(most, sizeof *own.run_of);
	size_t twins = events_of(w, p->a, p->b, &own, twin);
	/* Rates of the one by the other: (1 + r_b)/(1 + r_a) - 1, and what wander makes of it. */
	usk_i128 wander = (usk_i128)ra->wander_e12 + rb->wander_e12;
	model.max_skew_e12 = usk_saturate(usk_ceil_div(2 * skew * e12, e12 - skew));
	wander = usk_ceil_div(wander * (e12 + skew), e12 - skew);
	run.wander_e12 = usk_saturate(usk_ceil_div(wander * e12, e12 - skew));
	run.least_e12 = -model.max_skew_e12;
	run.most_e12 = model.max_skew_e12;
	first[1] = own.n;
	if (twins && usk_bounds_alone(&own, w->n)) {
		s->found[n] = usk_grow(NULL, twins, sizeof **s->found);
		for (size_t i = 0; i < twins; i++) {
			const struct twin *t = &twin[i];
			struct usk_pairwise *f = &s->found[n][s->n[n]++];
			*f = (struct usk_pairwise){ t->moment, t->a, t->b, -USK_INF, USK_INF };
			if (own.lo[t->at] <= -USK_INF ||
			    !apart(ra, own.lo[t->at], w->x[t->a], false, &f->least)) {
				f->least = -USK_INF;
			}
			if (own.hi[t->at] >= USK_INF ||
			    !apart(ra, own.hi[t->at], w->x[t->a], true, &f->most)) {
				f->most = USK_INF;
			}
		}
	}
	void *all[] = { own.x, own.lo, own.hi, own.cell, own.run_of, twin };
	for (size_t i = 0; i < COUNT(all); i++) {
		free(all[i]);
	}
}

static void look_at(void *ctx, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		look(ctx, i);
	}
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* Pairs of calm clocks one of which is nearer to the reference: from two that are equally near no
 * way leads on. */
static size_t pairs_of(const struct usk_work *w, struct near *out)
{
	struct usk_path *path = usk_alloc(w->n_clocks, sizeof *path);
	bool *calm = usk_alloc(w->n_clocks, sizeof *calm);
	uint32_t *rank = usk_alloc(w->n_clocks, sizeof *rank);
	size_t n = 0;
	usk_paths_of(w, w->reference, path);
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		calm[k] = k != w->reference && path[k].reached && whole(w, k);
		rank[w->outwards[k]] = k;
	}
	for (uint32_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		uint32_t a = path[p->a].hops, b = path[p->b].hops;
		if (w->tied[i] && calm[p->a] && calm[p->b] && a != b) {
			a = rank[p->a];
			b = rank[p->b];
			out[n++] = (struct near){ a > b ? a : b, i };
		}
	}
	usk_sort(out, n, sizeof *out, KEYS(BY(near, later), BY(near, pair)));
	USK_FREE(path, calm, rank);
	return n;
}

/* Moment by moment, as no pair compares two of them: so what is compared lies side by side. */
static void put_in_order(struct usk_work *w, const struct search *s, size_t n, size_t all)
{
	uint64_t *row = usk_grow(NULL, 2 * all + 1, sizeof *row), *end = row;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < s->n[i]; k++) {
			*end++ = s->found[i][k].moment;
			*end++ = (uint64_t)i << 32 | k;
		}
	}
	usk_sort_rows(row, all, 2);
	w->pairwise = usk_grow(NULL, all + 1, sizeof *w->pairwise);
	for (w->n_pairwise = 0; w->n_pairwise < all; w->n_pairwise++) {
		uint64_t at = row[2 * w->n_pairwise + 1];
		w->pairwise[w->n_pairwise] = s->found[at >> 32][at & UINT32_MAX];
	}
	free(row);
}

void usk_pairwise_find(struct usk_work *w)
{
	w->n_pairwise = 0;
	if (w->ticks.n < 2) {
		return;
	}
	struct near *pair = usk_grow(NULL, w->p->n_pairs + 1, sizeof *pair);
	size_t n = pairs_of(w, pair), all = 0;
	struct search s = { .w = w, .pair = pair };
	s.found = usk_alloc(n + 1, sizeof *s.found);
	s.n = usk_alloc(n + 1, sizeof *s.n);
	usk_parallel(n, 1, usk_threads(w), look_at, &s);
	for (size_t i = 0; i < n; i++) {
		all += s.n[i];
	}
	put_in_order(w, &s, n, all);
	for (size_t i = 0; i < n; i++) {
		free(s.found[i]);
	}
	USK_FREE(s.found, s.n, pair);
}
