/* SPDX-License-Identifier: MIT */
/*
 * retime_spans.c - spans in JSON again, with corrected stamps
 *
 * In    OTLP as JSON, JSON of Jaeger, of Zipkin
 * Out   the same bytes, but for stamps of spans and of their events; recorded stamps and bounds as
 *       attributes of each span
 * Why   whatever else a file says of its spans is kept, in the form in which it said it
 * Not   what cannot be read, or corrected: it is copied as it is, and counted. A span that has
 *       recorded stamps among its attributes already keeps what they say: it was corrected before
 *
 * Two windows slide over the input: the reader's in front, and behind it the one that is copied, up
 * to the last span of which it is known whose it is.
 */
#include "match/match.h"
#include "read/read.h"
#include "write/retime.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, MOST_NOTES = 8 };

/* How a format writes attributes. */
static const struct form {
	const struct reader *by;
	bool us;			/* its stamps are in us, and it has durations */
	const char *open, *close;	/* of all, with their key */
	char bracket;			/* of all, without it */
	const char *name, *value, *end; /* what stands before a name, a value, and behind it */
} forms[] = {
	{ &usk_reader_otlp, false, "\"attributes\":[", "]", '[', "{\"key\":\"",
	  "\",\"value\":{\"stringValue\":\"", "\"}}" },
	{ &usk_reader_jaeger, true, "\"tags\":[", "]", '[', "{\"key\":\"",
	  "\",\"type\":\"string\",\"value\":\"", "\"}" },
	{ &usk_reader_zipkin, true, "\"tags\":{", "}", '{', "\"", "\":\"", "\"" },
};

/* What becomes of a span. */
enum fate { CORRECTED, UNKNOWN, UNBOUNDED, VAGUE, UNFIT, TAKEN, FATES };

static const char *const reason[FATES] = {
	[UNKNOWN] = "the table of clocks does not have it",
	[UNBOUNDED] = "it has no estimate",
	[VAGUE] = "it was set back, and they may be from before that or from after it",
	[UNFIT] = "corrected, they would be before 1970 or over 146 years from it",
	[TAKEN] = "attributes that are of another type than the format's cannot keep the recorded "
		  "stamps",
};

/* Whose spans: a process of the file. */
struct own {
	bool asked;
	enum fate fate;
	const struct usk_replay *map;
	struct usk_alone *alone; /* NULL: its clock was never set back */
	int64_t late_ns;	 /* a stamp may be so much too early */
	int64_t early_ns;	 /* and too late */
};

struct moment {
	int64_t was_ns, now_ns;
	int64_t earliest_ns, latest_ns; /* USK_NONE: nothing bounds it */
};

struct spans {
	struct retime *t;
	const struct form *form;
	size_t used; /* bytes of the window behind, which are written */
	struct own *own;
	size_t n_own;
	struct left {
		uint64_t n[FATES];
	} * left; /* by clock of the file */
	size_t n_left;
	uint64_t corrected, events; /* spans; events whose stamps stay */
	/* Of the span in hand. */
	struct moment start, end;
	bool ends, any_event;
	int64_t *now_ns; /* by place; USK_NONE: what stands there stays */
	size_t cap_now;
	bool first; /* no attribute stands before the next one */
};

/* ---- clocks ------------------------------------------------------------------------------ */

/* By name, as sync has it. If it took processes of one host for clocks of their own, these are
 * numbered by all files that it read. */
static uint32_t find_clock(const struct spans *x, const struct usk_span *s)
{
	const struct retime *t = x->t;
	const char *name = usk_trace_clock_name(t->trace, s->clock);
	uint32_t found = usk_clocks_find(t->clocks, name, NULL, NULL);
	if (found == USK_NO_CLOCK && t->clocks->n_traces == 1 &&
	    usk_clocks_trace(t->clocks, t->path, USK_NO_CLOCK)) {
		char *own = usk_format("%s/%s/%zu", name,
				       usk_trace_processes(t->trace)->text[s->process],
				       (size_t)s->process + 1);
		found = usk_clocks_find(t->clocks, own, NULL, NULL);
		free(own);
	}
	return found;
}

static struct usk_alone *alone_of(const struct usk_clock *k)
{
	struct usk_epochs e = { usk_alloc(k->n_set_backs + 1, sizeof *e.epoch), k->n_set_backs };
	for (size_t i = 0; i < e.n; i++) {
		e.epoch[i] = (struct usk_epoch){ .before_ns = k->set_back[i].from_ns,
						 .after_ns = k->set_back[i].to_ns };
	}
	struct usk_alone *alone = e.n ? usk_alone_new(&e) : NULL;
	usk_epochs_free(&e);
	return alone;
}

static enum usk_status ask(struct spans *x, const struct usk_span *s, struct own *o)
{
	struct retime *t = x->t;
	const uint32_t clock = find_clock(x, s);
	*o = (struct own){ .asked = true, .fate = UNKNOWN };
	if (clock == USK_NO_CLOCK) {
		return USK_OK;
	}
	const struct usk_clock *k = &t->clocks->clock[clock];
	o->fate = UNBOUNDED;
	if (k->quality != USK_BOUNDED && k->quality != USK_REFERENCE) {
		return USK_OK;
	}
	enum usk_status status = usk_retime_by(t, clock);
	o->map = t->map;
	o->fate = o->map ? CORRECTED : UNBOUNDED;
	o->alone = alone_of(k);
	const int64_t grid = k->resolution_ns > 1 ? k->resolution_ns : 1;
	bool doubles = grid > 1 && !(grid & (grid - 1));
	o->late_ns = (x->form->us && grid < 2000 ? 2000 : grid) - 1;
	o->early_ns = x->form->us ? 1000 : doubles ? grid : 0;
	return status;
}

static enum usk_status own_of(struct spans *x, const struct usk_span *s, struct own **out)
{
	const size_t n = (size_t)s->process + 1, clocks = (size_t)s->clock + 1;
	if (n > x->n_own) {
		x->own = usk_grow(x->own, n, sizeof *x->own);
		memset(x->own + x->n_own, 0, (n - x->n_own) * sizeof *x->own);
		x->n_own = n;
	}
	if (clocks > x->n_left) {
		x->left = usk_grow(x->left, clocks, sizeof *x->left);
		memset(x->left + x->n_left, 0, (clocks - x->n_left) * sizeof *x->left);
		x->n_left = clocks;
	}
	*out = &x->own[s->process];
	return (*out)->asked ? USK_OK : ask(x, s, *out);
}

/* ---- moments ----------------------------------------------------------------------------- */

static enum fate correct(const struct own *o, int64_t was_ns, struct moment *m)
{
	const size_t epoch = o->alone ? usk_alone_epoch(o->alone, was_ns) : 0;
	struct usk_stamp at, side;
	if (epoch == SIZE_MAX) {
		return VAGUE;
	}
	const struct usk_map *map = usk_replay_map(o->map, epoch);
	if (!map) {
		return UNBOUNDED;
	}
	if (usk_map_at(map, was_ns, &at, NULL)) {
		return UNFIT;
	}
	*m = (struct moment){ was_ns, at.reference_ns, at.lo_ns, at.hi_ns };
	if (o->early_ns) {
		bool fits = !usk_map_at(map, was_ns - o->early_ns, &side, NULL);
		m->earliest_ns = fits ? side.lo_ns : USK_NONE;
	}
	if (o->late_ns) {
		bool fits = !usk_map_at(map, was_ns + o->late_ns, &side, NULL);
		m->latest_ns = fits ? side.hi_ns : USK_NONE;
	}
	return at.reference_ns == USK_NONE ? UNBOUNDED : at.reference_ns < 0 ? UNFIT : CORRECTED;
}

static bool whole_us(int64_t ns)
{
	return ns % 1000 == 0;
}

/* As fine as it was recorded: rounded down as all are, so order is kept. */
static void round_to_us(struct moment *m)
{
	m->now_ns -= m->now_ns % 1000;
}

static enum fate correct_span(struct spans *x, const struct own *o, const struct usk_span *s)
{
	enum fate fate = o->fate;
	x->ends = s->end_ns != USK_NONE;
	fate = fate ? fate : correct(o, s->start_ns, &x->start);
	fate = fate || !x->ends ? fate : correct(o, s->end_ns, &x->end);
	if (!fate && x->ends && x->end.now_ns < x->start.now_ns) {
		return VAGUE;
	}
	if (!fate && x->form->us && whole_us(s->start_ns) && (!x->ends || whole_us(s->end_ns))) {
		round_to_us(&x->start);
		round_to_us(&x->end);
	}
	return fate;
}

static void correct_events(struct spans *x, const struct own *o, const struct usk_place *p,
			   size_t n)
{
	struct moment m;
	if (n > x->cap_now) {
		x->cap_now = 2 * n;
		x->now_ns = usk_grow(x->now_ns, x->cap_now, sizeof *x->now_ns);
	}
	x->any_event = false;
	for (size_t i = 0; i < n; i++) {
		x->now_ns[i] = USK_NONE;
		if (p[i].kind != USK_PLACE_EVENT || !p[i].ns) {
			continue;
		}
		if (p[i].ns == USK_NONE || correct(o, p[i].ns, &m)) {
			x->events++;
			continue;
		}
		if (x->form->us && whole_us(p[i].ns)) {
			round_to_us(&m);
		}
		x->now_ns[i] = m.now_ns;
		x->any_event = true;
	}
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* Of the window behind, up to there; to the output, or passed over. */
static enum usk_status pass(struct spans *x, uint64_t upto, bool copied)
{
	struct retime *t = x->t;
	while (t->in.at + x->used < upto) {
		const uint64_t left = upto - (t->in.at + x->used);
		size_t n = t->in.have - x->used;
		n = n < left ? n : (size_t)left;
		usk_output_write(&t->out, t->in.data + x->used, copied ? n : 0);
		x->used += n;
		if (n < left) {
			enum usk_status status = usk_input_need(&t->in, x->used, 1, t->err);
			x->used = 0;
			if (status || !t->in.have) {
				return status ? status
					      : usk_fail(t->err, USK_EIO, t->in.at,
							 "%s: changed while it was read", t->path);
			}
		}
	}
	return USK_OK;
}

static void put(struct spans *x, const char *text)
{
	usk_output_write(&x->t->out, text, strlen(text));
}

static void put_number(struct spans *x, int64_t ns, bool us)
{
	struct usk_output *out = &x->t->out;
	if (!us) {
		usk_output_format(out, "%lld", (long long)ns);
	} else if (whole_us(ns)) {
		usk_output_format(out, "%lld", (long long)(ns / 1000));
	} else {
		usk_output_format(out, "%lld.%03d", (long long)(ns / 1000), (int)(ns % 1000));
	}
}

/* Up to the value there: behind its key stand blanks and a colon. *first: the value's first byte. */
static enum usk_status pass_blanks(struct spans *x, const struct usk_place *p, char *first)
{
	struct retime *t = x->t;
	enum usk_status status = pass(x, p->from, true);
	for (uint64_t at = p->from; !status && at < p->to; at++) {
		status = pass(x, at, true);
		status = status ? status : usk_input_need(&t->in, x->used, 1, t->err);
		x->used = 0;
		*first = t->in.have ? (char)*t->in.data : 0;
		if (!*first || !strchr(" \t\r\n:", *first)) {
			break;
		}
	}
	return status;
}

/* It gets the quotes that it had. */
static enum usk_status put_stamp(struct spans *x, const struct usk_place *p, int64_t ns)
{
	struct retime *t = x->t;
	char first = 0;
	enum usk_status status = pass_blanks(x, p, &first);
	if (!status) {
		bool quoted = first == '"';
		usk_output_write(&t->out, "\"", quoted);
		put_number(x, ns, x->form->us);
		usk_output_write(&t->out, "\"", quoted);
		status = pass(x, p->to, false);
	}
	return status;
}

/* ---- attributes -------------------------------------------------------------------------- */

static void put_name(struct spans *x, const char *name)
{
	put(x, x->first ? "" : ",");
	put(x, x->form->name);
	put(x, name);
	put(x, x->form->value);
	x->first = false;
}

static void put_attribute(struct spans *x, const char *name, int64_t ns)
{
	if (ns != USK_NONE) {
		put_name(x, name);
		put_number(x, ns, false);
		put(x, x->form->end);
	}
}

static void put_attributes(struct spans *x, const struct usk_place *p, size_t n)
{
	put_attribute(x, USK_SPAN_RECORDED, x->start.was_ns);
	put_attribute(x, "unskew.start.earliest_ns", x->start.earliest_ns);
	put_attribute(x, "unskew.start.latest_ns", x->start.latest_ns);
	if (x->ends) {
		put_attribute(x, "unskew.end.recorded_ns", x->end.was_ns);
		put_attribute(x, "unskew.end.earliest_ns", x->end.earliest_ns);
		put_attribute(x, "unskew.end.latest_ns", x->end.latest_ns);
	}
	const char *between = "";
	for (size_t i = 0; x->any_event && i < n; i++) {
		if (p[i].kind == USK_PLACE_EVENT && x->now_ns[i] != USK_NONE) {
			if (!*between) {
				put_name(x, "unskew.events.recorded_ns");
			}
			put(x, between);
			put_number(x, p[i].ns, false);
			between = ",";
		}
	}
	put(x, *between ? x->form->end : "");
}

/* Where they stand, or can be made to. */
static enum usk_status put_all_attributes(struct spans *x, const struct usk_place *at,
					  const struct usk_place *p, size_t n)
{
	const bool null = at->kind == USK_PLACE_NULL, last = at->kind == USK_PLACE_LAST;
	char ignored = 0;
	enum usk_status status = null ? pass_blanks(x, at, &ignored) : pass(x, at->from, true);
	x->first = null || last || !at->filled;
	if (null) {
		usk_output_write(&x->t->out, &x->form->bracket, 1);
	} else if (last) {
		put(x, ",");
		put(x, x->form->open);
	}
	put_attributes(x, p, n);
	put(x, null || last ? x->form->close : "");
	return status ? status : pass(x, at->to, false);
}

/* Where attributes are added; *at NULL: what they would say is there. False: none can be. */
static bool attributes_at(const struct usk_place *p, size_t n, const struct usk_place **at)
{
	bool recorded = false;
	*at = NULL;
	for (size_t i = 0; i < n; i++) {
		bool here = p[i].kind == USK_PLACE_ATTRIBUTES || p[i].kind == USK_PLACE_NULL;
		if (p[i].kind == USK_PLACE_TAKEN) {
			return false;
		}
		recorded = recorded || p[i].kind == USK_PLACE_RECORDED;
		if (here || (!*at && p[i].kind == USK_PLACE_LAST)) {
			*at = &p[i];
		}
	}
	*at = recorded ? NULL : *at;
	return true;
}

/* ---- spans ------------------------------------------------------------------------------- */

/* What each place gets in place of its stamp; USK_NONE: it stays. Of a key that stands twice the
 * last one counts, as for the reader. */
static void fill_places(struct spans *x, const struct usk_place *p, size_t n)
{
	const int64_t now[] = {
		[USK_PLACE_START] = x->start.now_ns,
		[USK_PLACE_END] = x->ends ? x->end.now_ns : USK_NONE,
		[USK_PLACE_DURATION] = x->ends ? x->end.now_ns - x->start.now_ns : USK_NONE,
	};
	bool filled[COUNT(now)] = { false };
	for (size_t i = n; i-- > 0;) {
		if (p[i].kind < COUNT(now) && !filled[p[i].kind]) {
			filled[p[i].kind] = true;
			x->now_ns[i] = now[p[i].kind];
		}
	}
}

static enum usk_status take_span(void *ctx, const struct usk_span *s, const struct usk_place *p,
				 size_t n, struct usk_err *err)
{
	struct spans *x = ctx;
	struct own *o;
	enum usk_status status = own_of(x, s, &o);
	(void)err; /* the trace's, which is the same */
	if (status) {
		return status;
	}
	const struct usk_place *attributes;
	enum fate fate = correct_span(x, o, s);
	if (!attributes_at(p, n, &attributes) && !fate) {
		fate = TAKEN;
	}
	if (fate) {
		x->left[s->clock].n[fate]++;
		return USK_OK;
	}
	x->corrected++;
	correct_events(x, o, p, n);
	fill_places(x, p, n);
	for (size_t i = 0; i < n && !status; i++) {
		if (&p[i] == attributes) {
			status = put_all_attributes(x, &p[i], p, n);
		} else if (x->now_ns[i] != USK_NONE) {
			status = put_stamp(x, &p[i], x->now_ns[i]);
		}
	}
	return status;
}

/* ---- what a user should know --------------------------------------------------------------- */

static void note_left(const struct spans *x)
{
	struct retime *t = x->t;
	uint64_t told = 0, more = 0;
	for (size_t i = 0; i < x->n_left; i++) {
		for (size_t fate = 0; fate < FATES; fate++) {
			const uint64_t n = x->left[i].n[fate];
			if (n && told++ < MOST_NOTES) {
				usk_note(t->notes,
					 "%s: %llu span%s of clock %s stay%s as recorded: %s",
					 t->path, (unsigned long long)n, n == 1 ? "" : "s",
					 usk_trace_clock_name(t->trace, i), n == 1 ? "s" : "",
					 reason[fate]);
			} else {
				more += n;
			}
		}
	}
	if (more) {
		usk_note(t->notes, "%s: so do %llu spans of other clocks", t->path,
			 (unsigned long long)more);
	}
	if (x->events) {
		usk_note(t->notes,
			 "%s: stamps of events that stay as recorded, as they cannot be read or "
			 "corrected: %llu",
			 t->path, (unsigned long long)x->events);
	}
	if (t->notes && (told || x->events)) {
		t->notes->partial = true;
	}
}

static enum usk_status judge(const struct spans *x)
{
	struct retime *t = x->t;
	const char *damage = usk_trace_damage(t->trace);
	uint64_t left = 0;
	for (size_t i = 0; i < x->n_left; i++) {
		for (size_t fate = 0; fate < FATES; fate++) {
			left += x->left[i].n[fate];
		}
	}
	if (!x->corrected && left) {
		return usk_fail(t->err, USK_EINPUT, 0,
				"%s: the table of clocks corrects none of its %llu spans: is it of "
				"this trace? The first are of clock %s",
				t->path, (unsigned long long)left,
				usk_trace_clock_name(t->trace, 0));
	}
	if (!x->corrected && damage) {
		return usk_fail(t->err, USK_EINPUT, 0, "%s", damage);
	}
	if (damage) {
		usk_note(t->notes, "%s; what cannot be read was copied as it is", damage);
	}
	note_left(x);
	return USK_OK;
}

static enum usk_status run(struct spans *x)
{
	struct retime *t = x->t;
	struct usk_span s[BATCH];
	size_t n = 1;
	t->trace->take_span = take_span;
	t->trace->span_ctx = x;
	enum usk_status status = usk_trace_rewind(t->trace, t->err);
	for (uint64_t turn = 1; !status && n && !t->out.failed; turn++) {
		status = usk_trace_spans(t->trace, s, COUNT(s), &n, t->err);
		if (turn % 256 == 0) {
			usk_retime_progress(t, usk_trace_pos(t->trace));
		}
	}
	status = status ? status : judge(x);
	status = status ? status : usk_input_need(&t->in, x->used, 1, t->err);
	return status ? status : usk_retime_rest(t);
}

enum usk_status usk_retime_spans(struct retime *t)
{
	struct spans x = { .t = t, .form = forms };
	enum usk_status status = usk_trace_of(&t->in, t->path, &t->trace, t->err);
	if (status) {
		return status;
	}
	while (x.form->by != t->trace->reader) {
		x.form++;
	}
	status = run(&x);
	usk_trace_close(t->trace);
	for (size_t i = 0; i < x.n_own; i++) {
		usk_alone_free(x.own[i].alone);
	}
	free(x.own);
	free(x.left);
	free(x.now_ns);
	return status;
}
