/* SPDX-License-Identifier: MIT */
/*
 * messages.c - tables of messages
 *
 * In    rows with the columns sender, receiver, sent, received[, bytes], as CSV or JSON lines;
 *       times as NAME_ns (integer), NAME_s (decimal), NAME (RFC 3339) or NAME_ticks
 * Out   messages; the names of clocks are the table's own
 * Why   whoever has matched sends and receives already can print them
 * Not   other separators; one side of a message (events.c)
 */
#include "read/rows.h"

static enum usk_status take(struct usk_trace *t, const struct usk_cell *c, void *out,
			    struct usk_err *why)
{
	struct usk_msg *m = out;
	struct usk_csv_field sender = c[USK_SENDER].f, receiver = c[USK_RECEIVER].f;
	enum usk_status status =
		usk_cell_time(&t->opt, sender, &c[USK_SENT], &m->sent_ns, NULL, why);
	if (!status) {
		status = usk_cell_time(&t->opt, receiver, &c[USK_RECEIVED], &m->received_ns, NULL,
				       why);
	}
	if (!status) {
		status = usk_cell_bytes(&c[USK_MESSAGE_BYTES], &m->bytes, why);
	}
	if (!status) {
		m->from = usk_trace_clock(t, sender);
		m->to = usk_trace_clock(t, receiver);
	}
	return status;
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	return usk_rows_batch(t, take, out, sizeof *out, cap, n, err);
}

const struct reader usk_reader_messages = {
	.info = { "messages",
		  "tables of messages, CSV or JSON lines: "
		  "sender,receiver,sent_ns,received_ns[,bytes]",
		  USK_TRACE_TABLE },
	.table = &usk_table_messages,
	.start = usk_rows_start,
	.messages = messages,
	.stop = usk_rows_stop,
};
