/* SPDX-License-Identifier: MIT */
/* The lines that estimators draw, before rounding, against their papers' definitions. */
#include "alone.h"
#include "cases.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct drawn {
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
	struct usk_knot *knot;
	size_t n;
	enum usk_status status;
};

static struct drawn draw(const struct fit_case *c, const char *name)
{
	struct drawn d = { .corridor = fit_case_corridor(c) };
	d.lines = usk_lines_new(d.corridor, c->q_a, c->q_b, c->max_skew_e12);
	d.fit = (struct usk_fit){ .corridor = d.corridor,
				  .lines = d.lines,
				  .first_local_ns = USK_TIME_MAX,
				  .last_local_ns = -USK_TIME_MAX };
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t = c->pts.p[i].local_ns;
		d.fit.first_local_ns = t < d.fit.first_local_ns ? t : d.fit.first_local_ns;
		d.fit.last_local_ns = t > d.fit.last_local_ns ? t : d.fit.last_local_ns;
	}
	if (usk_lines_quality(d.lines) == USK_BOUNDED) {
		struct usk_err err = { 0 };
		d.status = usk_estimator_run(usk_estimator_find(name), &d.fit, &d.knot, &d.n, &err);
	}
	return d;
}

static void drawn_free(struct drawn *d)
{
	free(d->knot);
	usk_lines_free(d->lines);
	usk_corridor_free(d->corridor);
}

/* Corridors with messages both ways whose numbers a long double can hold. */
static bool ordinary(struct fit_case *c)
{
	bool both[2] = { false, false };
	for (size_t i = 0; i < c->pts.n; i++) {
		both[c->pts.ceiling[i]] = true;
		if (c->pts.p[i].offset_ns > INT64_C(1) << 50 ||
		    c->pts.p[i].offset_ns < -(INT64_C(1) << 50)) {
			return false;
		}
	}
	return both[0] && both[1];
}

/* value of the line through points i and j of one side at x, and the side's sum of distances */
static bool leans(const struct fit_case *c, bool ceiling, size_t i, size_t j, mpq_t at, mpq_t slope,
		  mpq_t sum)
{
	mpq_t x, y, v;
	mpq_inits(x, y, v, NULL);
	oracle_set(x, c->pts.p[j].local_ns, 1);
	oracle_set(v, c->pts.p[i].local_ns, 1);
	mpq_sub(x, x, v);
	oracle_set(y, c->pts.p[j].offset_ns, 1);
	oracle_set(v, c->pts.p[i].offset_ns, 1);
	mpq_sub(y, y, v);
	mpq_div(slope, y, x);
	mpq_set_ui(sum, 0, 1);
	bool ok = true;
	for (size_t k = 0; k < c->pts.n && ok; k++) {
		if (c->pts.ceiling[k] != ceiling) {
			continue;
		}
		oracle_set(x, c->pts.p[k].local_ns, 1);
		oracle_set(v, c->pts.p[i].local_ns, 1);
		mpq_sub(x, x, v);
		mpq_mul(v, x, slope);
		oracle_set(y, c->pts.p[i].offset_ns, 1);
		mpq_add(v, v, y);
		oracle_set(y, c->pts.p[k].offset_ns, 1);
		mpq_sub(v, v, y); /* line - point */
		if (ceiling) {
			mpq_neg(v, v);
		}
		ok = mpq_sgn(v) >= 0;
		mpq_add(sum, sum, v);
	}
	oracle_set(at, c->pts.p[i].offset_ns, 1);
	mpq_clears(x, y, v, NULL);
	return ok;
}

/* Moon's line by trying all pairs: the value at x; false if it is not one line alone. */
static bool moon(const struct fit_case *c, bool ceiling, int64_t x, mpq_t value)
{
	mpq_t at, slope, sum, best, t, v;
	mpq_inits(at, slope, sum, best, t, v, NULL);
	int lines = 0;
	for (size_t i = 0; i < c->pts.n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (c->pts.ceiling[i] != ceiling || c->pts.ceiling[j] != ceiling ||
			    c->pts.p[i].local_ns == c->pts.p[j].local_ns ||
			    !leans(c, ceiling, i, j, at, slope, sum)) {
				continue;
			}
			oracle_set(t, x, 1);
			oracle_set(v, c->pts.p[i].local_ns, 1);
			mpq_sub(t, t, v);
			mpq_mul(v, t, slope);
			mpq_add(v, v, at);
			int order = lines ? mpq_cmp(sum, best) : -1;
			if (order < 0) {
				mpq_set(best, sum);
				mpq_set(value, v);
				lines = 1;
			} else if (!order && mpq_cmp(v, value)) {
				lines++;
			}
		}
	}
	mpq_clears(at, slope, sum, best, t, v, NULL);
	return lines == 1;
}

static void test_support_is_moons_line(void **state)
{
	(void)state;
	size_t compared = 0;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		c.q_a = c.q_b = 0;
		struct drawn d = draw(&c, "support");
		mpq_t low, high, got, half;
		mpq_inits(low, high, got, half, NULL);
		mpq_set_ui(half, 1, 2);
		for (size_t i = 0; i < d.n && ordinary(&c); i++) {
			if (moon(&c, false, d.knot[i].local_ns, low) &&
			    moon(&c, true, d.knot[i].local_ns, high)) {
				mpq_add(low, low, high);
				mpq_mul(low, low, half);
				oracle_set(got, d.knot[i].offset_ns, 1);
				mpq_sub(got, got, low);
				CHECK(fabs(mpq_get_d(got)) <= 1, &c);
				compared++;
			}
		}
		mpq_clears(low, high, got, half, NULL);
		drawn_free(&d);
	}
	print_message("%zu values compared\n", compared);
	assert_true(compared > case_count(4000) / 20);
}

/* s with 1 + s = tan of the mean angle, in long double from Duda's own formula. */
static long double bisector(long double s1, long double s2)
{
	long double b1 = 1 / (1 + s1), b2 = 1 / (1 + s2);
	return 1 / tanl((atanl(b1) + atanl(b2)) / 2) - 1;
}

static void test_hull_is_dudas_bisector(void **state)
{
	(void)state;
	if (no_long_double()) {
		skip();
	}
	size_t compared = 0;
	for (uint64_t seed = case_first(8000); seed < case_end(8000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		c.q_a = c.q_b = 0;
		if (!ordinary(&c)) {
			continue;
		}
		struct drawn d = draw(&c, "hull");
		/* what messages alone allow: every floor with every ceiling */
		long double min = -INFINITY, max = INFINITY;
		for (size_t i = 0; i < c.pts.n; i++) {
			for (size_t j = 0; j < c.pts.n; j++) {
				if (c.pts.ceiling[i] || !c.pts.ceiling[j]) {
					continue;
				}
				int64_t dt = c.pts.p[i].local_ns - c.pts.p[j].local_ns;
				int64_t dy = c.pts.p[i].offset_ns - c.pts.p[j].offset_ns;
				long double s = (long double)dy / (long double)dt;
				min = dt > 0 && s > min ? s : min;
				max = dt < 0 && s < max ? s : max;
			}
		}
		long double limit = (long double)c.max_skew_e12 * 1e-12L;
		min = isinf(min) ? -limit : min;
		max = isinf(max) ? limit : max;
		/* the naive formula has the angle's branch wrong once B's stamps fall */
		if (d.n && min > -0.9L && max < 1000) {
			CHECK(d.n == 2, &c);
			long double run = (long double)(d.knot[1].local_ns - d.knot[0].local_ns);
			long double got =
				(long double)(d.knot[1].offset_ns - d.knot[0].offset_ns) / run;
			CHECK(fabsl(got - bisector(min, max)) <= 3 / run + 1e-15L * fabsl(got), &c);
			compared++;
		}
		drawn_free(&d);
	}
	print_message("%zu slopes compared\n", compared);
	assert_true(compared > case_count(8000) / 20);
}

/* The default's own line lies in the band at both ends, but for the rounding. */
static void test_middle_is_inside(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(8000); seed < case_end(8000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		struct drawn d = draw(&c, "middle");
		CHECK(!d.status, &c);
		for (size_t i = 0; i < d.n; i++) {
			int64_t lo, hi;
			usk_lines_at(d.lines, d.knot[i].local_ns, &lo, &hi);
			CHECK(lo == USK_NONE || lo <= d.knot[i].offset_ns + 1, &c);
			CHECK(hi == USK_NONE || hi >= d.knot[i].offset_ns - 1, &c);
		}
		drawn_free(&d);
	}
}

/* Where support does not fit, the default is the mean of the polygon's vertices. */
static void test_middle_is_the_mean(void **state)
{
	(void)state;
	size_t compared = 0;
	for (uint64_t seed = case_first(8000); seed < case_end(8000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		struct drawn d = draw(&c, "middle"), e = draw(&c, "support");
		struct oracle *o = oracle_new(&c.pts, c.q_a, c.q_b, c.max_skew_e12);
		bool other = d.n && (!e.n || d.knot[0].offset_ns != e.knot[0].offset_ns ||
				     d.knot[1].offset_ns != e.knot[1].offset_ns);
		mpq_t sum, v, x;
		mpq_inits(sum, v, x, NULL);
		for (size_t k = 0; k < d.n && other && ordinary(&c); k++) {
			mpq_set_ui(sum, 0, 1);
			long n = 0;
			for (size_t i = 0; i < o->n; i++) {
				bool again = false;
				for (size_t j = 0; j < i; j++) {
					again |= mpq_equal(o->slope[i], o->slope[j]) &&
						 mpq_equal(o->at_zero[i], o->at_zero[j]);
				}
				if (!again) {
					oracle_set(x, d.knot[k].local_ns, 1);
					mpq_mul(v, o->slope[i], x);
					mpq_add(v, v, o->at_zero[i]);
					mpq_add(sum, sum, v);
					n++;
				}
			}
			oracle_set(v, n, 1);
			mpq_div(sum, sum, v);
			oracle_set(v, d.knot[k].offset_ns, 1);
			mpq_sub(v, v, sum);
			CHECK(fabs(mpq_get_d(v)) <= 2, &c);
			compared++;
		}
		mpq_clears(sum, v, x, NULL);
		oracle_free(o);
		drawn_free(&d);
		drawn_free(&e);
	}
	print_message("%zu values compared\n", compared);
	assert_true(compared > case_count(8000) / 20);
}

/* The smallest corrected delay of all messages, by the integer map. */
static int64_t fastest(const struct usk_clock *k, const struct usk_msg *msg, size_t n)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		int64_t local = msg[i].to ? msg[i].received_ns : msg[i].sent_ns;
		int64_t remote = msg[i].to ? msg[i].sent_ns : msg[i].received_ns;
		size_t j = 0;
		while (j + 2 < k->n_knots && k->knot[j + 1].local_ns < local) {
			j++;
		}
		const struct usk_knot *a = &k->knot[j], *b = a + 1;
		int64_t offset = (int64_t)(a->offset_ns +
					   usk_floor_div((usk_i128)(b->offset_ns - a->offset_ns) *
								 (local - a->local_ns),
							 b->local_ns - a->local_ns));
		int64_t delay = msg[i].to ? local + offset - remote : remote - local - offset;
		least = delay < least ? delay : least;
	}
	return least;
}

/* Truth in the band, errors as small as they should be, on an hour's traffic. */
static void test_accuracy(void **state)
{
	(void)state;
	double rms[3] = { 0, 0, 0 };
	enum { RUNS = 20, N = 20000 };
	static const char *const names[] = { "hull", "support", "middle" };
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct fit_case c = { .seed = seed };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		const int64_t span = INT64_C(600000000000), epoch = INT64_C(1700000000000000000);
		struct usk_frame f = { epoch, 0, 0, 400000, 0, false };
		struct usk_corridor *k = usk_corridor_new(&f);
		struct usk_msg *msg = usk_alloc(N, sizeof *msg);
		for (int i = 0; i < N; i++) {
			int64_t x = (int64_t)usk_rng_below(&r, (uint64_t)span);
			int64_t y = epoch + x + x / 50000 - 77000000;
			int64_t delay = 50000 + (int64_t)usk_rng_exponential(&r, 50000);
			msg[i] = i & 1 ? (struct usk_msg){ epoch + x - delay, y, 0, 1, 0 }
				       : (struct usk_msg){ y, epoch + x + delay, 1, 0, 0 };
			CHECK(!usk_corridor_add(k, 0, 1, &msg[i], 1, NULL), &c);
		}
		struct usk_lines *l = usk_lines_new(k, 0, 0, 500000000);
		struct usk_fit fit = { .corridor = k,
				       .lines = l,
				       .first_local_ns = epoch - 77000000,
				       .last_local_ns = epoch - 77000000 + span + span / 50000 };
		for (int e = 0; e < 3; e++) {
			struct usk_clock clock;
			CHECK(!fit_alone(&fit, usk_estimator_find(names[e]), &clock, NULL), &c);
			for (size_t i = 0; i < clock.n_knots; i++) {
				const struct usk_knot *n = &clock.knot[i];
				/* y = epoch - 77 ms + x + floor(x/50000): within 1 ns of this line
				 */
				double truth =
					77000000 - (double)(n->local_ns - epoch + 77000000) / 50001;
				CHECK((double)n->lo_ns <= truth + 1 &&
					      truth - 1 <= (double)n->hi_ns,
				      &c);
				double error = (double)n->offset_ns - truth;
				rms[e] += error * error / (RUNS * (double)clock.n_knots);
			}
			CHECK(fabs(clock.drift_ppm - 20) < 0.1, &c);
			CHECK(fastest(&clock, msg, N) >= 0, &c); /* every message in order */
			free(clock.knot);
		}
		usk_lines_free(l);
		usk_corridor_free(k);
		free(msg);
	}
	print_message("rms at the knots, ns: hull %.0f, support %.0f, middle %.0f\n", sqrt(rms[0]),
		      sqrt(rms[1]), sqrt(rms[2]));
	assert_true(sqrt(rms[1]) < sqrt(rms[0]) && sqrt(rms[2]) <= sqrt(rms[1]) * 1.01);
	assert_true(sqrt(rms[2]) < 100);
}

static int by_order(const void *pa, const void *pb)
{
	const struct usk_msg *a = pa, *b = pb;
	int64_t x[] = { a->to ? a->received_ns : a->sent_ns, a->to ? a->sent_ns : a->received_ns,
			a->from, a->bytes };
	int64_t y[] = { b->to ? b->received_ns : b->sent_ns, b->to ? b->sent_ns : b->received_ns,
			b->from, b->bytes };
	for (int i = 0; i < 4; i++) {
		if (x[i] != y[i]) {
			return x[i] < y[i] ? -1 : 1;
		}
	}
	return 0;
}

/* In order, nearly, backwards, and with ties everywhere: the same as a plain sort. */
static void test_sort(void **state)
{
	(void)state;
	enum { N = 500 };
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		struct usk_msg msg[N], want[N];
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		size_t n = usk_rng_below(&r, N + 1);
		uint64_t jitter = UINT64_C(1) << usk_rng_below(&r, 12);
		int64_t step = (int64_t)usk_rng_below(&r, 21) - 10;
		for (size_t i = 0; i < n; i++) {
			int64_t t = (int64_t)i * step + (int64_t)usk_rng_below(&r, jitter);
			bool back = usk_rng_below(&r, 2);
			msg[i] = (struct usk_msg){ t, t + (int64_t)usk_rng_below(&r, 3), back,
						   !back, (uint32_t)usk_rng_below(&r, 2) };
			want[i] = msg[i];
		}
		if (n) {
			qsort(want, n, sizeof *want, by_order);
		}
		usk_msg_sort(msg, n, 1);
		for (size_t i = 0; i < n; i++) {
			if (by_order(&msg[i], &want[i])) {
				fail_msg("seed %llu: %zu", (unsigned long long)seed, i);
			}
		}
	}
}

static void test_table(void **state)
{
	(void)state;
	assert_null(usk_estimator_find("no such thing"));
	assert_null(usk_estimator_find("middle+\xce\xb4"));
	assert_null(usk_estimator_find("\xce\xb4"));
	assert_null(usk_estimator_find("hull\xce\xb4"));
	assert_ptr_equal(usk_estimator_find("hull+\xce\xb4"), usk_estimator_find("hull+delta"));
	for (size_t row = 0; usk_estimators()[row]; row++) {
		const struct usk_estimator *e = usk_estimators()[row];
		assert_ptr_equal(usk_estimator_find(e->name), e);
		assert_true(e->source[0] && e->help[0] && e->estimate);
		struct usk_frame f = { 0, 0, 0, 400000, 0, false };
		struct usk_corridor *k = usk_corridor_new(&f);
		struct usk_lines *l = usk_lines_new(k, 0, 0, 0);
		struct usk_fit fit = { .corridor = k, .lines = l };
		struct usk_err err = { 0 };
		struct usk_knot *knot = NULL;
		size_t n = 0;
		assert_int_equal(usk_estimator_run(e, &fit, &knot, &n, &err), USK_EINPUT);
		assert_true(err.msg[0] && !knot);
		usk_lines_free(l);
		usk_corridor_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_support_is_moons_line),
		cmocka_unit_test(test_hull_is_dudas_bisector),
		cmocka_unit_test(test_middle_is_inside),
		cmocka_unit_test(test_middle_is_the_mean),
		cmocka_unit_test(test_accuracy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
