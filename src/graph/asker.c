/* SPDX-License-Identifier: MIT */
/*
 * asker.c - questions to a linear program, one after the other
 *
 * In    a program
 * Out   proved bounds, solutions, contradictions
 * Why   of tens of thousands of columns a question needs a few: the solver gets those that its last
 *       prices were against, until they are against none
 */
#include "graph/program.h"

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
	USK_FREE(start, cost, row, value);
}

/* Are both edges of the same clocks, in one direction? */
static bool alike(const struct usk_lp_column *a, const struct usk_lp_column *b)
{
	return a->from == b->from && a->to == b->to;
}

/* The columns that the prices are against, of those alike the worst; returns how many. */
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

/* Until no column is against the solution. */
static enum usk_lp_answer solve(struct usk_asker *a, enum usk_lp_way way)
{
	size_t *violated = usk_alloc(a->program->n_columns + 1, sizeof *violated), n;
	enum usk_lp_answer answer = usk_lp_solve(a->lp, way);
	if (answer != USK_LP_OPTIMAL && way == USK_LP_DUAL) {
		answer = usk_lp_solve(a->lp, USK_LP_PRIMAL);
	}
	while (answer == USK_LP_OPTIMAL && (n = find_violated(a, violated))) {
		make_known(a, violated, n);
		answer = usk_lp_solve(a->lp, USK_LP_PRIMAL);
	}
	free(violated);
	return answer;
}

enum usk_lp_answer usk_asker_new(struct usk_asker *a, const struct usk_program *p,
				 const struct usk_asker *like)
{
	int none = 0;
	size_t n = 0;
	double *zero = usk_alloc((size_t)p->n_rows + 1, sizeof *zero);
	struct usk_lp_problem problem = {
		.n_rows = p->n_rows, .start = &none, .row_lo = zero, .row_hi = zero
	};
	*a = (struct usk_asker){ .program = p, .asked = -1, .lp = usk_lp_new(&problem) };
	free(zero);
	a->known = usk_alloc(p->n_columns + 1, sizeof *a->known);
	a->is_known = usk_alloc(p->n_columns + 1, sizeof *a->is_known);
	a->unknown = usk_alloc((size_t)p->n_rows + 1, sizeof *a->unknown);
	if (like) {
		make_known(a, like->known, like->n_known);
	} else { /* what bounds every unknown */
		size_t *limit = usk_alloc(p->n_columns + 1, sizeof *limit);
		for (size_t k = 0; k < p->n_columns; k++) {
			limit[n] = k;
			n += p->column[k].from == p->column[k].to;
		}
		make_known(a, limit, n);
		free(limit);
	}
	/* x = 0 is there to begin with. */
	return solve(a, USK_LP_PRIMAL);
}

void usk_asker_free(struct usk_asker *a)
{
	usk_lp_free(a->lp);
	USK_FREE(a->known, a->is_known, a->unknown);
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
	long double size = 1e-15L * (fabsl(weight[0]) + fabsl(weight[1]));
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
			bound += (fabsl(rest[other->row + j]) + size) * other->most;
			a->unknown[other->row + j] +=
				a->counts ? price[other->row + j] * p->unit : 0;
		}
	}
	free(rest);
	a->solutions += a->counts;
	return bound;
}

/* A direction in which (2) falls for ever: its edges cannot all be true. */
uint32_t usk_ask_whose(struct usk_asker *a)
{
	const struct usk_program *p = a->program;
	double *ray = usk_lp_ray(a->lp), most = 0;
	long double sum = 0, size = 0;
	size_t *edges = usk_alloc(p->w->c->n_clocks, sizeof *edges);
	uint32_t whose = USK_NO_CLOCK;
	for (size_t g = 0; ray && g < a->n_known; g++) {
		most = fmax(most, ray[g]);
		sum += ray[g] * p->column[a->known[g]].c;
		size += fabsl(ray[g] * p->column[a->known[g]].c);
	}
	for (size_t g = 0; ray && g < a->n_known && sum < -1e-9L * size; g++) {
		const uint32_t of[] = { p->column[a->known[g]].from, p->column[a->known[g]].to };
		for (int k = 0; k < 2 && ray[g] > 1e-9 * most; k++) {
			edges[of[k]]++;
			if (of[k] != p->w->reference &&
			    (whose == USK_NO_CLOCK || edges[of[k]] > edges[whose])) {
				whose = of[k];
			}
		}
	}
	free(edges);
	free(ray);
	return whose;
}
