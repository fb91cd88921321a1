/* SPDX-License-Identifier: MIT */
/*
 * test_paths.c - the shortest ways between clocks, and who is nearest to all others, against all ways
 */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOCKS = 7, TIES = 14, FEW = 64 };

/* How far: ways in one direction, then how wide, then hops. */
struct far {
	int64_t one_way, wide, hops;
};

struct net {
	uint64_t seed;
	uint32_t n;
	struct usk_clocks c;
	struct usk_graph_problem p;
	struct usk_graph_pair pair[TIES];
	struct usk_part part[TIES];
	struct usk_stated stated[TIES];
	struct usk_graph_back back[CLOCKS];
	struct usk_calm calm[TIES];
	bool tied[TIES];
	int64_t distance[TIES];
	struct usk_work w;
};

static bool is_nearer(struct far a, struct far b)
{
	return a.one_way != b.one_way ? a.one_way < b.one_way
	       : a.wide != b.wide     ? a.wide < b.wide
				      : a.hops < b.hops;
}

static void make(struct net *x, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*x = (struct net){ .seed = seed, .n = 1 + (uint32_t)usk_rng_below(&r, CLOCKS) };
	x->c.n_clocks = x->n;
	x->p = (struct usk_graph_problem){ .reference = USK_NO_CLOCK,
					   .pair = x->pair,
					   .stated = x->stated,
					   .back = x->back,
					   .threads = 1 };
	x->w = (struct usk_work){ .c = &x->c,
				  .p = &x->p,
				  .n_clocks = x->n,
				  .calm = x->calm,
				  .tied = x->tied,
				  .distance = x->distance };
	const size_t ties = x->n > 1 ? usk_rng_below(&r, TIES + 1) : 0;
	for (size_t i = 0; i < ties; i++) {
		const uint32_t a = (uint32_t)usk_rng_below(&r, x->n);
		const uint32_t b = (a + 1 + (uint32_t)usk_rng_below(&r, x->n - 1)) % x->n;
		const bool one_way = !usk_rng_below(&r, 3);
		const int64_t wide = (int64_t)usk_rng_below(&r, 5);
		if (usk_rng_below(&r, 4)) {
			const size_t k = x->p.n_pairs++;
			x->part[k].n[0] = !one_way || wide % 2;
			x->part[k].n[1] = !one_way || !(wide % 2);
			x->pair[k] = (struct usk_graph_pair){ .a = a, .b = b, .part = &x->part[k] };
			x->tied[k] = usk_rng_below(&r, 4);
			x->distance[k] = wide;
			x->calm[k].n_brackets = seed % 2 ? usk_rng_below(&r, 3) : 0;
		} else {
			x->stated[x->p.n_stated++] = (struct usk_stated){
				.from = a, .to = b, .width_ns = one_way ? USK_NONE : wide
			};
		}
	}
	for (uint32_t k = 0; k < x->n && seed % 4 == 1; k++) {
		x->back[k].n = usk_rng_below(&r, 3);
	}
}

/* Of tie i, a pair's or, behind all pairs, a statement's. false: it counts for nothing, or is between others. */
static bool tie_of(const struct net *x, size_t i, uint32_t from, uint32_t to, struct far *by)
{
	const bool pair = i < x->p.n_pairs;
	const struct usk_stated *s = pair ? NULL : &x->stated[i - x->p.n_pairs];
	const uint32_t a = pair ? x->pair[i].a : s->from, b = pair ? x->pair[i].b : s->to;
	const bool one_way = pair ? !x->part[i].n[0] || !x->part[i].n[1] : s->width_ns == USK_NONE;
	*by = (struct far){ one_way, pair ? x->distance[i] : one_way ? 0 : s->width_ns, 1 };
	return ((a == from && b == to) || (a == to && b == from)) && (!pair || x->tied[i]);
}

/* From one clock to each, by whatever way; hops < 0: there is none. */
static void ways_from(const struct net *x, uint32_t from, struct far *far)
{
	for (uint32_t i = 0; i < x->n; i++) {
		far[i] = (struct far){ 0, 0, i == from ? 0 : -1 };
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t a = 0; a < x->n; a++) {
			for (uint32_t b = 0; b < x->n && far[a].hops >= 0; b++) {
				for (size_t i = 0; i < x->p.n_pairs + x->p.n_stated; i++) {
					struct far by;
					const bool tie = tie_of(x, i, a, b, &by);
					by.one_way += far[a].one_way;
					by.wide += far[a].wide;
					by.hops += far[a].hops;
					if (tie && (far[b].hops < 0 || is_nearer(by, far[b]))) {
						far[b] = by;
						more = true;
					}
				}
			}
		}
	}
}

static void test_ways(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct net x;
		struct far far[CLOCKS];
		struct usk_path path[CLOCKS];
		make(&x, seed);
		const uint32_t from = (uint32_t)(seed % x.n);
		ways_from(&x, from, far);
		usk_paths_of(&x.w, from, path);
		for (uint32_t k = 0; k < x.n; k++) {
			const struct usk_path *p = &path[k];
			assert_int_equal(p->reached, far[k].hops >= 0);
			if (k == from || !p->reached) {
				assert_true(p->from == USK_NO_CLOCK && p->pair == UINT32_MAX);
				continue;
			}
			/* Its last step is one of those that are there, and the rest is as near as can be. */
			assert_int_equal(p->hops, far[k].hops);
			bool found = false;
			for (size_t i = 0; i < x.p.n_pairs + x.p.n_stated; i++) {
				struct far by;
				const bool tie = tie_of(&x, i, p->from, k, &by);
				const bool same = p->pair == (i < x.p.n_pairs ? i : UINT32_MAX);
				found = found ||
					(tie && same &&
					 by.one_way + far[p->from].one_way == far[k].one_way &&
					 by.wide + far[p->from].wide == far[k].wide &&
					 1 + far[p->from].hops == far[k].hops);
			}
			assert_true(found);
		}
		/* By hops, then by number; those that no way leads to last. */
		uint32_t *out = usk_paths_outwards(&x.w, path);
		for (uint32_t i = 1; i < x.n; i++) {
			const struct far a = far[out[i - 1]], b = far[out[i]];
			const bool last = b.hops < 0;
			assert_true(a.hops == b.hops ? out[i - 1] < out[i]
						     : last || (a.hops >= 0 && a.hops < b.hops));
		}
		free(out);
	}
}

/* That in which least happened, then the one of which all others are nearest; of these the first. */
static void test_reference(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct net x;
		uint32_t best = 0;
		size_t least = 0;
		struct far nearest = { 0, 0, 0 };
		make(&x, seed);
		for (uint32_t k = 0; k < x.n; k++) {
			struct far far[CLOCKS], sum = { 0, 0, 0 };
			size_t happened = x.back[k].n;
			ways_from(&x, k, far);
			for (uint32_t i = 0; i < x.n; i++) {
				const bool there = far[i].hops >= 0;
				sum.one_way += there ? far[i].one_way : 0;
				sum.hops += there ? far[i].hops : 0;
				sum.wide += there && !far[i].one_way ? far[i].wide : 0;
			}
			for (size_t i = 0; i < x.p.n_pairs; i++) {
				const bool its = x.pair[i].a == k || x.pair[i].b == k;
				happened += x.tied[i] && its && x.calm[i].n_brackets;
			}
			if (!k || happened < least ||
			    (happened == least && is_nearer(sum, nearest))) {
				best = k;
				least = happened;
				nearest = sum;
			}
		}
		assert_int_equal(usk_paths_reference(&x.w), best);
		x.p.reference = x.n - 1;
		assert_int_equal(usk_paths_reference(&x.w), x.n - 1);
	}
}

/* Of very many clocks those with the most partners are asked, wherever they stand. */
static void test_many(void **state)
{
	enum { MANY = 3 * FEW };
	(void)state;
	static struct usk_graph_pair pair[2 * MANY];
	static struct usk_calm calm[2 * MANY];
	static struct usk_part part = { .n = { 1, 1 } };
	static struct usk_graph_back back[MANY];
	static bool tied[2 * MANY];
	static int64_t distance[2 * MANY];
	for (uint32_t hubs = 1; hubs < 4; hubs++) {
		struct usk_graph_problem p = {
			.reference = USK_NO_CLOCK, .pair = pair, .back = back, .threads = 1
		};
		struct usk_clocks c = { .n_clocks = MANY };
		struct usk_work w = { .c = &c,
				      .p = &p,
				      .n_clocks = MANY,
				      .calm = calm,
				      .tied = tied,
				      .distance = distance };
		/* Stars around the last ones, which stand in a row. */
		for (uint32_t i = 0; i + 1 < MANY; i++) {
			const uint32_t middle = MANY - 1 - i % hubs;
			if (middle != i && i < MANY - hubs) {
				pair[p.n_pairs++] = (struct usk_graph_pair){ .a = i,
									     .b = middle,
									     .part = &part };
			} else {
				pair[p.n_pairs++] = (struct usk_graph_pair){ .a = i,
									     .b = i + 1,
									     .part = &part };
			}
			tied[p.n_pairs - 1] = true;
			distance[p.n_pairs - 1] = 1;
		}
		const uint32_t got = usk_paths_reference(&w);
		assert_true(got >= MANY - hubs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ways),
					    cmocka_unit_test(test_reference),
					    cmocka_unit_test(test_many) };
	return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
