/* SPDX-License-Identifier: MIT */
/*
 * parallel.c - work handed out to threads, in stretches or as one piece
 */
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

/* ---- beside ---------------------------------------------------------------------------- */

struct usk_helpers {
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	struct usk_job *first, *last; /* that wait */
	bool over;
	unsigned n;
	pthread_t thread[MOST_THREADS];
};

static void *help(void *ctx)
{
	struct usk_helpers *h = ctx;
	pthread_mutex_lock(&h->lock);
	for (;;) {
		while (!h->first && !h->over) {
			pthread_cond_wait(&h->begun, &h->lock);
		}
		struct usk_job *j = h->first;
		if (!j) {
			break;
		}
		h->first = j->next;
		j->state = USK_JOB_RUNS;
		pthread_mutex_unlock(&h->lock);
		j->work(j->ctx);
		pthread_mutex_lock(&h->lock);
		j->state = USK_JOB_NONE;
		pthread_cond_signal(&h->done); /* to the one who begins and ends all jobs */
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

struct usk_helpers *usk_helpers_new(unsigned most)
{
	struct usk_helpers *h = usk_alloc(1, sizeof *h);
	const unsigned others = usk_processors() - 1;
	most = most < others ? most : others;
	most = most < MOST_THREADS ? most : MOST_THREADS;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->begun, NULL);
	pthread_cond_init(&h->done, NULL);
	/* Signals are for the threads that were there before. */
	sigset_t all, was;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	while (h->n < most && !pthread_create(&h->thread[h->n], NULL, help, h)) {
		h->n++;
	}
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return h;
}

void usk_helpers_free(struct usk_helpers *h)
{
	if (!h) {
		return;
	}
	pthread_mutex_lock(&h->lock);
	h->over = true;
	pthread_cond_broadcast(&h->begun);
	pthread_mutex_unlock(&h->lock);
	for (unsigned i = 0; i < h->n; i++) {
		pthread_join(h->thread[i], NULL);
	}
	pthread_cond_destroy(&h->begun);
	pthread_cond_destroy(&h->done);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

unsigned usk_helpers_number(const struct usk_helpers *h)
{
	return h->n;
}

void usk_job_begin(struct usk_helpers *h, struct usk_job *j, void (*work)(void *ctx), void *ctx)
{
	*j = (struct usk_job){ .work = work, .ctx = ctx, .state = USK_JOB_WAITS };
	if (!h->n) {
		return;
	}
	pthread_mutex_lock(&h->lock);
	*(h->first ? &h->last->next : &h->first) = j;
	h->last = j;
	pthread_cond_signal(&h->begun);
	pthread_mutex_unlock(&h->lock);
}

/* Out of those that wait. */
static void withdraw(struct usk_helpers *h, const struct usk_job *j)
{
	struct usk_job *before = NULL;
	for (struct usk_job *i = h->first; i != j; i = i->next) {
		before = i;
	}
	*(before ? &before->next : &h->first) = j->next;
	h->last = h->last == j ? before : h->last;
}

/* What no helper has come to, and none will. */
static bool takes_back(struct usk_helpers *h, struct usk_job *j)
{
	pthread_mutex_lock(&h->lock);
	const bool waits = j->state == USK_JOB_WAITS;
	if (waits) {
		withdraw(h, j);
	}
	while (j->state == USK_JOB_RUNS) {
		pthread_cond_wait(&h->done, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return waits;
}

void usk_job_end(struct usk_helpers *h, struct usk_job *j)
{
	if (h->n ? takes_back(h, j) : j->state == USK_JOB_WAITS) {
		j->work(j->ctx);
	}
	j->state = USK_JOB_NONE;
}
