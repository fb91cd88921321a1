/* SPDX-License-Identifier: MIT */
/*
 * Exchanges, regress, two-point and least-violation against their definitions: searched from end to
 * end, in rationals, in the plane of the two clocks' stamps; those with minimum delays likewise.
 */
#include "cases.h"
#include "fit/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Messages between a = 0 and b = 1, sorted as estimators get them. */
enum { TALK_MAX = 300 };
struct talk {
	uint64_t seed;
	struct usk_msg msg[TALK_MAX];
	size_t n;
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
	struct usk_delay_model least[2];
	struct usk_knot *knot;
	size_t n_knots;
	struct usk_err err;
};

static int64_t within(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)usk_rng_below(r, (uint64_t)(hi - lo) + 1);
}

/* Stamps out of a small square: ties, coincidence, one instant, falling clocks. */
static void grid(struct talk *t, struct usk_rng *r)
{
	int64_t wide = within(r, 0, 3) ? within(r, 0, 15) : 0;
	int64_t high = within(r, 0, 3) ? within(r, 0, 15) : 0;
	int64_t at = within(r, 0, 2) * INT64_C(850000000000000000);
	int64_t fall = within(r, 0, 4) ? 0 : 2;
	t->n = (size_t)within(r, 1, within(r, 0, 1) ? 6 : 40);
	for (size_t i = 0; i < t->n; i++) {
		bool ceiling = within(r, 0, 1);
		int64_t x = within(r, 0, wide), y = within(r, 0, high) - fall * x;
		t->msg[i] = ceiling ? (struct usk_msg){ at + y, at + x, 1, 0, 0 }
				    : (struct usk_msg){ at + x, at + y, 0, 1, 0 };
	}
}

/* Calls and replies at an epoch, some messages alone. */
static void calls(struct talk *t, struct usk_rng *r)
{
	int64_t epoch = within(r, 0, 1) * INT64_C(1700000000000000000);
	int64_t span = INT64_C(1) << within(r, 10, 45), ppb = within(r, -400000, 400000);
	int64_t theta = within(r, -1, 1) * (INT64_C(1) << within(r, 0, 55));
	int64_t delay = INT64_C(1) << within(r, 4, 25);
	size_t want = (size_t)within(r, 1, TALK_MAX - 1);
	while (t->n < want) {
		int64_t at = within(r, 0, span), dir = within(r, 0, 1);
		for (int i = 0; i < 2 && (!i || within(r, 0, 5)); i++, dir = !dir) {
			int64_t end = at + delay + within(r, 0, delay);
			int64_t x = dir ? end : at, b = dir ? at : end;
			int64_t y = b + (int64_t)((usk_i128)b * ppb / 1000000000) - theta;
			t->msg[t->n++] = dir ? (struct usk_msg){ epoch + y, epoch + x, 1, 0, 0 }
					     : (struct usk_msg){ epoch + x, epoch + y, 0, 1, 0 };
			at = end + within(r, 0, 3) * delay;
		}
	}
}

/* The same stamps, one direction. */
static void one_way(struct talk *t, struct usk_rng *r)
{
	calls(t, r);
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		if (t->msg[i].from) {
			t->msg[n++] = t->msg[i];
		}
	}
	t->n = n;
}

static void talk_make(struct talk *t, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	memset(t, 0, sizeof *t);
	t->seed = seed;
	uint64_t kind = usk_rng_below(&r, 20);
	(!kind ? one_way : kind < 10 ? grid : calls)(t, &r);
	usk_msg_sort(t->msg, t->n, 1);
	struct usk_frame f = { .kappa_e12 = 400000 };
	f.local_ns = t->n ? usk_msg_stamp(&t->msg[0], 1) + within(&r, -5, 5) : 0;
	f.offset_ns = t->n ? usk_msg_stamp(&t->msg[0], 0) - f.local_ns : 0;
	t->corridor = usk_corridor_new(&f);
	CHECK(!usk_corridor_add(t->corridor, 0, 1, t->msg, t->n, NULL), t);
	t->lines = usk_lines_new(t->corridor, 0, 0, 500000000);
	t->fit = (struct usk_fit){ .corridor = t->corridor,
				   .lines = t->lines,
				   .msg = t->msg,
				   .n_msgs = t->n,
				   .a = 0,
				   .b = 1 };
	t->fit.first_local_ns = t->n ? usk_msg_stamp(&t->msg[0], 1) : 0;
	t->fit.last_local_ns = t->n ? usk_msg_stamp(&t->msg[t->n - 1], 1) : 0;
}

static enum usk_status talk_ask(struct talk *t, const char *name)
{
	enum usk_status status = usk_estimator_run(usk_estimator_find(name), &t->fit, &t->knot,
						   &t->n_knots, &t->err);
	CHECK(!status || (status == USK_EINPUT && t->err.msg[0] && !t->knot), t);
	return status;
}

static void talk_free(struct talk *t)
{
	free(t->knot);
	usk_lines_free(t->lines);
	usk_corridor_free(t->corridor);
}

/* The same with lengths, and models of minimum delays that are right, wrong or none. */
static void talk_delay(struct talk *t)
{
	struct usk_rng r;
	usk_rng_seed(&r, ~t->seed);
	for (size_t i = 0; i < t->n; i++) {
		t->msg[i].bytes = (uint32_t)(within(&r, 0, 1) * within(&r, 0, 1400));
	}
	for (int i = 0; i < 2; i++) {
		int64_t size = INT64_C(1) << within(&r, 1, 34);
		t->least[i] = (struct usk_delay_model){ within(&r, 0, size), within(&r, 0, size),
							within(&r, 0, size / 1000) };
		t->fit.least[i] = within(&r, 0, 4) ? &t->least[i] : NULL;
	}
}

/* The minimum delay by its definition. */
static int64_t least_of(const struct talk *t, const struct usk_msg *m)
{
	const struct usk_delay_model *d = t->fit.least[m->from];
	int64_t n = m->bytes;
	return !d ? 0 : (d->base_ps + (n ? d->first_ps + (n - 1) * d->per_byte_ps : 0)) / 1000;
}

/* All stamps doubled and moved: send + delta/2, receive - delta/2. */
static void talk_move(struct talk *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct usk_msg *m = &t->msg[i];
		int64_t least = least_of(t, m);
		m->sent_ns = 2 * m->sent_ns + least;
		m->received_ns = 2 * m->received_ns - least;
	}
}

/* ---- exchanges ---- */

/* The message back of msg[i], by its definition; NULL if none. */
static const struct usk_msg *answer(const struct talk *t, size_t i)
{
	const struct usk_msg *m = &t->msg[i], *best = NULL;
	for (size_t j = 0; j < t->n; j++) {
		const struct usk_msg *k = &t->msg[j];
		if (k->from != m->to || k->sent_ns < m->received_ns) {
			continue;
		}
		if (!best || k->sent_ns < best->sent_ns ||
		    (k->sent_ns == best->sent_ns && k->received_ns < best->received_ns)) {
			best = k;
		}
	}
	return best;
}

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
				const struct usk_msg *want = answer(&t, (size_t)(x->there - t.msg));
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
			found += answer(&t, i) != NULL;
		}
		CHECK(found == n[0] + n[1], &t);
		free(e[0]);
		free(e[1]);
		talk_free(&t);
	}
}

/* ---- a line, in rationals ---- */

/* B = y + beta (A - x) */
struct exact {
	mpq_t beta, x, y;
};

static void exact_init(struct exact *e)
{
	mpq_inits(e->beta, e->x, e->y, NULL);
}

static void exact_clear(struct exact *e)
{
	mpq_clears(e->beta, e->x, e->y, NULL);
}

/* Offset at B's stamp t: x + (t - y)/beta - t. */
static void exact_at(const struct exact *e, int64_t t, mpq_t out)
{
	mpq_t at;
	mpq_init(at);
	oracle_set(at, t, 1);
	mpq_sub(out, at, e->y);
	mpq_div(out, out, e->beta);
	mpq_add(out, out, e->x);
	mpq_sub(out, out, at);
	mpq_clear(at);
}

/* Knots within 1 ns, the slope within 1e-9 and what 1 ns at both ends makes of it. */
static bool agrees(const struct exact *e, const struct usk_knot *k, size_t n)
{
	mpq_t v, got;
	mpq_inits(v, got, NULL);
	bool ok = n == 2 && k[0].local_ns < k[1].local_ns;
	for (size_t i = 0; i < 2 && ok; i++) {
		exact_at(e, k[i].local_ns, v);
		oracle_set(got, k[i].offset_ns, 1);
		if (fabs(mpq_get_d(v)) > 0x1p61) {
			break; /* cut at the end of the range */
		}
		mpq_sub(got, got, v);
		double slope = fabs(1 / mpq_get_d(e->beta));
		/* Where the line is that steep, 64 bits of the slope are not 1 ns at its ends. */
		double run = (double)(k[1].local_ns - k[0].local_ns);
		ok = fabs(mpq_get_d(got)) <= 1 + run * slope * 0x1p-62;
	}
	mpq_clears(v, got, NULL);
	return ok;
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
		CHECK(!any || agrees(&e, t.knot, t.n_knots), &t);
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
		CHECK(!any || agrees(&e, t.knot, t.n_knots), &t);
		lines += any;
		none += !any;
		exact_clear(&e);
		talk_free(&t);
	}
	print_message("%zu lines, %zu without\n", lines, none);
	assert_true(lines > 100 && none > 100);
}

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
		const struct usk_msg *m = &t->msg[i], *k = answer(t, i);
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
			int64_t di = least_of(t, m), dj = least_of(t, k);
			plus(m->from ? e->b : e->a, di - dj, 4);
			plus(m->from ? e->a : e->b, dj - di, 4);
		}
		if (how != PLAIN) {
			plus(e->e, -least_of(t, m) - least_of(t, k), 2);
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
		CHECK(!any || agrees(&e, t.knot, t.n_knots), &t);
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
		CHECK(!any || agrees(&e, knot, n), &c);
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
		CHECK(!broken || !any || agrees(&e, knot, n), &c);
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
		mpz_ui_sub(at, (unsigned long)least_of(t, m), at);
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
		if (mpq_sgn(d) && fabs(mpq_get_d(d)) < 1e-15 * (1 + mpq_get_d(range[0]))) {
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
		cmocka_unit_test(test_exchanges),	cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_regress),		cmocka_unit_test(test_two_point),
		cmocka_unit_test(test_least_violation), cmocka_unit_test(test_regress_delta),
		cmocka_unit_test(test_two_point_delta), cmocka_unit_test(test_two_point_moved),
		cmocka_unit_test(test_hull_delta),	cmocka_unit_test(test_hull_or_two_point),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
