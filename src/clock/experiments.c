/* SPDX-License-Identifier: MIT */
/*
 * experiments.c - speed of the cores, lateness of timers, the tick that suits a clock
 *
 * Source  Kong, Spector and Siewiorek 1986, sections 3.3 and 4.3; Clement 2009, figure 3
 */
#include "clock/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

/* ---- cores ----------------------------------------------------------------------------- */

static void *same_work(void *ctx)
{
	enum { RUNS = 21, STEPS = 200000 };
	struct core *c = ctx;
	struct samples took = { .n = 0 };
	cpu_pin(c->cpu);
	uint64_t x = 1;
	for (int i = 0; i < RUNS; i++) {
		int64_t start = usk_clock_ns(CLOCK_MONOTONIC);
		for (int k = 0; k < STEPS; k++) {
			x = usk_mix(x + (uint64_t)k);
		}
		samples_add(&took, (double)(usk_clock_ns(CLOCK_MONOTONIC) - start));
	}
	/* The fastest: how fast the core is, whatever else it is asked to do. */
	c->work_ns = samples_figures(&took).min + (x == 42);
	return NULL;
}

size_t cores_measure(struct core out[CPUS_MAX])
{
	int cpu[CPUS_MAX];
	size_t n = cpus_usable(cpu), m = 0;
	for (size_t i = 0; i < n; i++) {
		/* A thread of its own, so that the caller stays where it may run. */
		pthread_t thread;
		out[m] = (struct core){ .cpu = cpu[i] };
		if (!pthread_create(&thread, NULL, same_work, &out[m])) {
			pthread_join(thread, NULL);
			m++;
		}
	}
	return m;
}

/* ---- timers ---------------------------------------------------------------------------- */

struct figures wakeups_measure(size_t n)
{
	const int64_t period_ns = 1000000;
	struct samples late = { .n = 0 };
	int64_t at = usk_clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < n; i++) {
		at += period_ns;
		const struct timespec until = { at / 1000000000, at % 1000000000 };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
			continue;
		}
		int64_t now = usk_clock_ns(CLOCK_MONOTONIC);
		samples_add(&late, (double)(now - at));
		at = now - at > period_ns ? now : at; /* one that was missed is one, not many */
	}
	return samples_figures(&late);
}

/* ---- ticks ----------------------------------------------------------------------------- */

double tick_for(double deviation_ns)
{
	return deviation_ns >= 1 ? exp2(floor(log2(deviation_ns))) : 0;
}
