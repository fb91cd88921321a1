/* SPDX-License-Identifier: MIT */
/*
 * solve.c - an island: build, bound, take back what cannot be true, estimate, publish
 *
 * In    pairs and other ties
 * Out   one clock per machine
 * Why   usk_solve_island() is the stage's one sentence
 */
#include "fit/fit.h"
#include "graph/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What was done before a wrong statement was found may have been for its sake: all of that is taken
 * back but the statements left out, if any was from `from` on. */
static void begin_again(struct usk_work *w, size_t from, size_t breaks, const int64_t *wander)
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
	w->n_breaks = breaks;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		w->wander_e12[i] = wander[i];
	}
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
	size_t breaks = w->n_breaks;
	w->suspect = usk_alloc(w->c->n_clocks, sizeof *w->suspect);
	int64_t *wander = usk_alloc(w->n_clocks, sizeof *wander);
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		wander[i] = w->wander_e12[i];
	}
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
		begin_again(w, before, breaks, wander);
		usk_build_cells(w);
		usk_bounds_reset(w);
	}
	free(w->suspect);
	free(wander);
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

/* An outermost event that was moved out has jumped by what is known. */
static void bound_beyond(struct usk_work *w, uint32_t k)
{
	for (uint32_t last = 0; last < 2; last++) {
		uint32_t e = last ? w->first[k + 1] - 1 : w->first[k], next = last ? e - 1 : e + 1;
		usk_i128 d = (usk_i128)w->x[e] - w->x[next], far = w->beyond_ns[2 * k + last];
		usk_i128 more = far + usk_ceil_div((d < 0 ? -d : d) * w->p->max_skew_e12, USK_E12);
		if (far && w->lo_ns[e] == USK_NONE && w->lo_ns[next] != USK_NONE) {
			w->lo_ns[e] = usk_saturate(w->lo_ns[next] + d - more);
		}
		if (far && w->hi_ns[e] == USK_NONE && w->hi_ns[next] != USK_NONE) {
			w->hi_ns[e] = usk_saturate(w->hi_ns[next] + d + more);
		}
	}
}

/* A bound that was filled in gives way to one, at all events of that stamp. */
static void widen_open(struct usk_work *w, const uint8_t *open, uint32_t i, bool upper, int64_t to)
{
	uint32_t first = w->first[w->owner[i]], end = w->first[w->owner[i] + 1];
	while (i > first && w->x[i - 1] == w->x[i]) {
		i--;
	}
	for (int64_t x = w->x[i]; i < end && w->x[i] == x; i++) {
		if (upper && open[i] & USK_FILLED_HI && w->hi_ns[i] < to) {
			w->hi_ns[i] = to;
		} else if (!upper && open[i] & USK_FILLED_LO && w->lo_ns[i] > to) {
			w->lo_ns[i] = to;
		}
	}
}

/* What is filled in at stamps that were shown twice may contradict a message between them. */
static void give_way(struct usk_work *w, const uint8_t *open, uint32_t from, uint32_t to)
{
	int64_t lo = w->lo_ns[from], hi = w->hi_ns[to];
	if (lo != USK_NONE && hi != USK_NONE && lo > hi) {
		widen_open(w, open, from, false, hi);
		widen_open(w, open, to, true, lo);
	}
}

static uint32_t next_stamp(const struct usk_work *w, uint32_t i)
{
	uint32_t end = i + 1, last = w->first[w->owner[i] + 1];
	while (end < last && w->x[end] == w->x[i]) {
		end++;
	}
	return end;
}

/* Events of one stamp, which has one band. If their bounds contradict each other T did fall, and
 * the stamp may be of any time between. */
static void spread(struct usk_work *w, uint32_t from, uint32_t end)
{
	int64_t lo = USK_NONE, hi = USK_NONE;
	for (uint32_t i = from; i < end; i++) {
		lo = w->lo_ns[i] > lo ? w->lo_ns[i] : lo;
		hi = w->hi_ns[i] != USK_NONE && (hi == USK_NONE || w->hi_ns[i] < hi) ? w->hi_ns[i]
										     : hi;
	}
	for (uint32_t i = from; i < end && lo != USK_NONE && hi != USK_NONE && lo > hi; i++) {
		w->lo_ns[i] = w->lo_ns[i] > hi ? hi : w->lo_ns[i];
		w->hi_ns[i] = w->hi_ns[i] != USK_NONE && w->hi_ns[i] < lo ? lo : w->hi_ns[i];
	}
}

/* Where T of a clock may fall, sorted by clocks; first[k] is that of clock k. */
struct falls {
	struct falling {
		uint32_t clock;
		int64_t from_ns, to_ns, far_ns;
	} * row;
	size_t n, *first;
};

static struct falls falls_of(const struct usk_work *w)
{
	struct falls f = { .row = usk_alloc(w->n_breaks + 1, sizeof *f.row) };
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *b = &w->brk[i];
		const int64_t lasts = usk_saturate((usk_i128)b->to_ns - b->from_ns);
		const int64_t far = !b->down ? b->fall_ns : b->far_ns ? b->far_ns : lasts;
		if (b->falls && !b->of_reference && far) {
			f.row[f.n++] = (struct falling){ b->clock, b->from_ns, b->to_ns, far };
		}
	}
	usk_sort(f.row, f.n, sizeof *f.row, KEYS(BY(falling, clock), BY(falling, from_ns)));
	f.first = usk_alloc(w->n_clocks + 1, sizeof *f.first);
	for (size_t k = 0, i = 0; k <= w->n_clocks; k++) {
		while (i < f.n && f.row[i].clock < k) {
			i++;
		}
		f.first[k] = i;
	}
	return f;
}

/* An event that has a bound. */
struct known {
	uint32_t event;
	int64_t ns;
};

/* By how much T may have fallen from one event to a later one. In a bracket it falls by no more than that says,
 * and several may be of one step: one that holds all of them in between is enough. */
static usk_i128 fell(const struct usk_work *w, const struct falls *f, uint32_t a, uint32_t b)
{
	const uint32_t k = w->owner[a];
	int64_t from = INT64_MAX, to = INT64_MIN;
	usk_i128 all = 0;
	for (size_t i = f->first[k]; i < f->first[k + 1]; i++) {
		const struct falling *x = &f->row[i];
		if (x->from_ns < w->x[b] && x->to_ns > w->x[a]) {
			from = x->from_ns < from ? x->from_ns : from;
			to = x->to_ns > to ? x->to_ns : to;
			all += x->far_ns;
		}
	}
	from = from < w->x[a] ? w->x[a] : from;
	to = to > w->x[b] ? w->x[b] : to;
	for (size_t i = f->first[k]; i < f->first[k + 1]; i++) {
		const struct falling *x = &f->row[i];
		all = x->from_ns <= from && x->to_ns >= to && x->far_ns < all ? x->far_ns : all;
	}
	return all;
}

/* What bounds events before says at least of this one. */
static int64_t at_least(const struct usk_work *w, const struct falls *f, const struct known *best,
			const struct known *last, uint32_t i)
{
	const usk_i128 a = best->ns - fell(w, f, best->event, i);
	const usk_i128 b = last->ns - fell(w, f, last->event, i);
	return usk_saturate(a > b ? a : b);
}

static int64_t at_most(const struct usk_work *w, const struct falls *f, const struct known *best,
		       const struct known *next, uint32_t i)
{
	const usk_i128 a = best->ns + fell(w, f, i, best->event);
	const usk_i128 b = next->ns + fell(w, f, i, next->event);
	return usk_saturate(a < b ? a : b);
}

static void fill_clock(struct usk_work *w, const struct falls *f, uint32_t n)
{
	const uint8_t *open = w->filled;
	const uint32_t first = w->first[n], end = w->first[n + 1];
	struct known best = { .ns = USK_NONE }, last = best;
	for (uint32_t i = first; i < end; i++) {
		if (open[i] & USK_FILLED_LO) {
			w->lo_ns[i] =
				best.ns == USK_NONE ? USK_NONE : at_least(w, f, &best, &last, i);
		} else {
			last = (struct known){ i, w->lo_ns[i] };
			best = best.ns == USK_NONE || last.ns > best.ns ? last : best;
		}
	}
	best = last = (struct known){ .ns = USK_NONE };
	for (uint32_t i = end; i-- > first;) {
		if (open[i] & USK_FILLED_HI) {
			w->hi_ns[i] =
				best.ns == USK_NONE ? USK_NONE : at_most(w, f, &best, &last, i);
		} else {
			last = (struct known){ i, w->hi_ns[i] };
			best = best.ns == USK_NONE || last.ns < best.ns ? last : best;
		}
	}
}

/*
 * Where T may fall nothing may bound an event on a side. What bounds other events of the clock does
 * so in the order of stamps, less what T may have fallen by meanwhile: of one that is shown once all that are
 * lower came before. Not over messages: a stamp that is shown twice has no one time that others could be told.
 */
static void fill(struct usk_work *w)
{
	uint8_t *open = w->filled;
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		bound_beyond(w, i);
	}
	for (uint32_t i = 0; i < w->n; i++) {
		open[i] = (w->lo_ns[i] == USK_NONE ? USK_FILLED_LO : 0) |
			  (w->hi_ns[i] == USK_NONE ? USK_FILLED_HI : 0);
	}
	struct falls falls = falls_of(w);
	for (uint32_t n = 0; n < w->n_clocks; n++) {
		fill_clock(w, &falls, n);
	}
	USK_FREE(falls.row, falls.first);
	for (uint32_t i = 0, end; i < w->n; i = end) {
		end = next_stamp(w, i);
		spread(w, i, end);
		for (uint32_t k = i; k < end; k++) {
			open[k] &= (w->lo_ns[k] == USK_NONE ? 0 : USK_FILLED_LO) |
				   (w->hi_ns[k] == USK_NONE ? 0 : USK_FILLED_HI);
		}
	}
	for (uint32_t i = 0; i < w->n; i++) { /* no band excludes a message */
		if (w->peer[i] != USK_NO_EVENT && w->sent[i]) {
			give_way(w, open, i, w->peer[i]);
		}
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
	fill(w);
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
}
