/* SPDX-License-Identifier: MIT */
/* Times of events that follow one another: in order where a true order exists, and left alone
 * where nothing asks for more. */
#include "cases.h"
#include "solve/sequence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOCKS = 5, EACH = 8, EVENTS = CLOCKS * EACH, SEQUELS = 60 };

struct tale {
	uint64_t seed;
	struct usk_event_time event[EVENTS];
	int64_t truth[EVENTS];
	struct usk_sequel sequel[SEQUELS];
	size_t n;
};

static int64_t between(struct usk_rng *r, int64_t low, int64_t high)
{
	return low + (int64_t)usk_rng_below(r, (uint64_t)(high - low + 1));
}

/* Clock 0 is fixed; bands hold the truth; sequels are true, by their q if that is over 0. */
static void make(struct tale *t, uint64_t seed, int64_t scale, int64_t q)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*t = (struct tale){ .seed = seed };
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct usk_event_time *e = &t->event[i];
		bool first = i % EACH == 0;
		e->clock = i / EACH;
		e->local_ns = i % EACH;
		e->rank = !e->clock ? USK_RANK_FIXED : e->clock > 2 ? USK_RANK_ODD : USK_RANK_SOUND;
		t->truth[i] =
			first ? between(&r, 0, 2 * scale) : t->truth[i - 1] + between(&r, 0, scale);
		e->low = t->truth[i] - between(&r, 0, scale);
		e->high = t->truth[i] + between(&r, 0, scale);
		e->wish = e->rank == USK_RANK_FIXED ? t->truth[i]
						    : between(&r, e->low - 3, e->high + 3);
	}
	while (t->n < SEQUELS) {
		uint32_t a = (uint32_t)usk_rng_below(&r, EVENTS);
		uint32_t b = (uint32_t)usk_rng_below(&r, EVENTS);
		int64_t late = t->truth[b] - t->truth[a];
		if (t->event[a].clock != t->event[b].clock && (q ? late >= -q : late > 0)) {
			t->sequel[t->n++] = (struct usk_sequel){ a, b, q };
		}
	}
}

static void check(const struct tale *t, int64_t gap)
{
	for (size_t i = 0; i < EVENTS; i++) {
		const struct usk_event_time *e = &t->event[i];
		CHECK(e->rank != USK_RANK_FIXED || e->time_ns == e->wish, t);
		CHECK(i % EACH == 0 || e[-1].time_ns <= e->time_ns, t);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_sequel *s = &t->sequel[i];
		CHECK(t->event[s->behind].time_ns - t->event[s->before].time_ns >= gap, t);
	}
}

static void check_bands(const struct tale *t)
{
	for (size_t i = 0; i < EVENTS; i++) {
		const struct usk_event_time *e = &t->event[i];
		CHECK(e->low <= e->time_ns && e->time_ns <= e->high, t);
	}
}

/* Exact stamps: in order by 1 ns; coarse ones by what they are rounded by; within the bands. */
static void test_true_order(void **state)
{
	(void)state;
	static const int64_t scale[] = { 3, 20, 1000, 1000000000 };
	for (uint64_t seed = 1; seed <= fit_cases(400); seed++) {
		struct tale t;
		int64_t of = scale[seed % 4], q = seed % 3 ? 0 : 1 + of / 10;
		make(&t, seed, of, q);
		usk_sequence(t.event, EVENTS, t.sequel, t.n);
		check(&t, q ? -q : 1);
		check_bands(&t);
	}
}

/* A wish that is in order stays. */
static void test_left_alone(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(200); seed++) {
		struct tale t;
		make(&t, seed, 500, 0);
		for (size_t i = 0; i < EVENTS; i++) {
			t.event[i].wish = t.truth[i];
		}
		usk_sequence(t.event, EVENTS, t.sequel, t.n);
		for (size_t i = 0; i < EVENTS; i++) {
			CHECK(t.event[i].time_ns == t.truth[i], &t);
		}
	}
}

/* Bands that are wrong, each for itself: in order all the same. */
static void test_wrong_bands(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(400); seed++) {
		struct tale t;
		struct usk_rng r;
		make(&t, seed, 1000, 0);
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < EVENTS; i++) {
			struct usk_event_time *e = &t.event[i];
			int64_t off = between(&r, -5000, 5000);
			e->low = e->rank == USK_RANK_FIXED ? e->low : e->low + off;
			e->high = e->rank == USK_RANK_FIXED ? e->high : e->high + off;
		}
		usk_sequence(t.event, EVENTS, t.sequel, t.n);
		check(&t, 0);
	}
}

/* Bands of odd clocks that are wrong widen no sound ones. */
static void test_odd_bands(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(400); seed++) {
		struct tale t;
		struct usk_rng r;
		make(&t, seed, 1000, 0);
		usk_rng_seed(&r, seed);
		for (size_t i = 0; i < EVENTS; i++) {
			struct usk_event_time *e = &t.event[i];
			int64_t off = e->rank == USK_RANK_ODD ? between(&r, -5000, 5000) : 0;
			e->low += off;
			e->high += off;
		}
		usk_sequence(t.event, EVENTS, t.sequel, t.n);
		check(&t, 0);
		for (size_t i = 0; i < EVENTS; i++) {
			const struct usk_event_time *e = &t.event[i];
			bool inside = e->low <= e->time_ns && e->time_ns <= e->high;
			CHECK(e->rank == USK_RANK_ODD || inside, &t);
		}
	}
}

/* Messages in a circle cannot all be true: an answer all the same, and fixed times stay. */
static void test_circle(void **state)
{
	(void)state;
	struct usk_event_time e[] = {
		{ .clock = 0,
		  .local_ns = 10,
		  .rank = USK_RANK_FIXED,
		  .low = 10,
		  .high = 10,
		  .wish = 10 },
		{ .clock = 0,
		  .local_ns = 20,
		  .rank = USK_RANK_FIXED,
		  .low = 20,
		  .high = 20,
		  .wish = 20 },
		{ .clock = 1,
		  .rank = USK_RANK_SOUND,
		  .local_ns = 5,
		  .low = 0,
		  .high = 40,
		  .wish = 30 },
		{ .clock = 1,
		  .rank = USK_RANK_SOUND,
		  .local_ns = 6,
		  .low = 0,
		  .high = 40,
		  .wish = 31 },
		{ .clock = 2,
		  .rank = USK_RANK_SOUND,
		  .local_ns = 5,
		  .low = 0,
		  .high = 40,
		  .wish = 30 },
	};
	const struct usk_sequel s[] = { { 1, 2, 0 }, { 3, 0, 0 }, { 2, 4, 0 }, { 4, 2, 0 } };
	usk_sequence(e, 5, s, 4);
	assert_int_equal(e[0].time_ns, 10);
	assert_int_equal(e[1].time_ns, 20);
	assert_int_equal(e[2].time_ns, e[4].time_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true_order),  cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_wrong_bands), cmocka_unit_test(test_odd_bands),
		cmocka_unit_test(test_circle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
