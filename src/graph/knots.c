/* SPDX-License-Identifier: MIT */
/*
 * knots.c - the fewest knots that hold a clock's bounds and pass the gates of its estimate
 *
 * In    corners, gates
 * Out   knots in whole ns
 * Why   a week has millions of events, and between them bounds bend
 *
 * Each line is the polyline with the fewest links through its gates. Whatever rounding does to it
 * is looked at with the integers that are written; a knot at each event is the fallback, which is
 * in order as the events are.
 *
 * A bound may be written wider than it is, by a small share of the width. Between knots it is a
 * chord; what a chord cuts off is added to both its ends, and then each knot goes in as far as its
 * two links allow.
 */
#include "fit/fit.h"
#include "graph/drawing.h"
#include "num/polyline.h"

#include <stdlib.h>
#include <string.h>

/* ---- polylines ---------------------------------------------------------------------------------
 */

struct line {
	struct usk_xy *p;
	size_t n;
};

/* On the line through its neighbours, rounded down or up. */
static int64_t line_at(const struct line *l, size_t *hint, int64_t x, bool up)
{
	return usk_saturate(usk_chords_at(l->p, l->n, hint, x, up));
}

static int64_t *bound_of(struct usk_knot *k, int side)
{
	return side ? &k->hi_ns : &k->lo_ns;
}

/* The slopes of all runs of the clock: messages that were dropped while thinning are in order if
 * estimates keep to them. */
static struct usk_slopes slopes_of(const struct usk_drawing *d)
{
	const struct usk_work *w = d->w;
	struct usk_slopes s = { w->p->max_skew_e12, -w->p->max_skew_e12 };
	for (size_t i = w->run_of[w->first[d->clock]]; i < w->n_runs && w->run[i].clock == d->clock;
	     i++) {
		const struct usk_run *r = &w->run[i];
		s.least_e12 = r->slow_e12 < s.least_e12 ? r->slow_e12 : s.least_e12;
		s.most_e12 = r->fast_e12 > s.most_e12 ? r->fast_e12 : s.most_e12;
	}
	return s;
}

static int64_t share_of(int64_t lo, int64_t hi, int64_t share)
{
	int64_t width;
	if (!__builtin_sub_overflow(hi, lo, &width)) {
		return width / share;
	}
	return usk_saturate(((usk_i128)hi - lo) / share);
}

struct bound {
	const struct usk_drawing *d;
	bool upper;
	int64_t share;
};

/* A bound, wider by a share of the width. */
static struct usk_gate bound_gate(const void *row, size_t i)
{
	const struct bound *b = row;
	const struct usk_bound_at *c = &b->d->corner[i];
	bool both = b->d->has[0] && b->d->has[1];
	int64_t at = c->bound[b->upper];
	int64_t more = both ? share_of(c->bound[0], c->bound[1], b->share) : 100;
	return b->upper ? (struct usk_gate){ c->x, at, usk_saturate((usk_i128)at + more) }
			: (struct usk_gate){ c->x, usk_saturate((usk_i128)at - more), at };
}

/* No more knots than most, those of beside and its own together. */
static struct line draw_bound(const struct usk_drawing *d, bool upper, int64_t share, size_t most,
			      const struct line *beside)
{
	const struct bound b = { d, upper, share };
	int64_t skew = d->w->p->max_skew_e12;
	struct line l;
	l.n = usk_polyline(bound_gate, &b, d->n_corners, -skew, skew, beside->p, beside->n,
			   most - beside->n, &l.p);
	return l;
}

/* Near the wish, and 1 ns inside the gate, as the ends of links are rounded. */
static struct usk_gate estimate_gate(const void *row, size_t i)
{
	enum { SHARE = 4096 };
	const struct usk_drawing *d = row;
	const struct usk_passage *c = &d->gate[i];
	int64_t more = share_of(c->lo, c->hi, SHARE) + 1;
	int64_t lo = usk_saturate((usk_i128)c->wish - more);
	int64_t hi = usk_saturate((usk_i128)c->wish + more);
	int64_t in = (usk_i128)c->hi - c->lo >= 4;
	struct usk_gate g = { c->x, lo > c->lo + in ? lo : c->lo + in,
			      hi < c->hi - in ? hi : c->hi - in };
	g.lo = g.lo < c->wish ? g.lo : c->wish;
	g.hi = g.hi > c->wish ? g.hi : c->wish;
	return g;
}

static struct line draw_estimate(const struct usk_drawing *d, size_t most)
{
	struct usk_slopes s = slopes_of(d);
	struct line l;
	l.n = usk_polyline(estimate_gate, d, d->n_gates, s.least_e12, s.most_e12, NULL, 0, most,
			   &l.p);
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
	qsort(x, n, sizeof *x, usk_by_int64);
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
		/* A bound that is out of range is none: USK_NONE is under every offset. */
		bool over = k->hi_ns != USK_NONE && k->offset_ns > k->hi_ns;
		k->offset_ns = k->offset_ns < k->lo_ns ? k->lo_ns : over ? k->hi_ns : k->offset_ns;
	}
}

static void set_knots(struct usk_drawing *d, const struct line *lo, const struct line *hi,
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

/* Does the map, which rounds down, miss a gate over the link behind a knot? By cross products: one
 * is asked for each event. */
static bool misses(const struct usk_knot *k, const struct usk_passage *g)
{
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 rise = ((usk_i128)k[1].offset_ns - k->offset_ns) * ((usk_i128)g->x - k->local_ns);
	return rise < ((usk_i128)g->lo - k->offset_ns) * run ||
	       rise >= ((usk_i128)g->hi - k->offset_ns + 1) * run;
}

/* Gates that the knots as they are written miss, and T that falls: places that need a knot. */
static size_t missed(const struct usk_drawing *d, int64_t **out)
{
	size_t n = 0, at = 0, cap = 0;
	int64_t *x = NULL;
	for (size_t i = 0; i < d->n_gates; i++) {
		const struct usk_passage *g = &d->gate[i];
		while (at + 2 < d->n_knots && d->knot[at + 1].local_ns < g->x) {
			at++;
		}
		bool falls = (usk_i128)d->knot[at + 1].local_ns + d->knot[at + 1].offset_ns <
			     (usk_i128)d->knot[at].local_ns + d->knot[at].offset_ns;
		if (falls || misses(&d->knot[at], g)) {
			x = usk_room(x, n, &cap, sizeof *x);
			x[n++] = g->x;
		}
	}
	*out = x;
	return n;
}

/* At the places the wish itself. */
static void pin(struct usk_drawing *d, const int64_t *x, size_t n)
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

/*
 * Between events, where a bound jumps, lines may fall: not what is written. Knots between gates give
 * way to those behind them, as these may be as far up as their gates allow.
 */
static void keep_rising(struct usk_drawing *d)
{
	if (!d->has[0] || !d->has[1]) {
		return;
	}
	for (size_t i = d->n_knots - 1, g = d->n_gates; i--;) {
		struct usk_knot *k = &d->knot[i];
		usk_i128 next = (usk_i128)k[1].local_ns + k[1].offset_ns;
		while (g && d->gate[g - 1].x > k->local_ns) {
			g--;
		}
		bool gate = g && d->gate[g - 1].x == k->local_ns;
		if (!gate && (usk_i128)k->local_ns + k->offset_ns > next) {
			k->offset_ns = usk_saturate(next - k->local_ns);
		}
	}
	for (size_t i = 1; i < d->n_knots; i++) {
		struct usk_knot *k = &d->knot[i];
		usk_i128 last = (usk_i128)k[-1].local_ns + k[-1].offset_ns;
		if ((usk_i128)k->local_ns + k->offset_ns < last) {
			k->offset_ns = usk_saturate(last - k->local_ns);
		}
	}
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

/* Ends of cells over which a bound is open: it jumps there. */
static size_t jump_places(const struct usk_drawing *d, int64_t **out)
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

/* Lines as far from the bounds as a share of their width allows; the estimate's, which goes by no
 * share, stays from draw to draw. false: they have more knots. */
static bool draw_lines(const struct usk_drawing *d, int64_t share, size_t most, struct line line[2],
		       struct line *mid)
{
	const struct line none = { NULL, 0 };
	const struct usk_straight *s =
		usk_is_straight(d->w, d->clock) ? &d->w->straight[d->clock] : NULL;
	for (int k = 0; k < 2; k++) {
		if (d->has[k]) {
			line[k] = s ? copy(s->bound[k], s->n[k])
				    : draw_bound(d, k, share, most, k ? &line[0] : &none);
			if (!line[k].n) {
				return false;
			}
		}
	}
	if (d->has[0] && d->has[1] && !mid->n) {
		bool is_line = s && s->line[0].x < s->line[1].x;
		free(mid->p);
		*mid = is_line ? copy(s->line, 2) : draw_estimate(d, most);
		return mid->n;
	}
	return mid->n <= most;
}

/* Such lines; then the knots of all of them. Gives up where these are sure to be more than most;
 * up to `few` are counted only, as they are drawn anew. */
static void draw(struct usk_drawing *d, int64_t share, size_t most, size_t few, struct line *wish)
{
	struct line line[2];
	int64_t *jump = NULL, *x = NULL;
	size_t n = 0, n_jump = 0;
	bool both = d->has[0] && d->has[1];
	struct line *mid = both ? wish : NULL;
	memset(line, 0, sizeof line);
	/* The last resort, a knot for each event, may be fewer. */
	most = both && d->n_gates <= most ? SIZE_MAX : most;
	if (draw_lines(d, share, most, line, wish)) {
		const struct line all[] = { line[0], line[1], *wish };
		n_jump = jump_places(d, &jump);
		n = unite(all, COUNT(all), jump, n_jump, &x);
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
	if (d->n_knots <= few) {
		goto out;
	}
	keep_rising(d);
	bool exact = usk_is_straight(d->w, d->clock);
	for (int side = 0; side < 2; side++) {
		if (d->has[side]) {
			hold_bound(d, side);
		}
		if (d->has[side] && !exact) {
			hold_knots(d, side);
		}
	}
	if (both && !exact) {
		tighten(d);
	}
out:
	free(line[0].p);
	free(line[1].p);
	free(jump);
	free(x);
}

enum { NEAR = 768, NEARER = 32, FAR = 24, FEW_KNOTS = 128, MOST_KNOTS = 1 << 14 };

/* Every pair of a clock goes through its knots, so with few pairs they may be nearer: at 32 chords
 * cost about 2 % of the width, at 24 3 %. */
static int64_t far_share(const struct usk_work *w, uint32_t k)
{
	enum { FEW_PAIRS = 16 };
	return w->pairs_of[k] > FEW_PAIRS ? FAR : NEARER;
}

/* As near to the bounds as a share of the width, and less so the more knots that takes: half as
 * near brings half as many. */
static void draw_near(struct usk_drawing *d, struct line *wish)
{
	int64_t share = NEAR, far = 0;
	draw(d, share, FEW_KNOTS, 0, wish);
	if (d->n_knots <= FEW_KNOTS) {
		return;
	}
	far = far_share(d->w, d->clock);
	/* Where these are not few either, no share in between brings it down to few. */
	draw(d, far, MOST_KNOTS, FEW_KNOTS, wish);
	if (d->n_knots <= FEW_KNOTS) {
		do {
			share = share / 2 > far ? share / 2 : far;
			draw(d, share, FEW_KNOTS, 0, wish);
		} while (d->n_knots > FEW_KNOTS && share > far);
		return;
	}
	for (share = far / 2; d->n_knots > MOST_KNOTS; share /= 2) {
		draw(d, share, MOST_KNOTS, 0, wish);
		if (d->n_knots > MOST_KNOTS && share == 1) {
			draw(d, share, SIZE_MAX, 0, wish);
			break;
		}
	}
}

void usk_draw_knots(struct usk_drawing *d)
{
	struct line wish = { NULL, 0 };
	draw_near(d, &wish);
	free(wish.p);
}
