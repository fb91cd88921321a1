/* SPDX-License-Identifier: MIT */
/*
 * odd.c - the clock that the others speak against
 *
 * In    pairs that contradict a model by themselves, or conflicts across pairs
 * Out   marks, and sentences that name clocks and messages
 * Why   one clock that was stepped must not spoil the answer for all the others
 * Not   what to do with the rest (solve.c)
 */
#include "solve/odd.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

/* ---- by pairs ----------------------------------------------------------------------- */

enum trouble { FINE, WANDERS, JUMPS, CONTRADICTS };

static enum trouble trouble(const struct usk_island_work *w, const struct usk_tie *t)
{
	if (t->fitted->quality == USK_CONTRADICTED) {
		return CONTRADICTS;
	}
	for (size_t i = 0; i < t->fitted->n_jumps; i++) {
		if (t->fitted->jump[i].kind == USK_JUMP) {
			return JUMPS;
		}
	}
	return w->opt->model.kind == USK_WANDER && t->wander_e12 > w->opt->model.wander_e12
		       ? WANDERS
		       : FINE;
}

/* How many pairs of a clock are in trouble among clocks that are not odd, and in how much. */
struct troubles {
	size_t all, bad;
	enum trouble most;
};

static struct troubles count(const struct usk_island_work *w, uint32_t i)
{
	const struct usk_graph *g = w->graph;
	struct troubles t = { 0 };
	for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
		enum trouble of = trouble(w, &w->tie[g->arc[k].tie]);
		if (w->odd[g->arc[k].to]) {
			continue;
		}
		t.all++;
		t.bad += of != FINE;
		t.most = of > t.most ? of : t.most;
	}
	return t;
}

static void blame(struct usk_island_work *w, uint32_t i, const struct troubles *t)
{
	static const char *const what[] = {
		[WANDERS] = "need more wander than was assumed",
		[JUMPS] = "show a jump",
		[CONTRADICTS] = "contradict the model",
	};
	w->odd[i] = true;
	usk_island_note(
		w, usk_format("%s is the odd one out: the %zu pairs it takes part in %s, and pairs "
			      "without it do not; it was stepped, slewed or stamped late, and the "
			      "others are solved without it",
			      w->c->clock[i].name, t->bad, what[t->most]));
}

void usk_odd_by_pairs(struct usk_island_work *w)
{
	bool *was = usk_alloc(w->graph->n_clocks, sizeof *was);
	for (size_t i = 0; i < w->n; i++) {
		was[w->clock[i]] = w->odd[w->clock[i]];
	}
	/* Greedily those with most such pairs, more than any clock they share one with. */
	uint32_t *found = usk_alloc(w->n, sizeof *found);
	struct troubles *why = usk_alloc(w->n, sizeof *why);
	size_t n = 0, left = 1;
	while (left) {
		uint32_t worst = USK_NO_CLOCK;
		struct troubles most = { 0 };
		size_t equals = 0;
		left = 0;
		for (size_t i = 0; i < w->n; i++) {
			struct troubles t = { 0 };
			if (!w->odd[w->clock[i]]) {
				t = count(w, w->clock[i]);
			}
			left += t.bad;
			equals = t.bad > most.bad ? 1 : equals + (t.bad && t.bad == most.bad);
			if (t.bad > most.bad) {
				most = t;
				worst = w->clock[i];
			}
		}
		if (!left || equals > 1 || most.bad < 2 || most.bad < most.all) {
			break;
		}
		found[n] = worst;
		why[n++] = most;
		w->odd[worst] = true;
	}
	for (size_t i = 0; i < w->n; i++) {
		w->odd[w->clock[i]] = was[w->clock[i]];
	}
	/* Pairs that wander are no reason unless that explains them all: real clocks do. */
	for (size_t i = 0; i < n; i++) {
		if (why[i].most != WANDERS || !left) {
			blame(w, found[i], &why[i]);
		}
	}
	free(found);
	free(why);
	free(was);
}

/* A jump that the note on its clock does not name: the answer has it among the jumps. */
void usk_odd_by_jumps(struct usk_island_work *w)
{
	const struct usk_graph *g = w->graph;
	for (size_t i = 0; i < w->n; i++) {
		for (size_t k = g->first[w->clock[i]]; k < g->first[w->clock[i] + 1]; k++) {
			const struct usk_tie *t = &w->tie[g->arc[k].tie];
			if (g->arc[k].turned || w->odd[t->a] || w->odd[t->b]) {
				continue;
			}
			for (size_t j = 0; j < t->fitted->n_jumps; j++) {
				uint32_t of = t->fitted->jump[j].of;
				of = of == t->a || of == t->b ? of : t->b;
				if (t->fitted->jump[j].kind == USK_JUMP) {
					w->odd[of] = true;
				}
			}
		}
	}
}

/* ---- by conflicts ----------------------------------------------------------------------- */

/* The message that a point tells, as recorded; with a minimum delay, as if sent later or received
 * earlier by so much. */
static struct usk_msg message(const struct usk_island_work *w, const struct usk_against *r)
{
	const struct usk_tie *t = &w->tie[r->tie];
	struct usk_xy p = r->point;
	p.y += t->part->q_ns[r->ceiling];
	struct usk_point at = usk_part_point(t->part, r->ceiling, p);
	int64_t other = usk_cut((usk_i128)at.local_ns + at.offset_ns);
	return r->ceiling ? (struct usk_msg){ at.local_ns, other, t->b, t->a, 0 }
			  : (struct usk_msg){ other, at.local_ns, t->a, t->b, 0 };
}

static void keep_messages(struct usk_island_work *w, const struct usk_conflict *conflict)
{
	for (size_t i = 0; i < conflict->n; i++) {
		struct usk_pair *p = &w->c->pair[w->tie[conflict->row[i].tie].pair];
		p->contradiction = usk_grow(p->contradiction, p->n_contradiction + 1,
					    sizeof *p->contradiction);
		p->contradiction[p->n_contradiction++] = message(w, &conflict->row[i]);
	}
}

/* The clocks of a conflict, each once, sorted. */
static size_t clocks_of(const struct usk_island_work *w, const struct usk_conflict *conflict,
			uint32_t *out)
{
	bool *in = usk_alloc(w->graph->n_clocks, sizeof *in);
	size_t n = 0;
	for (size_t i = 0; i < conflict->n; i++) {
		in[w->tie[conflict->row[i].tie].a] = in[w->tie[conflict->row[i].tie].b] = true;
	}
	for (uint32_t i = 0; i < w->graph->n_clocks; i++) {
		if (in[i]) {
			out[n++] = i;
		}
	}
	free(in);
	return n;
}

static char *names(const struct usk_clocks *c, const uint32_t *clock, size_t n)
{
	char *all = usk_strdup(c->clock[clock[0]].name);
	for (size_t i = 1; i < n; i++) {
		char *more = usk_format("%s%s%s", all, i + 1 < n ? ", " : " and ",
					c->clock[clock[i]].name);
		free(all);
		all = more;
	}
	return all;
}

bool usk_odd_by_conflict(struct usk_island_work *w, const struct usk_conflict *conflict,
			 bool (*agree)(struct usk_island_work *w))
{
	uint32_t *clock = usk_alloc(w->graph->n_clocks, sizeof *clock), guilty = 0;
	size_t n = clocks_of(w, conflict, clock), found = 0;
	keep_messages(w, conflict);
	for (size_t i = 0; i < n && found < 2; i++) {
		if (clock[i] == w->opt->reference) {
			continue;
		}
		w->odd[clock[i]] = true;
		if (agree(w)) {
			guilty = clock[i];
			found++;
		}
		w->odd[clock[i]] = false;
	}
	char *all = names(w->c, clock, n);
	if (found == 1) {
		w->odd[guilty] = w->out[guilty] = true;
		usk_island_note(
			w,
			usk_format("%s is the odd one out: %zu messages between %s cannot all be "
				   "true, and all the others can without it; it was stepped, "
				   "slewed or "
				   "stamped late",
				   w->c->clock[guilty].name, conflict->n, all));
	} else {
		usk_island_note(
			w, usk_format("%zu messages between %s cannot all be true, though each "
				      "pair can by itself, and no clock alone is to blame: clocks "
				      "are solved along paths",
				      conflict->n, all));
	}
	free(all);
	free(clock);
	return found == 1;
}
