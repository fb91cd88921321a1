/* SPDX-License-Identifier: MIT */
/*
 * solve.c - islands one by one: reference, paths, links, and what all messages together say
 *
 * In    pairs with their own answers
 * Out   one clock per machine
 * Why   this function is the stage's one sentence
 */
#include "solve/solve.h"
#include "num/lp.h"
#include "solve/intervals.h"
#include "solve/mend.h"
#include "solve/odd.h"
#include "solve/order.h"

#include <stdlib.h>
#include <string.h>

void usk_island_note(struct usk_island_work *w, char *text)
{
	struct usk_clocks *c = w->c;
	c->note = usk_grow(c->note, c->n_notes + 1, sizeof *c->note);
	c->note[c->n_notes++] = text;
}

/* ---- the reference ------------------------------------------------------------------ */

/* The part with the most clocks; of equals the one with the smallest number among them. */
static uint32_t largest_part(const struct usk_island_work *w)
{
	uint32_t best = 0;
	size_t most = 0, *size = usk_alloc(w->graph->n_clocks, sizeof *size);
	for (size_t i = 0; i < w->n; i++) {
		size[w->part[w->clock[i]]]++;
	}
	for (size_t i = 0; i < w->n; i++) {
		uint32_t part = w->part[w->clock[i]];
		if (size[part] > most) {
			most = size[part];
			best = part;
		}
	}
	free(size);
	return best;
}

/* The clock of a part that has the shortest ways to all others; of equals the first. */
static uint32_t central(const struct usk_island_work *w, uint32_t part)
{
	struct usk_way *way = usk_alloc(w->graph->n_clocks, sizeof *way), best = { 0 };
	uint32_t found = USK_NO_CLOCK;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t k = w->clock[i];
		if (w->part[k] != part) {
			continue;
		}
		struct usk_way sum = { .reached = true };
		usk_graph_paths(w->graph, w->weight, k, w->part, part, way);
		for (size_t j = 0; j < w->n; j++) {
			const struct usk_way *to = &way[w->clock[j]];
			if (w->part[w->clock[j]] == part) {
				sum.one_way += to->reached ? to->one_way : w->n;
				sum.width_ns += to->width_ns;
			}
		}
		if (found == USK_NO_CLOCK || usk_way_cmp(&sum, &best) < 0) {
			found = k;
			best = sum;
		}
	}
	free(way);
	return found;
}

/* The largest part's clock that is nearest to all of it. */
static uint32_t best_reference(struct usk_island_work *w)
{
	uint32_t part = largest_part(w);
	size_t size = 0;
	for (size_t i = 0; i < w->n; i++) {
		size += w->part[w->clock[i]] == part;
	}
	if (size == 1) { /* all odd, perhaps: then as if none were */
		usk_graph_parts(w->graph, NULL, w->part);
		part = largest_part(w);
	}
	return central(w, part);
}

static void choose_reference(struct usk_island_work *w)
{
	uint32_t asked = w->opt->reference, origin = w->clock[0];
	bool mine = false;
	for (size_t i = w->n; i-- > 0;) {
		mine = mine || w->clock[i] == asked;
		origin = w->odd[w->clock[i]] ? origin : w->clock[i];
	}
	usk_graph_parts(w->graph, w->odd, w->part);
	usk_tree_weigh(w->graph, w->tie, w->opt->span, origin, w->opt->max_skew_e12, w->weight);
	w->reference = mine ? asked : best_reference(w);
	usk_graph_parts(w->graph, w->odd, w->part);
	w->core = w->part[w->reference];
}

/* ---- islands ------------------------------------------------------------------------------ */

static void link_along_paths(struct usk_island_work *w)
{
	/* Two clocks keep the knots of their pair, which are in order as they are. */
	usk_tree_links(w->graph, w->tie, w->opt->span, w->way, w->reference, w->opt->max_skew_e12,
		       w->n <= 2 ? SIZE_MAX : usk_knots_most(w->n), w->link);
}

static void forget_links(struct usk_island_work *w, bool core_too)
{
	for (size_t i = 0; i < w->n; i++) {
		if (core_too || !usk_in_core(w, w->clock[i])) {
			usk_link_free(&w->link[w->clock[i]]);
		}
	}
}

static size_t core_size(const struct usk_island_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->n; i++) {
		n += usk_in_core(w, w->clock[i]);
	}
	return n;
}

/* How many moments: so that what is asked in all, and what is written, stays within bounds. */
static size_t moments_most(size_t n_clocks)
{
	return n_clocks <= 10 ? 2000 : n_clocks <= 50 ? 1000 : 200;
}

/* Up to so many clocks the linear program is worth its time. */
enum { LP_CLOCKS = 64, RATE_ROUNDS = 4 };

static enum usk_joint_answer solve_by_paths(struct usk_island_work *w,
					    struct usk_conflict *conflict)
{
	struct usk_moments *m = usk_moments_new(w, moments_most(core_size(w)));
	bool good = true;
	for (int round = 0; round < RATE_ROUNDS; round++) {
		usk_moments_weigh(m);
		good = usk_moments_bound(m, conflict);
		if (!good || !usk_moments_rates(m)) {
			break;
		}
	}
	if (good) {
		usk_moments_narrow(m);
		usk_order_draw(m, true);
		w->drawn = true;
		w->how = "shortest-path";
	}
	usk_moments_free(m);
	return good ? USK_JOINT_DONE : USK_JOINT_CONTRADICTED;
}

/*
 * Estimates: jointly what all pairs' own say together; along paths these, and messages off the
 * paths put in order by the least that has to change.
 */
static void draw(struct usk_island_work *w)
{
	if (!w->joint && !usk_order_wrong(w, 0)) {
		return;
	}
	struct usk_moments *m = usk_moments_new(w, moments_most(core_size(w)));
	if (w->joint) {
		usk_order_straight(m);
	}
	if (!w->joint || usk_order_wrong(w, 1)) {
		usk_moments_weigh(m);
		usk_order_draw(m, false);
		w->moved = true;
	}
	usk_moments_free(m);
}

static bool by_program(const struct usk_island_work *w)
{
	return w->opt->model.kind == USK_LINEAR && core_size(w) <= LP_CLOCKS && !w->opt->paths;
}

static enum usk_joint_answer solve_jointly(struct usk_island_work *w, struct usk_conflict *conflict)
{
	enum usk_joint_answer answer = USK_JOINT_NONE;
	if (by_program(w)) {
		answer = usk_joint_lp(w, false, conflict);
		w->how = answer == USK_JOINT_DONE ? "lp" : w->how;
	}
	if (by_program(w) && !usk_lp_solver()) {
		usk_island_note(w, usk_strdup("this build has no solver of linear programs: clocks "
					      "are solved by shortest paths, whose bands are "
					      "somewhat wider"));
	}
	if (answer == USK_JOINT_NONE) {
		answer = solve_by_paths(w, conflict);
	}
	w->joint = answer == USK_JOINT_DONE;
	return answer;
}

/* Reference, ways and links, of the clocks that are not odd first. */
static void prepare(struct usk_island_work *w)
{
	choose_reference(w);
	usk_graph_paths(w->graph, w->weight, w->reference, NULL, 0, w->way);
	forget_links(w, true);
	link_along_paths(w);
	usk_rates_of(w->graph, w->tie, w->reference, w->opt->max_skew_e12, w->odd, w->rates);
}

static bool agree(struct usk_island_work *w)
{
	struct usk_conflict ignored = { 0 };
	enum usk_joint_answer answer = USK_JOINT_NONE;
	prepare(w);
	if (by_program(w)) {
		answer = usk_joint_lp(w, true, &ignored);
	}
	if (answer == USK_JOINT_NONE) {
		struct usk_moments *m = usk_moments_new(w, moments_most(core_size(w)));
		usk_moments_weigh(m);
		answer = usk_moments_bound(m, &ignored) ? USK_JOINT_DONE : USK_JOINT_CONTRADICTED;
		usk_moments_free(m);
	}
	free(ignored.row);
	return answer == USK_JOINT_DONE;
}

/* What is still out of order, whatever drew the estimates. */
static void put_in_order(struct usk_island_work *w)
{
	size_t n = w->graph->n_clocks;
	struct usk_link *link = usk_alloc(n, sizeof *link);
	bool *is_reference = usk_alloc(n, sizeof *is_reference);
	bool *moved = usk_alloc(n, sizeof *moved);
	int64_t *q_ns = usk_alloc(n, sizeof *q_ns);
	for (size_t i = 0; i < w->n; i++) {
		uint32_t k = w->clock[i];
		const struct usk_link *l = &w->link[k];
		bool all = l->n && l->has[USK_LOWER] && l->has[USK_MIDDLE] && l->has[USK_UPPER];
		link[k] = all ? *l : link[k];
		q_ns[k] = w->c->clock[k].resolution_ns > 1 ? w->c->clock[k].resolution_ns : 0;
	}
	is_reference[w->reference] = true;
	struct usk_mending m = { .link = link,
				 .is_reference = is_reference,
				 .odd = w->odd,
				 .q_ns = q_ns,
				 .n_clocks = n,
				 .tie = w->tie,
				 .n_ties = w->n_ties,
				 .threads = w->opt->threads,
				 .moved = moved };
	size_t wrong = w->n > 1 ? usk_mend(&m) : 0;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t k = w->clock[i];
		w->link[k] = link[k].n ? link[k] : w->link[k];
		w->moved = w->moved || moved[k];
	}
	if (wrong) {
		usk_island_note(w, usk_format("%zu messages cannot be put in order: some lead in a "
					      "circle and cannot all be true, or there are too "
					      "many to bend estimates around; the bands hold",
					      wrong));
	}
	free(link);
	free(is_reference);
	free(moved);
	free(q_ns);
}

/* So many clocks may be left out of an island because others speak against them. */
enum { MOST_ODD = 8 };

static void solve_island(struct usk_island_work *w)
{
	w->joint = w->drawn = w->moved = false;
	usk_odd_by_pairs(w);
	usk_odd_by_jumps(w);
	prepare(w);
	bool jointly = !w->opt->tree && w->opt->model.kind != USK_SEGMENTS && !w->odd[w->reference];
	w->how = core_size(w) > 2 && !strcmp(w->how, "pairs") ? "paths" : w->how;
	for (int k = 0; k < MOST_ODD && jointly && core_size(w) > 2; k++) {
		struct usk_conflict conflict = { 0 };
		bool again = solve_jointly(w, &conflict) == USK_JOINT_CONTRADICTED &&
			     usk_odd_by_conflict(w, &conflict, agree);
		free(conflict.row);
		if (w->joint) {
			break;
		}
		prepare(w);
		if (!again) {
			break;
		}
	}
	if (w->opt->model.kind == USK_SEGMENTS && w->n > 2) {
		usk_island_intervals(w);
	}
	if (core_size(w) > 2 && !w->drawn) {
		draw(w);
	}
	if (w->joint) {
		forget_links(w, false);
		link_along_paths(w);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->out[w->clock[i]]) {
			usk_link_free(&w->link[w->clock[i]]);
		}
	}
	put_in_order(w);
	usk_order_cones(w);
	usk_island_write(w);
}

/* Knots as everybody relies on them. */
static enum usk_status check_clocks(const struct usk_clocks *c, struct usk_err *err)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t n = 0; n < k->n_knots; n++) {
			const struct usk_knot *at = &k->knot[n], *last = n ? at - 1 : NULL;
			bool good = at->offset_ns == USK_NONE ||
				    ((at->lo_ns == USK_NONE || at->lo_ns <= at->offset_ns) &&
				     (at->hi_ns == USK_NONE || at->offset_ns <= at->hi_ns));
			if (last && last->epoch == at->epoch) {
				usk_i128 rise = (usk_i128)at->local_ns + at->offset_ns -
						last->local_ns - last->offset_ns;
				good = good && last->local_ns < at->local_ns &&
				       (at->offset_ns == USK_NONE || rise >= 0);
			}
			if (!good) {
				return usk_fail(err, USK_EINPUT, 0,
						"the correction of %s failed its own check at "
						"%lld ns: please report this",
						k->name, (long long)at->local_ns);
			}
		}
	}
	return USK_OK;
}

static void write_island(struct usk_clocks *c, const struct usk_island_work *w)
{
	struct usk_island *i = &c->island[c->n_islands++];
	i->reference = w->reference;
	i->n_clocks = w->n;
	i->clock = usk_alloc(w->n, sizeof *i->clock);
	memcpy(i->clock, w->clock, w->n * sizeof *i->clock);
}

size_t usk_knots_most(size_t n_clocks)
{
	return n_clocks <= 50 ? 4000 : 140;
}

/* Events as long as 1 ns at least: a link is between two moments. */
static struct usk_span *spans(const struct usk_span *given, size_t n)
{
	struct usk_span *s = usk_alloc(n + 1, sizeof *s);
	for (size_t i = 0; i < n; i++) {
		s[i] = given[i];
		s[i].last_ns = s[i].last_ns > s[i].first_ns ? s[i].last_ns : s[i].first_ns + 1;
	}
	return s;
}

static void work_new(struct usk_island_work *w, size_t n_clocks, size_t n_ties)
{
	w->how = "pairs";
	w->clock = usk_alloc(n_clocks, sizeof *w->clock);
	w->part = usk_alloc(n_clocks, sizeof *w->part);
	w->odd = usk_alloc(n_clocks, sizeof *w->odd);
	w->out = usk_alloc(n_clocks, sizeof *w->out);
	w->way = usk_alloc(n_clocks, sizeof *w->way);
	w->link = usk_alloc(n_clocks, sizeof *w->link);
	w->rates = usk_alloc(n_clocks, sizeof *w->rates);
	w->weight = usk_alloc(n_ties + 1, sizeof *w->weight);
}

static void work_free(struct usk_island_work *w, size_t n_clocks)
{
	for (size_t i = 0; i < n_clocks; i++) {
		usk_link_free(&w->link[i]);
	}
	free(w->clock);
	free(w->part);
	free(w->odd);
	free(w->out);
	free(w->way);
	free(w->link);
	free(w->rates);
	free(w->weight);
}

enum usk_status usk_solve(struct usk_clocks *c, struct usk_tie *tie, size_t n,
			  const struct usk_solve_options *opt, struct usk_err *err)
{
	struct usk_span *span = spans(opt->span, c->n_clocks);
	struct usk_solve_options options = *opt;
	struct usk_graph g = usk_graph_of(tie, n, c->n_clocks);
	struct usk_island_work w = {
		.c = c, .tie = tie, .n_ties = n, .opt = &options, .graph = &g
	};
	uint32_t *island = usk_alloc(c->n_clocks, sizeof *island);
	size_t islands = usk_graph_islands(&g, island);
	bool along_paths = opt->tree || opt->model.kind == USK_SEGMENTS;
	work_new(&w, c->n_clocks, n);
	options.span = span;
	g.odd = w.odd;
	c->island = usk_alloc(islands, sizeof *c->island);
	for (size_t i = 0; i < n; i++) {
		tie[i].kappa_e12 = 0;
	}
	for (uint32_t k = 0; k < islands; k++) {
		w.n = 0;
		for (uint32_t i = 0; i < c->n_clocks; i++) {
			if (island[i] == k) {
				w.clock[w.n++] = i;
			}
		}
		solve_island(&w);
		write_island(c, &w);
	}
	for (size_t i = 0; i < n; i++) {
		tie[i].odd[0] = w.odd[tie[i].a];
		tie[i].odd[1] = w.odd[tie[i].b];
	}
	c->solve = usk_strdup(along_paths ? "tree" : "joint");
	c->how = usk_strdup(w.how);
	work_free(&w, c->n_clocks);
	free(island);
	free(span);
	usk_graph_free(&g);
	return check_clocks(c, err);
}
