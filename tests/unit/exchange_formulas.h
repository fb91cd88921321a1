/* SPDX-License-Identifier: MIT */
/*
 * exchange_formulas.h - what the papers' formulas give for a table, in rationals
 *
 * Exchanges are found by trying all pairs, sums are as they are printed: nothing is centred, and
 * nothing rounded. q_done() when a table is done with.
 */
#ifndef USK_TESTS_EXCHANGE_FORMULAS_H
#define USK_TESTS_EXCHANGE_FORMULAS_H

#include "exchange_tables.h"
#include "rational.h"

struct trip {
	uint32_t asker;
	int64_t t1, t2, t3, t4; /* t1 and t4 on the asker */
};

static inline usk_i128 rtd(const struct trip *e)
{
	return ((usk_i128)e->t4 - e->t1) - ((usk_i128)e->t3 - e->t2);
}

static inline usk_i128 twice_g(const struct trip *e)
{
	return e->asker == 0 ? (usk_i128)e->t1 + e->t4 : (usk_i128)e->t2 + e->t3;
}

static inline usk_i128 twice_l(const struct trip *e)
{
	return e->asker == 1 ? (usk_i128)e->t1 + e->t4 : (usk_i128)e->t2 + e->t3;
}

static inline Q half(usk_i128 v)
{
	return q_div(q_int(v), q_int(2));
}

/* offset(x) = y + slope (x - at); or corners to draw straight lines between */
struct answer {
	bool any;
	Q at, y, slope;
	size_t corners;
	int64_t local[MOST * 2];
	Q offset[MOST * 2];
};

/* Clement's sums as printed; D is what the local clock is ahead, T from the first T1. */
struct sums {
	size_t all, n;
	uint32_t asker;
	int64_t origin;
	Q x, d0, er2, sx2, sd2; /* slope, intercept, squares of Er and standard errors */
	Q margin;		/* mean of those that are kept */
	int64_t first, last;	/* T1 of those */
};

/** The earliest and the latest exchange by the local clock; false: there is none. */
bool exchange_ends(const struct table *t, struct trip *x, struct trip *y);
/** All exchanges of a table: out[MOST]. */
size_t trips(const struct table *t, struct trip *out);
/** Whose are shorter in the mean. */
uint32_t shorter_asker(const struct trip *e, size_t n);
/** Of these exchanges alone. */
bool clement_over(const struct trip *all, size_t found, uint32_t asker, double z, struct sums *s);
/** false: no exchanges at two times. */
bool clement(const struct table *t, double z, struct sums *s);

/* By the names of estimators; the last one is NULL. */
struct row {
	const char *name;
	struct answer (*answer)(const struct table *t);
};
extern const struct row formulas[];

#endif
