/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a line in one simulated time, each held up at any step for anything from a
 * microsecond to seconds, so that what one does falls into a later exchange of the other: no
 * exchange that is accepted may be wrong. And pins that say anything at all.
 */
#include "line/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

static const uint64_t seed = 2003;

enum { PENDING = 8, STACK = 1 << 18 };

/* A side: its own context, and how far it is. Times are true ns. */
struct side {
	struct line line;
	struct cable *cable;
	ucontext_t context;
	char *stack;
	int64_t at_ns;
	int64_t offset; /* its clock shows this more than the truth */
	/* Its pins, as they change where the other sees them. */
	struct change {
		int64_t at_ns;
		unsigned pins;
	} change[PENDING];
	unsigned changes;
};

struct cable {
	struct side side[2]; /* asks, answers */
	struct usk_rng rng;
	double held_up; /* how likely at each step */
	int64_t longest_ns;
	int64_t delay_ns; /* from a pin set to a pin seen */
	bool noise;	  /* pins say anything */
	int now;	  /* which side runs */
	bool over;
	ucontext_t main;
	void (*ask)(struct cable *c);
};

static struct side *of(struct line *l)
{
	return (struct side *)l;
}

/* Who is furthest behind goes on: so everything happens in the order of true time. */
static void step(struct side *s, int64_t ns)
{
	struct cable *c = s->cable;
	s->at_ns += ns;
	if (c->held_up > 0 && usk_rng_unit(&c->rng) < c->held_up) {
		double most = (double)c->longest_ns, e = usk_rng_unit(&c->rng);
		int64_t held = 1000;
		while ((double)held < most && e > 0.25) {
			held *= 4;
			e = usk_rng_unit(&c->rng);
		}
		s->at_ns += (int64_t)usk_rng_below(&c->rng, (uint64_t)held);
	}
	int other = s == &c->side[0];
	if (c->side[other].at_ns < s->at_ns) {
		c->now = other;
		swapcontext(&s->context, &c->side[other].context);
	}
}

static int64_t cost(struct side *s)
{
	return 20 + (int64_t)usk_rng_below(&s->cable->rng, 200);
}

static void set(struct line *l, unsigned pins)
{
	struct side *s = of(l);
	step(s, cost(s));
	s->change[s->changes++ % PENDING] = (struct change){ s->at_ns + s->cable->delay_ns, pins };
}

static unsigned pins(struct line *l)
{
	struct side *s = of(l);
	step(s, cost(s));
	struct side *other = &s->cable->side[s == &s->cable->side[0]];
	if (s->cable->noise) {
		return (unsigned)usk_rng_below(&s->cable->rng, 4);
	}
	for (unsigned i = other->changes, n = 0; i-- && n < PENDING; n++) {
		if (other->change[i % PENDING].at_ns <= s->at_ns) {
			return other->change[i % PENDING].pins;
		}
	}
	return 0;
}

static void wait_for(struct line *l, int64_t ns)
{
	step(of(l), ns < 2000 ? ns : 2000);
}

static void pause_for(struct line *l, int64_t ns)
{
	step(of(l), ns);
}

static int64_t time_ns(struct line *l)
{
	struct side *s = of(l);
	step(s, cost(s));
	return s->at_ns;
}

static void close_nothing(struct line *l)
{
	(void)l;
}

static int64_t read_clock(void *ctx)
{
	struct side *s = ctx;
	step(s, cost(s));
	return s->at_ns + s->offset;
}

static const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 10000000 };

static void answers(void)
{
	extern struct cable *running;
	struct cable *c = running;
	for (;;) {
		line_answer(&c->side[1].line, &limits, 1000000000);
	}
}

struct cable *running;

static void asks(void)
{
	struct cable *c = running;
	c->ask(c);
	c->over = true;
	setcontext(&c->main);
}

/* Until ask() returns. */
static void run(struct cable *c)
{
	running = c;
	for (int i = 0; i < 2; i++) {
		struct side *s = &c->side[i];
		s->cable = c;
		s->stack = usk_alloc(STACK, 1);
		s->line = (struct line){ .set = set,
					 .pins = pins,
					 .wait = wait_for,
					 .pause = pause_for,
					 .time_ns = time_ns,
					 .close = close_nothing,
					 .counter = { read_clock, s } };
		getcontext(&s->context);
		s->context.uc_stack.ss_sp = s->stack;
		s->context.uc_stack.ss_size = STACK;
		s->context.uc_link = &c->main;
		makecontext(&s->context, i ? answers : asks, 0);
	}
	swapcontext(&c->main, &c->side[0].context);
	assert_true(c->over);
	for (int i = 0; i < 2; i++) {
		free(c->side[i].stack);
	}
}

static unsigned done, tried, wrong;

static void ask_often(struct cable *c)
{
	for (unsigned i = 0; i < tried; i++) {
		struct usk_three_stamps s;
		if (line_ask(&c->side[0].line, &limits, 0x9e3779b9 * (i + 1), &s) != LINE_DONE) {
			continue;
		}
		int64_t truth = s.remote - c->side[1].offset + c->side[0].offset;
		done++;
		wrong += truth < s.before || truth > s.after || s.after - s.before > 1000000000;
	}
}

static void check(double held_up, int64_t longest_ns, int64_t delay_ns, unsigned n, unsigned least)
{
	struct cable c = {
		.held_up = held_up, .longest_ns = longest_ns, .delay_ns = delay_ns, .ask = ask_often
	};
	usk_rng_seed(&c.rng, seed + n);
	c.side[1].offset = 3600000000000;
	tried = n;
	done = wrong = 0;
	run(&c);
	print_message("held up with %g at each step, by up to %g ms: %u of %u exchanges\n", held_up,
		      (double)longest_ns / 1e6, done, tried);
	if (wrong || done < least) {
		fail_msg("%u of %u exchanges wrong, %u expected (seed %llu)", wrong, done, least,
			 (unsigned long long)seed);
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

static void test_noise(void **state)
{
	(void)state;
	struct cable c = { .noise = true, .ask = ask_often };
	usk_rng_seed(&c.rng, seed);
	tried = 300;
	done = wrong = 0;
	run(&c);
	assert_int_equal(done, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calm),
		cmocka_unit_test(test_held_up),
		cmocka_unit_test(test_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
