/* SPDX-License-Identifier: MIT */
/*
 * oscillator.c - clocks as they are: noise, heat, age, daemons and people that bend and step them
 *
 * In    options, the number of a host
 * Out   its clock: many straight pieces, so that whatever it does is known exactly
 * Why   a band that holds the truth for straight lines alone proves nothing
 * Not   reading it (clock.c)
 *
 * The rate is a sum of parts, each with random numbers of its own, so that one option more leaves
 * the others as they were. It changes at the ticks of a grid of a second; shorter traces have 1,000
 * ticks, and what would need too much memory has fewer.
 *
 *     random walk   sigma sqrt(tick) N at each tick
 *     flicker       Voss: one random number per octave, drawn anew every 2^k ticks. An octave of
 *                   variance v makes h(-1) ln 2 = v, and the Allan floor is sqrt(2 ln 2 h(-1)),
 *                   so v = floor^2 / 2
 *     ageing        2 delta (t - t0), which is Poirier's delta (t - t0)^2 of the offset
 *     temperature   amplitude x sin(2 pi (t / period + phase)), a phase per host
 *     discipline    at each poll the error is measured and slewed away until the next poll, within
 *                   the limit; a tenth of what was needed is learnt as a change of the rate. The
 *                   daemon has been running: it knows the drift at the start.
 */
#include "sim.h"

#include <math.h>
#include <stdlib.h>

#define E12	INT64_C(1000000000000)
#define SECOND	INT64_C(1000000000)
#define DAY_S	86400.0
#define OCTAVES 24
#define LEARNT	0.1

/* Kinds of random numbers. */
enum { WALK, FLICKER, PHASE, POLL, STEPS, KINDS };

/* A change of the reading, in the order of time. */
struct change {
	int64_t at_ns, size_ns;
	bool sleep;
	size_t order;
};

struct maker {
	const struct sim_options *o;
	struct sim_clock *clock;
	size_t cap, cap_jumps;
	struct usk_rng rng[KINDS];
	/* parts of the rate, 10^-12 */
	double drift, wander, flicker_each, ageing_per_s, heat, phase;
	double walk, flicker, octave[OCTAVES], learnt;
	int64_t natural_e12, slew_e12, series_e12;
	/* what comes next */
	int64_t tick_ns, next_tick_ns, poll_ns, next_poll_ns, next_point_ns;
	uint64_t ticks;
	const struct sim_series *series;
	size_t point;
	int64_t point_ns;
	usk_i128 followed; /* what the series' rates gained until point_ns, 10^-12 ns */
	int64_t leapt_ns;  /* and its jumps */
	struct change *change;
	size_t n_changes, next_change;
	int64_t awake_ns; /* it sleeps until then */
};

int64_t sim_list_at(const struct sim_list *l, uint32_t host)
{
	if (!l->n || (!host && l->n == 1)) {
		return 0;
	}
	return l->v[host < l->n ? host : l->n - 1];
}

static int64_t tick_of(const struct sim_options *o)
{
	int64_t most = (1 << 24) / (int64_t)o->hosts;
	most = most < 1 << 20 ? most : 1 << 20;
	int64_t tick = SECOND;
	if (o->duration_ns / tick < 1000) {
		tick = o->duration_ns / 1000 + 1;
	} else if (o->duration_ns / tick > most) {
		tick = o->duration_ns / most + 1;
	}
	return tick < 1000 ? 1000 : tick;
}

/* a / b for b > 0. */
static int64_t nearest(usk_i128 a, int64_t b)
{
	return (int64_t)usk_floor_div(2 * a + b, 2 * (usk_i128)b);
}

/* ---- rates ------------------------------------------------------------------------------ */

static void tick(struct maker *m, int64_t now_ns)
{
	double seconds = (double)m->tick_ns * 1e-9;
	double age = (double)(now_ns - m->o->start_ns) * 1e-9;
	if (m->wander > 0 && m->ticks) {
		m->walk += m->wander * sqrt(seconds) * usk_rng_normal(&m->rng[WALK]);
	}
	for (int k = 0; k < OCTAVES && m->flicker_each > 0; k++) {
		if (m->ticks & ((UINT64_C(1) << k) - 1)) {
			break;
		}
		double fresh = m->flicker_each * usk_rng_normal(&m->rng[FLICKER]);
		m->flicker += fresh - m->octave[k];
		m->octave[k] = fresh;
	}
	double rate = m->drift + m->walk + m->flicker + m->ageing_per_s * (age + seconds / 2);
	if (m->heat > 0) {
		double turns = (age + seconds / 2) / ((double)m->o->temperature_ns * 1e-9);
		rate += m->heat * sin(2 * acos(-1) * (turns + m->phase));
	}
	m->natural_e12 = llround(rate);
	m->ticks++;
	m->next_tick_ns = now_ns + m->tick_ns;
}

static void poll(struct maker *m, int64_t now_ns)
{
	double error = (double)(sim_clock_read(m->clock, now_ns) - now_ns) +
		       (double)m->o->poll_error_ns * usk_rng_normal(&m->rng[POLL]);
	double wanted = -error * 1e12 / (double)m->poll_ns, most = (double)m->o->slew_e12;
	if (fabs(wanted) <= most) {
		m->learnt += LEARNT * wanted;
	}
	m->slew_e12 = llround(wanted > most ? most : wanted < -most ? -most : wanted);
	m->next_poll_ns = now_ns + m->poll_ns;
}

/* To the next point of the series; what the rounding of rates left over is made up for. */
static void follow(struct maker *m, int64_t now_ns)
{
	const struct sim_error_point *p = m->series->point;
	size_t last = m->series->n - 1, i = m->point;
	int64_t after = now_ns - m->o->start_ns;
	m->followed += (usk_i128)m->series_e12 * (now_ns - m->point_ns);
	while (i < last && p[i + 1].after_ns <= after) {
		m->leapt_ns +=
			p[i + 1].after_ns == p[i].after_ns ? p[i + 1].ahead_ns - p[i].ahead_ns : 0;
		i++;
	}
	size_t next = i < last ? i + 1 : last;
	usk_i128 wanted = ((usk_i128)p[next].ahead_ns - p[0].ahead_ns - m->leapt_ns) * E12;
	if (i < last) {
		m->series_e12 = nearest(wanted - m->followed, p[next].after_ns - after);
		m->next_point_ns = m->o->start_ns + p[next].after_ns;
	} else {
		m->series_e12 = after > 0 ? nearest(wanted, after) : 0;
		m->next_point_ns = INT64_MAX;
	}
	m->point = i;
	m->point_ns = now_ns;
}

static int64_t rate_now(const struct maker *m, int64_t now_ns)
{
	if (now_ns < m->awake_ns) {
		return -E12;
	}
	int64_t rate = m->natural_e12 + llround(m->learnt) + m->slew_e12 + m->series_e12;
	return rate > SIM_RATE_MAX ? SIM_RATE_MAX : rate < -SIM_RATE_MAX ? -SIM_RATE_MAX : rate;
}

/* ---- jumps -------------------------------------------------------------------------------- */

static void add_change(struct maker *m, size_t *cap, int64_t after_ns, int64_t size_ns, bool sleep)
{
	m->change = usk_room(m->change, m->n_changes, cap, sizeof *m->change);
	m->change[m->n_changes++] =
		(struct change){ m->o->start_ns + after_ns, size_ns, sleep, m->n_changes };
}

/* One in each of n equal parts of the time, so that they keep apart; sizes log-uniform. */
static void add_random(struct maker *m, size_t *cap, int64_t n)
{
	struct usk_rng *r = &m->rng[STEPS];
	double part = (double)m->o->duration_ns / (double)n;
	double low = log((double)m->o->step_min_ns), high = log((double)m->o->step_max_ns);
	for (int64_t i = 0; i < n; i++) {
		double after = part * ((double)i + 0.1 + 0.8 * usk_rng_unit(r));
		int64_t size = llround(exp(low + (high - low) * usk_rng_unit(r)));
		add_change(m, cap, (int64_t)after, usk_rng_next(r) & 1 ? size : -size, false);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->at_ns != y->at_ns) {
		return x->at_ns < y->at_ns ? -1 : 1;
	}
	return x->order < y->order ? -1 : 1;
}

static void plan_changes(struct maker *m, uint32_t host)
{
	const struct sim_options *o = m->o;
	size_t cap = 0;
	for (size_t i = 0; i < o->n_steps; i++) {
		const struct sim_step *s = &o->step[i];
		if (s->host == host) {
			add_change(m, &cap, s->after_ns, s->size_ns, s->sleep);
		}
	}
	add_random(m, &cap, sim_list_at(&o->steps, host));
	for (size_t i = 1; m->series && i < m->series->n; i++) {
		const struct sim_error_point *p = &m->series->point[i];
		if (p->after_ns == p[-1].after_ns) {
			add_change(m, &cap, p->after_ns, p->ahead_ns - p[-1].ahead_ns, false);
		}
	}
	if (m->n_changes) {
		qsort(m->change, m->n_changes, sizeof *m->change, by_time);
	}
	/* Nobody sets the clock of a host that sleeps: it happens when it wakes up. */
	int64_t awake = INT64_MIN;
	for (size_t i = 0; i < m->n_changes; i++) {
		struct change *c = &m->change[i];
		c->at_ns = c->at_ns > awake ? c->at_ns : awake;
		awake = c->sleep ? c->at_ns + c->size_ns : awake;
	}
}

/* Those that are due; returns by how much the clock is put forward. */
static int64_t jump(struct maker *m, int64_t now_ns)
{
	struct sim_clock *c = m->clock;
	int64_t all = 0;
	for (; m->next_change < m->n_changes; m->next_change++) {
		const struct change *x = &m->change[m->next_change];
		if (x->at_ns > now_ns || now_ns < m->awake_ns) {
			break;
		}
		c->jump = usk_room(c->jump, c->n_jumps, &m->cap_jumps, sizeof *c->jump);
		struct sim_jump *j = &c->jump[c->n_jumps++];
		if (x->sleep) {
			m->awake_ns = now_ns + x->size_ns;
			*j = (struct sim_jump){ m->awake_ns, -x->size_ns, x->size_ns };
		} else {
			*j = (struct sim_jump){ now_ns, x->size_ns, 0 };
			all += x->size_ns;
		}
	}
	return all;
}

/* ---- all together --------------------------------------------------------------------------- */

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t next_ns(const struct maker *m, int64_t now_ns)
{
	int64_t next = sooner(m->next_tick_ns, m->next_point_ns);
	if (now_ns < m->awake_ns) {
		return sooner(next, m->awake_ns);
	}
	next = sooner(next, m->next_poll_ns);
	if (m->next_change < m->n_changes) {
		next = sooner(next, m->change[m->next_change].at_ns);
	}
	return next;
}

static void prepare(struct maker *m, uint32_t host)
{
	const struct sim_options *o = m->o;
	for (uint64_t k = 0; k < KINDS; k++) {
		usk_rng_seed(&m->rng[k],
			     usk_mix(o->seed + usk_mix(UINT64_C(0x636c6f636b) + KINDS * host + k)));
	}
	m->drift = (double)sim_list_at(&o->drift_e12, host);
	m->wander = (double)sim_list_at(&o->wander_e15, host) * 1e-3;
	m->flicker_each = (double)sim_list_at(&o->flicker_e15, host) * 1e-3 * sqrt(0.5);
	m->ageing_per_s = (double)sim_list_at(&o->ageing_e15, host) * 1e-3 / DAY_S;
	m->heat = (double)sim_list_at(&o->temperature_e12, host);
	m->phase = usk_rng_unit(&m->rng[PHASE]);
	m->tick_ns = tick_of(o);
	bool ticks = m->wander > 0 || m->flicker_each > 0 || m->ageing_per_s != 0 || m->heat > 0;
	m->natural_e12 = sim_list_at(&o->drift_e12, host);
	m->next_tick_ns = ticks ? o->start_ns : INT64_MAX;
	m->poll_ns = sim_list_at(&o->poll_ns, host);
	m->next_poll_ns = INT64_MAX;
	if (m->poll_ns) {
		m->learnt = -m->drift;
		m->next_poll_ns =
			o->start_ns + (int64_t)((double)m->poll_ns * usk_rng_unit(&m->rng[POLL]));
	}
	m->next_point_ns = INT64_MAX;
	m->point_ns = m->awake_ns = o->start_ns;
	for (size_t i = 0; i < o->n_series; i++) {
		if (o->series[i].host == host) {
			m->series = &o->series[i];
			m->next_point_ns = o->start_ns;
		}
	}
	plan_changes(m, host);
}

void sim_options_clock(const struct sim_options *o, uint32_t host, struct sim_clock *out)
{
	struct maker m = { .o = o, .clock = out };
	int64_t now = o->start_ns, end = o->start_ns + o->duration_ns;
	prepare(&m, host);
	int64_t ahead = sim_list_at(&o->offset_ns, host);
	ahead += m.series ? m.series->point[0].ahead_ns : 0;
	sim_clock_init(out, now, ahead, 0);
	for (;;) {
		if (now == m.next_tick_ns) {
			tick(&m, now);
		}
		if (now == m.next_point_ns) {
			follow(&m, now);
		}
		int64_t jumped = jump(&m, now);
		if (now >= m.next_poll_ns && now >= m.awake_ns) {
			poll(&m, now);
		}
		sim_clock_turn(out, &m.cap, now, jumped, rate_now(&m, now));
		now = next_ns(&m, now);
		if (now > end && now > m.awake_ns) {
			break;
		}
	}
	free(m.change);
}

struct sim_clock *sim_options_clocks(const struct sim_options *o)
{
	struct sim_clock *clock = usk_alloc(o->hosts, sizeof *clock);
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_options_clock(o, h, &clock[h]);
	}
	return clock;
}

void sim_clocks_free(struct sim_clock *clock, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sim_clock_free(&clock[i]);
	}
	free(clock);
}
