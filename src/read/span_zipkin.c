/* SPDX-License-Identifier: MIT */
/*
 * span_zipkin.c - spans as Zipkin's API v2 has them
 *
 * In    an array of spans, or of arrays of them, or a span a line
 * Out   spans; their clocks are named by service and address, as it tells no hosts
 * Why   many SDKs still send it, and its two halves of a call with one id are like no other format
 * Not   v1, whose spans are lists of annotations
 */
#include "read/span_json.h"

enum { SPAN = OBJECT_ROOT + 1, ENDPOINT, TAGS, ANNOTATION };

static const struct span_key keys[] = {
	{ SPAN, "traceId", 0, FIELD_TRACE },
	{ SPAN, "id", 0, FIELD_ID },
	{ SPAN, "parentId", 0, FIELD_PARENT },
	{ SPAN, "kind", 0, FIELD_KIND },
	{ SPAN, "name", 0, FIELD_NAME },
	{ SPAN, "timestamp", 0, FIELD_START_US },
	{ SPAN, "duration", 0, FIELD_DURATION_US },
	{ SPAN, "localEndpoint", ENDPOINT, 0 },
	{ SPAN, "tags", TAGS, 0 },
	{ ENDPOINT, "serviceName", 0, FIELD_SERVICE },
	{ ENDPOINT, "ipv4", 0, FIELD_ADDRESS },
	{ ENDPOINT, "ipv6", 0, FIELD_ADDRESS },
	{ TAGS, "error", 0, FIELD_STATUS },
};

static const struct span_key places[] = {
	{ SPAN, "annotations", ANNOTATION, 0 },
	{ ANNOTATION, "timestamp", 0, FIELD_EVENT_US },
};

static void begin(struct span_reader *r, uint8_t object)
{
	if (object == SPAN) {
		usk_span_begin(r);
		usk_span_begin_process(r);
	}
}

static void end(struct span_reader *r, uint8_t object)
{
	if (object != SPAN) {
		return;
	}
	if (usk_span_said(r, FIELD_STATUS).text[0]) {
		usk_span_flag(r, USK_SPAN_FAILED);
	}
	usk_span_end(r);
	usk_span_set_attribute(r, ATTRIBUTE_SERVICE, usk_span_said(r, FIELD_SERVICE));
	usk_span_set_attribute(r, ATTRIBUTE_ADDRESS, usk_span_said(r, FIELD_ADDRESS));
	usk_span_is_of(r);
}

static bool sniff(const uint8_t *d, size_t n)
{
	const bool array = usk_span_opens(d, n, "[{") || usk_span_opens(d, n, "[[{");
	return (array || usk_span_opens(d, n, "{")) && usk_has_text(d, n, "\"traceId\"") &&
	       (usk_has_text(d, n, "\"localEndpoint\"") ||
		(array && usk_has_text(d, n, "\"timestamp\""))) &&
	       !usk_zipkin_v1_sniff(d, n);
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const struct span_format zipkin = {
		false,	SPAN,	       keys, COUNT(keys), begin, end,
		places, COUNT(places), SPAN, TAGS,	  false,
	};
	return usk_span_json_start(t, &zipkin, err);
}

static const struct usk_span_form form = { "span", true, false, "\"tags\":{", "\"", "\":\"", "\"" };

const struct reader usk_reader_zipkin = {
	.info = { "zipkin", "Zipkin v2", "spans", USK_TRACE_SPANS },
	.sniff = sniff,
	.start = start,
	.spans = usk_span_json,
	.stop = usk_span_json_stop,
	.form = &form,
};
