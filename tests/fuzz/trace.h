/* SPDX-License-Identifier: MIT */
/* trace.h - read any bytes as a trace, twice, and hold the reader to its word */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What is refused has a sentence; what is read lies within the input and within the range of
 * times; reading again after a rewind gives the same, in batches of any size, and so does its part. kind: the reader
 * that must have taken it, else nothing is looked at: false; NULL: any.
 */
bool fuzz_trace(const uint8_t *data, size_t size, const char *kind);

struct usk_trace;
/** The same of one that is open. size: of the input, 0 if records may lie outside. */
void fuzz_opened(struct usk_trace *t, size_t size);

struct usk_packet;
/** All that is in it; NULL: it was none. */
void fuzz_found_packet(const struct usk_packet *p);

struct usk_place;
struct fuzz_bytes {
	const uint8_t *data;
	size_t size;
};
/** Spans of JSON, or of protobuf: where things are said to stand comes in order and within the input, and
 * check() looks at what stands there. */
void fuzz_places(const uint8_t *data, size_t size, bool protobuf,
		 void (*check)(const struct fuzz_bytes *b, const struct usk_place *p, size_t n));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
