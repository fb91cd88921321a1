/* SPDX-License-Identifier: MIT */
/*
 * gather.c - parts of each rank's traces -> traces at rank 0
 *
 * In    traces, each at the rank that reads it
 * Out   at rank 0 what `unskew join` would open: the same rows, the same names
 * Why   what is sent is small against the traces, and what is solved is what `unskew sync` solves
 * Not   who reads what (files.c), solving (cli/cmd_sync.c)
 *
 * Parts lie in a file without a name, in TMPDIR of their machine, and are looked at from there: what
 * memory is free holds them, and no death of a rank leaves one behind.
 */
#include "mpi/gather.h"

#include "base/io.h"
#include "cli/units.h"
#include "mpi/guard.h"
#include "mpi/team.h"
#include "read/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a name, with a buffer before it. */
struct scratch {
	int fd;
	uint64_t size;
	int error; /* of the first write or read that failed */
	size_t used;
	uint8_t buffer[1 << 18];
};

static struct scratch *scratch_new(void)
{
	struct scratch *s = kept(usk_alloc(1, sizeof *s));
	must(usk_scratch_file(&s->fd, "no temporary file", &why));
	return s;
}

static void scratch_at(struct scratch *s, uint64_t at, const void *data, size_t n)
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

static void scratch_flush(struct scratch *s)
{
	scratch_at(s, s->size - s->used, s->buffer, s->used);
	s->used = 0;
}

static void scratch_add(struct scratch *s, const void *data, size_t n)
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

static void scratch_must(const struct scratch *s)
{
	if (s->error) {
		say_failed("a temporary file: %s", strerror(s->error));
	}
}

static void scratch_read(void *ctx, uint64_t at, void *out, size_t n)
{
	struct scratch *s = ctx;
	ssize_t got = usk_read_most(s->fd, (int64_t)at, out, n);
	if (got != (ssize_t)n) {
		s->error = got < 0 ? errno : EIO;
	}
}

/* ---- making them ----------------------------------------------------------------------------- */

static void put(void *ctx, const void *data, size_t n)
{
	team_look();
	scratch_add(ctx, data, n);
}

/* Of what this rank reads: the parts one behind the other; size[i] of each. */
static struct scratch *make_parts(const struct args *args, const struct files *files,
				  uint64_t *size)
{
	const struct usk_read_options opt = read_options(args);
	struct scratch *s = scratch_new();
	const struct usk_part_sink sink = { put, s };
	size_t mine = 0, done = 0;
	for (size_t i = 0; i < files->n; i++) {
		mine += files->reader[i] == team_rank();
	}
	for (size_t i = 0; i < files->n; i++) {
		struct usk_trace *t;
		const char *name, *path = args_split_name(args_operand(args, i), &name);
		if (files->reader[i] != team_rank()) {
			continue;
		}
		guard_file(path);
		if (!team_rank()) {
			progress_show(NULL, (double)done++ / (double)mine, "reading, rank 0");
		}
		uint64_t before = s->size;
		must(usk_trace_open_with(path, name, &opt, &t, &why));
		must(usk_part_write(t, name != NULL, &sink, &why));
		usk_trace_close(t);
		size[i] = s->size - before;
	}
	scratch_flush(s);
	scratch_must(s);
	return s;
}

/* ---- bringing them together ------------------------------------------------------------------ */

struct arriving {
	struct scratch *to;
	uint64_t *at; /* [team_size()], where the next bytes of that rank go */
};

static void take(void *ctx, int rank, const void *data, size_t n)
{
	struct arriving *a = ctx;
	scratch_at(a->to, a->at[rank], data, n);
	a->at[rank] += n;
}

struct parts {
	const uint8_t *bytes;
	const uint64_t *at, *size;
};

static struct usk_trace *open_part(void *ctx, size_t i, const char *name)
{
	const struct parts *p = ctx;
	struct usk_trace *t;
	must(usk_part_open_memory(p->bytes + p->at[i], (size_t)p->size[i], name, &t, &why));
	return t;
}

static struct usk_trace **open_parts(const struct parts *p, size_t n)
{
	struct usk_trace **trace = kept(usk_alloc(n, sizeof(struct usk_trace *)));
	for (size_t i = 0; i < n; i++) {
		trace[i] = open_part((void *)(uintptr_t)p, i, NULL);
	}
	parts_tell_apart(trace, n, open_part, (void *)(uintptr_t)p);
	return trace;
}

/* at[i]: where the part i is, and *begin where those of each rank do. */
static uint64_t *place_parts(const struct files *files, const uint64_t *size, uint64_t **begin,
			     uint64_t *all)
{
	uint64_t *at = kept(usk_alloc(files->n, sizeof *at));
	uint64_t *next = usk_alloc((size_t)team_size(), sizeof *next);
	*begin = kept(usk_alloc((size_t)team_size(), sizeof **begin));
	for (size_t i = 0; i < files->n; i++) {
		next[files->reader[i]] += size[i];
	}
	*all = 0;
	for (int r = 0; r < team_size(); r++) {
		(*begin)[r] = *all;
		*all += next[r];
		next[r] = (*begin)[r];
	}
	for (size_t i = 0; i < files->n; i++) {
		at[i] = next[files->reader[i]];
		next[files->reader[i]] += size[i];
	}
	free(next);
	return at;
}

struct usk_trace **gather_parts(const struct args *args, const struct files *files)
{
	uint64_t *size = kept(usk_alloc(files->n, sizeof *size)), all;
	struct scratch *mine = make_parts(args, files, size);
	struct scratch *here = team_rank() ? NULL : scratch_new();
	team_agree();
	const struct team_bytes bytes = { mine->size, scratch_read, mine };
	team_sum(size, files->n);
	struct arriving a = { .to = here };
	struct parts p = { .size = size };
	p.at = place_parts(files, size, &a.at, &all);
	team_collect(&bytes, false, take, &a);
	scratch_must(mine);
	close(mine->fd);
	if (!here) {
		return NULL;
	}
	scratch_must(here);
	p.bytes = mmap(NULL, (size_t)all, PROT_READ, MAP_PRIVATE, here->fd, 0);
	if (p.bytes == MAP_FAILED) {
		say_failed("parts of traces, %llu bytes: %s", (unsigned long long)all,
			   strerror(errno));
	}
	return open_parts(&p, files->n);
}

/* ---- a small file of rank 0's ---------------------------------------------------------------- */

static void take_copy(void *ctx, int rank, const void *data, size_t n)
{
	(void)rank;
	scratch_add(ctx, data, n);
}

static void read_input(void *ctx, uint64_t at, void *out, size_t n)
{
	const struct usk_input *in = ctx;
	memcpy(out, in->data + at, n);
}

const char *gather_copy(const char *path)
{
	static struct usk_input in;
	struct scratch *s = scratch_new();
	struct team_bytes bytes = { 0, read_input, &in };
	if (!team_rank()) {
		must(usk_input_open(&in, path, NULL, &why));
		must_in(usk_input_all(&in, &why), path);
		bytes.size = in.have;
	}
	team_agree();
	team_collect(&bytes, true, take_copy, s);
	scratch_flush(s);
	scratch_must(s);
	return kept(usk_format("/proc/self/fd/%d", s->fd));
}
