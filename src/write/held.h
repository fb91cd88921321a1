/* SPDX-License-Identifier: MIT */
/*
 * held.h - bytes that wait for lengths which stand before them
 *
 * In    bytes, and where among them a message begins and ends whose length is not known before
 * Out   the same bytes, with the lengths
 * Why   what is added to a span makes each message longer that it stands in, and these lengths come first
 * Not   whose lengths: who holds says where; how much is held: up to the end of the outermost message,
 *       64 MiB in memory and the rest in a temporary file
 */
#ifndef USK_HELD_H
#define USK_HELD_H

#include "base/io.h"

struct usk_held;

/* A length as it stood in the input. */
struct usk_length {
	uint64_t at, value;
	uint8_t width; /* bytes */
	bool fixed;    /* so many, the highest first; else a varint */
};

struct usk_held *usk_held_new(void);
void usk_held_free(struct usk_held *h);

/** A message begins, within those that are open. */
void usk_held_open(struct usk_held *h, struct usk_length was);
/** The one that began last ends. */
void usk_held_close(struct usk_held *h);
/** How many are open; nothing has to be held if none is. */
size_t usk_held_depth(const struct usk_held *h);
/** The one that began last is so much longer than it was. */
void usk_held_grow(struct usk_held *h, uint64_t bytes);
/** USK_EIO: no temporary file can be made, or written. */
enum usk_status usk_held_put(struct usk_held *h, const void *data, size_t n, struct usk_err *err);
/** All is closed and goes to out. USK_ERANGE: a length does not fit where it stood. */
enum usk_status usk_held_write(struct usk_held *h, struct usk_output *out, struct usk_err *err);

#endif
