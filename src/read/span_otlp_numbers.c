/* SPDX-License-Identifier: MIT */
/*
 * span_otlp_numbers.c - which field of OTLP has which number in protobuf
 *
 * In    a field's number and type, and the object that it stands in; the first bytes of a file
 * Out   the key that JSON has for it; is it a file of such objects?
 * Why   protobuf has no magic number: only lengths that fit into one another tell
 * Not   what keys mean (span_otlp_keys.c)
 */
#include "base/bytes.h"
#include "read/span_otlp.h"

static const enum usk_wire wire_of[] = {
	[OTLP_MESSAGE] = USK_WIRE_BYTES, [OTLP_TEXT] = USK_WIRE_BYTES,
	[OTLP_ID] = USK_WIRE_BYTES,	 [OTLP_TIME] = USK_WIRE_FIXED64,
	[OTLP_ENUM] = USK_WIRE_VARINT,	 [OTLP_INTEGER] = USK_WIRE_VARINT,
};

static const struct number {
	uint8_t in, number;
	const char *key; /* in JSON */
	enum otlp_form form;
	uint8_t size;
} numbers[] = {
	{ OBJECT_ROOT, 1, "resourceSpans", OTLP_MESSAGE, 0 },
	{ OTLP_BATCH, 1, "resource", OTLP_MESSAGE, 0 },
	{ OTLP_BATCH, 2, "scopeSpans", OTLP_MESSAGE, 0 },
	{ OTLP_RESOURCE, 1, "attributes", OTLP_MESSAGE, 0 },
	{ OTLP_ATTRIBUTE, 1, "key", OTLP_TEXT, 0 },
	{ OTLP_ATTRIBUTE, 2, "value", OTLP_MESSAGE, 0 },
	{ OTLP_VALUE, 1, "stringValue", OTLP_TEXT, 0 },
	{ OTLP_VALUE, 3, "intValue", OTLP_INTEGER, 0 },
	{ OTLP_SCOPE, 2, "spans", OTLP_MESSAGE, 0 },
	{ OTLP_SPAN, 1, "traceId", OTLP_ID, OTLP_TRACE_ID },
	{ OTLP_SPAN, 2, "spanId", OTLP_ID, OTLP_SPAN_ID },
	{ OTLP_SPAN, 4, "parentSpanId", OTLP_ID, OTLP_SPAN_ID },
	{ OTLP_SPAN, 5, "name", OTLP_TEXT, 0 },
	{ OTLP_SPAN, 6, "kind", OTLP_ENUM, 0 },
	{ OTLP_SPAN, 7, "startTimeUnixNano", OTLP_TIME, 0 },
	{ OTLP_SPAN, 8, "endTimeUnixNano", OTLP_TIME, 0 },
	{ OTLP_SPAN, 9, "attributes", OTLP_MESSAGE, 0 },
	{ OTLP_SPAN, 11, "events", OTLP_MESSAGE, 0 },
	{ OTLP_SPAN, 13, "links", OTLP_MESSAGE, 0 },
	{ OTLP_SPAN, 15, "status", OTLP_MESSAGE, 0 },
	{ OTLP_LINK, 1, "traceId", OTLP_ID, OTLP_TRACE_ID },
	{ OTLP_LINK, 2, "spanId", OTLP_ID, OTLP_SPAN_ID },
	{ OTLP_STATUS, 3, "code", OTLP_ENUM, 0 },
	{ OTLP_EVENT, 1, "timeUnixNano", OTLP_TIME, 0 },
	{ OTLP_SPAN_ATTRIBUTE, 1, "key", OTLP_TEXT, 0 },
};

static const struct span_key *find(const struct number *w, const struct span_key *key, size_t n)
{
	size_t i = 0;
	while (i < n && (key[i].in != w->in || !key[i].name || strcmp(key[i].name, w->key) != 0)) {
		i++;
	}
	return i < n ? &key[i] : NULL;
}

void usk_otlp_learn(struct otlp_numbers *x, bool places)
{
	const struct span_format *f = &usk_span_otlp;
	*x = (struct otlp_numbers){ 0 };
	for (const struct number *w = numbers; w < numbers + COUNT(numbers); w++) {
		const struct span_key *key = find(w, f->key, f->n_keys);
		key = key || !places ? key : find(w, f->place, f->n_places);
		x->field[w->in][w->number] =
			(struct otlp_field){ w->form, wire_of[w->form], w->size, key };
	}
}

const struct otlp_field *usk_otlp_field(const struct otlp_numbers *x, uint8_t object,
					const struct usk_wire_field *f)
{
	const struct otlp_field *of = &x->field[object][f->number % OTLP_NUMBERS];
	return f->number < OTLP_NUMBERS && of->key && of->wire == f->wire ? of : NULL;
}

/* ---- is it such a file? ------------------------------------------------------------------- */

enum seen { NOTHING, A_SPAN, BROKEN };

struct looking {
	const struct otlp_numbers *numbers;
	unsigned left; /* so many fields more are looked at */
};

/* What d[n], the beginning of an object of that size, holds: lengths that fit into one another down
 * to the ids of a span and its start are what nothing else has. */
static enum seen look(struct looking *k, const uint8_t *d, uint64_t n, uint64_t size,
		      uint8_t object)
{
	static const unsigned a_span = 1u << FIELD_TRACE | 1u << FIELD_ID | 1u << FIELD_START_NS;
	struct usk_wire_field f;
	unsigned said = 0;
	for (uint64_t at = 0; at < size && at < n && k->left; k->left--) {
		const uint64_t rest = size - at, there = n - at < rest ? n - at : rest;
		enum usk_wire_found found = usk_wire_next(d + at, (size_t)there, &f);
		if (found == USK_WIRE_SHORT && there < rest) {
			return NOTHING;
		}
		const struct otlp_field *of =
			found == USK_WIRE_FIELD ? usk_otlp_field(k->numbers, object, &f) : NULL;
		if (found != USK_WIRE_FIELD || f.wire == USK_WIRE_GROUP ||
		    f.wire == USK_WIRE_GROUP_END ||
		    (f.wire == USK_WIRE_BYTES && f.value > rest - f.size) ||
		    (object == OBJECT_ROOT && !of)) { /* TracesData has one field */
			return BROKEN;
		}
		at += f.size;
		if (of && of->form == OTLP_MESSAGE) {
			enum seen in = look(k, d + at, n - at, f.value, of->key->object);
			if (in != NOTHING) {
				return in;
			}
		} else if (of && (of->form != OTLP_ID || of->size == f.value)) {
			said |= 1u << of->key->field;
			if ((said & a_span) == a_span) {
				return A_SPAN;
			}
		}
		at += f.wire == USK_WIRE_BYTES ? f.value : 0;
	}
	return NOTHING;
}

enum { MOST = 1 << 16, MOST_OF_ONE = 256 };

bool usk_otlp_is_bare(const struct otlp_numbers *x, const uint8_t *d, size_t n)
{
	struct looking k = { x, MOST };
	return look(&k, d, n, UINT64_MAX, OBJECT_ROOT) == A_SPAN;
}

bool usk_otlp_is_framed(const struct otlp_numbers *x, const uint8_t *d, size_t n)
{
	struct looking k = { x, MOST };
	for (uint64_t at = 0; at + OTLP_HEAD < n && k.left;) {
		uint64_t size = usk_be32(d + at);
		at += OTLP_HEAD;
		enum seen in = look(&k, d + at, n - at, size, OBJECT_ROOT);
		if (in != NOTHING) {
			return in == A_SPAN;
		}
		at += size;
		k.left -= !size;
	}
	return false;
}

bool usk_otlp_begins(const struct otlp_numbers *x, const uint8_t *d, size_t n)
{
	struct looking k = { x, MOST_OF_ONE };
	struct usk_wire_field f;
	if (n <= OTLP_HEAD || usk_wire_next(d + OTLP_HEAD, n - OTLP_HEAD, &f) != USK_WIRE_FIELD) {
		return false;
	}
	const struct otlp_field *of = usk_otlp_field(x, OBJECT_ROOT, &f);
	const size_t in = OTLP_HEAD + f.size;
	return of && f.value <= usk_be32(d) && f.size <= usk_be32(d) - f.value &&
	       look(&k, d + in, n - in, f.value, of->key->object) == A_SPAN;
}
