/* SPDX-License-Identifier: MIT */
/*
 * thin.h - messages of a pair, thinned out so that no extreme is lost
 *
 * Local time is cut into buckets of a power of two. Of each bucket and direction the messages of
 * the lowest and of the highest level are held, and counted all. A pair with few messages holds
 * them all. When more points are held than may be, buckets are made, of 1 ns, then doubled until
 * there is room: what is held in the end does not depend on the order in which messages came.
 */
#ifndef USK_THIN_H
#define USK_THIN_H

#include "base/base.h"

/* A message as a point; the level is what extremes are taken of. */
struct usk_thin_point {
	int64_t level;
	int64_t local_ns, other_ns; /* the stamps of the local clock and of the other one */
	uint32_t local_epoch, other_epoch;
};

struct usk_thin;

/** most: points that may be held, at least 8; SIZE_MAX: all messages. */
struct usk_thin *usk_thin_new(size_t most);
void usk_thin_free(struct usk_thin *t);
/** back: of the second direction. Cost: O(1) amortised. */
void usk_thin_add(struct usk_thin *t, bool back, const struct usk_thin_point *p);

/** Bucket k is [k, k + 1) x this, on the local clock; 1 too where all messages are held. */
int64_t usk_thin_bucket_ns(const struct usk_thin *t);
uint64_t usk_thin_total(const struct usk_thin *t, bool back);

/** Points that are held of a direction. */
size_t usk_thin_held(const struct usk_thin *t, bool back);

struct usk_thin_row {
	struct usk_thin_point point;
	uint64_t stands_for; /* messages of its bucket, at its first point; 0 at the others */
};

/** What is held of a direction, sorted by local epoch, local and other stamp; *out is handed over.
 */
size_t usk_thin_rows(const struct usk_thin *t, bool back, struct usk_thin_row **out);

#endif
