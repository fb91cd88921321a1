/* SPDX-License-Identifier: MIT */
/*
 * behind.c - estimates of clocks that are solved behind the core, put in order with all others
 *
 * In    a clock's link along its path, the clocks that are settled
 * Out   its M, in order with every point of its ties to these
 * Why   others stay as they are, so every point is a wall at a moment: from left to right M keeps
 * to the right side of all of them, as near to where it was as that can be (as usk_knots_settle()
 * does for a pair)
 */
#include "fit/fit.h"
#include "solve/order.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };

/* T is at least, or at most, `wall` at a local time. */
struct wall {
	int64_t local, wall;
	bool ceiling;
};

struct walls {
	struct wall *wall;
	size_t n, cap;
};

static int compare(const void *pa, const void *pb)
{
	const struct wall *a = pa, *b = pb;
	return a->local != b->local	  ? (a->local > b->local) - (a->local < b->local)
	       : a->ceiling != b->ceiling ? a->ceiling - b->ceiling
					  : (a->wall > b->wall) - (a->wall < b->wall);
}

static void add_walls(const struct usk_island_work *w, const struct usk_tie *t, uint32_t clock,
		      struct walls *out)
{
	const struct usk_link *other = &w->link[t->a == clock ? t->b : t->a];
	bool is_b = t->b == clock, fixed = (is_b ? t->a : t->b) == w->reference;
	for (int side = 0; side < 2; side++) {
		usk_hint at = 0;
		for (size_t k = 0; k < t->part->n[side]; k++) {
			struct usk_point p = usk_part_point(t->part, side, t->part->point[side][k]);
			int64_t on_a = usk_cut((usk_i128)p.local_ns + p.offset_ns);
			int64_t own = is_b ? p.local_ns : on_a, its = is_b ? on_a : p.local_ns;
			int64_t time = fixed ? its : usk_link_at(other, USK_MIDDLE, its, &at);
			/* A floor: T_a <= T_b. */
			bool ceiling = (side == USK_CEILING) == is_b;
			if (out->n == out->cap) {
				out->cap = out->cap ? 2 * out->cap : 256;
				out->wall = usk_grow(out->wall, out->cap, sizeof *out->wall);
			}
			out->wall[out->n++] =
				(struct wall){ own, ceiling ? time - 1 : time + 1, ceiling };
		}
	}
}

/* M with knots where it has to leave its way, and beside them; returns how many points were wrong.
 */
static size_t settle(const struct usk_link *l, const struct walls *v, struct usk_link *line)
{
	size_t wrong = 0, n = v->n;
	int64_t *most = usk_alloc(n + 1, sizeof *most), before = INT64_MIN;
	int64_t *is = usk_alloc(n + 1, sizeof *is), *be = usk_alloc(n + 1, sizeof *be);
	usk_hint at = 0;
	most[n] = INT64_MAX;
	for (size_t k = n; k-- > 0;) {
		const struct wall *p = &v->wall[k];
		most[k] = p->ceiling && p->wall < most[k + 1] ? p->wall : most[k + 1];
	}
	for (size_t k = 0; k < n; k++) {
		const struct wall *p = &v->wall[k];
		is[k] = be[k] = usk_link_at(l, USK_MIDDLE, p->local, &at);
		bool bad = p->ceiling ? is[k] > p->wall : is[k] < p->wall;
		wrong += bad;
		int64_t least = !p->ceiling && p->wall > before ? p->wall : before;
		if (least <= most[k]) {
			be[k] = be[k] < least ? least : be[k] > most[k] ? most[k] : be[k];
		}
		before = be[k] > before ? be[k] : before;
	}
	*line = (struct usk_link){ .skew_e12 = l->skew_e12, .has = { false, true, false } };
	line->knot = usk_alloc(l->n + n + 2, sizeof *line->knot);
	for (size_t i = 0, k = 0; i < l->n || k < n;) {
		bool own = k == n || (i < l->n && l->knot[i].local_ns <= v->wall[k].local);
		struct usk_knot *to = &line->knot[line->n];
		if (own) {
			*to = l->knot[i++];
		} else {
			bool near = be[k] != is[k] || (k && be[k - 1] != is[k - 1]) ||
				    (k + 1 < n && be[k + 1] != is[k + 1]);
			int64_t x = v->wall[k].local;
			*to = (struct usk_knot){ x, usk_cut((usk_i128)be[k] - x), USK_NONE,
						 USK_NONE, l->knot[0].epoch };
			k++;
			if (!near) {
				continue;
			}
		}
		if (line->n && to[-1].local_ns == to->local_ns) {
			to[-1].offset_ns = own ? to[-1].offset_ns : to->offset_ns;
		} else {
			line->n++;
		}
	}
	for (size_t i = 1; i < line->n; i++) { /* never falls */
		usk_i128 last = (usk_i128)line->knot[i - 1].local_ns + line->knot[i - 1].offset_ns;
		struct usk_knot *k = &line->knot[i];
		if ((usk_i128)k->local_ns + k->offset_ns < last) {
			k->offset_ns = usk_cut(last - k->local_ns);
		}
	}
	free(most);
	free(is);
	free(be);
	return wrong;
}

static void put_in_order(struct usk_island_work *w, uint32_t clock, struct walls *v)
{
	struct usk_link *l = &w->link[clock];
	qsort(v->wall, v->n, sizeof *v->wall, compare);
	for (int round = 0; round < ROUNDS && v->n; round++) {
		struct usk_link line, with;
		int64_t first = l->knot[0].local_ns, last = l->knot[l->n - 1].local_ns;
		if (!settle(l, v, &line)) {
			usk_link_free(&line);
			break;
		}
		w->moved = true;
		l->has[USK_MIDDLE] = false;
		with = usk_link_meet(l, &line);
		usk_link_crop(&with, first, last);
		usk_link_free(&line);
		usk_link_free(l);
		*l = with;
	}
}

void usk_order_behind(struct usk_island_work *w)
{
	const struct usk_graph *g = w->graph;
	bool *settled = usk_alloc(g->n_clocks, sizeof *settled);
	for (size_t i = 0; i < w->n; i++) {
		settled[w->clock[i]] = usk_in_core(w, w->clock[i]);
	}
	for (uint32_t hops = 1; hops <= w->n; hops++) {
		for (size_t i = 0; i < w->n; i++) {
			uint32_t clock = w->clock[i];
			const struct usk_link *l = &w->link[clock];
			struct walls v = { 0 };
			if (settled[clock] || !w->way[clock].reached || !l->n ||
			    !l->has[USK_MIDDLE] || w->way[clock].hops != hops) {
				continue;
			}
			for (size_t k = g->first[clock]; k < g->first[clock + 1]; k++) {
				const struct usk_arc *a = &g->arc[k];
				bool known = a->to == w->reference ||
					     (settled[a->to] && w->link[a->to].n &&
					      w->link[a->to].has[USK_MIDDLE]);
				if (a->holds && known) {
					add_walls(w, &w->tie[a->tie], clock, &v);
				}
			}
			put_in_order(w, clock, &v);
			free(v.wall);
			settled[clock] = true;
		}
	}
	free(settled);
}
