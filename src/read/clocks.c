/* SPDX-License-Identifier: MIT */
/*
 * clocks.c - clocks that a table names
 *
 * In    names as text
 * Out   their numbers, in the order in which they come up, and what their stamps are rounded to
 * Why   the same for tables of messages, of events and of exchanges
 * Not   captures, which have one clock
 */
#include "read/read.h"

#include <string.h>

uint32_t usk_trace_clock(struct usk_trace *t, struct usk_csv_field f)
{
	struct usk_event_id id = usk_event_id(f.text, f.n);
	uint64_t *number;
	while (*(number = usk_index_value(&t->numbers, id.word[0], id.word[1]))) {
		const char *name = t->clock[*number - 1].name;
		/* A short one is its own key. */
		if (f.n < sizeof id || (!strncmp(name, f.text, f.n) && !name[f.n])) {
			return (uint32_t)*number - 1;
		}
		id.word[1]++; /* another name of this key */
	}
	t->clock = usk_room(t->clock, t->n_clocks, &t->cap_clocks, sizeof *t->clock);
	struct named_clock *c = &t->clock[t->n_clocks++];
	c->resolution_ns = 0;
	c->name = usk_alloc(f.n + 1, 1);
	memcpy(c->name, f.text, f.n);
	c->hz_e6 = usk_tick_rate(&t->opt, f.text, f.n);
	*number = t->n_clocks;
	return (uint32_t)*number - 1;
}

size_t usk_trace_clocks(const struct usk_trace *t)
{
	return t->n_clocks;
}

const char *usk_trace_clock_name(const struct usk_trace *t, size_t i)
{
	return t->clock[i].name;
}

int64_t usk_trace_clock_resolution(const struct usk_trace *t, size_t i)
{
	/* A tick in ns, rounded up. */
	int64_t hz_e6 = t->clock[i].hz_e6, e15 = INT64_C(1000000000000000);
	int64_t tick = hz_e6 && hz_e6 < e15 ? (e15 + hz_e6 - 1) / hz_e6 : 0;
	return tick > t->clock[i].resolution_ns ? tick : t->clock[i].resolution_ns;
}

void usk_trace_clock_resolve(struct usk_trace *t, size_t i, int64_t resolution_ns)
{
	t->clock[i].resolution_ns = resolution_ns;
}
