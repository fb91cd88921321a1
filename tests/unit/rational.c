/* SPDX-License-Identifier: MIT */
#include "rational.h"

#include <stdlib.h>

static mpq_t *pool;
static size_t n_pool, n_made;

/* Pointers have to stay where they are: the pool is of a fixed size, far above what a case takes.
 */
enum { POOL = 1 << 17 };

static __mpq_struct *fresh(void)
{
	if (!pool) {
		pool = calloc(POOL, sizeof *pool);
	}
	if (!pool || n_pool == POOL) {
		abort();
	}
	if (n_pool == n_made) {
		mpq_init(pool[n_made++]);
	}
	return pool[n_pool++];
}

void q_done(void)
{
	n_pool = 0;
	while (n_made) {
		mpq_clear(pool[--n_made]);
	}
	free(pool);
	pool = NULL;
}

Q q_int(usk_i128 v)
{
	__mpq_struct *q = fresh();
	usk_u128 u = v < 0 ? -(usk_u128)v : (usk_u128)v;
	mpz_set_ui(mpq_numref(q), (unsigned long)(u >> 64));
	mpz_mul_2exp(mpq_numref(q), mpq_numref(q), 64);
	mpz_add_ui(mpq_numref(q), mpq_numref(q), (unsigned long)u);
	mpz_set_ui(mpq_denref(q), 1);
	if (v < 0) {
		mpq_neg(q, q);
	}
	return q;
}

Q q_double(double v)
{
	__mpq_struct *q = fresh();
	mpq_set_d(q, v);
	return q;
}

Q q_of(const mpq_t v)
{
	__mpq_struct *q = fresh();
	mpq_set(q, v);
	return q;
}

Q q_add(Q a, Q b)
{
	__mpq_struct *q = fresh();
	mpq_add(q, a, b);
	return q;
}

Q q_sub(Q a, Q b)
{
	__mpq_struct *q = fresh();
	mpq_sub(q, a, b);
	return q;
}

Q q_mul(Q a, Q b)
{
	__mpq_struct *q = fresh();
	mpq_mul(q, a, b);
	return q;
}

Q q_div(Q a, Q b)
{
	__mpq_struct *q = fresh();
	mpq_div(q, a, b);
	return q;
}

Q q_sqrt(Q a)
{
	__mpq_struct *q = fresh();
	mpf_t f;
	mpf_init2(f, 1000);
	mpf_set_q(f, a);
	mpf_sqrt(f, f);
	mpq_set_f(q, f);
	mpf_clear(f);
	return q;
}

int q_cmp(Q a, Q b)
{
	return mpq_cmp(a, b);
}

long double q_value(Q a)
{
	/* a double, and what it leaves out */
	double high = mpq_get_d(a);
	mpq_t rest;
	mpq_init(rest);
	mpq_set_d(rest, high);
	mpq_sub(rest, a, rest);
	long double v = (long double)high + (long double)mpq_get_d(rest);
	mpq_clear(rest);
	return v;
}
