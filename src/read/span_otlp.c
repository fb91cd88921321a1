/* SPDX-License-Identifier: MIT */
/*
 * span_otlp.c - spans as OpenTelemetry's collector writes them to files
 *
 * In    OTLP as JSON: an object a line, or one alone; also as Tempo answers, with "batches"
 * Out   spans; their clocks are named by attributes of their resource
 * Why   what SDKs send, unchanged
 * Not   protobuf; metrics and logs, which may be in the same file and are passed over
 */
#include "read/span_json.h"

enum { BATCH = OBJECT_ROOT + 1, RESOURCE, ATTRIBUTE, VALUE, SCOPE, SPAN, LINK, STATUS };

static const struct span_key keys[] = {
	{ SPAN, "traceId", 0, FIELD_TRACE },
	{ SPAN, "spanId", 0, FIELD_ID },
	{ SPAN, "parentSpanId", 0, FIELD_PARENT },
	{ SPAN, "name", 0, FIELD_NAME },
	{ SPAN, "kind", 0, FIELD_KIND },
	{ SPAN, "startTimeUnixNano", 0, FIELD_START_NS },
	{ SPAN, "endTimeUnixNano", 0, FIELD_END_NS },
	{ SPAN, "status", STATUS, 0 },
	{ SPAN, "links", LINK, 0 },
	{ STATUS, "code", 0, FIELD_STATUS },
	{ LINK, "traceId", 0, FIELD_LINK_TRACE },
	{ LINK, "spanId", 0, FIELD_LINK_ID },
	{ OBJECT_ROOT, "resourceSpans", BATCH, 0 },
	{ OBJECT_ROOT, "batches", BATCH, 0 },
	{ OBJECT_ROOT, "trace", OBJECT_ROOT, 0 },
	{ BATCH, "resource", RESOURCE, 0 },
	{ BATCH, "scopeSpans", SCOPE, 0 },
	{ BATCH, "instrumentationLibrarySpans", SCOPE, 0 },
	{ SCOPE, "spans", SPAN, 0 },
	{ RESOURCE, "attributes", ATTRIBUTE, 0 },
	{ ATTRIBUTE, "key", 0, FIELD_KEY },
	{ ATTRIBUTE, "value", VALUE, 0 },
	{ VALUE, "stringValue", 0, FIELD_VALUE },
	{ VALUE, "intValue", 0, FIELD_VALUE },
};

static void begin(struct span_reader *r, uint8_t object)
{
	switch (object) {
	case BATCH:
		usk_span_begin_process(r);
		break;
	case ATTRIBUTE:
		usk_span_forget(r, FIELD_KEY);
		usk_span_forget(r, FIELD_VALUE);
		break;
	case SPAN:
		usk_span_begin(r);
		break;
	case LINK:
		usk_span_forget(r, FIELD_LINK_TRACE);
		usk_span_forget(r, FIELD_LINK_ID);
		break;
	}
}

static void end(struct span_reader *r, uint8_t object)
{
	struct usk_csv_field status = usk_span_said(r, FIELD_STATUS);
	switch (object) {
	case ATTRIBUTE:
		usk_span_attribute(r);
		break;
	case RESOURCE:
	case BATCH: /* the resource may stand behind its spans, or not at all */
		usk_span_is_of(r);
		break;
	case LINK:
		usk_span_link(r);
		break;
	case SPAN:
		if (usk_csv_is(status, "2") || usk_csv_is(status, "STATUS_CODE_ERROR")) {
			usk_span_flag(r, USK_SPAN_FAILED);
		}
		usk_span_end(r);
		break;
	}
}

static bool sniff(const uint8_t *d, size_t n)
{
	static const char *const key[] = { "\"resourceSpans\"", "\"batches\"" };
	return usk_span_sniff(d, n, "{\"", key, COUNT(key));
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const struct span_format otlp = {
		"OTLP JSON", true, OBJECT_ROOT, keys, COUNT(keys), begin, end,
	};
	return usk_span_json_start(t, &otlp, err);
}

const struct reader usk_reader_otlp = {
	.info = { "otlp",
		  "spans of OpenTelemetry: OTLP as JSON lines, as the collector writes files",
		  USK_TRACE_SPANS },
	.sniff = sniff,
	.start = start,
	.spans = usk_span_json,
	.stop = usk_span_json_stop,
};
