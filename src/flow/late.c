/* SPDX-License-Identifier: MIT */
/*
 * late.c - all collectives of some traces by an answer: who was late, and what that cost
 *
 * In    traces; the clocks that they were put on
 * Out   a verdict for each collective, and sums for each rank
 * Why   bounds are known once all is read, so collectives are read again
 * Not   what can be said of one of them (judge/late.c)
 */
#include "flow/late.h"
#include "base/index.h"
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 512 };

struct lateness {
	const struct usk_clocks *c;
	struct usk_collectives *all;
	struct usk_late_answer *out;
	struct usk_late_clock *clock; /* by the answer's numbers; the last one: of no bounds */
	struct usk_late_room room;
	struct usk_spent *spent;
	size_t cap_spent, cap_ranks, cap_collectives;
	struct usk_index ranks; /* by name and clock: number + 1 */
	/* Of the trace that is read: its numbers -> the answer's. */
	uint32_t *of_clock;
	size_t n_of_clock;
};

static uint32_t clock_of(const struct lateness *x, const char *name)
{
	uint32_t i = 0;
	while (i < x->c->n_clocks && strcmp(x->c->clock[i].name, name)) {
		i++;
	}
	return i;
}

static void open_clocks(struct lateness *x)
{
	const struct usk_clocks *c = x->c;
	uint32_t home = USK_NO_CLOCK;
	x->clock = usk_alloc(c->n_clocks + 1, sizeof *x->clock);
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		bool bounded = k->quality == USK_REFERENCE || k->quality == USK_BOUNDED ||
			       k->quality == USK_ONE_SIDED;
		/* Clocks of two references cannot be compared: those of the first one are. */
		home = home == USK_NO_CLOCK && bounded ? k->reference : home;
		x->clock[i].resolution_ns = k->resolution_ns;
		x->clock[i].clock = k;
		if (bounded && k->reference == home && !k->n_set_backs) {
			x->clock[i].map = usk_map_of(c, i, 0);
		}
	}
}

static uint32_t rank_of(struct lateness *x, const char *name, uint32_t clock)
{
	struct usk_event_id id = usk_event_id(name, strlen(name));
	uint64_t *number =
		usk_index_value(&x->ranks, id.word[0] ^ usk_mix(clock + UINT64_C(1)), id.word[1]);
	if (!*number) {
		struct usk_late_answer *a = x->out;
		*USK_ADD(a->rank, a->n_ranks, x->cap_ranks) =
			(struct usk_late_rank){ .name = usk_strdup(name), .clock = clock };
		*number = a->n_ranks;
	}
	return (uint32_t)*number - 1;
}

static enum usk_status read_trace(struct lateness *x, struct usk_trace *t, struct usk_err *err)
{
	struct usk_collective y[BATCH];
	enum usk_status status = usk_trace_rewind(t, err);
	x->n_of_clock = 0;
	for (size_t n = 1; !status && n;) {
		status = usk_trace_collectives(t, y, BATCH, &n, err);
		size_t clocks = usk_trace_clocks(t);
		x->of_clock = usk_grow(x->of_clock, clocks + 1, sizeof *x->of_clock);
		for (; x->n_of_clock < clocks; x->n_of_clock++) {
			x->of_clock[x->n_of_clock] =
				clock_of(x, usk_trace_clock_name(t, x->n_of_clock));
		}
		for (size_t i = 0; i < n && !status; i++) {
			const char *name = usk_trace_processes(t)->text[y[i].rank];
			y[i].clock = x->of_clock[y[i].clock];
			y[i].rank = rank_of(x, name, y[i].clock);
		}
		status = status ? status : usk_collectives_add(x->all, y, n, err);
	}
	return status;
}

static void add_spent(struct usk_spent *to, const struct usk_spent *s)
{
	to->waited_ns += s->waited_ns;
	to->transfer_ns += s->transfer_ns;
	to->untold_ns += s->untold_ns;
}

static enum usk_status judge(void *ctx, const struct usk_gathering *g, struct usk_err *err)
{
	struct lateness *x = ctx;
	struct usk_late_answer *a = x->out;
	struct usk_lateness one;
	if (g->kind == USK_MESSAGE) {
		return USK_OK;
	}
	if (g->n > x->cap_spent) {
		x->cap_spent = g->n + g->n / 2;
		x->spent = usk_grow(x->spent, x->cap_spent, sizeof *x->spent);
	}
	enum usk_status status =
		usk_late(g, x->clock, x->c->max_skew_e12, &x->room, &one, x->spent, err);
	for (size_t i = 0; i < g->n && !status; i++) {
		struct usk_late_rank *r = &a->rank[g->part[i].rank];
		r->parts++;
		add_spent(&r->spent, &x->spent[i]);
	}
	if (status) {
		return status;
	}
	if (one.known) {
		struct usk_late_rank *r = &a->rank[one.rank];
		r->last++;
		r->by_sum_ns += one.by_ns;
		r->by_most_ns = one.by_ns > r->by_most_ns ? one.by_ns : r->by_most_ns;
	}
	a->asked += one.asked;
	a->known += one.known;
	add_spent(&a->spent, &one.spent);
	*USK_ADD(a->collective, a->n_collectives, x->cap_collectives) = one;
	return USK_OK;
}

enum usk_status usk_late_read(struct usk_trace *const *trace, size_t n, const struct usk_clocks *c,
			      struct usk_late_answer *out, struct usk_err *err)
{
	struct lateness x = { .c = c, .out = out, .all = usk_collectives_new() };
	enum usk_status status = USK_OK;
	*out = (struct usk_late_answer){ 0 };
	open_clocks(&x);
	for (size_t i = 0; i < n && !status; i++) {
		if (usk_trace_class(trace[i]) == USK_TRACE_COLLECTIVES) {
			status = read_trace(&x, trace[i], err);
		}
	}
	status = status ? status : usk_collectives_run(x.all, judge, &x, &out->counts, err);
	if (!status && !out->n_collectives) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "%s: holds no collective of which two members were recorded",
				  usk_trace_path(trace[0]));
	}
	if (!status) {
		usk_sort(out->collective, out->n_collectives, sizeof *out->collective,
			 KEYS(BY(usk_lateness, at_ns), BY(usk_lateness, id.word[0]),
			      BY(usk_lateness, id.word[1])));
	} else {
		usk_late_answer_free(out);
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		usk_map_free(x.clock[i].map);
	}
	usk_collectives_free(x.all);
	usk_late_room_free(&x.room);
	usk_index_free(&x.ranks);
	USK_FREE(x.clock, x.spent, x.of_clock);
	return status;
}

void usk_late_answer_free(struct usk_late_answer *a)
{
	for (size_t i = 0; i < a->n_ranks; i++) {
		free(a->rank[i].name);
	}
	USK_FREE(a->rank, a->collective);
	*a = (struct usk_late_answer){ 0 };
}
