/* SPDX-License-Identifier: MIT */
/* Islands, strongly connected parts and shortest paths of random graphs, against Floyd and
 * Warshall.
 */
#include "base/base.h"
#include "solve/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12, TIES = MOST * MOST };

struct random_graph {
	size_t n, n_ties;
	struct usk_tie tie[TIES];
	struct usk_clock fitted[TIES];
	struct usk_knot knot[2];
	int64_t weight[TIES];
	bool sends[MOST][MOST], holds[MOST][MOST];
	int64_t width[MOST][MOST]; /* of ties both ways; -1: none */
};

static void make(struct random_graph *g, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	memset(g, 0, sizeof *g);
	g->n = 1 + usk_rng_below(&r, MOST);
	g->knot[1].local_ns = 1;
	uint64_t dense = 1 + usk_rng_below(&r, 8);
	for (uint32_t a = 0; a < g->n; a++) {
		for (uint32_t b = 0; b < g->n; b++) {
			g->width[a][b] = -1;
		}
	}
	for (uint32_t a = 0; a < g->n; a++) {
		for (uint32_t b = a + 1; b < g->n; b++) {
			if (usk_rng_below(&r, 8) >= dense) {
				continue;
			}
			bool turned = usk_rng_below(&r, 2), bad = usk_rng_below(&r, 10) == 0;
			uint64_t way = usk_rng_below(&r, 4);
			uint32_t from = turned ? b : a, to = turned ? a : b;
			size_t i = g->n_ties++;
			g->fitted[i].quality = bad	 ? USK_CONTRADICTED
					       : way < 2 ? USK_ONE_SIDED
							 : USK_BOUNDED;
			g->fitted[i].knot = g->knot;
			g->fitted[i].n_knots = bad ? 0 : 2;
			g->tie[i] = (struct usk_tie){ .a = from,
						      .b = to,
						      .fitted = &g->fitted[i],
						      .messages = { way != 0, way != 1 } };
			g->weight[i] = (int64_t)usk_rng_below(&r, 6);
			g->sends[from][to] = way != 0;
			g->sends[to][from] = way != 1;
			g->holds[from][to] = g->holds[to][from] = !bad;
			if (way >= 2 && !bad) {
				g->width[a][b] = g->width[b][a] = g->weight[i];
			}
		}
	}
}

static void close_over(const struct random_graph *g, bool reach[MOST][MOST])
{
	for (size_t k = 0; k < g->n; k++) {
		reach[k][k] = true;
	}
	for (size_t k = 0; k < g->n; k++) {
		for (size_t i = 0; i < g->n; i++) {
			for (size_t j = 0; j < g->n; j++) {
				reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
			}
		}
	}
}

static void check_same(const uint32_t *number, bool same[MOST][MOST], size_t n, size_t count)
{
	uint32_t next = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			assert_int_equal(number[i] == number[j], same[i][j]);
		}
		assert_true(number[i] <= next); /* by the order of their smallest */
		next += number[i] == next;
	}
	assert_int_equal(next, count);
}

static void test_parts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct random_graph r;
		make(&r, seed);
		struct usk_graph g = usk_graph_of(r.tie, r.n_ties, r.n);
		bool tied[MOST][MOST] = { { false } }, reach[MOST][MOST] = { { false } };
		bool odd[MOST] = { false };
		odd[seed % MOST] = seed % 3 == 0;
		for (size_t i = 0; i < r.n; i++) {
			for (size_t j = 0; j < r.n; j++) {
				tied[i][j] = r.sends[i][j] || r.sends[j][i];
				reach[i][j] = r.sends[i][j] && r.holds[i][j] && !odd[i] && !odd[j];
			}
		}
		close_over(&r, tied);
		close_over(&r, reach);
		bool strong[MOST][MOST];
		for (size_t i = 0; i < r.n; i++) {
			for (size_t j = 0; j < r.n; j++) {
				strong[i][j] = reach[i][j] && reach[j][i];
			}
		}
		uint32_t number[MOST];
		size_t count = usk_graph_islands(&g, number);
		check_same(number, tied, r.n, count);
		count = usk_graph_parts(&g, odd, number);
		check_same(number, strong, r.n, count);
		usk_graph_free(&g);
	}
}

#define FAR INT64_C(1000000000)

/* A tie in one direction costs more than all others together. */
static void test_paths(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct random_graph r;
		make(&r, seed);
		struct usk_graph g = usk_graph_of(r.tie, r.n_ties, r.n);
		int64_t d[MOST][MOST];
		for (size_t i = 0; i < r.n; i++) {
			for (size_t j = 0; j < r.n; j++) {
				bool tied = (r.sends[i][j] || r.sends[j][i]) && r.holds[i][j];
				/* width first, then hops */
				d[i][j] = i == j	       ? 0
					  : r.width[i][j] >= 0 ? r.width[i][j] * 100 + 1
					  : tied	       ? 1000001
							       : FAR;
			}
		}
		for (size_t k = 0; k < r.n; k++) {
			for (size_t i = 0; i < r.n; i++) {
				for (size_t j = 0; j < r.n; j++) {
					int64_t by = d[i][k] + d[k][j];
					d[i][j] = by < d[i][j] ? by : d[i][j];
				}
			}
		}
		struct usk_way way[MOST];
		uint32_t origin = (uint32_t)(seed % r.n);
		usk_graph_paths(&g, r.weight, origin, NULL, 0, way);
		for (size_t i = 0; i < r.n; i++) {
			int64_t is = (int64_t)way[i].one_way * 1000000 +
				     (int64_t)way[i].width_ns * 100 + way[i].hops;
			assert_int_equal(way[i].reached, d[origin][i] < FAR);
			if (way[i].reached) {
				assert_int_equal(is, d[origin][i]);
			}
			if (way[i].reached && i != origin) {
				assert_int_equal(way[way[i].from].hops + 1, way[i].hops);
				assert_int_equal(g.arc[way[i].arc].to, i);
			}
		}
		usk_graph_free(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_paths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
