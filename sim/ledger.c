/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - the true message table, and which of its rows a matcher can be sure of
 *
 * In    every send, and every receive whose send was recorded
 * Out   messages.csv
 * Why   `unambiguous` says what can be known from captures, so that a test may demand it
 * Not   who is recorded (net.c)
 *
 * IP-ID tells all copies apart, so with it a row is final at once: only copies that the network
 * made are in doubt. Without it, a byte range is in doubt when another send overlaps it with
 * the same TSval (or without timestamps), and a datagram or pure acknowledgement when its
 * content occurs again within HOLD. Both may turn out later: rows wait that long.
 */
#include "base/index.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define HOLD_NS INT64_C(8000000000)

struct row {
	int64_t sent_ns, received_ns;
	int64_t at_ns; /* true time */
	uint64_t id, start, end;
	uint32_t stream, generation, tsval, bytes;
	uint16_t from, to;
	bool timestamps, unambiguous;
};

/* A range of a stream that was sent, or one in doubt. */
struct range {
	int64_t at_ns;
	uint64_t id, start, end;
	uint32_t generation, tsval;
};

struct ranges {
	struct range *v;
	size_t first, n, cap; /* v[first..n) */
};

/* One direction of one connection. */
struct stream {
	struct ranges sent, doubtful;
	uint64_t highest;
	uint32_t generation;
};

/* What is kept by content: the number of its row + 1, 0 if it has none, above two bits. */
enum { SEEN = 1, DOUBTFUL = 2, ROW_SHIFT = 2 };

struct ledger {
	struct usk_output out;
	bool hold;
	struct sim_result result;
	struct row *row; /* a ring by row number */
	uint64_t first, last;
	size_t cap;
	struct stream *stream;
	size_t n_streams;
	struct usk_index now, before; /* contents of this period of HOLD and of the last */
	int64_t turned_ns;
	bool turned;
};

/* ---- lines ----------------------------------------------------------------------- */

static char *put_number(char *p, uint64_t x)
{
	char digits[20];
	int n = 0;
	do {
		digits[n++] = (char)('0' + x % 10);
		x /= 10;
	} while (x);
	while (n) {
		*p++ = digits[--n];
	}
	return p;
}

static char *put_signed(char *p, int64_t x)
{
	if (x < 0) {
		*p++ = '-';
	}
	return put_number(p, x < 0 ? -(uint64_t)x : (uint64_t)x);
}

static char *put_host(char *p, uint32_t host)
{
	memcpy(p, "host", 4);
	p = put_number(p + 4, host);
	*p++ = ',';
	return p;
}

void ledger_header(struct usk_output *out)
{
	usk_output_format(out, "sender,receiver,sent_ns,received_ns,bytes,id,unambiguous\n");
}

void ledger_row(struct usk_output *out, uint32_t from, uint32_t to, int64_t sent_ns,
		int64_t received_ns, uint32_t bytes, uint64_t id, bool unambiguous)
{
	char line[160], *p = put_host(put_host(line, from), to);
	p = put_signed(p, sent_ns);
	*p++ = ',';
	p = put_signed(p, received_ns);
	*p++ = ',';
	p = put_number(p, bytes);
	*p++ = ',';
	p = put_number(p, id);
	*p++ = ',';
	*p++ = unambiguous ? '1' : '0';
	*p++ = '\n';
	usk_output_write(out, line, (size_t)(p - line));
}

/* ---- rows that wait ----------------------------------------------------------------- */

static struct row *row_of(struct ledger *t, uint64_t number)
{
	return number >= t->first && number < t->last ? &t->row[number & (t->cap - 1)] : NULL;
}

static void write_row(struct ledger *t, const struct row *r)
{
	ledger_row(&t->out, r->from, r->to, r->sent_ns, r->received_ns, r->bytes, r->id,
		   r->unambiguous);
	t->result.messages++;
	t->result.unambiguous += r->unambiguous;
}

static void release(struct ledger *t, int64_t before_ns)
{
	while (t->first < t->last) {
		const struct row *r = row_of(t, t->first);
		if (r->at_ns >= before_ns) {
			break;
		}
		write_row(t, r);
		t->first++;
	}
}

static void hold_row(struct ledger *t, const struct row *r)
{
	t->row = sim_ring_room(t->row, t->first, t->last, &t->cap, sizeof *t->row);
	t->row[t->last++ & (t->cap - 1)] = *r;
}

/* ---- byte ranges ------------------------------------------------------------------- */

static struct stream *stream_of(struct ledger *t, const struct sim_packet *p)
{
	size_t i = 2 * (size_t)p->flow + !p->from_client;
	if (i >= t->n_streams) {
		t->stream = usk_grow(t->stream, i + 1, sizeof *t->stream);
		memset(t->stream + t->n_streams, 0, (i + 1 - t->n_streams) * sizeof *t->stream);
		t->n_streams = i + 1;
	}
	return &t->stream[i];
}

static void add_range(struct ranges *r, const struct range *x)
{
	while (r->first < r->n && r->v[r->first].at_ns < x->at_ns - HOLD_NS) {
		r->first++;
	}
	if (r->first > r->n / 2 && r->n == r->cap) {
		memmove(r->v, r->v + r->first, (r->n - r->first) * sizeof *r->v);
		r->n -= r->first;
		r->first = 0;
	}
	r->v = usk_room(r->v, r->n, &r->cap, sizeof *r->v);
	r->v[r->n++] = *x;
}

static bool overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return a < d && c < b;
}

/* A range is sent again: whatever it shares with a send that looks the same is in doubt. */
static void doubt_repeated(struct ledger *t, struct stream *s, const struct sim_packet *p,
			   const struct range *x)
{
	int64_t since = INT64_MAX;
	for (size_t i = s->sent.first; i < s->sent.n; i++) {
		const struct range *y = &s->sent.v[i];
		if (y->generation != x->generation ||
		    !overlap(x->start, x->end, y->start, y->end) ||
		    (p->timestamps && y->tsval != x->tsval)) {
			continue;
		}
		struct range both = *x;
		both.start = x->start > y->start ? x->start : y->start;
		both.end = x->end < y->end ? x->end : y->end;
		add_range(&s->doubtful, &both);
		since = y->at_ns < since ? y->at_ns : since;
	}
	uint32_t stream = (uint32_t)(s - t->stream);
	for (uint64_t i = t->last; i > t->first; i--) {
		struct row *r = row_of(t, i - 1);
		if (r->at_ns < since) {
			break;
		}
		if (r->stream == stream && r->generation == x->generation &&
		    overlap(r->start, r->end, x->start, x->end) &&
		    (!r->timestamps || r->tsval == x->tsval)) {
			r->unambiguous = false;
		}
	}
}

static void range_sent(struct ledger *t, const struct sim_packet *p, int64_t now_ns)
{
	struct stream *s = stream_of(t, p);
	struct range x = { now_ns,	  p->id,   p->offset, p->offset + sim_span(p),
			   p->generation, p->tsval };
	if (s->generation != p->generation) {
		s->generation = p->generation;
		s->highest = 0;
	}
	if (x.start < s->highest) {
		doubt_repeated(t, s, p, &x);
	}
	s->highest = x.end > s->highest ? x.end : s->highest;
	add_range(&s->sent, &x);
}

static bool range_is_doubtful(struct ledger *t, const struct sim_packet *p)
{
	const struct stream *s = stream_of(t, p);
	for (size_t i = s->doubtful.first; i < s->doubtful.n; i++) {
		const struct range *y = &s->doubtful.v[i];
		if (y->generation == p->generation &&
		    overlap(p->offset, p->offset + sim_span(p), y->start, y->end) &&
		    (!p->timestamps || y->tsval == p->tsval)) {
			return true;
		}
	}
	return false;
}

/* ---- contents ------------------------------------------------------------------------ */

/* The entry of a content, new or from either period. *old: it was there. */
static uint64_t *content(struct ledger *t, uint64_t key, int64_t now_ns, bool *old)
{
	if (!t->turned || now_ns - t->turned_ns >= HOLD_NS) {
		usk_index_free(&t->before);
		t->before = t->now;
		t->now = (struct usk_index){ 0 };
		t->turned_ns = now_ns;
		t->turned = true;
	}
	uint64_t *s = usk_index_value(&t->now, key, 0);
	*s = *s ? *s : usk_index_find(&t->before, key, 0);
	*old = *s != 0;
	*s |= SEEN;
	return s;
}

static uint64_t key_of(const struct sim_packet *p, uint32_t visible)
{
	uint64_t h = usk_mix(p->proto + UINT64_C(0x9e3779b97f4a7c15));
	if (p->proto == PROTO_TCP) {
		h = usk_mix(h ^ ((uint64_t)p->ack << 32 | (p->timestamps ? p->tsval : 0)));
		return usk_mix(h + p->flags);
	}
	uint8_t bytes[16];
	uint64_t head[2] = { 0, 0 };
	for (int i = 0; i < 16; i++) {
		bytes[i] = (uint8_t)(p->nonce[i / 8] >> (56 - i % 8 * 8));
	}
	memcpy(head, bytes, visible < 16 ? visible : 16);
	h = usk_mix(h ^ p->len ^ (p->broadcast ? (uint64_t)(p->server + 1) << 32 : 0));
	if (p->proto == PROTO_ICMP) {
		h = usk_mix(h ^ ((uint64_t)p->client_port << 32 | (p->seq & 0xffff)));
		h += p->from_client;
	}
	return usk_mix(usk_mix(h ^ head[0]) ^ head[1]);
}

/* ---- what net.c tells ------------------------------------------------------------------ */

enum usk_status ledger_open(struct ledger **out, const char *dir, bool force, bool hold,
			    struct usk_err *err)
{
	struct ledger *t = usk_alloc(1, sizeof *t);
	enum usk_status status = world_file(&t->out, dir, "messages.csv", force, err);
	if (status) {
		free(t);
		return status;
	}
	t->hold = hold;
	ledger_header(&t->out);
	*out = t;
	return USK_OK;
}

void ledger_sent(struct ledger *t, const struct sim_packet *p, int64_t now_ns, uint32_t visible)
{
	if (!t->hold) {
		return;
	}
	release(t, now_ns - HOLD_NS);
	if (p->proto == PROTO_TCP && sim_span(p)) {
		range_sent(t, p, now_ns);
		return;
	}
	bool old;
	uint64_t *s = content(t, key_of(p, visible), now_ns, &old);
	if (old) {
		*s |= DOUBTFUL;
		struct row *r = *s >> ROW_SHIFT ? row_of(t, (*s >> ROW_SHIFT) - 1) : NULL;
		if (r) {
			r->unambiguous = false;
		}
	}
}

void ledger_received(struct ledger *t, const struct sim_packet *p, int64_t now_ns,
		     int64_t received_ns, uint32_t visible)
{
	bool range = p->proto == PROTO_TCP && sim_span(p);
	struct row r = {
		.sent_ns = p->sent_ns,
		.received_ns = received_ns,
		.at_ns = now_ns,
		.id = p->id,
		.start = p->offset,
		.end = p->offset + (range ? sim_span(p) : 0),
		.stream = 2 * p->flow + !p->from_client,
		.generation = p->generation,
		.tsval = p->tsval,
		.bytes = p->len,
		.from = p->from_client ? p->client : p->server,
		.to = p->from_client ? p->server : p->client,
		.timestamps = p->timestamps,
		.unambiguous = range ? !p->copy : !p->doubled && !p->broadcast,
	};
	if (!t->hold) {
		write_row(t, &r);
		return;
	}
	if (range) {
		r.unambiguous = r.unambiguous && !range_is_doubtful(t, p);
	} else {
		bool old;
		uint64_t *s = content(t, key_of(p, visible), now_ns, &old);
		r.unambiguous = r.unambiguous && !(*s & DOUBTFUL);
		*s = (*s & (SEEN | DOUBTFUL)) | (t->last + 1) << ROW_SHIFT;
	}
	hold_row(t, &r);
}

enum usk_status ledger_commit(struct ledger *t, struct sim_result *result, struct usk_err *err)
{
	release(t, INT64_MAX);
	result->messages = t->result.messages;
	result->unambiguous = t->result.unambiguous;
	return usk_output_commit(&t->out, err);
}

void ledger_free(struct ledger *t)
{
	if (!t) {
		return;
	}
	usk_output_close(&t->out);
	for (size_t i = 0; i < t->n_streams; i++) {
		free(t->stream[i].sent.v);
		free(t->stream[i].doubtful.v);
	}
	free(t->stream);
	free(t->row);
	usk_index_free(&t->now);
	usk_index_free(&t->before);
	free(t);
}
