/* SPDX-License-Identifier: MIT */
/*
 * beside.c - what each clock of a bracket may have done in it, as other pairs show something else there
 *
 * In    brackets of all pairs, by stamps of their clocks
 * Out   by how much either clock was set in a bracket of known size, at most
 * Why   a pair shows the sum of what happened to both of its clocks: what one did may make up for what the other did, and
 *       then only other pairs of that one show how much it was
 * Not   whether a clock did it (blame.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* More than any size; a few of them can be added. */
#define UNKNOWN ((usk_i128)1 << 100)

/* By how much T of a clock rose, unknown if UNKNOWN or more. */
struct range {
	usk_i128 least, most;
};

/* A bracket by the stamps of one of its clocks. */
struct nth {
	uint32_t clock, seen;
	int64_t from_ns, to_ns,
		latest_ns; /* the last: the most of to_ns up to this one of its clock */
};

struct shown {
	uint32_t pair;
	struct range by;
};

/* Each bracket twice, by clock, and for each by where they begin. */
struct beside {
	struct usk_work *w;
	struct nth *item;
	size_t n;
	struct shown *shown; /* of the one that is asked */
	size_t n_shown, cap_shown;
};

static struct nth nth_of(const struct usk_work *w, uint32_t number, uint32_t k)
{
	const struct usk_bracket *x = &w->seen[number].at;
	const bool of_b = w->seen[number].b == k;
	return (struct nth){ .clock = k,
			     .seen = number,
			     .from_ns = of_b ? x->b0_ns : x->a0_ns,
			     .to_ns = of_b ? x->b1_ns : x->a1_ns };
}

static struct beside beside_of(struct usk_work *w)
{
	struct beside o = { .w = w, .item = usk_alloc(2 * w->n_seen + 1, sizeof *o.item) };
	for (uint32_t i = 0; i < w->n_seen; i++) {
		o.item[o.n++] = nth_of(w, i, w->seen[i].a);
		o.item[o.n++] = nth_of(w, i, w->seen[i].b);
	}
	usk_sort(o.item, o.n, sizeof *o.item,
		 KEYS(BY(nth, clock), BY(nth, from_ns), BY(nth, to_ns)));
	for (size_t i = 0; i < o.n; i++) {
		struct nth *x = &o.item[i];
		const bool later = i && x[-1].clock == x->clock && x[-1].latest_ns > x->to_ns;
		x->latest_ns = later ? x[-1].latest_ns : x->to_ns;
	}
	return o;
}

/* If it was all clock k's. */
static struct range all_of(const struct usk_seen *s, uint32_t k)
{
	const struct usk_bracket *x = &s->at;
	const bool back = x->both || x->returned;
	const usk_i128 least = x->least_ns != USK_NONE ? x->least_ns
			       : x->rises && !back     ? 0
						       : -UNKNOWN;
	const usk_i128 most = x->most_ns != USK_NONE ? x->most_ns : x->rises || back ? UNKNOWN : 0;
	return s->b == k ? (struct range){ least, most } : (struct range){ -most, -least };
}

/* By how much T of clock k rose in a bracket of it and another clock, if all that other pairs of k show there was k's. */
static struct range others_say(struct beside *o, const struct usk_seen *s, uint32_t k)
{
	const struct nth own = nth_of(o->w, (uint32_t)(s - o->w->seen), k);
	struct range all = { 0, 0 };
	size_t at;
	o->n_shown = 0;
	USK_FIRST(at, 0, o->n,
		  o->item[at].clock > k ||
			  (o->item[at].clock == k && o->item[at].from_ns > own.to_ns));
	for (; at && o->item[at - 1].clock == k && o->item[at - 1].latest_ns >= own.from_ns; at--) {
		const struct nth *x = &o->item[at - 1];
		const struct usk_seen *t = &o->w->seen[x->seen];
		if (t->pair != s->pair && !t->at.doubted && x->to_ns >= own.from_ns) {
			*USK_ADD(o->shown, o->n_shown, o->cap_shown) =
				(struct shown){ t->pair, all_of(t, k) };
		}
	}
	usk_sort(o->shown, o->n_shown, sizeof *o->shown, KEYS(BY(shown, pair)));
	for (size_t i = 0; i < o->n_shown;) {
		struct range sum = { 0, 0 };
		for (const uint32_t pair = o->shown[i].pair;
		     i < o->n_shown && o->shown[i].pair == pair; i++) {
			sum.least += o->shown[i].by.least;
			sum.most += o->shown[i].by.most;
		}
		all.least = sum.least < all.least ? sum.least : all.least;
		all.most = sum.most > all.most ? sum.most : all.most;
	}
	return all;
}

static int64_t known(usk_i128 ns)
{
	return ns > -UNKNOWN / 2 && ns < UNKNOWN / 2 ? usk_saturate(ns) : USK_NONE;
}

void usk_beside(struct usk_work *w)
{
	struct beside o = beside_of(w);
	for (size_t i = 0; i < w->n_seen; i++) {
		struct usk_seen *s = &w->seen[i];
		struct range a = { 0, 0 }, b = { 0, 0 };
		if (!s->at.step && !s->at.doubted && usk_bracket_sized(&s->at)) {
			a = others_say(&o, s, s->a);
			b = others_say(&o, s, s->b);
		}
		/* What the pair shows is the rise of b less that of a. */
		s->least_ns[0] = known(s->at.least_ns - b.most);
		s->most_ns[0] = known(s->at.most_ns - b.least);
		s->least_ns[1] = known(s->at.least_ns + a.least);
		s->most_ns[1] = known(s->at.most_ns + a.most);
	}
	USK_FREE(o.item, o.shown);
}

struct usk_bracket usk_seen_of(const struct usk_seen *s, uint32_t k)
{
	struct usk_bracket x = s->at;
	const bool of_b = s->b == k;
	if (s->least_ns[of_b] != x.least_ns || s->most_ns[of_b] != x.most_ns) {
		x.least_ns = s->least_ns[of_b];
		x.most_ns = s->most_ns[of_b];
		x.once_ns = USK_NONE;
		x.both = x.both || (x.least_ns == USK_NONE && x.most_ns == USK_NONE);
	}
	return x;
}
