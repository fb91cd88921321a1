/* SPDX-License-Identifier: MIT */
/*
 * publish.c - from bounds of events to knots that everyone can apply
 *
 * In    bounds and estimates of all events of a clock
 * Out   its knots: few, with chords that hold the bounds and an estimate that keeps every message
 * in order; jumps, disturbed stretches, slopes beyond the ends Why   a week has millions of events,
 * and between them bounds bend
 *
 * Each edge gets a level half way between the times of its two events: the one end is to stay under
 * it, the other one over it. Then clocks need not look at each other any more, and each gets the
 * polyline with the fewest links through its gates. Whatever rounding does to it is looked at with
 * the integers that are written; a knot at each event is the fallback, which is in order as the
 * events are.
 *
 * A bound may be written wider than it is, by a small share of the width. Between knots it is a
 * chord; what a chord cuts off is added to both its ends.
 */
#include "base/parallel.h"
#include "fit/fit.h"
#include "graph/work.h"
#include "num/polyline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The offset's bounds at a stamp: between neighbours both are straight, or there is no stamp. */
struct corner {
	int64_t x, lo, hi;
};

/* Where the offset has to pass, and where it would like to. */
struct gate {
	int64_t x, lo, hi, wish;
};

struct drawing {
	const struct usk_work *w;
	uint32_t clock, from, to; /* events that are known, to: behind the last */
	bool has[2];		  /* lower, upper */
	struct corner *corner;
	size_t n_corners, cap_corners;
	struct gate *gate;
	size_t n_gates;
	struct usk_knot *knot;
	size_t n_knots;
};

/* ---- corners -----------------------------------------------------------------------------------
 */

static void put_corner(struct drawing *d, int64_t x, usk_i128 lo, usk_i128 hi)
{
	struct corner c = { x, usk_saturate(lo - x), usk_saturate(hi - x) };
	if (d->n_corners && d->corner[d->n_corners - 1].x == x) {
		struct corner *last = &d->corner[d->n_corners - 1];
		last->lo = c.lo > last->lo ? c.lo : last->lo;
		last->hi = c.hi < last->hi ? c.hi : last->hi;
		return;
	}
	d->corner = usk_room(d->corner, d->n_corners, &d->cap_corners, sizeof *d->corner);
	d->corner[d->n_corners++] = c;
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

/* Bounds of T at a stamp between events i and i + 1. */
static void put_between(struct drawing *d, uint32_t i, int64_t x)
{
	const struct usk_work *w = d->w;
	usk_i128 l = (usk_i128)x - w->x[i], r = (usk_i128)w->x[i + 1] - x, rise;
	usk_i128 lo = -USK_INF, hi = USK_INF, v;
	const struct usk_fold *f = w->cell[i].folded ? fold_of(w, i) : NULL;
	if (f && w->lo_ns[f->first] != USK_NONE &&
	    usk_fold_least(w, f, (usk_i128)x - w->x[f->first], &rise)) {
		lo = usk_e12(w->lo_ns[f->first]) + rise;
	}
	if (f && w->hi_ns[f->last] != USK_NONE &&
	    usk_fold_least(w, f, (usk_i128)w->x[f->last] - x, &rise)) {
		hi = usk_e12(w->hi_ns[f->last]) - rise;
	}
	if (usk_cell_least(w, i, l, &rise)) {
		lo = usk_e12(w->lo_ns[i]) + rise;
	}
	if (usk_cell_most(w, i, r, &rise)) {
		v = usk_e12(w->lo_ns[i + 1]) - rise;
		lo = v > lo ? v : lo;
	}
	if (usk_cell_most(w, i, l, &rise)) {
		hi = usk_e12(w->hi_ns[i]) + rise;
	}
	if (usk_cell_least(w, i, r, &rise)) {
		v = usk_e12(w->hi_ns[i + 1]) - rise;
		hi = v < hi ? v : hi;
	}
	/* T does not fall from event to event, unless these are in no order. */
	int64_t low = w->lo_ns[i] < w->lo_ns[i + 1] ? w->lo_ns[i] : w->lo_ns[i + 1];
	int64_t high = w->hi_ns[i] > w->hi_ns[i + 1] ? w->hi_ns[i] : w->hi_ns[i + 1];
	put_corner(d, x, lo == -USK_INF ? low : usk_floor_div(lo, USK_E12),
		   hi == USK_INF ? high : usk_ceil_div(hi, USK_E12));
}

static int by_place(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/* Where bounds bend in the cell behind event i. */
static void put_cell(struct drawing *d, uint32_t i)
{
	const struct usk_work *w = d->w;
	usk_i128 run = (usk_i128)w->x[i + 1] - w->x[i], least, most;
	int64_t at[6];
	size_t n = 0;
	if (run < 2) {
		return;
	}
	bool both = usk_cell_least(w, i, run, &least) && usk_cell_most(w, i, run, &most);
	if (both && most > least) {
		usk_i128 hi = usk_e12(w->hi_ns[i + 1]) - usk_e12(w->hi_ns[i]) - least;
		usk_i128 lo = most - (usk_e12(w->lo_ns[i + 1]) - usk_e12(w->lo_ns[i]));
		usk_i128 unit = (most - least) / run;
		for (int k = 0; k < 2; k++) {
			usk_i128 s = unit ? usk_floor_div(k ? lo : hi, unit) : 0;
			for (int more = 0; more < 2; more++, s++) {
				if (s > 0 && s < run) {
					at[n++] = (int64_t)(w->x[i] + s);
				}
			}
		}
	}
	if (!both) {
		at[n++] = w->x[i] + 1;
		at[n++] = w->x[i + 1] - 1;
	}
	qsort(at, n, sizeof *at, by_place);
	for (size_t k = 0; k < n; k++) {
		put_between(d, i, at[k]);
	}
}

static void make_corners(struct drawing *d)
{
	const struct usk_work *w = d->w;
	if (usk_is_straight(w, d->clock)) {
		return; /* has all its corners */
	}
	for (uint32_t i = d->from; i < d->to; i++) {
		put_corner(d, w->x[i], w->lo_ns[i], w->hi_ns[i]);
		if (i + 1 < d->to) {
			put_cell(d, i);
		}
	}
	if (d->n_corners == 1) { /* a line has two knots */
		struct corner c = d->corner[0];
		put_corner(d, c.x + 1, (usk_i128)c.x + c.lo, (usk_i128)c.x + c.hi + 2);
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
	int64_t q = w->c->clock[w->owner[to]].resolution_ns;
	int64_t more = q > 1 ? 2 + (int64_t)((usk_i128)q * w->p->max_skew_e12 / USK_E12) : 0;
	if (w->owner[p] == w->reference) {
		bool ours = !w->sent[i] && more;
		return w->x[p] + (ours && w->t_ns[i] >= w->x[p] + more ? more : 0);
	}
	usk_i128 room = (usk_i128)w->t_ns[to] - w->t_ns[from];
	more = room >= more ? more : 0;
	return (int64_t)(w->t_ns[from] + (room - more) / 2 + (w->sent[i] ? 0 : more));
}

static void make_gates(struct drawing *d)
{
	const struct usk_work *w = d->w;
	int64_t last_t = INT64_MIN;
	d->gate = usk_grow(NULL, (size_t)(d->to - d->from) + 1, sizeof *d->gate);
	for (uint32_t i = d->from; i < d->to; i++) {
		int64_t lo = w->lo_ns[i], hi = w->hi_ns[i], t = w->t_ns[i];
		uint32_t p = w->peer[i];
		if (t == USK_NONE) {
			continue; /* tied to nothing on one side */
		}
		if (p != USK_NO_EVENT && w->t_ns[p] != USK_NONE) {
			int64_t c = level(w, i);
			hi = w->sent[i] && c < hi ? c : hi;
			lo = !w->sent[i] && c > lo ? c : lo;
		}
		/* What is written does not fall, whatever the clock did. */
		t = t > last_t ? t : last_t;
		last_t = t;
		lo = lo < t ? lo : t;
		hi = hi > t ? hi : t;
		struct gate g = { w->x[i], usk_saturate((usk_i128)lo - w->x[i]),
				  usk_saturate((usk_i128)hi - w->x[i]),
				  usk_saturate((usk_i128)t - w->x[i]) };
		struct gate *last = d->n_gates ? &d->gate[d->n_gates - 1] : NULL;
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

/* ---- polylines ---------------------------------------------------------------------------------
 */

struct line {
	struct usk_xy *p;
	size_t n;
};

/* On the line through its neighbours, rounded down or up. */
static int64_t line_at(const struct line *l, size_t *hint, int64_t x, bool up)
{
	while (*hint + 2 < l->n && l->p[*hint + 1].x < x) {
		++*hint;
	}
	const struct usk_xy *a = &l->p[*hint], *b = a + 1;
	usk_i128 rise = ((usk_i128)b->y - a->y) * ((usk_i128)x - a->x), run = (usk_i128)b->x - a->x;
	return usk_saturate(a->y + (up ? usk_ceil_div(rise, run) : usk_floor_div(rise, run)));
}

static struct line polyline(const struct usk_gate *g, size_t n, struct usk_slopes s, size_t most)
{
	struct line l = { usk_grow(NULL, n + 2, sizeof *l.p), 0 };
	l.n = usk_polyline(g, n, s.least_e12, s.most_e12, most, l.p);
	return l;
}

/* The slopes of all runs of the clock: messages that were dropped while thinning are in order if
 * estimates keep to them. */
static struct usk_slopes slopes_of(const struct drawing *d)
{
	const struct usk_work *w = d->w;
	struct usk_slopes s = { w->p->max_skew_e12, -w->p->max_skew_e12 };
	for (size_t i = 0; i < w->n_runs; i++) {
		const struct usk_run *r = &w->run[i];
		if (r->clock == d->clock) {
			s.least_e12 = r->slow_e12 < s.least_e12 ? r->slow_e12 : s.least_e12;
			s.most_e12 = r->fast_e12 > s.most_e12 ? r->fast_e12 : s.most_e12;
		}
	}
	return s;
}

static int64_t share_of(int64_t lo, int64_t hi, int64_t share)
{
	return usk_saturate(((usk_i128)hi - lo) / share);
}

/* A bound, wider by a share of the width. */
static struct line draw_bound(const struct drawing *d, bool upper, int64_t share, size_t most)
{
	struct usk_gate *g = usk_grow(NULL, d->n_corners + 1, sizeof *g);
	for (size_t i = 0; i < d->n_corners; i++) {
		const struct corner *c = &d->corner[i];
		int64_t more = d->has[0] && d->has[1] ? share_of(c->lo, c->hi, share) : 100;
		g[i] = upper ? (struct usk_gate){ c->x, c->hi,
						  usk_saturate((usk_i128)c->hi + more) }
			     : (struct usk_gate){ c->x, usk_saturate((usk_i128)c->lo - more),
						  c->lo };
	}
	int64_t skew = d->w->p->max_skew_e12;
	struct line l = polyline(g, d->n_corners, (struct usk_slopes){ -skew, skew }, most);
	free(g);
	return l;
}

static struct line draw_estimate(const struct drawing *d, int64_t share, size_t most)
{
	struct usk_gate *g = usk_grow(NULL, d->n_gates + 1, sizeof *g);
	for (size_t i = 0; i < d->n_gates; i++) {
		const struct gate *c = &d->gate[i];
		int64_t more = share_of(c->lo, c->hi, share) + 1;
		int64_t lo = usk_saturate((usk_i128)c->wish - more);
		int64_t hi = usk_saturate((usk_i128)c->wish + more);
		/* 1 ns off, as the ends of links are rounded. */
		int64_t in = (usk_i128)c->hi - c->lo >= 4;
		g[i] = (struct usk_gate){ c->x, lo > c->lo + in ? lo : c->lo + in,
					  hi < c->hi - in ? hi : c->hi - in };
		g[i].lo = g[i].lo < c->wish ? g[i].lo : c->wish;
		g[i].hi = g[i].hi > c->wish ? g[i].hi : c->wish;
	}
	struct line l = polyline(g, d->n_gates, slopes_of(d), most);
	free(g);
	return l;
}

/* ---- knots -------------------------------------------------------------------------------------
 */

/* Places of all lines, each once; and some more. */
static size_t unite(const struct line *l, size_t lines, const int64_t *more, size_t n_more,
		    int64_t **out)
{
	size_t n = n_more;
	for (size_t i = 0; i < lines; i++) {
		n += l[i].n;
	}
	int64_t *x = *out = usk_grow(NULL, n + 1, sizeof *x);
	n = 0;
	for (size_t i = 0; i < lines; i++) {
		for (size_t k = 0; k < l[i].n; k++) {
			x[n++] = l[i].p[k].x;
		}
	}
	for (size_t k = 0; k < n_more; k++) {
		x[n++] = more[k];
	}
	qsort(x, n, sizeof *x, by_place);
	size_t m = 0;
	for (size_t k = 0; k < n; k++) {
		if (!m || x[m - 1] != x[k]) {
			x[m++] = x[k];
		}
	}
	return m;
}

/* Bounds as lines have them, and the estimate's rounding gives way to them. */
static void keep_exact(const struct usk_straight *s, struct usk_knot *k)
{
	if (s->lines) {
		usk_lines_at(s->lines, k->local_ns, &k->lo_ns, &k->hi_ns);
	}
	if (k->offset_ns != USK_NONE) {
		k->offset_ns = k->offset_ns < k->lo_ns	 ? k->lo_ns
			       : k->offset_ns > k->hi_ns ? k->hi_ns
							 : k->offset_ns;
	}
}

static void set_knots(struct drawing *d, const struct line *lo, const struct line *hi,
		      const struct line *mid, const int64_t *x, size_t n)
{
	size_t at[3] = { 0 };
	d->knot = usk_grow(d->knot, n + 1, sizeof *d->knot);
	d->n_knots = n;
	for (size_t i = 0; i < n; i++) {
		d->knot[i] =
			(struct usk_knot){ x[i], mid ? line_at(mid, &at[0], x[i], false) : USK_NONE,
					   d->has[0] ? line_at(lo, &at[1], x[i], false) : USK_NONE,
					   d->has[1] ? line_at(hi, &at[2], x[i], true) : USK_NONE,
					   0 };
		if (usk_is_straight(d->w, d->clock)) {
			keep_exact(&d->w->straight[d->clock], &d->knot[i]);
		}
	}
}

/* The map's own arithmetic. */
static int64_t offset_at(const struct usk_knot *k, int64_t x)
{
	usk_i128 rise = (usk_i128)k[1].offset_ns - k->offset_ns;
	return usk_saturate(k->offset_ns + usk_floor_div(rise * ((usk_i128)x - k->local_ns),
							 (usk_i128)k[1].local_ns - k->local_ns));
}

/* Gates that the knots as they are written miss, and T that falls: places that need a knot. */
static size_t missed(const struct drawing *d, int64_t **out)
{
	size_t n = 0, at = 0, cap = 0;
	int64_t *x = NULL;
	for (size_t i = 0; i < d->n_gates; i++) {
		const struct gate *g = &d->gate[i];
		while (at + 2 < d->n_knots && d->knot[at + 1].local_ns < g->x) {
			at++;
		}
		int64_t y = offset_at(&d->knot[at], g->x);
		bool falls = (usk_i128)d->knot[at + 1].local_ns + d->knot[at + 1].offset_ns <
			     (usk_i128)d->knot[at].local_ns + d->knot[at].offset_ns;
		if (y < g->lo || y > g->hi || falls) {
			x = usk_room(x, n, &cap, sizeof *x);
			x[n++] = g->x;
		}
	}
	*out = x;
	return n;
}

/* At the places the wish itself. */
static void pin(struct drawing *d, const int64_t *x, size_t n)
{
	for (size_t i = 0, k = 0, g = 0; i < n; i++) {
		while (g < d->n_gates && d->gate[g].x < x[i]) {
			g++;
		}
		while (k < d->n_knots && d->knot[k].local_ns < x[i]) {
			k++;
		}
		if (k < d->n_knots && g < d->n_gates && d->knot[k].local_ns == x[i]) {
			d->knot[k].offset_ns = d->gate[g].wish;
		}
	}
}

/* Between events, where a bound jumps, lines may fall: not what is written. */
static void keep_rising(struct drawing *d)
{
	for (size_t i = 1; i < d->n_knots && d->has[0] && d->has[1]; i++) {
		struct usk_knot *k = &d->knot[i];
		usk_i128 last = (usk_i128)k[-1].local_ns + k[-1].offset_ns;
		if ((usk_i128)k->local_ns + k->offset_ns < last) {
			k->offset_ns = usk_saturate(last - k->local_ns);
		}
	}
}

/* What chords cut off of the bounds is added to both their ends. */
static void hold_bounds(struct drawing *d)
{
	int64_t *more[2];
	size_t at = 0;
	for (int k = 0; k < 2; k++) {
		more[k] = usk_alloc(d->n_knots + 1, sizeof *more[k]);
	}
	for (size_t i = 0; i < d->n_corners; i++) {
		const struct corner *c = &d->corner[i];
		while (at + 2 < d->n_knots && d->knot[at + 1].local_ns < c->x) {
			at++;
		}
		struct usk_knot *a = &d->knot[at];
		usk_i128 run = (usk_i128)a[1].local_ns - a->local_ns,
			 x = (usk_i128)c->x - a->local_ns;
		usk_i128 lo = a->lo_ns + usk_floor_div(((usk_i128)a[1].lo_ns - a->lo_ns) * x, run);
		usk_i128 hi = a->hi_ns + usk_ceil_div(((usk_i128)a[1].hi_ns - a->hi_ns) * x, run);
		int64_t lacks[2] = { d->has[0] ? usk_saturate(lo - c->lo) : 0,
				     d->has[1] ? usk_saturate(c->hi - hi) : 0 };
		for (int k = 0; k < 2; k++) {
			for (size_t e = at; e < at + 2; e++) {
				more[k][e] = lacks[k] > more[k][e] ? lacks[k] : more[k][e];
			}
		}
	}
	for (size_t i = 0; i < d->n_knots; i++) {
		struct usk_knot *k = &d->knot[i];
		if (d->has[0]) {
			k->lo_ns = usk_saturate((usk_i128)k->lo_ns - more[0][i]);
			k->lo_ns = k->offset_ns != USK_NONE && k->offset_ns < k->lo_ns
					   ? k->offset_ns
					   : k->lo_ns;
		}
		if (d->has[1]) {
			k->hi_ns = usk_saturate((usk_i128)k->hi_ns + more[1][i]);
			k->hi_ns = k->offset_ns > k->hi_ns ? k->offset_ns : k->hi_ns;
		}
	}
	free(more[0]);
	free(more[1]);
}

/* The bound over x by the corners around it, the last one not right of x and the next; outwards. */
static int64_t bound_at(const struct corner *c, int64_t x, int side)
{
	usk_i128 run = (usk_i128)c[1].x - c->x, by = (usk_i128)x - c->x;
	return side ? usk_saturate(c->hi + usk_ceil_div(((usk_i128)c[1].hi - c->hi) * by, run))
		    : usk_saturate(c->lo + usk_floor_div(((usk_i128)c[1].lo - c->lo) * by, run));
}

/* A knot between two corners is a peak between them unless it is held down itself. */
static void hold_knots(struct drawing *d)
{
	size_t at = 0;
	for (size_t i = 0; i < d->n_knots && d->n_corners > 1; i++) {
		struct usk_knot *k = &d->knot[i];
		while (at + 2 < d->n_corners && d->corner[at + 1].x <= k->local_ns) {
			at++;
		}
		const struct corner *c = &d->corner[at];
		if (k->local_ns < c->x || k->local_ns > c[1].x) {
			continue;
		}
		for (int side = 0; side < 2; side++) {
			int64_t b = d->has[side] ? bound_at(c, k->local_ns, side) : 0;
			if (d->has[side] && side && k->hi_ns < b) {
				k->hi_ns = b;
			}
			if (d->has[side] && !side && k->lo_ns > b) {
				k->lo_ns = b;
			}
		}
	}
}

/* How far the bound at one end of a link may go in, the other end being `held`: corners of the link
 * stay outside. by: from the held end. */
static int64_t reach(const struct corner *c, size_t n, const struct usk_knot *held, int64_t held_at,
		     int64_t at, int sign)
{
	usk_i128 least = USK_TIME_MAX;
	usk_i128 run = at > held->local_ns ? (usk_i128)at - held->local_ns
					   : (usk_i128)held->local_ns - at;
	for (size_t i = 0; i < n; i++) {
		usk_i128 by = (usk_i128)c[i].x - held->local_ns;
		usk_i128 y = sign > 0 ? c[i].lo : -(usk_i128)c[i].hi;
		by = by < 0 ? -by : by;
		if (by > 0) {
			usk_i128 most = usk_floor_div((y - (usk_i128)sign * held_at) * run, by);
			least = most < least ? most : least;
		}
	}
	return usk_saturate(least + (usk_i128)sign * held_at);
}

/* Each knot's bounds as far in as its two links allow: lines leant on other places. */
static void tighten(struct drawing *d)
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
		for (to = at; !last && to < d->n_corners && d->corner[to].x <= k[1].local_ns; to++) {
		}
		for (int side = 0; side < 2 && d->has[0] && d->has[1]; side++) {
			int sign = side ? -1 : 1;
			int64_t now = side ? -k->hi_ns : k->lo_ns, in = sign * k->offset_ns, v;
			if (here < at || (at && at < d->n_corners)) {
				v = sign * (here < at ? (side ? d->corner[here].hi : d->corner[here].lo)
						      : bound_at(&d->corner[at - 1], k->local_ns, side));
				in = v < in ? v : in;
			}
			if (!first) {
				v = reach(d->corner + from, at - from, &k[-1],
					  side ? k[-1].hi_ns : k[-1].lo_ns, k->local_ns, sign);
				in = v < in ? v : in;
			}
			if (!last) {
				v = reach(d->corner + here, to - here, &k[1],
					  side ? k[1].hi_ns : k[1].lo_ns, k->local_ns, sign);
				in = v < in ? v : in;
			}
			now = in > now ? in : now;
			*(side ? &k->hi_ns : &k->lo_ns) = sign * now;
		}
	}
}

/* Ends of cells over which a bound is open: it jumps there. */
static size_t jump_places(const struct drawing *d, int64_t **out)
{
	size_t n = 0, cap = 0;
	int64_t *x = NULL;
	for (uint32_t i = d->from; i + 1 < d->to; i++) {
		struct usk_cell c = d->w->cell[i];
		if (c.lower > USK_SKEW || c.upper > USK_SKEW) {
			int64_t at[4] = { d->w->x[i], d->w->x[i] + 1, d->w->x[i + 1] - 1,
					  d->w->x[i + 1] };
			for (size_t k = 0; k < 4; k++) {
				if (at[k] >= d->w->x[i] && at[k] <= d->w->x[i + 1]) {
					x = usk_room(x, n, &cap, sizeof *x);
					x[n++] = at[k];
				}
			}
		}
	}
	*out = x;
	return n;
}

enum { PINS = 12 };

static struct line copy(const struct usk_xy *p, size_t n)
{
	struct line l = { usk_grow(NULL, n, sizeof *l.p), n };
	memcpy(l.p, p, n * sizeof *p);
	return l;
}

/* Lines as far from the bounds as a share of their width allows; false: a line has more knots. */
static bool draw_lines(const struct drawing *d, int64_t share, size_t most, struct line line[3])
{
	const struct usk_straight *s =
		usk_is_straight(d->w, d->clock) ? &d->w->straight[d->clock] : NULL;
	for (int k = 0; k < 2; k++) {
		if (d->has[k]) {
			line[k] = s ? copy(s->bound[k], s->n[k]) : draw_bound(d, k, share, most);
			if (!line[k].n) {
				return false;
			}
		}
	}
	if (d->has[0] && d->has[1]) {
		bool is_line = s && s->line[0].x < s->line[1].x;
		line[2] = is_line ? copy(s->line, 2)
				  : draw_estimate(d, 4096, most);
		return line[2].n;
	}
	return true;
}

/* Such lines; then the knots of all of them. Gives up where these are sure to be more than most. */
static void draw(struct drawing *d, int64_t share, size_t most)
{
	struct line line[3];
	int64_t *jump = NULL, *x = NULL;
	size_t lines = 3, n = 0, n_jump = 0;
	bool both = d->has[0] && d->has[1];
	struct line *mid = both ? &line[2] : NULL;
	memset(line, 0, sizeof line);
	/* The last resort, a knot for each event, may be fewer. */
	most = both && d->n_gates <= most ? SIZE_MAX : most;
	if (draw_lines(d, share, most, line)) {
		n_jump = jump_places(d, &jump);
		n = unite(line, lines, jump, n_jump, &x);
	}
	if (!n || n > most) {
		d->n_knots = most + 1;
		goto out;
	}
	set_knots(d, &line[0], &line[1], mid, x, n);
	for (int round = 0; round <= PINS && both; round++) {
		int64_t *place = NULL, *all = NULL;
		size_t n_place = missed(d, &place);
		if (round == PINS && n_place) { /* the fallback: every event */
			place = usk_grow(place, d->n_gates, sizeof *place);
			for (n_place = 0; n_place < d->n_gates; n_place++) {
				place[n_place] = d->gate[n_place].x;
			}
		}
		if (!n_place) {
			free(place);
			break;
		}
		/* Those that were pinned before stay so. */
		struct line now = { usk_grow(NULL, d->n_knots + 1, sizeof *now.p), d->n_knots };
		for (size_t i = 0; i < d->n_knots; i++) {
			now.p[i] = (struct usk_xy){ d->knot[i].local_ns, d->knot[i].offset_ns };
		}
		n = unite(&now, 1, place, n_place, &all);
		if (round == PINS) {
			free(all);
			all = usk_grow(NULL, n_place, sizeof *all);
			memcpy(all, place, n_place * sizeof *all);
			n = n_place;
		}
		set_knots(d, &line[0], &line[1], &now, all, n);
		pin(d, place, n_place);
		free(now.p);
		free(place);
		free(all);
	}
	keep_rising(d);
	hold_bounds(d);
	if (!usk_is_straight(d->w, d->clock)) {
		hold_knots(d);
		tighten(d);
	}
out:
	for (size_t k = 0; k < 3; k++) {
		free(line[k].p);
	}
	free(jump);
	free(x);
}

/* As near to the bounds as a share of the width, and less so the more knots that takes: half as
 * near brings half as many, and at FAR chords cost about 2 % of the width. */
static void draw_few(struct drawing *d)
{
	enum { NEAR = 768, FAR = 24, FEW_KNOTS = 128, MOST_KNOTS = 1 << 14 };
	for (int64_t share = NEAR; share; share /= 2) {
		size_t most = share > FAR ? FEW_KNOTS : share > 1 ? MOST_KNOTS : SIZE_MAX;
		draw(d, share, most);
		if (d->n_knots <= most) {
			break;
		}
	}
}

/* ---- the clock ---------------------------------------------------------------------------------
 */

static void write_slopes(const struct usk_work *w, const struct drawing *d, struct usk_clock *k)
{
	int64_t skew = w->p->max_skew_e12;
	for (int end = 0; end < 2; end++) {
		uint32_t cell = end ? d->to - 1 : d->from;
		cell -= end && cell > w->first[d->clock];
		const struct usk_run *r = &w->run[w->run_of[cell]];
		struct usk_slopes s = { r->slow_e12, r->fast_e12 };
		if (!usk_cell_calm(w->cell[cell])) {
			s = (struct usk_slopes){ -skew, skew };
		}
		bool tied = end ? d->to == w->first[d->clock + 1] : d->from == w->first[d->clock];
		if (!tied) { /* nothing bounds it any more behind what happened there */
			s = (struct usk_slopes){ -USK_E12, USK_E12 };
		}
		*(end ? &k->after : &k->before) = s;
	}
}

static void write_rates(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	int64_t least = w->p->max_skew_e12, most = -least, used = 0;
	for (size_t n = 0; n < w->n_runs; n++) {
		const struct usk_run *r = &w->run[n];
		if (r->clock == i) {
			least = r->least_e12 < least ? r->least_e12 : least;
			most = r->most_e12 > most ? r->most_e12 : most;
			used = r->wander_e12 > used ? r->wander_e12 : used;
		}
	}
	k->drift_min_ppm = (double)-most * 1e-6;
	k->drift_max_ppm = (double)-least * 1e-6;
	k->wander = (struct usk_wander){ w->p->model.wander_e12, 0, used };
	for (size_t n = 0; n < w->p->n_pairs; n++) {
		const struct usk_graph_pair *p = &w->p->pair[n];
		if (w->tied[n] && (p->a == i || p->b == i)) {
			bool one = p->a == w->reference || p->b == w->reference;
			int64_t need = w->calm[n].needed_e12;
			need = need == USK_NO_WANDER ? 0 : one ? need : need / 2 + need % 2;
			k->wander.needed_e12 =
				need > k->wander.needed_e12 ? need : k->wander.needed_e12;
		}
	}
	if (k->wander.needed_e12 > used) {
		k->wander.needed_e12 = used;
	}
}

/* ---- jumps -------------------------------------------------------------------------------------
 */

static int by_bracket(const void *pa, const void *pb)
{
	const struct usk_jump *a = pa, *b = pb;
	if (a->after_local_ns != b->after_local_ns) {
		return a->after_local_ns < b->after_local_ns ? -1 : 1;
	}
	return (a->before_local_ns > b->before_local_ns) -
	       (a->before_local_ns < b->before_local_ns);
}

/* The same event as several pairs saw it: what all of them allow. */
static size_t unite_jumps(struct usk_jump *j, size_t n)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		struct usk_jump *last = m ? &j[m - 1] : NULL;
		if (!last || j[i].after_local_ns >= last->before_local_ns) {
			j[m++] = j[i];
			continue;
		}
		last->kind = j[i].kind == USK_JUMP ? USK_JUMP : last->kind;
		last->or_of = last->of == j[i].of && last->or_of == j[i].or_of ? last->or_of
			      : last->or_of == USK_NO_CLOCK		       ? last->or_of
									       : j[i].or_of;
		last->before_local_ns = j[i].before_local_ns > last->before_local_ns
						? j[i].before_local_ns
						: last->before_local_ns;
		last->size_lo_ns = last->size_hi_ns = USK_NONE;
	}
	return m;
}

/* By how much the offset rose over a bracket, by the bounds at its ends. */
static void size_jump(const struct usk_work *w, uint32_t k, struct usk_jump *j)
{
	uint32_t a = w->first[k], b = w->first[k + 1] - 1;
	while (a < b && w->x[a + 1] <= j->after_local_ns) {
		a++;
	}
	while (b > a && w->x[b - 1] >= j->before_local_ns) {
		b--;
	}
	if (w->lo_ns[a] == USK_NONE || w->lo_ns[b] == USK_NONE || w->hi_ns[a] == USK_NONE ||
	    w->hi_ns[b] == USK_NONE) {
		return;
	}
	usk_i128 d = (usk_i128)w->x[b] - w->x[a];
	const struct usk_run *r = &w->run[w->run_of[a]];
	usk_i128 slow = usk_floor_div(d * r->slow_e12, USK_E12);
	usk_i128 fast = usk_ceil_div(d * r->fast_e12, USK_E12);
	j->size_lo_ns = usk_saturate((usk_i128)w->lo_ns[b] - w->hi_ns[a] - d - fast);
	j->size_hi_ns = usk_saturate((usk_i128)w->hi_ns[b] - w->lo_ns[a] - d - slow);
}

static void write_jumps(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	k->jump = usk_alloc(w->n_breaks + 1, sizeof *k->jump);
	for (size_t n = 0; n < w->n_breaks; n++) {
		const struct usk_break *b = &w->brk[n];
		const struct usk_seen *s = b->bracket == UINT32_MAX ? NULL : &w->seen[b->bracket];
		if (b->clock != i) {
			continue;
		}
		struct usk_jump j = { .kind = b->of_reference ? USK_JUMP : USK_BEND,
				      .of = b->of_reference ? w->reference : i,
				      .or_of = b->of_reference ? USK_NO_CLOCK : w->reference,
				      .after_local_ns =
					      usk_saturate((usk_i128)b->from_ns - b->fold_ns),
				      .before_local_ns =
					      usk_saturate((usk_i128)b->to_ns + b->fold_ns),
				      .size_lo_ns = USK_NONE,
				      .size_hi_ns = USK_NONE };
		if (b->back) { /* its own records say so */
			j.kind = USK_JUMP;
			j.or_of = USK_NO_CLOCK;
		}
		if (s) {
			bool mine = s->a == i ? s->may_be[0] : s->b == i && s->may_be[1];
			bool refs = s->a == w->reference ? s->may_be[0]
							 : s->b == w->reference && s->may_be[1];
			if (!mine && !refs) {
				continue; /* another clock's, for certain */
			}
			if (s->a != i && s->b != i && (s->may_be[0] && s->may_be[1])) {
				continue; /* rather that of the clock that was seen with it */
			}
			j.kind = s->at.step ? USK_JUMP : USK_BEND;
			j.of = mine ? i : w->reference;
			uint32_t other = s->a == i ? s->b : s->a;
			bool others = s->a == i ? s->may_be[1] : s->may_be[0];
			j.or_of = mine && others ? other : USK_NO_CLOCK;
		}
		k->jump[k->n_jumps++] = j;
	}
	if (k->n_jumps) {
		qsort(k->jump, k->n_jumps, sizeof *k->jump, by_bracket);
	}
	k->n_jumps = unite_jumps(k->jump, k->n_jumps);
	for (size_t n = 0; n < k->n_jumps; n++) {
		size_jump(w, i, &k->jump[n]);
	}
}

/* What happened last leaves nothing known of the clock if no messages both ways come after it, and
 * what happened first likewise: it lasts until the end. */
static void reach_ends(const struct drawing *d, struct usk_clock *k)
{
	const struct usk_work *w = d->w;
	uint32_t first = w->first[d->clock], last = w->first[d->clock + 1] - 1;
	for (size_t n = 0; n < k->n_jumps; n++) {
		struct usk_jump *j = &k->jump[n];
		if (d->to <= last && j->before_local_ns >= w->x[d->to - 1]) {
			j->before_local_ns = w->x[last];
		}
		if (d->from > first && j->after_local_ns <= w->x[d->from]) {
			j->after_local_ns = w->x[first];
		}
	}
}

static void write_stretches(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	size_t cap = 0;
	for (uint32_t e = w->first[i]; e + 1 < w->first[i + 1]; e++) {
		struct usk_disturbed *last =
			k->n_stretches ? &k->stretch[k->n_stretches - 1] : NULL;
		if (usk_cell_calm(w->cell[e])) {
			continue;
		}
		if (last && last->to_ns == w->x[e]) {
			last->to_ns = w->x[e + 1];
			continue;
		}
		k->stretch = usk_room(k->stretch, k->n_stretches, &cap, sizeof *k->stretch);
		k->stretch[k->n_stretches++] = (struct usk_disturbed){ w->x[e], w->x[e + 1], 0 };
	}
}

static void write_clock(struct usk_work *w, uint32_t i)
{
	struct usk_clock *k = &w->c->clock[i];
	struct drawing d = { .w = w, .clock = i, .from = w->first[i], .to = w->first[i + 1] };
	bool any[2] = { false, false }, both = false;
	for (uint32_t e = d.from; e < d.to; e++) {
		any[0] = any[0] || w->lo_ns[e] != USK_NONE;
		any[1] = any[1] || w->hi_ns[e] != USK_NONE;
		both = both || w->t_ns[e] != USK_NONE;
	}
	d.has[0] = both || any[0];
	d.has[1] = both || (any[1] && !any[0]);
	if (!d.has[0] && !d.has[1]) {
		return;
	}
	k->quality = both ? USK_BOUNDED : USK_ONE_SIDED;
	write_jumps(w, i, k);
	write_stretches(w, i, k);
	write_rates(w, i, k);
	while (d.from < d.to && ((d.has[0] && w->lo_ns[d.from] == USK_NONE) ||
				 (d.has[1] && w->hi_ns[d.from] == USK_NONE) ||
				 (both && w->t_ns[d.from] == USK_NONE))) {
		d.from++;
	}
	while (d.to > d.from && ((d.has[0] && w->lo_ns[d.to - 1] == USK_NONE) ||
				 (d.has[1] && w->hi_ns[d.to - 1] == USK_NONE) ||
				 (both && w->t_ns[d.to - 1] == USK_NONE))) {
		d.to--;
	}
	reach_ends(&d, k);
	make_corners(&d);
	if (both) {
		make_gates(&d);
	}
	draw_few(&d);
	k->knot = d.knot;
	k->n_knots = d.n_knots;
	k->drift_ppm = both ? usk_clock_drift(k) : NAN;
	write_slopes(w, &d, k);
	free(d.corner);
	free(d.gate);
}

static void write_clocks(void *ctx, size_t from, size_t to)
{
	struct usk_work *w = ctx;
	for (size_t i = from; i < to; i++) {
		if (w->clock[i] != w->reference) {
			write_clock(w, w->clock[i]);
		}
	}
}

void usk_publish(struct usk_work *w)
{
	usk_parallel(w->n_clocks, 1, w->p->threads, write_clocks, w);
}
