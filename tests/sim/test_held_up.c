/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a line, each held up at any step for anything from a microsecond to seconds, so
 * that what one does falls into a later exchange of the other: no exchange that is accepted may be
 * wrong. And pins that say anything at all.
 */
#include "../part.h"
#include "cable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t seed = 2003;
static const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 10000000 };

struct count {
	unsigned done, tried, wrong;
	int64_t offset_ns;
};

static void ask_often(struct line *l, void *ctx)
{
	struct count *n = ctx;
	for (unsigned i = 0; i < n->tried; i++) {
		struct usk_three_stamps s;
		if (line_ask(l, &limits, 0x9e3779b9 * (i + 1), &s) != LINE_DONE) {
			continue;
		}
		int64_t truth = s.remote - n->offset_ns;
		n->done++;
		n->wrong += truth < s.before || truth > s.after || s.after - s.before > 1000000000;
	}
}

/* Of so many usual exchanges so many at least. */
static void check(double held_up, int64_t longest_ns, int64_t delay_ns, unsigned usual,
		  unsigned of_usual)
{
	unsigned n = (unsigned)case_count(usual), least = of_usual * n / usual;
	const struct cable_plan plan = { .seed = seed + usual,
					 .pin_ns = 20,
					 .pin_more_ns = 200,
					 .clock_ns = 50,
					 .held_up = held_up,
					 .longest_ns = longest_ns,
					 .delay_ns = delay_ns,
					 .offset_ns = 3600000000000 };
	struct count count = { .tried = n, .offset_ns = plan.offset_ns };
	cable_run(&plan, ask_often, &count);
	print_message("held up with %g at each step, by up to %g ms: %u of %u exchanges\n", held_up,
		      (double)longest_ns / 1e6, count.done, n);
	if (count.wrong || count.done < least) {
		fail_msg("%u of %u exchanges wrong, %u expected (seed %llu)", count.wrong,
			 count.done, least, (unsigned long long)seed);
	}
}

/* Nobody is held up: every exchange succeeds. */
static void test_calm(void **state)
{
	(void)state;
	check(0, 0, 0, 200, 200);
	check(0, 0, 900, 200, 200);
}

static void test_held_up(void **state)
{
	(void)state;
	check(1e-4, 100000000, 0, 1000, 500);
	check(3e-4, 1000000000, 0, 1500, 250);
	check(1e-3, 100000000, 500, 1500, 20);
	check(3e-3, 4000000000, 0, 1500, 0);
}

/* ---- rounds ------------------------------------------------------------------------- */

struct put {
	struct cable_plan *plan;
	int64_t by_ns;
	unsigned rounds, jumps;
};

/* Every answer is within its precision; a clock that is put is told at once, and then forgotten. */
static void tie_and_put(struct line *l, void *ctx)
{
	struct put *p = ctx;
	struct line_tie t = line_tie_of(l);
	struct line_round r;
	bool before = false;
	for (unsigned i = 0; i < 12; i++) {
		if (i == 6) {
			p->plan->offset_ns += p->by_ns;
		}
		line_tie_round(&t, &r);
		assert_true(r.good);
		int64_t now = l->time_ns(l), theirs = cable_theirs(p->plan, now);
		assert_int_equal(r.jumped, i == 6 && p->by_ns);
		assert_int_equal(r.mapped, i && (i != 6 || !p->by_ns));
		assert_true(r.foretold == before || i == 6);
		struct usk_live_time at;
		if (r.mapped) {
			assert_int_equal(usk_live_map_at(&t.map, theirs, &at), USK_LIVE);
			assert_in_range(at.local - now + at.precision, 0, 2 * at.precision);
			assert_true(r.drift_ppm > 75 && r.drift_ppm < 85);
		}
		/* The offset holds for the stamp that was taken. */
		int64_t stamped = r.s.remote + r.offset;
		assert_true(stamped + r.precision >= r.s.before &&
			    stamped - r.precision <= r.s.after);
		before = r.mapped;
		p->rounds++;
		l->pause(l, 2000000000);
	}
	p->jumps = (unsigned)t.jumps;
	assert_true(t.rounds == 12 && !t.dropped && t.why[LINE_DONE] == 12);
	/* Nothing is known of a stamp that is far from the last exchange. */
	struct usk_live_time at;
	assert_int_equal(usk_live_map_at(&t.map, r.s.remote + INT64_C(101000000000), &at),
			 USK_LIVE_STALE);
}

static void test_put(void **state)
{
	(void)state;
	/* By so much that it shows in 2 s at 1 ppm and a jitter of a microsecond. */
	static const int64_t by_ns[] = { 0, 20000, -20000, 1000000000, -3600000000000 };
	for (size_t i = 0; i < COUNT(by_ns); i++) {
		struct cable_plan plan = { .seed = seed + i,
					   .pin_ns = 100,
					   .pin_more_ns = 100,
					   .clock_ns = 30,
					   .offset_ns = 7200000000000,
					   .faster_e9 = 80000,
					   .swings = true };
		struct put p = { &plan, by_ns[i], 0, 0 };
		cable_run(&plan, tie_and_put, &p);
		assert_true(p.rounds == 12 && p.jumps == (by_ns[i] != 0));
	}
}

static void test_noise(void **state)
{
	(void)state;
	const struct cable_plan plan = {
		.seed = seed, .pin_ns = 20, .pin_more_ns = 200, .clock_ns = 50, .noise = true
	};
	struct count count = { .tried = (unsigned)case_count(300) };
	cable_run(&plan, ask_often, &count);
	assert_int_equal(count.done, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calm),
		cmocka_unit_test(test_held_up),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
