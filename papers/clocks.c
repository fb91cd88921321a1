/* SPDX-License-Identifier: MIT */
/*
 * clocks.c - the experiments of the papers that read clocks, simulated, as CSV for kong.py and
 * loeser.py
 *
 * In    which, and its numbers
 * Out   rows; the same arguments give the same ones
 * Not   what real processes measure of this machine (real.c)
 */
#include "../tests/sim/bus.h"
#include "../tests/sim/cable.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_pair(void *ctx, const struct bus_pair *p)
{
	(void)ctx;
	printf("%" PRId64 ",%" PRId64 ",%u\n", p->at_ns / 1000, p->took_ns / 1000, p->between);
}

/* ROUTINE READERS BITS PAIRS INTERRUPTS SEED */
static struct bus_plan bus_plan(char *const *arg)
{
	static const char *const routines[] = { "varying", "four", "one" };
	struct bus_plan plan = { .readers = (unsigned)atoi(arg[1]),
				 .bits = (unsigned)atoi(arg[2]),
				 .pairs = (unsigned)atoi(arg[3]),
				 .interrupts = atoi(arg[4]),
				 .gap_ns = 1000000,
				 .seed = strtoull(arg[5], NULL, 10) };
	for (size_t i = 0; i < COUNT(routines); i++) {
		if (!strcmp(arg[0], routines[i])) {
			plan.routine = (enum counter_routine)i;
		}
	}
	return plan;
}

static void print_run(void *ctx, const struct bus_run *run)
{
	const int64_t *t = run->stamps.t_ns;
	(void)ctx;
	printf("%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%.1f\n", t[1] / 1000,
	       t[2] / 1000, t[3] / 1000, run->begin_ns / 1000, run->end_ns / 1000,
	       (double)usk_elapsed(&run->stamps).net_2 / 2000);
}

/* Something measured by method I. */
static int measured(char *const *arg)
{
	struct bus_plan plan = bus_plan(arg);
	puts("t1_us,t2_us,t3_us,begin_us,end_us,net_us");
	bus_measure(&plan, atol(arg[6]) * 1000, print_run, NULL);
	return 0;
}

/* Times of pairs of reads. */
static int pairs(char *const *arg)
{
	struct bus_plan plan = bus_plan(arg);
	puts("at_us,took_us,between");
	bus_run(&plan, print_pair, NULL);
	return 0;
}

/* Variances of compensated times, as drawn and as equations 4 and 5 have them. */
static int factors(char *const *arg)
{
	struct usk_rng r;
	int wanted = atoi(arg[0]);
	size_t samples = (size_t)atol(arg[1]);
	usk_rng_seed(&r, strtoull(arg[2], NULL, 10));
	puts("rho_12,rho_13,rho_14,rho_23,rho_24,rho_34,eq4,seen4,eq5,seen5,mean_error");
	while (wanted) {
		struct usk_read_noise n = { .sigma = { 1000, 500, 500, 1000 } };
		noise_draw(&r, &n);
		if (elapsed_variance_halves(&n) < 0.05 || usk_elapsed_variance_short(&n) < 0.05) {
			continue;
		}
		wanted--;
		struct noise_factors f = noise_sample(&r, &n, samples);
		printf("%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.5f,%.5f,", n.rho_12, n.rho_13, n.rho_14,
		       n.rho_23, n.rho_24, n.rho_34, 1 / elapsed_variance_halves(&n),
		       f.improvement);
		double mean_error = f.mean_error;
		n.sigma[1] = 0; /* nothing was measured */
		n.sigma[2] = 1000;
		f = noise_sample(&r, &n, samples);
		printf("%.5f,%.5f,%.6f\n", 1 / usk_elapsed_variance_short(&n), f.improvement,
		       mean_error);
	}
	return 0;
}

/* ---- a line of parallel ports, simulated ---------------------------------------------------- */

struct rounds {
	const struct cable_plan *plan;
	long n;
	int64_t good_ns;
};

static void print_rounds(struct line *l, void *ctx)
{
	const struct rounds *rounds = ctx;
	struct line_tie t = line_tie_of(l);
	t.good_ticks = rounds->good_ns;
	t.attempts = 1;
	puts("round,good,half_trip_ns,precision_ns,error_ns,ahead_precision_ns,ahead_error_ns,"
	     "before,"
	     "remote,after");
	for (long i = 1; i <= rounds->n; i++) {
		struct line_round r;
		line_tie_round(&t, &r);
		int64_t now = l->time_ns(l), next = now + (r.good ? 2000000000 : 1000000000);
		if (!r.good) {
			printf("%ld,0,,,,,,,,\n", i);
		} else {
			/* Just before the next round a stamp of theirs is converted. */
			struct usk_live_time at = { 0 }, ahead = { 0 };
			int64_t precision = -1, error = 0, ahead_error = 0;
			if (r.mapped &&
			    usk_live_map_at(&t.map, cable_theirs(rounds->plan, now), &at) ==
				    USK_LIVE &&
			    usk_live_map_at(&t.map, cable_theirs(rounds->plan, next), &ahead) ==
				    USK_LIVE) {
				precision = ahead.precision;
				error = at.local - now;
				ahead_error = ahead.local - next;
			}
			printf("%ld,1,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
			       ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
			       i, (r.s.after - r.s.before) / 2, at.precision, error, precision,
			       ahead_error, r.s.before, r.s.remote, r.s.after);
		}
		l->pause(l, next - now);
	}
}

static int line(char *const *arg)
{
	struct cable_plan plan = { .seed = strtoull(arg[3], NULL, 10),
				   .pin_ns = 900,
				   .pin_more_ns = 200,
				   .clock_ns = 30,
				   .held_up = atof(arg[1]),
				   .longest_ns = 1000000,
				   .offset_ns = 3600000000000,
				   .faster_e9 = 80000,
				   .swings = true };
	struct rounds rounds = { &plan, atol(arg[0]), atol(arg[2]) };
	cable_run(&plan, print_rounds, &rounds);
	return 0;
}

/* ---- his fixed point and ours ------------------------------------------------------------------
 */

/* Exchanges without jitter 2 s apart, and a stamp that is 100 s old: what rounding alone costs. */
static int arithmetic(char *const *arg)
{
	static const int64_t hz[] = { 50000000, 1000000000, 4000000000 };
	(void)arg;
	puts("theirs_hz,ours_hz,his_ticks,his_bound_ticks,ours_ticks");
	for (size_t i = 0; i < COUNT(hz) * COUNT(hz); i++) {
		int64_t theirs = hz[i / 3], ours = hz[i % 3];
		/* A ratio that no binary fraction has. */
		int64_t gone = 2 * ours + ours / 30011, n = 2 * theirs, age = 100 * theirs;
		struct usk_three_stamps x = { 0, 0, 0 }, y = { gone, n, gone };
		struct usk_live_map m;
		struct usk_live_time t;
		if (usk_live_map_of(&x, &y, 0, age, &m, NULL) ||
		    usk_live_map_at(&m, n + age, &t) != USK_LIVE) {
			return 1;
		}
		/* gone + gone * age / n, as a whole and a rest */
		usk_i128 exact = (usk_i128)gone * age;
		int64_t whole = (int64_t)(exact / n);
		double rest = (double)(exact % n) / (double)n;
		uint64_t conv = ((uint64_t)gone << 25) / (uint64_t)n;
		int64_t his = (int64_t)((usk_u128)conv * (uint64_t)age >> 25);
		printf("%" PRId64 ",%" PRId64 ",%.2f,%.2f,%.2f\n", theirs, ours,
		       fabs((double)(whole - his) + rest), (double)age / (1 << 25),
		       fabs((double)(gone + whole - t.local) + rest));
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char *const *arg);
		const char *usage;
	} rows[] = {
		{ "pairs", 6, pairs, "varying|four|one READERS BITS PAIRS INTERRUPTS SEED" },
		{ "measured", 7, measured,
		  "varying|four|one READERS BITS PAIRS INTERRUPTS SEED TAKES-US" },
		{ "factors", 3, factors, "N SAMPLES SEED" },
		{ "line", 4, line, "ROUNDS HELD-UP GOOD-NS SEED" },
		{ "arithmetic", 0, arithmetic, "" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (argc > 1 && !strcmp(argv[1], rows[i].name) && argc - 2 == rows[i].args) {
			return rows[i].run(argv + 2);
		}
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		fprintf(stderr, "%s %s %s\n", argv[0], rows[i].name, rows[i].usage);
	}
	return 2;
}
