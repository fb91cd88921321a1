/* SPDX-License-Identifier: MIT */
/*
 * exchanges.c - tables of exchanges with four stamps, as NTP and PTP record them
 *
 * In    rows with the columns a, b, t1, t2, t3, t4[, bytes], as CSV or JSON lines: t1 and t4 on
 *       a's clock, t2 and t3 on b's
 * Out   two messages each: a to b, sent t1, received t2, and back, sent t3, received t4
 * Why   every time protocol has these four
 * Not   what a protocol concludes from them
 */
#include "read/rows.h"

struct both {
	struct usk_msg there, back;
};

static enum usk_status take(struct usk_trace *t, const struct usk_cell *c, void *out,
			    struct usk_err *why)
{
	struct both *both = out;
	int64_t *const stamp[] = { &both->there.sent_ns, &both->there.received_ns,
				   &both->back.sent_ns, &both->back.received_ns };
	uint32_t bytes;
	enum usk_status status = usk_cell_bytes(&c[USK_EXCHANGE_BYTES], &bytes, why);
	for (int i = 0; i < 4 && !status; i++) {
		int column = USK_T1 + i;
		int clock = usk_table_exchanges.column[column].clock;
		status = usk_cell_time(&t->opt, c[clock].f, &c[column], stamp[i], NULL, why);
	}
	if (!status) {
		both->there.from = both->back.to = usk_trace_clock(t, c[USK_A].f);
		both->there.to = both->back.from = usk_trace_clock(t, c[USK_B].f);
		both->there.bytes = both->back.bytes = bytes;
	}
	return status;
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	struct rows *r = t->state;
	enum usk_status status = USK_OK;
	bool more = true;
	*n = 0;
	if (r->waits && cap) {
		out[(*n)++] = r->waiting;
		r->waits = false;
	}
	while (*n < cap) {
		struct both both;
		status = usk_rows_next(t, take, &both, &more, err);
		if (status || !more) {
			break;
		}
		out[(*n)++] = both.there;
		if (*n < cap) {
			out[(*n)++] = both.back;
		} else {
			r->waiting = both.back;
			r->waits = true;
		}
	}
	return status;
}

const struct reader usk_reader_exchanges = {
	.info = { "exchanges",
		  "tables of exchanges, CSV or JSON lines: a,b,t1_ns,t2_ns,t3_ns,t4_ns[,bytes]",
		  USK_TRACE_TABLE },
	.table = &usk_table_exchanges,
	.start = usk_rows_start,
	.messages = messages,
	.stop = usk_rows_stop,
};
