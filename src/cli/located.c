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

static int by_stamp(const void *pa, const void *pb)
{
	const struct located_end *a = pa, *b = pb;
	int order = usk_order(a->clock, b->clock);
	return order ? order : usk_order(a->ns, b->ns);
}

static void want(struct located *l, uint32_t clock, int64_t ns)
{
	l->end = usk_room(l->end, l->n, &l->cap, sizeof *l->end);
	l->end[l->n++] = (struct located_end){ .clock = clock, .ns = ns };
}

void located_want(struct located *l, const struct usk_msg *m)
{
	want(l, m->from, m->sent_ns);
	want(l, m->to, m->received_ns);
}

static struct located_end *end_of(const struct located *l, uint32_t clock, int64_t ns)
{
	struct located_end key = { .clock = clock, .ns = ns };
	return l->n ? bsearch(&key, l->end, l->n, sizeof key, by_stamp) : NULL;
}

static void found(struct located *l, uint32_t clock, int64_t ns, size_t trace, uint64_t number)
{
	struct located_end *e = end_of(l, clock, ns);
	if (e && !e->number) {
		e->trace = trace;
		e->number = number;
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
			found(l, clock, record[k].time_ns, i, ++number);
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
			const char *from = usk_trace_clock_name(l->trace[i], msg[k].from);
			const char *to = usk_trace_clock_name(l->trace[i], msg[k].to);
			number++;
			found(l, usk_clocks_find(c, from, NULL, NULL), msg[k].sent_ns, i, number);
			found(l, usk_clocks_find(c, to, NULL, NULL), msg[k].received_ns, i, number);
		}
	}
	return status;
}

enum usk_status located_find(struct located *l, const struct usk_clocks *c,
			     struct usk_trace **trace, size_t n_traces, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	l->trace = trace;
	if (l->n) {
		qsort(l->end, l->n, sizeof *l->end, by_stamp);
	}
	for (size_t i = 0; i < n_traces && l->n && !status; i++) {
		status = usk_trace_rewind(trace[i], err);
		if (!status && usk_trace_class(trace[i]) == USK_TRACE_CAPTURE) {
			status = locate_packets(l, c, i, err);
		} else if (!status && usk_trace_class(trace[i]) == USK_TRACE_TABLE) {
			status = locate_rows(l, c, i, err);
		}
	}
	return status;
}

const char *located_at(const struct located *l, uint32_t clock, int64_t ns)
{
	const struct located_end *e = end_of(l, clock, ns);
	if (!e || !e->number) {
		return "";
	}
	struct usk_trace *t = l->trace[e->trace];
	bool packet = usk_trace_class(t) == USK_TRACE_CAPTURE;
	return kept(usk_format(" (%s #%s of %s)", packet ? "packet" : "message",
			       unit_count(e->number).s, printable(usk_trace_path(t))));
}
