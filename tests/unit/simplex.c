/* SPDX-License-Identifier: MIT */
#include "simplex.h"
#include "base/base.h"

#include <stdbool.h>
#include <stdlib.h>

void simplex_new(struct simplex *s, size_t n)
{
	*s = (struct simplex){ .n = n };
}

size_t simplex_row(struct simplex *s)
{
	s->a = usk_grow(s->a, (s->m + 1) * s->n, sizeof *s->a);
	s->b = usk_grow(s->b, s->m + 1, sizeof *s->b);
	for (size_t k = 0; k < s->n; k++) {
		mpq_init(s->a[s->m * s->n + k]);
	}
	mpq_init(s->b[s->m]);
	return s->m++;
}

static void tableau_free(struct simplex_tableau *tab);

void simplex_free(struct simplex *s)
{
	if (s->tableau) {
		tableau_free(s->tableau);
	}
	for (size_t k = 0; k < s->m * s->n; k++) {
		mpq_clear(s->a[k]);
	}
	for (size_t k = 0; k < s->m; k++) {
		mpq_clear(s->b[k]);
	}
	free(s->a);
	free(s->b);
}

/*
 * Columns: x+ [n], x- [n], slacks [m], one artificial; the last is the right-hand side. Rows: m
 * constraints; row m is the objective, to be brought to 0 or over.
 */
struct simplex_tableau {
	size_t rows, cols;
	mpq_t *t;
	size_t *basic; /* by row */
	bool feasible;
};

#define AT(tab, i, j) ((tab)->t[(i) * ((tab)->cols + 1) + (j)])

static void pivot(struct simplex_tableau *tab, size_t row, size_t col)
{
	mpq_t by, part;
	mpq_init(by);
	mpq_init(part);
	mpq_set(by, AT(tab, row, col));
	for (size_t j = 0; j <= tab->cols; j++) {
		mpq_div(AT(tab, row, j), AT(tab, row, j), by);
	}
	for (size_t i = 0; i <= tab->rows; i++) {
		if (i == row || !mpq_sgn(AT(tab, i, col))) {
			continue;
		}
		mpq_set(by, AT(tab, i, col));
		for (size_t j = 0; j <= tab->cols; j++) {
			if (mpq_sgn(AT(tab, row, j))) {
				mpq_mul(part, by, AT(tab, row, j));
				mpq_sub(AT(tab, i, j), AT(tab, i, j), part);
			}
		}
	}
	tab->basic[row] = col;
	mpq_clear(by);
	mpq_clear(part);
}

/* Bland: the first column that helps, the row that gives out first, of equals the first basic. */
static enum simplex_answer improve(struct simplex_tableau *tab, size_t n_cols)
{
	mpq_t ratio, best;
	mpq_init(ratio);
	mpq_init(best);
	enum simplex_answer answer = SIMPLEX_OPTIMAL;
	for (;;) {
		size_t col = 0, row = tab->rows;
		while (col < n_cols && mpq_sgn(AT(tab, tab->rows, col)) >= 0) {
			col++;
		}
		if (col == n_cols) {
			break;
		}
		for (size_t i = 0; i < tab->rows; i++) {
			if (mpq_sgn(AT(tab, i, col)) <= 0) {
				continue;
			}
			mpq_div(ratio, AT(tab, i, tab->cols), AT(tab, i, col));
			int c = row == tab->rows ? -1 : mpq_cmp(ratio, best);
			if (c < 0 || (!c && tab->basic[i] < tab->basic[row])) {
				row = i;
				mpq_set(best, ratio);
			}
		}
		if (row == tab->rows) {
			answer = SIMPLEX_UNBOUNDED;
			break;
		}
		pivot(tab, row, col);
	}
	mpq_clear(ratio);
	mpq_clear(best);
	return answer;
}

/* Brings the artificial one to 0, and out of the basis. */
static bool make_feasible(struct simplex_tableau *tab, size_t worst)
{
	size_t m = tab->rows, artificial = tab->cols - 1;
	mpq_set_si(AT(tab, m, artificial), 1, 1);
	pivot(tab, worst, artificial);
	improve(tab, tab->cols);
	if (mpq_sgn(AT(tab, m, tab->cols)) != 0) {
		return false;
	}
	for (size_t i = 0; i < m; i++) {
		size_t col = 0;
		if (tab->basic[i] != artificial) {
			continue;
		}
		while (col < artificial && !mpq_sgn(AT(tab, i, col))) {
			col++;
		}
		if (col < artificial) {
			pivot(tab, i, col);
		}
	}
	return true;
}

static struct simplex_tableau *tableau_new(const struct simplex *s)
{
	size_t n = s->n, m = s->m, artificial = 2 * n + m, worst = m;
	struct simplex_tableau *tab = usk_alloc(1, sizeof *tab);
	tab->rows = m;
	tab->cols = artificial + 1;
	size_t cells = (m + 1) * (tab->cols + 1);
	tab->t = usk_alloc(cells, sizeof *tab->t);
	tab->basic = usk_alloc(m + 1, sizeof *tab->basic);
	for (size_t k = 0; k < cells; k++) {
		mpq_init(tab->t[k]);
	}
	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k < n; k++) {
			mpq_set(AT(tab, i, k), s->a[i * n + k]);
			mpq_neg(AT(tab, i, n + k), s->a[i * n + k]);
		}
		mpq_set_si(AT(tab, i, 2 * n + i), 1, 1);
		mpq_set_si(AT(tab, i, artificial), -1, 1);
		mpq_set(AT(tab, i, tab->cols), s->b[i]);
		tab->basic[i] = 2 * n + i;
		if (mpq_sgn(s->b[i]) < 0 && (worst == m || mpq_cmp(s->b[i], s->b[worst]) < 0)) {
			worst = i;
		}
	}
	tab->feasible = worst == m || make_feasible(tab, worst);
	return tab;
}

static void tableau_free(struct simplex_tableau *tab)
{
	for (size_t k = 0; k < (tab->rows + 1) * (tab->cols + 1); k++) {
		mpq_clear(tab->t[k]);
	}
	free(tab->t);
	free(tab->basic);
	free(tab);
}

/* The last row, in columns that are not basic. */
static void set_objective(struct simplex_tableau *tab, size_t n, mpq_t *c)
{
	size_t m = tab->rows;
	mpq_t by, part;
	mpq_inits(by, part, NULL);
	for (size_t j = 0; j <= tab->cols; j++) {
		mpq_set_si(AT(tab, m, j), 0, 1);
	}
	for (size_t k = 0; k < n; k++) {
		mpq_neg(AT(tab, m, k), c[k]);
		mpq_set(AT(tab, m, n + k), c[k]);
	}
	for (size_t i = 0; i < m; i++) {
		mpq_set(by, AT(tab, m, tab->basic[i]));
		for (size_t j = 0; j <= tab->cols && mpq_sgn(by); j++) {
			mpq_mul(part, by, AT(tab, i, j));
			mpq_sub(AT(tab, m, j), AT(tab, m, j), part);
		}
	}
	mpq_clears(by, part, NULL);
}

enum simplex_answer simplex_solve(struct simplex *s, mpq_t *c, mpq_t best)
{
	struct simplex_tableau *tab = s->tableau = s->tableau ? s->tableau : tableau_new(s);
	if (!tab->feasible) {
		return SIMPLEX_INFEASIBLE;
	}
	set_objective(tab, s->n, c);
	enum simplex_answer answer = improve(tab, tab->cols - 1);
	mpq_set(best, AT(tab, tab->rows, tab->cols));
	return answer;
}
