/* SPDX-License-Identifier: MIT */
/*
 * elapsed.c - the net time between two reads of a clock
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.2, equations 1 to 5
 */
#include "unskew_clock.h"

struct usk_elapsed usk_elapsed(const struct usk_four_stamps *s)
{
	const int64_t *t = s->t_ns;
	struct usk_elapsed e = { .measured_2 = 2 * (t[2] - t[1]),
				 .cost_2 = (t[1] - t[0]) + (t[3] - t[2]) };
	e.net_2 = e.measured_2 - e.cost_2;
	return e;
}

double usk_elapsed_variance(const struct usk_read_noise *n)
{
	const double *s = n->sigma;
	return s[1] * s[1] + s[2] * s[2] + s[0] * s[0] / 4 + s[3] * s[3] / 4 +
	       2 * n->rho_23 * s[1] * s[2] - n->rho_12 * s[0] * s[1] - n->rho_13 * s[0] * s[2] -
	       n->rho_24 * s[1] * s[3] - n->rho_34 * s[2] * s[3] + n->rho_14 * s[0] * s[3] / 2;
}

double usk_elapsed_variance_halves(const struct usk_read_noise *n)
{
	return 1 + (n->rho_23 - n->rho_12 - n->rho_13 - n->rho_24 - n->rho_34 + n->rho_14) / 2;
}

double usk_elapsed_variance_short(const struct usk_read_noise *n)
{
	return 1.5 - n->rho_13 - n->rho_34 + n->rho_14 / 2;
}
