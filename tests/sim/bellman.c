/* SPDX-License-Identifier: MIT */
#include "bellman.h"

#include "unskew.h"

#include <stdlib.h>

#define E12 ((usk_i128)1000000000000)

enum { TURNS = 60 };

static const struct bellman *sorting;

static int by_place(const void *a, const void *b)
{
	const struct bellman_event *x = &sorting->event[*(const size_t *)a],
				   *y = &sorting->event[*(const size_t *)b];
	return x->clock != y->clock ? (x->clock > y->clock) - (x->clock < y->clock)
	       : x->run != y->run   ? (x->run > y->run) - (x->run < y->run)
	       : x->local_ns != y->local_ns
		       ? (x->local_ns > y->local_ns) - (x->local_ns < y->local_ns)
		       : 0;
}

/* The least and the most that T does in a ns of a clock, 10^-12 ns. */
static usk_i128 slowest(const struct bellman *b, uint32_t clock)
{
	const struct bellman_clock *c = &b->clock[clock];
	usk_i128 rate = (usk_i128)c->slow_e12 - c->wander_e12;
	return E12 + (rate > -b->max_skew_e12 ? rate : -b->max_skew_e12);
}

static usk_i128 fastest(const struct bellman *b, uint32_t clock)
{
	const struct bellman_clock *c = &b->clock[clock];
	usk_i128 rate = (usk_i128)c->fast_e12 + c->wander_e12;
	return E12 + (rate < b->max_skew_e12 ? rate : b->max_skew_e12);
}

static bool raise(usk_i128 *lo, usk_i128 to)
{
	bool moves = to > *lo;
	*lo = moves ? to : *lo;
	return moves;
}

static bool lower(usk_i128 *hi, usk_i128 to)
{
	bool moves = to < *hi;
	*hi = moves ? to : *hi;
	return moves;
}

/* T[second] - T[first] lies within these. */
static bool relax(struct bellman_event *first, struct bellman_event *second, usk_i128 least,
		  usk_i128 most)
{
	bool moves = false;
	if (first->lo > -BELLMAN_NONE) {
		moves = raise(&second->lo, first->lo + least) || moves;
	}
	if (second->hi < BELLMAN_NONE) {
		moves = lower(&first->hi, second->hi - least) || moves;
	}
	if (first->hi < BELLMAN_NONE && most < BELLMAN_NONE) {
		moves = lower(&second->hi, first->hi + most) || moves;
	}
	if (second->lo > -BELLMAN_NONE && most < BELLMAN_NONE) {
		moves = raise(&first->lo, second->lo - most) || moves;
	}
	return moves;
}

static bool relax_neighbours(struct bellman *b, size_t i)
{
	struct bellman_event *x = &b->event[b->order[i]], *y = &b->event[b->order[i + 1]];
	if (x->clock != y->clock || x->run != y->run || x->clock == b->reference) {
		return false;
	}
	usk_i128 d = (usk_i128)y->local_ns - x->local_ns;
	return relax(x, y, d * slowest(b, x->clock), d * fastest(b, x->clock));
}

/* Until nothing moves. A cycle that cannot be satisfied would move for ever: lo passes hi. */
static bool relax_all(struct bellman *b)
{
	usk_i128 least = -b->resolution_ns * (E12 + b->max_skew_e12);
	for (bool moves = true; moves;) {
		moves = false;
		for (size_t i = 0; i + 1 < b->n; i++) {
			moves = relax_neighbours(b, i) || moves;
		}
		for (size_t i = b->n; i-- > 1;) {
			moves = relax_neighbours(b, i - 1) || moves;
		}
		for (size_t i = 0; i < b->n_messages; i++) {
			moves = relax(&b->event[b->message[i].sent],
				      &b->event[b->message[i].received], least, BELLMAN_NONE) ||
				moves;
		}
		for (size_t i = 0; i < b->n; i++) {
			if (b->event[i].lo > b->event[i].hi) {
				return false;
			}
		}
	}
	return true;
}

/* What two events of a run say of the constant. */
static bool narrow(const struct bellman *b, const struct bellman_event *x,
		   const struct bellman_event *y)
{
	struct bellman_clock *c = &b->clock[x->clock];
	usk_i128 d = (usk_i128)y->local_ns - x->local_ns;
	bool moves = false;
	/* Multiplied first: a division only where it says something new. */
	if (x->hi < BELLMAN_NONE && y->lo > -BELLMAN_NONE) {
		usk_i128 least = y->lo - x->hi - d * (E12 + c->wander_e12);
		if (least > d * c->slow_e12) {
			c->slow_e12 = (int64_t)usk_floor_div(least, d);
			moves = true;
		}
	}
	if (x->lo > -BELLMAN_NONE && y->hi < BELLMAN_NONE) {
		usk_i128 most = y->hi - x->lo - d * (E12 - c->wander_e12);
		if (most < d * c->fast_e12) {
			c->fast_e12 = (int64_t)usk_ceil_div(most, d);
			moves = true;
		}
	}
	return moves;
}

static bool narrow_all(struct bellman *b)
{
	bool moves = false;
	for (size_t i = 0; i < b->n; i++) {
		const struct bellman_event *x = &b->event[b->order[i]];
		for (size_t k = i + 1; k < b->n && x->clock != b->reference; k++) {
			const struct bellman_event *y = &b->event[b->order[k]];
			if (y->clock != x->clock || y->run != x->run) {
				break;
			}
			if (y->local_ns > x->local_ns) {
				int64_t slow = b->clock[x->clock].slow_e12;
				int64_t fast = b->clock[x->clock].fast_e12;
				narrow(b, x, y);
				moves = moves || slow != b->clock[x->clock].slow_e12 ||
					fast != b->clock[x->clock].fast_e12;
			}
		}
	}
	return moves;
}

bool bellman_solve(struct bellman *b)
{
	b->order = usk_alloc(b->n + 1, sizeof *b->order);
	for (size_t i = 0; i < b->n; i++) {
		struct bellman_event *e = &b->event[i];
		bool fixed = e->clock == b->reference;
		e->lo = fixed ? e->local_ns * E12 : -BELLMAN_NONE;
		e->hi = fixed ? (e->local_ns + b->resolution_ns) * E12 : BELLMAN_NONE;
		b->order[i] = i;
	}
	for (uint32_t k = 0; k < b->n_clocks; k++) {
		b->clock[k].slow_e12 = -b->max_skew_e12;
		b->clock[k].fast_e12 = b->max_skew_e12;
	}
	sorting = b;
	qsort(b->order, b->n, sizeof *b->order, by_place);
	for (size_t turn = 0; turn < TURNS; turn++) {
		if (!relax_all(b)) {
			return false;
		}
		bool moves = narrow_all(b);
		for (uint32_t k = 0; k < b->n_clocks; k++) {
			if (b->clock[k].slow_e12 > b->clock[k].fast_e12) {
				return false;
			}
		}
		if (!moves) {
			break;
		}
	}
	return true;
}

void bellman_free(struct bellman *b)
{
	free(b->order);
	b->order = NULL;
}

void bellman_at(const struct bellman *b, uint32_t clock, uint32_t run, int64_t local_ns,
		int64_t *lo_ns, int64_t *hi_ns)
{
	struct bellman_event here = { clock, run, local_ns, -BELLMAN_NONE, BELLMAN_NONE };
	usk_i128 slow = slowest(b, clock), fast = fastest(b, clock);
	for (size_t i = 0; i < b->n; i++) {
		struct bellman_event e = b->event[i];
		if (e.clock != clock || e.run != run) {
			continue;
		}
		usk_i128 d = (usk_i128)local_ns - e.local_ns;
		if (d >= 0) {
			relax(&e, &here, d * slow, d * fast);
		} else {
			relax(&here, &e, -d * slow, -d * fast);
		}
	}
	*lo_ns = here.lo > -BELLMAN_NONE ? (int64_t)usk_floor_div(here.lo, E12) : USK_NONE;
	*hi_ns = here.hi < BELLMAN_NONE ? (int64_t)usk_ceil_div(here.hi, E12) : USK_NONE;
}
