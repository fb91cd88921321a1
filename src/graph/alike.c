/* SPDX-License-Identifier: MIT */
/*
 * alike.c - clocks that may have been set together
 *
 * In    brackets of pairs, when they were and whose they may be
 * Out   breaks of clocks that were set, or slewed, at that time, too, if they were
 * Why   machines follow one server, or are guests of one host: of two that were set alike the messages between them
 *       tell nothing, so what ties the one to the reference through the other alone says nothing of it meanwhile
 * Not   all clocks, if it was the reference (reference.c)
 */
#include "graph/work.h"

#include <stdlib.h>

/* What a pair says of two clocks while something happened: that both were set or none was; nothing; or that one was set,
 * the other one not. */
enum tie { TIED, UNSURE, CLOSED };

struct ways {
	const struct usk_work *w;
	struct usk_arcs g;
	enum tie *tie;	   /* by pair */
	uint32_t *changed; /* those that are not TIED */
	size_t n_changed;
	enum state { UNKNOWN, SET, STILL } * state; /* by clock */
	uint32_t *clock;			    /* those that are not UNKNOWN */
	size_t n;
};

static struct ways ways_of(const struct usk_work *w)
{
	return (struct ways){ .w = w,
			      .g = usk_arcs_of(w),
			      .tie = usk_alloc(w->p->n_pairs + 1, sizeof(enum tie)),
			      .changed = usk_alloc(w->p->n_pairs + 1, sizeof(uint32_t)),
			      .state = usk_alloc(w->n_clocks + 1, sizeof(enum state)),
			      .clock = usk_alloc(w->n_clocks + 1, sizeof(uint32_t)) };
}

static void ways_free(struct ways *x)
{
	usk_arcs_free(&x->g);
	USK_FREE(x->tie, x->changed, x->state, x->clock);
}

/* A statement tells of one moment, and of no step. */
static bool is_over(const struct ways *x, const struct usk_arc *arc, enum tie t)
{
	return arc->pair != UINT32_MAX && x->tie[arc->pair] == t;
}

static void say(struct ways *x, uint32_t pair, enum tie t)
{
	if (x->tie[pair] == TIED) {
		x->changed[x->n_changed++] = pair;
	}
	x->tie[pair] = x->tie[pair] < t ? t : x->tie[pair];
}

static void forget(struct ways *x)
{
	for (size_t i = 0; i < x->n_changed; i++) {
		x->tie[x->changed[i]] = TIED;
	}
	for (size_t i = 0; i < x->n; i++) {
		x->state[x->clock[i]] = UNKNOWN;
	}
	x->n_changed = x->n = 0;
}

static void reach(struct ways *x, uint32_t k)
{
	if (x->state[k] == UNKNOWN) {
		x->state[k] = SET;
		x->clock[x->n++] = k;
	}
}

/* Clocks from the begin-th that was reached on, and all that are tied to these, were SET, unless one of them was STILL, as
 * the reference is. */
static void take_tied(struct ways *x, size_t begin)
{
	bool still = false;
	for (size_t i = begin; i < x->n && !still; i++) {
		const uint32_t k = x->clock[i];
		still = k == x->w->reference;
		for (size_t n = x->g.first[k]; n < x->g.first[k + 1] && !still; n++) {
			const struct usk_arc *arc = &x->g.arc[n];
			if (is_over(x, arc, TIED)) {
				still = x->state[arc->to] == STILL;
				reach(x, arc->to);
			}
		}
	}
	for (size_t i = begin; i < x->n && still; i++) {
		x->state[x->clock[i]] = STILL;
	}
}

/* Those that may have been set with one are SET, itself first. */
static void take_from(struct ways *x, uint32_t from)
{
	reach(x, from);
	take_tied(x, 0);
	for (size_t i = 0; i < x->n; i++) {
		const uint32_t k = x->clock[i];
		for (size_t n = x->g.first[k]; n < x->g.first[k + 1] && x->state[k] == SET; n++) {
			const size_t begin = x->n;
			if (is_over(x, &x->g.arc[n], UNSURE)) {
				reach(x, x->g.arc[n].to);
				take_tied(x, begin);
			}
		}
	}
}

/*
 * A pair that shows a step within the time of one says that of its clocks one was set and one was not; if it need not be of
 * that time, or if both are slews, which need not have been at one rate, it says nothing. Nor does a pair of clock k
 * that is too wide to show it.
 */
static void ask_pairs(struct ways *x, const struct usk_seen *s, uint32_t k)
{
	const struct usk_work *w = x->w;
	const struct usk_seen *t;
	for (size_t n = x->g.first[k]; n < x->g.first[k + 1] && usk_seen_sized(s); n++) {
		const uint32_t pair = x->g.arc[n].pair;
		if (pair != UINT32_MAX && pair != s->pair &&
		    !usk_others_deny(w, w->others, s, k, pair)) {
			say(x, pair, UNSURE);
		}
	}
	for (size_t at = w->by_begin.n; (t = usk_seen_near(w, &w->by_begin, s, &at));) {
		if (t->at.step) {
			/* Who has no end may have been at any other time, too. */
			const bool within =
				usk_seen_placed(s) && s->from <= t->from && t->to <= s->to;
			say(x, t->pair, within ? CLOSED : UNSURE);
		}
	}
	for (size_t at = w->by_begin.n;
	     s->at.slew && (t = usk_seen_near(w, &w->by_begin, s, &at));) {
		x->tie[t->pair] = t->at.slew ? UNSURE : x->tie[t->pair];
	}
	say(x, s->pair, CLOSED);
}

void usk_break_alike(struct usk_work *w)
{
	struct ways x = ways_of(w);
	for (uint32_t i = 0; i < w->n_seen; i++) {
		const struct usk_seen *s = &w->seen[i];
		const uint32_t side[] = { s->a, s->b };
		for (int of = 0; of < 2 && s->at.step && !s->at.doubted; of++) {
			if (side[of] == w->reference) {
				continue; /* nobody is set with it: then all others do not jump */
			}
			ask_pairs(&x, s, side[of]);
			take_from(&x, side[of]);
			struct usk_break b =
				usk_break_of(&s->at, usk_seen_rises_for(s, side[of]), i);
			for (size_t k = 1; k < x.n; k++) {
				b.clock = x.clock[k];
				if (x.state[b.clock] == SET) {
					usk_break_between(w, s->from, s->to,
							  usk_bracket_farthest(&s->at), b);
				}
			}
			forget(&x);
		}
	}
	ways_free(&x);
}
