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
 * Equations d basic[i] + sum_j t[i][j] free[j] = t[i][n], all integers: a pivot divides by the last
 * d, which leaves no remainder, so that nothing has to be reduced. Variables: 0 to n - 1 are the
 * unknowns, of any sign, n + i the slack of row i, at least 0. Row m is the objective.
 */
struct simplex_tableau {
	size_t m, n;
	mpz_t *t, d;
	size_t *basic, *open; /* by row; by column */
	bool feasible;
};

#define AT(tab, i, j) ((tab)->t[(i) * ((tab)->n + 1) + (j)])

static void negate(struct simplex_tableau *tab)
{
	for (size_t k = 0; k < (tab->m + 1) * (tab->n + 1); k++) {
		mpz_neg(tab->t[k], tab->t[k]);
	}
	mpz_neg(tab->d, tab->d);
}

static void pivot(struct simplex_tableau *tab, size_t row, size_t col)
{
	mpz_t *by = &AT(tab, row, col);
	for (size_t i = 0; i <= tab->m; i++) {
		for (size_t j = 0; j <= tab->n && i != row; j++) {
			mpz_t *v = &AT(tab, i, j);
			if (j != col) {
				mpz_mul(*v, *v, *by);
				mpz_submul(*v, AT(tab, i, col), AT(tab, row, j));
				mpz_divexact(*v, *v, tab->d);
			}
		}
	}
	for (size_t i = 0; i <= tab->m; i++) {
		if (i != row) {
			mpz_neg(AT(tab, i, col), AT(tab, i, col));
		}
	}
	mpz_swap(*by, tab->d);
	size_t out = tab->basic[row];
	tab->basic[row] = tab->open[col];
	tab->open[col] = out;
	if (mpz_sgn(tab->d) < 0) {
		negate(tab);
	}
}

static bool is_slack(const struct simplex_tableau *tab, size_t variable)
{
	return variable >= tab->n;
}

/* Every unknown that a row asks of is basic, for good. */
static void take_unknowns(struct simplex_tableau *tab)
{
	for (size_t col = 0; col < tab->n; col++) {
		size_t row = 0;
		while (row < tab->m &&
		       (!is_slack(tab, tab->basic[row]) || !mpz_sgn(AT(tab, row, col)))) {
			row++;
		}
		if (row < tab->m) {
			pivot(tab, row, col);
		}
	}
}

/* The dual simplex method of no objective, by Bland's rule: the first variable that is under 0
 * leaves for the first that can raise it. */
static bool make_feasible(struct simplex_tableau *tab)
{
	for (;;) {
		size_t row = tab->m, col = tab->n;
		for (size_t i = 0; i < tab->m; i++) {
			if (is_slack(tab, tab->basic[i]) && mpz_sgn(AT(tab, i, tab->n)) < 0 &&
			    (row == tab->m || tab->basic[i] < tab->basic[row])) {
				row = i;
			}
		}
		if (row == tab->m) {
			return true;
		}
		for (size_t j = 0; j < tab->n; j++) {
			if (mpz_sgn(AT(tab, row, j)) < 0 &&
			    (col == tab->n || tab->open[j] < tab->open[col])) {
				col = j;
			}
		}
		if (col == tab->n) {
			return false;
		}
		pivot(tab, row, col);
	}
}

/* The row that gives out first where a column's variable grows, of equals the first basic; m: none. */
static size_t first_out(struct simplex_tableau *tab, size_t col)
{
	size_t row = tab->m;
	mpz_t here, best;
	mpz_inits(here, best, NULL);
	for (size_t i = 0; i < tab->m; i++) {
		if (!is_slack(tab, tab->basic[i]) || mpz_sgn(AT(tab, i, col)) <= 0) {
			continue;
		}
		int c = -1;
		if (row < tab->m) {
			mpz_mul(here, AT(tab, i, tab->n), AT(tab, row, col));
			mpz_mul(best, AT(tab, row, tab->n), AT(tab, i, col));
			c = mpz_cmp(here, best);
		}
		if (c < 0 || (!c && tab->basic[i] < tab->basic[row])) {
			row = i;
		}
	}
	mpz_clears(here, best, NULL);
	return row;
}

/* Bland: the first variable that helps. */
static enum simplex_answer improve(struct simplex_tableau *tab)
{
	for (;;) {
		size_t col = tab->n;
		for (size_t j = 0; j < tab->n; j++) {
			int sign = mpz_sgn(AT(tab, tab->m, j));
			if (sign && !is_slack(tab, tab->open[j])) {
				return SIMPLEX_UNBOUNDED; /* no row asks of it */
			}
			if (sign < 0 && (col == tab->n || tab->open[j] < tab->open[col])) {
				col = j;
			}
		}
		if (col == tab->n) {
			return SIMPLEX_OPTIMAL;
		}
		size_t row = first_out(tab, col);
		if (row == tab->m) {
			return SIMPLEX_UNBOUNDED;
		}
		pivot(tab, row, col);
	}
}

/* The least common denominator of n rationals, and of one more. */
static void common_denominator(mpz_t by, mpq_t *q, size_t n, mpq_t *more)
{
	mpz_set_si(by, 1);
	for (size_t k = 0; k < n; k++) {
		mpz_lcm(by, by, mpq_denref(q[k]));
	}
	if (more) {
		mpz_lcm(by, by, mpq_denref(*more));
	}
}

static void scaled(mpz_t v, mpq_t q, const mpz_t by)
{
	mpz_divexact(v, by, mpq_denref(q));
	mpz_mul(v, v, mpq_numref(q));
}

static struct simplex_tableau *tableau_new(const struct simplex *s)
{
	size_t n = s->n, m = s->m;
	struct simplex_tableau *tab = usk_alloc(1, sizeof *tab);
	mpz_t by;
	mpz_init(by);
	mpz_init_set_si(tab->d, 1);
	tab->m = m;
	tab->n = n;
	tab->t = usk_alloc((m + 1) * (n + 1), sizeof *tab->t);
	tab->basic = usk_alloc(m + 1, sizeof *tab->basic);
	tab->open = usk_alloc(n + 1, sizeof *tab->open);
	for (size_t k = 0; k < (m + 1) * (n + 1); k++) {
		mpz_init(tab->t[k]);
	}
	for (size_t j = 0; j < n; j++) {
		tab->open[j] = j;
	}
	for (size_t i = 0; i < m; i++) {
		tab->basic[i] = n + i;
		common_denominator(by, s->a + i * n, n, &s->b[i]);
		for (size_t j = 0; j < n; j++) {
			scaled(AT(tab, i, j), s->a[i * n + j], by);
		}
		scaled(AT(tab, i, n), s->b[i], by);
	}
	mpz_clear(by);
	take_unknowns(tab);
	tab->feasible = make_feasible(tab);
	return tab;
}

static void tableau_free(struct simplex_tableau *tab)
{
	for (size_t k = 0; k < (tab->m + 1) * (tab->n + 1); k++) {
		mpz_clear(tab->t[k]);
	}
	mpz_clear(tab->d);
	free(tab->t);
	free(tab->basic);
	free(tab->open);
	free(tab);
}

/* The last row is d times the objective: of basic unknowns by their rows. by: what c was scaled by. */
static void set_objective(struct simplex_tableau *tab, mpq_t *c, mpz_t by)
{
	size_t m = tab->m, n = tab->n;
	mpz_t v;
	mpz_init(v);
	common_denominator(by, c, n, NULL);
	for (size_t j = 0; j <= n; j++) {
		mpz_set_si(AT(tab, m, j), 0);
		if (j < n && !is_slack(tab, tab->open[j])) {
			scaled(v, c[tab->open[j]], by);
			mpz_submul(AT(tab, m, j), v, tab->d);
		}
	}
	for (size_t i = 0; i < m; i++) {
		if (is_slack(tab, tab->basic[i])) {
			continue;
		}
		scaled(v, c[tab->basic[i]], by);
		for (size_t j = 0; j <= n; j++) {
			mpz_addmul(AT(tab, m, j), v, AT(tab, i, j));
		}
	}
	mpz_clear(v);
}

enum simplex_answer simplex_solve(struct simplex *s, mpq_t *c, mpq_t best)
{
	struct simplex_tableau *tab = s->tableau = s->tableau ? s->tableau : tableau_new(s);
	if (!tab->feasible) {
		return SIMPLEX_INFEASIBLE;
	}
	mpz_t by;
	mpz_init(by);
	set_objective(tab, c, by);
	enum simplex_answer answer = improve(tab);
	mpz_set(mpq_numref(best), AT(tab, tab->m, tab->n));
	mpz_mul(mpq_denref(best), tab->d, by);
	mpq_canonicalize(best);
	mpz_clear(by);
	return answer;
}
