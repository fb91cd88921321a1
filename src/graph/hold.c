/* SPDX-License-Identifier: MIT */
/*
 * hold.c - bounds that are written at knots hold between them
 *
 * In    knots on the lines that were drawn, corners, gates
 * Out   the same knots, bounds moved outwards, then in again
 *
 * Between knots a bound is a chord; what a chord cuts off is added to both its ends, and then each
 * knot goes in as far as its two links allow.
 */
#include "graph/drawing.h"
#include "num/polyline.h"

#include <stdlib.h>

static int64_t *bound_of(struct usk_knot *k, int side)
{
	return side ? &k->hi_ns : &k->lo_ns;
}

/* Is a corner outside of a chord? Most are inside. */
static bool cuts_off(struct usk_xy a, struct usk_xy b, const struct usk_bound_at *c, int side)
{
	usk_i128 rise = ((usk_i128)b.y - a.y) * ((usk_i128)c->x - a.x);
	usk_i128 up = ((usk_i128)c->bound[side] - a.y) * ((usk_i128)b.x - a.x);
	return side ? up > rise : up < rise;
}

/* What chords cut off of the bounds, rounded up, is added to both their ends; a bound that is out of
 * range stays none. */
static void hold_bound(struct usk_drawing *d, int side)
{
	int64_t *more = usk_alloc(d->n_knots + 1, sizeof *more);
	for (size_t i = 0, at = 0; i < d->n_corners; i++) {
		const struct usk_bound_at *c = &d->corner[i];
		while (at + 2 < d->n_knots && d->knot[at + 1].local_ns < c->x) {
			at++;
		}
		struct usk_knot *k = &d->knot[at];
		const struct usk_xy a = { k->local_ns, *bound_of(k, side) };
		const struct usk_xy b = { k[1].local_ns, *bound_of(k + 1, side) };
		if (a.y != USK_NONE && b.y != USK_NONE && cuts_off(a, b, c, side)) {
			usk_i128 y = usk_chord(a, b, c->x, !side);
			int64_t lacks = usk_saturate(side ? c->bound[1] - y : y - c->bound[0]);
			more[at] = lacks > more[at] ? lacks : more[at];
			more[at + 1] = lacks > more[at + 1] ? lacks : more[at + 1];
		}
	}
	for (size_t i = 0; i < d->n_knots; i++) {
		struct usk_knot *k = &d->knot[i];
		int64_t *y = bound_of(k, side);
		if (*y != USK_NONE) {
			*y = usk_saturate((usk_i128)*y + (side ? more[i] : -more[i]));
			bool beyond = k->offset_ns != USK_NONE && side == (k->offset_ns > *y);
			*y = beyond ? k->offset_ns : *y;
		}
	}
	free(more);
}

/* The bound over x by the corners around it, the last one not right of x and the next; outwards. */
static int64_t bound_at(const struct usk_bound_at *c, int64_t x, int side)
{
	const struct usk_xy a = { c->x, c->bound[side] }, b = { c[1].x, c[1].bound[side] };
	return usk_saturate(usk_chord(a, b, x, side));
}

/* A knot between two corners is a peak between them unless it is held down itself. */
static void hold_knots(struct usk_drawing *d, int side)
{
	for (size_t i = 0, at = 0; i < d->n_knots && d->n_corners > 1; i++) {
		struct usk_knot *k = &d->knot[i];
		while (at + 2 < d->n_corners && d->corner[at + 1].x <= k->local_ns) {
			at++;
		}
		const struct usk_bound_at *c = &d->corner[at];
		if (c->x <= k->local_ns && k->local_ns <= c[1].x) {
			int64_t b = bound_at(c, k->local_ns, side), *y = bound_of(k, side);
			*y = side == (b > *y) ? b : *y;
		}
	}
}

/* How far the bound at one end of a link may go in, sign times it, the other end being held:
 * corners of the link stay outside. by: from the held end. */
static int64_t reach(const struct usk_bound_at *c, size_t n, struct usk_knot *held, int64_t at,
		     int side)
{
	const int sign = side ? -1 : 1;
	const usk_i128 held_at = sign * (usk_i128)*bound_of(held, side);
	usk_i128 run = (usk_i128)at - held->local_ns, least_in = 0, least_by = 0;
	for (size_t i = 0; i < n; i++) {
		usk_i128 by = (usk_i128)c[i].x - held->local_ns;
		usk_i128 in = sign * (usk_i128)c[i].bound[side] - held_at;
		by = run < 0 ? -by : by;
		if (by > 0 && (!least_by || in * least_by < least_in * by)) {
			least_in = in;
			least_by = by;
		}
	}
	usk_i128 most = USK_TIME_MAX;
	if (least_by) {
		usk_i128 in = usk_floor_div(least_in * (run < 0 ? -run : run), least_by);
		most = in < most ? in : most;
	}
	return usk_saturate(most + held_at);
}

/* Each knot's bounds as far in as its two links allow: lines leant on other places. */
static void tighten(struct usk_drawing *d)
{
	size_t from = 0, at = 0, to = 0; /* corners of the link before, behind */
	for (size_t i = 0; i < d->n_knots; i++) {
		struct usk_knot *k = &d->knot[i];
		bool first = !i, last = i + 1 == d->n_knots;
		from = at;
		while (at < d->n_corners && d->corner[at].x <= k->local_ns) {
			at++;
		}
		size_t here = at && d->corner[at - 1].x == k->local_ns ? at - 1 : at;
		for (to = at; !last && to < d->n_corners && d->corner[to].x <= k[1].local_ns;
		     to++) {
		}
		/* Some ns outside of all events, where lines go on, no corner says how far is in. */
		bool outside = !at || (here == at && at == d->n_corners);
		for (int side = 0; side < 2 && !outside; side++) {
			int sign = side ? -1 : 1;
			int64_t in = sign * k->offset_ns, *y = bound_of(k, side), v;
			v = sign * (here < at ? d->corner[here].bound[side]
					      : bound_at(&d->corner[at - 1], k->local_ns, side));
			in = v < in ? v : in;
			if (!first) {
				v = reach(d->corner + from, at - from, k - 1, k->local_ns, side);
				in = v < in ? v : in;
			}
			if (!last) {
				v = reach(d->corner + here, to - here, k + 1, k->local_ns, side);
				in = v < in ? v : in;
			}
			*y = in > sign * *y ? sign * in : *y;
		}
	}
}

void usk_hold_bounds(struct usk_drawing *d)
{
	bool exact = usk_is_straight(d->w, d->clock);
	for (int side = 0; side < 2; side++) {
		if (d->has[side]) {
			hold_bound(d, side);
		}
		if (d->has[side] && !exact) {
			hold_knots(d, side);
		}
	}
	if (d->has[0] && d->has[1] && !exact) {
		tighten(d);
	}
}
