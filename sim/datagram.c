/* SPDX-License-Identifier: MIT */
/*
 * datagram.c - UDP and ICMP echo: a request, a moment later its answer
 */
#include "world.h"

#include <math.h>

uint32_t message_bytes(struct world *w)
{
	double most = log((double)w->o->bytes / 16.0);
	return (uint32_t)(16.0 * exp(most * usk_rng_unit(&w->traffic)));
}

int64_t pause_ns(struct world *w, double mean_ns)
{
	double x = usk_rng_exponential(&w->traffic, mean_ns);
	return 1 + (x < 1e18 ? (int64_t)x : INT64_C(1000000000000000000));
}

int64_t spacing_ns(struct world *w, double mean_ns)
{
	return w->o->period_ns ? 1 + llround(mean_ns - 1) : pause_ns(w, mean_ns);
}

int64_t first_ns(struct world *w, double mean_ns)
{
	return w->o->period_ns ? 1 + (int64_t)(mean_ns * usk_rng_unit(&w->traffic))
			       : pause_ns(w, mean_ns);
}

int64_t answer_ns(struct world *w, double usual_ns)
{
	return pause_ns(w, w->o->answer_ns ? (double)w->o->answer_ns : usual_ns);
}

struct sim_packet flow_packet(const struct world *w, uint32_t index, int me)
{
	const struct flow *f = &w->flow[index];
	return (struct sim_packet){
		.flow = index,
		.generation = f->generation,
		.client = f->client,
		.server = f->server,
		.client_port = f->client_port,
		.nat_port = f->nat_port,
		.server_port = f->server_port,
		.proto = f->proto,
		.v6 = w->o->ipv6,
		.nat = w->o->nat,
		.hops = (uint8_t)w->o->hops,
		.from_client = me == CLIENT,
		.with_ip_id = w->o->ip_id && !w->o->ipv6,
	};
}

static struct sim_packet blank(struct world *w, uint32_t index, bool from_client)
{
	int me = from_client ? CLIENT : SERVER;
	struct sim_packet p = flow_packet(w, index, me);
	p.ip_id = p.with_ip_id ? w->flow[index].side[me].ip_id++ : 0;
	return p;
}

/* Eight letters and signs: binary noise looks like one protocol or another to decoders. */
static uint64_t draw_text(struct world *w)
{
	return (usk_rng_next(&w->traffic) & UINT64_C(0x3f3f3f3f3f3f3f3f)) +
	       UINT64_C(0x3b3b3b3b3b3b3b3b);
}

static uint32_t datagram_bytes(struct world *w)
{
	uint32_t n = message_bytes(w), most = w->o->mtu - (w->o->ipv6 ? 48 : 28);
	return n < most ? n : most;
}

void datagram_fill(struct world *w, struct sim_packet *p)
{
	p->len = datagram_bytes(w);
	p->nonce[0] = draw_text(w);
	p->nonce[1] = draw_text(w);
}

void datagram_request(struct world *w, uint32_t index)
{
	struct flow *f = &w->flow[index];
	struct sim_packet p = blank(w, index, true);
	datagram_fill(w, &p);
	p.seq = f->seq++;
	net_submit(w, &p);
	queue_push(&w->queue, w->now_ns + spacing_ns(w, 1e9 / f->rate), EVENT_REQUEST, index);
}

void datagram_input(struct world *w, const struct sim_packet *p)
{
	if (!p->from_client || w->o->one_way) {
		return;
	}
	struct sim_packet answer = blank(w, p->flow, false);
	bool echo = p->proto == PROTO_ICMP;
	answer.seq = p->seq;
	answer.len = echo ? p->len : datagram_bytes(w);
	answer.nonce[0] = echo ? p->nonce[0] : draw_text(w);
	answer.nonce[1] = echo ? p->nonce[1] : draw_text(w);
	world_later(w, w->now_ns + answer_ns(w, echo ? 5e3 : 1e5), EVENT_SEND, &answer);
}
