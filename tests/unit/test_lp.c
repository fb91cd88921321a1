/* SPDX-License-Identifier: MIT */
/* test_lp.c - the solver answers what it is asked: optimum, prices, rays, warm starts */
#include "num/lp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* minimise -x - y, x + 2 y <= 4, 3 x + y <= 6, x, y >= 0: (1.6, 1.2) */
static const int start[] = { 0, 2, 4 }, row[] = { 0, 1, 0, 1 };
static const double value[] = { 1, 3, 2, 1 }, cost[] = { -1, -1 }, row_hi[] = { 4, 6 };

static struct usk_lp_problem problem(void)
{
	return (struct usk_lp_problem){ .n_rows = 2,
					.n_cols = 2,
					.start = start,
					.row = row,
					.value = value,
					.cost = cost,
					.row_hi = row_hi };
}

static struct usk_lp *solver(const struct usk_lp_problem *p)
{
	struct usk_lp *lp = usk_lp_new(p);
	if (!lp) {
		assert_null(usk_lp_solver());
		skip();
	}
	return lp;
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static void test_optimum(void **state)
{
	(void)state;
	struct usk_lp_problem p = problem();
	struct usk_lp *lp = solver(&p);
	assert_int_equal(usk_lp_solve(lp, USK_LP_PRIMAL), USK_LP_OPTIMAL);
	near(usk_lp_x(lp)[0], 1.6);
	near(usk_lp_x(lp)[1], 1.2);
	near(usk_lp_x(lp)[0] + usk_lp_x(lp)[1], 2.8);
	near(usk_lp_price(lp)[0], -0.4);
	near(usk_lp_price(lp)[1], -0.2);
	/* A new bound: 1 more of the first row is worth its price. */
	usk_lp_set_row(lp, 0, -USK_LP_INF, 5);
	assert_int_equal(usk_lp_solve(lp, USK_LP_DUAL), USK_LP_OPTIMAL);
	near(usk_lp_x(lp)[0] + usk_lp_x(lp)[1], 3.2);
	usk_lp_free(lp);
}

static void test_infeasible(void **state)
{
	(void)state;
	struct usk_lp_problem p = problem();
	double row_lo[] = { -USK_LP_INF, 14 };
	double no_end[] = { 4, USK_LP_INF };
	p.row_lo = row_lo;
	p.row_hi = no_end;
	struct usk_lp *lp = solver(&p); /* 3 x + y >= 14 and x + 2 y <= 4, though x >= 0 */
	assert_int_equal(usk_lp_solve(lp, USK_LP_DUAL), USK_LP_INFEASIBLE);
	double *ray = usk_lp_ray(lp);
	assert_non_null(ray);
	near(fabs(ray[0] / ray[1]), 3); /* both rows */
	free(ray);
	usk_lp_free(lp);
}

static void test_unbounded(void **state)
{
	(void)state;
	struct usk_lp_problem p = problem();
	p.row_hi = NULL;
	struct usk_lp *lp = solver(&p);
	assert_int_equal(usk_lp_solve(lp, USK_LP_PRIMAL), USK_LP_UNBOUNDED);
	double *ray = usk_lp_ray(lp);
	assert_non_null(ray);
	assert_true(ray[0] + ray[1] > 0);
	free(ray);
	usk_lp_free(lp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optimum),
		cmocka_unit_test(test_infeasible),
		cmocka_unit_test(test_unbounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
