/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - collectives and flows from traces in Chrome's JSON, Kineto's (PyTorch) among them
 *
 * In    {"traceEvents": [...]} or the array alone; kernels with the arguments that Kineto copies
 *       from the call: "Collective name", "Process Group Name", "Process Group Ranks", "Seq"; flow
 *       events ("s", "f")
 * Out   parts of collectives, one clock a file; flows as messages, a clock for each process of a file
 *       that Kineto did not write
 * Why   it is what profilers of GPU programs write, a file for each rank; a kernel runs on the device,
 *       so it begins and ends with its part of the collective, while calls only queue it
 * Not   broadcast, scatter, reduce and gather, whose root Kineto does not write; send and recv, which
 *       nothing numbers alike on both sides; files of older versions, which have no "Seq"
 *
 * Stamps are us. Kineto writes three decimals of whole ns, from baseTimeNanoseconds on, which stands
 * behind all events, so it is looked for before. What others write went through doubles: of so large a
 * number these are rounded to the nearest 2^k us. Whole us were cut off, of start and duration alike.
 * Flows of several files may have one number by chance, so they are not joined.
 */
#include "base/text.h"
#include "read/read.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

enum { DEEPEST = 512, FEED = 1 << 16 };

enum { PH, CAT, NAME, PID, TS, DUR, ID, COLLECTIVE, GROUP, RANKS, SEQ, RANK, FIELDS };
enum place { PASSED, ROOT, EVENTS, EVENT, ARGS, INFO };

static const struct key {
	enum place in;
	const char *name;
	uint8_t field;	  /* what its value is, */
	enum place opens; /* or where that leads */
} keys[] = {
	{ EVENT, "ph", PH, PASSED },
	{ EVENT, "ts", TS, PASSED },
	{ EVENT, "dur", DUR, PASSED },
	{ EVENT, "cat", CAT, PASSED },
	{ EVENT, "name", NAME, PASSED },
	{ EVENT, "pid", PID, PASSED },
	{ EVENT, "id", ID, PASSED },
	{ EVENT, "args", FIELDS, ARGS },
	{ ARGS, "Collective name", COLLECTIVE, PASSED },
	{ ARGS, "Process Group Name", GROUP, PASSED },
	{ ARGS, "Process Group Ranks", RANKS, PASSED },
	{ ARGS, "Seq", SEQ, PASSED },
	{ ROOT, "traceEvents", FIELDS, EVENTS },
	{ ROOT, "distributedInfo", FIELDS, INFO },
	{ INFO, "rank", RANK, PASSED },
};

struct said {
	char *text;
	size_t n, cap;
	bool any;
};

struct chrome {
	struct usk_trace *t;
	yajl_handle json;
	enum place place[6]; /* of what is open and not passed over */
	size_t depth, passed;
	enum place next; /* by the last key */
	uint8_t field;
	struct said said[FIELDS];
	bool kineto, looked; /* for the base */
	int64_t base_ns;
	struct usk_collective *found; /* [at..n) to be handed out */
	size_t at, n, cap;
	uint64_t fed; /* bytes up to the end of what the parser was given */
	uint64_t n_bad, bad_at;
	const char *bad;
	bool ended;
};

static struct usk_csv_field value(const struct chrome *r, int field)
{
	const struct said *s = &r->said[field];
	return (struct usk_csv_field){ s->any ? s->text : "", s->any ? s->n : 0 };
}

static bool is(const struct chrome *r, int field, const char *text)
{
	return usk_csv_is(value(r, field), text);
}

/* ---- times --------------------------------------------------------------------------------- */

static bool in_range(usk_i128 t)
{
	return t >= -USK_TIME_MAX && t <= USK_TIME_MAX;
}

/* From when to when an event was, no shorter than it can have been; NULL, or why not. */
static const char *times(const struct chrome *r, struct usk_collective *x)
{
	struct usk_us ts, dur = { 0 };
	if (!usk_us_read(value(r, TS), &ts)) {
		return "it has no ts in us";
	}
	if (r->said[DUR].any && (!usk_us_read(value(r, DUR), &dur) || dur.ns < 0)) {
		return "its dur is no time";
	}
	usk_i128 enter = (usk_i128)r->base_ns + ts.ns - ts.off_ns;
	usk_i128 exit = (usk_i128)r->base_ns + ts.ns + ts.off_ns + dur.ns + dur.off_ns;
	/* What both were cut by adds up. A receipt may be this late; a send is not late as it is. */
	exit += ts.more_ns + dur.more_ns;
	if (!in_range(enter) || !in_range(exit)) {
		return "it is further than 146 years from 1970";
	}
	x->slack_ns = (uint16_t)(2 * (ts.off_ns + dur.off_ns) + ts.more_ns + dur.more_ns);
	x->enter_ns = (int64_t)enter;
	x->exit_ns = (int64_t)exit;
	return NULL;
}

/* ---- events -------------------------------------------------------------------------------- */

static void bad(struct chrome *r, const char *why)
{
	r->bad_at = r->n_bad ? r->bad_at : r->fed;
	r->bad = r->n_bad ? r->bad : why;
	r->n_bad++;
}

static void found(struct chrome *r, struct usk_collective x, struct usk_csv_field clock,
		  struct usk_csv_field rank)
{
	x.clock = usk_trace_clock(r->t, clock);
	x.rank = usk_trace_rank(r->t, x.clock, rank);
	r->found = usk_room(r->found, r->n, &r->cap, sizeof *r->found);
	r->found[r->n++] = x;
}

static struct usk_csv_field of_text(const char *text)
{
	return (struct usk_csv_field){ text, strlen(text) };
}

/* Texts one after the other, each with its length. */
static struct usk_event_id id_of(const struct usk_csv_field *part, size_t n)
{
	struct usk_event_id id = { { n, n } };
	for (size_t i = 0; i < n; i++) {
		struct usk_event_id more = usk_event_id(part[i].text, part[i].n);
		id.word[0] = usk_mix(id.word[0] ^ more.word[0]) + more.word[1];
		id.word[1] = usk_fold(id.word[1] + more.word[0], more.word[1] ^ id.word[0]);
	}
	return id;
}

static void take_kernel(struct chrome *r)
{
	struct usk_csv_field name = value(r, COLLECTIVE);
	enum usk_collective_kind kind = usk_collective_kind(name.text, name.n);
	if (kind == USK_NO_COLLECTIVE || usk_collective_shape(kind) != USK_FROM_ALL_TO_ALL) {
		return;
	}
	const struct usk_csv_field part[] = { value(r, GROUP), value(r, RANKS), value(r, SEQ) };
	struct usk_collective x = { .kind = (uint8_t)kind, .id = id_of(part, COUNT(part)) };
	const char *why = !part[0].n ? "it has no \"Process Group Name\""
			  : !part[2].n
				  ? "it has no \"Seq\", which newer versions of PyTorch write, so "
				    "nothing tells which of other ranks' kernels are of the same "
				    "collective"
				  : times(r, &x);
	if (why) {
		bad(r, why);
		return;
	}
	struct usk_csv_field rank = value(r, RANK);
	found(r, x, of_text(r->t->name), rank.n ? rank : of_text(r->t->name));
}

static void take_flow(struct chrome *r, bool start)
{
	const struct usk_csv_field part[] = { of_text(r->t->path), value(r, CAT), value(r, NAME),
					      value(r, ID) };
	struct usk_collective x = { .kind = USK_MESSAGE,
				    .id = id_of(part, COUNT(part)),
				    .root = start };
	struct usk_csv_field pid = value(r, PID);
	r->said[DUR].any = false;
	const char *why = !part[3].n ? "it has no id" : !pid.n ? "it has no pid" : times(r, &x);
	if (why) {
		bad(r, why);
		return;
	}
	char *clock = usk_format("%s/%.*s", r->t->name, (int)pid.n, pid.text);
	found(r, x, of_text(clock), of_text(clock));
	free(clock);
}

static void take_event(struct chrome *r)
{
	bool kernel = is(r, PH, "X") && (is(r, CAT, "kernel") || is(r, CAT, "mtia_ccp_events"));
	struct usk_csv_field name = value(r, NAME);
	if (kernel && r->said[COLLECTIVE].any) {
		take_kernel(r);
	} else if (kernel && name.n > 4 && !memcmp(name.text, "nccl", 4)) {
		bad(r, "it is a kernel of NCCL that has no \"Collective name\", which newer "
		       "versions of "
		       "PyTorch write");
	} else if (!r->kineto && (is(r, PH, "s") || is(r, PH, "f"))) {
		take_flow(r, is(r, PH, "s"));
	}
}

/* ---- what the parser calls ----------------------------------------------------------------- */

static enum place top(const struct chrome *r)
{
	return r->passed || !r->depth ? PASSED : r->place[r->depth - 1];
}

static int opens(struct chrome *r, bool array)
{
	enum place now = top(r);
	enum place to = r->passed	? PASSED
			: !r->depth	? (array ? EVENTS : ROOT)
			: now == EVENTS ? EVENT
					: r->next;
	if (to == PASSED || array != (to == EVENTS) || r->depth == COUNT(r->place)) {
		return ++r->passed + r->depth <= DEEPEST;
	}
	r->place[r->depth++] = to;
	r->next = PASSED;
	for (int i = 0; i < RANK && to == EVENT; i++) {
		r->said[i].any = false;
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
	if (r->passed) {
		r->passed--;
		return 1;
	}
	if (r->place[--r->depth] == EVENT) {
		take_event(r);
	}
	return 1;
}

static int on_key(void *ctx, const unsigned char *key, size_t n)
{
	struct chrome *r = ctx;
	enum place in = top(r);
	r->next = PASSED;
	r->field = FIELDS;
	for (size_t i = 0; i < COUNT(keys) && in != PASSED; i++) {
		const struct key *k = &keys[i];
		if (k->in == in && strlen(k->name) == n && !memcmp(k->name, key, n)) {
			r->next = k->opens;
			r->field = k->field;
			break;
		}
	}
	return 1;
}

static int on_scalar(struct chrome *r, const char *text, size_t n)
{
	enum place in = top(r);
	if (in != PASSED && in != EVENTS && r->field != FIELDS) {
		struct said *s = &r->said[r->field];
		if (n >= s->cap) {
			s->cap = n + n / 2 + 16;
			s->text = usk_grow(s->text, s->cap, 1);
		}
		memcpy(s->text, text, n);
		s->text[n] = 0;
		s->n = n;
		s->any = true;
		r->field = FIELDS;
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

static const yajl_callbacks callbacks = {
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

static void *grow(void *ctx, void *p, size_t n)
{
	(void)ctx;
	return usk_grow(p, n, 1);
}

static void *make(void *ctx, size_t n)
{
	return grow(ctx, NULL, n);
}

static void give(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

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
		r->base_ns = base;
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

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const yajl_alloc_funcs memory = { make, grow, give, NULL };
	struct chrome *r = t->state ? t->state : (t->state = usk_alloc(1, sizeof *r));
	enum usk_status status = USK_OK;
	r->t = t;
	if (!r->looked) {
		status = find_base(r, err);
	}
	if (r->json) {
		yajl_free(r->json);
	}
	r->json = yajl_alloc(&callbacks, (yajl_alloc_funcs *)&memory, r);
	yajl_config(r->json, yajl_allow_multiple_values, 1);
	yajl_config(r->json, yajl_allow_trailing_garbage, 0);
	yajl_config(r->json, yajl_dont_validate_strings, 1);
	r->depth = r->passed = r->at = r->n = 0;
	r->n_bad = 0;
	r->ended = false;
	for (size_t i = 0; i < FIELDS; i++) {
		r->said[i].any = false;
	}
	if (status) {
		usk_fail_in(err, "%s", t->path);
	}
	return status;
}

static void stop(struct usk_trace *t)
{
	struct chrome *r = t->state;
	if (r) {
		for (size_t i = 0; i < FIELDS; i++) {
			free(r->said[i].text);
		}
		yajl_free(r->json);
		free(r->found);
	}
	free(r);
	t->state = NULL;
}

static void at_end(struct chrome *r)
{
	struct usk_trace *t = r->t;
	/* An array of events may lack its end: a program that is stopped leaves it so. */
	bool whole =
		(!r->depth && !r->passed) || (r->depth == 1 && r->place[0] == EVENTS && !r->passed);
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
	t->done = true;
}

static enum usk_status feed(struct chrome *r, struct usk_err *err)
{
	struct usk_trace *t = r->t;
	enum usk_status status = usk_input_need(&t->in, t->used, 1, err);
	t->used = 0;
	if (status) {
		return status;
	}
	size_t n = t->in.have < FEED ? t->in.have : FEED;
	r->fed = t->in.at + n;
	if (!n) {
		at_end(r);
		return USK_OK;
	}
	yajl_status said = yajl_parse(r->json, t->in.data, n);
	if (said == yajl_status_ok) {
		t->used = n;
		return USK_OK;
	}
	size_t passed = yajl_get_bytes_consumed(r->json);
	t->used = passed < n ? passed : n;
	usk_trace_damaged(t, "%s at byte %llu, so nothing behind it was read",
			  said == yajl_status_client_canceled ? "nests more than 512 levels deep"
							      : "is no JSON",
			  (unsigned long long)(t->in.at + t->used));
	return USK_OK;
}

static enum usk_status collectives(struct usk_trace *t, struct usk_collective *out, size_t cap,
				   size_t *n, struct usk_err *err)
{
	struct chrome *r = t->state;
	enum usk_status status = USK_OK;
	while (!status && r->at == r->n && !r->ended) {
		r->at = r->n = 0;
		status = feed(r, err);
		if (status) {
			usk_fail_in(err, "%s", t->path);
		}
		r->ended = t->done;
	}
	for (; !status && *n < cap && r->at < r->n; r->at++) {
		out[(*n)++] = r->found[r->at];
	}
	t->done = r->ended && r->at == r->n; /* all was handed out, too */
	return status;
}

static bool begins(const uint8_t *d, size_t n, const char *with, const char *key)
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
	return memmem(d, n, key, strlen(key)) != NULL;
}

/* Kineto has much before its events, but its schema first of all. */
static bool sniff(const uint8_t *d, size_t n)
{
	return begins(d, n, "{\"", "\"traceEvents\"") || begins(d, n, "{\"schemaVersion\"", "") ||
	       begins(d, n, "[{", "\"ph\"");
}

const struct reader usk_reader_chrome = {
	.info = { "chrome",
		  "traces of Chrome's JSON: collectives of PyTorch's profiler (Kineto), flows "
		  "between processes",
		  USK_TRACE_COLLECTIVES },
	.sniff = sniff,
	.start = start,
	.collectives = collectives,
	.stop = stop,
};
