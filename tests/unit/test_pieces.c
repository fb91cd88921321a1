/* SPDX-License-Identifier: MIT */
/*
 * test_pieces.c - cuts against every way to cut, by brute force
 *
 * Whether some points fit is asked of the oracle in rationals, or of all pairs of them; how few
 * pieces there can be, and where their borders can lie, of every partition (dynamic programming).
 */
#include "cases.h"
#include "fit/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- who fits whom ------------------------------------------------------------------------- */

/* Points of a part by moments. */
struct table {
	struct usk_part part;
	struct oracle_points pts; /* sorted by time */
	int64_t x[ORACLE_MAX];	  /* each moment once */
	size_t from[ORACLE_MAX + 1], n;
};

static void table_of(const struct usk_part *part, struct table *t)
{
	t->part = *part;
	t->pts.n = t->n = 0;
	size_t i = 0, j = 0;
	while (i < part->n[0] || j < part->n[1]) {
		bool ceiling = i == part->n[0] ||
			       (j < part->n[1] && part->point[1][j].x < part->point[0][i].x);
		struct usk_xy p = ceiling ? part->point[1][j++] : part->point[0][i++];
		if (!t->n || t->x[t->n - 1] != p.x) {
			t->from[t->n] = t->pts.n;
			t->x[t->n++] = p.x;
		}
		t->pts.ceiling[t->pts.n] = ceiling;
		t->pts.p[t->pts.n++] = (struct usk_point){ p.x, ceiling ? -p.y : p.y };
	}
	t->from[t->n] = t->pts.n;
}

/* The slope from b to a. */
static void slope(mpq_t out, struct usk_point a, struct usk_point b)
{
	mpq_t run, v;
	mpq_inits(run, v, NULL);
	oracle_set(out, a.offset_ns, 1);
	oracle_set(v, b.offset_ns, 1);
	mpq_sub(out, out, v);
	oracle_set(run, a.local_ns, 1);
	oracle_set(v, b.local_ns, 1);
	mpq_sub(run, run, v);
	mpq_div(out, out, run);
	mpq_clears(run, v, NULL);
}

/* All pairs: the definition of what wander is needed. */
static bool fits_pairs(const struct table *t, size_t from, size_t to, int64_t wander, int64_t skew)
{
	mpq_t s, lo, hi, limit;
	mpq_inits(s, lo, hi, limit, NULL);
	oracle_set(limit, skew, 1000000000000);
	mpq_neg(lo, limit);
	mpq_set(hi, limit);
	bool good = true, has_lo = false, has_hi = false;
	for (size_t i = t->from[from]; i < t->from[to]; i++) {
		for (size_t j = t->from[from]; j < t->from[to]; j++) {
			const struct usk_point *f = &t->pts.p[i], *c = &t->pts.p[j];
			if (t->pts.ceiling[i] || !t->pts.ceiling[j]) {
				continue;
			}
			if (f->local_ns == c->local_ns) {
				good = good && f->offset_ns <= c->offset_ns;
				continue;
			}
			slope(s, *f, *c);
			if (c->local_ns < f->local_ns) {
				good = good && mpq_cmp(s, limit) <= 0;
				if (!has_lo || mpq_cmp(s, lo) > 0) {
					mpq_set(lo, s);
				}
				has_lo = true;
			} else {
				mpq_neg(limit, limit);
				good = good && mpq_cmp(s, limit) >= 0;
				mpq_neg(limit, limit);
				if (!has_hi || mpq_cmp(s, hi) < 0) {
					mpq_set(hi, s);
				}
				has_hi = true;
			}
		}
	}
	if (has_lo && has_hi) {
		mpq_sub(s, lo, hi);
		oracle_set(hi, wander, 500000000000);
		good = good && mpq_cmp(s, hi) <= 0;
	}
	mpq_clears(s, lo, hi, limit, NULL);
	return good;
}

static bool fits_line(const struct table *t, size_t from, size_t to, int64_t skew)
{
	struct oracle_points some = { .n = 0 };
	for (size_t i = t->from[from]; i < t->from[to]; i++) {
		some.p[some.n] = t->pts.p[i];
		some.ceiling[some.n++] = t->pts.ceiling[i];
	}
	struct oracle *o = oracle_new(&some, 0, 0, skew);
	bool good = o->n > 0;
	oracle_free(o);
	return good;
}

/* ---- every partition ----------------------------------------------------------------------- */

struct best {
	size_t pieces; /* SIZE_MAX: there is no way */
	size_t n;      /* borders */
	int64_t from[ORACLE_MAX], to[ORACLE_MAX];
};

static void partition(const struct table *t, int64_t wander, int64_t skew, struct best *b)
{
	static bool fits[ORACLE_MAX][ORACLE_MAX + 1];
	size_t before[ORACLE_MAX + 1], behind[ORACLE_MAX + 1];
	for (size_t i = 0; i < t->n; i++) {
		for (size_t j = i + 1; j <= t->n; j++) {
			fits[i][j] = wander ? fits_pairs(t, i, j, wander, skew)
					    : fits_line(t, i, j, skew);
		}
	}
	before[0] = behind[t->n] = 0;
	for (size_t j = 1; j <= t->n; j++) {
		before[j] = SIZE_MAX;
		for (size_t i = 0; i < j; i++) {
			if (fits[i][j] && before[i] != SIZE_MAX && before[i] + 1 < before[j]) {
				before[j] = before[i] + 1;
			}
		}
	}
	for (size_t i = t->n; i-- > 0;) {
		behind[i] = SIZE_MAX;
		for (size_t j = i + 1; j <= t->n; j++) {
			if (fits[i][j] && behind[j] != SIZE_MAX && behind[j] + 1 < behind[i]) {
				behind[i] = behind[j] + 1;
			}
		}
	}
	b->pieces = before[t->n];
	b->n = b->pieces == SIZE_MAX ? 0 : b->pieces - 1;
	for (size_t k = 0; k < b->n; k++) {
		b->from[k] = INT64_MAX;
		b->to[k] = INT64_MIN;
		for (size_t g = 1; g < t->n; g++) {
			if (before[g] == k + 1 && behind[g] != SIZE_MAX &&
			    before[g] + behind[g] == b->pieces) {
				b->from[k] = t->x[g - 1] < b->from[k] ? t->x[g - 1] : b->from[k];
				b->to[k] = t->x[g] > b->to[k] ? t->x[g] : b->to[k];
			}
		}
	}
}

static bool runs_on(const struct table *t)
{
	for (size_t i = 0; i < t->pts.n; i++) {
		for (size_t j = 0; j < t->pts.n; j++) {
			const struct usk_point *f = &t->pts.p[i], *c = &t->pts.p[j];
			if (!t->pts.ceiling[i] && t->pts.ceiling[j] && f->local_ns <= c->local_ns &&
			    (usk_i128)f->local_ns + f->offset_ns >
				    (usk_i128)c->local_ns + c->offset_ns) {
				return false;
			}
		}
	}
	return true;
}

static void cuts_of_case(uint64_t seed, int64_t wander)
{
	struct fit_case c;
	fit_case_make(&c, seed);
	struct usk_corridor *k = fit_case_corridor(&c);
	struct usk_part part;
	usk_part_of(k, (const int64_t[]){ 0, 0 }, &part);
	static struct table t;
	table_of(&part, &t);
	struct usk_fit fit = { .max_skew_e12 = c.max_skew_e12 };
	struct usk_pieces s;
	struct best b;
	usk_pieces_of(&fit, &part, wander, &s);
	partition(&t, wander, c.max_skew_e12, &b);
	if (s.never) {
		CHECK(b.pieces == SIZE_MAX || !runs_on(&t) || b.pieces > 1, &c);
		CHECK(s.n == 0, &c);
	} else {
		CHECK(runs_on(&t), &c);
		CHECK(b.pieces == s.n + 1, &c);
		for (size_t i = 0; i < s.n; i++) {
			CHECK(s.cut[i].last == b.from[i] && s.cut[i].next == b.to[i], &c);
			CHECK(s.cut[i].from <= s.cut[i].last && s.cut[i].next <= s.cut[i].to, &c);
			CHECK(s.cut[i].from < s.cut[i].to, &c);
			CHECK(!i || s.cut[i - 1].to <= s.cut[i].from, &c);
		}
	}
	usk_pieces_free(&s);
	usk_part_free(&part);
	usk_corridor_free(k);
}

static void fewest_cuts_with_their_brackets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(1000); seed++) {
		cuts_of_case(seed, 0);
	}
}

static void wandering_pieces_likewise(void **state)
{
	static const int64_t wander[] = { 1, 100000, 50000000000, 250000000000 };
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(1000); seed++) {
		cuts_of_case(seed, wander[seed % COUNT(wander)]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fewest_cuts_with_their_brackets),
		cmocka_unit_test(wandering_pieces_likewise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
