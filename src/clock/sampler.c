/* SPDX-License-Identifier: MIT */
/*
 * sampler.c - the clock process: reads the clock twice, again and again, beside what is measured
 *
 * In    a signal before each run and one after it
 * Out   the pair of reads nearest to a moment of the run: how long it took, how far away it lies
 * Why   a read costs more under load, and two reads on another processor at that moment say how
 *       much without being in the way of the run itself
 * Not   which pairs are good enough to compensate by (net.c)
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.5: the run signals the clock process, which
 *         starts to read
 *
 * His computer modules have a process each. Here the thread keeps to one processor, and whoever
 * measures keeps off it: on one they would read by turns, each while the other cannot.
 */
#include "clock/clock.h"

#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

/* As many as some 10 ms give: what comes later in a run has no pair. */
enum { PAIRS_MAX = 65536 };

struct pair_read {
	int64_t at, took;
};

struct sampler {
	const struct source *source;
	pthread_t thread;
	int cpu;
	cpu_set_t before; /* where the measuring thread could run */
	sem_t go;
	atomic_bool stop, asleep; /* asleep: go has to be posted */
	/* Runs by number: the one to read for, the one that is read for, the last that is over. */
	_Atomic uint64_t wanted, begun, ended;
	int64_t waited_ns; /* for it to read, in all */
	_Atomic size_t n;
	struct pair_read pair[PAIRS_MAX];
};

static void read_pair(struct sampler *p, uint64_t run)
{
	size_t n = atomic_load(&p->begun) == run ? atomic_load(&p->n) : 0;
	int64_t first = p->source->read(p->source), second = p->source->read(p->source);
	if (n < PAIRS_MAX) {
		p->pair[n] = (struct pair_read){ first, second - first };
		atomic_store(&p->n, n + 1);
		atomic_store(&p->begun, run);
	}
}

static bool is_wanted(const struct sampler *p)
{
	return atomic_load(&p->wanted) > atomic_load(&p->ended) || atomic_load(&p->stop);
}

static void wake(struct sampler *p)
{
	if (atomic_exchange(&p->asleep, false)) {
		sem_post(&p->go);
	}
}

/* The next run may come at once, and on a loaded machine who sleeps is not back soon. */
static void rest(struct sampler *p)
{
	const int64_t linger_ns = 50000;
	int64_t until = usk_clock_ns(CLOCK_MONOTONIC) + linger_ns;
	while (!is_wanted(p) && usk_clock_ns(CLOCK_MONOTONIC) < until) {
		continue;
	}
	atomic_store(&p->asleep, true);
	/* Either it is seen here that there is a run, or whoever wants it sees that we sleep. */
	if (!is_wanted(p) || !atomic_exchange(&p->asleep, false)) {
		sem_wait(&p->go);
	}
}

static void *sample(void *ctx)
{
	struct sampler *p = ctx;
	cpu_pin(p->cpu);
	while (!atomic_load(&p->stop)) {
		uint64_t run = atomic_load(&p->wanted);
		if (run > atomic_load(&p->ended)) {
			read_pair(p, run);
		} else {
			rest(p);
		}
	}
	return NULL;
}

/* Any processor but the one that we are on; -1: there is none. */
static int another_cpu(void)
{
	int cpu[CPUS_MAX], here = sched_getcpu();
	size_t n = cpus_usable(cpu);
	while (n && cpu[n - 1] == here) {
		n--;
	}
	return n ? cpu[n - 1] : -1;
}

struct sampler *sampler_start(const struct source *source)
{
	struct sampler *p = usk_alloc(1, sizeof *p);
	p->source = source;
	p->cpu = another_cpu();
	sem_init(&p->go, 0, 0);
	cpu_set_t rest;
	if (p->cpu < 0 || sched_getaffinity(0, sizeof p->before, &p->before) ||
	    pthread_create(&p->thread, NULL, sample, p)) {
		sem_destroy(&p->go);
		free(p);
		return NULL;
	}
	rest = p->before;
	CPU_CLR((size_t)p->cpu, &rest);
	sched_setaffinity(0, sizeof rest, &rest);
	return p;
}

void sampler_stop(struct sampler *p)
{
	if (!p) {
		return;
	}
	atomic_store(&p->stop, true);
	wake(p);
	pthread_join(p->thread, NULL);
	sched_setaffinity(0, sizeof p->before, &p->before);
	sem_destroy(&p->go);
	free(p);
}

void sampler_run(struct sampler *p)
{
	/* It reads at this very moment, or is asked once more: each may lose its processor while
	 * the other waits. Giving ours away would not help it, as it has its own. A machine so
	 * loaded that they never have them both is measured without it. */
	const int64_t moment_ns = 3000, patience_ns = 20000000, patience_in_all_ns = 1000000000;
	int64_t start = usk_clock_ns(CLOCK_MONOTONIC), now = start, was = 0;
	bool reads = false;
	uint64_t run = 0;
	while (!reads && now - start < patience_ns &&
	       p->waited_ns + now - start < patience_in_all_ns) {
		if (now - was > moment_ns) {
			run = atomic_load(&p->wanted) + 1;
			atomic_store(&p->wanted, run);
			wake(p);
		}
		reads = atomic_load(&p->begun) == run;
		was = now;
		now = usk_clock_ns(CLOCK_MONOTONIC);
	}
	p->waited_ns += now - start;
}

void sampler_rest(struct sampler *p)
{
	atomic_store(&p->ended, atomic_load(&p->wanted));
}

static int64_t away(const struct pair_read *p, int64_t at)
{
	return at < p->at ? p->at - at : at > p->at + p->took ? at - p->at - p->took : 0;
}

struct beside sampler_nearest(const struct sampler *p, int64_t at)
{
	bool any = atomic_load(&p->begun) == atomic_load(&p->wanted);
	size_t n = any ? atomic_load(&p->n) : 0, lo;
	USK_FIRST(lo, 0, n, p->pair[lo].at >= at);
	if (!n) {
		return (struct beside){ .away = INT64_MAX };
	}
	size_t best = lo < n ? lo : n - 1;
	if (lo && away(&p->pair[lo - 1], at) <= away(&p->pair[best], at)) {
		best = lo - 1;
	}
	return (struct beside){ p->pair[best].at, p->pair[best].took, away(&p->pair[best], at) };
}
