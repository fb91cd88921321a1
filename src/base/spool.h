/* SPDX-License-Identifier: MIT */
/*
 * spool.h - many items of one size, put down now and read again later, in a few megabytes
 *
 * In    items, each for one of a number of lanes
 * Out   the items of a lane, in the order in which they came
 * Why   what can only be sorted when all of it is there need not fit into memory: lanes are read
 *       one after another. Up to a limit nothing touches the disk; beyond, one unlinked temporary
 *       file holds all lanes
 * Not   items of different sizes
 */
#ifndef USK_SPOOL_H
#define USK_SPOOL_H

#include "base/base.h"

struct usk_spool;

struct usk_spool *usk_spool_new(size_t item_size, size_t lanes);
void usk_spool_free(struct usk_spool *s);
/** USK_EIO: no temporary file can be made, or written. */
enum usk_status usk_spool_put(struct usk_spool *s, size_t lane, const void *item,
			      struct usk_err *err);
/** Forget the items of a lane from the `items`-th on. */
enum usk_status usk_spool_cut(struct usk_spool *s, size_t lane, uint64_t items,
			      struct usk_err *err);
uint64_t usk_spool_count(const struct usk_spool *s, size_t lane);
/** n items of a lane from the first-th on, which must be there. */
enum usk_status usk_spool_get(struct usk_spool *s, size_t lane, uint64_t first, void *out, size_t n,
			      struct usk_err *err);

#endif
