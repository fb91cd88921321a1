/* SPDX-License-Identifier: MIT */
/*
 * otlp_making.h - OTLP in the making, as protobuf and as JSON
 *
 * In    spans
 * Out   their bytes
 * Why   independent of the readers, and so can speak against them
 */
#ifndef OTLP_MAKING_H
#define OTLP_MAKING_H

#include "making.h"

/* ---- fields of protobuf ---- */

void wire_varint(struct bytes *b, uint64_t v);
void wire_tag(struct bytes *b, uint32_t number, unsigned wire);
void wire_number(struct bytes *b, uint32_t number, uint64_t v);
void wire_fixed64(struct bytes *b, uint32_t number, uint64_t v);
void wire_bytes(struct bytes *b, uint32_t number, const void *data, size_t n);
void wire_text(struct bytes *b, uint32_t number, const char *text);
/** What is in the message, which is freed. */
void wire_message(struct bytes *b, uint32_t number, struct bytes *message);
/** A field of every type, with a number that OTLP does not have. */
void wire_unknown(struct bytes *b, uint32_t number);

/* ---- OTLP ---- */

struct otlp_span {
	uint64_t trace, id, parent, link; /* 0: none */
	const char *name;
	int kind, status;
	int64_t start_ns, end_ns;
};

/** What is in a span. */
void otlp_span(struct bytes *b, const struct otlp_span *s);
void otlp_span_json(struct bytes *b, const struct otlp_span *s);

/** A TracesData of one resource that has a host.name, a service.name and a process.pid. */
void otlp_traces(struct bytes *b, const char *host, int pid, const struct otlp_span *s, size_t n);
void otlp_traces_json(struct bytes *b, const char *host, int pid, const struct otlp_span *s,
		      size_t n);

/** A message behind its length, as the collector writes it; it is freed. */
void otlp_framed(struct bytes *b, struct bytes *message);

#endif
