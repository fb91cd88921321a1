/* SPDX-License-Identifier: MIT */
/* Vertex covers against all sets of vertices. */
#include "cases.h"
#include "num/cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 7 };

struct graph {
	uint64_t seed;
	size_t n_side[2], n;
	struct usk_edge e[SIDE * SIDE];
};

static bool covers(const struct graph *g, unsigned set)
{
	for (size_t i = 0; i < g->n; i++) {
		if (!(set >> g->e[i].left & 1) && !(set >> (SIDE + g->e[i].right) & 1)) {
			return false;
		}
	}
	return true;
}

static size_t count(unsigned set)
{
	size_t n = 0;
	for (; set; set &= set - 1) {
		n++;
	}
	return n;
}

static void test_smallest(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		struct usk_rng r;
		struct graph g = { .seed = seed };
		usk_rng_seed(&r, seed);
		g.n_side[0] = 1 + usk_rng_below(&r, SIDE);
		g.n_side[1] = 1 + usk_rng_below(&r, SIDE);
		uint64_t dense = 1 + usk_rng_below(&r, 6);
		for (uint32_t i = 0; i < g.n_side[0]; i++) {
			for (uint32_t k = 0; k < g.n_side[1]; k++) {
				if (!usk_rng_below(&r, dense)) {
					g.e[g.n++] = (struct usk_edge){ i, k };
				}
			}
		}
		size_t best = 2 * SIDE;
		for (unsigned set = 0; set < 1U << (2 * SIDE); set++) {
			if (count(set) < best && covers(&g, set)) {
				best = count(set);
			}
		}
		for (size_t i = g.n; i > 1; i--) { /* in any order */
			size_t k = usk_rng_below(&r, i);
			struct usk_edge e = g.e[i - 1];
			g.e[i - 1] = g.e[k];
			g.e[k] = e;
		}
		bool left[SIDE], right[SIDE], *in[2] = { left, right };
		CHECK(usk_cover(g.e, g.n, g.n_side, 2 * SIDE, in) == best, &g);
		unsigned set = 0;
		for (size_t i = 0; i < g.n_side[0]; i++) {
			set |= (unsigned)left[i] << i;
		}
		for (size_t i = 0; i < g.n_side[1]; i++) {
			set |= (unsigned)right[i] << (SIDE + i);
		}
		CHECK(covers(&g, set) && count(set) == best, &g);
		CHECK(!best || usk_cover(g.e, g.n, g.n_side, best - 1, in) == best, &g);
	}
}

/* A long path, where a recursion would be deep; a crowd against one, where greedy may be wrong. */
static void test_large(void **state)
{
	(void)state;
	enum { N = 20000 };
	struct usk_edge *e = usk_alloc(2 * (size_t)N, sizeof *e);
	bool *in[2] = { usk_alloc(N + 1, 1), usk_alloc(N + 1, 1) };
	size_t n = 0;
	for (uint32_t i = 0; i < N; i++) {
		e[n++] = (struct usk_edge){ i, i };
		if (i + 1 < N) {
			e[n++] = (struct usk_edge){ i + 1, i };
		}
	}
	assert_int_equal(usk_cover(e, n, (const size_t[]){ N, N }, N, in), N);
	for (uint32_t i = 0; i < N; i++) {
		e[i] = (struct usk_edge){ i, 3 };
	}
	assert_int_equal(usk_cover(e, N, (const size_t[]){ N, 4 }, 5, in), 1);
	assert_true(in[1][3] && !in[0][0]);
	free(e);
	free(in[0]);
	free(in[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
