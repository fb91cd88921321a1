/* SPDX-License-Identifier: MIT */
/*
 * block.h - blocks of pcapng, built byte by byte in either byte order
 */
#ifndef USK_BLOCK_H
#define USK_BLOCK_H

#include "base/io.h"
#include "base/ng.h"

/* A block being built: its bytes, and whether numbers are swapped. */
struct block {
	uint8_t *bytes;
	size_t n, capacity;
	bool swap;
};

void usk_block_begin(struct block *b, uint32_t type);
void usk_block_16(struct block *b, uint16_t v);
void usk_block_32(struct block *b, uint32_t v);
void usk_block_64(struct block *b, uint64_t v); /* in the block's byte order */
/** A packet's stamp: upper half first, whatever the byte order. */
void usk_block_stamp(struct block *b, uint64_t ticks);
void usk_block_bytes(struct block *b, const void *data, size_t n);
void usk_block_pad(struct block *b); /* zeros up to a multiple of 4 */
/** Longer values than an option holds are cut. */
void usk_block_option(struct block *b, uint16_t code, const void *value, size_t n);
/** Writes both lengths and hands the block to out. */
void usk_block_end(struct block *b, struct usk_output *out);
void usk_block_free(struct block *b);

#endif
