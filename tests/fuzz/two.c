/* SPDX-License-Identifier: MIT */
/*
 * two.c - two captures in one input, and what has to hold of any answer about them
 *
 * In    odd first byte: the first capture's length (2 bytes), it, the other one
 *       even: options (3 bytes), then packets of 8 bytes each, drawn from so few values that they
 *       are often alike: copies, overlaps, repeated content, wraps
 * Why   whatever is seen, a message's stamps are stamps of the two captures, no receive is used
 *       twice, and a clock that is bounded leaves no inversion
 */
#include "two.h"
#include "found.h"
#include "../unit/making.h"
#include "read/trace.h"

#include <stdlib.h>
#include <string.h>

#define START INT64_C(1700000000000000000)

enum { MOST = 128 };

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

struct gathered {
	struct usk_msg *m;
	size_t n, cap;
};

static bool begin(void *ctx)
{
	struct gathered *g = ctx;
	g->n = 0;
	return true;
}

static bool gather(void *ctx, const struct usk_msg *m, size_t n)
{
	struct gathered *g = ctx;
	for (size_t i = 0; i < n; i++) {
		g->m = usk_room(g->m, g->n, &g->cap, sizeof *g->m);
		g->m[g->n++] = m[i];
	}
	return true;
}

/* Stamps of a capture, sorted. */
struct stamps {
	int64_t *t;
	size_t n, cap;
};

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static struct stamps stamps_of(struct usk_trace *t)
{
	struct stamps s = { 0 };
	struct usk_record r[64];
	need(!usk_trace_rewind(t, NULL));
	for (size_t n = 1; n;) {
		if (usk_trace_records(t, r, 64, &n, NULL)) {
			break;
		}
		for (size_t i = 0; i < n; i++) {
			s.t = usk_room(s.t, s.n, &s.cap, sizeof *s.t);
			s.t[s.n++] = r[i].time_ns;
		}
	}
	if (s.n) {
		qsort(s.t, s.n, sizeof *s.t, by_value);
	}
	return s;
}

static size_t how_many(const struct stamps *s, int64_t t)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		n += s->t[i] == t;
	}
	return n;
}

static void check_messages(const struct gathered *g, struct usk_trace *const t[2])
{
	struct stamps s[2] = { stamps_of(t[0]), stamps_of(t[1]) };
	for (size_t i = 0; i < g->n && s[0].n + s[1].n <= 2 * MOST; i++) {
		const struct usk_msg *m = &g->m[i];
		need(m->from < 2 && m->to == !m->from);
		need(how_many(&s[m->from], m->sent_ns) > 0);
		size_t received = 0;
		for (size_t k = 0; k < g->n; k++) {
			received += g->m[k].to == m->to && g->m[k].received_ns == m->received_ns;
		}
		need(received <= how_many(&s[m->to], m->received_ns));
	}
	free(s[0].t);
	free(s[1].t);
}

static void check_clocks(const struct usk_clocks *c)
{
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		need(k->n_knots != 1);
		for (size_t n = 0; n < k->n_knots; n++) {
			const struct usk_knot *x = &k->knot[n];
			need(k->quality != USK_BOUNDED ||
			     (x->lo_ns <= x->offset_ns &&
			      (x->hi_ns == USK_NONE || x->offset_ns <= x->hi_ns)));
			need(!n || x[-1].epoch < x->epoch ||
			     (x[-1].epoch == x->epoch && x[-1].local_ns < x->local_ns));
		}
	}
	need(c->clock[1].quality != USK_BOUNDED || c->evaluation.corrected_inversions == 0);
}

static void found_messages(const struct gathered *g)
{
	for (size_t i = 0; i < g->n; i++) {
		fuzz_found((uint64_t)g->m[i].from << 32 | g->m[i].bytes);
		fuzz_found((uint64_t)g->m[i].sent_ns);
		fuzz_found((uint64_t)g->m[i].received_ns);
	}
}

static void found_clocks(const struct usk_clocks *c)
{
	char *json = usk_clocks_to_json(c);
	fuzz_found_text(json);
	free(json);
}

static void run(const struct bytes file[2], const char *const *local, size_t n_local,
		fuzz_answer *answer)
{
	struct usk_trace *t[2] = { NULL, NULL };
	struct gathered g = { 0 };
	struct usk_sink sink = { .ctx = &g, .start = begin, .put = gather };
	struct usk_sync_options o = {
		.max_outliers = -1,
		.from_ns = USK_NONE,
		.to_ns = USK_NONE,
		.messages = &sink,
		.local = local,
		.n_local = n_local,
	};
	for (int i = 0; i < 2; i++) {
		if (usk_trace_open_memory(file[i].data, file[i].n, i ? "q" : "p", &t[i], NULL)) {
			goto out;
		}
	}
	struct usk_clocks *c = NULL;
	struct usk_err err = { 0 };
	if (answer(t, 2, &o, &c, &err)) {
		need(err.msg[0] && !c);
		fuzz_found(0);
		goto out;
	}
	found_messages(&g);
	found_clocks(c);
	if (usk_trace_class(t[0]) == USK_TRACE_CAPTURE &&
	    usk_trace_class(t[1]) == USK_TRACE_CAPTURE) {
		need(c->n_clocks == 2 && c->counts.matched == g.n);
		check_messages(&g, t);
		check_clocks(c);
	}
	usk_clocks_free(c);
out:
	usk_trace_close(t[0]);
	usk_trace_close(t[1]);
	free(g.m);
}

static const uint16_t links[] = { LINK_ETHERNET, LINK_SLL, LINK_SLL2, LINK_RAW };

static void build(const uint8_t *d, size_t n, fuzz_answer *answer)
{
	static const int64_t offsets[] = { 0, 1, -3600, 86400 * 268 };
	static const int64_t steps[] = { 0, 1000, 1000000, 700000000 };
	static const uint32_t lengths[] = { 0, 1, 100, 1448, 14480, 65000, 0, 500 };
	static const uint8_t flags[] = { ACK, ACK, ACK | PSH, SYN, SYN | ACK, FIN | ACK, RST, ACK };
	static const char *const local[] = { "p=10.0.0.1", "q=10.0.0.2" };
	struct bytes file[2] = { { 0 } };
	uint8_t o = d[0], more = d[1], kind = d[2];
	uint32_t snap = o & 1 ? 68 : 262144;
	for (int i = 0; i < 2; i++) {
		pcap_begin(&file[i], MAGIC_NS, snap, links[kind >> 2 * i & 3]);
	}
	int64_t t = START, offset = offsets[o >> 1 & 3] * 1000000000;
	n = n - 3 < 8 * MOST ? n - 3 : 8 * MOST;
	for (d += 3; n >= 8; d += 8, n -= 8) {
		bool back = d[0] & 4;
		struct packet p = {
			.src = 0x0a000001 + back,
			.dst = 0x0a000002 - back,
			.v6 = o & 8,
			.proto = d[0] >> 3 & 3 ? d[0] >> 3 & 1 ? TCP : UDP : ICMP,
			.sport = back ? 80 : (uint16_t)(4000 + (d[7] >> 6)),
			.dport = back ? (uint16_t)(4000 + (d[7] >> 6)) : 80,
			.flags = flags[d[0] >> 5],
			.seq = (o & 16 ? 0xfffff000 : 0) + 362u * d[3],
			.ack = 100u * (d[5] & 15),
			.window = d[7] >> 5 & 1,
			.timestamps = o & 32,
			.tsval = d[5] >> 4,
			.payload = lengths[d[4] & 7],
			.content = d[4] >> 3,
			.ip_id = o & 64 ? d[6] : 0,
			.ttl = 64,
		};
		t += d[1] * steps[d[7] & 3] + d[7];
		if (d[7] & 16) {
			p.src = 0x0a000009; /* somebody else */
		}
		int64_t delay = ((int8_t)d[2]) * steps[d[7] >> 2 & 3] / 8;
		for (int i = 0; i < 2; i++) {
			if (!(d[0] & 1 << i)) {
				struct bytes b = { 0 };
				struct packet seen = p;
				seen.link = links[kind >> 2 * i & 3];
				seen.cooked = i == back ? 4 : 0;
				if (i && more & 1) { /* NAT */
					seen.src = p.src == 0x0a000001 ? 0xcb007101 : p.src;
					seen.dst = p.dst == 0x0a000001 ? 0xcb007101 : p.dst;
				}
				seen.ttl = (uint8_t)(seen.ttl - (more & 2 && i != back));
				uint32_t wire = packet_bytes(&seen, &b);
				uint32_t kept = b.n < snap ? (uint32_t)b.n : snap;
				pcap_record_ns(&file[i],
					       t + (i == back ? 0 : delay) + (i ? offset : 0),
					       b.data, kept, wire);
				bytes_free(&b);
			}
		}
	}
	run((const struct bytes *)file, local + !(more & 4), (more >> 2 & 1) + (more >> 3 & 1),
	    answer);
	bytes_free(&file[0]);
	bytes_free(&file[1]);
}

int fuzz_two(const uint8_t *data, size_t size, fuzz_answer *answer)
{
	if (size < 4) {
		return -1;
	}
	if (!(data[0] & 1)) {
		build(data + 1, size - 1, answer);
		return 0;
	}
	size_t first = (size_t)(data[1] | data[2] << 8);
	first = first < size - 3 ? first : size - 3;
	/* Blocks of their own, exactly as long. */
	struct bytes file[2] = { { 0 } };
	for (int i = 0; i < 2; i++) {
		file[i].n = i ? size - 3 - first : first;
		file[i].data = malloc(file[i].n ? file[i].n : 1);
		if (!file[i].data) {
			abort();
		}
		memcpy(file[i].data, data + 3 + (i ? first : 0), file[i].n);
	}
	run((const struct bytes *)file, NULL, 0, answer);
	bytes_free(&file[0]);
	bytes_free(&file[1]);
	return 0;
}
