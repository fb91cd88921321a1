/* SPDX-License-Identifier: MIT */
/*
 * experiments.c - speed of the cores, lateness of timers, time for messages
 *
 * Source  Kong, Spector and Siewiorek 1986, sections 4.3 and 5; Clement 2009, figure 3
 */
#include "clock/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	c->work_ns = samples_figures(&took).median + (x == 42);
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

/* ---- messages --------------------------------------------------------------------------- */

const char *channel_name(enum channel c)
{
	static const char *const name[] = { "pipe", "unix socket", "tcp" };
	return name[c];
}

/* Two ends; a pipe has one descriptor for each direction. */
struct ends {
	int in[2], out[2];
};

static bool tcp_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof a;
	int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd[0] = fd[1] = -1;
	if (listener >= 0 && !bind(listener, (struct sockaddr *)&a, sizeof a) &&
	    !listen(listener, 1) && !getsockname(listener, (struct sockaddr *)&a, &size)) {
		fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd[0] >= 0 && !connect(fd[0], (struct sockaddr *)&a, sizeof a)) {
			fd[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		}
	}
	for (int i = 0; i < 2 && fd[1] >= 0; i++) {
		setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	}
	if (listener >= 0) {
		close(listener);
	}
	if (fd[1] < 0 && fd[0] >= 0) {
		close(fd[0]);
	}
	return fd[1] >= 0;
}

static bool ends_open(enum channel c, struct ends *e)
{
	int fd[2], back[2];
	if (c == CHANNEL_PIPE) {
		if (pipe2(fd, O_CLOEXEC)) {
			return false;
		}
		if (pipe2(back, O_CLOEXEC)) {
			close(fd[0]);
			close(fd[1]);
			return false;
		}
		*e = (struct ends){ { back[0], fd[0] }, { fd[1], back[1] } };
		return true;
	}
	if (c == CHANNEL_UNIX ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)
			      : !tcp_pair(fd)) {
		return false;
	}
	*e = (struct ends){ { fd[0], fd[1] }, { fd[0], fd[1] } };
	return true;
}

static void ends_close(const struct ends *e, int i)
{
	close(e->in[i]);
	if (e->out[i] != e->in[i]) {
		close(e->out[i]);
	}
}

static bool all(ssize_t (*io)(int, void *, size_t), int fd, char *p, size_t n)
{
	while (n) {
		ssize_t m = io(fd, p, n);
		if (m < 0 && errno == EINTR) {
			continue;
		}
		if (m <= 0) {
			return false;
		}
		p += m;
		n -= (size_t)m;
	}
	return true;
}

static ssize_t write_some(int fd, void *p, size_t n)
{
	return write(fd, p, n);
}

struct server {
	const struct ends *ends;
	const struct source *source;
	size_t bytes, n;
	int64_t *received; /* when each request was there */
};

static void *serve(void *ctx)
{
	struct server *s = ctx;
	char *text = usk_alloc(s->bytes, 1);
	for (size_t i = 0; i < s->n && all(read, s->ends->in[1], text, s->bytes); i++) {
		s->received[i] = s->source->read(s->source);
		if (!all(write_some, s->ends->out[1], text, s->bytes)) {
			break;
		}
	}
	free(text);
	return NULL;
}

void exchange_measure(enum channel c, size_t bytes, size_t n, const struct source *source,
		      enum compensation how, struct exchange_figures *out)
{
	struct ends e;
	*out = (struct exchange_figures){ .known = false };
	if (!ends_open(c, &e)) {
		return;
	}
	struct server s = { &e, source, bytes, n, usk_alloc(n, sizeof *s.received) };
	pthread_t thread;
	if (pthread_create(&thread, NULL, serve, &s)) {
		ends_close(&e, 0);
		ends_close(&e, 1);
		free(s.received);
		return;
	}
	struct runs r;
	runs_begin(&r, source, how == METHOD_2);
	char *text = usk_alloc(bytes, 1);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		runs_before(&r);
		good = all(write_some, e.out[0], text, bytes) && all(read, e.in[0], text, bytes);
		runs_after(&r);
	}
	ends_close(&e, 0);
	pthread_join(thread, NULL);
	ends_close(&e, 1);
	runs_end(&r);
	if (good) {
		struct samples net = { .n = 0 }, way = { .n = 0 };
		runs_net(&r, how, &net);
		for (size_t i = 0; i < n; i++) {
			samples_add(&way, (double)(s.received[i] - r.run[i].t_ns[1]) *
						  source->ns_per_tick);
		}
		*out = (struct exchange_figures){ true, samples_figures(&net),
						  samples_figures(&way) };
		samples_free(&net);
		samples_free(&way);
	}
	runs_free(&r);
	free(text);
	free(s.received);
}
