/* SPDX-License-Identifier: MIT */
/*
 * Exchanges, regress and least-violation against their definitions: searched from end to end, in
 * rationals, in the plane of the two clocks' stamps; those with minimum delays likewise. Lines through
 * two points are in test_two_point.c.
 */
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- exchanges ---- */

static void test_exchanges(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4000); seed < case_end(4000); seed++) {
		struct talk t;
		talk_make(&t, seed);
		size_t n[2], found = 0;
		struct usk_exchange *e[2];
		for (uint32_t asker = 0; asker < 2; asker++) {
			e[asker] = usk_exchanges(&t.fit, asker, &n[asker]);
			for (size_t i = 0; i < n[asker]; i++) {
				const struct usk_exchange *x = &e[asker][i];
				CHECK(x->there->from == asker && x->back->to == asker, &t);
				const struct usk_msg *want =
					talk_answer(&t, (size_t)(x->there - t.msg));
				CHECK(want && want->sent_ns == x->back->sent_ns &&
					      want->received_ns == x->back->received_ns,
				      &t);
				if (i) { /* in order, and each message once */
					const struct usk_msg *m = x[-1].there, *k = x->there;
					CHECK(m->sent_ns < k->sent_ns ||
						      (m->sent_ns == k->sent_ns &&
						       (m->received_ns < k->received_ns ||
							(m->received_ns == k->received_ns &&
							 m < k))),
					      &t);
				}
			}
		}
		for (size_t i = 0; i < t.n; i++) {
			found += talk_answer(&t, i) != NULL;
		}
		CHECK(found == n[0] + n[1], &t);
		free(e[0]);
		free(e[1]);
		talk_free(&t);
	}
}

/* ---- regress ---- */

/* false if there is none: one direction, one time of A. */
static bool least_squares(const struct talk *t, struct exact *e)
{
	mpz_t n, x, y, sx, sy, sxx, sxy, v;
	mpz_inits(n, x, y, sx, sy, sxx, sxy, v, NULL);
	size_t from_a = 0;
	for (size_t i = 0; i < t->n; i++) {
		mpz_set_si(x, usk_msg_stamp(&t->msg[i], 0));
		mpz_set_si(y, usk_msg_stamp(&t->msg[i], 1));
		mpz_add(sx, sx, x);
		mpz_add(sy, sy, y);
		mpz_addmul(sxx, x, x);
		mpz_addmul(sxy, x, y);
		from_a += !t->msg[i].from;
	}
	mpz_set_ui(n, t->n);
	bool ok = from_a && from_a < t->n;
	if (ok) {
		mpz_mul(mpq_numref(e->beta), n, sxy);
		mpz_submul(mpq_numref(e->beta), sx, sy);
		mpz_mul(v, n, sxx);
		mpz_submul(v, sx, sx);
		ok = mpz_sgn(v) > 0;
	}
	if (ok) {
		mpz_set(mpq_denref(e->beta), v);
		mpq_canonicalize(e->beta);
		mpz_set(mpq_numref(e->x), sx);
		mpz_set(mpq_denref(e->x), n);
		mpq_canonicalize(e->x);
		mpz_set(mpq_numref(e->y), sy);
		mpz_set(mpq_denref(e->y), n);
		mpq_canonicalize(e->y);
	}
	mpz_clears(n, x, y, sx, sy, sxx, sxy, v, NULL);
	return ok;
}

static void test_regress(void **state)
{
	(void)state;
	size_t lines = 0, none = 0;
	for (uint64_t seed = case_first(12000); seed < case_end(12000); seed++) {
		struct talk t;
		talk_make(&t, seed);
		struct exact e;
		exact_init(&e);
		bool any = least_squares(&t, &e) && mpq_get_d(e.beta) > 1e-12;
		enum usk_status status = talk_ask(&t, "regress");
		CHECK(any == !status, &t);
		CHECK(!any || exact_agrees(&e, t.knot, t.n_knots), &t);
		lines += any;
		none += !any;
		exact_clear(&e);
		talk_free(&t);
	}
	print_message("%zu lines, %zu without\n", lines, none);
	assert_true(lines > 100 && none > 100);
}

static void test_regress_delta(void **state)
{
	(void)state;
	size_t lines = 0, none = 0;
	for (uint64_t seed = case_first(12000); seed < case_end(12000); seed++) {
		struct talk t;
		talk_make(&t, seed);
		talk_delay(&t);
		struct exact e;
		exact_init(&e);
		enum usk_status status = talk_ask(&t, "regress+delta");
		talk_move(&t);
		bool any = least_squares(&t, &e) && mpq_get_d(e.beta) > 1e-12;
		CHECK(any == !status, &t);
		mpq_div_2exp(e.x, e.x, 1);
		mpq_div_2exp(e.y, e.y, 1);
		CHECK(!any || exact_agrees(&e, t.knot, t.n_knots), &t);
		lines += any;
		none += !any;
		exact_clear(&e);
		talk_free(&t);
	}
	print_message("%zu lines, %zu without\n", lines, none);
	assert_true(lines > 100 && none > 100);
}

/* ---- least-violation ---- */

/* Is point i a vertex of its side's hull: no chord of two others at its level or beyond? */
static bool is_vertex(const struct oracle_points *p, size_t i)
{
	bool up = !p->ceiling[i];
	for (size_t j = 0; j < p->n; j++) {
		for (size_t k = 0; k < p->n; k++) {
			if (j == i || k == i || p->ceiling[j] != p->ceiling[i] ||
			    p->ceiling[k] != p->ceiling[i]) {
				continue;
			}
			usk_i128 t = p->p[i].local_ns, o = p->p[i].offset_ns;
			usk_i128 left = t - p->p[j].local_ns, right = p->p[k].local_ns - t;
			usk_i128 dj = p->p[j].offset_ns - o, dk = p->p[k].offset_ns - o;
			dj = up ? dj : -dj;
			dk = up ? dk : -dk;
			/* chord at t: (dj right + dk left)/(left + right) >= 0 */
			if (left > 0 && right > 0 && dj * right + dk * left >= 0) {
				return false;
			}
		}
	}
	/* nor another at its time beyond it; of equal ones the first */
	for (size_t j = 0; j < p->n; j++) {
		if (j != i && p->ceiling[j] == p->ceiling[i] &&
		    p->p[j].local_ns == p->p[i].local_ns) {
			usk_i128 d = (usk_i128)p->p[j].offset_ns - p->p[i].offset_ns;
			d = up ? d : -d;
			if (d > 0 || (!d && j < i)) {
				return false;
			}
		}
	}
	return true;
}

/* Sum of vertical distances of vertices on the wrong side in the plane (A, B). */
static void violation(const struct oracle_points *p, const bool *vertex, const struct exact *e,
		      mpq_t sum)
{
	mpq_t x, y;
	mpq_inits(x, y, NULL);
	mpq_set_ui(sum, 0, 1);
	for (size_t i = 0; i < p->n; i++) {
		if (vertex[i]) {
			oracle_set(x, p->p[i].local_ns + p->p[i].offset_ns, 1);
			mpq_sub(x, x, e->x);
			mpq_mul(x, x, e->beta);
			mpq_add(x, x, e->y);
			oracle_set(y, p->p[i].local_ns, 1);
			mpq_sub(x, x, y); /* line - point */
			if (p->ceiling[i]) {
				mpq_neg(x, x);
			}
			if (mpq_sgn(x) > 0) {
				mpq_add(sum, sum, x);
			}
		}
	}
	mpq_clears(x, y, NULL);
}

static bool least_violation(const struct oracle_points *p, struct exact *best, mpq_t least)
{
	bool vertex[ORACLE_MAX], any = false;
	struct exact e;
	exact_init(&e);
	mpq_t sum, far, best_far, v, w;
	mpq_inits(sum, far, best_far, v, w, NULL);
	for (size_t i = 0; i < p->n; i++) {
		vertex[i] = is_vertex(p, i);
	}
	for (size_t i = 0; i < p->n; i++) {
		for (size_t j = 0; j < p->n; j++) {
			if (!vertex[i] || !vertex[j] || p->ceiling[i] || !p->ceiling[j]) {
				continue;
			}
			oracle_set(e.x, p->p[i].local_ns + p->p[i].offset_ns, 1);
			oracle_set(e.y, p->p[i].local_ns, 1);
			oracle_set(v, p->p[j].local_ns + p->p[j].offset_ns, 1);
			oracle_set(w, p->p[j].local_ns, 1);
			mpq_sub(v, v, e.x);
			mpq_sub(w, w, e.y);
			if (!mpq_sgn(v) || mpq_sgn(w) * mpq_sgn(v) <= 0) {
				continue;
			}
			mpq_div(e.beta, w, v);
			violation(p, vertex, &e, sum);
			mpq_set_ui(v, 1, 1);
			mpq_sub(far, e.beta, v);
			mpq_abs(far, far);
			int order = any ? mpq_cmp(sum, least) : -1;
			order = order ? order : mpq_cmp(far, best_far);
			order = order ? order : mpq_cmp(e.beta, best->beta);
			if (!order) {
				exact_at(&e, 0, v);
				exact_at(best, 0, w);
				order = mpq_cmp(v, w);
			}
			if (order < 0) {
				any = true;
				mpq_set(least, sum);
				mpq_set(best_far, far);
				mpq_set(best->beta, e.beta);
				mpq_set(best->x, e.x);
				mpq_set(best->y, e.y);
			}
		}
	}
	exact_clear(&e);
	mpq_clears(sum, far, best_far, v, w, NULL);
	return any;
}

static void test_least_violation(void **state)
{
	(void)state;
	size_t fit = 0, wrong = 0, none = 0, hulls = 0;
	for (uint64_t seed = case_first(12000); seed < case_end(12000); seed++) {
		struct fit_case c;
		fit_case_make(&c, seed);
		struct usk_corridor *k = fit_case_corridor(&c);
		struct usk_lines *l = usk_lines_new(k, 0, 0, c.max_skew_e12);
		struct usk_fit f = { .corridor = k, .lines = l };
		f.first_local_ns = f.last_local_ns = c.pts.p[0].local_ns;
		struct exact e;
		exact_init(&e);
		mpq_t least;
		mpq_init(least);
		bool any = least_violation(&c.pts, &e, least);
		struct usk_knot *knot = NULL;
		size_t n = 0;
		struct usk_err err = { 0 };
		enum usk_status status = usk_estimator_run(usk_estimator_find("least-violation"),
							   &f, &knot, &n, &err);
		CHECK(any == !status, &c);
		CHECK(!status || (status == USK_EINPUT && err.msg[0]), &c);
		CHECK(!any || exact_agrees(&e, knot, n), &c);
		none += !any;
		fit += any && !mpq_sgn(least);
		wrong += any && mpq_sgn(least);
		free(knot);
		knot = NULL;
		/* Where no line fits it is the answer of hull as well, and that is told. */
		const char *by = NULL;
		bool broken = usk_lines_quality(l) == USK_CONTRADICTED;
		f.drawn_by = &by;
		status = usk_estimator_run(usk_estimator_find("hull"), &f, &knot, &n, &err);
		CHECK(!broken || any == !status, &c);
		CHECK(!broken || !any || exact_agrees(&e, knot, n), &c);
		CHECK(broken == (by && !strcmp(by, "least-violation")), &c);
		hulls += broken && any;
		free(knot);
		mpq_clear(least);
		exact_clear(&e);
		usk_lines_free(l);
		usk_corridor_free(k);
	}
	print_message("%zu lines do no wrong, %zu least, %zu without; %zu of hull\n", fit, wrong,
		      none, hulls);
	assert_true(fit > 100 && wrong > 20 && none > 100 && hulls > 20);
}

/* ---- by hand ---- */

static void ask_by_hand(const char *name, const struct usk_msg *msg, size_t n, enum usk_status want,
			int64_t offset0, int64_t offset1)
{
	struct talk t = { .n = n };
	memcpy(t.msg, msg, n * sizeof *msg);
	usk_msg_sort(t.msg, n, 1);
	struct usk_frame f = { .kappa_e12 = 400000 };
	t.corridor = usk_corridor_new(&f);
	assert_false(usk_corridor_add(t.corridor, 0, 1, t.msg, n, NULL));
	t.lines = usk_lines_new(t.corridor, 0, 0, 500000000000);
	t.fit = (struct usk_fit){ .corridor = t.corridor,
				  .lines = t.lines,
				  .last_local_ns = 1000,
				  .msg = t.msg,
				  .n_msgs = n,
				  .b = 1 };
	t.least[0].base_ps = 10000;
	t.fit.least[0] = t.fit.least[1] = &t.least[0];
	assert_int_equal(talk_ask(&t, name), want);
	if (!want) {
		assert_int_equal(t.knot[0].offset_ns, offset0);
		assert_int_equal(t.knot[1].offset_ns, offset1);
	}
	talk_free(&t);
}

static void test_by_hand(void **state)
{
	(void)state;
	/* Two calls of A, delays 10, equal rates, A 500 ahead of B. */
	static const struct usk_msg calls_of_a[] = {
		{ 500, 10, 0, 1, 0 },
		{ 20, 530, 1, 0, 0 },
		{ 1480, 990, 0, 1, 0 },
		{ 990, 1500, 1, 0, 0 },
	};
	ask_by_hand("two-point", calls_of_a, 4, USK_OK, 500, 500);
	ask_by_hand("regress", calls_of_a, 2, USK_OK, 470, 2470); /* beta = 1/3 */
	ask_by_hand("two-point", calls_of_a, 2, USK_EINPUT, 0, 0);
	ask_by_hand("least-violation", calls_of_a, 1, USK_EINPUT, 0, 0);
	ask_by_hand("regress", calls_of_a, 1, USK_EINPUT, 0, 0);
	ask_by_hand("two-point", calls_of_a, 1, USK_EINPUT, 0, 0);
	/* Delays 10, and 10 is the minimum: none is left. */
	static const struct usk_msg quick[] = { { 0, 10, 0, 1, 0 },
						{ 10, 20, 1, 0, 0 },
						{ 1000, 1010, 0, 1, 0 },
						{ 1010, 1020, 1, 0, 0 } };
	ask_by_hand("regress+delta", quick, 4, USK_OK, 0, 0);
	ask_by_hand("two-point+delta", quick, 4, USK_OK, 0, 0);
	ask_by_hand("two-point+moved", quick, 4, USK_OK, 0, 0);
	ask_by_hand("hull+\xce\xb4", quick, 4, USK_OK, 0, 0);
	/* Everything at one instant of both clocks. */
	static const struct usk_msg instant[] = { { 5, 5, 0, 1, 0 }, { 5, 5, 1, 0, 0 } };
	ask_by_hand("regress", instant, 2, USK_EINPUT, 0, 0);
	ask_by_hand("two-point", instant, 2, USK_EINPUT, 0, 0);
	ask_by_hand("least-violation", instant, 2, USK_EINPUT, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exchanges),     cmocka_unit_test(test_regress),
		cmocka_unit_test(test_regress_delta), cmocka_unit_test(test_least_violation),
		cmocka_unit_test(test_by_hand),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
