/* SPDX-License-Identifier: MIT */
/* Messages that cannot be true: found and left out, or named where they are too many. */
#include "../part.h"
#include "tables.h"

#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 909

/* From where on a wrong message may be right, as too few come after it to tell: nothing is known behind it. */
#define END    (START + 15 * SECOND)
#define AT_END (END - 50 * MS)

static int64_t below(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, (uint64_t)n);
}

/*
 * Rows that cannot be true: received long before they were sent. All are found, listed with the
 * stamps as they stand in the table, whatever messages take at least, and left out; the band of the others holds the
 * truth.
 */
static void test_outliers(void **state)
{
	(void)state;
	/* Other wrong messages may be told as steps, or be too many for a line: the limits are of these. */
	for (size_t k = 0; k < case_count_at_most(6 * (uint64_t)CLOCKWORKS); k++) {
		const struct clockwork *w = &clockworks[k % (size_t)CLOCKWORKS];
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_msg wrong[9];
		size_t n_wrong = 1 + 4 * (k / (size_t)CLOCKWORKS % 3);
		int64_t known_ns = END - 15 * MS;
		struct usk_sync_options o = defaults;
		o.model = k < 3 * (size_t)CLOCKWORKS ? NULL : "linear";
		o.min_delay = k & 1 ? "10us" : NULL;
		usk_rng_seed(&r, SEED + k);
		put_text(&b, HEAD);
		exchange(&b, w, &r, 1500);
		for (size_t i = 0; i < n_wrong; i++) {
			/* 1 ms to 100 s too early. */
			int64_t t = START + (int64_t)usk_rng_below(&r, 30 * (uint64_t)SECOND);
			known_ns = !o.model && t >= AT_END && t < known_ns ? t : known_ns;
			int64_t early = MS;
			for (uint64_t z = usk_rng_below(&r, 6); z; z--) {
				early *= 10;
			}
			bool back = usk_rng_below(&r, 2);
			int64_t sent = back ? on_b(w, t) : t;
			int64_t received = back ? t - early : on_b(w, t - early);
			row(&b, back ? "b" : "a", back ? "a" : "b", sent, received);
			wrong[i] = (struct usk_msg){
				.sent_ns = sent, .received_ns = received, .from = back, .to = !back
			};
		}
		exchange(&b, w, &r, 1500);
		struct usk_clocks *c = sync_table(&b, &o);
		assert_int_equal(c->n_pairs, 1);
		const struct usk_pair *p = &c->pair[0];
		if (p->n_outliers != n_wrong || c->counts.outliers != n_wrong ||
		    p->a_to_b + p->b_to_a != 6000) {
			fail_msg("seed %zu: %zu outliers, expected %zu; %s", SEED + k,
				 p->n_outliers, n_wrong, usk_quality_name(p->quality));
		}
		qsort(wrong, n_wrong, sizeof *wrong, usk_msg_order);
		for (size_t i = 0; i < n_wrong; i++) {
			size_t found = 0;
			for (size_t j = 0; j < n_wrong; j++) {
				found += !usk_msg_order(&p->outlier[j].msg, &wrong[i]);
			}
			assert_int_equal(found, 1);
			assert_true(p->outlier[i].excess_ns >= MS - 200000);
		}
		assert_holds_known(c, w, 15 * SECOND, known_ns);
		assert_int_equal(c->evaluation.corrected_inversions, 0);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/* The messages of a certificate alone have no solution; without any one of them there is one. Under
 * wander a clock may jump between two of them, but not for each wrong message. */
static void assert_certificate(const struct usk_clocks *c, const struct usk_pair *p,
			       const char *model)
{
	size_t n = p->n_contradiction;
	assert_true(n >= 2 && n <= 3);
	for (size_t without = 0; model && without <= n; without++) {
		struct bytes b = { 0 };
		struct usk_sync_options o = defaults;
		o.max_outliers = 0;
		o.model = model;
		put_text(&b, HEAD);
		for (size_t i = 0; i < n; i++) {
			const struct usk_msg *m = &p->contradiction[i];
			if (i != without) {
				row(&b, c->clock[m->from].name, c->clock[m->to].name, m->sent_ns,
				    m->received_ns);
			}
		}
		struct usk_clocks *some = sync_table(&b, &o);
		assert_int_equal(some->pair[0].quality == USK_CONTRADICTED, without == n);
		usk_clocks_free(some);
		bytes_free(&b);
	}
}

/* More than may go: nothing is left out, and the fewest that contradict each other are named. */
static void test_too_many_outliers(void **state)
{
	(void)state;
	for (int k = 0; k < 12; k += cases_are_few() ? 5 : 1) { /* both models, few and many */
		struct clockwork w = clockworks[k % 4];
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		usk_rng_seed(&r, SEED);
		put_text(&b, HEAD);
		exchange(&b, &w, &r, 1000);
		for (int i = 0; i < 40; i++) {
			int64_t t = START + i * 200 * MS + 1;
			row(&b, "a", "b", t, on_b(&w, t - 50 * MS - i * MS));
		}
		o.max_outliers = k % 6 < 2 ? -1 : k % 6 < 4 ? 0 : 39;
		o.model = k < 6 ? NULL : "linear";
		struct usk_clocks *c = sync_table(&b, &o);
		const struct usk_pair *p = &c->pair[0];
		assert_int_equal(p->quality, USK_CONTRADICTED);
		assert_int_equal(clock_named(c, "b")->quality, USK_CONTRADICTED);
		assert_int_equal(clock_named(c, "b")->n_knots, 0);
		assert_int_equal(p->n_outliers, 0);
		assert_int_equal(c->counts.outliers, 0);
		assert_int_equal(p->a_to_b, 1040);
		assert_certificate(c, p, o.model);
		assert_true(c->n_notes >= 1 && strstr(c->note[0], "contradict each other if"));
		usk_clocks_free(c);
		/* One more allowed, and it is an answer. */
		o.max_outliers = 40;
		c = sync_table(&b, &o);
		assert_int_equal(c->pair[0].n_outliers, 40);
		assert_holds(c, &w, 10 * SECOND);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/* A clock that was set back or forward has no line. */
static void test_step(void **state)
{
	(void)state;
	for (int k = 0; k < 4; k++) {
		struct clockwork w[2] = { { 5, 1000 }, { k & 1 ? -SECOND : SECOND, 1000 } };
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		o.model = "linear";
		usk_rng_seed(&r, SEED);
		put_text(&b, HEAD);
		exchange(&b, &w[k / 2], &r, 300);
		for (int64_t i = 300; i < 600; i++) {
			int64_t t = START + i * 10 * MS;
			row(&b, "a", "b", t, on_b(&w[!(k / 2)], t + 70000));
			row(&b, "b", "a", on_b(&w[!(k / 2)], t), t + 70000);
		}
		struct usk_clocks *c = sync_table(&b, &o);
		assert_int_equal(c->pair[0].quality, USK_CONTRADICTED);
		assert_certificate(c, &c->pair[0], o.model);
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/* Where a clock was set, too, what is wrong is listed as it stands in the table, whatever messages take at least. */
static void test_around_step(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(6); seed < case_end(6); seed++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		struct usk_msg wrong[4];
		size_t n_wrong = 0;
		usk_rng_seed(&r, seed);
		o.min_delay = seed & 1 ? "10us" : NULL;
		put_text(&b, HEAD);
		for (int i = 0; i < 1500; i++) {
			const int64_t t = START + i * 10 * MS, by = i < 750 ? 0 : SECOND;
			const int64_t took = 50000 + (int64_t)usk_rng_below(&r, 50000);
			row(&b, "a", "b", t, t + took + by);
			row(&b, "b", "a", t + 3 * MS + by, t + 3 * MS + took);
			if (i % 400 == 200) {
				const int64_t early =
					5 * MS + (int64_t)usk_rng_below(&r, 3 * (uint64_t)MS);
				const bool back = usk_rng_below(&r, 2);
				const int64_t sent = t + 5 * MS, received = sent - early;
				wrong[n_wrong] =
					(struct usk_msg){ .sent_ns = sent + (back ? by : 0),
							  .received_ns = received + (back ? 0 : by),
							  .from = back,
							  .to = !back };
				row(&b, back ? "b" : "a", back ? "a" : "b", wrong[n_wrong].sent_ns,
				    wrong[n_wrong].received_ns);
				n_wrong++;
			}
		}
		struct usk_clocks *c = sync_table(&b, &o);
		const struct usk_pair *p = &c->pair[0];
		assert_int_equal(p->n_outliers, n_wrong);
		for (size_t i = 0; i < n_wrong; i++) {
			bool found = false;
			for (size_t k = 0; k < n_wrong; k++) {
				found = found || !usk_msg_order(&p->outlier[k].msg, &wrong[i]);
			}
			assert_true(found);
		}
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

/*
 * Messages around loops, each of which leaves a clock no sooner than the one before is there at the earliest, and the
 * first of which leaves after the last has come: between two of them no clock can have been set. Where they are left
 * out they are listed as they stand in the table, whatever messages take at least.
 */
static void test_loops(void **state)
{
	(void)state;
	static const char *const name[] = { "a", "b", "c" };
	enum { LEAST = 10000, LOOPS = 3, USUAL = 24 };
	uint64_t several = 0;
	for (uint64_t seed = case_first(USUAL); seed < case_end(USUAL); seed++) {
		struct bytes b = { 0 };
		struct usk_rng r;
		struct usk_sync_options o = defaults;
		struct usk_msg all[3 * LOOPS];
		size_t n = 0, found = 0;
		usk_rng_seed(&r, seed);
		o.min_delay = "10us";
		o.reference = name[0];
		put_text(&b, HEAD);
		for (uint64_t i = 0; i <= seed % LOOPS; i++) {
			const int64_t sent = START + (int64_t)i * 1000 * SECOND;
			const int64_t at_b = sent + below(&r, MS / 5);
			const int64_t at_c = sent + below(&r, MS / 5);
			const int64_t came = sent - 1 - below(&r, MS / 5);
			all[n++] = (struct usk_msg){ sent, at_b, 0, 1, 0 };
			all[n++] = (struct usk_msg){ at_b - LEAST, at_c, 1, 2, 0 };
			all[n++] = (struct usk_msg){ at_c, came, 2, 0, 0 };
		}
		for (size_t i = 0; i < n; i++) {
			const struct usk_msg *m = &all[i];
			row(&b, name[m->from], name[m->to], m->sent_ns, m->received_ns);
		}
		struct usk_clocks *c = sync_table(&b, &o);
		for (size_t i = 0; i < c->n_pairs; i++) {
			const struct usk_pair *p = &c->pair[i];
			several += p->n_outliers > 1;
			for (size_t k = 0; k < p->n_outliers * n; k++) {
				found += !usk_msg_order(&p->outlier[k / n].msg, &all[k % n]);
			}
		}
		if (found != c->counts.outliers) {
			fail_msg("case of seed %llu: of %llu outliers %zu stand in the table",
				 (unsigned long long)seed, (unsigned long long)c->counts.outliers,
				 found);
		}
		usk_clocks_free(c);
		bytes_free(&b);
	}
	assert_true(several > case_count(USUAL) / 4 || cases_are_few());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outliers), cmocka_unit_test(test_too_many_outliers),
		cmocka_unit_test(test_step),	 cmocka_unit_test(test_around_step),
		cmocka_unit_test(test_loops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
