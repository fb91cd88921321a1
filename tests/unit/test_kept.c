/* SPDX-License-Identifier: MIT */
/* Messages that are kept while they are read come once more as they were. */
#include "../part.h"
#include "flow/kept.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 5, MOST = 6000, MANY = 3000000 };

/* Of pair i: its clocks. */
static const struct usk_kept_pair clocks[PAIRS] = {
	{ 0, 1 }, { 0, 2 }, { 7, 3 }, { 4, 1 }, { UINT32_MAX - 1, 9 }
};

struct kept_case {
	uint64_t seed;
	struct usk_msg msg[MOST];
	size_t pair[MOST];
	size_t n, next;	    /* next: the one that is to come */
	size_t from[PAIRS]; /* a pair's messages count from this one on */
	size_t left;	    /* so many until it wants no more */
	bool stopped;
};

/* Steps of nanoseconds, of seconds, and to the ends of the range. */
static int64_t stamp(struct usk_rng *r, int64_t before)
{
	static const uint64_t size[] = { 1, 1000, 2000000, UINT64_C(4000000000),
					 UINT64_C(1) << 40 };
	uint64_t step = usk_rng_below(r, size[usk_rng_below(r, COUNT(size))] + 1);
	uint64_t next = usk_rng_below(r, 200) == 0 ? usk_rng_next(r) : (uint64_t)before + step;
	return (int64_t)(usk_rng_below(r, 8) ? next : (uint64_t)before - step);
}

static void make(struct kept_case *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*c = (struct kept_case){ .seed = seed, .left = SIZE_MAX };
	c->n = usk_rng_below(&r, MOST);
	int64_t now = (int64_t)usk_rng_next(&r);
	uint64_t run = 1 + usk_rng_below(&r, 600);
	for (size_t i = 0, pair = 0; i < c->n; i++) {
		pair = usk_rng_below(&r, run) ? pair : usk_rng_below(&r, PAIRS);
		bool back = usk_rng_below(&r, 2);
		now = stamp(&r, now);
		c->pair[i] = pair;
		c->msg[i] = (struct usk_msg){ .sent_ns = now,
					      .received_ns = stamp(&r, now),
					      .from = back ? clocks[pair].b : clocks[pair].a,
					      .to = back ? clocks[pair].a : clocks[pair].b };
	}
}

static struct usk_kept *keep(struct kept_case *c)
{
	struct usk_rng r;
	struct usk_kept *k = usk_kept_new(PAIRS);
	usk_rng_seed(&r, ~c->seed);
	for (size_t i = 0; i < PAIRS; i++) {
		usk_kept_begin(k, i);
	}
	for (size_t i = 0, end; i < c->n; i = end) {
		size_t pair = c->pair[i];
		uint64_t most = 1 + usk_rng_below(&r, 600);
		for (end = i; end < c->n && end < i + most && c->pair[end] == pair; end++) {
		}
		if (c->seed % 3 && usk_rng_below(&r, 50) == 0) {
			usk_kept_begin(k, pair);
			c->from[pair] = i;
		}
		usk_kept_add(k, pair, clocks[pair].a, &c->msg[i], end - i);
	}
	return k;
}

static bool is_same(const struct usk_msg *a, const struct usk_msg *b)
{
	return a->sent_ns == b->sent_ns && a->received_ns == b->received_ns && a->from == b->from &&
	       a->to == b->to && a->bytes == b->bytes;
}

static bool take(void *ctx, size_t pair, const struct usk_msg *msg, size_t n)
{
	struct kept_case *c = ctx;
	assert_false(c->stopped);
	for (size_t i = 0; i < n; i++) {
		while (c->next < c->n && c->next < c->from[c->pair[c->next]]) {
			c->next++;
		}
		assert_true(c->next < c->n);
		assert_int_equal(pair, c->pair[c->next]);
		if (!is_same(&msg[i], &c->msg[c->next])) {
			fail_msg("seed %llu: message %zu is another one",
				 (unsigned long long)c->seed, c->next);
		}
		c->next++;
	}
	c->stopped = c->left <= n;
	c->left -= c->stopped ? c->left : n;
	return !c->stopped;
}

static void test_same(void **state)
{
	(void)state;
	static struct kept_case c;
	for (uint64_t seed = case_first(400); seed < case_end(400); seed++) {
		make(&c, seed);
		struct usk_kept *k = keep(&c);
		assert_true(usk_kept_all(k));
		assert_int_equal(usk_kept_read(k, clocks, take, &c, NULL), USK_OK);
		while (c.next < c.n && c.next < c.from[c.pair[c.next]]) {
			c.next++;
		}
		assert_int_equal(c.next, c.n);
		/* Once more, by somebody who has enough soon. */
		c.next = 0;
		c.left = c.n / 2 + 1;
		assert_int_equal(usk_kept_read(k, clocks, take, &c, NULL), USK_OK);
		assert_true(c.stopped || c.seed % 3);
		usk_kept_free(k);
	}
	usk_kept_free(NULL);
}

/* ---- more than memory is to hold ---- */

static struct usk_msg nth(uint64_t i)
{
	return (struct usk_msg){ .sent_ns = (int64_t)(i * 1000),
				 .received_ns = (int64_t)(i * 1000 + i % 977),
				 .from = clocks[0].a,
				 .to = clocks[0].b };
}

static bool count(void *ctx, size_t pair, const struct usk_msg *msg, size_t n)
{
	uint64_t *at = ctx;
	assert_int_equal(pair, 0);
	for (size_t i = 0; i < n; i++) {
		const struct usk_msg m = nth((*at)++);
		assert_true(is_same(&msg[i], &m));
	}
	return true;
}

static struct usk_kept *keep_many(void)
{
	struct usk_kept *k = usk_kept_new(1);
	usk_kept_begin(k, 0);
	for (uint64_t i = 0; i < MANY; i++) {
		const struct usk_msg m = nth(i);
		usk_kept_add(k, 0, clocks[0].a, &m, 1);
	}
	return k;
}

static void test_file(void **state)
{
	(void)state;
	uint64_t n = 0;
	struct usk_kept *k = keep_many();
	assert_true(usk_kept_all(k));
	assert_int_equal(usk_kept_read(k, clocks, count, &n, NULL), USK_OK);
	assert_int_equal(n, MANY);
	usk_kept_free(k);
}

static void test_no_file(void **state)
{
	(void)state;
	const char *before = getenv("TMPDIR");
	char *dir = before ? usk_strdup(before) : NULL;
	setenv("TMPDIR", "/nonexistent", 1);
	struct usk_kept *k = keep_many();
	assert_false(usk_kept_all(k));
	usk_kept_free(k);
	if (dir) {
		setenv("TMPDIR", dir, 1);
	} else {
		unsetenv("TMPDIR");
	}
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
