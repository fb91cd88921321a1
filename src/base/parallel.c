/* SPDX-License-Identifier: MIT */
/*
 * parallel.c - work handed out to threads, in stretches or as one piece
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_THREADS = 64 };

struct pool {
	size_t n, step;
	atomic_size_t next;
	void (*work)(void *ctx, size_t from, size_t to);
	void *ctx;
};

unsigned usk_processors(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	return n < 1 ? 1 : (unsigned)n;
}

static void *take(void *arg)
{
	struct pool *p = arg;
	for (;;) {
		size_t from = atomic_fetch_add(&p->next, p->step);
		if (from >= p->n) {
			return NULL;
		}
		p->work(p->ctx, from, p->n - from < p->step ? p->n : from + p->step);
	}
}

void usk_parallel(size_t n, size_t step, unsigned threads,
		  void (*work)(void *ctx, size_t from, size_t to), void *ctx)
{
	struct pool p = { .n = n, .step = step ? step : 1, .work = work, .ctx = ctx };
	pthread_t helper[MOST_THREADS];
	unsigned wanted = threads ? threads : usk_processors(), started = 0;
	wanted = wanted > MOST_THREADS ? MOST_THREADS : wanted;
	/* Where no more threads are to be had, fewer do it. */
	while (started + 1 < wanted && (started + 1) * p.step < n &&
	       !pthread_create(&helper[started], NULL, take, &p)) {
		started++;
	}
	take(&p);
	while (started) {
		pthread_join(helper[--started], NULL);
	}
}

struct usk_beside {
	void (*work)(void *ctx);
	void *ctx;
	pthread_t thread;
	bool started;
};

static void *work_beside(void *ctx)
{
	const struct usk_beside *b = ctx;
	b->work(b->ctx);
	return NULL;
}

struct usk_beside *usk_beside_begin(void (*work)(void *ctx), void *ctx)
{
	struct usk_beside *b = usk_alloc(1, sizeof *b);
	*b = (struct usk_beside){ .work = work, .ctx = ctx };
	b->started = usk_processors() > 1 && !pthread_create(&b->thread, NULL, work_beside, b);
	return b;
}

void usk_beside_end(struct usk_beside *b)
{
	if (b && b->started) {
		pthread_join(b->thread, NULL);
	} else if (b) {
		b->work(b->ctx);
	}
	free(b);
}
