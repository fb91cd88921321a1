/* SPDX-License-Identifier: MIT */
/* messages.c - messages kept while the work goes on: as CSV at the end, or drawn in a timeline */
#include "messages.h"
#include "units.h"
#include "write/write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A temporary file that fails is the end: what was to be written would lack messages. */
static void must_keep(const struct messages *m, enum usk_status status)
{
	if (status) {
		usk_fail_in(&why, "%s: not written", m->what);
		must(status);
	}
}

static bool start(void *ctx)
{
	struct messages *m = ctx;
	must_keep(m, usk_spool_cut(m->spool, 0, m->kept, &why));
	return true;
}

static bool put(void *ctx, const struct usk_msg *msg, size_t n)
{
	struct messages *m = ctx;
	for (size_t i = 0; i < n; i++) {
		must_keep(m, usk_spool_put(m->spool, 0, &msg[i], &why));
	}
	return true;
}

static void keep(void *ctx)
{
	struct messages *m = ctx;
	m->kept = usk_spool_count(m->spool, 0);
}

void messages_open(struct messages *m, const char *what)
{
	*m = (struct messages){
		.what = what,
		.spool = usk_spool_new(sizeof(struct usk_msg), 1),
		.sink = { .ctx = m, .start = start, .put = put, .keep = keep },
	};
}

static size_t messages_next(struct messages *m, struct usk_msg *out, size_t cap)
{
	uint64_t left = usk_spool_count(m->spool, 0) - m->at;
	size_t n = left < cap ? (size_t)left : cap;
	must(usk_spool_get(m->spool, 0, m->at, out, n, &why));
	m->at += n;
	return n;
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
				struct usk_output *out)
{
	const char **name = kept(usk_alloc(clocks->n_clocks, sizeof *name));
	for (size_t i = 0; i < clocks->n_clocks; i++) {
		name[i] = csv_text(clocks->clock[i].name);
	}
	usk_output_format(out, "sender,receiver,sent_ns,received_ns,bytes\n");
	struct usk_msg msg[1024];
	for (size_t n; (n = messages_next(m, msg, COUNT(msg)));) {
		for (size_t i = 0; i < n; i++) {
			usk_output_format(out, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRIu32 "\n",
					  name[msg[i].from], name[msg[i].to], msg[i].sent_ns,
					  msg[i].received_ns, msg[i].bytes);
		}
	}
	return usk_output_commit(out, &why);
}

/*
 * ---- a timeline: a table of clocks holds no messages, so they are matched once more, all of them,
 * so that those are seen too which the fit left out
 */

/* The messages of a check, by the clocks of another table. */
struct renamed {
	struct messages messages;
	uint32_t *clock; /* of the check's clocks, in the other table */
};

/* Those that both tables know, and whose two clocks are two there as well. */
static enum usk_status next_renamed(void *ctx, struct usk_msg *out, size_t cap, size_t *n,
				    struct usk_err *err)
{
	struct renamed *r = ctx;
	(void)err;
	*n = 0;
	for (size_t got; !*n && (got = messages_next(&r->messages, out, cap));) {
		for (size_t i = 0; i < got; i++) {
			struct usk_msg m = out[i];
			m.from = r->clock[m.from];
			m.to = r->clock[m.to];
			if (m.from != USK_NO_CLOCK && m.to != USK_NO_CLOCK && m.from != m.to) {
				out[(*n)++] = m;
			}
		}
	}
	return USK_OK;
}

static void rename_clocks(struct renamed *r, const struct usk_clocks *found, const uint32_t *clock,
			  size_t n, const struct usk_clocks *c)
{
	r->clock = kept(usk_alloc(found->n_clocks + 1, sizeof *r->clock));
	for (size_t i = 0; i < found->n_clocks; i++) {
		r->clock[i] = usk_clocks_find(c, found->clock[i].name, NULL, NULL);
	}
	for (size_t i = 0; i < n && i < found->n_traces; i++) {
		uint32_t own = found->trace[i].clock;
		if (own < found->n_clocks && clock[i] != USK_NO_CLOCK) {
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
			     const char *path, struct usk_notes *notes)
{
	static struct usk_notes local, clock_of;
	static struct usk_clocks *found;
	for (size_t i = 0; i < n; i++) {
		if (usk_trace_class(trace[i]) == USK_TRACE_CAPTURE) {
			known_of(trace[i], c, &local, &clock_of);
		}
	}
	const struct usk_sync_options o = { .max_outliers = -1,
					    .from_ns = USK_NONE,
					    .to_ns = USK_NONE,
					    .local = (const char *const *)local.note,
					    .n_local = local.n,
					    .clock_of = (const char *const *)clock_of.note,
					    .n_clock_of = clock_of.n,
					    .messages = &r->messages.sink,
					    .progress = progress_show };
	enum usk_status status = usk_check(trace, n, &o, &found, &why);
	for (size_t i = 0; i < n && !status; i++) {
		/* Of others it is told when they are drawn. */
		bool drawn = usk_trace_class(trace[i]) != USK_TRACE_TABLE;
		if (!drawn && usk_trace_damage(trace[i])) {
			usk_note(notes, "%s", usk_trace_damage(trace[i]));
		}
	}
	if (!status) {
		rename_clocks(r, found, clock, n, c);
	} else if (status == USK_EINPUT || status == USK_EUSAGE) {
		/* The rest is worth looking at. */
		usk_note(notes, "%s: no messages are drawn: %s", path, why.msg);
		status = USK_OK;
	}
	return status;
}

enum usk_status timeline_match_and_draw(struct usk_trace *const *trace, const uint32_t *clock,
					size_t n, const struct usk_clocks *c, const char *path,
					const struct usk_write_options *opt,
					struct usk_notes *notes, struct usk_err *err)
{
	static struct renamed r;
	const struct usk_message_source source = { &r, next_renamed };
	bool alone = n == 1 && clock[0] != USK_NO_CLOCK; /* no messages in it */
	messages_open(&r.messages, path);
	enum usk_status status = alone ? USK_OK : match(&r, trace, clock, n, c, path, notes);
	return status ? status
		      : usk_timeline(trace, clock, n, c, r.clock ? &source : NULL, path, opt, notes,
				     err);
}
