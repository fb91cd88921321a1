/* SPDX-License-Identifier: MIT */
/*
 * derive.c - facts from messages and stretches, each from earlier ones
 *
 * In    nodes and edges; what the answer says it assumed
 * Out   facts
 * Why   the engine's own bounds may rest on each other in a circle once rates and bounds took
 *       turns, and on unions of cases. A list in which each fact names earlier ones alone needs no
 *       such trust, and whoever verifies it does no search
 * Not   the engine: nothing of what it found is used but its assumptions, so what it got wrong
 *       cannot be proved
 */
#include "graph/proof.h"

#include <stdlib.h>

/* Sweeps of all clocks, until nothing moves or so often; rates, chords and sweeps by turns. */
enum { SWEEPS = 64, TURNS = 8 };

void usk_derived(struct usk_prove *x, struct usk_fact f)
{
	struct usk_node *n = &x->node[f.node];
	uint32_t *best = &n->best[f.side], other = n->best[!f.side];
	if (*best != USK_NO_FACT && x->fact[*best].at <= f.at) {
		return;
	}
	if (x->n_facts == USK_NO_FACT) {
		return;
	}
	x->failed = x->failed || (other != USK_NO_FACT && x->fact[other].at + f.at < 0);
	x->fact = usk_room(x->fact, x->n_facts, &x->cap_facts, sizeof *x->fact);
	x->fact[x->n_facts] = f;
	*best = (uint32_t)x->n_facts++;
	x->moved = true;
}

usk_i128 usk_prove_slope(const struct usk_prove *x, uint32_t run, int side, bool back)
{
	uint32_t f = x->rate[back ? !side : side][run];
	return f == USK_NO_FACT ? (usk_i128)x->c->max_skew_e12 * 1000000 : x->fact[f].at;
}

/* Both ends of an edge: T[from] <= T[to], so an upper bound goes back, a lower one on. */
static void relax(struct usk_prove *x, size_t e)
{
	const struct usk_proof_edge *g = &x->edge[e];
	usk_i128 gap = ((usk_i128)x->node[g->to].x - x->node[g->from].x - g->least_ns) * USK_E12;
	for (int side = 0; side < 2; side++) {
		uint32_t of = side ? g->to : g->from, at = side ? g->from : g->to;
		uint32_t a = x->node[of].best[side];
		if (a != USK_NO_FACT) {
			usk_derived(x, (struct usk_fact){ .at = x->fact[a].at + gap,
							  .node = at,
							  .a = a,
							  .why = (uint32_t)e,
							  .rule = USK_BY_MESSAGE,
							  .side = (uint8_t)side });
		}
	}
}

/* A cone goes on from where it began, as long as no node knows more by itself. */
struct going {
	uint32_t fact;
	bool calm;
	usk_i128 slope;
};

static void pass(struct usk_prove *x, struct going *g, uint32_t cell, uint32_t to, uint32_t from,
		 int side)
{
	const struct usk_node *n = &x->node[cell];
	bool back = to < from;
	bool passes = n->bounded || (n->fell && back != (side == 1));
	if (!passes) {
		g->fact = USK_NO_FACT;
		return;
	}
	if (g->fact == USK_NO_FACT || g->calm != n->calm) {
		g->fact = x->node[from].best[side];
		g->calm = n->calm;
		g->slope = n->calm ? usk_prove_slope(x, n->run, side, back)
				   : (usk_i128)x->c->max_skew_e12 * 1000000;
	}
	if (g->fact == USK_NO_FACT) {
		return;
	}
	const struct usk_fact *root = &x->fact[g->fact];
	usk_i128 d = (usk_i128)x->node[to].x - x->node[root->node].x;
	usk_i128 at = root->at + usk_prove_rise(d < 0 ? -d : d, g->slope);
	uint32_t known = x->node[to].best[side];
	if (known != USK_NO_FACT && x->fact[known].at <= at) {
		g->fact = known;
		return;
	}
	usk_derived(x, (struct usk_fact){ .at = at,
					  .node = to,
					  .a = g->fact,
					  .why = n->calm ? x->rate[back ? !side : side][n->run]
							 : USK_NO_FACT,
					  .rule = USK_BY_CONE,
					  .side = (uint8_t)side });
}

static bool is_reference(const struct usk_prove *x, uint32_t k)
{
	return x->c->clock[k].reference == k;
}

static void sweep(struct usk_prove *x, uint32_t k)
{
	for (int side = 0; side < 2; side++) {
		struct going on = { .fact = USK_NO_FACT }, back = { .fact = USK_NO_FACT };
		for (uint32_t i = x->first[k] + 1; i < x->first[k + 1]; i++) {
			pass(x, &on, i - 1, i, i - 1, side);
		}
		for (uint32_t i = x->first[k + 1]; i-- > x->first[k] + 1;) {
			pass(x, &back, i - 1, i - 1, i, side);
		}
	}
}

static void propagate(struct usk_prove *x)
{
	x->moved = true;
	for (int round = 0; round < SWEEPS && x->moved && !x->failed; round++) {
		x->moved = false;
		for (size_t e = 0; e < x->n_edges; e++) {
			relax(x, e);
		}
		for (uint32_t k = 0; k < x->c->n_clocks; k++) {
			if (!is_reference(x, k)) {
				sweep(x, k);
			}
		}
	}
}

/* Is there a run without any constant that its slopes are within the clock's wander of? */
static bool no_rate(const struct usk_prove *x, uint32_t k)
{
	usk_i128 w = x->c->clock[k].wander.used_e12;
	bool none = false;
	for (uint32_t i = x->first[k]; i < x->first[k + 1] && w < x->c->max_skew_e12; i++) {
		uint32_t run = x->node[i].run;
		bool seen = i > x->first[k] && x->node[i - 1].run == run;
		none = none || (!seen && usk_prove_slope(x, run, 1, false) +
							 usk_prove_slope(x, run, 0, false) <
						 2 * w * 1000000);
	}
	return none;
}

void usk_derive(struct usk_prove *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		for (int side = 0; side < 2 && is_reference(x, x->node[i].clock); side++) {
			usk_derived(x, (struct usk_fact){ .node = i,
							  .rule = USK_BY_REFERENCE,
							  .side = (uint8_t)side });
		}
	}
	propagate(x);
	for (int turn = 0; turn < TURNS && !x->failed; turn++) {
		size_t before = x->n_facts;
		for (uint32_t k = 0; k < x->c->n_clocks; k++) {
			if (!is_reference(x, k)) {
				usk_prove_rates(x, k);
				x->failed = x->failed || no_rate(x, k);
				usk_prove_chords(x, k);
			}
		}
		propagate(x);
		if (x->n_facts == before) {
			break;
		}
	}
}
