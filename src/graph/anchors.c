/* SPDX-License-Identifier: MIT */
/*
 * anchors.c - a source of constraints: ties that a person states
 *
 * When A showed t, B showed s, give or take D: what B shows at s - D is no later, and what it shows
 * at s + D no earlier, than what A shows at t.
 */
#include "graph/work.h"

void usk_source_anchors(const struct usk_work *w, struct usk_constraints *out)
{
	for (size_t i = 0; i < w->p->n_anchors; i++) {
		const struct usk_graph_anchor *a = &w->p->anchor[i];
		const usk_i128 s = a->b_ns;
		const uint32_t number = (uint32_t)(w->p->n_pairs + i);
		usk_constraint_add(
			out, (struct usk_constraint){ .from = a->b,
						      .to = a->a,
						      .from_ns = usk_saturate(s - a->within_ns),
						      .to_ns = a->a_ns,
						      .pair = number });
		usk_constraint_add(out,
				   (struct usk_constraint){ .from = a->a,
							    .to = a->b,
							    .from_ns = a->a_ns,
							    .to_ns = usk_saturate(s + a->within_ns),
							    .pair = number });
	}
}
