/* SPDX-License-Identifier: MIT */
/* Clocks that were set back, and captures that only look like it, from the order of stamps alone.
 */
#include "../part.h"
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

/* told: where packets say that the clock was set back. */
static struct usk_epochs look_told(const struct trace *x, struct usk_told told,
				   struct usk_drops *drops)
{
	struct usk_epoch_watch w = { .told = told };
	struct usk_epochs e;
	for (size_t i = 0; i < x->n; i++) {
		w.at = 1000 + i;
		usk_epoch_note(&w, x->t[i]);
	}
	usk_epoch_finish(&w, &e, drops);
	return e;
}

static struct usk_epochs look(const struct trace *x)
{
	struct usk_drops drops;
	struct usk_epochs e = look_told(x, (struct usk_told){ 0 }, &drops);
	free(drops.drop);
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
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
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
	for (uint64_t seed = 1; seed <= case_count_at_most(40); seed++) {
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

/* To the end of the trace: one record is enough. */
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
		assert_int_equal(e.n, 1);
		assert_int_equal(e.epoch[0].record, RECORDS - records);
		usk_epochs_free(&e);
	}
}

/* A tenth as far, 2 to 3 s earlier or half a second: no batch like the other. */
static void back_twice_soon(void **state)
{
	(void)state;
	static struct trace x;
	for (uint64_t seed = case_first(80); seed < case_end(80); seed++) {
		struct usk_rng r;
		size_t at[2] = { 5000, seed % 2 ? 5250 : 5060 };
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

static bool has_drop(const struct usk_drops *d, const struct trace *x, size_t record)
{
	int64_t before = INT64_MIN;
	for (size_t i = 0; i < record; i++) {
		before = x->t[i] > before ? x->t[i] : before;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (d->drop[i].record == record) {
			assert_int_equal(d->drop[i].at, 1000 + record);
			assert_int_equal(d->drop[i].to_ns, x->t[record]);
			assert_true(d->drop[i].from_ns <= before);
			return true;
		}
	}
	return false;
}

/* Of any size, soon after one another, to the end: each is asked for, and is an epoch once it was told. */
static void falls_that_others_tell(void **state)
{
	(void)state;
	static struct trace x;
	size_t not_seen = 0;
	for (uint64_t seed = case_first(100); seed < case_end(100); seed++) {
		struct usk_rng r;
		uint64_t at[8];
		size_t n = 1 + seed % COUNT(at), from = 10;
		usk_rng_seed(&r, seed);
		steady(&x, &r);
		if (seed % 2) {
			queues(&x, &r, 5 * MS);
		}
		for (size_t i = 0; i < n; i++) {
			at[i] = from + usk_rng_below(&r, RECORDS / COUNT(at) - 40);
			while (x.t[at[i]] - x.t[at[i] - 1] < 8 * MS) {
				at[i]++;
			}
			from = at[i] + 20;
			/* Below what came before by more than queues can do. */
			int64_t by = x.t[at[i]] - x.t[at[i] - 1] + 20 * MS +
				     (int64_t)usk_rng_exponential(&r, i % 2 ? 50e6 : 5e9);
			for (size_t k = at[i]; k < RECORDS; k++) {
				x.t[k] -= by;
			}
		}
		x.n = seed % 3 ? RECORDS : at[n - 1] + 1 + seed % 5;
		struct usk_drops drops, none;
		struct usk_epochs alone = look_told(&x, (struct usk_told){ 0 }, &drops);
		assert_true(drops.n <= 64);
		for (size_t i = 0; i < n; i++) {
			if (!has_drop(&drops, &x, at[i])) {
				fail_msg("seed %llu: nobody asks for the fall at record %llu",
					 (unsigned long long)seed, (unsigned long long)at[i]);
			}
		}
		struct usk_epochs e = look_told(&x, (struct usk_told){ at, n, false }, &none);
		if (e.n != n) {
			fail_msg("seed %llu: %zu epochs of %zu that were told",
				 (unsigned long long)seed, e.n, n);
		}
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(e.epoch[i].record, at[i]);
			assert_int_equal(e.epoch[i].after_ns, x.t[at[i]]);
		}
		not_seen += n - alone.n;
		usk_epochs_free(&alone);
		usk_epochs_free(&e);
		free(drops.drop);
		free(none.drop);
	}
	assert_true(not_seen > case_count(100) / 2); /* which the order of records does not tell */
}

/* Epoch by epoch, without a search: where it begins and ends, and how far it may reach. */
static size_t only_one(const struct usk_epochs *e, int64_t t)
{
	size_t found = SIZE_MAX, n = 0;
	for (size_t i = 0; i <= e->n; i++) {
		const struct usk_epoch *begin = i ? &e->epoch[i - 1] : NULL;
		const struct usk_epoch *end = i < e->n ? &e->epoch[i] : NULL;
		bool before =
			begin && t < begin->after_ns - 8 * (begin->before_ns - begin->after_ns);
		bool behind = end && t > end->before_ns + 8 * (end->before_ns - end->after_ns);
		if (!before && !behind) {
			found = i;
			n++;
		}
	}
	return n == 1 ? found : SIZE_MAX;
}

static void stamps_in_no_order(void **state)
{
	(void)state;
	size_t alone = 0, several = 0;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		struct usk_rng r;
		struct usk_epoch epoch[6];
		struct usk_epochs e = { epoch, 0 };
		usk_rng_seed(&r, seed);
		e.n = usk_rng_below(&r, COUNT(epoch) + 1);
		int64_t at = START;
		for (size_t i = 0; i < e.n; i++) {
			at += (int64_t)usk_rng_below(&r, 100) * SECOND;
			int64_t fell = 1 + (int64_t)usk_rng_below(&r, 2 * SECOND);
			epoch[i] = (struct usk_epoch){ .before_ns = at, .after_ns = at - fell };
			at -= fell;
		}
		struct usk_alone *x = usk_alone_new(&e);
		for (int i = 0; i < 500; i++) {
			int64_t t = START - 60 * SECOND +
				    (int64_t)usk_rng_below(&r, (uint64_t)(400 * SECOND));
			size_t is = only_one(&e, t);
			assert_int_equal(usk_alone_epoch(x, t), is);
			alone += is != SIZE_MAX;
			several += is == SIZE_MAX;
		}
		for (size_t i = 0; i < e.n; i++) {
			int64_t fell = epoch[i].before_ns - epoch[i].after_ns;
			const int64_t edge[] = { epoch[i].before_ns + 8 * fell,
						 epoch[i].after_ns - 8 * fell };
			for (int k = -1; k < 2; k++) {
				assert_int_equal(usk_alone_epoch(x, edge[0] + k),
						 only_one(&e, edge[0] + k));
				assert_int_equal(usk_alone_epoch(x, edge[1] + k),
						 only_one(&e, edge[1] + k));
			}
		}
		usk_alone_free(x);
	}
	assert_true(alone > 50 * case_count(200) && several > 50 * case_count(200));
}

static void the_same_falls(void **state)
{
	(void)state;
	struct usk_epoch known[] = { { .before_ns = 1000, .after_ns = 900 },
				     { .before_ns = 5000, .after_ns = 4000 } };
	struct usk_epoch own[COUNT(known)];
	const struct usk_epochs k = { known, COUNT(known) }, e = { own, COUNT(own) };
	const struct usk_epochs fewer = { own, 1 };
	memcpy(own, known, sizeof own);
	assert_true(usk_epochs_agree(&e, &k));
	assert_false(usk_epochs_agree(&fewer, &k));
	own[1].before_ns = 4500; /* half of the fall, and it falls by half */
	assert_true(usk_epochs_agree(&e, &k));
	own[1].before_ns = 4499;
	assert_false(usk_epochs_agree(&e, &k));
	own[1] = (struct usk_epoch){ .before_ns = 5500, .after_ns = 4000 };
	assert_true(usk_epochs_agree(&e, &k));
	own[1].before_ns = 5501;
	assert_false(usk_epochs_agree(&e, &k));
	own[1] = (struct usk_epoch){ .before_ns = 5000, .after_ns = 4500 };
	assert_true(usk_epochs_agree(&e, &k));
	own[1].after_ns = 4501;
	assert_false(usk_epochs_agree(&e, &k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_records_are_no_epochs),
		cmocka_unit_test(back_is_seen),
		cmocka_unit_test(back_at_the_end),
		cmocka_unit_test(back_twice_soon),
		cmocka_unit_test(falls_that_others_tell),
		cmocka_unit_test(stamps_in_no_order),
		cmocka_unit_test(the_same_falls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
