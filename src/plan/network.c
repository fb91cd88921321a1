/* SPDX-License-Identifier: MIT */
/* network.c - what recordings and topologies have in common: clocks by name, links, samples */
#include "plan/network.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>

/* Of gaps and of delays, a direction. */
enum { SAMPLES = 1024 };

uint32_t usk_network_clock(struct usk_network *n, const char *name, size_t length)
{
	struct usk_event_id id = usk_event_id(name, length);
	uint64_t *number = usk_index_value(&n->clocks, id.word[0], id.word[1]);
	if (!*number) {
		*USK_ADD(n->clock, n->n_clocks, n->cap_clocks) =
			(struct usk_plan_clock){ .name = usk_format("%.*s", (int)length, name),
						 .resolution_ns = 1 };
		*number = n->n_clocks;
	}
	return (uint32_t)*number - 1;
}

uint64_t usk_network_find(const struct usk_network *n, const char *name)
{
	struct usk_event_id id = usk_event_id(name, strlen(name));
	return usk_index_find(&n->clocks, id.word[0], id.word[1]);
}

struct usk_plan_link *usk_network_link(struct usk_network *n, uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;
	uint64_t *number = usk_index_value(&n->links, low, high);
	if (!*number) {
		*USK_ADD(n->link, n->n_links, n->cap_links) =
			(struct usk_plan_link){ .a = low, .b = high };
		*number = n->n_links;
	}
	return &n->link[*number - 1];
}

void usk_reservoir_add(struct usk_reservoir *s, int64_t value)
{
	uint64_t at = s->n;
	if (s->seen++ >= SAMPLES) {
		/* Each of all that came stays with the same probability. */
		at = usk_mix(s->seen) % s->seen;
		if (at >= SAMPLES) {
			return;
		}
	} else {
		s->value = usk_room(s->value, s->n, &s->cap, sizeof *s->value);
		s->n++;
	}
	s->value[at] = value;
}

bool usk_link_known(const struct usk_plan_link *l)
{
	return l->way[0].delay_ns.n && l->way[1].delay_ns.n;
}

void usk_network_free(struct usk_network *n)
{
	for (size_t i = 0; i < n->n_clocks; i++) {
		free(n->clock[i].name);
	}
	for (size_t i = 0; i < n->n_links; i++) {
		for (int k = 0; k < 2; k++) {
			USK_FREE(n->link[i].way[k].gap_ns.value, n->link[i].way[k].delay_ns.value);
		}
	}
	USK_FREE(n->clock, n->link);
	usk_index_free(&n->clocks);
	usk_index_free(&n->links);
	n->clock = NULL;
	n->link = NULL;
	n->n_clocks = n->cap_clocks = n->n_links = n->cap_links = 0;
}
