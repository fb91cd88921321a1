/* SPDX-License-Identifier: MIT */
/*
 * direction.c - who sent it, where no address tells
 *
 * In    sightings of one packet in both captures
 * Out   which capture is nearer the sender, for each pair of addresses
 * Why   hops left (TTL) fall on the way; and where no router lies between, an exchange tells
 *       without any clock: if a request passes p first and its answer passes q first, the gap
 *       between them is longer at p than at q, by the two transit times
 * Not   addresses, link types, options: those are known before a packet is matched (walk.c)
 *
 * Under 90 % agreement is no evidence. A clock that is set between question and answer looks like a
 * transit, but it does so to an exchange now and then, and transit to all whose gap is short enough.
 */
#include "match/walk.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIRECTIONS = 65536, ENOUGH_TTL = 8, ENOUGH_GAPS = 32 };

/* Gaps longer than this say more about drift than about transit. */
#define LONGEST_GAP_NS INT64_C(10000000000)

void usk_directions_free(struct directions *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->of[i].doubt);
	}
	USK_FREE(w->of, w->slot);
}

static uint32_t *slot_of(const struct directions *w, struct usk_addr src, struct usk_addr dst)
{
	size_t i = (size_t)usk_fold(src.hi * 3 + src.lo, dst.hi * 5 + dst.lo) & (w->n_slots - 1);
	while (w->slot[i]) {
		const struct direction *d = &w->of[w->slot[i] - 1];
		if (usk_addr_same(d->src, src) && usk_addr_same(d->dst, dst)) {
			break;
		}
		i = (i + 1) & (w->n_slots - 1);
	}
	return &w->slot[i];
}

uint32_t usk_direction_find(struct directions *w, struct usk_addr src, struct usk_addr dst,
			    bool ours)
{
	if (!w->n_slots) {
		w->n_slots = (size_t)MAX_DIRECTIONS * 2;
		w->slot = usk_alloc(w->n_slots, sizeof *w->slot);
	}
	uint32_t *slot = slot_of(w, src, dst);
	if (*slot) {
		return *slot - 1;
	}
	if (w->n == MAX_DIRECTIONS) {
		return NOBODY;
	}
	w->of = usk_room(w->of, w->n, &w->cap, sizeof *w->of);
	uint32_t which = (uint32_t)w->n++;
	struct direction *d = &w->of[which];
	memset(d, 0, sizeof *d);
	d->src = src;
	d->dst = dst;
	*slot = which + 1;
	uint32_t back = *slot_of(w, dst, src);
	back = back || !ours ? back : *slot_of(w, dst, USK_ANYBODY);
	d->reverse = back && back - 1 != which ? back - 1 : NOBODY;
	if (d->reverse != NOBODY) {
		w->of[d->reverse].reverse = which;
	}
	return which;
}

uint32_t usk_direction_known(const struct directions *w, struct usk_addr src, struct usk_addr dst)
{
	return w->n ? *slot_of(w, src, dst) - 1 : NOBODY;
}

static int bin_of(usk_i128 gap)
{
	int bin = 0;
	while (gap >= 4 && bin + 1 < GAP_BINS) {
		gap /= 4;
		bin++;
	}
	return bin;
}

/* vote: 0 or 1, or -1: it tells nothing. */
static void count_exchange(struct direction *d, struct direction *back, usk_i128 gap, int vote)
{
	const int bin = bin_of(gap);
	if (back->answered) {
		return;
	}
	back->answered = true;
	d->exchanges[bin]++;
	back->exchanges[bin]++;
	if (vote >= 0) {
		d->said[vote][bin]++;
		back->said[!vote][bin]++;
	}
}

void usk_direction_vote(struct directions *w, uint32_t which, const struct usk_sighting *s)
{
	struct direction *d = &w->of[which];
	int64_t span = (int64_t)s->span * USK_SPAN_NS;
	if (s->ttl_p == s->ttl_q) {
		d->level++;
	} else {
		d->ttl[s->ttl_p < s->ttl_q]++;
	}
	if (d->reverse != NOBODY && w->of[d->reverse].seen) {
		struct direction *back = &w->of[d->reverse];
		usk_i128 gap_p = (usk_i128)s->p_ns - back->last_p_ns;
		usk_i128 gap_q = (usk_i128)s->q_ns - back->last_q_ns;
		usk_i128 longer = gap_p - gap_q, size = longer < 0 ? -longer : longer;
		usk_i128 gap = gap_p < 0 ? -gap_p : gap_p;
		/* What drift could explain is no evidence, nor what may lie between the sightings
		 * of one capture: it may have the other one in its midst. Where it has packets
		 * several times it lacks some of those that it has once. */
		bool whole = (span || !d->passing) && (back->last_span_ns || !back->passing);
		const bool tells = size * 1000 > gap && size > span + back->last_span_ns;
		if (whole && gap <= LONGEST_GAP_NS) {
			count_exchange(d, back, gap, tells ? longer > 0 : -1);
		}
		if (whole && gap <= LONGEST_GAP_NS && tells) {
			/* Gap at p longer: the earlier one passed p first, this one q. */
			d->gap[longer > 0]++;
			back->gap[longer < 0]++;
			if (!w->shortest_ns || size < w->shortest_ns) {
				w->shortest_ns = size > INT64_MAX ? INT64_MAX : (int64_t)size;
			}
		}
	}
	d->sightings++;
	d->seen = true;
	d->answered = false;
	d->last_p_ns = s->p_ns;
	d->last_q_ns = s->q_ns;
	d->last_span_ns = span;
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
static bool both_nearer(const struct directions *w, const struct direction *d, uint8_t role)
{
	uint8_t back;
	return d->reverse != NOBODY && clear(w->of[d->reverse].ttl, 1, &back) && back == role;
}

static bool most_fall(const struct direction *d, bool nearer)
{
	return d->ttl[!nearer] * 10 >= (d->ttl[0] + d->ttl[1] + d->level) * 9;
}

bool usk_direction_falls(const struct directions *w, uint32_t which, bool nearer)
{
	if (which == NOBODY || !w->of[which].ttl[!nearer]) {
		return false;
	}
	const struct direction *d = &w->of[which];
	return most_fall(d, nearer) &&
	       (d->reverse == NOBODY || most_fall(&w->of[d->reverse], !nearer));
}

/* Where a capture has packets several times a few odd ones show that it missed some. */
static bool enough(const struct directions *w, const struct direction *d)
{
	const struct direction *back = d->reverse != NOBODY ? &w->of[d->reverse] : d;
	uint64_t sightings = d->sightings > back->sightings ? d->sightings : back->sightings;
	return !(d->passing || back->passing) || (d->gap[0] + d->gap[1]) * 2 >= sightings;
}

/* Do most exchanges say so, up to some length of their gaps? One alone may be a step, if others with
 * a gap that is no longer say nothing. */
static bool agreed(const struct direction *d, uint64_t enough, uint8_t role)
{
	uint64_t vote[2] = { 0, 0 }, upto = 0, all = 0;
	bool found = false;
	for (int i = 0; i < GAP_BINS; i++) {
		all += d->exchanges[i];
	}
	for (int i = 0; i < GAP_BINS; i++) {
		uint8_t most;
		vote[0] += d->said[0][i];
		vote[1] += d->said[1][i];
		upto += d->exchanges[i];
		const uint64_t votes = vote[0] + vote[1];
		if (d->exchanges[i] && votes * 2 >= upto && (votes > 1 || votes == all)) {
			found = clear(vote, enough, &most) && most == role;
		}
	}
	return found;
}

enum role usk_direction_decide(const struct directions *w, struct direction *d, bool last)
{
	if (d->role == ROLE_UNKNOWN) {
		uint8_t role;
		if (clear(d->ttl, last ? 1 : ENOUGH_TTL, &role) && !both_nearer(w, d, role)) {
			d->role = role;
			d->source = FROM_TTL;
		} else if (d->ttl[0] + d->ttl[1] == 0 && enough(w, d) &&
			   clear(d->gap, last ? 1 : ENOUGH_GAPS, &role) &&
			   agreed(d, last ? 1 : ENOUGH_GAPS, role)) {
			d->role = role;
			d->source = FROM_EXCHANGE;
		}
	}
	return d->role;
}
