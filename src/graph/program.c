/* SPDX-License-Identifier: MIT */
/*
 * program.c - clocks of constant rates as one linear program
 *
 * In    edges, and bounds that hold already
 * Out   rows, columns, costs: near 0, in units of what a message typically leaves
 * Not   questions (asker.c, straight.c)
 */
#include "graph/program.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* ---- the base ----------------------------------------------------------------------------------
 */

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

static int64_t middle(const struct usk_work *w, uint32_t i)
{
	return usk_saturate(usk_floor_div(w->lo[i] + w->hi[i], 2 * (usk_i128)USK_E12));
}

/* Known on both sides at its first and last event, so on all. */
static bool is_bounded(const struct usk_work *w, uint32_t k)
{
	uint32_t a = w->first[k], z = w->first[k + 1] - 1;
	return w->lo[a] > -USK_INF && w->hi[a] < USK_INF && w->lo[z] > -USK_INF &&
	       w->hi[z] < USK_INF;
}

static void make_lines(struct usk_program *p)
{
	const struct usk_work *w = p->w;
	p->line = usk_alloc(w->n_clocks, sizeof *p->line);
	p->number = usk_alloc(w->c->n_clocks, sizeof *p->number);
	for (size_t k = 0; k < w->c->n_clocks; k++) {
		p->number[k] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		if (!is_bounded(w, i)) {
			continue;
		}
		uint32_t a = w->first[i], z = w->first[i + 1] - 1;
		struct usk_lp_line *l = &p->line[p->n_lines];
		p->number[i] = (uint32_t)p->n_lines++;
		l->clock = i;
		l->row = -1;
		l->e0 = w->x[a];
		l->e1 = w->x[z];
		l->t0 = i == w->reference ? l->e0 : middle(w, a);
		l->t1 = i == w->reference ? l->e1 : middle(w, z);
		if (l->e1 == l->e0) { /* a line is between two moments */
			l->e1++;
			l->t1 = l->t0 + 1;
		}
		if (i != w->reference) {
			l->row = p->n_rows;
			p->n_rows += 2;
		}
	}
}

/* ---- columns -----------------------------------------------------------------------------------
 */

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

static void new_column(struct usk_program *p, uint32_t from, uint32_t to, long double c)
{
	if (p->n_columns == p->cap_columns) {
		p->cap_columns = p->cap_columns ? 2 * p->cap_columns : 256;
		p->column = usk_grow(p->column, p->cap_columns, sizeof *p->column);
		p->start = usk_grow(p->start, p->cap_columns + 1, sizeof *p->start);
	}
	p->start[p->n_columns] = (int)p->n_values;
	p->column[p->n_columns++] = (struct usk_lp_column){ from, to, c, 0, 0 };
}

/* T_i(sent) <= T_j(received) */
static void put_edge(struct usk_program *p, const struct usk_lp_line *i, int64_t sent,
		     const struct usk_lp_line *j, int64_t received)
{
	new_column(p, i->clock, j->clock,
		   in_ns(usk_lp_base(j, received) + (j->row >= 0) - usk_lp_base(i, sent)));
	p->column[p->n_columns - 1].sent_ns = sent;
	p->column[p->n_columns - 1].received_ns = received;
	put_phi(p, i, sent, 1);
	put_phi(p, j, received, -1);
}

/* sign (T(end) - B(end)) <= c at one of its ends, e12 of a ns */
static void put_end(struct usk_program *p, const struct usk_lp_line *l, bool last, int sign,
		    usk_i128 c)
{
	new_column(p, l->clock, l->clock, usk_real(usk_ceil_div(c, USK_E12)));
	put_value(p, l->row + last, sign);
}

/*
 * What is known of one clock: its bounds at both ends, rounded up as edges say the same without
 * being rounded; its rate, which edges may leave open.
 */
static void put_limits(struct usk_program *p, struct usk_lp_line *l)
{
	const struct usk_work *w = p->w;
	uint32_t a = w->first[l->clock], z = w->first[l->clock + 1] - 1;
	const struct usk_run *r = &w->run[w->run_of[a]];
	usk_i128 d = (usk_i128)l->e1 - l->e0, rise = (usk_i128)l->t1 - l->t0;
	/* Events at one instant: the line's other end is 1 ns later. */
	usk_i128 more = w->x[z] < l->e1 ? USK_E12 + r->fast_e12 : 0;
	usk_i128 less = w->x[z] < l->e1 ? USK_E12 + r->slow_e12 : 0;
	usk_i128 limit[] = { w->hi[a] - usk_e12(l->t0), usk_e12(l->t0) - w->lo[a],
			     w->hi[z] + more - usk_e12(l->t1), usk_e12(l->t1) - w->lo[z] - less };
	for (int k = 0; k < 4; k++) {
		put_end(p, l, k >= 2, k % 2 ? -1 : 1, limit[k]);
		l->most = fmaxl(l->most, fabsl(p->column[p->n_columns - 1].c) + 1);
	}
	for (int sign = -1; sign <= 1; sign += 2) {
		int64_t rate = sign < 0 ? r->least_e12 : r->most_e12;
		long double c = usk_real(sign * (d * (USK_E12 + rate) - rise * USK_E12)) / USK_E12;
		new_column(p, l->clock, l->clock, c + fabsl(c) * 1e-18L);
		put_value(p, l->row, -sign);
		put_value(p, l->row + 1, sign);
	}
}

/* The hull of what a clock sent to another one: where its stamps are late, and the other's early.
 */
static void put_hull(struct usk_program *p, const struct usk_lp_line *i,
		     const struct usk_lp_line *j, struct usk_xy *point, size_t n)
{
	struct usk_xy *h = usk_grow(NULL, n + 1, sizeof *h);
	usk_xy_sort(point, n);
	n = usk_hull_of_sorted(point, n, h);
	for (size_t k = 0; k < n; k++) {
		int64_t received = j->e0 + h[k].x;
		put_edge(p, i, (int64_t)((usk_i128)received + h[k].y + i->e0 - j->e0), j, received);
	}
	free(h);
}

/* All that line i sent, by whom it was sent to. */
static void put_edges(struct usk_program *p, const struct usk_lp_line *i)
{
	const struct usk_work *w = p->w;
	uint32_t a = w->first[i->clock], z = w->first[i->clock + 1];
	size_t *at = usk_alloc(p->n_lines + 2, sizeof *at);
	struct usk_xy *point = usk_grow(NULL, (size_t)(z - a) + 1, sizeof *point);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t e = a; e < z; e++) {
			uint32_t peer = w->peer[e];
			uint32_t to = peer == USK_NO_EVENT || !w->sent[e]
					      ? UINT32_MAX
					      : p->number[w->owner[peer]];
			if (to == UINT32_MAX) {
				continue;
			}
			if (!pass) {
				at[to + 1]++;
				continue;
			}
			usk_i128 x = (usk_i128)w->x[peer] - p->line[to].e0;
			usk_i128 y = (usk_i128)w->x[e] - i->e0 - x;
			point[at[to]++] = (struct usk_xy){ (int64_t)x, (int64_t)y };
		}
		for (size_t k = 0; k < p->n_lines && !pass; k++) {
			at[k + 1] += at[k];
		}
	}
	for (size_t k = 0, from = 0; k < p->n_lines; from = at[k++]) {
		if (at[k] > from) {
			put_hull(p, i, &p->line[k], point + from, at[k] - from);
		}
	}
	free(at);
	free(point);
}

/* The unit is what a message typically leaves. */
static void scale(struct usk_program *p)
{
	double *size = usk_alloc(p->n_columns + 1, sizeof *size);
	p->cost = usk_alloc(p->n_columns + 1, sizeof *p->cost);
	for (size_t k = 0; k < p->n_columns; k++) {
		size[k] = fabs((double)p->column[k].c);
	}
	qsort(size, p->n_columns, sizeof *size, usk_by_double);
	p->unit = p->n_columns ? size[p->n_columns / 2] : 1;
	p->unit = p->unit > 1 ? p->unit : 1;
	for (size_t k = 0; k < p->n_columns; k++) {
		p->cost[k] = (double)(p->column[k].c / p->unit);
	}
	free(size);
}

void usk_program_of(const struct usk_work *w, struct usk_program *p)
{
	*p = (struct usk_program){ .w = w };
	make_lines(p);
	for (size_t k = 0; k < p->n_lines; k++) {
		if (p->line[k].row >= 0) {
			put_limits(p, &p->line[k]);
		}
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		put_edges(p, &p->line[k]);
	}
	p->start = usk_grow(p->start, p->n_columns + 1, sizeof *p->start);
	p->start[p->n_columns] = (int)p->n_values;
	scale(p);
}

void usk_program_free(struct usk_program *p)
{
	USK_FREE(p->line, p->number, p->column, p->start, p->row, p->value, p->cost);
}

long double usk_column_takes(const struct usk_program *p, size_t k, const long double *unknown)
{
	long double sum = 0;
	for (int j = p->start[k]; j < p->start[k + 1]; j++) {
		sum += p->value[j] * unknown[p->row[j]];
	}
	return sum;
}
