/* SPDX-License-Identifier: MIT */
/*
 * asker.h - questions to a linear program, one after the other
 *
 * Every question has the same feasible prices, so the dual simplex goes on from the last basis; the
 * prices are the u, v of a solution, whose line touches the bound. And any x >= 0 proves one:
 *
 *     phi_i(t) <= c.x + sum over rows of |rest of (2)| times the largest |u| or |v|          (3)
 */
#ifndef USK_SOLVE_ASKER_H
#define USK_SOLVE_ASKER_H

#include "num/lp.h"
#include "solve/program.h"

struct usk_asker {
	const struct usk_program *program;
	struct usk_lp *lp;
	/* Few columns matter: the solver knows those that a solution so far was against. */
	size_t *known; /* its columns */
	size_t n_known;
	bool *is_known;	    /* by column */
	int asked;	    /* line of the last question; -1 none */
	long double *u, *v; /* by line: sums over the solutions met, ns */
	uint64_t solutions;
};

/** USK_LP_OPTIMAL: there is a solution. Free with usk_asker_free() in any case. */
enum usk_lp_answer usk_asker_new(struct usk_asker *k, const struct usk_program *p);
void usk_asker_free(struct usk_asker *k);

/** A bound of u weight[0] + v weight[1] of line i, ns, by (3); INFINITY if there is none. */
long double usk_ask(struct usk_asker *k, int i, const double weight[2]);

/** Where there is no solution: the messages that speak against each other; false if unproved. */
bool usk_ask_why(struct usk_asker *k, struct usk_conflict *out);

#endif
