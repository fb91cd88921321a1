/* SPDX-License-Identifier: MIT */
/* What a page holds of very many messages, against all of them. */
#include "cases.h"
#include "report/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 3000 };

struct cloud {
	uint64_t seed;
	size_t n;
	struct usk_thin_point point[MOST];
	bool back[MOST];
};

/* Bursts and long silences, ties, messages that are the same twice, times before 1970. */
static void scatter(struct cloud *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	c->seed = seed;
	c->n = 1 + usk_rng_below(&r, MOST);
	uint64_t span = UINT64_C(1) << (1 + usk_rng_below(&r, 50));
	uint64_t levels = 1 + usk_rng_below(&r, seed % 3 ? 1000000 : 5);
	int64_t start = (int64_t)usk_rng_below(&r, 1u << 30) - (1 << 29);
	uint32_t epochs = 1 + (seed % 5 == 0);
	for (size_t i = 0; i < c->n; i++) {
		struct usk_thin_point *p = &c->point[i];
		uint64_t at = usk_rng_below(&r, span);
		at = usk_rng_below(&r, 4) ? at / 1000 : at;
		*p = (struct usk_thin_point){ .level = (int64_t)usk_rng_below(&r, levels),
					      .local_ns = start + (int64_t)at,
					      .local_epoch = (uint32_t)usk_rng_below(&r, epochs) };
		p->other_ns = p->local_ns - p->level;
		c->back[i] = usk_rng_below(&r, 3) == 0;
		if (i && usk_rng_below(&r, 20) == 0) {
			c->point[i] = c->point[i - 1];
			c->back[i] = c->back[i - 1];
		}
	}
}

static void shuffle(struct cloud *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	for (size_t i = c->n; i > 1; i--) {
		size_t k = usk_rng_below(&r, i);
		struct usk_thin_point p = c->point[i - 1];
		bool back = c->back[i - 1];
		c->point[i - 1] = c->point[k];
		c->back[i - 1] = c->back[k];
		c->point[k] = p;
		c->back[k] = back;
	}
}

static struct usk_thin *thinned(const struct cloud *c, size_t most)
{
	struct usk_thin *t = usk_thin_new(most);
	for (size_t i = 0; i < c->n; i++) {
		usk_thin_add(t, c->back[i], &c->point[i]);
	}
	return t;
}

static bool same_bucket(const struct usk_thin_point *a, const struct usk_thin_point *b,
			int64_t bucket)
{
	/* Floors, by division. */
	int64_t x = a->local_ns / bucket - (a->local_ns % bucket < 0);
	int64_t y = b->local_ns / bucket - (b->local_ns % bucket < 0);
	return x == y && a->local_epoch == b->local_epoch;
}

static bool same(const struct usk_thin_point *a, const struct usk_thin_point *b)
{
	return a->level == b->level && a->local_ns == b->local_ns && a->other_ns == b->other_ns &&
	       a->local_epoch == b->local_epoch;
}

/* Every bucket's extremes are held, what is held is a message, and all are counted. */
static void check(const struct cloud *c, struct usk_thin *t, size_t most)
{
	int64_t bucket = usk_thin_bucket_ns(t);
	size_t held = 0;
	for (int back = 0; back < 2; back++) {
		struct usk_thin_row *row;
		size_t n = usk_thin_rows(t, back, &row);
		uint64_t counted = 0, total = 0;
		held += n;
		assert_int_equal(n, usk_thin_held(t, back));
		for (size_t i = 0; i < c->n; i++) {
			int64_t low = INT64_MAX, high = INT64_MIN;
			bool is_held = false;
			if (c->back[i] != back) {
				continue;
			}
			total++;
			for (size_t k = 0; k < n; k++) {
				if (same_bucket(&c->point[i], &row[k].point, bucket)) {
					int64_t level = row[k].point.level;
					low = level < low ? level : low;
					high = level > high ? level : high;
					is_held |= same(&c->point[i], &row[k].point);
				}
			}
			if (c->point[i].level < low || c->point[i].level > high) {
				fail_msg("seed %llu: message %zu is beyond what is held",
					 (unsigned long long)c->seed, i);
			}
			if (most > c->n && !is_held) {
				fail_msg("seed %llu: message %zu is not held",
					 (unsigned long long)c->seed, i);
			}
		}
		for (size_t k = 0; k < n; k++) {
			size_t i = 0;
			while (i < c->n &&
			       (c->back[i] != back || !same(&c->point[i], &row[k].point))) {
				i++;
			}
			assert_true(i < c->n);
			counted += row[k].stands_for;
		}
		assert_int_equal(counted, total);
		assert_int_equal(usk_thin_total(t, back), total);
		free(row);
	}
	if (held > (most < 8 ? 8 : most)) {
		fail_msg("seed %llu: %zu held, %zu may be", (unsigned long long)c->seed, held,
			 most);
	}
}

static void test_extremes(void **state)
{
	(void)state;
	static struct cloud c;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		scatter(&c, seed);
		c.n = c.n > 600 ? 600 : c.n;
		size_t most = 8 + seed * 37 % 900;
		struct usk_thin *t = thinned(&c, most);
		check(&c, t, most);
		usk_thin_free(t);
		t = thinned(&c, SIZE_MAX);
		check(&c, t, SIZE_MAX);
		assert_int_equal(usk_thin_held(t, false) + usk_thin_held(t, true), c.n);
		usk_thin_free(t);
	}
}

/* The same rows whatever the order; a hundredth of the span where 808 points may be held. */
static void test_order(void **state)
{
	(void)state;
	static struct cloud c;
	for (uint64_t seed = case_first(40); seed < case_end(40); seed++) {
		scatter(&c, seed);
		size_t most = seed % 2 ? 808 : 8 + seed;
		struct usk_thin *one = thinned(&c, most);
		shuffle(&c, seed);
		struct usk_thin *two = thinned(&c, most);
		for (int back = 0; back < 2; back++) {
			struct usk_thin_row *a, *b;
			size_t n = usk_thin_rows(one, back, &a);
			assert_int_equal(n, usk_thin_rows(two, back, &b));
			for (size_t i = 0; i < n; i++) {
				assert_true(same(&a[i].point, &b[i].point));
				assert_int_equal(a[i].stands_for, b[i].stands_for);
			}
			free(a);
			free(b);
		}
		int64_t first = INT64_MAX, last = INT64_MIN, bucket = usk_thin_bucket_ns(one);
		for (size_t i = 0; i < c.n; i++) {
			int64_t t = c.point[i].local_ns;
			first = t < first ? t : first;
			last = t > last ? t : last;
		}
		if (most == 808 && seed % 5 && bucket > 1 && bucket > (last - first) / 100) {
			fail_msg("seed %llu: buckets of %lld over %lld ns",
				 (unsigned long long)seed, (long long)bucket,
				 (long long)(last - first));
		}
		usk_thin_free(one);
		usk_thin_free(two);
	}
}

/* ---- bins ------------------------------------------------------------------------------ */

static int by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

static int64_t draw(struct usk_rng *r, uint64_t kind)
{
	switch (kind % 5) {
	case 0:
		return 50000 + (int64_t)usk_rng_exponential(r, 50000);
	case 1: /* a clock an hour off that gains */
		return INT64_C(3600000000000) + (int64_t)usk_rng_below(r, 72000000);
	case 2: /* a tail that reaches seconds */
		return (int64_t)(1000 / (usk_rng_unit(r) + 1e-7));
	case 3:
		return -7;
	default:
		return (int64_t)(usk_rng_next(r) >> (2 + usk_rng_below(r, 60))) *
		       (usk_rng_below(r, 2) ? 1 : -1);
	}
}

static int64_t floor_to(int64_t v, int64_t width)
{
	usk_i128 cells = usk_floor_div(v, width);
	return usk_saturate(cells * width);
}

static void check_bins(const int64_t *v, size_t n, const struct usk_bins_shown *s, uint64_t seed)
{
	uint64_t want[USK_BINS_SHOWN] = { 0 }, above = 0;
	for (size_t i = 0; i < n; i++) {
		usk_i128 at = usk_floor_div((usk_i128)v[i] - s->low_ns, s->bin_ns);
		assert_true(at >= 0);
		if (at < USK_BINS_SHOWN) {
			want[at]++;
		} else {
			above++;
		}
	}
	for (size_t i = 0; i < USK_BINS_SHOWN; i++) {
		if (want[i] != (i < s->n_bins ? s->bin[i] : 0)) {
			fail_msg("seed %llu: bin %zu", (unsigned long long)seed, i);
		}
	}
	assert_int_equal(above, s->above);
	assert_int_equal(s->n, n);
	assert_int_equal(s->min_ns, v[0]);
	assert_int_equal(s->max_ns, v[n - 1]);
	int64_t median = floor_to(v[n / 2], s->fine_ns), p99 = v[n - 1 - n / 100];
	assert_int_equal(s->median_ns, median < v[0] ? v[0] : median);
	p99 = floor_to(p99, s->fine_ns);
	assert_int_equal(s->p99_ns, p99 < v[0] ? v[0] : p99);
	assert_int_equal(s->low_ns % s->bin_ns, 0);
}

static void test_bins(void **state)
{
	(void)state;
	static int64_t v[MOST];
	for (uint64_t seed = case_first(100); seed < case_end(100); seed++) {
		struct usk_rng r;
		struct usk_bins_shown s;
		usk_rng_seed(&r, seed);
		size_t n = 1 + usk_rng_below(&r, MOST);
		struct usk_bins *b = usk_bins_new(seed % 2 ? 65536 : 16 + seed);
		for (size_t i = 0; i < n; i++) {
			v[i] = draw(&r, seed);
		}
		for (size_t i = 0, m; i < n; i += m) {
			m = 1 + usk_rng_below(&r, n - i);
			usk_bins_add(b, v + i, m);
		}
		qsort(v, n, sizeof *v, by_value);
		usk_bins_show(b, &s);
		check_bins(v, n, &s, seed);
		usk_bins_free(b);
	}
	struct usk_bins *none = usk_bins_new(16);
	struct usk_bins_shown s;
	usk_bins_show(none, &s);
	assert_int_equal(s.n, 0);
	usk_bins_free(none);
}

/* ---- shares ---------------------------------------------------------------------------- */

static void test_shares(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(100); seed < case_end(100); seed++) {
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		size_t n = 1 + usk_rng_below(&r, 2000), most = 90000, sum = 0, paths = 0;
		uint64_t want[2000];
		bool first[2000];
		size_t share[2000];
		for (size_t i = 0; i < n; i++) {
			want[i] = usk_rng_below(&r, 8) ? usk_rng_below(&r, 100) : 1000000;
			first[i] = usk_rng_below(&r, n / 40 + 1) == 0;
			paths += first[i];
		}
		usk_summary_share(want, first, n, most, share);
		size_t slack = 0;
		for (size_t i = 0; i < n; i++) {
			sum += want[i] < share[i] ? want[i] : share[i];
			slack += want[i] > share[i];
			if (first[i] && paths <= 70 && want[i] > share[i] && share[i] < 808) {
				fail_msg("seed %llu: pair %zu of a path has %zu points",
					 (unsigned long long)seed, i, share[i]);
			}
		}
		assert_true(sum <= most);
		/* Nothing is left over that somebody wanted, but less than a point each. */
		assert_true(!slack || most - sum <= slack);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
