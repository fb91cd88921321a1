/* SPDX-License-Identifier: MIT */
/*
 * table.c - messages alone, without packets: long spans and many messages in no time
 *
 * In    options: topology, rate, delays, loss, clocks
 * Out   messages.csv in order of sending
 * Not   anything that only captures show
 */
#include "world.h"

#include <stdlib.h>

static uint32_t draw_bytes(struct world *w)
{
	return w->o->bytes > 16 ? message_bytes(w) : 16;
}

enum usk_status table_run(const struct sim_options *o, const char *path, bool force,
			  struct sim_result *result, struct usk_err *err)
{
	struct usk_output out;
	enum usk_status status = usk_output_open(&out, path, force, err);
	if (status) {
		return status;
	}
	struct world w = { .o = o, .now_ns = o->start_ns, .end_ns = o->start_ns + o->duration_ns };
	usk_rng_seed(&w.traffic, o->seed);
	usk_rng_seed(&w.network, ~o->seed);
	struct sim_clock *clock = usk_alloc(o->hosts, sizeof *clock);
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_options_clock(o, h, &clock[h]);
	}
	w.n_paths = sim_paths(o, &w.path);
	ledger_header(&out);
	double gap = 1e9 / o->rate;
	for (uint32_t i = 0; i < w.n_paths; i++) {
		queue_push(&w.queue, w.now_ns + pause_ns(&w, gap), EVENT_REQUEST, i);
	}
	while (w.queue.heap[0].at_ns <= w.end_ns) {
		struct event e = queue_pop(&w.queue);
		uint32_t i = e.what & 0xfffffff;
		const struct path *p = &w.path[i];
		uint32_t bytes = draw_bytes(&w);
		int64_t arrival = e.at_ns + net_delay(o, &w.network, p);
		bool lost = o->loss > 0 && usk_rng_unit(&w.network) < o->loss;
		if (!lost && arrival <= w.end_ns) {
			ledger_row(&out, p->from, p->to, sim_clock_read(&clock[p->from], e.at_ns),
				   sim_clock_read(&clock[p->to], arrival), bytes, w.next_id, true);
			result->messages++;
			result->unambiguous++;
		}
		w.next_id++;
		queue_push(&w.queue, e.at_ns + pause_ns(&w, gap), EVENT_REQUEST, i);
	}
	for (uint32_t h = 0; h < o->hosts; h++) {
		sim_clock_free(&clock[h]);
	}
	free(clock);
	free(w.queue.heap);
	free(w.path);
	return usk_output_commit(&out, err);
}
