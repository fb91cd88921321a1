/* SPDX-License-Identifier: MIT */
/*
 * test_calibrate.c - minimum delays from round trips against delays that are known
 */
#include "../part.h"
#include "judge/judge.h"
#include "tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define US	INT64_C(1000)
#define COLUMNS "sender,receiver,sent_ns,received_ns,bytes\n"

/* ---- round trips alone ---------------------------------------------------------------- */

static double exponential(struct usk_rng *r, double mean)
{
	return usk_rng_exponential(r, mean);
}

/* What two messages need, ns, exactly where parts are whole. */
static int64_t need(const struct usk_delay_model *m, uint32_t there, uint32_t back)
{
	return usk_delay_model_ns(m, there) + usk_delay_model_ns(m, back);
}

/* How lengths go together. */
enum { ALIKE, ACKNOWLEDGED, ASKED, EMPTY, MIXED, WAYS_TO_TALK };

static void lengths(struct usk_rng *r, int how, uint32_t *there, uint32_t *back)
{
	*there = 1 + (uint32_t)usk_rng_below(r, 1400);
	*back = 1 + (uint32_t)usk_rng_below(r, 1400);
	switch (how) {
	case ALIKE:
		*there = *back = 56 * (1 + (uint32_t)usk_rng_below(r, 5));
		break;
	case ACKNOWLEDGED:
		*back = 0;
		break;
	case ASKED:
		*there = 100;
		break;
	case EMPTY:
		*there = *back = 0;
		break;
	default:
		*there = usk_rng_below(r, 3) ? *there : 0;
		*back = usk_rng_below(r, 3) ? *back : 0;
	}
}

static struct usk_delay_model random_model(struct usk_rng *r, bool straight)
{
	struct usk_delay_model m = { .base_ps = (1 + (int64_t)usk_rng_below(r, 500)) * 1000000 };
	m.per_byte_ps = (int64_t)usk_rng_below(r, 2) * (int64_t)usk_rng_below(r, 40) * 100;
	m.first_ps = straight ? m.per_byte_ps : (int64_t)usk_rng_below(r, 20) * 1000000;
	return m;
}

/* The model is never over the truth, at no length from the shortest on; and not far under it. */
static void test_never_over(void **state)
{
	(void)state;
	enum { N = 3000 };
	struct usk_trip *t = usk_alloc(N, sizeof *t);
	struct usk_calibrate_options o = { .margin = -1 };
	for (uint64_t seed = case_first(150); seed < case_end(150); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		int how = (int)(seed % WAYS_TO_TALK);
		struct usk_delay_model truth = random_model(&r, how == ACKNOWLEDGED);
		double tail = 0.02 * (double)truth.base_ps / 1000;
		uint32_t shortest = UINT32_MAX, longest = 0;
		for (size_t i = 0; i < N; i++) {
			uint32_t a, b;
			lengths(&r, how, &a, &b);
			int64_t took = need(&truth, a, b) + (int64_t)exponential(&r, tail) +
				       (int64_t)exponential(&r, tail);
			t[i] = (struct usk_trip){ took, took, (int64_t)i, a, b, true };
			shortest = a < shortest ? a : shortest;
			shortest = b < shortest ? b : shortest;
			longest = a > longest ? a : longest;
			longest = b > longest ? b : longest;
		}
		struct usk_calibrated l = { 0 };
		const char *why = usk_least_of(t, N, &o, &l);
		bool good = !why && l.used == N && l.from_bytes == shortest &&
			    l.to_bytes == longest && !l.over && l.halves == 4 && !l.halves_over &&
			    l.widened == 1 && l.straight == (how == ACKNOWLEDGED);
		/* Of two that are not empty, nobody knows what the first byte costs: only from
		 * there on. */
		for (uint32_t n = shortest; n < 3 * longest + 2 && good; n += 7) {
			int64_t got = usk_delay_model_ns(&l.model, n);
			int64_t want = usk_delay_model_ns(&truth, n);
			good = got <= want;
		}
		int64_t got = usk_delay_model_ns(&l.model, shortest);
		int64_t want = usk_delay_model_ns(&truth, shortest);
		good = good && (double)got > 0.95 * (double)want;
		if (!good) {
			char *a = usk_delay_model_text(&l.model), *b = usk_delay_model_text(&truth);
			fail_msg("seed %llu: %s for %s, margin %lld", (unsigned long long)seed, a,
				 b, (long long)l.margin_ns);
		}
	}
	free(t);
}

/* Where increments are seen well, they are found: to 10 % of what they amount to. */
static void test_increments(void **state)
{
	(void)state;
	enum { N = 40000 };
	struct usk_trip *t = usk_alloc(N, sizeof *t);
	struct usk_calibrate_options o = { .margin = -1 };
	for (uint64_t seed = 1; seed <= case_count_at_most(4); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		/* Ashton's network. */
		struct usk_delay_model truth = { 520000000, 14000000, 1032000 };
		for (size_t i = 0; i < N; i++) {
			uint32_t a, b;
			lengths(&r, MIXED, &a, &b);
			a = seed % 2 || a ? a : 1; /* or one of the two is never empty */
			int64_t took = need(&truth, a, b) + (int64_t)exponential(&r, 10000) +
				       (int64_t)exponential(&r, 10000);
			t[i] = (struct usk_trip){ took, took, (int64_t)i, a, b, true };
		}
		struct usk_calibrated l = { 0 };
		const char *why = usk_least_of(t, N, &o, &l);
		assert_null(why);
		assert_false(l.straight);
		/* Where there are no two empty ones only a base with what the first byte costs is known. */
		const int64_t known = seed % 2 ? 0 : 14000000;
		assert_in_range(2 * l.model.base_ps + (known ? l.model.first_ps : 0),
				2 * 516000000 + known, 2 * 520000000 + known);
		assert_in_range(l.model.first_ps, known ? 11700000 : 10000000, 14000000);
		assert_in_range(l.model.per_byte_ps, 1022000, 1032000);
	}
	free(t);
}

/* Anything may come: whatever the model says then, no round trip is shorter than two of it. */
static void test_none_is_shorter(void **state)
{
	(void)state;
	enum { N = 400 };
	struct usk_trip *t = usk_alloc(N, sizeof *t);
	for (uint64_t seed = case_first(400); seed < case_end(400); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		struct usk_calibrate_options o = { seed % 3 ? -1 : 0.1,
						   seed % 5 ? 0
							    : (int64_t)usk_rng_below(&r, 2000) };
		uint64_t span = UINT64_C(1) << usk_rng_below(&r, 50);
		uint32_t longest = UINT32_C(1) << usk_rng_below(&r, 32);
		for (size_t i = 0; i < N; i++) {
			int64_t took = (int64_t)usk_rng_below(&r, span);
			uint32_t a = (uint32_t)usk_rng_below(&r, longest);
			uint32_t b = (uint32_t)usk_rng_below(&r, longest);
			t[i] = (struct usk_trip){ took, took + 3, (int64_t)i,
						  a,	b,	  usk_rng_below(&r, 4) != 0 };
		}
		struct usk_calibrated l = { 0 };
		usk_least_of(t, N, &o, &l);
		for (size_t i = 0; i < N; i++) {
			int64_t took = t[i].used ? t[i].low_ns : t[i].high_ns;
			if (took < need(&l.model, t[i].there, t[i].back)) {
				fail_msg("seed %llu: round trip %zu", (unsigned long long)seed, i);
			}
		}
	}
	free(t);
}

static void test_cases(void **state)
{
	(void)state;
	struct usk_trip t[200];
	struct usk_calibrated l = { 0 };
	const char *why;
	struct usk_calibrate_options spread = { .margin = -1 }, tenth = { .margin = 0.1 };
	struct usk_calibrate_options uneven = { .margin = 0, .asymmetry_ns = 4000 };
	for (size_t i = 0; i < COUNT(t); i++) {
		/* In no order of time: halves of it would differ. */
		int64_t took = 100000 + (int64_t)(i * 77 % COUNT(t)) * 100;
		t[i] = (struct usk_trip){ took, took, (int64_t)i, 8, 8, true };
	}
	/* The smallest less what 64 differ by. */
	why = usk_least_of(t, 200, &spread, &l);
	assert_null(why);
	assert_int_equal(l.smallest_ns, 100000);
	assert_int_equal(l.margin_ns, 6300);
	assert_int_equal(l.model.base_ps, 46850000);
	assert_int_equal(l.model.per_byte_ps, 0);
	assert_int_equal(l.halves, 4);
	assert_int_equal(l.widened, 1);
	why = usk_least_of(t, 63, &spread, &l);
	assert_string_equal(why, "too few round trips");
	assert_int_equal(l.needed, 1);
	why = usk_least_of(t, 0, &spread, &l);
	assert_non_null(why);
	assert_int_equal(l.needed, 64);
	/* A stated margin needs one only. */
	why = usk_least_of(t, 1, &tenth, &l);
	assert_null(why);
	assert_int_equal(l.margin_ns, 10001);
	assert_int_equal(l.model.base_ps, 44999000);
	usk_least_of(t, 1, &uneven, &l);
	assert_int_equal(l.model.base_ps, 48000000);
	uneven.asymmetry_ns = 100000;
	why = usk_least_of(t, 1, &uneven, &l);
	assert_string_equal(why, "nothing is left");
	/* One that is not drawn on speaks against the model all the same. */
	t[7] = (struct usk_trip){ 10, 90000, 7, 8, 8, false };
	usk_least_of(t, 200, &spread, &l);
	assert_int_equal(l.over, 1);
	assert_int_equal(l.over_ns, 3700);
	assert_int_equal(l.model.base_ps, 46850000 - 1851000);
	/* As long as two messages need at least it speaks against nothing. */
	for (int64_t less = -1; less < 2; less++) {
		t[7] = (struct usk_trip){ 10, 2 * 46850 - less, 7, 8, 8, false };
		usk_least_of(t, 200, &spread, &l);
		assert_int_equal(l.over, less > 0);
		assert_int_equal(l.model.base_ps, 46850000 - 1000 * (less > 0));
	}
}

static void test_text(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 1);
	for (int i = 0; i < 2000; i++) {
		struct usk_delay_model m = {
			(int64_t)usk_rng_below(&r, UINT64_C(1) << usk_rng_below(&r, 62)),
			(int64_t)usk_rng_below(&r, 3) *
				(int64_t)usk_rng_below(&r, UINT64_C(1) << usk_rng_below(&r, 60)),
			(int64_t)usk_rng_below(&r, 3) *
				(int64_t)usk_rng_below(&r, UINT64_C(1) << usk_rng_below(&r, 60))
		};
		char *text = usk_delay_model_text(&m);
		struct usk_delay_model back;
		if (usk_delay_model_parse(text, strlen(text), &back, NULL) ||
		    memcmp(&m, &back, sizeof m)) {
			fail_msg("%s", text);
		}
		free(text);
	}
}

/* ---- all lengths together ------------------------------------------------------------------- */

enum { SOME_KINDS = 3, MANY = 900 };

struct seen {
	int64_t ps, length;
	uint32_t kind;
	int64_t left;
};

static int by_kind_and_length(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;
	return a->kind != b->kind	? (a->kind > b->kind) - (a->kind < b->kind)
	       : a->length != b->length ? (a->length > b->length) - (a->length < b->length)
					: (a->ps > b->ps) - (a->ps < b->ps);
}

static int by_left(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;
	return (a->left > b->left) - (a->left < b->left);
}

/* Neighbouring lengths of a kind: the smallest, what may be under it, and the ends. */
struct group {
	int64_t upper, lower, at, lo, hi;
	uint32_t kind;
};

static struct group group_of(const struct seen *p, size_t n, unsigned widened)
{
	struct seen *s = usk_alloc(n, sizeof *s);
	for (size_t i = 0; i < n; i++) {
		s[i] = p[i];
		s[i].left = p[i].ps;
	}
	qsort(s, n, sizeof *s, by_left);
	const int64_t low = s[0].ps, margin = widened * (s[USK_TRIPS_MIN - 1].ps - low);
	const struct group g = { low,	      low - margin,    s[0].length,
				 p[0].length, p[n - 1].length, p[0].kind };
	free(s);
	return g;
}

/* Of each kind as many as have 256 each, or half of it, but no length in two. */
static size_t groups_of(const struct seen *p, size_t n, unsigned widened, struct group *g)
{
	size_t m = 0;
	for (size_t from = 0, end; from < n; from = end) {
		for (end = from; end < n && p[end].kind == p[from].kind; end++) {
		}
		const size_t half = (end - from) / 2;
		const size_t want = half < USK_TRIPS_MIN ? USK_TRIPS_MIN : half < 256 ? half : 256;
		for (size_t start = from, stop; start < end; start = stop) {
			stop = start + want < end ? start + want : end;
			while (stop < end && p[stop].length == p[stop - 1].length) {
				stop++;
			}
			stop = end - stop < USK_TRIPS_MIN ? end : stop;
			if (stop - start >= USK_TRIPS_MIN) {
				g[m++] = group_of(p + start, stop - start, widened);
			}
		}
	}
	return m;
}

/* Do groups say that a byte costs anything for certain, or the first one? */
static bool cost_something(const struct group *g, size_t m, int64_t most)
{
	bool any = false;
	for (size_t i = 0; i < m; i++) {
		for (size_t k = i + 1; k < m; k++) {
			const int64_t longer = g[k].hi - g[i].at, more = g[k].lower - g[i].upper;
			const bool kind = g[k].kind != g[i].kind;
			const int64_t due = longer > 0 ? longer * most : 0;
			any = any || (kind ? (longer <= 0 || most >= 0) &&
						      more - due >= g[k].kind - g[i].kind
					   : longer > 0 && more >= longer);
		}
	}
	return any;
}

/* By every round trip's own time, as it is no shorter than what its group needs. */
static int64_t most_per_byte(const struct group *g, size_t m, const struct seen *p, size_t n)
{
	int64_t most = -1;
	for (size_t i = 0; i < m; i++) {
		for (size_t k = 0; k < n; k++) {
			const int64_t longer = p[k].length - g[i].hi;
			if (p[k].kind == g[i].kind && longer > 0) {
				const int64_t v =
					(int64_t)usk_ceil_div(p[k].ps - g[i].lower, longer);
				most = most < 0 || v < most ? (v > 0 ? v : 0) : most;
			}
		}
	}
	return most;
}

/* Is it one of 10^8 that so many of some are long, if so many of all are? */
static bool is_chance(double some_long, double some, double all_long, double all)
{
	const double q = some_long / some, p = all_long / all;
	const double else_log = q < 1 && q > p ? (1 - q) * log((1 - q) / (1 - p)) : 0;
	return q <= p || some * (q * log(q / p) + else_log) <= 18.4;
}

/* Are long ones among the smallest, of p[n] by what is left, as often as chance allows? */
static bool is_possible(const struct seen *p, size_t n, const int64_t *length)
{
	const size_t some = n / 8 < USK_TRIPS_MIN ? USK_TRIPS_MIN : n / 8;
	bool good = true;
	for (int split = 0; split < 5; split++) {
		size_t of_some = 0, of_all = 0;
		for (size_t i = 0; i < n; i++) {
			const bool is_long =
				split < 2 ? p[i].kind > (uint32_t)split
					  : p[i].length >= length[(size_t)(split - 1) * n / 4];
			of_all += is_long;
			of_some += is_long && i < some;
		}
		good = good && is_chance((double)of_some, (double)some, (double)of_all, (double)n);
	}
	return good;
}

/* What the shortest ones need at least by all lengths together, where nothing is certain of bytes: whatever these may
 * cost, closer where that is little, until long ones would be the smallest too often. */
static int64_t all_together(struct seen *p, size_t n, int64_t most_first, int64_t most_byte,
			    const struct group *shortest, unsigned widened)
{
	int64_t *length = usk_alloc(n, sizeof *length), least = INT64_MAX;
	for (size_t i = 0; i < n; i++) {
		length[i] = p[i].length;
	}
	qsort(length, n, sizeof *length, usk_by_int64);
	for (int64_t f = 0, more = 1; f <= 24 && more; f++) {
		for (int64_t k = 0; k <= 24; k++) {
			const int64_t first = most_first * f * f / 576,
				      byte = most_byte * k * k / 576;
			for (size_t i = 0; i < n; i++) {
				p[i].left = p[i].ps - first * p[i].kind - byte * p[i].length;
			}
			qsort(p, n, sizeof *p, by_left);
			int64_t v = p[0].left - widened * (p[USK_TRIPS_MIN - 1].left - p[0].left);
			v += first * shortest->kind + byte * shortest->lo;
			least = v < least ? v : least;
			if (!is_possible(p, n, length)) {
				more = k > 0;
				break;
			}
		}
	}
	free(length);
	return least;
}

/* What two of the shortest need at least; -1: bytes cost something for certain, or a kind is rare. */
static int64_t shortest_two(struct seen *p, size_t n, unsigned widened)
{
	struct group g[MANY / USK_TRIPS_MIN + 1];
	qsort(p, n, sizeof *p, by_kind_and_length);
	const size_t m = groups_of(p, n, widened, g);
	const int64_t most = m ? most_per_byte(g, m, p, n) : 0;
	if (!m || g[0].kind != p[0].kind || cost_something(g, m, most)) {
		return -1;
	}
	int64_t least = g[0].lower - (most < 0 ? 0 : (g[0].hi - g[0].lo) * most);
	for (size_t i = 1; i < m && g[i].kind == g[0].kind && most >= 0; i++) {
		const int64_t v = g[i].lower - (g[i].hi - g[0].lo) * most;
		least = v > least ? v : least;
	}
	int64_t first = -1, byte = -1;
	for (size_t i = 0; i < n; i++) {
		if (p[i].kind && (first < 0 || p[i].ps / p[i].kind < first)) {
			first = p[i].ps / p[i].kind;
		}
		if (p[i].length && (byte < 0 || p[i].ps / p[i].length < byte)) {
			byte = p[i].ps / p[i].length;
		}
		g[0].lo = p[i].length < g[0].lo ? p[i].length : g[0].lo;
	}
	first = p[0].kind == p[n - 1].kind ? 0 : first;
	byte = most >= 0 ? most : byte < 0 ? 0 : byte;
	const int64_t all = all_together(p, n, first, byte, &g[0], widened);
	return all > least ? all : least > 0 ? least : 0;
}

/* Tails so long that no two lengths are told apart by their own: the base against the same said plainly. */
static void test_together(void **state)
{
	(void)state;
	enum { CASES = 80 };
	struct usk_trip *t = usk_alloc(MANY, sizeof *t);
	struct seen *p = usk_alloc(MANY, sizeof *p);
	struct usk_calibrate_options o = { .margin = -1 };
	size_t compared = 0;
	for (uint64_t seed = case_first(CASES); seed < case_end(CASES); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		const size_t n = 300 + usk_rng_below(&r, MANY - 300);
		const double tail = 1e5 * pow(10, 2 * usk_rng_unit(&r));
		const int64_t byte = (int64_t)usk_rng_below(&r, 1000);
		const int64_t first = (int64_t)usk_rng_below(&r, 3000000);
		const uint32_t longest = 2 + (uint32_t)usk_rng_below(&r, seed % 2 ? 1400 : 3);
		for (size_t i = 0; i < n; i++) {
			uint32_t a = 1 + (uint32_t)usk_rng_below(&r, longest);
			uint32_t b = 1 + (uint32_t)usk_rng_below(&r, longest);
			if (seed % 3) {
				a = usk_rng_below(&r, 3) ? a : 0;
				b = seed % 3 == 1 ? (a ? b : 0) : usk_rng_below(&r, 2) ? b : 0;
			}
			const uint32_t kind = (uint32_t)(a > 0) + (b > 0);
			const int64_t took = 10000000 + first * kind + byte * (a + b - kind) +
					     (int64_t)exponential(&r, tail);
			t[i] = (struct usk_trip){ took, took, (int64_t)i, a, b, true };
			p[i] = (struct seen){ 1000 * took, a + b - kind, kind, 0 };
		}
		struct usk_calibrated l = { 0 };
		const char *why = usk_least_of(t, n, &o, &l);
		const int64_t two = shortest_two(p, n, l.widened);
		if (two >= 0 && !l.over) {
			const int64_t base = two / 2000 * 1000;
			if (l.model.base_ps != base || l.model.first_ps || l.model.per_byte_ps ||
			    (why && base)) {
				fail_msg("seed %llu: base %lld, not %lld", (unsigned long long)seed,
					 (long long)l.model.base_ps, (long long)base);
			}
			compared++;
		}
	}
	assert_true(compared >= case_count(CASES) / 2);
	free(t);
	free(p);
}

/* ---- the whole way ---------------------------------------------------------------------- */

/* One after the other: a asks, b answers, or the other way round. Delays over the truth by
 * exponential ones; b to a takes longer by uneven. */
static void talk(struct bytes *b, const struct clockwork *k, struct usk_rng *r, int64_t t, int how,
		 int64_t n, const struct usk_delay_model *truth, double tail, int64_t uneven)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t bytes[2];
		bool b_asks = usk_rng_below(r, 2);
		lengths(r, how, &bytes[0], &bytes[1]);
		for (int m = 0; m < 2; m++) {
			bool from_b = b_asks != (m == 1);
			int64_t sent = t, got = t + usk_delay_model_ns(truth, bytes[m]) +
						(from_b ? uneven : 0) +
						(int64_t)exponential(r, tail);
			char line[128];
			/* a's stamps fall, b's rise by a fraction: never a ns too fast */
			snprintf(line, sizeof line, "%s,%lld,%lld,%u\n", from_b ? "b,a" : "a,b",
				 (long long)(from_b ? on_b(k, sent) : sent),
				 (long long)(from_b ? got : on_b(k, got)), bytes[m]);
			put_text(b, line);
			t = got + (int64_t)usk_rng_below(r, 2000000);
		}
	}
}

static struct usk_calibration *calibrate(const struct bytes *b,
					 const struct usk_calibrate_options *how)
{
	struct traces t = { .n = 0 };
	struct usk_calibration *c = NULL;
	struct usk_err err = { 0 };
	struct usk_sync_options o = defaults;
	o.reference = "a";
	o.model = "linear";
	add(&t, b, "t");
	if (usk_calibrate(t.t, t.n, &o, how, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	close_all(&t);
	return c;
}

static void test_bands_hold(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(60); seed < case_end(60); seed++) {
		struct usk_rng r;
		struct bytes b = { 0 };
		usk_rng_seed(&r, seed);
		const struct clockwork *k = &clockworks[seed % CLOCKWORKS];
		int how = (int)(seed / CLOCKWORKS % WAYS_TO_TALK);
		struct usk_delay_model truth = random_model(&r, how == ACKNOWLEDGED);
		double tail = (double)truth.base_ps / 1000 * pow(10, -2 * usk_rng_unit(&r));
		/* Stated, an asymmetry does no harm. */
		struct usk_calibrate_options o = { .margin = -1 };
		o.asymmetry_ns = seed % 3 ? 0 : truth.base_ps / 10000;
		put_text(&b, COLUMNS);
		talk(&b, k, &r, START, how, 600, &truth, tail, seed % 6 ? o.asymmetry_ns : 0);
		struct usk_calibration *c = calibrate(&b, &o);
		assert_int_equal(c->n_pairs, 1);
		const struct usk_calibrated *p = &c->pair[0];
		assert_string_equal(c->clock[p->a], "a");
		/* Every message but the first is back to the one before, and to none else. */
		assert_true(p->round_trips >= 600);
		if (p->why) {
			assert_true(tail > 0.2 * (double)truth.base_ps / 1000);
		} else {
			char *model = usk_delay_model_text(&p->model);
			struct usk_sync_options so = defaults;
			so.reference = "a";
			so.model = "linear";
			so.min_delay = model;
			struct usk_clocks *clocks = sync_table(&b, &so);
			assert_true(p->judged && p->room_ns > 0 && !p->halves_over);
			for (uint32_t n = p->from_bytes; n <= p->to_bytes; n += 3) {
				assert_true(usk_delay_model_ns(&p->model, n) <=
					    usk_delay_model_ns(&truth, n));
			}
			assert_int_equal(clock_named(clocks, "b")->quality, USK_BOUNDED);
			assert_int_equal(clocks->evaluation.too_fast.count, 0);
			assert_holds(clocks, k, 600 * 2 * MS);
			usk_clocks_free(clocks);
			free(model);
		}
		usk_calibration_free(c);
		bytes_free(&b);
	}
}

/* A little less room than wanted: that comes off. */
static void test_shortened(void **state)
{
	(void)state;
	struct clockwork k = { 5 * SECOND, 0 };
	struct usk_rng r;
	struct bytes b = { 0 };
	usk_rng_seed(&r, 1);
	struct usk_delay_model slow = { .base_ps = 50000000 };
	put_text(&b, COLUMNS);
	talk(&b, &k, &r, START, EMPTY, 300, &slow, 2000, 0);
	talk(&b, &k, &r, START + 20 * SECOND, EMPTY, 300, &slow, 2000, 0);
	struct usk_calibration *c = calibrate(&b, NULL);
	const struct usk_calibrated *p = &c->pair[0];
	assert_null(p->why);
	assert_true(p->judged && p->room_ns > p->margin_ns / 4 && !p->shortened_ns);
	int64_t margin = p->margin_ns, base = usk_delay_model_ns(&p->model, 0);
	usk_calibration_free(c);
	/* In the middle, each once, faster than any round trip, and answered after a second. */
	for (int i = 0; i < 2; i++) {
		int64_t t = START + (10 + i) * SECOND, d = base - margin / 8;
		char line[128];
		snprintf(line, sizeof line, "%s,%lld,%lld,0\n", i ? "b,a" : "a,b",
			 (long long)(i ? on_b(&k, t) : t),
			 (long long)(i ? t + d : on_b(&k, t + d)));
		put_text(&b, line);
	}
	c = calibrate(&b, NULL);
	p = &c->pair[0];
	assert_int_equal(p->margin_ns, margin);
	assert_true(p->shortened_ns > 0 && p->shortened_ns <= margin / 2 + 1);
	assert_int_equal(usk_delay_model_ns(&p->model, 0), base - p->shortened_ns);
	assert_true(p->room_ns >= margin / 4);
	usk_calibration_free(c);
	bytes_free(&b);
}

/* Much less: the clocks are not what their model says, and the delays stay what they are. */
static void test_other_clocks(void **state)
{
	(void)state;
	struct usk_rng r;
	struct bytes b = { 0 };
	usk_rng_seed(&r, 1);
	struct usk_delay_model slow = { .base_ps = 50000000 };
	put_text(&b, COLUMNS);
	/* A clock that bends: three stretches that no line of one rate goes through. */
	for (int i = 0; i < 3; i++) {
		struct clockwork k = { 5 * SECOND + (i == 1 ? 40 * US : 0), 0 };
		talk(&b, &k, &r, START + i * 60 * SECOND, EMPTY, 300, &slow, 1000, 0);
	}
	struct usk_calibration *c = calibrate(&b, NULL);
	const struct usk_calibrated *p = &c->pair[0];
	assert_null(p->why);
	assert_int_equal(p->shortened_ns, 0);
	assert_true(p->judged);
	assert_in_range(-p->room_ns, 18 * US, 22 * US);
	assert_in_range(usk_delay_model_ns(&p->model, 0), 49 * US, 50 * US);
	usk_calibration_free(c);
	bytes_free(&b);
}

static void test_facts(void **state)
{
	(void)state;
	struct bytes b = { 0 };
	put_text(&b, COLUMNS "a,b,0,5040,10\nb,a,5050,110,20\n"	    /* a asks: 40 + 60 */
			     "a,b,1000,6030,10\nb,a,6050,1120,20\n" /* 30 + 70 */
			     "a,b,2001,7091,0\nb,a,7101,2201,0\n"); /* 90 + 100 */
	struct usk_calibrate_options o = { .margin = 0 };
	struct usk_calibration *c = calibrate(&b, &o);
	assert_int_equal(c->n_pairs, 1);
	const struct usk_calibrated *p = &c->pair[0];
	assert_int_equal(p->round_trips, 5);
	assert_int_equal(p->n_ways, 2);
	assert_int_equal(p->way[0].asker, 0);
	assert_int_equal(p->way[0].n, 3);
	assert_int_equal(p->way[0].smallest_ns, 100);
	assert_int_equal(p->way[0].there_bytes, 10);
	assert_int_equal(p->way[0].back_bytes, 20);
	assert_null(p->way[0].asker_iface);
	assert_int_equal(p->way[1].asker, 1);
	assert_int_equal(p->way[1].n, 2);
	assert_int_equal(p->n_lengths, 4);
	assert_int_equal(p->length[0].n, 2);
	assert_int_equal(p->length[0].smallest_ns, 100);
	assert_int_equal(p->length[0].asker, 0);
	usk_calibration_free(c);
	bytes_free(&b);
	usk_calibration_free(NULL);
}

/* Of two interfaces; one of q's has no name. */
static void begin_capture(struct bytes *b, int me)
{
	ng_section(b);
	for (int i = 0; i < 2; i++) {
		size_t at = ng_begin(b, NG_INTERFACE);
		put16(b, LINK_ETHERNET);
		put16(b, 0);
		put32(b, 262144);
		if (!me || i) {
			ng_option(b, 2, i ? "ge" : "fe", 2);
		}
		ng_option(b, 9, "\x09", 1);
		ng_end(b, at);
	}
}

/* Two interfaces a machine: a slow one with datagrams, a fast one with pings. */
static void test_ways(void **state)
{
	(void)state;
	static const int64_t delay[2] = { 100 * US, 30 * US };
	struct bytes b[2] = { { 0 }, { 0 } };
	struct traces t = { .n = 0 };
	for (int me = 0; me < 2; me++) {
		begin_capture(&b[me], me);
	}
	for (int i = 0; i < 400; i++) {
		int way = i % 4 / 2, from_q = i % 2; /* p asks, and not soon again */
		/* Odd stamps, or they would be taken for coarse ones. */
		int64_t sent = START + i / 2 * (200 * MS + 1) + (from_q ? delay[way] + 50 * US : 0);
		struct packet x = {
			.link = LINK_ETHERNET,
			.src = 0x0a000001u + (uint32_t)(from_q + 16 * way),
			.dst = 0x0a000001u + (uint32_t)(!from_q + 16 * way),
			.proto = way ? ICMP : UDP,
			.sport = from_q ? 53 : 4000,
			.dport = from_q ? 4000 : 53,
			.payload = way	    ? 56
				   : from_q ? 200
					    : 40,
			.content = (uint64_t)i + 1,
		};
		for (int got = 0; got < 2; got++) {
			struct bytes data = { .big = true };
			x.ttl = got ? 63 : 64;
			uint32_t wire = packet_bytes(&x, &data);
			ng_packet(&b[from_q != got], (uint32_t)way,
				  (uint64_t)(sent + got * delay[way]), data.data, (uint32_t)data.n,
				  wire);
			bytes_free(&data);
		}
	}
	struct usk_calibration *c = NULL;
	struct usk_err err = { 0 };
	add(&t, &b[0], "p");
	add(&t, &b[1], "q");
	if (usk_calibrate(t.t, t.n, &defaults, NULL, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(c->n_pairs, 1);
	const struct usk_calibrated *pair = &c->pair[0];
	assert_int_equal(pair->n_ways, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct usk_smallest *w = &pair->way[i];
		bool fast = w->proto == ICMP;
		assert_true(fast || w->proto == UDP);
		assert_int_equal(w->asker, 0);
		assert_string_equal(w->asker_iface, fast ? "ge" : "fe");
		assert_string_equal(w->other_iface, fast ? "ge" : "#0");
		assert_int_equal(w->smallest_ns, fast ? 60 * US : 200 * US);
		assert_int_equal(w->n, 100);
	}
	/* One model for both: the fast one's. */
	assert_null(pair->why);
	assert_int_equal(pair->over, 0);
	assert_in_range(usk_delay_model_ns(&pair->model, 56), 29 * US, 30 * US);
	usk_calibration_free(c);
	close_all(&t);
	bytes_free(&b[0]);
	bytes_free(&b[1]);
}

/* A table's messages are of no interface, be there captures of the same machines. */
static void test_table_beside_captures(void **state)
{
	(void)state;
	struct bytes b[2] = { { 0 }, { 0 } }, table = { 0 };
	struct traces t = { .n = 0 };
	for (int me = 0; me < 2; me++) {
		struct packet x = { .link = LINK_ETHERNET,
				    .src = 1,
				    .dst = 2,
				    .proto = UDP,
				    .payload = 40,
				    .content = (uint64_t)me };
		struct bytes data = { .big = true };
		uint32_t wire = packet_bytes(&x, &data);
		begin_capture(&b[me], me);
		ng_packet(&b[me], 1, START, data.data, (uint32_t)data.n, wire);
		bytes_free(&data);
	}
	put_text(&table, COLUMNS "p,q,1700000000000000001,1700000000000000031,10\n"
				 "q,p,1700000000000000050,1700000000000000103,10\n");
	struct usk_calibration *c = NULL;
	struct usk_err err = { 0 };
	add(&t, &b[0], "p");
	add(&t, &b[1], "q");
	add(&t, &table, "t");
	if (usk_calibrate(t.t, t.n, &defaults, NULL, &c, &err)) {
		fail_msg("%s", err.msg);
	}
	assert_int_equal(c->n_pairs, 1);
	assert_int_equal(c->pair[0].n_ways, 1);
	assert_int_equal(c->pair[0].way[0].smallest_ns, 83);
	assert_null(c->pair[0].way[0].asker_iface);
	assert_null(c->pair[0].way[0].other_iface);
	usk_calibration_free(c);
	close_all(&t);
	bytes_free(&b[0]);
	bytes_free(&b[1]);
	bytes_free(&table);
}

static void test_too_little(void **state)
{
	(void)state;
	static const struct {
		const char *rows, *why;
		struct usk_calibrate_options how;
	} cases[] = {
		{ "a,b,0,10,0\na,b,100,120,0\n", "made no round trip", { -1, 0 } },
		{ "a,b,3,11,0\nb,a,20,44,0\n", "only 1 round trip between a and b was", { -1, 0 } },
		{ "a,b,3,11,0\nb,a,20,44,0\n", "leave no minimum delay", { 1, 0 } },
		{ "a,b,3,11,0\nb,a,20,44,0\n", "the asymmetry 1000 ns", { 0, 1000 } },
		/* Answered after a minute. */
		{ "a,b,3,11,0\nb,a,60000000000,60000000044,0\n",
		  "no round trip between a and b was answered",
		  { 0, 0 } },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct bytes b = { 0 };
		put_text(&b, COLUMNS);
		put_text(&b, cases[i].rows);
		struct usk_calibration *c = calibrate(&b, &cases[i].how);
		assert_int_equal(c->n_pairs, 1);
		if (!c->pair[0].why || !strstr(c->pair[0].why, cases[i].why)) {
			fail_msg("%s", c->pair[0].why ? c->pair[0].why : "a model");
		}
		usk_calibration_free(c);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_never_over),
		cmocka_unit_test(test_increments),
		cmocka_unit_test(test_none_is_shorter),
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bands_hold),
		cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_other_clocks),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_table_beside_captures),
		cmocka_unit_test(test_too_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
