/* SPDX-License-Identifier: MIT */
/*
 * run.c - make the world, let its events happen, keep the files
 */
#include "world.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- flows ------------------------------------------------------------------------ */

static void add_flow(struct world *w, size_t *cap, size_t pair, uint8_t proto, uint32_t k,
		     double rate)
{
	/* Connections are opened from both sides, unless one of them hides behind a NAT. */
	bool turned = k % 2 && !w->o->nat && !w->o->one_way;
	uint32_t forth = (uint32_t)(2 * pair), back = forth + 1;
	w->flow = usk_room(w->flow, w->n_flows, cap, sizeof *w->flow);
	w->flow[w->n_flows++] = (struct flow){
		.proto = proto,
		.lasting = k == 0,
		.idle = true,
		.client = (uint16_t)w->path[turned ? back : forth].from,
		.server = (uint16_t)w->path[turned ? back : forth].to,
		.path = { turned ? back : forth, turned ? forth : back },
		.server_port = (uint16_t)(40000 + k),
		.rate = rate,
	};
}

static void add_flows(struct world *w)
{
	const struct sim_options *o = w->o;
	size_t cap = 0;
	for (size_t pair = 0; pair < w->n_paths / 2; pair++) {
		bool mix = o->traffic == SIM_MIX;
		uint8_t proto = o->traffic == SIM_UDP	 ? PROTO_UDP
				: o->traffic == SIM_ICMP ? PROTO_ICMP
							 : PROTO_TCP;
		double rate = o->rate * (mix ? 0.8 : 1.0) / o->connections;
		for (uint32_t k = 0; k < o->connections; k++) {
			add_flow(w, &cap, pair, proto, k, rate);
		}
		if (mix) {
			add_flow(w, &cap, pair, PROTO_UDP, 0, o->rate * 0.1);
			add_flow(w, &cap, pair, PROTO_ICMP, 1, o->rate * 0.1);
		}
	}
}

static void start_flows(struct world *w)
{
	for (uint32_t i = 0; i < w->n_flows; i++) {
		struct flow *f = &w->flow[i];
		f->client_port = (uint16_t)(50000 + usk_rng_below(&w->traffic, 15000));
		f->nat_port = (uint16_t)(1024 + usk_rng_below(&w->traffic, 38000));
		for (int s = 0; s < 2; s++) {
			f->side[s].ip_id = (uint16_t)usk_rng_next(&w->traffic);
		}
		int64_t soon = w->now_ns + (int64_t)usk_rng_below(&w->traffic, 2000000);
		if (f->proto == PROTO_TCP) {
			queue_push(&w->queue, soon, EVENT_OPEN, i);
		}
		queue_push(&w->queue, soon + first_ns(w, 1e9 / f->rate), EVENT_REQUEST, i);
	}
}

/* ---- the world ---------------------------------------------------------------------- */

static void world_init(struct world *w, const struct sim_options *o)
{
	*w = (struct world){ .o = o };
	usk_rng_seed(&w->traffic, o->seed);
	usk_rng_seed(&w->network, ~o->seed);
	usk_rng_seed(&w->recorder, usk_mix(o->seed + 1));
	w->now_ns = o->start_ns;
	w->end_ns = o->start_ns + o->duration_ns;
	w->mss = o->mtu - (o->ipv6 ? 60 : 40) - (o->timestamps ? 12 : 0);
	w->way_ns = usk_delay_model_ns(&o->dmin, w->mss);
	w->largest = o->tso ? (65535 - 100) / w->mss * w->mss : w->mss;
	w->host = usk_alloc(o->hosts, sizeof *w->host);
	for (uint32_t h = 0; h < o->hosts; h++) {
		struct sim_capture *c = &w->host[h].capture;
		sim_options_clock(o, h, &w->host[h].clock);
		w->host[h].from_ns = o->start_ns + (h ? o->late_ns : 0);
		c->ng = o->format == SIM_PCAPNG;
		c->link = (enum sim_link)o->link.v[h < o->link.n ? h : o->link.n - 1];
		c->vlan = (unsigned)o->vlan.v[h < o->vlan.n ? h : o->vlan.n - 1];
		c->snaplen = o->snaplen;
		c->resolution_ns = o->resolution_ns;
	}
	w->n_paths = sim_paths(o, &w->path);
	add_flows(w);
	sim_outgoing(&w->outgoing, w->path, w->n_paths, o->hosts, o->one_way);
	start_flows(w);
	net_start_chatter(w);
	for (uint32_t h = 0; h < o->hosts && o->broadcast > 0; h++) {
		queue_push(&w->queue, w->now_ns + pause_ns(w, 1e9 / o->broadcast), EVENT_BROADCAST,
			   h);
	}
}

static void world_free(struct world *w)
{
	for (uint32_t h = 0; h < w->o->hosts; h++) {
		sim_clock_free(&w->host[h].clock);
		sim_capture_close(&w->host[h].capture);
	}
	for (size_t i = 0; i < w->n_flows; i++) {
		free(w->flow[i].request);
	}
	ledger_free(w->ledger);
	sim_outgoing_free(&w->outgoing);
	free(w->host);
	free(w->path);
	free(w->flow);
	free(w->queue.heap);
	free(w->pool.slot);
	free(w->pool.vacant);
}

static void happen(struct world *w, enum event_kind kind, uint32_t i)
{
	struct sim_packet p;
	switch (kind) {
	case EVENT_ARRIVE:
		p = world_take(w, i);
		net_arrive(w, &p);
		break;
	case EVENT_SEND:
		p = world_take(w, i);
		net_send(w, &p);
		break;
	case EVENT_AGAIN:
		p = world_take(w, i);
		tcp_again(w, &p);
		break;
	case EVENT_RESPOND:
		p = world_take(w, i);
		tcp_respond(w, &p);
		break;
	case EVENT_REQUEST:
		if (w->flow[i].proto == PROTO_TCP) {
			tcp_request(w, i);
		} else {
			datagram_request(w, i);
		}
		break;
	case EVENT_OPEN:
		tcp_open(w, i);
		break;
	case EVENT_RTO:
		tcp_rto(w, i);
		break;
	case EVENT_DELACK:
		tcp_delack(w, i);
		break;
	case EVENT_GRO:
		net_merged(w, i);
		break;
	case EVENT_CHATTER:
		net_chatter(w, i);
		break;
	case EVENT_BROADCAST:
		net_broadcast(w, i);
		break;
	}
}

static void world_run(struct world *w)
{
	while (w->queue.n && w->queue.heap[0].at_ns <= w->end_ns) {
		struct event e = queue_pop(&w->queue);
		w->now_ns = e.at_ns;
		world_progress(w, e.at_ns);
		happen(w, (enum event_kind)(e.what >> 28), e.what & 0xfffffff);
	}
}

/* ---- a rate for a number of packets -------------------------------------------------- */

/* Records a second of one capture at this rate, by a rehearsal that writes nothing. */
static double rehearse(const struct sim_options *o, double rate)
{
	struct sim_options r = *o;
	struct world w;
	r.rate = rate;
	r.late_ns = 0;
	r.progress = NULL;
	double seconds = 20000.0 / rate, whole = (double)o->duration_ns * 1e-9;
	seconds = seconds < whole ? seconds : whole;
	r.duration_ns = 1 + (int64_t)(seconds * 1e9);
	world_init(&w, &r);
	world_run(&w);
	double records = (double)w.records / o->hosts;
	world_free(&w);
	return records / ((double)r.duration_ns * 1e-9);
}

static double rate_for(const struct sim_options *o)
{
	double wanted =
		(double)o->packets / ((double)o->duration_ns * 1e-9) / (1 - o->capture_loss);
	double rate = wanted / 3;
	for (int i = 0; i < 4; i++) {
		double got = rehearse(o, rate);
		if (got <= 0 || fabs(got / wanted - 1) < 0.002) {
			break;
		}
		rate *= wanted / got;
	}
	return rate;
}

/* ---- truth.json ------------------------------------------------------------------------ */

/* It is written last: ask now whether it may be, so that no work is lost. */
static enum usk_status refuse_truth(const char *dir, bool force, struct usk_err *err)
{
	struct usk_output trial;
	enum usk_status status = world_file(&trial, dir, "truth.json", force, err);
	usk_output_close(&trial);
	return status;
}

static enum usk_status write_truth(const struct sim_options *o, const char *dir, bool force,
				   struct usk_err *err)
{
	char **name = usk_alloc(o->hosts, sizeof *name);
	struct sim_clock *clock = sim_options_clocks(o);
	for (uint32_t h = 0; h < o->hosts; h++) {
		name[h] = usk_format("host%u", h);
	}
	char *path = usk_format("%s/truth.json", dir), *options = sim_options_json(o);
	struct sim_truth truth = { .seed = o->seed,
				   .options = options,
				   .start_ns = o->start_ns,
				   .end_ns = o->start_ns + o->duration_ns,
				   .name = (const char *const *)name,
				   .clock = clock,
				   .n = o->hosts,
				   .broadcasts = o->broadcast > 0 ? "broadcasts.csv" : NULL };
	enum usk_status status = sim_truth_json(path, force, &truth, err);
	for (uint32_t h = 0; h < o->hosts; h++) {
		free(name[h]);
	}
	free(name);
	sim_clocks_free(clock, o->hosts);
	free(path);
	free(options);
	return status;
}

/* ---- all of it -------------------------------------------------------------------------- */

static enum usk_status open_captures(struct world *w, const char *dir, bool force,
				     struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (uint32_t h = 0; h < w->o->hosts && !status; h++) {
		struct sim_capture *c = &w->host[h].capture;
		char *name = usk_format("host%u", h);
		char *path = usk_format("%s/%s.%s", dir, name, c->ng ? "pcapng" : "pcap");
		status = sim_capture_open(c, path, name, force, err);
		free(name);
		free(path);
	}
	return status;
}

enum usk_status world_file(struct usk_output *out, const char *dir, const char *name, bool force,
			   struct usk_err *err)
{
	char *path = usk_format("%s/%s", dir, name);
	enum usk_status status = usk_output_open(out, path, force, err);
	free(path);
	return status;
}

enum usk_status broadcasts_open(struct usk_output *out, const char *dir, bool force,
				struct usk_err *err)
{
	enum usk_status status = world_file(out, dir, "broadcasts.csv", force, err);
	if (!status) {
		usk_output_format(out, "id,sender,receiver,sent_ns,received_ns,bytes\n");
	}
	return status;
}

void broadcasts_row(struct usk_output *out, const struct sim_message *m)
{
	usk_output_format(out, "%llu,host%u,host%u,%lld,%lld,%u\n", (unsigned long long)m->id,
			  m->from, m->to, (long long)m->sent_ns, (long long)m->received_ns,
			  m->bytes);
}

static enum usk_status commit_captures(struct world *w, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (uint32_t h = 0; h < w->o->hosts && !status; h++) {
		status = sim_capture_commit(&w->host[h].capture, err);
	}
	return status;
}

static enum usk_status run_captures(const struct sim_options *o, const char *dir, bool force,
				    struct sim_result *result, struct usk_err *err)
{
	struct world w;
	struct usk_output broadcasts = { 0 };
	world_init(&w, o);
	bool hold = !o->ip_id || o->ipv6;
	enum usk_status status = ledger_open(&w.ledger, dir, force, hold, err);
	if (!status) {
		status = open_captures(&w, dir, force, err);
	}
	if (!status && o->broadcast > 0) {
		status = broadcasts_open(&broadcasts, dir, force, err);
		w.broadcasts = status ? NULL : &broadcasts;
	}
	if (!status) {
		world_run(&w);
		result->packets = w.records;
		status = commit_captures(&w, err);
	}
	if (!status) {
		status = ledger_commit(w.ledger, result, err);
	}
	if (w.broadcasts && !status) {
		status = usk_output_commit(&broadcasts, err);
	}
	usk_output_close(&broadcasts);
	world_free(&w);
	return status;
}

enum usk_status sim_run(const struct sim_options *o, const char *dir, bool force,
			struct sim_result *result, struct usk_err *err)
{
	enum usk_status status = sim_options_check(o, err);
	struct sim_options chosen = *o;
	struct sim_result counts = { 0 };
	if (status) {
		return status;
	}
	if (mkdir(dir, 0777) && errno != EEXIST) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", dir, strerror(errno));
	}
	status = refuse_truth(dir, force, err);
	if (status) {
		return status;
	}
	if (o->packets) {
		chosen.rate = rate_for(o);
	}
	if (o->period_ns) {
		chosen.rate = 1e9 / (double)o->period_ns;
	}
	if (o->collectives) {
		status = collectives_run(&chosen, dir, force, &counts, err);
	} else if (o->format == SIM_TABLE) {
		status = table_run(&chosen, dir, force, &counts, err);
	} else {
		status = run_captures(&chosen, dir, force, &counts, err);
	}
	for (uint32_t h = 0; h < o->hosts && o->clock_logs && !status; h++) {
		status = sim_log(&chosen, h, dir, force, err);
	}
	if (!status) {
		status = write_truth(&chosen, dir, force, err);
	}
	if (result) {
		*result = counts;
	}
	return status;
}
