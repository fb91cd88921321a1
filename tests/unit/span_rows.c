/* SPDX-License-Identifier: MIT */
#include "span_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void number(char out[32], int64_t ns)
{
	snprintf(out, 32, ns == USK_NONE ? "-" : "%lld", (long long)ns);
}

char *span_rows(struct usk_trace *t, size_t batch)
{
	char *text = usk_strdup("");
	struct usk_span s[64];
	struct usk_err err;
	for (size_t n = 1; n;) {
		assert_int_equal(usk_trace_spans(t, s, batch, &n, &err), USK_OK);
		for (size_t i = 0; i < n; i++) {
			char end[32];
			number(end, s[i].end_ns);
			char *more = usk_format("%s%llx %llx %lld %s %d %d %s %s %s\n", text,
						(unsigned long long)s[i].id,
						(unsigned long long)s[i].parent,
						(long long)s[i].start_ns, end, s[i].kind,
						s[i].flags, usk_trace_clock_name(t, s[i].clock),
						usk_trace_processes(t)->text[s[i].process],
						usk_trace_operations(t)->text[s[i].operation]);
			free(text);
			text = more;
		}
	}
	return text;
}
