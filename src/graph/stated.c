/* SPDX-License-Identifier: MIT */
/*
 * stated.c - a source of constraints: what a person states of clocks
 *
 * When A showed t, B showed s, give or take D: what B shows at s - D is no later, and what it shows
 * at s + D no earlier, than what A shows at t.
 */
#include "graph/work.h"

void usk_stated_anchor(const struct usk_graph_anchor *a, uint32_t number, struct usk_stated row[2])
{
	const usk_i128 s = a->b_ns;
	row[0] = (struct usk_stated){ a->b,    a->a,	     usk_saturate(s - a->within_ns),
				      a->a_ns, a->within_ns, number,
				      "anchor" };
	row[1] = (struct usk_stated){ a->a,	    a->b,   a->a_ns, usk_saturate(s + a->within_ns),
				      a->within_ns, number, "anchor" };
}

void usk_source_stated(const struct usk_work *w, struct usk_constraints *out)
{
	for (size_t i = 0; i < w->p->n_stated; i++) {
		const struct usk_stated *s = &w->p->stated[i];
		usk_constraint_add(out, (struct usk_constraint){
						.from = s->from,
						.to = s->to,
						.from_ns = s->from_ns,
						.to_ns = s->to_ns,
						.pair = (uint32_t)(w->p->n_pairs + s->number) });
	}
}
