/* SPDX-License-Identifier: MIT */
/*
 * estimate.c - one time for each event, inside its bounds and in order
 *
 * In    bounds of all events
 * Out   t_ns
 * Why   all lo together are a solution of the constraints, and so are all hi: their mean is one,
 *       and floors of means of integers are. Nothing has to be repaired afterwards
 * Not   knots (publish.c)
 *
 * What is certain must allow for all the wander that is assumed; the likeliest time is another
 * wish: along the way to the reference by each pair's course (curve.c), or an estimator's line. It
 * is put into the bounds, raised as little as it takes to be in order, and lowered likewise; the
 * mean of these two solutions is one. Where messages go one way only there is no course, and the
 * middle is that of the bounds under the least wander with which clocks explain the messages.
 */
#include "graph/curve.h"
#include "graph/work.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

/* ---- the middle --------------------------------------------------------------------------------
 */

/* What the pairs of each clock need of it, with some room. */
static int64_t *least_wanders(const struct usk_work *w)
{
	int64_t *out = usk_alloc(w->c->n_clocks, sizeof *out);
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const uint32_t both[] = { w->p->pair[i].a, w->p->pair[i].b };
		int64_t need = w->calm[i].needed_e12;
		for (int k = 0; k < 2 && w->tied[i]; k++) {
			int64_t all = w->wander_e12[both[k]], *most = &out[both[k]];
			*most = need >= all ? all : need > *most ? need : *most;
		}
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		int64_t all = w->wander_e12[i], *most = &out[i];
		*most = *most > 1 ? *most : 1;
		*most = 2 * *most < all ? 2 * *most : all;
	}
	return out;
}

static void set_wander(struct usk_work *w, const int64_t *wander)
{
	for (size_t i = 0; i < w->n_runs; i++) {
		struct usk_run *r = &w->run[i];
		r->wander_e12 = wander[r->clock];
		r->least_e12 = -w->p->max_skew_e12;
		r->most_e12 = w->p->max_skew_e12;
		usk_run_slopes(w, r);
	}
}

/* What is written never falls, whatever the clock may have done, and has one time for a stamp. */
static void forbid_falls(struct usk_work *w)
{
	for (size_t i = 0; i < w->n_slacks; i++) {
		w->slack[i].falling = 0;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		struct usk_cell *c = &w->cell[i];
		c->lower = c->lower == USK_UNBOUNDED ? USK_MONOTONE : c->lower;
		if (i + 1 < w->first[w->owner[i] + 1] && w->x[i] == w->x[i + 1]) {
			*c = (struct usk_cell){ USK_SKEW, USK_SKEW, false, c->folded };
		}
	}
}

static void copy_slacks(struct usk_slack *to, const struct usk_slack *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
	}
}

/* More wander for all, up to what is assumed; false: that was tried already. */
static bool allow_more(const struct usk_work *w, int64_t *wander)
{
	bool more = false;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		int64_t *mine = &wander[i], all = w->wander_e12[i];
		more = more || *mine < all;
		*mine = 4 * *mine < all ? 4 * *mine : all;
	}
	return more;
}

/* Narrows lo and hi by the least wander that explains the messages. */
static void narrow(struct usk_work *w)
{
	int64_t *wander = least_wanders(w);
	struct usk_run *run = usk_alloc(w->n_runs, sizeof *run);
	struct usk_cell *cell = usk_alloc(w->n + 1, sizeof *cell);
	memcpy(run, w->run, w->n_runs * sizeof *run);
	memcpy(cell, w->cell, w->n * sizeof *cell);
	struct usk_slack *slack = usk_alloc(w->n_slacks + 1, sizeof *slack);
	copy_slacks(slack, w->slack, w->n_slacks);
	forbid_falls(w);
	set_wander(w, wander);
	while (!usk_solve_bounds(w, false)) {
		bool more = allow_more(w, wander);
		if (!more) { /* it did fall: as it was, then */
			memcpy(w->cell, cell, w->n * sizeof *cell);
			copy_slacks(w->slack, slack, w->n_slacks);
		}
		set_wander(w, wander);
		usk_bounds_reset(w);
	}
	memcpy(w->run, run, w->n_runs * sizeof *run);
	memcpy(w->cell, cell, w->n * sizeof *cell);
	USK_FREE(run, cell, slack, wander);
}

/* ---- other wishes ------------------------------------------------------------------------------
 */

/* b against a, for each pair: what an estimator drew, or its likeliest course. */
struct course {
	const struct usk_knot *knot;
	struct usk_knot *own; /* to be freed */
	size_t n;
};

/* The link over b, by its first knot. */
static size_t link_at(const struct course *c, int64_t b)
{
	size_t i = 0, end = c->n - 1;
	while (end - i > 1) {
		size_t mid = i + (end - i) / 2;
		if (c->knot[mid].local_ns < b) {
			i = mid;
		} else {
			end = mid;
		}
	}
	return i;
}

static int64_t on_link(const struct course *c, size_t i, int64_t b)
{
	return usk_saturate((usk_i128)b + usk_line_at(c->knot, c->n, &i, b));
}

/* gap: set where something happened to the pair around b. */
static int64_t course_at(const struct course *c, int64_t b, bool *gap)
{
	size_t i = link_at(c, b);
	*gap = *gap || (c->knot[i].epoch != c->knot[i + 1].epoch && c->knot[i].local_ns < b &&
			b < c->knot[i + 1].local_ns);
	return on_link(c, i, b);
}

/* The first stamp over lo that a shows t at or later, if lo and hi are on one link, which rises to
 * there; lo: they are not. */
static usk_i128 turned_round(const struct course *c, int64_t a, usk_i128 lo, usk_i128 hi)
{
	if (lo != usk_saturate(lo) || hi != usk_saturate(hi)) {
		return lo;
	}
	size_t i = link_at(c, (int64_t)hi);
	const struct usk_knot *k = &c->knot[i];
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 rise = run + k[1].offset_ns - k->offset_ns;
	if (rise <= 0 || link_at(c, (int64_t)lo) != i) {
		return lo;
	}
	usk_i128 up = ((usk_i128)a - k->local_ns - k->offset_ns) * run - run / 2;
	usk_i128 b = usk_clamp(k->local_ns + usk_ceil_div(up, rise), lo + 1, hi);
	bool reaches = b == hi || on_link(c, i, (int64_t)b) >= a;
	bool first = b == lo + 1 || on_link(c, i, (int64_t)b - 1) < a;
	return reaches && first ? b : lo;
}

/* b's stamp when a shows t: the line turned round, by halving until one link is left. */
static int64_t course_back(const struct course *c, int64_t a, bool *gap)
{
	bool any = false;
	usk_i128 far = usk_e12(1) / 1000000; /* 1e6 ns to begin with */
	usk_i128 lo = (usk_i128)a - c->knot[0].offset_ns, hi = lo;
	while (course_at(c, usk_saturate(lo), &any) > a && far < USK_TIME_MAX) {
		lo -= far;
		far *= 2;
	}
	far = usk_e12(1) / 1000000;
	while (course_at(c, usk_saturate(hi), &any) < a && far < USK_TIME_MAX) {
		hi += far;
		far *= 2;
	}
	while (hi - lo > 1) {
		usk_i128 mid = turned_round(c, a, lo, hi);
		if (mid > lo) {
			hi = mid;
			break;
		}
		mid = lo + (hi - lo) / 2;
		if (course_at(c, usk_saturate(mid), &any) < a) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	course_at(c, usk_saturate(hi), gap);
	return usk_saturate(hi);
}

struct drawn {
	struct usk_work *w;
	const struct usk_path *path;
	struct course *course;
	bool *led;   /* by clock: each pair of its way has a course */
	size_t done; /* so many clocks have their wishes, outwards */
	bool lines;  /* estimators drew some, and these alone count */
};

/* Clocks so many hops apart: the wishes of one stand for the way from it to the reference. */
enum { STAGE = 64 };

/* What is wished of a clock at x, between two of its events; false: of one of them nothing is. */
static bool wished_at(const struct usk_work *w, uint32_t k, int64_t x, int64_t *t)
{
	uint32_t behind = usk_event_behind(w, k, x), before = behind - 1;
	if (behind == w->first[k] || behind == w->first[k + 1] || w->t_ns[before] == USK_NONE ||
	    w->t_ns[behind] == USK_NONE) {
		return false;
	}
	usk_i128 run = (usk_i128)w->x[behind] - w->x[before];
	usk_i128 rise = (usk_i128)w->t_ns[behind] - w->t_ns[before];
	*t = usk_saturate(w->t_ns[before] +
			  usk_floor_div(rise * ((usk_i128)x - w->x[before]), run));
	return true;
}

/* Along the way to the reference by each pair's course; where that is long, to a clock whose wishes
 * are known. */
static int64_t compose(const struct drawn *d, uint32_t k, int64_t x, bool *gap)
{
	const struct usk_work *w = d->w;
	const struct usk_path *path = d->path;
	int64_t t;
	for (uint32_t first = k; k != w->reference; k = path[k].from) {
		if (k != first && path[k].hops % STAGE == 0 && wished_at(w, k, x, &t)) {
			return t;
		}
		const struct course *c = &d->course[path[k].pair];
		x = w->p->pair[path[k].pair].b == k ? course_at(c, x, gap) : course_back(c, x, gap);
	}
	return x;
}

static void draw_pairs(void *ctx, size_t from, size_t to)
{
	struct drawn *d = ctx;
	const struct usk_graph_problem *problem = d->w->p;
	for (size_t i = from; i < to; i++) {
		const struct usk_graph_pair *p = &problem->pair[i];
		struct course *c = &d->course[i];
		bool on_way = d->path[p->a].pair == i || d->path[p->b].pair == i;
		if (!d->w->tied[i] || !on_way) {
			continue;
		}
		if (d->lines) {
			*c = (struct course){ p->line, NULL, p->n_line };
		} else {
			c->knot = c->own =
				usk_pair_curve(p->part, &d->w->calm[i], &problem->back[p->a],
					       &problem->back[p->b], &c->n);
		}
	}
}

/* How T goes on from an event where nothing happened, by the events on that side of it. */
struct line {
	uint32_t at;
	usk_i128 run, rise;
};

static int64_t line_at(const struct usk_work *w, const struct line *l, uint32_t i)
{
	usk_i128 d = (usk_i128)w->x[i] - w->x[l->at];
	return usk_saturate(w->t_ns[l->at] + usk_floor_div(l->rise * d, l->run));
}

/* From event at to the one that is as far from it as the gap is long, on the same side. */
static struct line line_from(const struct usk_work *w, const bool *calm, uint32_t at, bool back,
			     usk_i128 far)
{
	uint32_t k = at, first = w->first[w->owner[at]], last = w->first[w->owner[at] + 1] - 1;
	while (k != (back ? first : last) && calm[back ? k - 1 - first : k + 1 - first] &&
	       (back ? (usk_i128)w->x[at] - w->x[k] : (usk_i128)w->x[k] - w->x[at]) < far) {
		k = back ? k - 1 : k + 1;
	}
	usk_i128 run = (usk_i128)w->x[k] - w->x[at], rise = (usk_i128)w->t_ns[k] - w->t_ns[at];
	return run ? (struct line){ at, run, rise } : (struct line){ at, 1, 1 };
}

static bool may_be(const struct usk_work *w, uint32_t i, int64_t t)
{
	return w->lo_ns[i] <= t && (t <= w->hi_ns[i] || w->hi_ns[i] == USK_NONE);
}

/* Something happened between two events: the clock goes on as before until bounds say that it did,
 * then as behind. */
static void span(struct usk_work *w, const bool *calm, uint32_t from, uint32_t to)
{
	usk_i128 far = (usk_i128)w->x[to] - w->x[from];
	const struct line before = line_from(w, calm, from, true, far);
	const struct line behind = line_from(w, calm, to, false, far);
	bool happened = false;
	for (uint32_t i = from + 1; i < to; i++) {
		if (w->t_ns[i] != USK_NONE) {
			int64_t t = line_at(w, &before, i);
			happened = happened || !may_be(w, i, t);
			w->t_ns[i] = happened ? line_at(w, &behind, i) : t;
		}
	}
}

/* What happens to clocks on the way may show in two pairs, and in each of them at its own time: a
 * clock goes on meanwhile. */
static void wish_clocks(void *ctx, size_t from, size_t to)
{
	struct drawn *d = ctx;
	struct usk_work *w = d->w;
	for (size_t k = d->done + from; k < d->done + to; k++) {
		uint32_t clock = w->outwards[k], last = USK_NO_EVENT, first = w->first[clock];
		bool *calm = usk_alloc(w->first[clock + 1] - first + 1, sizeof *calm);
		for (uint32_t i = first; i < w->first[clock + 1]; i++) {
			bool gap = false;
			if (w->t_ns[i] != USK_NONE && d->led[clock]) {
				w->t_ns[i] = compose(d, clock, w->x[i], &gap);
				calm[i - first] = !gap;
			}
		}
		for (uint32_t i = first; i < w->first[clock + 1]; i++) {
			if (!calm[i - first]) {
				continue;
			}
			if (last != USK_NO_EVENT && last + 1 < i) {
				span(w, calm, last, i);
			}
			last = i;
		}
		free(calm);
	}
}

static bool has_lines(const struct usk_work *w)
{
	bool any = false;
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		any = any || (w->tied[i] && w->p->pair[i].n_line);
	}
	return any;
}

/* Are there messages both ways along all ways? */
static bool two_ways(const struct usk_work *w, const struct usk_path *path)
{
	bool all = true;
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		const struct usk_part *p =
			path[k].pair == UINT32_MAX ? NULL : w->p->pair[path[k].pair].part;
		all = all && (k == w->reference || (p && p->n[0] && p->n[1]));
	}
	return all;
}

static uint32_t stage_of(const struct usk_work *w, const struct usk_path *path, size_t n)
{
	uint32_t hops = path[w->outwards[n]].hops;
	return hops ? (hops - 1) / STAGE : 0;
}

/* Of all clocks whose ways lead over the same stages, then of those one stage further. */
static void wish_all(struct drawn *d)
{
	const struct usk_work *w = d->w;
	const struct usk_path *path = d->path;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		uint32_t k = w->outwards[i];
		d->led[k] =
			k == w->reference || (path[k].reached && path[k].pair != UINT32_MAX &&
					      d->course[path[k].pair].n && d->led[path[k].from]);
	}
	for (size_t to; d->done < w->n_clocks; d->done = to) {
		uint32_t stage = stage_of(w, path, d->done);
		for (to = d->done + 1; to < w->n_clocks && stage_of(w, path, to) == stage; to++) {
		}
		usk_parallel(to - d->done, 1, usk_threads(w), wish_clocks, d);
	}
}

static void wish(struct usk_work *w, const struct usk_path *path, bool lines)
{
	struct drawn d = { .w = w, .path = path, .lines = lines };
	d.course = usk_alloc(w->p->n_pairs + 1, sizeof *d.course);
	d.led = usk_alloc(w->c->n_clocks + 1, sizeof *d.led);
	usk_parallel(w->p->n_pairs, 4, usk_threads(w), draw_pairs, &d);
	wish_all(&d);
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		free(d.course[i].own);
	}
	USK_FREE(d.course, d.led);
}

/* ---- in order ----------------------------------------------------------------------------------
 */

static int64_t *copy(const int64_t *t, uint32_t n)
{
	int64_t *out = usk_grow(NULL, n + 1, sizeof *out);
	memcpy(out, t, n * sizeof *out);
	return out;
}

/* Does no bound keep a clock's events in the order of their stamps? */
static bool may_fall(const struct usk_work *w)
{
	bool any = false;
	for (uint32_t i = 0; i + 1 < w->n; i++) {
		bool inside = w->owner[i] == w->owner[i + 1];
		any = any || (inside && w->cell[i].lower == USK_UNBOUNDED);
	}
	return any;
}

static void project(struct usk_work *w)
{
	w->circles = may_fall(w);
	/* Bounds of lines are rounded apart, by more than a message next to the reference allows:
	 * the solutions next to them are solutions. */
	int64_t *lo = copy(w->lo_ns, w->n), *hi = copy(w->hi_ns, w->n);
	usk_settle_both(w, lo, NULL, hi, NULL);
	bool limited = usk_repeated(w, lo, hi);
	int64_t *up = limited ? usk_grow(NULL, w->n + 1, sizeof *up) : lo;
	for (uint32_t i = 0; i < w->n; i++) {
		int64_t t = w->t_ns[i];
		if (t != USK_NONE) {
			t = t < lo[i] ? lo[i] : t > hi[i] ? hi[i] : t;
		}
		up[i] = w->t_ns[i] = t;
	}
	if (!limited) {
		free(hi);
		hi = lo = NULL;
	}
	usk_settle_both(w, up, hi, w->t_ns, lo);
	for (uint32_t i = 0; i < w->n; i++) {
		if (up[i] != USK_NONE) {
			w->t_ns[i] = (int64_t)usk_floor_div((usk_i128)up[i] + w->t_ns[i], 2);
		}
	}
	if (limited) {
		free(lo);
		free(hi);
	}
	free(up);
}

void usk_estimate(struct usk_work *w)
{
	bool lines = has_lines(w);
	struct usk_path *path = usk_alloc(w->c->n_clocks, sizeof *path);
	w->t_ns = usk_grow(w->t_ns, w->n + 1, sizeof *w->t_ns);
	usk_paths_of(w, w->reference, path);
	if (!lines && !w->straight && !two_ways(w, path)) {
		narrow(w);
	}
	for (uint32_t i = 0; i < w->n; i++) {
		bool known = w->lo_ns[i] != USK_NONE && w->hi_ns[i] != USK_NONE;
		usk_i128 middle = 0;
		if (known && w->lo[i] > -USK_INF && w->hi[i] < USK_INF) {
			middle = usk_floor_div(usk_floor_div(w->lo[i] + w->hi[i], 2), USK_E12);
		} else if (known) {
			middle = usk_floor_div((usk_i128)w->lo_ns[i] + w->hi_ns[i], 2);
		}
		w->t_ns[i] = known ? usk_saturate(middle) : USK_NONE;
	}
	/* From here on all is in whole ns: what was exact makes room. */
	USK_FREE(w->lo, w->hi);
	w->lo = w->hi = NULL;
	if (lines || !w->straight) {
		wish(w, path, lines);
	}
	free(path);
	if (w->straight) {
		usk_straight_wish(w);
	}
	project(w);
	if (w->straight) {
		usk_straight_settled(w);
	}
}
