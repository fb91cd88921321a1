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
	size_t bytes, n; /* n: of received, which is NULL if nobody wants to know */
	/* When each request was there, by two reads: they say what a read cost there and then. */
	struct pair_of_reads {
		int64_t first, second;
	} * received;
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
			p->received[i].first = p->source->read(p->source);
			p->received[i].second = p->source->read(p->source);
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

/* What is measured in one go, and the thread that samples for all of it. */
struct measured {
	struct runs trips, ways, nothing;
};

/* Round trips, the way there, and nothing right after each: the check of the compensation, in every
 * run. */
static bool measure(const struct pair *pair, size_t n, struct measured *m)
{
	char *text = usk_alloc(pair->bytes, 1);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		const struct pair_of_reads *there = &pair->received[i];
		int64_t *t = runs_before(&m->trips);
		two_reads(pair->source, t);
		good = round_trip(pair, text);
		two_reads(pair->source, t + 2);
		runs_after(&m->trips);
		runs_add(&m->ways,
			 &(struct usk_four_stamps){ { t[0], t[1], there->first, there->second } });
		runs_nothing(&m->nothing);
	}
	free(text);
	return good;
}

/* Net times, and of how many runs; of none if they are too few. */
static struct figures net_figures(const struct runs *r, enum compensation how, uint64_t *kept)
{
	struct samples net = { .n = 0 };
	runs_net(r, how, &net);
	*kept = net.n;
	if (!runs_enough(net.n, r->n)) {
		samples_free(&net);
	}
	return samples_figures(&net);
}

static void measure_pair(struct pair *pair, const struct exchange_plan *p, struct measured *m,
			 struct exchange_figures *out)
{
	bool good = measure(pair, p->n, m);
	pair_close(pair);
	if (good) {
		zero_figures(&m->nothing, &out->zero);
		out->known = true;
		out->how = p->best ? out->zero.best : p->how;
		out->runs = m->trips.n;
		out->rpc = net_figures(&m->trips, out->how, &out->rpc_kept);
		out->latency = net_figures(&m->ways, out->how, &out->latency_kept);
	}
}

static void measure_alone(const struct exchange_plan *p, struct exchange_figures *out)
{
	struct pair pair = { .bytes = p->bytes, .n = p->n, .source = p->source };
	pair.received = usk_alloc(p->n, sizeof *pair.received);
	if (pair_open(&pair, p->channel)) {
		struct sampler *sampler =
			p->best || p->how == METHOD_2 ? sampler_start(p->source) : NULL;
		struct measured m;
		runs_begin(&m.trips, p->source, sampler);
		runs_begin(&m.ways, p->source, sampler);
		runs_begin(&m.nothing, p->source, sampler);
		m.nothing.nothing = true;
		measure_pair(&pair, p, &m, out);
		sampler_stop(sampler);
		runs_free(&m.trips);
		runs_free(&m.ways);
		runs_free(&m.nothing);
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
