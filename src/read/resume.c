/* SPDX-License-Identifier: MIT */
/*
 * resume.c - behind damage, where records go on
 *
 * In    the window of a capture, at whose front no record is; how its format tells one
 * Out   the window at the next record that was not read before
 * Why   the same for classic captures and for pcapng
 * Not   what is a record, and what is damage (pcap.c, pcapng.c)
 */
#include "read/read.h"

enum { DOUBLED = 1 << 16 /* bytes that may stand in the file twice */ };

/* Past records that were read before: a block of a disk that stands in the file twice. */
static size_t past_doubled(const struct usk_trace *t, size_t pos, size_t end,
			   size_t (*step)(const struct usk_trace *t, size_t pos, size_t end,
					  bool *fresh))
{
	size_t at = pos;
	bool fresh = false;
	for (size_t n; at - pos < DOUBLED && (n = step(t, at, end, &fresh)) && !fresh;) {
		at += n;
	}
	/* The end, or damage again, is for the caller to find; else the clock was set back. */
	return fresh || at - pos < DOUBLED ? at : pos;
}

enum usk_status
usk_trace_resume(struct usk_trace *t, size_t header,
		 bool (*begins)(const struct usk_trace *t, size_t pos, size_t end, size_t *unsure),
		 size_t (*step)(const struct usk_trace *t, size_t pos, size_t end, bool *fresh),
		 bool *found, struct usk_err *err)
{
	uint64_t from = t->in.at;
	*found = false;
	for (size_t used = 0;;) {
		enum usk_status status = usk_input_need(&t->in, used, USK_SEARCH, err);
		if (status) {
			return status;
		}
		size_t have = t->in.have, unsure;
		size_t last = t->in.end ? have : have - USK_SIGHT;
		for (size_t p = t->in.at == from; p < last && have - p >= header; p++) {
			size_t end = usk_trace_sight(t, p, USK_SIGHT);
			if (begins(t, p, end, &unsure)) {
				p = past_doubled(t, p + unsure, end, step);
				*found = true;
				usk_trace_lost(t, from, t->in.at + p - from);
				return usk_input_need(&t->in, p, header, err);
			}
		}
		if (t->in.end) {
			return USK_OK;
		}
		used = last;
	}
}
