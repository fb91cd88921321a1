/* SPDX-License-Identifier: MIT */
/*
 * way.c - who sent it, where no address tells
 *
 * In    sightings of one packet in both captures
 * Out   which capture is nearer the sender, for each pair of addresses
 * Why   hops left (TTL) fall on the way; and where no router lies between, an exchange tells
 *       without any clock: if a request passes p first and its answer passes q first, the gap
 *       between them is longer at p than at q, by the two transit times
 * Not   addresses, link types, options: those are known before a packet is matched (walk.c)
 *
 * Under 90 % agreement is no evidence.
 */
#include "match/walk.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAYS = 65536, ENOUGH_TTL = 8, ENOUGH_GAPS = 32 };

/* Gaps longer than this say more about drift than about transit. */
#define LONGEST_GAP_NS INT64_C(10000000000)

void usk_ways_free(struct ways *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->way[i].doubt);
	}
	free(w->way);
	free(w->slot);
}

static uint32_t *slot_of(const struct ways *w, struct usk_addr src, struct usk_addr dst)
{
	size_t i = (size_t)usk_fold(src.hi * 3 + src.lo, dst.hi * 5 + dst.lo) & (w->n_slots - 1);
	while (w->slot[i]) {
		const struct way *way = &w->way[w->slot[i] - 1];
		if (usk_addr_same(way->src, src) && usk_addr_same(way->dst, dst)) {
			break;
		}
		i = (i + 1) & (w->n_slots - 1);
	}
	return &w->slot[i];
}

uint32_t usk_way_find(struct ways *w, struct usk_addr src, struct usk_addr dst, bool ours)
{
	if (!w->n_slots) {
		w->n_slots = (size_t)MAX_WAYS * 2;
		w->slot = usk_alloc(w->n_slots, sizeof *w->slot);
	}
	uint32_t *slot = slot_of(w, src, dst);
	if (*slot) {
		return *slot - 1;
	}
	if (w->n == MAX_WAYS) {
		return NOBODY;
	}
	w->way = usk_room(w->way, w->n, &w->cap, sizeof *w->way);
	uint32_t which = (uint32_t)w->n++;
	struct way *way = &w->way[which];
	memset(way, 0, sizeof *way);
	way->src = src;
	way->dst = dst;
	*slot = which + 1;
	uint32_t back = *slot_of(w, dst, src);
	back = back || !ours ? back : *slot_of(w, dst, USK_ANYBODY);
	way->reverse = back && back - 1 != which ? back - 1 : NOBODY;
	if (way->reverse != NOBODY) {
		w->way[way->reverse].reverse = which;
	}
	return which;
}

uint32_t usk_way_known(const struct ways *w, struct usk_addr src, struct usk_addr dst)
{
	return w->n ? *slot_of(w, src, dst) - 1 : NOBODY;
}

void usk_way_vote(struct ways *w, uint32_t which, const struct usk_sighting *s)
{
	struct way *way = &w->way[which];
	int64_t span = (int64_t)s->span * USK_SPAN_NS;
	if (s->ttl_p != s->ttl_q) {
		way->ttl[s->ttl_p < s->ttl_q]++;
	}
	if (way->reverse != NOBODY && w->way[way->reverse].seen) {
		struct way *back = &w->way[way->reverse];
		usk_i128 gap_p = (usk_i128)s->p_ns - back->last_p_ns;
		usk_i128 gap_q = (usk_i128)s->q_ns - back->last_q_ns;
		usk_i128 longer = gap_p - gap_q, size = longer < 0 ? -longer : longer;
		usk_i128 gap = gap_p < 0 ? -gap_p : gap_p;
		/* What drift could explain is no evidence, nor what may lie between the sightings
		 * of one capture: it may have the other one in its midst. Where it has packets
		 * several times it lacks some of those that it has once. */
		bool whole = (span || !way->passing) && (back->last_span_ns || !back->passing);
		if (whole && gap <= LONGEST_GAP_NS && size * 1000 > gap &&
		    size > span + back->last_span_ns) {
			/* Gap at p longer: the earlier one passed p first, this one q. */
			way->gap[longer > 0]++;
			back->gap[longer < 0]++;
			if (!w->shortest_ns || size < w->shortest_ns) {
				w->shortest_ns = size > INT64_MAX ? INT64_MAX : (int64_t)size;
			}
		}
	}
	way->sightings++;
	way->seen = true;
	way->last_p_ns = s->p_ns;
	way->last_q_ns = s->q_ns;
	way->last_span_ns = span;
}

static bool clear(const uint64_t vote[2], uint64_t enough, uint8_t *role)
{
	uint64_t all = vote[0] + vote[1];
	*role = vote[0] > vote[1] ? ROLE_SENDS : ROLE_RECEIVES;
	uint64_t most = vote[0] > vote[1] ? vote[0] : vote[1];
	return all >= enough && most * 10 >= all * 9;
}

/* The same capture is not nearer to the senders of both directions: something on the way writes
 * hops anew, as NAT of virtual machines does. */
static bool both_nearer(const struct ways *w, const struct way *way, uint8_t role)
{
	uint8_t back;
	return way->reverse != NOBODY && clear(w->way[way->reverse].ttl, 1, &back) && back == role;
}

/* Where a capture has packets several times a few odd ones show that it missed some. */
static bool enough(const struct ways *w, const struct way *way)
{
	const struct way *back = way->reverse != NOBODY ? &w->way[way->reverse] : way;
	uint64_t sightings = way->sightings > back->sightings ? way->sightings : back->sightings;
	return !(way->passing || back->passing) || (way->gap[0] + way->gap[1]) * 2 >= sightings;
}

enum role usk_way_decide(const struct ways *w, struct way *way, bool last)
{
	if (way->role == ROLE_UNKNOWN) {
		uint8_t role;
		if (clear(way->ttl, last ? 1 : ENOUGH_TTL, &role) && !both_nearer(w, way, role)) {
			way->role = role;
			way->source = FROM_TTL;
		} else if (way->ttl[0] + way->ttl[1] == 0 && enough(w, way) &&
			   clear(way->gap, last ? 1 : ENOUGH_GAPS, &role)) {
			way->role = role;
			way->source = FROM_EXCHANGE;
		}
	}
	return way->role;
}
