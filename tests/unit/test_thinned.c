/* SPDX-License-Identifier: MIT */
/* What a corridor kept proves what it dropped (flow/thinned.c), on random corridors and clocks. */
#include "../part.h"
#include "flow/reading.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START  INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)

enum { N = 300, KNOTS = 12, LENGTH = 10 };

/* Bends within a second, by some multiple of what a cone is steep. */
static void make_clock(struct usk_clock *k, struct usk_knot *knot, int64_t kappa, struct usk_rng *r)
{
	int64_t x = START, off = (int64_t)usk_rng_below(r, 1000000);
	int64_t share = 1 + (int64_t)usk_rng_below(r, 14);
	size_t n = 2 + usk_rng_below(r, KNOTS - 1);
	for (size_t i = 0; i < n; i++) {
		int64_t run = 1000 + (int64_t)usk_rng_below(r, 2 * LENGTH * SECOND / n);
		knot[i] = (struct usk_knot){ x, off, off - 1000, off + 1000, 0 };
		int64_t most = (int64_t)((usk_i128)run * kappa * share / (10 * USK_E12)) + 1;
		x += run;
		off += (int64_t)usk_rng_below(r, 2 * (uint64_t)most + 1) - most;
	}
	*k = (struct usk_clock){ .quality = USK_BOUNDED,
				 .knot = knot,
				 .n_knots = n,
				 .before = { -500000000, 500000000 },
				 .after = { -500000000, 500000000 } };
}

static int64_t corrected(const struct usk_map *m, int64_t x)
{
	assert_int_equal(usk_map_many(m, &x, 1, &x, NULL), USK_OK);
	return x;
}

/* The last stamp whose corrected time is not over t. */
static int64_t showed(const struct usk_map *m, int64_t t)
{
	int64_t lo = t - SECOND, hi = t + SECOND;
	while (lo < hi) {
		int64_t mid = lo + (hi - lo + 1) / 2;
		if (corrected(m, mid) <= t) {
			lo = mid;
		} else {
			hi = mid - 1;
		}
	}
	return lo;
}

/* As corrected.c asks. */
static bool stands(const struct usk_part *p, bool ceiling, const struct usk_map *a,
		   const struct usk_map *b, struct usk_thinned *t, bool *steep)
{
	bool all = true;
	for (size_t i = 0; i < p->n[ceiling]; i++) {
		struct usk_xy q = p->point[ceiling][i];
		int64_t u = q.x + (ceiling ? -q.y : q.y), on_b = p->frame.local_ns + q.x;
		int64_t on_a = p->frame.local_ns + p->frame.offset_ns + u;
		int64_t d = corrected(b, on_b) - corrected(a, on_a);
		long double lacks = usk_thinned_lacks(t, q.x, u);
		*steep = *steep || lacks > 2;
		all = all && (long double)(ceiling ? -d : d) >= 6 + 1.002L * fmaxl(lacks - 1, 0);
	}
	return all;
}

static void test_kept_prove_dropped(void **state)
{
	(void)state;
	uint64_t proved = 0, steep = 0, wrong = 0, dropped = 0;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		static const int64_t kappas[] = { 400000, 5000000, 500000000 };
		struct usk_frame f = {
			START, 0, 0, kappas[seed % 3], seed % 2 ? 0 : 3 * SECOND, seed % 4 > 1
		};
		struct usk_knot knots[2][KNOTS + 1];
		struct usk_clock k[2];
		struct usk_map *map[2];
		struct usk_msg m[N];
		for (int i = 0; i < 2; i++) {
			make_clock(&k[i], knots[i], f.kappa_e12, &r);
			map[i] = usk_map_new(&k[i], 500000000);
		}
		f.offset_ns = knots[1][0].offset_ns - knots[0][0].offset_ns;
		f.rate_e12 = (int64_t)usk_rng_below(&r, 3) * (f.kappa_e12 / 4);
		/* Narrow delays: a bend that is too steep shows. */
		uint64_t most = 1 + usk_rng_below(&r, 4000);
		for (int i = 0; i < N; i++) {
			int64_t x = START + (int64_t)usk_rng_below(&r, LENGTH * SECOND);
			int64_t t = corrected(map[1], x),
				d = (int64_t)usk_rng_below(&r, most) + 8 + 10 * (int64_t)(seed % 4);
			d = usk_rng_below(&r, 20 * N) ? d : -d;
			m[i] = usk_rng_below(&r, 2)
				       ? (struct usk_msg){ showed(map[0], t - d), x, 0, 1, 0 }
				       : (struct usk_msg){ x, showed(map[0], t + d) + 1, 1, 0, 0 };
		}
		struct usk_corridor *c = usk_corridor_new(&f);
		struct usk_part part;
		const int64_t q[2] = { 0, 0 };
		assert_int_equal(usk_corridor_add(c, 0, 1, m, N, NULL), USK_OK);
		usk_part_of(c, q, &part);
		struct usk_thinned *t = usk_thinned_new(&part.frame, &k[0], &k[1]);
		bool is_steep = false;
		bool both = stands(&part, false, map[0], map[1], t, &is_steep);
		both = stands(&part, true, map[0], map[1], t, &is_steep) && both;
		for (int i = 0; i < N; i++) {
			int64_t sent = corrected(map[m[i].from], m[i].sent_ns);
			bool bad = corrected(map[m[i].to], m[i].received_ns) < sent;
			wrong += bad;
			if (both && bad) {
				fail_msg("seed %llu: message %d was dropped, and is out of order",
					 (unsigned long long)seed, i);
			}
		}
		proved += both;
		steep += both && is_steep;
		dropped += both ? N - part.n[0] - part.n[1] : 0;
		usk_thinned_free(t);
		usk_part_free(&part);
		usk_corridor_free(c);
		usk_map_free(map[0]);
		usk_map_free(map[1]);
	}
	print_message("%llu proved, %llu of them where maps leave cones; %llu messages were "
		      "dropped, %llu out of order\n",
		      (unsigned long long)proved, (unsigned long long)steep,
		      (unsigned long long)dropped, (unsigned long long)wrong);
	const uint64_t cases = case_count(3000);
	assert_true(proved * 10 > cases && steep * 60 > cases && wrong * 60 > cases &&
		    dropped > 3 * cases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_prove_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
