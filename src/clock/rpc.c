/* SPDX-License-Identifier: MIT */
/*
 * rpc.c - time for messages: one way, and there and back
 *
 * In    a channel between two threads, a size, a load
 * Out   net round trips, one-way times by one clock, and zero elapsed time, measured in between
 * Why   the load is the same once more, as often as one likes: so what is measured is what waiting
 *       for one's like costs
 *
 * Source  Kong, Spector and Siewiorek 1986, section 5
 */
#include "clock/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
	size_t bytes, n;   /* n: of received, which is NULL if nobody asks */
	int64_t *received; /* when each request was there */
};

static void *serve(void *ctx)
{
	struct server *s = ctx;
	char *text = usk_alloc(s->bytes, 1);
	for (size_t i = 0; all(read, s->ends->in[1], text, s->bytes); i++) {
		if (i < s->n) {
			s->received[i] = s->source->read(s->source);
		}
		if (!all(write_some, s->ends->out[1], text, s->bytes)) {
			break;
		}
	}
	free(text);
	return NULL;
}

/* ---- the same once more, as load ----------------------------------------------------------- */

struct replica {
	struct ends ends;
	struct server server;
	pthread_t thread[2];
	size_t bytes;
	atomic_bool *stop;
};

static void *ask(void *ctx)
{
	struct replica *r = ctx;
	char *text = usk_alloc(r->bytes, 1);
	while (!atomic_load_explicit(r->stop, memory_order_relaxed) &&
	       all(write_some, r->ends.out[0], text, r->bytes) &&
	       all(read, r->ends.in[0], text, r->bytes)) {
		continue;
	}
	ends_close(&r->ends, 0); /* the server sees the end */
	free(text);
	return NULL;
}

static bool replica_start(struct replica *r, enum channel c, size_t bytes, atomic_bool *stop)
{
	if (!ends_open(c, &r->ends)) {
		return false;
	}
	r->bytes = bytes;
	r->stop = stop;
	r->server = (struct server){ .ends = &r->ends, .bytes = bytes };
	if (pthread_create(&r->thread[1], NULL, serve, &r->server)) {
		ends_close(&r->ends, 0);
		ends_close(&r->ends, 1);
		return false;
	}
	if (pthread_create(&r->thread[0], NULL, ask, r)) {
		ends_close(&r->ends, 0);
		pthread_join(r->thread[1], NULL);
		ends_close(&r->ends, 1);
		return false;
	}
	return true;
}

static void replica_join(struct replica *r)
{
	pthread_join(r->thread[0], NULL);
	pthread_join(r->thread[1], NULL);
	ends_close(&r->ends, 1);
}

/* ---- measured ---------------------------------------------------------------------------- */

/* Round trips, and nothing right after each: the check of the compensation, in every run. */
static bool exchange_run(const struct ends *e, size_t bytes, size_t n, struct runs *trips,
			 struct runs *nothing)
{
	char *text = usk_alloc(bytes, 1);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		runs_before(trips);
		good = all(write_some, e->out[0], text, bytes) && all(read, e->in[0], text, bytes);
		runs_after(trips);
		runs_before(nothing);
		runs_after(nothing);
	}
	free(text);
	return good;
}

static void exchange_figures_of(const struct runs *trips, const struct runs *nothing,
				const int64_t *received, const struct exchange_plan *p,
				struct exchange_figures *out)
{
	struct samples net = { .n = 0 }, way = { .n = 0 };
	zero_figures(nothing, &out->zero);
	out->how = p->best ? out->zero.best : p->how;
	runs_net(trips, out->how, &net);
	for (size_t i = 0; i < trips->n; i++) {
		samples_add(&way,
			    (double)(received[i] - trips->run[i].t_ns[1]) * p->source->ns_per_tick);
	}
	out->known = true;
	out->rpc = samples_figures(&net);
	out->latency = samples_figures(&way);
	samples_free(&net);
	samples_free(&way);
}

static void exchange_alone(const struct exchange_plan *p, struct exchange_figures *out)
{
	struct ends e;
	if (!ends_open(p->channel, &e)) {
		return;
	}
	struct server s = { &e, p->source, p->bytes, p->n, usk_alloc(p->n, sizeof *s.received) };
	pthread_t thread;
	if (pthread_create(&thread, NULL, serve, &s)) {
		ends_close(&e, 0);
		ends_close(&e, 1);
		free(s.received);
		return;
	}
	struct runs trips, nothing;
	runs_begin(&trips, p->source, p->best || p->how == METHOD_2);
	runs_begin(&nothing, p->source, false);
	bool good = exchange_run(&e, p->bytes, p->n, &trips, &nothing);
	ends_close(&e, 0);
	pthread_join(thread, NULL);
	ends_close(&e, 1);
	runs_end(&trips);
	if (good) {
		nothing.sampler = trips.sampler; /* one for both */
		exchange_figures_of(&trips, &nothing, s.received, p, out);
		nothing.sampler = NULL;
	}
	runs_free(&trips);
	runs_free(&nothing);
	free(s.received);
}

void exchange_measure(const struct exchange_plan *p, struct exchange_figures *out)
{
	struct replica *r = usk_alloc(p->load ? p->load : 1, sizeof *r);
	atomic_bool stop = false;
	unsigned started = 0;
	*out = (struct exchange_figures){ .known = false };
	while (started < p->load && replica_start(&r[started], p->channel, p->bytes, &stop)) {
		started++;
	}
	if (started) {
		const struct timespec start_up = { 0, 20000000 };
		nanosleep(&start_up, NULL);
	}
	if (started == p->load) {
		exchange_alone(p, out);
	}
	atomic_store(&stop, true);
	while (started) {
		replica_join(&r[--started]);
	}
	free(r);
}
