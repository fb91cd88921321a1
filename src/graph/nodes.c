/* SPDX-License-Identifier: MIT */
/*
 * nodes.c - what facts are about: stamps, and the messages between them
 *
 * In    the answer, the points that were kept of each pair
 * Out   nodes, edges
 * Why   all stamps at which bounds are wanted: ends of messages, knots, ends of what disturbed a
 *       clock, and some between, as bounds bulge where little is known
 */
#include "fit/fit.h"
#include "graph/proof.h"
#include "graph/work.h"

#include <stdlib.h>

bool usk_provable(const struct usk_prove *x, uint32_t k)
{
	enum usk_quality q = x->c->clock[k].quality;
	bool told = !x->p->back[k].n || x->p->told[k];
	return told && q != USK_ABSENT && q != USK_CONTRADICTED;
}

static bool left_out(const struct usk_pair *p, const struct usk_msg *m)
{
	bool is = false;
	for (size_t i = 0; i < p->n_outliers && !is; i++) {
		const struct usk_msg *o = &p->outlier[i].msg;
		is = o->from == m->from && o->sent_ns == m->sent_ns &&
		     o->received_ns == m->received_ns;
	}
	return is;
}

void usk_prove_want(struct usk_stamps *s, int64_t at)
{
	*USK_ADD(s->x, s->n, s->cap) = at;
}

/* A message while its nodes are not numbered yet. */
struct raw {
	struct usk_msg msg;
	int64_t later_ns; /* it was received by then */
	int64_t least_ns; /* and took so much, at least */
};

struct raws {
	struct raw *row;
	size_t n, cap;
};

static void put_raw(struct raws *out, struct usk_msg m, int64_t later, int64_t least)
{
	*USK_ADD(out->row, out->n, out->cap) = (struct raw){
		.msg = m,
		.later_ns = usk_saturate((usk_i128)m.received_ns + later),
		.least_ns = least,
	};
}

/* Was a clock set back that near to a stamp? */
static bool set_back(const struct usk_prove *x, uint32_t k, int64_t at, int64_t by)
{
	const struct usk_graph_back *b = &x->p->back[k];
	bool is = false;
	for (size_t i = 0; i < b->n && by && !is; i++) {
		is = b->gap[i].after_ns > (usk_i128)at - by &&
		     b->gap[i].before_ns < (usk_i128)at + by;
	}
	return is;
}

/* Points allow for a minimum delay by a's stamps, but where a was stepped backward meanwhile
 * (flow/reading.c): nothing needs those few. */
static bool take_back(const struct usk_prove *x, const struct usk_graph_pair *p, int64_t by,
		      struct usk_msg *m)
{
	if (set_back(x, m->from, m->sent_ns, by) || set_back(x, m->to, m->received_ns, by)) {
		return false;
	}
	*(m->from == p->a ? &m->sent_ns : &m->received_ns) += m->from == p->a ? -by : by;
	return true;
}

/* What the reference may have been set back by in all, or a clock stepped forward, as the clock's
 * jumps have it; INT64_MAX: nobody knows. */
static int64_t fall_of(const struct usk_clock *c)
{
	usk_i128 fall = 0;
	for (size_t i = 0; i < c->n_jumps; i++) {
		int64_t least = c->jump[i].size_lo_ns;
		fall += least == USK_NONE ? INT64_MAX : least < 0 ? -(usk_i128)least : 0;
	}
	return usk_saturate(fall);
}

/* Was the reference, if it was ever set back, so when an end of a message was not under way yet, or
 * not any more, or long enough before the one, after the other? By the end's own clock. */
static bool beside_falls(const struct usk_prove *x, uint32_t k, int64_t at, bool sent)
{
	const struct usk_clock *c = &x->c->clock[k];
	usk_i128 fall = 2 * (usk_i128)fall_of(c);
	bool beside = c->reference != k;
	for (size_t i = 0; i < c->n_jumps && beside; i++) {
		const struct usk_jump *j = &c->jump[i];
		bool back = (j->of == c->reference || j->or_of == c->reference) &&
			    (j->size_lo_ns == USK_NONE || j->size_lo_ns < 0);
		beside = !back || at <= j->after_local_ns - (sent ? fall : 0) ||
			 at >= j->before_local_ns + (sent ? 0 : fall);
	}
	return beside;
}

static void collect_pair(struct usk_prove *x, size_t i, struct raws *out)
{
	const struct usk_graph_pair *p = &x->p->pair[i];
	if (!usk_provable(x, p->a) || !usk_provable(x, p->b)) {
		return;
	}
	for (int side = 0; side < 2; side++) {
		for (size_t k = 0; k < p->part->n[side]; k++) {
			struct usk_point point =
				usk_part_recorded(p->part, p->part->point[side][k], side);
			struct usk_msg m = usk_point_message(p->a, p->b, point, side);
			int64_t q = x->c->clock[m.to].resolution_ns;
			q = q > 1 ? q : 0;
			if (take_back(x, p, p->least_ns[side], &m) &&
			    !left_out(&x->c->pair[i], &m) &&
			    (beside_falls(x, m.from, m.sent_ns, true) ||
			     beside_falls(x, m.to, usk_saturate((usk_i128)m.received_ns + q),
					  false))) {
				put_raw(out, m, q, p->least_ns[side]);
			}
		}
	}
}

/* Between far events a bound bulges by the wander, unless one of its own is known there. */
static void put_grid(const struct usk_clock *c, size_t clocks, struct usk_stamps *of)
{
	enum { ALL = 1 << 19, MOST = 2048 };
	int64_t n = (int64_t)usk_clamp(ALL / (usk_i128)clocks, 16, MOST);
	for (int64_t i = 1; i < n && c->n_knots; i++) {
		usk_i128 first = c->knot[0].local_ns, last = c->knot[c->n_knots - 1].local_ns;
		usk_prove_want(of, (int64_t)(first + (last - first) * i / n));
	}
}

static void collect_stamps(const struct usk_prove *x, const struct raws *raw, struct usk_stamps *of)
{
	for (size_t i = 0; i < raw->n; i++) {
		usk_prove_want(&of[raw->row[i].msg.from], raw->row[i].msg.sent_ns);
		usk_prove_want(&of[raw->row[i].msg.to], raw->row[i].later_ns);
	}
	for (uint32_t k = 0; k < x->c->n_clocks; k++) {
		const struct usk_clock *c = &x->c->clock[k];
		for (size_t i = 0; i < c->n_knots && usk_provable(x, k); i++) {
			usk_prove_want(&of[k], c->knot[i].local_ns);
		}
		if (usk_provable(x, k) && c->reference != k) {
			put_grid(c, x->c->n_clocks, &of[k]);
		}
		for (size_t i = 0; i < x->more[k].n; i++) {
			usk_prove_want(&of[k], x->more[k].x[i]);
		}
		for (size_t i = 0; i < c->n_stretches && usk_provable(x, k); i++) {
			usk_prove_want(&of[k], c->stretch[i].from_ns);
			usk_prove_want(&of[k], c->stretch[i].to_ns);
		}
		for (size_t i = 0; i < c->n_jumps && usk_provable(x, k); i++) {
			usk_prove_want(&of[k], c->jump[i].after_local_ns);
			usk_prove_want(&of[k], c->jump[i].before_local_ns);
		}
		for (size_t i = 0; i < x->p->back[k].n && usk_provable(x, k); i++) {
			usk_prove_want(&of[k], x->p->back[k].gap[i].before_ns);
			usk_prove_want(&of[k], x->p->back[k].gap[i].after_ns);
		}
	}
}

uint32_t usk_prove_node(const struct usk_prove *x, uint32_t k, int64_t at)
{
	uint32_t i;
	USK_FIRST(i, x->first[k] + 1, x->first[k + 1], x->node[i].x > at);
	return i - 1;
}

/* The clock was set between two stamps. */
static void mark_set(struct usk_prove *x, uint32_t k, int64_t from, int64_t to, bool fell)
{
	uint32_t end = usk_prove_node(x, k, to);
	for (uint32_t e = usk_prove_node(x, k, from); e < end; e++) {
		struct usk_node *n = &x->node[e];
		n->fell = fell && (n->bounded || n->fell);
		n->calm = n->bounded = false;
	}
}

static bool fell(const struct usk_jump *j)
{
	return j->kind == USK_JUMP && j->size_hi_ns != USK_NONE && j->size_hi_ns <= 0;
}

static void mark_cells(struct usk_prove *x, uint32_t k)
{
	const struct usk_clock *c = &x->c->clock[k];
	const struct usk_graph_back *back = &x->p->back[k];
	for (size_t i = 0; i < c->n_knots; i++) {
		x->node[usk_prove_node(x, k, c->knot[i].local_ns)].knot = true;
	}
	for (size_t i = 0; i < c->n_stretches; i++) {
		uint32_t to = usk_prove_node(x, k, c->stretch[i].to_ns);
		for (uint32_t e = usk_prove_node(x, k, c->stretch[i].from_ns); e < to; e++) {
			x->node[e].calm = false;
		}
	}
	for (size_t i = 0; i < c->n_jumps; i++) {
		mark_set(x, k, c->jump[i].after_local_ns, c->jump[i].before_local_ns,
			 fell(&c->jump[i]));
	}
	for (size_t i = 0; i < back->n; i++) {
		mark_set(x, k, back->gap[i].before_ns, back->gap[i].after_ns, false);
	}
}

/* `segments`: behind what is not calm any rate may begin. */
static void number_runs(struct usk_prove *x)
{
	bool own = x->p->model.kind == USK_SEGMENTS;
	for (uint32_t i = 0; i < x->n; i++) {
		bool same = i && x->node[i].clock == x->node[i - 1].clock &&
			    (!own || x->node[i - 1].calm);
		x->n_runs += !same;
		x->node[i].run = x->n_runs - 1;
	}
}

void usk_prove_build(struct usk_prove *x)
{
	size_t clocks = x->c->n_clocks, n = 0;
	struct raws raw = { .n = 0 };
	struct usk_stamps *of = usk_alloc(clocks + 1, sizeof *of);
	for (size_t i = 0; i < x->p->n_pairs; i++) {
		collect_pair(x, i, &raw);
	}
	collect_stamps(x, &raw, of);
	x->first = usk_alloc(clocks + 1, sizeof *x->first);
	for (uint32_t k = 0; k < clocks; k++) {
		n += of[k].n;
	}
	x->node = usk_alloc(n + 1, sizeof *x->node);
	for (uint32_t k = 0; k < clocks; k++) {
		of[k].n = usk_sort_distinct(of[k].x, of[k].n);
		for (size_t i = 0; i < of[k].n; i++) {
			x->node[x->n++] = (struct usk_node){ .x = of[k].x[i],
							     .clock = k,
							     .best = { USK_NO_FACT, USK_NO_FACT },
							     .calm = true,
							     .bounded = true };
		}
		free(of[k].x);
		x->first[k + 1] = x->n;
		if (x->first[k] < x->n) {
			mark_cells(x, k);
		}
	}
	number_runs(x);
	x->n_edges = raw.n;
	x->edge = usk_alloc(raw.n + 1, sizeof *x->edge);
	for (size_t i = 0; i < raw.n; i++) {
		const struct raw *r = &raw.row[i];
		x->edge[i] = (struct usk_proof_edge){
			.from = usk_prove_node(x, r->msg.from, r->msg.sent_ns),
			.to = usk_prove_node(x, r->msg.to, r->later_ns),
			.received_ns = r->msg.received_ns,
			.least_ns = r->least_ns,
		};
	}
	free(raw.row);
	free(of);
}
