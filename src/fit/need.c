/* SPDX-License-Identifier: MIT */
/*
 * need.c - a corridor's points in the order of time, and the least wander that they need
 *
 * In    a corridor, the resolutions of its clocks
 * Out   its hull vertices and undominated points as one sorted list a side; s_lo, s_hi and what
 *       they need, exactly
 * Why   a closed form: no search over rates, no tolerance
 * Not   bounds (graph/)
 *
 * Of all ceilings before a floor only the vertices of their hull matter (usk_hull_steepest()). But
 * a floor makes s_lo no steeper unless it does so with the vertex that a line of slope s_lo
 * touches, as no other point is over that line: it is looked at first, and the hull is searched for
 * the few that do.
 */
#include "fit/fit.h"

#include <stdlib.h>

static size_t unite(struct usk_corridor *c, bool ceiling, int64_t q, struct usk_xy **out)
{
	size_t n[2], k = 0;
	const struct usk_xy *from[2];
	from[0] = usk_corridor_half(c, ceiling, &n[0]);
	from[1] = usk_corridor_undominated(c, ceiling, &n[1]);
	struct usk_xy *p = *out = usk_alloc(n[0] + n[1] + 1, sizeof *p);
	for (size_t i = 0, j = 0; i < n[0] || j < n[1];) {
		bool first = j == n[1] || (i < n[0] && from[0][i].x <= from[1][j].x);
		struct usk_xy next = first ? from[0][i++] : from[1][j++];
		/* Received by so much later: it says no more than it does there. */
		next.x += ceiling ? 0 : q;
		next.y -= q;
		/* At one moment the higher one says all. */
		if (k && p[k - 1].x == next.x) {
			p[k - 1].y = next.y > p[k - 1].y ? next.y : p[k - 1].y;
		} else {
			p[k++] = next;
		}
	}
	*out = usk_grow(p, k + 1, sizeof *p);
	return k;
}

void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out)
{
	*out = (struct usk_part){ .frame = *usk_corridor_frame(c),
				  .spread_ns = usk_corridor_spread(c) };
	for (int side = 0; side < 2; side++) {
		out->q_ns[side] = q_ns[side];
		out->n[side] = unite(c, side, q_ns[side], &out->point[side]);
	}
}

void usk_part_free(struct usk_part *p)
{
	USK_FREE(p->point[0], p->point[1]);
	*p = (struct usk_part){ .n = { 0 } };
}

/* The slope that floors (ceilings: mirrored) are held against; false: none yet. */
static bool steepest_of(const struct usk_need *need, bool ceiling, struct usk_slope *s)
{
	*s = ceiling ? usk_slope_neg(need->s_hi) : need->s_lo;
	return ceiling ? need->has_hi : need->has_lo;
}

/* Does a line of slope -s, as these points are mirrored, through p lie over q? */
static bool lies_over(struct usk_slope s, struct usk_xy p, struct usk_xy q)
{
	usk_i128 rise = ((usk_i128)p.y - q.y) * s.den, by = ((usk_i128)q.x - p.x) * s.num;
	return rise > by;
}

void usk_needing_push(struct usk_needing *g, bool ceiling, struct usk_xy p)
{
	struct usk_need *need = &g->need;
	const struct usk_xy *h = g->hull[!ceiling];
	size_t n = g->n[!ceiling];
	bool same = n && h[n - 1].x == p.x;
	struct usk_slope s;
	if (same) {
		need->crossed = need->crossed || (usk_i128)h[n - 1].y + p.y > 0;
		n--;
	}
	struct usk_xy *touch = &g->touch[ceiling];
	bool any = steepest_of(need, ceiling, &s);
	if (n && (!any || touch->x == p.x || usk_slope_cmp(usk_rise(p, *touch), s) > 0)) {
		struct usk_xy q = usk_hull_steepest(h, n, p, &g->near[ceiling]);
		struct usk_slope now = usk_rise(p, q);
		if (!any || usk_slope_cmp(now, s) > 0) {
			*(ceiling ? &need->has_hi : &need->has_lo) = true;
			*(ceiling ? &need->s_hi : &need->s_lo) = ceiling ? usk_slope_neg(now) : now;
			/* One that stands at p's moment touches sooner, maybe. */
			*touch = same && lies_over(now, h[n], q) ? h[n] : q;
			g->from_x[ceiling] = q.x;
			g->to_x[ceiling] = p.x;
		}
	}
	if (steepest_of(need, !ceiling, &s) && lies_over(s, p, g->touch[!ceiling])) {
		g->touch[!ceiling] = p;
	}
	g->hull[ceiling] =
		usk_room(g->hull[ceiling], g->n[ceiling], &g->cap[ceiling], sizeof *g->hull[0]);
	g->n[ceiling] = usk_hull_push(g->hull[ceiling], g->n[ceiling], p);
}

void usk_needing_clear(struct usk_needing *g)
{
	g->need = (struct usk_need){ .has_lo = false };
	g->n[0] = g->n[1] = 0;
}

void usk_needing_free(struct usk_needing *g)
{
	USK_FREE(g->hull[0], g->hull[1]);
	*g = (struct usk_needing){ .n = { 0 } };
}

void usk_need_of(const struct usk_part *p, struct usk_need *out)
{
	struct usk_needing g = { .n = { 0 } };
	for (size_t i = 0, j = 0; i < p->n[0] || j < p->n[1];) {
		bool ceiling = usk_part_turn(p, i, j);
		usk_needing_push(&g, ceiling, ceiling ? p->point[1][j++] : p->point[0][i++]);
	}
	*out = g.need;
	usk_needing_free(&g);
}

static int64_t wander_of(const struct usk_need *n)
{
	if (n->crossed) {
		return USK_NO_WANDER;
	}
	if (!n->has_lo || !n->has_hi || usk_slope_cmp(n->s_lo, n->s_hi) <= 0) {
		return 0;
	}
	const usk_i128 a = n->s_lo.num * USK_E12, b = n->s_hi.num * USK_E12;
	const usk_i128 a_whole = usk_floor_div(a, n->s_lo.den);
	const usk_i128 b_whole = usk_floor_div(b, n->s_hi.den);
	/* (whole + f)/2 with -1 < f < 1, rounded up: only the sign of f matters. */
	usk_i128 whole = a_whole - b_whole;
	bool more = (a - a_whole * n->s_lo.den) * n->s_hi.den >
		    (b - b_whole * n->s_hi.den) * n->s_lo.den;
	usk_i128 e12 = more ? usk_floor_div(whole, 2) + 1 : usk_ceil_div(whole, 2);
	return e12 < USK_NO_WANDER ? (int64_t)e12 : USK_NO_WANDER - 1;
}

int64_t usk_need_within(const struct usk_need *n, int64_t max_skew_e12)
{
	struct usk_slope limit = { max_skew_e12, 1000000000000 };
	if ((n->has_lo && usk_slope_cmp(n->s_lo, limit) > 0) ||
	    (n->has_hi && usk_slope_cmp(n->s_hi, usk_slope_neg(limit)) < 0)) {
		return USK_NO_WANDER;
	}
	return wander_of(n);
}
