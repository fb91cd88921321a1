/* SPDX-License-Identifier: MIT */
/* Hulls of integer points: what makes one a hull is checked in GMP's integers. */
#include "cases.h"
#include "num/hull.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct seeded {
	uint64_t seed;
};

/* (b - a) x (c - a): negative if the turn at b is to the right. */
static int turn(struct usk_xy a, struct usk_xy b, struct usk_xy c)
{
	mpz_t l, r, t;
	mpz_inits(l, r, t, NULL);
	mpz_set_si(l, b.x);
	mpz_set_si(t, a.x);
	mpz_sub(l, l, t);
	mpz_set_si(r, c.y);
	mpz_set_si(t, a.y);
	mpz_sub(r, r, t);
	mpz_mul(l, l, r); /* (bx - ax)(cy - ay) */
	mpz_set_si(r, b.y);
	mpz_sub(r, r, t);
	mpz_t u;
	mpz_init_set_si(u, c.x);
	mpz_set_si(t, a.x);
	mpz_sub(u, u, t);
	mpz_mul(r, r, u); /* (by - ay)(cx - ax) */
	int sign = mpz_cmp(l, r);
	mpz_clears(l, r, t, u, NULL);
	return sign;
}

/* Strictly convex, made of the points, on or over all of them, from the first x to the last. */
static void check_hull(const struct seeded *c, const struct usk_xy *p, size_t n,
		       const struct usk_xy *h, size_t k)
{
	CHECK(k >= 1 && k <= n && h[0].x == p[0].x && h[k - 1].x == p[n - 1].x, c);
	for (size_t i = 0; i + 1 < k; i++) {
		CHECK(h[i].x < h[i + 1].x, c);
		CHECK(!i || turn(h[i - 1], h[i], h[i + 1]) < 0, c);
	}
	size_t e = 0;
	for (size_t i = 0; i < n; i++) {
		while (e + 1 < k && h[e + 1].x <= p[i].x) {
			e++;
		}
		CHECK(p[i].x != h[e].x || p[i].y <= h[e].y, c);
		CHECK(p[i].x == h[e].x || turn(h[e], h[e + 1], p[i]) <= 0, c);
	}
	for (size_t i = 0; i < k; i++) {
		bool given = false;
		for (size_t j = usk_xy_find(p, n, h[i].x); j < n && p[j].x == h[i].x; j++) {
			given |= p[j].y == h[i].y;
		}
		CHECK(given, c);
	}
}

static struct usk_xy random_point(struct usk_rng *r, int kind, uint64_t i, uint64_t n)
{
	int64_t max = USK_TIME_MAX - 1;
	struct usk_xy p;
	/* one after the other: a compiler may take arguments in any order */
	uint64_t u = usk_rng_next(r), v = usk_rng_next(r);
	switch (kind) {
	case 0: /* a grid */
		p = (struct usk_xy){ (int64_t)(u % 10), (int64_t)(v % 10) };
		break;
	case 1: /* anywhere */
		p = (struct usk_xy){ (int64_t)(u % (2 * (uint64_t)max + 1)) - max,
				     (int64_t)(v % (2 * (uint64_t)max + 1)) - max };
		break;
	case 2: /* traffic */
		p = (struct usk_xy){ (int64_t)i * 100000 + (int64_t)(u % 300000), 0 };
		p.y = p.x / 50000 - (int64_t)usk_rng_exponential(r, 50000);
		break;
	case 3: /* a dome: all are vertices */
		p.x = (int64_t)i - (int64_t)(n / 2);
		p.y = -p.x * p.x;
		break;
	case 4: /* a bowl: two are */
		p.x = (int64_t)i - (int64_t)(n / 2);
		p.y = p.x * p.x;
		break;
	case 5: /* one line, with some under it */
		p.x = (int64_t)i;
		p.y = 3 * p.x - (int64_t)(u & 1);
		break;
	default: /* the corners of the range */
		p = (struct usk_xy){ u & 1 ? max : -max, v & 1 ? max : -max };
		break;
	}
	return p;
}

static void test_hull_of_sorted(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct seeded c = { seed };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		int kind = (int)usk_rng_below(&r, 7);
		size_t n = 1 + usk_rng_below(&r, usk_rng_below(&r, 20) ? 40 : 12000);
		struct usk_xy *p = usk_alloc(n, sizeof *p), *h = usk_alloc(n, sizeof *h);
		for (size_t i = 0; i < n; i++) {
			p[i] = random_point(&r, kind, i, n);
		}
		usk_xy_sort(p, n);
		for (size_t i = 1; i < n; i++) {
			CHECK(p[i - 1].x < p[i].x || (p[i - 1].x == p[i].x && p[i - 1].y >= p[i].y),
			      &c);
		}
		size_t k = usk_hull_of_sorted(p, n, h);
		check_hull(&c, p, n, h, k);
		free(p);
		free(h);
	}
}

/* Value and touching point against a look at every vertex, in rationals. */
static void test_value_and_touch(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct seeded c = { seed };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		int kind = (int)usk_rng_below(&r, 7);
		struct usk_xy p[30], h[30];
		size_t n = 1 + usk_rng_below(&r, COUNT(p));
		for (size_t i = 0; i < n; i++) {
			p[i] = random_point(&r, kind, i, n);
		}
		usk_xy_sort(p, n);
		size_t k = usk_hull_of_sorted(p, n, h);
		mpq_t v, best, slope, t;
		mpq_inits(v, best, slope, t, NULL);
		uint64_t wide = (uint64_t)h[k - 1].x - (uint64_t)h[0].x;
		int64_t x = h[0].x + (int64_t)usk_rng_below(&r, wide + 1);
		bool any = false; /* the highest chord over x */
		for (size_t i = 0; i < n; i++) {
			for (size_t j = i; j < n; j++) {
				if (p[i].x > x || p[j].x < x || (i != j && p[i].x == p[j].x)) {
					continue;
				}
				oracle_set(v, p[i].y, 1);
				if (i != j) {
					oracle_set(slope, p[j].y - p[i].y, p[j].x - p[i].x);
					oracle_set(t, x - p[i].x, 1);
					mpq_mul(slope, slope, t);
					mpq_add(v, v, slope);
				} else if (p[i].x != x) {
					continue;
				}
				if (!any || mpq_cmp(v, best) > 0) {
					mpq_set(best, v);
					any = true;
				}
			}
		}
		mpz_t z;
		mpz_init(z);
		mpz_fdiv_q(z, mpq_numref(best), mpq_denref(best));
		CHECK(any && mpz_get_si(z) == usk_hull_floor(h, k, x), &c);
		mpz_cdiv_q(z, mpq_numref(best), mpq_denref(best));
		CHECK(mpz_get_si(z) == usk_hull_ceil(h, k, x), &c);
		mpz_clear(z);

		int64_t num = (int64_t)usk_rng_below(&r, 2001) - 1000;
		int64_t den = 1 + (int64_t)usk_rng_below(&r, 1000);
		size_t touch = usk_hull_touch(h, k, (struct usk_slope){ num, den });
		oracle_set(slope, num, den);
		size_t want = 0;
		for (size_t i = 0; i < k; i++) {
			oracle_set(v, h[i].x, 1);
			mpq_mul(v, v, slope);
			oracle_set(t, h[i].y, 1);
			mpq_sub(v, t, v);
			if (!i || mpq_cmp(v, best) > 0) {
				mpq_set(best, v);
				want = i;
			}
		}
		CHECK(touch == want, &c);
		mpq_clears(v, best, slope, t, NULL);
	}
}

/* Whatever is guessed, and wherever the point before was. */
static void test_steepest(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct seeded c = { seed };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_xy p[40], h[40];
		size_t n = 1 + usk_rng_below(&r, COUNT(p)), near = usk_rng_below(&r, COUNT(p));
		for (size_t i = 0; i < n; i++) {
			p[i] = (struct usk_xy){ (int64_t)usk_rng_below(&r, 100),
						(int64_t)usk_rng_below(&r, 1000) };
		}
		usk_xy_sort(p, n);
		size_t k = usk_hull_of_sorted(p, n, h);
		mpq_t v, best;
		mpq_inits(v, best, NULL);
		for (int more = 0; more < 4; more++) {
			struct usk_xy q = { h[k - 1].x + 1 + (int64_t)usk_rng_below(&r, 100),
					    (int64_t)usk_rng_below(&r, 2001) - 1000 };
			size_t want = 0;
			for (size_t i = 0; i < k; i++) {
				oracle_set(v, q.y + h[i].y, q.x - h[i].x);
				if (!i || mpq_cmp(v, best) > 0) {
					mpq_set(best, v);
					want = i;
				}
			}
			struct usk_xy got = usk_hull_steepest(h, k, q, &near);
			CHECK(near == want && got.x == h[want].x && got.y == h[want].y, &c);
		}
		mpq_clears(v, best, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hull_of_sorted),
		cmocka_unit_test(test_value_and_touch),
		cmocka_unit_test(test_steepest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
