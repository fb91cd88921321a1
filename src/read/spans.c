/* SPDX-License-Identifier: MIT */
/*
 * spans.c - what readers of spans share: ids, kinds, names
 *
 * In    texts, as the formats have them
 * Out   numbers that compare as the texts mean
 * Why   one trace may be in files of several formats: an id that Jaeger writes without its leading
 *       zeros, or of which Zipkin keeps the last 64 bits, is the same one
 * Not   which span is whose parent (match/calls.c)
 */
#include "read/read.h"

#include <strings.h>

/* Names are of people's making, and some put numbers into them. */
enum { MOST_OPERATIONS = 4096, DIGITS = 16 };

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

uint64_t usk_span_id(const char *text, size_t n)
{
	uint64_t id = 0;
	for (size_t i = 0; i < n; i++) {
		int d = digit(text[i]);
		if (d < 0 || n > 2 * (size_t)DIGITS) {
			struct usk_event_id hash = usk_event_id(text, n);
			id = usk_fold(hash.word[0], hash.word[1]);
			return id ? id : 1;
		}
		id = id << 4 | (uint64_t)d; /* the first of 32 digits fall out */
	}
	return id;
}

int64_t usk_span_coarse(const struct usk_span *s, int64_t resolution_ns)
{
	const int64_t ms = 1000000;
	const bool whole = s->end_ns >= s->start_ns && !(s->start_ns % ms) && !(s->end_ns % ms);
	return whole && resolution_ns < ms ? ms : 0;
}

enum usk_span_kind usk_span_kind(const char *text, size_t n)
{
	static const char *const names[] = { "unspecified", "internal", "server",
					     "client",	    "producer", "consumer" };
	static const char prefix[] = "SPAN_KIND_";
	const size_t skip = sizeof prefix - 1;
	if (n > skip && !memcmp(text, prefix, skip)) {
		text += skip;
		n -= skip;
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		bool number = n == 1 && text[0] == '0' + (char)i;
		if (number || (n == strlen(names[i]) && !strncasecmp(text, names[i], n))) {
			return (enum usk_span_kind)i;
		}
	}
	return USK_SPAN_UNKNOWN;
}

uint32_t usk_trace_operation(struct usk_trace *t, struct usk_csv_field name)
{
	if (!t->operation.n) {
		usk_texts_number(&t->operation, 0, 0, "", 0);
	}
	struct usk_event_id id = usk_event_id(name.n ? name.text : "", name.n);
	uint64_t known = usk_index_find(&t->operation.by, id.word[0], id.word[1]);
	if (!name.n || (!known && t->operation.n > MOST_OPERATIONS)) {
		return 0;
	}
	return usk_texts_number(&t->operation, id.word[0], id.word[1], name.text, name.n);
}

const struct usk_texts *usk_trace_processes(const struct usk_trace *t)
{
	return &t->process;
}

const struct usk_texts *usk_trace_operations(const struct usk_trace *t)
{
	return &t->operation;
}
