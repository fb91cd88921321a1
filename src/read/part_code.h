/* SPDX-License-Identifier: MIT */
/* part_code.h - inside of parts: blocks and numbers, for who writes and who reads them */
#ifndef USK_PART_CODE_H
#define USK_PART_CODE_H

#include "base/bytes.h"
#include "read/part.h"
#include "read/read.h"

#include <string.h>

enum part_block {
	PART_ABOUT = 1,
	PART_IFACE,
	PART_CLOCKS,
	PART_TEXTS,
	PART_RECORDS,
	PART_MESSAGES,
	PART_EVENTS,
	PART_SPANS,
	PART_END,
};

enum {
	PART_MAGIC = 8,
	PART_HEADER = 16,
	PART_BLOCK_MAX = 1 << 22, /* bytes of a payload */
	PART_ROWS = 4096,	  /* in a block */
	/* Bytes of a block's records, before the last of them. */
	PART_ARENA = 1 << 20,
	/* A record is written as what differs from the last one of its flow, by its first bytes;
	 * flows share places. */
	PART_FLOWS = 512,
	PART_ALIKE = 128,
	PART_TEXT_MAX = 1 << 16,
};

static const uint8_t part_magic[PART_MAGIC] = { 'u', 'n', 's', 'k', 'e', 'w', 'P', 1 };

/* Of a record: who sent it, and what follows because it is not as in the record before. */
enum {
	PART_SIDE = 3,
	PART_OTHER_IFACE = 4,
	PART_OTHER_SIZE = 8, /* than the last one of its flow */
	PART_OTHER_LENGTH = 16,
	PART_OTHER_FLOW = 32,
};

static inline uint64_t part_sum(const uint8_t *d, size_t n, uint32_t kind)
{
	uint64_t h = usk_fold(kind, n);
	for (; n >= 16; d += 16, n -= 16) {
		h = usk_fold(h + usk_le64(d), usk_le64(d + 8));
	}
	uint8_t rest[16] = { 0 };
	memcpy(rest, d, n);
	return usk_fold(h + usk_le64(rest), usk_le64(rest + 8));
}

/* Differences of either sign, so that small ones are short. */
static inline uint64_t part_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t) - (int64_t)(difference >> 63);
}

static inline uint64_t part_unzigzag(uint64_t v)
{
	return v >> 1 ^ (uint64_t) - (int64_t)(v & 1);
}

#endif
