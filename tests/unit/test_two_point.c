/* SPDX-License-Identifier: MIT */
/*
 * two-point, hull+delta and the better of hull and two-point against their definitions: searched from
 * end to end, in rationals, with minimum delays and without.
 */
#include "talk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- two-point ---- */

struct equivalence {
	mpq_t a, b, e; /* e: half the round trip; the smallest is taken off in pairs */
	int tenth;
	bool asked;
};

static bool precedes(struct equivalence *p, struct equivalence *q)
{
	int order = mpq_cmp(p->e, q->e);
	order = order ? order : mpq_cmp(p->a, q->a);
	order = order ? order : mpq_cmp(p->b, q->b);
	return order ? order < 0 : p < q;
}

static void halved(mpq_t out, int64_t v, int64_t w)
{
	mpq_t other;
	mpq_init(other);
	oracle_set(out, v, 2);
	oracle_set(other, w, 2);
	mpq_add(out, out, other);
	mpq_clear(other);
}

/* v + w by/of. */
static void plus(mpq_t v, int64_t w, int of)
{
	mpq_t x;
	mpq_init(x);
	oracle_set(x, w, of);
	mpq_add(v, v, x);
	mpq_clear(x);
}

/* "2" knows no minimum delays, "c.2" has them in errors alone, and ours moves stamps, too. */
enum two { PLAIN, DELTA, MOVED };

static size_t equivalences(const struct talk *t, enum two how, struct equivalence *q)
{
	size_t n = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < t->n; i++) {
		int64_t x = usk_msg_stamp(&t->msg[i], 0);
		first = x < first ? x : first;
		last = x > last ? x : last;
	}
	mpq_t bound, part;
	mpq_inits(bound, part, NULL);
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_msg *m = &t->msg[i], *k = talk_answer(t, i);
		if (!k || k->received_ns - m->sent_ns >= 50000000) {
			continue;
		}
		struct equivalence *e = &q[n++];
		mpq_inits(e->a, e->b, e->e, NULL);
		halved(m->from ? e->b : e->a, m->sent_ns, k->received_ns);
		halved(m->from ? e->a : e->b, m->received_ns, k->sent_ns);
		oracle_set(e->e, k->received_ns - m->sent_ns, 2);
		oracle_set(part, k->sent_ns - m->received_ns, 2);
		mpq_sub(e->e, e->e, part);
		if (how == MOVED) { /* T1 + i/2, T2 - i/2, T3 + j/2, T4 - j/2 */
			int64_t di = talk_least_ns(t, m), dj = talk_least_ns(t, k);
			plus(m->from ? e->b : e->a, di - dj, 4);
			plus(m->from ? e->a : e->b, dj - di, 4);
		}
		if (how != PLAIN) {
			plus(e->e, -talk_least_ns(t, m) - talk_least_ns(t, k), 2);
			if (mpq_sgn(e->e) < 0) {
				mpq_set_si(e->e, 0, 1);
			}
		}
		e->tenth = 0;
		for (int d = 1; d < 10; d++) { /* first + d (last - first)/10 <= a */
			oracle_set(bound, last, 1);
			oracle_set(part, first, 1);
			mpq_sub(bound, bound, part);
			mpq_set_si(part, d, 10);
			mpq_canonicalize(part);
			mpq_mul(bound, bound, part);
			oracle_set(part, first, 1);
			mpq_add(bound, bound, part);
			e->tenth += last > first && mpq_cmp(bound, e->a) <= 0;
		}
	}
	mpq_clears(bound, part, NULL);
	for (size_t i = 0; i < n; i++) { /* asked: fewer than ten of its tenth precede it */
		size_t before = 0;
		for (size_t j = 0; j < n; j++) {
			before += q[j].tenth == q[i].tenth && precedes(&q[j], &q[i]);
		}
		q[i].asked = before < 10;
	}
	return n;
}

/* *any_pair: there are two at different times; returns whether B's clock advances between them. */
static bool two_points(const struct talk *t, enum two how, struct exact *line, bool *any_pair)
{
	struct equivalence q[TALK_MAX];
	size_t n = equivalences(t, how, q), best = 0, c = 0, d = 0;
	mpq_t least, off, wide, apart, v;
	mpq_inits(least, off, wide, apart, v, NULL);
	*any_pair = false;
	for (size_t i = 1; i < n; i++) {
		best = precedes(&q[i], &q[best]) ? i : best;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			/* i before j in time; a pair of one time has no slope */
			if (!q[i].asked || !q[j].asked || mpq_cmp(q[i].a, q[j].a) >= 0) {
				continue;
			}
			mpq_sub(wide, q[j].a, q[i].a);
			mpq_add(off, q[i].e, q[j].e);
			for (int k = 0; k < 2 && how == PLAIN; k++) {
				mpq_sub(off, off, q[best].e);
			}
			mpq_div(off, off, wide);
			int order = *any_pair ? mpq_cmp(off, least) : -1;
			order = order ? order : mpq_cmp(apart, wide);
			order = order ? order : mpq_cmp(q[i].a, q[c].a);
			order = order ? order : mpq_cmp(q[i].b, q[c].b);
			order = order ? order : mpq_cmp(q[j].a, q[d].a);
			order = order ? order : mpq_cmp(q[j].b, q[d].b);
			if (order < 0) {
				*any_pair = true;
				c = i;
				d = j;
				mpq_set(least, off);
				mpq_set(apart, wide);
			}
		}
	}
	if (*any_pair) {
		mpq_sub(line->beta, q[d].b, q[c].b);
		mpq_div(line->beta, line->beta, apart);
		mpq_set(line->x, q[best].a);
		mpq_set(line->y, q[best].b);
	}
	for (size_t i = 0; i < n; i++) {
		mpq_clears(q[i].a, q[i].b, q[i].e, NULL);
	}
	mpq_clears(least, off, wide, apart, v, NULL);
	return *any_pair && mpq_sgn(line->beta) > 0;
}

static void check_two_point(enum two how, const char *name)
{
	size_t lines = 0, none = 0, back = 0;
	for (uint64_t seed = case_first(2000); seed < case_end(2000); seed++) {
		struct talk t;
		talk_make(&t, seed);
		struct exact e;
		exact_init(&e);
		if (how != PLAIN) {
			talk_delay(&t);
		}
		bool pair, any = two_points(&t, how, &e, &pair);
		enum usk_status status = talk_ask(&t, name);
		CHECK(any == !status, &t);
		CHECK(!any || exact_agrees(&e, t.knot, t.n_knots), &t);
		lines += any;
		none += !pair;
		back += pair && !any;
		exact_clear(&e);
		talk_free(&t);
	}
	print_message("%zu lines, %zu without, %zu backwards\n", lines, none, back);
	uint64_t cases = case_count(2000);
	assert_true(lines > cases / 20 && none > cases / 20 && back > cases / 200);
}

static void test_two_point(void **state)
{
	(void)state;
	check_two_point(PLAIN, "two-point");
}

static void test_two_point_delta(void **state)
{
	(void)state;
	check_two_point(DELTA, "two-point+delta");
}

static void test_two_point_moved(void **state)
{
	(void)state;
	check_two_point(MOVED, "two-point+moved");
}

/* ---- hull+delta ---- */

/* hull, or least-violation, of the moved messages: its offset at twice a local time, halved. */
static bool moved_line_agrees(const struct talk *t, const struct talk *m)
{
	for (size_t i = 0; i < 2; i++) {
		long double x0 = (long double)m->knot[0].local_ns;
		long double run = (long double)m->knot[1].local_ns - x0;
		long double rise = (long double)m->knot[1].offset_ns - m->knot[0].offset_ns;
		/* A knot is rounded by 1 at the most, and carried on beyond them by that much. */
		long double at = (2 * (long double)t->knot[i].local_ns - x0) / run;
		long double off = (m->knot[0].offset_ns + rise * at) / 2;
		long double room = 1.5L + fabsl(at);
		if (fabsl(off) < 0x1p60L && fabsl(off - t->knot[i].offset_ns) > room) {
			return false;
		}
	}
	return true;
}

static void test_hull_delta(void **state)
{
	(void)state;
	if (no_long_double()) {
		skip();
	}
	size_t fit = 0, wrong = 0, none = 0;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct talk t, m;
		talk_make(&t, seed);
		talk_delay(&t);
		enum usk_status status = talk_ask(&t, "hull+delta");
		m = t;
		m.knot = NULL;
		talk_move(&m);
		usk_msg_sort(m.msg, m.n, 1);
		struct usk_frame f = { .kappa_e12 = 400000 };
		f.local_ns = m.n ? usk_msg_stamp(&m.msg[0], 1) : 0;
		f.offset_ns = m.n ? usk_msg_stamp(&m.msg[0], 0) - f.local_ns : 0;
		m.corridor = usk_corridor_new(&f);
		CHECK(!usk_corridor_add(m.corridor, 0, 1, m.msg, m.n, NULL), &t);
		m.lines = usk_lines_new(m.corridor, 0, 0, 500000000);
		m.fit = (struct usk_fit){ .corridor = m.corridor, .lines = m.lines };
		m.fit.first_local_ns = m.n ? usk_msg_stamp(&m.msg[0], 1) : 0;
		m.fit.last_local_ns = m.n ? usk_msg_stamp(&m.msg[m.n - 1], 1) : 0;
		bool bounded = usk_lines_quality(m.lines) == USK_BOUNDED;
		bool broken = usk_lines_quality(m.lines) == USK_CONTRADICTED;
		bool any =
			(bounded || broken) && !talk_ask(&m, bounded ? "hull" : "least-violation");
		CHECK(any == !status, &t);
		CHECK(!any || moved_line_agrees(&t, &m), &t);
		fit += any && bounded;
		wrong += any && broken;
		none += !any;
		talk_free(&m);
		talk_free(&t);
	}
	print_message("%zu hulls, %zu least violations, %zu without\n", fit, wrong, none);
	uint64_t least = case_count(6000) / 60;
	assert_true(fit > least && wrong > least && none > least);
}

/* ---- hull-or-two-point ---- */

/* The offset of a line of two knots at a local stamp, exactly. */
static void line_at(const struct usk_knot *k, int64_t t, mpq_t out)
{
	mpq_t v;
	mpq_init(v);
	oracle_set(out, k[1].offset_ns, 1);
	oracle_set(v, k[0].offset_ns, 1);
	mpq_sub(out, out, v);
	oracle_set(v, k[1].local_ns, 1);
	plus(v, -k[0].local_ns, 1);
	mpq_div(out, out, v); /* the slope */
	oracle_set(v, t, 1);
	plus(v, -k[0].local_ns, 1);
	mpq_mul(out, out, v);
	plus(out, k[0].offset_ns, 1);
	mpq_clear(v);
}

/* His first check: what messages lack of their minimum by a line, to the nearest ns at the local
 * stamp. *far: a line so steep that it is cut at the end of the range. */
static size_t too_fast(const struct talk *t, const struct usk_knot *k, mpz_t lacks, bool *far)
{
	size_t n = 0;
	mpq_t v, half;
	mpz_t at;
	mpq_inits(v, half, NULL);
	mpz_init(at);
	mpq_set_si(half, 1, 2);
	mpz_set_ui(lacks, 0);
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_msg *m = &t->msg[i];
		line_at(k, usk_msg_stamp(m, 1), v);
		*far |= fabs(mpq_get_d(v)) > 0x1p61;
		mpq_add(v, v, half);
		mpz_fdiv_q(at, mpq_numref(v), mpq_denref(v));
		/* by A's clock: B's stamp + offset - A's stamp, or the other way round */
		mpz_set_si(mpq_numref(v), usk_msg_stamp(m, 1));
		mpz_add(at, at, mpq_numref(v));
		mpz_set_si(mpq_numref(v), usk_msg_stamp(m, 0));
		mpz_sub(at, at, mpq_numref(v));
		if (m->from) {
			mpz_neg(at, at);
		}
		mpz_ui_sub(at, (unsigned long)talk_least_ns(t, m), at);
		if (mpz_sgn(at) > 0) {
			n++;
			mpz_add(lacks, lacks, at);
		}
		mpz_set_si(mpq_numref(v), 0);
		mpz_set_si(mpq_denref(v), 1);
	}
	mpz_clear(at);
	mpq_clears(v, half, NULL);
	return n;
}

/* Part k of five by the local clock: first + k span/5 <= t < first + (k + 1) span/5. */
static void part_of(const struct talk *t, int k, struct talk *out)
{
	int64_t first = usk_msg_stamp(&t->msg[0], 1);
	usk_i128 span = (usk_i128)usk_msg_stamp(&t->msg[t->n - 1], 1) - first + 1;
	*out = (struct talk){ .seed = t->seed };
	for (size_t i = 0; i < t->n; i++) {
		usk_i128 at = 5 * ((usk_i128)usk_msg_stamp(&t->msg[i], 1) - first);
		if (at >= span * k && at < span * (k + 1)) {
			out->msg[out->n++] = t->msg[i];
		}
	}
	struct usk_frame f = *usk_corridor_frame(t->corridor);
	out->corridor = usk_corridor_new(&f);
	CHECK(!usk_corridor_add(out->corridor, 0, 1, out->msg, out->n, NULL), out);
	out->lines = usk_lines_new(out->corridor, 0, 0, 500000000);
	out->fit = t->fit;
	out->fit.corridor = out->corridor;
	out->fit.lines = out->lines;
	out->fit.msg = out->msg;
	out->fit.n_msgs = out->n;
}

/* His second check: the range of rates over the parts, by hull and by two-point. */
static void ranges(const struct talk *t, mpq_t range[2])
{
	static const char *const name[] = { "hull", "two-point" };
	mpq_t lo[2], hi[2], v[2], at;
	size_t n = 0;
	mpq_inits(lo[0], lo[1], hi[0], hi[1], v[0], v[1], at, NULL);
	for (int k = 0; k < 5; k++) {
		struct talk part;
		bool both = true;
		part_of(t, k, &part);
		for (int i = 0; i < 2 && both; i++) {
			both = part.n && !talk_ask(&part, name[i]);
			if (both) {
				line_at(part.knot, part.knot[0].local_ns + 1, v[i]);
				plus(v[i], -part.knot[0].offset_ns, 1);
			}
			free(part.knot);
			part.knot = NULL;
		}
		for (int i = 0; i < 2 && both; i++) {
			if (!n || mpq_cmp(v[i], lo[i]) < 0) {
				mpq_set(lo[i], v[i]);
			}
			if (!n || mpq_cmp(v[i], hi[i]) > 0) {
				mpq_set(hi[i], v[i]);
			}
		}
		n += both;
		talk_free(&part);
	}
	mpq_sub(range[0], hi[0], lo[0]);
	mpq_sub(range[1], hi[1], lo[1]);
	mpq_clears(lo[0], lo[1], hi[0], hi[1], v[0], v[1], at, NULL);
}

/* Negative: hull is better; positive: two-point; 0: too near to tell in long doubles. */
static int which_is_better(struct talk *t, const struct usk_knot *hull, const struct usk_knot *two,
			   size_t by[3], bool *far)
{
	mpz_t lacks[2];
	mpq_t range[2], d;
	mpz_inits(lacks[0], lacks[1], NULL);
	mpq_inits(range[0], range[1], d, NULL);
	size_t h = too_fast(t, hull, lacks[0], far), w = too_fast(t, two, lacks[1], far);
	int order = h < w ? -1 : h > w;
	by[0] += order != 0;
	if (!order) {
		order = mpz_cmp(lacks[0], lacks[1]);
		by[1] += order != 0;
	}
	if (!order) {
		ranges(t, range);
		mpq_sub(d, range[0], range[1]);
		order = mpq_sgn(d) > 0 ? 1 : -1;
		if (fabs(mpq_get_d(d)) < 1e-15 * (1 + mpq_get_d(range[0]))) {
			order = 0;
		}
		by[2] += order > 0;
	}
	mpz_clears(lacks[0], lacks[1], NULL);
	mpq_clears(range[0], range[1], d, NULL);
	return order;
}

static bool same_line(const struct talk *t, const struct talk *x)
{
	return t->n_knots == x->n_knots && !memcmp(t->knot, x->knot, 2 * sizeof *t->knot);
}

static void test_hull_or_two_point(void **state)
{
	(void)state;
	size_t hulls = 0, twos = 0, by[3] = { 0 }, none = 0, unsure = 0;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct talk t, h, w;
		talk_make(&t, seed);
		if (seed % 2) {
			talk_delay(&t);
		}
		h = w = t;
		h.fit.msg = h.msg;
		w.fit.msg = w.msg;
		const char *drawn = NULL, *hull_by = NULL;
		t.fit.drawn_by = &drawn;
		h.fit.drawn_by = &hull_by;
		bool hull = !talk_ask(&h, "hull"), two = !talk_ask(&w, "two-point");
		CHECK((hull || two) == !talk_ask(&t, "hull-or-two-point"), &t);
		bool far = false;
		int order = hull && two ? which_is_better(&t, h.knot, w.knot, by, &far)
			    : two	? 1
					: -1;
		if (hull || two) {
			bool is_two = drawn && !strcmp(drawn, "two-point");
			const char *want = is_two ? "two-point" : hull_by ? hull_by : "hull";
			CHECK(drawn && !strcmp(drawn, want), &t);
			CHECK(same_line(&t, is_two ? &w : &h), &t);
			CHECK(far || !order || is_two == (order > 0), &t);
			hulls += !is_two;
			twos += is_two;
			unsure += far || !order;
		}
		none += !hull && !two;
		free(h.knot);
		free(w.knot);
		talk_free(&t);
	}
	print_message("%zu hulls, %zu two-points: %zu by their number, %zu by their sum, %zu "
		      "two-points by their range; %zu without, %zu unsure\n",
		      hulls, twos, by[0], by[1], by[2], none, unsure);
	uint64_t cases = case_count(3000);
	assert_true(hulls > cases / 20 && twos > cases / 20 && by[0] > cases / 20 &&
		    by[2] > cases / 200 && unsure < cases / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_point),	  cmocka_unit_test(test_two_point_delta),
		cmocka_unit_test(test_two_point_moved),	  cmocka_unit_test(test_hull_delta),
		cmocka_unit_test(test_hull_or_two_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
