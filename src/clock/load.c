/* SPDX-License-Identifier: MIT */
/*
 * load.c - pairs of threads that send each other messages: those that are measured, and their load
 *
 * In    a channel between two threads, a size, how many others do the same
 * Out   net round trips, one-way times by one clock, and zero elapsed time, measured in between
 * Why   the load is the same once more, as often as one likes: so what is measured is what waiting
 *       for one's like costs
 *
 * Source  Kong, Spector and Siewiorek 1986, section 4.1: replicate the experiment, and measure
 *         once the start is over; section 5
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

/* One who asks, and a thread that answers until the asker's end is closed. A pipe has one
 * descriptor for each direction. */
struct pair {
	size_t bytes, n;   /* n: of received, which is NULL if nobody wants to know */
	int64_t *received; /* when each request was there */
	const struct source *source;
	int in[2], out[2]; /* of the asker, of the other */
	pthread_t thread;
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

static bool open_channel(struct pair *p, enum channel c)
{
	int fd[2], back[2];
	if (c == CHANNEL_PIPE	? pipe2(fd, O_CLOEXEC)
	    : c == CHANNEL_UNIX ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)
				: !tcp_pair(fd)) {
		return false;
	}
	if (c == CHANNEL_PIPE && pipe2(back, O_CLOEXEC)) {
		close(fd[0]);
		close(fd[1]);
		return false;
	}
	bool one_way = c == CHANNEL_PIPE;
	p->in[0] = one_way ? back[0] : fd[0];
	p->out[0] = one_way ? fd[1] : fd[0];
	p->in[1] = one_way ? fd[0] : fd[1];
	p->out[1] = one_way ? back[1] : fd[1];
	return true;
}

static void close_end(const struct pair *p, int i)
{
	close(p->in[i]);
	if (p->out[i] != p->in[i]) {
		close(p->out[i]);
	}
}

static bool receive(const struct pair *p, int i, char *text)
{
	return usk_read_most(p->in[i], -1, text, p->bytes) == (ssize_t)p->bytes;
}

static void *answer(void *ctx)
{
	const struct pair *p = ctx;
	char *text = usk_alloc(p->bytes, 1);
	for (size_t i = 0; receive(p, 1, text); i++) {
		if (i < p->n) {
			p->received[i] = p->source->read(p->source);
		}
		if (!usk_write_all(p->out[1], text, p->bytes)) {
			break;
		}
	}
	free(text);
	return NULL;
}

static bool pair_open(struct pair *p, enum channel c)
{
	if (!open_channel(p, c)) {
		return false;
	}
	if (pthread_create(&p->thread, NULL, answer, p)) {
		close_end(p, 0);
		close_end(p, 1);
		return false;
	}
	return true;
}

static bool round_trip(const struct pair *p, char *text)
{
	return usk_write_all(p->out[0], text, p->bytes) && receive(p, 0, text);
}

static void pair_close(struct pair *p)
{
	close_end(p, 0); /* the other sees the end */
	pthread_join(p->thread, NULL);
	close_end(p, 1);
}

/* ---- as many of them as one likes ---------------------------------------------------------- */

/* A thread that reads the clock, or one that asks. */
struct worker {
	struct load *load;
	struct pair pair;
	pthread_t thread;
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
	char *text = usk_alloc(w->pair.bytes, 1);
	while (goes_on(w) && round_trip(&w->pair, text)) {
		continue;
	}
	free(text);
	return NULL;
}

static bool start(struct worker *w)
{
	const struct load_plan *p = &w->load->plan;
	bool talks = p->work == WORK_MESSAGE;
	w->pair.bytes = p->bytes;
	if (talks && !pair_open(&w->pair, p->channel)) {
		return false;
	}
	bool started = !pthread_create(&w->thread, NULL, talks ? ask : read_clock, w);
	if (talks && !started) {
		pair_close(&w->pair);
	}
	return started;
}

struct load *load_start(const struct load_plan *p)
{
	struct load *l = usk_alloc(1, sizeof *l);
	l->plan = *p;
	l->worker = usk_alloc(p->n + 1, sizeof *l->worker);
	for (bool good = true; l->started < p->n && good; l->started += good) {
		l->worker[l->started].load = l;
		good = start(&l->worker[l->started]);
	}
	if (l->started) {
		const int64_t start_up_ns = 50000000;
		usk_sleep_ns(start_up_ns);
	}
	return l;
}

void load_stop(struct load *l)
{
	atomic_store(&l->stop, true);
	for (unsigned i = 0; i < l->started; i++) {
		pthread_join(l->worker[i].thread, NULL);
		if (l->plan.work == WORK_MESSAGE) {
			pair_close(&l->worker[i].pair);
		}
	}
	free(l->worker);
	free(l);
}

/* ---- one that is measured ------------------------------------------------------------------ */

/* Round trips, and nothing right after each: the check of the compensation, in every run. */
static bool measure(const struct pair *pair, size_t n, struct runs *trips, struct runs *nothing)
{
	char *text = usk_alloc(pair->bytes, 1);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		runs_before(trips);
		good = round_trip(pair, text);
		runs_after(trips);
		runs_before(nothing);
		runs_after(nothing);
	}
	free(text);
	return good;
}

static void figures_of(const struct runs *trips, const struct runs *nothing,
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
}

static void measure_alone(const struct exchange_plan *p, struct exchange_figures *out)
{
	struct pair pair = { .bytes = p->bytes, .n = p->n, .source = p->source };
	pair.received = usk_alloc(p->n, sizeof *pair.received);
	if (pair_open(&pair, p->channel)) {
		struct runs trips, nothing;
		runs_begin(&trips, p->source, p->best || p->how == METHOD_2);
		runs_begin(&nothing, p->source, false);
		bool good = measure(&pair, p->n, &trips, &nothing);
		pair_close(&pair);
		runs_end(&trips);
		if (good) {
			nothing.sampler = trips.sampler; /* one for both */
			figures_of(&trips, &nothing, pair.received, p, out);
			nothing.sampler = NULL;
		}
		runs_free(&trips);
		runs_free(&nothing);
	}
	free(pair.received);
}

void exchange_measure(const struct exchange_plan *p, struct exchange_figures *out)
{
	const struct load_plan others = {
		.work = WORK_MESSAGE, .channel = p->channel, .bytes = p->bytes, .n = p->load
	};
	struct load *load = load_start(&others);
	*out = (struct exchange_figures){ .known = false };
	if (load->started == p->load) {
		measure_alone(p, out);
	}
	load_stop(load);
}
