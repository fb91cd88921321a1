/* SPDX-License-Identifier: MIT */
#include "write/block.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *room(struct block *b, size_t n)
{
	if (b->capacity - b->n < n) {
		while (b->capacity - b->n < n) {
			b->capacity = b->capacity ? 2 * b->capacity : 512;
		}
		b->bytes = usk_grow(b->bytes, b->capacity, 1);
	}
	uint8_t *p = b->bytes + b->n;
	b->n += n;
	return p;
}

void usk_block_16(struct block *b, uint16_t v)
{
	v = usk_swap16_if(v, b->swap);
	memcpy(room(b, sizeof v), &v, sizeof v);
}

void usk_block_32(struct block *b, uint32_t v)
{
	v = usk_swap32_if(v, b->swap);
	memcpy(room(b, sizeof v), &v, sizeof v);
}

void usk_block_64(struct block *b, uint64_t v)
{
	v = usk_swap64_if(v, b->swap);
	memcpy(room(b, sizeof v), &v, sizeof v);
}

void usk_block_stamp(struct block *b, uint64_t ticks)
{
	usk_block_32(b, (uint32_t)(ticks >> 32));
	usk_block_32(b, (uint32_t)ticks);
}

void usk_block_bytes(struct block *b, const void *data, size_t n)
{
	if (n) {
		memcpy(room(b, n), data, n);
	}
}

void usk_block_pad(struct block *b)
{
	size_t n = -b->n & 3;
	memset(room(b, n), 0, n);
}

void usk_block_option(struct block *b, uint16_t code, const void *value, size_t n)
{
	n = n > UINT16_MAX ? UINT16_MAX : n;
	usk_block_16(b, code);
	usk_block_16(b, (uint16_t)n);
	usk_block_bytes(b, value, n);
	usk_block_pad(b);
}

void usk_block_begin(struct block *b, uint32_t type)
{
	b->n = 0;
	usk_block_32(b, type);
	usk_block_32(b, 0);
}

void usk_block_end(struct block *b, struct usk_output *out)
{
	usk_block_32(b, (uint32_t)b->n + 4);
	memcpy(b->bytes + 4, b->bytes + b->n - 4, 4);
	usk_output_write(out, b->bytes, b->n);
}

void usk_block_free(struct block *b)
{
	free(b->bytes);
	memset(b, 0, sizeof *b);
}
