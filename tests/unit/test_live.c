/* SPDX-License-Identifier: MIT */
/* Another clock's stamps on this one: truth within the precision; pages that change while read. */
#include "base/base.h"
#include "../sigbus.h"
#include "cases.h"
#include "unskew_clock.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <gmp.h>

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
	for (int i = 0; i < (int)case_count(20000); i++) {
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

/* ---- his conditions, in rationals (section 4.1) -------------------------------------- */

/* a / b */
static void ratio(mpq_t out, int64_t a, int64_t b)
{
	mpz_set_si(mpq_numref(out), a);
	mpz_set_si(mpq_denref(out), b);
	mpq_canonicalize(out);
}

struct exact {
	mpq_t conv, local, precision;
};

/*
 * Equations 2 to 4 with the ticks of the stamps: doc/live.md.
 *     drift = (j_X + j_Y + 1 + conv) / gone * n / (n - 1), with the allowance a: d + a + d a
 *     precision = j_Y + 1 + conv (1 + drift) + |r - r_Y| conv drift
 */
static void exactly(const struct usk_three_stamps *x, const struct usk_three_stamps *y,
		    int64_t allowance_e12, int64_t remote, struct exact *out)
{
	int64_t n = y->remote - x->remote, gone_2 = y->before + y->after - x->before - x->after;
	int64_t age = remote > y->remote ? remote - y->remote : y->remote - remote;
	mpq_t drift, a, t, one;
	mpq_inits(drift, a, t, one, NULL);
	ratio(out->conv, gone_2, 1);
	ratio(t, 2 * n, 1);
	mpq_div(out->conv, out->conv, t);
	/* local */
	ratio(t, remote - y->remote, 1);
	mpq_mul(out->local, out->conv, t);
	ratio(t, y->before + y->after, 2);
	mpq_add(out->local, out->local, t);
	/* drift */
	ratio(one, 1, 1);
	ratio(drift, x->after - x->before + y->after - y->before, 2);
	mpq_add(drift, drift, one);
	mpq_add(drift, drift, out->conv);
	ratio(t, gone_2, 2);
	mpq_div(drift, drift, t);
	ratio(t, n, n - 1);
	mpq_mul(drift, drift, t);
	ratio(a, allowance_e12, 1000000000000);
	mpq_mul(t, drift, a);
	mpq_add(drift, drift, a);
	mpq_add(drift, drift, t);
	/* precision */
	ratio(out->precision, age, 1);
	mpq_mul(out->precision, out->precision, drift);
	mpq_add(out->precision, out->precision, drift);
	mpq_add(out->precision, out->precision, one);
	mpq_mul(out->precision, out->precision, out->conv);
	mpq_add(out->precision, out->precision, one);
	ratio(t, y->after - y->before, 2);
	mpq_add(out->precision, out->precision, t);
	mpq_clears(drift, a, t, one, NULL);
}

/* Equation 8 as he computed it, in 64 bits; every condition of section 4.1 on the way. */
static int64_t his_precision(const struct usk_three_stamps *x, const struct usk_three_stamps *y,
			     int64_t age)
{
	usk_u128 most = (usk_u128)1 << 64;
	uint64_t gone = (uint64_t)(y->before + y->after - x->before - x->after) / 2;
	uint64_t n = (uint64_t)(y->remote - x->remote);
	uint64_t jitter_x = (uint64_t)(x->after - x->before + 1) / 2;
	uint64_t jitter_y = (uint64_t)(y->after - y->before + 1) / 2;
	assert_true(gone < UINT64_C(1) << 39 && ((usk_u128)gone << 25) < most);
	uint64_t conv = (gone << 25) / n;
	/* 50 MHz against 4 GHz is 419430.4; jitter is up to 40 us in 100 ms. */
	assert_true(conv >= 419430 - 200 && conv < UINT64_C(1) << 32);
	uint64_t drift = ((jitter_x + jitter_y) << 32) / gone;
	assert_true(drift <= UINT64_C(1) << 21);
	assert_true((usk_u128)conv * (uint64_t)age < most);
	uint64_t local = (uint64_t)((usk_u128)conv * (uint64_t)age >> 25);
	assert_true((usk_u128)local * (drift + 1) < most);
	/* 10^-6 is to be added to the drift: section 3.2.3. */
	return (int64_t)((local * (drift + 1) >> 32) + jitter_y + ((uint64_t)age >> 25) +
			 local / 1000000);
}

static void condition(int64_t here_hz, int64_t there_hz, int64_t span_ms, int64_t took_ns,
		      int64_t origin)
{
	static const int64_t ages_ms[] = { 0, 100, 4000, 100000 };
	const int64_t took = took_ns * here_hz / 1000000000 + 1;
	struct usk_three_stamps x = { origin, -origin, origin + took };
	struct usk_three_stamps y = { origin + here_hz / 1000 * span_ms,
				      there_hz / 1000 * span_ms - origin, 0 };
	y.after = y.before + took;
	struct exact e;
	mpq_inits(e.conv, e.local, e.precision, NULL);
	for (int k = 0; k < 16; k++) {
		int64_t age = there_hz / 1000 * ages_ms[k / 4] + k % 2;
		int64_t remote = k / 2 % 2 ? y.remote - age : y.remote + age;
		struct usk_live_map m;
		struct usk_live_time t;
		assert_int_equal(
			usk_live_map_of(&x, &y, USK_DRIFT_ALLOWANCE_E12, 101 * there_hz, &m, NULL),
			USK_OK);
		assert_int_equal(usk_live_map_at(&m, remote, &t), USK_LIVE);
		exactly(&x, &y, USK_DRIFT_ALLOWANCE_E12, remote, &e);
		double conv = mpq_get_d(e.conv);
		mpq_t off;
		mpq_init(off);
		ratio(off, t.local, 1);
		mpq_sub(off, off, e.local);
		mpq_abs(off, off);
		/* Rounding: of conv 2^-57, of half a tick, to the nearest. */
		assert_true(mpq_get_d(off) <= 1 + ldexp((double)age, -57));
		/* Never less than the exact bound and that, and no more than roundings above it. */
		mpq_add(off, off, e.precision);
		ratio(e.local, t.precision, 1);
		if (mpq_cmp(e.local, off) < 0) {
			fail_msg("%lld Hz here, %lld there: precision %lld, needed %f",
				 (long long)here_hz, (long long)there_hz, (long long)t.precision,
				 mpq_get_d(off));
		}
		mpq_sub(off, e.local, e.precision);
		assert_true(mpq_get_d(off) <= 8 + 2 * conv + 4 * ldexp((double)age * conv, -32));
		/* Where the paper's arithmetic says less, it leaves out the ticks of stamps. */
		int64_t his = his_precision(&x, &y, age);
		assert_true((double)t.precision <= (double)his + 12 + 4 * conv +
							   4 * ldexp((double)age * conv, -32) +
							   (double)age * conv * (2 + conv) * 2 /
								   (double)(y.before - x.before));
		mpq_clear(off);
	}
	mpq_clears(e.conv, e.local, e.precision, NULL);
}

static void test_conditions(void **state)
{
	(void)state;
	static const int64_t hz[] = { 50000000, 66667000, 1000000000, 1700000000, 4000000000 };
	static const int64_t span_ms[] = { 100, 2000, 100000 }, took_ns[] = { 0, 4000, 40000 };
	static const int64_t origin[] = { 0, -987654321987654321, 1763600000000000000 };
	for (size_t i = 0; i < 5 * 5 * 3 * 3 * 3; i += case_step()) {
		condition(hz[i % 5], hz[i / 5 % 5], span_ms[i / 25 % 3], took_ns[i / 75 % 3],
			  origin[i / 225]);
	}
}

/* An answer 100 s after the last exchange at most, or as long as was asked for: then an error. */
static void test_too_old(void **state)
{
	(void)state;
	static const int64_t max_age[] = { 1, 1000, 100000000000 };
	for (size_t i = 0; i < COUNT(max_age); i++) {
		struct usk_three_stamps x = { 0, 0, 10 },
					y = { 2000000000, 2000000000, 2000000010 };
		struct usk_live_map m;
		struct usk_live_time t;
		assert_int_equal(usk_live_map_of(&x, &y, 0, max_age[i], &m, NULL), USK_OK);
		for (int sign = -1; sign <= 1; sign += 2) {
			int64_t last = y.remote + sign * max_age[i];
			assert_int_equal(usk_live_map_at(&m, last, &t), USK_LIVE);
			assert_int_equal(usk_live_map_at(&m, last + sign, &t), USK_LIVE_STALE);
		}
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
	for (uint64_t i = 0; i < case_count(200000); i++) {
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

/* Halves of a tick are rounded up, on both sides of zero. */
static void test_halves(void **state)
{
	(void)state;
	for (int64_t half = -9; half <= 9; half++) {
		const struct usk_live_map m = { .local_2 = half, .max_age = 1 };
		struct usk_live_time t;
		assert_int_equal(usk_live_map_at(&m, 0, &t), USK_LIVE);
		assert_int_equal(t.local, usk_ceil_div(half, 2));
	}
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
		usk_live_publish(w->page, &m, NULL);
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
	usk_live_publish(writer, &m, NULL);
	usk_live_convert(reader, 0, &t);
	int64_t least = t.precision;
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, write_maps, &w), 0);
	const char *wanted = getenv("USK_READS");
	long n = wanted ? atol(wanted) : (long)case_count(300000);
	for (long i = 0; i < n; i++) {
		if (usk_live_convert(reader, 0, &t) == USK_LIVE) {
			/* local = 4 k + k, precision = k + its roundings */
			assert_true(t.local % 5 == 0 && t.precision - least == t.local / 5);
		}
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	usk_live_close(reader);
	/* One who goes on where another left off, but not before. */
	struct usk_live *again;
	assert_int_equal(usk_live_create(path, &again, NULL), USK_EIO);
	usk_live_close(writer);
	assert_int_equal(usk_live_create(path, &again, NULL), USK_OK);
	assert_int_equal(usk_live_convert(again, 0, &t), USK_LIVE);
	usk_live_publish(again, NULL, NULL);
	assert_int_equal(usk_live_convert(again, 0, &t), USK_LIVE_STALE);
	usk_live_close(again);
	unlink(path);
	free(path);
}

/* A writer that was killed amid its second map: what it left is no map, and the next one is. */
static void test_killed(void **state)
{
	(void)state;
	char *path = temporary();
	struct usk_live *live;
	struct usk_live_time t;
	struct usk_live_map m = numbered(5);
	assert_int_equal(usk_live_create(path, &live, NULL), USK_OK);
	usk_live_publish(live, &m, NULL);
	usk_live_close(live);
	const uint64_t amid[] = { 3, (uint64_t)-6 }; /* the sequence, and the first word of six */
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, amid, sizeof amid, 8), sizeof amid);
	close(fd);
	assert_int_equal(usk_live_create(path, &live, NULL), USK_OK);
	assert_int_equal(usk_live_convert(live, 0, &t), USK_LIVE_STALE);
	usk_live_publish(live, &m, NULL);
	assert_int_equal(usk_live_convert(live, 0, &t), USK_LIVE);
	assert_int_equal(t.local, 25);
	usk_live_close(live);
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
	/* Who else could write to it would say what time it is. */
	assert_int_equal(usk_live_create(path, &l, &err), USK_OK);
	usk_live_close(l);
	l = NULL;
	static const mode_t shared[] = { 0664, 0646 };
	for (size_t i = 0; i < COUNT(shared); i++) {
		assert_int_equal(chmod(path, shared[i]), 0);
		assert_int_equal(usk_live_open(path, &l, &err), USK_EINPUT);
		assert_non_null(strstr(err.msg, "others than its owner"));
		assert_int_equal(usk_live_create(path, &l, &err), USK_EINPUT);
		assert_null(l);
	}
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(usk_live_open(path, &l, &err), USK_OK);
	usk_live_close(l);
	l = NULL;
	unlink(path);
	assert_int_equal(usk_live_create("/nowhere/at/all", &l, &err), USK_EIO);
	assert_int_equal(usk_live_create("/", &l, &err), USK_EIO);
	free(path);
}

/* ---- files that are cut short ------------------------------------------------------- */

/* Those sizes at which something of it is gone, and one that is too large. */
static void test_cut(void **state)
{
	(void)state;
	if (!sigbus_says_where()) {
		skip();
	}
	char *path = temporary();
	for (off_t size = 0; size <= 65; size += size == 63 ? 2 : 1) {
		struct usk_live *writer, *reader;
		struct usk_live_time t;
		struct usk_err err;
		struct usk_live_map m = numbered(5);
		assert_int_equal(truncate(path, 0), 0);
		assert_int_equal(usk_live_create(path, &writer, &err), USK_OK);
		assert_int_equal(usk_live_open(path, &reader, &err), USK_OK);
		assert_int_equal(usk_live_publish(writer, &m, &err), USK_OK);
		assert_int_equal(usk_live_convert(reader, 0, &t), USK_LIVE);
		assert_int_equal(truncate(path, size), 0);
		/* The map's last word has zeros where the last bytes were. */
		enum usk_live_state s = usk_live_convert(reader, -5, &t);
		assert_true(s == USK_LIVE_CUT || (size > 56 && s == USK_LIVE && t.local == 20));
		assert_int_equal(usk_live_publish(writer, &m, &err), USK_EIO);
		assert_non_null(strstr(err.msg, "somebody changed its size"));
		usk_live_close(reader);
		assert_int_equal(usk_live_open(path, &reader, &err), USK_EINPUT);
		usk_live_close(writer);
	}
	unlink(path);
	free(path);
}

struct cutter {
	const char *path;
	atomic_bool *stop;
};

static void *cut_and_mend(void *ctx)
{
	const struct cutter *c = ctx;
	while (!atomic_load(c->stop)) {
		struct usk_live *writer;
		struct usk_live_map m = numbered(7);
		if (truncate(c->path, 0) || usk_live_create(c->path, &writer, NULL)) {
			break;
		}
		for (int i = 0; i < 20; i++) {
			(void)usk_live_publish(writer, &m, NULL);
		}
		usk_live_close(writer);
	}
	return NULL;
}

/* Whenever it is cut short, a reader has the map, or hears that it has none. */
static void test_cut_meanwhile(void **state)
{
	(void)state;
	if (!sigbus_says_where()) {
		skip();
	}
	char *path = temporary();
	atomic_bool stop = false;
	struct cutter c = { path, &stop };
	pthread_t thread;
	size_t count[USK_LIVE_CUT + 1] = { 0 };
	assert_int_equal(pthread_create(&thread, NULL, cut_and_mend, &c), 0);
	const uint64_t times = case_count(20000);
	for (uint64_t i = 0; i < times || !count[USK_LIVE] || !count[USK_LIVE_CUT]; i++) {
		struct usk_live *reader;
		if (usk_live_open(path, &reader, NULL)) {
			continue;
		}
		for (int k = 0; k < 20; k++) {
			struct usk_live_time t;
			enum usk_live_state s = usk_live_convert(reader, -7, &t);
			count[s]++;
			assert_true(s != USK_LIVE || t.local == 28);
		}
		usk_live_close(reader);
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	unlink(path);
	free(path);
}

static sigjmp_buf back;

static void on_other(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

/* Two signals: of a file of ours, and of another one. */
static int catch_both(const char *path)
{
	struct usk_live *l;
	struct usk_live_time t;
	int fd = open(path, O_RDWR);
	signal(SIGBUS, on_other);
	if (usk_live_create(path, &l, NULL)) {
		return 1;
	}
	volatile char *p = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || ftruncate(fd, 0)) {
		return 2;
	}
	if (sigsetjmp(back, 1)) {
		usk_live_close(l);
		return 0;
	}
	if (usk_live_convert(l, 0, &t) != USK_LIVE_CUT) {
		return 3;
	}
	/* Used, or valgrind leaves the reading out. */
	return 4 + *p;
}

/* A SIGBUS of another file goes where it went before. The first test, as others find it caught. */
static void test_others(void **state)
{
	(void)state;
	char *path = temporary();
	int status;
	pid_t pid = fork();
	if (!pid) {
		_exit(catch_both(path));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others),	   cmocka_unit_test(test_precision),
		cmocka_unit_test(test_conditions), cmocka_unit_test(test_too_old),
		cmocka_unit_test(test_his_bound),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_any_words),  cmocka_unit_test(test_torn),
		cmocka_unit_test(test_killed),	   cmocka_unit_test(test_files),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_cut_meanwhile),
		cmocka_unit_test(test_halves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
