/* SPDX-License-Identifier: MIT */
/*
 * bytes.h - numbers in files: unaligned, in either byte order
 */
#ifndef USK_BYTES_H
#define USK_BYTES_H

#include <stdbool.h>
#include <stdint.h>

static inline uint16_t usk_swap16_if(uint16_t v, bool swap)
{
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t usk_swap32_if(uint32_t v, bool swap)
{
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t usk_swap64_if(uint64_t v, bool swap)
{
	return swap ? __builtin_bswap64(v) : v;
}

/* In this machine's byte order; swap for the other one. */
static inline uint16_t usk_load16(const uint8_t *p, bool swap)
{
	uint16_t v;
	__builtin_memcpy(&v, p, sizeof v);
	return usk_swap16_if(v, swap);
}

static inline uint32_t usk_load32(const uint8_t *p, bool swap)
{
	uint32_t v;
	__builtin_memcpy(&v, p, sizeof v);
	return usk_swap32_if(v, swap);
}

static inline uint64_t usk_load64(const uint8_t *p, bool swap)
{
	uint64_t v;
	__builtin_memcpy(&v, p, sizeof v);
	return usk_swap64_if(v, swap);
}

/* In network byte order, whatever the machine's. */
enum { USK_SWAP_NETWORK = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static inline uint16_t usk_be16(const uint8_t *p)
{
	return usk_load16(p, USK_SWAP_NETWORK);
}

static inline uint32_t usk_be32(const uint8_t *p)
{
	return usk_load32(p, USK_SWAP_NETWORK);
}

static inline uint64_t usk_be64(const uint8_t *p)
{
	return usk_load64(p, USK_SWAP_NETWORK);
}

/* The lowest byte first, whatever the machine's order. */
static inline uint16_t usk_le16(const uint8_t *p)
{
	return usk_load16(p, !USK_SWAP_NETWORK);
}

static inline uint32_t usk_le32(const uint8_t *p)
{
	return usk_load32(p, !USK_SWAP_NETWORK);
}

static inline uint64_t usk_le64(const uint8_t *p)
{
	return usk_load64(p, !USK_SWAP_NETWORK);
}

#endif
