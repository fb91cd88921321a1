/* SPDX-License-Identifier: MIT */
#include "trace.h"
#include "base/index.h"
#include "base/pack.h"
#include "found.h"
#include "read/part.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 64 };

static void demand(bool true_)
{
	if (!true_) {
		abort();
	}
}

static uint64_t mixed(uint64_t sum, uint64_t value)
{
	return usk_mix(sum ^ value) + 1;
}

enum { PACKET_WORDS = 8 };

static void words_of(const struct usk_packet *p, uint64_t *out)
{
	out[0] = p->key;
	out[1] = p->src.hi ^ p->src.lo << 1;
	out[2] = p->dst.hi ^ p->dst.lo << 1;
	out[3] = (uint64_t)p->sport << 48 | (uint64_t)p->dport << 32 | p->bytes;
	out[4] = (uint64_t)p->proto << 24 | (uint64_t)p->flags << 16 | (uint64_t)p->ttl << 8 |
		 p->side;
	out[5] = (uint64_t)p->seq << 32 | p->ack;
	out[6] = (uint64_t)p->tsval << 32 | p->tsecr;
	out[7] = (uint64_t)p->ip_id << 32 | (uint64_t)p->window << 8 | p->has;
}

void fuzz_found_packet(const struct usk_packet *p)
{
	fuzz_found(p != NULL);
	if (p) {
		uint64_t word[PACKET_WORDS];
		words_of(p, word);
		for (size_t i = 0; i < COUNT(word); i++) {
			fuzz_found(word[i]);
		}
	}
}

static bool read_records(struct usk_trace *t, size_t size, size_t batch, struct usk_depth depth,
			 uint64_t *sum)
{
	struct usk_record r[BATCH];
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	for (size_t n = 1; n;) {
		status = usk_trace_records(t, r, batch, &n, &err);
		if (status) {
			demand(err.msg[0] != 0);
			break;
		}
		size_t n_ifaces;
		const struct usk_iface *iface = usk_trace_ifaces(t, &n_ifaces);
		for (size_t i = 0; i < n; i++) {
			demand(r[i].time_ns >= -USK_TIME_MAX && r[i].time_ns <= USK_TIME_MAX);
			/* Unpacked, or made up, it may be more than there is of it. */
			demand(!size || (r[i].captured <= size && r[i].at < size));
			demand(r[i].iface < n_ifaces);
			for (uint32_t k = 0; k < r[i].captured; k++) {
				*sum = mixed(*sum, r[i].data[k]); /* every byte can be read */
			}
			struct usk_packet p;
			struct usk_counts left_out = { 0 };
			if (usk_packet_decode(&r[i], iface[r[i].iface].link_type, depth, &p,
					      &left_out)) {
				*sum = mixed(*sum, p.key);
				fuzz_found_packet(&p);
			}
			*sum = mixed(*sum, (uint64_t)r[i].time_ns);
			fuzz_found((uint64_t)r[i].captured << 32 | r[i].length);
			fuzz_found((uint64_t)r[i].iface << 8 | r[i].side);
		}
	}
	return !status;
}

static bool read_messages(struct usk_trace *t, size_t batch, uint64_t *sum)
{
	struct usk_msg m[BATCH];
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	for (size_t n = 1; n;) {
		status = usk_trace_messages(t, m, batch, &n, &err);
		if (status) {
			demand(err.msg[0] != 0);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			demand(m[i].from < usk_trace_clocks(t) && m[i].to < usk_trace_clocks(t));
			demand(usk_trace_clock_name(t, m[i].from) != NULL);
			demand(m[i].sent_ns >= -USK_TIME_MAX && m[i].sent_ns <= USK_TIME_MAX);
			demand(m[i].received_ns >= -USK_TIME_MAX &&
			       m[i].received_ns <= USK_TIME_MAX);
			*sum = mixed(*sum,
				     (uint64_t)m[i].sent_ns ^ (uint64_t)m[i].received_ns << 1);
			fuzz_found((uint64_t)m[i].from << 32 | m[i].to);
			fuzz_found(m[i].bytes);
		}
	}
	return !status;
}

/* Of what may lack bytes that no packet is told by. */
static uint64_t read_packets(struct usk_trace *t, struct usk_depth depth)
{
	struct usk_record r[BATCH];
	uint64_t sum = 0, word[PACKET_WORDS];
	for (size_t n = 1; n;) {
		demand(!usk_trace_records(t, r, BATCH, &n, NULL));
		size_t n_ifaces;
		const struct usk_iface *iface = usk_trace_ifaces(t, &n_ifaces);
		for (size_t i = 0; i < n; i++) {
			struct usk_packet p;
			struct usk_counts left_out = { 0 };
			sum = mixed(sum, (uint64_t)r[i].time_ns ^ r[i].length);
			sum = mixed(sum, (uint64_t)r[i].iface << 8 | r[i].side);
			bool is = usk_packet_decode(&r[i], iface[r[i].iface].link_type, depth, &p,
						    &left_out);
			if (is) {
				words_of(&p, word);
			}
			for (size_t k = 0; k < COUNT(word) && is; k++) {
				sum = mixed(sum, word[k]);
			}
		}
	}
	return sum;
}

static bool read_events(struct usk_trace *t, size_t batch, uint64_t *sum)
{
	struct usk_event e[BATCH];
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	for (size_t n = 1; n;) {
		status = usk_trace_sides(t, e, batch, &n, &err);
		if (status) {
			demand(err.msg[0] != 0);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			demand(e[i].clock < usk_trace_clocks(t));
			demand(usk_trace_clock_name(t, e[i].clock) != NULL);
			demand(e[i].side == USK_SIDE_SENT || e[i].side == USK_SIDE_RECEIVED);
			demand(e[i].time_ns >= -USK_TIME_MAX && e[i].time_ns <= USK_TIME_MAX);
			*sum = mixed(*sum, e[i].id.word[0] ^ (uint64_t)e[i].time_ns);
			*sum = mixed(*sum, e[i].id.word[1] + e[i].side);
			fuzz_found((uint64_t)e[i].clock << 32 | e[i].bytes);
		}
	}
	return !status;
}

static bool read_spans(struct usk_trace *t, size_t batch, uint64_t *sum)
{
	struct usk_span s[BATCH];
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	for (size_t n = 1; n;) {
		status = usk_trace_spans(t, s, batch, &n, &err);
		if (status) {
			demand(err.msg[0] != 0);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			demand(s[i].clock < usk_trace_clocks(t));
			demand(s[i].process < usk_trace_processes(t)->n);
			demand(s[i].operation < usk_trace_operations(t)->n);
			demand(s[i].kind <= USK_SPAN_CONSUMER);
			demand(s[i].start_ns >= -USK_TIME_MAX && s[i].start_ns <= USK_TIME_MAX);
			demand(s[i].end_ns == USK_NONE ||
			       (s[i].end_ns >= s[i].start_ns && s[i].end_ns <= USK_TIME_MAX));
			*sum = mixed(*sum, s[i].id ^ s[i].parent << 1 ^ s[i].trace << 2);
			*sum = mixed(*sum, (uint64_t)s[i].start_ns ^ (uint64_t)s[i].end_ns << 1);
			*sum = mixed(*sum,
				     s[i].clock + ((uint64_t)s[i].process << 20) + s[i].flags);
			fuzz_found((uint64_t)s[i].operation << 8 | s[i].kind);
		}
	}
	return !status;
}

static bool read_collectives(struct usk_trace *t, size_t batch, uint64_t *sum)
{
	struct usk_collective x[BATCH];
	struct usk_err err = { 0 };
	enum usk_status status = USK_OK;
	for (size_t n = 1; n;) {
		status = usk_trace_collectives(t, x, batch, &n, &err);
		if (status) {
			demand(err.msg[0] != 0);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			demand(x[i].clock < usk_trace_clocks(t));
			demand(x[i].rank < usk_trace_processes(t)->n);
			demand(x[i].kind < USK_NO_COLLECTIVE);
			demand(x[i].enter_ns >= -USK_TIME_MAX && x[i].exit_ns <= USK_TIME_MAX);
			demand(x[i].exit_ns >= x[i].enter_ns);
			*sum = mixed(*sum, x[i].id.word[0] ^ x[i].id.word[1] << 1 ^ x[i].kind);
			*sum = mixed(*sum, (uint64_t)x[i].enter_ns ^ (uint64_t)x[i].exit_ns << 1);
			*sum = mixed(*sum, x[i].clock + ((uint64_t)x[i].rank << 20) + x[i].root);
			fuzz_found(x[i].slack_ns);
		}
	}
	return !status;
}

/* All rows, so many at a time. Where the run ends with a sentence, what came before it depends on
 * the batch. */
static uint64_t read_all(struct usk_trace *t, size_t size, size_t batch)
{
	uint64_t sum = 0;
	struct usk_depth depth = { 64, 0 };
	struct usk_err err = { 0 };
	bool whole;
	if (usk_trace_class(t) == USK_TRACE_CAPTURE) {
		demand(!usk_trace_depth(t, &depth, &err) || err.msg[0]);
		whole = read_records(t, size, batch, depth, &sum);
	} else if (usk_trace_class(t) == USK_TRACE_TABLE) {
		whole = read_messages(t, batch, &sum);
	} else if (usk_trace_class(t) == USK_TRACE_SPANS) {
		whole = read_spans(t, batch, &sum);
	} else if (usk_trace_class(t) == USK_TRACE_COLLECTIVES) {
		whole = read_collectives(t, batch, &sum);
	} else {
		whole = read_events(t, batch, &sum);
	}
	const char *damage = usk_trace_damage(t);
	demand(!damage || *damage);
	for (uint32_t i = 0; i < usk_trace_clocks(t); i++) {
		fuzz_found_text(usk_trace_clock_name(t, i));
	}
	fuzz_found(sum);
	fuzz_found(whole ? damage != NULL : 2);
	fuzz_found_numbers(whole ? damage : NULL);
	return whole ? mixed(sum, damage != NULL) : 0;
}

void fuzz_opened(struct usk_trace *t, size_t size)
{
	static const size_t batches[] = { BATCH, 1, 7, BATCH };
	struct usk_err err = { 0 };
	uint64_t first = 0;
	for (size_t i = 0; i < COUNT(batches); i++) {
		uint64_t sum = read_all(t, size, batches[i]);
		demand(!i || sum == first);
		first = sum;
		demand(!usk_trace_rewind(t, &err));
	}
}

struct part {
	uint8_t *data;
	size_t n;
};

static void put(void *ctx, const void *data, size_t n)
{
	struct part *p = ctx;
	p->data = usk_grow(p->data, p->n + n + 1, 1);
	if (n) {
		memcpy(p->data + p->n, data, n);
	}
	p->n += n;
}

/* Whoever reads a trace's part gets what the trace itself gives. */
static void part_of(struct usk_trace *t)
{
	struct part part = { NULL, 0 };
	const struct usk_part_sink sink = { put, &part };
	struct usk_err err = { 0 };
	struct usk_trace *again;
	if (usk_part_write(t, true, &sink, &err)) {
		fuzz_found(err.at);
		free(part.data);
		return;
	}
	fuzz_found_bytes(part.data, part.n);
	demand(!usk_part_open_memory(part.data, part.n, NULL, &again, &err));
	demand(!usk_trace_rewind(t, &err));
	if (usk_trace_class(t) == USK_TRACE_CAPTURE) {
		struct usk_depth depth = { 64, 0 };
		bool known = !usk_trace_depth(t, &depth, &err);
		demand(!usk_trace_rewind(t, &err));
		demand(!known || read_packets(t, depth) == read_packets(again, depth));
	} else {
		demand(read_all(t, 0, BATCH) == read_all(again, 0, BATCH));
	}
	usk_trace_close(again);
	free(part.data);
}

bool fuzz_trace(const uint8_t *data, size_t size, const char *kind)
{
	static const char *const rate[] = { "tick=1193182" };
	const struct usk_read_options opt = { .tick_rate = rate, .n_tick_rate = 1 };
	struct usk_trace *t = NULL;
	struct usk_err err = { 0 };
	if (usk_trace_open_memory_with(data, size, "fuzz", &opt, &t, &err)) {
		demand(err.msg[0] != 0);
		fuzz_found(err.at);
		return false;
	}
	bool mine = !kind || !strcmp(usk_trace_kind(t), kind);
	if (mine) {
		fuzz_opened(t, usk_packing_of(data, size) == USK_PLAIN ? size : 0);
		part_of(t);
	}
	usk_trace_close(t);
	return mine;
}

struct looking {
	struct fuzz_bytes bytes;
	void (*check)(const struct fuzz_bytes *b, const struct usk_place *p, size_t n);
};

static enum usk_status check_places(void *ctx, const struct usk_span *s, const struct usk_place *p,
				    size_t n, struct usk_err *err)
{
	const struct looking *k = ctx;
	(void)s;
	(void)err;
	for (size_t i = 0, at = 0; i < n; i++) {
		if (p[i].kind == USK_PLACE_RECORDED) {
			continue;
		}
		if (p[i].from < at || p[i].to < p[i].from || p[i].to > k->bytes.size) {
			abort();
		}
		at = p[i].to;
	}
	k->check(&k->bytes, p, n);
	return USK_OK;
}

void fuzz_places(const uint8_t *data, size_t size, bool protobuf,
		 void (*check)(const struct fuzz_bytes *b, const struct usk_place *p, size_t n))
{
	struct looking k = { { data, size }, check };
	struct usk_trace *t;
	struct usk_span s[16];
	size_t n = 1;
	if (usk_trace_open_memory(data, size, "m", &t, NULL)) {
		return;
	}
	/* Packed bytes are not the ones that places are of. */
	if (usk_trace_class(t) == USK_TRACE_SPANS && !t->in.packed &&
	    protobuf == (t->reader == &usk_reader_otlp_proto)) {
		t->take_span = check_places;
		t->span_ctx = &k;
		usk_trace_rewind(t, NULL);
		while (n && !usk_trace_spans(t, s, COUNT(s), &n, NULL)) {
		}
	}
	usk_trace_close(t);
}
