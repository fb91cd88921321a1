/* SPDX-License-Identifier: MIT */
/*
 * events.c - tables of events: one side of a message a row
 *
 * In    rows with the columns clock, time, kind (send or recv), id[, bytes], as CSV or JSON lines
 * Out   events with their ids
 * Why   whoever can print a line when something is sent, and another when it comes in, needs no
 *       tracer; and each machine may print its own table
 * Not   which events are one message: that is joined over all traces (match/join.c)
 */
#include "read/rows.h"

static enum usk_status take(struct usk_trace *t, const struct usk_cell *c, void *out,
			    struct usk_err *why)
{
	struct usk_event *e = out;
	struct usk_csv_field kind = c[USK_KIND].f, clock = c[USK_CLOCK].f, id = c[USK_ID].f;
	bool sent = usk_csv_is(kind, "send");
	if (!sent && !usk_csv_is(kind, "recv")) {
		return usk_fail(why, USK_EINPUT, 0, "its kind is \"%.*s\", neither send nor recv",
				(int)(kind.n < 40 ? kind.n : 40), kind.text);
	}
	enum usk_status status =
		usk_cell_time(&t->opt, clock, &c[USK_TIME], &e->time_ns, NULL, why);
	if (!status) {
		status = usk_cell_bytes(&c[USK_EVENT_BYTES], &e->bytes, why);
	}
	if (!status) {
		e->side = sent ? USK_SIDE_SENT : USK_SIDE_RECEIVED;
		e->clock = usk_trace_clock(t, clock);
		e->id = usk_event_id(id.text, id.n);
	}
	return status;
}

static enum usk_status events(struct usk_trace *t, struct usk_event *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	return usk_rows_batch(t, take, out, sizeof *out, cap, n, err);
}

struct usk_event_id usk_event_id(const void *data, size_t n)
{
	struct usk_event_id id = { { 0, 0 } };
	if (n < sizeof id) {
		/* Short ones are kept as they are, with their length: no two are taken for one. */
		uint8_t bytes[sizeof id] = { 0 };
		__builtin_memcpy(bytes, data, n);
		bytes[sizeof id - 1] = (uint8_t)n;
		__builtin_memcpy(&id, bytes, sizeof id);
		return id;
	}
	const uint8_t *d = data;
	uint64_t a = n, b = ~(uint64_t)n;
	for (; n; d += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
		uint64_t word = 0;
		__builtin_memcpy(&word, d, n < 8 ? n : 8);
		a = usk_mix(a ^ word) + word;
		b = usk_fold(b, word + UINT64_C(0x9e3779b97f4a7c15));
	}
	id.word[0] = usk_mix(a + b);
	id.word[1] = usk_mix(b) | usk_be64((const uint8_t *)"\0\0\0\0\0\0\0\xff");
	return id;
}

const struct reader usk_reader_events = {
	.info = { "events", "tables of events, CSV or JSON lines: clock,time_ns,kind,id[,bytes]",
		  USK_TRACE_EVENTS },
	.table = &usk_table_events,
	.start = usk_rows_start,
	.events = events,
	.stop = usk_rows_stop,
};
