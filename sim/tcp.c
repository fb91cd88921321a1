/* SPDX-License-Identifier: MIT */
/*
 * tcp.c - both ends of a TCP connection: handshake, data, acknowledgements, recovery, close
 *
 * In    requests to make, packets that arrive, timers that run out
 * Out   segments for net_send()
 * Why   retransmissions, duplicate acknowledgements and odd segment bounds come out of the same
 *       causes as in real stacks, so that a matcher meets them in real combinations
 * Not   RST, urgent data, flow control, congestion control beyond a window that halves
 *
 * Recovery is New Reno's (RFC 6582): three duplicate acknowledgements or a timer send the first
 * unacknowledged segment again, and each partial acknowledgement the next. Offsets count from
 * the SYN as byte 0; FIN is the byte at `end`.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define DELACK_NS  40000000
#define RTO_MIN_NS 200000000
#define RTO_MAX_NS 1600000000
#define SYN_RTO_NS 1000000000
#define WINDOW_MAX (512u * 1024)
#define FIRST_CWND 10
#define THINK_NS   100000.0
#define REOPEN_NS  3000000.0
#define MS	   1000000

/* ---- sending ------------------------------------------------------------------ */

static int64_t base_rto(const struct world *w)
{
	const struct sim_options *o = w->o;
	int64_t rtt = 2 * w->way_ns + o->asym_ns + 10 * o->tail_ns;
	return RTO_MIN_NS + 2 * rtt;
}

/* One event for a timer at a time: what is put off meanwhile is looked at again then. */
static void arm(struct world *w, struct timer *t, int64_t at_ns, enum event_kind kind,
		uint32_t flow_and_side)
{
	t->at_ns = at_ns;
	if (!t->queued) {
		t->queued = true;
		queue_push(&w->queue, at_ns, kind, flow_and_side);
	}
}

static bool is_due(struct world *w, struct timer *t, enum event_kind kind, uint32_t flow_and_side)
{
	t->queued = false;
	if (t->at_ns && t->at_ns > w->now_ns) {
		arm(w, t, t->at_ns, kind, flow_and_side);
		return false;
	}
	return t->at_ns != 0;
}

static void arm_rto(struct world *w, uint32_t index, int me)
{
	struct side *s = &w->flow[index].side[me];
	if (s->una == s->nxt) {
		s->rto.at_ns = 0;
	} else {
		arm(w, &s->rto, w->now_ns + s->rto_ns, EVENT_RTO, 2 * index + (uint32_t)me);
	}
}

static struct sim_packet blank(struct world *w, uint32_t index, int me)
{
	const struct sim_options *o = w->o;
	const struct side *s = &w->flow[index].side[me], *peer = &w->flow[index].side[!me];
	struct sim_packet p = flow_packet(w, index, me);
	p.timestamps = o->timestamps;
	p.sack_ok = o->sack;
	p.mss = (uint16_t)(o->mtu - (o->ipv6 ? 60 : 40));
	p.window = 502;
	p.flags = TCP_ACK;
	p.ack_offset = s->rcv;
	p.ack = peer->isn + (uint32_t)s->rcv;
	p.tsval = s->ts_base + (uint32_t)((w->now_ns - o->start_ns) / MS);
	p.tsecr = s->ts_recent;
	return p;
}

static void emit(struct world *w, uint32_t index, int me, struct sim_packet *p)
{
	struct side *s = &w->flow[index].side[me];
	p->seq = s->isn + (uint32_t)p->offset;
	if (p->with_ip_id) {
		p->ip_id = s->ip_id;
		s->ip_id = (uint16_t)(s->ip_id + (p->len > w->mss ? (p->len - 1) / w->mss : 0) + 1);
	}
	if (p->flags & TCP_ACK) {
		s->delack.at_ns = 0;
		s->unacked = 0;
	}
	net_submit(w, p);
}

static void send_syn(struct world *w, uint32_t index, int me)
{
	struct sim_packet p = blank(w, index, me);
	p.flags = TCP_SYN;
	p.window = 64240;
	if (w->flow[index].side[me].rcv) {
		p.flags |= TCP_ACK;
	} else {
		p.ack = p.tsecr = 0;
	}
	emit(w, index, me, &p);
}

static void send_fin(struct world *w, uint32_t index, int me)
{
	struct sim_packet p = blank(w, index, me);
	p.offset = w->flow[index].side[me].end;
	p.flags |= TCP_FIN;
	emit(w, index, me, &p);
}

static void send_data(struct world *w, uint32_t index, int me, uint64_t offset, uint32_t len)
{
	struct sim_packet p = blank(w, index, me);
	p.offset = offset;
	p.len = len;
	if (offset + len == w->flow[index].side[me].end) {
		p.flags |= TCP_PSH;
	}
	emit(w, index, me, &p);
}

static void send_ack(struct world *w, uint32_t index, int me)
{
	struct side *s = &w->flow[index].side[me];
	const struct side *peer = &w->flow[index].side[!me];
	struct sim_packet p = blank(w, index, me);
	p.offset = s->nxt;
	if (p.sack_ok) {
		for (unsigned i = 0; i < s->n_ooo && i < 3; i++) {
			p.sack[2 * i] = peer->isn + (uint32_t)s->ooo[i].start;
			p.sack[2 * i + 1] = peer->isn + (uint32_t)s->ooo[i].end;
			p.n_sack++;
		}
	}
	emit(w, index, me, &p);
}

/* Sometimes a timer fires too early, before the acknowledgement can be back. */
static void plan_spurious(struct world *w, uint32_t index, int me, uint64_t offset, uint32_t len)
{
	if (w->o->retrans <= 0 || usk_rng_unit(&w->traffic) >= w->o->retrans) {
		return;
	}
	double rtt = (double)(2 * w->way_ns + w->o->asym_ns) + 1e4;
	int64_t wait = 1 + (int64_t)(rtt * (0.3 + 0.6 * usk_rng_unit(&w->traffic)));
	const struct sim_packet p = {
		.flow = index,
		.generation = w->flow[index].generation,
		.from_client = me == CLIENT,
		.offset = offset,
		.len = len < w->mss ? len : w->mss,
	};
	world_later(w, w->now_ns + wait, EVENT_AGAIN, &p);
}

static void try_send(struct world *w, uint32_t index, int me)
{
	struct flow *f = &w->flow[index];
	struct side *s = &f->side[me];
	if (!s->una) {
		return; /* not established */
	}
	while (s->nxt < s->end) {
		uint64_t left = s->end - s->nxt, limit = s->una + s->cwnd;
		uint64_t room = limit > s->nxt ? limit - s->nxt : 0;
		uint32_t n = left < w->largest ? (uint32_t)left : w->largest;
		if (room < n) {
			n = (uint32_t)(room / w->mss) * w->mss; /* whole segments only */
			if (!n) {
				break;
			}
		}
		uint64_t offset = s->nxt;
		s->nxt += n;
		send_data(w, index, me, offset, n);
		plan_spurious(w, index, me, offset, n);
	}
	if (s->fin && !s->fin_sent && s->nxt == s->end) {
		s->fin_sent = true;
		s->nxt++;
		send_fin(w, index, me);
	}
	if (!s->rto.at_ns) {
		arm_rto(w, index, me);
	}
}

static void retransmit_first(struct world *w, uint32_t index, int me)
{
	struct side *s = &w->flow[index].side[me];
	uint64_t data_end = s->fin_sent ? s->nxt - 1 : s->nxt;
	if (!s->una) {
		send_syn(w, index, me);
	} else if (s->una < data_end) {
		uint64_t left = data_end - s->una;
		send_data(w, index, me, s->una, left < w->mss ? (uint32_t)left : w->mss);
	} else {
		send_fin(w, index, me);
	}
}

void tcp_again(struct world *w, const struct sim_packet *p)
{
	int me = p->from_client ? CLIENT : SERVER;
	struct flow *f = &w->flow[p->flow];
	const struct side *s = &f->side[me];
	if (f->generation == p->generation && s->una <= p->offset) {
		send_data(w, p->flow, me, p->offset, p->len);
	}
}

/* ---- timers ---------------------------------------------------------------------- */

void tcp_rto(struct world *w, uint32_t flow_and_side)
{
	uint32_t index = flow_and_side / 2;
	int me = (int)(flow_and_side % 2);
	struct side *s = &w->flow[index].side[me];
	if (!is_due(w, &s->rto, EVENT_RTO, flow_and_side)) {
		return;
	}
	s->rto_ns = s->rto_ns * 2 < RTO_MAX_NS ? s->rto_ns * 2 : RTO_MAX_NS;
	s->recovering = true;
	s->recover = s->nxt;
	s->cwnd = 2 * w->mss;
	retransmit_first(w, index, me);
	arm_rto(w, index, me);
}

void tcp_delack(struct world *w, uint32_t flow_and_side)
{
	struct side *s = &w->flow[flow_and_side / 2].side[flow_and_side % 2];
	if (is_due(w, &s->delack, EVENT_DELACK, flow_and_side)) {
		send_ack(w, flow_and_side / 2, (int)(flow_and_side % 2));
	}
}

static void acknowledge_later(struct world *w, uint32_t index, int me)
{
	struct side *s = &w->flow[index].side[me];
	if (!s->delack.at_ns) {
		arm(w, &s->delack, w->now_ns + DELACK_NS, EVENT_DELACK, 2 * index + (uint32_t)me);
	}
}

/* ---- the two applications ---------------------------------------------------------- */

void tcp_request(struct world *w, uint32_t index)
{
	struct flow *f = &w->flow[index];
	struct side *c = &f->side[CLIENT];
	if (!f->idle && !f->ending) {
		c->end += message_bytes(w);
		f->request =
			sim_ring_room(f->request, f->first, f->last, &f->cap, sizeof *f->request);
		f->request[f->last++ & (f->cap - 1)] = (struct request){ c->end, message_bytes(w) };
		if (!f->lasting && !--f->left) {
			f->ending = true;
		}
		try_send(w, index, CLIENT);
	}
	queue_push(&w->queue, w->now_ns + spacing_ns(w, 1e9 / f->rate), EVENT_REQUEST, index);
}

static void plan_responses(struct world *w, uint32_t index)
{
	struct flow *f = &w->flow[index];
	for (; f->first < f->last; f->first++) {
		const struct request *r = &f->request[f->first & (f->cap - 1)];
		if (r->end > f->side[SERVER].rcv) {
			break;
		}
		const struct sim_packet p = { .flow = index,
					      .generation = f->generation,
					      .len = r->response };
		f->thinking++;
		world_later(w, w->now_ns + answer_ns(w, THINK_NS), EVENT_RESPOND, &p);
	}
}

void tcp_respond(struct world *w, const struct sim_packet *p)
{
	struct flow *f = &w->flow[p->flow];
	if (f->generation == p->generation) {
		f->side[SERVER].end += p->len;
		f->thinking--;
		/* The server closes behind its last answer, the client when it has that. */
		f->side[SERVER].fin = f->ending && f->first == f->last && !f->thinking;
		try_send(w, p->flow, SERVER);
	}
}

/* ---- open and close ------------------------------------------------------------------ */

static void reset_side(struct world *w, struct side *s)
{
	bool rto_queued = s->rto.queued, delack_queued = s->delack.queued;
	uint16_t ip_id = s->ip_id;
	struct usk_rng *r = &w->traffic;
	*s = (struct side){ .isn = (uint32_t)usk_rng_next(r),
			    .ts_base = (uint32_t)usk_rng_next(r) };
	/* Sequence numbers that wrap soon are as likely as all others together. */
	if (usk_rng_next(r) & 1) {
		s->isn = UINT32_MAX - (uint32_t)usk_rng_below(r, 100000);
	}
	s->ip_id = ip_id ? ip_id : (uint16_t)usk_rng_next(r);
	s->end = 1;
	s->cwnd = FIRST_CWND * w->mss;
	s->rto_ns = SYN_RTO_NS;
	s->rto.queued = rto_queued;
	s->delack.queued = delack_queued;
}

void tcp_open(struct world *w, uint32_t index)
{
	struct flow *f = &w->flow[index];
	f->generation++;
	f->client_port = (uint16_t)(32768 + usk_rng_below(&w->traffic, 28000));
	f->nat_port = (uint16_t)(1024 + usk_rng_below(&w->traffic, 60000));
	f->idle = f->ending = false;
	f->thinking = 0;
	f->left = 50 + (uint32_t)usk_rng_below(&w->traffic, 400);
	f->first = f->last = 0;
	reset_side(w, &f->side[CLIENT]);
	reset_side(w, &f->side[SERVER]);
	f->side[CLIENT].nxt = 1;
	send_syn(w, index, CLIENT);
	arm_rto(w, index, CLIENT);
}

static void close_when_done(struct world *w, uint32_t index)
{
	struct flow *f = &w->flow[index];
	struct side *c = &f->side[CLIENT], *s = &f->side[SERVER];
	if (!f->ending || f->idle) {
		return;
	}
	if (!c->fin && s->fin_sent && c->rcv > s->end) {
		c->fin = true;
		try_send(w, index, CLIENT);
	}
	if (c->fin_sent && s->fin_sent && c->una > c->end && s->una > s->end) {
		f->idle = true;
		f->generation++; /* what is still in flight belongs to nobody */
		c->delack.at_ns = s->delack.at_ns = 0;
		queue_push(&w->queue, w->now_ns + pause_ns(w, REOPEN_NS), EVENT_OPEN, index);
	}
}

/* ---- receiving ------------------------------------------------------------------------ */

static void input_ack(struct world *w, uint32_t index, int me, const struct sim_packet *p)
{
	struct side *s = &w->flow[index].side[me];
	if (p->ack_offset > s->una && p->ack_offset <= s->nxt) {
		uint64_t gained = p->ack_offset - s->una;
		s->una = p->ack_offset;
		s->dupacks = 0;
		s->rto_ns = base_rto(w);
		if (s->recovering && s->una >= s->recover) {
			s->recovering = false;
		} else if (s->recovering) {
			retransmit_first(w, index, me);
		}
		uint64_t cwnd = s->cwnd + (gained < w->largest ? gained : w->largest);
		s->cwnd = cwnd < WINDOW_MAX ? (uint32_t)cwnd : WINDOW_MAX;
		arm_rto(w, index, me);
		try_send(w, index, me);
	} else if (p->ack_offset == s->una && s->una < s->nxt && !sim_span(p) && s->una) {
		if (++s->dupacks == 3 && !s->recovering) {
			s->recovering = true;
			s->recover = s->nxt;
			s->cwnd = s->cwnd / 2 > 2 * w->mss ? s->cwnd / 2 : 2 * w->mss;
			retransmit_first(w, index, me);
		}
	}
}

/* Keep what came too early; a list that is full forgets it, and it will be sent again. */
static void keep(struct side *s, uint64_t start, uint64_t end)
{
	unsigned i = 0, j;
	while (i < s->n_ooo && s->ooo[i].end < start) {
		i++;
	}
	for (j = i; j < s->n_ooo && s->ooo[j].start <= end; j++) {
		start = s->ooo[j].start < start ? s->ooo[j].start : start;
		end = s->ooo[j].end > end ? s->ooo[j].end : end;
	}
	if (i == j && s->n_ooo == OOO_MAX) {
		return;
	}
	memmove(&s->ooo[i + 1], &s->ooo[j], (s->n_ooo - j) * sizeof *s->ooo);
	s->n_ooo = s->n_ooo - (j - i) + 1;
	s->ooo[i] = (struct span){ start, end };
}

/* Takes in the bytes; returns whether they have to be acknowledged at once. */
static bool take(struct world *w, struct side *s, const struct sim_packet *p)
{
	uint64_t end = p->offset + sim_span(p);
	if (end <= s->rcv || p->offset > s->rcv) {
		if (end > s->rcv) {
			keep(s, p->offset, end);
		}
		return true;
	}
	bool gap = s->n_ooo > 0;
	s->rcv = end;
	while (s->n_ooo && s->ooo[0].start <= s->rcv) {
		s->rcv = s->ooo[0].end > s->rcv ? s->ooo[0].end : s->rcv;
		memmove(&s->ooo[0], &s->ooo[1], --s->n_ooo * sizeof *s->ooo);
	}
	s->unacked += 1 + p->len / (w->mss + 1);
	return gap || s->unacked >= 2 || p->flags & TCP_FIN;
}

static void input_syn(struct world *w, uint32_t index, int me)
{
	struct side *s = &w->flow[index].side[me];
	if (me == CLIENT) {
		s->rcv = s->rcv ? s->rcv : 1;
		send_ack(w, index, me);
		try_send(w, index, me);
	} else if (!s->una) {
		s->rcv = 1;
		s->nxt = 1;
		send_syn(w, index, me);
		arm_rto(w, index, me);
	} else {
		send_ack(w, index, me);
	}
}

void tcp_input(struct world *w, const struct sim_packet *p)
{
	uint32_t index = p->flow;
	struct flow *f = &w->flow[index];
	int me = p->from_client ? SERVER : CLIENT;
	struct side *s = &f->side[me];
	if (f->generation != p->generation) {
		return;
	}
	if (p->offset <= s->rcv && (int32_t)(p->tsval - s->ts_recent) > 0) {
		s->ts_recent = p->tsval;
	}
	if (p->flags & TCP_SYN && !s->rcv) {
		s->ts_recent = p->tsval;
	}
	if (p->flags & TCP_ACK) {
		input_ack(w, index, me, p);
	}
	if (p->flags & TCP_SYN) {
		input_syn(w, index, me);
		return;
	}
	if (sim_span(p) && s->rcv) {
		bool at_once = take(w, s, p);
		if (me == SERVER) {
			plan_responses(w, index);
		}
		if (at_once) {
			send_ack(w, index, me);
		} else {
			acknowledge_later(w, index, me);
		}
	}
	close_when_done(w, index);
}
