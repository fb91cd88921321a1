/* SPDX-License-Identifier: MIT */
/*
 * middle.c - a pair by itself, as a graph of two clocks
 *
 * In    what an estimator gets
 * Out   the local clock against the reference: band and estimate
 * Why   `middle` as a row of the table of estimators, and the band that compare judges by
 */
#include "fit/fit.h"
#include "graph/work.h"

#include <stdlib.h>

/* Messages that the corridor dropped are put in order too, if they are at hand. */
static void solve(const struct usk_fit *fit, struct usk_clocks *c, struct usk_graph_problem *p)
{
	struct usk_msg *msg = usk_grow(NULL, fit->n_msgs + 1, sizeof *msg);
	struct usk_more more = { .n = 0 };
	struct usk_drawn drawn[4] = { { 0, 0 } };
	size_t n = 0;
	p->drawn = drawn;
	for (size_t i = 0; i < fit->n_msgs; i++) {
		struct usk_msg m = fit->msg[i];
		if ((m.from == fit->a && m.to == fit->b) || (m.from == fit->b && m.to == fit->a)) {
			m.from = m.from == fit->b;
			m.to = !m.from;
			msg[n++] = m;
		}
	}
	do {
		p->more = more.msg;
		p->n_more = more.n;
		usk_graph_solve(c, p);
	} while (usk_written_messages(c, msg, n, &more));
	p->more = NULL;
	p->n_more = 0;
	p->drawn = NULL;
	free(more.msg);
	free(msg);
}

void usk_graph_alone(const struct usk_fit *fit, struct usk_clock *out)
{
	struct usk_part part;
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	part.left_out = fit->left_out;
	part.n_left_out = fit->n_left_out;
	part.moved_ns = fit->moved_ns;
	int64_t off = part.frame.offset_ns;
	struct usk_graph_span span[2] = { { usk_saturate((usk_i128)fit->first_local_ns + off),
					    usk_saturate((usk_i128)fit->last_local_ns + off) },
					  { fit->first_local_ns, fit->last_local_ns } };
	const struct usk_graph_back back[2] = { { fit->other_back, fit->n_other_back },
						{ fit->back, fit->n_back } };
	/* Whoever is wrong has been left out before. */
	struct usk_graph_pair pair = { .a = 0, .b = 1, .part = &part, .too_many = 1 };
	struct usk_graph_problem p = { .model = fit->model,
				       .max_skew_e12 = fit->max_skew_e12,
				       .reference = 0,
				       .pair = &pair,
				       .n_pairs = 1,
				       .span = span,
				       .back = back,
				       .threads = 1 };
	c->max_skew_e12 = fit->max_skew_e12;
	c->clock = usk_alloc(2, sizeof *c->clock);
	c->n_clocks = 2;
	c->pair = usk_alloc(1, sizeof *c->pair);
	c->n_pairs = 1;
	c->clock[0].resolution_ns = part.q_ns[USK_CEILING];
	c->clock[1].resolution_ns = part.q_ns[USK_FLOOR];
	solve(fit, c, &p);
	*out = c->clock[1];
	free(out->path);
	out->path = NULL;
	out->n_path = 0;
	c->clock[1] = (struct usk_clock){ .quality = USK_ABSENT };
	usk_clocks_free(c);
	usk_part_free(&part);
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	struct usk_clock clock;
	if (fit->model.kind == USK_LINEAR) {
		return usk_middle_line(fit, out, n, err);
	}
	usk_graph_alone(fit, &clock);
	USK_FREE(clock.jump, clock.stretch);
	if (clock.quality != USK_BOUNDED) {
		free(clock.knot);
		return usk_fail(err, USK_EINPUT, 0,
				"middle needs messages in both directions that some clock fits");
	}
	*out = clock.knot;
	*n = clock.n_knots;
	return USK_OK;
}

USK_ESTIMATOR(middle, "middle", "unskew",
	      "the middle between the error bounds: support where it is feasible, else the mean of "
	      "the extreme lines",
	      false, .estimate = estimate);
