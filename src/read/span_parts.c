/* SPDX-License-Identifier: MIT */
/*
 * span_parts.c - what is said of a span and of its process, put together
 *
 * In    values by their meaning, in the order of a file
 * Out   spans with their clocks and processes, once it is known whose they are
 * Why   the same for all formats
 * Not   how they are encoded (span_json.c, span_otlp_proto.c), which objects are spans (span_otlp_keys.c,
 *       span_jaeger.c, span_zipkin.c)
 */
#include "read/span_parts.h"

#include "base/text.h"

#include <stdlib.h>

/* ---- texts ------------------------------------------------------------------------------- */

static void say(struct span_text *x, const char *text, size_t n)
{
	n = n < USK_SPAN_LONGEST ? n : USK_SPAN_LONGEST;
	if (n >= x->cap) {
		x->cap = n + 64;
		x->text = usk_grow(x->text, x->cap, 1);
	}
	memcpy(x->text, text, n);
	x->text[n] = 0;
	x->n = n;
	x->any = true;
	x->is_number = false;
}

struct usk_csv_field usk_span_said(const struct span_reader *r, enum span_field f)
{
	const struct span_text *x = &r->said[f];
	bool text = x->any && !x->is_number;
	return (struct usk_csv_field){ text ? x->text : "", text ? x->n : 0 };
}

void usk_span_say(struct span_reader *r, enum span_field f, struct usk_csv_field what)
{
	say(&r->said[f], what.text, what.n);
}

void usk_span_say_number(struct span_reader *r, enum span_field f, uint64_t number)
{
	struct span_text *x = &r->said[f];
	x->number = number;
	x->any = x->is_number = true;
}

void usk_span_forget(struct span_reader *r, enum span_field f)
{
	r->said[f].any = false;
}

/* ---- processes ---------------------------------------------------------------------------- */

void usk_span_begin_process(struct span_reader *r)
{
	for (size_t i = 0; i < ATTRIBUTES; i++) {
		r->attribute[i].any = false;
	}
	r->resource = 0;
	r->told = r->numbered = false;
}

void usk_span_set_attribute(struct span_reader *r, enum span_attribute a, struct usk_csv_field v)
{
	if (v.n) {
		say(&r->attribute[a], v.text, v.n);
	}
}

void usk_span_attribute(struct span_reader *r)
{
	static const struct {
		const char *key;
		enum span_attribute attribute;
	} rows[] = {
		{ "service.name", ATTRIBUTE_SERVICE },
		{ "service.instance.id", ATTRIBUTE_INSTANCE },
		{ "k8s.node.name", ATTRIBUTE_NODE },
		{ "host.name", ATTRIBUTE_HOST_NAME },
		{ "hostname", ATTRIBUTE_HOST_NAME },
		{ "host.id", ATTRIBUTE_HOST_ID },
		{ "k8s.pod.name", ATTRIBUTE_POD },
		{ "container.id", ATTRIBUTE_CONTAINER },
		{ "process.pid", ATTRIBUTE_PID },
		{ "ip", ATTRIBUTE_ADDRESS },
	};
	struct usk_csv_field key = usk_span_said(r, FIELD_KEY);
	struct usk_csv_field value = usk_span_said(r, FIELD_VALUE);
	struct usk_event_id a = usk_event_id(key.text, key.n),
			    b = usk_event_id(value.text, value.n);
	/* In any order. */
	r->resource +=
		usk_mix(usk_fold(usk_fold(a.word[0], a.word[1]), usk_fold(b.word[0], b.word[1])));
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (usk_csv_is(key, rows[i].key)) {
			usk_span_set_attribute(r, rows[i].attribute, value);
		}
	}
}

/*
 * The clock's name, malloc'ed: the machine as exactly as it is named, else whatever tells one
 * process from another. Two clocks under one name would be a false clock; one clock under two names
 * is only known less well.
 */
static char *clock_name(const struct span_reader *r)
{
	static const char none[] = "unnamed service";
	const struct span_text *a = r->attribute;
	const char *service = a[ATTRIBUTE_SERVICE].any ? a[ATTRIBUTE_SERVICE].text : none;
	if (a[ATTRIBUTE_NODE].any) {
		return usk_strdup(a[ATTRIBUTE_NODE].text);
	}
	if (a[ATTRIBUTE_HOST_NAME].any && a[ATTRIBUTE_HOST_ID].any) {
		return usk_format("%s/%.12s", a[ATTRIBUTE_HOST_NAME].text,
				  a[ATTRIBUTE_HOST_ID].text);
	}
	if (a[ATTRIBUTE_HOST_NAME].any || a[ATTRIBUTE_HOST_ID].any) {
		return usk_strdup(
			a[a[ATTRIBUTE_HOST_NAME].any ? ATTRIBUTE_HOST_NAME : ATTRIBUTE_HOST_ID]
				.text);
	}
	static const enum span_attribute instance[] = { ATTRIBUTE_POD, ATTRIBUTE_INSTANCE,
							ATTRIBUTE_CONTAINER, ATTRIBUTE_ADDRESS,
							ATTRIBUTE_PID };
	for (size_t i = 0; i < COUNT(instance); i++) {
		if (a[instance[i]].any) {
			return usk_format("%s/%s", service, a[instance[i]].text);
		}
	}
	return usk_strdup(service);
}

static void settle(struct span_reader *r, struct usk_span *s)
{
	if (!r->numbered) {
		char *name = clock_name(r);
		const struct span_text *service = &r->attribute[ATTRIBUTE_SERVICE];
		struct usk_event_id id = usk_event_id(name, strlen(name));
		r->clock = usk_trace_clock(r->t, (struct usk_csv_field){ name, strlen(name) });
		r->process = usk_texts_number(&r->t->process, usk_fold(id.word[0], id.word[1]),
					      r->resource, service->any ? service->text : name,
					      service->any ? service->n : strlen(name));
		r->numbered = true;
		free(name);
	}
	s->clock = r->clock;
	s->process = r->process;
}

void usk_span_is_of(struct span_reader *r)
{
	for (; r->settled < r->n; r->settled++) {
		settle(r, &r->waiting[r->settled].span);
	}
	r->told = true;
}

void usk_span_this_is_of(struct span_reader *r)
{
	settle(r, &r->span);
}

void usk_span_are_of(struct span_reader *r, struct usk_csv_field number)
{
	struct usk_span any;
	settle(r, &any);
	*USK_ADD(r->known, r->n_known, r->cap_known) =
		(struct known){ usk_span_id(number.text, number.n), any.clock, any.process };
}

static void left_out(struct span_reader *r, const char *why)
{
	if (!r->n_bad++) {
		r->bad_at = r->value_at;
		r->bad = usk_strdup(why);
	}
}

void usk_span_flush(struct span_reader *r)
{
	for (size_t i = r->settled; i < r->n; i++) {
		struct waiting w = r->waiting[i];
		size_t k = 0;
		while (k < r->n_known && r->known[k].number != w.process) {
			k++;
		}
		if (w.span.clock == USK_NO_CLOCK && k == r->n_known) {
			left_out(r, "it names no process of its trace");
			continue;
		}
		if (w.span.clock == USK_NO_CLOCK) {
			w.span.clock = r->known[k].clock;
			w.span.process = r->known[k].process;
		}
		r->waiting[r->settled++] = w;
	}
	r->n = r->settled;
	r->n_known = 0;
}

/* ---- spans ------------------------------------------------------------------------------- */

void usk_span_begin(struct span_reader *r)
{
	for (size_t i = 0; i < FIELDS; i++) {
		r->said[i].any = false;
	}
	r->span = (struct usk_span){ .clock = USK_NO_CLOCK, .end_ns = USK_NONE };
	r->spoilt = NULL;
	r->of_span = r->n;
	r->of_place = r->places_gone + r->n_places;
}

void usk_span_spoil(struct span_reader *r, const char *why)
{
	r->spoilt = why;
}

void usk_span_drop(struct span_reader *r)
{
	r->n = r->of_span;
}

bool usk_span_key_is(const struct span_reader *r, const char *key)
{
	return usk_csv_is(usk_span_said(r, FIELD_KEY), key);
}

void usk_span_flag(struct span_reader *r, uint8_t flags)
{
	r->span.flags |= flags;
}

static uint64_t id_of(const struct span_reader *r, enum span_field f)
{
	struct usk_csv_field x = usk_span_said(r, f);
	bool number = r->said[f].any && r->said[f].is_number;
	return number ? r->said[f].number : usk_span_id(x.text, x.n);
}

static void keep(struct span_reader *r, const struct usk_span *s, uint64_t process)
{
	*USK_ADD(r->waiting, r->n, r->cap) =
		(struct waiting){ .span = *s, .process = process, .place = r->of_place };
}

void usk_span_link(struct span_reader *r)
{
	const struct usk_span link = { .trace = id_of(r, FIELD_LINK_TRACE),
				       .parent = id_of(r, FIELD_LINK_ID),
				       .clock = USK_NO_CLOCK,
				       .flags = USK_SPAN_LINK };
	if (link.parent) {
		keep(r, &link, 0);
	}
}

void usk_span_parent(struct span_reader *r)
{
	if (r->span.parent) {
		usk_span_link(r);
	} else {
		r->span.parent = id_of(r, FIELD_LINK_ID);
	}
}

static bool time_in(struct usk_csv_field x, unsigned shift, int64_t *ns)
{
	struct usk_err why;
	return x.n && !usk_parse_decimal(x.text, x.n, shift, ns, NULL, &why) && *ns >= 0 &&
	       *ns <= USK_TIME_MAX;
}

/* False: it is said, and no time. */
static bool time_of(const struct span_reader *r, enum span_field f, unsigned shift, int64_t *ns)
{
	if (r->said[f].any && r->said[f].is_number) { /* of ns */
		*ns = (int64_t)r->said[f].number;
		return r->said[f].number <= (uint64_t)USK_TIME_MAX;
	}
	return time_in(usk_span_said(r, f), shift, ns);
}

/* NULL: its times are as they should be. */
static const char *times(struct span_reader *r)
{
	struct usk_span *s = &r->span;
	int64_t end = 0;
	if (r->said[FIELD_START_US].any) {
		s->flags |= USK_SPAN_MICROSECONDS;
		if (!time_of(r, FIELD_START_US, 3, &s->start_ns)) {
			return "its start is no time in us";
		}
		if (r->said[FIELD_DURATION_US].any) {
			if (!time_of(r, FIELD_DURATION_US, 3, &end) ||
			    end > USK_TIME_MAX - s->start_ns) {
				return "its duration is no time in us";
			}
			s->end_ns = s->start_ns + end;
		}
		return NULL;
	}
	if (!time_of(r, FIELD_START_NS, 0, &s->start_ns) || !s->start_ns) {
		return r->said[FIELD_START_NS].any ? "its start is no time in ns"
						   : "it has no start";
	}
	if (r->said[FIELD_END_NS].any) {
		if (!time_of(r, FIELD_END_NS, 0, &end) || (end && end < s->start_ns)) {
			return "its end is no time in ns, or before its start";
		}
		s->end_ns = end ? end : USK_NONE; /* 0: it had not ended */
	}
	return NULL;
}

void usk_span_end(struct span_reader *r)
{
	struct usk_span *s = &r->span;
	const char *why = r->spoilt ? r->spoilt : times(r);
	s->trace = id_of(r, FIELD_TRACE);
	s->id = id_of(r, FIELD_ID);
	if (!s->parent) {
		s->parent = id_of(r, FIELD_PARENT);
	}
	if (!why && !(s->trace && s->id)) {
		why = "it has no id of its trace, or of itself";
	}
	struct usk_csv_field kind = usk_span_said(r, FIELD_KIND);
	if (kind.n) {
		s->kind = (uint8_t)usk_span_kind(kind.text, kind.n);
	}
	if (why) {
		left_out(r, why);
		usk_span_drop(r);
		return;
	}
	struct usk_csv_field process = usk_span_said(r, FIELD_PROCESS);
	uint64_t number = usk_span_id(process.text, process.n);
	s->operation = usk_trace_operation(r->t, usk_span_said(r, FIELD_NAME));
	for (size_t i = r->of_span; i < r->n; i++) {
		struct waiting *w = &r->waiting[i];
		const struct usk_span link = w->span;
		w->span = *s;
		w->span.trace = link.trace ? link.trace : s->trace;
		w->span.parent = link.parent;
		w->span.id = 0;
		w->span.flags |= link.flags;
		w->process = number;
	}
	keep(r, s, number);
	r->waiting[r->n - 1].n_places = (size_t)(r->places_gone + r->n_places - r->of_place);
	r->of_place += r->waiting[r->n - 1].n_places;
	if (r->told) {
		usk_span_is_of(r);
	}
}

/* ---- where things stand ------------------------------------------------------------------ */

void usk_span_place(struct span_reader *r, struct usk_place p)
{
	*USK_ADD(r->place, r->n_places, r->cap_places) = p;
}

/* Is it the place of a stamp? */
static bool stamp_place(enum span_field f, uint64_t from, uint64_t to, struct usk_place *p)
{
	static const uint8_t kind_of[FIELDS] = {
		[FIELD_START_NS] = USK_PLACE_START + 1,
		[FIELD_START_US] = USK_PLACE_START + 1,
		[FIELD_END_NS] = USK_PLACE_END + 1,
		[FIELD_DURATION_US] = USK_PLACE_DURATION + 1,
		[FIELD_EVENT_NS] = USK_PLACE_EVENT + 1,
		[FIELD_EVENT_US] = USK_PLACE_EVENT + 1,
	};
	*p = (struct usk_place){ from, to, USK_NONE, (uint8_t)(kind_of[f] - 1), false };
	return kind_of[f];
}

void usk_span_stands(struct span_reader *r, enum span_field f, uint64_t from, uint64_t to,
		     struct usk_csv_field what)
{
	struct usk_place p;
	if (stamp_place(f, from, to, &p)) {
		if (p.kind == USK_PLACE_EVENT &&
		    !time_in(what, f == FIELD_EVENT_US ? 3 : 0, &p.ns)) {
			p.ns = USK_NONE;
		}
		usk_span_place(r, p);
	}
}

void usk_span_stands_number(struct span_reader *r, enum span_field f, uint64_t from, uint64_t to,
			    uint64_t number)
{
	struct usk_place p;
	if (stamp_place(f, from, to, &p)) {
		p.ns = number <= (uint64_t)USK_TIME_MAX ? (int64_t)number : USK_NONE;
		usk_span_place(r, p);
	}
}

/* Those of spans that were handed out. */
static void forget_places(struct span_reader *r)
{
	uint64_t first = r->at < r->n ? r->waiting[r->at].place : r->of_place;
	size_t gone = (size_t)(first - r->places_gone);
	if (gone) {
		r->n_places -= gone;
		memmove(r->place, r->place + gone, r->n_places * sizeof *r->place);
		r->places_gone = first;
	}
}

static enum usk_status hand_out(struct usk_trace *t, const struct waiting *w, struct usk_span *out,
				struct usk_err *err)
{
	const struct span_reader *r = t->state;
	*out = w->span;
	return t->take_span && w->span.id
		       ? t->take_span(t->span_ctx, &w->span, r->place + (w->place - r->places_gone),
				      w->n_places, err)
		       : USK_OK;
}

/* ---- a file ------------------------------------------------------------------------------ */

void usk_span_start(struct span_reader *r, struct usk_trace *t, const struct span_format *f)
{
	r->t = t;
	r->format = f;
	r->n = r->at = r->settled = 0;
	r->n_bad = r->n_known = r->n_places = 0;
	r->places_gone = 0;
	r->ended = false;
	free(r->bad);
	r->bad = NULL;
	usk_span_begin(r); /* what an earlier reading ended with was said of nothing here */
	usk_span_begin_process(r);
}

void usk_span_stop(struct span_reader *r)
{
	for (size_t i = 0; i < FIELDS; i++) {
		free(r->said[i].text);
	}
	for (size_t i = 0; i < ATTRIBUTES; i++) {
		free(r->attribute[i].text);
	}
	USK_FREE(r->waiting, r->known, r->place, r->bad);
}

enum usk_status usk_span_read(struct usk_trace *t,
			      enum usk_status (*feed)(struct usk_trace *t, struct usk_err *err),
			      struct usk_span *out, size_t cap, size_t *n, struct usk_err *err)
{
	struct span_reader *r = t->state;
	enum usk_status status = USK_OK;
	while (!status && r->at == r->settled && !r->ended) {
		forget_places(r);
		if (r->at) {
			memmove(r->waiting, r->waiting + r->at,
				(r->n - r->at) * sizeof *r->waiting);
		}
		r->n -= r->at;
		r->of_span -= r->of_span < r->at ? r->of_span : r->at;
		r->at = r->settled = 0;
		status = feed(t, err);
		usk_fail_in(status, err, "%s", t->path);
		r->ended = t->done;
	}
	for (; !status && *n < cap && r->at < r->settled; r->at++) {
		status = hand_out(t, &r->waiting[r->at], &out[(*n)++], err);
	}
	t->done = r->ended && r->at == r->settled; /* all was handed out, too */
	return status;
}

void usk_span_orphans(struct span_reader *r)
{
	for (size_t i = r->settled; i < r->n; i++) {
		if (r->waiting[i].span.id) { /* else it is a link */
			left_out(r, "whose it is was lost");
		}
	}
	r->n = r->settled;
}

void usk_span_finish(struct span_reader *r, const char *cut)
{
	usk_span_orphans(r);
	char *bad = r->n_bad ? usk_format("%llu span%s left out, the first before byte %llu: %s",
					  (unsigned long long)r->n_bad,
					  r->n_bad == 1 ? " was" : "s were",
					  (unsigned long long)r->bad_at, r->bad)
			     : NULL;
	if (cut || bad) {
		usk_trace_damaged(r->t, "%s%s%s", cut ? cut : "", cut && bad ? "; " : "",
				  bad ? bad : "");
	}
	free(bad);
	r->t->done = true;
}
