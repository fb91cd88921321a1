/* SPDX-License-Identifier: MIT */
#include "net.h"

#include "fit/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void say(struct net *net, uint32_t from, uint32_t to, int64_t sent, int64_t received)
{
	assert_true(net->n < MOST);
	net->m[net->n++] = (struct usk_msg){ sent, received, from, to, 0 };
}

/* What was said between a and b, as a corridor remembers it; n: both directions. */
bool part_of(const struct net *net, uint32_t a, uint32_t b, struct usk_part *out, uint64_t n[2])
{
	const int64_t q[2] = { 0, 0 };
	struct usk_corridor *c = NULL;
	n[0] = n[1] = 0;
	for (size_t i = 0; i < net->n; i++) {
		const struct usk_msg *m = &net->m[i];
		if (!((m->from == a && m->to == b) || (m->from == b && m->to == a))) {
			continue;
		}
		if (!c) {
			int64_t on_b = m->to == b ? m->received_ns : m->sent_ns;
			int64_t on_a = m->to == b ? m->sent_ns : m->received_ns;
			/* All slopes: nothing is thinned but what is implied. */
			struct usk_frame f = { on_b, on_a - on_b, 0, SKEW, 0, false };
			c = usk_corridor_new(&f);
		}
		assert_int_equal(usk_corridor_add(c, a, b, m, 1, NULL), USK_OK);
		n[m->from == b]++;
	}
	if (c) {
		usk_part_of(c, q, out);
		usk_corridor_free(c);
	}
	return c;
}

void net_span(const struct net *net, struct usk_graph_span *span)
{
	for (uint32_t k = 0; k < net->n_clocks; k++) {
		span[k] = (struct usk_graph_span){ INT64_MAX, INT64_MIN };
	}
	for (size_t i = 0; i < net->n; i++) {
		const struct usk_msg *m = &net->m[i];
		const uint32_t who[] = { m->from, m->to };
		const int64_t at[] = { m->sent_ns, m->received_ns };
		for (int k = 0; k < 2; k++) {
			struct usk_graph_span *s = &span[who[k]];
			s->first_ns = at[k] < s->first_ns ? at[k] : s->first_ns;
			s->last_ns = at[k] > s->last_ns ? at[k] : s->last_ns;
		}
	}
}

void state_anchor(struct net *net, struct usk_graph_anchor a)
{
	usk_stated_anchor(&a, (uint32_t)net->n_stated / 2, &net->stated[net->n_stated]);
	net->n_stated += 2;
}

struct usk_clocks *solve(const struct net *net)
{
	struct usk_clocks *c = usk_alloc(1, sizeof *c);
	struct usk_part part[CLOCKS * CLOCKS];
	struct usk_graph_pair pair[CLOCKS * CLOCKS];
	struct usk_graph_span span[CLOCKS];
	struct usk_graph_back back[CLOCKS];
	struct usk_drawn drawn[2 * CLOCKS] = { { 0, 0 } };
	struct usk_graph_problem p = { .model = net->model,
				       .max_skew_e12 = SKEW,
				       .reference = 0,
				       .pair = pair,
				       .stated = net->stated,
				       .n_stated = net->n_stated,
				       .likely = net->likely,
				       .n_likely = net->n_likely,
				       .span = span,
				       .back = back,
				       .threads = net->threads,
				       .drawn = drawn };
	memset(pair, 0, sizeof pair);
	memset(back, 0, sizeof back);
	c->n_clocks = net->n_clocks;
	c->clock = usk_alloc(c->n_clocks, sizeof *c->clock);
	c->pair = usk_alloc(CLOCKS * CLOCKS, sizeof *c->pair);
	c->model = net->model;
	c->max_skew_e12 = SKEW;
	for (uint32_t k = 0; k < net->n_clocks; k++) {
		c->clock[k].name = usk_format("c%u", k);
		const struct usk_gap *gap = &net->back[k];
		back[k] = (struct usk_graph_back){ gap, gap->before_ns < gap->after_ns };
	}
	net_span(net, span);
	for (uint32_t a = 0; a < net->n_clocks; a++) {
		for (uint32_t b = a + 1; b < net->n_clocks; b++) {
			size_t i = p.n_pairs;
			if (part_of(net, a, b, &part[i], pair[i].messages)) {
				pair[i].a = c->pair[i].a = a;
				pair[i].b = c->pair[i].b = b;
				pair[i].part = &part[i];
				pair[i].astray = net->astray;
				c->pair[i].quality = USK_BOUNDED;
				p.n_pairs = ++c->n_pairs;
			}
		}
	}
	for (int i = 0; i <= net->twice; i++) {
		usk_graph_solve(c, &p);
	}
	for (size_t i = 0; i < p.n_pairs; i++) {
		usk_part_free(&part[i]);
	}
	return c;
}
