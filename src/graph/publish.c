/* SPDX-License-Identifier: MIT */
/*
 * publish.c - from bounds of events to clocks that everyone can apply
 *
 * In    bounds and estimates of all events
 * Out   each clock's quality, knots (gates.c, knots.c), jumps (jumps.c), rates, slopes beyond the
 *       ends
 */
#include "fit/fit.h"
#include "graph/drawing.h"
#include "num/polyline.h"

#include <math.h>
#include <stdlib.h>

static void write_slopes(const struct usk_work *w, const struct usk_drawing *d, struct usk_clock *k)
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
		if (!d->tied[end]) { /* nothing bounds it any more behind what happened there */
			s = (struct usk_slopes){ -USK_E12, USK_E12 };
		}
		*(end ? &k->after : &k->before) = s;
	}
}

/* Of all clocks but the reference: rates that their runs leave open, and what they need and use of
 * wander. */
static void write_rates(struct usk_work *w)
{
	struct usk_clock *clock = w->c->clock;
	const struct usk_clock reference = clock[w->reference];
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		struct usk_clock *k = &clock[i];
		k->drift_min_ppm = (double)w->p->max_skew_e12 * 1e-6;
		k->drift_max_ppm = -k->drift_min_ppm;
		k->wander = (struct usk_wander){ w->p->model.wander_e12, 0, 0 };
	}
	for (size_t n = 0; n < w->n_runs; n++) {
		const struct usk_run *r = &w->run[n];
		struct usk_clock *k = &clock[r->clock];
		double min = (double)-r->most_e12 * 1e-6, max = (double)-r->least_e12 * 1e-6;
		int64_t *used = &k->wander.used_e12;
		k->drift_min_ppm = min < k->drift_min_ppm ? min : k->drift_min_ppm;
		k->drift_max_ppm = max > k->drift_max_ppm ? max : k->drift_max_ppm;
		*used = r->wander_e12 > *used ? r->wander_e12 : *used;
	}
	for (size_t n = 0; n < w->p->n_pairs; n++) {
		const uint32_t both[] = { w->p->pair[n].a, w->p->pair[n].b };
		bool one = both[0] == w->reference || both[1] == w->reference;
		int64_t need = w->calm[n].needed_e12;
		need = need == USK_NO_WANDER ? 0 : one ? need : need / 2 + need % 2;
		for (int i = 0; i < 2 && w->tied[n]; i++) {
			struct usk_wander *x = &clock[both[i]].wander;
			int64_t most = need < x->used_e12 ? need : x->used_e12;
			x->needed_e12 = most > x->needed_e12 ? most : x->needed_e12;
		}
	}
	clock[w->reference] = reference;
}

/* A bound, and not less than the estimate needs (a lower one: not more). If it needs more than
 * slopes allow, the clock jumped, by nobody knows how much: a bracket says so, and as much again is
 * no band of no width. */
static void open_to(int64_t *bound, int64_t t, int64_t to, bool upper)
{
	bool jumped = to != USK_NONE && to != t && upper == (to < t);
	*bound = to == USK_NONE ? t : jumped ? usk_saturate(2 * (usk_i128)t - to) : to;
}

/* Bounds where messages bound one side only, to hold the estimate; they part fast, and those that
 * nothing says are not written (untie_ends()). */
static void open_ends(struct usk_work *w, const struct usk_drawing *d)
{
	uint32_t a = d->from, b = d->to - 1;
	for (uint32_t i = b + 1; i < w->first[d->clock + 1]; i++) {
		usk_i128 hi = w->hi_ns[b] + 2 * ((usk_i128)w->x[i] - w->x[b]);
		open_to(&w->lo_ns[i], w->t_ns[i], w->filled[i] ? w->lo_ns[b] : w->lo_ns[i], false);
		open_to(&w->hi_ns[i], w->t_ns[i], usk_saturate(hi), true);
	}
	for (uint32_t i = w->first[d->clock]; i < a; i++) {
		usk_i128 lo = w->lo_ns[a] - 2 * ((usk_i128)w->x[a] - w->x[i]);
		open_to(&w->lo_ns[i], w->t_ns[i], usk_saturate(lo), false);
		open_to(&w->hi_ns[i], w->t_ns[i], w->filled[i] ? w->hi_ns[a] : w->hi_ns[i], true);
	}
}

/* Is a gate missed where the outermost line goes on, or is that no clock's? */
static bool strays(const struct usk_drawing *d, const struct usk_drawing *all)
{
	int64_t skew = d->w->p->max_skew_e12;
	bool far = false;
	for (int end = 0; end < 2; end++) {
		const struct usk_knot *k = d->knot + (end ? d->n_knots - 2 : 0), *at = k + end;
		usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
		usk_i128 rise = (usk_i128)k[1].offset_ns - k->offset_ns;
		usk_i128 steep = (rise < 0 ? -rise : rise) * USK_E12;
		for (size_t i = 0; i < all->n_gates && !far; i++) {
			const struct usk_passage *g = &all->gate[i];
			usk_i128 away = (usk_i128)g->x - at->local_ns;
			if (end ? away > 0 : away < 0) {
				usk_i128 y = at->offset_ns + usk_floor_div(rise * away, run);
				far = y < g->lo || y > g->hi || steep > run * skew;
			}
		}
	}
	return far;
}

/* Does only order bound that stamp of an event on a side, where T may fall? Then nothing does. */
static bool loose(const struct usk_drawing *d, uint32_t e, uint8_t side)
{
	const struct usk_work *w = d->w;
	uint32_t i = usk_event_behind(w, d->clock, (usk_i128)w->x[e] - 1);
	while (i < d->to && w->x[i] == w->x[e] && w->filled[i] & side) {
		i++;
	}
	return i == d->to || w->x[i] != w->x[e];
}

/* The same of any stamp: a bound between two events is known where it is at both. */
static bool untied(const struct usk_drawing *d, int64_t x, uint8_t side)
{
	uint32_t e = usk_event_behind(d->w, d->clock, x);
	bool at_event = e > d->from && d->w->x[e - 1] == x;
	return (e > d->from && loose(d, e - 1, side)) ||
	       (!at_event && e < d->to && loose(d, e, side));
}

/* Behind the last event that is bounded on both sides nothing says how late it is at most, before
 * the first how early; and where T may fall, nothing says anything. */
static void untie_ends(struct usk_drawing *all, int64_t first_ns, int64_t last_ns)
{
	for (size_t i = 0; i < all->n_knots; i++) {
		struct usk_knot *k = &all->knot[i];
		bool before = k->local_ns < first_ns;
		bool behind = k->local_ns > last_ns;
		if (before || (behind && untied(all, k->local_ns, USK_FILLED_LO))) {
			k->lo_ns = USK_NONE;
		}
		if (behind || (before && untied(all, k->local_ns, USK_FILLED_HI))) {
			k->hi_ns = USK_NONE;
		}
	}
}

/* Knots to the first event and the last one, if what is known does not go on to there. */
static void draw_ends(struct usk_work *w, struct usk_drawing *d)
{
	uint32_t first = w->first[d->clock], end = w->first[d->clock + 1];
	struct usk_drawing all = {
		.w = w, .clock = d->clock, .from = first, .to = end, .drawn = d->drawn + 1
	};
	if (d->from == first && d->to == end) {
		return;
	}
	all.has[0] = all.has[1] = true;
	open_ends(w, d);
	usk_draw_gates(&all);
	if (strays(d, &all)) {
		usk_draw_corners(&all);
		usk_draw_knots(&all);
		untie_ends(&all, w->x[d->from], w->x[d->to - 1]);
		free(d->knot);
		d->knot = all.knot;
		d->n_knots = all.n_knots;
	}
	USK_FREE(all.corner, all.gate);
}

/* Is less known of an event than is drawn? */
static bool lacks(const struct usk_drawing *d, uint32_t e, bool estimate)
{
	const struct usk_work *w = d->w;
	return (d->has[0] && w->lo_ns[e] == USK_NONE) || (d->has[1] && w->hi_ns[e] == USK_NONE) ||
	       (estimate && (w->t_ns[e] == USK_NONE || (w->filled[e] && !d->adrift)));
}

/* ---- beyond the ends --------------------------------------------------------------------------
 */

/* A bound of a clock of constant rate at x, beyond an outermost knot; outwards. */
static int64_t bound_beyond(const struct usk_clock *k, const struct usk_straight *s, int upper,
			    int64_t x)
{
	bool left = x < k->knot[0].local_ns;
	const struct usk_knot *end = left ? k->knot : &k->knot[k->n_knots - 1];
	const struct usk_slopes *rate = left ? &k->before : &k->after;
	int64_t slope = left == upper ? rate->least_e12 : rate->most_e12;
	struct usk_xy in = { end->local_ns, upper ? end->hi_ns : end->lo_ns };
	for (size_t i = 0; i < s->n_beyond[upper]; i++) {
		size_t n = left ? s->n_beyond[upper] - 1 - i : i;
		struct usk_xy out = s->beyond[upper][n];
		if (left ? out.x <= x : out.x >= x) {
			return usk_saturate(left ? usk_chord(out, in, x, upper)
						 : usk_chord(in, out, x, upper));
		}
		in = left == (out.x < in.x) ? out : in;
	}
	usk_i128 more = ((usk_i128)x - in.x) * slope;
	return usk_saturate(in.y +
			    (upper ? usk_ceil_div(more, USK_E12) : usk_floor_div(more, USK_E12)));
}

/* Corners that lie before the first event, behind the last; the estimate stays inside. */
static void write_beyond(const struct usk_work *w, uint32_t i, struct usk_clock *k)
{
	const struct usk_straight *s = &w->straight[i];
	size_t n = s->n_beyond[0] + s->n_beyond[1];
	if (!n) {
		return;
	}
	struct usk_map *map = usk_map_new(k, w->p->max_skew_e12);
	int64_t *x = usk_alloc(n + 1, sizeof *x), last = INT64_MIN;
	struct usk_beyond *out = usk_alloc(n + 1, sizeof *out);
	for (size_t at = 0; at < n; at++) {
		size_t lower = s->n_beyond[0];
		x[at] = at < lower ? s->beyond[0][at].x : s->beyond[1][at - lower].x;
	}
	qsort(x, n, sizeof *x, usk_by_int64);
	for (size_t at = 0; at < n; at++) {
		struct usk_stamp t;
		if (x[at] == last || usk_map_at(map, x[at], &t, NULL)) {
			continue;
		}
		last = x[at];
		int64_t own = t.reference_ns - last;
		int64_t lo = bound_beyond(k, s, 0, last), hi = bound_beyond(k, s, 1, last);
		out[k->n_beyond++] =
			(struct usk_beyond){ last, lo < own ? lo : own, hi > own ? hi : own };
	}
	k->beyond = out;
	usk_map_free(map);
	free(x);
}

static void write_clock(struct usk_work *w, uint32_t i)
{
	struct usk_clock *k = &w->c->clock[i];
	struct usk_drawing d = { .w = w,
				 .clock = i,
				 .from = w->first[i],
				 .to = w->first[i + 1],
				 .drawn = &w->drawn[2 * i] };
	bool any[2] = { false, false }, both = false, firm = false;
	for (uint32_t e = d.from; e < d.to; e++) {
		any[0] = any[0] || w->lo_ns[e] != USK_NONE;
		any[1] = any[1] || w->hi_ns[e] != USK_NONE;
		both = both || w->t_ns[e] != USK_NONE;
		firm = firm ||
		       (w->lo_ns[e] != USK_NONE && w->hi_ns[e] != USK_NONE && !w->filled[e]);
	}
	d.adrift = both && !firm;
	d.has[0] = both || any[0];
	d.has[1] = both || (any[1] && !any[0]);
	if (!d.has[0] && !d.has[1]) {
		k->drift_min_ppm = k->drift_max_ppm = NAN;
		k->wander = (struct usk_wander){ 0 };
		return;
	}
	k->quality = both ? USK_BOUNDED : USK_ONE_SIDED;
	usk_write_jumps(w, i, k);
	usk_write_stretches(w, i, k);
	while (d.from < d.to && lacks(&d, d.from, both)) {
		d.from++;
	}
	while (d.to > d.from && lacks(&d, d.to - 1, both)) {
		d.to--;
	}
	d.tied[0] = d.from == w->first[i] && !d.adrift;
	d.tied[1] = d.to == w->first[i + 1] && !d.adrift;
	usk_reach_ends(&d, k);
	usk_draw_corners(&d);
	if (both) {
		usk_draw_gates(&d);
	}
	usk_draw_knots(&d);
	if (both) {
		draw_ends(w, &d);
	}
	k->knot = d.knot;
	k->n_knots = d.n_knots;
	k->drift_ppm = both ? usk_clock_drift(k) : NAN;
	if (!both) { /* one side tells no rate */
		k->drift_min_ppm = k->drift_max_ppm = NAN;
	}
	write_slopes(w, &d, k);
	if (both && usk_is_straight(w, i)) {
		write_beyond(w, i, k);
	}
	USK_FREE(d.corner, d.gate);
}

static void write_clocks(void *ctx, size_t from, size_t to)
{
	struct usk_work *w = ctx;
	for (uint32_t i = (uint32_t)from; i < to; i++) {
		if (i != w->reference) {
			write_clock(w, i);
		}
	}
}

void usk_publish(struct usk_work *w)
{
	write_rates(w);
	w->pairs_of = usk_alloc(w->c->n_clocks, sizeof *w->pairs_of);
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		w->pairs_of[w->p->pair[i].a] += w->tied[i];
		w->pairs_of[w->p->pair[i].b] += w->tied[i];
	}
	usk_parallel(w->n_clocks, 1, usk_threads(w), write_clocks, w);
	free(w->pairs_of);
}
