/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - all that happened, on one time, for people who look rather than read
 *
 * In    traces, their messages, and the clocks that stamped them
 * Out   Chrome trace JSON (timeline_json.c): a process per clock, messages as arrows, what was
 *       recorded as instants, the band as a counter
 * Why   a picture shows in a moment what waits for what; Perfetto draws millions of events
 * Not   matching messages (flow/): whoever has them hands them over
 *
 * Viewers sort, so nothing waits here: each thing is written as it is read.
 */
#include "write/timeline.h"
#include "read/trace.h"
#include "write/viewers.h"
#ifdef USK_HAVE_BABELTRACE2
#include "ctf/ctf.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, STEPS = 256 };

/* What is drawn of a clock. */
struct drawn {
	bool asked;
	struct usk_replay *map; /* NULL: as recorded */
};

struct timeline {
	struct drawing d;
	const struct usk_clocks *c;
	struct drawn *drawn; /* by clock */
	const struct usk_write_options *opt;
	struct usk_notes *notes;
	struct usk_err *err;
};

/* A trace as it is drawn: stamps of a clock that was set back depend on those before. */
struct part {
	struct usk_trace *trace;
	const struct usk_trace_info *info;
	uint32_t clock;
	struct usk_replay **map; /* by clock, made when needed */
	uint32_t *named;	 /* of a table's clock numbers */
	size_t n_named;
};

/* ---- where zero is ------------------------------------------------------------ */

static void earlier(struct timeline *t, uint32_t clock, usk_i128 time_ns)
{
	int64_t *origin = &t->d.origin_ns[t->c->clock[clock].reference];
	*origin = time_ns < *origin ? (int64_t)time_ns : *origin;
}

/* A whole second, at least one before the first that is known: what comes a little out of order is
 * still after it. */
static void settle_origins(struct timeline *t)
{
	const struct usk_clocks *c = t->c;
	for (size_t i = 0; i < c->n_clocks; i++) {
		int64_t *origin = &t->d.origin_ns[i];
		*origin = *origin == INT64_MAX
				  ? 0
				  : (int64_t)(usk_floor_div(*origin, 1000000000) - 1) * 1000000000;
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		t->d.origin_ns[i] = t->d.origin_ns[c->clock[i].reference];
	}
}

static void origins_of_clocks(struct timeline *t)
{
	const struct usk_clocks *c = t->c;
	for (size_t i = 0; i < c->n_clocks; i++) {
		t->d.origin_ns[i] = INT64_MAX;
	}
	for (uint32_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		for (size_t j = 0; j < k->n_knots && k->knot[j].offset_ns != USK_NONE; j++) {
			earlier(t, i, (usk_i128)k->knot[j].local_ns + k->knot[j].offset_ns);
		}
	}
}

/* ---- clocks ------------------------------------------------------------------- */

/* The numbers at a stamp of an epoch without jumps back. */
static enum usk_status draw_band_at(struct timeline *t, uint32_t clock, const struct usk_map *map,
				    int64_t local_ns)
{
	struct usk_stamp s;
	const struct usk_knot *first = t->c->clock[clock].knot;
	enum usk_status status = usk_map_at(map, local_ns, &s, t->err);
	if (!status && s.lo_ns != USK_NONE && s.hi_ns != USK_NONE && s.reference_ns != USK_NONE) {
		int64_t half = (int64_t)usk_ceil_div((usk_i128)s.hi_ns - s.lo_ns, 2);
		usk_drawing_band(
			&t->d, clock, s.reference_ns, half,
			usk_saturate((usk_i128)s.reference_ns - local_ns - first->offset_ns));
	}
	return status;
}

/* From a number to the next: a part of all epochs together, as the last may end before the first.
 */
static int64_t step_of(const struct usk_clock *k)
{
	usk_i128 span = 0;
	for (size_t i = 1; i < k->n_knots; i++) {
		const struct usk_knot *from = &k->knot[i - 1], *to = &k->knot[i];
		span += from->epoch == to->epoch ? (usk_i128)to->local_ns - from->local_ns : 0;
	}
	return usk_saturate(span / STEPS > 0 ? span / STEPS : 1);
}

/* Counters are drawn as steps: as many as can be seen, and every knot. */
static enum usk_status draw_band(struct timeline *t, uint32_t clock, const struct usk_replay *map)
{
	const struct usk_clock *k = &t->c->clock[clock];
	enum usk_status status = USK_OK;
	if (k->quality == USK_REFERENCE || !k->n_knots) {
		return USK_OK;
	}
	int64_t step = step_of(k);
	for (size_t i = 0; i < k->n_knots && !status; i++) {
		const struct usk_map *m = usk_replay_map(map, k->knot[i].epoch);
		bool last = i + 1 == k->n_knots || k->knot[i + 1].epoch != k->knot[i].epoch;
		int64_t x = k->knot[i].local_ns, end = last ? x : k->knot[i + 1].local_ns;
		do {
			status = m ? draw_band_at(t, clock, m, x) : USK_OK;
			x += step;
		} while (x < end && !status);
	}
	return status;
}

/* The clock's correction; its process appears when it is first asked for. */
static enum usk_status clock_of(struct timeline *t, uint32_t clock, const char *what,
				struct usk_replay **map)
{
	struct drawn *k = &t->drawn[clock];
	enum usk_status status = USK_OK;
	if (!k->asked) {
		status = usk_write_map(t->c, clock, what, t->opt, &k->map, t->notes, t->err);
		if (!status) {
			k->asked = true;
			usk_drawing_names(&t->d, clock, k->map != NULL);
			status = k->map ? draw_band(t, clock, k->map) : USK_OK;
		}
	}
	*map = k->map;
	return status;
}

/* ---- messages ----------------------------------------------------------------- */

static size_t epochs(const struct usk_replay *r)
{
	return r ? usk_replay_epochs(r) : 1;
}

static enum usk_status correct_in(struct timeline *t, const struct usk_replay *r, size_t epoch,
				  int64_t *stamp, bool *known)
{
	const struct usk_map *map = r ? usk_replay_map(r, epoch) : NULL;
	*known = !r || map;
	return map ? usk_map_many(map, stamp, 1, stamp, t->err) : USK_OK;
}

/*
 * A stamp may lie in two epochs of a clock that was set back. The wrong one is off by as much as
 * it was set back, so the right ones are those that make the message take least time.
 */
static enum usk_status draw_message(struct timeline *t, const struct usk_msg *m)
{
	struct usk_replay *from, *to;
	enum usk_status status = clock_of(t, m->from, "the messages", &from);
	status = status ? status : clock_of(t, m->to, "the messages", &to);
	int64_t best_sent = 0, best_got = 0;
	usk_i128 least = -1;
	for (size_t i = 0; !status && i < epochs(from); i++) {
		for (size_t j = 0; !status && j < epochs(to); j++) {
			int64_t sent = m->sent_ns, got = m->received_ns;
			bool one, other;
			status = correct_in(t, from, i, &sent, &one);
			status = status ? status : correct_in(t, to, j, &got, &other);
			usk_i128 took = (usk_i128)got - sent;
			took = took < 0 ? -took : took;
			if (!status && one && other && (least < 0 || took < least)) {
				least = took;
				best_sent = sent;
				best_got = got;
			}
		}
	}
	if (!status && least >= 0) {
		usk_drawing_message(&t->d, m, best_sent, best_got);
	}
	return status;
}

static enum usk_status draw_messages(struct timeline *t, const struct usk_message_source *source)
{
	struct usk_msg *msg = usk_alloc(BATCH, sizeof *msg);
	enum usk_status status = USK_OK;
	for (size_t n = 1; n && !status;) {
		status = source->next(source->ctx, msg, BATCH, &n, t->err);
		for (size_t i = 0; i < n && !status; i++) {
			status = msg[i].from < t->c->n_clocks && msg[i].to < t->c->n_clocks
					 ? draw_message(t, &msg[i])
					 : USK_OK;
		}
	}
	free(msg);
	return status;
}

/* ---- what traces hold --------------------------------------------------------- */

/* n stamps of a clock in the order of the trace; first: nothing is drawn, zero is looked for. */
static enum usk_status correct(struct timeline *t, struct part *p, uint32_t clock, int64_t *time_ns,
			       size_t n, bool first)
{
	struct usk_replay *map = NULL;
	const char *path = usk_trace_path(p->trace);
	enum usk_status status =
		first ? usk_write_map(t->c, clock, path, t->opt, &map, NULL, t->err)
		      : clock_of(t, clock, path, &map);
	if (status) {
		return status;
	}
	struct usk_replay *own = first ? map : NULL;
	if (map && !first) { /* one that goes by the order of this trace */
		if (!p->map[clock]) {
			p->map[clock] = usk_replay_new(t->c, clock, path);
		}
		map = p->map[clock];
	}
	status = map ? usk_replay_many(map, time_ns, n, time_ns, t->err) : USK_OK;
	usk_replay_free(own);
	usk_fail_in(status, t->err, "%s", path);
	for (size_t i = 0; i < n && first && !status; i++) {
		earlier(t, clock, time_ns[i]);
	}
	return status;
}

static void draw_record(struct timeline *t, const struct part *p, uint32_t clock,
			const struct usk_record *r, int64_t time_ns)
{
	struct usk_packet k;
	size_t n;
	const struct usk_iface *face = usk_trace_ifaces(p->trace, &n);
	char name[64] = "packet", args[256];
	int used = snprintf(args, sizeof args, "\"length\":%" PRIu32, r->length);
	if (r->iface < n &&
	    usk_packet_decode(r, face[r->iface].link_type, USK_DEPTH_ALL, &k, NULL)) {
		char src[46], dst[46];
		usk_addr_text(k.src, src);
		usk_addr_text(k.dst, dst);
		usk_drawing_packet_name(&k, r->side, name, sizeof name);
		snprintf(args + used, sizeof args - (size_t)used,
			 ",\"payload\":%" PRIu32 ",\"from\":\"%s\",\"from_port\":%u,\"to\":\"%s\","
			 "\"to_port\":%u",
			 k.bytes, src, k.sport, dst, k.dport);
	}
	usk_drawing_event(&t->d, clock, time_ns, r->time_ns, name, args);
}

/* The next records; *n is 0 at the end. */
static enum usk_status take_records(struct timeline *t, struct part *p, bool first, size_t *n)
{
	struct usk_record r[BATCH];
	int64_t time_ns[BATCH];
	enum usk_status status = usk_trace_records(p->trace, r, BATCH, n, t->err);
	size_t faces;
	const struct usk_iface *face = usk_trace_ifaces(p->trace, &faces);
	for (size_t i = 0, j; i < *n && !status; i = j) {
		uint32_t clock = USK_NO_CLOCK;
		for (j = i; j < *n; j++) { /* as many as one clock has stamped */
			uint32_t own = usk_trace_iface_clock(
				p->info, r[j].iface,
				r[j].iface < faces ? face[r[j].iface].name : NULL, p->clock);
			if (j > i && own != clock) {
				break;
			}
			clock = own;
			time_ns[j] = r[j].time_ns;
		}
		status = correct(t, p, clock, time_ns + i, j - i, first);
		for (size_t k = i; k < j && !first && !status; k++) {
			draw_record(t, p, clock, &r[k], time_ns[k]);
		}
	}
	return status;
}

/* What c calls a table's clock. */
static enum usk_status named(struct timeline *t, struct part *p, uint32_t number, uint32_t *clock)
{
	size_t n = usk_trace_clocks(p->trace);
	if (p->n_named < n) {
		p->named = usk_grow(p->named, n, sizeof *p->named);
		for (; p->n_named < n; p->n_named++) {
			p->named[p->n_named] = usk_clocks_find(
				t->c, usk_trace_clock_name(p->trace, p->n_named), NULL, NULL);
		}
	}
	*clock = p->clock != USK_NO_CLOCK ? p->clock : p->named[number];
	return *clock != USK_NO_CLOCK
		       ? USK_OK
		       : usk_fail(t->err, USK_EINPUT, 0, "%s: the table of clocks has no %s",
				  usk_trace_path(p->trace), usk_trace_clock_name(p->trace, number));
}

static enum usk_status take_sides(struct timeline *t, struct part *p, bool first, size_t *n)
{
	struct usk_event e[BATCH];
	enum usk_status status = usk_trace_sides(p->trace, e, BATCH, n, t->err);
	for (size_t i = 0; i < *n && !status; i++) {
		uint32_t clock;
		int64_t time_ns = e[i].time_ns;
		char args[32];
		status = named(t, p, e[i].clock, &clock);
		status = status ? status : correct(t, p, clock, &time_ns, 1, first);
		snprintf(args, sizeof args, "\"bytes\":%" PRIu32, e[i].bytes);
		if (!status && !first) {
			usk_drawing_event(&t->d, clock, time_ns, e[i].time_ns,
					  e[i].side == USK_SIDE_SENT ? "send" : "receive", args);
		}
	}
	return status;
}

/* The rows of message tables are messages: those are drawn already, here they only tell zero. */
static enum usk_status take_rows(struct timeline *t, struct part *p, bool first, size_t *n)
{
	struct usk_msg m[BATCH];
	*n = 0;
	enum usk_status status = first ? usk_trace_messages(p->trace, m, BATCH, n, t->err) : USK_OK;
	for (size_t i = 0; i < *n && !status; i++) {
		uint32_t from, to;
		status = named(t, p, m[i].from, &from);
		status = status ? status : named(t, p, m[i].to, &to);
		status = status ? status : correct(t, p, from, &m[i].sent_ns, 1, first);
		status = status ? status : correct(t, p, to, &m[i].received_ns, 1, first);
	}
	return status;
}

/* Likewise what spans say of each other. */
static enum usk_status take_spans(struct timeline *t, struct part *p, bool first, size_t *n)
{
	struct usk_span s[BATCH];
	*n = 0;
	enum usk_status status = first ? usk_trace_spans(p->trace, s, BATCH, n, t->err) : USK_OK;
	for (size_t i = 0; i < *n && !status; i++) {
		uint32_t clock;
		status = named(t, p, s[i].clock, &clock);
		status = status ? status : correct(t, p, clock, &s[i].start_ns, 1, first);
	}
	return status;
}

/* Likewise what collectives say of each other. */
static enum usk_status take_collectives(struct timeline *t, struct part *p, bool first, size_t *n)
{
	struct usk_collective x[BATCH];
	*n = 0;
	enum usk_status status =
		first ? usk_trace_collectives(p->trace, x, BATCH, n, t->err) : USK_OK;
	for (size_t i = 0; i < *n && !status; i++) {
		uint32_t clock;
		status = named(t, p, x[i].clock, &clock);
		status = status ? status : correct(t, p, clock, &x[i].enter_ns, 1, first);
	}
	return status;
}

static enum usk_status take(struct timeline *t, struct part *p, bool first, size_t *n)
{
	switch (usk_trace_class(p->trace)) {
	case USK_TRACE_CAPTURE:
		return take_records(t, p, first, n);
	case USK_TRACE_EVENTS:
		return take_sides(t, p, first, n);
	case USK_TRACE_SPANS:
		return take_spans(t, p, first, n);
	case USK_TRACE_COLLECTIVES:
		return take_collectives(t, p, first, n);
	default:
		return take_rows(t, p, first, n);
	}
}

static void show_progress(const struct timeline *t, const struct part *part, size_t n)
{
	if (t->opt && t->opt->progress) {
		double read = 0, all = 0;
		for (size_t i = 0; i < n; i++) {
			read += (double)usk_trace_pos(part[i].trace);
			all += (double)usk_trace_size(part[i].trace);
		}
		t->opt->progress(t->opt->progress_ctx, all > 0 ? read / all : 1, "drawing");
	}
}

#ifdef USK_HAVE_BABELTRACE2
struct any {
	struct timeline *t;
	struct part *part;
	struct usk_states states;
};

static void draw_states(struct any *x, const struct usk_ctf_any *e, int64_t time_ns)
{
	const struct usk_moment m = { time_ns, e->time_ns, e->cpu };
	struct drawing *d = &x->t->d;
	if (e->what == USK_CTF_SWITCH) {
		usk_states_switch(d, &x->states, &m, e->from, e->from_state, e->from_name, e->to,
				  e->to_name);
	} else if (e->what == USK_CTF_WAKE) {
		usk_states_wake(d, &x->states, &m, e->to, e->to_name);
	} else if (e->what == USK_CTF_GAP) {
		usk_states_lost(&x->states);
	}
}

static enum usk_status draw_any(void *ctx, const struct usk_ctf_any *event)
{
	struct any *x = ctx;
	int64_t time_ns = event->time_ns;
	char args[32] = "";
	enum usk_status status = correct(x->t, x->part, x->part->clock, &time_ns, 1, false);
	if (!status) {
		if (event->cpu >= 0) {
			snprintf(args, sizeof args, "\"cpu\":%" PRId64, event->cpu);
		}
		usk_drawing_event(&x->t->d, x->part->clock, time_ns, event->time_ns, event->name,
				  args);
		draw_states(x, event, time_ns);
	}
	return status;
}

/* All events of a CTF trace, not only those that tell of messages. */
static enum usk_status draw_ctf(struct timeline *t, struct part *p)
{
	struct any any = { t, p, { .clock = p->clock } };
	char *damage = NULL;
	const char *path = usk_trace_path(p->trace);
	enum usk_status status = usk_ctf_all(path, draw_any, &any, &damage, t->err);
	if (damage) {
		usk_note(t->notes, "%s: %s", path, damage);
	}
	usk_states_free(&any.states);
	free(damage);
	return status;
}
#endif

static enum usk_status draw_trace(struct timeline *t, struct part *part, size_t n, size_t i)
{
#ifdef USK_HAVE_BABELTRACE2
	if (!strcmp(usk_trace_kind(part[i].trace), "ctf")) {
		return draw_ctf(t, &part[i]);
	}
#endif
	enum usk_status status = usk_trace_rewind(part[i].trace, t->err);
	size_t got = 1;
	for (uint64_t turn = 0; got && !status && !t->d.out.failed; turn++) {
		status = take(t, &part[i], false, &got);
		if (turn % 256 == 255) {
			show_progress(t, part, n);
		}
	}
	const char *damage = status ? NULL : usk_trace_damage(part[i].trace);
	if (damage) {
		usk_note(t->notes, "%s", damage);
	}
	return status;
}

/* ---- the way through ---------------------------------------------------------- */

static enum usk_status draw(struct timeline *t, struct part *part, size_t n,
			    const struct usk_message_source *messages)
{
	enum usk_status status = USK_OK;
	origins_of_clocks(t);
	for (size_t i = 0; i < n && !status; i++) {
		size_t got;
		status = usk_trace_rewind(part[i].trace, t->err);
		status = status ? status : take(t, &part[i], true, &got);
	}
	settle_origins(t);
	if (!status && messages) {
		status = draw_messages(t, messages);
	}
	for (size_t i = 0; i < n && !status; i++) {
		status = draw_trace(t, part, n, i);
		for (size_t k = 0; k < t->c->n_clocks && !status; k++) {
			status = usk_replay_end(part[i].map[k], t->err);
			usk_fail_in(status, t->err, "%s", usk_trace_path(part[i].trace));
		}
	}
	if (!status && t->d.early) {
		usk_note(t->notes,
			 "%s: %" PRIu64 " times are below zero, as they lie more than a second "
			 "before the first ones; viewers may not show them",
			 t->d.out.path, t->d.early);
	}
	return status ? status : usk_drawing_commit(&t->d, t->err);
}

static struct part part_of(const struct usk_clocks *c, struct usk_trace *trace,
			   const uint32_t *clock)
{
	const char *path = usk_trace_path(trace);
	struct part p = { .trace = trace };
	bool table = usk_trace_class(trace) != USK_TRACE_CAPTURE;
	p.clock = clock	  ? *clock
		  : table ? USK_NO_CLOCK
			  : usk_clocks_find(c, NULL, path, usk_trace_name(trace));
	p.info = usk_clocks_trace(c, path, p.clock);
	p.map = usk_alloc(c->n_clocks + 1, sizeof(struct usk_replay *));
	return p;
}

enum usk_status usk_timeline(struct usk_trace *const *trace, const uint32_t *clock, size_t n,
			     const struct usk_clocks *c, const struct usk_message_source *messages,
			     const char *path, const struct usk_write_options *opt,
			     struct usk_notes *notes, struct usk_err *err)
{
	struct timeline t = { .c = c, .opt = opt, .notes = notes, .err = err };
	enum usk_status status = usk_drawing_open(&t.d, c, path, opt && opt->force, err);
	if (status) {
		return status;
	}
	struct part *part = usk_alloc(n + 1, sizeof *part);
	t.drawn = usk_alloc(c->n_clocks + 1, sizeof *t.drawn);
	for (size_t i = 0; i < n; i++) {
		part[i] = part_of(c, trace[i], clock ? &clock[i] : NULL);
	}
	status = draw(&t, part, n, messages);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < c->n_clocks; k++) {
			usk_replay_free(part[i].map[k]);
		}
		free(part[i].map);
		free(part[i].named);
	}
	for (size_t k = 0; k < c->n_clocks; k++) {
		usk_replay_free(t.drawn[k].map);
	}
	free(part);
	free(t.drawn);
	usk_drawing_close(&t.d);
	return status;
}
