/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what was found of each clock, as callers get it
 *
 * In    links, ways, rates of an island
 * Out   quality, path, knots, jumps and drift of its clocks
 * Not   how they were found (solve.c)
 */
#include "solve/island.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* Do pairs of it only contradict themselves? */
static bool contradicts(const struct usk_island_work *w, uint32_t i)
{
	const struct usk_graph *g = w->graph;
	for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
		if (w->tie[g->arc[k].tie].fitted->quality == USK_CONTRADICTED) {
			return true;
		}
	}
	return false;
}

static void write_clock(const struct usk_island_work *w, uint32_t i)
{
	struct usk_clock *k = &w->c->clock[i];
	const struct usk_link *l = &w->link[i];
	const struct usk_way *way = &w->way[i];
	k->reference = w->reference;
	k->drift_ppm = k->drift_min_ppm = k->drift_max_ppm = NAN;
	k->path = usk_way_path(w->way, i, &k->n_path);
	if (i == w->reference && w->n == 1 && i != w->opt->reference) {
		k->quality = USK_ABSENT;
		return;
	}
	if (i == w->reference) {
		usk_clock_reference(k, w->opt->span[i].first_ns, w->opt->span[i].last_ns);
		k->reference = i;
		return;
	}
	if (!l->n) {
		k->quality = w->out[i] || (!way->reached && contradicts(w, i)) ? USK_CONTRADICTED
									       : USK_ABSENT;
		return;
	}
	const struct usk_arc *arc = &w->graph->arc[way->arc];
	const struct usk_tie *tie = &w->tie[arc->tie];
	const struct usk_clock *parent = &w->c->clock[way->from];
	/* Both sides, but at no time both: no estimate. */
	bool bounded = l->has[USK_LOWER] && l->has[USK_UPPER] && l->has[USK_MIDDLE];
	k->quality = bounded ? USK_BOUNDED : USK_ONE_SIDED;
	usk_tree_jumps(arc, tie, w->reference, w->opt->max_skew_e12, parent, k);
	k->n_knots = l->n;
	k->knot = usk_alloc(l->n, sizeof *k->knot);
	for (size_t n = 0; n < l->n; n++) {
		k->knot[n] = l->knot[n];
		k->knot[n].lo_ns = l->has[USK_LOWER] ? l->knot[n].lo_ns : USK_NONE;
		k->knot[n].hi_ns = l->has[USK_UPPER] ? l->knot[n].hi_ns : USK_NONE;
		k->knot[n].offset_ns = l->has[USK_MIDDLE] ? l->knot[n].offset_ns : USK_NONE;
	}
	k->before = k->after = usk_skew_slopes(w->opt->max_skew_e12);
	if (!l->has[USK_MIDDLE]) {
		return;
	}
	if (!arc->turned && way->from == w->reference && !w->joint) {
		k->drift_ppm = tie->fitted->drift_ppm;
		k->drift_min_ppm = tie->fitted->drift_min_ppm;
		k->drift_max_ppm = tie->fitted->drift_max_ppm;
	} else {
		k->drift_ppm = usk_clock_drift(k);
		k->drift_min_ppm = (double)-(w->rates[i].max_e12 - w->rates[i].wander_e12) * 1e-6;
		k->drift_max_ppm = (double)-(w->rates[i].min_e12 + w->rates[i].wander_e12) * 1e-6;
	}
}

/* Nearer clocks first: jumps of the reference are handed on. */
void usk_island_write(const struct usk_island_work *w)
{
	for (uint32_t hops = 0, left = (uint32_t)w->n; left; hops++) {
		for (size_t i = 0; i < w->n; i++) {
			const struct usk_way *way = &w->way[w->clock[i]];
			if ((way->reached ? way->hops : 0) == hops) {
				write_clock(w, w->clock[i]);
				left--;
			}
		}
	}
}
