/* SPDX-License-Identifier: MIT */
/* Minimum delays: models as text, files of them, and what they do to bands and counts. */
#include "cases.h"
#include "flow/flow.h"
#include "tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COLUMNS "sender,receiver,sent_ns,received_ns,bytes\n"

static const struct {
	const char *text;
	int64_t ps[3]; /* base, first, per byte; -1: refused */
} models[] = {
	{ "0", { 0, 0, 0 } },
	{ "50us", { 50000000, 0, 0 } },
	{ "520us+14us+1.032us/B", { 520000000, 14000000, 1032000 } },
	{ "520us+1.032us/B", { 520000000, 0, 1032000 } },
	{ "0+0+8ns/B", { 0, 0, 8000 } },
	{ "0.001ns+0.002ns+0.003ns/B", { 1, 2, 3 } },
	{ "1ms500us+2us", { 1500000000, 2000000, 0 } },
	{ "4611686.018427387904s", { USK_TIME_MAX, 0, 0 } },
	{ "0+0/B", { 0, 0, 0 } },
	{ "4611686.018427387905s", { -1, 0, 0 } },
	{ "0.0001ns", { -1, 0, 0 } },
	{ "", { -1, 0, 0 } },
	{ "+", { -1, 0, 0 } },
	{ "1us+", { -1, 0, 0 } },
	{ "+1us", { -1, 0, 0 } },
	{ "-1us", { -1, 0, 0 } },
	{ "1us+-1us", { -1, 0, 0 } },
	{ "5", { -1, 0, 0 } },
	{ "1us/B", { -1, 0, 0 } },
	{ "1us+/B", { -1, 0, 0 } },
	{ "1us+2us+3us", { -1, 0, 0 } },
	{ "1us+2us/B+3us", { -1, 0, 0 } },
	{ "1us+2us/B+3us/B", { -1, 0, 0 } },
	{ "1us+2us+3us/B+4us", { -1, 0, 0 } },
	{ "1us+2us/b", { -1, 0, 0 } },
	{ "1us +2us", { -1, 0, 0 } },
	{ "@file", { -1, 0, 0 } },
};

static void test_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(models); i++) {
		struct usk_delay_model m = { 7, 7, 7 };
		struct usk_err err = { 0 };
		const char *text = models[i].text;
		enum usk_status s = usk_delay_model_parse(text, strlen(text), &m, &err);
		if (models[i].ps[0] < 0) {
			if (!s || !err.msg[0] || m.base_ps != 7) {
				fail_msg("\"%s\" is taken", text);
			}
		} else if (s || m.base_ps != models[i].ps[0] || m.first_ps != models[i].ps[1] ||
			   m.per_byte_ps != models[i].ps[2]) {
			fail_msg("\"%s\": %s", text, err.msg);
		}
	}
	assert_int_equal(usk_delay_model_ns(NULL, 99), 0);
}

static int64_t any_ps(struct usk_rng *r)
{
	return (int64_t)(usk_rng_next(r) >> (2 + usk_rng_below(r, 62)));
}

/* In rationals: floor((base + first [n >= 1] + per_byte max(0, n - 1))/1000). */
static int64_t by_gmp(const int64_t ps[3], uint32_t n)
{
	mpq_t sum, x;
	mpz_t ns;
	mpq_inits(sum, x, NULL);
	mpz_init(ns);
	oracle_set(sum, ps[0], 1000);
	if (n >= 1) {
		oracle_set(x, ps[1], 1000);
		mpq_add(sum, sum, x);
		mpq_t times;
		mpq_init(times);
		oracle_set(x, ps[2], 1000);
		oracle_set(times, (int64_t)n - 1, 1);
		mpq_mul(x, x, times);
		mpq_add(sum, sum, x);
		mpq_clear(times);
	}
	mpz_fdiv_q(ns, mpq_numref(sum), mpq_denref(sum));
	int64_t got = mpz_fits_slong_p(ns) ? mpz_get_si(ns) : INT64_MAX;
	mpz_clear(ns);
	mpq_clears(sum, x, NULL);
	return got < USK_TIME_MAX ? got : USK_TIME_MAX - 1;
}

static void test_models_against_gmp(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		int64_t ps[3] = { any_ps(&r), any_ps(&r), any_ps(&r) };
		struct usk_delay_model m;
		char text[160];
		snprintf(text, sizeof text, "%lld.%03dns+%lld.%03dns+%lld.%03dns/B",
			 (long long)(ps[0] / 1000), (int)(ps[0] % 1000), (long long)(ps[1] / 1000),
			 (int)(ps[1] % 1000), (long long)(ps[2] / 1000), (int)(ps[2] % 1000));
		uint32_t n = (uint32_t)(usk_rng_next(&r) >> (32 + usk_rng_below(&r, 32)));
		if (usk_delay_model_parse(text, strlen(text), &m, NULL) ||
		    usk_delay_model_ns(&m, n) != by_gmp(ps, n) ||
		    usk_delay_model_ns(&m, 0) != by_gmp(ps, 0)) {
			fail_msg("seed %llu: %s of %u bytes", (unsigned long long)seed, text, n);
		}
	}
}

static const struct {
	const char *text, *why; /* NULL: it is good */
} files[] = {
	{ "sender,receiver,model\n", NULL },
	{ "sender,receiver,model\na,b,50us\nb,a,1us+2us/B", NULL },
	{ "note,model,receiver,sender\r\n\r\n\"x, y\",50us,b,\"a\"\r\n", NULL },
	{ "", "is empty" },
	{ "a,b,50us\n", "has no column" },
	{ "sender,receiver\n", "has no column \"model\"" },
	{ "sender,receiver,model\na,b\n", "line 2: the row is too short" },
	{ "model,receiver,sender\n50us,b\n", "line 2: the row is too short" },
	{ "sender,model,receiver\na,50us\n", "line 2: the row is too short" },
	{ "sender,receiver,model\na,b,soon\n", "line 2: \"soon\"" },
	{ "sender,receiver,model\na,b,\"1us\n", "line 2: a quote" },
	{ "sender,receiver,model\na,b,1us\nb,a,1us\na,b,2us\n", "lines 2 and 4" },
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		struct usk_input in;
		struct delays d;
		struct usk_err err = { 0 };
		usk_input_memory(&in, files[i].text, strlen(files[i].text));
		enum usk_status s = usk_delays_read(&in, &d, &err);
		if ((s == USK_OK) != !files[i].why ||
		    (files[i].why && !strstr(err.msg, files[i].why))) {
			fail_msg("file %zu: %s", i, err.msg);
		}
		if (!s && d.n) {
			assert_int_equal(usk_delay_model_ns(usk_delays_find(&d, "a", "b"), 100),
					 50000);
			assert_null(usk_delays_find(&d, "a", "a"));
		}
		usk_delays_free(&d);
		usk_input_close(&in);
	}
}

/* ---- bands -------------------------------------------------------------------------------- */

struct sent {
	struct usk_msg msg[ORACLE_MAX];
	size_t n;
};

static bool is_among(const struct sent *s, const struct usk_msg *m)
{
	bool found = false;
	for (size_t i = 0; i < s->n; i++) {
		found |= s->msg[i].sent_ns == m->sent_ns &&
			 s->msg[i].received_ns == m->received_ns && s->msg[i].from == m->from &&
			 s->msg[i].bytes == m->bytes;
	}
	return found;
}

/* A few messages, and the points x - y + delta and x - y - delta that they are. */
static struct bytes make(struct usk_rng *r, const int64_t ps[2][3], struct sent *sent,
			 struct oracle_points *pts)
{
	struct bytes b = { 0 };
	put_text(&b, COLUMNS);
	sent->n = pts->n = 2 + (size_t)usk_rng_below(r, 15);
	int64_t spread = usk_rng_below(r, 2) ? 1000 : 1000000;
	for (size_t i = 0; i < sent->n; i++) {
		bool back = i > 0 && usk_rng_below(r, 2);
		uint32_t bytes = (uint32_t)usk_rng_below(r, 3) * (uint32_t)usk_rng_below(r, 99);
		int64_t delta = by_gmp(ps[back], bytes);
		int64_t x = START + (int64_t)usk_rng_below(r, 1000000000);
		int64_t slack = (int64_t)usk_rng_below(r, (uint64_t)spread) -
				(usk_rng_below(r, 8) ? 0 : spread);
		int64_t y = back ? x - delta - slack : x + delta + slack;
		sent->msg[i] = (struct usk_msg){ back ? y : x, back ? x : y, back, !back, bytes };
		pts->p[i] = (struct usk_point){ y, back ? x - y - delta : x - y + delta };
		pts->ceiling[i] = back;
		char line[128];
		snprintf(line, sizeof line, "%s,%lld,%lld,%u\n", back ? "b,a" : "a,b",
			 (long long)sent->msg[i].sent_ns, (long long)sent->msg[i].received_ns,
			 bytes);
		put_text(&b, line);
	}
	return b;
}

static void check_clock(const struct usk_clocks *c, const struct oracle *o, const struct sent *sent,
			uint64_t seed)
{
	const struct usk_clock *k = clock_named(c, "b");
	bool good = true;
	if (!o->n) {
		good = k->quality == USK_CONTRADICTED && c->pair[0].n_contradiction >= 2;
		for (size_t i = 0; i < c->pair[0].n_contradiction; i++) {
			good &= is_among(sent, &c->pair[0].contradiction[i]);
		}
	} else {
		good = k->quality == (o->has_floor && o->has_ceiling ? USK_BOUNDED : USK_ONE_SIDED);
		good &= k->n_knots >= 2;
		/* Inside the band nobody is too fast, inside of what stamps are rounded by. */
		int64_t q = clock_named(c, "a")->resolution_ns;
		q = k->resolution_ns > q ? k->resolution_ns : q;
		good &= k->quality != USK_BOUNDED || c->evaluation.too_fast.max_ns <= q;
	}
	for (size_t i = 0; i < k->n_knots; i++) {
		int64_t lo, hi;
		oracle_at(o, k->knot[i].local_ns, &lo, &hi);
		good &= k->knot[i].lo_ns == lo && k->knot[i].hi_ns == hi;
	}
	if (!good) {
		fail_msg("seed %llu: not as the oracle says", (unsigned long long)seed);
	}
}

static void test_band_against_oracle(void **state)
{
	size_t fit = 0, contradicted = 0;
	(void)state;
	char path[] = "/tmp/unskew-delay-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct usk_rng r;
		struct sent sent;
		struct oracle_points pts;
		usk_rng_seed(&r, seed);
		int64_t ps[2][3];
		for (int i = 0; i < 6; i++) {
			ps[i / 3][i % 3] = (int64_t)usk_rng_below(&r, i % 3 == 2 ? 5000 : 5000000);
		}
		struct bytes b = make(&r, (const int64_t(*)[3])ps, &sent, &pts);
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fprintf(f, "sender,receiver,model\n");
		for (int i = 0; i < 2; i++) {
			fprintf(f, "%s,%.3fns+%.3fns+%.3fns/B\n", i ? "b,a" : "a,b",
				(double)ps[i][0] / 1e3, (double)ps[i][1] / 1e3,
				(double)ps[i][2] / 1e3);
		}
		assert_int_equal(fclose(f), 0);
		struct usk_sync_options o = defaults;
		char *option = usk_format("@%s", path);
		o.reference = "a";
		o.model = "linear";
		o.max_outliers = 0;
		o.min_delay = option;
		struct usk_clocks *c = sync_table(&b, &o);
		int64_t q_a = clock_named(c, "a")->resolution_ns;
		int64_t q_b = clock_named(c, "b")->resolution_ns;
		q_a = q_a > 1 ? q_a : 0;
		q_b = q_b > 1 ? q_b : 0;
		for (size_t i = 0; i < pts.n; i++) { /* received by then, for certain */
			pts.p[i].local_ns += pts.ceiling[i] ? 0 : q_b;
		}
		struct oracle *want = oracle_new(&pts, q_a, q_b, 500000000);
		fit += want->n > 0;
		contradicted += !want->n;
		assert_string_equal(c->min_delay, option);
		check_clock(c, want, &sent, seed);
		oracle_free(want);
		usk_clocks_free(c);
		free(option);
		bytes_free(&b);
	}
	remove(path);
	print_message("fit %zu, contradicted %zu\n", fit, contradicted);
	uint64_t least = case_count(4000) / 40;
	assert_true(fit > least && contradicted > least);
}

/* A wrong message is told from its point although its length is not to be seen there. */
static void test_outliers(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	struct usk_rng r;
	struct usk_sync_options o = defaults;
	char line[128];
	usk_rng_seed(&r, 5);
	put_text(&b, COLUMNS);
	for (int i = 0; i < 4000; i++) {
		int n = (int)usk_rng_below(&r, 1400);
		int64_t t = START + i * MS, d = 50000 + 80 * n + (int64_t)usk_rng_below(&r, 9000);
		d = i == 1000 ? d - 300000 : i == 2001 ? d - 400000 : d;
		snprintf(line, sizeof line, "%s,%lld,%lld,%d\n", i % 2 ? "b,a" : "a,b",
			 (long long)(i % 2 ? t + 777 : t), (long long)(t + d + (i % 2 ? 0 : 777)),
			 n);
		put_text(&b, line);
	}
	o.reference = "a";
	o.min_delay = "49us+1us+80ns/B";
	struct usk_clocks *c = sync_table(&b, &o);
	const struct usk_pair *p = &c->pair[0];
	assert_int_equal(p->quality, USK_BOUNDED);
	assert_int_equal(p->n_outliers, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct usk_msg *m = &p->outlier[i].msg;
		int64_t wrong = m->from ? 2001 : 1000;
		assert_true((m->from ? m->sent_ns - 777 : m->sent_ns) == START + wrong * MS);
	}
	assert_true(p->half_width_ns < 1000);
	assert_int_equal(c->evaluation.too_fast.count, 0);
	assert_true(p->min_delay_a_to_b_ns > 49000 && p->min_delay_a_to_b_ns < 60000);
	usk_clocks_free(c);
	/* As recorded the offset of 777 ns is in all delays. */
	struct traces t = { .n = 0 };
	add(&t, &b, "t");
	assert_int_equal(usk_check(t.t, t.n, &o, &c, NULL), USK_OK);
	uint64_t fast = c->evaluation.too_fast.count;
	assert_true(fast >= 2 && fast < 400 && c->evaluation.too_fast.max_ns > 390000);
	assert_true(c->evaluation.too_fast.percent > 100.0 * (double)fast / 4000 - 1e-9 &&
		    c->evaluation.too_fast.percent < 100.0 * (double)fast / 4000 + 1e-9);
	usk_clocks_free(c);
	o.min_delay = "soon";
	struct usk_err err;
	assert_int_equal(usk_check(t.t, t.n, &o, &c, &err), USK_EUSAGE);
	o.min_delay = "@/nonexistent/file";
	assert_int_equal(usk_check(t.t, t.n, &o, &c, &err), USK_EIO);
	close_all(&t);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),	 cmocka_unit_test(test_models_against_gmp),
		cmocka_unit_test(test_files),	 cmocka_unit_test(test_band_against_oracle),
		cmocka_unit_test(test_outliers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
