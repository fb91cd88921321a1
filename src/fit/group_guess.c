/* SPDX-License-Identifier: MIT */
/*
 * group_guess.c - lines to begin with, clock after clock
 *
 * In    receptions, by broadcast
 * Out   a line for each clock that shares broadcasts with the root, or with one that does; each
 *       reception as far beside the guess
 * Why   what is left to find is small then, and doubles hold it
 * Not   the best lines (group.c)
 */
#include "fit/group_work.h"

#include <math.h>

static long double guess(const struct usk_group_line *l, int64_t y, int64_t zero)
{
	return usk_real((usk_i128)y - zero + l->offset_ns) + l->rest_ns +
	       l->slope * usk_real((usk_i128)y - l->local_ns);
}

/* The first clock of a broadcast that is tied to this root already, or NULL. */
static const struct usk_group_seen *tied_of(const struct usk_group_work *g, size_t k, uint32_t root)
{
	for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
		uint32_t clock = g->at[i].clock;
		if (g->clock[clock].tied && g->out->line[clock].root == root) {
			return &g->at[i];
		}
	}
	return NULL;
}

static const struct usk_group_seen *of_clock(const struct usk_group_work *g, size_t k,
					     uint32_t clock)
{
	for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
		if (g->at[i].clock == clock) {
			return &g->at[i];
		}
	}
	return NULL;
}

/* Least squares against clocks that are tied; false: at one time only. */
static bool tie(struct usk_group_work *g, uint32_t clock, uint32_t root)
{
	struct usk_group_line *l = &g->out->line[clock];
	struct usk_group_clock *c = &g->clock[clock];
	int64_t zero = INT64_MIN, offset = 0;
	long double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
	for (size_t k = 0; k < g->n_broadcasts; k++) {
		const struct usk_group_seen *own = of_clock(g, k, clock);
		const struct usk_group_seen *other = own ? tied_of(g, k, root) : NULL;
		if (!other) {
			continue;
		}
		const struct usk_group_line *o = &g->out->line[other->clock];
		if (zero == INT64_MIN) {
			zero = own->y;
			offset = usk_whole_ns(guess(o, other->y, zero));
		}
		long double x = usk_real((usk_i128)own->y - zero);
		long double y = guess(o, other->y, zero) - (long double)offset - x;
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	long double d = n * sxx - sx * sx;
	if (!(d > 0)) {
		return false;
	}
	long double slope = (n * sxy - sx * sy) / d;
	/* About the middle of its stamps: there unknowns are. */
	int64_t middle = (int64_t)usk_floor_div((usk_i128)c->from + c->to, 2);
	*l = (struct usk_group_line){
		.known = true,
		.root = root,
		.local_ns = middle,
		.offset_ns = offset,
		.rest_ns = (sy - slope * sx) / n + slope * usk_real((usk_i128)middle - zero),
		.slope = slope,
	};
	return true;
}

/* Broadcasts that one more clock received are shared with one that is tied. */
static void share(struct usk_group_work *g, uint32_t clock)
{
	g->clock[clock].tied = true;
	for (size_t k = 0; k < g->n_broadcasts; k++) {
		if (g->shared[k] || !of_clock(g, k, clock)) {
			continue;
		}
		g->shared[k] = true;
		for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
			struct usk_group_clock *c = &g->clock[g->at[i].clock];
			int64_t y = g->at[i].y;
			c->low = !c->shared || y < c->low ? y : c->low;
			c->high = !c->shared || y > c->high ? y : c->high;
			c->shared++;
		}
	}
}

/* Of clocks that are not tied the one that shares most with those that are, at two times; else
 * UINT32_MAX. */
static uint32_t nearest(const struct usk_group_work *g)
{
	uint32_t best = UINT32_MAX;
	size_t most = 0;
	for (uint32_t i = 0; i < g->out->n_clocks; i++) {
		const struct usk_group_clock *c = &g->clock[i];
		if (!c->tied && c->shared > most && c->low < c->high) {
			most = c->shared;
			best = i;
		}
	}
	return best;
}

/* One group: its root, then clock after clock. */
static void tie_group(struct usk_group_work *g, uint32_t root)
{
	size_t before = g->n_unknown;
	share(g, root);
	g->out->line[root] = (struct usk_group_line){ .known = true,
						      .root = root,
						      .local_ns = g->clock[root].from };
	for (uint32_t k; (k = nearest(g)) != UINT32_MAX;) {
		if (tie(g, k, root)) {
			share(g, k);
			g->clock[k].number = g->n_unknown / 2 + 1;
			g->n_unknown += 2;
		} else {
			g->clock[k].shared = 0;
		}
	}
	g->out->line[root].known = g->n_unknown > before;
}

static void span_clocks(struct usk_group_work *g)
{
	for (size_t i = 0; i < g->out->n_clocks; i++) {
		g->clock[i].from = INT64_MAX;
		g->clock[i].to = INT64_MIN;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct usk_group_clock *c = &g->clock[g->at[i].clock];
		c->from = g->at[i].y < c->from ? g->at[i].y : c->from;
		c->to = g->at[i].y > c->to ? g->at[i].y : c->to;
		c->wide = c->from < c->to;
	}
}

/* Receptions by the guess: x, and r against the first of the broadcast, in units. What is left of
 * a broadcast without clocks that are not tied is kept if it is two. */
static void measure(struct usk_group_work *g)
{
	size_t kept = 0, broadcasts = 0;
	long double sum = 0;
	for (size_t k = 0; k < g->n_broadcasts; k++) {
		size_t from = kept, i = g->first[k], end = g->first[k + 1];
		long double least = INFINITY;
		int64_t zero = g->at[i].y;
		for (; i < end; i++) {
			const struct usk_group_line *l = &g->out->line[g->at[i].clock];
			const struct usk_group_clock *c = &g->clock[g->at[i].clock];
			if (!l->known ||
			    (kept > from && l->root != g->out->line[g->at[from].clock].root)) {
				continue;
			}
			struct usk_group_seen s = g->at[i];
			long double half = usk_real((usk_i128)c->to - c->from) / 2;
			long double t = guess(l, s.y, zero);
			s.x = (double)(usk_real((usk_i128)s.y - l->local_ns) / half);
			zero = kept == from ? usk_saturate((usk_i128)zero + usk_whole_ns(t)) : zero;
			t = kept == from ? guess(l, s.y, zero) : t;
			s.r = (double)t;
			least = t < least ? t : least;
			g->at[kept++] = s;
		}
		for (i = from; i < kept; i++) {
			sum += (long double)g->at[i].r - least;
		}
		kept = kept - from < 2 ? from : kept;
		g->first[broadcasts] = from;
		broadcasts += kept > from;
	}
	g->first[broadcasts] = kept;
	g->n_broadcasts = broadcasts;
	g->n = kept;
	g->unit = kept ? fmax((double)(sum / (long double)kept), 1e-3) : 1;
	for (size_t i = 0; i < kept; i++) {
		g->at[i].r /= g->unit;
	}
}

void usk_group_guess(struct usk_group_work *g, uint32_t root)
{
	span_clocks(g);
	g->shared = usk_alloc(g->n_broadcasts + 1, sizeof *g->shared);
	for (uint32_t i = 0; i <= g->out->n_clocks; i++) {
		uint32_t k = i ? i - 1 : root;
		if (k < g->out->n_clocks && g->clock[k].wide && !g->clock[k].tied) {
			tie_group(g, k);
		}
	}
	measure(g);
}
