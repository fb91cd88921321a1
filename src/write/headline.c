/* SPDX-License-Identifier: MIT */
/*
 * headline.c - a clock between its steps, and the one offset that stands for it
 *
 * In    the answer
 * Out   stretches of a clock between steps, and its offset and bounds in the middle of each; one of
 *       them stands for the clock
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

/* The best of a clock so far. */
struct choice {
	const struct usk_clocks *c;
	const struct usk_clock *clock;
	struct usk_headline best;
};

static void offer(void *ctx, uint32_t epoch, int64_t from, int64_t to)
{
	struct choice *x = ctx;
	struct usk_headline *best = &x->best;
	uint32_t number = (uint32_t)(x->clock - x->c->clock);
	/* Of one stretch nobody asks how many messages it has, and most clocks have one. */
	size_t n = 0;
	if (best->n_stretches++) {
		if (best->n_stretches == 2) {
			best->messages = messages_in(x->c, number, best->from_ns, best->to_ns);
		}
		n = messages_in(x->c, number, from, to);
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

typedef void take_stretch(void *ctx, uint32_t epoch, int64_t from, int64_t to);

/* All of them, in the order of epochs and stamps. */
static void stretches(const struct usk_clock *clock, take_stretch *take, void *ctx)
{
	bool any = false;
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
			if (j->epoch == epoch && j->after_local_ns >= from) {
				take(ctx, epoch, from, j->after_local_ns);
				any = true;
			}
			from = j->before_local_ns;
		}
		if (last >= from) {
			take(ctx, epoch, from, last);
			any = true;
		}
	}
	if (!any && clock->n_knots) {
		/* Steps may be anywhere: there is a band all the same. */
		size_t end = clock->n_knots - 1;
		uint32_t epoch = clock->knot[0].epoch;
		while (clock->knot[end].epoch != epoch) {
			end--;
		}
		take(ctx, epoch, clock->knot[0].local_ns, clock->knot[end].local_ns);
	}
}

/* Its middle, and the offset there. */
static void draw(const struct usk_clocks *c, const struct usk_clock *clock, struct usk_headline *h)
{
	struct usk_map *map =
		clock->n_knots < 2 ? NULL : usk_map_of_epoch(clock, h->epoch, c->max_skew_e12);
	struct usk_stamp s;
	h->offset_ns = h->lo_ns = h->hi_ns = USK_NONE;
	if (map && !usk_map_at(map, h->middle_ns, &s, NULL)) {
		h->offset_ns =
			s.reference_ns == USK_NONE ? USK_NONE : s.reference_ns - h->middle_ns;
		h->lo_ns = s.lo_ns == USK_NONE ? USK_NONE : s.lo_ns - h->middle_ns;
		h->hi_ns = s.hi_ns == USK_NONE ? USK_NONE : s.hi_ns - h->middle_ns;
	}
	usk_map_free(map);
}

struct usk_headline usk_headline_of(const struct usk_clocks *c, const struct usk_clock *clock)
{
	struct choice x = { c, clock, { .middle_ns = USK_NONE } };
	stretches(clock, offer, &x);
	draw(c, clock, &x.best);
	return x.best;
}

struct list {
	struct usk_headline *item;
	size_t n, cap;
};

static void collect(void *ctx, uint32_t epoch, int64_t from, int64_t to)
{
	struct list *l = ctx;
	*USK_ADD(l->item, l->n, l->cap) = (struct usk_headline){
		.from_ns = from,
		.to_ns = to,
		.middle_ns = from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2),
		.epoch = epoch,
	};
}

size_t usk_stretches_of(const struct usk_clocks *c, const struct usk_clock *clock,
			struct usk_headline **out)
{
	struct list l = { .item = NULL };
	stretches(clock, collect, &l);
	for (size_t i = 0; i < l.n; i++) {
		l.item[i].n_stretches = l.n;
		draw(c, clock, &l.item[i]);
	}
	*out = l.item;
	return l.n;
}
