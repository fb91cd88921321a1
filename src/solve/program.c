/* SPDX-License-Identifier: MIT */
/*
 * program.c - clocks of constant rates as one linear program
 *
 * In    ties of the core, their parts; links along the tree
 * Out   rows, columns, costs: near 0, in units of what a message typically leaves
 * Not   questions (joint_lp.c)
 */
#include "solve/program.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>

/* ---- the base ------------------------------------------------------------------------- */

usk_i128 usk_lp_base(const struct usk_lp_line *l, int64_t y)
{
	usk_i128 d = (usk_i128)l->e1 - l->e0, bend = (usk_i128)l->t1 - l->t0 - d;
	usk_i128 num = bend * ((usk_i128)y - l->e0), whole = usk_floor_div(num, d);
	usk_i128 rest = (num - whole * d) * (1 << USK_LP_BITS) / d;
	return ((usk_i128)y + l->t0 - l->e0 + whole) * (1 << USK_LP_BITS) + rest;
}

static long double in_ns(usk_i128 fixed)
{
	return usk_real(fixed) / (1 << USK_LP_BITS);
}

/* Where the way of a clock leads a time of it to, on the reference: near enough to start from. */
static int64_t at_reference(const struct usk_island_work *w, uint32_t i, int64_t local)
{
	return usk_tree_time(w->graph, w->tie, w->way, i, local, w->opt->max_skew_e12);
}

static void make_lines(struct usk_program *p)
{
	struct usk_island_work *w = p->w;
	p->line = usk_alloc(w->n, sizeof *p->line);
	p->number = usk_alloc(w->graph->n_clocks, sizeof *p->number);
	for (size_t k = 0; k < w->n; k++) {
		uint32_t i = w->clock[k];
		if (!usk_in_core(w, i)) {
			continue;
		}
		struct usk_lp_line *l = &p->line[p->n_lines];
		p->number[i] = (uint32_t)p->n_lines++;
		l->clock = i;
		l->row = -1;
		l->e0 = w->opt->span[i].first_ns;
		l->e1 = w->opt->span[i].last_ns;
		l->e1 = l->e1 > l->e0 ? l->e1 : l->e0 + 1;
		l->t0 = l->e0;
		l->t1 = l->e1;
		if (i != w->reference) {
			l->row = p->n_rows;
			p->n_rows += 2;
			l->t0 = at_reference(w, i, l->e0);
			l->t1 = at_reference(w, i, l->e1);
		}
	}
}

/* ---- columns ---------------------------------------------------------------------------- */

static void put_value(struct usk_program *p, int row, long double value)
{
	if (value == 0) {
		return;
	}
	if (p->n_values == p->cap_values) {
		p->cap_values = p->cap_values ? 2 * p->cap_values : 1024;
		p->row = usk_grow(p->row, p->cap_values, sizeof *p->row);
		p->value = usk_grow(p->value, p->cap_values, sizeof *p->value);
	}
	p->row[p->n_values] = row;
	p->value[p->n_values++] = (double)value;
}

/* sign x phi(y) */
static void put_phi(struct usk_program *p, const struct usk_lp_line *l, int64_t y, long double sign)
{
	if (l->row >= 0) {
		long double v = ((long double)y - (long double)l->e0) /
				((long double)l->e1 - (long double)l->e0);
		put_value(p, l->row, sign * (1 - v));
		put_value(p, l->row + 1, sign * v);
	}
}

static struct usk_lp_column *new_column(struct usk_program *p)
{
	if (p->n_columns == p->cap_columns) {
		p->cap_columns = p->cap_columns ? 2 * p->cap_columns : 256;
		p->column = usk_grow(p->column, p->cap_columns, sizeof *p->column);
		p->start = usk_grow(p->start, p->cap_columns + 1, sizeof *p->start);
	}
	p->start[p->n_columns] = (int)p->n_values;
	p->column[p->n_columns] = (struct usk_lp_column){ .limit = true };
	return &p->column[p->n_columns++];
}

/* T_i(p) <= T_j(y) */
static void put_message(struct usk_program *p, struct usk_against say, const struct usk_lp_line *i,
			int64_t sent, const struct usk_lp_line *j, int64_t received)
{
	struct usk_lp_column *c = new_column(p);
	c->say = say;
	c->limit = false;
	c->c = in_ns(usk_lp_base(j, received) + (j->row >= 0) - usk_lp_base(i, sent));
	put_phi(p, i, sent, 1);
	put_phi(p, j, received, -1);
}

static void put_tie(struct usk_program *p, uint32_t number)
{
	const struct usk_tie *t = &p->w->tie[number];
	const struct usk_part *part = t->part;
	const struct usk_lp_line *a = &p->line[p->number[t->a]], *b = &p->line[p->number[t->b]];
	for (int side = 0; side < 2; side++) {
		struct usk_xy *h = usk_alloc(part->n[side] + 1, sizeof *h);
		size_t n = usk_hull_of_sorted(part->point[side], part->n[side], h);
		for (size_t k = 0; k < n; k++) {
			struct usk_against say = { number, side == USK_CEILING, h[k] };
			struct usk_point at = usk_part_point(part, side, h[k]);
			int64_t other = usk_cut((usk_i128)at.local_ns + at.offset_ns);
			if (side == USK_FLOOR) {
				put_message(p, say, a, other, b, at.local_ns);
			} else {
				put_message(p, say, b, at.local_ns, a, other);
			}
		}
		free(h);
	}
}

/* sign (T_b' - rate T_a') <= 0: the rate of b against a is within the skew limit. */
static void put_limit(struct usk_program *p, const struct usk_lp_line *a,
		      const struct usk_lp_line *b, int sign)
{
	long double s = (long double)p->w->opt->max_skew_e12 / USK_E12, rate = 1 + sign * s;
	long double db = (long double)b->e1 - (long double)b->e0;
	long double da = (long double)a->e1 - (long double)a->e0;
	/* Slopes of B less 1; times db throughout. */
	long double bend_b = (long double)((b->t1 - b->t0) - (b->e1 - b->e0));
	long double bend_a = (long double)((a->t1 - a->t0) - (a->e1 - a->e0)) / da * db;
	struct usk_lp_column *c = new_column(p);
	c->c = sign * (bend_a * rate - bend_b) + s * db;
	c->c += 1e-15L * s * db;
	c->own = a->row < 0;
	if (b->row >= 0) {
		put_value(p, b->row, -sign);
		put_value(p, b->row + 1, sign);
	}
	if (a->row >= 0) {
		put_value(p, a->row, sign * rate * db / da);
		put_value(p, a->row + 1, -sign * rate * db / da);
	}
}

static void make_columns(struct usk_program *p)
{
	const struct usk_island_work *w = p->w;
	const struct usk_lp_line *ref = &p->line[p->number[w->reference]];
	for (size_t k = 0; k < w->n; k++) {
		uint32_t i = w->clock[k];
		if (!usk_in_core(w, i)) {
			continue;
		}
		const struct usk_lp_line *l = &p->line[p->number[i]];
		for (int sign = -1; sign <= 1 && l->row >= 0; sign += 2) {
			put_limit(p, ref, l, sign);
		}
		for (size_t j = w->graph->first[i]; j < w->graph->first[i + 1]; j++) {
			const struct usk_arc *arc = &w->graph->arc[j];
			const struct usk_tie *t = &w->tie[arc->tie];
			if (arc->turned || !usk_tie_in_core(w, t)) {
				continue;
			}
			put_tie(p, arc->tie);
			for (int sign = -1; sign <= 1 && t->a != w->reference; sign += 2) {
				put_limit(p, l, &p->line[p->number[t->b]], sign);
			}
		}
	}
	p->start = usk_grow(p->start, p->n_columns + 1, sizeof *p->start);
	p->start[p->n_columns] = (int)p->n_values;
}

static int compare(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* The unit is what a message typically leaves. */
static void scale(struct usk_program *p)
{
	double *size = usk_alloc(p->n_columns + 1, sizeof *size);
	p->cost = usk_alloc(p->n_columns + 1, sizeof *p->cost);
	for (size_t k = 0; k < p->n_columns; k++) {
		size[k] = fabs((double)p->column[k].c);
	}
	qsort(size, p->n_columns, sizeof *size, compare);
	p->unit = p->n_columns ? size[p->n_columns / 2] : 1;
	p->unit = p->unit > 1 ? p->unit : 1;
	for (size_t k = 0; k < p->n_columns; k++) {
		p->cost[k] = (double)(p->column[k].c / p->unit);
	}
	free(size);
}

/*
 * Largest |u| and |v|. Where the tree bounds a clock it says so; else a way to the reference and
 * back along messages, one a tie, at whose times the lines differ by no more than the skew limit.
 */
static void bound_unknowns(struct usk_program *p)
{
	const struct usk_island_work *w = p->w;
	long double skew = 2 * (long double)w->opt->max_skew_e12 / USK_E12, all = 0, from = 0,
		    to = 0;
	for (size_t k = 0; k < p->n_columns; k++) {
		all += p->column[k].limit ? 0 : fabsl(p->column[k].c);
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		const struct usk_lp_line *l = &p->line[k];
		from = fminl(from, (long double)(l->t0 - p->line[0].t0));
		to = fmaxl(to, (long double)(l->t1 - p->line[0].t0));
	}
	all += skew * (to - from) * (long double)(2 * p->n_lines);
	for (size_t k = 0; k < p->n_lines; k++) {
		struct usk_lp_line *l = &p->line[k];
		const struct usk_link *link = &w->link[l->clock];
		l->most = all;
		if (link->n && link->has[USK_LOWER] && link->has[USK_UPPER]) {
			usk_hint at = 0;
			l->most = 1;
			for (int end = 0; end < 2; end++) {
				int64_t e = end ? l->e1 : l->e0, t = end ? l->t1 : l->t0;
				int64_t hi = usk_link_at(link, USK_UPPER, e, &at);
				int64_t lo = usk_link_at(link, USK_LOWER, e, &at);
				l->most = fmaxl(l->most, fabsl((long double)hi - (long double)t));
				l->most = fmaxl(l->most, fabsl((long double)t - (long double)lo));
			}
		}
	}
}

void usk_program_of(struct usk_island_work *w, struct usk_program *p)
{
	*p = (struct usk_program){ .w = w };
	make_lines(p);
	make_columns(p);
	scale(p);
	bound_unknowns(p);
}

void usk_program_free(struct usk_program *p)
{
	free(p->line);
	free(p->number);
	free(p->column);
	free(p->start);
	free(p->row);
	free(p->value);
	free(p->cost);
}
