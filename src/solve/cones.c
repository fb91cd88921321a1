/* SPDX-License-Identifier: MIT */
/*
 * cones.c - do the points that a pair kept stand for the messages that it dropped?
 *
 * In    every clock's M, what is kept of each pair
 * Out   kappa_e12 of each tie
 * Why   a corridor drops a message whose cone, of slope kappa around its rate, lies in the cone of
 *       another of the same second. That one being in order by some ns, the dropped one is by no
 *       less, if the offset of the two clocks by their final M changes within that cone. M is
 * rounded down at its knots, some of which are 1 ns apart: so it is a smooth line that is looked
 * at, no more than 1 ns away, and points need the room for that
 */
#include "fit/fit.h"
#include "num/cone.h"
#include "solve/order.h"

#include <math.h>
#include <stdlib.h>

/* Room that a point needs to stand for others: 1 ns, and twice 1 for each of two smooth lines and
 * of two roundings, less what is counted twice. */
#define ROOM INT64_C(6)

/* M alone, without knots that rounding made. */
static struct usk_link smooth_line(const struct usk_link *l)
{
	struct usk_link line = { .n = 0 };
	if (l->n && l->has[USK_MIDDLE]) {
		line = usk_link_of(l->knot, l->n, l->skew_e12);
		line.has[USK_LOWER] = line.has[USK_UPPER] = false;
		usk_link_smooth(&line, 1);
	}
	return line;
}

static int64_t value(const struct usk_knot *k)
{
	return usk_cut((usk_i128)k->local_ns + k->offset_ns);
}

/* T' of piece i, and where on the reference it ends; the outermost go on. */
static long double rise(const struct usk_link *l, size_t i, int64_t *end)
{
	if (!l->n) { /* the reference */
		*end = INT64_MAX;
		return 1;
	}
	const struct usk_knot *k = &l->knot[i];
	*end = i + 2 < l->n ? value(&k[1]) : INT64_MAX;
	return 1 + usk_real((usk_i128)k[1].offset_ns - k->offset_ns) /
			   usk_real((usk_i128)k[1].local_ns - k->local_ns);
}

/* The largest distance of the offset's slope from the corridor's rate, e12, rounded up. */
static int64_t widest(const struct usk_tie *t, const struct usk_link *a, const struct usk_link *b)
{
	int64_t most = 0, end_a, end_b;
	size_t ia = 0, ib = 0;
	for (;;) {
		long double ra = rise(a, ia, &end_a), rb = rise(b, ib, &end_b);
		long double slope = ra > 0 ? rb / ra - 1 : 1e6L;
		long double off = fabsl(slope * USK_E12 - (long double)t->part->frame.rate_e12);
		off = fminl(ceill(off) + 1, (long double)USK_E12);
		most = (int64_t)off > most ? (int64_t)off : most;
		if (end_a == INT64_MAX && end_b == INT64_MAX) {
			return most;
		}
		ia += end_a <= end_b && end_a != INT64_MAX;
		ib += end_b <= end_a && end_b != INT64_MAX;
	}
}

static bool has_room(const struct usk_island_work *w, const struct usk_tie *t)
{
	for (int side = 0; side < 2; side++) {
		usk_hint at[2] = { 0 };
		for (size_t k = 0; k < t->part->n[side]; k++) {
			if (usk_order_slack(w, t, side, t->part->point[side][k], at) < ROOM) {
				return false;
			}
		}
	}
	return true;
}

void usk_order_cones(const struct usk_island_work *w)
{
	const struct usk_graph *g = w->graph;
	struct usk_link *line = usk_alloc(g->n_clocks, sizeof *line);
	for (size_t i = 0; i < w->n; i++) {
		line[w->clock[i]] = smooth_line(&w->link[w->clock[i]]);
	}
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = g->first[w->clock[i]]; k < g->first[w->clock[i] + 1]; k++) {
			struct usk_tie *t = &w->tie[g->arc[k].tie];
			bool known[2] = { t->a == w->reference || line[t->a].n,
					  t->b == w->reference || line[t->b].n };
			bool own = t->a == w->reference && w->way[t->b].from == t->a && !w->joint &&
				   !w->moved;
			if (g->arc[k].turned || !known[0] || !known[1] || own) {
				continue; /* its own: the fit has seen to it */
			}
			int64_t need = widest(t, &line[t->a], &line[t->b]);
			int64_t have = t->part->frame.kappa_e12;
			t->kappa_e12 = need > have ? need : has_room(w, t) ? 0 : have;
		}
	}
	for (size_t i = 0; i < w->n; i++) {
		usk_link_free(&line[w->clock[i]]);
	}
	free(line);
}
