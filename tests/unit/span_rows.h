/* SPDX-License-Identifier: MIT */
/* span_rows.h - what a trace of spans holds, as text */
#ifndef SPAN_ROWS_H
#define SPAN_ROWS_H

#include "read/read.h"

/** A line a span: id parent start end kind flags clock process operation. Read so many at a time;
 * to be freed. */
char *span_rows(struct usk_trace *t, size_t batch);

#endif
