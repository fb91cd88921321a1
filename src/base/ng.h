/* SPDX-License-Identifier: MIT */
/*
 * ng.h - blocks of pcapng and their options, as they lie in a file
 */
#ifndef USK_NG_H
#define USK_NG_H

#include "base/bytes.h"
#include "base/tick.h"

enum {
	NG_SECTION = 0x0a0d0d0a,
	NG_INTERFACE = 1,
	NG_OLD_PACKET = 2,
	NG_SIMPLE_PACKET = 3,
	NG_STATISTICS = 5,
	NG_PACKET = 6,
	NG_BYTE_ORDER = 0x1a2b3c4d,
	/* options of any block, then by block */
	NG_END_OF_OPTIONS = 0,
	NG_COMMENT = 1,
	NG_SECTION_APPLICATION = 4,
	NG_IF_NAME = 2,
	NG_IF_DESCRIPTION = 3,
	NG_IF_IPV4 = 4,
	NG_IF_IPV6 = 5,
	NG_IF_RESOLUTION = 9,
	NG_IF_OFFSET = 14,
	NG_PACKET_FLAGS = 2,
	NG_STATISTICS_START = 2,
	NG_STATISTICS_END = 3,
};

/* More than any capture interface hands out; a larger claim is damage, not a packet. */
#define USK_RECORD_MAX (UINT32_C(1) << 24)

/**
 * The whole length that the first 12 bytes of a block claim; 0, and *why, if they cannot be. A
 * section's, which are the same in both byte orders, tell *swap for the blocks after it.
 */
static inline size_t usk_ng_block(const uint8_t *d, bool *swap, uint32_t *type, const char **why)
{
	if (usk_load32(d, false) == NG_SECTION) {
		uint32_t order = usk_load32(d + 8, false);
		*swap = order != NG_BYTE_ORDER;
		if (usk_swap32_if(order, *swap) != NG_BYTE_ORDER) {
			*why = "has no byte order";
			return 0;
		}
	}
	*type = usk_load32(d, *swap);
	size_t n = usk_load32(d + 4, *swap);
	if (n < 12 || n % 4 || n > USK_RECORD_MAX + 65536) {
		*why = "claims an impossible length";
		return 0;
	}
	return n;
}

struct usk_ng_option {
	unsigned code;
	size_t size;
	const uint8_t *value;
};

/** The option at d, if it lies wholly within n bytes: its length with padding, or 0. */
static inline size_t usk_ng_option(const uint8_t *d, size_t n, bool swap, struct usk_ng_option *o)
{
	if (n < 4) {
		return 0;
	}
	*o = (struct usk_ng_option){ usk_load16(d, swap), usk_load16(d + 2, swap), d + 4 };
	size_t padded = (o->size + 3) & ~(size_t)3;
	return padded > n - 4 || o->code == NG_END_OF_OPTIONS ? 0 : 4 + padded;
}

/** What an option of an interface says of how it counts time, if anything. */
static inline void usk_ng_tick(const struct usk_ng_option *o, bool swap, struct usk_tick *t)
{
	if (o->code == NG_IF_RESOLUTION && o->size >= 1) {
		int64_t offset_s = t->offset_s;
		*t = usk_tick(o->value[0]);
		t->offset_s = offset_s;
	} else if (o->code == NG_IF_OFFSET && o->size >= 8) {
		t->offset_s = (int64_t)usk_load64(o->value, swap);
	}
}

#endif
