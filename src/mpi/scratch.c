/* SPDX-License-Identifier: MIT */
/*
 * scratch.c - files without names
 *
 * In    bytes that are to be sent, or have come
 * Out   the same, from the file or looked at where it lies
 * Why   what memory is free holds parts of traces, and no death of a rank leaves one behind
 * Not   what is in them (gather.c, share.c)
 */
#include "mpi/scratch.h"

#include "base/io.h"
#include "cli/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct scratch *scratch_new(void)
{
	struct scratch *s = usk_alloc(1, sizeof *s);
	must(usk_scratch_file(&s->fd, "no temporary file", &why));
	return s;
}

void scratch_at(struct scratch *s, uint64_t at, const void *data, size_t n)
{
	const char *p = data;
	while (n && !s->error) {
		ssize_t m = pwrite(s->fd, p, n, (off_t)at);
		if (m < 0) {
			s->error = errno == EINTR ? 0 : errno;
			continue;
		}
		p += m;
		at += (uint64_t)m;
		n -= (size_t)m;
	}
}

void scratch_flush(struct scratch *s)
{
	scratch_at(s, s->size - s->used, s->buffer, s->used);
	s->used = 0;
}

void scratch_add(struct scratch *s, const void *data, size_t n)
{
	const uint8_t *p = data;
	while (n) {
		size_t m = sizeof s->buffer - s->used < n ? sizeof s->buffer - s->used : n;
		memcpy(s->buffer + s->used, p, m);
		s->used += m;
		s->size += m;
		p += m;
		n -= m;
		if (s->used == sizeof s->buffer) {
			scratch_flush(s);
		}
	}
}

void scratch_arrive(void *ctx, int rank, const void *data, size_t n)
{
	struct arriving *a = ctx;
	scratch_at(a->to, a->at[rank], data, n);
	a->at[rank] += n;
}

void scratch_must(const struct scratch *s)
{
	if (s->error) {
		say_failed("a temporary file: %s", strerror(s->error));
	}
}

void scratch_read(void *ctx, uint64_t at, void *out, size_t n)
{
	struct scratch *s = ctx;
	ssize_t got = usk_read_most(s->fd, (int64_t)at, out, n);
	if (got != (ssize_t)n) {
		s->error = got < 0 ? errno : EIO;
	}
}

const uint8_t *scratch_look(const struct scratch *s, uint64_t size)
{
	void *at = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, s->fd, 0);
	if (at == MAP_FAILED) {
		say_failed("parts of traces, %llu bytes: %s", (unsigned long long)size,
			   strerror(errno));
	}
	return at;
}

void scratch_free(struct scratch *s)
{
	if (s) {
		close(s->fd);
		free(s);
	}
}
