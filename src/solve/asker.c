/* SPDX-License-Identifier: MIT */
/*
 * asker.c - questions to a linear program, one after the other
 *
 * In    a program
 * Out   proved bounds, solutions, contradictions
 * Why   of tens of thousands of columns a question needs a few: the solver gets those that its last
 *       prices were against, until they are against none
 */
#include "solve/asker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A solution may be against a message by so much, in units. */
#define VIOLATED 1e-8

/* Let the solver know of these columns. */
static void make_known(struct usk_asker *a, const size_t *column, size_t n)
{
	const struct usk_program *p = a->program;
	int *start = usk_alloc(n + 1, sizeof *start);
	double *cost = usk_alloc(n + 1, sizeof *cost);
	size_t values = 0;
	for (size_t k = 0; k < n; k++) {
		start[k] = (int)values;
		cost[k] = p->cost[column[k]];
		values += (size_t)(p->start[column[k] + 1] - p->start[column[k]]);
		a->known[a->n_known++] = column[k];
		a->is_known[column[k]] = true;
	}
	start[n] = (int)values;
	int *row = usk_alloc(values + 1, sizeof *row);
	double *value = usk_alloc(values + 1, sizeof *value);
	for (size_t k = 0; k < n; k++) {
		size_t from = (size_t)p->start[column[k]];
		size_t size = (size_t)(start[k + 1] - start[k]);
		memcpy(row + start[k], p->row + from, size * sizeof *row);
		memcpy(value + start[k], p->value + from, size * sizeof *value);
	}
	struct usk_lp_problem more = {
		.n_cols = (int)n, .start = start, .row = row, .value = value, .cost = cost
	};
	usk_lp_add_cols(a->lp, &more);
	free(start);
	free(cost);
	free(row);
	free(value);
}

/* Are both messages of one tie and side? */
static bool alike(const struct usk_lp_column *a, const struct usk_lp_column *b)
{
	return !a->limit && !b->limit && a->say.tie == b->say.tie &&
	       a->say.ceiling == b->say.ceiling;
}

/* The columns that the prices are against, of each tie and side the worst; returns how many. */
static size_t find_violated(const struct usk_asker *a, size_t *column)
{
	const struct usk_program *p = a->program;
	const double *price = usk_lp_price(a->lp);
	size_t n = 0;
	double worst = 0;
	for (size_t k = 0; k < p->n_columns; k++) {
		double over = -p->cost[k];
		for (int j = p->start[k]; j < p->start[k + 1]; j++) {
			over += p->value[j] * price[p->row[j]];
		}
		if (over <= VIOLATED || a->is_known[k]) {
			continue;
		}
		if (!n || !alike(&p->column[k], &p->column[column[n - 1]])) {
			n++;
		} else if (over <= worst) {
			continue;
		}
		column[n - 1] = k;
		worst = over;
	}
	return n;
}

/*
 * What bounds every unknown: limits of rates, and of each tie and side the message that leaves
 * least; of ties on the ways alone, or of all. false: the solver knows them.
 */
static bool know_more(struct usk_asker *a, bool all)
{
	const struct usk_program *p = a->program;
	const struct usk_island_work *w = p->w;
	size_t *column = usk_alloc(p->n_columns + 1, sizeof *column), n = 0;
	for (size_t k = 0; k < p->n_columns; k++) {
		const struct usk_lp_column *c = &p->column[k];
		size_t best = k;
		while (k + 1 < p->n_columns && alike(c, &p->column[k + 1])) {
			k++;
			best = p->column[k].c < p->column[best].c ? k : best;
		}
		const struct usk_tie *t = &w->tie[c->say.tie];
		bool wanted =
			all || c->own ||
			(!c->limit && (w->way[t->a].from == t->b || w->way[t->b].from == t->a));
		if (wanted && !a->is_known[best]) {
			column[n++] = best;
		}
	}
	make_known(a, column, n);
	free(column);
	return n > 0;
}

/* Until no column is against the solution. */
static enum usk_lp_answer solve(struct usk_asker *a, enum usk_lp_way way)
{
	size_t *violated = usk_alloc(a->program->n_columns + 1, sizeof *violated), n;
	enum usk_lp_answer answer = usk_lp_solve(a->lp, way);
	if (answer != USK_LP_OPTIMAL && way == USK_LP_DUAL) {
		answer = usk_lp_solve(a->lp, USK_LP_PRIMAL);
	}
	if (answer == USK_LP_INFEASIBLE && know_more(a, true)) { /* not bounded by what is known */
		answer = usk_lp_solve(a->lp, USK_LP_PRIMAL);
	}
	while (answer == USK_LP_OPTIMAL && (n = find_violated(a, violated))) {
		make_known(a, violated, n);
		answer = usk_lp_solve(a->lp, USK_LP_PRIMAL);
	}
	free(violated);
	return answer;
}

enum usk_lp_answer usk_asker_new(struct usk_asker *a, const struct usk_program *p)
{
	int none = 0;
	double *zero = usk_alloc((size_t)p->n_rows + 1, sizeof *zero);
	struct usk_lp_problem problem = {
		.n_rows = p->n_rows, .start = &none, .row_lo = zero, .row_hi = zero
	};
	*a = (struct usk_asker){ .program = p, .asked = -1, .lp = usk_lp_new(&problem) };
	free(zero);
	a->known = usk_alloc(p->n_columns + 1, sizeof *a->known);
	a->is_known = usk_alloc(p->n_columns + 1, sizeof *a->is_known);
	a->u = usk_alloc(p->n_lines, sizeof *a->u);
	a->v = usk_alloc(p->n_lines, sizeof *a->v);
	know_more(a, false);
	/* x = 0 is there to begin with. */
	return solve(a, USK_LP_PRIMAL);
}

void usk_asker_free(struct usk_asker *a)
{
	usk_lp_free(a->lp);
	free(a->known);
	free(a->is_known);
	free(a->u);
	free(a->v);
}

long double usk_ask(struct usk_asker *a, int i, const double weight[2])
{
	const struct usk_program *p = a->program;
	const struct usk_lp_line *l = &p->line[i];
	if (a->asked >= 0 && a->asked != i) {
		usk_lp_set_row(a->lp, p->line[a->asked].row, 0, 0);
		usk_lp_set_row(a->lp, p->line[a->asked].row + 1, 0, 0);
	}
	a->asked = i;
	for (int k = 0; k < 2; k++) {
		usk_lp_set_row(a->lp, l->row + k, weight[k], weight[k]);
	}
	if (solve(a, USK_LP_DUAL) != USK_LP_OPTIMAL) {
		return INFINITY;
	}
	const double *x = usk_lp_x(a->lp), *price = usk_lp_price(a->lp);
	long double *rest = usk_alloc((size_t)p->n_rows, sizeof *rest), bound = 0;
	rest[l->row] = weight[0];
	rest[l->row + 1] = weight[1];
	for (size_t g = 0; g < a->n_known; g++) {
		size_t k = a->known[g];
		if (x[g] <= 0) {
			continue;
		}
		bound += x[g] * p->column[k].c;
		for (int j = p->start[k]; j < p->start[k + 1]; j++) {
			rest[p->row[j]] -= (long double)x[g] * p->value[j];
		}
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		const struct usk_lp_line *other = &p->line[k];
		for (int j = 0; j < 2 && other->row >= 0; j++) {
			/* What a double of a coefficient leaves out, too. */
			bound += (fabsl(rest[other->row + j]) + 1e-15L) * other->most;
		}
		if (other->row >= 0) {
			a->u[k] += price[other->row] * p->unit;
			a->v[k] += price[other->row + 1] * p->unit;
		}
	}
	free(rest);
	a->solutions++;
	return bound;
}

/* A direction in which (2) falls for ever: its messages cannot all be true. */
bool usk_ask_why(struct usk_asker *a, struct usk_conflict *out)
{
	const struct usk_program *p = a->program;
	double *ray = usk_lp_ray(a->lp), most = 0;
	if (!ray) {
		return false;
	}
	long double sum = 0, size = 0;
	for (size_t g = 0; g < a->n_known; g++) {
		most = fmax(most, ray[g]);
		sum += ray[g] * p->column[a->known[g]].c;
		size += fabsl(ray[g] * p->column[a->known[g]].c);
	}
	for (size_t g = 0; g < a->n_known && sum < -1e-9L * size; g++) {
		const struct usk_lp_column *c = &p->column[a->known[g]];
		if (ray[g] > 1e-9 * most && !c->limit) {
			out->row = usk_grow(out->row, out->n + 1, sizeof *out->row);
			out->row[out->n++] = c->say;
		}
	}
	free(ray);
	return out->n > 0;
}
