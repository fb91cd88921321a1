/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks of a lane; the last one is filled, the others are full. */
enum { BLOCK_BYTES = 1 << 14 };
#define IN_MEMORY ((size_t)64 << 20)

struct block {
	uint8_t *bytes; /* NULL: in the file, at */
	uint64_t at;
};

struct lane {
	struct block *block;
	size_t n_blocks, cap_blocks;
	uint64_t items;
};

struct usk_spool {
	size_t item_size, per_block;
	struct lane *lane;
	size_t n_lanes;
	size_t blocks;	  /* in memory */
	size_t in_memory; /* bytes of them, at most */
	int fd;
	uint64_t written;
};

struct usk_spool *usk_spool_new(size_t item_size, size_t lanes)
{
	struct usk_spool *s = usk_alloc(1, sizeof *s);
	s->item_size = item_size;
	s->per_block = BLOCK_BYTES / item_size ? BLOCK_BYTES / item_size : 1;
	s->lane = usk_alloc(lanes, sizeof *s->lane);
	s->n_lanes = lanes;
	s->in_memory = IN_MEMORY;
	s->fd = -1;
	return s;
}

void usk_spool_limit(struct usk_spool *s, size_t bytes)
{
	s->in_memory = bytes;
}

void usk_spool_free(struct usk_spool *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n_lanes; i++) {
		for (size_t k = 0; k < s->lane[i].n_blocks; k++) {
			free(s->lane[i].block[k].bytes);
		}
		free(s->lane[i].block);
	}
	if (s->fd >= 0) {
		close(s->fd);
	}
	free(s->lane);
	free(s);
}

/* Write a block that is full out of memory. */
static enum usk_status put_away(struct usk_spool *s, struct block *b, struct usk_err *err)
{
	size_t size = s->per_block * s->item_size;
	enum usk_status status =
		s->fd < 0 ? usk_scratch_file(&s->fd, "no temporary file", err) : USK_OK;
	if (!status && (lseek(s->fd, (off_t)s->written, SEEK_SET) < 0 ||
			!usk_write_all(s->fd, b->bytes, size))) {
		status = usk_fail(err, USK_EIO, 0, "writing a temporary file failed: %s",
				  strerror(errno));
	}
	if (!status) {
		free(b->bytes);
		b->bytes = NULL;
		b->at = s->written;
		s->written += size;
		s->blocks--;
	}
	return status;
}

enum usk_status usk_spool_put(struct usk_spool *s, size_t lane, const void *item,
			      struct usk_err *err)
{
	struct lane *l = &s->lane[lane];
	size_t in_block = (size_t)(l->items % s->per_block);
	if (!in_block) {
		if (l->n_blocks && l->block[l->n_blocks - 1].bytes &&
		    s->blocks * BLOCK_BYTES > s->in_memory) {
			enum usk_status status = put_away(s, &l->block[l->n_blocks - 1], err);
			if (status) {
				return status;
			}
		}
		*USK_ADD(l->block, l->n_blocks, l->cap_blocks) =
			(struct block){ .bytes = usk_alloc(s->per_block, s->item_size) };
		s->blocks++;
	}
	memcpy(l->block[l->n_blocks - 1].bytes + in_block * s->item_size, item, s->item_size);
	l->items++;
	return USK_OK;
}

enum usk_status usk_spool_cut(struct usk_spool *s, size_t lane, uint64_t items, struct usk_err *err)
{
	struct lane *l = &s->lane[lane];
	size_t left = (size_t)((items + s->per_block - 1) / s->per_block);
	size_t filled = (size_t)(items % s->per_block);
	for (size_t k = left; k < l->n_blocks; k++) {
		const struct block *b = &l->block[k];
		s->blocks -= b->bytes != NULL;
		/* Blocks of a lane alone lie one behind the other. */
		s->written =
			!b->bytes && s->n_lanes == 1 && b->at < s->written ? b->at : s->written;
		free(b->bytes);
	}
	l->n_blocks = left;
	l->items = items;
	struct block *last = filled ? &l->block[left - 1] : NULL;
	if (!last || last->bytes) {
		return USK_OK;
	}
	uint8_t *bytes = usk_alloc(s->per_block, s->item_size);
	enum usk_status status = usk_spool_get(s, lane, items - filled, bytes, filled, err);
	last->bytes = bytes;
	s->blocks++;
	return status;
}

uint64_t usk_spool_count(const struct usk_spool *s, size_t lane)
{
	return s->lane[lane].items;
}

enum usk_status usk_spool_get(struct usk_spool *s, size_t lane, uint64_t first, void *out, size_t n,
			      struct usk_err *err)
{
	const struct lane *l = &s->lane[lane];
	uint8_t *to = out;
	while (n) {
		const struct block *b = &l->block[first / s->per_block];
		size_t skip = (size_t)(first % s->per_block), m = s->per_block - skip;
		m = m < n ? m : n;
		size_t size = m * s->item_size, from = skip * s->item_size;
		ssize_t got = (ssize_t)size;
		if (b->bytes) {
			memcpy(to, b->bytes + from, size);
		} else {
			got = usk_read_most(s->fd, (int64_t)(b->at + from), to, size);
		}
		if (got != (ssize_t)size) {
			return usk_fail(err, USK_EIO, 0, "reading a temporary file failed: %s",
					got < 0 ? strerror(errno) : "it is cut short");
		}
		to += size;
		first += m;
		n -= m;
	}
	return USK_OK;
}
