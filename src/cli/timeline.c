/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - the messages of a timeline
 *
 * In    opened traces and the clocks that stamped them
 * Out   usk_timeline() with the messages among these traces
 * Why   a table of clocks holds no messages: they are matched once more, all of them, so that
 *       those are seen too which the fit left out
 * Not   any drawing
 */
#include "messages.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

/* The messages of a check, by the clocks of another table. */
struct renamed {
	struct messages messages;
	uint32_t *clock; /* of the check's clocks, in the other table */
	size_t n;
};

/* Those that both tables know, and whose two clocks are two there as well. */
static size_t next_renamed(void *ctx, struct usk_msg *out, size_t cap)
{
	struct renamed *r = ctx;
	size_t kept = 0;
	for (size_t n; !kept && (n = messages_next(&r->messages, out, cap)) > 0;) {
		for (size_t i = 0; i < n; i++) {
			struct usk_msg m = out[i];
			m.from = r->clock[m.from];
			m.to = r->clock[m.to];
			if (m.from != USK_NO_CLOCK && m.to != USK_NO_CLOCK && m.from != m.to) {
				out[kept++] = m;
			}
		}
	}
	return kept;
}

static void rename_clocks(struct renamed *r, const struct usk_clocks *found, const uint32_t *clock,
			  size_t n, const struct usk_clocks *c)
{
	r->n = found->n_clocks;
	r->clock = usk_alloc(r->n + 1, sizeof *r->clock);
	for (size_t i = 0; i < r->n; i++) {
		r->clock[i] = usk_clocks_find(c, found->clock[i].name, NULL, NULL);
	}
	for (size_t i = 0; i < n && i < found->n_traces; i++) {
		uint32_t own = found->trace[i].clock;
		if (own < r->n && clock[i] != USK_NO_CLOCK) {
			r->clock[own] = clock[i];
		}
	}
}

struct rows {
	char **row;
	size_t n, cap;
};

static void add_row(struct rows *r, char *row)
{
	r->row = usk_room(r->row, r->n, &r->cap, sizeof *r->row);
	r->row[r->n++] = row;
}

static void free_rows(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->row[i]);
	}
	free(r->row);
}

/* What an earlier sync was told, or found out, of a trace: its addresses, clocks of interfaces. */
static void known_of(const struct usk_trace *t, const struct usk_clocks *c, struct rows *local,
		     struct rows *clock_of)
{
	const char *name = usk_trace_name(t);
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *x = &c->trace[i];
		if (!x->path || strcmp(x->path, usk_trace_path(t))) {
			continue;
		}
		for (size_t k = 0; k < x->n_local && !x->n_ifaces; k++) {
			add_row(local, usk_format("%s=%s", name, x->local[k]));
		}
		for (size_t k = 0; k < x->n_ifaces; k++) {
			add_row(clock_of, usk_format("%s/%s=%s", name, x->iface[k].iface,
						     c->clock[x->iface[k].clock].name));
		}
	}
}

static enum usk_status match(struct renamed *r, struct usk_trace *const *trace,
			     const uint32_t *clock, size_t n, const struct usk_clocks *c,
			     const char *path, const struct usk_write_options *opt,
			     struct usk_notes *notes, struct usk_err *err)
{
	struct rows local = { 0 }, clock_of = { 0 };
	struct usk_clocks *found = NULL;
	struct usk_sync_options o = { .max_outliers = -1,
				      .from_ns = USK_NONE,
				      .to_ns = USK_NONE,
				      .messages = &r->messages.sink,
				      .progress = opt->progress,
				      .progress_ctx = opt->progress_ctx };
	for (size_t i = 0; i < n; i++) {
		if (usk_trace_class(trace[i]) == USK_TRACE_CAPTURE) {
			known_of(trace[i], c, &local, &clock_of);
		}
	}
	o.local = (const char *const *)local.row;
	o.n_local = local.n;
	o.clock_of = (const char *const *)clock_of.row;
	o.n_clock_of = clock_of.n;
	enum usk_status status = usk_check(trace, n, &o, &found, err);
	for (size_t i = 0; i < n && !status; i++) {
		/* Of others it is told when they are drawn. */
		bool drawn = usk_trace_class(trace[i]) != USK_TRACE_TABLE;
		if (!drawn && usk_trace_damage(trace[i])) {
			usk_note(notes, "%s", usk_trace_damage(trace[i]));
		}
	}
	free_rows(&local);
	free_rows(&clock_of);
	if (status == USK_EINPUT || status == USK_EUSAGE) {
		/* The rest is worth looking at. */
		usk_note(notes, "%s: no messages are drawn: %s", path, err->msg);
		return messages_again(&r->messages, path, err);
	}
	if (!status) {
		rename_clocks(r, found, clock, n, c);
		status = messages_again(&r->messages, path, err);
	}
	usk_clocks_free(found);
	return status;
}

enum usk_status timeline_match_and_draw(struct usk_trace *const *trace, const uint32_t *clock,
					size_t n, const struct usk_clocks *c, const char *path,
					const struct usk_write_options *opt,
					struct usk_notes *notes, struct usk_err *err)
{
	struct renamed r = { .n = 0 };
	const struct usk_message_source source = { &r, next_renamed };
	bool alone = n == 1 && clock[0] != USK_NO_CLOCK; /* no messages in it */
	enum usk_status status = messages_open(&r.messages, NULL, false, err);
	if (!status && !alone) {
		status = match(&r, trace, clock, n, c, path, opt, notes, err);
	}
	if (!status) {
		status = usk_timeline(trace, clock, n, c, r.clock ? &source : NULL, path, opt,
				      notes, err);
	}
	messages_close(&r.messages);
	free(r.clock);
	return status;
}
