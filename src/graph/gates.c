/* SPDX-License-Identifier: MIT */
/*
 * gates.c - where a clock's bounds bend, and where its estimate has to pass
 *
 * In    bounds and estimates of its events
 * Out   corners, gates
 * Why   each edge gets a level half way between the times of its two events: the one end is to stay
 *       under it, the other one over it. Then clocks need not look at each other any more
 */
#include "fit/fit.h"
#include "graph/drawing.h"

/* ---- corners -----------------------------------------------------------------------------------
 */

static void put_corner(struct usk_drawing *d, int64_t x, usk_i128 lo, usk_i128 hi)
{
	struct usk_bound_at c = { x, { usk_saturate(lo - x), usk_saturate(hi - x) } };
	struct usk_bound_at *last = d->n_corners ? &d->corner[d->n_corners - 1] : NULL;
	if (last && last->x == x) {
		last->bound[0] = c.bound[0] > last->bound[0] ? c.bound[0] : last->bound[0];
		last->bound[1] = c.bound[1] < last->bound[1] ? c.bound[1] : last->bound[1];
	} else {
		d->corner[d->n_corners++] = c;
	}
}

static const struct usk_fold *fold_of(const struct usk_work *w, uint32_t i)
{
	for (size_t k = 0; k < w->n_folds; k++) {
		if (w->fold[k].first <= i && i < w->fold[k].last) {
			return &w->fold[k];
		}
	}
	return NULL;
}

/* As an event before a stamp says, and one behind it, whatever T fell by in between. What messages say of an event
 * is of one time that its stamp was shown; what was filled in is of all. */
static int64_t not_below(const struct usk_drawing *d, uint32_t i, int64_t x)
{
	const struct usk_work *w = d->w;
	const bool twice = !(w->filled[i] & USK_FILLED_LO);
	return usk_saturate(w->lo_ns[i] - usk_fell(w, d->clock, w->x[i], x, twice));
}

static int64_t not_over(const struct usk_drawing *d, uint32_t i, int64_t x)
{
	const struct usk_work *w = d->w;
	const bool twice = !(w->filled[i] & USK_FILLED_HI);
	return usk_saturate(w->hi_ns[i] + usk_fell(w, d->clock, x, w->x[i], twice));
}

/* What the event on the left of a cell, or on its right, says of a bound d ns from it, in e12; false: nothing. */
static bool says(const struct usk_work *w, uint32_t i, bool upper, bool left, usk_i128 d,
		 usk_i128 *bound)
{
	const uint32_t e = left ? i : i + 1;
	const usk_i128 own = usk_e12((upper ? w->hi_ns : w->lo_ns)[e]);
	usk_i128 rise, far;
	if (upper == left) {
		const bool any = usk_cell_most(w, i, d, &rise);
		*bound = any ? own + (left ? rise : -rise) : 0;
		return any;
	}
	if (!usk_cell_least(w, i, d, &rise)) {
		return false;
	}
	*bound = own + (left ? rise : -rise);
	if (w->cell[i].slack && usk_in_order_says(w, e, upper, &far) &&
	    usk_cell_least_going(w, i, d, &rise)) {
		far += left ? rise : -rise;
		*bound = (upper ? far < *bound : far > *bound) ? far : *bound;
	}
	return true;
}

/* Bounds of T at a stamp between events i and i + 1. */
static void put_between(struct usk_drawing *d, uint32_t i, int64_t x)
{
	const struct usk_work *w = d->w;
	usk_i128 l = (usk_i128)x - w->x[i], r = (usk_i128)w->x[i + 1] - x, rise;
	usk_i128 lo = -USK_INF, hi = USK_INF, v;
	const struct usk_fold *f = w->cell[i].folded ? fold_of(w, i) : NULL;
	if (f && w->lo_ns[f->first] != USK_NONE && usk_fold_from_first(w, f, x, &rise)) {
		lo = usk_e12(w->lo_ns[f->first]) + rise;
	}
	if (f && w->hi_ns[f->last] != USK_NONE && usk_fold_to_last(w, f, x, &rise)) {
		hi = usk_e12(w->hi_ns[f->last]) - rise;
	}
	if (says(w, i, false, true, l, &v)) {
		lo = v;
	}
	if (says(w, i, false, false, r, &v)) {
		lo = v > lo ? v : lo;
	}
	if (says(w, i, true, true, l, &v)) {
		hi = v;
	}
	if (says(w, i, true, false, r, &v)) {
		hi = v < hi ? v : hi;
	}
	/* T does not fall from event to event, unless these are in no order. In a fold a stamp may be of either time
	 * that it was shown. */
	int64_t low = w->lo_ns[i] < w->lo_ns[i + 1] ? w->lo_ns[i] : w->lo_ns[i + 1];
	int64_t high = w->hi_ns[i] > w->hi_ns[i + 1] ? w->hi_ns[i] : w->hi_ns[i + 1];
	if (f) {
		low = not_below(d, i, x);
		high = not_over(d, i + 1, x);
	}
	if (f && f->first >= d->from) {
		const int64_t first = not_below(d, f->first, x);
		low = first > low ? first : low;
	}
	if (f && f->last < d->to) {
		const int64_t last = not_over(d, f->last, x);
		high = last < high ? last : high;
	}
	put_corner(d, x, lo == -USK_INF ? low : usk_floor_div(lo, USK_E12),
		   hi == USK_INF ? high : usk_ceil_div(hi, USK_E12));
}

/* In a cell bounds jump at its ends, what either of them says bends once and jumps once, and in each piece between they
 * may cross, those of the lower bound and those of the upper one. */
enum {
	CELL_BENDS = 4,
	CELL_PIECES = CELL_BENDS + 1,
	CELL_CORNERS = 2 + 2 * CELL_BENDS + 4 * CELL_PIECES
};

/* Where bounds bend in a cell, behind the event where it begins, in order. */
struct cell_places {
	int64_t at[CELL_CORNERS];
	size_t n;
};

static void put_place(struct cell_places *p, usk_i128 x)
{
	size_t k = p->n++;
	for (; k && p->at[k - 1] > x; k--) {
		p->at[k] = p->at[k - 1];
	}
	p->at[k] = (int64_t)x;
}

/* x behind event i: by how much what is said of a bound from the left is over what is from the right. Where one of them
 * says nothing they do not cross. */
static usk_i128 left_over(const struct usk_work *w, uint32_t i, bool upper, usk_i128 x)
{
	const usk_i128 to_go = (usk_i128)w->x[i + 1] - w->x[i] - x;
	usk_i128 left, right;
	const bool both =
		says(w, i, upper, true, x, &left) && says(w, i, upper, false, to_go, &right);
	return both ? left - right : 0;
}

/* Whole ns on either side of where they cross from u to v, between which each goes straight on. */
static void put_crossings(const struct usk_work *w, uint32_t i, usk_i128 u, usk_i128 v,
			  struct cell_places *p)
{
	for (int upper = 1; upper >= 0 && u < v; upper--) {
		/* Of the upper bound it rises, of the lower one it falls. */
		const usk_i128 a = left_over(w, i, upper, u), b = left_over(w, i, upper, v);
		const usk_i128 rate = (a < b ? b - a : a - b) / (v - u);
		const usk_i128 s = rate ? u + usk_floor_div(a < b ? -a : a, rate) : u;
		for (usk_i128 x = s; x <= s + 1 && rate; x++) {
			if (u < x && x < v) {
				put_place(p, x);
			}
		}
	}
}

static void put_cell(struct usk_drawing *d, uint32_t i)
{
	const struct usk_work *w = d->w;
	const usk_i128 run = (usk_i128)w->x[i + 1] - w->x[i];
	const bool jumps = usk_cell_jumps(w->cell[i]);
	const usk_i128 flat = usk_cell_flat(w, i);
	const usk_i128 twice = w->cell[i].slack ? usk_slack_of(w, i).twice_ns : 0;
	struct cell_places p = { .n = 0 }, bend = { .n = 0 };
	usk_i128 from = jumps, to = run - jumps;
	if (run < 2) {
		return;
	}
	if (jumps) {
		put_place(&p, from);
		put_place(&p, to);
	}
	for (int k = 0; k < 2; k++) {
		const usk_i128 x = k ? flat : twice;
		if (x && x < run - 1) {
			put_place(&bend, x);
			put_place(&bend, run - 1 - x);
		}
	}
	for (size_t k = 0; k < bend.n; k++) {
		put_place(&p, bend.at[k]);
		put_place(&p, (usk_i128)bend.at[k] + 1);
		put_crossings(w, i, from, bend.at[k], &p);
		from = (usk_i128)bend.at[k] + 1;
	}
	put_crossings(w, i, from, to, &p);
	for (size_t k = 0; k < p.n; k++) {
		put_between(d, i, w->x[i] + p.at[k]);
	}
}

void usk_draw_corners(struct usk_drawing *d)
{
	const struct usk_work *w = d->w;
	if (usk_is_straight(w, d->clock)) {
		return; /* has all its corners */
	}
	/* Room for as many as there can be, which is not touched where there are fewer: growing it
	 * would take twice as much. */
	size_t most = (1 + CELL_CORNERS) * (size_t)(d->to - d->from) + 1;
	d->corner = usk_grow(NULL, most, sizeof *d->corner);
	for (uint32_t i = d->from; i < d->to; i++) {
		put_corner(d, w->x[i], w->lo_ns[i], w->hi_ns[i]);
		if (i + 1 < d->to) {
			put_cell(d, i);
		}
	}
	if (d->n_corners == 1) { /* a line has two knots */
		struct usk_bound_at c = d->corner[0];
		put_corner(d, c.x + 1, (usk_i128)c.x + c.bound[0], (usk_i128)c.x + c.bound[1] + 2);
	}
}

/* ---- gates -------------------------------------------------------------------------------------
 */

/*
 * Between the times of an edge's two ends. A receiver that rounds to q is in order by its stamp if
 * it is so by the stamp and q, and a little more, as its rate is not 1.
 */
static int64_t level(const struct usk_work *w, uint32_t i)
{
	uint32_t p = w->peer[i], from = w->sent[i] ? i : p, to = w->sent[i] ? p : i;
	int64_t more = usk_edge_spare(w, i);
	if (w->owner[p] == w->reference) {
		bool ours = !w->sent[i] && more;
		return w->x[p] + (ours && w->t_ns[i] >= w->x[p] + more ? more : 0);
	}
	usk_i128 room = (usk_i128)w->t_ns[to] - w->t_ns[from];
	more = room >= more ? more : 0;
	return (int64_t)(w->t_ns[from] + (room - more) / 2 + (w->sent[i] ? 0 : more));
}

/* The receiver's may be lower than the sender's by its resolution. */
static int64_t wished_level(const struct usk_work *w, uint32_t i)
{
	uint32_t p = usk_wish_end(w, i), from = w->sent[i] ? i : p, to = w->sent[i] ? p : i;
	usk_i128 q = usk_wish_slack(w, i), room = (usk_i128)w->t_ns[to] + q - w->t_ns[from];
	usk_i128 c = w->owner[p] != w->reference ? w->t_ns[from] + room / 2
		     : w->sent[i]		 ? w->x[p] + q
						 : w->x[p];
	return usk_saturate(w->sent[i] ? c : c - q);
}

void usk_draw_gates(struct usk_drawing *d)
{
	const struct usk_work *w = d->w;
	int64_t last_t = INT64_MIN;
	d->gate = usk_grow(NULL, (size_t)(d->to - d->from) + 1, sizeof *d->gate);
	for (uint32_t i = d->from; i < d->to; i++) {
		int64_t lo = w->lo_ns[i], hi = w->hi_ns[i], t = w->t_ns[i];
		if (t == USK_NONE) {
			continue; /* tied to nothing on one side */
		}
		for (int wish = 0; wish < 2; wish++) {
			uint32_t p = wish ? usk_wish_end(w, i) : w->peer[i];
			if (p != USK_NO_EVENT && w->t_ns[p] != USK_NONE) {
				int64_t c = wish ? wished_level(w, i) : level(w, i);
				hi = w->sent[i] && c < hi ? c : hi;
				lo = !w->sent[i] && c > lo ? c : lo;
			}
		}
		/* What is written does not fall, whatever the clock did. */
		t = t > last_t ? t : last_t;
		last_t = t;
		lo = lo < t ? lo : t;
		hi = hi > t ? hi : t;
		struct usk_passage g = { w->x[i], usk_saturate((usk_i128)lo - w->x[i]),
					 usk_saturate((usk_i128)hi - w->x[i]),
					 usk_saturate((usk_i128)t - w->x[i]) };
		struct usk_passage *last = d->n_gates ? &d->gate[d->n_gates - 1] : NULL;
		if (last && last->x == g.x) {
			last->wish = last->wish > g.wish ? last->wish : g.wish;
			last->lo = last->lo > g.lo ? last->lo : g.lo;
			last->hi = last->hi < g.hi ? last->hi : g.hi;
			last->lo = last->lo < last->wish ? last->lo : last->wish;
			last->hi = last->hi > last->wish ? last->hi : last->wish;
		} else {
			d->gate[d->n_gates++] = g;
		}
	}
	if (d->n_gates == 1) {
		d->gate[1] = d->gate[0];
		d->gate[d->n_gates++].x++;
	}
}
