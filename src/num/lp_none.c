/* SPDX-License-Identifier: MIT */
/*
 * lp_none.c - lp.h where no solver is built in: there is never a problem to solve
 */
#include "num/lp.h"

#include <stddef.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* nobody calls these but for a problem */

struct usk_lp *usk_lp_new(const struct usk_lp_problem *p)
{
	return NULL;
}

void usk_lp_free(struct usk_lp *lp)
{
}

enum usk_lp_answer usk_lp_solve(struct usk_lp *lp, enum usk_lp_way way)
{
	return USK_LP_FAILED;
}

void usk_lp_add_cols(struct usk_lp *lp, const struct usk_lp_problem *p)
{
}

void usk_lp_set_row(struct usk_lp *lp, int row, double lo, double hi)
{
}

const double *usk_lp_x(const struct usk_lp *lp)
{
	return NULL;
}

const double *usk_lp_price(const struct usk_lp *lp)
{
	return NULL;
}

double *usk_lp_ray(struct usk_lp *lp)
{
	return NULL;
}

const char *usk_lp_solver(void)
{
	return NULL;
}
