/* SPDX-License-Identifier: MIT */
/*
 * test_spend.c - what bends let through: bounds over cells with slack, and the paths that they came along
 *
 * A clock of a few events, bends that overlap anyhow, messages of a reference whose time is known. Bounds (graph/sweep.c) are held against
 * all pairs of events, from bends as doc/guarantees.md has it: no sums from the beginning. A bound that is crossed at its end has to be taken
 * back along its path (graph/cycles.c), to the message that it comes from.
 */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED	 4200
#define FAR	 INT64_C(10000000) /* upper bounds: lower ones do not get there */
#define MAX_SKEW INT64_C(500000000)

enum { EVENTS = 12, BENDS = 4, ALL_EVENTS = 2 * EVENTS };

struct bend {
	uint32_t first, end; /* of the cells behind these events */
	bool falls;
	int64_t rise_ns, fall_ns, twice_ns;
};

/* Clock 0 has events 0 to n - 1, clock 1 is the reference: n + i is its end of the message of event i. */
struct bent {
	uint32_t n;
	struct bend bend[BENDS];
	size_t n_bends;
	bool told[EVENTS]; /* by a message; sent: to the reference */
	struct usk_clock clock[2];
	struct usk_clocks clocks;
	struct usk_graph_problem problem;
	struct usk_run run;
	uint32_t first[3], outwards[2], order[ALL_EVENTS], peer[ALL_EVENTS], run_of[ALL_EVENTS];
	uint32_t owner[ALL_EVENTS], pair_of[ALL_EVENTS];
	int64_t x[ALL_EVENTS], wander[2];
	bool sent[ALL_EVENTS], suspect[2];
	struct usk_cell cell[ALL_EVENTS];
	struct usk_slack slack[EVENTS]; /* from each event on */
	usk_i128 lo[ALL_EVENTS], hi[ALL_EVENTS];
	struct usk_work w;
};

static int64_t below(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, (uint64_t)n);
}

/* ---- drawing ---------------------------------------------------------------------------------- */

static void draw_bends(struct bent *t, struct usk_rng *r, bool twice)
{
	t->n_bends = 1 + usk_rng_below(r, BENDS);
	for (size_t k = 0; k < t->n_bends; k++) {
		struct bend *b = &t->bend[k];
		b->first = (uint32_t)below(r, t->n - 1);
		b->end = b->first + 1 + (uint32_t)below(r, t->n - 1 - b->first);
		b->rise_ns = below(r, 3) ? below(r, 2000) : 0;
		b->fall_ns = below(r, 3) ? below(r, 2000) : 0;
		b->falls = below(r, 2);
		b->twice_ns = twice ? below(r, 2) * b->fall_ns : 0;
		for (uint32_t i = b->first; i < b->end; i++) {
			t->cell[i].slack = true;
		}
	}
}

/* What holds from an event on, of bends one by one. */
static struct usk_slack slack_at(const struct bent *t, uint32_t i)
{
	struct usk_slack s = { .first = i };
	for (size_t k = 0; k < t->n_bends; k++) {
		const struct bend *b = &t->bend[k];
		const bool ended = b->end <= i, within = b->first <= i && !ended;
		s.falling += within && b->falls;
		s.rise_ns += within ? b->rise_ns : 0;
		s.fall_ns += within ? b->fall_ns : 0;
		s.twice_ns += within ? b->twice_ns : 0;
		s.ended_rise_ns += ended ? b->rise_ns : 0;
		s.ended_fall_ns += ended ? b->fall_ns : 0;
	}
	return s;
}

static void draw_clock(struct bent *t, struct usk_rng *r)
{
	int64_t x = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		t->x[i] = x += 1 + below(r, below(r, 2) ? 2000 : 100);
		t->cell[i].lower = (uint8_t)(below(r, 8) ? below(r, USK_UNBOUNDED) : USK_UNBOUNDED);
		t->cell[i].upper = (uint8_t)(below(r, 8) ? below(r, USK_MONOTONE) : USK_UNBOUNDED);
	}
	t->run = (struct usk_run){ .slow_e12 = -below(r, MAX_SKEW),
				   .fast_e12 = below(r, MAX_SKEW),
				   .clock = 1 };
}

static void draw_messages(struct bent *t, struct usk_rng *r)
{
	for (uint32_t i = 0; i < t->n; i++) {
		t->told[i] = below(r, 2);
		t->sent[i] = below(r, 2);
		t->sent[t->n + i] = !t->sent[i];
		t->x[t->n + i] = below(r, 20000) + (t->sent[i] ? FAR : 0);
	}
}

static void draw(struct bent *t, uint64_t seed, bool twice)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	memset(t, 0, sizeof *t);
	t->n = 3 + (uint32_t)below(&r, EVENTS - 2);
	draw_clock(t, &r);
	draw_bends(t, &r, twice);
	draw_messages(t, &r);
	for (uint32_t i = 0; i < 2 * t->n; i++) {
		t->owner[i] = i >= t->n;
		t->order[i] = i;
	}
	t->outwards[0] = 1;
	t->first[1] = t->n;
	t->first[2] = 2 * t->n;
	t->clocks = (struct usk_clocks){ .clock = t->clock, .n_clocks = 2 };
	t->problem = (struct usk_graph_problem){ .model = { .kind = USK_SEGMENTS },
						 .max_skew_e12 = MAX_SKEW,
						 .threads = 1 };
	t->w = (struct usk_work){ .c = &t->clocks,
				  .p = &t->problem,
				  .n_clocks = 2,
				  .reference = 1,
				  .wander_e12 = t->wander,
				  .suspect = t->suspect,
				  .first = t->first,
				  .n = 2 * t->n,
				  .x = t->x,
				  .peer = t->peer,
				  .sent = t->sent,
				  .pair_of = t->pair_of,
				  .owner = t->owner,
				  .order = t->order,
				  .n_order = t->n,
				  .outwards = t->outwards,
				  .cell = t->cell,
				  .run_of = t->run_of,
				  .run = &t->run,
				  .n_runs = 1,
				  .slack = t->slack,
				  .lo = t->lo,
				  .hi = t->hi };
	for (uint32_t i = 0; i < t->n; i++) {
		t->slack[t->w.n_slacks] = slack_at(t, i);
		t->w.n_slacks++;
	}
	usk_in_order(&t->w);
}

static void done(struct bent *t)
{
	struct usk_in_order *o = &t->w.in_order;
	USK_FREE(o->before, o->behind, o->rise, t->w.brk, t->w.left_out);
}

/* Bounds by the messages of all events that are told, or of one alone. */
static void bound(struct bent *t, uint32_t only)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const bool counts = only == USK_NO_EVENT ? t->told[i] : i == only;
		t->peer[i] = counts ? t->n + i : USK_NO_EVENT;
		t->peer[t->n + i] = counts ? i : USK_NO_EVENT;
	}
	usk_bounds_reset(&t->w);
	assert_true(usk_propagate(&t->w));
}

/* ---- bounds, by all pairs of events ------------------------------------------------------------ */

static void raise(usk_i128 *lo, usk_i128 from, usk_i128 by, bool *moved)
{
	if (from > -USK_INF && from + by > *lo) {
		*lo = from + by;
		*moved = true;
	}
}

static void lower(usk_i128 *hi, usk_i128 from, usk_i128 by, bool *moved)
{
	if (from < USK_INF && from + by < *hi) {
		*hi = from + by;
		*moved = true;
	}
}

/* T rises over a cell by least to most; false: by anything. */
static void look_at_pair(uint32_t d, uint32_t e, bool any_least, usk_i128 least, bool any_most,
			 usk_i128 most, usk_i128 *lo, usk_i128 *hi, bool *moved)
{
	if (any_least) {
		raise(&lo[e], lo[d], least, moved);
		lower(&hi[d], hi[e], -least, moved);
	}
	if (any_most) {
		raise(&lo[d], lo[e], -most, moved);
		lower(&hi[e], hi[d], most, moved);
	}
}

/* Over all cells from d to e, which have slack: T jumps by no more than what bends show that lie in between, in part. */
static void look_from(const struct bent *t, uint32_t d, usk_i128 *lo, usk_i128 *hi, bool *moved)
{
	bool any_least = true, any_most = true;
	usk_i128 least = 0, most = 0, rise;
	for (uint32_t e = d + 1; e < t->n && t->cell[e - 1].slack; e++) {
		const usk_i128 apart = t->x[e] - t->x[e - 1];
		any_least = any_least && usk_cell_least_going(&t->w, e - 1, apart, &rise);
		least += any_least ? rise : 0;
		any_most = any_most && usk_cell_most_going(&t->w, e - 1, apart, &rise);
		most += any_most ? rise : 0;
		int64_t falls = 0, rises = 0;
		for (size_t k = 0; k < t->n_bends; k++) {
			const bool reaches = t->bend[k].first < e && t->bend[k].end > d;
			falls += reaches ? t->bend[k].fall_ns : 0;
			rises += reaches ? t->bend[k].rise_ns : 0;
		}
		look_at_pair(d, e, any_least, least - usk_e12(falls), any_most,
			     most + usk_e12(rises), lo, hi, moved);
	}
}

static void by_pairs(const struct bent *t, usk_i128 *lo, usk_i128 *hi)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const usk_i128 its = usk_e12(t->x[t->n + i]);
		lo[i] = t->told[i] && !t->sent[i] ? its : -USK_INF;
		hi[i] = t->told[i] && t->sent[i] ? its : USK_INF;
	}
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t d = 0; d + 1 < t->n; d++) {
			const usk_i128 apart = t->x[d + 1] - t->x[d];
			usk_i128 least, most;
			const bool any_least = usk_cell_least(&t->w, d, apart, &least);
			const bool any_most = usk_cell_most(&t->w, d, apart, &most);
			look_at_pair(d, d + 1, any_least, least, any_most, most, lo, hi, &moved);
			look_from(t, d, lo, hi, &moved);
		}
	}
}

static void test_bounds(void **state)
{
	(void)state;
	struct bent t;
	usk_i128 lo[EVENTS], hi[EVENTS];
	for (uint64_t k = case_first(3000); k < case_end(3000); k++) {
		draw(&t, SEED + k, false);
		bound(&t, USK_NO_EVENT);
		by_pairs(&t, lo, hi);
		for (uint32_t i = 0; i < t.n; i++) {
			if (t.lo[i] != lo[i] || t.hi[i] != hi[i]) {
				fail_msg("seed %llu: bounds of event %u of %u are %.3f and %.3f "
					 "ns, not %.3f and %.3f",
					 (unsigned long long)(SEED + k), i, t.n,
					 (double)t.lo[i] / 1e12, (double)t.hi[i] / 1e12,
					 (double)lo[i] / 1e12, (double)hi[i] / 1e12);
			}
		}
		done(&t);
	}
}

/* ---- paths ------------------------------------------------------------------------------------- */

/* The event whose message alone says as much of another; USK_NO_EVENT: none, or several. */
static uint32_t source(struct bent *t, uint32_t e, usk_i128 want, bool upper)
{
	uint32_t found = USK_NO_EVENT;
	size_t n = 0;
	for (uint32_t d = 0; d < t->n; d++) {
		if (t->told[d] && t->sent[d] == upper) {
			bound(t, d);
			const bool same = (upper ? t->hi : t->lo)[e] == want;
			found = same ? d : found;
			n += same;
		}
	}
	return n == 1 ? found : USK_NO_EVENT;
}

/* A message contradicts one bound of e, so that both of its paths are looked at. All messages are statements, which
 * are left out: these two, and so the path of the bound began with the message that it comes from. */
static void assert_path(struct bent *t, uint32_t e, uint32_t from, bool upper, uint64_t seed)
{
	struct usk_work *w = &t->w;
	bound(t, USK_NO_EVENT);
	t->peer[e] = t->n + from;
	t->sent[e] = !upper;
	(upper ? t->lo : t->hi)[e] = usk_e12(t->x[t->n + from]);
	w->crossed = e;
	w->n_left_out = 0;
	assert_true(usk_cycle_repair(w));
	bool found = false;
	for (size_t k = 0; k < w->n_left_out; k++) {
		const struct usk_left_out *l = &w->left_out[k];
		found = found || (upper ? l->from : l->to) == from;
	}
	if (!found || w->n_left_out != 2) {
		fail_msg("seed %llu: the %s bound of event %u of %u comes from event %u, and %zu "
			 "messages are left out, %s",
			 (unsigned long long)seed, upper ? "upper" : "lower", e, t->n, from,
			 w->n_left_out, found ? "this among them" : "but not this");
	}
}

static void test_paths(void **state)
{
	(void)state;
	size_t far = 0;
	for (uint64_t k = case_first(3000); k < case_end(3000); k++) {
		const uint64_t seed = SEED + k;
		struct bent t;
		draw(&t, seed, k % 2);
		for (uint32_t e = 0; e < t.n; e++) {
			for (int upper = 0; upper < 2 && !t.told[e]; upper++) {
				bound(&t, USK_NO_EVENT);
				const usk_i128 want = (upper ? t.hi : t.lo)[e];
				const uint32_t from = want > -USK_INF && want < USK_INF
							      ? source(&t, e, want, upper)
							      : USK_NO_EVENT;
				if (from != USK_NO_EVENT) {
					assert_path(&t, e, from, upper, seed);
					far += from + 1 < e || e + 1 < from;
				}
			}
		}
		done(&t);
	}
	assert_true(cases_are_few() || far > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
