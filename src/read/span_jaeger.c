/* SPDX-License-Identifier: MIT */
/*
 * span_jaeger.c - spans as Jaeger's page and API give them
 *
 * In    {"data": [{"traceID": ..., "spans": [...], "processes": {...}}]}; or such traces in whatever
 *       object or array, or alone; or spans that have their process with them, as in Elasticsearch
 * Out   spans; their clocks are named by tags of their process
 * Why   the button "Download JSON", and /api/traces; what other programs make of that
 * Not   Jaeger's Thrift and protobuf
 *
 * What has spans or processes is a trace, however deep it stands.
 */
#include "read/span_json.h"

enum {
	SPAN = OBJECT_ROOT + 1,
	REFERENCE,
	TAG,
	WARNING,
	PROCESSES,
	PROCESS,
	OWN_PROCESS,
	PROCESS_TAG,
	LOG,
};

static const struct span_key keys[] = {
	{ SPAN, "traceID", 0, FIELD_TRACE },
	{ SPAN, "spanID", 0, FIELD_ID },
	{ SPAN, "parentSpanID", 0, FIELD_PARENT },
	{ SPAN, "operationName", 0, FIELD_NAME },
	{ SPAN, "startTime", 0, FIELD_START_US },
	{ SPAN, "duration", 0, FIELD_DURATION_US },
	{ SPAN, "processID", 0, FIELD_PROCESS },
	{ SPAN, "references", REFERENCE, 0 },
	{ SPAN, "tags", TAG, 0 },
	{ SPAN, "warnings", WARNING, FIELD_WARNING },
	{ SPAN, "process", OWN_PROCESS, 0 },
	{ REFERENCE, "refType", 0, FIELD_LINK_TYPE },
	{ REFERENCE, "traceID", 0, FIELD_LINK_TRACE },
	{ REFERENCE, "spanID", 0, FIELD_LINK_ID },
	{ TAG, "key", 0, FIELD_KEY },
	{ TAG, "value", 0, FIELD_VALUE },
	{ OBJECT_ROOT, "spans", SPAN, 0 },
	{ OBJECT_ROOT, "processes", PROCESSES, 0 },
	{ OBJECT_ROOT, "_source", SPAN, 0 }, /* of Elasticsearch */
	{ PROCESS, "serviceName", 0, FIELD_SERVICE },
	{ PROCESS, "tags", PROCESS_TAG, 0 },
	{ PROCESS_TAG, "key", 0, FIELD_KEY },
	{ PROCESS_TAG, "value", 0, FIELD_VALUE },
	{ OWN_PROCESS, "serviceName", 0, FIELD_SERVICE },
	{ OWN_PROCESS, "tags", PROCESS_TAG, 0 },
	{ PROCESSES, NULL, PROCESS, FIELD_PROCESS },
	{ OBJECT_ROOT, NULL, OBJECT_ROOT, 0 }, /* "data" */
};

static const struct span_key places[] = {
	{ SPAN, "logs", LOG, 0 },
	{ LOG, "timestamp", 0, FIELD_EVENT_US },
};

static void begin(struct span_reader *r, uint8_t object)
{
	switch (object) {
	case SPAN:
		usk_span_begin(r);
		break;
	case PROCESS:
	case OWN_PROCESS:
		usk_span_begin_process(r);
		usk_span_forget(r, FIELD_SERVICE);
		break;
	case REFERENCE:
		usk_span_forget(r, FIELD_LINK_TYPE);
		usk_span_forget(r, FIELD_LINK_TRACE);
		usk_span_forget(r, FIELD_LINK_ID);
		break;
	case TAG:
	case PROCESS_TAG:
		usk_span_forget(r, FIELD_KEY);
		usk_span_forget(r, FIELD_VALUE);
		break;
	}
}

/* The first reference to a span of the same trace is its parent, the others are links. */
static void reference(struct span_reader *r)
{
	struct usk_csv_field type = usk_span_said(r, FIELD_LINK_TYPE);
	struct usk_csv_field trace = usk_span_said(r, FIELD_LINK_TRACE);
	struct usk_csv_field own = usk_span_said(r, FIELD_TRACE);
	bool same = !own.n || usk_span_id(trace.text, trace.n) == usk_span_id(own.text, own.n);
	if (usk_csv_is(type, "CHILD_OF") && same) {
		usk_span_parent(r);
	} else if (usk_csv_is(type, "FOLLOWS_FROM") && same) {
		usk_span_parent(r);
		usk_span_flag(r, USK_SPAN_FOLLOWS);
	} else {
		usk_span_link(r);
	}
}

static void tag(struct span_reader *r)
{
	struct usk_csv_field value = usk_span_said(r, FIELD_VALUE);
	if (usk_span_key_is(r, "span.kind")) {
		usk_span_say(r, FIELD_KIND, value);
	} else if ((usk_span_key_is(r, "error") && usk_csv_is(value, "true")) ||
		   (usk_span_key_is(r, "otel.status_code") && usk_csv_is(value, "ERROR"))) {
		usk_span_flag(r, USK_SPAN_FAILED);
	}
}

static void end(struct span_reader *r, uint8_t object)
{
	switch (object) {
	case REFERENCE:
		reference(r);
		break;
	case TAG:
		tag(r);
		break;
	case WARNING:
		if (strstr(usk_span_said(r, FIELD_WARNING).text, "timestamps were adjusted")) {
			usk_span_spoil(r, "Jaeger adjusted its stamps: get the trace as recorded, "
					  "with raw=true");
		}
		break;
	case SPAN:
		usk_span_end(r);
		if (r->format->root == SPAN) {
			usk_span_flush(r);
		}
		break;
	case PROCESS_TAG:
		usk_span_attribute(r);
		break;
	case PROCESS:
		usk_span_set_attribute(r, ATTRIBUTE_SERVICE, usk_span_said(r, FIELD_SERVICE));
		usk_span_are_of(r, usk_span_said(r, FIELD_PROCESS));
		break;
	case OWN_PROCESS:
		usk_span_set_attribute(r, ATTRIBUTE_SERVICE, usk_span_said(r, FIELD_SERVICE));
		usk_span_this_is_of(r);
		break;
	case OBJECT_ROOT:
		usk_span_flush(r);
		break;
	}
}

static bool sniff(const uint8_t *d, size_t n)
{
	return (usk_span_opens(d, n, "{") || usk_span_opens(d, n, "[")) &&
	       usk_has_text(d, n, "\"traceID\"") &&
	       (usk_has_text(d, n, "\"spans\"") || usk_has_text(d, n, "\"operationName\""));
}

/* Are they spans alone? Those of a trace stand behind its key for them. */
static bool alone(const uint8_t *d, size_t n)
{
	static const char key[] = "\"spanID\"";
	const uint8_t *id = memmem(d, n, key, sizeof key - 1);
	size_t before = id ? (size_t)(id - d) : 0;
	return id && !usk_has_text(d, before, "\"spans\"") &&
	       !usk_has_text(d, before, "\"_source\"");
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	static const struct span_format traces = { false, OBJECT_ROOT, keys,   COUNT(keys),
						   begin, end,	       places, COUNT(places),
						   SPAN,  TAG,	       true },
					spans = { false, SPAN, keys,   COUNT(keys),
						  begin, end,  places, COUNT(places),
						  SPAN,	 TAG,  true };
	enum usk_status status = usk_input_need(&t->in, 0, 4096, err);
	if (status) {
		return status;
	}
	return usk_span_json_start(t, alone(t->in.data, t->in.have) ? &spans : &traces, err);
}

static const struct usk_span_form form = { "span",	  true,
					   false,	  "\"tags\":[",
					   "{\"key\":\"", "\",\"type\":\"string\",\"value\":\"",
					   "\"}" };

const struct reader usk_reader_jaeger = {
	.info = { "jaeger", "Jaeger", "spans", USK_TRACE_SPANS },
	.sniff = sniff,
	.start = start,
	.spans = usk_span_json,
	.stop = usk_span_json_stop,
	.form = &form,
};
