/* SPDX-License-Identifier: MIT */
/* Estimators side by side: every figure counted again by a loop over the messages. */
#include "../part.h"
#include "base/base.h"
#include "flow/compare.h"
#include "read/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 6000 };

/* Messages between clocks 0 (reference) and 1. */
struct list {
	struct usk_msg msg[MOST];
	size_t n;
	int64_t q[2]; /* what stamps are rounded down to; 0: nothing */
};

static void add(struct list *l, bool back, int64_t sent, int64_t received)
{
	l->msg[l->n++] = (struct usk_msg){ sent, received, back, !back, 0 };
}

static struct usk_comparison *compare_under(const char *model, const struct list *l,
					    int64_t max_outliers)
{
	size_t size = 64, at = 0;
	struct usk_trace *t = NULL;
	struct usk_comparison *c = NULL;
	struct usk_err err = { 0 };
	struct usk_sync_options options = { .model = model,
					    .max_outliers = max_outliers,
					    .from_ns = USK_NONE,
					    .to_ns = USK_NONE,
					    .reference = "a" };
	char *text = malloc(size + 64 * l->n);
	at += (size_t)sprintf(text, "sender,receiver,sent_ns,received_ns\n");
	for (size_t i = 0; i < l->n; i++) {
		const struct usk_msg *m = &l->msg[i];
		at += (size_t)sprintf(text + at, "%c,%c,%lld,%lld\n", m->from ? 'b' : 'a',
				      m->to ? 'b' : 'a', (long long)m->sent_ns,
				      (long long)m->received_ns);
	}
	if (usk_trace_open_memory(text, at, "t", &t, &err) ||
	    usk_compare(&t, 1, &options, NULL, 0, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	usk_trace_close(t);
	free(text);
	assert_int_equal(c->n_pairs, 1);
	assert_int_equal(c->n_clocks, 2);
	return c;
}

static struct usk_comparison *compare(const struct list *l, int64_t max_outliers)
{
	return compare_under("linear", l, max_outliers);
}

static const struct usk_method_score *score_of(const struct usk_comparison *c, const char *name)
{
	for (size_t i = 0; i < c->n_methods; i++) {
		if (!strcmp(c->pair[0].score[i].method->name, name)) {
			return &c->pair[0].score[i];
		}
	}
	fail_msg("no method %s", name);
	return NULL;
}

/* The definition of a correction. */
static int64_t corrected(const struct usk_method_score *s, int64_t x)
{
	size_t i = 0;
	while (i + 2 < s->n_knots && s->line[i + 1].local_ns < x) {
		i++;
	}
	const struct usk_knot *a = &s->line[i], *b = a + 1;
	usk_i128 rise = (usk_i128)b->offset_ns - a->offset_ns;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return (int64_t)(x + a->offset_ns + usk_floor_div(rise * ((usk_i128)x - a->local_ns), run));
}

static void check_counts(const struct list *l, const struct usk_method_score *s, uint64_t seed)
{
	uint64_t inversions = 0, fast = 0;
	int64_t max = 0, sum = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct usk_msg *m = &l->msg[i];
		int64_t d = m->from ? m->received_ns - corrected(s, m->sent_ns)
				    : corrected(s, m->received_ns) - m->sent_ns;
		inversions += d < -l->q[m->to];
		if (d < 0) {
			fast++;
			sum -= d;
			max = -d > max ? -d : max;
		}
	}
	if (s->corrected_inversions != inversions || s->too_fast.count != fast ||
	    s->too_fast.max_ns != max || s->too_fast.mean_ns != (fast ? sum / (int64_t)fast : 0) ||
	    s->too_fast.percent != 100.0 * (double)fast / (double)l->n) {
		fail_msg("seed %llu: %s counts otherwise", (unsigned long long)seed,
			 s->method->name);
	}
}

/* a_ns is where the line has b_ns, to half a thousandth; the rate is that of the outer knots. */
static void check_line(const struct usk_compared_pair *p, const struct usk_method_score *s)
{
	const struct usk_knot *k = s->line, *last = &s->line[s->n_knots - 1];
	assert_true(s->n_knots >= 2 && s->b_ps >= 0 && s->b_ps < 1000);
	long double climb = (long double)(last->local_ns - k->local_ns) +
			    (long double)(last->offset_ns - k->offset_ns);
	long double beta = (long double)(last->local_ns - k->local_ns) / climb;
	assert_true(beta - 1 - (long double)s->beta_minus_one < 1e-15L &&
		    beta - 1 - (long double)s->beta_minus_one > -1e-15L);
	size_t i = 0;
	while (i + 2 < s->n_knots && k[i + 1].local_ns < s->b_ns + (s->b_ps > 0)) {
		i++;
	}
	long double run = (long double)(k[i + 1].local_ns - k[i].local_ns);
	long double into = (long double)(s->b_ns - k[i].local_ns) + s->b_ps * 1e-3L;
	long double off = (long double)(k[i + 1].offset_ns - k[i].offset_ns) * into / run;
	long double miss =
		(long double)(s->b_ns - p->a_ns + k[i].offset_ns) + s->b_ps * 1e-3L + off;
	/* Half a thousandth of b's time, which a steep line makes more of a's. */
	long double rise = (long double)(k[i + 1].offset_ns - k[i].offset_ns) / run;
	long double most = 0.0006L * (rise > 0 ? 1 + rise : 1);
	if (miss > most || miss < -most) {
		fail_msg("%s: at b_ns the line misses a_ns by %Lg ns", s->method->name, miss);
	}
}

/* Traffic over two clocks; some seeds have coarse stamps, some a step, some wild messages. */
static void make(struct list *l, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	memset(l, 0, sizeof *l);
	int64_t epoch = seed % 3 ? INT64_C(1700000000000000000) : -500;
	int64_t offset = (int64_t)usk_rng_below(&r, 2000000000) - 1000000000;
	int64_t step = seed % 5 ? 0 : 100000000;
	double drift = (usk_rng_unit(&r) - 0.5) * 4e-4;
	size_t n = 40 + usk_rng_below(&r, seed % 4 ? 200 : MOST - 40);
	int64_t gap = 1 + (int64_t)usk_rng_below(&r, 1000000000);
	for (int side = 0; side < 2; side++) {
		l->q[side] = seed % 7 ? 0 : 1000;
	}
	for (size_t i = 0; i < n; i++) {
		int64_t t = (int64_t)i * gap + (int64_t)usk_rng_below(&r, (uint64_t)gap);
		int64_t delay = 20000 + (int64_t)usk_rng_exponential(&r, 50000);
		bool back = usk_rng_below(&r, 2);
		if (seed % 6 == 1 && i == n / 2) {
			delay = -50000000;
		}
		int64_t at[2];
		for (int k = 0; k < 2; k++) {
			bool on_b = back != (k == 1);
			int64_t x = t + (k ? delay : 0);
			at[k] = epoch + x;
			if (on_b) {
				at[k] += offset + (int64_t)(drift * (double)x) +
					 (i > n / 2 ? step : 0);
			}
			int64_t q = l->q[on_b];
			at[k] = q ? (int64_t)usk_floor_div(at[k], q) * q : at[k];
		}
		add(l, back, at[0], at[1]);
	}
}

static void test_counted_again(void **state)
{
	(void)state;
	uint64_t judged = 0, failed = 0, contradicted = 0, inverted = 0, left_out = 0;
	for (uint64_t seed = case_first(150); seed < case_end(150); seed++) {
		static struct list l;
		make(&l, seed);
		struct usk_comparison *c = compare(&l, seed % 6 == 1 ? -1 : 0);
		const struct usk_compared_pair *p = &c->pair[0];
		contradicted += p->quality == USK_CONTRADICTED;
		left_out += c->counts.outliers;
		if (c->counts.outliers) { /* the naive loop does not know which */
			assert_int_equal(c->counts.matched + c->counts.outliers, l.n);
			usk_comparison_free(c);
			continue;
		}
		assert_int_equal(c->counts.matched, l.n);
		int64_t first = INT64_MAX, last = INT64_MIN;
		uint64_t recorded = 0;
		for (size_t i = 0; i < l.n; i++) {
			const struct usk_msg *m = &l.msg[i];
			int64_t a = m->from ? m->received_ns : m->sent_ns;
			first = a < first ? a : first;
			last = a > last ? a : last;
			recorded += m->received_ns - m->sent_ns < -l.q[m->to];
		}
		assert_int_equal(p->a_ns, usk_floor_div((usk_i128)first + last, 2));
		assert_int_equal(p->recorded_inversions, recorded);
		assert_int_equal(p->a_to_b + p->b_to_a, l.n);
		for (size_t i = 0; i < c->n_methods; i++) {
			const struct usk_method_score *s = &p->score[i];
			if (s->failed) {
				assert_true(strlen(s->failed) > 10 && !s->line && !s->n_knots);
				failed++;
				continue;
			}
			check_counts(&l, s, seed);
			check_line(p, s);
			judged++;
			inverted += s->corrected_inversions > 0;
		}
		/* What messages alone decide has an answer whether or not a line fits. */
		assert_null(score_of(c, "regress")->failed);
		assert_null(score_of(c, "support")->failed);
		assert_null(score_of(c, "least-violation")->failed);
		if (p->quality == USK_BOUNDED) {
			assert_null(score_of(c, "middle")->failed);
			assert_null(score_of(c, "hull")->failed);
			assert_true(p->half_best_ns >= 0 && p->half_best_ns <= p->half_mean_ns &&
				    p->half_mean_ns <= p->half_worst_ns);
		} else {
			assert_non_null(score_of(c, "middle")->failed);
			assert_null(score_of(c, "hull")->failed);
			assert_string_equal(score_of(c, "hull")->drawn_by, "least-violation");
			assert_true(p->half_mean_ns == USK_NONE);
		}
		usk_comparison_free(c);
	}
	assert_true(getenv("USK_CASES") || (judged > 1000 && failed > 50 && contradicted > 10 &&
					    inverted > 100 && left_out > 10));
}

/* Under wander lines are judged all the same, also where none fits; middle is its polyline. */
static void test_wander(void **state)
{
	(void)state;
	uint64_t bent = 0;
	for (uint64_t seed = case_first(60); seed < case_end(60); seed++) {
		static struct list l;
		make(&l, seed);
		struct usk_comparison *c = compare_under(NULL, &l, -1);
		const struct usk_compared_pair *p = &c->pair[0];
		for (size_t i = 0; i < c->n_methods && !c->counts.outliers; i++) {
			const struct usk_method_score *s = &p->score[i];
			if (!s->failed) {
				check_counts(&l, s, seed);
				check_line(p, s);
			}
		}
		assert_null(score_of(c, "regress")->failed);
		assert_null(score_of(c, "least-violation")->failed);
		if (p->quality == USK_BOUNDED) {
			const struct usk_method_score *s = score_of(c, "middle");
			assert_null(s->failed);
			assert_int_equal(s->corrected_inversions, 0);
			assert_true(p->half_best_ns >= 0 && p->half_best_ns <= p->half_mean_ns);
			bent += score_of(c, "hull")->drawn_by != NULL;
		}
		usk_comparison_free(c);
	}
	assert_true(getenv("USK_CASES") || bent > 0);
}

/* By hand. The first exchange says (1000 + 1400)/2 - (1200 + 1300)/2 = -50 all along. */
static void test_by_hand(void **state)
{
	(void)state;
	static struct list l;
	memset(&l, 0, sizeof l);
	add(&l, false, 1000, 1200); /* received 1150: 150 */
	add(&l, true, 1300, 1400);  /* sent 1250: 150 */
	add(&l, false, 2000, 2050); /* received 2000: 0 */
	add(&l, true, 2101, 1980);  /* sent 2051: -71, as recorded -121 */
	add(&l, false, 3000, 3100); /* received 3050: 50 */
	add(&l, false, 4000, 4001); /* received 3951: -49 */
	struct usk_comparison *c = compare(&l, 0);
	const struct usk_method_score *s = score_of(c, "first-offset");
	assert_null(s->failed);
	assert_int_equal(s->line[0].offset_ns, -50);
	assert_int_equal(s->line[s->n_knots - 1].offset_ns, -50);
	assert_int_equal(c->pair[0].recorded_inversions, 1);
	assert_int_equal(s->corrected_inversions, 2);
	assert_int_equal(s->too_fast.count, 2);
	assert_true(s->too_fast.percent > 33.33 && s->too_fast.percent < 33.34);
	assert_int_equal(s->too_fast.max_ns, 71);
	assert_int_equal(s->too_fast.mean_ns, 60);
	assert_int_equal(c->pair[0].a_ns, 2500);
	assert_int_equal(s->b_ns, 2550);
	assert_int_equal(s->b_ps, 0);
	assert_true(s->beta_minus_one == 0);
	usk_comparison_free(c);
}

static void test_some_methods(void **state)
{
	(void)state;
	static const char text[] = "sender,receiver,sent_ns,received_ns\na,b,0,100\nb,a,300,500\n"
				   "c,a,7,9\na,b,5000000,5000100\n";
	const struct usk_estimator *method[] = { usk_estimator_find("hull"),
						 usk_estimator_find("regress") };
	struct usk_trace *t;
	struct usk_comparison *c;
	struct usk_err err = { 0 };
	assert_int_equal(usk_trace_open_memory(text, sizeof text - 1, "t", &t, &err), USK_OK);
	assert_int_equal(usk_compare(&t, 1, NULL, method, 2, &c, &err), USK_OK);
	assert_int_equal(c->n_methods, 2);
	assert_int_equal(c->n_pairs, 2);
	assert_ptr_equal(c->pair[0].score[1].method, method[1]);
	assert_int_equal(c->pair[0].quality, USK_BOUNDED);
	assert_int_equal(c->pair[1].quality, USK_ONE_SIDED);
	assert_non_null(c->pair[1].score[0].failed);
	assert_int_equal(c->n_notes, 1);
	usk_comparison_free(c);
	usk_trace_close(t);
	/* no clock: nothing to compare */
	static const char none[] = "sender,receiver,sent_ns,received_ns\n";
	assert_int_equal(usk_trace_open_memory(none, sizeof none - 1, "t", &t, &err), USK_OK);
	assert_int_equal(usk_compare(&t, 1, NULL, NULL, 0, &c, &err), USK_EINPUT);
	usk_trace_close(t);
	usk_comparison_free(NULL);
}

/* Of many exchanges fewer margins are handed over, in order, and none of those left out is less or
 * more than all that are kept beside it. */
static void test_many_margins(void **state)
{
	(void)state;
	enum { ALL = 2600, BESIDE = 5 };
	static struct list l;
	static double least[ALL], largest[ALL], margin[ALL];
	struct usk_rng r;
	usk_rng_seed(&r, 9);
	for (int64_t i = 0; i < ALL; i++) {
		int64_t t1 = i * 1000000, there = 10000 + (int64_t)usk_rng_below(&r, 90000);
		int64_t t2 = t1 + there, t3 = t2 + 5000;
		int64_t t4 = t3 + 10000 + (int64_t)usk_rng_below(&r, 90000);
		add(&l, false, t1, t2 + 777);
		add(&l, true, t3 + 777, t4);
		margin[i] = (double)(t4 - t1 - (t3 - t2)) / 2;
		least[i] = 1e18;
		largest[i] = -1e18;
	}
	struct usk_comparison *c = compare(&l, 0);
	const struct usk_compared_pair *p = &c->pair[0];
	assert_int_equal(p->exchanges, ALL);
	assert_in_range(p->n_margins, 1000, 2000);
	for (size_t k = 0; k < p->n_margins; k++) {
		const struct usk_margin *m = &p->margin[k];
		assert_true(!k || m[-1].t1_ns < m->t1_ns);
		int64_t i = m->t1_ns / 1000000;
		if (i < 0 || i >= ALL || m->margin_ns < margin[i] - 2 ||
		    m->margin_ns > margin[i] + 2) {
			fail_msg("margin %zu, at %lld ns: %.1f", k, (long long)m->t1_ns,
				 m->margin_ns);
		}
		for (int64_t at = i - BESIDE; at <= i + BESIDE; at++) {
			if (at >= 0 && at < ALL) {
				least[at] = m->margin_ns < least[at] ? m->margin_ns : least[at];
				largest[at] =
					m->margin_ns > largest[at] ? m->margin_ns : largest[at];
			}
		}
	}
	for (size_t i = 0; i < ALL; i++) {
		assert_true(least[i] <= margin[i] + 2 && margin[i] <= largest[i] + 2);
	}
	usk_comparison_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_margins), cmocka_unit_test(test_counted_again),
		cmocka_unit_test(test_wander),	     cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_some_methods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
