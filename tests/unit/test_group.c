/* SPDX-License-Identifier: MIT */
/*
 * test_group.c - lines of all clocks at once through broadcasts, against the paper's program
 *
 * Scheuermann's program is written down as it stands, a row for each reception and an unknown for
 * each broadcast, and solved in rationals by another method. Two clocks are held against the
 * estimator that looks at them by themselves, which is exact.
 */
#include "../part.h"
#include "fit/group.h"
#include "num/lp.h"
#include "scene.h"
#include "simplex.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LARGE INT64_C(1000000)

enum { CLOCKS = 4, BROADCASTS = 8 };

struct meeting {
	size_t clocks, broadcasts;
	bool heard[BROADCASTS][CLOCKS];
	int64_t y[BROADCASTS][CLOCKS]; /* small numbers */
	struct usk_reception list[CLOCKS * CLOCKS][BROADCASTS];
	struct usk_group_pair pair[CLOCKS * CLOCKS];
	size_t n_pairs;
};

static void meet(struct meeting *m, struct usk_rng *r)
{
	int64_t delay = 1 + (int64_t)usk_rng_below(r, 40);
	memset(m, 0, sizeof *m);
	m->clocks = 2 + usk_rng_below(r, CLOCKS - 1);
	m->broadcasts = 3 + usk_rng_below(r, BROADCASTS - 2);
	for (size_t k = 0; k < m->broadcasts; k++) {
		int64_t t = (int64_t)(50 * k + usk_rng_below(r, 20));
		for (size_t j = 0; j < m->clocks; j++) {
			m->heard[k][j] = usk_rng_below(r, 8) > 0;
			m->y[k][j] = t + t * (int64_t)j / 10 + 30 * (int64_t)j +
				     (int64_t)usk_rng_below(r, (uint64_t)delay);
		}
	}
	for (uint32_t a = 0; a < m->clocks; a++) {
		for (uint32_t b = a + 1; b < m->clocks; b++) {
			size_t n = 0;
			struct usk_reception *list = m->list[m->n_pairs];
			for (size_t k = 0; k < m->broadcasts; k++) {
				if (m->heard[k][a] && m->heard[k][b]) {
					list[n++] = (struct usk_reception){
						START + LARGE * m->y[k][a],
						START + LARGE * m->y[k][b],
					};
				}
			}
			m->pair[m->n_pairs++] = (struct usk_group_pair){ a, b, list, n };
		}
	}
}

static size_t hearers(const struct meeting *m, size_t k)
{
	size_t n = 0;
	for (size_t j = 0; j < m->clocks; j++) {
		n += m->heard[k][j];
	}
	return n;
}

/* Does a clock show one stamp for two broadcasts? Then it is not known whose is whose. */
static bool alike(const struct meeting *m)
{
	for (size_t j = 0; j < m->clocks; j++) {
		for (size_t k = 0; k < m->broadcasts; k++) {
			for (size_t i = 0; i < k; i++) {
				if (m->heard[k][j] && m->heard[i][j] && m->y[k][j] == m->y[i][j]) {
					return true;
				}
			}
		}
	}
	return false;
}

/* Unknowns: alpha and beta of clocks 1 and up, then t of each broadcast:
 * maximise sum of t_k - T_j(y_kj), T_j(y) = y + alpha + beta y, so that t_k <= T_j(y_kj). */
static double by_the_paper(const struct meeting *m)
{
	struct simplex s;
	size_t lines = 2 * (m->clocks - 1), n = lines + m->broadcasts;
	mpq_t *c = calloc(n, sizeof *c), best;
	double shown = 0;
	simplex_new(&s, n);
	mpq_init(best);
	for (size_t i = 0; i < n; i++) {
		mpq_init(c[i]);
	}
	for (size_t k = 0; k < m->broadcasts; k++) {
		for (size_t j = 0; j < m->clocks && hearers(m, k) > 1; j++) {
			mpq_t y, one;
			if (!m->heard[k][j]) {
				continue;
			}
			size_t row = simplex_row(&s);
			mpq_inits(y, one, NULL);
			mpq_set_si(y, m->y[k][j], 1);
			mpq_set_si(one, 1, 1);
			mpq_set(s.b[row], y);
			mpq_set(s.a[row * n + lines + k], one);
			mpq_add(c[lines + k], c[lines + k], one);
			shown += (double)m->y[k][j];
			if (j) {
				mpq_neg(s.a[row * n + 2 * (j - 1)], one);
				mpq_neg(s.a[row * n + 2 * (j - 1) + 1], y);
				mpq_sub(c[2 * (j - 1)], c[2 * (j - 1)], one);
				mpq_sub(c[2 * (j - 1) + 1], c[2 * (j - 1) + 1], y);
			}
			mpq_clears(y, one, NULL);
		}
	}
	assert_int_equal(simplex_solve(&s, c, best), SIMPLEX_OPTIMAL);
	double sum = shown - mpq_get_d(best);
	for (size_t i = 0; i < n; i++) {
		mpq_clear(c[i]);
	}
	mpq_clear(best);
	free(c);
	simplex_free(&s);
	return sum;
}

/* The sum of delays that these lines leave, from their numbers alone. */
static double left_by(const struct meeting *m, const struct usk_group *g)
{
	long double sum = 0;
	for (size_t k = 0; k < m->broadcasts; k++) {
		long double t[CLOCKS], least = INFINITY;
		for (size_t j = 0; j < m->clocks; j++) {
			const struct usk_group_line *l = &g->line[j];
			int64_t y = START + LARGE * m->y[k][j];
			t[j] = (long double)(y - START + l->offset_ns) + l->rest_ns +
			       l->slope * (long double)(y - l->local_ns);
			least = m->heard[k][j] && t[j] < least ? t[j] : least;
		}
		for (size_t j = 0; j < m->clocks && hearers(m, k) > 1; j++) {
			sum += m->heard[k][j] ? t[j] - least : 0;
		}
	}
	return (double)sum;
}

static void test_program(void **state)
{
	(void)state;
	size_t compared = 0, larger = 0;
	double worst = 0;
	if (!usk_lp_solver()) {
		skip();
	}
	for (uint64_t seed = case_first(1000); seed < case_end(1000); seed++) {
		struct usk_rng r;
		struct meeting m;
		struct usk_group *g;
		struct usk_err err = { 0 };
		usk_rng_seed(&r, seed);
		meet(&m, &r);
		if (alike(&m) || usk_group_of(m.pair, m.n_pairs, m.clocks, 0, &g, &err)) {
			continue;
		}
		bool all = true;
		for (size_t j = 0; j < m.clocks; j++) {
			all &= g->line[j].known && g->line[j].root == 0;
		}
		size_t broadcasts = 0, receptions = 0;
		for (size_t k = 0; k < m.broadcasts && all; k++) {
			broadcasts += hearers(&m, k) > 1;
			receptions += hearers(&m, k) > 1 ? hearers(&m, k) : 0;
		}
		assert_true(!all || (g->broadcasts == broadcasts && g->receptions == receptions));
		if (all) {
			/* In stamps from 0: the root's T is what it shows, so sums are alike. */
			double want = LARGE * by_the_paper(&m), got = left_by(&m, g);
			double off = fabs(got - want);
			if (off > 1e-6 * want + 10) {
				fail_msg("seed %llu: %f, not %f", (unsigned long long)seed, got,
					 want);
			}
			worst = fmax(worst, off);
			compared++;
			larger += m.clocks > 2;
		}
		usk_group_free(g);
	}
	print_message("%zu compared, %zu of more than two clocks, sums within %g ns\n", compared,
		      larger, worst);
	assert_true(larger > case_count(1000) / 4);
}

/* What an estimator draws for two clocks of a meeting. */
static enum usk_status ask(const char *method, const struct meeting *m, struct usk_knot **knot)
{
	struct usk_frame frame = { .local_ns = START, .kappa_e12 = 400000 };
	struct usk_corridor *corridor = usk_corridor_new(&frame);
	struct usk_lines *lines = usk_lines_new(corridor, 0, 0, 500000000);
	struct usk_err err = { 0 };
	size_t n;
	const struct usk_fit fit = {
		.corridor = corridor,
		.lines = lines,
		.first_local_ns = START,
		.last_local_ns = START + 500 * LARGE,
		.broadcasts = m->pair[0].broadcasts,
		.n_broadcasts = m->pair[0].n,
		.b = 1,
	};
	enum usk_status status =
		usk_estimator_run(usk_estimator_find(method), &fit, knot, &n, &err);
	usk_lines_free(lines);
	usk_corridor_free(corridor);
	return status;
}

static double deviations(const struct meeting *m, const struct usk_knot *k)
{
	double sum = 0, slope = (double)(k[1].offset_ns - k[0].offset_ns) /
				(double)(k[1].local_ns - k[0].local_ns);
	for (size_t i = 0; i < m->pair[0].n; i++) {
		const struct usk_reception *h = &m->pair[0].broadcasts[i];
		sum += fabs((double)(h->a_ns - h->b_ns - k[0].offset_ns) -
			    slope * (double)(h->b_ns - k[0].local_ns));
	}
	return sum;
}

static void test_two(void **state)
{
	(void)state;
	size_t compared = 0;
	if (!usk_lp_solver()) {
		skip();
	}
	for (uint64_t seed = case_first(2000); seed < case_end(2000); seed++) {
		struct usk_rng r;
		struct meeting m;
		struct usk_knot *one, *other;
		usk_rng_seed(&r, seed);
		meet(&m, &r);
		if (m.clocks != 2 || alike(&m)) {
			continue;
		}
		enum usk_status status = ask("broadcast", &m, &one);
		assert_int_equal(status, ask("broadcast-pairwise", &m, &other));
		if (!status) {
			double got = deviations(&m, one), want = deviations(&m, other);
			if (fabs(got - want) > 1e-6 * want + 20) {
				fail_msg("seed %llu: %f, pairwise %f", (unsigned long long)seed,
					 got, want);
			}
			compared++;
			free(one);
			free(other);
		}
	}
	print_message("%zu compared\n", compared);
	assert_true(compared > case_count(2000) / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
