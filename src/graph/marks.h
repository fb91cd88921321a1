/* SPDX-License-Identifier: MIT */
/*
 * marks.h - a set of small numbers, a bit each: who is to be looked at, in order
 */
#ifndef USK_GRAPH_MARKS_H
#define USK_GRAPH_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define USK_NO_MARK UINT32_MAX

static inline void usk_mark(uint64_t *m, uint32_t i)
{
	m[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void usk_unmark(uint64_t *m, uint32_t i)
{
	m[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool usk_is_marked(const uint64_t *m, uint32_t i)
{
	return m[i / 64] >> i % 64 & 1;
}

/** The least mark of i or more, of n words; USK_NO_MARK: none. */
static inline uint32_t usk_next_mark(const uint64_t *m, uint32_t n, uint32_t i)
{
	uint32_t k = i / 64;
	uint64_t bits = k < n ? m[k] >> i % 64 << i % 64 : 0;
	while (!bits && ++k < n) {
		bits = m[k];
	}
	return bits ? 64 * k + (uint32_t)__builtin_ctzll(bits) : USK_NO_MARK;
}

/** The largest one of i or less. */
static inline uint32_t usk_last_mark(const uint64_t *m, uint32_t i)
{
	uint32_t k = i / 64;
	uint64_t bits = m[k] << (63 - i % 64) >> (63 - i % 64);
	while (!bits && k) {
		bits = m[--k];
	}
	return bits ? 64 * k + 63 - (uint32_t)__builtin_clzll(bits) : USK_NO_MARK;
}

#endif
