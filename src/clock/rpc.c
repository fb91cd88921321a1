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
#include "base/io.h"
#include "clock/clock.h"

#include <stdlib.h>

/* Round trips, and nothing right after each: the check of the compensation, in every run. */
static bool exchange_run(const struct ends *e, size_t bytes, size_t n, struct runs *trips,
			 struct runs *nothing)
{
	char *text = usk_alloc(bytes, 1);
	bool good = true;
	for (size_t i = 0; i < n && good; i++) {
		runs_before(trips);
		good = usk_write_all(e->out[0], text, bytes) && usk_read_all(e->in[0], text, bytes);
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
}

static void exchange_alone(const struct exchange_plan *p, struct exchange_figures *out)
{
	struct ends e;
	if (!ends_open(p->channel, &e)) {
		return;
	}
	struct server s = { &e, p->source, p->bytes, p->n, usk_alloc(p->n, sizeof *s.received) };
	pthread_t thread;
	if (pthread_create(&thread, NULL, server_run, &s)) {
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
	const struct load_plan others = {
		.work = WORK_MESSAGE, .channel = p->channel, .bytes = p->bytes, .n = p->load
	};
	struct load *load = load_start(&others);
	*out = (struct exchange_figures){ .known = false };
	if (load_is_whole(load)) {
		exchange_alone(p, out);
	}
	load_stop(load);
}
