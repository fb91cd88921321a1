/* SPDX-License-Identifier: MIT */
/* messages.c - messages kept while the work goes on: as CSV at the end, or drawn in a timeline */
#include "messages.h"
#include "units.h"
#include "write/write.h"
#include "write/viewers.h"
#include "read/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A temporary file that fails is the end: what was to be written would lack messages. */
static void must_keep(const struct messages *m, enum usk_status status)
{
	must(usk_fail_in(status, &why, "%s: not written", m->what));
}

/* A message, and the epochs of its stamps. */
struct kept_message {
	struct usk_msg msg;
	uint32_t epoch[2]; /* of the sender, of the receiver */
};

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
		struct kept_message k = { .msg = msg[i] };
		if (m->where) {
			k.epoch[0] = m->where[i].sent_epoch;
			k.epoch[1] = m->where[i].received_epoch;
		}
		m->set_back = m->set_back || k.epoch[0] || k.epoch[1];
		must_keep(m, usk_spool_put(m->spool, 0, &k, &why));
	}
	m->where = NULL;
	return true;
}

static void corrected(void *ctx, const struct usk_corrected *at, size_t n)
{
	struct messages *m = ctx;
	(void)n;
	m->where = at;
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
		.spool = usk_spool_new(sizeof(struct kept_message), 1),
		.sink = { .ctx = m,
			  .corrected = corrected,
			  .start = start,
			  .put = put,
			  .keep = keep },
	};
}

static struct kept_message message_at(struct messages *m, uint64_t i)
{
	struct kept_message k;
	must(usk_spool_get(m->spool, 0, i, &k, 1, &why));
	return k;
}

static size_t messages_next(struct messages *m, struct usk_msg *out, size_t cap)
{
	uint64_t left = usk_spool_count(m->spool, 0) - m->at;
	size_t n = left < cap ? (size_t)left : cap;
	for (size_t i = 0; i < n; i++) {
		out[i] = message_at(m, m->at++).msg;
	}
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

/* ---- in order of sending -------------------------------------------------------------------- */

/* Maps of a clock's epochs; NULL where the reference's time is not known. */
struct epochs {
	struct usk_map **map;
	size_t n;
};

static struct epochs epochs_of(const struct usk_clocks *c, const struct usk_clock *k)
{
	bool known = k->quality == USK_BOUNDED || k->quality == USK_REFERENCE;
	struct epochs of = { .n = known && k->n_knots ? (size_t)k->knot[k->n_knots - 1].epoch + 1
						      : 0 };
	of.map = kept(usk_alloc(of.n + 1, sizeof *of.map));
	for (size_t e = 0; e < of.n; e++) {
		of.map[e] = usk_map_of_epoch(k, (uint32_t)e, c->max_skew_e12);
	}
	return of;
}

static int64_t moment(const struct epochs *of, uint32_t epoch, int64_t stamp)
{
	struct usk_stamp s;
	bool known =
		epoch < of->n && of->map[epoch] && !usk_map_at(of->map[epoch], stamp, &s, NULL);
	return known ? s.reference_ns : USK_NONE;
}

struct place {
	int64_t ns;
	uint64_t message;
};

static int by_time(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;
	int order = usk_order(a->ns, b->ns);
	return order ? order : (a->message > b->message) - (a->message < b->message);
}

/* When each was sent, by a clock that is known; what is tied to none goes by its own stamps. */
static struct place *order_by_sending(struct messages *m, const struct usk_clocks *c)
{
	uint64_t n = usk_spool_count(m->spool, 0);
	struct place *place = kept(usk_alloc(n + 1, sizeof *place));
	struct epochs *of = kept(usk_alloc(c->n_clocks, sizeof *of));
	for (size_t i = 0; i < c->n_clocks; i++) {
		of[i] = epochs_of(c, &c->clock[i]);
	}
	for (uint64_t i = 0; i < n; i++) {
		const struct kept_message k = message_at(m, i);
		int64_t ns = moment(&of[k.msg.from], k.epoch[0], k.msg.sent_ns);
		ns = ns == USK_NONE ? moment(&of[k.msg.to], k.epoch[1], k.msg.received_ns) : ns;
		place[i] = (struct place){ ns == USK_NONE ? k.msg.sent_ns : ns, i };
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		for (size_t e = 0; e < of[i].n; e++) {
			usk_map_free(of[i].map[e]);
		}
	}
	qsort(place, n, sizeof *place, by_time);
	return place;
}

enum usk_status messages_commit(struct messages *m, const struct usk_clocks *clocks,
				struct usk_output *out)
{
	const char **name = kept(usk_alloc(clocks->n_clocks, sizeof *name));
	for (size_t i = 0; i < clocks->n_clocks; i++) {
		name[i] = csv_text(clocks->clock[i].name);
	}
	const struct place *place = m->set_back ? order_by_sending(m, clocks) : NULL;
	uint64_t n = usk_spool_count(m->spool, 0);
	usk_output_format(out, "sender,receiver,sent_ns,received_ns,bytes\n");
	for (uint64_t i = 0; i < n; i++) {
		const struct kept_message k = message_at(m, place ? place[i].message : i);
		usk_output_format(out, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRIu32 "\n",
				  name[k.msg.from], name[k.msg.to], k.msg.sent_ns,
				  k.msg.received_ns, k.msg.bytes);
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
