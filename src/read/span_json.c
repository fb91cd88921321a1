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
#include <yajl/yajl_parse.h>

enum { DEEPEST = 512, TRACKED = 32, FEED = 1 << 16 };

struct frame {
	uint8_t object; /* what it is; of an array, what its elements are */
	bool array;
	uint8_t next, field; /* of the key said last */
};

struct json_reader {
	struct span_reader r;
	yajl_handle json;
	struct frame frame[TRACKED];
	size_t depth, passed; /* frames, and levels of what is passed over */
};

/* ---- what the parser calls ----------------------------------------------------------------- */

static struct frame *top(struct json_reader *j)
{
	return j->passed || !j->depth ? NULL : &j->frame[j->depth - 1];
}

static int opens(struct json_reader *j, bool array)
{
	const struct frame *f = top(j);
	uint8_t object = j->passed  ? OBJECT_NONE
			 : !f	    ? j->r.format->root
			 : f->array ? f->object
				    : f->next;
	if (object == OBJECT_NONE || j->depth == TRACKED) {
		return ++j->passed + j->depth <= DEEPEST;
	}
	j->frame[j->depth++] = (struct frame){ .object = object, .array = array };
	if (!array && j->r.format->begin) {
		j->r.format->begin(&j->r, object);
	}
	return 1;
}

static int closes(struct json_reader *j)
{
	if (j->passed) {
		j->passed--;
		return 1;
	}
	const struct frame f = j->frame[--j->depth];
	if (!f.array) {
		j->r.format->end(&j->r, f.object);
	}
	return 1;
}

static int on_key(void *ctx, const unsigned char *key, size_t n)
{
	struct json_reader *j = ctx;
	struct frame *f = top(j);
	if (!f) {
		return 1;
	}
	f->next = OBJECT_NONE;
	f->field = FIELD_NONE;
	for (size_t i = 0; i < j->r.format->n_keys; i++) {
		const struct span_key *k = &j->r.format->key[i];
		if (k->in == f->object &&
		    (!k->name || (strlen(k->name) == n && !memcmp(k->name, key, n)))) {
			f->next = k->object;
			f->field = k->field;
			if (!k->name) {
				usk_span_say(&j->r, FIELD_PROCESS,
					     (struct usk_csv_field){ (const char *)key, n });
			}
			break;
		}
	}
	return 1;
}

static int on_scalar(struct json_reader *j, const char *text, size_t n)
{
	const struct frame *f = top(j);
	if (f && !f->array && f->field != FIELD_NONE) {
		usk_span_say(&j->r, f->field, (struct usk_csv_field){ text, n });
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

static void parser_new(struct json_reader *j)
{
	static const yajl_alloc_funcs memory = { take, grow, give, NULL };
	if (j->json) {
		yajl_free(j->json);
	}
	j->json = yajl_alloc(&callbacks, (yajl_alloc_funcs *)&memory, j);
	yajl_config(j->json, yajl_allow_multiple_values, 1);
	yajl_config(j->json, yajl_dont_validate_strings, 1);
	j->depth = j->passed = 0;
	j->r.n = j->r.settled;
	usk_span_begin_process(&j->r);
}

/* Behind damage: to the next line that may begin a value. */
static enum usk_status to_next_line(struct json_reader *j, struct usk_err *err)
{
	struct usk_trace *t = j->r.t;
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
			parser_new(j);
			return USK_OK;
		}
	}
}

/* All bytes were read. */
static void at_end(struct json_reader *j)
{
	const struct usk_trace *t = j->r.t;
	bool whole = !j->depth && !j->passed && yajl_complete_parse(j->json) == yajl_status_ok;
	char *cut = usk_format("ends at byte %llu within a JSON value that began before; what it "
			       "held in whole was used",
			       (unsigned long long)(t->in.at + t->used));
	usk_span_finish(&j->r, whole ? NULL : cut);
	free(cut);
}

/* Some bytes more; what they hold comes to wait. */
static enum usk_status feed(struct usk_trace *t, struct usk_err *err)
{
	struct json_reader *j = t->state;
	enum usk_status status = usk_input_need(&t->in, t->used, 1, err);
	t->used = 0;
	if (status) {
		return status;
	}
	size_t n = t->in.have < FEED ? t->in.have : FEED;
	if (!n) {
		at_end(j);
		return USK_OK;
	}
	j->r.value_at = t->in.at + n;
	yajl_status said = yajl_parse(j->json, t->in.data, n);
	if (said == yajl_status_ok) {
		t->used = n;
		return USK_OK;
	}
	size_t passed = yajl_get_bytes_consumed(j->json);
	t->used = passed < n ? passed : n;
	if (j->r.format->lines) {
		return to_next_line(j, err);
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
	return usk_span_read(t, feed, out, cap, n, err);
}

enum usk_status usk_span_json_start(struct usk_trace *t, const struct span_format *f,
				    struct usk_err *err)
{
	struct json_reader *j = t->state ? t->state : (t->state = usk_alloc(1, sizeof *j));
	(void)err;
	usk_span_start(&j->r, t, f);
	parser_new(j);
	return USK_OK;
}

void usk_span_json_stop(struct usk_trace *t)
{
	struct json_reader *j = t->state;
	if (j) {
		usk_span_stop(&j->r);
		yajl_free(j->json);
	}
	free(j);
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
