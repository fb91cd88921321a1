/* SPDX-License-Identifier: MIT */
/*
 * load.c - the load under which something is measured: threads that do the same
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.1: replicate the experiment, and measure
 *         once the start is over
 */
#include "clock/clock.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct worker {
	struct load *load;
	pthread_t thread;
	int fd; /* of a messenger, else -1 */
	bool first;
};

struct load {
	const struct source *source;
	enum work work;
	struct worker *worker;
	size_t n, started;
	atomic_bool stop;
};

static void *read_clock(void *ctx)
{
	struct worker *w = ctx;
	const struct source *s = w->load->source;
	uint64_t sum = 0;
	while (!atomic_load_explicit(&w->load->stop, memory_order_relaxed)) {
		for (int i = 0; i < 100; i++) {
			sum += (uint64_t)s->read(s);
		}
	}
	return sum == 42 ? ctx : NULL; /* so that the reads are not optimised away */
}

static void *send_messages(void *ctx)
{
	struct worker *w = ctx;
	char c = 0;
	if (w->first && send(w->fd, &c, 1, MSG_NOSIGNAL) != 1) {
		return NULL;
	}
	/* The other end is shut down to stop. */
	while (recv(w->fd, &c, 1, 0) == 1 && send(w->fd, &c, 1, MSG_NOSIGNAL) == 1) {
		continue;
	}
	return NULL;
}

struct load *load_start(enum work work, unsigned n, const struct source *source)
{
	struct load *l = usk_alloc(1, sizeof *l);
	size_t threads = l->n = work == WORK_READ ? n : 2 * (size_t)n;
	l->source = source;
	l->work = work;
	l->worker = usk_alloc(threads, sizeof *l->worker);
	for (size_t i = 0; i < threads; i++) {
		struct worker *w = &l->worker[i];
		*w = (struct worker){ .load = l, .fd = -1, .first = i % 2 == 0 };
	}
	for (size_t i = 0; i < threads && work == WORK_MESSAGE; i += 2) {
		int fd[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
			break;
		}
		l->worker[i].fd = fd[0];
		l->worker[i + 1].fd = fd[1];
	}
	for (size_t i = 0; i < threads; i++) {
		struct worker *w = &l->worker[i];
		if ((work == WORK_MESSAGE && w->fd < 0) ||
		    pthread_create(&w->thread, NULL, work == WORK_READ ? read_clock : send_messages,
				   w)) {
			break;
		}
		l->started++;
	}
	const struct timespec start_up = { 0, 50000000 };
	nanosleep(&start_up, NULL);
	return l;
}

void load_stop(struct load *l)
{
	if (!l) {
		return;
	}
	atomic_store(&l->stop, true);
	for (size_t i = 0; i < l->n; i++) {
		if (l->worker[i].fd >= 0) {
			shutdown(l->worker[i].fd, SHUT_RDWR);
		}
	}
	for (size_t i = 0; i < l->started; i++) {
		pthread_join(l->worker[i].thread, NULL);
	}
	for (size_t i = 0; i < l->n; i++) {
		if (l->worker[i].fd >= 0) {
			close(l->worker[i].fd);
		}
	}
	free(l->worker);
	free(l);
}
