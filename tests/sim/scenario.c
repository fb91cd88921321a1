/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - draw a scenario from a seed
 *
 * Small and large, easy and nasty alike: most sizes are log-uniform, and what is a limit in the
 * answer is often met exactly. In a third of those that state a wander it is the smallest that the
 * clocks keep, and some clocks swing between two rates, since a random walk hardly ever goes to its
 * limits where it hurts.
 */
#include "scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND	  INT64_C(1000000000)
#define E12	  INT64_C(1000000000000)
#define DEFAULT_W INT64_C(100000) /* 0.1 ppm */

static double unit(struct usk_rng *r)
{
	return usk_rng_unit(r);
}

static bool chance(struct usk_rng *r, double p)
{
	return unit(r) < p;
}

static double log_between(struct usk_rng *r, double low, double high)
{
	return low * pow(high / low, unit(r));
}

static int64_t pick(struct usk_rng *r, int64_t n)
{
	return (int64_t)usk_rng_below(r, (uint64_t)n);
}

static int64_t either_sign(struct usk_rng *r, double x)
{
	return chance(r, 0.5) ? llround(x) : -llround(x);
}

/* What is asked for: one rate; a stated wander; the default; segments of a length, or where the
 * rates change. */
enum kind { LINEAR, WANDERS, DEFAULT, SEGMENTED, AUTO };

/* How many of them jump as well. Segments of a length promise nothing then. */
static const double jump[] = { [LINEAR] = 0.2, [WANDERS] = 0.35, [DEFAULT] = 0.5, [AUTO] = 0.9 };

static enum kind draw_kind(struct usk_rng *r)
{
	double x = unit(r);
	return x < 0.13	  ? LINEAR
	       : x < 0.45 ? WANDERS
	       : x < 0.9  ? DEFAULT
	       : x < 0.94 ? SEGMENTED
			  : AUTO;
}

/* ---- clocks ----------------------------------------------------------------------------- */

enum { OFFSET, DRIFT, WANDER, FLICKER, AGEING, HEAT, POLL, STEPS, LOAD, LOAD_LEAST };

static struct sim_list list_of(struct scenario *s, int k)
{
	return (struct sim_list){ s->list[k], s->o.hosts };
}

/* How a clock bends, by about w parts in 10^12; 0: not at all. */
static void draw_bend(struct scenario *s, struct usk_rng *r, uint32_t host, double w)
{
	double seconds = (double)s->o.duration_ns * 1e-9, size = w * 1e3 * (0.05 + unit(r));
	struct sim_series *series;
	switch (w > 0 ? pick(r, 8) : 0) {
	case 1:
		s->list[WANDER][host] = llround(size / sqrt(seconds));
		break;
	case 2:
		s->list[FLICKER][host] = llround(size / 4);
		break;
	case 3:
		s->list[AGEING][host] = either_sign(r, fmin(size / seconds * 86400, 9e10));
		break;
	case 4:
		s->list[HEAT][host] = llround(size / 1e3);
		s->o.temperature_ns =
			llround((double)s->o.duration_ns * log_between(r, 0.05, 3)) + 1000000;
		break;
	case 5:
		s->list[POLL][host] =
			llround((double)s->o.duration_ns * log_between(r, 0.02, 0.5)) + 1000000;
		s->o.slew_e12 = llround(size / 1e3);
		s->o.poll_error_ns = llround(log_between(r, 10, 1e6));
		break;
	case 6:
	case 7: /* swings between two rates */
		series = &((struct sim_series *)(uintptr_t)s->o.series)[s->o.n_series++];
		series->host = host;
		series->n = 2 + (size_t)pick(r, 12);
		series->path = usk_format("host%u.csv", host);
		series->point = usk_alloc(series->n, sizeof *series->point);
		for (size_t i = 1; i < series->n; i++) {
			struct sim_error_point *p = &series->point[i];
			double run = seconds / (double)series->n * 2 * unit(r);
			double rise = run * size * 1e-6 * (i % 2 ? 1 : -1); /* ns a second */
			p->after_ns = p[-1].after_ns + 1000 + llround(run * 1e9);
			p->ahead_ns = p[-1].ahead_ns + llround(rise);
		}
		break;
	default:
		break;
	}
}

static void draw_clocks(struct scenario *s, struct usk_rng *r, double w)
{
	struct sim_options *o = &s->o;
	double skew = chance(r, 0.2) ? 249e6 : log_between(r, 1e2, 1e8);
	for (uint32_t h = 0; h < o->hosts; h++) {
		bool plain = !h && chance(r, 0.6); /* a good clock, as servers have */
		double far = log_between(r, 1, chance(r, 0.2) ? 1e18 : 1e11);
		s->list[OFFSET][h] = plain ? 0 : either_sign(r, far);
		s->list[DRIFT][h] = plain ? 0 : either_sign(r, skew * unit(r));
		if (!plain) {
			draw_bend(s, r, h, w / 2);
		}
	}
	o->offset_ns = list_of(s, OFFSET);
	o->drift_e12 = list_of(s, DRIFT);
	o->wander_e15 = list_of(s, WANDER);
	o->flicker_e15 = list_of(s, FLICKER);
	o->ageing_e15 = list_of(s, AGEING);
	o->temperature_e12 = list_of(s, HEAT);
	o->poll_ns = list_of(s, POLL);
	o->steps = list_of(s, STEPS);
}

/* What a time daemon does to a clock that it is content with for minutes: it takes 0.01 to 0.2 ms a
 * second off it, for a while, once or twice. */
static void draw_slew(struct scenario *s, struct usk_rng *r)
{
	uint32_t host = (uint32_t)pick(r, s->o.hosts);
	struct sim_series *series = &((struct sim_series *)(uintptr_t)s->o.series)[s->o.n_series];
	for (size_t i = 0; i < s->o.n_series; i++) {
		if (s->series[i].host == host) {
			return;
		}
	}
	size_t slews = 1 + (size_t)pick(r, 2);
	s->o.n_series++;
	series->host = host;
	series->path = usk_format("host%u.csv", host);
	series->point = usk_alloc(2 * slews + 2, sizeof *series->point);
	series->n = 2 * slews + 2;
	struct sim_error_point *p = series->point;
	double part = (double)s->o.duration_ns / (double)slews;
	for (size_t i = 0; i < slews; i++, p += 2) {
		double length = fmin(part / 8, log_between(r, 5e8, 1e10));
		double rate = log_between(r, 1e-5, 2e-4);
		p[1].after_ns = (int64_t)(part * ((double)i + 0.1 + 0.7 * unit(r)));
		p[1].ahead_ns = p[0].ahead_ns;
		p[2].after_ns = p[1].after_ns + 1 + llround(length);
		p[2].ahead_ns = p[1].ahead_ns + either_sign(r, length * rate);
	}
	/* Quiet to the end: after the last point a recorded clock keeps its mean rate. */
	p[1] = (struct sim_error_point){ s->o.duration_ns, p[0].ahead_ns };
}

/*
 * Jumps at any moments, of one clock or of several, forward, back or asleep. A set-back is by far
 * more than lies between two rows of a clock, so that stamps repeat, or of any size, so that it may
 * lie in a pause.
 */
static void draw_steps(struct scenario *s, struct usk_rng *r)
{
	struct sim_options *o = &s->o;
	bool several = chance(r, 0.6);
	o->step = s->step;
	o->n_steps = 1 + (size_t)pick(r, several ? 5 : 3);
	uint32_t host = (uint32_t)pick(r, o->hosts);
	for (size_t i = 0; i < o->n_steps; i++) {
		double part = (double)o->duration_ns / (double)o->n_steps;
		double size = log_between(r, 2e5, 1e9);
		host = several ? (uint32_t)pick(r, o->hosts) : host;
		s->step[i] = (struct sim_step){ .host = host };
		s->step[i].after_ns = (int64_t)(part * ((double)i + 0.2 + 0.6 * unit(r)));
		if (chance(r, 0.15)) {
			s->step[i].sleep = true;
			s->step[i].size_ns = llround(fmin(size, part / 8));
		} else if (chance(r, 0.5)) {
			s->step[i].size_ns = llround(size);
		} else if (chance(r, 0.5)) {
			s->step[i].size_ns = -llround(size);
		} else {
			s->step[i].size_ns = -llround(fmax(size, 100e9 / o->rate));
		}
	}
}

/* ---- traffic ---------------------------------------------------------------------------- */

static void draw_topology(struct scenario *s, struct usk_rng *r)
{
	static const enum sim_topology rows[] = { SIM_MESH, SIM_MESH, SIM_STAR,	 SIM_CHAIN,
						  SIM_RING, SIM_TREE, SIM_DENSE, SIM_SPARSE };
	struct sim_options *o = &s->o;
	o->hosts = chance(r, 0.5) ? 2 : 3 + (uint32_t)pick(r, SCENARIO_HOSTS - 2);
	o->topology = o->hosts == 2 ? SIM_MESH : rows[pick(r, COUNT(rows))];
	o->neighbours = 2;
	o->one_way = o->topology == SIM_RING && chance(r, 0.4);
}

static size_t pairs_of(const struct sim_options *o)
{
	uint32_t n = o->hosts;
	return o->topology == SIM_MESH || o->topology == SIM_DENSE || o->topology == SIM_SPARSE
		       ? n * (n - 1) / 2
		       : n;
}

static void draw_network(struct scenario *s, struct usk_rng *r)
{
	struct sim_options *o = &s->o;
	/* What takes less than a stamp is exact to counts for nothing: there is no such message. */
	o->dmin = (struct usk_delay_model){ 3000, 0, 0 };
	if (!chance(r, 0.1)) {
		o->dmin.base_ps = 1000 * llround(log_between(r, 100, 2e7));
	}
	if (chance(r, 0.2)) {
		o->dmin.first_ps = pick(r, 20000000);
		o->dmin.per_byte_ps = pick(r, 2000000);
	}
	o->tail_ns = chance(r, 0.05) ? 0 : llround(log_between(r, 100, 1e7));
	o->asym_ns = chance(r, 0.3) ? llround(log_between(r, 100, 5e6)) : 0;
	o->heavy = chance(r, 0.3) ? 0.2 * unit(r) : 0;
	o->loss = chance(r, 0.2) ? 0.3 * unit(r) : 0;
	if (chance(r, 0.1)) {
		for (uint32_t h = 0; h < o->hosts; h++) {
			s->list[LOAD][h] = chance(r, 0.5) ? llround(log_between(r, 1e3, 1e6)) : 0;
			s->list[LOAD_LEAST][h] = chance(r, 0.5) ? pick(r, 100000) : 0;
		}
		o->load_ns = list_of(s, LOAD);
		o->load_least_ns = list_of(s, LOAD_LEAST);
		o->load_heavy = chance(r, 0.3) ? 0.1 : 0;
	}
}

static void draw_traffic(struct scenario *s, struct usk_rng *r)
{
	struct sim_options *o = &s->o;
	bool capture = chance(r, 0.08);
	o->format = capture ? chance(r, 0.5) ? SIM_PCAP : SIM_PCAPNG : SIM_TABLE;
	o->traffic = o->one_way ? SIM_UDP : (enum sim_traffic)pick(r, 4);
	o->duration_ns = llround(log_between(r, 1e9, capture ? 6e11 : 8.64e13));
	double messages = log_between(r, 6, chance(r, 0.2) ? 18000 : 3000);
	double seconds = (double)o->duration_ns * 1e-9;
	o->rate = messages / seconds / (double)(2 * pairs_of(o));
	o->rate = capture && o->rate < 1 ? fmin(1, 3000 / seconds) : o->rate;
	if (chance(r, 0.1)) {
		o->period_ns = 1 + llround(1e9 / o->rate);
	}
	if (!o->one_way && chance(r, 0.15)) {
		o->answer_ns = llround(log_between(r, 1e3, 1e8));
	}
	o->resolution_ns = chance(r, 0.25) ? 1000 : 1;
	if (!capture && chance(r, 0.15)) {
		o->start_ns = chance(r, 0.5) ? 1000 * SECOND : INT64_C(3500000000000000000);
	}
}

/* ---- what is asked for -------------------------------------------------------------------- */

/* The widest swing of a pair, in parts of 10^12, rounded up. */
static int64_t widest_e12(const struct scenario *s, int64_t *skew_e12, int64_t *slowest_e12)
{
	const struct sim_options *o = &s->o;
	struct sim_clock clock[SCENARIO_HOSTS];
	int64_t most = 0, end = o->start_ns + o->duration_ns;
	*skew_e12 = *slowest_e12 = 0;
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_options_clock(o, h, &clock[h]);
		for (size_t i = 0; i < clock[h].n; i++) {
			int64_t rate = clock[h].piece[i].rate_e12;
			*slowest_e12 = rate < *slowest_e12 ? rate : *slowest_e12;
		}
	}
	for (uint32_t a = 0; a < o->hosts; a++) {
		for (uint32_t b = 0; b < o->hosts; b++) {
			int64_t x = sim_clocks_wander_e18(&clock[a], &clock[b], o->start_ns, end);
			struct sim_slopes p =
				sim_clocks_slopes(&clock[a], &clock[b], o->start_ns, end);
			int64_t skew =
				(p.max_e18 > -p.min_e18 ? p.max_e18 : -p.min_e18) / 1000000 + 1;
			x = x > 1 ? x : 0; /* one rate, rounded outwards */
			x = (x + 999999) / 1000000;
			most = x > most ? x : most;
			*skew_e12 = skew > *skew_e12 ? skew : *skew_e12;
		}
	}
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_clock_free(&clock[h]);
	}
	return most;
}

/* Of the true least, as the slowest clock counts it. */
static void draw_min_delay(struct scenario *s, struct usk_rng *r, int64_t slowest_e12)
{
	if (!chance(r, 0.4)) {
		return;
	}
	double share = chance(r, 0.5) ? 1 : unit(r);
	share *= 1 + (double)(slowest_e12 - 1) * 1e-12;
	struct usk_delay_model m = s->o.dmin;
	/* A receiver's stamp is cut to whole ns, and so is the model. */
	m.base_ps = (int64_t)((double)m.base_ps * share) - 2000;
	m.first_ps = (int64_t)((double)m.first_ps * share);
	m.per_byte_ps = (int64_t)((double)m.per_byte_ps * share);
	if (m.base_ps > 0) {
		s->min_delay = usk_delay_model_text(&m);
	}
}

static char *ppm_text(int64_t e12)
{
	uint64_t size = e12 < 0 ? -(uint64_t)e12 : (uint64_t)e12;
	return usk_format("%s%llu.%06llu", e12 < 0 ? "-" : "", (unsigned long long)(size / 1000000),
			  (unsigned long long)(size % 1000000));
}

static void draw_model(struct scenario *s, struct usk_rng *r, enum kind kind, int64_t w,
		       int64_t widest)
{
	char *ppm;
	switch (kind) {
	case LINEAR:
		s->model = usk_strdup("linear");
		break;
	case WANDERS:
		w = chance(r, 0.4) && widest ? widest : w; /* the least that they keep to */
		ppm = ppm_text(w < 1000000000 ? w : 1000000000);
		s->model = usk_format("wander=%s", ppm);
		free(ppm);
		break;
	case SEGMENTED:
		s->model = usk_format("segments=%lldns", (long long)(log_between(r, 0.05, 2) *
								     (double)s->o.duration_ns));
		break;
	case AUTO:
		s->model = usk_strdup("segments=auto");
		break;
	case DEFAULT:
		break;
	}
}

static void draw_wishes(struct scenario *s, struct usk_rng *r, enum kind kind, int64_t w)
{
	static const char *const methods[] = { "middle", "hull", "support", "regress" };
	static const char *const hosts[] = { "host0", "host1" };
	int64_t skew, slowest, widest = widest_e12(s, &skew, &slowest);
	draw_model(s, r, kind, w, widest);
	if (chance(r, 0.15) && skew > 1000) {
		s->max_skew_e12 = skew;
	}
	s->method = chance(r, 0.75) ? NULL : methods[pick(r, COUNT(methods))];
	double stamps = s->o.rate * (double)s->o.duration_ns * 1e-9;
	s->resolution = s->o.resolution_ns > 1 && s->o.format == SIM_TABLE &&
			(stamps < 60 || chance(r, 0.5));
	s->reference = chance(r, 0.7) ? NULL : hosts[pick(r, 2)];
	draw_min_delay(s, r, slowest);
	s->solve = s->o.hosts > 2 && chance(r, 0.25) ? "tree" : NULL;
}

/* Captures hold no stamps before 1970 or, in pcap, after 2106: then the clocks are a year off at
 * most. Everything else may be anywhere. */
static void keep_readable(struct scenario *s)
{
	for (uint32_t h = 0; h < s->o.hosts; h++) {
		int64_t *offset = &s->list[OFFSET][h];
		while (s->o.format != SIM_TABLE && llabs(*offset) > INT64_C(30000000) * SECOND) {
			*offset /= 10;
		}
	}
}

void scenario_draw(struct scenario *s, uint64_t seed, const char *model, const char *solve)
{
	struct usk_rng r;
	memset(s, 0, sizeof *s);
	usk_rng_seed(&r, usk_mix(seed ^ UINT64_C(0x63616d706169676e)));
	s->seed = seed;
	sim_options_init(&s->o);
	s->o.seed = seed;
	s->o.series = s->series;
	draw_topology(s, &r);
	draw_traffic(s, &r);
	draw_network(s, &r);
	enum kind kind = draw_kind(&r);
	int64_t w = kind == WANDERS ? llround(log_between(&r, 1e3, 1e7)) : DEFAULT_W;
	double bend = (double)w * (chance(&r, 0.8) ? unit(&r) : 3 * unit(&r));
	bool straight = kind == LINEAR || kind == SEGMENTED || kind == AUTO;
	if (straight || (kind == DEFAULT && chance(&r, 0.3))) {
		bend = 0;
	}
	draw_clocks(s, &r, bend);
	keep_readable(s);
	if (kind == DEFAULT && chance(&r, 0.15)) {
		draw_slew(s, &r);
	}
	if (chance(&r, jump[kind])) {
		double seconds = (double)s->o.duration_ns * 1e-9 * (double)pairs_of(&s->o);
		s->o.rate = fmax(s->o.rate, fmin(30, 9000 / seconds));
		s->o.period_ns = s->o.period_ns ? 1 + llround(1e9 / s->o.rate) : 0;
		draw_steps(s, &r);
	}
	draw_wishes(s, &r, kind, w);
	if (model) {
		free(s->model);
		s->model = usk_strdup(model);
	}
	s->solve = solve ? solve : s->solve;
}

void scenario_free(struct scenario *s)
{
	for (size_t i = 0; i < s->o.n_series; i++) {
		sim_series_free(&s->series[i]);
	}
	free(s->model);
	free(s->min_delay);
}
