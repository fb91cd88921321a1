/* SPDX-License-Identifier: MIT */
/* What bursts and maps promise, against clocks whose truth is known; tables that grow. */
#include "probe/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

/* The other clock: pieces of constant rate over this one, whole ns, exact to the rounding. */
struct other {
	int64_t local[64], remote[64], rate_e12[64];
	size_t n;
};

static int64_t reads(const struct other *o, int64_t local)
{
	size_t i = 0;
	while (i + 1 < o->n && o->local[i + 1] <= local) {
		i++;
	}
	usk_i128 d = (usk_i128)local - o->local[i];
	return o->remote[i] + (int64_t)(d + usk_floor_div(d * o->rate_e12[i], 1000000000000));
}

static int64_t below(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, (uint64_t)n);
}

static struct usk_probe_exchange exchange(struct usk_rng *r, const struct other *o, int64_t at)
{
	int64_t there = at + below(r, below(r, 10) ? 30000 : 3000000);
	int64_t leaves = there + below(r, 200000);
	int64_t back = leaves + below(r, below(r, 10) ? 30000 : 3000000);
	return (struct usk_probe_exchange){ .sequence = 1,
					    .answered = true,
					    .t1 = { at, USK_PROBE_KERNEL },
					    .t2 = { reads(o, there), USK_PROBE_KERNEL },
					    .t3 = { reads(o, leaves), USK_PROBE_KERNEL },
					    .t4 = { back, USK_PROBE_KERNEL } };
}

/* Rates that stay within +-max of a constant, a new one every so often. */
static struct other new_other(struct usk_rng *r, int64_t from, int64_t mean_e12, int64_t by_e12)
{
	struct other o = { .n = COUNT(o.local) };
	o.local[0] = from;
	o.remote[0] = from + below(r, 7200 * SECOND) - 3600 * SECOND;
	for (size_t i = 0; i < o.n; i++) {
		o.rate_e12[i] = mean_e12 + (by_e12 ? below(r, 2 * by_e12 + 1) - by_e12 : 0);
		if (i + 1 < o.n) {
			o.local[i + 1] = o.local[i] + SECOND + below(r, 10 * SECOND);
			o.remote[i + 1] = o.remote[i];
			struct other piece = {
				{ o.local[i] }, { o.remote[i] }, { o.rate_e12[i] }, 1
			};
			o.remote[i + 1] = reads(&piece, o.local[i + 1]);
		}
	}
	return o;
}

/* True reading of ours when the other reads remote: by bisection. */
static int64_t truth_of(const struct other *o, int64_t remote, int64_t lo, int64_t hi)
{
	while (lo < hi) {
		int64_t mid = lo + (hi - lo) / 2;
		if (reads(o, mid) < remote) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

static void test_stamps(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	for (int i = 0; i < 3000; i++) {
		int64_t from = below(&r, 1ll << 61), skew = below(&r, 500000001);
		struct other o = new_other(&r, from, below(&r, 2 * skew + 1) - skew, 0);
		struct usk_probe_exchange e[5];
		struct usk_three_stamps all, one;
		size_t n = 1 + usk_rng_below(&r, 5);
		for (size_t k = 0; k < n; k++) {
			e[k] = exchange(&r, &o, from + below(&r, 5000000));
		}
		if (!usk_probe_stamps(e, n, skew, &all)) {
			fail_msg("case %d: stamps that were true contradict", i);
		}
		int64_t truth = truth_of(&o, all.remote, from - SECOND, from + SECOND);
		if (truth < all.before || truth > all.after + 1) {
			fail_msg("case %d: %lld not in %lld to %lld", i, (long long)truth,
				 (long long)all.before, (long long)all.after);
		}
		/* One alone is the exchange itself. */
		assert_true(usk_probe_stamps(e, 1, 0, &one));
		int64_t trip = (e->t4.ns - e->t1.ns) - (e->t3.ns - e->t2.ns);
		assert_int_equal(one.after - one.before, trip + 4);
		e[0].answered = false;
		assert_false(usk_probe_stamps(e, 1, skew, &one));
	}
}

static void test_spacing(void **state)
{
	(void)state;
	struct usk_probe_exchange a = { .answered = true,
					.t1 = { 100, USK_PROBE_KERNEL },
					.t2 = { 5000, USK_PROBE_KERNEL },
					.t3 = { 6000, USK_PROBE_KERNEL },
					.t4 = { 1500, USK_PROBE_KERNEL } };
	struct usk_probe_exchange b = a;
	b.t1.ns += 70;
	b.t2.ns += 60;
	b.t3.ns += 50;
	b.t4.ns += 65;
	assert_true(usk_probe_spaced(&a, &b, 15));
	assert_false(usk_probe_spaced(&a, &b, 14));
	b.t2.ns += 6;
	assert_true(usk_probe_spaced(&a, &b, 15));
	b.t2.ns -= 22;
	assert_false(usk_probe_spaced(&a, &b, 15));
	b = a;
	b.t1.kind = USK_PROBE_CARD;
	assert_false(usk_probe_whole(&b));
	b.t4.kind = USK_PROBE_CARD;
	assert_true(usk_probe_whole(&b));
	b.t3.ns = b.t2.ns - 1;
	assert_false(usk_probe_whole(&b));
}

/*
 * The bound holds at every moment from the first exchange on if rates stay within half the
 * allowance of a constant, as any two of them then differ by no more than the allowance.
 */
static void test_track(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 2);
	for (int i = 0; i < 60; i++) {
		int64_t from = below(&r, 1ll << 61), allowance = 2 * below(&r, 1000001);
		struct other o =
			new_other(&r, from, below(&r, 900000001) - 450000000, allowance / 2);
		int64_t period = SECOND / 5 + below(&r, 2 * SECOND), at = from;
		struct usk_probe_track t = { .allowance_e12 = allowance,
					     .skew_e12 = 500000000,
					     .max_age_ns = 100 * SECOND,
					     .period_ns = period };
		for (int k = 0; k < 150; k++) {
			at += period / 2 + below(&r, below(&r, 20) ? period : 20 * period);
			struct usk_probe_exchange e = exchange(&r, &o, at);
			struct usk_three_stamps s;
			assert_true(usk_probe_stamps(&e, 1, t.skew_e12, &s));
			assert_int_not_equal(usk_probe_track_add(&t, &s), USK_PROBE_SET);
			assert_true(t.has);
			int64_t when = at + below(&r, 20 * SECOND);
			struct usk_live_time now;
			if (usk_live_map_at(&t.map, reads(&o, when), &now) != USK_LIVE) {
				continue;
			}
			int64_t off = now.local > when ? now.local - when : when - now.local;
			if (off > now.precision + 1) {
				fail_msg("case %d, round %d: off by %lld, bound %lld", i, k,
					 (long long)off, (long long)now.precision);
			}
			int64_t back = usk_probe_track_remote(&t, now.local);
			assert_true(llabs(back - reads(&o, when)) < 100);
		}
	}
}

/* A clock that is set is noticed if the bound tells, and the bound holds after it. */
static void test_set(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 3);
	for (int i = 0; i < 200; i++) {
		int64_t at = below(&r, 1ll << 60);
		struct other o = new_other(&r, at, below(&r, 200000001) - 100000000, 0);
		struct usk_probe_track t = { .allowance_e12 = 1000000,
					     .skew_e12 = 500000000,
					     .max_age_ns = 100 * SECOND,
					     .period_ns = SECOND };
		struct usk_three_stamps s;
		for (int k = 0; k < 20; k++) {
			at += SECOND;
			if (k == 10) {
				int64_t by = 10 * SECOND / (1 << below(&r, 10));
				for (size_t p = 0; p < o.n; p++) {
					o.remote[p] += i % 2 ? by : -by;
				}
			}
			struct usk_probe_exchange e = exchange(&r, &o, at);
			assert_true(usk_probe_stamps(&e, 1, t.skew_e12, &s));
			enum usk_probe_news news = usk_probe_track_add(&t, &s);
			assert_int_equal(news == USK_PROBE_SET, k == 10);
			struct usk_live_time now;
			assert_int_equal(usk_live_map_at(&t.map, reads(&o, at), &now), USK_LIVE);
			assert_true(llabs(now.local - at) <= now.precision + 1);
		}
	}
}

/* A step of a microsecond shows in readings that take a third of one; none shows without a step. */
static void test_steady(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 8);
	struct usk_probe_steady s = { .has = false };
	int64_t mono = 0, apart = below(&r, 1ll << 60);
	for (int i = 0; i < 20000; i++) {
		bool set = !below(&r, 10);
		apart += set ? (below(&r, 2) ? 1000 : -1000) : 0;
		mono += below(&r, SECOND);
		int64_t before = mono, real = (mono += below(&r, 150)) + apart;
		mono += below(&r, 150);
		assert_true(usk_probe_steady_add(&s, before, real, mono) != (set && i));
	}
}

/* ---- tables -------------------------------------------------------------------------- */

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	char *text = usk_alloc(1, 65536);
	size_t n = fread(text, 1, 65535, f);
	text[n] = 0;
	fclose(f);
	return text;
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_table(void **state)
{
	(void)state;
	char dir[] = "/tmp/unskew-table-XXXXXX";
	assert_non_null(mkdtemp(dir));
	char *path = usk_format("%s/x.csv", dir), *packed = usk_format("%s/x.csv.gz", dir);
	struct usk_probe_table t;
	struct usk_err err = { 0 };
	uint64_t cut;
	const struct usk_probe_exchange e[] = {
		{ .t1 = { 1, 0 }, .t2 = { -2, 0 }, .t3 = { 3, 0 }, .t4 = { INT64_MAX, 0 } },
		{ .t1 = { 5, 0 }, .t2 = { 6, 0 }, .t3 = { 7, 0 }, .t4 = { 8, 0 } },
	};
	static const char first[] = "a,b,t1_ns,t2_ns,t3_ns,t4_ns\n"
				    "\"x,y\",b,1,-2,3,9223372036854775807\n\"x,y\",b,5,6,7,8\n";
	assert_int_equal(usk_probe_table_open(&t, path, "\"x,y\"", "b", false, false, &cut, &err),
			 USK_OK);
	assert_int_equal(usk_probe_table_add(&t, e, 2, &err), USK_OK);
	/* Whole while it is open. */
	char *text = slurp(path);
	assert_string_equal(text, first);
	free(text);
	usk_probe_table_close(&t);
	/* It is not replaced, but goes on, less what a crash cut short. */
	assert_int_equal(usk_probe_table_open(&t, path, "a", "b", false, false, &cut, &err),
			 USK_EIO);
	text = usk_format("%s\"x,y\",b,9,1", first);
	put_file(path, text);
	free(text);
	assert_int_equal(usk_probe_table_open(&t, path, "a", "b", false, true, &cut, &err), USK_OK);
	assert_int_equal(cut, strlen("\"x,y\",b,9,1"));
	assert_int_equal(usk_probe_table_add(&t, e + 1, 1, &err), USK_OK);
	usk_probe_table_close(&t);
	text = slurp(path);
	char *want = usk_format("%sa,b,5,6,7,8\n", first);
	assert_string_equal(text, want);
	free(text);
	free(want);
	/* Nothing is appended to what is no such table, or to something packed. */
	put_file(path, "sender,receiver\nx,y\n");
	assert_int_equal(usk_probe_table_open(&t, path, "a", "b", false, true, &cut, &err),
			 USK_EIO);
	assert_int_equal(usk_probe_table_open(&t, packed, "a", "b", false, false, &cut, &err),
			 USK_EUSAGE);
	assert_int_equal(usk_probe_table_open(&t, path, "a", "b", true, false, &cut, &err), USK_OK);
	usk_probe_table_close(&t);
	/* A full disk is told. */
	assert_int_equal(usk_probe_table_open(&t, "/dev/null", "a", "b", false, false, &cut, &err),
			 USK_OK);
	close(t.fd);
	t.fd = -1;
	assert_int_equal(usk_probe_table_add(&t, e, 1, &err), USK_EIO);
	usk_probe_table_close(&t);
	unlink(path);
	rmdir(dir);
	free(path);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps), cmocka_unit_test(test_spacing),
		cmocka_unit_test(test_track),  cmocka_unit_test(test_set),
		cmocka_unit_test(test_table),  cmocka_unit_test(test_steady),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
