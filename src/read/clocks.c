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

#include <stdlib.h>
#include <string.h>

static uint64_t hash_name(const char *text, size_t n)
{
	uint64_t h = n;
	for (size_t i = 0; i < n; i++) {
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	}
	return usk_mix(h);
}

static size_t find_slot(const struct usk_trace *t, const char *text, size_t n)
{
	size_t k = hash_name(text, n) & (t->n_slots - 1);
	for (; t->slot[k]; k = (k + 1) & (t->n_slots - 1)) {
		const char *name = t->clock[t->slot[k] - 1].name;
		if (!strncmp(name, text, n) && !name[n]) {
			break;
		}
	}
	return k;
}

uint32_t usk_trace_clock(struct usk_trace *t, struct usk_csv_field f)
{
	if ((t->n_clocks + 1) * 2 > t->n_slots) {
		t->n_slots = t->n_slots ? t->n_slots * 2 : 64;
		free(t->slot);
		t->slot = usk_alloc(t->n_slots, sizeof *t->slot);
		for (size_t i = 0; i < t->n_clocks; i++) {
			const char *name = t->clock[i].name;
			t->slot[find_slot(t, name, strlen(name))] = (uint32_t)i + 1;
		}
	}
	size_t k = find_slot(t, f.text, f.n);
	if (!t->slot[k]) {
		t->clock = usk_room(t->clock, t->n_clocks, &t->cap_clocks, sizeof *t->clock);
		struct named_clock *c = &t->clock[t->n_clocks++];
		c->name = usk_alloc(f.n + 1, 1);
		memcpy(c->name, f.text, f.n);
		c->hz_e6 = usk_tick_rate(&t->opt, f.text, f.n);
		t->slot[k] = (uint32_t)t->n_clocks;
	}
	return t->slot[k] - 1;
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
	return hz_e6 && hz_e6 < e15 ? (e15 + hz_e6 - 1) / hz_e6 : 0;
}
