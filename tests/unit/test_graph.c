/* SPDX-License-Identifier: MIT */
/*
 * test_graph.c - small graphs by hand: bounds against Bellman and Ford, brackets and outliers of a
 * pair, shifted stamps, threads, anchors
 */
#include "../part.h"
#include "net.h"

#include "fit/fit.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FAR ((usk_i128)1 << 120)

/* ---- bounds -----------------------------------------------------------------------------------
 */

struct event {
	uint32_t clock;
	int64_t x;
};

static usk_i128 e12(usk_i128 ns)
{
	return ns * USK_E12;
}

/* hi of each event by relaxing every constraint until nothing moves: shortest paths. Reversed, lo:
 * longest ones. Between neighbours of a clock, d apart, T rises by d (1 +- skew). */
static void bellman_ford(const struct net *net, const struct event *e, size_t n, usk_i128 *lo,
			 usk_i128 *hi)
{
	for (size_t i = 0; i < n; i++) {
		lo[i] = e[i].clock ? -FAR : e12(e[i].x);
		hi[i] = e[i].clock ? FAR : e12(e[i].x);
	}
	for (bool moved = true; moved;) {
		moved = false;
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < n; k++) {
				usk_i128 most = FAR, least = -FAR; /* T[k] - T[i] */
				usk_i128 d = (usk_i128)e[k].x - e[i].x;
				if (e[i].clock == e[k].clock && e[i].clock && d >= 0) {
					most = d * (USK_E12 + SKEW);
					least = d * (USK_E12 - SKEW);
				}
				for (size_t m = 0; m < net->n; m++) {
					const struct usk_msg *x = &net->m[m];
					if (x->from == e[i].clock && x->sent_ns == e[i].x &&
					    x->to == e[k].clock && x->received_ns == e[k].x) {
						least = least > 0 ? least : 0;
					}
				}
				if (most < FAR && hi[i] < FAR && hi[i] + most < hi[k]) {
					hi[k] = hi[i] + most;
					moved = true;
				}
				if (most < FAR && lo[k] > -FAR && lo[k] - most > lo[i]) {
					lo[i] = lo[k] - most;
					moved = true;
				}
				if (least > -FAR && lo[i] > -FAR && lo[i] + least > lo[k]) {
					lo[k] = lo[i] + least;
					moved = true;
				}
				if (least > -FAR && hi[k] < FAR && hi[k] - least < hi[i]) {
					hi[i] = hi[k] - least;
					moved = true;
				}
			}
		}
	}
}

/* A wander as large as the skew limit: nothing is known of rates but that. Delays in a ring of
 * three, with a message or two each way. */
static void test_bounds(void **state)
{
	(void)state;
	size_t compared = 0;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		static struct net net;
		struct usk_rng r;
		struct event e[2 * 24];
		usk_i128 lo[2 * 24], hi[2 * 24];
		size_t n = 0;
		static const int64_t off[3] = { 0, 7 * SECOND, -3 * SECOND };
		net = (struct net){ .n_clocks = 3, .model = { USK_WANDER, SKEW, 0 }, .threads = 1 };
		usk_rng_seed(&r, seed);
		for (int i = 0; i < 18; i++) {
			uint32_t from = (uint32_t)(i % 3),
				 to = (from + 1 + (uint32_t)(i / 3 % 2)) % 3;
			int64_t t = 100 * SECOND + i * 300 * MS +
				    (int64_t)usk_rng_below(&r, 200 * (uint64_t)MS);
			int64_t d = 1000 + (int64_t)usk_rng_below(&r, 100000);
			say(&net, from, to, t + off[from], t + d + off[to]);
			e[n++] = (struct event){ from, t + off[from] };
			e[n++] = (struct event){ to, t + d + off[to] };
		}
		struct usk_clocks *c = solve(&net);
		bellman_ford(&net, e, n, lo, hi);
		for (uint32_t k = 1; k < 3; k++) {
			assert_int_equal(c->clock[k].quality, USK_BOUNDED);
			assert_int_equal(c->clock[k].n_jumps, 0);
			struct usk_map *map = usk_map_new(&c->clock[k], SKEW);
			for (size_t i = 0; i < n; i++) {
				struct usk_stamp s;
				if (e[i].clock != k) {
					continue;
				}
				assert_int_equal(usk_map_at(map, e[i].x, &s, NULL), USK_OK);
				int64_t low = (int64_t)usk_floor_div(lo[i], USK_E12);
				int64_t high = (int64_t)usk_ceil_div(hi[i], USK_E12);
				/* Never inside; few knots may cost a 512th of the width. */
				int64_t more = (high - low) / 512 + 2;
				if (s.lo_ns > low || s.hi_ns < high || s.lo_ns < low - more ||
				    s.hi_ns > high + more) {
					fail_msg("seed %llu, clock %u at %lld: %lld to %lld, not "
						 "%lld to %lld",
						 (unsigned long long)seed, k, (long long)e[i].x,
						 (long long)s.lo_ns, (long long)s.hi_ns,
						 (long long)low, (long long)high);
				}
				compared++;
			}
			usk_map_free(map);
		}
		usk_clocks_free(c);
	}
	assert_int_equal(compared, case_count(200) * 24);
}

/* ---- what a pair shows ------------------------------------------------------------------------
 */

/* Exchanges every 100 ms for a minute; b goes forward by `step` in the middle. */
static void exchange(struct net *net, int64_t step)
{
	*net = (struct net){ .n_clocks = 2, .model = { USK_WANDER, 5000000, 0 }, .threads = 1 };
	for (int64_t i = 0; i < 600; i++) {
		int64_t t = i * 100 * MS, b = t + t / 50000 + (i >= 300 ? step : 0);
		say(net, 0, 1, t, b + 50000);
		say(net, 1, 0, b + 60000, t + 110000);
	}
}

static void look(const struct net *net, struct usk_calm *out)
{
	struct usk_part part;
	uint64_t n[2];
	assert_true(part_of(net, 0, 1, &part, n));
	const struct usk_calm_model m = { .wander_e12 = net->model.wander_e12,
					  .clocks = 1,
					  .max_skew_e12 = SKEW };
	usk_calm_of(&part, &m, NULL, NULL, out);
	usk_part_free(&part);
}

static void test_calm(void **state)
{
	(void)state;
	static struct net net;
	struct usk_calm calm;
	exchange(&net, 0);
	look(&net, &calm);
	assert_true(!calm.n_brackets && !calm.n_outliers && !calm.contradicted);
	assert_true(calm.needed_e12 <= 5000000);
	usk_calm_free(&calm);

	for (int back = 0; back < 2; back++) {
		int64_t step = back ? -20 * MS : 20 * MS;
		exchange(&net, step);
		look(&net, &calm);
		assert_int_equal(calm.n_brackets, 1);
		assert_int_equal(calm.n_outliers, 0);
		const struct usk_bracket *b = &calm.bracket[0];
		assert_true(b->step && !calm.contradicted);
		assert_int_equal(b->rises, back); /* the offset falls when b goes forward */
		/* Within a second about it by b, whose stamps say which points are kept, and within two by a. */
		assert_true(b->a0_ns <= 30 * SECOND && b->a1_ns >= 29900 * MS);
		assert_true(b->a0_ns >= 28 * SECOND && b->a1_ns <= 32 * SECOND);
		assert_true(b->b0_ns >= 29 * SECOND && b->b1_ns <= 31 * SECOND);
		if (b->least_ns != USK_NONE) {
			assert_true(b->least_ns <= -step);
		}
		if (b->most_ns != USK_NONE) {
			assert_true(b->most_ns >= -step);
		}
		usk_calm_free(&calm);
	}

	exchange(&net, 0);
	say(&net, 0, 1, 20 * SECOND, 20 * SECOND - 300 * MS);
	look(&net, &calm);
	assert_int_equal(calm.n_outliers, 1);
	assert_true(!calm.n_brackets && !calm.contradicted);
	usk_calm_free(&calm);
}

/* ---- symmetry ---------------------------------------------------------------------------------
 */

/* A ring of four, exchanges both ways. */
static void ring(struct net *net, uint64_t seed, const int64_t off[CLOCKS])
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*net = (struct net){ .n_clocks = CLOCKS,
			     .model = { USK_WANDER, 5000000, 0 },
			     .threads = 1 };
	for (int64_t i = 0; i < 400; i++) {
		uint32_t from = (uint32_t)(i % CLOCKS), to = (from + (i / 4 % 2 ? 1 : 3)) % CLOCKS;
		int64_t t = 1000 * SECOND + i * 50 * MS;
		int64_t d = t + 50000 + (int64_t)usk_rng_exponential(&r, 50000);
		say(net, from, to, t + t / 100000 * from + off[from],
		    d + d / 100000 * to + off[to]);
	}
}

/* Records tell that a clock was set back, anywhere between its first stamps and its last ones. */
static void set_back(struct net *net, uint64_t seed)
{
	const uint32_t k = seed % 3 ? 0 : (uint32_t)(seed / 3 % CLOCKS);
	struct usk_graph_span span[CLOCKS];
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	net_span(net, span);
	const int64_t near = (int64_t)usk_rng_below(&r, 200 * MS) - 100 * MS;
	const int64_t at = seed % 2 ? span[k].first_ns + near : span[k].last_ns - near;
	net->back[k] = (struct usk_gap){ .before_ns = at, .after_ns = at + 100 * MS };
}

static int64_t moved(int64_t bound_ns, int64_t by_ns)
{
	return bound_ns == USK_NONE ? USK_NONE : bound_ns + by_ns;
}

static void test_shifted(void **state)
{
	(void)state;
	static struct net net;
	for (uint64_t seed = case_first(20); seed < case_end(20); seed++) {
		static const int64_t none[CLOCKS] = { 0 };
		/* Whole seconds: corridors are thinned by those of a clock. */
		static const int64_t by[CLOCKS] = { 3 * SECOND, -7 * SECOND, 0, 1000 * SECOND };
		ring(&net, seed, none);
		set_back(&net, seed);
		struct usk_clocks *c = solve(&net);
		ring(&net, seed, by);
		set_back(&net, seed);
		struct usk_clocks *d = solve(&net);
		for (int k = 0; k < CLOCKS; k++) {
			const struct usk_clock *x = &c->clock[k], *y = &d->clock[k];
			assert_int_equal(x->n_knots, y->n_knots);
			assert_int_equal(x->quality, y->quality);
			for (size_t i = 0; i < x->n_knots; i++) {
				const struct usk_knot *u = &x->knot[i], *v = &y->knot[i];
				int64_t o = by[0] - by[k];
				assert_int_equal(u->local_ns + by[k], v->local_ns);
				assert_int_equal(u->offset_ns + o, v->offset_ns);
				assert_int_equal(moved(u->lo_ns, o), v->lo_ns);
				assert_int_equal(moved(u->hi_ns, o), v->hi_ns);
			}
		}
		usk_clocks_free(c);
		usk_clocks_free(d);
	}
}

static void test_threads(void **state)
{
	(void)state;
	static struct net net;
	static const int64_t none[CLOCKS] = { 0 };
	for (uint64_t seed = case_first(20); seed < case_end(20); seed++) {
		char *text[2];
		for (int k = 0; k < 2; k++) {
			ring(&net, seed, none);
			net.threads = k ? 4 : 1;
			struct usk_clocks *c = solve(&net);
			text[k] = usk_clocks_to_json(c);
			usk_clocks_free(c);
		}
		assert_string_equal(text[0], text[1]);
		free(text[0]);
		free(text[1]);
	}
}

/* ---- what is likely ---------------------------------------------------------------------------
 */

static struct usk_stamp stamp_at(const struct usk_clocks *c, uint32_t k, int64_t local_ns)
{
	struct usk_map *map = usk_map_new(&c->clock[k], SKEW);
	struct usk_stamp s = { 0 };
	assert_int_equal(usk_map_at(map, local_ns, &s, NULL), USK_OK);
	usk_map_free(map);
	return s;
}

/* A message that is likely bounds nothing, and the estimate has it in order as far as bounds let it:
 * of clocks within 1 ms of each other one is asked to be `by` earlier or later for a moment, less what it is
 * allowed. */
static void test_likely(void **state)
{
	(void)state;
	static struct net net;
	for (int k = 0; k < 24; k++) {
		int64_t by = (k % 4 + 1) * MS / 5, early = (k / 4 % 3 - 1) * (MS / 8);
		bool back = k >= 12;
		net = (struct net){ .n_clocks = 2,
				    .model = { USK_WANDER, 5000000, 0 },
				    .threads = 1 };
		for (int64_t i = 0; i < 200; i++) {
			int64_t t = i * 10 * MS;
			say(&net, 0, 1, t, t + MS);
			say(&net, 1, 0, t + 2 * MS, t + 3 * MS);
		}
		const int64_t at = SECOND + 7 * MS;
		struct usk_clocks *c = solve(&net);
		/* Sent by 1 to 0, or by 0 to 1, where the stamps say that this took -by. */
		net.likely[0] = (struct usk_likely){
			{ .from = !back, .to = back, .sent_ns = at, .received_ns = at - by }, early
		};
		net.n_likely = 1;
		struct usk_clocks *d = solve(&net);
		/* The stamp of clock 1, and the time that it is not to be after, or before. */
		int64_t own = back ? at - by : at, other = back ? at - early : at - by + early;
		const struct usk_stamp without = stamp_at(c, 1, own), with = stamp_at(d, 1, own);
		/* But for a knot more, that follows the bounds more closely. */
		assert_in_range(with.lo_ns - without.lo_ns + 1000, 0, 2000);
		assert_in_range(with.hi_ns - without.hi_ns + 1000, 0, 2000);
		int64_t want = back ? (other > with.hi_ns ? with.hi_ns : other)
				    : (other < with.lo_ns ? with.lo_ns : other);
		bool was = back ? without.reference_ns >= want : without.reference_ns <= want;
		bool is = back ? with.reference_ns >= want - 1 : with.reference_ns <= want + 1;
		/* No further than it has to, and no other way than before where it need not. */
		int64_t more =
			was ? with.reference_ns - without.reference_ns : with.reference_ns - want;
		if (!is || more > 1000 || more < -1000) {
			fail_msg("case %d: %lld, was %lld, asked for %lld", k,
				 (long long)(with.reference_ns - own),
				 (long long)(without.reference_ns - own), (long long)(want - own));
		}
		usk_clocks_free(c);
		usk_clocks_free(d);
	}
}

/* ---- anchors ----------------------------------------------------------------------------------
 */

static void test_anchor(void **state)
{
	(void)state;
	static struct net net;
	/* 0 and 1 talk, and so do 2 and 3: two islands. */
	net = (struct net){ .n_clocks = 4, .model = { USK_WANDER, 5000000, 0 }, .threads = 1 };
	for (int64_t i = 0; i < 100; i++) {
		int64_t t = i * 100 * MS;
		for (uint32_t k = 0; k < 4; k += 2) {
			say(&net, k, k + 1, t + k * SECOND, t + k * SECOND + 50000);
			say(&net, k + 1, k, t + k * SECOND + 60000, t + k * SECOND + 110000);
		}
	}
	struct usk_clocks *c = solve(&net);
	assert_int_equal(c->n_islands, 2);
	usk_clocks_free(c);
	/* When 1 showed 5 s, 2 showed 7 s, give or take 3 ms. */
	state_anchor(&net, (struct usk_graph_anchor){ 1, 2, 5 * SECOND, 7 * SECOND, 3 * MS });
	c = solve(&net);
	assert_int_equal(c->n_islands, 1);
	for (uint32_t k = 2; k < 4; k++) {
		assert_int_equal(c->clock[k].quality, USK_BOUNDED);
		struct usk_map *map = usk_map_new(&c->clock[k], SKEW);
		struct usk_stamp s;
		assert_int_equal(usk_map_at(map, 7 * SECOND, &s, NULL), USK_OK);
		assert_true(s.lo_ns <= 5 * SECOND - 3 * MS + 4000 &&
			    s.hi_ns >= 5 * SECOND + 3 * MS - 4000);
		assert_true(s.lo_ns >= 5 * SECOND - 4 * MS && s.hi_ns <= 5 * SECOND + 4 * MS);
		usk_map_free(map);
	}
	usk_clocks_free(c);
}

/* An anchor that messages or another one contradict goes out whole, and is told once; messages are
 * not doubted for it. Solving again takes notes and outliers back first: the answer is the same. */
static void test_wrong_anchors(void **state)
{
	(void)state;
	static struct net net;
	net = (struct net){ .n_clocks = 3, .model = { USK_WANDER, 5000000, 0 }, .threads = 1 };
	for (int64_t i = 0; i < 100; i++) {
		int64_t t = i * 100 * MS;
		say(&net, 0, 1, t, t + 50000);
		say(&net, 1, 0, t + 60000, t + 110000);
		say(&net, 0, 2, t + 10 * MS, t + 10 * MS + 40000);
		say(&net, 1, 2, t + 20 * MS, t + 20 * MS + 40000);
		say(&net, 2, 1, t + 30 * MS, t + 30 * MS + 40000);
	}
	struct usk_clocks *c = solve(&net);
	assert_int_equal(c->n_notes, 0);
	assert_int_equal(c->clock[1].n_jumps + c->clock[2].n_jumps, 0);
	usk_clocks_free(c);
	static const struct usk_graph_anchor wrong[] = {
		{ 0, 1, 5 * SECOND, 5 * SECOND + 700 * MS, 3 * MS },
		{ 1, 2, 5 * SECOND, 4 * SECOND, 0 },
		{ 2, 0, 2 * SECOND, 90 * SECOND, 10 * MS },
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char *json[2];
		net.n_stated = 0;
		state_anchor(&net, wrong[i]);
		for (int twice = 0; twice < 2; twice++) {
			net.twice = twice;
			c = solve(&net);
			assert_int_equal(c->n_notes, 1);
			assert_non_null(strstr(c->note[0], "--anchor"));
			assert_int_equal(c->counts.outliers, 0);
			json[twice] = usk_clocks_to_json(c);
			/* What was stated leaves no trace but the note. */
			for (uint32_t k = 1; k < 3; k++) {
				assert_int_equal(c->clock[k].quality, USK_BOUNDED);
				assert_int_equal(c->clock[k].n_jumps, 0);
			}
			usk_clocks_free(c);
		}
		assert_string_equal(json[0], json[1]);
		free(json[0]);
		free(json[1]);
	}
}

/* Messages that only a loop contradicts are left out, and solving again takes these back first, too. */
static void test_left_out_again(void **state)
{
	static struct net net;
	char *json[2];
	(void)state;
	net = (struct net){ .n_clocks = 3, .model = { USK_WANDER, 5000000, 0 }, .threads = 1 };
	say(&net, 2, 0, 83420000007, 83350000003);
	say(&net, 0, 1, 267380000009, 267340000001);
	say(&net, 1, 2, 267340000001, 267450000003);
	say(&net, 2, 0, 267450000003, 267379940007);
	state_anchor(&net, (struct usk_graph_anchor){ 0, 2, 87150 * MS, 87210 * MS, 10 });
	for (int twice = 0; twice < 2; twice++) {
		net.twice = twice;
		struct usk_clocks *c = solve(&net);
		assert_int_equal(c->counts.outliers, 3);
		json[twice] = usk_clocks_to_json(c);
		usk_clocks_free(c);
	}
	assert_string_equal(json[0], json[1]);
	free(json[0]);
	free(json[1]);
}

/* Which messages of a pair that bounds nothing say that something happened; free them. */
static size_t named_of(const struct net *net, struct usk_msg **m)
{
	struct usk_clocks *c = solve(net);
	struct usk_pair *p = &c->pair[0];
	const size_t n = p->n_contradiction;
	assert_int_equal(p->quality, USK_CONTRADICTED);
	assert_int_equal(c->clock[1].quality, USK_CONTRADICTED);
	*m = p->contradiction;
	p->contradiction = NULL;
	p->n_contradiction = 0;
	usk_clocks_free(c);
	return n;
}

/* Of a pair whose clocks something happened to, two messages are named that no constant offset
 * explains. */
static void test_named(void **state)
{
	size_t seen = 0;
	(void)state;
	for (uint64_t seed = case_first(200); seed < case_end(200); seed++) {
		static struct net net;
		struct usk_msg *named;
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		net = (struct net){ .n_clocks = 2,
				    .model = { .kind = USK_WANDER, .wander_e12 = 1000 },
				    .astray = true,
				    .threads = 1 };
		int64_t t = 1000 * SECOND, off = 0;
		const size_t all = 2 + usk_rng_below(&r, 30);
		for (size_t i = 0; i < all; i++) {
			t += 1 + (int64_t)usk_rng_below(&r, SECOND);
			off += usk_rng_below(&r, 20)
				       ? 0
				       : (int64_t)usk_rng_below(&r, SECOND) - SECOND / 2;
			int64_t delay = 1 + (int64_t)usk_rng_below(&r, MS);
			if (usk_rng_below(&r, 2)) {
				say(&net, 0, 1, t, t + delay + off);
			} else {
				say(&net, 1, 0, t + off, t + delay);
			}
		}
		const size_t n = named_of(&net, &named);
		assert_true(n == 0 || n == 2);
		seen += n > 0;
		int64_t most = INT64_MAX, least = INT64_MIN; /* of b - a */
		for (size_t i = 0; i < n; i++) {
			const struct usk_msg *m = &named[i];
			const int64_t by = m->received_ns - m->sent_ns;
			most = m->to == 1 && by < most ? by : most;
			least = m->to == 0 && -by > least ? -by : least;
			bool said = false;
			for (size_t k = 0; k < net.n; k++) {
				said = said || !usk_msg_order(m, &net.m[k]);
			}
			assert_true(said);
		}
		if (n && least <= most) {
			fail_msg("seed %llu: they do not contradict each other",
				 (unsigned long long)seed);
		}
		free(named);
	}
	print_message("%zu of two\n", seen);
	assert_true(seen * 4 > case_count(200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),	      cmocka_unit_test(test_calm),
		cmocka_unit_test(test_shifted),	      cmocka_unit_test(test_threads),
		cmocka_unit_test(test_likely),	      cmocka_unit_test(test_anchor),
		cmocka_unit_test(test_wrong_anchors), cmocka_unit_test(test_left_out_again),
		cmocka_unit_test(test_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
