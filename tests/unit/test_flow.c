/* SPDX-License-Identifier: MIT */
/*
 * From tables and captures to clocks: who takes part, what the options say, and what happens to
 * messages that cannot be true.
 */
#include "../part.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 909

/* ---- qualities ------------------------------------------------------------------------------ */

static void test_plain(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(clockworks); k++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		usk_rng_seed(&r, SEED + k);
		put_text(&b, HEAD);
		exchange(&b, &clockworks[k], &r, 1000);
		struct usk_clocks *c = sync_table(&b, NULL);
		const struct usk_clock *a = clock_named(c, "a"), *y = clock_named(c, "b");
		assert_int_equal(a->quality, USK_REFERENCE);
		assert_true(a->n_knots == 2 && a->knot[0].local_ns == START);
		assert_true(a->knot[0].offset_ns == 0 && a->knot[1].hi_ns == 0);
		assert_holds(c, &clockworks[k], 10 * SECOND);
		double ppm = (double)clockworks[k].drift_ppb / 1000;
		assert_true(y->drift_min_ppm - 0.5 <= ppm && ppm <= y->drift_max_ppm + 0.5);
		assert_true(y->n_path == 2 && y->path[0] == 0 && y->path[1] == 1);
		assert_int_equal(c->n_islands, 1);
		assert_int_equal(c->counts.matched, 2000);
		assert_true(c->evaluation.half_best_ns <= c->evaluation.half_mean_ns &&
			    c->evaluation.half_mean_ns <= c->evaluation.half_worst_ns);
		assert_int_equal(c->evaluation.corrected_inversions, 0);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

static bool says(const struct usk_clocks *c, const char *text)
{
	bool any = false;
	for (size_t i = 0; i < c->n_notes && !any; i++) {
		any = strstr(c->note[i], text);
	}
	return any;
}

static void test_one_sided_and_absent(void **state)
{
	(void)state;
	for (int back = 0; back < 2; back++) {
		struct bytes b = { 0 };
		put_text(&b, HEAD);
		for (int i = 0; i < 100; i++) {
			int64_t t = START + i * SECOND;
			row(&b, back ? "b" : "a", back ? "a" : "b", t + (back ? 500 : 0),
			    t + 90 + (back ? 0 : 500));
			row(&b, "c", "c", t, t + 10); /* to itself */
			row(&b, "d", "d", t, t + 10);
		}
		struct usk_sync_options o = defaults;
		o.reference = "a";
		struct usk_clocks *c = sync_table(&b, &o);
		const struct usk_clock *y = clock_named(c, "b");
		assert_int_equal(y->quality, USK_ONE_SIDED);
		assert_true(y->n_knots >= 2);
		for (size_t i = 0; i < y->n_knots; i++) {
			assert_true(y->knot[i].offset_ns == USK_NONE);
			assert_true((y->knot[i].lo_ns == USK_NONE) == back);
			assert_true((y->knot[i].hi_ns == USK_NONE) == !back);
			/* The true offset is -500. */
			assert_true(back ? y->knot[i].hi_ns >= -500 : y->knot[i].lo_ns <= -500);
		}
		assert_int_equal(clock_named(c, "c")->quality, USK_ABSENT);
		assert_int_equal(clock_named(c, "d")->quality, USK_ABSENT);
		assert_int_equal(clock_named(c, "d")->n_knots, 0);
		assert_int_equal(c->n_islands, 3);
		assert_int_equal(c->island[0].n_clocks, 2);
		assert_true(says(c, "c and d share no message"));
		assert_true(says(c, "b is bounded on one side only: messages connect it with a"));
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/* ---- who takes part ------------------------------------------------------------------------ */

/* Hundreds of names, each tied to the first; then the same with another one as reference. */
static void test_many_names(void **state)
{
	const int names = 20 + (int)case_count_at_most(280);
	struct bytes b = { 0 };
	(void)state;
	put_text(&b, HEAD);
	for (int round = 0; round < 4; round++) {
		for (int i = 1; i < names; i++) {
			char name[20];
			int64_t t = START + round * SECOND + i * MS;
			snprintf(name, sizeof name, "host %d", i);
			row(&b, "hub", name, t, t + 100 + i * 1000);
			row(&b, name, "hub", t + 200 + i * 1000, t + 300);
		}
	}
	struct usk_clocks *c = sync_table(&b, &defaults);
	assert_int_equal(c->n_clocks, names);
	assert_int_equal(c->n_pairs, names - 1);
	assert_int_equal(c->n_islands, 1);
	for (int i = 1; i < names; i++) {
		char name[20];
		snprintf(name, sizeof name, "host %d", i);
		const struct usk_clock *y = clock_named(c, name);
		assert_int_equal(y->quality, USK_BOUNDED);
		assert_true(y->knot[0].lo_ns <= -i * 1000 && y->knot[0].hi_ns >= -i * 1000);
		assert_int_equal(c->pair[i - 1].a_to_b, 4);
	}
	usk_clocks_free(c);
	struct usk_sync_options o = defaults;
	o.reference = "host 7";
	c = sync_table(&b, &o);
	assert_int_equal(clock_named(c, "host 7")->quality, USK_REFERENCE);
	assert_int_equal(clock_named(c, "hub")->quality, USK_BOUNDED);
	/* Over the hub. */
	assert_int_equal(clock_named(c, "host 8")->quality, USK_BOUNDED);
	assert_true(clock_named(c, "host 8")->knot[0].lo_ns <= -1000 &&
		    clock_named(c, "host 8")->knot[0].hi_ns >= -1000);
	assert_int_equal(clock_named(c, "host 8")->n_path, 3);
	assert_true(clock_named(c, "hub")->knot[0].lo_ns <= 7000 &&
		    clock_named(c, "hub")->knot[0].hi_ns >= 7000);
	usk_clocks_free(c);
	bytes_free(&b);
}

/* Several tables are one: messages of a pair, spans and grids go over all of them. */
static void test_tables_together(void **state)
{
	struct bytes b[3] = { { 0 } };
	struct traces t = { .n = 0 };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	(void)state;
	for (int k = 0; k < 3; k++) {
		put_text(&b[k], HEAD);
		for (int i = 0; i < 50; i++) {
			int64_t x = START + (50 * k + i) * SECOND;
			/* a: 1 ms, counted from 7 ns; b: any ns; the names come in another order.
			 */
			if (k == 1) {
				row(&b[k], "b", "a", x + i * 1237, x + 7 + 3 * MS);
			}
			row(&b[k], "a", "b", x + 7, x + 200 + i * 1237);
			row(&b[k], "b", "a", x + i * 1237, x + 7 + 3 * MS);
		}
		add(&t, &b[k], "table");
	}
	assert_int_equal(usk_sync(t.t, t.n, &defaults, &c, &err), USK_OK);
	assert_int_equal(c->n_clocks, 2);
	assert_int_equal(c->n_traces, 3);
	assert_int_equal(c->trace[1].events, 150);
	assert_int_equal(c->counts.matched, 350);
	const struct usk_clock *a = clock_named(c, "a"), *y = clock_named(c, "b");
	assert_int_equal(a->resolution_ns, MS);
	assert_int_equal(y->resolution_ns, 1);
	assert_true(a->knot[0].local_ns == START + 7);
	assert_true(a->knot[1].local_ns == START + 149 * SECOND + 7 + 3 * MS);
	assert_true(y->knot[0].local_ns == START);
	usk_clocks_free(c);
	close_all(&t);
	for (int k = 0; k < 3; k++) {
		bytes_free(&b[k]);
	}
}

/* What stamps are rounded down to: found from their grid, stated, or too few to say. */
static void test_resolution(void **state)
{
	static const struct {
		int64_t grid;
		int rows;
		const char *stated;
		int64_t want;
	} cases[] = {
		{ 1, 100, NULL, 1 },
		{ 1000, 100, NULL, 1000 },
		{ 1000000, 100, NULL, 1000000 },
		{ 15625000, 100, NULL, 15625000 }, /* 64 ticks a second */
		{ 1000, 10, NULL, 1000 },
		{ 1000, 1, NULL, 1000 }, /* so does a single one */
		{ 1, 100, "b=2us", 2000 },
		{ 1000000, 100, "b=1us", 1000000 }, /* the coarsest counts */
		{ 1, 100, "b=0", 1 },
		{ 1, 100, "b=1ns", 1 },
	};
	(void)state;
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		usk_rng_seed(&r, SEED);
		put_text(&b, HEAD);
		int64_t g = cases[k].grid;
		for (int i = 0; i < cases[k].rows; i++) {
			int64_t t = START + i * SECOND + (int64_t)usk_rng_below(&r, 1000000000);
			int64_t at = t + 1000 + (int64_t)usk_rng_below(&r, 1000);
			row(&b, "a", "b", t, at / g * g);
			row(&b, "b", "a", at / g * g, at + 1000);
		}
		o.resolution = &cases[k].stated;
		o.n_resolution = cases[k].stated != NULL;
		struct usk_clocks *c = sync_table(&b, &o);
		if (clock_named(c, "b")->resolution_ns != cases[k].want) {
			fail_msg("case %zu: %lld ns", k,
				 (long long)clock_named(c, "b")->resolution_ns);
		}
		assert_int_equal(clock_named(c, "a")->resolution_ns, 1);
		/* Stamps rounded down by up to that still leave the truth in the band. */
		assert_int_equal(c->pair[0].quality, USK_BOUNDED);
		assert_holds(c, &(struct clockwork){ 0, 0 }, 100 * SECOND);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/* ---- options ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct usk_sync_options o;
	const char *row; /* of resolution, or of local if it has a dot or is too wrong */
	bool local;
	const char *says;
} bad_options[] = {
	{ "reference", { .reference = "z" }, NULL, false, "--reference z" },
	{ "model", { .model = "quadratic" }, NULL, false, "quadratic" },
	{ "method", { .method = "guess" }, NULL, false, "guess" },
	{ "resolution of nobody", { 0 }, "z=1us", false, "--resolution z=1us" },
	{ "resolution without a name", { 0 }, "1us", false, "--resolution 1us" },
	{ "resolution of no clock", { 0 }, "=1us", false, "--resolution =1us" },
	{ "half a name", { 0 }, "ho=1us", false, "--resolution ho" },
	{ "resolution without a unit", { 0 }, "host=1", false, "unit" },
	{ "resolution without a number", { 0 }, "host=", false, "duration" },
	{ "resolution below zero", { 0 }, "host=-1us", false, "negative" },
	{ "resolution finer than ns", { 0 }, "host=0.1ns", false, "1 ns" },
	{ "address of nobody", { 0 }, "z=10.0.0.1", true, "--local z" },
	{ "no address", { 0 }, "host=10.0.0", true, "not an IPv4 or IPv6 address" },
	{ "a name", { 0 }, "host=localhost", true, "localhost" },
};

static void test_bad_options(void **state)
{
	struct bytes b = { 0 };
	(void)state;
	put_text(&b, HEAD "host,b,1,2\nb,host,3,4\n");
	for (size_t i = 0; i < COUNT(bad_options); i++) {
		struct usk_sync_options o = bad_options[i].o;
		o.max_outliers = -1;
		o.from_ns = o.to_ns = USK_NONE;
		if (bad_options[i].row && bad_options[i].local) {
			o.local = &bad_options[i].row;
			o.n_local = 1;
		} else if (bad_options[i].row) {
			o.resolution = &bad_options[i].row;
			o.n_resolution = 1;
		}
		struct traces t = { .n = 0 };
		struct usk_clocks *c = NULL;
		struct usk_err err = { 0 };
		add(&t, &b, "table");
		enum usk_status status = usk_sync(t.t, 1, &o, &c, &err);
		if (!status || !strstr(err.msg, bad_options[i].says) || c) {
			fail_msg("%s: %d %s", bad_options[i].name, status, err.msg);
		}
		assert_int_equal(usk_check(t.t, 1, &o, &c, &err), status);
		close_all(&t);
	}
	bytes_free(&b);
}

static void test_nothing_to_do(void **state)
{
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	struct traces t = { .n = 0 };
	struct bytes table = { 0 }, alone = { 0 }, empty = { 0 }, other = { 0 };
	(void)state;
	assert_int_equal(usk_sync(NULL, 0, NULL, &c, &err), USK_EUSAGE);
	put_text(&table, HEAD);
	put_text(&alone, HEAD "a,a,1,2\n");
	pcap_begin(&empty, MAGIC_US, 96, 1);
	pcap_begin(&other, MAGIC_US, 96, 1);
	add(&t, &table, "table");
	assert_int_equal(usk_sync(t.t, 1, NULL, &c, &err), USK_EINPUT);
	assert_true(strstr(err.msg, "no message"));
	close_all(&t);
	add(&t, &alone, "table");
	assert_int_equal(usk_sync(t.t, 1, NULL, &c, &err), USK_EINPUT);
	assert_true(strstr(err.msg, "one clock only"));
	close_all(&t);
	add(&t, &empty, "a");
	assert_int_equal(usk_sync(t.t, 1, NULL, &c, &err), USK_EINPUT);
	assert_true(strstr(err.msg, "one capture alone"));
	add(&t, &other, "a");
	/* Two traces of one clock are still one clock. */
	assert_int_equal(usk_sync(t.t, 2, NULL, &c, &err), USK_EINPUT);
	assert_true(strstr(err.msg, "all 2 traces are of one clock, \"a\""));
	usk_trace_close(t.t[--t.n]);
	add(&t, &other, "b");
	assert_null(c);
	/* Two captures without a packet share nothing. */
	assert_int_equal(usk_sync(t.t, 2, NULL, &c, &err), USK_OK);
	assert_int_equal(c->clock[0].quality, USK_REFERENCE);
	assert_int_equal(c->clock[1].quality, USK_ABSENT);
	usk_clocks_free(c);
	close_all(&t);
	bytes_free(&table);
	bytes_free(&alone);
	bytes_free(&empty);
	bytes_free(&other);
}

/* ---- sinks, parts, checks ------------------------------------------------------------------ */

struct gathered {
	struct usk_msg m[4096];
	size_t n, starts, stop_after;
};

static bool restart(void *ctx)
{
	struct gathered *g = ctx;
	g->n = 0;
	g->starts++;
	return true;
}

static bool gather(void *ctx, const struct usk_msg *m, size_t n)
{
	struct gathered *g = ctx;
	for (size_t i = 0; i < n; i++) {
		g->m[g->n++ % COUNT(g->m)] = m[i];
	}
	return g->n <= g->stop_after;
}

/* The sink gets what was used in the end: without outliers, without what lies outside. */
static void test_messages_out(void **state)
{
	static struct gathered g;
	(void)state;
	for (int k = 0; k < 8; k++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		struct usk_sink sink = { .ctx = &g, .start = restart, .put = gather };
		int64_t from = k & 2 ? START + 2 * SECOND : USK_NONE;
		int64_t to = k & 4 ? START + 7 * SECOND : USK_NONE;
		usk_rng_seed(&r, SEED);
		memset(&g, 0, sizeof g);
		g.stop_after = SIZE_MAX;
		put_text(&b, HEAD);
		exchange(&b, &clockworks[1], &r, 1000);
		if (k & 1) {
			int64_t t = START + 5 * SECOND;
			row(&b, "a", "b", t, on_b(&clockworks[1], t - SECOND));
		}
		o.messages = &sink;
		o.from_ns = from;
		o.to_ns = to;
		struct usk_clocks *c = sync_table(&b, &o);
		assert_int_equal(c->pair[0].n_outliers, k & 1);
		assert_true(g.starts >= 1);
		size_t outside = 0;
		for (size_t i = 0; i < g.n; i++) {
			int64_t on_a = g.m[i].from == 0 ? g.m[i].sent_ns : g.m[i].received_ns;
			outside +=
				(from != USK_NONE && on_a < from) || (to != USK_NONE && on_a > to);
		}
		assert_int_equal(outside, 0);
		assert_int_equal(g.n, c->pair[0].a_to_b + c->pair[0].b_to_a);
		/* Two a hundredth of a second; the bounds are part of it. */
		size_t first = k & 2 ? 200 : 0, last = k & 4 ? 700 : 999;
		assert_true(g.n >= 2 * (last - first) && g.n <= 2 * (last - first) + 2);
		assert_holds(c, &clockworks[1], 10 * SECOND);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

static void test_check(void **state)
{
	struct bytes b = { 0 };
	struct traces t = { .n = 0 };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	(void)state;
	put_text(&b, HEAD);
	for (int i = 0; i < 100; i++) {
		int64_t x = START + i * SECOND;
		row(&b, "a", "b", x, x + 300 + i);
		row(&b, "b", "a", x + 500, x + 499 - i); /* all before they were sent */
	}
	add(&t, &b, "table");
	assert_int_equal(usk_check(t.t, t.n, NULL, &c, &err), USK_OK);
	assert_int_equal(c->clock[1].quality, USK_ABSENT);
	assert_int_equal(c->evaluation.recorded_inversions, 100);
	const struct usk_pair *p = &c->pair[0];
	assert_true(p->recorded_a_to_b.min_ns == 300 && p->recorded_a_to_b.max_ns == 399);
	assert_true(p->recorded_b_to_a.min_ns == -100 && p->recorded_b_to_a.max_ns == -1);
	assert_int_equal(p->recorded_b_to_a.inversions, 100);
	assert_true(p->recorded_a_to_b.median_ns >= 345 && p->recorded_a_to_b.median_ns <= 355);
	usk_clocks_free(c);
	close_all(&t);
	bytes_free(&b);
}

/* A table cut short: what is whole is used, and a note says so. */
static void test_damaged_table(void **state)
{
	struct bytes b = { 0 };
	struct usk_rng r;
	(void)state;
	usk_rng_seed(&r, SEED);
	put_text(&b, HEAD);
	exchange(&b, &clockworks[1], &r, 500);
	put_text(&b, "a,b,17000000");
	struct usk_clocks *c = sync_table(&b, &defaults);
	assert_true(c->trace[0].truncated);
	assert_int_equal(c->trace[0].events, 1000);
	assert_true(c->n_notes == 1 && strstr(c->note[0], "line 1002"));
	assert_holds(c, &clockworks[1], 5 * SECOND);
	usk_clocks_free(c);
	bytes_free(&b);
}

/* ---- the order of rows ---------------------------------------------------------------------- */

/* n messages, one each 5 ms, of a and b, or a and c, which are of one time; while t is in [from, to) b
 * is behind by `by`, and of every other seed it only sends; that rows are in order of sending delays tell, then. */
static void talk(struct bytes *b, const struct clockwork *w, uint64_t seed, int64_t begin,
		 int64_t n, int64_t from, int64_t to, int64_t by)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	for (int64_t i = begin; i < begin + n; i++) {
		const int64_t t = START + i * 5 * MS;
		const int64_t u =
			t + 50000 + (int64_t)usk_rng_exponential(&r, seed % 2 ? 5e6 : 5e4);
		const bool alone = seed % 2 && t >= from && t < to;
		bool back = usk_rng_below(&r, 2);
		if (usk_rng_below(&r, 2)) {
			row(b, back ? "c" : "a", back ? "a" : "c", t, u);
			continue;
		}
		back = back || alone;
		const int64_t at = back ? t : u;
		const int64_t on = on_b(w, at) - (at >= from && at < to ? by : 0);
		row(b, back ? "b" : "a", back ? "a" : "b", back ? on : t, back ? u : on);
	}
}

static uint32_t epochs_of(const struct usk_clocks *c, const char *name)
{
	const struct usk_clock *k = clock_named(c, name);
	return k->n_knots ? k->knot[k->n_knots - 1].epoch : 0;
}

/* A clock that is set back, and soon forward again, is told from rows that were written late. */
static void test_back_for_a_while(void **state)
{
	(void)state;
	enum { ROWS = 800 };
	uint64_t missed = 0;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		const struct clockwork *w = &clockworks[seed % CLOCKWORKS];
		const int64_t lasts = 40 + (int64_t)usk_rng_below(&r, 40);
		const int64_t first = 50 + (int64_t)usk_rng_below(&r, 200);
		const int64_t from = START + first * 10 * MS - MS, to = from + lasts * 10 * MS;
		/* By more than it lasts: when it is set forward it shows what it never showed. */
		const int64_t by = 2 * (to - from) + (int64_t)usk_rng_below(&r, SECOND);
		put_text(&b, HEAD);
		talk(&b, w, seed, 0, ROWS, from, to, by);
		struct usk_clocks *c = sync_table(&b, &defaults);
		missed += epochs_of(c, "b") != 1;
		/* If it only sent, that it was set forward again nothing tells from wrong messages. */
		if (epochs_of(c, "a") || (c->counts.outliers && seed % 2 == 0)) {
			fail_msg("seed %llu: %u times set back, %llu outliers",
				 (unsigned long long)seed, epochs_of(c, "a"),
				 (unsigned long long)c->counts.outliers);
		}
		usk_clocks_free(c);
		bytes_free(&b);
	}
	assert_true(missed <= 1 + case_count(40) / 20);
}

/* Rows of which the later ones come first set nobody back: both clocks of each begin anew. */
static void test_later_first(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		const struct clockwork *w = &clockworks[seed % CLOCKWORKS];
		const int64_t cut = 100 + (int64_t)usk_rng_below(&r, 600);
		put_text(&b, HEAD);
		talk(&b, w, seed, cut, 800 - cut, 0, 0, 0);
		talk(&b, w, seed, 0, cut, 0, 0, 0);
		struct usk_clocks *c = sync_table(&b, &defaults);
		if (epochs_of(c, "b") || epochs_of(c, "a") || c->counts.outliers) {
			fail_msg("seed %llu: set back", (unsigned long long)seed);
		}
		assert_holds(c, w, 4 * SECOND);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_one_sided_and_absent),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_tables_together),
		cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_messages_out),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_damaged_table),
		cmocka_unit_test(test_back_for_a_while),
		cmocka_unit_test(test_later_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
