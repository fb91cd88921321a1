/* SPDX-License-Identifier: MIT */
/*
 * rational.h - rationals that read like formulas
 *
 * Every value lives until q_done(), so nothing has to be freed by name.
 */
#ifndef USK_TESTS_RATIONAL_H
#define USK_TESTS_RATIONAL_H

#include "base/base.h"

#include <gmp.h>

typedef const __mpq_struct *Q;

Q q_int(usk_i128 v);
Q q_double(double v); /* exactly */
Q q_of(const mpq_t v);
Q q_add(Q a, Q b);
Q q_sub(Q a, Q b);
Q q_mul(Q a, Q b);
Q q_div(Q a, Q b);
Q q_sqrt(Q a); /* to 1,000 bits */
int q_cmp(Q a, Q b);
long double q_value(Q a);
void q_done(void);

#endif
