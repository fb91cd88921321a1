/* SPDX-License-Identifier: MIT */
/*
 * experiments.c - speed of the cores, lateness of timers
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.3; Clement 2009, figure 3
 */
#include "clock/clock.h"

#include <errno.h>

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ---- cores ----------------------------------------------------------------------------- */

static void *same_work(void *ctx)
{
	enum { RUNS = 21, STEPS = 200000 };
	struct core *c = ctx;
	struct samples took = { .n = 0 };
	cpu_pin(c->cpu);
	uint64_t x = 1;
	for (int i = 0; i < RUNS; i++) {
		int64_t start = now_ns();
		for (int k = 0; k < STEPS; k++) {
			x = usk_mix(x + (uint64_t)k);
		}
		samples_add(&took, (double)(now_ns() - start));
	}
	/* The fastest: how fast the core is, whatever else it is asked to do. */
	c->work_ns = samples_figures(&took).min + (x == 42);
	samples_free(&took);
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
	int64_t at = now_ns();
	for (size_t i = 0; i < n; i++) {
		at += period_ns;
		const struct timespec until = { at / 1000000000, at % 1000000000 };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
			continue;
		}
		int64_t now = now_ns();
		samples_add(&late, (double)(now - at));
		at = now - at > period_ns ? now : at; /* one that was missed is one, not many */
	}
	struct figures f = samples_figures(&late);
	samples_free(&late);
	return f;
}
