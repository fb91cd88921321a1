/* SPDX-License-Identifier: MIT */
/* Corridors: what they keep, whatever the order of additions. */
#include "cases.h"
#include "fit/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct traffic {
	uint64_t seed;
	struct usk_frame frame;
	struct usk_msg *msg;
	size_t n;
};

static void traffic_make(struct traffic *t, uint64_t seed, size_t n)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*t = (struct traffic){ .seed = seed, .n = n, .msg = usk_alloc(n, sizeof *t->msg) };
	int64_t start = (int64_t)usk_rng_below(&r, 2) * INT64_C(1700000000123456789);
	start -= (int64_t)usk_rng_below(&r, 2) * 999999999;
	int64_t span = 1 + (int64_t)usk_rng_below(&r, UINT64_C(1) << (1 + usk_rng_below(&r, 47)));
	int64_t tail = 1 + (int64_t)usk_rng_below(&r, 1 << (1 + usk_rng_below(&r, 18)));
	for (size_t i = 0; i < n; i++) {
		int64_t x = start + (int64_t)usk_rng_below(&r, (uint64_t)span);
		int64_t y = x - 5000 + (x - start) / 20000;
		int64_t d = (int64_t)usk_rng_below(&r, (uint64_t)tail);
		uint32_t other = usk_rng_below(&r, 50) ? 7 : 8; /* a third clock, to be skipped */
		t->msg[i] = usk_rng_below(&r, 2) ? (struct usk_msg){ x - d, y, other, 3, 0 }
						 : (struct usk_msg){ y, x + d, 3, other, 0 };
	}
	int64_t origin = start + (int64_t)usk_rng_below(&r, 1000);
	t->frame = (struct usk_frame){ origin,	  5000,
				       -50000000, usk_rng_below(&r, 2) ? 400000 : 40000000000,
				       0,	  usk_rng_below(&r, 2) };
}

static void add(const struct traffic *t, struct usk_corridor *k, size_t from, size_t to)
{
	struct usk_err err = { 0 };
	CHECK(!usk_corridor_add(k, 7, 3, t->msg + from, to - from, &err), t);
}

static void shuffle(struct traffic *t, struct usk_rng *r, size_t reach)
{
	for (size_t i = 0; i + 1 < t->n; i++) {
		size_t left = t->n - i < reach ? t->n - i : reach;
		size_t j = i + usk_rng_below(r, left);
		struct usk_msg m = t->msg[i];
		t->msg[i] = t->msg[j];
		t->msg[j] = m;
	}
}

static int by_local(const void *pa, const void *pb)
{
	const struct usk_msg *a = pa, *b = pb;
	int64_t x = a->to == 3 ? a->received_ns : a->sent_ns;
	int64_t y = b->to == 3 ? b->received_ns : b->sent_ns;
	return (x > y) - (x < y);
}

/* The traffic in batches of any size, looked at in between. */
static struct usk_corridor *in_parts(const struct traffic *t, struct usk_rng *r)
{
	struct usk_corridor *c = usk_corridor_new(&t->frame);
	for (size_t at = 0; at < t->n;) {
		size_t more = 1 + usk_rng_below(r, usk_rng_below(r, 2) ? 20 : 9000), some;
		more = more < t->n - at ? more : t->n - at;
		add(t, c, at, at + more);
		at += more;
		if (!usk_rng_below(r, 5)) {
			usk_corridor_hull(c, true, &some);
			usk_corridor_kept(c, false, &some);
		}
	}
	return c;
}

static void check_same(const struct traffic *t, struct usk_corridor *a, struct usk_corridor *b)
{
	for (int side = 0; side < 2; side++) {
		size_t n, m;
		const struct usk_point *p = usk_corridor_hull(a, side, &n);
		const struct usk_point *q = usk_corridor_hull(b, side, &m);
		CHECK(n == m && !memcmp(p, q, n * sizeof *p), t);
		p = usk_corridor_kept(a, side, &n);
		q = usk_corridor_kept(b, side, &m);
		CHECK(n == m && !memcmp(p, q, n * sizeof *p), t);
		uint64_t count[2];
		CHECK(usk_corridor_sum(a, side, &count[0]) == usk_corridor_sum(b, side, &count[1]),
		      t);
		CHECK(count[0] == count[1] && count[0] == usk_corridor_count(a, side), t);
	}
}

static void test_order_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct traffic t;
		traffic_make(&t, seed, 1 + usk_rng_below(&r, usk_rng_below(&r, 8) ? 200 : 100000));
		qsort(t.msg, t.n, sizeof *t.msg, by_local);
		struct usk_corridor *a = usk_corridor_new(&t.frame);
		add(&t, a, 0, t.n);
		for (int round = 0; round < 4; round++) {
			/* late by a few places, by a block, by anything */
			static const size_t reach[] = { 1, 8, 9000, SIZE_MAX };
			shuffle(&t, &r, reach[round]);
			struct usk_corridor *b = in_parts(&t, &r);
			check_same(&t, a, b);
			usk_corridor_free(b);
		}
		usk_corridor_free(a);
		free(t.msg);
	}
}

/* Where nobody knows since when, or until when, a clock may have been set: all of that side. */
static void test_refined_without_end(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct traffic t;
		traffic_make(&t, seed, 2 + usk_rng_below(&r, 3000));
		qsort(t.msg, t.n, sizeof *t.msg, by_local);
		const bool since = usk_rng_below(&r, 2), until = !since || usk_rng_below(&r, 2);
		const int64_t first = t.msg[0].sent_ns, last = t.msg[t.n - 1].received_ns;
		const int64_t at = t.msg[usk_rng_below(&r, t.n)].received_ns;
		const struct usk_set_in open = { since ? INT64_MIN : at, until ? INT64_MAX : at };
		const struct usk_set_in ends = { since ? first - 1000000000000 : at,
						 until ? last + 1000000000000 : at };
		struct usk_corridor *c[] = { usk_corridor_new(&t.frame),
					     usk_corridor_new(&t.frame) };
		assert_false(usk_corridor_refined(c[0], open));
		usk_corridor_refine(c[0], &open, 1);
		usk_corridor_refine(c[1], &ends, 1);
		add(&t, c[0], 0, t.n);
		add(&t, c[1], 0, t.n);
		check_same(&t, c[0], c[1]);
		assert_true(usk_corridor_refined(c[0], open) && usk_corridor_refined(c[0], ends));
		assert_false(usk_corridor_refined(c[1], open));
		usk_corridor_free(c[0]);
		usk_corridor_free(c[1]);
		free(t.msg);
	}
}

static struct usk_point point_of(const struct usk_msg *m)
{
	int64_t local = m->to == 3 ? m->received_ns : m->sent_ns;
	int64_t remote = m->to == 3 ? m->sent_ns : m->received_ns;
	return (struct usk_point){ local, remote - local };
}

static int64_t second_of(int64_t t)
{
	return (int64_t)usk_floor_div(t, 1000000000);
}

/* By the definition, word for word. */
static bool dominates(const struct usk_frame *f, bool ceiling, struct usk_point p,
		      struct usk_point q)
{
	usk_i128 dt = (usk_i128)q.local_ns - p.local_ns, size = dt < 0 ? -dt : dt;
	usk_i128 tip = (usk_i128)p.offset_ns * INT64_C(1000000000000) + dt * f->rate_e12;
	usk_i128 y = (usk_i128)q.offset_ns * INT64_C(1000000000000);
	return second_of(p.local_ns) == second_of(q.local_ns) &&
	       (ceiling ? y >= tip + size * f->kappa_e12 : y <= tip - size * f->kappa_e12);
}

static int by_point(const void *pa, const void *pb)
{
	const struct usk_point *a = pa, *b = pb;
	if (a->local_ns != b->local_ns) {
		return a->local_ns < b->local_ns ? -1 : 1;
	}
	return (a->offset_ns > b->offset_ns) - (a->offset_ns < b->offset_ns);
}

/* By how much offsets differ, less what the coarse rate makes of them. */
static usk_i128 spread_e12(const struct traffic *t, const struct usk_point *p, size_t n)
{
	usk_i128 least = 0, most = 0;
	for (size_t i = 0; i < n; i++) {
		const usk_i128 x = (usk_i128)p[i].local_ns - t->frame.local_ns;
		const usk_i128 v = (usk_i128)p[i].offset_ns * USK_E12 - x * t->frame.rate_e12;
		least = !i || v < least ? v : least;
		most = !i || v > most ? v : most;
	}
	return most - least;
}

static void test_kept_are_the_undominated(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(1500); seed < case_end(1500); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct traffic t;
		traffic_make(&t, seed, 1 + usk_rng_below(&r, 150));
		struct usk_corridor *k = in_parts(&t, &r);
		usk_i128 differ = 0;
		for (int side = 0; side < 2; side++) {
			struct usk_point p[150], want[150];
			size_t n = 0, m = 0, got;
			for (size_t i = 0; i < t.n; i++) {
				const struct usk_msg *g = &t.msg[i];
				if (side ? g->from == 3 && g->to == 7
					 : g->from == 7 && g->to == 3) {
					p[n++] = point_of(g);
				}
			}
			CHECK(usk_corridor_count(k, side) == n, &t);
			differ += spread_e12(&t, p, n);
			if (n) {
				qsort(p, n, sizeof *p, by_point);
			}
			for (size_t i = 0; i < n; i++) {
				bool twice = false, left = false, right = false;
				for (size_t j = 0; j < n; j++) {
					bool same = !by_point(&p[i], &p[j]);
					bool hides = !same && dominates(&t.frame, side, p[j], p[i]);
					twice = twice || (same && j < i);
					left = left || (hides && p[j].local_ns <= p[i].local_ns);
					right = right || (hides && p[j].local_ns >= p[i].local_ns);
				}
				if (!twice && (t.frame.steps ? !left || !right : !left && !right)) {
					want[m++] = p[i];
				}
			}
			const struct usk_point *have = usk_corridor_kept(k, side, &got);
			CHECK(got == m && !memcmp(have, want, m * sizeof *want), &t);
		}
		/* Each is rounded up, and doubles have 53 bits. */
		const usk_i128 over = (usk_i128)usk_corridor_spread(k) * USK_E12 - differ;
		const usk_i128 slack = 4 * (usk_i128)USK_E12 + differ / (INT64_C(1) << 40);
		CHECK(over >= -slack && over <= slack, &t);
		usk_corridor_free(k);
		free(t.msg);
	}
}

/* On one hull only if no two others (or one at the same time) are over it: all pairs tried. */
static void test_hull_is_the_hull(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(300); seed < case_end(300); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct traffic t;
		traffic_make(&t, seed, 1 + usk_rng_below(&r, 60));
		struct usk_corridor *k = in_parts(&t, &r);
		for (int side = 0; side < 2; side++) {
			struct usk_point p[60];
			size_t n = 0, vertices = 0, got;
			for (size_t i = 0; i < t.n; i++) {
				const struct usk_msg *g = &t.msg[i];
				if (side ? g->from == 3 && g->to == 7
					 : g->from == 7 && g->to == 3) {
					p[n] = point_of(g);
					p[n].offset_ns *= side ? -1 : 1;
					n++;
				}
			}
			if (n) {
				qsort(p, n, sizeof *p, by_point);
			}
			const struct usk_point *have = usk_corridor_hull(k, side, &got);
			for (size_t i = 0; i < n; i++) {
				bool vertex = i + 1 == n || p[i + 1].local_ns != p[i].local_ns;
				for (size_t a = 0; a < i && vertex; a++) {
					for (size_t b = i + 1; b < n && vertex; b++) {
						usk_i128 l = (usk_i128)(p[b].offset_ns -
									p[a].offset_ns) *
							     (p[i].local_ns - p[a].local_ns);
						usk_i128 m = (usk_i128)(p[i].offset_ns -
									p[a].offset_ns) *
							     (p[b].local_ns - p[a].local_ns);
						vertex = p[a].local_ns == p[i].local_ns ||
							 p[b].local_ns == p[i].local_ns || m > l;
					}
				}
				if (vertex) {
					CHECK(vertices < got, &t);
					CHECK(have[vertices].local_ns == p[i].local_ns, &t);
					CHECK(have[vertices].offset_ns ==
						      (side ? -p[i].offset_ns : p[i].offset_ns),
					      &t);
					vertices++;
				}
			}
			CHECK(vertices == got, &t);
		}
		usk_corridor_free(k);
		free(t.msg);
	}
}

static const struct {
	const char *name;
	struct usk_msg msg;
	struct usk_frame frame;
	enum usk_status status;
} range_cases[] = {
	{ "a stamp at the limit",
	  { USK_TIME_MAX, USK_TIME_MAX, 0, 1, 0 },
	  { USK_TIME_MAX, 0, 0, 400000, 0, false },
	  USK_OK },
	{ "a stamp over it",
	  { USK_TIME_MAX + 1, USK_TIME_MAX, 0, 1, 0 },
	  { USK_TIME_MAX, 0, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "a stamp under it",
	  { -USK_TIME_MAX, -USK_TIME_MAX - 1, 0, 1, 0 },
	  { -USK_TIME_MAX, 0, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "the smallest number",
	  { INT64_MIN, INT64_MIN, 0, 1, 0 },
	  { 0, 0, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "an offset at the limit",
	  { 0, USK_TIME_MAX, 0, 1, 0 },
	  { USK_TIME_MAX, -USK_TIME_MAX, 0, 400000, 0, false },
	  USK_OK },
	{ "an offset over it",
	  { -1, USK_TIME_MAX, 0, 1, 0 },
	  { USK_TIME_MAX, -USK_TIME_MAX, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "an offset that wraps",
	  { -USK_TIME_MAX, USK_TIME_MAX, 0, 1, 0 },
	  { USK_TIME_MAX, -USK_TIME_MAX, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "nearly too far from the origin",
	  { 1, 1, 0, 1, 0 },
	  { -USK_TIME_MAX + 2, 0, 0, 400000, 0, false },
	  USK_OK },
	{ "too far from the origin",
	  { 1, 1, 0, 1, 0 },
	  { -USK_TIME_MAX + 1, 0, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "too far from the origin's offset",
	  { 1, 0, 1, 0, 0 },
	  { 0, USK_TIME_MAX - 1, 0, 400000, 0, false },
	  USK_ERANGE },
	{ "somebody else's", { INT64_MIN, 0, 2, 1, 0 }, { 0, 0, 0, 400000, 0, false }, USK_OK },
};

static void test_range(void **state)
{
	(void)state;
	enum { MANY = 9000 };
	struct usk_msg *msg = usk_alloc(MANY, sizeof *msg);
	for (size_t i = 0; i < COUNT(range_cases); i++) {
		const struct usk_frame *f = &range_cases[i].frame;
		struct usk_msg good = { f->local_ns + f->offset_ns, f->local_ns, 0, 1, 0 };
		for (size_t where = 0; where < MANY;
		     where += MANY - 1) { /* alone, and at the end */
			struct usk_corridor *k = usk_corridor_new(f);
			struct usk_err err = { 0 };
			for (size_t j = 0; j < where; j++) {
				msg[j] = good;
			}
			msg[where] = range_cases[i].msg;
			enum usk_status got = usk_corridor_add(k, 0, 1, msg, where + 1, &err);
			if (got != range_cases[i].status) {
				fail_msg("%s: %d", range_cases[i].name, got);
			}
			bool mine = msg[where].from != 2;
			uint64_t n = got ? 0 : where + mine;
			assert_int_equal(usk_corridor_count(k, false) + usk_corridor_count(k, true),
					 n);
			if (got) {
				assert_int_equal(err.at, where);
				assert_true(err.msg[0]);
			}
			usk_corridor_free(k);
		}
	}
	free(msg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_kept_are_the_undominated),
		cmocka_unit_test(test_hull_is_the_hull),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_refined_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
