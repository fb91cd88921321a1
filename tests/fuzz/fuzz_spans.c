/* SPDX-License-Identifier: MIT */
/* Spans as OTLP, Jaeger and Zipkin JSON and as tables: any bytes are read whole, in part, or
 * refused with a sentence; and where stamps are said to stand, values stand. */
#include "trace.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

struct bytes {
	const uint8_t *data;
	size_t size;
};

static bool is_one_of(const struct bytes *b, size_t at, const char *chars)
{
	return at < b->size && b->data[at] && strchr(chars, b->data[at]);
}

/* From behind a key to behind its value. */
static void check_value(const struct bytes *b, const struct usk_place *p)
{
	size_t at = p->from, end = p->to;
	bool colon = false;
	for (; is_one_of(b, at, " \t\r\n:"); at++) {
		colon = colon || b->data[at] == ':';
	}
	bool text = is_one_of(b, at, "\""), whole = end > at && end <= b->size;
	if (!colon || !whole || (text && (end < at + 2 || b->data[end - 1] != '"'))) {
		abort();
	}
	for (size_t i = at + text; i < end - text; i++) {
		i += text && b->data[i] == '\\';
		if (is_one_of(b, i, text ? "\"" : " \t\r\n,]}:\"")) {
			abort();
		}
	}
	if (!text && end < b->size && !is_one_of(b, end, " \t\r\n,]}")) {
		abort();
	}
}

static enum usk_status check_places(void *ctx, const struct usk_span *s, const struct usk_place *p,
				    size_t n, struct usk_err *err)
{
	const struct bytes *b = ctx;
	(void)s;
	(void)err;
	for (size_t i = 0, at = 0; i < n; i++) {
		if (p[i].kind == USK_PLACE_RECORDED) {
			continue;
		}
		if (p[i].from < at || p[i].to < p[i].from || p[i].to > b->size) {
			abort();
		}
		at = p[i].to;
		if (p[i].kind <= USK_PLACE_EVENT || p[i].kind == USK_PLACE_NULL) {
			check_value(b, &p[i]);
		} else if (p[i].kind != USK_PLACE_TAKEN &&
			   (!at || is_one_of(b, at - 1, " \t\r\n,:"))) {
			abort(); /* neither behind a value nor behind a bracket that opens */
		}
	}
	return USK_OK;
}

static void places(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	struct usk_trace *t;
	struct usk_span s[16];
	size_t n = 1;
	if (usk_trace_open_memory(data, size, "m", &t, NULL)) {
		return;
	}
	/* Packed bytes are not the ones that places are of. */
	if (usk_trace_class(t) == USK_TRACE_SPANS && !t->in.packed) {
		t->take_span = check_places;
		t->span_ctx = &b;
		while (n && !usk_trace_spans(t, s, COUNT(s), &n, NULL)) {
		}
	}
	usk_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	places(data, size);
	static const char *const heads[] = {
		"{\"resourceSpans\":", "{\"data\":[{\"traceID\":\"1\",\"spans\":",
		"[{\"traceId\":\"1\",", "trace,span,parent,clock,start_ns,end_ns,kind\n"
	};
	static const char *const kinds[] = { "otlp", "jaeger", "zipkin", "spans" };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (fuzz_trace(data, size, kinds[i])) {
			return 0;
		}
	}
	/* What has no beginning gets one. */
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
		size_t n = strlen(heads[i]);
		uint8_t *all = malloc(n + size);
		if (!all) {
			return 0;
		}
		memcpy(all, heads[i], n);
		memcpy(all + n, data, size);
		fuzz_trace(all, n + size, NULL);
		places(all, n + size);
		free(all);
	}
	return 0;
}
