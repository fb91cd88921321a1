/* SPDX-License-Identifier: MIT */
/*
 * log.c - what `unskew record` would have written beside a host's capture
 *
 * In    options; the host's clock, and the same oscillator without whoever steers it
 * Out   HOST.clock.csv, as src/clock/log.h has it
 * Why   a log is worth what it takes off the band of clocks whose truth is known
 *
 * Reads take some 40 ns, now and then much longer; lines come up to 0.2 ms late, and those of a
 * clock that is set some 0.1 ms after it was.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define E12    INT64_C(1000000000000)
/* The machine had been up for a day. */
#define UP_NS (86400 * SECOND)

struct moment {
	int64_t ns;
	bool set;
};

/* Nothing but its quartz; it stands still when its host sleeps. */
static void raw_clock(const struct sim_options *o, uint32_t host, struct sim_clock *out)
{
	struct sim_options raw = *o;
	struct sim_step *sleep = usk_alloc(o->n_steps + 1, sizeof *sleep);
	raw.n_steps = raw.n_series = 0;
	raw.poll_ns = raw.steps = raw.offset_ns = (struct sim_list){ 0 };
	for (size_t i = 0; i < o->n_steps; i++) {
		if (o->step[i].sleep) {
			sleep[raw.n_steps++] = o->step[i];
		}
	}
	raw.step = sleep;
	sim_options_clock(&raw, host, out);
	free(sleep);
}

static void write_line(struct usk_output *out, const struct sim_options *o,
		       const struct sim_clock *real, const struct sim_clock *raw, struct moment at,
		       struct usk_rng *r)
{
	int64_t first = 15 + (int64_t)usk_rng_below(r, 10),
		second = 15 + (int64_t)usk_rng_below(r, 10);
	if (!usk_rng_below(r, 50)) {
		second += (int64_t)usk_rng_exponential(r, 3000);
	}
	int64_t less = o->start_ns - UP_NS, a = sim_clock_piece(real, at.ns)->rate_e12,
		b = sim_clock_piece(raw, at.ns)->rate_e12;
	int64_t rate = (int64_t)(((usk_i128)a - b) * E12 / (E12 + b));
	usk_output_format(out, "realtime,%lld,%lld,%lld,%lld,1,%s\n",
			  (long long)(sim_clock_read(raw, at.ns) - less),
			  (long long)sim_clock_read(real, at.ns + first),
			  (long long)(sim_clock_read(raw, at.ns + first + second) - less),
			  (long long)rate, at.set ? "set" : "");
}

static int by_time(const void *pa, const void *pb)
{
	const struct moment *a = pa, *b = pb;
	int order = usk_order(a->ns, b->ns);
	return order ? order : usk_order(a->set, b->set);
}

enum usk_status sim_log(const struct sim_options *o, uint32_t host, const char *dir, bool force,
			struct usk_err *err)
{
	struct usk_output out;
	char name[32];
	snprintf(name, sizeof name, "host%u.clock.csv", host);
	enum usk_status status = world_file(&out, dir, name, force, err);
	if (status) {
		return status;
	}
	struct sim_clock real, raw;
	struct usk_rng r;
	struct moment *at = NULL;
	size_t n = 0, cap = 0;
	sim_options_clock(o, host, &real);
	raw_clock(o, host, &raw);
	usk_rng_seed(&r, usk_mix(o->seed + usk_mix(UINT64_C(0x6c6f67) + host)));
	int64_t from = o->start_ns - SECOND, to = o->start_ns + o->duration_ns + 2 * SECOND;
	for (int64_t t = from; t <= to; t += SECOND) {
		int64_t late = t + (int64_t)usk_rng_below(&r, 200000);
		at = usk_room(at, n, &cap, sizeof *at);
		at[n++] = (struct moment){ late, false };
	}
	for (size_t i = 0; i < real.n_jumps; i++) {
		double late = 50e3 + usk_rng_exponential(&r, 50e3);
		at = usk_room(at, n, &cap, sizeof *at);
		at[n++] = (struct moment){ real.jump[i].true_ns + (int64_t)late, true };
	}
	qsort(at, n, sizeof *at, by_time);
	/* A line that comes before the clock's own has seen it, too. */
	for (size_t i = 0, k = 0; i < n; i++) {
		while (k < real.n_jumps && real.jump[k].true_ns <= at[i].ns) {
			at[i].set = true;
			k++;
		}
	}
	usk_output_format(&out,
			  "# unskew clock log, raw clock of boot simulated-host%u, host host%u\n"
			  "clock,before_ns,time_ns,after_ns,rate_e12,status,event\n",
			  host, host);
	int64_t last = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		/* A line takes a while; who is asleep writes none. */
		at[i].ns = at[i].ns > last + 100000 || !i ? at[i].ns : last + 100000;
		if (!sim_clock_asleep(&real, at[i].ns)) {
			write_line(&out, o, &real, &raw, at[i], &r);
			last = at[i].ns;
		}
	}
	free(at);
	sim_clock_free(&real);
	sim_clock_free(&raw);
	return usk_output_commit(&out, err);
}
