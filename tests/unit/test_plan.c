/* SPDX-License-Identifier: MIT */
/* Plans: topologies that are no such thing are refused with their line; forecasts obey what is known
 * of bands without any simulation. That they come true is tests/sim/plan.py. */
#include "../part.h"
#include "plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct usk_network network_of(const char *text)
{
	struct usk_network n = { .min_delay = "0", .max_skew_e12 = 500000000 };
	struct usk_input in;
	struct usk_err err = { 0 };
	usk_input_memory(&in, text, strlen(text));
	assert_int_equal(usk_network_add(&in, &n, &err), USK_OK);
	usk_input_close(&in);
	n.span_ns = INT64_C(600000000000);
	n.wander_e12 = 5000000;
	n.reference = n.clock[0].name;
	return n;
}

static void test_refused(void **state)
{
	static const char *const row[][2] = {
		{ "", "it is empty" },
		{ "a,b,min_ns\n", "line 1: " },
		{ "a,b,min_ns,median_ns\nx,y,5,4\n", "line 2: " },
		{ "a,b,min_ns,median_ns\nx,y,-5,4\n", "line 2: " },
		{ "a,b,min_ns,median_ns\nx,y,5,9223372036854775807\n", "line 2: " },
		{ "a,b,min_ns,median_ns\nx,x,5,6\n",
		  "line 2: a link is of two clocks, not of one" },
		{ "a,b,min_ns,median_ns\n,x,5,6\n", "line 2: a link is of two clocks, a and b" },
		{ "a,b,min_ns,median_ns\nx,y,5,6\n\ny,x,5,6\n", "line 4: there are messages" },
		{ "a,b,min_ns,median_ns,per_second\nx,y,5,6,-1\n", "line 2: per_second" },
		{ "a,b,min_ns,median_ns\n\"x,y,5,6\n", "line 2: a quote is not closed" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct usk_network n = { .n_clocks = 0 };
		struct usk_input in;
		struct usk_err err = { 0 };
		usk_input_memory(&in, row[i][0], strlen(row[i][0]));
		assert_int_equal(usk_network_add(&in, &n, &err), USK_EINPUT);
		assert_memory_equal(err.msg, row[i][1], strlen(row[i][1]));
		usk_input_close(&in);
		usk_network_free(&n);
	}
}

/* A link's delays have the least and the median that were told. */
static void test_delays(void **state)
{
	(void)state;
	struct usk_network n = network_of("b,a,median_ns,x,min_ns\n\"q\"\"1\",y,90000,,20000\n");
	assert_string_equal(n.clock[0].name, "y");
	assert_string_equal(n.clock[1].name, "q\"1");
	for (int k = 0; k < 2; k++) {
		const struct usk_reservoir *d = &n.link[0].way[k].delay_ns;
		assert_in_range(d->value[0], 20000, 20100);
		assert_in_range(d->value[d->n / 2], 89000, 91000);
		assert_int_equal(n.link[0].way[k].n, 0);
		assert_int_equal(n.link[0].way[k].gap_ns.n, 0);
	}
	usk_network_free(&n);
}

/* More round trips make no band wider, and none is narrower than half of the shortest one. */
static void test_narrower(void **state)
{
	(void)state;
	struct usk_network n = network_of("a,b,min_ns,median_ns,per_second\n"
					  "r,x,20000,50000,5\nx,y,10000,90000,2\n");
	struct usk_err err = { 0 };
	int64_t half[3], before[3] = { 0, INT64_MAX, INT64_MAX }, period[2] = { 0 };
	for (int64_t p = INT64_C(4000000000); p > 1000000; p /= cases_are_few() ? 512 : 8) {
		period[0] = period[1] = p;
		assert_int_equal(usk_forecast(&n, period, half, &err), USK_OK);
		assert_int_equal(half[0], 0);
		assert_true(half[1] >= 20000 && half[2] >= 30000 && half[2] > half[1]);
		assert_true(half[1] <= before[1] && half[2] <= before[2]);
		memcpy(before, half, sizeof half);
	}
	usk_network_free(&n);
}

/* The same forecast each time; nothing is known of a clock that no message reaches. */
static void test_same(void **state)
{
	(void)state;
	struct usk_network n =
		network_of("a,b,min_ns,median_ns,per_second\n"
			   "r,x,20000,50000,0.05\ny,z,10000,90000,0.02\nr,q,1,2,0\n");
	struct usk_err err = { 0 };
	int64_t half[5], again[5];
	assert_int_equal(usk_forecast(&n, NULL, half, &err), USK_OK);
	assert_int_equal(usk_forecast(&n, NULL, again, &err), USK_OK);
	assert_memory_equal(half, again, sizeof half);
	assert_true(half[1] > 0);
	for (int k = 2; k < 5; k++) {
		assert_int_equal(half[k], USK_NONE);
	}
	usk_network_free(&n);
}

/* The link of the clock that is worst comes first; what is wanted is reached by the links that are
 * named and by none less, or it is said that it cannot be. */
static void test_wanted(void **state)
{
	(void)state;
	struct usk_network n =
		network_of("a,b,min_ns,median_ns,per_second\n"
			   "r,x,20000,50000,1\nr,y,10000,90000,0.2\nr,z,20000,40000,1\n");
	const int64_t period[] = { INT64_C(10000000000), INT64_C(100000000), INT64_C(1000000) };
	/* Longer, more often, rarer, or in vain is the same once more, for which valgrind takes long. */
	const bool few = cases_are_few();
	n.span_ns = few ? INT64_C(60000000000) : n.span_ns;
	struct usk_plan_options opt = { .period_ns = period,
					.n_periods = few ? 2 : 3,
					.want_ns = 60000 };
	struct usk_plan p;
	struct usk_err err = { 0 };
	assert_int_equal(usk_plan_make(&n, &opt, &p, &err), USK_OK);
	assert_int_equal(p.worst, 2);
	assert_int_equal(p.link[0].link, 1);
	assert_int_equal(p.n_links, 3);
	assert_true(p.reached && p.period_ns[1] && !p.period_ns[0] && !p.period_ns[2]);
	assert_true(p.then_ns[2] <= 60000 && p.now_ns[2] > 60000);
	int64_t half[4], rarer[3] = { 0, p.period_ns[1] * 3 / 2, 0 };
	usk_plan_free(&p);
	if (few) {
		usk_network_free(&n);
		return;
	}
	assert_int_equal(usk_forecast(&n, rarer, half, &err), USK_OK);
	assert_true(half[2] > 60000);
	opt.want_ns = 9000; /* half of the fastest round trip is 10 us */
	assert_int_equal(usk_plan_make(&n, &opt, &p, &err), USK_OK);
	assert_false(p.reached);
	assert_in_range(p.floor_ns[2], 10000, 10100);
	usk_plan_free(&p);
	usk_network_free(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	 cmocka_unit_test(test_delays),
		cmocka_unit_test(test_narrower), cmocka_unit_test(test_same),
		cmocka_unit_test(test_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
