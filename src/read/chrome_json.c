/* SPDX-License-Identifier: MIT */
/*
 * chrome_json.c - the events of Chrome's JSON, as its bytes come
 *
 * In    {"traceEvents": [...]} or the array alone
 * Out   what each event says, and where, if places are wanted (usk_trace.take_span)
 * Why   a profile is one value of gigabytes, of which no more than an event has to be held
 * Not   what an event means (chrome.c)
 *
 * Kineto's baseTimeNanoseconds stands behind all events, so it is looked for before. Nothing tells
 * where a value begins; its key ends before it, and only blanks and a colon stand between.
 */
#include "base/text.h"
#include "read/chrome.h"
#include "read/json_parser.h"

#include <stdlib.h>

enum { DEEPEST = 512, FEED = 1 << 16 };

static const struct key {
	enum chrome_object in;
	const char *name;
	enum chrome_field field;  /* what its value is, */
	enum chrome_object opens; /* or where that leads */
} keys[] = {
	{ CHROME_EVENT, "ph", CHROME_PH, CHROME_PASSED },
	{ CHROME_EVENT, "ts", CHROME_TS, CHROME_PASSED },
	{ CHROME_EVENT, "dur", CHROME_DUR, CHROME_PASSED },
	{ CHROME_EVENT, "cat", CHROME_CAT, CHROME_PASSED },
	{ CHROME_EVENT, "name", CHROME_NAME, CHROME_PASSED },
	{ CHROME_EVENT, "pid", CHROME_PID, CHROME_PASSED },
	{ CHROME_EVENT, "id", CHROME_ID, CHROME_PASSED },
	{ CHROME_EVENT, "args", CHROME_FIELDS, CHROME_ARGS },
	{ CHROME_ARGS, "Collective name", CHROME_COLLECTIVE, CHROME_PASSED },
	{ CHROME_ARGS, "Process Group Name", CHROME_GROUP, CHROME_PASSED },
	{ CHROME_ARGS, "Process Group Ranks", CHROME_RANKS, CHROME_PASSED },
	{ CHROME_ARGS, "Seq", CHROME_SEQ, CHROME_PASSED },
	{ CHROME_ROOT, "samples", CHROME_SAMPLES, CHROME_PASSED },
	{ CHROME_ROOT, "traceEvents", CHROME_FIELDS, CHROME_EVENTS },
	{ CHROME_ROOT, "distributedInfo", CHROME_FIELDS, CHROME_INFO },
	{ CHROME_INFO, "rank", CHROME_RANK, CHROME_PASSED },
};

/* ---- where things stand -------------------------------------------------------------------- */

static struct chrome_open *top(struct chrome *r)
{
	return r->passed || !r->depth ? NULL : &r->open[r->depth - 1];
}

static bool places(const struct chrome *r)
{
	return r->t->take_span != NULL;
}

/* Behind the token that the parser calls back for. */
static uint64_t here(const struct chrome *r)
{
	return r->fed_at + yajl_get_bytes_consumed(r->json);
}

static void put_place(struct chrome *r, uint8_t kind, uint64_t from, uint64_t to, bool filled)
{
	*USK_ADD(r->place, r->n_places, r->cap_places) =
		(struct usk_place){ from, to, USK_NONE, kind, filled };
}

/* A value ended that stands in o. */
static void filled(struct chrome *r, struct chrome_open *o)
{
	if (o && places(r)) {
		o->filled = true;
		o->end = here(r);
	}
}

/* The value of the key said last: a stamp, or what no arguments can be added to. */
static void place_value(struct chrome *r, const struct chrome_open *o, uint8_t instead_of_args)
{
	if (o->object != CHROME_EVENT) {
		return;
	}
	if (r->field == CHROME_TS || r->field == CHROME_DUR) {
		put_place(r, r->field == CHROME_TS ? USK_PLACE_START : USK_PLACE_DURATION,
			  o->key_end, here(r), false);
	} else if (r->next == CHROME_ARGS) {
		put_place(r, instead_of_args, o->key_end, here(r), false);
	}
}

/* ---- what the parser calls ----------------------------------------------------------------- */

static int opens(struct chrome *r, bool array)
{
	const struct chrome_open *o = top(r);
	enum chrome_object to = r->passed		     ? CHROME_PASSED
				: !r->depth		     ? (array ? CHROME_EVENTS : CHROME_ROOT)
				: o->object == CHROME_EVENTS ? CHROME_EVENT
							     : r->next;
	if (o && places(r)) {
		if (array) {
			place_value(r, o, USK_PLACE_TAKEN);
		}
		r->samples = r->samples || r->field == CHROME_SAMPLES;
	}
	if (to == CHROME_PASSED || array != (to == CHROME_EVENTS) || r->depth == COUNT(r->open)) {
		return ++r->passed + r->depth <= DEEPEST;
	}
	r->open[r->depth++] = (struct chrome_open){ .object = to, .end = here(r) };
	r->next = CHROME_PASSED;
	if (to == CHROME_EVENT) {
		r->n_places = 0;
		for (int i = 0; i < CHROME_RANK; i++) {
			r->said[i].any = false;
		}
	}
	return 1;
}

static int on_map(void *ctx)
{
	return opens(ctx, false);
}

static int on_array(void *ctx)
{
	return opens(ctx, true);
}

static int on_end(void *ctx)
{
	struct chrome *r = ctx;
	int goes_on = 1;
	if (r->passed) {
		r->passed--;
	} else {
		const struct chrome_open o = r->open[--r->depth];
		if (places(r) && (o.object == CHROME_ARGS || o.object == CHROME_EVENT)) {
			put_place(r,
				  o.object == CHROME_ARGS ? USK_PLACE_ATTRIBUTES : USK_PLACE_LAST,
				  o.end, o.end, o.filled);
		}
		goes_on = o.object != CHROME_EVENT || usk_chrome_event(r);
	}
	filled(r, top(r));
	return goes_on;
}

static int on_key(void *ctx, const unsigned char *key, size_t n)
{
	static const char recorded[] = USK_EVENT_RECORDED;
	struct chrome *r = ctx;
	struct chrome_open *o = top(r);
	r->next = CHROME_PASSED;
	r->field = CHROME_FIELDS;
	for (size_t i = 0; o && i < COUNT(keys); i++) {
		const struct key *k = &keys[i];
		if (k->in == o->object && strlen(k->name) == n && !memcmp(k->name, key, n)) {
			r->next = k->opens;
			r->field = k->field;
			break;
		}
	}
	if (o && places(r)) {
		o->key_end = here(r);
		if (o->object == CHROME_ARGS && n == sizeof recorded - 1 &&
		    !memcmp(key, recorded, n)) {
			put_place(r, USK_PLACE_RECORDED, 0, 0, false);
		}
	}
	return 1;
}

static void say(struct chrome *r, const char *text, size_t n)
{
	struct chrome_said *s = &r->said[r->field];
	if (n >= s->cap) {
		s->cap = n + n / 2 + 16;
		s->text = usk_grow(s->text, s->cap, 1);
	}
	memcpy(s->text, text, n);
	s->text[n] = 0;
	s->n = n;
	s->any = true;
}

/* text NULL: it is no text and no number. */
static int on_scalar(struct chrome *r, const char *text, size_t n, uint8_t instead_of_args)
{
	struct chrome_open *o = top(r);
	if (!o || o->object == CHROME_EVENTS) {
		return 1;
	}
	if (text && r->field < CHROME_SAMPLES) {
		say(r, text, n);
	}
	if (places(r)) {
		place_value(r, o, instead_of_args);
		filled(r, o);
	}
	r->field = CHROME_FIELDS;
	r->next = CHROME_PASSED;
	return 1;
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
	return on_scalar(ctx, (const char *)text, n, USK_PLACE_TAKEN);
}

static int on_number(void *ctx, const char *text, size_t n)
{
	return on_scalar(ctx, text, n, USK_PLACE_TAKEN);
}

static int on_boolean(void *ctx, int yes)
{
	(void)yes;
	return on_scalar(ctx, NULL, 0, USK_PLACE_TAKEN);
}

static int on_null(void *ctx)
{
	return on_scalar(ctx, NULL, 0, USK_PLACE_NULL);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

/* ---- bytes --------------------------------------------------------------------------------- */

static void read_base(struct chrome *r, const char *text, size_t n)
{
	size_t i = 0, from;
	int64_t base;
	while (i < n && text[i] == ' ') {
		i++;
	}
	for (from = i; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
	}
	if (!usk_parse_int(text + from, i - from, &base, NULL) && base <= USK_TIME_MAX) {
		r->t->base_ns = base;
	}
}

/* The base stands behind all events: look for it, and begin again. */
static enum usk_status find_base(struct chrome *r, struct usk_err *err)
{
	static const char key[] = "\"baseTimeNanoseconds\":";
	enum { KEEP = 64 }; /* the key with its number */
	struct usk_input *in = &r->t->in;
	enum usk_status status = usk_input_need(in, 0, FEED, err);
	r->kineto = !status && (memmem(in->data, in->have, "\"schemaVersion\"", 15) ||
				memmem(in->data, in->have, "\"distributedInfo\"", 17));
	while (!status && in->have) {
		const uint8_t *at = memmem(in->data, in->have, key, sizeof key - 1);
		size_t before = at		  ? (size_t)(at - in->data)
				: in->have > KEEP ? in->have - KEEP
						  : 0;
		if (at && (in->have - before >= KEEP || in->end)) {
			read_base(r, (const char *)at + sizeof key - 1,
				  in->have - before - (sizeof key - 1));
			break;
		}
		if (in->end) {
			break;
		}
		status = usk_input_need(in, before, FEED, err);
	}
	r->looked = true;
	usk_input_rewind(in);
	return status;
}

enum usk_status usk_chrome_start(struct usk_trace *t, struct usk_err *err)
{
	struct chrome *r = t->state ? t->state : (t->state = usk_alloc(1, sizeof *r));
	enum usk_status status = USK_OK;
	r->t = t;
	if (!r->looked) {
		status = find_base(r, err);
	}
	r->json = usk_json_parser_new(&callbacks, r, r->json);
	r->depth = r->passed = r->at = r->n = 0;
	r->n_bad = 0;
	r->ended = r->samples = false;
	r->status = USK_OK;
	for (size_t i = 0; i < CHROME_SAMPLES; i++) {
		r->said[i].any = false;
	}
	return usk_fail_in(status, err, "%s", t->path);
}

void usk_chrome_stop(struct usk_trace *t)
{
	struct chrome *r = t->state;
	if (r) {
		for (size_t i = 0; i < CHROME_SAMPLES; i++) {
			free(r->said[i].text);
		}
		yajl_free(r->json);
		USK_FREE(r->found, r->place);
	}
	free(r);
	t->state = NULL;
}

static void at_end(struct chrome *r)
{
	struct usk_trace *t = r->t;
	/* An array of events may lack its end: a program that is stopped leaves it so. */
	bool whole = (!r->depth && !r->passed) ||
		     (r->depth == 1 && r->open[0].object == CHROME_EVENTS && !r->passed);
	if (r->n_bad) {
		usk_trace_damaged(t, "%llu event%s left out, the first before byte %llu: %s",
				  (unsigned long long)r->n_bad, r->n_bad == 1 ? " was" : "s were",
				  (unsigned long long)r->bad_at, r->bad);
	} else if (!whole) {
		usk_trace_damaged(
			t,
			"ends at byte %llu within a JSON value that began before; what it "
			"held in whole was used",
			(unsigned long long)r->fed);
	}
	if (r->samples) {
		usk_trace_remarked(t, "its samples, which stand outside traceEvents, stay as "
				      "recorded");
	}
	t->done = true;
}

enum usk_status usk_chrome_feed(struct chrome *r, struct usk_err *err)
{
	struct usk_trace *t = r->t;
	enum usk_status status = usk_input_need(&t->in, t->used, 1, err);
	t->used = 0;
	if (status) {
		return usk_fail_in(status, err, "%s", t->path);
	}
	size_t n = t->in.have < FEED ? t->in.have : FEED;
	r->fed_at = t->in.at;
	r->fed = t->in.at + n;
	r->err = err;
	if (!n) {
		at_end(r);
		return USK_OK;
	}
	yajl_status said = yajl_parse(r->json, t->in.data, n);
	if (said == yajl_status_ok) {
		t->used = n;
		return USK_OK;
	}
	if (r->status) {
		return r->status;
	}
	size_t passed = yajl_get_bytes_consumed(r->json);
	t->used = passed < n ? passed : n;
	usk_trace_damaged(t, "%s at byte %llu, so nothing after it was read",
			  said == yajl_status_client_canceled ? "nests more than 512 levels deep"
							      : "is no JSON",
			  (unsigned long long)(t->in.at + t->used));
	return USK_OK;
}
