/* SPDX-License-Identifier: MIT */
/* Clocks that were set back, and captures that only look like it, from the order of stamps alone.
 */
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)
#define START  (1700000000 * SECOND)

enum { RECORDS = 20000 };

struct trace {
	int64_t t[RECORDS];
	size_t n;
};

static struct usk_epochs look(const struct trace *x)
{
	struct usk_epoch_watch w = { .n = 0 };
	struct usk_epochs e;
	for (size_t i = 0; i < x->n; i++) {
		usk_epoch_note(&w, x->t[i]);
	}
	usk_epoch_finish(&w, &e);
	return e;
}

/* Records some 10 ms apart in the mean, in bursts. */
static void steady(struct trace *x, struct usk_rng *r)
{
	int64_t t = START;
	x->n = RECORDS;
	for (size_t i = 0; i < x->n; i++) {
		t += usk_rng_below(r, 3) ? (int64_t)usk_rng_exponential(r, 15e6) : 50000;
		x->t[i] = t;
	}
}

static void expect_none(const struct trace *x, uint64_t seed, const char *what)
{
	struct usk_epochs e = look(x);
	if (e.n) {
		fail_msg("seed %llu, %s: %zu epochs, the first from record %llu, back by %lld ns",
			 (unsigned long long)seed, what, e.n + 1,
			 (unsigned long long)e.epoch[0].record,
			 (long long)(e.epoch[0].before_ns - e.epoch[0].after_ns));
	}
	usk_epochs_free(&e);
}

static int by_value(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;
	return a[1] != b[1] ? (a[1] > b[1]) - (a[1] < b[1]) : (a[0] > b[0]) - (a[0] < b[0]);
}

/* Several queues, each emptied for a while before the next one is. */
static void queues(struct trace *x, struct usk_rng *r, int64_t most_late)
{
	static int64_t pair[RECORDS][2];
	int64_t late[4], until[4] = { 0 };
	for (size_t i = 0; i < x->n; i++) {
		size_t q = usk_rng_below(r, 4);
		if (x->t[i] > until[q]) { /* when this queue is read next */
			late[q] = (int64_t)usk_rng_below(r, (uint64_t)most_late);
			until[q] = x->t[i] + late[q];
		}
		pair[i][0] = x->t[i];
		pair[i][1] = until[q];
	}
	qsort(pair, x->n, sizeof pair[0], by_value);
	for (size_t i = 0; i < x->n; i++) {
		x->t[i] = pair[i][0];
	}
}

static void late_records_are_no_epochs(void **state)
{
	(void)state;
	static struct trace x;
	static const int64_t late[] = { 1000, MS, 10 * MS, 100 * MS, SECOND };
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		steady(&x, &r);
		expect_none(&x, seed, "in order");
		queues(&x, &r, late[seed % COUNT(late)]);
		expect_none(&x, seed, "queues");
		/* Single stamps that are far ahead or behind. */
		steady(&x, &r);
		for (size_t i = 0; i < 5; i++) {
			size_t at = usk_rng_below(&r, RECORDS);
			x.t[at] += (int64_t)usk_rng_below(&r, 7200) * SECOND - 3600 * SECOND;
		}
		expect_none(&x, seed, "single stamps");
		/* Steps forward. */
		steady(&x, &r);
		for (size_t i = RECORDS / 3; i < RECORDS; i++) {
			x.t[i] += 3600 * SECOND;
		}
		expect_none(&x, seed, "forward");
		/* Two interfaces, a block of each in turn. */
		steady(&x, &r);
		size_t block = 8 + usk_rng_below(&r, 200);
		for (size_t i = 0; i + 2 * block <= RECORDS; i += 2 * block) {
			for (size_t k = 0; k < block; k++) {
				x.t[i + block + k] = x.t[i + k] + 1000;
			}
			if (i + 2 * block < RECORDS) {
				int64_t gap = x.t[i + 2 * block] - x.t[i + block - 1] - 20 * MS;
				for (size_t k = i + 2 * block; k < RECORDS; k++) {
					x.t[k] -= gap;
				}
			}
		}
		expect_none(&x, seed, "blocks");
	}
}

static void back_is_seen(void **state)
{
	(void)state;
	static struct trace x;
	static const int64_t by[] = { 200 * MS,	   SECOND,	  5 * SECOND,
				      30 * SECOND, 3600 * SECOND, 86400 * SECOND };
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct usk_rng r;
		size_t at[3], n = 1 + seed % 3;
		int64_t back[3];
		usk_rng_seed(&r, seed);
		steady(&x, &r);
		if (seed % 2) {
			queues(&x, &r, 5 * MS);
		}
		for (size_t i = 0; i < n; i++) {
			at[i] = (i + 1) * 5000 + usk_rng_below(&r, 2000);
			/* Where a record is later than those to come, late ones are apart. */
			while (seed % 2 && x.t[at[i]] - x.t[at[i] - 1] < 8 * MS) {
				at[i]++;
			}
			back[i] = by[usk_rng_below(&r, COUNT(by))];
			for (size_t k = at[i]; k < RECORDS; k++) {
				x.t[k] -= back[i];
			}
		}
		struct usk_epochs e = look(&x);
		if (e.n != n) {
			fail_msg("seed %llu: %zu, expected %zu", (unsigned long long)seed, e.n, n);
		}
		size_t hint = 0;
		int64_t shift[2] = { 0 }, highest = 0;
		for (size_t i = 0; i < n; i++) {
			if (e.epoch[i].record != at[i]) {
				fail_msg("seed %llu: record %llu, expected %zu",
					 (unsigned long long)seed,
					 (unsigned long long)e.epoch[i].record, at[i]);
			}
			assert_int_equal(e.epoch[i].after_ns, x.t[at[i]]);
		}
		/* Running on, to late records, and back again. */
		for (size_t i = 0; i < RECORDS; i++) {
			int64_t running = x.t[i] + (shift[0] = usk_epoch_shift(&e, i, &hint));
			assert_int_equal(usk_epoch_recorded(&e, running), x.t[i]);
			assert_int_equal(usk_epoch_of(&e, running), hint);
			assert_true(running > highest - 6 * MS);
			assert_true(shift[0] >= shift[1]);
			shift[1] = shift[0];
			highest = running > highest ? running : highest;
		}
		usk_epochs_free(&e);
	}
}

/* To the end of the trace. */
static void back_at_the_end(void **state)
{
	(void)state;
	static struct trace x;
	struct usk_rng r;
	usk_rng_seed(&r, 7);
	for (int records = 1; records < 12; records++) {
		steady(&x, &r);
		for (size_t k = RECORDS - (size_t)records; k < RECORDS; k++) {
			x.t[k] -= 3600 * SECOND;
		}
		struct usk_epochs e = look(&x);
		assert_int_equal(e.n, records >= 4);
		usk_epochs_free(&e);
	}
}

/* A tenth as far, 2 to 3 s earlier: no batch like the other. */
static void back_twice_soon(void **state)
{
	(void)state;
	static struct trace x;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct usk_rng r;
		size_t at[2] = { 5000, 5250 };
		usk_rng_seed(&r, seed);
		steady(&x, &r);
		for (size_t i = 0; i < 2; i++) {
			int64_t by =
				(i ? 10 : 1) * (280 * MS + (int64_t)usk_rng_below(&r, 50 * MS));
			for (size_t k = at[i]; k < RECORDS; k++) {
				x.t[k] -= by;
			}
		}
		struct usk_epochs e = look(&x);
		if (e.n != 2 || e.epoch[0].record != at[0] || e.epoch[1].record != at[1]) {
			fail_msg("seed %llu: %zu epochs", (unsigned long long)seed, e.n + 1);
		}
		usk_epochs_free(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_records_are_no_epochs),
		cmocka_unit_test(back_is_seen),
		cmocka_unit_test(back_at_the_end),
		cmocka_unit_test(back_twice_soon),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
