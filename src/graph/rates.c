/* SPDX-License-Identifier: MIT */
/*
 * rates.c - each run's constant rate from its bounds, and bounds from the rate
 *
 * In    bounds of all events
 * Out   narrower rates, narrower bounds
 * Why   a long run says its rate to parts per 10^9 though no single stretch of it does
 * Not   wander beyond what is assumed (conflict.c, cycles.c)
 *
 * Between two events of a run T rises by no less than lo - hi and no more than hi - lo say: with
 * these as floors and ceilings the rates that are possible are those of doc/guarantees.md, s_lo and
 * s_hi.
 *
 * One cone for all of a run's rates lets one rate come from the left and another from the right.
 * Case split: under each of some shares of the rates that are possible the run is bounded by
 * itself, its neighbours held; a share that contradicts is gone, and the union of the others holds.
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

enum { RATE_ROUNDS = 6, LEAST_CASES = 8, MOST_CASES = 128, LEAST_SPLITS = 3, MOST_SPLITS = 8 };
/* Events by cases, and by rounds, are no more than these where there are many. */
enum { CASE_WORK = 1 << 20, SPLIT_WORK = 1 << 17 };

/* ---- rates -------------------------------------------------------------------------------------
 */

/* T less the stamp, ns, a ceiling mirrored: rounded outwards. */
static struct usk_xy point_of(const struct usk_work *w, uint32_t i, bool ceiling)
{
	usk_i128 t = ceiling ? usk_ceil_div(w->hi[i], USK_E12) : usk_floor_div(w->lo[i], USK_E12);
	usk_i128 y = t - w->x[i];
	return (struct usk_xy){ w->x[i], usk_saturate(ceiling ? -y : y) };
}

static bool usable(struct usk_xy p)
{
	return p.y < USK_TIME_MAX && p.y > -USK_TIME_MAX;
}

static void push_bounds(const struct usk_work *w, uint32_t i, bool mirrored, struct usk_needing *g)
{
	for (int ceiling = 0; ceiling < 2; ceiling++) {
		bool known = ceiling ? w->hi[i] < USK_INF : w->lo[i] > -USK_INF;
		struct usk_xy p = { 0, 0 };
		if (known && usable(p = point_of(w, i, ceiling))) {
			p.x = mirrored ? -p.x : p.x;
			usk_needing_push(g, ceiling, p);
		}
	}
}

/* A run as what is needed of it leaves it. */
static struct usk_run narrowed(struct usk_run r, const struct usk_need *need)
{
	if (need->has_lo) {
		usk_i128 least = (usk_i128)usk_slope_e12(need->s_lo, false) - r.wander_e12;
		r.least_e12 = least > r.least_e12 ? (int64_t)least : r.least_e12;
	}
	if (need->has_hi) {
		usk_i128 most = (usk_i128)usk_slope_e12(need->s_hi, true) + r.wander_e12;
		r.most_e12 = most < r.most_e12 ? (int64_t)most : r.most_e12;
	}
	return r;
}

/* false: nothing is narrower than before. */
static bool close_stretch(struct usk_needing *g, struct usk_run *r)
{
	struct usk_run was = *r;
	*r = narrowed(was, &g->need);
	usk_needing_clear(g);
	return r->least_e12 != was.least_e12 || r->most_e12 != was.most_e12;
}

/* All runs of a clock. false: nothing is narrower than before. */
static bool rates_of_clock(struct usk_work *w, uint32_t k)
{
	struct usk_needing g = { .n = { 0 } };
	bool any = false;
	for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
		push_bounds(w, i, false, &g);
		bool last = i + 1 == w->first[k + 1];
		if (last || !usk_cell_calm(w->cell[i]) || w->run_of[i + 1] != w->run_of[i]) {
			any = close_stretch(&g, &w->run[w->run_of[i]]) || any;
		}
	}
	usk_needing_free(&g);
	return any;
}

/* From one event on, or back from it, to the one at which no rate is left; the last one, if some is. */
static uint32_t push_until_torn(const struct usk_work *w, struct usk_run whole, uint32_t from,
				uint32_t to, struct usk_needing *g)
{
	for (uint32_t i = from;; i = from < to ? i + 1 : i - 1) {
		push_bounds(w, i, from > to, g);
		const struct usk_run r = narrowed(whole, &g->need);
		if (i == to || r.least_e12 > r.most_e12) {
			return i;
		}
	}
}

void usk_rates_torn(const struct usk_work *w, struct usk_chord chord[2])
{
	const uint32_t k = w->torn->clock;
	const struct usk_run whole = { .least_e12 = -w->p->max_skew_e12,
				       .most_e12 = w->p->max_skew_e12,
				       .wander_e12 = w->torn->wander_e12 };
	struct usk_needing g = { .n = { 0 } };
	const uint32_t last = w->first[k + 1] - 1;
	uint32_t from = w->first[k], to;
	while (from < last &&
	       (&w->run[w->run_of[from]] != w->torn || !usk_cell_calm(w->cell[from]))) {
		from++;
	}
	for (to = from;
	     to < last && usk_cell_calm(w->cell[to]) && w->run_of[to + 1] == w->run_of[from];
	     to++) {
	}
	to = push_until_torn(w, whole, from, to, &g);
	usk_needing_clear(&g);
	from = push_until_torn(w, whole, to, from, &g);
	usk_needing_clear(&g);
	push_until_torn(w, whole, from, to, &g);
	for (int most = 0; most < 2; most++) {
		const bool has = most ? g.need.has_hi : g.need.has_lo;
		chord[most] = has ? (struct usk_chord){ usk_event_behind(
								w, k, (usk_i128)g.from_x[most] - 1),
							usk_event_behind(
								w, k, (usk_i128)g.to_x[most] - 1) }
				  : (struct usk_chord){ from, to };
	}
	usk_needing_free(&g);
}

/* ---- case split --------------------------------------------------------------------------------
 */

struct split {
	struct usk_work *w;
	struct usk_sweeps *sweeps; /* NULL: nobody has to know */
	uint32_t from, to;	   /* events */
	usk_i128 *lo, *hi;	   /* of a case */
	usk_i128 *least, *most;	   /* union of all cases */
};

/* Bounds of the events in a case; false: it contradicts. Cells in which nothing is calm do as they
 * do in any case, and pass nothing on that is not known already. */
static bool bound_case(struct split *s, int64_t slow, int64_t fast)
{
	const struct usk_work *w = s->w;
	const int64_t *x = w->x + s->from;
	const struct usk_cell *cell = w->cell + s->from;
	const int64_t least = USK_E12 + slow, most = USK_E12 + fast;
	uint32_t n = s->to - s->from;
	usk_i128 lo = w->lo[s->from], hi = w->hi[s->from], v;
	for (uint32_t i = 0;; i++) {
		s->lo[i] = lo;
		s->hi[i] = hi;
		if (lo > hi) {
			return false;
		}
		if (i + 1 == n) {
			break;
		}
		const usk_i128 d = (uint64_t)x[i + 1] - (uint64_t)x[i];
		v = usk_cell_keeps(cell[i], false) && lo > -USK_INF ? lo + d * least : -USK_INF;
		lo = w->lo[s->from + i + 1];
		lo = v > lo ? v : lo;
		v = usk_cell_keeps(cell[i], true) && hi < USK_INF ? hi + d * most : USK_INF;
		hi = w->hi[s->from + i + 1];
		hi = v < hi ? v : hi;
	}
	for (uint32_t i = n - 1; i-- > 0;) {
		const usk_i128 d = (uint64_t)x[i + 1] - (uint64_t)x[i];
		v = usk_cell_keeps(cell[i], true) && lo > -USK_INF ? lo - d * most : -USK_INF;
		lo = s->lo[i] = v > s->lo[i] ? v : s->lo[i];
		v = usk_cell_keeps(cell[i], false) && hi < USK_INF ? hi - d * least : USK_INF;
		hi = s->hi[i] = v < s->hi[i] ? v : s->hi[i];
		if (lo > hi) {
			return false;
		}
	}
	return true;
}

/* Whichever case it was, a bound is no better than this. */
static void unite_case(struct split *s, bool first)
{
	usk_i128 *least = s->least, *most = s->most;
	if (first) {
		s->least = s->lo;
		s->most = s->hi;
		s->lo = least;
		s->hi = most;
		return;
	}
	for (uint32_t i = 0; i < s->to - s->from; i++) {
		least[i] = least[i] < s->lo[i] ? least[i] : s->lo[i];
		most[i] = most[i] > s->hi[i] ? most[i] : s->hi[i];
	}
}

/* What holds in all cases. false: it was known already. */
static bool take_union(struct split *s)
{
	struct usk_work *w = s->w;
	bool any = false;
	for (uint32_t i = 0; i < s->to - s->from; i++) {
		uint32_t e = s->from + i;
		if (w->lo[e] != s->least[i] || w->hi[e] != s->most[i]) {
			w->lo[e] = s->least[i];
			w->hi[e] = s->most[i];
			any = true;
			if (s->sweeps) {
				usk_sweeps_touch(s->sweeps, e);
			}
		}
	}
	return any;
}

/* false: nothing is narrower than before. */
static bool split_run(struct split *s, struct usk_run *r, uint32_t cases)
{
	int64_t least = r->least_e12, most = r->most_e12, skew = s->w->p->max_skew_e12;
	usk_i128 width = (usk_i128)most - least;
	bool any = false;
	for (uint32_t k = 0; k < cases; k++) {
		int64_t a = (int64_t)(least + width * k / cases);
		int64_t b = (int64_t)(least + width * (k + 1) / cases);
		int64_t slow = a - r->wander_e12 > -skew ? a - r->wander_e12 : -skew;
		int64_t fast = b + r->wander_e12 < skew ? b + r->wander_e12 : skew;
		if (bound_case(s, slow, fast)) {
			unite_case(s, !any);
			r->least_e12 = any ? r->least_e12 : a;
			r->most_e12 = b;
			any = true;
		}
	}
	if (!any) { /* no rate is left */
		r->least_e12 = 1;
		r->most_e12 = 0;
		return true;
	}
	any = take_union(s);
	return any || r->least_e12 != least || r->most_e12 != most;
}

static uint32_t cases_of(size_t events)
{
	return (uint32_t)usk_clamp(CASE_WORK / (events + 1), LEAST_CASES, MOST_CASES);
}

/* For cases of any of these clocks, one after the other. */
static usk_i128 *room_for(const struct usk_work *w, size_t from, size_t to)
{
	size_t most = 0;
	for (size_t k = from; k < to; k++) {
		size_t n = w->first[k + 1] - w->first[k];
		most = n > most ? n : most;
	}
	return usk_grow(NULL, 4 * most + 4, sizeof(usk_i128));
}

/* false: nothing is narrower than before. */
static bool split_clock(struct usk_work *w, struct usk_sweeps *sweeps, uint32_t k, uint32_t cases,
			usk_i128 *room)
{
	size_t n = w->first[k + 1] - w->first[k];
	struct split s = { w, sweeps, 0, 0, room, room + n, room + 2 * n, room + 3 * n };
	bool any = false;
	for (s.from = w->first[k]; s.from < w->first[k + 1]; s.from = s.to) {
		for (s.to = s.from + 1;
		     s.to < w->first[k + 1] && w->run_of[s.to] == w->run_of[s.from]; s.to++) {
		}
		struct usk_run *r = &w->run[w->run_of[s.from]];
		if (s.to - s.from > 1 && r->least_e12 < r->most_e12) {
			any = split_run(&s, r, cases) || any;
		}
	}
	return any;
}

/* ---- by turns ----------------------------------------------------------------------------------
 */

struct turn {
	struct usk_work *w;
	struct usk_sweeps *sweeps;
	bool split;
};

/* What was done with the same bounds and rates before does nothing again. */
static void turn_clocks(void *ctx, size_t from, size_t to)
{
	struct turn *t = ctx;
	const uint8_t mine = t->split ? USK_NEWS_TO_CASES : USK_NEWS_TO_RATES;
	const uint32_t cases = cases_of(t->w->n * t->w->share);
	usk_i128 *room = t->split ? room_for(t->w, from, to) : NULL;
	for (uint32_t k = (uint32_t)from; k < to; k++) {
		uint8_t *news = usk_sweeps_news(t->sweeps, k);
		if (k == t->w->reference || !(*news & mine)) {
			continue;
		}
		*news &= (uint8_t)~mine;
		if (t->split && split_clock(t->w, t->sweeps, k, cases, room)) {
			*news = USK_NEWS_TO_ALL;
		} else if (!t->split && rates_of_clock(t->w, k)) {
			*news |= USK_NEWS_TO_CASES;
		}
	}
	free(room);
}

/* Slopes from rates. false: a run has no rate left, w->torn. */
static bool take_rates(struct usk_work *w, struct usk_sweeps *sweeps)
{
	bool *changed = usk_alloc(w->n_runs + 1, sizeof *changed), any = false;
	for (size_t i = 0; i < w->n_runs; i++) {
		struct usk_run *r = &w->run[i], was = *r;
		if (r->least_e12 > r->most_e12) {
			w->torn = r;
			break;
		}
		usk_run_slopes(w, r);
		changed[i] = r->slow_e12 != was.slow_e12 || r->fast_e12 != was.fast_e12;
		any = any || changed[i];
	}
	if (any && !w->torn) {
		usk_sweeps_runs(sweeps, changed);
	}
	free(changed);
	return !w->torn;
}

static bool turn(struct usk_work *w, struct usk_sweeps *sweeps, bool split)
{
	enum { STRETCHES = 64 };
	struct turn t = { w, sweeps, split };
	usk_parallel(w->n_clocks, w->n_clocks / STRETCHES + 1, usk_threads(w), turn_clocks, &t);
	return take_rates(w, sweeps);
}

static usk_i128 freedom(const struct usk_work *w)
{
	usk_i128 sum = 0;
	for (size_t i = 0; i < w->n_runs; i++) {
		sum += (usk_i128)w->run[i].fast_e12 - w->run[i].slow_e12;
	}
	return sum;
}

static bool by_turns(struct usk_work *w, struct usk_sweeps *s)
{
	usk_i128 before = 0, now = freedom(w);
	bool good = usk_sweeps_run(s);
	for (int round = 0; round < RATE_ROUNDS && good; round++) {
		before = now;
		good = turn(w, s, false) && usk_sweeps_run(s);
		now = freedom(w);
		if (before - now <= before / 64) {
			break;
		}
	}
	return good;
}

static bool by_cases(struct usk_work *w, struct usk_sweeps *s)
{
	uint32_t splits =
		(uint32_t)usk_clamp(SPLIT_WORK / (w->n * w->share + 1), LEAST_SPLITS, MOST_SPLITS);
	bool good = true;
	for (uint32_t round = 0; round < splits && good; round++) {
		good = turn(w, s, true) && turn(w, s, false) && usk_sweeps_run(s);
	}
	return good;
}

/* What pairs say by their own rates is left out if it contradicts the rest: what cannot be true is
 * taken back by messages and stretches alone. */
static bool by_pairs(struct usk_work *w, struct usk_sweeps *s)
{
	usk_i128 *lo, *hi;
	struct usk_run *run;
	bool good;
	usk_pairwise_find(w);
	if (!w->n_pairwise) {
		free(w->pairwise);
		w->pairwise = NULL;
		return false;
	}
	usk_sweeps_pairs(s);
	lo = usk_grow(NULL, w->n, sizeof *lo);
	hi = usk_grow(NULL, w->n, sizeof *hi);
	run = usk_grow(NULL, w->n_runs, sizeof *run);
	memcpy(lo, w->lo, w->n * sizeof *lo);
	memcpy(hi, w->hi, w->n * sizeof *hi);
	memcpy(run, w->run, w->n_runs * sizeof *run);
	good = by_turns(w, s) && by_cases(w, s);
	if (!good) {
		memcpy(w->lo, lo, w->n * sizeof *lo);
		memcpy(w->hi, hi, w->n * sizeof *hi);
		memcpy(w->run, run, w->n_runs * sizeof *run);
		w->torn = NULL;
		w->crossed = USK_NO_EVENT;
		usk_sweeps_all(s);
	}
	w->n_pairwise = 0;
	free(w->pairwise);
	w->pairwise = NULL;
	USK_FREE(lo, hi, run);
	return good;
}

bool usk_solve_bounds(struct usk_work *w, bool split)
{
	struct usk_sweeps *s = usk_sweeps_begin(w);
	w->torn = NULL;
	bool good = by_turns(w, s) && (!split || by_pairs(w, s) || by_cases(w, s));
	usk_sweeps_end(s);
	return good;
}

bool usk_bounds_alone(struct usk_work *w, uint32_t events)
{
	const struct usk_run *r = w->run;
	usk_i128 *room = room_for(w, 0, 1);
	for (int round = 0; round < LEAST_SPLITS && r->least_e12 <= r->most_e12; round++) {
		rates_of_clock(w, 0);
		split_clock(w, NULL, 0, cases_of(events), room);
	}
	free(room);
	return r->least_e12 <= r->most_e12;
}
