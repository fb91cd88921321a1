/* SPDX-License-Identifier: MIT */
/*
 * headline.c - the one offset that stands for a clock, and where it is of
 *
 * In    knots, steps, and what is kept of its messages
 * Out   a stretch between steps, its middle, the offset there
 * Why   in the bracket of a step, or between epochs, there are no messages and the band is wide
 * Not   every moment: clocks.json has those
 */
#include "print.h"

#include <string.h>

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

struct choice {
	struct headline *best;
	size_t messages;
	bool any;
};

static void offer(struct choice *x, const struct usk_clocks *c, uint32_t clock, uint32_t epoch,
		  int64_t from, int64_t to)
{
	if (to < from) {
		return;
	}
	size_t n = messages_in(c, clock, from, to);
	uint64_t span = (uint64_t)to - (uint64_t)from;
	uint64_t longest = (uint64_t)x->best->to_ns - (uint64_t)x->best->from_ns;
	x->best->n_stretches++;
	if (!x->any || n > x->messages || (n == x->messages && span > longest)) {
		x->best->from_ns = from;
		x->best->to_ns = to;
		x->best->epoch = epoch;
		x->messages = n;
		x->any = true;
	}
}

struct headline headline_of(const struct usk_clocks *c, const struct usk_clock *clock)
{
	struct headline best = { 0 };
	struct choice x = { .best = &best };
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
			bool inside = j->kind == USK_JUMP && j->epoch == epoch &&
				      j->before_local_ns >= j->after_local_ns &&
				      j->after_local_ns <= last && j->before_local_ns >= from;
			if (inside) {
				offer(&x, c, number, epoch, from, j->after_local_ns);
				from = j->before_local_ns;
			}
		}
		offer(&x, c, number, epoch, from, last);
	}
	best.middle_ns =
		best.from_ns + (int64_t)(((uint64_t)best.to_ns - (uint64_t)best.from_ns) / 2);
	return best;
}

struct text headline_offset(const struct usk_clocks *c, const struct usk_clock *clock)
{
	struct text out = { "-" };
	if (clock->quality == USK_REFERENCE) {
		return (struct text){ "0" };
	}
	struct headline h = headline_of(c, clock);
	struct usk_map *map =
		clock->n_knots < 2 ? NULL : usk_map_of_epoch(clock, h.epoch, c->max_skew_e12);
	int64_t middle = h.middle_ns;
	struct usk_stamp s;
	if (map && !usk_map_at(map, middle, &s, NULL)) {
		if (s.reference_ns != USK_NONE && s.lo_ns != USK_NONE && s.hi_ns != USK_NONE) {
			out = unit_between(s.reference_ns - middle, s.lo_ns - middle,
					   s.hi_ns - middle);
		} else if (s.lo_ns != USK_NONE) {
			out = text_of("at least %s", unit_at_least(s.lo_ns - middle).s);
		} else if (s.hi_ns != USK_NONE) {
			out = text_of("at most %s", unit_at_most(s.hi_ns - middle).s);
		}
	}
	usk_map_free(map);
	return out;
}

struct text clock_drift(const struct usk_clock *k)
{
	return k->quality == USK_REFERENCE
		       ? (struct text){ "0" }
		       : unit_drift(k->drift_ppm, k->drift_min_ppm, k->drift_max_ppm);
}
