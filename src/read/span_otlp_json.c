/* SPDX-License-Identifier: MIT */
/*
 * span_otlp_json.c - spans as OpenTelemetry's collector writes them to files
 *
 * In    OTLP as JSON: an object a line, or one alone, or an array of them
 * Out   spans, as span_otlp_keys.c has them
 * Why   what the collector's file exporter writes unless it is told otherwise
 * Not   what objects mean (span_otlp_keys.c), protobuf (span_otlp_proto.c)
 */
#include "read/span_json.h"
#include "read/span_otlp.h"

static bool sniff(const uint8_t *d, size_t n)
{
	return (usk_span_opens(d, n, "{") || usk_span_opens(d, n, "[")) &&
	       (usk_has_text(d, n, "\"resourceSpans\"") || usk_has_text(d, n, "\"batches\""));
}

static enum usk_status start(struct usk_trace *t, struct usk_err *err)
{
	return usk_span_json_start(t, &usk_span_otlp, err);
}

static const struct usk_span_form form = { "span",	  false,
					   false,	  "\"attributes\":[",
					   "{\"key\":\"", "\",\"value\":{\"stringValue\":\"",
					   "\"}}" };

const struct reader usk_reader_otlp = {
	.info = { "otlp", "OTLP as JSON", "spans", USK_TRACE_SPANS },
	.sniff = sniff,
	.start = start,
	.spans = usk_span_json,
	.stop = usk_span_json_stop,
	.form = &form,
};
