/* SPDX-License-Identifier: MIT */
/*
 * lp.c - linear programs by COIN-OR CLP, through its C interface
 */
#include "num/lp.h"
#include "base/base.h"

#include <Clp_C_Interface.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of bounds and prices, in the caller's units; CLP's own is 1e-7. */
#define TOLERANCE 1e-9
enum { SILENT = 0 };

struct usk_lp {
	Clp_Simplex *clp;
	enum usk_lp_answer last;
	int n_rows, n_cols;
};

struct usk_lp *usk_lp_new(const struct usk_lp_problem *p)
{
	struct usk_lp *lp = usk_alloc(1, sizeof *lp);
	*lp = (struct usk_lp){ Clp_newModel(), USK_LP_FAILED, p->n_rows, p->n_cols };
	Clp_setLogLevel(lp->clp, SILENT);
	Clp_loadProblem(lp->clp, p->n_cols, p->n_rows, p->start, p->row, p->value, p->col_lo,
			p->col_hi, p->cost, p->row_lo, p->row_hi);
	Clp_setPrimalTolerance(lp->clp, TOLERANCE);
	Clp_setDualTolerance(lp->clp, TOLERANCE);
	return lp;
}

void usk_lp_free(struct usk_lp *lp)
{
	if (lp) {
		Clp_deleteModel(lp->clp);
		free(lp);
	}
}

enum usk_lp_answer usk_lp_solve(struct usk_lp *lp, enum usk_lp_way way)
{
	static const enum usk_lp_answer answer[] = { USK_LP_OPTIMAL, USK_LP_INFEASIBLE,
						     USK_LP_UNBOUNDED };
	if (way == USK_LP_DUAL) {
		Clp_dual(lp->clp, 0);
	} else {
		Clp_primal(lp->clp, 0);
	}
	int status = Clp_status(lp->clp);
	lp->last = status >= 0 && status < (int)COUNT(answer) ? answer[status] : USK_LP_FAILED;
	return lp->last;
}

void usk_lp_add_cols(struct usk_lp *lp, const struct usk_lp_problem *p)
{
	Clp_addColumns(lp->clp, p->n_cols, p->col_lo, p->col_hi, p->cost, p->start, p->row,
		       p->value);
	lp->n_cols += p->n_cols;
}

void usk_lp_set_row(struct usk_lp *lp, int row, double lo, double hi)
{
	Clp_rowLower(lp->clp)[row] = lo;
	Clp_rowUpper(lp->clp)[row] = hi;
}

const double *usk_lp_x(const struct usk_lp *lp)
{
	return Clp_primalColumnSolution(lp->clp);
}

const double *usk_lp_price(const struct usk_lp *lp)
{
	return Clp_dualRowSolution(lp->clp);
}

double *usk_lp_ray(struct usk_lp *lp)
{
	bool rows = lp->last == USK_LP_INFEASIBLE;
	size_t n = (size_t)(rows ? lp->n_rows : lp->n_cols);
	double *theirs = rows				? Clp_infeasibilityRay(lp->clp)
			 : lp->last == USK_LP_UNBOUNDED ? Clp_unboundedRay(lp->clp)
							: NULL;
	if (!theirs) {
		return NULL;
	}
	double *ray = usk_alloc(n + 1, sizeof *ray);
	memcpy(ray, theirs, n * sizeof *ray);
	Clp_freeRay(lp->clp, theirs);
	return ray;
}

const char *usk_lp_solver(void)
{
	static _Thread_local char text[32];
	snprintf(text, sizeof text, "CLP %s", Clp_Version());
	return text;
}
