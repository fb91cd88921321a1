/* SPDX-License-Identifier: MIT */
/*
 * packer.h - what is written packed, packed beside what makes it
 *
 * In    buffers, one after the other
 * Out   a file with the same bytes as if they were packed where they were filled
 * Why   packing takes longer than making what is packed: both at once take as long as packing
 * Not   several threads for one file, whose bytes would depend on how many there are
 *
 * A helper is there from the second buffer on: what fits into one is packed where it was filled, and so
 * is all where no thread is to be had.
 */
#ifndef USK_PACKER_H
#define USK_PACKER_H

#include "base/pack.h"

struct usk_packer;

/** Writes to fd. */
struct usk_packer *usk_packer_new(enum usk_packing packing, int fd);
/** What was given is packed before. NULL allowed. */
void usk_packer_free(struct usk_packer *k);
/**
 * Pack n bytes of *buffer, which has `size`: *buffer is another one afterwards. last: nothing follows,
 * and all is written on return. Returns 0, or the errno of what failed so far.
 */
int usk_packer_give(struct usk_packer *k, uint8_t **buffer, size_t size, size_t n, bool last);

#endif
