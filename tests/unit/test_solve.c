/* SPDX-License-Identifier: MIT */
/*
 * Many clocks whose truth is known: bands hold it, messages are in order, joint is never wider than
 * tree, and one clock that misbehaves does not spoil the others.
 */
#include "cases.h"
#include "knots.h"
#include "mesh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHECK_AT(cond, m)                                                                          \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("seed %llu, shape %d: %s", (unsigned long long)(m)->o.seed,       \
				 (int)(m)->o.shape, #cond);                                        \
		}                                                                                  \
	} while (0)

enum { MOMENTS = 37 };

static struct mesh_options options(uint64_t seed, enum mesh_shape shape)
{
	return (struct mesh_options){ .seed = seed,
				      .shape = shape,
				      .clocks = 2 + seed % 7,
				      .seconds = 20,
				      .rate = 1 + (double)(seed % 3) * 4,
				      .least_ns = seed % 4 ? 39000 : 0,
				      .tail_ns = 200000,
				      .drift_ppm = 50,
				      .q_ns = seed % 5 == 0 ? 1000 : 0,
				      .model = "linear" };
}

static void wander(struct mesh_options *o)
{
	o->model = "wander";
	o->sway_ppm = 0.02;
}

static void solve(struct mesh *m, bool tree)
{
	struct usk_err err = { 0 };
	if (mesh_solve(m, tree, USK_NO_CLOCK, &err)) {
		fail_msg("seed %llu: %s", (unsigned long long)m->o.seed, err.msg);
	}
}

/* The bands of two answers, clock by clock. */
static bool no_wider(const struct mesh *m, const struct usk_clocks *than, int64_t slack)
{
	for (size_t i = 0; i < m->answer->n_clocks; i++) {
		struct usk_map *is = usk_map_new(&m->answer->clock[i], m->answer->max_skew_e12);
		struct usk_map *was = usk_map_new(&than->clock[i], m->answer->max_skew_e12);
		bool good = is || !was;
		for (int64_t k = 0; is && was && k <= MOMENTS && good; k++) {
			int64_t run = m->span[i].last_ns - m->span[i].first_ns;
			int64_t x = m->span[i].first_ns + run / MOMENTS * k;
			struct usk_stamp a, b;
			good = !usk_map_at(is, x, &a, NULL) && !usk_map_at(was, x, &b, NULL) &&
			       (b.lo_ns == USK_NONE || a.lo_ns >= b.lo_ns - slack) &&
			       (b.hi_ns == USK_NONE || a.hi_ns <= b.hi_ns + slack);
		}
		usk_map_free(is);
		usk_map_free(was);
		if (!good) {
			return false;
		}
	}
	return true;
}

static struct usk_clocks *take(struct mesh *m)
{
	struct usk_clocks *c = m->answer;
	m->answer = NULL;
	return c;
}

static void check_answer(const struct mesh *m)
{
	int64_t worst;
	CHECK_AT(mesh_truth_in_band(m, MOMENTS), m);
	CHECK_AT(mesh_inversions(m, &worst) == 0, m);
}

static void test_every_shape(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(10); seed++) {
		for (enum mesh_shape shape = 0; shape < MESH_SHAPES; shape++) {
			struct mesh m;
			struct mesh_options o = options(seed, shape);
			if (seed % 2) {
				wander(&o);
			}
			mesh_make(&m, &o);
			mesh_fit(&m);
			solve(&m, true);
			check_answer(&m);
			struct usk_clocks *tree = take(&m);
			for (int paths = seed % 2; paths < 2; paths++) {
				m.o.paths = paths;
				solve(&m, false);
				check_answer(&m);
				bool same =
					tree->island[0].reference == m.answer->island[0].reference;
				CHECK_AT(!same || no_wider(&m, tree, 2), &m);
			}
			usk_clocks_free(tree);
			mesh_free(&m);
		}
	}
}

static size_t bounded(const struct usk_clocks *c)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_clocks; i++) {
		n += c->clock[i].quality == USK_BOUNDED;
	}
	return n;
}

/* Nobody answers, but messages go round: joint bounds every clock, tree none. */
static void test_one_way_round(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct mesh m;
		struct mesh_options o = options(seed, MESH_RING_ONE_WAY);
		o.clocks = 3 + seed % 4;
		if (seed % 2) {
			wander(&o);
		}
		mesh_make(&m, &o);
		mesh_fit(&m);
		solve(&m, true);
		CHECK_AT(bounded(m.answer) == 0, &m);
		for (int paths = 0; paths < 2; paths++) {
			m.o.paths = paths;
			solve(&m, false);
			CHECK_AT(bounded(m.answer) == o.clocks - 1, &m);
			check_answer(&m);
		}
		mesh_free(&m);
	}
}

/* ---- who is to blame --------------------------------------------------------------------- */

static void drop_clock(struct mesh *m, uint32_t i)
{
	size_t n = 0;
	for (size_t k = 0; k < m->n_msgs; k++) {
		if (m->msg[k].from != i && m->msg[k].to != i) {
			m->msg[n++] = m->msg[k];
		}
	}
	m->n_msgs = n;
}

static bool noted(const struct usk_clocks *c, const char *text)
{
	for (size_t i = 0; i < c->n_notes; i++) {
		if (strstr(c->note[i], text)) {
			return true;
		}
	}
	return false;
}

/* All others as if it were not there. */
static void check_blamed(struct mesh *m, uint32_t guilty, const struct usk_clocks *without)
{
	char *sentence = usk_format("c%u is the odd one out", guilty);
	CHECK_AT(noted(m->answer, sentence), m);
	CHECK_AT(m->answer->clock[guilty].quality == USK_CONTRADICTED, m);
	CHECK_AT(bounded(m->answer) == m->o.clocks - 2, m);
	CHECK_AT(no_wider(m, without, 1), m); /* an estimate's bends are knots of the band, too */
	free(sentence);
}

static struct usk_clocks *solved_without(const struct mesh_options *o, uint32_t i)
{
	struct mesh m;
	mesh_make(&m, o);
	drop_clock(&m, i);
	mesh_fit(&m);
	solve(&m, false);
	struct usk_clocks *c = take(&m);
	mesh_free(&m);
	return c;
}

static void test_stepped_clock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct mesh m;
		struct mesh_options o = options(seed, MESH_FULL);
		o.clocks = 10;
		o.q_ns = 0;
		o.stepper = (uint32_t)(seed * 3 % 10);
		o.step_ns = 40e6;
		mesh_make(&m, &o);
		mesh_fit(&m);
		solve(&m, false);
		struct usk_clocks *without = solved_without(&o, o.stepper);
		check_blamed(&m, o.stepper, without);
		usk_clocks_free(without);
		mesh_free(&m);
	}
}

/* A clock that shows everybody another time: each pair agrees with itself, no three clocks do. */
static void test_two_faced_clock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct mesh m;
		struct mesh_options o = options(seed, MESH_FULL);
		uint32_t guilty = (uint32_t)(seed % 5);
		o.clocks = 5;
		o.q_ns = 0;
		mesh_make(&m, &o);
		for (size_t k = 0; k < m.n_msgs; k++) {
			struct usk_msg *g = &m.msg[k];
			if (g->from == guilty) {
				g->sent_ns += g->to * INT64_C(3000000);
			} else if (g->to == guilty) {
				g->received_ns += g->from * INT64_C(3000000);
			}
		}
		mesh_fit(&m);
		m.o.paths = seed % 2;
		solve(&m, false);
		struct usk_clocks *without = solved_without(&m.o, guilty);
		check_blamed(&m, guilty, without);
		size_t named = 0;
		for (size_t i = 0; i < m.answer->n_pairs; i++) {
			named += m.answer->pair[i].n_contradiction;
		}
		CHECK_AT(named >= 3, &m);
		usk_clocks_free(without);
		mesh_free(&m);
	}
}

/* Three clocks, one of which must be wrong: nobody can tell which. */
static void test_nobody_to_blame(void **state)
{
	(void)state;
	struct mesh m;
	struct mesh_options o = options(3, MESH_FULL);
	o.clocks = 3;
	mesh_make(&m, &o);
	for (size_t k = 0; k < m.n_msgs; k++) {
		struct usk_msg *g = &m.msg[k];
		bool between = g->from + g->to == 3; /* 1 and 2 */
		g->sent_ns += between && g->from == 1 ? INT64_C(5000000) : 0;
		g->received_ns += between && g->to == 1 ? INT64_C(5000000) : 0;
	}
	mesh_fit(&m);
	solve(&m, false);
	CHECK_AT(noted(m.answer, "no clock alone is to blame"), &m);
	CHECK_AT(bounded(m.answer) == 2, &m);
	mesh_free(&m);
}

/* ---- which came first ----------------------------------------------------------------------- */

static int64_t stamp(const struct mesh *m, size_t i, long double t)
{
	return (int64_t)floorl(mesh_shows(&m->clock[i], t));
}

/* What is said of two events is true, also of clocks that never talk; and much is said. */
static void test_before(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 7);
	size_t asked = 0, said = 0;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct mesh m;
		struct mesh_options o = options(seed, seed % 2 ? MESH_CHAIN : MESH_SPARSE);
		o.clocks = 7;
		o.q_ns = 0;
		if (seed % 3) {
			wander(&o);
		}
		mesh_make(&m, &o);
		mesh_fit(&m);
		solve(&m, false);
		struct usk_map *map[7];
		for (size_t i = 0; i < o.clocks; i++) {
			map[i] = usk_map_new(&m.answer->clock[i], m.answer->max_skew_e12);
		}
		for (int k = 0; k < 1000; k++) {
			size_t i = usk_rng_below(&r, o.clocks), j = usk_rng_below(&r, o.clocks);
			double near = k % 2 ? 3e5 : o.seconds * 1e9;
			long double t = usk_rng_unit(&r) * o.seconds * 1e9;
			long double u = t + (2 * usk_rng_unit(&r) - 1) * near;
			struct usk_stamp a, b;
			int64_t margin;
			CHECK_AT(!usk_map_at(map[i], stamp(&m, i, t), &a, NULL), &m);
			CHECK_AT(!usk_map_at(map[j], stamp(&m, j, u), &b, NULL), &m);
			enum usk_order order = usk_before(&a, &b, &margin);
			CHECK_AT(order != USK_BEFORE || (t < u && margin > 0), &m);
			CHECK_AT(order != USK_NOT_BEFORE || (t > u && margin > 0), &m);
			CHECK_AT(order != USK_UNDECIDABLE || margin >= 0, &m);
			said += order != USK_UNDECIDABLE;
			asked++;
		}
		for (size_t i = 0; i < o.clocks; i++) {
			usk_map_free(map[i]);
		}
		mesh_free(&m);
	}
	assert_int_equal(asked, 10000);
	assert_true(said > asked / 2);
}

/* ---- the same every time -------------------------------------------------------------------- */

static bool same_clocks(const struct usk_clocks *a, const struct usk_clocks *b)
{
	bool same = true;
	for (size_t i = 0; i < a->n_clocks; i++) {
		size_t n = a->clock[i].n_knots;
		same = same && n == b->clock[i].n_knots &&
		       same_knots(a->clock[i].knot, b->clock[i].knot, n);
	}
	return same;
}

static void test_threads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct mesh m;
		struct mesh_options o = options(seed, MESH_SPARSE);
		o.clocks = 9;
		o.paths = seed % 2;
		o.threads = 1;
		mesh_make(&m, &o);
		mesh_fit(&m);
		solve(&m, false);
		struct usk_clocks *alone = take(&m);
		m.o.threads = 4;
		solve(&m, false);
		CHECK_AT(same_clocks(alone, m.answer), &m);
		usk_clocks_free(alone);
		mesh_free(&m);
	}
}

/* Two clocks need no more than their pair: the answer is its own. */
static void test_two_clocks(void **state)
{
	(void)state;
	struct mesh m;
	struct mesh_options o = options(1, MESH_FULL);
	o.clocks = 2;
	mesh_make(&m, &o);
	mesh_fit(&m);
	solve(&m, false);
	const struct usk_clock *k = &m.answer->clock[1];
	assert_int_equal(m.answer->clock[0].quality, USK_REFERENCE);
	assert_int_equal(k->n_knots, m.fitted[0].n_knots);
	assert_true(same_knots(k->knot, m.fitted[0].knot, k->n_knots));
	assert_true(k->drift_ppm == m.fitted[0].drift_ppm);
	assert_int_equal(k->n_path, 2);
	assert_string_equal(m.answer->how, "pairs");
	mesh_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shape),	cmocka_unit_test(test_one_way_round),
		cmocka_unit_test(test_stepped_clock),	cmocka_unit_test(test_two_faced_clock),
		cmocka_unit_test(test_nobody_to_blame), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_before),		cmocka_unit_test(test_two_clocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
