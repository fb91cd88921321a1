/* SPDX-License-Identifier: MIT */
/*
 * span_json.c - spans from JSON, as its bytes come
 *
 * In    JSON of any length, one value after another; a format's table of keys
 * Out   spans with their clocks and processes, once it is known whose they are
 * Why   files of spans are one value of gigabytes as well as a value a line: a parser that calls
 *       back holds neither (doc/dependencies.md has the rates of several)
 * Not   what objects mean (span_otlp.c, span_jaeger.c, span_zipkin.c)
 *
 * A value's key is looked up in the table by the object that it stands in; what is not there is
 * passed over. What ends before its process is told waits, no longer than the object that tells it.
 */
#include "read/span_json.h"

#include <stdlib.h>

enum { DEEPEST = 512, FEED = 1 << 16 };

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
	if (object == OBJECT_NONE || r->depth == USK_SPAN_TRACKED) {
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
				usk_span_say(r, FIELD_PROCESS,
					     (struct usk_csv_field){ (const char *)key, n });
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
		usk_span_say(r, f->field, (struct usk_csv_field){ text, n });
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
		if (r->at) {
			memmove(r->waiting, r->waiting + r->at,
				(r->n - r->at) * sizeof *r->waiting);
		}
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
