/* SPDX-License-Identifier: MIT */
/*
 * test_broadcast.c - broadcasts that both clocks heard: found, judged, and the line through them
 *
 * The line against least absolute deviations by brute force: some line through two points of
 * different times has the smallest sum, so all of these are tried, in integers.
 */
#include "../part.h"
#include "fit/fit.h"
#include "judge/judge.h"
#include "match/match.h"
#include "scene.h"
#include "write/write.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the line ---------------------------------------------------------------------------- */

/* Times are multiplied by this, so that what is rounded to 1 ns at the ends does not count. */
#define LARGE INT64_C(1000000000)

enum { MOST = 12 };

struct cloud {
	struct usk_reception broadcasts[MOST];
	int64_t x[MOST], y[MOST]; /* before multiplication: local, offset */
	size_t n;
};

static void cloud_make(struct cloud *c, struct usk_rng *r)
{
	int64_t wide = 1 + (int64_t)usk_rng_below(r, usk_rng_below(r, 2) ? 4 : 1000);
	int64_t high = 1 + (int64_t)usk_rng_below(r, usk_rng_below(r, 2) ? 4 : 1000);
	int64_t far = usk_rng_below(r, 3) ? 0 : 1700000000;
	c->n = 1 + usk_rng_below(r, MOST);
	for (size_t i = 0; i < c->n; i++) {
		c->x[i] = far + (int64_t)usk_rng_below(r, (uint64_t)wide);
		c->y[i] = (int64_t)usk_rng_below(r, (uint64_t)high) - high / 2;
		/* Now and then one that is far off, or all on a line. */
		c->y[i] += usk_rng_below(r, 8) ? 0 : 1000000;
		c->y[i] = wide == 3 ? 2 * c->x[i] - 7 : c->y[i];
		c->broadcasts[i] =
			(struct usk_reception){ LARGE * (c->x[i] + c->y[i]), LARGE * c->x[i] };
	}
}

/* Sum of absolute deviations from the line through i and k, times |x_k - x_i|. */
static usk_i128 sum_of(const struct cloud *c, size_t i, size_t k)
{
	usk_i128 dx = c->x[k] - c->x[i], dy = c->y[k] - c->y[i], sum = 0;
	for (size_t m = 0; m < c->n; m++) {
		usk_i128 v = (c->y[m] - c->y[i]) * dx - dy * (c->x[m] - c->x[i]);
		sum += v < 0 ? -v : v;
	}
	return sum;
}

/* The smallest sum; *unique: lines that have it are all one, that through *i and *k. */
static long double best_of(const struct cloud *c, size_t *i, size_t *k, bool *unique)
{
	usk_i128 best = -1, den = 1;
	for (size_t p = 0; p < c->n; p++) {
		for (size_t q = p + 1; q < c->n; q++) {
			usk_i128 dx = c->x[q] - c->x[p], dy = c->y[q] - c->y[p];
			if (!dx) {
				continue;
			}
			usk_i128 size = dx < 0 ? -dx : dx, sum = sum_of(c, p, q);
			if (best < 0 || sum * den < best * size) {
				best = sum;
				den = size;
				*i = p;
				*k = q;
				*unique = true;
			} else if (sum * den == best * size) {
				usk_i128 ex = c->x[*k] - c->x[*i], ey = c->y[*k] - c->y[*i];
				usk_i128 off =
					(c->y[p] - c->y[*i]) * ex - ey * (c->x[p] - c->x[*i]);
				*unique &= dy * ex == ey * dx && !off;
			}
		}
	}
	return best < 0 ? -1 : usk_real(best) / usk_real(den);
}

/* An answer to receptions; messages do not matter. */
static enum usk_status ask(const struct usk_reception *broadcasts, size_t n, int64_t first,
			   int64_t last, struct usk_knot **knot, size_t *n_knots,
			   struct usk_err *err)
{
	struct usk_frame frame = { .local_ns = first, .kappa_e12 = 400000 };
	struct usk_corridor *corridor = usk_corridor_new(&frame);
	struct usk_lines *lines = usk_lines_new(corridor, 0, 0, 500000000);
	struct usk_fit fit = {
		.corridor = corridor,
		.lines = lines,
		.first_local_ns = first,
		.last_local_ns = last,
		.broadcasts = broadcasts,
		.n_broadcasts = n,
		.b = 1,
	};
	enum usk_status status = usk_estimator_run(usk_estimator_find("broadcast-pairwise"), &fit,
						   knot, n_knots, err);
	usk_lines_free(lines);
	usk_corridor_free(corridor);
	return status;
}

static void test_line(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct usk_rng r;
		struct cloud c;
		struct usk_knot *knot;
		struct usk_err err = { 0 };
		size_t n_knots, i = 0, k = 0;
		bool unique = false;
		usk_rng_seed(&r, seed);
		cloud_make(&c, &r);
		int64_t first = c.x[0], last = c.x[0];
		for (size_t m = 0; m < c.n; m++) {
			first = c.x[m] < first ? c.x[m] : first;
			last = c.x[m] > last ? c.x[m] : last;
		}
		long double best = best_of(&c, &i, &k, &unique);
		enum usk_status status =
			ask(c.broadcasts, c.n, LARGE * first, LARGE * last, &knot, &n_knots, &err);
		if (best < 0) {
			assert_int_equal(status, USK_EINPUT);
			assert_non_null(strstr(err.msg, "at different times"));
			continue;
		}
		if (status) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, err.msg);
		}
		assert_int_equal(n_knots, 2);
		long double run = (long double)(knot[1].local_ns - knot[0].local_ns), sum = 0;
		long double slope = (long double)(knot[1].offset_ns - knot[0].offset_ns) / run;
		for (size_t m = 0; m < c.n; m++) {
			long double x = (long double)(LARGE * c.x[m] - knot[0].local_ns);
			long double y = (long double)(LARGE * c.y[m] - knot[0].offset_ns);
			sum += fabsl(y - slope * x);
		}
		bool good = sum <= best * LARGE + 2 * MOST;
		if (unique && good) {
			long double want =
				(long double)(c.y[k] - c.y[i]) / (long double)(c.x[k] - c.x[i]);
			long double at = (long double)LARGE *
					 (c.y[i] + want * (long double)(first - c.x[i]));
			good = fabsl(slope - want) <= 2 / run &&
			       fabsl((long double)knot[0].offset_ns - at) <= 1;
		}
		if (!good) {
			fail_msg("seed %llu: %Lf and not %Lf", (unsigned long long)seed,
				 sum / LARGE, best);
		}
		free(knot);
	}
}

/* Many, at an epoch, with a rate, noise on both sides and a tenth far off. */
static void test_many(void **state)
{
	(void)state;
	enum { N = 20000 };
	struct usk_reception *broadcasts = usk_alloc(N, sizeof *broadcasts);
	struct usk_rng r;
	struct usk_knot *knot;
	struct usk_err err = { 0 };
	size_t n;
	usk_rng_seed(&r, 7);
	for (int i = 0; i < N; i++) {
		int64_t t = i * 50 * MS, late = usk_rng_below(&r, 10) ? 0 : SECOND;
		/* b is 5 s behind and gains 20 ppm. */
		broadcasts[i].a_ns = START + t + (int64_t)usk_rng_exponential(&r, 20000) + late;
		broadcasts[i].b_ns = START - 5 * SECOND + t + t / 50000 +
				     (int64_t)usk_rng_exponential(&r, 20000);
	}
	int64_t first = broadcasts[0].b_ns, last = broadcasts[N - 1].b_ns;
	assert_int_equal(ask(broadcasts, N, first, last, &knot, &n, &err), USK_OK);
	int64_t want[2] = { 5 * SECOND, 5 * SECOND - N * 50 * MS / 50000 };
	for (int i = 0; i < 2; i++) {
		assert_in_range(knot[i].offset_ns, want[i] - 3000, want[i] + 10000);
	}
	free(knot);
	free(broadcasts);
}

/* ---- found in tables ------------------------------------------------------------------------ */

/* What came last, and how often. */
struct taken {
	uint32_t x, y;
	int64_t x_ns, y_ns;
	size_t n;
};

static void take(void *ctx, uint32_t x, int64_t x_ns, uint32_t y, int64_t y_ns)
{
	struct taken *t = ctx;
	*t = (struct taken){ x, y, x_ns, y_ns, t->n + 1 };
}

static void test_heard(void **state)
{
	(void)state;
	enum { A, B, X, Y };
	static const struct {
		struct usk_msg m;
		size_t more; /* broadcasts of two clocks that it completes; the last one: */
		uint32_t other;
		int64_t ns;
	} rows[] = {
		{ { 100, 110, X, A, 0 }, 0, 0, 0 },
		{ { 100, 210, X, B, 0 }, 1, A, 110 },
		{ { 100, 115, X, A, 0 }, 0, 0, 0 }, /* a second copy */
		{ { 200, 5, X, B, 0 }, 0, 0, 0 },
		{ { 200, 6, Y, A, 0 }, 0, 0, 0 }, /* of another sender */
		{ { 200, 7, X, A, 0 }, 1, B, 5 },
		{ { 200, 9, X, Y, 0 }, 2, B, 5 },
		{ { 200, 9, X, X, 0 }, 0, 0, 0 },
		{ { 200, 10, Y, B, 0 }, 1, A, 6 },
		{ { -5, -9, X, A, 0 }, 0, 0, 0 },
		{ { -5, INT64_MIN, X, B, 0 }, 1, A, -9 },
	};
	struct taken got = { .n = 0 };
	struct usk_broadcasts h = { .ctx = &got, .put = take };
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t before = got.n;
		usk_broadcasts_add(&h, &rows[i].m);
		if (got.n - before != rows[i].more ||
		    (rows[i].more &&
		     (got.x != rows[i].other || got.x_ns != rows[i].ns || got.y != rows[i].m.to ||
		      got.y_ns != rows[i].m.received_ns))) {
			fail_msg("row %zu", i);
		}
	}
	usk_broadcasts_free(&h);
	/* All of a long table that stand near each other, none of those that do not. */
	got.n = 0;
	for (int64_t i = 0; i < 3 * USK_HEARD; i++) {
		struct usk_msg m = { i, i + 10, X, A, 0 };
		usk_broadcasts_add(&h, &m);
		m = (struct usk_msg){ i - USK_HEARD / 4, i, X, B, 0 };
		usk_broadcasts_add(&h, &m);
		m = (struct usk_msg){ i - USK_HEARD, i, X, B, 0 };
		usk_broadcasts_add(&h, &m);
	}
	assert_int_equal(got.n, 3 * USK_HEARD - USK_HEARD / 4);
	usk_broadcasts_free(&h);
	/* One stamp again and again costs no more than others. */
	got.n = 0;
	for (int i = 0; i < 200000; i++) {
		struct usk_msg m = { 1, i, X, A, 0 };
		usk_broadcasts_add(&h, &m);
	}
	assert_int_equal(got.n, 0);
	usk_broadcasts_free(&h);
}

/* ---- found in captures --------------------------------------------------------------------- */

/* Host r's multicasts, seen by p and by q, between traffic of these two. */
static void meeting(struct scene *s, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int64_t t = START + i * 20 * MS;
		struct packet x = scene_udp(s, 0, (uint64_t)(1000000 + i));
		x.src = HOST_R;
		x.dst = 0xefff0001;
		x.multicast = true;
		scene_see(s, 0, t + 5 * MS, &x);
		scene_see(s, 1, t + 5 * MS + 700 + i, &x);
		scene_pass(s, (int)(i & 1), t, 100000, scene_udp(s, (int)(i & 1), (uint64_t)i));
	}
}

static void test_captures(void **state)
{
	(void)state;
	/* By addresses: stated, found (each talks to somebody else too), or the two of the only
	 * conversation, whoever is who. */
	for (int found = 0; found < 3; found++) {
		struct scene s = { .offset_ns = 3 * SECOND };
		meeting(&s, 60);
		if (!found) {
			s.eye[0].local = "10.0.0.1";
			s.eye[1].local = "10.0.0.2";
		}
		for (int me = 0; me < 2 && found == 1; me++) {
			struct packet x = scene_udp(&s, me, (uint64_t)(5000 + me));
			x.dst = HOST_R + 7;
			scene_see(&s, me, START + 3 * MS, &x);
		}
		scene_run(&s);
		assert_int_equal(s.n_got, 60);
		assert_int_equal(s.n_broadcasts, 60);
		assert_int_equal(s.counts.direction_unknown, 0);
		for (size_t i = 0; i < s.n_broadcasts; i++) {
			int64_t apart = s.broadcasts[i].b_ns - s.broadcasts[i].a_ns - s.offset_ns;
			assert_in_range(apart, 700, 760);
		}
		scene_free(&s);
	}
	/* Whose the address may be where q has several, nobody knows. */
	struct scene s = { .offset_ns = 3 * SECOND };
	meeting(&s, 60);
	struct packet x = scene_udp(&s, 1, 5000);
	x.src = HOST_R + 5;
	x.dst = HOST_R + 7;
	scene_see(&s, 1, START + 3 * MS, &x);
	s.eye[0].local = "10.0.0.1";
	scene_run(&s);
	assert_int_equal(s.n_broadcasts, 0);
	assert_int_equal(s.counts.direction_unknown, 60);
	scene_free(&s);
}

/* ---- judged -------------------------------------------------------------------------------- */

/* Two passes over everything, in long doubles. */
static struct usk_difference by_definition(const struct usk_reception *h, size_t n)
{
	struct usk_difference d = { n, INT64_MAX, INT64_MIN, 0, 0 };
	long double sum = 0, square = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t v = h[i].b_ns - h[i].a_ns;
		d.min_ns = v < d.min_ns ? v : d.min_ns;
		d.max_ns = v > d.max_ns ? v : d.max_ns;
		sum += (long double)v / n;
	}
	for (size_t i = 0; i < n; i++) {
		long double v = (long double)(h[i].b_ns - h[i].a_ns) - sum;
		square += v * v / n;
	}
	d.mean_ns = (int64_t)floorl(sum + 0.5L);
	d.sd_ns = (int64_t)roundl(sqrtl(square));
	return d;
}

static void assert_difference(struct usk_difference got, struct usk_difference want)
{
	assert_int_equal(got.n, want.n);
	assert_int_equal(got.min_ns, want.min_ns);
	assert_int_equal(got.max_ns, want.max_ns);
	assert_true(llabs(got.mean_ns - want.mean_ns) <= 1);
	assert_true(llabs(got.sd_ns - want.sd_ns) <= 1);
}

static void test_difference(void **state)
{
	(void)state;
	enum { N = 3000 };
	struct usk_reception *h = usk_alloc(N, sizeof *h);
	for (uint64_t seed = case_first(20); seed < case_end(20); seed++) {
		struct usk_rng r;
		struct usk_delay_samples w[3] = { { 0 } };
		usk_rng_seed(&r, seed);
		int64_t far = (int64_t)(seed % 3) * 3600 * SECOND;
		size_t n = 1 + usk_rng_below(&r, N);
		for (size_t i = 0; i < n; i++) {
			h[i].a_ns = START + (int64_t)i * SECOND;
			h[i].b_ns = h[i].a_ns + far + (int64_t)usk_rng_below(&r, 100000) - 40000;
		}
		size_t part = usk_rng_below(&r, n + 1);
		usk_delay_samples_broadcasts(&w[0], h, n);
		usk_delay_samples_broadcasts(&w[1], h, part);
		usk_delay_samples_broadcasts(&w[2], h + part, n - part);
		struct usk_difference all = usk_delay_samples_difference(&w[0], NULL, NULL);
		struct usk_difference two =
			usk_differences_add(usk_delay_samples_difference(&w[1], NULL, NULL),
					    usk_delay_samples_difference(&w[2], NULL, NULL));
		assert_difference(all, by_definition(h, n));
		assert_difference(two, all);
		/* On the common timeline: b is set back by what it is ahead. */
		struct usk_knot knot[2] = { { .local_ns = 0, .offset_ns = -far },
					    { .local_ns = USK_TIME_MAX, .offset_ns = -far } };
		struct usk_map *map = usk_map_of_line(knot, 2);
		struct usk_difference after = usk_delay_samples_difference(&w[0], NULL, map);
		assert_int_equal(after.mean_ns, all.mean_ns - far);
		assert_int_equal(after.sd_ns, all.sd_ns);
		usk_map_free(map);
		for (int i = 0; i < 3; i++) {
			usk_delay_samples_free(&w[i]);
		}
	}
	free(h);
	struct usk_delay_samples none = { 0 };
	assert_int_equal(usk_delay_samples_difference(&none, NULL, NULL).n, 0);
	assert_int_equal(usk_delay_samples_difference(&none, NULL, NULL).mean_ns, USK_NONE);
}

/* However many come, some thousands stay, spread evenly. */
static void test_thinned(void **state)
{
	(void)state;
	struct usk_delay_samples w = { 0 };
	for (int64_t i = 0; i < 300000; i++) {
		struct usk_msg m = { i, i + 1, 0, 1, 0 };
		usk_delay_samples_msgs(&w, &m, 1);
		assert_true(w.n_msgs <= 8192 && (i < 8192 || w.n_msgs >= 4096));
	}
	for (size_t i = 1; i < w.n_msgs; i++) {
		assert_int_equal(w.msg[i].sent_ns - w.msg[i - 1].sent_ns, w.msgs.stride);
	}
	assert_int_equal(w.msg[0].sent_ns, 0);
	assert_true(w.msg[w.n_msgs - 1].sent_ns >= 300000 - (int64_t)w.msgs.stride);
	usk_delay_samples_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	   cmocka_unit_test(test_many),
		cmocka_unit_test(test_heard),	   cmocka_unit_test(test_captures),
		cmocka_unit_test(test_difference), cmocka_unit_test(test_thinned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
