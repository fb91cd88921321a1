/* SPDX-License-Identifier: MIT */
#include "oracle.h"

#include <stdlib.h>

void oracle_set(mpq_t q, int64_t num, int64_t den)
{
	_Static_assert(sizeof(long) == 8, "GMP's long holds an int64_t");
	mpz_set_si(mpq_numref(q), num);
	mpz_set_si(mpq_denref(q), den);
	mpq_canonicalize(q);
}

static bool feasible(const struct oracle_points *pts, const mpq_t *y, const mpq_t limit,
		     const mpq_t slope, const mpq_t zero)
{
	mpq_t v, x;
	mpq_inits(v, x, NULL);
	mpq_abs(v, slope);
	bool ok = mpq_cmp(v, limit) <= 0;
	for (size_t i = 0; ok && i < pts->n; i++) {
		oracle_set(x, pts->p[i].local_ns, 1);
		mpq_mul(v, slope, x);
		mpq_add(v, v, zero);
		int c = mpq_cmp(v, y[i]);
		ok = pts->ceiling[i] ? c <= 0 : c >= 0;
	}
	mpq_clears(v, x, NULL);
	return ok;
}

struct oracle *oracle_new(const struct oracle_points *pts, int64_t q_a, int64_t q_b,
			  int64_t max_skew_e12)
{
	struct oracle *o = calloc(1, sizeof *o);
	size_t cap = pts->n * (pts->n + 3) + 1;
	o->slope = calloc(cap, sizeof *o->slope);
	o->at_zero = calloc(cap, sizeof *o->at_zero);
	mpq_t y[ORACLE_MAX], limit, s, z, x, d;
	mpq_inits(limit, s, z, x, d, NULL);
	oracle_set(limit, max_skew_e12, 1000000000000);
	for (size_t i = 0; i < pts->n; i++) {
		mpq_init(y[i]);
		oracle_set(y[i], pts->p[i].offset_ns, 1);
		oracle_set(d, pts->ceiling[i] ? q_a : -q_b, 1);
		mpq_add(y[i], y[i], d);
		o->has_floor |= !pts->ceiling[i];
		o->has_ceiling |= pts->ceiling[i];
	}
	for (size_t i = 0; i < pts->n; i++) {
		for (size_t j = 0; j < i + 2; j++) {
			if (j >= i) { /* a limit of the slope, through i */
				mpq_set(s, limit);
				if (j > i) {
					mpq_neg(s, s);
				}
			} else {
				oracle_set(x, pts->p[i].local_ns, 1);
				oracle_set(d, pts->p[j].local_ns, 1);
				mpq_sub(d, x, d);
				if (!mpq_sgn(d)) {
					continue;
				}
				mpq_sub(s, y[i], y[j]);
				mpq_div(s, s, d);
			}
			oracle_set(x, pts->p[i].local_ns, 1);
			mpq_mul(z, s, x);
			mpq_sub(z, y[i], z);
			if (feasible(pts, (const mpq_t *)y, limit, s, z)) {
				mpq_init(o->slope[o->n]);
				mpq_init(o->at_zero[o->n]);
				mpq_set(o->slope[o->n], s);
				mpq_set(o->at_zero[o->n++], z);
			}
		}
	}
	for (size_t i = 0; i < pts->n; i++) {
		mpq_clear(y[i]);
	}
	mpq_clears(limit, s, z, x, d, NULL);
	return o;
}

void oracle_free(struct oracle *o)
{
	for (size_t i = 0; i < o->n; i++) {
		mpq_clear(o->slope[i]);
		mpq_clear(o->at_zero[i]);
	}
	free(o->slope);
	free(o->at_zero);
	free(o);
}

static int64_t rounded(const mpq_t v, bool up)
{
	mpz_t z;
	mpz_init(z);
	if (up) {
		mpz_cdiv_q(z, mpq_numref(v), mpq_denref(v));
	} else {
		mpz_fdiv_q(z, mpq_numref(v), mpq_denref(v));
	}
	/* beyond the range: as far as it goes, or unbounded */
	mpz_t far;
	mpz_init(far);
	mpz_set_si(far, USK_TIME_MAX);
	int64_t r;
	if (mpz_cmpabs(z, far) > 0) {
		r = (mpz_sgn(z) > 0) == up ? USK_NONE : mpz_sgn(z) * USK_TIME_MAX;
	} else {
		r = mpz_get_si(z);
	}
	mpz_clears(z, far, NULL);
	return r;
}

void oracle_at(const struct oracle *o, int64_t x, int64_t *lo, int64_t *hi)
{
	mpq_t v, best[2], xq;
	mpq_inits(v, best[0], best[1], xq, NULL);
	oracle_set(xq, x, 1);
	for (size_t i = 0; i < o->n; i++) {
		mpq_mul(v, o->slope[i], xq);
		mpq_add(v, v, o->at_zero[i]);
		if (!i || mpq_cmp(v, best[0]) < 0) {
			mpq_set(best[0], v);
		}
		if (!i || mpq_cmp(v, best[1]) > 0) {
			mpq_set(best[1], v);
		}
	}
	*lo = o->has_floor ? rounded(best[0], false) : USK_NONE;
	*hi = o->has_ceiling ? rounded(best[1], true) : USK_NONE;
	mpq_clears(v, best[0], best[1], xq, NULL);
}

void oracle_slopes(const struct oracle *o, mpq_t min, mpq_t max)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!i || mpq_cmp(o->slope[i], min) < 0) {
			mpq_set(min, o->slope[i]);
		}
		if (!i || mpq_cmp(o->slope[i], max) > 0) {
			mpq_set(max, o->slope[i]);
		}
	}
}
