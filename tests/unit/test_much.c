/* SPDX-License-Identifier: MIT */
/*
 * test_much.c - which of very many messages become edges of the graph (graph/messages.c)
 *
 * Of each stretch of time the first that says most, all near brackets, none that is an outlier or
 * that a minimum delay moves over a time that may have been shown twice: by looking at each stretch
 * again for each point.
 */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START  INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)

enum { POINTS = 70000, BRACKETS = 8, MOVED = 2000 };

struct much {
	struct usk_part part;
	struct usk_calm calm;
	struct usk_bracket bracket[BRACKETS];
	struct usk_suspect outlier[3];
	struct usk_break brk[2];
	struct usk_clock clock[2];
	struct usk_clocks clocks;
	struct usk_graph_pair pair;
	struct usk_graph_problem problem;
	struct usk_work w;
	bool tied;
};

static int64_t below(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, (uint64_t)n);
}

/* Some 10,000 s; levels are few, so that many are equal. */
static void make_points(struct much *m, size_t n, struct usk_rng *r)
{
	m->part.frame = (struct usk_frame){ .local_ns = START,
					    .offset_ns = 5000,
					    .rate_e12 = below(r, 9) * 125000 };
	m->part.moved_ns = usk_rng_below(r, 2) ? MOVED : 0;
	for (int side = 0; side < 2; side++) {
		struct usk_xy *p = m->part.point[side] = usk_alloc(n, sizeof *p);
		int64_t x = below(r, SECOND);
		for (size_t i = 0; i < n; i++) {
			p[i] = (struct usk_xy){ x, -below(r, 20) * 1000 };
			x += usk_rng_below(r, 20) ? below(r, SECOND / 4) : 0;
		}
		m->part.n[side] = n;
		m->part.q_ns[side] = below(r, 3);
	}
}

static void make(struct much *m, size_t n, struct usk_rng *r)
{
	memset(m, 0, sizeof *m);
	make_points(m, n, r);
	for (int i = 0; i < 2; i++) {
		m->clock[i].resolution_ns = below(r, 4);
		int64_t at = START + m->part.point[0][usk_rng_below(r, n)].x;
		m->brk[i] = (struct usk_break){ .clock = (uint32_t)i,
						.from_ns = at + 5000,
						.to_ns = at + 5000 + below(r, 9 * MOVED),
						.up = usk_rng_below(r, 4) > 0 };
	}
	/* Its margin ends at a point, or 1 ns from it. */
	m->calm.n_brackets = usk_rng_below(r, BRACKETS + 1);
	m->calm.bracket = m->bracket;
	for (size_t i = 0; i < m->calm.n_brackets; i++) {
		int64_t at = START + m->part.point[1][usk_rng_below(r, n)].x + below(r, 3) - 1;
		bool begins = usk_rng_below(r, 2);
		m->bracket[i].b0_ns =
			begins ? at + USK_MARGIN_NS : at - USK_MARGIN_NS - below(r, SECOND);
		m->bracket[i].b1_ns =
			begins ? at + USK_MARGIN_NS + below(r, SECOND) : at - USK_MARGIN_NS;
	}
	m->calm.outlier = m->outlier;
	for (size_t i = 0; usk_rng_below(r, 2) && i < COUNT(m->outlier); i++) {
		int side = (int)usk_rng_below(r, 2);
		m->outlier[m->calm.n_outliers++] = (struct usk_suspect){
			.point = usk_part_recorded(&m->part,
						   m->part.point[side][usk_rng_below(r, n)], side),
			.ceiling = side
		};
	}
	m->tied = true;
	m->clocks = (struct usk_clocks){ .clock = m->clock, .n_clocks = 2 };
	m->pair = (struct usk_graph_pair){ .a = 0, .b = 1, .part = &m->part };
	m->problem = (struct usk_graph_problem){
		.model = { .kind = USK_WANDER, .wander_e12 = 1000 }, .pair = &m->pair, .n_pairs = 1
	};
	m->w = (struct usk_work){ .c = &m->clocks,
				  .p = &m->problem,
				  .calm = &m->calm,
				  .tied = &m->tied,
				  .n_clocks = 2,
				  .brk = m->brk,
				  .n_breaks = 2 };
}

static void much_free(struct much *m)
{
	free(m->part.point[0]);
	free(m->part.point[1]);
}

static bool is_near(const struct much *m, int64_t b)
{
	bool found = false;
	for (size_t i = 0; i < m->calm.n_brackets; i++) {
		found = found || !(b < m->bracket[i].b0_ns - USK_MARGIN_NS ||
				   b > m->bracket[i].b1_ns + USK_MARGIN_NS);
	}
	return found;
}

/* The first of those that say most in its stretch of time, among those that no bracket is near. */
static bool says_most(const struct much *m, int side, size_t at, usk_i128 length)
{
	const struct usk_xy *p = m->part.point[side];
	const int64_t rate = side ? -m->part.frame.rate_e12 : m->part.frame.rate_e12;
	usk_i128 x = (usk_i128)p[at].x - p[0].x, own = (usk_i128)p[at].y * USK_E12 - x * rate;
	for (size_t step = 0; step < 2; step++) {
		for (size_t i = at + step; step ? i < m->part.n[side] : i-- > 0; i += step) {
			usk_i128 d = (usk_i128)p[i].x - p[0].x,
				 level = (usk_i128)p[i].y * USK_E12 - d * rate;
			if (d / length != x / length) {
				break;
			}
			if (i != at && (level > own || (level == own && i < at)) &&
			    !is_near(m, START + p[i].x)) {
				return false;
			}
		}
	}
	return true;
}

static bool is_left_out(const struct much *m, int side, int64_t a, int64_t b)
{
	for (size_t i = 0; i < m->calm.n_outliers; i++) {
		const struct usk_suspect *s = &m->outlier[i];
		if (s->ceiling == side && s->point.local_ns == b &&
		    s->point.local_ns + s->point.offset_ns == a) {
			return true;
		}
	}
	for (int64_t t = a - MOVED; m->part.moved_ns && t < a + MOVED; t++) {
		/* Between t and the next ns, on the side of the other stamp. */
		bool its = side ? t >= a : t < a;
		if (its && m->brk[0].up && t >= m->brk[0].from_ns && t < m->brk[0].to_ns) {
			return true;
		}
	}
	return false;
}

static void check(const struct much *m, const struct usk_constraints *c, usk_i128 share)
{
	size_t n = 0;
	for (int side = 0; side < 2; side++) {
		const struct usk_xy *p = m->part.point[side];
		size_t all = m->part.n[side], most = (size_t)(all * share / USK_ALL);
		most = most < 16 ? 16 : most;
		usk_i128 length = ((usk_i128)p[all - 1].x - p[0].x) / (usk_i128)most + 1;
		for (size_t i = 0; i < all; i++) {
			if (all > most && !is_near(m, START + p[i].x) &&
			    !says_most(m, side, i, length)) {
				continue;
			}
			struct usk_point r = usk_part_recorded(&m->part, p[i], side);
			int64_t b = r.local_ns, a = b + r.offset_ns;
			if (is_left_out(m, side, a, b)) {
				continue;
			}
			assert_true(n < c->n);
			const struct usk_constraint *row = &c->row[n++];
			const int64_t q = m->clock[!side].resolution_ns;
			assert_int_equal(row->from, side);
			assert_int_equal(row->to, !side);
			assert_int_equal(row->from_ns, side ? b : a);
			assert_int_equal(row->to_ns, (side ? a : b) + (q > 1 ? q : 0));
		}
	}
	assert_int_equal(n, c->n);
}

static void test_much(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(16); seed < case_end(16); seed++) {
		struct usk_rng r;
		struct much m;
		struct usk_constraints c = { NULL, 0, 0 };
		usk_rng_seed(&r, seed);
		size_t n = seed % 3 ? POINTS + (size_t)below(&r, POINTS) : 100;
		make(&m, n, &r);
		/* No more than 2^18 events, two of each message. */
		usk_i128 share = usk_messages_share(&m.w);
		assert_true(4 * n <= 1 << 18 ? share == USK_ALL
					     : share == (usk_i128)USK_ALL * (1 << 18) / (4 * n));
		usk_source_messages(&m.w, &c);
		check(&m, &c, share);
		free(c.row);
		much_free(&m);
	}
}

/* More clocks, and more wander, more events; straight clocks have all. */
static void test_share(void **state)
{
	(void)state;
	struct usk_part part = { .n = { 1000000, 1000000 } };
	struct usk_graph_pair pair = { .b = 1, .part = &part };
	bool tied = true;
	struct usk_graph_problem p = { .model = { .kind = USK_WANDER },
				       .pair = &pair,
				       .n_pairs = 1 };
	struct usk_work w = { .p = &p, .n_clocks = 2, .tied = &tied };
	const struct {
		int64_t wander_e12;
		size_t n_clocks;
		int most;
	} cases[] = { { 0, 2, 262144 },	       { 1000000, 2, 262144 }, { 1000001, 2, 524288 },
		      { 0, 170, 262144 },      { 0, 171, 262656 },     { 2000000, 341, 524288 },
		      { 2000000, 342, 525312 } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		p.model.wander_e12 = cases[i].wander_e12;
		w.n_clocks = cases[i].n_clocks;
		assert_int_equal(usk_messages_share(&w),
				 (usk_i128)cases[i].most * USK_ALL / 4000000);
	}
	p.model.kind = USK_LINEAR;
	assert_int_equal(usk_messages_share(&w), USK_ALL);
	tied = false;
	p.model.kind = USK_WANDER;
	assert_int_equal(usk_messages_share(&w), USK_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_much),
					    cmocka_unit_test(test_share) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
