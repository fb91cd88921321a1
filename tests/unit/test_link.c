/* SPDX-License-Identifier: MIT */
/* Bands as maps, against the same in rationals: at, back, turned round, chained, thinned. */
#include "cases.h"
#include "rational.h"
#include "solve/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHECK_AT(cond, seed)                                                                       \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("seed %llu: %s", (unsigned long long)(seed), #cond);              \
		}                                                                                  \
	} while (0)

#define SKEW INT64_C(500000000)
#define E12  INT64_C(1000000000000)

static int64_t among(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)usk_rng_below(r, (uint64_t)(hi - lo) + 1);
}

/* A random band: gaps of ns or of seconds, rates of ppm or, seldom, a leap. */
static struct usk_link make(struct usk_rng *r, int64_t first)
{
	size_t n = 2 + usk_rng_below(r, 7);
	struct usk_knot k[9];
	bool tiny = usk_rng_below(r, 3) == 0;
	int64_t x = first + among(r, -1000, 1000), mid = among(r, -5000, 5000);
	int64_t width = tiny ? 5 : 100000;
	for (size_t i = 0; i < n; i++) {
		k[i] = (struct usk_knot){ .local_ns = x, .offset_ns = mid };
		k[i].lo_ns = mid - among(r, 0, width);
		k[i].hi_ns = mid + among(r, 0, width);
		int64_t step = tiny ? among(r, 1, 12) : among(r, 1, 4000000000);
		int64_t by = tiny ? among(r, -step, 5) : among(r, -step / 2000, step / 2000);
		if (usk_rng_below(r, 9) == 0) {
			by = among(r, 0, 1000000);
		}
		x += step;
		mid += by;
	}
	return usk_link_of(k, n, SKEW);
}

static Q knot_value(const struct usk_knot *k, enum usk_curve c)
{
	int64_t o = c == USK_LOWER ? k->lo_ns : c == USK_UPPER ? k->hi_ns : k->offset_ns;
	return q_add(q_int(k->local_ns), q_int(o));
}

static Q outer_slope(const struct usk_link *b, enum usk_curve c, bool right)
{
	if (c == USK_MIDDLE) {
		const struct usk_knot *k = right ? &b->knot[b->n - 2] : &b->knot[0];
		return q_div(q_sub(knot_value(k + 1, c), knot_value(k, c)),
			     q_int((usk_i128)k[1].local_ns - k->local_ns));
	}
	bool steep = (c == USK_UPPER) == right;
	return q_div(q_int(steep ? E12 + SKEW : E12 - SKEW), q_int(E12));
}

/* The curve, exactly. */
static Q exact(const struct usk_link *b, enum usk_curve c, Q x)
{
	const struct usk_knot *first = &b->knot[0], *last = &b->knot[b->n - 1];
	if (q_cmp(x, q_int(first->local_ns)) < 0) {
		return q_add(knot_value(first, c),
			     q_mul(outer_slope(b, c, false), q_sub(x, q_int(first->local_ns))));
	}
	if (q_cmp(x, q_int(last->local_ns)) > 0) {
		return q_add(knot_value(last, c),
			     q_mul(outer_slope(b, c, true), q_sub(x, q_int(last->local_ns))));
	}
	size_t i = 0;
	while (q_cmp(x, q_int(b->knot[i + 1].local_ns)) > 0) {
		i++;
	}
	const struct usk_knot *k = &b->knot[i];
	Q rise = q_sub(knot_value(k + 1, c), knot_value(k, c));
	Q run = q_int((usk_i128)k[1].local_ns - k->local_ns);
	return q_add(knot_value(k, c), q_div(q_mul(rise, q_sub(x, q_int(k->local_ns))), run));
}

/* The last x with L(x) <= t, the first with U(x) >= t; by looking at every piece. */
static Q exact_back(const struct usk_link *b, enum usk_curve c, Q t)
{
	const struct usk_knot *first = &b->knot[0], *last = &b->knot[b->n - 1];
	bool latest = c == USK_LOWER;
	int at_first = q_cmp(t, knot_value(first, c)), at_last = q_cmp(t, knot_value(last, c));
	if (at_first < 0) {
		return q_add(q_int(first->local_ns),
			     q_div(q_sub(t, knot_value(first, c)), outer_slope(b, c, false)));
	}
	if (at_last > 0) {
		return q_add(q_int(last->local_ns),
			     q_div(q_sub(t, knot_value(last, c)), outer_slope(b, c, true)));
	}
	Q found = NULL;
	for (size_t i = 0; i + 1 < b->n; i++) {
		const struct usk_knot *k = &b->knot[i];
		Q from = knot_value(k, c), to = knot_value(k + 1, c);
		if (q_cmp(t, from) < 0 || q_cmp(t, to) > 0 || (found && !latest)) {
			continue;
		}
		Q run = q_int((usk_i128)k[1].local_ns - k->local_ns);
		Q x = q_cmp(from, to) == 0
			      ? q_int(latest ? k[1].local_ns : k->local_ns)
			      : q_add(q_int(k->local_ns),
				      q_div(q_mul(q_sub(t, from), run), q_sub(to, from)));
		found = !found || q_cmp(x, found) > 0 ? x : found;
	}
	return found;
}

/* at <= b <= later + slack */
static bool just_over(Q at, Q later, int64_t b, int64_t slack)
{
	return q_cmp(at, q_int(b)) <= 0 && q_cmp(q_int((usk_i128)b - slack), later) <= 0;
}

static bool just_under(Q at, Q earlier, int64_t b, int64_t slack)
{
	return q_cmp(at, q_int(b)) >= 0 && q_cmp(q_int((usk_i128)b + slack), earlier) >= 0;
}

/* A result may be as wide as the exact one so many ns away, and so much wider. */
enum { NEAR = 4, SLACK = 6 };

static int64_t somewhere(const struct usk_link *b, struct usk_rng *r)
{
	int64_t first = b->knot[0].local_ns, last = b->knot[b->n - 1].local_ns;
	switch (usk_rng_below(r, 4)) {
	case 0:
		return b->knot[usk_rng_below(r, b->n)].local_ns + among(r, -2, 2);
	case 1:
		return among(r, first - 3000000000, last + 3000000000);
	default:
		return among(r, first, last);
	}
}

static void test_at_and_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(400); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_link b = make(&r, seed % 2 ? 0 : INT64_C(1700000000000000000));
		usk_hint at[3] = { 0 }, back[3] = { 0 };
		for (int i = 0; i < 20; i++) {
			int64_t x = somewhere(&b, &r);
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
				int64_t y = usk_link_at(&b, c, x, &at[c]);
				Q want = exact(&b, c, q_int(x));
				CHECK_AT(c == USK_UPPER ? just_over(want, want, y, 1)
							: just_under(want, want, y, 1),
					 seed);
				if (c == USK_MIDDLE) {
					continue;
				}
				int64_t z = usk_link_back(&b, c, x, &back[c]);
				want = exact_back(&b, c, q_int(x));
				CHECK_AT(c == USK_LOWER ? just_over(want, want, z, 1)
							: just_under(want, want, z, 1),
					 seed);
			}
			q_done();
		}
		usk_link_free(&b);
	}
}

/* A turned band holds what the exact one holds, and not much more. */
static void test_turn(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_link b = make(&r, INT64_C(1600000000000000000));
		int64_t first = b.knot[0].local_ns + among(&r, -100000, 100000);
		int64_t last = b.knot[b.n - 1].local_ns + among(&r, -100000, 100000);
		struct usk_link t = usk_link_turn(&b, first, last > first ? last : first + 5);
		usk_hint at[3] = { 0 };
		for (int i = 0; i < 20; i++) {
			int64_t z = among(&r, t.knot[0].local_ns, t.knot[t.n - 1].local_ns);
			CHECK_AT(just_over(exact_back(&b, USK_LOWER, q_int(z)),
					   exact_back(&b, USK_LOWER, q_int(z + NEAR)),
					   usk_link_at(&t, USK_UPPER, z, &at[USK_UPPER]), SLACK),
				 seed);
			CHECK_AT(just_under(exact_back(&b, USK_UPPER, q_int(z)),
					    exact_back(&b, USK_UPPER, q_int(z - NEAR)),
					    usk_link_at(&t, USK_LOWER, z, &at[USK_LOWER]), SLACK),
				 seed);
			q_done();
		}
		for (size_t i = 0; i < t.n; i++) {
			CHECK_AT(t.knot[i].lo_ns <= t.knot[i].offset_ns &&
					 t.knot[i].offset_ns <= t.knot[i].hi_ns,
				 seed);
		}
		usk_link_free(&t);
		usk_link_free(&b);
	}
}

/* With the time between the two off by so much. */
static Q chained(const struct usk_link *inner, const struct usk_link *outer, enum usk_curve c,
		 int64_t x, int64_t off)
{
	return exact(outer, c, q_add(exact(inner, c, q_int(x + off)), q_int(off)));
}

static void test_chain(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_link inner = make(&r, 0), outer = make(&r, among(&r, -50000, 50000));
		struct usk_link b = usk_link_chain(&inner, &outer);
		usk_hint at[3] = { 0 };
		for (int i = 0; i < 20; i++) {
			int64_t x = among(&r, b.knot[0].local_ns, b.knot[b.n - 1].local_ns);
			CHECK_AT(just_over(chained(&inner, &outer, USK_UPPER, x, 0),
					   chained(&inner, &outer, USK_UPPER, x, NEAR),
					   usk_link_at(&b, USK_UPPER, x, &at[USK_UPPER]), SLACK),
				 seed);
			CHECK_AT(just_under(chained(&inner, &outer, USK_LOWER, x, 0),
					    chained(&inner, &outer, USK_LOWER, x, -NEAR),
					    usk_link_at(&b, USK_LOWER, x, &at[USK_LOWER]), SLACK),
				 seed);
			q_done();
		}
		for (size_t i = 0; i < b.n; i++) {
			CHECK_AT(b.knot[i].lo_ns <= b.knot[i].offset_ns &&
					 b.knot[i].offset_ns <= b.knot[i].hi_ns,
				 seed);
		}
		usk_link_free(&b);
		usk_link_free(&inner);
		usk_link_free(&outer);
	}
}

static void test_thin(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(300); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_link b = make(&r, 0), was = usk_link_of(b.knot, b.n, SKEW);
		size_t most = 2 + usk_rng_below(&r, 6);
		usk_hint at[2][3] = { { 0 } };
		usk_link_thin(&b, most);
		CHECK_AT(b.n <= most, seed);
		for (int i = 0; i < 20; i++) {
			int64_t x = somewhere(&was, &r);
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
				int64_t now = usk_link_at(&b, c, x, &at[0][c]);
				int64_t then = usk_link_at(&was, c, x, &at[1][c]);
				CHECK_AT(c == USK_UPPER ? now >= then : now <= then, seed);
			}
		}
		usk_link_free(&b);
		usk_link_free(&was);
	}
}

/* What lies on a line needs no knots, and is not widened for it. */
static void test_thin_line(void **state)
{
	(void)state;
	struct usk_knot k[100];
	for (int64_t i = 0; i < 100; i++) {
		k[i] = (struct usk_knot){ i * 1000000, 3 * i, 3 * i - 50, 3 * i + 50, 0 };
	}
	struct usk_link b = usk_link_of(k, 100, SKEW);
	usk_link_thin(&b, 10);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.knot[1].hi_ns, 3 * 99 + 50);
	assert_int_equal(b.knot[1].lo_ns, 3 * 99 - 50);
	usk_link_reach(&b, -1000000, 200000000);
	assert_int_equal(b.n, 4);
	assert_int_equal(b.knot[0].hi_ns, 50 + 500);
	assert_int_equal(b.knot[0].offset_ns, -3);
	usk_link_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_and_back), cmocka_unit_test(test_turn),
		cmocka_unit_test(test_chain),	    cmocka_unit_test(test_thin),
		cmocka_unit_test(test_thin_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
