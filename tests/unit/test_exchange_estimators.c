/* SPDX-License-Identifier: MIT */
/* The estimators that work on exchanges and windows, against their papers' formulas. */
#include "alone.h"
#include "exchange_formulas.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what an estimator draws ------------------------------------------------------ */

struct drawn {
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
};

static bool drawn_new(struct drawn *d, const struct table *t)
{
	*d = (struct drawn){ .corridor = usk_corridor_new(&t->frame) };
	if (usk_corridor_add(d->corridor, 0, 1, t->msg, t->n, NULL)) {
		usk_corridor_free(d->corridor);
		return false;
	}
	d->lines = usk_lines_new(d->corridor, t->q_a, t->q_b, t->max_skew_e12);
	d->fit = (struct usk_fit){ .corridor = d->corridor,
				   .lines = d->lines,
				   .first_local_ns = local_of(&t->msg[0]),
				   .last_local_ns = local_of(&t->msg[t->n - 1]),
				   .msg = t->msg,
				   .n_msgs = t->n,
				   .a = 0,
				   .b = 1,
				   .window_ns = t->window_ns };
	return true;
}

static void drawn_free(struct drawn *d)
{
	usk_lines_free(d->lines);
	usk_corridor_free(d->corridor);
}

/* ---- the tests --------------------------------------------------------------------- */

enum { ROWS = 11 }; /* of formulas */

/* 1 ns; beyond 2^53 ns from where the line starts, as many digits as a long double has */
static bool is_near(int64_t got, Q want, Q from)
{
	Q limit = q_int(USK_TIME_MAX), low = q_int(-USK_TIME_MAX);
	want = q_cmp(want, limit) > 0 ? limit : q_cmp(want, low) < 0 ? low : want;
	long double off = fabsl(q_value(q_sub(q_int(got), want)));
	long double far = fabsl(q_value(q_sub(want, from)));
	return off <= 1 + (far > 0x1p53L ? far * 0x1p-58L : 0);
}

static void compare(const struct table *t, const struct row *row, const struct answer *a,
		    const struct usk_knot *k, size_t n)
{
	CHECK(n >= 2, t);
	for (size_t i = 1; i < n; i++) {
		CHECK(k[i].local_ns > k[i - 1].local_ns, t);
	}
	if (a->corners > 1) {
		CHECK(n == a->corners, t);
		for (size_t i = 0; i < n; i++) {
			CHECK(k[i].local_ns == a->local[i], t);
			CHECK(is_near(k[i].offset_ns, a->offset[i], a->offset[i]), t);
		}
		return;
	}
	CHECK(n == 2, t);
	for (size_t i = 0; i < 2; i++) {
		Q want = q_add(a->y, q_mul(a->slope, q_sub(q_int(k[i].local_ns), a->at)));
		if (!is_near(k[i].offset_ns, want, a->y)) {
			fail_msg("case of seed %llu, %s: %lld at %lld, not %.3Lf",
				 (unsigned long long)t->seed, row->name, (long long)k[i].offset_ns,
				 (long long)k[i].local_ns, q_value(want));
		}
	}
	usk_i128 run = (usk_i128)k[1].local_ns - k[0].local_ns;
	bool cut = k[0].offset_ns == USK_TIME_MAX || k[0].offset_ns == -USK_TIME_MAX ||
		   k[1].offset_ns == USK_TIME_MAX || k[1].offset_ns == -USK_TIME_MAX;
	if (run > 2000000000 && !cut && fabsl(q_value(a->slope)) < 0.5L) {
		long double rise = (long double)((usk_i128)k[1].offset_ns - k[0].offset_ns);
		CHECK(fabsl(rise / (long double)run - q_value(a->slope)) < 1e-9L, t);
	}
}

static void test_formulas(void **state)
{
	(void)state;
	assert_null(formulas[ROWS].name);
	if (no_long_double()) {
		skip();
	}
	size_t compared[ROWS] = { 0 }, refused[ROWS] = { 0 };
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct table t;
		struct drawn d;
		table_make(&t, seed);
		if (!drawn_new(&d, &t)) {
			continue;
		}
		for (size_t i = 0; i < ROWS; i++) {
			bool lp = !strcmp(formulas[i].name, "lp-rate");
			if (lp && (!t.c.pts.n || usk_lines_quality(d.lines) != USK_BOUNDED)) {
				continue;
			}
			struct usk_err err = { 0 };
			struct usk_knot *k = NULL;
			size_t n = 0;
			enum usk_status status = usk_estimator_run(
				usk_estimator_find(formulas[i].name), &d.fit, &k, &n, &err);
			struct answer a = formulas[i].answer(&t);
			if (a.any != !status) {
				fail_msg("case of seed %llu, %s: status %d %s",
					 (unsigned long long)seed, formulas[i].name, (int)status,
					 err.msg);
			}
			if (a.any) {
				compare(&t, &formulas[i], &a, k, n);
				compared[i]++;
			} else {
				CHECK(status == USK_EINPUT && err.msg[0] && !k, &t);
				refused[i]++;
			}
			free(k);
		}
		drawn_free(&d);
		q_done();
	}
	for (size_t i = 0; i < ROWS; i++) {
		print_message("%s: %zu compared, %zu refused\n", formulas[i].name, compared[i],
			      refused[i]);
		assert_true(compared[i] > case_count(6000) / 20);
	}
}

/* Into the band: in order, and every message too, whatever was drawn. */
static void test_settled(void **state)
{
	(void)state;
	size_t settled = 0;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct table t;
		struct drawn d;
		table_make(&t, seed);
		if (!drawn_new(&d, &t)) {
			continue;
		}
		for (size_t i = 0; i < ROWS; i++) {
			struct usk_clock clock = { .n_knots = 0 };
			struct usk_err err = { 0 };
			const struct usk_estimator *e = usk_estimator_find(formulas[i].name);
			enum usk_status status = fit_alone(&d.fit, e, &clock, &err);
			bool says = strstr(err.msg, "need") || strstr(err.msg, "no window") ||
				    strstr(err.msg, "backwards");
			if (status && (status != USK_EINPUT || !says)) {
				fail_msg("case of seed %llu, %s: %s", (unsigned long long)seed,
					 formulas[i].name, err.msg);
			}
			if (status || clock.quality != USK_BOUNDED) {
				free(clock.knot);
				continue;
			}
			for (size_t k = 0; k < clock.n_knots; k++) {
				const struct usk_knot *at = &clock.knot[k];
				CHECK(at->lo_ns == USK_NONE || at->lo_ns <= at->offset_ns, &t);
				CHECK(at->hi_ns == USK_NONE || at->hi_ns >= at->offset_ns, &t);
			}
			struct usk_map *map = usk_map_new(&clock, t.max_skew_e12);
			for (size_t k = 0; k < t.n; k++) {
				struct usk_stamp s;
				const struct usk_msg *m = &t.msg[k];
				if (!usk_map_at(map, local_of(m), &s, NULL)) {
					usk_i128 delay = (usk_i128)s.reference_ns - reference_of(m);
					delay = m->from == 0 ? delay : -delay;
					CHECK(delay >= -(usk_i128)(m->from == 0 ? t.q_b : t.q_a),
					      &t);
				}
			}
			usk_map_free(map);
			free(clock.knot);
			settled++;
		}
		drawn_free(&d);
	}
	print_message("%zu clocks\n", settled);
	assert_true(settled > case_count(6000));
}

/* want^2 is known; `floor` is what rounding may leave where it is 0 */
static bool root_near(double got, Q want2, long double floor)
{
	long double want = q_value(q_sqrt(want2));
	return fabsl((long double)got - want) <= 1e-9L * want + floor;
}

/* The largest difference of those that are more than what rounding leaves, relative. */
static void apart(long double *worst, double got, Q want2, long double least)
{
	long double want = q_value(q_sqrt(want2));
	if (want > least) {
		*worst = fmaxl(*worst, fabsl((long double)got - want) / want);
	}
}

static void test_standard_errors(void **state)
{
	(void)state;
	long double worst[3] = { 0 };
	if (no_long_double()) {
		skip();
	}
	static const double zs[] = { USK_Z_90, USK_Z_95, USK_Z_99, INFINITY };
	size_t compared = 0;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct table t;
		table_make(&t, seed);
		struct usk_fit fit = { .msg = t.msg, .n_msgs = t.n, .a = 0, .b = 1 };
		for (size_t i = 0; i < COUNT(zs); i++) {
			struct usk_round_trips r;
			struct sums s;
			bool any = clement(&t, zs[i], &s);
			CHECK(any == !usk_round_trips_of(&fit, zs[i], &r, NULL), &t);
			if (!any) {
				continue;
			}
			CHECK(r.by_local == (s.asker == 1) && r.exchanges == s.all &&
				      r.kept == s.n && r.origin_ns == s.origin,
			      &t);
			long double margin = q_value(s.margin);
			CHECK(fabsl(r.kept_margin_ns - margin) <= 1e-6L + 1e-15L * fabsl(margin),
			      &t);
			/* over 2^53 ns, as many digits as a long double has */
			long double run = 0, scale = 0;
			for (size_t k = 0; k < t.n; k++) {
				usk_i128 c =
					r.by_local ? local_of(&t.msg[k]) : reference_of(&t.msg[k]);
				run = fmaxl(run, fabsl((long double)(c - r.origin_ns)));
			}
			scale = run * fabsl(r.slope) + fabsl(r.intercept_ns);
			scale = scale > 0x1p53L ? scale * 0x1p-58L : 0;
			CHECK(fabsl((long double)r.slope + q_value(s.x)) <=
				      1e-9L + 1e-15L * fabsl(q_value(s.x)),
			      &t);
			Q intercept = q_sub(q_sub(q_int(0), s.d0), q_int(r.origin_offset_ns));
			CHECK(fabsl(r.intercept_ns - q_value(intercept)) <= 1e-3L + scale, &t);
			if (s.n < 3) {
				CHECK(isnan(r.residual_ns) && isnan(r.s_slope), &t);
				continue;
			}
			long double span = 0;
			for (size_t k = 0; k < t.n; k++) {
				long double o =
					(long double)((usk_i128)reference_of(&t.msg[k]) -
						      local_of(&t.msg[k]) - r.origin_offset_ns);
				span = fmaxl(span, fabsl(o));
			}
			long double er = 1e-6L + span * 0x1p-55L;
			CHECK(root_near(r.residual_ns, s.er2, er), &t);
			apart(&worst[0], r.residual_ns, s.er2, 1);
			apart(&worst[1], r.s_slope, s.sx2, 1e-9L);
			apart(&worst[2], r.s_intercept_ns, s.sd2, 1);
			long double unit = q_value(
				q_sqrt(q_div(s.sx2, s.er2->_mp_num._mp_size ? s.er2 : q_int(1))));
			CHECK(root_near(r.s_slope, s.sx2, er * (unit > 0 ? unit : 1)), &t);
			CHECK(isfinite(r.s_intercept_ns), &t);
			if (s.er2->_mp_num._mp_size) {
				long double k = q_value(q_sqrt(q_div(s.sd2, s.er2)));
				CHECK(root_near(r.s_intercept_ns, s.sd2, er * k), &t);
			}
			compared++;
		}
		q_done();
	}
	print_message(
		"%zu regressions compared: Er within %.1Lg, errors of slope %.1Lg, of intercept "
		"%.1Lg of it\n",
		compared, worst[0], worst[1], worst[2]);
	assert_true(compared > case_count(3000) / 4);
}

/* Clement's figure 2: every exchange that its side began, in order, and who keeps it. */
static void test_margins(void **state)
{
	(void)state;
	static const double level[] = { USK_Z_90, USK_Z_95, USK_Z_99, INFINITY };
	size_t compared = 0;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct table t;
		struct trip e[MOST], own[MOST];
		bool by_local;
		size_t got, n = 0, counted[COUNT(level)] = { 0 };
		table_make(&t, seed);
		struct usk_fit fit = { .msg = t.msg, .n_msgs = t.n, .a = 0, .b = 1 };
		struct usk_margin *m = usk_margins_of(&fit, &by_local, &got);
		size_t all = trips(&t, e);
		uint32_t asker = shorter_asker(e, all);
		for (size_t i = 0; i < all; i++) {
			if (e[i].asker == asker) {
				size_t k = n++;
				for (; k && own[k - 1].t1 > e[i].t1; k--) {
					own[k] = own[k - 1];
				}
				own[k] = e[i];
			}
		}
		CHECK(got == n && (!n || by_local == (asker == 1)), &t);
		long double sum = 0, want = 0;
		for (size_t i = 0; i < n; i++) {
			CHECK(m[i].t1_ns == own[i].t1, &t);
			sum += (long double)m[i].margin_ns;
			want += q_value(half(rtd(&own[i])));
			for (size_t k = 0; k < COUNT(level); k++) {
				counted[k] += m[i].z <= level[k];
			}
		}
		CHECK(fabsl(sum - want) <= 1e-3L + 1e-14L * (long double)n * fabsl(want), &t);
		for (size_t k = 0; k < COUNT(level) && n; k++) {
			struct sums s;
			clement_over(e, all, asker, level[k], &s);
			CHECK(counted[k] == s.n, &t);
			compared++;
		}
		free(m);
		q_done();
	}
	print_message("%zu levels compared\n", compared);
	assert_true(compared > case_count(3000));
}

/* Which segment T1 is of, in one formula: of so many whole ones, half of a rest makes one more. */
static usk_i128 segment_of(usk_i128 t, usk_i128 span, usk_i128 length)
{
	usk_i128 last = usk_floor_div(2 * span - length, 2 * length), k = usk_floor_div(t, length);
	last = last < 0 ? 0 : last;
	return k < last ? k : last;
}

/* Section 13: what each segment's exchanges say by themselves, by the sums as they are printed. */
static void test_segments(void **state)
{
	(void)state;
	if (no_long_double()) {
		skip();
	}
	size_t compared = 0, several = 0;
	long double worst = 0;
	/* Of seed 18057 one knot is all there is, which is no line. */
	for (uint64_t number = case_first(6000); number <= case_end(6000); number++) {
		uint64_t seed = number < case_end(6000) ? number : 18057;
		struct table t;
		struct trip e[MOST], part[MOST];
		struct usk_round_trips r;
		struct usk_knot *knot = NULL;
		size_t n_knots = 0, all, at = 0, kept = 0, lines = 0;
		table_make(&t, seed);
		all = trips(&t, e);
		uint32_t asker = shorter_asker(e, all);
		int64_t first = INT64_MAX, last = INT64_MIN;
		for (size_t i = 0; i < all; i++) {
			if (e[i].asker == asker) {
				first = e[i].t1 < first ? e[i].t1 : first;
				last = e[i].t1 > last ? e[i].t1 : last;
			}
		}
		usk_i128 span = all ? (usk_i128)last - first : 0;
		if (span < 10000 || span > (usk_i128)1 << 50) {
			continue;
		}
		int64_t length = 1 + (int64_t)(span / (1 + (int64_t)(seed % 5)));
		struct usk_fit fit = { .msg = t.msg, .n_msgs = t.n, .a = 0, .b = 1 };
		bool any = !usk_round_trip_segments_of(&fit, USK_Z_90, length, &r, &knot, &n_knots,
						       NULL);
		/* The other side's turn: the paper knows of one that asks. */
		if (any && r.by_local != (asker == 1)) {
			free(knot);
			continue;
		}
		int64_t before = INT64_MIN;
		bool wild = false, lost = false;
		Q rr = q_int(0);
		usk_i128 spare = 0;
		for (usk_i128 k = 0; k <= span / length; k++) {
			struct sums s;
			size_t n = 0;
			for (size_t i = 0; i < all; i++) {
				if (e[i].asker == asker &&
				    segment_of((usk_i128)e[i].t1 - first, span, length) == k) {
					part[n++] = e[i];
				}
			}
			if (!n || !clement_over(part, n, asker, USK_Z_90, &s)) {
				continue;
			}
			wild |= fabsl(q_value(s.x)) > 0.5L;
			lines++;
			kept += s.n;
			if (s.n > 2) {
				spare += (usk_i128)s.n - 2;
				rr = q_add(rr, q_mul(s.er2, q_int((usk_i128)s.n - 2)));
			}
			for (int end = 0; end < 2; end++) {
				int64_t t1 = end ? s.last : s.first;
				Q ahead = q_add(q_mul(s.x, q_int((usk_i128)t1 - s.origin)), s.d0);
				Q local = asker ? q_int(t1) : q_add(q_int(t1), ahead);
				long double y = -q_value(ahead);
				/* One that is not behind the one before is left out. */
				if (at < n_knots &&
				    fabsl((long double)knot[at].offset_ns - y) <=
					    0.501L + 1e-15L * fabsl(y) &&
				    fabsl(q_value(q_sub(local, q_int(knot[at].local_ns)))) <= 1) {
					worst = fmaxl(worst,
						      fabsl((long double)knot[at].offset_ns - y));
					before = knot[at++].local_ns;
				} else {
					lost |= q_value(local) > (long double)before + 1;
				}
			}
		}
		/* A clock that stands still or runs backwards goes without knots. */
		CHECK((at == n_knots && !lost) || wild, &t);
		CHECK(any == (lines > 0) || wild, &t);
		if (any && !wild) {
			CHECK(r.kept == kept, &t);
			if (spare) {
				Q er2 = q_div(rr, q_int(spare));
				CHECK(root_near(r.residual_ns, er2, 1e-3L), &t);
			} else {
				CHECK(isnan(r.residual_ns), &t);
			}
			compared++;
			several += lines > 1;
		}
		free(any ? knot : NULL);
		q_done();
	}
	print_message("%zu compared, %zu of several segments, %.3Lf ns at most\n", compared,
		      several, worst);
	assert_true(several > case_count(6000) / 10);
}

static void test_windows(void **state)
{
	(void)state;
	/* floor 90 and ceiling 130 in the first window; the second has one direction only */
	struct usk_msg msg[] = {
		{ 1100, 1010, 0, 1, 0 }, { 1020, 1151, 1, 0, 0 }, { 1050, 1180, 1, 0, 0 },
		{ 1170, 1090, 0, 1, 0 }, { 1250, 1150, 0, 1, 0 }, { 1400, 1300, 0, 1, 0 },
		{ 1305, 1408, 1, 0, 0 },
	};
	struct usk_fit fit = { .msg = msg, .n_msgs = COUNT(msg), .b = 1, .window_ns = 100 };
	struct usk_knot *w;
	size_t n;
	assert_int_equal(usk_estimator_run(usk_estimator_find("min-window"), &fit, &w, &n, NULL),
			 USK_OK);
	assert_int_equal(n, 2);
	assert_int_equal(w[0].local_ns, 1060);
	assert_int_equal(w[0].offset_ns, 110);
	assert_int_equal(w[1].local_ns, 1257); /* 1210 to 1305, where the table ends */
	free(w);
}

/* Values of the windows between the corridor's vertices are on the answer. */
static void test_bends_stay(void **state)
{
	(void)state;
	enum { WINDOWS = 8 };
	static const int64_t bend[WINDOWS] = { 0, 300, -200, 100, -300, 250, -50, 0 };
	struct table t = { .max_skew_e12 = 500000000, .window_ns = 1000000000, .n = 0 };
	for (int i = 0; i < WINDOWS; i++) {
		/* local = reference - 5000; delays of 1000 +- bend, 2000 in all */
		int64_t at = i * t.window_ns + 400000000, there = 1000 + bend[i];
		t.msg[t.n++] = (struct usk_msg){ at, at + there - 5000, 0, 1, 0 };
		t.msg[t.n++] = (struct usk_msg){ at + there - 5000, at + 2000, 1, 0, 0 };
	}
	usk_msg_sort(t.msg, t.n, 1);
	struct drawn d;
	assert_true(drawn_new(&d, &t));
	struct usk_clock clock;
	assert_int_equal(fit_alone(&d.fit, usk_estimator_find("rate-segments"), &clock, NULL),
			 USK_OK);
	struct answer a = { .any = false };
	for (size_t i = 0; i < ROWS; i++) {
		a = strcmp(formulas[i].name, "rate-segments") ? a : formulas[i].answer(&t);
	}
	size_t found = 0, want = 0;
	struct usk_map *map = usk_map_new(&clock, t.max_skew_e12);
	for (size_t i = 0; i < a.corners; i++) {
		/* the outermost segments are 1 s long at least */
		if (a.local[i] < d.fit.first_local_ns + 1000000000 ||
		    a.local[i] > d.fit.last_local_ns - 1000000000) {
			continue;
		}
		want++;
		struct usk_stamp at;
		assert_int_equal(usk_map_at(map, a.local[i], &at, NULL), USK_OK);
		/* The estimate keeps as far from it as a share of the band's 2,000 ns. */
		Q off = q_sub(q_int(at.reference_ns - a.local[i]), a.offset[i]);
		found += fabsl(q_value(off)) <= 10;
	}
	assert_true(want >= WINDOWS - 3);
	assert_int_equal(found, want);
	usk_map_free(map);
	q_done();
	free(clock.knot);
	drawn_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas),	cmocka_unit_test(test_settled),
		cmocka_unit_test(test_standard_errors), cmocka_unit_test(test_margins),
		cmocka_unit_test(test_segments),	cmocka_unit_test(test_windows),
		cmocka_unit_test(test_bends_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
