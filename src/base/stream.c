/* SPDX-License-Identifier: MIT */
#include "base/stream.h"

#include <string.h>

static ssize_t put(void *cookie, const char *text, size_t n)
{
	struct usk_stream *s = cookie;
	while (s->cap - s->n <= n) {
		s->text = usk_room(s->text, s->cap, &s->cap, 1);
	}
	memcpy(s->text + s->n, text, n);
	s->n += n;
	s->text[s->n] = 0;
	return (ssize_t)n;
}

FILE *usk_stream_begin(struct usk_stream *s)
{
	*s = (struct usk_stream){ .text = usk_strdup(""), .cap = 1 };
	s->out = fopencookie(s, "w", (cookie_io_functions_t){ .write = put });
	if (!s->out) {
		usk_alloc(SIZE_MAX, 1);
	}
	return s->out;
}

char *usk_stream_end(struct usk_stream *s)
{
	/* Printing itself may have wanted memory. */
	bool whole = !ferror(s->out);
	if (fclose(s->out) || !whole) {
		usk_alloc(SIZE_MAX, 1);
	}
	return s->text;
}
