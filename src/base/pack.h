/* SPDX-License-Identifier: MIT */
/*
 * pack.h - gzip and zstd, a piece at a time
 *
 * In    packed bytes as they come, or plain ones
 * Out   the others, as much as fits
 * Why   traces are stored compressed; unpacked as they are read, they need no room on the disk, and
 *       a file that unpacks to terabytes needs no more memory than another
 * Not   files (io.h)
 */
#ifndef USK_PACK_H
#define USK_PACK_H

#include "base/base.h"

enum usk_packing {
	USK_PLAIN,
	USK_GZIP,
	USK_ZSTD,
	/* Each message packed alone, behind the length that it then has: OpenTelemetry's collector. What
	 * comes out are the messages without their lengths. */
	USK_ZSTD_EACH,
};

enum { USK_PACKING_MAGIC = 8 };

/** What the first bytes say; USK_PACKING_MAGIC are enough. */
enum usk_packing usk_packing_of(const uint8_t *d, size_t n);
/** What the name says: .gz, .zst. */
enum usk_packing usk_packing_of_name(const char *path);
/** "gzip", "zstd". */
const char *usk_packing_name(enum usk_packing p);
/** Length of a name without .gz or .zst. */
size_t usk_packing_stem(const char *path);

struct usk_unpack;
struct usk_unpack *usk_unpack_new(enum usk_packing p);
void usk_unpack_free(struct usk_unpack *u);
/**
 * Unpack what fits into out[cap] from in[n]; *used of them are done with, *made came out. False:
 * the bytes are damaged.
 */
bool usk_unpack(struct usk_unpack *u, const uint8_t *in, size_t n, size_t *used, uint8_t *out,
		size_t cap, size_t *made);
/** May the packed bytes end here? */
bool usk_unpack_is_whole(const struct usk_unpack *u);

struct usk_pack;
struct usk_pack *usk_pack_new(enum usk_packing p);
void usk_pack_free(struct usk_pack *k);
/**
 * Pack in[n] and hand what comes out to put(); last: nothing follows. The same bytes in are the
 * same bytes out, without a date. False: it failed, which is a bug or a lack of memory.
 */
bool usk_pack(struct usk_pack *k, const void *in, size_t n, bool last,
	      void (*put)(void *ctx, const void *data, size_t n), void *ctx);

#endif
