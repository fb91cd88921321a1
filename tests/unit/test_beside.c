/* SPDX-License-Identifier: MIT */
/* test_beside.c - what each clock of a bracket may have done in it, bracket by bracket; and what two clocks really did */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOCKS = 4, PAIRS = CLOCKS * (CLOCKS - 1) / 2, MOST = 12 };

/* Stands for what is unknown; so many of it can be added. */
#define NOBODY_KNOWS ((int64_t)1 << 40)

struct net {
	uint64_t seed;
	struct usk_work w;
	struct usk_seen seen[MOST];
};

static int64_t between(struct usk_rng *r, int64_t least, int64_t most)
{
	return least + (int64_t)usk_rng_below(r, (uint64_t)(most - least + 1));
}

static void clocks_of(uint32_t pair, struct usk_seen *s)
{
	uint32_t n = 0;
	for (uint32_t a = 0; a < CLOCKS; a++) {
		for (uint32_t b = a + 1; b < CLOCKS; b++) {
			if (n++ == pair) {
				s->a = a;
				s->b = b;
			}
		}
	}
	s->pair = pair;
}

static struct usk_seen *add(struct net *x, uint32_t pair, int64_t from, int64_t to)
{
	struct usk_seen *s = &x->seen[x->w.n_seen++];
	*s = (struct usk_seen){ .at = { .a0_ns = from, .a1_ns = to, .b0_ns = from, .b1_ns = to } };
	clocks_of(pair, s);
	return s;
}

static void begin(struct net *x, uint64_t seed)
{
	*x = (struct net){ .seed = seed };
	x->w.n_clocks = CLOCKS;
	x->w.seen = x->seen;
}

/* Anything, unknown sizes and open ends among them. */
static void make(struct net *x, struct usk_rng *r)
{
	for (int64_t n = between(r, 1, MOST); n; n--) {
		int64_t from = between(r, 0, 40);
		struct usk_seen *s = add(x, (uint32_t)usk_rng_below(r, PAIRS), from, 0);
		struct usk_bracket *b = &s->at;
		b->a1_ns = from + between(r, 0, 10);
		b->b0_ns = usk_rng_below(r, 10) ? from + between(r, -2, 2) : INT64_MIN;
		b->b1_ns = usk_rng_below(r, 10) ? b->a1_ns + between(r, 3, 5) : INT64_MAX;
		b->rises = usk_rng_below(r, 2);
		b->step = usk_rng_below(r, 2);
		b->both = !usk_rng_below(r, 5);
		b->returned = !usk_rng_below(r, 8);
		b->doubted = !usk_rng_below(r, 6);
		b->least_ns = between(r, -30, 30);
		b->most_ns = b->least_ns + between(r, 0, 9);
		b->least_ns = usk_rng_below(r, 5) ? b->least_ns : USK_NONE;
		b->most_ns = usk_rng_below(r, 5) ? b->most_ns : USK_NONE;
	}
}

static bool sized(const struct usk_bracket *x)
{
	return x->least_ns != USK_NONE && x->most_ns != USK_NONE;
}

/* How far T of clock k rose, at most with `most`, else at least, by what pair `pair` shows at the time of s, all of it k's. */
static int64_t shown(const struct net *x, const struct usk_seen *s, uint32_t k, uint32_t pair,
		     bool most)
{
	const int64_t from = s->b == k ? s->at.b0_ns : s->at.a0_ns;
	const int64_t to = s->b == k ? s->at.b1_ns : s->at.a1_ns;
	int64_t sum = 0;
	for (size_t i = 0; i < x->w.n_seen; i++) {
		const struct usk_seen *t = &x->seen[i];
		const struct usk_bracket *b = &t->at;
		const int64_t begins = t->b == k ? b->b0_ns : b->a0_ns;
		const int64_t ends = t->b == k ? b->b1_ns : b->a1_ns;
		if (t->pair != pair || b->doubted || (t->a != k && t->b != k) || begins > to ||
		    ends < from) {
			continue;
		}
		/* The offset rises with T of b, and falls with that of a. */
		const bool its_most = most == (t->b == k);
		const bool any = b->both || b->returned;
		int64_t size = its_most ? b->most_ns : b->least_ns;
		if (size == USK_NONE) {
			size = any || b->rises == its_most ? NOBODY_KNOWS : 0;
			size = its_most ? size : -size;
		}
		sum += t->b == k ? size : -size;
	}
	return sum;
}

static int64_t farthest(const struct net *x, const struct usk_seen *s, uint32_t k, bool most)
{
	int64_t all = 0;
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		const int64_t sum = pair == s->pair ? 0 : shown(x, s, k, pair, most);
		all = most == (sum > all) ? sum : all;
	}
	return all;
}

static void check_size(const struct net *x, int64_t is, int64_t expected)
{
	const bool known = llabs(expected) < NOBODY_KNOWS / 2;
	CHECK(is == (known ? expected : USK_NONE), x);
}

static void test_sizes(void **state)
{
	(void)state;
	size_t other = 0;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct usk_rng r;
		struct net x;
		usk_rng_seed(&r, seed);
		begin(&x, seed);
		make(&x, &r);
		usk_beside(&x.w);
		for (size_t i = 0; i < x.w.n_seen; i++) {
			const struct usk_seen *s = &x.seen[i];
			const struct usk_bracket *b = &s->at;
			const struct usk_bracket of[] = { usk_seen_of(s, s->a),
							  usk_seen_of(s, s->b) };
			if (b->step || b->doubted || !sized(b)) {
				for (int k = 0; k < 2; k++) {
					CHECK(of[k].least_ns == b->least_ns, &x);
					CHECK(of[k].most_ns == b->most_ns, &x);
					CHECK(of[k].both == b->both, &x);
				}
				continue;
			}
			check_size(&x, of[0].least_ns, b->least_ns - farthest(&x, s, s->b, true));
			check_size(&x, of[0].most_ns, b->most_ns - farthest(&x, s, s->b, false));
			check_size(&x, of[1].least_ns, b->least_ns + farthest(&x, s, s->a, false));
			check_size(&x, of[1].most_ns, b->most_ns + farthest(&x, s, s->a, true));
			for (int k = 0; k < 2; k++) {
				const bool same = of[k].least_ns == b->least_ns &&
						  of[k].most_ns == b->most_ns;
				const bool any =
					of[k].least_ns == USK_NONE && of[k].most_ns == USK_NONE;
				CHECK(of[k].both == (b->both || any), &x);
				CHECK(of[k].once_ns == (same ? b->once_ns : USK_NONE), &x);
				other += !same;
			}
		}
	}
	assert_true(other > case_count(20000) / 2);
}

/* Two clocks are set within one bracket of theirs, and some of their other pairs show one or the other. */
static void test_two_clocks(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct usk_rng r;
		struct net x;
		int64_t jump[CLOCKS] = { 0 }, at[CLOCKS] = { 0 };
		usk_rng_seed(&r, seed);
		begin(&x, seed);
		const uint32_t first = (uint32_t)usk_rng_below(&r, PAIRS);
		struct usk_seen two;
		clocks_of(first, &two);
		const uint32_t set[] = { two.a, two.b };
		for (int k = 0; k < 2; k++) {
			jump[set[k]] = between(&r, -1000, 1000);
			at[set[k]] = between(&r, 0, 100);
		}
		for (uint32_t pair = 0; pair < PAIRS; pair++) {
			struct usk_seen *s =
				add(&x, pair, -between(&r, 0, 20), 100 + between(&r, 0, 20));
			struct usk_bracket *b = &s->at;
			if (!jump[s->a] && !jump[s->b]) {
				x.w.n_seen--;
				continue;
			}
			const uint32_t by = jump[s->a] ? s->a : s->b;
			if (pair != first) {
				b->a0_ns = b->b0_ns = at[by] - between(&r, 0, 20);
				b->a1_ns = b->b1_ns = at[by] + between(&r, 0, 20);
				b->step = usk_rng_below(&r, 2);
			}
			const int64_t net = jump[s->b] - jump[s->a];
			b->rises = net > 0;
			b->least_ns = net - between(&r, 0, 50);
			b->most_ns = net + between(&r, 0, 50);
			b->least_ns = b->step && b->rises ? USK_NONE : b->least_ns;
		}
		usk_beside(&x.w);
		for (size_t i = 0; i < x.w.n_seen; i++) {
			const struct usk_seen *s = &x.seen[i];
			const struct usk_bracket a = usk_seen_of(s, s->a), b = usk_seen_of(s, s->b);
			if (s->pair != first) {
				continue;
			}
			CHECK(a.least_ns == USK_NONE || a.least_ns <= -jump[s->a], &x);
			CHECK(a.most_ns == USK_NONE || a.most_ns >= -jump[s->a], &x);
			CHECK(b.least_ns == USK_NONE || b.least_ns <= jump[s->b], &x);
			CHECK(b.most_ns == USK_NONE || b.most_ns >= jump[s->b], &x);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sizes),
					    cmocka_unit_test(test_two_clocks) };
	return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
