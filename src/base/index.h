/* SPDX-License-Identifier: MIT */
/*
 * index.h - a number for each key of two words
 *
 * Why   what is looked up by name, by two clocks or by an address needs one hash table, not one each
 * Not   taking keys out
 *
 * Keys that do not fit two words: a hash of them, its second word counted up from one whose hash is
 * the same to the next, up to the one that is meant.
 */
#ifndef USK_INDEX_H
#define USK_INDEX_H

#include "base/base.h"

struct usk_index {
	struct usk_slot {
		uint64_t a, b, value; /* 0: empty */
	} * slot;
	size_t n, n_slots;
};

/** The value of a key, for the caller to set if it is 0; until the next call. */
uint64_t *usk_index_value(struct usk_index *x, uint64_t a, uint64_t b);
/** 0: it has none. */
uint64_t usk_index_find(const struct usk_index *x, uint64_t a, uint64_t b);
void usk_index_free(struct usk_index *x);

/* Texts by number, each key once. */
struct usk_texts {
	char **text;
	size_t n, cap;
	struct usk_index by;
};

/** The number of this key, whose text is text[n] if it is new. */
uint32_t usk_texts_number(struct usk_texts *x, uint64_t a, uint64_t b, const char *text, size_t n);
void usk_texts_free(struct usk_texts *x);

#endif
