/* SPDX-License-Identifier: MIT */
#include "tables.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct usk_sync_options defaults = { .max_outliers = -1,
					   .from_ns = USK_NONE,
					   .to_ns = USK_NONE };

void row(struct bytes *b, const char *from, const char *to, int64_t sent, int64_t received)
{
	char *text =
		usk_format("%s,%s,%lld,%lld\n", from, to, (long long)sent, (long long)received);
	put_text(b, text);
	free(text);
}

void add(struct traces *t, const struct bytes *b, const char *name)
{
	struct usk_err err = { 0 };
	if (usk_trace_open_memory(b->data, b->n, name, &t->t[t->n], &err)) {
		fail_msg("%s: %s", name, err.msg);
	}
	t->n++;
}

void close_all(struct traces *t)
{
	for (size_t i = 0; i < t->n; i++) {
		usk_trace_close(t->t[i]);
	}
	t->n = 0;
}

struct usk_clocks *sync_table(const struct bytes *b, const struct usk_sync_options *o)
{
	struct traces t = { .n = 0 };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	add(&t, b, "table");
	if (usk_sync(t.t, t.n, o, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	close_all(&t);
	return c;
}

const struct usk_clock *clock_named(const struct usk_clocks *c, const char *name)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		if (!strcmp(c->clock[i].name, name)) {
			return &c->clock[i];
		}
	}
	fail_msg("there is no clock %s", name);
	return NULL;
}

const struct clockwork clockworks[CLOCKWORKS] = {
	{ 0, 0 },
	{ 3 * SECOND, 20000 },
	{ -268 * 86400 * SECOND, -77777 },
	{ 3600 * SECOND, 400000 },
};

int64_t on_b(const struct clockwork *k, int64_t t)
{
	return t + k->offset_ns +
	       (int64_t)usk_floor_div((usk_i128)(t - START) * k->drift_ppb, 1000000000);
}

void exchange(struct bytes *b, const struct clockwork *k, struct usk_rng *r, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t t = START + i * 10 * MS;
		int64_t d = 50000 + (int64_t)usk_rng_exponential(r, 50000);
		row(b, "a", "b", t, on_b(k, t + d));
		t += 5 * MS;
		d = 50000 + (int64_t)usk_rng_exponential(r, 50000);
		row(b, "b", "a", on_b(k, t), t + d);
	}
}

void assert_holds(const struct usk_clocks *c, const struct clockwork *k, int64_t lasts)
{
	assert_holds_known(c, k, lasts, START + lasts / 1000 * 999);
}

void assert_holds_known(const struct usk_clocks *c, const struct clockwork *k, int64_t lasts,
			int64_t until_ns)
{
	const struct usk_clock *b = clock_named(c, "b");
	assert_int_equal(b->quality, USK_BOUNDED);
	struct usk_map *m = usk_map_new(b, c->max_skew_e12);
	assert_non_null(m);
	for (int64_t i = -500; i <= 1500; i++) {
		int64_t t = START + lasts / 1000 * i, local = on_b(k, t);
		struct usk_stamp s;
		assert_int_equal(usk_map_at(m, local, &s, NULL), USK_OK);
		bool known = s.lo_ns != USK_NONE && s.hi_ns != USK_NONE;
		assert_true(known || i <= 0 || t >= until_ns);
		/* 1 ns: on_b() rounds. */
		if (known && (s.lo_ns > t + 1 || s.hi_ns < t - 1)) {
			fail_msg("at %lld: %lld to %lld does not hold the truth",
				 (long long)(t - START), (long long)(s.lo_ns - t),
				 (long long)(s.hi_ns - t));
		}
		assert_true(!known || (s.lo_ns <= s.reference_ns && s.reference_ns <= s.hi_ns));
	}
	usk_map_free(m);
}
