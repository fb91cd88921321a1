/* SPDX-License-Identifier: MIT */
/* Spans in JSON and as tables: any bytes are read whole, in part, or
 * refused with a sentence; and where stamps are said to stand, values stand. */
#include "trace.h"
#include "read/read.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const struct fuzz_bytes *b, size_t at, const char *chars)
{
	return at < b->size && b->data[at] && strchr(chars, b->data[at]);
}

/* From behind a key to behind its value. */
static void check_value(const struct fuzz_bytes *b, const struct usk_place *p)
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

static void check_places(const struct fuzz_bytes *b, const struct usk_place *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t at = (size_t)p[i].to;
		if (p[i].kind <= USK_PLACE_EVENT || p[i].kind == USK_PLACE_NULL) {
			check_value(b, &p[i]);
		} else if (p[i].kind != USK_PLACE_TAKEN && p[i].kind != USK_PLACE_RECORDED &&
			   (!at || is_one_of(b, at - 1, " \t\r\n,:"))) {
			abort(); /* neither behind a value nor behind a bracket that opens */
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_places(data, size, false, check_places);
	static const char *const heads[] = {
		"{\"resourceSpans\":", "{\"data\":[{\"traceID\":\"1\",\"spans\":",
		"[{\"traceId\":\"1\",", "trace,span,parent,clock,start_ns,end_ns,kind\n"
	};
	const struct usk_reader_info *r;
	for (size_t i = 0; (r = usk_reader(i)); i++) {
		if (r->class_ == USK_TRACE_SPANS && fuzz_trace(data, size, r->name)) {
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
		fuzz_places(all, n + size, false, check_places);
		free(all);
	}
	return 0;
}
