/* SPDX-License-Identifier: MIT */
/* Which messages have to go, where no line fits. */
#include "cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static bool is_suspect(const struct usk_suspect *s, size_t n, struct usk_point p, bool ceiling)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].point.local_ns == p.local_ns && s[i].point.offset_ns == p.offset_ns &&
		    s[i].ceiling == ceiling) {
			return true;
		}
	}
	return false;
}

/*
 * Read again without the suspects until a line fits, as the caller does. Then the rest fits by the
 * oracle too; and of the last round's suspects none fits the band of those the corridor held.
 */
static void test_small(void **state)
{
	(void)state;
	size_t solved = 0, given_up = 0, messages = 0;
	for (uint64_t seed = 1; seed <= fit_cases(12000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		bool guilty = false;
		for (size_t round = 0; round <= c.pts.n; round++) {
			struct usk_corridor *k = fit_case_corridor(&c);
			struct usk_lines *l = usk_lines_new(k, c.q_a, c.q_b, c.max_skew_e12);
			struct usk_suspect *s = NULL;
			size_t n = 0, found = usk_corridor_suspects(k, l, c.pts.n, &s, &n);
			CHECK(n <= c.pts.n, &c);
			CHECK((found > 0) == (usk_lines_quality(l) == USK_CONTRADICTED), &c);
			CHECK((n > 0) == (found > 0), &c);
			usk_lines_free(l);
			usk_corridor_free(k);
			if (!found || found > c.pts.n) {
				solved += guilty && !found;
				given_up += found > 0;
				free(s);
				break;
			}
			guilty = true;
			messages += n;
			struct fit_case d = c;
			d.pts.n = 0;
			for (size_t i = 0; i < c.pts.n; i++) {
				if (!is_suspect(s, n, c.pts.p[i], c.pts.ceiling[i])) {
					d.pts.p[d.pts.n] = c.pts.p[i];
					d.pts.ceiling[d.pts.n++] = c.pts.ceiling[i];
				}
			}
			CHECK(d.pts.n < c.pts.n, &c);
			for (size_t i = 0; i < n; i++) {
				CHECK(s[i].excess_ns >= 1, &c);
				CHECK(!i || s[i - 1].excess_ns >= s[i].excess_ns, &c);
				/* with it none fits: by what is left, if all of that was remembered
				 */
				struct oracle_points with = d.pts;
				with.p[with.n] = s[i].point;
				with.ceiling[with.n++] = s[i].ceiling;
				struct oracle *o = oracle_new(&with, c.q_a, c.q_b, c.max_skew_e12);
				CHECK(!o->n, &c);
				oracle_free(o);
			}
			free(s);
			c = d;
		}
	}
	print_message("%zu solved by %zu messages, %zu given up\n", solved, messages, given_up);
}

static int64_t delay(struct usk_rng *r)
{
	return 50000 + (int64_t)usk_rng_exponential(r, 50000);
}

/* Ordinary traffic with a few wrong pairs: exactly those are found, whatever they are. */
static void test_wrong_pairs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(40); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		enum { N = 20000, BAD = 8 };
		struct usk_msg *msg = usk_alloc(N, sizeof *msg);
		bool *out = usk_alloc(N, sizeof *out), *bad = usk_alloc(N, sizeof *bad);
		int64_t span = INT64_C(1000000000) * (1 + (int64_t)usk_rng_below(&r, 1000));
		for (int i = 0; i < N; i++) {
			int64_t x = (int64_t)usk_rng_below(&r, (uint64_t)span);
			int64_t y = x + 1000000 + x / 50000, d = delay(&r); /* 20 ppm fast */
			msg[i] = i & 1 ? (struct usk_msg){ x - d, y, 0, 1, 0 }
				       : (struct usk_msg){ y, x + d, 1, 0, 0 };
		}
		size_t n_bad = 1 + usk_rng_below(&r, BAD);
		for (size_t i = 0; i < n_bad; i++) {
			size_t k = usk_rng_below(&r, N);
			bad[k] = true;
			int64_t early = (int64_t)usk_rng_below(&r, 1 << 20);
			msg[k].received_ns -= 1000000 + (early << usk_rng_below(&r, 18));
		}
		struct usk_frame f = { msg[0].received_ns, -1000000, -20000000, 400000 };
		for (int round = 0;; round++) {
			struct fit_case c = { .seed = seed };
			CHECK(round < 10, &c);
			struct usk_corridor *k = usk_corridor_new(&f);
			for (int i = 0; i < N; i++) {
				if (!out[i]) {
					CHECK(!usk_corridor_add(k, 0, 1, &msg[i], 1, NULL), &c);
				}
			}
			struct usk_lines *l = usk_lines_new(k, 0, 0, 500000000);
			struct usk_suspect *s;
			size_t n, found = usk_corridor_suspects(k, l, 100, &s, &n);
			CHECK(found == n, &c);
			for (int i = 0; i < N; i++) {
				int64_t t = i & 1 ? msg[i].received_ns : msg[i].sent_ns;
				int64_t x = i & 1 ? msg[i].sent_ns : msg[i].received_ns;
				if (!out[i] &&
				    is_suspect(s, n, (struct usk_point){ t, x - t }, !(i & 1))) {
					CHECK(bad[i], &c);
					out[i] = true;
				}
			}
			free(s);
			usk_lines_free(l);
			usk_corridor_free(k);
			if (!found) {
				break;
			}
		}
		struct fit_case c = { .seed = seed };
		for (int i = 0; i < N; i++) {
			CHECK(out[i] == bad[i], &c);
		}
		free(msg);
		free(out);
		free(bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_wrong_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
