/* SPDX-License-Identifier: MIT */
/*
 * span_json.c - spans from JSON, as its bytes come
 *
 * In    JSON of any length, one value after another; a format's table of keys
 * Out   spans with their clocks and processes, once it is known whose they are
 * Why   files of spans are one value of gigabytes as well as a value a line: a parser that calls
 *       back holds neither (doc/dependencies.md has the rates of several)
 * Not   what objects mean (span_otlp_keys.c, span_jaeger.c, span_zipkin.c)
 *
 * Where places are wanted (usk_trace.take_span), what the parser has consumed when it calls back is
 * where the token ends. Nothing tells where a value begins; its key ends before it, and only blanks
 * and a colon stand between.
 *
 * A value's key is looked up in the table by the object that it stands in; what is not there is
 * passed over. What ends before its process is told waits, no longer than the object that tells it.
 */
#include "read/json_parser.h"
#include "read/span_json.h"

#include <stdlib.h>

enum { DEEPEST = 512, TRACKED = 32, FEED = 1 << 16 };

struct frame {
	uint8_t object; /* what it is; of an array, what its elements are */
	bool array;
	uint8_t next, field;   /* of the key said last; of an array, what its texts say */
	bool known;	       /* one of its keys is one of the format's */
	bool filled;	       /* something stands in it */
	uint64_t key_end, end; /* of the key said last; of what stands in it, so far */
};

struct json_reader {
	struct span_reader r;
	yajl_handle json;
	struct frame frame[TRACKED];
	size_t depth, passed; /* frames, and levels of what is passed over */
	uint64_t fed_at;      /* where the bytes stand that the parser has */
};

/* ---- what the parser calls ----------------------------------------------------------------- */

static struct frame *top(struct json_reader *j)
{
	return j->passed || !j->depth ? NULL : &j->frame[j->depth - 1];
}

static bool places(const struct json_reader *j)
{
	return j->r.t->take_span != NULL;
}

/* Behind the token that the parser calls back for. */
static uint64_t here(const struct json_reader *j)
{
	return j->fed_at + yajl_get_bytes_consumed(j->json);
}

/* Is the next value in f what a span's attributes stand in? */
static bool of_attributes(const struct json_reader *j, const struct frame *f)
{
	return f && !f->array && f->object == j->r.format->span &&
	       f->next == j->r.format->attributes;
}

/* A value ended that stands in f. */
static void filled(struct json_reader *j, struct frame *f)
{
	if (f) {
		f->filled = true;
		f->end = here(j);
	}
}

/* Nothing can be added to attributes that are no list, or no object. */
static void place_attributes(struct json_reader *j, const struct frame *in, uint8_t kind)
{
	if (of_attributes(j, in)) {
		usk_span_place(&j->r, (struct usk_place){
					      .from = in->key_end, .to = here(j), .kind = kind });
	}
}

/* A name, or whatever stands where it would. */
static void place_name(struct json_reader *j, const struct frame *f, const char *text, size_t n)
{
	static const char name[] = USK_SPAN_RECORDED;
	if (f->object == j->r.format->attributes && n == sizeof name - 1 &&
	    !memcmp(text, name, n)) {
		usk_span_place(&j->r, (struct usk_place){ .kind = USK_PLACE_RECORDED });
	}
}

/* What ended is a span, or all its attributes. */
static void place_end(struct json_reader *j, const struct frame *f)
{
	struct frame *in = top(j);
	struct usk_place p = { f->end, f->end, USK_NONE, USK_PLACE_LAST, f->filled };
	if (!f->array && f->object == j->r.format->span) {
		usk_span_place(&j->r, p);
	} else if (of_attributes(j, in)) {
		p.kind = f->array == j->r.format->listed ? USK_PLACE_ATTRIBUTES : USK_PLACE_TAKEN;
		usk_span_place(&j->r, p);
	}
	filled(j, in);
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
	uint8_t texts = array && f && !f->array ? f->field : FIELD_NONE;
	j->frame[j->depth++] = (struct frame){ .object = object, .array = array, .field = texts };
	j->frame[j->depth - 1].end = places(j) ? here(j) : 0;
	if (!array && j->r.format->begin) {
		j->r.format->begin(&j->r, object);
	}
	return 1;
}

static int closes(struct json_reader *j)
{
	if (j->passed) {
		j->passed--;
		if (places(j)) {
			filled(j, top(j));
		}
		return 1;
	}
	const struct frame f = j->frame[--j->depth];
	if (places(j)) {
		place_end(j, &f);
	}
	/* What is only around spans is neither a trace that ends nor anything else. */
	if (!f.array && (f.known || f.object != OBJECT_ROOT)) {
		j->r.format->end(&j->r, f.object);
	}
	return 1;
}

/* NULL: it is none of these, of the object. */
static const struct span_key *find_key(const struct span_key *key, size_t n_keys, uint8_t object,
				       const unsigned char *name, size_t n)
{
	for (size_t i = 0; i < n_keys; i++) {
		const struct span_key *k = &key[i];
		if (k->in == object &&
		    (!k->name || (strlen(k->name) == n && !memcmp(k->name, name, n)))) {
			return k;
		}
	}
	return NULL;
}

static int on_key(void *ctx, const unsigned char *key, size_t n)
{
	struct json_reader *j = ctx;
	const struct span_format *format = j->r.format;
	struct frame *f = top(j);
	if (!f) {
		return 1;
	}
	const struct span_key *k = find_key(format->key, format->n_keys, f->object, key, n);
	if (places(j)) {
		k = k ? k : find_key(format->place, format->n_places, f->object, key, n);
		f->key_end = here(j);
		place_name(j, f, (const char *)key, n);
	}
	f->known |= k && k->name;
	f->next = k ? k->object : OBJECT_NONE;
	f->field = k ? k->field : FIELD_NONE;
	if (k && !k->name && k->field != FIELD_NONE) {
		usk_span_say(&j->r, k->field, (struct usk_csv_field){ (const char *)key, n });
	}
	return 1;
}

static int on_scalar(struct json_reader *j, const char *text, size_t n)
{
	struct frame *f = top(j);
	const struct usk_csv_field what = { text, n };
	if (f && f->field != FIELD_NONE) {
		usk_span_say(&j->r, f->field, what);
		if (f->array) {
			j->r.format->end(&j->r, f->object);
		}
	}
	if (f && places(j)) {
		if (!f->array) {
			usk_span_stands(&j->r, f->field, f->key_end, here(j), what);
			place_attributes(j, f, USK_PLACE_TAKEN);
			place_name(j, f, text, n);
		}
		filled(j, f);
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

static int on_null(void *ctx)
{
	struct json_reader *j = ctx;
	if (places(j)) {
		place_attributes(j, top(j), USK_PLACE_NULL);
		filled(j, top(j));
	}
	return 1;
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
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_start_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_start_array,
	.yajl_end_array = on_end,
};

/* ---- bytes ------------------------------------------------------------------------------- */

static void parser_new(struct json_reader *j)
{
	j->json = usk_json_parser_new(&callbacks, j, j->json);
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
	j->fed_at = t->in.at;
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
	usk_trace_damaged(t, "%s at byte %llu, so nothing after it was read",
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

bool usk_span_opens(const uint8_t *d, size_t n, const char *with)
{
	size_t i = 0;
	for (; *with; with++, i++) {
		while (i < n && strchr(" \t\r\n", d[i])) {
			i++;
		}
		if (i >= n || d[i] != (uint8_t)*with) {
			return false;
		}
	}
	return true;
}
