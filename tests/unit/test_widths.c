/* SPDX-License-Identifier: MIT */
/* Widths of bands, and the reference as a clock. */
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
	{ "none", { { 0 } }, 0, { USK_NONE, USK_NONE, USK_NONE, USK_NONE, 0, 0 } },
	{ "one side",
	  { { 0, USK_NONE, 5, USK_NONE, 0 }, { 9, USK_NONE, 5, USK_NONE, 0 } },
	  2,
	  { USK_NONE, USK_NONE, USK_NONE, USK_NONE, 9, 9 } },
	{ "even", { { 0, 0, -10, 10, 0 }, { 9, 0, -10, 10, 0 } }, 2, { 10, 0, 10, 10, 0, 9 } },
	{ "odd is rounded up", { { 0, 0, 0, 1, 0 }, { 9, 0, 0, 1, 0 } }, 2, { 1, 0, 1, 1, 0, 9 } },
	{ "a waist, and more of it on the right",
	  { { -100, 0, -50, 50, 0 }, { 0, 0, -10, 10, 0 }, { 300, 0, -10, 30, 0 } },
	  3,
	  { 10, 0, 50, 19, 0, 400 } }, /* (30 x 100 + 15 x 300)/400 = 18.75 */
	{ "the whole range",
	  { { -USK_TIME_MAX, 0, -USK_TIME_MAX, USK_TIME_MAX, 0 },
	    { USK_TIME_MAX, 0, -USK_TIME_MAX, USK_TIME_MAX, 0 } },
	  2,
	  { USK_TIME_MAX, -USK_TIME_MAX, USK_TIME_MAX, USK_TIME_MAX, 0, INT64_MAX } },
	{ "between epochs is nothing",
	  { { 0, 0, -1, 1, 0 }, { 10, 0, -1, 1, 0 }, { 5, 0, -3, 3, 1 }, { 15, 0, -3, 3, 1 } },
	  4,
	  { 1, 0, 3, 2, 0, 20 } },
	{ "open for a while",
	  { { 0, 0, -1, 1, 0 },
	    { 10, 0, -1, 1, 0 },
	    { 15, 0, -3, USK_NONE, 0 },
	    { 40, 0, -1, 1, 0 } },
	  4,
	  { 1, 0, 1, 1, 30, 40 } },
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
		    w.worst_ns != v.worst_ns || w.mean_ns != v.mean_ns || w.open_ns != v.open_ns ||
		    w.span_ns != v.span_ns) {
			fail_msg("%s: best %lld at %lld, worst %lld, mean %lld, open for %lld of "
				 "%lld",
				 width_cases[i].name, (long long)w.best_ns, (long long)w.best_at_ns,
				 (long long)w.worst_ns, (long long)w.mean_ns, (long long)w.open_ns,
				 (long long)w.span_ns);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_reference),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
