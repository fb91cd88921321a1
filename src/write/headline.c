/* SPDX-License-Identifier: MIT */
/*
 * headline.c - the one offset that stands for a clock
 *
 * In    the answer
 * Out   a stretch of the clock between steps, and its offset and bounds in the middle of that
 * Why   in the bracket of a step, or between epochs, there are no messages and the band is wide
 */
#include "write/write.h"

static size_t points_in(const struct usk_point *p, size_t n, int64_t from, int64_t to)
{
	size_t in = 0;
	for (size_t i = 0; i < n; i++) {
		in += p[i].local_ns >= from && p[i].local_ns <= to;
	}
	return in;
}

/* Buckets of messages by this clock that lie there; 0 too where none are kept. */
static size_t messages_in(const struct usk_clocks *c, uint32_t clock, int64_t from, int64_t to)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		if (p->b == clock) {
			n += points_in(p->floor, p->n_floor, from, to) +
			     points_in(p->ceiling, p->n_ceiling, from, to);
		}
	}
	return n;
}

static void offer(struct usk_headline *best, const struct usk_clocks *c, uint32_t clock,
		  uint32_t epoch, int64_t from, int64_t to)
{
	if (to < from) {
		return;
	}
	/* Of one stretch nobody asks how many messages it has, and most clocks have one. */
	size_t n = 0;
	if (best->n_stretches++) {
		if (best->n_stretches == 2) {
			best->messages = messages_in(c, clock, best->from_ns, best->to_ns);
		}
		n = messages_in(c, clock, from, to);
	}
	uint64_t span = (uint64_t)to - (uint64_t)from;
	uint64_t longest = (uint64_t)best->to_ns - (uint64_t)best->from_ns;
	if (best->n_stretches == 1 || n > best->messages ||
	    (n == best->messages && span > longest)) {
		best->from_ns = from;
		best->to_ns = to;
		best->middle_ns = from + (int64_t)(span / 2);
		best->epoch = epoch;
		best->messages = n;
	}
}

/* The stretch alone. */
static struct usk_headline stretch_of(const struct usk_clocks *c, const struct usk_clock *clock)
{
	struct usk_headline best = {
		.middle_ns = USK_NONE, .offset_ns = USK_NONE, .lo_ns = USK_NONE, .hi_ns = USK_NONE
	};
	uint32_t number = (uint32_t)(clock - c->clock);
	for (size_t i = 0, end; i < clock->n_knots; i = end) {
		uint32_t epoch = clock->knot[i].epoch;
		int64_t from = clock->knot[i].local_ns;
		for (end = i + 1; end < clock->n_knots && clock->knot[end].epoch == epoch;) {
			end++;
		}
		int64_t last = clock->knot[end - 1].local_ns;
		for (size_t k = 0; k < clock->n_jumps; k++) {
			const struct usk_jump *j = &clock->jump[k];
			if (j->kind != USK_JUMP || !usk_jump_spans(j, epoch, last, from)) {
				continue;
			}
			if (j->end_epoch != epoch) {
				last = j->after_local_ns;
				continue;
			}
			if (j->epoch == epoch) {
				offer(&best, c, number, epoch, from, j->after_local_ns);
			}
			from = j->before_local_ns;
		}
		offer(&best, c, number, epoch, from, last);
	}
	if (!best.n_stretches && clock->n_knots) {
		/* Steps may be anywhere: there is a band all the same. */
		size_t end = clock->n_knots - 1;
		uint32_t epoch = clock->knot[0].epoch;
		while (clock->knot[end].epoch != epoch) {
			end--;
		}
		offer(&best, c, number, epoch, clock->knot[0].local_ns, clock->knot[end].local_ns);
	}
	return best;
}

struct usk_headline usk_headline_of(const struct usk_clocks *c, const struct usk_clock *clock)
{
	struct usk_headline h = stretch_of(c, clock);
	struct usk_map *map =
		clock->n_knots < 2 ? NULL : usk_map_of_epoch(clock, h.epoch, c->max_skew_e12);
	struct usk_stamp s;
	if (map && !usk_map_at(map, h.middle_ns, &s, NULL)) {
		h.offset_ns = s.reference_ns == USK_NONE ? USK_NONE : s.reference_ns - h.middle_ns;
		h.lo_ns = s.lo_ns == USK_NONE ? USK_NONE : s.lo_ns - h.middle_ns;
		h.hi_ns = s.hi_ns == USK_NONE ? USK_NONE : s.hi_ns - h.middle_ns;
	}
	usk_map_free(map);
	return h;
}
