/* SPDX-License-Identifier: MIT */
/*
 * load.c - the load under which something is measured: threads that do the same
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.1: replicate the experiment, and measure
 *         once the start is over
 */
#include "base/io.h"
#include "clock/clock.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- two threads and a channel ------------------------------------------------------------- */

const char *channel_name(enum channel c)
{
	static const char *const name[] = { "pipe", "unix socket", "tcp" };
	return name[c];
}

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

bool ends_open(enum channel c, struct ends *e)
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

void ends_close(const struct ends *e, int i)
{
	close(e->in[i]);
	if (e->out[i] != e->in[i]) {
		close(e->out[i]);
	}
}

void *server_run(void *ctx)
{
	struct server *s = ctx;
	char *text = usk_alloc(s->bytes, 1);
	for (size_t i = 0; usk_read_all(s->ends->in[1], text, s->bytes); i++) {
		if (i < s->n) {
			s->received[i] = s->source->read(s->source);
		}
		if (!usk_write_all(s->ends->out[1], text, s->bytes)) {
			break;
		}
	}
	free(text);
	return NULL;
}

/* ---- as many of them as one likes ---------------------------------------------------------- */

/* A thread that reads the clock, or one that asks and its server. */
struct worker {
	struct load *load;
	struct ends ends;
	struct server server;
	pthread_t thread[2];
};

struct load {
	struct load_plan plan;
	struct worker *worker;
	unsigned started;
	atomic_bool stop;
};

static bool goes_on(const struct worker *w)
{
	return !atomic_load_explicit(&w->load->stop, memory_order_relaxed);
}

static void *read_clock(void *ctx)
{
	struct worker *w = ctx;
	const struct source *s = w->load->plan.source;
	uint64_t sum = 0;
	while (goes_on(w)) {
		for (int i = 0; i < 100; i++) {
			sum += (uint64_t)s->read(s);
		}
	}
	return sum == 42 ? ctx : NULL; /* so that the reads are not optimised away */
}

static void *ask(void *ctx)
{
	struct worker *w = ctx;
	size_t bytes = w->server.bytes;
	char *text = usk_alloc(bytes, 1);
	while (goes_on(w) && usk_write_all(w->ends.out[0], text, bytes) &&
	       usk_read_all(w->ends.in[0], text, bytes)) {
		continue;
	}
	ends_close(&w->ends, 0); /* the server sees the end */
	free(text);
	return NULL;
}

static bool start_pair(struct worker *w)
{
	const struct load_plan *p = &w->load->plan;
	if (!ends_open(p->channel, &w->ends)) {
		return false;
	}
	w->server = (struct server){ .ends = &w->ends, .bytes = p->bytes };
	bool serves = !pthread_create(&w->thread[1], NULL, server_run, &w->server);
	if (serves && !pthread_create(&w->thread[0], NULL, ask, w)) {
		return true;
	}
	ends_close(&w->ends, 0);
	if (serves) {
		pthread_join(w->thread[1], NULL);
	}
	ends_close(&w->ends, 1);
	return false;
}

struct load *load_start(const struct load_plan *p)
{
	struct load *l = usk_alloc(1, sizeof *l);
	l->plan = *p;
	l->worker = usk_alloc(p->n + 1, sizeof *l->worker);
	for (bool good = true; l->started < p->n && good; l->started += good) {
		struct worker *w = &l->worker[l->started];
		w->load = l;
		good = p->work == WORK_READ ? !pthread_create(&w->thread[0], NULL, read_clock, w)
					    : start_pair(w);
	}
	if (l->started) {
		const int64_t start_up_ns = 50000000;
		usk_sleep_ns(start_up_ns);
	}
	return l;
}

bool load_is_whole(const struct load *l)
{
	return l->started == l->plan.n;
}

void load_stop(struct load *l)
{
	atomic_store(&l->stop, true);
	for (unsigned i = 0; i < l->started; i++) {
		struct worker *w = &l->worker[i];
		pthread_join(w->thread[0], NULL);
		if (l->plan.work == WORK_MESSAGE) {
			pthread_join(w->thread[1], NULL);
			ends_close(&w->ends, 1);
		}
	}
	free(l->worker);
	free(l);
}
