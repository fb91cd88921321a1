/* SPDX-License-Identifier: MIT */
/* Widths of bands, the reference as a clock, smallest delays. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
	const char *name;
	struct usk_knot knot[4];
	size_t n;
	struct usk_widths want;
} width_cases[] = {
	{ "none", { { 0 } }, 0, { USK_NONE, USK_NONE, USK_NONE, USK_NONE } },
	{ "one side",
	  { { 0, USK_NONE, 5, USK_NONE, 0 }, { 9, USK_NONE, 5, USK_NONE, 0 } },
	  2,
	  { USK_NONE, USK_NONE, USK_NONE, USK_NONE } },
	{ "even", { { 0, 0, -10, 10, 0 }, { 9, 0, -10, 10, 0 } }, 2, { 10, 0, 10, 10 } },
	{ "odd is rounded up", { { 0, 0, 0, 1, 0 }, { 9, 0, 0, 1, 0 } }, 2, { 1, 0, 1, 1 } },
	{ "a waist, and more of it on the right",
	  { { -100, 0, -50, 50, 0 }, { 0, 0, -10, 10, 0 }, { 300, 0, -10, 30, 0 } },
	  3,
	  { 10, 0, 50, 19 } }, /* (30 x 100 + 15 x 300)/400 = 18.75 */
	{ "the whole range",
	  { { -USK_TIME_MAX, 0, -USK_TIME_MAX, USK_TIME_MAX, 0 },
	    { USK_TIME_MAX, 0, -USK_TIME_MAX, USK_TIME_MAX, 0 } },
	  2,
	  { USK_TIME_MAX, -USK_TIME_MAX, USK_TIME_MAX, USK_TIME_MAX } },
	{ "between epochs is nothing",
	  { { 0, 0, -1, 1, 0 }, { 10, 0, -1, 1, 0 }, { 5, 0, -3, 3, 1 }, { 15, 0, -3, 3, 1 } },
	  4,
	  { 1, 0, 3, 2 } },
};

static void test_widths(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(width_cases); i++) {
		struct usk_knot knot[4];
		for (size_t j = 0; j < 4; j++) {
			knot[j] = width_cases[i].knot[j];
		}
		struct usk_clock c = { .knot = knot, .n_knots = width_cases[i].n };
		struct usk_widths w = usk_band_widths(&c), v = width_cases[i].want;
		if (w.best_ns != v.best_ns || w.best_at_ns != v.best_at_ns ||
		    w.worst_ns != v.worst_ns || w.mean_ns != v.mean_ns) {
			fail_msg("%s: best %lld at %lld, worst %lld, mean %lld",
				 width_cases[i].name, (long long)w.best_ns, (long long)w.best_at_ns,
				 (long long)w.worst_ns, (long long)w.mean_ns);
		}
	}
}

static void test_reference(void **state)
{
	(void)state;
	static const int64_t cases[][2] = {
		{ 0, 10 },
		{ 5, 5 },
		{ USK_TIME_MAX, USK_TIME_MAX },
		{ -USK_TIME_MAX, USK_TIME_MAX },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_clock c = { .name = NULL };
		usk_clock_reference(&c, cases[i][0], cases[i][1]);
		assert_int_equal(c.quality, USK_REFERENCE);
		assert_int_equal(c.n_knots, 2);
		assert_true(c.knot[0].local_ns < c.knot[1].local_ns);
		assert_true(c.knot[0].local_ns <= cases[i][0] && c.knot[1].local_ns >= cases[i][1]);
		for (int k = 0; k < 2; k++) {
			assert_true(!c.knot[k].offset_ns && !c.knot[k].lo_ns && !c.knot[k].hi_ns);
		}
		assert_int_equal(usk_band_widths(&c).worst_ns, 0);
		free(c.knot);
	}
}

static void test_min_delays(void **state)
{
	(void)state;
	/* b is 1000 ahead; fastest 30 there, 40 back, at the same rate */
	static const struct usk_msg msg[] = {
		{ 100, 1130, 0, 1, 0 }, { 200, 1290, 0, 1, 0 }, { 900, 1930, 0, 1, 0 },
		{ 1140, 180, 1, 0, 0 }, { 1300, 400, 1, 0, 0 }, { 1900, 940, 1, 0, 0 },
	};
	struct usk_frame f = { 0, 0, 0, 400000 };
	struct usk_corridor *k = usk_corridor_new(&f);
	assert_int_equal(usk_corridor_add(k, 0, 1, msg, COUNT(msg), NULL), USK_OK);
	struct usk_lines *l = usk_lines_new(k, 0, 0, 500000000);
	struct usk_fit fit = {
		.corridor = k, .lines = l, .first_local_ns = 1000, .last_local_ns = 2000
	};
	struct usk_clock c;
	assert_int_equal(usk_fit_linear(&fit, usk_estimator_find("support"), &c, NULL), USK_OK);
	int64_t there, back;
	usk_min_delays(&c, k, &there, &back);
	assert_int_equal(there, 35); /* the middle of the two, as nothing tells them apart */
	assert_int_equal(back, 35);
	free(c.knot);
	c.n_knots = 0;
	usk_min_delays(&c, k, &there, &back);
	assert_true(there == USK_NONE && back == USK_NONE);
	usk_lines_free(l);
	usk_corridor_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_min_delays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
