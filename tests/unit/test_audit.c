/* SPDX-License-Identifier: MIT */
/* Claims of clocks whose every error is known: nobody who told the truth is named, and lies that no
 * band can hide are found. */
#include "../part.h"
#include "audit/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START	INT64_C(1700000000000000000)
#define SECOND	INT64_C(1000000000)
#define SKEW	INT64_C(50000000) /* 50 ppm */
#define QUANTUM 1000

enum { CLOCKS = 5, CLAIMS = 12, MESSAGES = 400, RUNS = 1500 };

struct scene {
	struct usk_rng rng;
	int64_t offset[CLOCKS], rate_e12[CLOCKS];
	int64_t step[CLOCKS], step_at[CLOCKS]; /* the clock is set by so much then */
	bool liar[CLOCKS];
	int64_t lie[CLOCKS];
	int64_t resolution[CLOCKS];
	struct usk_msg msg[MESSAGES];
	struct usk_claim claim[CLOCKS * CLAIMS];
	int64_t truth[CLOCKS * CLAIMS]; /* UTC - clock at each claim */
	struct usk_audit a;
};

/* What a clock shows t ns after the start of UTC. */
static int64_t shows(const struct scene *s, size_t k, int64_t t)
{
	return START + t + s->offset[k] + (t >= s->step_at[k] ? s->step[k] : 0) +
	       (int64_t)usk_floor_div((usk_i128)t * s->rate_e12[k], 1000000000000);
}

static int64_t signed_below(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, 2 * (uint64_t)n + 1) - n;
}

static void make_clocks(struct scene *s, uint64_t seed)
{
	*s = (struct scene){ .lie = { 0 } };
	usk_rng_seed(&s->rng, seed);
	for (size_t k = 0; k < CLOCKS; k++) {
		s->offset[k] = signed_below(&s->rng, 10 * SECOND);
		s->rate_e12[k] = signed_below(&s->rng, SKEW - 1000);
		s->resolution[k] = k % 2 ? QUANTUM : 1;
		s->step_at[k] = INT64_MAX;
	}
}

static void make_messages(struct scene *s)
{
	for (size_t m = 0; m < MESSAGES; m++) {
		uint32_t from = (uint32_t)usk_rng_below(&s->rng, CLOCKS);
		uint32_t to = (from + 1 + (uint32_t)usk_rng_below(&s->rng, CLOCKS - 1)) % CLOCKS;
		int64_t t = (int64_t)usk_rng_below(&s->rng, 100 * SECOND);
		int64_t took = (int64_t)usk_rng_exponential(&s->rng, 100000);
		int64_t sent = shows(s, from, t), received = shows(s, to, t + took);
		s->msg[m] =
			(struct usk_msg){ .from = from,
					  .to = to,
					  .sent_ns = sent - sent % s->resolution[from],
					  .received_ns = received - received % s->resolution[to] };
	}
}

/* Each claim holds the truth, but for the lie on top. Every third one is of a log that has whole
 * seconds. */
static void make_claims(struct scene *s)
{
	for (size_t i = 0; i < (size_t)CLOCKS * CLAIMS; i++) {
		uint32_t k = (uint32_t)(i / CLAIMS);
		int64_t t = (int64_t)usk_rng_below(&s->rng, 100 * SECOND), at = shows(s, k, t);
		int64_t half = 1000 + (int64_t)usk_rng_below(&s->rng, 200000);
		int64_t off =
			START + t - at + signed_below(&s->rng, half) + (s->liar[k] ? s->lie[k] : 0);
		s->claim[i] = (struct usk_claim){ .by = k,
						  .clock = k,
						  .line = i,
						  .at_ns = at,
						  .lo_ns = off - half,
						  .hi_ns = off + half };
		s->truth[i] = START + t - at;
		if (i % 3 == 2) {
			s->claim[i].blur_ns = SECOND;
			s->claim[i].at_ns -= at % SECOND;
		}
	}
}

static void run(struct scene *s)
{
	s->a = (struct usk_audit){ .n_names = CLOCKS,
				   .resolution_ns = s->resolution,
				   .claim = s->claim,
				   .n_claims = (size_t)CLOCKS * CLAIMS,
				   .msg = s->msg,
				   .n_msgs = MESSAGES,
				   .max_skew_e12 = SKEW };
	struct usk_err err = { 0 };
	assert_int_equal(usk_audit_run(&s->a, &err), USK_OK);
}

static bool is_guilty(const struct scene *s, uint32_t k)
{
	return s->liar[k] || s->step[k];
}

/* In each clash somebody is guilty, and no one is named who is not. */
static void check(const struct scene *s)
{
	for (size_t i = 0; i < s->a.n_clashes; i++) {
		const struct usk_clash *c = &s->a.clash[i];
		bool guilty = c->low != USK_NO_CLAIM && (is_guilty(s, s->claim[c->low].by) ||
							 is_guilty(s, s->claim[c->high].by));
		for (size_t l = 0; l < c->n_links; l++) {
			guilty |=
				c->link[l].message == UINT32_MAX && is_guilty(s, c->link[l].clock);
		}
		assert_true(guilty);
	}
	for (uint32_t k = 0; k < CLOCKS; k++) {
		assert_true(is_guilty(s, k) || !usk_audit_named(&s->a, k));
	}
}

/* What others leave of UTC holds the truth where they tell it. */
static void check_bounds(const struct scene *s)
{
	for (size_t i = 0; i < s->a.n_claims; i++) {
		const struct usk_claim *c = &s->claim[i];
		const struct usk_tested *t = &s->a.tested[i];
		assert_true(t->lo_ns != USK_NONE && t->hi_ns != USK_NONE);
		/* Of a stamp in whole seconds the clock drifted meanwhile. */
		int64_t drift = c->blur_ns / 20000;
		assert_true(t->lo_ns - drift <= s->truth[i] && s->truth[i] <= t->hi_ns + drift);
	}
}

static void test_truth(void **state)
{
	static struct scene s;
	(void)state;
	for (uint64_t seed = case_first(RUNS); seed < case_end(RUNS); seed++) {
		make_clocks(&s, seed);
		make_messages(&s);
		make_claims(&s);
		run(&s);
		assert_int_equal(s.a.n_clashes, 0);
		assert_int_equal(s.a.n_wrong, 0);
		check_bounds(&s);
		usk_audit_free(&s.a);
	}
}

/* Is a claim of a liar outside of what others leave, and what its stamp may be off? */
static bool must_be_found(const struct scene *s, uint32_t k)
{
	bool must = false;
	for (size_t i = 0; i < s->a.n_claims; i++) {
		const struct usk_claim *c = &s->claim[i];
		const struct usk_tested *t = &s->a.tested[i];
		int64_t drift = c->blur_ns / 20000;
		must |= c->by == k && (t->lo_ns > c->hi_ns + drift || t->hi_ns < c->lo_ns - drift);
	}
	return must;
}

static bool is_in_clash(const struct scene *s, uint32_t k)
{
	bool is = false;
	for (size_t i = 0; i < s->a.n_clashes; i++) {
		const struct usk_clash *c = &s->a.clash[i];
		is |= c->low != USK_NO_CLAIM &&
		      (s->claim[c->low].by == k || s->claim[c->high].by == k);
	}
	return is;
}

static void test_one_liar(void **state)
{
	static struct scene s;
	size_t named = 0, large = 0;
	(void)state;
	for (uint64_t seed = case_first(RUNS); seed < case_end(RUNS); seed++) {
		make_clocks(&s, 1000000 + seed);
		uint32_t k = (uint32_t)usk_rng_below(&s.rng, CLOCKS);
		s.liar[k] = true;
		/* 10 us to 10 s */
		s.lie[k] = 10000;
		for (size_t i = usk_rng_below(&s.rng, 7); i > 0; i--) {
			s.lie[k] *= 10;
		}
		s.lie[k] *= usk_rng_below(&s.rng, 2) ? 1 : -1;
		make_messages(&s);
		make_claims(&s);
		run(&s);
		check(&s);
		assert_true(!must_be_found(&s, k) || is_in_clash(&s, k));
		bool is_large = s.lie[k] >= 10000000 || s.lie[k] <= -10000000;
		assert_true(!is_large || is_in_clash(&s, k));
		named += is_large && usk_audit_named(&s.a, k);
		large += is_large;
		usk_audit_free(&s.a);
	}
	print_message("lies of 10 ms and more: %zu, all found, liar named: %zu\n", large, named);
	assert_true(named == large);
}

/* Two of five lie, and one is stepped: in a clash one of them takes part. */
static void test_liars_and_steps(void **state)
{
	static struct scene s;
	size_t clashes = 0;
	(void)state;
	for (uint64_t seed = case_first(RUNS); seed < case_end(RUNS); seed++) {
		make_clocks(&s, 2000000 + seed);
		for (size_t i = 0; i < 2; i++) {
			uint32_t k = (uint32_t)usk_rng_below(&s.rng, CLOCKS);
			bool step = usk_rng_below(&s.rng, 2);
			int64_t by = signed_below(&s.rng, 20000000);
			s.liar[k] = s.liar[k] || !step;
			s.lie[k] = step ? s.lie[k] : by;
			s.step[k] = step ? by : s.step[k];
			s.step_at[k] = 50 * SECOND;
		}
		make_messages(&s);
		make_claims(&s);
		run(&s);
		check(&s);
		clashes += s.a.n_clashes;
		usk_audit_free(&s.a);
	}
	assert_true(clashes > case_count(RUNS));
}

/* ---- files ------------------------------------------------------------------------------------
 */

static struct usk_claims read_text(const char *text, const char *name, enum usk_status want,
				   const char *says)
{
	struct usk_claims c = { .n = 0 };
	struct usk_err err = { 0 };
	struct usk_input in;
	const char *what;
	char *damage;
	usk_input_memory(&in, text, strlen(text));
	assert_int_equal(usk_claims_read(&in, name, 3, &c, &what, &damage, &err), want);
	assert_string_equal(want ? err.msg : damage ? damage : "", says);
	free(damage);
	usk_input_close(&in);
	return c;
}

/* The line of chrony's documentation. */
static void test_tracking(void **state)
{
	(void)state;
	struct usk_claims c = read_text(
		"===\n   Date (UTC) Time     IP Address   St   Freq ppm\n===\n"
		"2017-08-22 13:22:36 203.0.113.15     2     -3.541      0.075 -8.621e-06 N "
		" 2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n"
		"2017-08-22 13:22:37 203.0.113.15     0     -3.541      0.075 -8.621e-06 ? "
		" 2  2.940e-03 -2.084e-04  1.534e-02  3.472e-04  8.304e-03\n"
		"2017-08-22 13:22:38 203.0.113.15     2     -3.541      0.075 -8.621e-06 N\n",
		"host", USK_OK,
		"line 6: it does not have the 14 columns of a tracking log; 1 row skipped");
	assert_int_equal(c.n, 1);
	assert_int_equal(c.none, 1);
	assert_int_equal(c.row[0].at_ns, INT64_C(1503408156000000000));
	assert_int_equal(c.row[0].blur_ns, SECOND);
	/* rounded to the last digit: 1 us more */
	assert_int_equal(c.row[0].hi_ns, 8305000);
	assert_int_equal(c.row[0].lo_ns, -8305000);
	assert_string_equal(c.name[c.row[0].by], "host");
	assert_int_equal(c.row[0].line, 4);
	usk_claims_free(&c);
}

/* |-1.503 us - 1 ns| + 6 us / 2 + 0.7 us, the digits that were cut off on top. */
static void test_samples(void **state)
{
	(void)state;
	struct usk_claims c = read_text(
		"1700000000.5,7F000001,127.0.0.1,4,1699999999.0,-0.000001503,0.0,0.0,0.2,0.0,3.5,"
		"0.000006000,0.000000700,0.3,Normal\n"
		"1700000001.5,00000000,,0,0.0,0.0,0.0,0.0,0.2,0.0,3.5,1.0,1.0,0.3,Not "
		"synchronised\n"
		"1700000002.5,7F000001,127.0.0.1,4,1699999999.0,-0.000001503,0.0,0.0,0.2,0.0,3.5,"
		"-1.0,0.000000700,0.3,Normal\n",
		"host", USK_OK,
		"line 3: an offset, delay or dispersion is not a number of s; 1 row skipped");
	assert_int_equal(c.n, 1);
	assert_int_equal(c.none, 1);
	assert_int_equal(c.row[0].at_ns, INT64_C(1700000000500000000));
	assert_int_equal(c.row[0].hi_ns, 1504 + 3001 + 701);
	assert_int_equal(c.row[0].lo_ns, -c.row[0].hi_ns);
	usk_claims_free(&c);
}

static void test_measurements(void **state)
{
	(void)state;
	struct usk_claims c = read_text(
		"2016-11-09 05:40:50 203.0.113.15    N  2 111 111 1111  10 10 1.0 -4.966e-03  "
		"2.296e-01  1.577e-05  1.615e-01  7.446e-03 CB00717B 4B D K\n"
		"2016-11-09 05:40:51 203.0.113.15    N  2 111 101 1111  10 10 1.0 -4.966e-03  "
		"2.296e-01  1.577e-05  1.615e-01  7.446e-03 CB00717B 4B D K\n",
		"host", USK_OK, "");
	assert_int_equal(c.n, 1);
	assert_int_equal(c.none, 1);
	/* 229.7 / 2 + 0.01578 + 161.6 / 2 + 7.447 ms around -4.966 ms, give or take 1 us */
	int64_t half = 114850000 + 15780 + 80800000 + 7447000;
	assert_int_equal(c.row[0].lo_ns, -4967000 - half);
	assert_int_equal(c.row[0].hi_ns, -4965000 + half);
	assert_string_equal(c.name[c.row[0].by], "203.0.113.15");
	assert_string_equal(c.name[c.row[0].clock], "host");
	usk_claims_free(&c);
}

static void test_csv(void **state)
{
	(void)state;
	struct usk_claims c = read_text(
		"x,error_ns,offset_ns,time_ns,clock\n"
		",5,-7,100,a\n,5,0,200,\"b,\"\"c\"\n,-1,0,1,a\n,1,0,z,a\n",
		NULL, USK_OK, "line 4: error_ns is negative; 2 rows skipped, this is the first");
	assert_int_equal(c.n, 2);
	assert_int_equal(c.row[0].lo_ns, -12);
	assert_int_equal(c.row[0].hi_ns, -2);
	assert_string_equal(c.name[c.row[1].by], "b,\"c");
	usk_claims_free(&c);
	c = read_text("clock,time_ns,earliest_ns,latest_ns\na,100,90,120\n", NULL, USK_OK, "");
	assert_int_equal(c.row[0].lo_ns, -10);
	assert_int_equal(c.row[0].hi_ns, 20);
	usk_claims_free(&c);
}

/* ---- blame ------------------------------------------------------------------------------------ */

enum { BLAMES = 800, NAMED = 6, CLASHES = 7, LINKS = 3 };

/* Names that are in a clash, as bits. */
static unsigned names_in(const struct usk_audit *a, const struct usk_clash *c)
{
	const uint32_t end[] = { c->low, c->high };
	unsigned all = 0;
	for (size_t i = 0; i < COUNT(end); i++) {
		all |= end[i] == USK_NO_CLAIM ? 0 : 1u << a->claim[end[i]].by;
	}
	for (size_t i = 0; i < c->n_links; i++) {
		all |= c->link[i].message == UINT32_MAX ? 1u << c->link[i].clock : 0;
	}
	return all;
}

/* The fewest names that are in every clash, without those: all sets are tried. */
static size_t fewest(const struct usk_audit *a, unsigned without)
{
	size_t best = USK_ALL_WRONG;
	unsigned names[CLASHES] = { 0 };
	for (size_t i = 0; i < a->n_clashes; i++) {
		names[i] = names_in(a, &a->clash[i]);
	}
	for (unsigned set = 0; set < 1u << NAMED; set++) {
		bool hits = !(set & without);
		size_t n = 0;
		for (size_t i = 0; i < a->n_clashes && hits; i++) {
			hits = !names[i] || names[i] & set;
		}
		for (unsigned rest = set; rest; rest &= rest - 1) {
			n++;
		}
		best = hits && n < best ? n : best;
	}
	return best;
}

static void test_blame(void **state)
{
	(void)state;
	struct usk_claim claim[NAMED];
	for (uint32_t k = 0; k < NAMED; k++) {
		claim[k] = (struct usk_claim){ .by = k, .clock = k };
	}
	for (uint64_t seed = case_first(BLAMES); seed < case_end(BLAMES); seed++) {
		struct usk_link link[CLASHES][LINKS];
		struct usk_clash clash[CLASHES];
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < CLASHES; i++) {
			bool claims = usk_rng_below(&r, 8);
			clash[i] = (struct usk_clash){ USK_NO_CLAIM, USK_NO_CLAIM, 1, link[i],
						       usk_rng_below(&r, LINKS + 1) };
			if (claims) {
				clash[i].low = (uint32_t)usk_rng_below(&r, NAMED);
				clash[i].high = (uint32_t)usk_rng_below(&r, NAMED);
			}
			for (size_t l = 0; l < LINKS; l++) {
				link[i][l] = (struct usk_link){
					.message = usk_rng_below(&r, 2) ? UINT32_MAX : 7,
					.clock = (uint32_t)usk_rng_below(&r, NAMED),
				};
			}
		}
		struct usk_audit a = { .n_names = NAMED,
				       .claim = claim,
				       .n_claims = NAMED,
				       .clash = clash,
				       .n_clashes = usk_rng_below(&r, CLASHES + 1) };
		usk_audit_blame(&a);
		assert_int_equal(a.n_wrong, fewest(&a, 0));
		for (unsigned k = 0; k < NAMED; k++) {
			assert_int_equal(a.without[k], fewest(&a, 1u << k));
		}
		free(a.without);
	}
}

/* Of more names than are looked at, one is in every clash: nothing is said of those beyond. */
static void test_blame_many(void **state)
{
	(void)state;
	enum { MANY = 100, LOOKED_AT = 64 };
	static struct usk_claim claim[MANY];
	static struct usk_clash clash[MANY - 1];
	for (uint32_t k = 0; k < MANY; k++) {
		claim[k] = (struct usk_claim){ .by = k, .clock = k };
	}
	for (uint32_t i = 0; i + 1 < MANY; i++) {
		clash[i] = (struct usk_clash){ .low = 0, .high = i + 1 };
	}
	struct usk_audit a = { .n_names = MANY,
			       .claim = claim,
			       .n_claims = MANY,
			       .clash = clash,
			       .n_clashes = MANY - 1 };
	usk_audit_blame(&a);
	assert_int_equal(a.n_wrong, 1);
	assert_int_equal(a.without[0], LOOKED_AT - 1);
	for (size_t k = 1; k < MANY; k++) {
		assert_int_equal(a.without[k], 1);
	}
	free(a.without);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_blame_many),
		cmocka_unit_test(test_truth),
		cmocka_unit_test(test_one_liar),
		cmocka_unit_test(test_liars_and_steps),
		cmocka_unit_test(test_tracking),
		cmocka_unit_test(test_measurements),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_csv),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
