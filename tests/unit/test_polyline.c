/* SPDX-License-Identifier: MIT */
/* Polylines with few links: through every gate, and with no more links than any other way. */
#include "cases.h"
#include "num/polyline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12, HIGH = 6, SCALE = 1000000 };

struct gates {
	uint64_t seed;
	struct usk_gate g[MOST];
	size_t n;
};

static void make(struct gates *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	c->seed = seed;
	c->n = 2 + usk_rng_below(&r, MOST - 1);
	int64_t x = 0;
	uint64_t wide = 1 + usk_rng_below(&r, HIGH);
	for (size_t i = 0; i < c->n; i++) {
		x += 1 + (int64_t)usk_rng_below(&r, 3);
		int64_t lo = (int64_t)usk_rng_below(&r, HIGH);
		int64_t hi = lo + (int64_t)usk_rng_below(&r, wide);
		c->g[i] = (struct usk_gate){ x, lo, hi < HIGH ? hi : HIGH - 1 };
	}
}

/* Does the segment pass the gates between? All in small units. */
static bool clear(const struct gates *c, size_t i, int64_t yi, size_t j, int64_t yj)
{
	for (size_t k = i; k <= j; k++) {
		int64_t run = c->g[j].x - c->g[i].x;
		int64_t y = yi * run + (yj - yi) * (c->g[k].x - c->g[i].x);
		if (y < c->g[k].lo * run || y > c->g[k].hi * run) {
			return false;
		}
	}
	return true;
}

/* The fewest links with knots at gates and whole heights. */
static int fewest(const struct gates *c)
{
	int links[MOST][HIGH];
	for (size_t j = 0; j < c->n; j++) {
		for (int64_t y = 0; y < HIGH; y++) {
			links[j][y] = j ? MOST + 1 : 0;
			for (size_t i = 0; i < j; i++) {
				for (int64_t z = c->g[i].lo; z <= c->g[i].hi; z++) {
					if (links[i][z] + 1 < links[j][y] && clear(c, i, z, j, y)) {
						links[j][y] = links[i][z] + 1;
					}
				}
			}
		}
	}
	int best = MOST + 1;
	for (int64_t y = c->g[c->n - 1].lo; y <= c->g[c->n - 1].hi; y++) {
		best = links[c->n - 1][y] < best ? links[c->n - 1][y] : best;
	}
	return best;
}

static void check_passes(const struct gates *c, const struct usk_gate *g, const struct usk_xy *k,
			 size_t m)
{
	CHECK(m >= 2 && k[0].x == g[0].x && k[m - 1].x == g[c->n - 1].x, c);
	for (size_t i = 0, j = 0; i < c->n; i++) {
		while (k[j + 1].x < g[i].x) {
			j++;
			CHECK(k[j].x > k[j - 1].x, c);
		}
		usk_i128 dx = (usk_i128)k[j + 1].x - k[j].x;
		usk_i128 y =
			k[j].y * dx + ((usk_i128)k[j + 1].y - k[j].y) * ((usk_i128)g[i].x - k[j].x);
		/* Coordinates are rounded: by 1 where links are flat against their length. */
		CHECK(y >= (g[i].lo - 40) * dx && y <= (g[i].hi + 40) * dx, c);
	}
}

static struct usk_gate gate_of(const void *row, size_t i)
{
	return ((const struct usk_gate *)row)[i];
}

static void test_no_other_way_has_fewer(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct gates c;
		struct usk_gate g[MOST];
		struct usk_xy *k;
		make(&c, seed);
		for (size_t i = 0; i < c.n; i++) {
			/* Knots are rounded, so what just fits may not: a little wider. */
			g[i] = (struct usk_gate){ c.g[i].x * SCALE, c.g[i].lo * SCALE - 40,
						  c.g[i].hi * SCALE + 40 };
		}
		const int64_t any = INT64_C(1) << 60;
		size_t m = usk_polyline(gate_of, g, c.n, -any, any, NULL, 0, SIZE_MAX, &k);
		check_passes(&c, g, k, m);
		CHECK((int)m - 1 <= fewest(&c), &c);
		free(k);
	}
}

/* It gives up where more knots than may be lie beside no place that has one already, and only
 * there; else the polyline is the same. */
static void test_gives_up_where_knots_are_too_many(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(5000); seed < case_end(5000); seed++) {
		const int64_t any = INT64_C(1) << 60;
		struct gates c;
		struct usk_xy *k, *again;
		int64_t beside[MOST];
		make(&c, seed);
		size_t m = usk_polyline(gate_of, c.g, c.n, -any, any, NULL, 0, SIZE_MAX, &k);
		size_t n = 0;
		for (size_t i = 0; i < m; i++) {
			if ((seed + i) % 3 == 0) {
				beside[n++] = k[i].x;
			}
		}
		for (size_t most = 0; most <= m; most++) {
			size_t got =
				usk_polyline(gate_of, c.g, c.n, -any, any, beside, n, most, &again);
			CHECK(got == (m - n <= most ? m : 0), &c);
			CHECK(!got || !memcmp(again, k, m * sizeof *k), &c);
			free(again);
		}
		free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_other_way_has_fewer),
		cmocka_unit_test(test_gives_up_where_knots_are_too_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
