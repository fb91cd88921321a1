/* SPDX-License-Identifier: MIT */
/*
 * arrays.c - messages that a program has in memory, as a trace
 *
 * In    names of clocks, rows of struct usk_msg
 * Out   the same rows, batch by batch, as a table hands them out
 * Why   who calls the library need not write a file first
 * Not   copies: the rows stay the caller's
 */
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

struct arrays {
	const struct usk_msg *msg;
	size_t n, at;
};

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	(void)err;
	((struct arrays *)t->state)->at = 0;
	return USK_OK;
}

static enum usk_status messages(struct usk_trace *t, struct usk_msg *out, size_t cap, size_t *n,
				struct usk_err *err)
{
	struct arrays *a = t->state;
	(void)err;
	*n = a->n - a->at < cap ? a->n - a->at : cap;
	memcpy(out, a->msg + a->at, *n * sizeof *out);
	a->at += *n;
	t->done = !*n;
	return USK_OK;
}

static void stop(struct usk_trace *t)
{
	free(t->state);
	t->state = NULL;
}

static void place(const struct usk_trace *t, uint64_t *size, uint64_t *pos)
{
	const struct arrays *a = t->state;
	*size = a->n * sizeof *a->msg;
	*pos = a->at * sizeof *a->msg;
}

static const struct reader reader = {
	.info = { "arrays", "messages in memory", NULL, USK_TRACE_TABLE },
	.start = start,
	.messages = messages,
	.stop = stop,
	.place = place,
};

static bool in_range(int64_t t)
{
	return t >= -USK_TIME_MAX && t <= USK_TIME_MAX;
}

static enum usk_status check(const struct usk_msg *msg, size_t n, size_t n_clocks,
			     struct usk_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct usk_msg *m = &msg[i];
		if (m->from >= n_clocks || m->to >= n_clocks) {
			return usk_fail(err, USK_EUSAGE, i,
					"message %zu is of clock %u, but there are %zu clocks", i,
					m->from < n_clocks ? m->to : m->from, n_clocks);
		}
		if (!in_range(m->sent_ns) || !in_range(m->received_ns)) {
			return usk_fail(
				err, USK_ERANGE, i,
				"a stamp of message %zu is more than 2^62 ns (146 years) from zero",
				i);
		}
	}
	return USK_OK;
}

enum usk_status usk_trace_of_messages(const char *const *clock, size_t n_clocks,
				      const struct usk_msg *msg, size_t n, struct usk_trace **out,
				      struct usk_err *err)
{
	enum usk_status status = check(msg, n, n_clocks, err);
	struct usk_trace *t = usk_alloc(1, sizeof *t);
	usk_input_memory(&t->in, NULL, 0);
	t->reader = &reader;
	t->class_ = USK_TRACE_TABLE;
	t->path = usk_strdup("messages");
	t->name = usk_strdup("messages");
	struct arrays *a = t->state = usk_alloc(1, sizeof *a);
	*a = (struct arrays){ .msg = msg, .n = n };
	for (size_t i = 0; i < n_clocks && !status; i++) {
		const struct usk_csv_field name = { clock[i], strlen(clock[i]) };
		if (usk_trace_clock(t, name) != i) {
			status = usk_fail(err, USK_EUSAGE, i, "two clocks have the name '%s'",
					  clock[i]);
		}
	}
	if (status) {
		usk_trace_close(t);
		return status;
	}
	*out = t;
	return USK_OK;
}
