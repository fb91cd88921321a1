/* SPDX-License-Identifier: MIT */
/*
 * retime_spans.c - spans again, with corrected stamps; so are events of profiles
 *
 * In    OTLP as JSON and as protobuf, JSON of Jaeger, of Zipkin; JSON of Chrome, whose events are spans
 *       here
 * Out   the same bytes, but for stamps of spans and of their events; recorded stamps and bounds as
 *       attributes of each span, arguments of each event
 * Why   whatever else a file says of its spans is kept, in the form in which it said it
 * Not   what cannot be read, or corrected: it is copied as it is, and counted. A span that has
 *       recorded stamps among its attributes already keeps what they say: it was corrected before
 *
 * Two windows slide over the input: the reader's in front, and behind it the one that is copied, up
 * to the last span of which it is known whose it is.
 */
#include "match/match.h"
#include "write/span_put.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 256, MOST_NOTES = 8 };

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

struct spans {
	struct span_put put;
	struct own *own;
	size_t n_own;
	struct left {
		uint64_t n[FATES];
	} * left; /* by clock of the file */
	size_t n_left;
	uint64_t corrected, events; /* spans; events whose stamps stay */
	bool again;		    /* of some it is said what was recorded */
};

/* ---- clocks ------------------------------------------------------------------------------ */

/* As sync called it where several files have one name: with its folder. */
static uint32_t find_in_folder(const struct retime *t, const char *name)
{
	const char *end = strrchr(t->path, '/'), *from = end;
	while (from && from > t->path && from[-1] != '/') {
		from--;
	}
	char *own = from ? usk_format("%.*s/%s", (int)(end - from), from, name) : NULL;
	uint32_t found = own ? usk_clocks_find(t->clocks, own, NULL, NULL) : USK_NO_CLOCK;
	free(own);
	return found;
}

/* By name, as sync has it. If it took processes of one host for clocks of their own, these are
 * numbered by all files that it read. */
static uint32_t find_clock(const struct spans *x, const struct usk_span *s)
{
	const struct retime *t = x->put.t;
	const char *name = usk_trace_clock_name(t->trace, s->clock);
	if (x->put.form->event) {
		bool alone = !strcmp(name, usk_trace_name(t->trace)); /* as cmd_apply asked */
		uint32_t found = alone ? t->clock : find_in_folder(t, name);
		return found != USK_NO_CLOCK ? found : usk_clocks_find(t->clocks, name, NULL, NULL);
	}
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
	struct retime *t = x->put.t;
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
	o->late_ns = (x->put.form->us && grid < 2000 ? 2000 : grid) - 1;
	o->early_ns = x->put.form->us ? 1000 : doubles ? grid : 0;
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

static enum fate correct(const struct own *o, int64_t was_ns, int64_t early_ns, int64_t late_ns,
			 struct span_moment *m)
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
	*m = (struct span_moment){ was_ns, at.reference_ns, at.lo_ns, at.hi_ns };
	if (early_ns) {
		bool fits = !usk_map_at(map, was_ns - early_ns, &side, NULL);
		m->earliest_ns = fits ? side.lo_ns : USK_NONE;
	}
	if (late_ns) {
		bool fits = !usk_map_at(map, was_ns + late_ns, &side, NULL);
		m->latest_ns = fits ? side.hi_ns : USK_NONE;
	}
	return at.reference_ns == USK_NONE ? UNBOUNDED : CORRECTED;
}

/* Formats of spans hold no stamp before 1970. */
static enum fate correct_any(const struct own *o, int64_t was_ns, int64_t late_ns,
			     struct span_moment *m)
{
	enum fate fate = correct(o, was_ns, o->early_ns, late_ns, m);
	return !fate && m->now_ns < 0 ? UNFIT : fate;
}

/* As fine as it was recorded: rounded down as all are, so order is kept. */
static void round_to_us(struct span_moment *m)
{
	m->now_ns -= m->now_ns % 1000;
}

static enum fate in_order(const struct spans *x)
{
	return x->put.ends && x->put.end.now_ns < x->put.start.now_ns ? VAGUE : CORRECTED;
}

static enum fate correct_span(struct spans *x, const struct own *o, const struct usk_span *s)
{
	const int64_t late_ns = o->late_ns + usk_span_coarse(s, o->late_ns);
	enum fate fate = o->fate;
	fate = fate ? fate : correct_any(o, s->start_ns, late_ns, &x->put.start);
	fate = fate || !x->put.ends ? fate : correct_any(o, s->end_ns, late_ns, &x->put.end);
	fate = fate ? fate : in_order(x);
	if (!fate && x->put.form->us && usk_whole_us(s->start_ns) &&
	    (!x->put.ends || usk_whole_us(s->end_ns))) {
		round_to_us(&x->put.start);
		round_to_us(&x->put.end);
	}
	return fate;
}

/* It says itself by how much it may be off. Nothing is rounded: in one file some stamps have
 * fractions, and order is kept. */
static enum fate correct_event(struct spans *x, const struct own *o, const struct usk_span *s)
{
	const struct usk_event_text *e = &x->put.t->trace->event;
	enum fate fate = o->fate;
	fate = fate ? fate : correct(o, s->start_ns, e->early_ns[0], e->late_ns[0], &x->put.start);
	if (!fate && x->put.ends) {
		fate = correct(o, s->end_ns, e->early_ns[1], e->late_ns[1], &x->put.end);
	}
	return fate ? fate : in_order(x);
}

static void correct_events(struct spans *x, const struct own *o, const struct usk_place *p,
			   size_t n)
{
	struct span_moment m;
	if (n > x->put.cap_now) {
		x->put.cap_now = 2 * n;
		x->put.now_ns = usk_grow(x->put.now_ns, x->put.cap_now, sizeof *x->put.now_ns);
	}
	x->put.any_event = false;
	for (size_t i = 0; i < n; i++) {
		x->put.now_ns[i] = USK_NONE;
		if (p[i].kind != USK_PLACE_EVENT || !p[i].ns) {
			continue;
		}
		if (p[i].ns == USK_NONE || correct_any(o, p[i].ns, o->late_ns, &m)) {
			x->events++;
			continue;
		}
		if (x->put.form->us && usk_whole_us(p[i].ns)) {
			round_to_us(&m);
		}
		x->put.now_ns[i] = m.now_ns;
		x->put.any_event = true;
	}
}

/* ---- spans ------------------------------------------------------------------------------- */

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
	x->put.ends = s->end_ns != USK_NONE;
	enum fate fate = x->put.form->event ? correct_event(x, o, s) : correct_span(x, o, s);
	if (!usk_span_attributes_at(p, n, &attributes) && !fate) {
		fate = TAKEN;
	}
	if (fate) {
		x->left[s->clock].n[fate]++;
		return USK_OK;
	}
	x->corrected++;
	for (size_t i = 0; i < n; i++) {
		x->again = x->again || p[i].kind == USK_PLACE_RECORDED;
	}
	correct_events(x, o, p, n);
	usk_span_fill(&x->put, p, n);
	status = (x->put.form->open ? usk_span_text_write : usk_span_proto_write)(&x->put, p, n,
										  attributes);
	return usk_fail_in(status, x->put.t->err, "%s", x->put.t->path);
}

/* ---- what a user should know --------------------------------------------------------------- */

static void note_left(const struct spans *x)
{
	struct retime *t = x->put.t;
	const char *noun = x->put.form->noun;
	uint64_t told = 0, more = 0;
	for (size_t i = 0; i < x->n_left; i++) {
		for (size_t fate = 0; fate < FATES; fate++) {
			const uint64_t n = x->left[i].n[fate];
			if (n && told++ < MOST_NOTES) {
				usk_note(t->notes,
					 "%s: %llu %s%s of clock %s stay%s as recorded: %s",
					 t->path, (unsigned long long)n, noun, n == 1 ? "" : "s",
					 usk_trace_clock_name(t->trace, i), n == 1 ? "s" : "",
					 reason[fate]);
			} else {
				more += n;
			}
		}
	}
	if (more) {
		usk_note(t->notes, "%s: so do %llu %ss of other clocks", t->path,
			 (unsigned long long)more, noun);
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
	struct retime *t = x->put.t;
	const char *damage = usk_trace_damage(t->trace), *remark = usk_trace_remark(t->trace);
	const bool may_stay = t->clock != USK_NO_CLOCK && t->opt && t->opt->allow_unbounded;
	uint64_t left = 0;
	for (size_t i = 0; i < x->n_left; i++) {
		for (size_t fate = 0; fate < FATES; fate++) {
			left += x->left[i].n[fate];
		}
	}
	if (!x->corrected && left && !may_stay) {
		return usk_fail(t->err, USK_EINPUT, 0,
				"%s: the table of clocks corrects none of its %llu %ss: is it of "
				"this trace? The first are of clock %s",
				t->path, (unsigned long long)left, x->put.form->noun,
				usk_trace_clock_name(t->trace, 0));
	}
	if (!x->corrected && damage) {
		return usk_fail(t->err, USK_EINPUT, 0, "%s", damage);
	}
	if (damage) {
		usk_note(t->notes, "%s; what cannot be read was copied as it is", damage);
	}
	if (remark) {
		usk_note(t->notes, "%s", remark);
	}
	if (x->again) {
		usk_retime_again(t, NULL);
	}
	note_left(x);
	return USK_OK;
}

/* Some more of them; each goes to take_span(). */
static enum usk_status next(struct usk_trace *t, struct usk_err *err)
{
	struct usk_span s[BATCH];
	struct usk_collective none[1];
	size_t n;
	return usk_trace_class(t) == USK_TRACE_SPANS
		       ? usk_trace_spans(t, s, COUNT(s), &n, err)
		       : usk_trace_collectives(t, none, COUNT(none), &n, err);
}

static enum usk_status run(struct spans *x)
{
	struct retime *t = x->put.t;
	t->trace->take_span = take_span;
	t->trace->span_ctx = x;
	enum usk_status status = usk_trace_rewind(t->trace, t->err);
	for (uint64_t turn = 1; !status && !t->trace->done && !t->out.failed; turn++) {
		status = next(t->trace, t->err);
		if (turn % 256 == 0) {
			usk_retime_progress(t, usk_trace_pos(t->trace));
		}
	}
	if (status || t->out.failed) {
		return status;
	}
	status = judge(x);
	if (!status && !x->put.form->open) {
		status = usk_span_proto_end(&x->put);
		usk_fail_in(status, t->err, "%s", t->path);
	}
	status = status ? status : usk_input_need(&t->in, x->put.used, 1, t->err);
	return status ? status : usk_retime_rest(t);
}

enum usk_status usk_retime_spans(struct retime *t)
{
	struct spans x = { .put.t = t };
	enum usk_status status = usk_trace_of(&t->in, t->path, &t->trace, t->err);
	if (status) {
		return status;
	}
	x.put.form = t->trace->reader->form;
	status = run(&x);
	usk_trace_close(t->trace);
	for (size_t i = 0; i < x.n_own; i++) {
		usk_alone_free(x.own[i].alone);
	}
	USK_FREE(x.own, x.left);
	usk_span_put_free(&x.put);
	return status;
}
