/* SPDX-License-Identifier: MIT */
/* Another clock's stamps on this one: truth within the precision; pages that change while read. */
#include "base/base.h"
#include "unskew_clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A counter of so many ticks a second that began at a true picosecond; exact, rounded down. */
struct counter {
	int64_t hz, start_ps, from;
	int64_t bent_ps, bend_e12; /* from there on it runs that much faster */
};

static int64_t reads(const struct counter *c, int64_t true_ps)
{
	usk_i128 gone = (usk_i128)true_ps - c->start_ps;
	if (c->bend_e12 && true_ps > c->bent_ps) {
		gone += usk_floor_div(((usk_i128)true_ps - c->bent_ps) * c->bend_e12,
				      1000000000000);
	}
	return c->from + (int64_t)usk_floor_div(gone * c->hz, 1000000000000);
}

static struct usk_three_stamps exchange(const struct counter *here, const struct counter *there,
					int64_t at_ps, int64_t took_ps, int64_t answered_ps)
{
	return (struct usk_three_stamps){ reads(here, at_ps), reads(there, at_ps + answered_ps),
					  reads(here, at_ps + took_ps) };
}

#define SECOND_PS INT64_C(1000000000000)

/* 50 MHz to 4 GHz, 100 ms to 100 s between the exchanges and 100 s behind, up to 20 us each. */
static void test_precision(void **state)
{
	(void)state;
	struct usk_rng r;
	uint64_t seed = 2003;
	usk_rng_seed(&r, seed);
	for (int i = 0; i < 20000; i++) {
		struct counter c[2];
		for (int k = 0; k < 2; k++) {
			c[k] = (struct counter){
				.hz = 50000000 + (int64_t)usk_rng_below(&r, 3950000001),
				.start_ps = -(int64_t)usk_rng_below(&r, 1000 * SECOND_PS),
				.from = (int64_t)usk_rng_below(&r, 1ull << 58) - (1ll << 57),
			};
		}
		int64_t span = SECOND_PS / 10 + (int64_t)usk_rng_below(&r, 100 * SECOND_PS);
		struct usk_three_stamps e[2];
		for (int k = 0; k < 2; k++) {
			int64_t took = 1 + (int64_t)usk_rng_below(&r, 20000000);
			e[k] = exchange(&c[0], &c[1], k * span, took,
					(int64_t)usk_rng_below(&r, (uint64_t)took));
		}
		/* The rate changes by up to the allowance, after the second exchange. */
		int64_t allowance = (int64_t)usk_rng_below(&r, 3) * 1000000;
		c[1].bent_ps = span + 20000000;
		c[1].bend_e12 =
			allowance ? (int64_t)usk_rng_below(&r, (uint64_t)allowance) - allowance / 2
				  : 0;
		struct usk_live_map m;
		struct usk_err err;
		if (usk_live_map_of(&e[0], &e[1], allowance, 100 * c[1].hz, &m, &err)) {
			fail_msg("seed %llu, case %d: %s", (unsigned long long)seed, i, err.msg);
		}
		for (int k = 0; k < 20; k++) {
			/* At, after and before the second one. */
			int64_t back = allowance ? 0 : 20;
			int64_t at = span + 20000000 - back * SECOND_PS +
				     (int64_t)usk_rng_below(&r, (uint64_t)(99 + back) * SECOND_PS);
			struct usk_live_time t;
			assert_int_equal(usk_live_map_at(&m, reads(&c[1], at), &t), USK_LIVE);
			int64_t truth = reads(&c[0], at);
			int64_t off = t.local > truth ? t.local - truth : truth - t.local;
			if (off > t.precision) {
				fail_msg("seed %llu, case %d: off by %lld, precision %lld",
					 (unsigned long long)seed, i, (long long)off,
					 (long long)t.precision);
			}
		}
		struct usk_live_time t;
		assert_int_equal(usk_live_map_at(&m, m.remote + m.max_age + 1, &t), USK_LIVE_STALE);
		assert_int_equal(usk_live_map_at(&m, INT64_MAX, &t), USK_LIVE_STALE);
	}
}

/* His own figures: 4 s behind, jitters of 2 us: 10 us (section 4.3). */
static void test_his_bound(void **state)
{
	(void)state;
	const struct counter c = { .hz = 1000000000 };
	struct usk_three_stamps x = exchange(&c, &c, 0, 4000000, 2000000);
	struct usk_three_stamps y = exchange(&c, &c, 2 * SECOND_PS, 4000000, 2000000);
	struct usk_live_map m;
	struct usk_live_time t;
	assert_int_equal(usk_live_map_of(&x, &y, USK_DRIFT_ALLOWANCE_E12, 100 * c.hz, &m, NULL), 0);
	assert_int_equal(usk_live_map_at(&m, m.remote + 2 * c.hz, &t), USK_LIVE);
	/* jitter 2 us at Y, 2 s times (4 us / 2 s + 10^-6). */
	assert_true(t.precision >= 2000 + 4000 + 2000 && t.precision <= 8000 + 12);
}

static void test_refused(void **state)
{
	(void)state;
	static const struct {
		struct usk_three_stamps x, y;
		enum usk_status want;
	} cases[] = {
		{ { 0, 5, 10 }, { 100, 105, 110 }, USK_OK },
		{ { 10, 5, 0 }, { 100, 105, 110 }, USK_EINPUT },
		{ { 0, 5, 10 }, { 0, 5, 10 }, USK_EINPUT },
		{ { 0, 5, 10 }, { 100, 5, 110 }, USK_EINPUT },
		{ { 0, 5, 10 }, { 100, 4, 110 }, USK_EINPUT },
		{ { 100, 5, 110 }, { 0, 105, 10 }, USK_EINPUT },
		{ { 0, 0, 10 }, { 100000, 1, 100010 }, USK_EINPUT },
		{ { 0, 0, 0 }, { 1, 1000, 1 }, USK_EINPUT },
		{ { 0, 0, 0 }, { USK_TICKS_MAX, 5, USK_TICKS_MAX + 2 }, USK_ERANGE },
		{ { 1800000000000000000, 1900000000000000000, 1800000000000000010 },
		  { 1800000001000000000, 1900000001000000000, 1800000001000000010 },
		  USK_OK },
		{ { 1 - USK_TICKS_MAX, 1 - USK_TICKS_MAX, 1 - USK_TICKS_MAX },
		  { USK_TICKS_MAX - 1, USK_TICKS_MAX - 1, USK_TICKS_MAX - 1 },
		  USK_OK },
		{ { INT64_MIN, 0, 0 }, { 1, 2, 3 }, USK_ERANGE },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usk_live_map m;
		struct usk_err err;
		assert_int_equal(usk_live_map_of(&cases[i].x, &cases[i].y, 0, 1000, &m, &err),
				 cases[i].want);
	}
}

/* Whatever another process wrote, an answer or none, and no overflow. */
static void test_any_words(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 5);
	for (int i = 0; i < 200000; i++) {
		uint64_t word[7];
		for (int k = 0; k < 7; k++) {
			word[k] = usk_rng_next(&r) >> usk_rng_below(&r, 64);
			word[k] = usk_rng_below(&r, 8) ? word[k] : ~word[k];
		}
		struct usk_live_map m = { (int64_t)word[0], (int64_t)word[1], (int64_t)word[2],
					  word[3],	    word[4],	      (int64_t)word[5] };
		struct usk_live_time t;
		usk_live_map_at(&m, (int64_t)word[6], &t);
	}
}

/* ---- pages ---------------------------------------------------------------------- */

static char *temporary(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = usk_format("%s/live.XXXXXX", dir ? dir : "/tmp");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

/* Map number k: all its words follow from k. */
static struct usk_live_map numbered(int64_t k)
{
	return (struct usk_live_map){ .remote = -k,
				      .local_2 = 8 * k,
				      .jitter_2 = 2 * k,
				      .conv = UINT64_C(1) << 56,
				      .max_age = INT64_MAX / 4 };
}

struct writer {
	struct usk_live *page;
	atomic_bool *stop;
};

static void *write_maps(void *ctx)
{
	struct writer *w = ctx;
	for (int64_t k = 1; !atomic_load(w->stop); k++) {
		struct usk_live_map m = numbered(k % 1000000);
		usk_live_publish(w->page, &m);
	}
	return NULL;
}

static void test_torn(void **state)
{
	(void)state;
	char *path = temporary();
	struct usk_live *writer, *reader;
	struct usk_live_time t;
	assert_int_equal(usk_live_create(path, &writer, NULL), USK_OK);
	assert_int_equal(usk_live_open(path, &reader, NULL), USK_OK);
	assert_int_equal(usk_live_convert(reader, 0, &t), USK_LIVE_NONE);
	atomic_bool stop = false;
	struct writer w = { writer, &stop };
	struct usk_live_map m = numbered(0);
	usk_live_publish(writer, &m);
	usk_live_convert(reader, 0, &t);
	int64_t least = t.precision;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, write_maps, &w), 0);
	const char *wanted = getenv("USK_READS");
	long n = wanted ? atol(wanted) : 300000;
	for (long i = 0; i < n; i++) {
		if (usk_live_convert(reader, 0, &t) == USK_LIVE) {
			/* local = 4 k + k, precision = k + its roundings */
			assert_true(t.local % 5 == 0 && t.precision - least == t.local / 5);
		}
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	usk_live_close(reader);
	/* One who goes on where another left off. */
	struct usk_live *again;
	assert_int_equal(usk_live_create(path, &again, NULL), USK_OK);
	assert_int_equal(usk_live_convert(again, 0, &t), USK_LIVE);
	usk_live_close(again);
	usk_live_close(writer);
	unlink(path);
	free(path);
}

static void test_files(void **state)
{
	(void)state;
	char *path = temporary();
	struct usk_live *l = NULL;
	struct usk_err err;
	assert_int_equal(usk_live_open(path, &l, &err), USK_EINPUT); /* empty */
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%064d", 0); /* as large as a page, and none */
	fclose(f);
	assert_int_equal(usk_live_open(path, &l, &err), USK_EINPUT);
	assert_int_equal(usk_live_create(path, &l, &err), USK_EINPUT);
	assert_null(l);
	unlink(path);
	assert_int_equal(usk_live_open(path, &l, &err), USK_EIO);
	assert_int_equal(usk_live_create("/nowhere/at/all", &l, &err), USK_EIO);
	assert_int_equal(usk_live_create("/", &l, &err), USK_EIO);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precision), cmocka_unit_test(test_his_bound),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_any_words),
		cmocka_unit_test(test_torn),	  cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
