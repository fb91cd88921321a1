/* SPDX-License-Identifier: MIT */
#include "alone.h"

#include "fit/fit.h"
#include "graph/work.h"

#include <stdlib.h>

enum usk_status fit_alone(const struct usk_fit *fit, const struct usk_estimator *e,
			  struct usk_clock *out, struct usk_err *err)
{
	struct usk_knot *line = NULL;
	size_t n_line = 0;
	*out = (struct usk_clock){ .quality = USK_ABSENT };
	if (usk_lines_quality(fit->lines) == USK_BOUNDED) {
		enum usk_status status = usk_estimator_run(e, fit, &line, &n_line, err);
		if (status) {
			return status;
		}
	}
	struct usk_part part;
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	int64_t off = part.frame.offset_ns;
	const struct usk_graph_span span[2] = { { usk_saturate((usk_i128)fit->first_local_ns + off),
						  usk_saturate((usk_i128)fit->last_local_ns +
							       off) },
						{ fit->first_local_ns, fit->last_local_ns } };
	const struct usk_graph_back back[2] = { { NULL, 0 }, { NULL, 0 } };
	struct usk_graph_pair pair = {
		.b = 1, .part = &part, .line = line, .n_line = n_line, .too_many = 1
	};
	struct usk_graph_problem p = { .model = fit->model,
				       .max_skew_e12 = (int64_t)fit->lines->limit.num,
				       .pair = &pair,
				       .n_pairs = 1,
				       .span = span,
				       .back = back,
				       .threads = 1 };
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	c->clock = usk_alloc(2, sizeof *c->clock);
	c->pair = usk_alloc(1, sizeof *c->pair);
	c->n_clocks = 2;
	c->n_pairs = 1;
	c->clock[0].resolution_ns = part.q_ns[USK_CEILING];
	c->clock[1].resolution_ns = part.q_ns[USK_FLOOR];
	/* As flow/corrected.c does: who is out of order becomes a constraint. */
	struct usk_more more = { .n = 0 };
	c->max_skew_e12 = p.max_skew_e12;
	do {
		p.more = more.msg;
		p.n_more = more.n;
		usk_graph_solve(c, &p);
	} while (usk_written_messages(c, fit->msg, fit->n_msgs, &more));
	free(more.msg);
	*out = c->clock[1];
	free(out->path);
	free(out->jump);
	free(out->stretch);
	out->path = NULL;
	out->jump = NULL;
	out->stretch = NULL;
	out->n_path = out->n_jumps = out->n_stretches = 0;
	c->clock[1] = (struct usk_clock){ .quality = USK_ABSENT };
	usk_clocks_free(c);
	usk_part_free(&part);
	free(line);
	return USK_OK;
}
