/* SPDX-License-Identifier: MIT */
/*
 * stream.h - what is printed into memory
 *
 * Why   open_memstream() of glibc loses what it finds no room for, and ferror() does not know
 */
#ifndef USK_STREAM_H
#define USK_STREAM_H

#include "base/base.h"

#include <stdio.h>

struct usk_stream {
	FILE *out;
	char *text;
	size_t n, cap;
};

/** Print into what comes back, then usk_stream_end(). */
FILE *usk_stream_begin(struct usk_stream *s);
/** All that was printed; malloc'ed. */
char *usk_stream_end(struct usk_stream *s);

#endif
