/* SPDX-License-Identifier: MIT */
/*
 * All messages together, against an exact linear program that knows of no hulls, no base lines and
 * no duals: every message is a row, and T of a clock is alpha + beta (y - its first event).
 */
#include "mesh.h"
#include "num/lp.h"
#include "simplex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHECK_AT(cond, m)                                                                          \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("seed %llu: %s", (unsigned long long)(m)->o.seed, #cond);         \
		}                                                                                  \
	} while (0)

#define SKEW INT64_C(500000000)
#define E12  INT64_C(1000000000000)

static size_t unknown(uint32_t reference, size_t clock)
{
	return 2 * (clock > reference ? clock - 1 : clock);
}

static void set(mpq_t q, int64_t v)
{
	mpz_set_si(mpq_numref(q), v);
	mpz_set_si(mpq_denref(q), 1);
}

/* sign T_clock(y) into a row; of the reference into the right-hand side. T counts from `zero`. */
static void put(struct simplex *s, size_t row, const struct mesh *m, uint32_t reference,
		uint32_t clock, int64_t y, int sign)
{
	mpq_t v;
	mpq_init(v);
	if (clock == reference) {
		set(v, -sign * (y - m->span[reference].first_ns));
		mpq_add(s->b[row], s->b[row], v);
	} else {
		mpq_t *a = &s->a[row * s->n + unknown(reference, clock)];
		set(v, sign);
		mpq_add(a[0], a[0], v);
		set(v, sign * (y - m->span[clock].first_ns));
		mpq_add(a[1], a[1], v);
	}
	mpq_clear(v);
}

/* sign (beta_b - (1 + sign S) beta_a) <= 0 */
static void put_limit(struct simplex *s, uint32_t reference, uint32_t a, uint32_t b, int sign)
{
	size_t row = simplex_row(s);
	mpq_t rate;
	mpq_init(rate);
	mpz_set_si(mpq_numref(rate), -sign * (E12 + sign * SKEW));
	mpz_set_si(mpq_denref(rate), E12);
	mpq_canonicalize(rate);
	if (a == reference) {
		mpq_neg(s->b[row], rate);
	} else {
		mpq_set(s->a[row * s->n + unknown(reference, a) + 1], rate);
	}
	if (b == reference) {
		set(rate, -sign);
		mpq_add(s->b[row], s->b[row], rate);
	} else {
		set(s->a[row * s->n + unknown(reference, b) + 1], sign);
	}
	mpq_clear(rate);
}

static void build(struct simplex *s, const struct mesh *m, uint32_t reference)
{
	size_t n = m->o.clocks;
	simplex_new(s, 2 * (n - 1));
	for (size_t i = 0; i < m->n_msgs; i++) {
		const struct usk_msg *g = &m->msg[i];
		size_t row = simplex_row(s);
		put(s, row, m, reference, g->from, g->sent_ns, 1);
		put(s, row, m, reference, g->to, g->received_ns, -1);
	}
	for (uint32_t i = 0; i < n; i++) {
		for (int sign = -1; sign <= 1 && i != reference; sign += 2) {
			put_limit(s, reference, reference, i, sign);
		}
	}
	for (size_t i = 0; i < m->n_ties; i++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			put_limit(s, reference, m->tie[i].a, m->tie[i].b, sign);
		}
	}
}

/* The largest sign T_clock(y), absolute. */
static enum simplex_answer exact(const struct simplex *s, const struct mesh *m, uint32_t reference,
				 uint32_t clock, int64_t y, int sign, mpq_t best)
{
	mpq_t *c = usk_alloc(s->n, sizeof *c);
	for (size_t k = 0; k < s->n; k++) {
		mpq_init(c[k]);
	}
	size_t k = unknown(reference, clock);
	set(c[k], sign);
	set(c[k + 1], sign * (y - m->span[clock].first_ns));
	enum simplex_answer answer = simplex_solve(s, c, best);
	for (k = 0; k < s->n; k++) {
		mpq_clear(c[k]);
	}
	free(c);
	mpq_t zero;
	mpq_init(zero);
	set(zero, sign * m->span[reference].first_ns);
	mpq_add(best, best, zero);
	mpq_clear(zero);
	return answer;
}

/* exact <= bound <= exact + 2 */
static bool just_over(const mpq_t q, int64_t bound)
{
	mpq_t b;
	mpq_init(b);
	set(b, bound);
	bool good = mpq_cmp(q, b) <= 0;
	set(b, bound - 2);
	good = good && mpq_cmp(q, b) >= 0;
	mpq_clear(b);
	return good;
}

static void compare(struct mesh *m, size_t *compared)
{
	struct usk_err err = { 0 };
	CHECK_AT(!mesh_solve(m, false, USK_NO_CLOCK, &err), m);
	uint32_t reference = m->answer->island[0].reference;
	struct simplex s;
	mpq_t best;
	mpq_init(best);
	build(&s, m, reference);
	for (uint32_t i = 0; i < m->o.clocks && m->answer->n_islands == 1; i++) {
		const struct usk_clock *k = &m->answer->clock[i];
		struct usk_map *map = usk_map_new(k, SKEW);
		if (k->quality != USK_BOUNDED || i == reference) {
			usk_map_free(map);
			continue;
		}
		for (int64_t at = 0; at <= 5; at++) {
			const struct usk_span *span = &m->span[i];
			int64_t y = span->first_ns + (span->last_ns - span->first_ns) / 5 * at;
			struct usk_stamp stamp;
			CHECK_AT(!usk_map_at(map, y, &stamp, &err), m);
			CHECK_AT(exact(&s, m, reference, i, y, 1, best) == SIMPLEX_OPTIMAL, m);
			CHECK_AT(just_over(best, stamp.hi_ns), m);
			CHECK_AT(exact(&s, m, reference, i, y, -1, best) == SIMPLEX_OPTIMAL, m);
			CHECK_AT(just_over(best, -stamp.lo_ns), m);
			(*compared)++;
		}
		usk_map_free(map);
	}
	mpq_clear(best);
	simplex_free(&s);
}

static void test_exact(void **state)
{
	(void)state;
	size_t compared = 0;
	if (!usk_lp_solver()) {
		skip();
	}
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct mesh_options o = { .seed = seed,
					  .shape = seed % 3 == 0   ? MESH_RING_ONE_WAY
						   : seed % 3 == 1 ? MESH_FULL
								   : MESH_RING,
					  .clocks = 3 + seed % 2,
					  .seconds = 3 + (double)(seed % 5),
					  .rate = 0.6,
					  .least_ns = seed % 4 ? 39000 : 0,
					  .tail_ns = 200000,
					  .drift_ppm = 100,
					  .model = "linear" };
		struct mesh m;
		mesh_make(&m, &o);
		mesh_fit(&m);
		compare(&m, &compared);
		mesh_free(&m);
	}
	assert_true(compared > 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
