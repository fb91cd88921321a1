/* SPDX-License-Identifier: MIT */
/*
 * test_replay.c - which epoch each stamp of a trace is of, stamp by stamp
 *
 * Offsets of epochs are so far apart that the corrected stamp says which one it was.
 */
#include "../part.h"
#include "base/base.h"
#include "write/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EPOCHS = 4, STAMPS = 40, APART = 1000000 };

struct recorded {
	uint64_t seed;
	struct usk_rng r;
	size_t n_epochs, n;
	struct usk_set_back back[EPOCHS];
	struct usk_knot knot[2 * EPOCHS];
	struct usk_trace_begin begin[EPOCHS];
	size_t n_begins;
	int64_t stamp[STAMPS];
	size_t epoch[STAMPS]; /* true */
};

static int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

/* A clock that was set back a few times, and the stamps of a trace that saw some of what it showed; of each epoch one at
 * least, which lies below the highest before. */
static void record(struct recorded *x, uint64_t seed)
{
	*x = (struct recorded){ .seed = seed };
	usk_rng_seed(&x->r, seed);
	x->n_epochs = (size_t)among(&x->r, 1, EPOCHS);
	int64_t from = 0, highest = 0;
	for (size_t e = 0; e < x->n_epochs; e++) {
		const int64_t to = from + among(&x->r, 2, 30);
		for (int k = 0; k < 2; k++) {
			x->knot[2 * e + (size_t)k] =
				(struct usk_knot){ k ? 1000 : -1000, (int64_t)e * APART,
						   (int64_t)e * APART - 1, (int64_t)e * APART + 1,
						   (uint32_t)e };
		}
		const size_t most = x->n + (size_t)among(&x->r, 1, STAMPS / EPOCHS), first = x->n;
		int64_t t = among(&x->r, from, e && highest <= to ? highest - 1 : to);
		x->begin[x->n_begins++] =
			(struct usk_trace_begin){ .epoch = (uint32_t)e, .record = x->n };
		while (x->n < most && t <= to) {
			x->epoch[x->n] = e;
			x->stamp[x->n++] = t;
			highest = x->n == first + 1 || t > highest ? t : highest;
			t += among(&x->r, 0, 6);
		}
		/* The next one begins below all of that, if it is to be told. */
		from = highest - among(&x->r, 1, 20);
		x->back[e] = (struct usk_set_back){ to, from };
	}
}

/* Which epoch a stamp is of by what the answer says and what stamps fall by. */
struct course {
	size_t epoch, at, n_later;
	int64_t highest;
};

static bool turns(const struct recorded *x, struct course *c, size_t i)
{
	const int64_t t = x->stamp[i];
	const struct usk_trace_begin *later = c->at < c->n_later ? &x->begin[c->at] : NULL;
	if (later && later->record == i && t < c->highest && t >= x->back[later->epoch - 1].to_ns &&
	    c->highest <= x->back[later->epoch - 1].from_ns) {
		c->epoch = later->epoch;
		c->at++;
		return true;
	}
	if (later && later->record == i) {
		c->n_later = 0; /* it is another trace now */
	}
	if (c->epoch + 1 == x->n_epochs) {
		return false;
	}
	const struct usk_set_back *b = &x->back[c->epoch];
	const int64_t half = (b->from_ns - b->to_ns + 1) / 2, near = b->from_ns - half;
	if (c->highest >= near && c->highest - t >= half) {
		c->n_later = 0;
		c->epoch++;
		return true;
	}
	c->highest = t > c->highest && t - near <= 2 * half ? t : c->highest;
	return false;
}

static void expect(const struct recorded *x, bool known, size_t *epoch)
{
	struct course c = { .at = 1, .n_later = known ? x->n_begins : 0, .highest = x->stamp[0] };
	while (!known && ((c.epoch && x->stamp[0] < x->back[c.epoch - 1].to_ns) ||
			  (c.epoch + 1 < x->n_epochs && x->stamp[0] > x->back[c.epoch].from_ns))) {
		if (++c.epoch == x->n_epochs) {
			c.epoch = 0; /* none can have shown it */
			break;
		}
	}
	for (size_t i = 0; i < x->n; i++) {
		if (turns(x, &c, i)) {
			c.highest = x->stamp[i];
		}
		epoch[i] = c.epoch;
	}
}

/* The epochs that a replay finds, in batches of any size. */
static void replay(struct recorded *x, bool known, size_t *epoch)
{
	struct usk_clock clock = { .knot = x->knot,
				   .n_knots = 2 * x->n_epochs,
				   .set_back = x->back,
				   .n_set_backs = x->n_epochs - 1,
				   .quality = USK_BOUNDED };
	struct usk_trace_info info = { .path = (char[]){ "p" },
				       .begin = x->begin,
				       .n_begins = known ? x->n_begins : 0 };
	struct usk_clocks c = { .clock = &clock, .n_clocks = 1, .trace = &info, .n_traces = 1 };
	struct usk_replay *r = usk_replay_new(&c, 0, "p");
	struct usk_err err = { 0 };
	int64_t out[STAMPS];
	bool repeats[STAMPS];
	assert_non_null(r);
	for (size_t i = 0, n; i < x->n; i += n) {
		n = (size_t)among(&x->r, 1, (int64_t)(x->n - i));
		if (usk_replay_undoable(r, x->stamp + i, n, out + i, repeats + i, &err)) {
			fail_msg("seed %llu: %s", (unsigned long long)x->seed, err.msg);
		}
	}
	assert_int_equal(usk_replay_end(r, &err), USK_OK);
	for (size_t i = 0; i < x->n; i++) {
		epoch[i] = (size_t)((out[i] - x->stamp[i]) / APART);
		assert_false(repeats[i]);
	}
	usk_replay_free(r);
}

static void check(struct recorded *x, bool known, const size_t *want, const char *what)
{
	size_t got[STAMPS];
	replay(x, known, got);
	for (size_t i = 0; i < x->n; i++) {
		if (got[i] != want[i]) {
			fail_msg("seed %llu, %s: record %zu of %zu is of epoch %zu, not %zu",
				 (unsigned long long)x->seed, what, i, x->n, got[i], want[i]);
		}
	}
}

/* Where the answer says with which records epochs begin they are the true ones, however little stamps fall by. Where
 * it says nothing, or of another trace, stamps have to tell. */
static void test_epochs(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct recorded x;
		size_t want[STAMPS];
		record(&x, seed);
		check(&x, true, x.epoch, "as the answer says");
		expect(&x, true, want);
		check(&x, true, want, "by both");
		expect(&x, false, want);
		check(&x, false, want, "by what falls");
		for (int k = 0; k < 3; k++) {
			x.stamp[usk_rng_below(&x.r, x.n)] += among(&x.r, -20, 20);
		}
		expect(&x, true, want);
		check(&x, true, want, "of another trace");
		expect(&x, false, want);
		check(&x, false, want, "by what falls anywhere");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_epochs) };
	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
