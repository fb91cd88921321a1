/* SPDX-License-Identifier: MIT */
/*
 * moments.c - what all clocks show at one moment, roughly
 *
 * In    frames of pairs, along ways from the reference
 * Out   ticks: stamps at which clocks are bounded though nothing ends there; the order of sweeps
 * Why   what happens at about the same time is looked at together
 * Not   anything that a bound could rest on
 */
#include "graph/work.h"

#include <stdlib.h>

/* ---- what clocks show --------------------------------------------------------------------------
 */

/* What a clock shows when its pair's other one, which is the frame's a or b, shows what `from`
 * says. */
static struct usk_rough across(const struct usk_frame *f, struct usk_rough from, bool to_b)
{
	bool sane = -USK_E12 / 2 < f->rate_e12 && f->rate_e12 < USK_E12 / 2;
	int64_t slope = sane ? f->rate_e12 : 0, pace;
	usk_i128 rate = USK_E12 + slope, d;
	if (to_b) {
		d = (usk_i128)from.x - f->local_ns - f->offset_ns;
		from.x = usk_saturate(f->local_ns + usk_floor_div(d * USK_E12, rate));
		pace = (int64_t)usk_floor_div((usk_i128)from.pace_e12 * USK_E12, rate);
	} else {
		d = (usk_i128)from.x - f->local_ns;
		d += usk_floor_div(d * slope, USK_E12);
		from.x = usk_saturate(f->local_ns + d + f->offset_ns);
		pace = (int64_t)usk_floor_div(from.pace_e12 * rate, USK_E12);
	}
	from.pace_e12 = USK_E12 / 2 < pace && pace < 2 * USK_E12 ? pace : from.pace_e12;
	return from;
}

/* What each clock shows when the reference shows its first stamp, and how fast it goes, roughly:
 * along ways, as frames of pairs say. */
static void read_clocks(struct usk_work *w)
{
	struct usk_path *path = usk_alloc(w->c->n_clocks, sizeof *path);
	w->rough = usk_alloc(w->c->n_clocks, sizeof *w->rough);
	usk_paths_of(w, w->reference, path);
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		w->rough[k] = (struct usk_rough){ w->p->span[k].first_ns, USK_E12, 0 };
	}
	w->outwards = usk_paths_outwards(w, path);
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		uint32_t k = w->outwards[i];
		if (!path[k].reached || !path[k].hops) {
			continue;
		}
		w->rough[k] = w->rough[path[k].from];
		if (path[k].pair != UINT32_MAX) {
			const struct usk_graph_pair *p = &w->p->pair[path[k].pair];
			w->rough[k] = across(&p->part->frame, w->rough[k], p->b == k);
		}
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		struct usk_rough *r = &w->rough[i];
		usk_i128 lag = ((usk_i128)USK_E12 - r->pace_e12) * ((usk_i128)1 << 40);
		r->lag = (int64_t)(lag / r->pace_e12);
	}
	free(path);
}

/* What the reference shows when a clock shows x, roughly: asked of every event, so it divides by
 * nothing but a power of two. */
static usk_i128 moment_of(const struct usk_work *w, uint32_t k, int64_t x)
{
	const struct usk_rough *r = &w->rough[k];
	usk_i128 d = (usk_i128)x - r->x, one = (usk_i128)1 << 40;
	return w->p->span[w->reference].first_ns + d + d * r->lag / one;
}

/* ---- ticks -------------------------------------------------------------------------------------
 */

/*
 * Stamps that are no end of anything, evenly all along: between two events bounds of several rates
 * are worth more than cones of all (rates.c). Where events are many they lie close enough. All
 * clocks have theirs at the same moments, nearly, so that pairs can be compared there (pairwise.c);
 * one that is seen for a part of the time alone has more of them, at moments between.
 */
enum { TICKS = 512, MOST_TICKS = 1 << 17 };

static uint32_t ticks_each(const struct usk_work *w, size_t edges)
{
	size_t most = MOST_TICKS / (w->n_clocks * w->share);
	most = most < TICKS ? most : TICKS;
	bool many = edges / w->n_clocks > 16 * TICKS || usk_messages_share(w) < USK_ALL;
	return many || most < 8 || w->hulls ? 1 : (uint32_t)most;
}

static void place_ticks(struct usk_work *w, size_t edges)
{
	usk_i128 last = -USK_INF;
	w->ticks = (struct usk_ticks){ ticks_each(w, edges), USK_INF, 0 };
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		usk_i128 a = moment_of(w, k, w->p->span[k].first_ns);
		usk_i128 b = moment_of(w, k, w->p->span[k].last_ns);
		w->ticks.first = a < w->ticks.first ? a : w->ticks.first;
		last = b > last ? b : last;
	}
	w->ticks.length = last - w->ticks.first;
}

/* How often moments are halved for a clock that is seen for a part of the time. */
static unsigned finer_of(const struct usk_work *w, uint32_t k)
{
	usk_i128 span = (usk_i128)w->p->span[k].last_ns - w->p->span[k].first_ns;
	unsigned finer = 0;
	while (finer < USK_FINEST && span << finer <= w->ticks.length / 2) {
		finer++;
	}
	return finer;
}

int64_t usk_tick_at(const struct usk_work *w, uint32_t k, unsigned finer, uint64_t n)
{
	usk_i128 all = (usk_i128)w->ticks.n << finer;
	usk_i128 t = w->ticks.first + w->ticks.length * n / all;
	usk_i128 d = t - w->p->span[w->reference].first_ns;
	return usk_saturate(w->rough[k].x + usk_floor_div(d * w->rough[k].pace_e12, USK_E12));
}

/* How many of these lie before x. */
static uint64_t ticks_before(const struct usk_work *w, uint32_t k, unsigned finer, int64_t x)
{
	uint64_t i;
	USK_FIRST(i, 0, ((uint64_t)w->ticks.n << finer) + 1, usk_tick_at(w, k, finer, i) >= x);
	return i;
}

struct usk_ticks_of usk_ticks_of(const struct usk_work *w, uint32_t k)
{
	const struct usk_graph_span *span = &w->p->span[k];
	struct usk_ticks_of t = { .finer = finer_of(w, k) };
	t.begin = ticks_before(w, k, t.finer, span->first_ns);
	t.end = ticks_before(w, k, t.finer, span->last_ns);
	t.end = w->ticks.n < 2 || t.end < t.begin ? t.begin : t.end;
	return t;
}

void usk_moments(struct usk_work *w, size_t edges)
{
	read_clocks(w);
	place_ticks(w, edges);
}

/* ---- the order of sweeps -----------------------------------------------------------------------
 */

struct moment {
	uint64_t t; /* the sign's bit turned round, so that it sorts */
	uint64_t event;
};

/* Nearly in order of time: the better, the fewer sweeps. */
void usk_moments_order(struct usk_work *w)
{
	uint32_t own = w->first[w->reference + 1] - w->first[w->reference];
	struct moment *m = usk_grow(NULL, w->n - own + 1, sizeof *m);
	w->n_order = 0;
	w->order = usk_grow(NULL, w->n + 1, sizeof *w->order);
	for (uint32_t i = 0, behind = w->n - own; i < w->n; i++) {
		uint32_t k = w->owner[i];
		if (k == w->reference) {
			w->order[behind++] = i;
			continue;
		}
		int64_t t = usk_saturate(moment_of(w, k, w->x[i]));
		m[w->n_order++] = (struct moment){ (uint64_t)t ^ UINT64_C(1) << 63, i };
	}
	/* Those of one moment stay in the order of events. */
	usk_sort_rows(&m->t, w->n_order, sizeof *m / sizeof m->t);
	for (size_t i = 0; i < w->n_order; i++) {
		w->order[i] = (uint32_t)m[i].event;
	}
	free(m);
}
