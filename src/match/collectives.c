/* SPDX-License-Identifier: MIT */
/*
 * collectives.c - parts of collectives -> messages: who could not leave before whom had come
 *
 * In    parts of any number of ranks, in any order
 * Out   messages from enters to exits; or one collective after the other
 * Why   what all do together ties all: of n ranks n (n - 1) constraints, which would be 2.6 billion
 *       for 10,000 collectives of 512. Those of one clock with each other, 2 (n - 1), say as much:
 *       bounds against that clock are as narrow as with all (doc/collectives.md has the figures), as
 *       a way over a third clock takes the time of two transfers. It is to be one that often comes
 *       late, as only who waits little tells the others much: its own clock tells how long it waits
 * Not   ids: a rank's n-th call is the n-th of the others, and readers number them
 *
 * Parts are dealt out to lanes by their ids; a lane is sorted and gathered alone.
 */
#include "match/collectives.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 256 };

struct usk_collectives {
	struct usk_spool *parts;
	struct member {
		usk_i128 spent_ns; /* in collectives, all in all */
		uint64_t n;
		int64_t first_ns, last_ns; /* enters */
	} * clock;
	size_t n_clocks;
};

struct usk_collectives *usk_collectives_new(void)
{
	struct usk_collectives *c = usk_alloc(1, sizeof *c);
	c->parts = usk_spool_new(sizeof(struct usk_collective), LANES);
	return c;
}

void usk_collectives_free(struct usk_collectives *c)
{
	if (c) {
		usk_spool_free(c->parts);
		free(c->clock);
	}
	free(c);
}

size_t usk_collectives_clocks(const struct usk_collectives *c)
{
	return c->n_clocks;
}

bool usk_collectives_enters(const struct usk_collectives *c, uint32_t clock, int64_t *first_ns,
			    int64_t *last_ns)
{
	const struct member *m = &c->clock[clock];
	*first_ns = m->first_ns;
	*last_ns = m->last_ns;
	return m->n > 0;
}

static void note(struct usk_collectives *c, const struct usk_collective *x)
{
	if (x->clock >= c->n_clocks) {
		size_t n = (size_t)x->clock + 1;
		c->clock = usk_grow(c->clock, n, sizeof *c->clock);
		memset(c->clock + c->n_clocks, 0, (n - c->n_clocks) * sizeof *c->clock);
		c->n_clocks = n;
	}
	struct member *m = &c->clock[x->clock];
	m->first_ns = !m->n || x->enter_ns < m->first_ns ? x->enter_ns : m->first_ns;
	m->last_ns = !m->n || x->enter_ns > m->last_ns ? x->enter_ns : m->last_ns;
	m->spent_ns += (usk_i128)x->exit_ns - x->enter_ns;
	m->n++;
}

enum usk_status usk_collectives_add(struct usk_collectives *c, const struct usk_collective *x,
				    size_t n, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < n && !status; i++) {
		note(c, &x[i]);
		size_t lane = usk_fold(x[i].id.word[0], x[i].id.word[1]) % LANES;
		status = usk_spool_put(c->parts, lane, &x[i], err);
	}
	return status;
}

/* ---- one collective after the other --------------------------------------------------------- */

static int by_id(const void *pa, const void *pb)
{
	const struct usk_collective *a = pa, *b = pb;
	for (int i = 0; i < 2; i++) {
		if (a->id.word[i] != b->id.word[i]) {
			return a->id.word[i] < b->id.word[i] ? -1 : 1;
		}
	}
	int order = usk_order(a->clock, b->clock);
	order = order ? order : usk_order(a->rank, b->rank);
	return order ? order : usk_order(a->enter_ns, b->enter_ns);
}

/* false: these cannot be parts of one. */
static bool gather(const struct usk_collective *x, size_t n, struct usk_gathering *g)
{
	bool sound = true;
	*g = (struct usk_gathering){ .kind = x->kind, .part = x, .n = n };
	for (size_t i = 0; i < n; i++) {
		sound = sound && x[i].kind == x->kind && !(x[i].root && g->root) &&
			(!i || x[i].clock != x[i - 1].clock || x[i].rank != x[i - 1].rank);
		g->root = x[i].root ? &x[i] : g->root;
	}
	return sound;
}

static bool is_same(const struct usk_collective *a, const struct usk_collective *b)
{
	return a->id.word[0] == b->id.word[0] && a->id.word[1] == b->id.word[1];
}

_Static_assert(!offsetof(struct usk_collective, id), "sorted by the first word of their ids");

/* By by_id(): by digits of that word, then what shares it, which mostly is in order as it came. */
static void sort_lane(struct usk_collective *x, struct usk_collective *more, size_t n)
{
	usk_sort_by_key(x, more, n, sizeof *x);
	for (size_t i = 0, k; i < n; i = k) {
		bool sorted = true;
		for (k = i + 1; k < n && x[k].id.word[0] == x[i].id.word[0]; k++) {
			sorted = sorted && by_id(&x[k - 1], &x[k]) <= 0;
		}
		if (!sorted) {
			qsort(x + i, k - i, sizeof *x, by_id);
		}
	}
}

enum usk_status usk_collectives_run(struct usk_collectives *c,
				    enum usk_status (*put)(void *ctx, const struct usk_gathering *g,
							   struct usk_err *err),
				    void *ctx, struct usk_counts *counts, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	struct usk_collective *x = NULL;
	size_t room = 0;
	for (size_t lane = 0; lane < LANES && !status; lane++) {
		size_t n = (size_t)usk_spool_count(c->parts, lane);
		if (n > room) {
			room = n + n / 2;
			x = usk_grow(x, room, 2 * sizeof *x);
		}
		status = usk_spool_get(c->parts, lane, 0, x, n, err);
		if (!status && n) {
			sort_lane(x, x + room, n);
		}
		for (size_t i = 0, k; i < n && !status; i = k) {
			struct usk_gathering g;
			for (k = i + 1; k < n && is_same(&x[k], &x[i]); k++) {
			}
			if (!gather(x + i, k - i, &g)) {
				counts->ambiguous += k - i;
			} else if (k - i < 2) {
				counts->unmatched++;
			} else {
				status = put(ctx, &g, err);
			}
		}
	}
	free(x);
	return status;
}

/* ---- what it says of clocks ----------------------------------------------------------------- */

/* What a clock's ranks say together: one of them had not come before, one of them was gone then. */
struct of_clock {
	uint32_t clock;
	int64_t enter_ns, exit_ns;
};

/* The next clock's parts, from *i on. */
static struct of_clock next_clock(const struct usk_gathering *g, size_t *i)
{
	const struct usk_collective *x = &g->part[*i];
	struct of_clock y = { x->clock, x->enter_ns, x->exit_ns };
	for (++*i; *i < g->n && g->part[*i].clock == y.clock; ++*i) {
		x = &g->part[*i];
		y.enter_ns = x->enter_ns > y.enter_ns ? x->enter_ns : y.enter_ns;
		y.exit_ns = x->exit_ns < y.exit_ns ? x->exit_ns : y.exit_ns;
	}
	return y;
}

/* Does a wait less than b in the mean? */
static bool waits_less(const struct member *a, const struct member *b)
{
	return (long double)a->spent_ns * (long double)b->n <
	       (long double)b->spent_ns * (long double)a->n;
}

static struct of_clock middle_of(const struct usk_collectives *c, const struct usk_gathering *g,
				 uint32_t wanted)
{
	struct of_clock best = { .clock = USK_NO_CLOCK };
	for (size_t i = 0; i < g->n;) {
		struct of_clock y = next_clock(g, &i);
		if (best.clock == USK_NO_CLOCK || y.clock == wanted ||
		    (best.clock != wanted &&
		     waits_less(&c->clock[y.clock], &c->clock[best.clock]))) {
			best = y;
		}
	}
	return best;
}

enum usk_status usk_gathering_messages(const struct usk_collectives *c,
				       const struct usk_gathering *g, uint32_t middle,
				       enum usk_status (*put)(void *ctx, const struct usk_msg *m,
							      struct usk_err *err),
				       void *ctx, struct usk_err *err)
{
	enum usk_collective_shape shape = usk_collective_shape(g->kind);
	enum usk_status status = USK_OK;
	struct of_clock x;
	if (shape == USK_FROM_ALL_TO_ALL) {
		x = middle_of(c, g, middle);
	} else if (g->root) {
		x = (struct of_clock){ g->root->clock, g->root->enter_ns, g->root->exit_ns };
	} else {
		return USK_OK;
	}
	for (size_t i = 0; i < g->n && !status;) {
		struct of_clock y = next_clock(g, &i);
		const struct usk_msg there = { .from = x.clock,
					       .to = y.clock,
					       .sent_ns = x.enter_ns,
					       .received_ns = y.exit_ns };
		const struct usk_msg back = { .from = y.clock,
					      .to = x.clock,
					      .sent_ns = y.enter_ns,
					      .received_ns = x.exit_ns };
		if (y.clock == x.clock) {
			continue;
		}
		status = shape != USK_TO_ROOT ? put(ctx, &there, err) : USK_OK;
		status = !status && shape != USK_FROM_ROOT ? put(ctx, &back, err) : status;
	}
	return status;
}
