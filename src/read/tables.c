/* SPDX-License-Identifier: MIT */
/*
 * tables.c - tables of messages, of events and of exchanges
 *
 * In    rows as CSV or JSON lines, in the columns of usk_table_messages, usk_table_events and
 *       usk_table_exchanges; times as NAME_ns (integer), NAME_s (decimal), NAME (RFC 3339) or
 *       NAME_ticks
 * Out   messages; sides of messages with their ids; of an exchange two messages: a to b, sent t1,
 *       received t2, and back, sent t3, received t4. The names of clocks are the table's own
 * Why   whoever has matched sends and receives already can print them; whoever can print a line
 *       when something is sent, and another when it comes in, needs no tracer, and each machine may
 *       print its own table; and every time protocol, NTP and PTP among them, has four stamps
 * Not   other separators; which events are one message: that is joined over all traces
 *       (match/join.c); what a protocol concludes from its stamps
 *
 * A row that cannot be read is left out, and the damage tells how many and of the first why.
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

struct rows {
	struct usk_table table;
	struct usk_msg waiting; /* found with one that was handed out already */
	bool waits;
};

/* A row's cells -> out. USK_EINPUT with a sentence, without file and line: it is left out. */
typedef enum usk_status take_row(struct usk_trace *t, const struct usk_cell *c, void *out,
				 struct usk_err *why);

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	struct rows *r = t->state ? t->state : (t->state = usk_alloc(1, sizeof *r));
	enum usk_status status =
		usk_table_start(&r->table, t->reader->table, &t->in, &t->used, err);
	r->waits = false;
	return usk_fail_in(status, err, "%s", t->path);
}

static void stop(struct usk_trace *t)
{
	struct rows *r = t->state;
	if (r) {
		usk_table_free(&r->table);
	}
	free(r);
	t->state = NULL;
}

/* The next row that take() makes something of; none is left where t is done. */
static enum usk_status next_row(struct usk_trace *t, take_row *take, void *out, struct usk_err *err)
{
	struct usk_table *b = &((struct rows *)t->state)->table;
	struct usk_err why;
	bool more;
	for (;;) {
		enum usk_status status = usk_table_next(b, &t->in, &t->used, &more, &why);
		if (!status && !more) {
			char *damage = usk_csv_bad_text(&b->bad);
			if (damage) {
				usk_trace_damaged(t, "%s", damage);
			}
			free(damage);
			t->done = true;
			return USK_OK;
		}
		if (!status && b->blank) {
			continue;
		}
		status = status ? status : take(t, b->cell, out, &why);
		if (!status) {
			return USK_OK;
		}
		if (status == USK_ERANGE) {
			return usk_fail(err, status, b->number, "%s: line %llu: %s", t->path,
					(unsigned long long)b->number, why.msg);
		}
		if (status == USK_EIO) {
			return usk_fail(err, status, b->number, "%s: %s", t->path, why.msg);
		}
		usk_table_left_out(b, why.msg);
	}
}

/* The next cap of them at most, of so many bytes each. */
static enum usk_status batch(struct usk_trace *t, take_row *take, void *out, size_t size,
			     size_t cap, size_t *n, struct usk_err *err)
{
	struct rows *r = t->state;
	enum usk_status status = USK_OK;
	for (*n = 0; *n < cap; ++*n) {
		void *to = (uint8_t *)out + *n * size;
		if (r->waits) {
			memcpy(to, &r->waiting, size);
			r->waits = false;
			continue;
		}
		status = next_row(t, take, to, err);
		if (status || t->done) {
			break;
		}
	}
	return status;
}

/* ---- messages ---------------------------------------------------------------------------- */

static enum usk_status take_message(struct usk_trace *t, const struct usk_cell *c, void *out,
				    struct usk_err *why)
{
	struct usk_msg *m = out;
	struct usk_csv_field sender = c[USK_SENDER].f, receiver = c[USK_RECEIVER].f;
	enum usk_status s = usk_cell_time(&t->opt, sender, &c[USK_SENT], &m->sent_ns, NULL, why);
	s = s ? s : usk_cell_time(&t->opt, receiver, &c[USK_RECEIVED], &m->received_ns, NULL, why);
	s = s ? s : usk_cell_bytes(&c[USK_MESSAGE_BYTES], &m->bytes, why);
	if (!s) {
		m->from = usk_trace_clock(t, sender);
		m->to = usk_trace_clock(t, receiver);
	}
	return s;
}

/* There, and back: that one waits. */
static enum usk_status take_exchange(struct usk_trace *t, const struct usk_cell *c, void *out,
				     struct usk_err *why)
{
	struct rows *r = t->state;
	struct usk_msg *there = out, *back = &r->waiting;
	int64_t *const stamp[] = { &there->sent_ns, &there->received_ns, &back->sent_ns,
				   &back->received_ns };
	enum usk_status status = usk_cell_bytes(&c[USK_EXCHANGE_BYTES], &there->bytes, why);
	for (int i = 0; i < 4 && !status; i++) {
		int column = USK_T1 + i;
		int clock = usk_table_exchanges.column[column].clock;
		status = usk_cell_time(&t->opt, c[clock].f, &c[column], stamp[i], NULL, why);
	}
	r->waits = !status;
	if (!status) {
		there->from = back->to = usk_trace_clock(t, c[USK_A].f);
		there->to = back->from = usk_trace_clock(t, c[USK_B].f);
		back->bytes = there->bytes;
	}
	return status;
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	bool rows = t->reader == &usk_reader_messages;
	return batch(t, rows ? take_message : take_exchange, out, sizeof *out, cap, n, err);
}

const struct reader usk_reader_messages = {
	.info = { "messages", "sender, receiver, sent_ns, received_ns", NULL, USK_TRACE_TABLE },
	.table = &usk_table_messages,
	.start = start,
	.messages = messages,
	.stop = stop,
};

const struct reader usk_reader_exchanges = {
	.info = { "exchanges", "a, b, t1_ns, t2_ns, t3_ns, t4_ns", NULL, USK_TRACE_TABLE },
	.table = &usk_table_exchanges,
	.start = start,
	.messages = messages,
	.stop = stop,
};

/* ---- events ------------------------------------------------------------------------------ */

static enum usk_status take_event(struct usk_trace *t, const struct usk_cell *c, void *out,
				  struct usk_err *why)
{
	struct usk_event *e = out;
	struct usk_csv_field kind = c[USK_KIND].f, clock = c[USK_CLOCK].f, id = c[USK_ID].f;
	bool sent = usk_csv_is(kind, "send");
	if (!sent && !usk_csv_is(kind, "recv")) {
		return usk_fail(why, USK_EINPUT, 0, "its kind is \"%.*s\", neither send nor recv",
				(int)(kind.n < 40 ? kind.n : 40), kind.text);
	}
	enum usk_status s = usk_cell_time(&t->opt, clock, &c[USK_TIME], &e->time_ns, NULL, why);
	s = s ? s : usk_cell_bytes(&c[USK_EVENT_BYTES], &e->bytes, why);
	if (!s) {
		e->side = sent ? USK_SIDE_SENT : USK_SIDE_RECEIVED;
		e->clock = usk_trace_clock(t, clock);
		e->id = usk_event_id(id.text, id.n);
	}
	return s;
}

static enum usk_status events(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	return batch(t, take_event, out, sizeof *out, cap, n, err);
}

/* n <= 8 bytes as a word. Loads may overlap: no byte is waited for that was just stored. */
static inline uint64_t word_of(const uint8_t *d, size_t n)
{
	if (n >= 4) {
		return usk_le32(d) | (uint64_t)usk_le32(d + n - 4) << 8 * (n - 4);
	}
	return n ? d[0] | (uint64_t)d[n / 2] << 8 * (n / 2) | (uint64_t)d[n - 1] << 8 * (n - 1) : 0;
}

struct usk_event_id usk_event_id(const void *data, size_t n)
{
	struct usk_event_id id = { { 0, 0 } };
	const uint8_t *d = data;
	if (n < sizeof id) {
		/* Short ones are kept as they are, with their length: no two are taken for one. */
		const size_t first = n < 8 ? n : 8;
		id.word[0] = word_of(d, first);
		id.word[1] = word_of(d + first, n - first) | (uint64_t)n << 56;
		return id;
	}
	uint64_t a = n, b = ~(uint64_t)n;
	for (; n; d += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
		uint64_t word = 0;
		memcpy(&word, d, n < 8 ? n : 8);
		a = usk_mix(a ^ word) + word;
		b = usk_fold(b, word + UINT64_C(0x9e3779b97f4a7c15));
	}
	id.word[0] = usk_mix(a + b);
	id.word[1] = usk_mix(b) | usk_be64((const uint8_t *)"\0\0\0\0\0\0\0\xff");
	return id;
}

const struct reader usk_reader_events = {
	.info = { "events", "clock, time_ns, kind, id", NULL, USK_TRACE_EVENTS },
	.table = &usk_table_events,
	.start = start,
	.events = events,
	.stop = stop,
};

/* ---- spans ------------------------------------------------------------------------------- */

/* A process is what the table calls a clock: it tells no more. */
static enum usk_status take_span(struct usk_trace *t, const struct usk_cell *c, void *out,
				 struct usk_err *why)
{
	struct usk_span *s = out;
	struct usk_csv_field clock = c[USK_SPAN_CLOCK].f, kind = c[USK_SPAN_OF].f;
	struct usk_csv_field id = c[USK_SPAN].f, parent = c[USK_PARENT].f, trace = c[USK_TRACE].f;
	*s = (struct usk_span){ .trace = usk_span_id(trace.text, trace.n),
				.id = usk_span_id(id.text, id.n),
				.parent = usk_span_id(parent.text, parent.n),
				.kind = (uint8_t)usk_span_kind(kind.text, kind.n),
				.flags = kind.n ? 0 : USK_SPAN_NO_KINDS };
	enum usk_status status =
		usk_cell_time(&t->opt, clock, &c[USK_START], &s->start_ns, NULL, why);
	status =
		status ? status : usk_cell_time(&t->opt, clock, &c[USK_END], &s->end_ns, NULL, why);
	if (!status && s->end_ns < s->start_ns) {
		status = usk_fail(why, USK_EINPUT, 0, "its end is before its start");
	}
	if (!status) {
		s->clock = usk_trace_clock(t, clock);
		s->process = usk_texts_number(&t->process, s->clock, 0, clock.text, clock.n);
		s->operation = usk_trace_operation(t, c[USK_NAME].f);
	}
	return status;
}

static enum usk_status spans(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	return batch(t, take_span, out, sizeof *out, cap, n, err);
}

const struct reader usk_reader_spans = {
	.info = { "spans", "trace, span, parent, clock, start_ns, end_ns", NULL, USK_TRACE_SPANS },
	.table = &usk_table_spans,
	.start = start,
	.spans = spans,
	.stop = stop,
};

/* ---- collectives ------------------------------------------------------------------------- */

/* A rank is a process of its own, which several of may share a clock. */
static enum usk_status take_collective(struct usk_trace *t, const struct usk_cell *c, void *out,
				       struct usk_err *why)
{
	struct usk_collective *x = out;
	struct usk_csv_field clock = c[USK_MEMBER_CLOCK].f, kind = c[USK_COLLECTIVE_KIND].f;
	struct usk_csv_field id = c[USK_COLLECTIVE].f, root = c[USK_ROOT].f;
	struct usk_csv_field rank = c[USK_RANK].n_raw ? c[USK_RANK].f : clock;
	enum usk_collective_kind k = usk_collective_kind(kind.text, kind.n);
	if (k == USK_NO_COLLECTIVE) {
		return usk_fail(
			why, USK_EINPUT, 0,
			"its kind is \"%.*s\", none of allreduce, allgather, reducescatter, "
			"alltoall, barrier, broadcast, scatter, reduce, gather, message",
			(int)(kind.n < 40 ? kind.n : 40), kind.text);
	}
	if (usk_collective_shape(k) != USK_FROM_ALL_TO_ALL && !root.n) {
		return usk_fail(why, USK_EINPUT, 0, "it is a %s and names no root",
				usk_collective_name(k));
	}
	*x = (struct usk_collective){ .id = usk_event_id(id.text, id.n), .kind = (uint8_t)k };
	x->root = root.n == rank.n && root.n && !memcmp(root.text, rank.text, root.n);
	enum usk_status s = usk_cell_time(&t->opt, clock, &c[USK_ENTER], &x->enter_ns, NULL, why);
	s = s ? s : usk_cell_time(&t->opt, clock, &c[USK_EXIT], &x->exit_ns, NULL, why);
	if (!s && x->exit_ns < x->enter_ns) {
		s = usk_fail(why, USK_EINPUT, 0, "its exit is before its enter");
	}
	if (!s) {
		x->clock = usk_trace_clock(t, clock);
		x->rank = usk_trace_rank(t, x->clock, rank);
	}
	return s;
}

static enum usk_status collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				   size_t *n, struct usk_err *err)
{
	return batch(t, take_collective, out, sizeof *out, cap, n, err);
}

const struct reader usk_reader_collectives = {
	.info = { "collectives", "collective, kind, clock, enter_ns, exit_ns", NULL,
		  USK_TRACE_COLLECTIVES },
	.table = &usk_table_collectives,
	.start = start,
	.collectives = collectives,
	.stop = stop,
};
