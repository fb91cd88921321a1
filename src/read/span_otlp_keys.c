/* SPDX-License-Identifier: MIT */
/*
 * span_otlp_keys.c - what OTLP means, however it is encoded
 *
 * In    objects of OTLP, by the names that their fields have in JSON; also as Tempo answers, with
 *       "batches", and within objects that programs put around what they answer
 * Out   spans; their clocks are named by attributes of their resource
 * Why   what SDKs send, unchanged
 * Not   encodings (span_otlp_json.c, span_otlp_proto.c); metrics and logs, which may be in the same
 *       file and are passed over
 */
#include "read/span_otlp.h"

static const struct span_key keys[] = {
	{ OTLP_SPAN, "traceId", 0, FIELD_TRACE },
	{ OTLP_SPAN, "spanId", 0, FIELD_ID },
	{ OTLP_SPAN, "parentSpanId", 0, FIELD_PARENT },
	{ OTLP_SPAN, "name", 0, FIELD_NAME },
	{ OTLP_SPAN, "kind", 0, FIELD_KIND },
	{ OTLP_SPAN, "startTimeUnixNano", 0, FIELD_START_NS },
	{ OTLP_SPAN, "endTimeUnixNano", 0, FIELD_END_NS },
	{ OTLP_SPAN, "status", OTLP_STATUS, 0 },
	{ OTLP_SPAN, "links", OTLP_LINK, 0 },
	{ OTLP_STATUS, "code", 0, FIELD_STATUS },
	{ OTLP_LINK, "traceId", 0, FIELD_LINK_TRACE },
	{ OTLP_LINK, "spanId", 0, FIELD_LINK_ID },
	{ OBJECT_ROOT, "resourceSpans", OTLP_BATCH, 0 },
	{ OBJECT_ROOT, "batches", OTLP_BATCH, 0 },
	{ OTLP_BATCH, "resource", OTLP_RESOURCE, 0 },
	{ OTLP_BATCH, "scopeSpans", OTLP_SCOPE, 0 },
	{ OTLP_BATCH, "instrumentationLibrarySpans", OTLP_SCOPE, 0 },
	{ OTLP_SCOPE, "spans", OTLP_SPAN, 0 },
	{ OTLP_RESOURCE, "attributes", OTLP_ATTRIBUTE, 0 },
	{ OTLP_ATTRIBUTE, "key", 0, FIELD_KEY },
	{ OTLP_ATTRIBUTE, "value", OTLP_VALUE, 0 },
	{ OTLP_VALUE, "stringValue", 0, FIELD_VALUE },
	{ OTLP_VALUE, "intValue", 0, FIELD_VALUE },
	{ OBJECT_ROOT, NULL, OBJECT_ROOT, 0 }, /* "trace", "result" */
};

static const struct span_key places[] = {
	{ OTLP_SPAN, "events", OTLP_EVENT, 0 },
	{ OTLP_SPAN, "attributes", OTLP_SPAN_ATTRIBUTE, 0 },
	{ OTLP_SPAN_ATTRIBUTE, "key", 0, FIELD_KEY },
	{ OTLP_EVENT, "timeUnixNano", 0, FIELD_EVENT_NS },
};

static void begin(struct span_reader *r, uint8_t object)
{
	switch (object) {
	case OTLP_BATCH:
		usk_span_begin_process(r);
		break;
	case OTLP_ATTRIBUTE:
		usk_span_forget(r, FIELD_KEY);
		usk_span_forget(r, FIELD_VALUE);
		break;
	case OTLP_SPAN:
		usk_span_begin(r);
		break;
	case OTLP_EVENT:
		usk_span_forget(r, FIELD_EVENT_NS);
		break;
	case OTLP_LINK:
		usk_span_forget(r, FIELD_LINK_TRACE);
		usk_span_forget(r, FIELD_LINK_ID);
		break;
	}
}

static void end(struct span_reader *r, uint8_t object)
{
	struct usk_csv_field status = usk_span_said(r, FIELD_STATUS);
	switch (object) {
	case OTLP_ATTRIBUTE:
		usk_span_attribute(r);
		break;
	case OTLP_RESOURCE:
	case OTLP_BATCH: /* the resource may stand behind its spans, or not at all */
		usk_span_is_of(r);
		break;
	case OTLP_LINK:
		usk_span_link(r);
		break;
	case OTLP_SPAN:
		if (usk_csv_is(status, "2") || usk_csv_is(status, "STATUS_CODE_ERROR")) {
			usk_span_flag(r, USK_SPAN_FAILED);
		}
		usk_span_end(r);
		break;
	}
}

const struct span_format usk_span_otlp = {
	true,	OBJECT_ROOT,   keys,	  COUNT(keys),	       begin, end,
	places, COUNT(places), OTLP_SPAN, OTLP_SPAN_ATTRIBUTE, true,
};
