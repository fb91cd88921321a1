/* SPDX-License-Identifier: MIT */
/*
 * conflict.c - what pairs and records show that no calm clock does
 *
 * In    brackets that pairs show, breaks known from records
 * Out   breaks of clocks, more wander
 * Why   one place for all of it
 * Not   whose a bracket was (blame.c); bounds that cross, which only cycles of pairs show (cycles.c)
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- breaks ------------------------------------------------------------------------------------
 */

void usk_break_add(struct usk_work *w, struct usk_break b)
{
	if (b.clock != w->reference) {
		*USK_ADD(w->brk, w->n_breaks, w->cap_breaks) = b;
	}
}

static int64_t magnitude(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

int64_t usk_bracket_mixed(const struct usk_bracket *b, bool of_b)
{
	const usk_i128 own = of_b ? (usk_i128)b->b1_ns - b->b0_ns : (usk_i128)b->a1_ns - b->a0_ns;
	return b->both || (b->falls && !of_b) ? usk_saturate(own) : 0;
}

/* Unknown: by no more than the other clock's time in it, and by what its own stamps may fall there. */
int64_t usk_bracket_set_back(const struct usk_bracket *b, bool of_b)
{
	const int64_t size = of_b ? b->most_ns : b->least_ns;
	const usk_i128 other = of_b ? (usk_i128)b->a1_ns - b->a0_ns : (usk_i128)b->b1_ns - b->b0_ns;
	return b->at_once_ns	  ? b->at_once_ns
	       : size == USK_NONE ? usk_saturate(other + usk_bracket_mixed(b, of_b))
				  : magnitude(size);
}

/* By so much a clock may have been set in it, either way. */
int64_t usk_bracket_farthest(const struct usk_bracket *b)
{
	const int64_t a = usk_bracket_set_back(b, false), other = usk_bracket_set_back(b, true);
	return a > other ? a : other;
}

/* By how much T of a clock may rise, fall in a bracket more than usual: open in size for a step, of
 * which it may hold several, or if nobody knows; else by what was seen, slewed or at once. */
struct usk_break usk_break_of(const struct usk_bracket *x, bool rises, uint32_t number)
{
	struct usk_break b = { .bracket = number };
	const bool known[] = { x->least_ns != USK_NONE, x->most_ns != USK_NONE };
	const bool open = x->step || x->doubted || (!known[0] && !known[1]);
	/* Sizes are of the offset, which rises with T of b and falls with that of a. */
	const bool of_b = rises == x->rises;
	b.up = open ? rises || x->both : !known[of_b];
	b.down = open ? !rises || x->both : !known[!of_b];
	if (!open && !b.up) {
		const int64_t up = of_b ? x->most_ns : -x->least_ns;
		b.rise_ns = up > 0 ? up : 0;
	}
	if (!open && !b.down) {
		const int64_t down = of_b ? -x->least_ns : x->most_ns;
		b.fall_ns = down > 0 ? down : 0;
	}
	return b;
}

struct usk_break usk_slew_of(const struct usk_bracket *x, bool rises, uint32_t number)
{
	return (struct usk_break){ .fast_up = rises || x->both,
				   .fast_down = !rises || x->both,
				   .bracket = number };
}

/* A clock that was set back by so little shows that much of its stamps again. */
static void show_twice(struct usk_break *b, const struct usk_bracket *x)
{
	const bool less = x->once_ns != USK_NONE && x->once_ns < b->rise_ns;
	b->twice_ns = less ? x->once_ns : b->rise_ns;
	b->from_ns = usk_saturate((usk_i128)b->from_ns - b->twice_ns);
	b->to_ns = usk_saturate((usk_i128)b->to_ns + b->twice_ns);
}

/* The offset is a's stamp less b's: it rises where b is set back or a forward. */
static void break_pair(struct usk_work *w, uint32_t number)
{
	const struct usk_seen *s = &w->seen[number];
	const struct usk_bracket *x = &s->at;
	const struct usk_bracket of_a = usk_seen_of(s, s->a), of_b = usk_seen_of(s, s->b);
	struct usk_break b = usk_break_of(&of_b, x->rises, number),
			 a = usk_break_of(&of_a, !x->rises, number);
	b.clock = s->b;
	b.from_ns = x->b0_ns;
	b.to_ns = x->b1_ns;
	a.clock = s->a;
	a.from_ns = x->a0_ns;
	a.to_ns = x->a1_ns;
	b.falls = s->a == w->reference;
	b.far_ns = b.falls ? usk_bracket_set_back(&of_a, false) : 0;
	b.vague = of_b.most_ns == USK_NONE;
	/* Stamps within were shown twice, too; but one wrong message at an end would leave nothing known of hours. */
	b.fold_ns = b.up && !x->open ? usk_bracket_set_back(&of_b, true) : 0;
	a.falls = s->b == w->reference;
	a.far_ns = a.falls ? usk_bracket_set_back(&of_b, true) : 0;
	a.vague = of_a.least_ns == USK_NONE;
	a.fold_ns = a.up && !x->open ? usk_bracket_set_back(&of_a, false) : 0;
	show_twice(&b, &of_b);
	show_twice(&a, &of_a);
	usk_break_add(w, b);
	usk_break_add(w, a);
	if (x->slewed && !x->doubted) {
		const struct usk_within *in = &x->slew_in;
		b = usk_slew_of(x, x->rises, number);
		b.clock = s->b;
		b.from_ns = in->b0_ns;
		b.to_ns = in->b1_ns;
		a = usk_slew_of(x, !x->rises, number);
		a.clock = s->a;
		a.from_ns = in->a0_ns;
		a.to_ns = in->a1_ns;
		usk_break_add(w, b);
		usk_break_add(w, a);
	}
}

/* Of what no message of its pair says when it began, or ended: all of the clock's time, and as long as messages last. */
static void end_open(const struct usk_graph_span *s, int64_t flight_ns, int64_t *from_ns,
		     int64_t *to_ns)
{
	*from_ns =
		*from_ns == INT64_MIN ? usk_saturate((usk_i128)s->first_ns - flight_ns) : *from_ns;
	*to_ns = *to_ns == INT64_MAX ? usk_saturate((usk_i128)s->last_ns + flight_ns) : *to_ns;
}

int usk_may_wander(const struct usk_work *w, const struct usk_graph_pair *p)
{
	bool known = w->reference != USK_NO_CLOCK;
	return known && (p->a == w->reference || p->b == w->reference) ? 1 : 2;
}

static bool too_many(const struct usk_graph_pair *p, const struct usk_calm *c)
{
	return p->too_many && c->n_outliers - c->n_known[0] >= p->too_many;
}

static void look_at_pairs(void *ctx, size_t from, size_t to)
{
	struct usk_work *w = ctx;
	const struct usk_graph_problem *p = w->p;
	for (size_t i = from; i < to; i++) {
		const struct usk_graph_pair *pair = &p->pair[i];
		struct usk_calm *c = &w->calm[i];
		struct usk_calm now;
		const struct usk_calm_model m = { .wander_e12 = p->model.wander_e12,
						  .clocks = usk_may_wander(w, pair),
						  .max_skew_e12 = p->max_skew_e12,
						  .own_rates = p->model.kind == USK_SEGMENTS,
						  .doubted_below = pair->too_many ? pair->too_many
										  : SIZE_MAX };
		if (!w->tied[i]) {
			continue;
		}
		if (w->reference != USK_NO_CLOCK && !c->n_brackets &&
		    usk_calm_holds(&m, c->needed_e12)) {
			c->wander_e12 = m.clocks * m.wander_e12;
			continue;
		}
		usk_calm_of(pair->part, &m, &p->back[pair->a], &p->back[pair->b], &now);
		/* Less wander is no reason to leave out more than may be. */
		if (w->reference != USK_NO_CLOCK && too_many(pair, &now)) {
			usk_calm_free(&now);
			continue;
		}
		usk_calm_free(c);
		*c = now;
	}
}

/* Of a pair that exceeds what its clocks may together each gets its share. */
static void share_wander(struct usk_work *w, const struct usk_graph_pair *p, int64_t used)
{
	bool one = p->a == w->reference || p->b == w->reference;
	int64_t share = one ? used : used / 2 + used % 2;
	uint32_t both[] = { p->a, p->b };
	int64_t sum = 0;
	for (int k = 0; k < 2; k++) {
		sum += both[k] == w->reference ? 0 : w->wander_e12[both[k]];
	}
	for (int k = 0; k < 2 && sum < used; k++) {
		int64_t *mine = &w->wander_e12[both[k]];
		*mine = *mine < share ? share : *mine;
	}
}

bool usk_conflict_contradicted(const struct usk_work *w, size_t pair)
{
	/* With lines there is nothing between: those that might be left out were, before. */
	const struct usk_calm *c = &w->calm[pair];
	return c->contradicted || w->p->pair[pair].astray || too_many(&w->p->pair[pair], c) ||
	       (w->p->model.kind == USK_LINEAR && (c->n_brackets || c->n_outliers));
}

void usk_conflict_look(struct usk_work *w)
{
	w->reference = USK_NO_CLOCK;
	usk_parallel(w->p->n_pairs, 4, w->p->threads, look_at_pairs, w);
}

void usk_conflict_begin(struct usk_work *w)
{
	const struct usk_graph_problem *p = w->p;
	w->reference = usk_paths_reference(w);
	usk_parallel(p->n_pairs, 4, p->threads, look_at_pairs, w);
	for (size_t i = 0; i < w->n_clocks; i++) {
		w->wander_e12[i] = p->model.wander_e12;
	}
	for (int both = 0; both < 2; both++) {
		for (size_t i = 0; i < p->n_pairs; i++) {
			const struct usk_graph_pair *x = &p->pair[i];
			bool known = x->a == w->reference || x->b == w->reference;
			if (w->tied[i] && known == !both && p->model.kind != USK_LINEAR) {
				share_wander(w, x, w->calm[i].wander_e12);
			}
		}
	}
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct usk_calm *c = &w->calm[i];
		for (size_t k = 0; k < c->n_brackets + c->n_doubts && w->tied[i]; k++) {
			w->seen = usk_grow(w->seen, w->n_seen + 1, sizeof *w->seen);
			w->seen[w->n_seen] =
				(struct usk_seen){ .pair = (uint32_t)i,
						   .a = p->pair[i].a,
						   .b = p->pair[i].b,
						   .at = k < c->n_brackets
								 ? c->bracket[k]
								 : c->doubt[k - c->n_brackets],
						   .may_be = { true, true } };
			const struct usk_graph_span *a = &p->span[p->pair[i].a],
						    *b = &p->span[p->pair[i].b];
			struct usk_bracket *at = &w->seen[w->n_seen].at;
			end_open(a, at->flight_ns, &at->a0_ns, &at->a1_ns);
			end_open(b, at->flight_ns, &at->b0_ns, &at->b1_ns);
			end_open(a, at->flight_ns, &at->slew_in.a0_ns, &at->slew_in.a1_ns);
			end_open(b, at->flight_ns, &at->slew_in.b0_ns, &at->slew_in.b1_ns);
			w->n_seen++;
		}
	}
	usk_beside(w);
	for (uint32_t i = 0; i < w->n_seen; i++) {
		break_pair(w, i);
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		const struct usk_graph_back *b = &p->back[i];
		for (size_t k = 0; k < b->n; k++) {
			usk_break_add(w, (struct usk_break){ .clock = i,
							     .from_ns = b->gap[k].before_ns,
							     .to_ns = b->gap[k].after_ns,
							     .up = true,
							     .down = true,
							     .back = true,
							     .falls = b->gap[k].late_ns > 0,
							     .far_ns = b->gap[k].late_ns,
							     .bracket = UINT32_MAX });
		}
	}
}
