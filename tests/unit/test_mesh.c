/* SPDX-License-Identifier: MIT */
/*
 * Many clocks from tables: who is tied to whom, the truth in every band, and that neither the order
 * of rows nor of tables shows in an answer.
 */
#include "../part.h"
#include "knots.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 4711

enum { MOST = 50 };

struct mesh {
	size_t n;
	struct clockwork clock[MOST];
	struct line {
		char text[96];
	} * row;
	size_t n_rows, cap_rows;
	struct usk_rng r;
};

static void begin(struct mesh *m, size_t n, uint64_t seed)
{
	memset(m, 0, sizeof *m);
	m->n = n;
	usk_rng_seed(&m->r, seed);
	for (size_t i = 0; i < n; i++) {
		m->clock[i].offset_ns = (int64_t)usk_rng_below(&m->r, 2000000000) - 1000000000;
		m->clock[i].drift_ppb = (int64_t)usk_rng_below(&m->r, 100000) - 50000;
	}
}

static void end(struct mesh *m)
{
	free(m->row);
}

/* A message at a true time, 40 us + Exp(100 us) under way. */
static void say(struct mesh *m, size_t from, size_t to, int64_t t)
{
	int64_t d = 40000 + (int64_t)usk_rng_exponential(&m->r, 100000);
	m->row = usk_room(m->row, m->n_rows, &m->cap_rows, sizeof *m->row);
	snprintf(m->row[m->n_rows++].text, sizeof m->row->text, "c%02zu,c%02zu,%lld,%lld\n", from,
		 to, (long long)on_b(&m->clock[from], t), (long long)on_b(&m->clock[to], t + d));
}

/* n messages each way, or one way, over 100 s. */
static void talk(struct mesh *m, size_t x, size_t y, size_t n, bool back)
{
	for (size_t i = 0; i < n; i++) {
		int64_t t = START + (int64_t)i * (100 * SECOND / (int64_t)n) +
			    (int64_t)usk_rng_below(&m->r, 1000000);
		say(m, x, y, t);
		if (back) {
			say(m, y, x, t + (int64_t)usk_rng_below(&m->r, 50000000));
		}
	}
}

static void shuffle(struct mesh *m)
{
	for (size_t i = m->n_rows; i > 1; i--) {
		size_t k = usk_rng_below(&m->r, i);
		struct line x = m->row[i - 1];
		m->row[i - 1] = m->row[k];
		m->row[k] = x;
	}
}

/* In so many tables, the first of them being the first-th; rows are dealt round. */
static struct usk_clocks *solve(const struct mesh *m, size_t tables, size_t first,
				const struct usk_sync_options *o)
{
	struct bytes b[4] = { { 0 } };
	struct traces t = { .n = 0 };
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	for (size_t k = 0; k < tables; k++) {
		put_text(&b[k], HEAD);
	}
	for (size_t i = 0; i < m->n_rows; i++) {
		put_text(&b[i % tables], m->row[i].text);
	}
	for (size_t k = 0; k < tables; k++) {
		add(&t, &b[(k + first) % tables], "table");
	}
	if (usk_sync(t.t, t.n, o, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	close_all(&t);
	for (size_t k = 0; k < tables; k++) {
		bytes_free(&b[k]);
	}
	return c;
}

static size_t number_of(const struct usk_clock *k)
{
	return (size_t)atoi(k->name + 1);
}

/* Is what the reference showed in the band of a clock, at moments within the trace and beyond? */
static void assert_true_bands(const struct mesh *m, const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		struct usk_map *map = usk_map_new(k, c->max_skew_e12);
		const struct clockwork *mine = &m->clock[number_of(k)];
		const struct clockwork *ref = &m->clock[number_of(&c->clock[k->reference])];
		for (int64_t at = -20; map && at <= 120; at++) {
			int64_t t = START + at * SECOND, want = on_b(ref, t);
			struct usk_stamp s;
			assert_int_equal(usk_map_at(map, on_b(mine, t), &s, NULL), USK_OK);
			/* 2 ns: on_b() rounds, twice. */
			if ((s.lo_ns != USK_NONE && s.lo_ns > want + 2) ||
			    (s.hi_ns != USK_NONE && s.hi_ns < want - 2)) {
				fail_msg("%s at %lld s: %lld to %lld of the truth", k->name,
					 (long long)at, (long long)(s.lo_ns - want),
					 (long long)(s.hi_ns - want));
			}
		}
		usk_map_free(map);
	}
}

static void assert_same(const struct usk_clocks *c, const struct usk_clocks *d)
{
	assert_int_equal(c->n_clocks, d->n_clocks);
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *x = &c->clock[i], *y = clock_named(d, x->name);
		assert_int_equal(x->quality, y->quality);
		assert_string_equal(c->clock[x->reference].name, d->clock[y->reference].name);
		assert_int_equal(x->n_knots, y->n_knots);
		if (!same_knots(x->knot, y->knot, x->n_knots)) {
			fail_msg("%s has other knots", x->name);
		}
	}
	assert_int_equal(c->n_pairs, d->n_pairs);
	assert_int_equal(c->evaluation.half_mean_ns, d->evaluation.half_mean_ns);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static const char *const models[] = { "linear", "wander" };
static const char *const solves[] = { "tree", "joint" };

/* A small share of the cases is for who takes 30 times as long: then one of the ways is enough. */
static size_t ways_between(void)
{
	return cases_are_few() ? COUNT(models) * COUNT(solves) : 1;
}

static void test_sizes(void **state)
{
	const size_t most = 9 + case_count_at_most(MOST - 9), sizes[] = { 2, 3, 5, 8, most };
	const size_t every = ways_between();
	(void)state;
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct mesh m;
		size_t n = sizes[s], pairs = 0;
		begin(&m, n, SEED + s);
		for (size_t i = 0; i < n; i++) {
			for (size_t step = 1; step <= 3; step += 2) {
				size_t k = (i + step) % n;
				bool seen = k < i ? (i + n - k) % n <= 3 && n <= 5 : false;
				if (k != i && !seen) {
					talk(&m, i, k, n > 8 ? 8 : 16, true);
				}
			}
		}
		for (size_t k = 0; k < COUNT(models) * COUNT(solves); k++) {
			struct usk_sync_options o = defaults;
			o.model = models[k % 2];
			o.solve = solves[k / 2];
			if ((n == most && every == 1 && (k == 1 || k == 2)) || (s + k) % every) {
				continue; /* smaller ones tell as much */
			}
			struct usk_clocks *c = solve(&m, 1, 0, &o);
			assert_int_equal(c->n_clocks, n);
			assert_int_equal(c->n_islands, 1);
			assert_int_equal(c->counts.matched, m.n_rows);
			for (size_t i = 0; i < n; i++) {
				enum usk_quality q = c->clock[i].quality;
				assert_true(q == USK_BOUNDED || q == USK_REFERENCE);
			}
			assert_true_bands(&m, c);
			assert_int_equal(c->evaluation.corrected_inversions, 0);
			pairs = pairs ? pairs : c->n_pairs;
			assert_int_equal(c->n_pairs, pairs);
			usk_clocks_free(c);
		}
		end(&m);
	}
}

/* Two islands, a clock that only sends, one that only receives, one that talks to itself. */
static void test_islands(void **state)
{
	struct mesh m;
	(void)state;
	begin(&m, 9, SEED);
	talk(&m, 0, 1, 30, true);
	talk(&m, 1, 2, 30, true);
	talk(&m, 2, 3, 30, false); /* 3 only hears */
	talk(&m, 4, 2, 30, false); /* 4 only speaks */
	talk(&m, 5, 6, 30, true);
	talk(&m, 7, 7, 3, false);
	talk(&m, 8, 8, 3, false);
	for (size_t k = 0; k < COUNT(models) * COUNT(solves); k++) {
		static const enum usk_quality want[] = {
			USK_BOUNDED,   USK_REFERENCE, USK_BOUNDED, USK_ONE_SIDED, USK_ONE_SIDED,
			USK_REFERENCE, USK_BOUNDED,   USK_ABSENT,  USK_ABSENT
		};
		struct usk_sync_options o = defaults;
		o.model = models[k % 2];
		o.solve = solves[k / 2];
		struct usk_clocks *c = solve(&m, 1, 0, &o);
		assert_int_equal(c->n_islands, 4);
		assert_int_equal(c->n_pairs, 5);
		for (size_t i = 0; i < m.n; i++) {
			char name[32];
			snprintf(name, sizeof name, "c%02zu", i);
			if (i != 5 && i != 6 && clock_named(c, name)->quality != want[i]) {
				fail_msg("%s: %s", name,
					 usk_quality_name(clock_named(c, name)->quality));
			}
		}
		assert_true(clock_named(c, "c05")->reference == clock_named(c, "c06")->reference);
		assert_true_bands(&m, c);
		assert_int_equal(c->n_notes, 3);
		assert_non_null(strstr(c->note[0], "c07 and c08 share no message with any"));
		assert_non_null(strstr(c->note[1], "c05 and c06 share no message with the other"));
		assert_non_null(strstr(c->note[2], "c03 and c04 are bounded on one side only"));
		usk_clocks_free(c);
		/* A clock of the other island as the reference: this one keeps its own. */
		o.reference = "c06";
		c = solve(&m, 1, 0, &o);
		assert_int_equal(clock_named(c, "c06")->quality, USK_REFERENCE);
		assert_int_equal(clock_named(c, "c05")->quality, USK_BOUNDED);
		assert_int_equal(clock_named(c, "c01")->quality, USK_REFERENCE);
		assert_true_bands(&m, c);
		usk_clocks_free(c);
	}
	end(&m);
}

/* ---- order --------------------------------------------------------------------------------- */

static void test_order(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(models) * COUNT(solves); k += ways_between()) {
		struct mesh m;
		struct usk_sync_options o = defaults;
		o.model = models[k % 2];
		o.solve = solves[k / 2];
		begin(&m, 8, SEED + k);
		for (size_t i = 0; i < m.n; i++) {
			talk(&m, i, (i + 1) % m.n, 20 + i, i != 3);
			talk(&m, i, (i + 3) % m.n, 15, true);
		}
		struct usk_clocks *c = solve(&m, 1, 0, &o);
		for (int round = 0; round < 3; round++) {
			shuffle(&m);
			size_t tables = 1 + (size_t)round;
			struct usk_clocks *d = solve(&m, tables, (size_t)round % tables, &o);
			assert_same(c, d);
			usk_clocks_free(d);
		}
		usk_clocks_free(c);
		end(&m);
	}
}

/* ---- wrong messages of several pairs ------------------------------------------------------- */

static void test_outliers(void **state)
{
	struct mesh m;
	struct usk_sync_options o = defaults;
	(void)state;
	begin(&m, 6, SEED);
	for (size_t i = 0; i < m.n; i++) {
		talk(&m, i, (i + 1) % m.n, 50, true);
	}
	struct usk_clocks *clean = solve(&m, 1, 0, &o);
	size_t rows = m.n_rows;
	/* On three of six pairs a message that came a second before it was sent. */
	for (size_t i = 0; i < 3; i++) {
		int64_t t = START + (int64_t)(20 + i) * SECOND;
		m.row = usk_room(m.row, m.n_rows, &m.cap_rows, sizeof *m.row);
		snprintf(m.row[m.n_rows++].text, sizeof m.row->text, "c%02zu,c%02zu,%lld,%lld\n", i,
			 i + 1, (long long)on_b(&m.clock[i], t),
			 (long long)on_b(&m.clock[i + 1], t - SECOND));
	}
	struct usk_clocks *c = solve(&m, 1, 0, &o);
	size_t outliers = 0;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct usk_pair *p = &c->pair[i];
		outliers += p->n_outliers;
		assert_true(p->n_outliers <= 1 && p->n_contradiction == 0);
		assert_int_equal(p->a_to_b + p->b_to_a, 100);
	}
	assert_int_equal(outliers, 3);
	assert_int_equal(c->counts.outliers, 3);
	assert_int_equal(c->counts.matched, rows);
	assert_true_bands(&m, c);
	/* Whether they are wrong or the clock was set for a moment nothing tells: a little wider.
	 */
	int64_t half = clean->evaluation.half_mean_ns;
	assert_true(c->evaluation.half_mean_ns >= half - half / 50);
	assert_true(c->evaluation.half_mean_ns <= half + half / 50);
	usk_clocks_free(c);
	usk_clocks_free(clean);
	end(&m);
}

/* Every message of every pair once, whatever was read how often. */
struct taken {
	size_t n, starts, keeps;
	uint64_t sum;
};

static bool taken_start(void *ctx)
{
	struct taken *t = ctx;
	t->starts++;
	t->n = 0;
	t->sum = 0;
	return true;
}

static bool taken_put(void *ctx, const struct usk_msg *m, size_t n)
{
	struct taken *t = ctx;
	for (size_t i = 0; i < n; i++) {
		t->sum += usk_fold((uint64_t)m[i].sent_ns, (uint64_t)m[i].received_ns) + m[i].to;
	}
	t->n += n;
	return true;
}

static void taken_keep(void *ctx)
{
	((struct taken *)ctx)->keeps++;
}

static void test_messages_out(void **state)
{
	struct mesh m;
	struct taken t[2] = { { 0 } };
	(void)state;
	begin(&m, 7, SEED);
	for (size_t i = 0; i < m.n; i++) {
		talk(&m, i, (i + 2) % m.n, 25, true);
	}
	for (int k = 0; k < 2; k++) {
		struct usk_sink sink = {
			.ctx = &t[k], .start = taken_start, .put = taken_put, .keep = taken_keep
		};
		struct usk_sync_options o = defaults;
		o.messages = &sink;
		o.method = k ? "regress" : NULL;
		usk_clocks_free(solve(&m, 1, 0, &o));
		assert_true(t[k].n == m.n_rows && t[k].keeps == 1);
		shuffle(&m);
	}
	assert_int_equal(t[0].sum, t[1].sum);
	end(&m);
}

/* --from and --to are stamps of the reference, for clocks that it never talks to as well. */
static void test_range(void **state)
{
	struct mesh m;
	struct usk_sync_options o = defaults;
	(void)state;
	begin(&m, 4, SEED);
	for (size_t i = 0; i + 1 < m.n; i++) {
		talk(&m, i, i + 1, 1000, true);
	}
	o.reference = "c00";
	o.from_ns = on_b(&m.clock[0], START + 20 * SECOND);
	o.to_ns = on_b(&m.clock[0], START + 40 * SECOND);
	struct usk_clocks *c = solve(&m, 1, 0, &o);
	for (size_t i = 0; i < c->n_pairs; i++) {
		uint64_t n = c->pair[i].a_to_b + c->pair[i].b_to_a;
		assert_true(n >= 398 && n <= 402);
	}
	assert_true_bands(&m, c);
	usk_clocks_free(c);
	end(&m);
}

struct shown {
	double last;
	size_t n;
};

static void show(void *ctx, double done, const char *what)
{
	struct shown *s = ctx;
	assert_true(done >= s->last && done <= 1 && what);
	s->last = done;
	s->n++;
}

/* Never back, and near the end at the end, also where wrong messages make it longer. */
static void test_progress(void **state)
{
	struct mesh m;
	(void)state;
	begin(&m, 8 + case_count_at_most(12), SEED);
	for (size_t i = 0; i < m.n; i++) {
		talk(&m, i, (i + 1) % m.n, 100, true);
	}
	for (int k = 0; k < (cases_are_few() ? 2 : 4); k++) {
		struct shown s = { .n = 0 };
		struct usk_sync_options o = defaults;
		o.progress = show;
		o.progress_ctx = &s;
		o.min_delay = k & 1 ? "10us" : NULL;
		usk_clocks_free(solve(&m, 1 + (size_t)k, 0, &o));
		if (s.last < 0.8 || s.n < 3) {
			fail_msg("%g after %zu", s.last, s.n);
		}
		int64_t t = START + (int64_t)(20 + k) * SECOND;
		m.row = usk_room(m.row, m.n_rows, &m.cap_rows, sizeof *m.row);
		snprintf(m.row[m.n_rows++].text, sizeof m.row->text, "c01,c02,%lld,%lld\n",
			 (long long)on_b(&m.clock[1], t), (long long)on_b(&m.clock[2], t - SECOND));
	}
	end(&m);
}

/* A message of a given delay. */
static void say_slowly(struct mesh *m, size_t from, size_t to, int64_t t, int64_t d)
{
	m->row = usk_room(m->row, m->n_rows, &m->cap_rows, sizeof *m->row);
	snprintf(m->row[m->n_rows++].text, sizeof m->row->text, "c%02zu,c%02zu,%lld,%lld\n", from,
		 to, (long long)on_b(&m->clock[from], t), (long long)on_b(&m->clock[to], t + d));
}

/* Half a band's width at a local time. */
static int64_t half_at(const struct usk_clock *k, int64_t t)
{
	struct usk_map *map = usk_map_new(k, 500000000);
	struct usk_stamp at;
	assert_false(usk_map_at(map, t, &at, NULL));
	usk_map_free(map);
	return (at.hi_ns - at.lo_ns) / 2;
}

/*
 * From c00 to c02 the direct way is slow in the first half, that by way of c01 in the second: the
 * band is narrow in both.
 */
static void test_ways_by_turns(void **state)
{
	(void)state;
	struct mesh m;
	begin(&m, 3, SEED);
	for (int64_t i = 0; i < 4000; i++) {
		int64_t t = START + i * 50 * MS;
		bool late = i >= 2000;
		int64_t d = (int64_t)usk_rng_exponential(&m.r, 20000);
		for (int back = 0; back < 2; back++) {
			say_slowly(&m, back ? 1 : 0, back ? 0 : 1, t + back * MS, 20000 + d);
			say_slowly(&m, back ? 2 : 1, back ? 1 : 2, t + back * MS,
				   (late ? 9 * MS : 20000) + d);
			say_slowly(&m, back ? 2 : 0, back ? 0 : 2, t + back * MS,
				   (late ? 20000 : 9 * MS) + d);
		}
	}
	struct usk_sync_options o = defaults;
	o.reference = "c00";
	struct usk_clocks *c = solve(&m, 1, 0, &o);
	const struct usk_clock *k = clock_named(c, "c02");
	for (int64_t s = 5; s < 195; s++) {
		if (s < 95 || s > 105) {
			assert_true(half_at(k, on_b(&m.clock[2], START + s * SECOND)) < 300000);
		}
	}
	assert_true_bands(&m, c);
	assert_int_equal(c->evaluation.corrected_inversions, 0);
	usk_clocks_free(c);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),	     cmocka_unit_test(test_islands),
		cmocka_unit_test(test_order),	     cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_messages_out), cmocka_unit_test(test_range),
		cmocka_unit_test(test_progress),     cmocka_unit_test(test_ways_by_turns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
