/* SPDX-License-Identifier: MIT */
#include "cable.h"

#include <math.h>
#include <stdlib.h>
#include <ucontext.h>

enum { PENDING = 8, STACK = 1 << 18 };

/* A side: its own context, and how far it is. Times are true ns. */
struct side {
	struct line line;
	struct cable *cable;
	ucontext_t context;
	char *stack;
	int64_t at_ns;
	/* Its pins, as they change where the other sees them. */
	struct change {
		int64_t at_ns;
		unsigned pins;
	} change[PENDING];
	unsigned changes;
};

struct cable {
	const struct cable_plan *plan;
	struct side side[2]; /* asks, answers */
	struct usk_rng rng;
	ucontext_t main;
	void (*ask)(struct line *l, void *ctx);
	void *ctx;
};

static struct side *of(struct line *l)
{
	return (struct side *)l;
}

/* Who is furthest behind goes on: so everything happens in the order of true time. */
static void step(struct side *s, int64_t ns)
{
	struct cable *c = s->cable;
	const struct cable_plan *p = c->plan;
	s->at_ns += ns;
	if (p->held_up > 0 && usk_rng_unit(&c->rng) < p->held_up) {
		int64_t held = 1000;
		while (held < p->longest_ns && usk_rng_unit(&c->rng) > 0.25) {
			held *= 4;
		}
		s->at_ns += (int64_t)usk_rng_below(&c->rng, (uint64_t)held);
	}
	int other = s == &c->side[0];
	if (c->side[other].at_ns < s->at_ns) {
		swapcontext(&s->context, &c->side[other].context);
	}
}

static void pin_step(struct side *s)
{
	const struct cable_plan *p = s->cable->plan;
	step(s, p->pin_ns + (int64_t)usk_rng_below(&s->cable->rng, (uint64_t)p->pin_more_ns + 1));
}

static void set(struct line *l, unsigned pins)
{
	struct side *s = of(l);
	pin_step(s);
	s->change[s->changes++ % PENDING] =
		(struct change){ s->at_ns + s->cable->plan->delay_ns, pins };
}

static unsigned pins(struct line *l)
{
	struct side *s = of(l);
	pin_step(s);
	struct side *other = &s->cable->side[s == &s->cable->side[0]];
	if (s->cable->plan->noise) {
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
	step(s, s->cable->plan->clock_ns);
	return s->at_ns;
}

static void close_nothing(struct line *l)
{
	(void)l;
}

int64_t cable_theirs(const struct cable_plan *p, int64_t true_ns)
{
	int64_t more = (int64_t)usk_floor_div((usk_i128)true_ns * p->faster_e9, 1000000000);
	if (p->swings) {
		/* The integral of 10^-7 cos(2 pi t / 10 min). */
		const double turn_ns = 600e9, two_pi = 6.283185307179586;
		double t = fmod((double)true_ns, turn_ns);
		more += (int64_t)floor(1e-7 * turn_ns / two_pi * sin(two_pi * t / turn_ns));
	}
	return true_ns + p->offset_ns + more;
}

static int64_t read_clock(void *ctx)
{
	struct side *s = ctx;
	const struct cable_plan *p = s->cable->plan;
	step(s, p->clock_ns);
	return s == &s->cable->side[0] ? s->at_ns : cable_theirs(p, s->at_ns);
}

/* makecontext() hands over no pointer. */
static struct cable *running;

static void answers(void)
{
	const struct line_limits limits = { .stamp_ns = 20000, .wake_ns = 10000000 };
	for (;;) {
		line_answer(&running->side[1].line, &limits, 1000000000);
	}
}

static void asks(void)
{
	running->ask(&running->side[0].line, running->ctx);
	setcontext(&running->main);
}

void cable_run(const struct cable_plan *p, void (*ask)(struct line *l, void *ctx), void *ctx)
{
	struct cable c = { .plan = p, .ask = ask, .ctx = ctx };
	usk_rng_seed(&c.rng, p->seed);
	running = &c;
	for (int i = 0; i < 2; i++) {
		struct side *s = &c.side[i];
		s->cable = &c;
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
		s->context.uc_link = &c.main;
		makecontext(&s->context, i ? answers : asks, 0);
	}
	swapcontext(&c.main, &c.side[0].context);
	for (int i = 0; i < 2; i++) {
		free(c.side[i].stack);
	}
}
