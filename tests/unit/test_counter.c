/* SPDX-License-Identifier: MIT */
/*
 * Counters wider than their bus: every value, with every number of ticks between any two reads.
 *
 * The counter is small, so that all of it can be tried: words of 3 bits. A result is right if the
 * counter showed it when the low word that is in it was read.
 */
#include "base/base.h"
#include "unskew_clock.h"
#include "clock/counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { BITS = 3, PERIOD = 1 << BITS, ALL = PERIOD * PERIOD, READS = 4 };

/* A counter that moves by gap[i] behind its i-th read. */
struct stepped {
	unsigned value, gap[READS];
	unsigned n, low_at[2], n_low; /* reads so far; the counter at each read of the low word */
};

static uint64_t step(void *ctx, bool high)
{
	struct stepped *s = ctx;
	unsigned now = s->value % ALL;
	if (!high && s->n_low < 2) {
		s->low_at[s->n_low++] = now;
	}
	s->value += s->n < READS ? s->gap[s->n] : 0;
	s->n++;
	return high ? now >> BITS : now % PERIOD;
}

struct call {
	bool right;
	bool flip_first, wrap_first; /* between the first two reads: of the low word, of all */
	bool flipped, wrapped;	     /* between the two reads of the high word */
	bool no_tick;		     /* between the two reads of the low word */
	unsigned reads;
};

static struct call try(enum counter_routine routine, enum counter_form form, unsigned value,
		       const unsigned gap[3])
{
	struct stepped s = { .value = value, .gap = { gap[0], gap[1], gap[2] } };
	struct counter c = {
		.word = step, .ctx = &s, .bits = BITS, .routine = routine, .form = form
	};
	uint64_t got = counter_read(&c);
	/* 4-Read promises its first low word; Varying-Read the last it read. */
	unsigned want = s.low_at[routine == VARYING_READ ? s.n_low - 1 : 0];
	unsigned low = value + gap[0], high = low + gap[1];
	return (struct call){ .right = got == want,
			      .flip_first = low / PERIOD != value / PERIOD,
			      .wrap_first = low >= ALL,
			      .flipped = high / PERIOD != value / PERIOD,
			      .wrapped = high >= ALL,
			      .no_tick = !(gap[1] + gap[2]),
			      .reads = s.n };
}

/* Every value and all gaps of a call that lasts less than a period of the low word. */
static unsigned for_all(enum counter_routine routine, enum counter_form form,
			void (*check)(const struct call *c))
{
	unsigned wrong = 0;
	for (unsigned value = 0; value < ALL; value++) {
		for (unsigned i = 0; i < PERIOD * PERIOD * PERIOD; i++) {
			unsigned gap[3] = { i % PERIOD, i / PERIOD % PERIOD, i / PERIOD / PERIOD };
			if (gap[0] + gap[1] + gap[2] < PERIOD) {
				struct call c = try(routine, form, value, gap);
				check(&c);
				wrong += !c.right;
			}
		}
	}
	return wrong;
}

static void never_wrong(const struct call *c)
{
	assert_true(c->right);
}

static void varying_printed(const struct call *c)
{
	assert_int_equal(c->right, !c->wrap_first);
	assert_int_equal(c->reads, c->flipped && !c->wrapped ? 4 : 3);
}

static void four_printed(const struct call *c)
{
	assert_int_equal(c->right, !(c->flip_first && (c->no_tick || c->wrapped)));
	assert_int_equal(c->reads, 4);
}

static void test_varying(void **state)
{
	(void)state;
	assert_true(for_all(VARYING_READ, AS_PRINTED, varying_printed));
	for_all(VARYING_READ, HARDENED, never_wrong);
}

static void test_four(void **state)
{
	(void)state;
	assert_true(for_all(FOUR_READ, AS_PRINTED, four_printed));
	for_all(FOUR_READ, HARDENED, never_wrong);
}

/* Calls of 1-Read `gap` ticks apart, once around the counter and on. */
static void test_one(void **state)
{
	(void)state;
	for (int form = AS_PRINTED; form <= HARDENED; form++) {
		for (unsigned start = 0; start < ALL; start++) {
			for (unsigned gap = 0; gap < PERIOD; gap++) {
				struct stepped s = { .value = start };
				struct counter c = { .word = step,
						     .ctx = &s,
						     .bits = BITS,
						     .routine = ONE_READ,
						     .form = (enum counter_form)form };
				counter_start(&c);
				s = (struct stepped){ .value = start };
				for (unsigned k = 1; k < 3 * PERIOD; k++) {
					s.value = start + k * gap;
					uint64_t got = counter_read(&c);
					/* As printed, each pair of equal reads adds a period. */
					uint64_t extra = form == AS_PRINTED && !gap ? k : 0;
					assert_int_equal(got, start + k * gap + extra * PERIOD);
				}
			}
		}
	}
}

/* The first call after a reset to 0, which has nothing to go on from. */
static void test_one_from_reset(void **state)
{
	(void)state;
	for (unsigned value = 0; value < PERIOD; value++) {
		struct stepped s = { .value = value };
		struct counter c = {
			.word = step, .ctx = &s, .bits = BITS, .routine = ONE_READ, .form = HARDENED
		};
		assert_int_equal(counter_read(&c), value);
	}
}

static void test_elapsed(void **state)
{
	(void)state;
	struct usk_rng r;
	usk_rng_seed(&r, 7);
	for (int i = 0; i < 10000; i++) {
		struct usk_four_stamps s;
		int64_t t = (int64_t)(usk_rng_next(&r) >> 4);
		for (int k = 0; k < 4; k++) {
			s.t_ns[k] = t += (int64_t)(usk_rng_next(&r) >> 40);
		}
		struct usk_elapsed e = usk_elapsed(&s);
		usk_i128 net = 2 * (usk_i128)(s.t_ns[2] - s.t_ns[1]) - (s.t_ns[1] - s.t_ns[0]) -
			       (s.t_ns[3] - s.t_ns[2]);
		assert_true(e.net_2 == net && e.net_2 == e.measured_2 - e.cost_2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varying), cmocka_unit_test(test_four),
		cmocka_unit_test(test_one),	cmocka_unit_test(test_one_from_reset),
		cmocka_unit_test(test_elapsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
