/* SPDX-License-Identifier: MIT */
/*
 * located.c - which records of which files messages are
 *
 * In    clocks and their stamps; the traces
 * Out   for each the first record that has it: of captures the numbers that Wireshark shows, of
 *       tables those of rows
 * Not   traces that are neither: their records have no numbers that a viewer shows
 */
#include "located.h"

#include "read/trace.h"

#include <stdlib.h>

KEYS_CALLED(by_stamp, BY(located_end, clock), BY(located_end, ns), BY(located_end, peer),
	    BY(located_end, peer_ns));

static struct located_end end_of(const struct usk_msg *m, bool received)
{
	struct located_end sent = { .clock = m->from,
				    .peer = m->to,
				    .ns = m->sent_ns,
				    .peer_ns = m->received_ns },
			   got = { .clock = m->to,
				   .peer = m->from,
				   .ns = m->received_ns,
				   .peer_ns = m->sent_ns };
	return received ? got : sent;
}

void located_want(struct located *l, const struct usk_msg *m)
{
	for (int received = 0; received < 2; received++) {
		*USK_ADD(l->end, l->n, l->cap) = end_of(m, received);
	}
}

/* The first that is not before it. */
static size_t place_of(const struct located *l, const struct located_end *e)
{
	size_t i;
	USK_FIRST(i, 0, l->n, usk_order_by(&l->end[i], e, by_stamp) >= 0);
	return i;
}

static void found(struct located_end *e, size_t trace, uint64_t number)
{
	if (!e->number) {
		e->trace = trace;
		e->number = number;
	}
}

/* A packet is all ends that its clock stamped then, a row one message. */
static void found_packet(struct located *l, uint32_t clock, int64_t ns, size_t trace,
			 uint64_t number)
{
	const struct located_end least = { .clock = clock, .ns = ns, .peer_ns = INT64_MIN };
	for (size_t i = place_of(l, &least);
	     i < l->n && l->end[i].clock == clock && l->end[i].ns == ns; i++) {
		found(&l->end[i], trace, number);
	}
}

static void found_row(struct located *l, const struct usk_msg *m, size_t trace, uint64_t number)
{
	for (int received = 0; received < 2; received++) {
		struct located_end e = end_of(m, received);
		size_t i = place_of(l, &e);
		if (i < l->n && !usk_order_by(&l->end[i], &e, by_stamp)) {
			found(&l->end[i], trace, number);
		}
	}
}

static enum usk_status locate_packets(struct located *l, const struct usk_clocks *c, size_t i,
				      struct usk_err *err)
{
	enum { BATCH = 256 };
	static struct usk_record record[BATCH];
	uint32_t clock = i < c->n_traces ? c->trace[i].clock : USK_NO_CLOCK;
	uint64_t number = 0;
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = usk_trace_records(l->trace[i], record, BATCH, &n, err);
		for (size_t k = 0; k < n && !status; k++) {
			found_packet(l, clock, record[k].time_ns, i, ++number);
		}
	}
	return status;
}

static enum usk_status locate_rows(struct located *l, const struct usk_clocks *c, size_t i,
				   struct usk_err *err)
{
	enum { BATCH = 256 };
	static struct usk_msg msg[BATCH];
	uint64_t number = 0;
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = usk_trace_messages(l->trace[i], msg, BATCH, &n, err);
		for (size_t k = 0; k < n && !status; k++) {
			struct usk_msg m = msg[k];
			m.from = usk_clocks_find(c, usk_trace_clock_name(l->trace[i], m.from), NULL,
						 NULL);
			m.to = usk_clocks_find(c, usk_trace_clock_name(l->trace[i], m.to), NULL,
					       NULL);
			found_row(l, &m, i, ++number);
		}
	}
	return status;
}

enum usk_status located_find(struct located *l, const struct usk_clocks *c,
			     struct usk_trace **trace, size_t n_traces, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	l->trace = trace;
	usk_sort(l->end, l->n, sizeof *l->end, by_stamp);
	for (size_t i = 0; i < n_traces && l->n && !status; i++) {
		enum usk_trace_class class = usk_trace_class(trace[i]);
		if (class != USK_TRACE_CAPTURE && class != USK_TRACE_TABLE) {
			continue;
		}
		status = usk_trace_rewind(trace[i], err);
		if (!status) {
			status = (class == USK_TRACE_CAPTURE ? locate_packets
							     : locate_rows)(l, c, i, err);
		}
	}
	return status;
}

const char *located_at(const struct located *l, const struct usk_msg *m, bool received)
{
	struct located_end key = end_of(m, received);
	size_t i = place_of(l, &key);
	const struct located_end *e =
		i < l->n && !usk_order_by(&l->end[i], &key, by_stamp) ? &l->end[i] : NULL;
	if (!e || !e->number) {
		return "";
	}
	struct usk_trace *t = l->trace[e->trace];
	bool packet = usk_trace_class(t) == USK_TRACE_CAPTURE;
	return kept(usk_format(" (%s #%s of %s)", packet ? "packet" : "message",
			       unit_count(e->number).s, printable(usk_trace_path(t))));
}
