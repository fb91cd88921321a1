/* SPDX-License-Identifier: MIT */
/* This machine's clocks: figures of samples, and compensation on a clock whose reads cost what is
 * written down. */
#include "clock/clock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want)))) {
		fail_msg("%.12g, wanted %.12g", got, want);
	}
}

static void test_figures(void **state)
{
	(void)state;
	struct samples s = { .n = 0 };
	assert_true(isnan(samples_figures(&s).mean));
	for (int i = 1; i <= 1000; i++) {
		samples_add(&s, (i * 7919) % 1000 + 1e9); /* a permutation, far from 0 */
	}
	struct figures f = samples_figures(&s);
	near(f.mean, 1e9 + 499.5);
	near(f.trimmed, 1e9 + 499.5);
	near(f.deviation, sqrt((1e6 - 1) / 12));
	near(f.min, 1e9);
	near(f.max, 1e9 + 999);
	near(f.median, 1e9 + 500);
	near(f.p99, 1e9 + 989);
	assert_int_equal(f.octave[29], 1000);
	uint64_t binned = 0;
	for (int i = 0; i < BINS; i++) {
		assert_true(f.bin[i] == 30 || f.bin[i] == 31);
		binned += f.bin[i];
	}
	assert_true(binned == 980);
	near(f.bins_from + BINS * f.bin_width, 1e9 + 989);
	/* 1 % at either end says nothing of the trimmed mean. */
	for (int i = 0; i < 100; i++) {
		samples_add(&s, i == 0 ? -1e6 : i == 1 ? 1e9 : 5);
	}
	f = samples_figures(&s);
	near(f.trimmed, 5);
	assert_true(f.bins_from == 5 && f.bin_width == 0 && f.bin[0] == 98);
	assert_int_equal(f.octave[0] + f.octave[2], 99); /* what is under 1 counts as under 2 */
}

static void test_correlation(void **state)
{
	(void)state;
	const double a[] = { 1, 2, 3, 4 }, b[] = { 2, 4, 6, 8 }, c[] = { 4, 3, 2, 1 };
	const double d[] = { 1, -1, -1, 1 }, e[] = { 3, 3, 3, 3 };
	near(samples_correlation(a, b, 4), 1);
	near(samples_correlation(a, c, 4), -1);
	near(samples_correlation(a, d, 4), 0);
	assert_true(isnan(samples_correlation(a, e, 4)));
}

/* Each read costs the next of these; the work between costs WORK. */
static int64_t clock_now;
static size_t reads;
static const int64_t cost[] = { 20, 30, 50, 40 };

static int64_t scripted(const struct source *s)
{
	(void)s;
	int64_t shown = clock_now;
	clock_now += cost[reads++ % COUNT(cost)];
	return shown;
}

/* Costs repeat in fours: T_1 = 20, then 30 is lost before the work, T_4 = 50. */
static void test_compensation(void **state)
{
	(void)state;
	enum { WORK = 1000, RUNS = 50 };
	const struct source s = { .read = scripted, .ns_per_tick = 0.5 };
	struct runs r;
	runs_begin(&r, &s, false);
	for (int i = 0; i < RUNS; i++) {
		runs_before(&r);
		clock_now += WORK;
		runs_after(&r);
	}
	const double want[] = { [RAW] = 1030, [LONG_TERM] = 1030 - 35, [METHOD_1] = 1030 - 35 };
	for (int c = RAW; c <= METHOD_1; c++) {
		struct samples net = { .n = 0 };
		runs_net(&r, (enum compensation)c, &net);
		assert_int_equal(net.n, RUNS);
		for (size_t i = 0; i < net.n; i++) {
			near(net.v[i], want[c] / 2);
		}
		samples_free(&net);
	}
	runs_free(&r);
}

/* Costs that change slowly, so that compensation is worth it; and once in 500 runs an interruption.
 */
static int64_t slowly(const struct source *s)
{
	(void)s;
	int64_t shown = clock_now;
	reads++;
	clock_now += 1000 + (int64_t)(reads / 16 * 7 % 200);
	clock_now += reads % 2000 == 1001 ? 50000000 : 0;
	return shown;
}

static void test_interrupted(void **state)
{
	(void)state;
	enum { RUNS = 4000 };
	const struct source s = { .read = slowly, .ns_per_tick = 1 };
	struct runs r;
	runs_begin(&r, &s, false);
	reads = 0;
	for (int i = 0; i < RUNS; i++) {
		runs_before(&r);
		runs_after(&r);
	}
	struct zero z;
	zero_figures(&r, &z);
	assert_true(z.k[METHOD_1] < 10 && z.k_calm[METHOD_1] > 100);
	assert_true(z.k_calm[RAW] == 1 && z.k_calm[LONG_TERM] == 1);
	assert_int_equal(z.best, METHOD_1);
	runs_free(&r);
}

/* Nothing, measured between round trips under load, by every compensation; and which is best. */
static void test_messages(void **state)
{
	(void)state;
	struct source s[SOURCES_MAX];
	size_t n = sources_open(s);
	for (int c = 0; c < CHANNELS; c++) {
		for (int best = 0; best < 2; best++) {
			const struct exchange_plan plan = { .channel = (enum channel)c,
							    .bytes = 100,
							    .n = 20,
							    .load = best ? 2 : 0,
							    .source = s,
							    .how = METHOD_1,
							    .best = best };
			struct exchange_figures f;
			exchange_measure(&plan, &f);
			if (!f.known) {
				continue; /* no such channel here */
			}
			assert_true(f.rpc.n == 20 && f.latency.n == 20);
			for (int k = 0; k < COMPENSATIONS; k++) {
				assert_int_equal(f.zero.net[k].n, 20);
			}
			assert_int_equal(f.how, best ? f.zero.best : METHOD_1);
			assert_true(f.how != RAW && f.rpc.max >= f.rpc.median);
		}
	}
	sources_close(s, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),	     cmocka_unit_test(test_correlation),
		cmocka_unit_test(test_compensation), cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_messages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
