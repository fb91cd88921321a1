/* SPDX-License-Identifier: MIT */
/*
 * span_json.c - spans from JSON, as its bytes come
 *
 * In    JSON of any length, one value after another; a format's table of keys
 * Out   spans with their clocks and processes, once it is known whose they are
 * Why   files of spans are one value of gigabytes as well as a value a line: a parser that calls
 * back holds neither. libyajl does 240 to 360 MB/s, jansson 39 and json-c 63, which make a tree Not
 * what objects mean (span_otlp.c, span_jaeger.c, span_zipkin.c)
 *
 * A value's key is looked up in the table by the object that it stands in; what is not there is
 * passed over. What ends before its process is told waits, no longer than the object that tells it.
 */
#include "read/span_json.h"

#include "base/text.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

enum { DEEPEST = 512, TRACKED = 32, FEED = 1 << 16, LONGEST = 1024 };

struct frame {
	uint8_t object; /* what it is; of an array, what its elements are */
	bool array;
	uint8_t next, field; /* of the key said last */
};

struct waiting {
	struct usk_span span;
	uint64_t process; /* its number's hash; 0: whose comes next */
};

struct span_reader {
	struct usk_trace *t;
	const struct span_format *format;
	yajl_handle json;
	struct frame frame[TRACKED];
	size_t depth, passed; /* frames, and levels of what is passed over */
	struct span_text said[FIELDS];
	struct span_text attribute[ATTRIBUTES];
	uint64_t resource; /* a hash of all that was said of the process */
	struct usk_span span;
	bool told;     /* all that there is was said of the process */
	bool numbered; /* its numbers are: */
	uint32_t clock, process;
	struct known { /* processes of the trace */
		uint64_t number;
		uint32_t clock, process;
	} * known;
	size_t n_known, cap_known;
	struct waiting
		*waiting; /* [settled..n) wait for their process, [at..settled) to be handed out */
	size_t n, at, settled, cap;
	size_t of_span; /* where those begin that the span being made will have, links and all */
	uint64_t value_at;
	uint64_t n_bad, bad_at;
	char *bad;
	bool ended;
};

/* ---- texts ------------------------------------------------------------------------------- */

static void say(struct span_text *x, const char *text, size_t n)
{
	n = n < LONGEST ? n : LONGEST;
	if (n >= x->cap) {
		x->cap = n + 64;
		x->text = usk_grow(x->text, x->cap, 1);
	}
	memcpy(x->text, text, n);
	x->text[n] = 0;
	x->n = n;
	x->any = true;
}

struct usk_csv_field usk_span_said(const struct span_reader *r, enum span_field f)
{
	const struct span_text *x = &r->said[f];
	return (struct usk_csv_field){ x->any ? x->text : "", x->any ? x->n : 0 };
}

void usk_span_say(struct span_reader *r, enum span_field f, struct usk_csv_field what)
{
	say(&r->said[f], what.text, what.n);
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

void usk_span_are_of(struct span_reader *r, struct usk_csv_field number)
{
	struct usk_span any;
	settle(r, &any);
	r->known = usk_room(r->known, r->n_known, &r->cap_known, sizeof *r->known);
	r->known[r->n_known++] =
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
		if (k == r->n_known) {
			left_out(r, "it names no process of its trace");
			continue;
		}
		w.span.clock = r->known[k].clock;
		w.span.process = r->known[k].process;
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
	r->of_span = r->n;
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
	return usk_span_id(x.text, x.n);
}

static void keep(struct span_reader *r, const struct usk_span *s, uint64_t process)
{
	r->waiting = usk_room(r->waiting, r->n, &r->cap, sizeof *r->waiting);
	r->waiting[r->n++] = (struct waiting){ *s, process };
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

/* False: it is said, and no time. */
static bool time_of(const struct span_reader *r, enum span_field f, unsigned shift, int64_t *ns)
{
	struct usk_csv_field x = usk_span_said(r, f);
	struct usk_err why;
	return x.n && !usk_parse_decimal(x.text, x.n, shift, ns, NULL, &why) && *ns >= 0 &&
	       *ns <= USK_TIME_MAX;
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
	const char *why = times(r);
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
		r->n = r->of_span;
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
	if (r->told) {
		usk_span_is_of(r);
	}
}

/* ---- what the parser calls ----------------------------------------------------------------- */

static struct frame *top(struct span_reader *r)
{
	return r->passed || !r->depth ? NULL : &r->frame[r->depth - 1];
}

static int opens(struct span_reader *r, bool array)
{
	const struct frame *f = top(r);
	uint8_t object = r->passed  ? OBJECT_NONE
			 : !f	    ? r->format->root
			 : f->array ? f->object
				    : f->next;
	if (object == OBJECT_NONE || r->depth == TRACKED) {
		return ++r->passed + r->depth <= DEEPEST;
	}
	r->frame[r->depth++] = (struct frame){ .object = object, .array = array };
	if (!array && r->format->begin) {
		r->format->begin(r, object);
	}
	return 1;
}

static int closes(struct span_reader *r)
{
	if (r->passed) {
		r->passed--;
		return 1;
	}
	const struct frame f = r->frame[--r->depth];
	if (!f.array) {
		r->format->end(r, f.object);
	}
	return 1;
}

static int on_key(void *ctx, const unsigned char *key, size_t n)
{
	struct span_reader *r = ctx;
	struct frame *f = top(r);
	if (!f) {
		return 1;
	}
	f->next = OBJECT_NONE;
	f->field = FIELD_NONE;
	for (size_t i = 0; i < r->format->n_keys; i++) {
		const struct span_key *k = &r->format->key[i];
		if (k->in == f->object &&
		    (!k->name || (strlen(k->name) == n && !memcmp(k->name, key, n)))) {
			f->next = k->object;
			f->field = k->field;
			if (!k->name) {
				say(&r->said[FIELD_PROCESS], (const char *)key, n);
			}
			break;
		}
	}
	return 1;
}

static int on_scalar(struct span_reader *r, const char *text, size_t n)
{
	const struct frame *f = top(r);
	if (f && !f->array && f->field != FIELD_NONE) {
		say(&r->said[f->field], text, n);
	}
	return 1;
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
	return on_scalar(ctx, (const char *)text, n);
}

static int on_number(void *ctx, const char *text, size_t n)
{
	return on_scalar(ctx, text, n);
}

static int on_boolean(void *ctx, int yes)
{
	return on_scalar(ctx, yes ? "true" : "false", yes ? 4 : 5);
}

static int on_start_map(void *ctx)
{
	return opens(ctx, false);
}

static int on_start_array(void *ctx)
{
	return opens(ctx, true);
}

static int on_end(void *ctx)
{
	return closes(ctx);
}

static const yajl_callbacks callbacks = {
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

static void *grow(void *ctx, void *p, size_t n)
{
	(void)ctx;
	return usk_grow(p, n, 1);
}

static void *take(void *ctx, size_t n)
{
	return grow(ctx, NULL, n);
}

static void give(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

/* ---- bytes ------------------------------------------------------------------------------- */

static void parser_new(struct span_reader *r)
{
	static const yajl_alloc_funcs memory = { take, grow, give, NULL };
	if (r->json) {
		yajl_free(r->json);
	}
	r->json = yajl_alloc(&callbacks, (yajl_alloc_funcs *)&memory, r);
	yajl_config(r->json, yajl_allow_multiple_values, 1);
	yajl_config(r->json, yajl_dont_validate_strings, 1);
	r->depth = r->passed = 0;
	r->n = r->settled;
	usk_span_begin_process(r);
}

/* Behind damage: to the next line that may begin a value. */
static enum usk_status to_next_line(struct span_reader *r, struct usk_err *err)
{
	struct usk_trace *t = r->t;
	const uint64_t from = t->in.at + t->used;
	t->used -= t->used > 0; /* what is wrong may be that a value begins */
	for (;;) {
		enum usk_status status = usk_input_need(&t->in, t->used, FEED, err);
		t->used = 0;
		if (status) {
			return status;
		}
		const uint8_t *line = t->in.have ? memmem(t->in.data, t->in.have, "\n{", 2) : NULL;
		t->used = line	      ? (size_t)(line - t->in.data) + 1
			  : t->in.end ? t->in.have
				      : t->in.have - 1;
		if (line || t->in.end) {
			usk_trace_lost(t, from, t->in.at + t->used - from);
			parser_new(r);
			return USK_OK;
		}
	}
}

static void cut_short(struct span_reader *r, uint64_t at)
{
	usk_trace_damaged(r->t,
			  "ends at byte %llu within a JSON value that began before; what it held "
			  "in whole was used",
			  (unsigned long long)at);
}

/* All bytes were read. */
static void at_end(struct span_reader *r)
{
	struct usk_trace *t = r->t;
	bool whole = !r->depth && !r->passed && yajl_complete_parse(r->json) == yajl_status_ok;
	if (r->n_bad) {
		usk_trace_damaged(t, "%llu span%s left out, the first before byte %llu: %s",
				  (unsigned long long)r->n_bad, r->n_bad == 1 ? " was" : "s were",
				  (unsigned long long)r->bad_at, r->bad);
	} else if (!whole) {
		cut_short(r, t->in.at + t->used);
	}
	t->done = true;
}

/* Some bytes more; what they hold comes to wait. */
static enum usk_status feed(struct span_reader *r, struct usk_err *err)
{
	struct usk_trace *t = r->t;
	enum usk_status status = usk_input_need(&t->in, t->used, 1, err);
	t->used = 0;
	if (status) {
		return status;
	}
	size_t n = t->in.have < FEED ? t->in.have : FEED;
	if (!n) {
		at_end(r);
		return USK_OK;
	}
	r->value_at = t->in.at + n;
	yajl_status said = yajl_parse(r->json, t->in.data, n);
	if (said == yajl_status_ok) {
		t->used = n;
		return USK_OK;
	}
	size_t passed = yajl_get_bytes_consumed(r->json);
	t->used = passed < n ? passed : n;
	if (r->format->lines) {
		return to_next_line(r, err);
	}
	usk_trace_damaged(t, "%s at byte %llu, so nothing behind it was read",
			  said == yajl_status_client_canceled ? "nests more than 512 levels deep"
							      : "is no JSON",
			  (unsigned long long)(t->in.at + t->used));
	return USK_OK;
}

enum usk_status usk_span_json(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
			      struct usk_err *err)
{
	struct span_reader *r = t->state;
	enum usk_status status = USK_OK;
	while (!status && r->at == r->settled && !r->ended) {
		memmove(r->waiting, r->waiting + r->at, (r->n - r->at) * sizeof *r->waiting);
		r->n -= r->at;
		r->of_span -= r->of_span < r->at ? r->of_span : r->at;
		r->at = r->settled = 0;
		status = feed(r, err);
		if (status) {
			usk_fail_in(err, "%s", t->path);
		}
		r->ended = t->done;
	}
	for (; !status && *n < cap && r->at < r->settled; r->at++) {
		out[(*n)++] = r->waiting[r->at].span;
	}
	t->done = r->ended && r->at == r->settled; /* all was handed out, too */
	return status;
}

enum usk_status usk_span_json_start(struct usk_trace *t, const struct span_format *f,
				    struct usk_err *err)
{
	struct span_reader *r = t->state ? t->state : (t->state = usk_alloc(1, sizeof *r));
	(void)err;
	r->t = t;
	r->format = f;
	r->n = r->at = r->settled = 0;
	r->n_bad = r->n_known = 0;
	r->ended = false;
	free(r->bad);
	r->bad = NULL;
	parser_new(r);
	return USK_OK;
}

void usk_span_json_stop(struct usk_trace *t)
{
	struct span_reader *r = t->state;
	if (r) {
		for (size_t i = 0; i < FIELDS; i++) {
			free(r->said[i].text);
		}
		for (size_t i = 0; i < ATTRIBUTES; i++) {
			free(r->attribute[i].text);
		}
		yajl_free(r->json);
		free(r->waiting);
		free(r->known);
		free(r->bad);
	}
	free(r);
	t->state = NULL;
}

bool usk_span_sniff(const uint8_t *d, size_t n, const char *opens_with, const char *const *key,
		    size_t n_keys)
{
	size_t i = 0;
	for (; *opens_with; opens_with++, i++) {
		while (i < n && strchr(" \t\r\n", d[i])) {
			i++;
		}
		if (i >= n || d[i] != (uint8_t)*opens_with) {
			return false;
		}
	}
	for (size_t k = 0; k < n_keys; k++) {
		if (memmem(d, n, key[k], strlen(key[k]))) {
			return true;
		}
	}
	return false;
}
