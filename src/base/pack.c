/* SPDX-License-Identifier: MIT */
#include "base/pack.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { LEVEL_GZIP = 6, LEVEL_ZSTD = 3, PIECE = 1 << 16, LENGTH = 4 };

static const struct {
	const char *name, *suffix;
} packings[] = {
	[USK_PLAIN] = { "plain", "" },
	[USK_GZIP] = { "gzip", ".gz" },
	[USK_ZSTD] = { "zstd", ".zst" },
	[USK_ZSTD_EACH] = { "zstd", "" },
};

enum usk_packing usk_packing_of(const uint8_t *d, size_t n)
{
	if (n >= 3 && d[0] == 0x1f && d[1] == 0x8b && d[2] == 8) {
		return USK_GZIP;
	}
	/* A frame, or one of those that are to be skipped, which some programs put first. */
	uint32_t magic = n >= 4 ? usk_le32(d) : 0;
	bool zstd = magic == ZSTD_MAGICNUMBER ||
		    (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
	return zstd							     ? USK_ZSTD
	       : n >= LENGTH + 4 && usk_le32(d + LENGTH) == ZSTD_MAGICNUMBER ? USK_ZSTD_EACH
									     : USK_PLAIN;
}

size_t usk_packing_stem(const char *path)
{
	size_t n = strlen(path), m = strlen(packings[usk_packing_of_name(path)].suffix);
	return n - m;
}

enum usk_packing usk_packing_of_name(const char *path)
{
	size_t n = strlen(path);
	for (size_t i = USK_GZIP; i < COUNT(packings); i++) {
		size_t m = strlen(packings[i].suffix);
		if (m && n > m && !strcmp(path + n - m, packings[i].suffix)) {
			return (enum usk_packing)i;
		}
	}
	return USK_PLAIN;
}

const char *usk_packing_name(enum usk_packing p)
{
	return packings[p].name;
}

/* ---- unpacking ------------------------------------------------------------------------- */

struct usk_unpack {
	enum usk_packing packing;
	bool whole; /* between two members or frames, or behind the last */
	bool over;  /* nothing more will come, whatever follows */
	z_stream z;
	ZSTD_DStream *d;
	size_t passed; /* bytes of a message's length */
};

/* Want of memory is none of the data: it ends as ours does. */
static void *room(void *ctx, unsigned n, unsigned size)
{
	(void)ctx;
	return usk_alloc(n, size);
}

static void give_back(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void must_have(bool memory)
{
	if (!memory) {
		usk_alloc(SIZE_MAX, 1);
	}
}

struct usk_unpack *usk_unpack_new(enum usk_packing p)
{
	struct usk_unpack *u = usk_alloc(1, sizeof *u);
	u->packing = p;
	if (p == USK_GZIP) {
		u->z.zalloc = room;
		u->z.zfree = give_back;
		must_have(inflateInit2(&u->z, 15 + 16) == Z_OK);
	} else {
		u->d = ZSTD_createDStream();
		must_have(u->d);
	}
	return u;
}

void usk_unpack_free(struct usk_unpack *u)
{
	if (!u) {
		return;
	}
	if (u->packing == USK_GZIP) {
		inflateEnd(&u->z);
	}
	ZSTD_freeDStream(u->d);
	free(u);
}

static bool gunzip(struct usk_unpack *u, const uint8_t *in, size_t n, size_t *used, uint8_t *out,
		   size_t cap, size_t *made)
{
	if (u->whole && n) {
		/* Another member, or what some programs and tapes pad with. */
		u->over = in[0] != 0x1f;
		if (u->over) {
			*used = n;
			return true;
		}
		inflateReset(&u->z);
		u->whole = false;
	}
	u->z.next_in = (z_const Bytef *)(uintptr_t)in;
	u->z.avail_in = (uInt)n;
	u->z.next_out = out;
	u->z.avail_out = (uInt)cap;
	int got = inflate(&u->z, Z_NO_FLUSH);
	*used = n - u->z.avail_in;
	*made = cap - u->z.avail_out;
	u->whole = got == Z_STREAM_END;
	return got == Z_OK || got == Z_STREAM_END || got == Z_BUF_ERROR;
}

static bool unzstd(struct usk_unpack *u, const uint8_t *in, size_t n, size_t *used, uint8_t *out,
		   size_t cap, size_t *made)
{
	ZSTD_inBuffer from = { in, n, 0 };
	ZSTD_outBuffer to = { out, cap, 0 };
	size_t left = ZSTD_decompressStream(u->d, &to, &from);
	*used = from.pos;
	*made = to.pos;
	must_have(ZSTD_getErrorCode(left) != ZSTD_error_memory_allocation);
	if (ZSTD_isError(left)) {
		return false;
	}
	u->whole = left == 0;
	return true;
}

/* The length is not needed: a frame says itself where it ends. */
static bool unzstd_each(struct usk_unpack *u, const uint8_t *in, size_t n, size_t *used,
			uint8_t *out, size_t cap, size_t *made)
{
	if (u->passed < LENGTH) {
		*used = n < LENGTH - u->passed ? n : LENGTH - u->passed;
		u->passed += *used;
		u->whole = false;
		return true;
	}
	bool good = unzstd(u, in, n, used, out, cap, made);
	u->passed = u->whole ? 0 : LENGTH;
	return good;
}

bool usk_unpack(struct usk_unpack *u, const uint8_t *in, size_t n, size_t *used, uint8_t *out,
		size_t cap, size_t *made)
{
	*used = *made = 0;
	if (u->over || (u->whole && !n)) {
		*used = n;
		return true;
	}
	return (u->packing == USK_GZIP	 ? gunzip
		: u->packing == USK_ZSTD ? unzstd
					 : unzstd_each)(u, in, n, used, out, cap, made);
}

bool usk_unpack_is_whole(const struct usk_unpack *u)
{
	return u->whole;
}

/* ---- packing ---------------------------------------------------------------------------- */

struct usk_pack {
	enum usk_packing packing;
	uint8_t piece[PIECE];
	z_stream z;
	ZSTD_CStream *c;
};

struct usk_pack *usk_pack_new(enum usk_packing p)
{
	struct usk_pack *k = usk_alloc(1, sizeof *k);
	k->packing = p;
	if (p == USK_GZIP) {
		k->z.zalloc = room;
		k->z.zfree = give_back;
		must_have(deflateInit2(&k->z, LEVEL_GZIP, Z_DEFLATED, 15 + 16, 8,
				       Z_DEFAULT_STRATEGY) == Z_OK);
	} else {
		k->c = ZSTD_createCStream();
		must_have(k->c && !ZSTD_isError(ZSTD_initCStream(k->c, LEVEL_ZSTD)));
	}
	return k;
}

void usk_pack_free(struct usk_pack *k)
{
	if (!k) {
		return;
	}
	if (k->packing == USK_GZIP) {
		deflateEnd(&k->z);
	}
	ZSTD_freeCStream(k->c);
	free(k);
}

bool usk_pack(struct usk_pack *k, const void *in, size_t n, bool last,
	      void (*put)(void *ctx, const void *data, size_t n), void *ctx)
{
	if (k->packing == USK_GZIP) {
		int got = Z_OK;
		k->z.next_in = (z_const Bytef *)(uintptr_t)in;
		k->z.avail_in = (uInt)n;
		do {
			k->z.next_out = k->piece;
			k->z.avail_out = PIECE;
			got = deflate(&k->z, last ? Z_FINISH : Z_NO_FLUSH);
			put(ctx, k->piece, PIECE - k->z.avail_out);
		} while (k->z.avail_out == 0 && got == Z_OK);
		return got == Z_OK || got == Z_BUF_ERROR || got == Z_STREAM_END;
	}
	ZSTD_inBuffer from = { in, n, 0 };
	size_t left;
	do {
		ZSTD_outBuffer to = { k->piece, PIECE, 0 };
		left = ZSTD_compressStream2(k->c, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			return false;
		}
		put(ctx, k->piece, to.pos);
	} while (last ? left : from.pos < from.size);
	return true;
}
