/* SPDX-License-Identifier: MIT */
/* span_otlp.h - inside of reading OTLP: what its encodings share */
#ifndef USK_SPAN_OTLP_H
#define USK_SPAN_OTLP_H

#include "base/protobuf.h"
#include "read/span_parts.h"

/* Below OBJECT_ROOT, TracesData. */
enum {
	OTLP_BATCH = OBJECT_ROOT + 1, /* ResourceSpans */
	OTLP_RESOURCE,
	OTLP_ATTRIBUTE, /* of a resource */
	OTLP_VALUE,	/* of an attribute */
	OTLP_SCOPE,	/* ScopeSpans */
	OTLP_SPAN,
	OTLP_LINK,
	OTLP_STATUS,
	OTLP_EVENT,
	OTLP_SPAN_ATTRIBUTE,
	OTLP_OBJECTS,
};

/** The fields by their names in JSON. */
extern const struct span_format usk_span_otlp;

/* ---- span_otlp_numbers.c: the same fields by their numbers in protobuf ---- */

enum otlp_form { OTLP_MESSAGE, OTLP_TEXT, OTLP_ID, OTLP_TIME, OTLP_ENUM, OTLP_INTEGER };

enum {
	OTLP_NUMBERS = 16, /* the highest one, and 0 */
	OTLP_TRACE_ID = 16,
	OTLP_SPAN_ID = 8,
	OTLP_HEAD = 4, /* bytes of a length in front of a TracesData */
};

struct otlp_numbers {
	struct otlp_field {
		enum otlp_form form;
		enum usk_wire wire;
		uint8_t size;		    /* of an id */
		const struct span_key *key; /* NULL: there is none of the number */
	} field[OTLP_OBJECTS][OTLP_NUMBERS];
};

/** places: what only is looked at where places are wanted, too. */
void usk_otlp_learn(struct otlp_numbers *x, bool places);
/** NULL: none of those, and so is what has another type, as protobuf has it. */
const struct otlp_field *usk_otlp_field(const struct otlp_numbers *x, uint8_t object,
					const struct usk_wire_field *f);
/** d[n], the beginning of a file: is it one TracesData, or some with their lengths? A span is among
 * what is seen of them, and all else fits, too. */
bool usk_otlp_is_bare(const struct otlp_numbers *x, const uint8_t *d, size_t n);
bool usk_otlp_is_framed(const struct otlp_numbers *x, const uint8_t *d, size_t n);
/** Is a length at d, and behind it a TracesData whose first ResourceSpans has a span? */
bool usk_otlp_begins(const struct otlp_numbers *x, const uint8_t *d, size_t n);

#endif
