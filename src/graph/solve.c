/* SPDX-License-Identifier: MIT */
/*
 * solve.c - an island: build, bound, take back what cannot be true, estimate, publish
 *
 * In    pairs and other ties
 * Out   one clock per machine
 * Why   usk_solve_island() is the stage's one sentence
 */
#include "base/stream.h"
#include "fit/fit.h"
#include "graph/work.h"

#include <stdio.h>
#include <stdlib.h>

static void keep_tree(struct usk_work *w)
{
	struct usk_path *path = usk_alloc(w->c->n_clocks, sizeof *path);
	usk_paths_of(w, w->reference, path);
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		w->tied[i] = w->tied[i] && (path[p->a].pair == i || path[p->b].pair == i);
	}
	free(path);
}

static void note(struct usk_clocks *c, char *text)
{
	*USK_APPEND(c->note, c->n_notes) = text;
}

/* No repair helped: clocks whose bounds cross are tied to nothing any more. false: it was not. */
static bool give_up(struct usk_work *w, uint32_t k)
{
	bool any = false;
	bool lines = w->p->model.kind == USK_LINEAR;
	w->c->clock[k].quality = USK_CONTRADICTED;
	note(w->c, usk_format("what connects %s with %s contradicts itself: %s",
			      w->c->clock[k].name, w->c->clock[w->reference].name,
			      lines ? "no constant rates explain it; try another --model"
				    : "no step within --max-skew-ppm explains it; check what "
				      "--anchor states"));
	for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
		if (w->peer[i] != USK_NO_EVENT) {
			w->peer[w->peer[i]] = USK_NO_EVENT;
			w->peer[i] = USK_NO_EVENT;
			any = true;
		}
	}
	return any;
}

/* Who states something wrongly is wrong about all of its edges. */
static void leave_out_statements(struct usk_work *w, size_t from)
{
	for (size_t n = from; n < w->n_left_out; n++) {
		uint32_t statement = w->pair_of[w->left_out[n].from];
		for (uint32_t i = 0; i < w->n && usk_is_stated(w, statement); i++) {
			uint32_t k = w->peer[i];
			if (w->pair_of[i] == statement && k != USK_NO_EVENT) {
				w->peer[i] = w->peer[k] = USK_NO_EVENT;
			}
		}
	}
}

/* What is stated of a clock goes before its messages do. */
static bool leave_out_stated(struct usk_work *w, uint32_t k)
{
	bool any = false;
	for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
		if (usk_is_stated(w, w->pair_of[i])) {
			any = usk_cycle_leave_out(w, i) || any;
		}
	}
	return any;
}

static bool all_straight(const struct usk_work *w)
{
	bool all = w->straight;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		all = all && (i == w->reference || usk_is_straight(w, i));
	}
	return all;
}

/* Lines of clocks that cones bound; two clocks need no cones. false: they contradict. */
static bool solve_by_lines(struct usk_work *w)
{
	return (w->n_clocks == 2 || usk_solve_bounds(w, false)) &&
	       usk_straight_solve(w) != USK_STRAIGHT_CONTRADICTED;
}

static bool solve_bounds(struct usk_work *w)
{
	usk_straight_forget(w);
	w->torn = NULL;
	if (usk_straight_applies(w) && !solve_by_lines(w)) {
		return false;
	}
	return all_straight(w) || usk_solve_bounds(w, true);
}

/* What repairs change, as it was before them. */
struct before {
	size_t n_breaks, n_weak;
	int64_t *wander_e12, *weak_ns;
};

static struct before before_repairs(const struct usk_work *w)
{
	struct before b = { w->n_breaks, w->n_weak, usk_alloc(w->n_clocks + 1, sizeof(int64_t)),
			    usk_alloc(w->n_weak + 1, sizeof(int64_t)) };
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		b.wander_e12[i] = w->wander_e12[i];
	}
	for (size_t i = 0; i < w->n_weak; i++) {
		b.weak_ns[i] = w->weak[i].by_ns;
	}
	return b;
}

/* What was done before a wrong statement was found may have been for its sake: all of that is taken
 * back but the statements left out, if any was from `from` on. */
static void begin_again(struct usk_work *w, size_t from, const struct before *b)
{
	bool stated = false;
	size_t n = 0;
	for (size_t i = from; i < w->n_left_out; i++) {
		stated = stated || usk_is_stated(w, w->pair_of[w->left_out[i].from]);
	}
	if (!stated) {
		return;
	}
	for (size_t i = 0; i < w->n_left_out; i++) {
		struct usk_left_out l = w->left_out[i];
		if (usk_is_stated(w, w->pair_of[l.from])) {
			w->left_out[n++] = l;
		} else {
			w->peer[l.from] = l.to;
			w->peer[l.to] = l.from;
		}
	}
	w->n_left_out = n;
	w->n_breaks = b->n_breaks;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		w->wander_e12[i] = b->wander_e12[i];
		w->broken[i] = false;
	}
	for (size_t i = 0; i < w->n_weak; i++) {
		struct usk_weak *x = &w->weak[i];
		if (i < b->n_weak) {
			x->by_ns = b->weak_ns[i];
		} else {
			w->weak_of[x->sent] = w->weak_of[x->received] = 0;
			w->peer[x->sent] = x->received;
			w->peer[x->received] = x->sent;
		}
	}
	w->n_weak = b->n_weak;
}

/* Those that are suspected, else all: of what contradicts itself one clock is tied to others. */
static void give_up_suspects(struct usk_work *w)
{
	bool any = false;
	for (int all = 0; all < 2 && !any; all++) {
		for (uint32_t i = 0; i < w->n_clocks; i++) {
			bool asked = all ? i != w->reference : w->suspect[i];
			any = (asked && give_up(w, i)) || any;
		}
	}
}

static void bound(struct usk_work *w)
{
	struct before b = before_repairs(w);
	w->suspect = usk_alloc(w->c->n_clocks, sizeof *w->suspect);
	usk_bounds_reset(w);
	for (bool crosses; (crosses = !solve_bounds(w)) || usk_cycle_doubt(w);) {
		size_t before = w->n_left_out;
		if (crosses && !usk_cycle_repair(w)) {
			bool stated = leave_out_stated(w, w->owner[w->crossed]);
			/* Of others, then: one of them is what it is contradicted by, maybe. */
			for (uint32_t i = 0; i < w->n_clocks && !stated; i++) {
				stated = leave_out_stated(w, i);
			}
			if (!stated) {
				give_up_suspects(w);
			}
		}
		leave_out_statements(w, before);
		begin_again(w, before, &b);
		usk_build_cells(w);
		usk_bounds_reset(w);
	}
	USK_FREE(w->suspect, b.wander_e12, b.weak_ns);
}

/* Rounded outwards to whole ns. */
static void round_bounds(struct usk_work *w)
{
	w->lo_ns = usk_grow(NULL, w->n + 1, sizeof *w->lo_ns);
	w->hi_ns = usk_grow(NULL, w->n + 1, sizeof *w->hi_ns);
	w->filled = usk_alloc(w->n + 1, sizeof *w->filled);
	for (uint32_t i = 0; i < w->n; i++) {
		usk_i128 lo = usk_floor_div(w->lo[i], USK_E12),
			 hi = usk_ceil_div(w->hi[i], USK_E12);
		w->lo_ns[i] = lo >= -USK_TIME_MAX ? (int64_t)lo : USK_NONE;
		w->hi_ns[i] = hi <= USK_TIME_MAX ? (int64_t)hi : USK_NONE;
	}
}

static void write_paths(struct usk_work *w)
{
	struct usk_path *path = usk_alloc(w->c->n_clocks, sizeof *path);
	usk_paths_of(w, w->reference, path);
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		struct usk_clock *k = &w->c->clock[i];
		uint32_t at = i;
		k->reference = w->reference;
		k->n_path = path[at].hops + 1;
		k->path = usk_alloc(k->n_path, sizeof *k->path);
		bool all = k->n_path > 1;
		k->residual_ns = 0;
		for (size_t n = k->n_path; n--; at = path[at].from) {
			uint32_t pair = path[at].pair;
			int64_t er = pair < w->p->n_pairs ? w->p->pair[pair].residual_ns : 0;
			k->path[n] = at;
			all = all && (!n || er);
			k->residual_ns = usk_saturate((usk_i128)k->residual_ns + er);
		}
		k->residual_ns = all ? k->residual_ns : 0;
	}
	free(path);
}

static void add_outlier(struct usk_work *w, uint32_t pair, struct usk_outlier o)
{
	struct usk_pair *p = &w->c->pair[pair];
	*USK_APPEND(p->outlier, p->n_outliers) = o;
	w->p->pair[pair].n_outliers++;
	w->c->counts.outliers++;
}

/* Messages that contradict their own pair, but did not before its wander was halved: one of its
 * clocks is the reference, as shows here. */
static void write_outliers(struct usk_work *w)
{
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		for (size_t k = 0; k < w->calm[i].n_outliers && w->tied[i]; k++) {
			const struct usk_suspect *s = &w->calm[i].outlier[k];
			add_outlier(w, (uint32_t)i,
				    (struct usk_outlier){
					    usk_point_message(p->a, p->b, s->point, s->ceiling),
					    s->excess_ns });
		}
	}
}

/* A statement once, whichever of its edges went first. */
static void note_left_out(struct usk_work *w, size_t i)
{
	const uint32_t pair = w->pair_of[w->left_out[i].from];
	const struct usk_stated *s = w->p->stated;
	for (size_t k = 0; k < i; k++) {
		if (w->pair_of[w->left_out[k].from] == pair) {
			return;
		}
	}
	while (w->p->n_pairs + s->number != pair) {
		s++;
	}
	note(w->c,
	     usk_format("--%s: what is stated of %s and %s contradicts their messages or "
			"another %s, and is ignored",
			s->noun, w->c->clock[s->to].name, w->c->clock[s->from].name, s->noun));
}

/* Messages that were left out to the pair that they were of. */
static void write_left_out(struct usk_work *w)
{
	size_t messages = 0;
	for (size_t i = 0; i < w->n_left_out; i++) {
		uint32_t from = w->left_out[i].from, to = w->left_out[i].to;
		uint32_t pair = w->pair_of[from];
		if (usk_is_stated(w, pair)) {
			note_left_out(w, i);
		}
		if (pair >= w->p->n_pairs) {
			continue;
		}
		messages++;
		int64_t q = w->c->clock[w->owner[to]].resolution_ns;
		struct usk_msg m = { .sent_ns = w->x[from],
				     .received_ns = w->x[to] - (q > 1 ? q : 0),
				     .from = w->owner[from],
				     .to = w->owner[to] };
		add_outlier(w, pair, (struct usk_outlier){ m, 1 });
	}
	if (messages) {
		note(w->c, usk_format("%zu messages contradict others over a loop of three or more "
				      "clocks, and are ignored as outliers",
				      messages));
	}
}

/* What only a cycle shows has a size that nothing says for certain (set_back.c). */
static void note_broken(struct usk_work *w)
{
	enum { MOST = 4 };
	struct usk_stream names;
	FILE *out = usk_stream_begin(&names);
	size_t n = 0;
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		if (w->broken[k] && n++ < MOST) {
			fprintf(out, "%s%s", n > 1 ? ", " : "", w->c->clock[k].name);
		}
	}
	if (n > MOST) {
		fprintf(out, " and %zu more clocks", n - MOST);
	}
	char *one_of = usk_stream_end(&names);
	if (n) {
		note(w->c,
		     usk_format(
			     "messages contradict each other unless one of %s was set, or ran at "
			     "another rate: the bounds assume that no second one was set, and none "
			     "back by more than was recorded before or behind that",
			     one_of));
	}
	free(one_of);
}

/* Lines ask for the vertices of hulls alone. false: not for these clocks. */
static bool solve_by_hulls(struct usk_work *w)
{
	if (!usk_straight_applies(w)) {
		return false;
	}
	w->hulls = true;
	usk_build(w);
	usk_bounds_reset(w);
	if (solve_by_lines(w) && all_straight(w)) {
		return true;
	}
	w->hulls = false;
	usk_straight_forget(w);
	usk_build_forget(w);
	return false;
}

void usk_solve_island(struct usk_work *w)
{
	struct usk_clocks *c = w->c;
	usk_paths_measure(w);
	usk_conflict_begin(w);
	if (w->p->tree) {
		keep_tree(w);
	}
	if (!solve_by_hulls(w)) {
		usk_build(w);
		usk_late_decide(w);
		usk_blame(w);
		bound(w);
	}
	round_bounds(w);
	usk_fill(w);
	usk_estimate(w);
	usk_estimate_ends(w);
	usk_clock_reference(&c->clock[w->reference], w->p->span[w->reference].first_ns,
			    w->p->span[w->reference].last_ns);
	free(w->order);
	w->order = NULL;
	usk_publish(w);
	*w->some = *w->some || w->hulls || usk_messages_share(w) < USK_ALL;
	write_paths(w);
	write_outliers(w);
	write_left_out(w);
	note_broken(w);
}
