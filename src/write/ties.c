/* SPDX-License-Identifier: MIT */
#include "write/ties.h"

#include <string.h>

static bool is_local(const struct usk_clocks *c, uint32_t clock, struct usk_addr a)
{
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *t = &c->trace[i];
		for (size_t k = 0; t->clock == clock && k < t->n_local; k++) {
			struct usk_addr own;
			if (usk_addr_parse(t->local[k], &own) && own.hi == a.hi && own.lo == a.lo) {
				return true;
			}
		}
	}
	return false;
}

/* 1: its trace saw it being sent, -1: received, 0: not known. */
static int sent(const struct tie *t, const struct usk_clocks *c)
{
	bool from = is_local(c, t->clock, t->seen.src), to = is_local(c, t->clock, t->seen.dst);
	if (from != to) {
		return from ? 1 : -1;
	}
	return t->packet.side == USK_SIDE_SENT ? 1 : t->packet.side == USK_SIDE_RECEIVED ? -1 : 0;
}

/* Are they one packet, and did a's trace see it nearer its sender? */
static bool precedes(const struct tie *a, const struct tie *b, const struct usk_clocks *c)
{
	if (!a->seen.key || a->seen.key != b->seen.key || a->source == b->source) {
		return false;
	}
	int x = sent(a, c), y = sent(b, c);
	return x != y ? x > y : a->seen.ttl > b->seen.ttl;
}

static void decode(struct tie *tie, size_t n)
{
	uint32_t depth = UINT32_MAX;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			const struct packet *p = &tie[i].packet;
			struct usk_record r = { .time_ns = p->local_ns,
						.data = p->data,
						.captured = p->captured,
						.length = p->length,
						.iface = p->iface,
						.side = p->side };
			size_t faces;
			const struct usk_iface *face = usk_trace_ifaces(tie[i].trace, &faces);
			uint16_t link = face[p->iface].link_type;
			if (!pass) {
				uint32_t d = usk_packet_depth(&r, link);
				depth = d < depth ? d : depth;
			} else if (!usk_packet_decode(&r, link, depth, &tie[i].seen, NULL)) {
				memset(&tie[i].seen, 0, sizeof tie[i].seen);
			}
		}
	}
}

/* The first of its source that is left, unless another trace still has to show it being sent. */
static bool ready(const struct tie *tie, size_t n, const bool *gone, size_t i,
		  const struct usk_clocks *c)
{
	for (size_t k = 0; k < n; k++) {
		if (gone[k] || k == i) {
			continue;
		}
		if ((k < i && tie[k].source == tie[i].source) || precedes(&tie[k], &tie[i], c)) {
			return false;
		}
	}
	return true;
}

void usk_ties_order(struct tie *tie, size_t n, const struct usk_clocks *c)
{
	struct tie out[USK_TIES_MAX];
	bool gone[USK_TIES_MAX] = { false };
	if (n < 2 || n > USK_TIES_MAX) {
		return;
	}
	decode(tie, n);
	for (size_t made = 0; made < n; made++) {
		size_t first = n, pick = n;
		for (size_t i = 0; i < n && pick == n; i++) {
			if (!gone[i]) {
				first = first == n ? i : first;
				pick = ready(tie, n, gone, i, c) ? i : n;
			}
		}
		/* All wait for each other: evidence that contradicts itself. */
		pick = pick == n ? first : pick;
		gone[pick] = true;
		out[made] = tie[pick];
	}
	memcpy(tie, out, n * sizeof *tie);
}
