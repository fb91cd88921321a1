/* SPDX-License-Identifier: MIT */
/*
 * lp_none.c - lp.h where no solver is built in: there is never a problem to solve
 */
#include "num/lp.h"

#include <stddef.h>

struct usk_lp *usk_lp_new(const struct usk_lp_problem *p)
{
	(void)p;
	return NULL;
}

void usk_lp_free(struct usk_lp *lp)
{
	(void)lp;
}

enum usk_lp_answer usk_lp_solve(struct usk_lp *lp, enum usk_lp_way way)
{
	(void)lp;
	(void)way;
	return USK_LP_FAILED;
}

void usk_lp_add_cols(struct usk_lp *lp, const struct usk_lp_problem *p)
{
	(void)lp;
	(void)p;
}

void usk_lp_set_row(struct usk_lp *lp, int row, double lo, double hi)
{
	(void)lp;
	(void)row;
	(void)lo;
	(void)hi;
}

const double *usk_lp_x(const struct usk_lp *lp)
{
	(void)lp;
	return NULL;
}

const double *usk_lp_price(const struct usk_lp *lp)
{
	(void)lp;
	return NULL;
}

double *usk_lp_ray(struct usk_lp *lp)
{
	(void)lp;
	return NULL;
}

const char *usk_lp_solver(void)
{
	return NULL;
}
