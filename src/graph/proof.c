/* SPDX-License-Identifier: MIT */
/*
 * proof.c - which messages and stretches imply an answer's bounds, as text (doc/proof.md)
 *
 * In    the answer, the points that were kept of each pair
 * Out   facts, and for each stretch of a band those that imply it
 * Why   whoever does not trust the engine can follow each step, with the raw traces beside it
 * Not   deriving (derive.c, chords.c); clocks that were set back in their records
 *
 * Bounds are to hold at every stamp, not at knots alone: a band is covered by nodes, neighbours of
 * which leave no stamp between them outside of it, and as few of them as a greedy choice finds.
 */
#include "base/stream.h"
#include "fit/fit.h"
#include "graph/proof.h"
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* ---- what covers a band ------------------------------------------------------------------------
 */

/* A link of the band: on side 0 mirrored as bounds are. */
struct link {
	const struct usk_knot *k;
	int side;
};

static usk_i128 knot_bound(const struct usk_knot *k, int side)
{
	return side ? k->hi_ns : -(usk_i128)k->lo_ns;
}

/* The band over x, rounded inwards. */
static usk_i128 band_at(const struct link *l, usk_i128 x)
{
	usk_i128 y = knot_bound(l->k, l->side), rise = knot_bound(l->k + 1, l->side) - y;
	usk_i128 run = (usk_i128)l->k[1].local_ns - l->k->local_ns;
	/* Rounding down is rounding up what is mirrored. */
	return y * USK_E12 - usk_ceil_share(-rise * USK_E12, x - l->k->local_ns, run);
}

/* Does what is known at two nodes, with an addition, keep to the band? */
static bool holds(const struct usk_prove *x, const struct link *l, uint32_t i, uint32_t j,
		  usk_i128 more)
{
	return usk_prove_best(x, i, l->side) + more <= band_at(l, x->node[i].x) &&
	       usk_prove_best(x, j, l->side) + more <= band_at(l, x->node[j].x);
}

/* Are the cones of two nodes in the band at all stamps between? The least of both is furthest out
 * of it beside where they meet. */
static bool cones_hold(const struct usk_prove *x, const struct link *l, uint32_t i, uint32_t j,
		       bool calm)
{
	usk_i128 skew = (usk_i128)x->c->max_skew_e12 * 1000000, a = skew, b = skew;
	usk_i128 d = (usk_i128)x->node[j].x - x->node[i].x;
	usk_i128 u = usk_prove_best(x, i, l->side), v = usk_prove_best(x, j, l->side);
	if (calm) {
		a = usk_prove_slope(x, x->node[i].run, l->side, false);
		b = usk_prove_slope(x, x->node[i].run, l->side, true);
	}
	usk_i128 sum = a + b > 0 ? a + b : 1;
	usk_i128 q = usk_floor_div((v - u) * 1000000 + b * d, sum);
	for (usk_i128 s = q; s <= q + 1; s++) {
		usk_i128 left = u + usk_prove_rise(s, a), right = v + usk_prove_rise(d - s, b);
		if (s > 0 && s < d &&
		    (left < right ? left : right) > band_at(l, x->node[i].x + s)) {
			return false;
		}
	}
	return true;
}

/* Do nodes i and j imply the band from the one to the other? */
static bool covers(const struct usk_prove *x, const struct link *l, uint32_t i, uint32_t j)
{
	bool calm = true;
	for (uint32_t e = i; e < j; e++) {
		if (!x->node[e].bounded) {
			return false;
		}
		calm = calm && x->node[e].calm;
	}
	usk_i128 d = (usk_i128)x->node[j].x - x->node[i].x;
	usk_i128 bulge = (x->c->clock[x->node[i].clock].wander.used_e12 * d + 1) / 2;
	return usk_prove_known(x, i, l->side) && usk_prove_known(x, j, l->side) &&
	       holds(x, l, i, j, 0) &&
	       ((calm && holds(x, l, i, j, bulge)) || cones_hold(x, l, i, j, calm));
}

/* The furthest node that a search by doubled, then by halved steps finds; i: none. */
static uint32_t furthest(const struct usk_prove *x, const struct link *l, uint32_t i, uint32_t end)
{
	uint32_t good = i, step = 1;
	if (covers(x, l, i, end)) {
		return end;
	}
	while (good + step <= end && covers(x, l, i, good + step)) {
		good += step;
		step *= 2;
	}
	for (; step; step /= 2) {
		if (good + step <= end && covers(x, l, i, good + step)) {
			good += step;
		}
	}
	return good;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void print_number(FILE *out, usk_i128 v)
{
	char text[48], *at = text + sizeof text;
	usk_u128 left = v < 0 ? -(usk_u128)v : (usk_u128)v;
	do {
		*--at = (char)('0' + (int)(left % 10));
	} while (left /= 10);
	fprintf(out, " %s%.*s", v < 0 ? "-" : "", (int)(text + sizeof text - at), at);
}

/* Nodes that cover the band of a clock: chains, each followed by USK_NO_FACT. */
struct cover {
	uint32_t *node;
	size_t n, cap;
};

static void cover_put(struct cover *c, uint32_t node)
{
	*USK_ADD(c->node, c->n, c->cap) = node;
}

static void cover_end(struct cover *c)
{
	if (c->n && c->node[c->n - 1] != USK_NO_FACT) {
		cover_put(c, USK_NO_FACT);
	}
}

/* What bulges between two nodes is less where more is known between them. */
static void want_more(struct usk_prove *x, const struct link *l, uint32_t i)
{
	enum { PARTS = 4 };
	usk_i128 from = x->node[i].x, d = x->node[i + 1].x - from;
	bool inside = usk_prove_known(x, i, l->side) && usk_prove_known(x, i + 1, l->side) &&
		      x->node[i].bounded && holds(x, l, i, i + 1, 0);
	for (int k = 1; k < PARTS && inside && d >= PARTS; k++) {
		usk_prove_want(&x->more[x->node[i].clock], (int64_t)(from + d * k / PARTS));
	}
	x->wanting = x->wanting || (inside && d >= PARTS);
}

static struct cover cover_clock(struct usk_prove *x, uint32_t k, int side)
{
	const struct usk_clock *c = &x->c->clock[k];
	struct cover out = { .n = 0 };
	for (size_t n = 0; n + 1 < c->n_knots; n++) {
		struct link l = { &c->knot[n], side };
		uint32_t i = usk_prove_node(x, k, l.k->local_ns),
			 end = usk_prove_node(x, k, l.k[1].local_ns);
		bool open = (side ? l.k->hi_ns : l.k->lo_ns) == USK_NONE ||
			    (side ? l.k[1].hi_ns : l.k[1].lo_ns) == USK_NONE;
		while (i < end && !open) {
			uint32_t j = furthest(x, &l, i, end);
			if (j == i) {
				want_more(x, &l, i++);
				cover_end(&out);
				continue;
			}
			if (!out.n || out.node[out.n - 1] != i) {
				cover_end(&out);
				cover_put(&out, i);
			}
			cover_put(&out, j);
			i = j;
		}
	}
	cover_end(&out);
	return out;
}

static void use_sum(struct usk_prove *x, const struct usk_sum *s)
{
	for (size_t i = 0; i < s->n; i++) {
		x->edge[s->edge[i]].used = true;
	}
	for (size_t i = 0; i < s->n_bounds; i++) {
		x->fact[s->bound[i]].used = true;
	}
}

/* What a fact that is used rests on is used, too. */
static void slice(struct usk_prove *x)
{
	for (size_t i = x->n_facts; i-- > 0;) {
		const struct usk_fact *f = &x->fact[i];
		if (!f->used || f->rule == USK_BY_REFERENCE) {
			continue;
		}
		if (f->rule == USK_BY_SUM) {
			use_sum(x, &x->sum[f->why]);
			continue;
		}
		x->fact[f->a].used = true;
		if (f->rule == USK_BY_CHORD || f->rule == USK_BY_PAIR) {
			x->fact[f->b].used = true;
		}
		if (f->rule == USK_BY_CONE && f->why != USK_NO_FACT) {
			x->fact[f->why].used = true;
		}
		if (f->rule == USK_BY_MESSAGE) {
			x->edge[f->why].used = true;
		}
	}
}

static void print_messages(struct usk_prove *x, FILE *out)
{
	uint32_t n = 0;
	for (size_t i = 0; i < x->n_edges; i++) {
		struct usk_proof_edge *e = &x->edge[i];
		if (e->used) {
			e->number = n++;
			fprintf(out, "message %u %lld %u %lld\n", x->node[e->from].clock,
				(long long)x->node[e->from].x, x->node[e->to].clock,
				(long long)e->received_ns);
		}
	}
}

static void print_sum(const struct usk_prove *x, const struct usk_sum *s, FILE *out)
{
	fprintf(out, " %lld", (long long)s->scale);
	for (size_t i = 0; i < s->n; i++) {
		fprintf(out, " %u:%lld", x->edge[s->edge[i]].number, (long long)s->often[i]);
	}
	for (size_t i = 0; i < s->n_bounds; i++) {
		fprintf(out, " %u", x->fact[s->bound[i]].number);
	}
	fputc('\n', out);
}

static void print_fact(const struct usk_prove *x, const struct usk_fact *f, FILE *out)
{
	static const char *const name[2][2] = { { "lo", "hi" }, { "slow", "fast" } };
	static const char *const rule[] = {
		"reference", "message", "cone", "chord", "pair", "sum"
	};
	const struct usk_node *n = &x->node[f->node];
	fprintf(out, "%s %u", name[f->rule == USK_BY_PAIR][f->side], n->clock);
	if (f->rule != USK_BY_PAIR) {
		fprintf(out, " %lld", (long long)n->x);
	}
	print_number(out, f->side ? f->at : -f->at);
	fprintf(out, " %s", rule[f->rule]);
	if (f->rule == USK_BY_SUM) {
		print_sum(x, &x->sum[f->why], out);
		return;
	}
	if (f->rule == USK_BY_MESSAGE) {
		fprintf(out, " %u", x->edge[f->why].number);
	}
	if (f->rule != USK_BY_REFERENCE) {
		fprintf(out, " %u", x->fact[f->a].number);
	}
	if (f->rule == USK_BY_CHORD || f->rule == USK_BY_PAIR) {
		fprintf(out, " %u", x->fact[f->b].number);
	}
	if (f->rule == USK_BY_CONE && f->why == USK_NO_FACT) {
		fputs(" skew", out);
	} else if (f->rule == USK_BY_CONE) {
		fprintf(out, " %u", x->fact[f->why].number);
	}
	fputc('\n', out);
}

static void print_facts(struct usk_prove *x, FILE *out)
{
	uint32_t n = 0;
	for (size_t i = 0; i < x->n_facts; i++) {
		struct usk_fact *f = &x->fact[i];
		if (f->used) {
			f->number = n++;
			print_fact(x, f, out);
		}
	}
}

static void print_cover(const struct usk_prove *x, const struct cover *c, int side, FILE *out)
{
	bool open = false;
	for (size_t i = 0; i < c->n; i++) {
		if (c->node[i] == USK_NO_FACT) {
			fputc('\n', out);
			open = false;
			continue;
		}
		if (!open) {
			fprintf(out, "band %s", side ? "hi" : "lo");
		}
		open = true;
		fprintf(out, " %u", x->fact[x->node[c->node[i]].best[side]].number);
	}
}

/* By clock and side; NULL if bounds cross, so that nothing follows. */
static struct cover *cover_all(struct usk_prove *x)
{
	struct cover *cover = usk_alloc(2 * x->c->n_clocks + 1, sizeof *cover);
	x->wanting = false;
	for (size_t i = 0; i < 2 * x->c->n_clocks && !x->failed; i++) {
		uint32_t k = (uint32_t)(i / 2);
		if (x->c->clock[k].reference != k && usk_provable(x, k)) {
			cover[i] = cover_clock(x, k, i % 2);
		}
	}
	return cover;
}

static void cover_free(const struct usk_prove *x, struct cover *cover)
{
	for (size_t i = 0; i < 2 * x->c->n_clocks; i++) {
		free(cover[i].node);
	}
	free(cover);
}

/* A band rests on bounds of nodes and, between them, on the rates of their run. */
static void use_node(struct usk_prove *x, const struct usk_node *n, int side)
{
	x->fact[n->best[side]].used = true;
	for (int k = 0; k < 2 && n->calm; k++) {
		uint32_t rate = x->rate[k][n->run];
		if (rate != USK_NO_FACT) {
			x->fact[rate].used = true;
		}
	}
}

static void print_proof(struct usk_prove *x, const struct cover *cover, FILE *out)
{
	for (size_t i = 0; i < 2 * x->c->n_clocks; i++) {
		for (size_t n = 0; n < cover[i].n; n++) {
			if (cover[i].node[n] != USK_NO_FACT) {
				use_node(x, &x->node[cover[i].node[n]], (int)(i % 2));
			}
		}
	}
	slice(x);
	fputs("unskew-proof 1\n", out);
	print_messages(x, out);
	print_facts(x, out);
	for (size_t i = 0; i < 2 * x->c->n_clocks; i++) {
		print_cover(x, &cover[i], i % 2, out);
	}
}

static void forget(struct usk_prove *x)
{
	for (size_t i = 0; i < x->n_sums; i++) {
		usk_sum_free(&x->sum[i]);
	}
	USK_FREE(x->sum, x->node, x->first, x->edge, x->fact, x->rate[0], x->rate[1]);
	*x = (struct usk_prove){ .c = x->c, .p = x->p, .more = x->more };
}

static struct cover *prove(struct usk_prove *x)
{
	usk_prove_build(x);
	for (int side = 0; side < 2; side++) {
		x->rate[side] = usk_grow(NULL, x->n_runs + 1, sizeof *x->rate[side]);
		memset(x->rate[side], 0xff, (x->n_runs + 1) * sizeof *x->rate[side]);
	}
	usk_derive(x);
	usk_prove_sums(x);
	return cover_all(x);
}

char *usk_graph_prove(const struct usk_clocks *c, const struct usk_graph_problem *p)
{
	enum { AGAIN = 2 };
	struct usk_prove x = { .c = c, .p = p };
	struct usk_stream text;
	x.more = usk_alloc(c->n_clocks + 1, sizeof *x.more);
	struct cover *cover = prove(&x);
	for (int again = 0; again < AGAIN && x.wanting; again++) {
		cover_free(&x, cover);
		forget(&x);
		cover = prove(&x);
	}
	print_proof(&x, cover, usk_stream_begin(&text));
	cover_free(&x, cover);
	forget(&x);
	for (uint32_t k = 0; k < c->n_clocks; k++) {
		free(x.more[k].x);
	}
	free(x.more);
	return usk_stream_end(&text);
}
