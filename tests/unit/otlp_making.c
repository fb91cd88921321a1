/* SPDX-License-Identifier: MIT */
#include "otlp_making.h"

#include <stdlib.h>
#include <string.h>

/* ---- fields of protobuf -------------------------------------------------------------------- */

void wire_varint(struct bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7) {
		put8(b, (unsigned)(v & 127) | 128);
	}
	put8(b, (unsigned)v);
}

void wire_tag(struct bytes *b, uint32_t number, unsigned wire)
{
	wire_varint(b, (uint64_t)number << 3 | wire);
}

void wire_number(struct bytes *b, uint32_t number, uint64_t v)
{
	wire_tag(b, number, 0);
	wire_varint(b, v);
}

void wire_fixed64(struct bytes *b, uint32_t number, uint64_t v)
{
	wire_tag(b, number, 1);
	put64(b, v);
}

void wire_bytes(struct bytes *b, uint32_t number, const void *data, size_t n)
{
	wire_tag(b, number, 2);
	wire_varint(b, n);
	put(b, data, n);
}

void wire_text(struct bytes *b, uint32_t number, const char *text)
{
	wire_bytes(b, number, text, strlen(text));
}

void wire_message(struct bytes *b, uint32_t number, struct bytes *message)
{
	wire_bytes(b, number, message->data, message->n);
	bytes_free(message);
}

void wire_unknown(struct bytes *b, uint32_t number)
{
	wire_number(b, number, UINT64_MAX);
	wire_fixed64(b, number, 7);
	wire_text(b, number, "\n\n\n of no meaning");
	wire_tag(b, number, 3);
	wire_text(b, 1, "in a group");
	wire_tag(b, number + 1, 3);
	wire_tag(b, number + 1, 4);
	wire_tag(b, number, 4);
	wire_tag(b, number, 5);
	put32(b, 5);
}

/* ---- OTLP -------------------------------------------------------------------------------- */

/* An id of that many bytes, of which the number is the last ones. */
static void put_id(struct bytes *b, uint32_t number, uint64_t id, size_t size)
{
	struct bytes be = { .big = true };
	put_zeros(&be, size - 8);
	put64(&be, id);
	wire_message(b, number, &be);
}

void otlp_span(struct bytes *b, const struct otlp_span *s)
{
	struct bytes in = { 0 };
	put_id(b, 1, s->trace, 16);
	put_id(b, 2, s->id, 8);
	if (s->parent) {
		put_id(b, 4, s->parent, 8);
	}
	wire_text(b, 5, s->name ? s->name : "");
	wire_number(b, 6, (uint64_t)s->kind);
	wire_fixed64(b, 7, (uint64_t)s->start_ns);
	wire_fixed64(b, 8, (uint64_t)s->end_ns);
	wire_text(&in, 1, "http.route");
	wire_message(b, 9, &in);
	if (s->link) {
		put_id(&in, 1, s->trace, 16);
		put_id(&in, 2, s->link, 8);
		wire_message(b, 13, &in);
	}
	if (s->status) {
		wire_text(&in, 2, "why");
		wire_number(&in, 3, (uint64_t)s->status);
		wire_message(b, 15, &in);
	}
	wire_tag(b, 16, 5);
	put32(b, 257);
}

static void attribute(struct bytes *b, const char *key, const char *text, int number)
{
	struct bytes pair = { 0 }, value = { 0 };
	wire_text(&pair, 1, key);
	if (text) {
		wire_text(&value, 1, text);
	} else {
		wire_number(&value, 3, (uint64_t)number);
	}
	wire_message(&pair, 2, &value);
	wire_message(b, 1, &pair);
}

void otlp_traces(struct bytes *b, const char *host, int pid, const struct otlp_span *s, size_t n)
{
	struct bytes batch = { 0 }, in = { 0 }, scope = { 0 };
	attribute(&in, "host.name", host, 0);
	attribute(&in, "service.name", "shop", 0);
	attribute(&in, "process.pid", NULL, pid);
	wire_message(&batch, 1, &in);
	wire_text(&in, 1, "scope");
	wire_message(&scope, 1, &in);
	for (size_t i = 0; i < n; i++) {
		otlp_span(&in, &s[i]);
		wire_message(&scope, 2, &in);
	}
	wire_message(&batch, 2, &scope);
	wire_text(&batch, 3, "https://opentelemetry.io/schemas/1.21.0");
	wire_message(b, 1, &batch);
}

void otlp_framed(struct bytes *b, struct bytes *message)
{
	struct bytes be = { .big = true };
	put32(&be, (uint32_t)message->n);
	put(b, be.data, be.n);
	put(b, message->data, message->n);
	bytes_free(&be);
	bytes_free(message);
}

static void put_format(struct bytes *b, char *text)
{
	put_text(b, text);
	free(text);
}

void otlp_span_json(struct bytes *b, const struct otlp_span *s)
{
	const unsigned long long trace = s->trace;
	put_format(b, usk_format("{\"traceId\":\"%032llx\",\"spanId\":\"%016llx\",", trace,
				 (unsigned long long)s->id));
	if (s->parent) {
		put_format(b, usk_format("\"parentSpanId\":\"%016llx\",",
					 (unsigned long long)s->parent));
	}
	if (s->link) {
		put_format(b, usk_format("\"links\":[{\"traceId\":\"%032llx\","
					 "\"spanId\":\"%016llx\"}],",
					 trace, (unsigned long long)s->link));
	}
	put_format(b, usk_format("\"name\":\"%s\",\"kind\":%d,\"startTimeUnixNano\":\"%lld\","
				 "\"endTimeUnixNano\":\"%lld\",\"status\":{\"code\":%d}}",
				 s->name ? s->name : "", s->kind, (long long)s->start_ns,
				 (long long)s->end_ns, s->status));
}

void otlp_traces_json(struct bytes *b, const char *host, int pid, const struct otlp_span *s,
		      size_t n)
{
	put_format(b, usk_format("{\"resourceSpans\":[{\"resource\":{\"attributes\":["
				 "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%s\"}},"
				 "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}},"
				 "{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%d\"}}]},"
				 "\"scopeSpans\":[{\"scope\":{\"name\":\"scope\"},\"spans\":[",
				 host, pid));
	for (size_t i = 0; i < n; i++) {
		put_text(b, i ? "," : "");
		otlp_span_json(b, &s[i]);
	}
	put_text(b, "]}]}]}\n");
}
