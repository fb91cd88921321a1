/* SPDX-License-Identifier: MIT */
/* opening.h - the same bytes as a trace from a file and from memory, record by record */
#ifndef OPENING_H
#define OPENING_H

#include "making.h"
#include "read/read.h"

/* A temporary file for the whole group of tests. */
extern char trace_path[];
int make_trace_path(void **state);
int remove_trace_path(void **state);

void save(const struct bytes *b);
struct usk_trace *open_file(const struct bytes *b);
struct usk_trace *open_memory(const struct bytes *b);

/* The next records of a trace, so many at a time. */
struct cursor {
	struct usk_trace *t;
	struct usk_record record[64];
	size_t batch, n, at;
};
struct usk_record *next(struct cursor *c);

void assert_same(const char *what, uint64_t i, const struct usk_record *a,
		 const struct usk_record *b);
/** From a file, from memory, in batches of any size, once and again: the same records. How many. */
uint64_t check_doors(const char *what, const struct bytes *b);

/** A pcapng packet with options: epb_flags says who sent it. */
void flagged(struct bytes *b, uint32_t iface, uint64_t ticks, uint32_t flags);

#endif
