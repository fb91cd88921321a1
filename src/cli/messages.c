/* SPDX-License-Identifier: MIT */
/* messages.c - messages kept while the work goes on: as CSV at the end, or drawn in a timeline */
#include "messages.h"
#include "units.h"
#include "write/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A sink can only stop; why is told by messages_again(). */
static bool start(void *ctx)
{
	struct messages *m = ctx;
	m->status = m->status ? m->status : usk_spool_cut(m->spool, 0, m->kept, &m->err);
	return !m->status;
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct messages *m = ctx;
	for (size_t i = 0; i < n && !m->status; i++) {
		m->status = usk_spool_put(m->spool, 0, &msg[i], &m->err);
	}
	return !m->status;
}

static void keep(void *ctx)
{
	struct messages *m = ctx;
	m->kept = usk_spool_count(m->spool, 0);
}

enum usk_status messages_open(struct messages *m, const char *path, bool force, struct usk_err *err)
{
	memset(m, 0, sizeof *m);
	m->out.fd = -1;
	m->spool = usk_spool_new(sizeof(struct usk_msg), 1);
	m->sink = (struct usk_sink){ .ctx = m, .start = start, .put = put, .keep = keep };
	return path ? usk_output_open(&m->out, path, force, err) : USK_OK;
}

enum usk_status messages_again(struct messages *m, const char *what, struct usk_err *err)
{
	m->at = 0;
	return m->status ? usk_fail(err, m->status, 0, "%s: not written: %s", what, m->err.msg)
			 : USK_OK;
}

enum usk_status messages_next(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	struct messages *m = ctx;
	uint64_t left = usk_spool_count(m->spool, 0) - m->at;
	size_t some = left < cap ? (size_t)left : cap;
	enum usk_status status = usk_spool_get(m->spool, 0, m->at, out, some, err);
	*n = status ? 0 : some;
	m->at += *n;
	return status;
}

const char *csv_text(const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		return text;
	}
	char *quoted = kept(usk_alloc(2 * strlen(text) + 3, 1)), *to = quoted;
	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"') {
			*to++ = '"';
		}
		*to++ = *text;
	}
	*to++ = '"';
	return quoted;
}

enum usk_status messages_commit(struct messages *m, const struct usk_clocks *clocks,
				struct usk_err *err)
{
	const char **name = usk_alloc(clocks->n_clocks, sizeof *name);
	for (size_t i = 0; i < clocks->n_clocks; i++) {
		name[i] = csv_text(clocks->clock[i].name);
	}
	usk_output_format(&m->out, "sender,receiver,sent_ns,received_ns,bytes\n");
	enum usk_status status = messages_again(m, m->out.path, err);
	struct usk_msg msg[1024];
	for (size_t n = 1; n && !status;) {
		status = messages_next(m, msg, COUNT(msg), &n, err);
		for (size_t i = 0; i < n; i++) {
			usk_output_format(&m->out, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRIu32 "\n",
					  name[msg[i].from], name[msg[i].to], msg[i].sent_ns,
					  msg[i].received_ns, msg[i].bytes);
		}
	}
	free(name);
	return status ? status : usk_output_commit(&m->out, err);
}

void messages_close(struct messages *m)
{
	usk_spool_free(m->spool);
	if (m->out.path) {
		usk_output_close(&m->out);
	}
	memset(m, 0, sizeof *m);
}

/*
 * ---- a timeline: a table of clocks holds no messages, so they are matched once more, all of them,
 * so that those are seen too which the fit left out
 */

/* The messages of a check, by the clocks of another table. */
struct renamed {
	struct messages messages;
	uint32_t *clock; /* of the check's clocks, in the other table */
	size_t n;
};

/* Those that both tables know, and whose two clocks are two there as well. */
static enum usk_status next_renamed(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
				    struct usk_err *err)
{
	struct renamed *r = ctx;
	enum usk_status status = USK_OK;
	size_t both = 0;
	for (*n = 1; !both && *n && !status;) {
		status = messages_next(&r->messages, out, cap, n, err);
		for (size_t i = 0; i < *n; i++) {
			struct usk_msg m = out[i];
			m.from = r->clock[m.from];
			m.to = r->clock[m.to];
			if (m.from != USK_NO_CLOCK && m.to != USK_NO_CLOCK && m.from != m.to) {
				out[both++] = m;
			}
		}
	}
	*n = both;
	return status;
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

/* What an earlier sync was told, or found out, of a trace: its addresses, clocks of interfaces. */
static void known_of(const struct usk_trace *t, const struct usk_clocks *c, struct usk_notes *local,
		     struct usk_notes *clock_of)
{
	const char *name = usk_trace_name(t);
	for (size_t i = 0; i < c->n_traces; i++) {
		const struct usk_trace_info *x = &c->trace[i];
		if (!x->path || strcmp(x->path, usk_trace_path(t))) {
			continue;
		}
		for (size_t k = 0; k < x->n_local && !x->n_ifaces; k++) {
			usk_note(local, "%s=%s", name, x->local[k]);
		}
		for (size_t k = 0; k < x->n_ifaces; k++) {
			usk_note(clock_of, "%s/%s=%s", name, x->iface[k].iface,
				 c->clock[x->iface[k].clock].name);
		}
	}
}

static enum usk_status match(struct renamed *r, struct usk_trace *const *trace,
			     const uint32_t *clock, size_t n, const struct usk_clocks *c,
			     const char *path, const struct usk_write_options *opt,
			     struct usk_notes *notes, struct usk_err *err)
{
	struct usk_notes local = { 0 }, clock_of = { 0 };
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
	o.local = (const char *const *)local.note;
	o.n_local = local.n;
	o.clock_of = (const char *const *)clock_of.note;
	o.n_clock_of = clock_of.n;
	enum usk_status status = usk_check(trace, n, &o, &found, err);
	for (size_t i = 0; i < n && !status; i++) {
		/* Of others it is told when they are drawn. */
		bool drawn = usk_trace_class(trace[i]) != USK_TRACE_TABLE;
		if (!drawn && usk_trace_damage(trace[i])) {
			usk_note(notes, "%s", usk_trace_damage(trace[i]));
		}
	}
	usk_notes_free(&local);
	usk_notes_free(&clock_of);
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
