/* SPDX-License-Identifier: MIT */
#include "base/packer.h"
#include "base/io.h"

#include <errno.h>
#include <stdlib.h>

struct usk_packer {
	struct usk_pack *pack;
	int fd;
	struct usk_helpers *helpers; /* NULL: what was given so far fits one buffer */
	struct usk_job job;
	/* Of the job, while there is one. */
	int error;
	uint8_t *other; /* the buffer that is not being filled */
	size_t n;	/* bytes in it */
	bool last;
};

struct usk_packer *usk_packer_new(enum usk_packing packing, int fd)
{
	struct usk_packer *k = usk_alloc(1, sizeof *k);
	k->pack = usk_pack_new(packing);
	k->fd = fd;
	return k;
}

static void put(void *ctx, const void *data, size_t n)
{
	struct usk_packer *k = ctx;
	if (!k->error && !usk_write_all(k->fd, data, n)) {
		k->error = errno;
	}
}

static void pack(void *ctx)
{
	struct usk_packer *k = ctx;
	if (!k->error && !usk_pack(k->pack, k->other, k->n, k->last, put, k)) {
		k->error = ENOMEM;
	}
}

int usk_packer_give(struct usk_packer *k, uint8_t **buffer, size_t size, size_t n, bool last)
{
	if (!k->helpers && !last) {
		k->helpers = usk_helpers_new(1);
		k->other = usk_grow(NULL, size, 1);
	}
	if (k->helpers) {
		usk_job_end(k->helpers, &k->job);
	}
	uint8_t *filled = *buffer;
	*buffer = k->other;
	k->other = filled;
	k->n = n;
	k->last = last;
	const int error = k->error;
	if (!last) {
		usk_job_begin(k->helpers, &k->job, pack, k);
		return error;
	}
	pack(k);
	return k->error;
}

void usk_packer_free(struct usk_packer *k)
{
	if (!k) {
		return;
	}
	if (k->helpers) {
		usk_job_end(k->helpers, &k->job);
		usk_helpers_free(k->helpers);
	}
	usk_pack_free(k->pack);
	free(k->other);
	free(k);
}
