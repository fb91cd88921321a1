/* SPDX-License-Identifier: MIT */
/*
 * chords.c - facts that hold for whatever a clock's constant rate is, and of that rate
 *
 * In    bounds of the nodes of calm stretches, wander
 * Out   facts by chords, facts of rates
 * Why   with i before e and j behind it, all in one calm stretch, for a rate within w of r
 *
 *           theta(e) <= u(i) + d_i (r + w),    theta(e) <= u(j) - d_j (r - w)
 *
 *       d_j times the one and d_i times the other have no r left in their sum:
 *
 *           theta(e) <= u(i) + d_i (u(j) - u(i) + 2 w d_j) / (d_i + d_j).
 *
 *       The least over all r of the best from the left and the best from the right is where both
 *       meet, so one such pair says as much as any number of cases does
 */
#include "graph/proof.h"

#include <stdlib.h>
#include <string.h>

enum { CASE_WORK = 1 << 20, LEAST_CASES = 8, MOST_CASES = 128 };

static usk_i128 wander(const struct usk_prove *x, uint32_t clock)
{
	return x->c->clock[clock].wander.used_e12;
}

usk_i128 usk_prove_chord(const struct usk_prove *x, uint32_t i, uint32_t e, uint32_t j, int side)
{
	usk_i128 di = (usk_i128)x->node[e].x - x->node[i].x;
	usk_i128 dj = (usk_i128)x->node[j].x - x->node[e].x;
	usk_i128 u = usk_prove_best(x, i, side), rise = usk_prove_best(x, j, side) - u;
	return u + usk_ceil_share(rise + 2 * wander(x, x->node[e].clock) * dj, di, di + dj);
}

/* ---- chords ------------------------------------------------------------------------------------
 */

struct chords {
	struct usk_prove *x;
	uint32_t from, to; /* nodes of a calm stretch */
	int side;
	uint32_t *left;	 /* by node: where the best bound from the left begins, at one rate; or a
			    hull */
	uint32_t *i, *j; /* the best chord so far */
	usk_i128 *at;
};

/* At one rate: where bounds from either side come from, and the chords between these. */
static void look(struct chords *c, usk_i128 rate, usk_i128 w)
{
	struct usk_prove *x = c->x;
	uint32_t root = USK_NO_FACT;
	for (uint32_t e = c->from; e < c->to; e++) {
		usk_i128 at = 0;
		bool known = usk_prove_known(x, e, c->side);
		if (root != USK_NO_FACT) {
			at = usk_prove_best(x, root, c->side) +
			     usk_prove_rise((usk_i128)x->node[e].x - x->node[root].x, rate + w);
		}
		if (known && (root == USK_NO_FACT || usk_prove_best(x, e, c->side) <= at)) {
			root = e;
		}
		c->left[e - c->from] = root;
	}
	root = USK_NO_FACT;
	for (uint32_t e = c->to; e-- > c->from;) {
		usk_i128 at = 0;
		bool known = usk_prove_known(x, e, c->side);
		uint32_t i = c->left[e - c->from], n = e - c->from;
		if (root != USK_NO_FACT) {
			at = usk_prove_best(x, root, c->side) +
			     usk_prove_rise((usk_i128)x->node[root].x - x->node[e].x, w - rate);
		}
		if (known && (root == USK_NO_FACT || usk_prove_best(x, e, c->side) <= at)) {
			root = e;
		} else if (i != USK_NO_FACT && root != USK_NO_FACT && i < e) {
			at = usk_prove_chord(x, i, e, root, c->side);
			if (c->i[n] == USK_NO_FACT ? !known || at < usk_prove_best(x, e, c->side)
						   : at < c->at[n]) {
				c->i[n] = i;
				c->j[n] = root;
				c->at[n] = at;
			}
		}
	}
}

/* Without wander chords are those of the lower hull of all bounds: e lies under none but one. */
static void look_at_hull(struct chords *c)
{
	struct usk_prove *x = c->x;
	uint32_t *hull = c->left, n = 0;
	for (uint32_t e = c->from; e < c->to; e++) {
		if (!usk_prove_known(x, e, c->side)) {
			continue;
		}
		while (n > 1 && usk_prove_chord(x, hull[n - 2], hull[n - 1], e, c->side) <=
					usk_prove_best(x, hull[n - 1], c->side)) {
			n--;
		}
		hull[n++] = e;
	}
	for (uint32_t k = 0; k + 1 < n; k++) {
		for (uint32_t e = hull[k] + 1; e < hull[k + 1]; e++) {
			c->i[e - c->from] = hull[k];
			c->j[e - c->from] = hull[k + 1];
			c->at[e - c->from] = usk_prove_chord(x, hull[k], e, hull[k + 1], c->side);
		}
	}
}

static void chords_of_stretch(struct usk_prove *x, uint32_t from, uint32_t to, int side)
{
	uint32_t n = to - from, run = x->node[from].run;
	struct chords c = { x,
			    from,
			    to,
			    side,
			    usk_grow(NULL, n, sizeof *c.left),
			    usk_grow(NULL, n, sizeof *c.i),
			    usk_grow(NULL, n, sizeof *c.j),
			    usk_grow(NULL, n, sizeof *c.at) };
	usk_i128 w = wander(x, x->node[from].clock) * 1000000;
	usk_i128 most = usk_prove_slope(x, run, side, false) - w;
	usk_i128 least = w - usk_prove_slope(x, run, side, true);
	int cases = (int)usk_clamp(CASE_WORK / x->n, LEAST_CASES, MOST_CASES);
	memset(c.i, 0xff, n * sizeof *c.i);
	if (!w) {
		look_at_hull(&c);
	}
	for (int k = 0; k <= cases && least <= most && w; k++) {
		look(&c, least + (most - least) * k / cases, w);
	}
	uint32_t *best = usk_grow(NULL, n, sizeof *best);
	for (uint32_t e = 0; e < n; e++) {
		best[e] = x->node[from + e].best[side];
	}
	for (uint32_t e = 0; e < n; e++) {
		if (c.i[e] != USK_NO_FACT) {
			usk_derived(x, (struct usk_fact){ .at = c.at[e],
							  .node = from + e,
							  .a = best[c.i[e] - from],
							  .b = best[c.j[e] - from],
							  .rule = USK_BY_CHORD,
							  .side = (uint8_t)side });
		}
	}
	USK_FREE(c.left, c.i, c.j, c.at, best);
}

/* The end of the calm stretch that begins at a node. */
static uint32_t calm_end(const struct usk_prove *x, uint32_t from)
{
	uint32_t end = x->first[x->node[from].clock + 1], to = from + 1;
	while (to < end && x->node[to - 1].calm) {
		to++;
	}
	return to;
}

void usk_prove_chords(struct usk_prove *x, uint32_t clock)
{
	for (uint32_t from = x->first[clock], to; from < x->first[clock + 1]; from = to) {
		to = calm_end(x, from);
		for (int side = 0; side < 2 && to - from > 2; side++) {
			chords_of_stretch(x, from, to, side);
		}
	}
}

/* ---- rates -------------------------------------------------------------------------------------
 */

/* Two nodes between which the offset rises by the least, over a slope. */
struct pair {
	uint32_t a, b; /* behind, before */
	usk_i128 over;
};

static void steepest(const struct usk_prove *x, uint32_t first, uint32_t end, int side,
		     usk_i128 slope, struct pair *p)
{
	for (uint32_t from = first, to; from < end; from = to) {
		usk_i128 least = 0;
		uint32_t before = USK_NO_FACT;
		to = calm_end(x, from);
		for (uint32_t k = from; k < to; k++) {
			usk_i128 rise = usk_floor_div(
				((usk_i128)x->node[k].x - x->node[from].x) * slope, 1000000);
			bool at = before != USK_NO_FACT && x->node[before].x < x->node[k].x;
			if (at && usk_prove_known(x, k, side) &&
			    usk_prove_best(x, k, side) - rise + least < p->over) {
				*p = (struct pair){ k, before,
						    usk_prove_best(x, k, side) - rise + least };
			}
			if (usk_prove_known(x, k, !side) &&
			    (before == USK_NO_FACT || usk_prove_best(x, k, !side) + rise < least)) {
				before = k;
				least = usk_prove_best(x, k, !side) + rise;
			}
		}
	}
}

/* The least slope that any two bounds leave: each step takes the pair that is furthest under the
 * last one's (Newton's method, on a concave function). */
static void rate_of(struct usk_prove *x, uint32_t first, uint32_t end, int side)
{
	uint32_t run = x->node[first].run;
	usk_i128 w = 2 * wander(x, x->node[first].clock) * 1000000;
	usk_i128 known = usk_prove_slope(x, run, side, false);
	struct pair p = { .over = 0 }, best = { .a = USK_NO_FACT };
	usk_i128 slope = known - w;
	for (;;) {
		p = (struct pair){ USK_NO_FACT, USK_NO_FACT, 0 };
		steepest(x, first, end, side, slope, &p);
		if (p.a == USK_NO_FACT) {
			break;
		}
		usk_i128 sum = usk_prove_best(x, p.a, side) + usk_prove_best(x, p.b, !side);
		usk_i128 d = (usk_i128)x->node[p.a].x - x->node[p.b].x;
		usk_i128 next = usk_ceil_div(sum * 1000000, d);
		if (next >= slope) {
			break;
		}
		slope = next;
		best = p;
	}
	if (best.a == USK_NO_FACT) {
		return;
	}
	x->fact = usk_room(x->fact, x->n_facts, &x->cap_facts, sizeof *x->fact);
	x->fact[x->n_facts] = (struct usk_fact){ .at = slope + w,
						 .node = best.a,
						 .a = x->node[best.a].best[side],
						 .b = x->node[best.b].best[!side],
						 .rule = USK_BY_PAIR,
						 .side = (uint8_t)side };
	x->rate[side][run] = (uint32_t)x->n_facts++;
}

void usk_prove_rates(struct usk_prove *x, uint32_t clock)
{
	for (uint32_t from = x->first[clock], to; from < x->first[clock + 1]; from = to) {
		for (to = from + 1;
		     to < x->first[clock + 1] && x->node[to].run == x->node[from].run;) {
			to++;
		}
		for (int side = 0; side < 2; side++) {
			rate_of(x, from, to, side);
		}
	}
}
