/* SPDX-License-Identifier: MIT */
/*
 * table.c - messages alone, without packets: long spans and many messages in no time
 *
 * In    options: topology, rate, delays, loss, clocks
 * Out   messages in order of sending; messages.csv and broadcasts.csv
 * Not   anything that only captures show
 */
#include "world.h"

#include <stdlib.h>

struct table {
	struct world w;
	const struct sim_clock *clock;
	double gap_ns, broadcast_gap_ns;
	void (*take)(void *ctx, const struct sim_message *m);
	void *ctx;
};

static uint32_t draw_bytes(struct world *w)
{
	return w->o->bytes > 16 ? message_bytes(w) : 16;
}

/* One message to one receiver, unless it gets lost; perhaps an answer. */
static void pass(struct table *t, uint32_t path, int64_t left_ns, int64_t arrived_ns,
		 uint32_t bytes, bool broadcast)
{
	const struct path *p = &t->w.path[path];
	const struct sim_clock *to = &t->clock[p->to];
	struct usk_rng *r = &t->w.network;
	bool lost = t->w.o->loss > 0 && usk_rng_unit(r) < t->w.o->loss;
	if (lost || arrived_ns > t->w.end_ns || sim_clock_asleep(to, arrived_ns)) {
		return;
	}
	int64_t q = t->w.o->resolution_ns;
	struct sim_message m = {
		.id = t->w.next_id,
		.from = p->from,
		.to = p->to,
		.bytes = bytes,
		.broadcast = broadcast,
		.left_ns = left_ns,
		.arrived_ns = arrived_ns,
		.sent_ns = sim_stamp(sim_clock_read(&t->clock[p->from], left_ns), q),
		.received_ns = sim_stamp(sim_clock_read(to, arrived_ns), q),
	};
	t->take(t->ctx, &m);
	if (t->w.o->answer_ns && !broadcast && path % 2 == 0) {
		queue_push(&t->w.queue, arrived_ns + answer_ns(&t->w, 0), EVENT_RESPOND, path + 1);
	}
}

static void send(struct table *t, uint32_t path, int64_t now_ns)
{
	const struct path *p = &t->w.path[path];
	if (sim_clock_asleep(&t->clock[p->from], now_ns)) {
		return;
	}
	uint32_t bytes = draw_bytes(&t->w);
	int64_t delay = net_delay(t->w.o, &t->w.network, p, bytes);
	pass(t, path, now_ns, now_ns + delay, bytes, false);
	t->w.next_id++;
}

static void broadcast(struct table *t, uint32_t host, int64_t now_ns)
{
	const struct outgoing *out = &t->w.outgoing;
	if (sim_clock_asleep(&t->clock[host], now_ns)) {
		return;
	}
	uint32_t bytes = draw_bytes(&t->w);
	int64_t shared = net_delay_shared(t->w.o, &t->w.network, host, bytes);
	for (uint32_t i = out->first[host]; i < out->first[host + 1]; i++) {
		uint32_t path = out->path[i];
		int64_t own = net_delay_own(t->w.o, &t->w.network, &t->w.path[path]);
		pass(t, path, now_ns, now_ns + shared + own, bytes, true);
	}
	t->w.next_id++;
}

static void begin(struct table *t)
{
	struct world *w = &t->w;
	const struct sim_options *o = w->o;
	uint32_t step = o->one_way || o->answer_ns ? 2 : 1;
	for (uint32_t i = 0; i < w->n_paths; i += step) {
		queue_push(&w->queue, w->now_ns + first_ns(w, t->gap_ns), EVENT_REQUEST, i);
	}
	for (uint32_t h = 0; h < o->hosts && o->broadcast > 0; h++) {
		queue_push(&w->queue, w->now_ns + pause_ns(w, t->broadcast_gap_ns), EVENT_BROADCAST,
			   h);
	}
}

void sim_messages(const struct sim_options *o, const struct sim_clock *clock,
		  void (*take)(void *ctx, const struct sim_message *m), void *ctx)
{
	struct table t = {
		.w = { .o = o, .now_ns = o->start_ns, .end_ns = o->start_ns + o->duration_ns },
		.clock = clock,
		.gap_ns = o->period_ns ? (double)o->period_ns : 1e9 / o->rate,
		.broadcast_gap_ns = o->broadcast > 0 ? 1e9 / o->broadcast : 0,
		.take = take,
		.ctx = ctx,
	};
	struct world *w = &t.w;
	usk_rng_seed(&w->traffic, o->seed);
	usk_rng_seed(&w->network, ~o->seed);
	w->n_paths = sim_paths(o, &w->path);
	sim_outgoing(&w->outgoing, w->path, w->n_paths, o->hosts, o->one_way);
	begin(&t);
	while (w->queue.n && w->queue.heap[0].at_ns <= w->end_ns) {
		struct event e = queue_pop(&w->queue);
		uint32_t i = e.what & 0xfffffff;
		world_progress(w, e.at_ns);
		switch (e.what >> 28) {
		case EVENT_REQUEST:
			send(&t, i, e.at_ns);
			queue_push(&w->queue, e.at_ns + spacing_ns(w, t.gap_ns), EVENT_REQUEST, i);
			break;
		case EVENT_RESPOND:
			send(&t, i, e.at_ns);
			break;
		case EVENT_BROADCAST:
			broadcast(&t, i, e.at_ns);
			queue_push(&w->queue, e.at_ns + pause_ns(w, t.broadcast_gap_ns),
				   EVENT_BROADCAST, i);
			break;
		default:
			break;
		}
	}
	sim_outgoing_free(&w->outgoing);
	free(w->queue.heap);
	free(w->path);
}

/* ---- files ------------------------------------------------------------------------------- */

struct files {
	struct usk_output messages, broadcasts;
	struct sim_result *result;
};

static void write_row(void *ctx, const struct sim_message *m)
{
	struct files *f = ctx;
	ledger_row(&f->messages, m->from, m->to, m->sent_ns, m->received_ns, m->bytes, m->id, true);
	f->result->messages++;
	f->result->unambiguous++;
	if (m->broadcast) {
		broadcasts_row(&f->broadcasts, m);
	}
}

enum usk_status table_run(const struct sim_options *o, const char *dir, bool force,
			  struct sim_result *result, struct usk_err *err)
{
	struct files f = { .result = result };
	enum usk_status status = world_file(&f.messages, dir, "messages.csv", force, err);
	if (!status && o->broadcast > 0) {
		status = broadcasts_open(&f.broadcasts, dir, force, err);
	}
	if (!status) {
		struct sim_clock *clock = sim_options_clocks(o);
		ledger_header(&f.messages);
		sim_messages(o, clock, write_row, &f);
		sim_clocks_free(clock, o->hosts);
		status = usk_output_commit(&f.messages, err);
	}
	if (!status && o->broadcast > 0) {
		status = usk_output_commit(&f.broadcasts, err);
	}
	usk_output_close(&f.messages);
	usk_output_close(&f.broadcasts);
	return status;
}
