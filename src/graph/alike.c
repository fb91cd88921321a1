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

/* The tied pairs of clock k are pair[first[k]] to pair[first[k + 1]]. */
struct ways {
	const struct usk_work *w;
	uint32_t *pair;
	size_t *first;
	/* By pair and by clock, the number of the question that they were closed for, or reached by. */
	uint32_t *closed, *reached, question;
	bool *home;	 /* by clock: pairs that show no step ever tie it to the reference */
	uint32_t *clock; /* those that were reached */
	size_t n;
};

static uint32_t other_end(const struct ways *x, uint32_t pair, uint32_t k)
{
	const struct usk_graph_pair *p = &x->w->p->pair[pair];
	return p->a == k ? p->b : p->a;
}

static struct ways ways_of(const struct usk_work *w)
{
	const struct usk_graph_problem *p = w->p;
	struct ways x = { .w = w,
			  .pair = usk_alloc(2 * p->n_pairs + 1, sizeof *x.pair),
			  .first = usk_alloc(w->n_clocks + 2, sizeof *x.first),
			  .closed = usk_alloc(p->n_pairs + 1, sizeof *x.closed),
			  .reached = usk_alloc(w->n_clocks + 1, sizeof *x.reached),
			  .home = usk_alloc(w->n_clocks + 1, sizeof *x.home),
			  .clock = usk_alloc(w->n_clocks + 1, sizeof *x.clock) };
	for (size_t i = 0; i < p->n_pairs; i++) {
		x.first[p->pair[i].a + 2] += w->tied[i];
		x.first[p->pair[i].b + 2] += w->tied[i];
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		x.first[k + 2] += x.first[k + 1];
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		if (w->tied[i]) {
			x.pair[x.first[p->pair[i].a + 1]++] = (uint32_t)i;
			x.pair[x.first[p->pair[i].b + 1]++] = (uint32_t)i;
		}
	}
	return x;
}

static void ways_free(struct ways *x)
{
	USK_FREE(x->pair, x->first, x->closed, x->reached, x->home, x->clock);
}

static void reach(struct ways *x, uint32_t k)
{
	if (x->reached[k] != x->question) {
		x->reached[k] = x->question;
		x->clock[x->n++] = k;
	}
}

/* Clocks that pairs which are not closed tie to one, itself first. false: the reference is one of them. */
static bool reach_from(struct ways *x, uint32_t from)
{
	x->n = 0;
	reach(x, from);
	for (size_t i = 0; i < x->n; i++) {
		const uint32_t k = x->clock[i];
		if (x->home[k]) {
			return false;
		}
		for (size_t n = x->first[k]; n < x->first[k + 1]; n++) {
			if (x->closed[x->pair[n]] != x->question) {
				reach(x, other_end(x, x->pair[n], k));
			}
		}
	}
	return true;
}

static void find_home(struct ways *x)
{
	const struct usk_work *w = x->w;
	x->question++;
	for (size_t i = 0; i < w->n_by_begin; i++) {
		const struct usk_seen *s = &w->seen[w->by_begin[i].seen];
		x->closed[s->pair] = s->at.step ? x->question : x->closed[s->pair];
	}
	reach_from(x, w->reference);
	for (size_t i = 0; i < x->n; i++) {
		x->home[x->clock[i]] = true;
	}
}

/* Closes pairs that show a step meanwhile, as of their clocks one was set and one was not. Of two that are slewed neither
 * alike nor together that is not so: their pair shows what differs. */
static void close_ways(struct ways *x, const struct usk_seen *s)
{
	const struct usk_work *w = x->w;
	const struct usk_seen *t;
	x->question++;
	for (size_t at = w->n_by_begin; (t = usk_seen_near(w, s, &at));) {
		x->closed[t->pair] = t->at.step ? x->question : x->closed[t->pair];
	}
	for (size_t at = w->n_by_begin; s->at.several && (t = usk_seen_near(w, s, &at));) {
		x->closed[t->pair] = t->at.several ? 0 : x->closed[t->pair];
	}
	x->closed[s->pair] = x->question;
}

void usk_break_alike(struct usk_work *w)
{
	struct ways x = ways_of(w);
	find_home(&x);
	for (uint32_t i = 0; i < w->n_seen; i++) {
		const struct usk_seen s = w->seen[i];
		const uint32_t side[] = { s.a, s.b };
		for (int of = 0; of < 2 && s.at.step && !s.at.doubted; of++) {
			close_ways(&x, &s);
			if (s.excluded[of] || !reach_from(&x, side[of])) {
				continue;
			}
			struct usk_break b =
				usk_break_of(&s.at, usk_seen_rises_for(&s, side[of]), i);
			for (size_t k = 1; k < x.n; k++) {
				b.clock = x.clock[k];
				usk_break_between(w, s.from, s.to, usk_bracket_farthest(&s.at), b);
			}
		}
	}
	ways_free(&x);
}
