/* SPDX-License-Identifier: MIT */
/*
 * clock.c - clocks whose reading at any true nanosecond is known exactly
 *
 * In    true time in ns
 * Out   the clock's reading, an integer: the floor of a rational polyline
 * Why   tests of exact bands need a truth that is exact too
 * Not   stamp resolution (capture.c), how real clocks behave (oscillator.c)
 */
#include "sim.h"

#include <stdlib.h>

#define E12 INT64_C(1000000000000)
#define E6  INT64_C(1000000)

void sim_clock_init(struct sim_clock *c, int64_t at_ns, int64_t offset_ns, int64_t rate_e12)
{
	*c = (struct sim_clock){ .piece = usk_alloc(1, sizeof *c->piece), .n = 1 };
	c->piece[0] = (struct sim_piece){ at_ns, at_ns + offset_ns, rate_e12, 0 };
}

void sim_clock_free(struct sim_clock *c)
{
	free(c->piece);
	free(c->jump);
	*c = (struct sim_clock){ 0 };
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* floor((elapsed x rate + rest) / 10^12). */
static int64_t gain(int64_t elapsed, const struct sim_piece *p)
{
	int64_t high = floor_div(elapsed, E6), low = elapsed - high * E6, r = p->rate_e12;
	if (high > -(INT64_C(1) << 29) && high < INT64_C(1) << 29 && r <= SIM_RATE_MAX &&
	    r >= -SIM_RATE_MAX) {
		/* Nested floors: floor((h r + floor((l r + rest) / 10^6)) / 10^6), without 128-bit
		 * division. */
		return floor_div(high * r + floor_div(low * r + p->rest_e12, E6), E6);
	}
	return (int64_t)usk_floor_div((usk_i128)elapsed * r + p->rest_e12, E12);
}

static int64_t read_piece(const struct sim_piece *p, int64_t true_ns)
{
	int64_t elapsed = true_ns - p->true_ns;
	return p->local_ns + elapsed + gain(elapsed, p);
}

/* Pieces are mostly of one length: guess. */
static size_t piece_at(const struct sim_clock *c, int64_t true_ns)
{
	const struct sim_piece *p = c->piece;
	size_t last = c->n - 1, below = 0, above = c->n, step = 1;
	if (!last || true_ns < p[1].true_ns) {
		return 0;
	}
	if (true_ns >= p[last].true_ns) {
		return last;
	}
	double share = (double)(true_ns - p[0].true_ns) / (double)(p[last].true_ns - p[0].true_ns);
	size_t guess = (size_t)(share * (double)last);
	guess = guess < last ? guess : last;
	if (p[guess].true_ns <= true_ns) {
		below = guess;
		while (below + step < c->n && p[below + step].true_ns <= true_ns) {
			below += step;
			step *= 2;
		}
		above = below + step < c->n ? below + step : c->n;
	} else {
		above = guess;
		while (step < above && p[above - step].true_ns > true_ns) {
			above -= step;
			step *= 2;
		}
		below = step < above ? above - step : 0;
	}
	while (above - below > 1) {
		size_t middle = below + (above - below) / 2;
		if (p[middle].true_ns <= true_ns) {
			below = middle;
		} else {
			above = middle;
		}
	}
	return below;
}

const struct sim_piece *sim_clock_piece(const struct sim_clock *c, int64_t true_ns)
{
	return &c->piece[piece_at(c, true_ns)];
}

int64_t sim_clock_read(const struct sim_clock *c, int64_t true_ns)
{
	return read_piece(sim_clock_piece(c, true_ns), true_ns);
}

int64_t sim_clock_when(const struct sim_clock *c, int64_t local_ns)
{
	for (size_t i = 0;; i++) {
		const struct sim_piece *p = &c->piece[i];
		bool last = i + 1 == c->n;
		if (p->rate_e12 == -E12) {
			if (local_ns <= p->local_ns || last) {
				return p->true_ns;
			}
			continue;
		}
		/* floor(e (1 + r) + rest) >= l  <=>  e >= (l - rest) / (1 + r) for integer l. */
		usk_i128 wanted = (usk_i128)(local_ns - p->local_ns) * E12 - p->rest_e12;
		int64_t at = p->true_ns + (int64_t)usk_ceil_div(wanted, E12 + p->rate_e12);
		if (i && at < p->true_ns) {
			at = p->true_ns; /* the clock was put forward over it */
		}
		if (last || at < c->piece[i + 1].true_ns) {
			return at;
		}
	}
}

bool sim_clock_asleep(const struct sim_clock *c, int64_t true_ns)
{
	for (size_t i = 0; i < c->n_jumps; i++) {
		const struct sim_jump *j = &c->jump[i];
		if (true_ns < j->true_ns && true_ns >= j->true_ns - j->still_ns) {
			return true;
		}
	}
	return false;
}

void sim_clock_turn(struct sim_clock *c, size_t *cap, int64_t true_ns, int64_t jump_ns,
		    int64_t rate_e12)
{
	struct sim_piece *p = &c->piece[c->n - 1];
	if (true_ns == p->true_ns) {
		p->local_ns += jump_ns;
		p->rate_e12 = rate_e12;
		return;
	}
	if (!jump_ns && rate_e12 == p->rate_e12) {
		return;
	}
	int64_t elapsed = true_ns - p->true_ns;
	usk_i128 gained = (usk_i128)elapsed * p->rate_e12 + p->rest_e12;
	usk_i128 whole = usk_floor_div(gained, E12);
	struct sim_piece next = { true_ns, p->local_ns + elapsed + (int64_t)whole + jump_ns,
				  rate_e12, (int64_t)(gained - whole * E12) };
	*cap = *cap < c->n ? c->n : *cap;
	c->piece = usk_room(c->piece, c->n, cap, sizeof *c->piece);
	c->piece[c->n++] = next;
}

/* ---- rates ------------------------------------------------------------------------ */

struct sim_slopes sim_clocks_slopes(const struct sim_clock *reference,
				    const struct sim_clock *clock, int64_t from_ns, int64_t to_ns)
{
	const struct sim_clock *a = reference, *b = clock;
	size_t i = piece_at(a, from_ns), j = piece_at(b, from_ns);
	struct sim_slopes s = { 0, 0, false };
	for (;;) {
		int64_t ra = a->piece[i].rate_e12, rb = b->piece[j].rate_e12;
		if (ra != -E12 && rb != -E12) {
			usk_i128 rise = (usk_i128)(ra - rb) * E12 * E6, run = E12 + rb;
			int64_t low = (int64_t)usk_floor_div(rise, run);
			int64_t high = (int64_t)usk_ceil_div(rise, run);
			s.min_e18 = !s.any || low < s.min_e18 ? low : s.min_e18;
			s.max_e18 = !s.any || high > s.max_e18 ? high : s.max_e18;
			s.any = true;
		}
		int64_t next_a = i + 1 < a->n ? a->piece[i + 1].true_ns : INT64_MAX;
		int64_t next_b = j + 1 < b->n ? b->piece[j + 1].true_ns : INT64_MAX;
		int64_t next = next_a < next_b ? next_a : next_b;
		if (next >= to_ns) {
			return s;
		}
		i += next_a == next;
		j += next_b == next;
	}
}

int64_t sim_clocks_wander_e18(const struct sim_clock *a, const struct sim_clock *b, int64_t from_ns,
			      int64_t to_ns)
{
	struct sim_slopes x = sim_clocks_slopes(a, b, from_ns, to_ns);
	struct sim_slopes y = sim_clocks_slopes(b, a, from_ns, to_ns);
	int64_t range = x.max_e18 - x.min_e18, other = y.max_e18 - y.min_e18;
	range = other > range ? other : range;
	return range / 2 + range % 2;
}
