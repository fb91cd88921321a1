/* SPDX-License-Identifier: MIT */
#include "write/ties.h"

#include <string.h>

static bool is_local(const struct tie *t, struct usk_addr a)
{
	for (size_t i = 0; i < t->n_local; i++) {
		if (t->local[i].hi == a.hi && t->local[i].lo == a.lo) {
			return true;
		}
	}
	return false;
}

/* 1: its trace saw it being sent, -1: received, 0: not known. */
static int sent(const struct tie *t)
{
	bool from = is_local(t, t->seen.src), to = is_local(t, t->seen.dst);
	if (from != to) {
		return from ? 1 : -1;
	}
	return t->packet.side == USK_SIDE_SENT ? 1 : t->packet.side == USK_SIDE_RECEIVED ? -1 : 0;
}

/* Are they one packet, and did a's trace see it nearer its sender? */
static bool precedes(const struct tie *a, const struct tie *b)
{
	if (!a->seen.key || a->seen.key != b->seen.key || a->source == b->source) {
		return false;
	}
	return a->sent != b->sent ? a->sent > b->sent : a->seen.ttl > b->seen.ttl;
}

static void decode(struct tie *tie, size_t n)
{
	struct usk_depth depth = USK_DEPTH_ALL;
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
				bool cut = r.captured < r.length;
				usk_packet_depth(&r, link, cut ? r.captured : UINT32_MAX, &depth);
			} else if (!usk_packet_decode(&r, link, depth, &tie[i].seen, NULL)) {
				memset(&tie[i].seen, 0, sizeof tie[i].seen);
			}
		}
	}
}

/* Does i wait for k: an earlier one of its source, or one that shows it being sent? */
static bool waits(const struct tie *tie, size_t i, size_t k)
{
	return (k < i && tie[k].source == tie[i].source) || precedes(&tie[k], &tie[i]);
}

void usk_ties_order(struct tie *tie, size_t n)
{
	struct tie out[USK_TIES_MAX];
	bool gone[USK_TIES_MAX] = { false };
	size_t waiting[USK_TIES_MAX] = { 0 }; /* for how many that are left */
	if (n < 2 || n > USK_TIES_MAX) {
		return;
	}
	decode(tie, n);
	for (size_t i = 0; i < n; i++) {
		tie[i].sent = sent(&tie[i]);
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			waiting[i] += k != i && waits(tie, i, k);
		}
	}
	for (size_t made = 0; made < n; made++) {
		size_t first = n, pick = n;
		for (size_t i = 0; i < n && pick == n; i++) {
			if (!gone[i]) {
				first = first == n ? i : first;
				pick = waiting[i] ? n : i;
			}
		}
		/* All wait for each other: evidence that contradicts itself. */
		pick = pick == n ? first : pick;
		gone[pick] = true;
		for (size_t i = 0; i < n; i++) {
			waiting[i] -= !gone[i] && waits(tie, i, pick);
		}
		out[made] = tie[pick];
	}
	memcpy(tie, out, n * sizeof *tie);
}
