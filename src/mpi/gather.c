/* SPDX-License-Identifier: MIT */
/*
 * gather.c - parts of each rank's traces -> traces at rank 0
 *
 * In    traces, each at the rank that reads it
 * Out   at rank 0 what `unskew join` would open: the same rows, the same names
 * Why   what is sent is small against the traces, and what is solved is what `unskew sync` solves
 * Not   who reads what (files.c), solving (cli/cmd_sync.c)
 */
#include "mpi/gather.h"

#include "base/io.h"
#include "cli/units.h"
#include "mpi/guard.h"
#include "mpi/scratch.h"
#include "mpi/team.h"
#include "read/part.h"

#include <stdlib.h>
#include <string.h>

/* ---- making them ----------------------------------------------------------------------------- */

static void put(void *ctx, const void *data, size_t n)
{
	team_look();
	scratch_add(ctx, data, n);
}

struct usk_trace *gather_open(const struct args *args, size_t i, const char *called)
{
	const struct usk_read_options opt = read_options(args);
	struct usk_trace *t;
	const char *name, *path = args_split_name(args_operand(args, i), &name);
	guard_file(path);
	must(usk_trace_open_with(path, called ? called : name, &opt, &t, &why));
	return t;
}

uint64_t gather_part(const struct args *args, size_t i, struct usk_trace *t, struct scratch *to)
{
	const struct usk_part_sink sink = { put, to };
	const char *name;
	uint64_t before = to->size;
	guard_file(usk_trace_path(t));
	args_split_name(args_operand(args, i), &name);
	must(usk_part_write(t, name != NULL, &sink, &why));
	return to->size - before;
}

/* Of what this rank reads: the parts one behind the other; size[i] of each. */
static struct scratch *make_parts(const struct args *args, const struct files *files,
				  struct usk_trace **trace, uint64_t *size)
{
	struct scratch *s = scratch_new();
	size_t mine = 0, done = 0;
	for (size_t i = 0; i < files->n; i++) {
		mine += files->reader[i] == team_rank();
	}
	for (size_t i = 0; i < files->n; i++) {
		if (files->reader[i] != team_rank()) {
			continue;
		}
		if (!team_rank()) {
			progress_show(NULL, (double)done++ / (double)mine, "reading, rank 0");
		}
		trace[i] = trace[i] ? trace[i] : gather_open(args, i, NULL);
		size[i] = gather_part(args, i, trace[i], s);
		usk_trace_close(trace[i]);
		trace[i] = NULL;
	}
	scratch_flush(s);
	scratch_must(s);
	return s;
}

/* ---- bringing them together ------------------------------------------------------------------ */

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

struct usk_trace **gather_parts(const struct args *args, const struct files *files,
				struct usk_trace **trace)
{
	uint64_t *size = kept(usk_alloc(files->n, sizeof *size)), all;
	struct scratch *mine = make_parts(args, files, trace, size);
	struct scratch *here = team_rank() ? NULL : scratch_new();
	team_agree();
	const struct team_bytes bytes = { mine->size, scratch_read, mine };
	team_sum(size, files->n);
	struct arriving a = { .to = here };
	struct parts p = { .size = size };
	p.at = place_parts(files, size, &a.at, &all);
	team_collect(&bytes, false, scratch_arrive, &a);
	scratch_must(mine);
	scratch_free(mine);
	if (!here) {
		return NULL;
	}
	scratch_must(here);
	p.bytes = scratch_look(here, all);
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
