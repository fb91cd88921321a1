/* SPDX-License-Identifier: MIT */
/* span_json.h - inside of reading spans as JSON: a format is a table of keys (span_parts.h) */
#ifndef USK_SPAN_JSON_H
#define USK_SPAN_JSON_H

#include "read/span_parts.h"

enum usk_status usk_span_json_start(struct usk_trace *t, const struct span_format *f,
				    struct usk_err *err);
enum usk_status usk_span_json(struct usk_trace *t, struct usk_span *out, size_t cap, size_t *n,
			      struct usk_err *err);
void usk_span_json_stop(struct usk_trace *t);

/** Does d[n] begin so, blanks between aside? */
bool usk_span_opens(const uint8_t *d, size_t n, const char *with);

#endif
