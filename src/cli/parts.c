/* SPDX-License-Identifier: MIT */
/*
 * parts.c - the parts of a command
 *
 * In    operands: files that `unskew part` wrote, and folders of them
 * Out   the traces that they are of, in the order of the traces' paths
 * Not   names that tell them apart (traces.c)
 */
#include "units.h"
#include "base/io.h"
#include "read/part.h"
#include "read/trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_part_name(const struct dirent *e)
{
	static const char end[] = ".part.zst";
	size_t n = strlen(e->d_name), m = sizeof end - 1;
	return e->d_name[0] != '.' && n > m && !strcmp(e->d_name + n - m, end);
}

struct part_files {
	const char **file;
	size_t n, cap;
};

static void add_parts(struct part_files *f, const char *path)
{
	struct dirent **entry = NULL;
	if (!usk_is_folder(path)) {
		*USK_ADD(f->file, f->n, f->cap) = path;
		return;
	}
	int n = scandir(path, &entry, is_part_name, alphasort);
	if (n <= 0) {
		say_failed("%s: %s", path,
			   n < 0 ? strerror(errno) : "holds no part; unskew part makes them");
	}
	for (int i = 0; i < n; i++) {
		*USK_ADD(f->file, f->n, f->cap) = kept(usk_format("%s/%s", path, entry[i]->d_name));
		free(entry[i]);
	}
	free(entry);
}

struct part_opened {
	struct usk_trace *trace;
	const char *file;
};

static int by_trace_path(const void *pa, const void *pb)
{
	const struct part_opened *a = pa, *b = pb;
	return strcmp(usk_trace_path(a->trace), usk_trace_path(b->trace));
}

static struct usk_trace *open_part(void *ctx, size_t i, const char *name)
{
	const struct part_opened *part = ctx;
	struct usk_trace *t;
	must(usk_part_open(part[i].file, name, &t, &why));
	return t;
}

struct usk_trace **parts_open(const struct args *args, size_t *n)
{
	static struct part_files f;
	for (size_t i = 0; i < args_operands(args); i++) {
		add_parts(&f, args_operand(args, i));
	}
	struct part_opened *part = kept(usk_alloc(f.n, sizeof *part));
	struct usk_trace **trace = kept(usk_alloc(f.n, sizeof(struct usk_trace *)));
	for (size_t i = 0; i < f.n; i++) {
		part[i].file = f.file[i];
		must(usk_part_open(f.file[i], NULL, &part[i].trace, &why));
	}
	qsort(part, f.n, sizeof *part, by_trace_path);
	for (size_t i = 0; i < f.n; i++) {
		if (i && !by_trace_path(&part[i - 1], &part[i])) {
			say_failed("%s and %s are parts of the same trace, %s", part[i - 1].file,
				   part[i].file, usk_trace_path(part[i].trace));
		}
		trace[i] = part[i].trace;
	}
	parts_tell_apart(trace, f.n, open_part, part);
	*n = f.n;
	return trace;
}
