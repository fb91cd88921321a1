/* SPDX-License-Identifier: MIT */
/*
 * clock.c - clocks whose reading at any true nanosecond is known exactly
 *
 * In    true time in ns
 * Out   the clock's reading, an integer: the floor of a rational line
 * Why   tests of exact bands need a truth that is exact too
 * Not   stamp resolution (capture.c)
 */
#include "sim.h"

#include <stdlib.h>

#define E12 INT64_C(1000000000000)
#define E6  INT64_C(1000000)

void sim_clock_init(struct sim_clock *c, int64_t at_ns, int64_t offset_ns, int64_t rate_e12)
{
	c->piece = usk_alloc(1, sizeof *c->piece);
	c->piece[0] = (struct sim_piece){ at_ns, at_ns + offset_ns, rate_e12 };
	c->n = 1;
}

void sim_clock_free(struct sim_clock *c)
{
	free(c->piece);
	c->piece = NULL;
	c->n = 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* floor(elapsed x rate / 10^12). */
static int64_t gain(int64_t elapsed, int64_t rate_e12)
{
	int64_t high = floor_div(elapsed, E6), low = elapsed - high * E6;
	if (high > -(INT64_C(1) << 29) && high < INT64_C(1) << 29) {
		/* Nested floors: floor((h r + floor(l r / 10^6)) / 10^6), without 128-bit division.
		 */
		return floor_div(high * rate_e12 + floor_div(low * rate_e12, E6), E6);
	}
	return (int64_t)usk_floor_div((usk_i128)elapsed * rate_e12, E12);
}

static int64_t read_piece(const struct sim_piece *p, int64_t true_ns)
{
	int64_t elapsed = true_ns - p->true_ns;
	return p->local_ns + elapsed + gain(elapsed, p->rate_e12);
}

int64_t sim_clock_read(const struct sim_clock *c, int64_t true_ns)
{
	size_t i = c->n - 1;
	while (i && c->piece[i].true_ns > true_ns) {
		i--;
	}
	return read_piece(&c->piece[i], true_ns);
}

int64_t sim_clock_when(const struct sim_clock *c, int64_t local_ns)
{
	for (size_t i = 0;; i++) {
		const struct sim_piece *p = &c->piece[i];
		/* floor(e (1 + r)) >= l  <=>  e >= l / (1 + r) for integer l. */
		usk_i128 elapsed =
			usk_ceil_div((usk_i128)(local_ns - p->local_ns) * E12, E12 + p->rate_e12);
		int64_t at = p->true_ns + (int64_t)elapsed;
		if (i && at < p->true_ns) {
			at = p->true_ns; /* the clock was put forward over it */
		}
		if (i + 1 == c->n || at < c->piece[i + 1].true_ns) {
			return at;
		}
	}
}
