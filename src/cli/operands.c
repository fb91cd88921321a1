/* SPDX-License-Identifier: MIT */
/*
 * operands.c - folders and patterns among the traces of a command
 *
 * In    [NAME=]PATH, of which PATH may be a folder of captures, or a pattern that the shell left
 * Out   the files, each under that NAME
 * Why   a host's capture is often hundreds of files: more than one wants to name, or a shell takes
 * Not   CTF traces, which are folders
 */
#include "cmd.h"
#include "units.h"
#include "read/trace.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* What is in a folder, by name: with the folder's path before it. Negative: errno says why not. */
static int entries(const char *folder, const char ***path)
{
	struct dirent **entry;
	int n = scandir(folder, &entry, no_dots, alphasort);
	*path = kept(usk_alloc(n > 0 ? (size_t)n : 1, sizeof **path));
	for (int i = 0; i < n; i++) {
		(*path)[i] = kept(usk_format("%s/%s", folder, entry[i]->d_name));
		free(entry[i]);
	}
	if (n >= 0) {
		free(entry);
	}
	return n;
}

/* A name's ending, without the number that rotation gives it: .pcap of web.pcap12. */
static const char *ending(const char *path, size_t *n)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	const char *end = dot ? dot : base;
	*n = strlen(end);
	while (*n && end[*n - 1] >= '0' && end[*n - 1] <= '9') {
		--*n;
	}
	return end;
}

static bool same_ending(const char *a, const char *b)
{
	size_t n, m;
	const char *x = ending(a, &n), *y = ending(b, &m);
	return n == m && !memcmp(x, y, n);
}

static bool is_empty(const char *path)
{
	struct stat st;
	return is_regular(path) && !stat(path, &st) && !st.st_size;
}

static enum usk_status find_traces(const char *folder, const char ***out, size_t *n,
				   struct usk_err *err)
{
	const char **path;
	int found = entries(folder, &path);
	if (found < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", folder, strerror(errno));
	}
	bool *capture = kept(usk_alloc((size_t)found + 1, sizeof *capture)), any = false;
	const char **empty = kept(usk_alloc((size_t)found + 1, sizeof *empty));
	size_t all = 0;
	int n_empty = 0;
	for (int i = 0; i < found; i++) {
		struct usk_trace *t = NULL;
		if (is_empty(path[i])) {
			empty[n_empty++] = path[i];
			continue;
		}
		if (is_regular(path[i]) && !usk_trace_open(path[i], NULL, &t, NULL)) {
			capture[all] = usk_trace_class(t) == USK_TRACE_CAPTURE;
			any |= capture[all];
			path[all++] = path[i];
			usk_trace_close(t);
		}
	}
	size_t readable = 0;
	for (size_t i = 0; i < all; i++) {
		if (capture[i] == any) {
			path[readable++] = path[i];
		}
	}
	/* An empty file is one of them if it is called as they are: who opens it says so. */
	*n = readable;
	for (int i = 0; i < n_empty; i++) {
		bool one = false;
		for (size_t k = 0; k < readable; k++) {
			one = one || same_ending(empty[i], path[k]);
		}
		if (one) {
			path[(*n)++] = empty[i];
		}
	}
	*out = path;
	return *n ? USK_OK
		  : usk_fail(err, USK_EINPUT, 0,
			     "%s: is a folder with neither captures nor tables nor a CTF trace in "
			     "it",
			     folder);
}

const char **traces_in(const char *folder, size_t *n)
{
	const char **path;
	must(find_traces(folder, &path, n, &why));
	return path;
}

struct operands {
	const char **path;
	size_t n, cap;
};

static void add(struct operands *o, const char *name, const char *path)
{
	*USK_ADD(o->path, o->n, o->cap) = name ? kept(usk_format("%s=%s", name, path)) : path;
}

/* A folder of files, or of nothing; those of a CTF trace lie beside its metadata, or deeper. */
static bool holds_files(const char *path)
{
	const char **entry;
	int found = entries(path, &entry);
	bool files = !found, metadata = false;
	for (int i = 0; i < found; i++) {
		files |= is_regular(entry[i]);
		metadata |= !strcmp(strrchr(entry[i], '/'), "/metadata");
	}
	return files && !metadata;
}

static enum usk_status add_pattern(struct operands *o, const char *name, const char *pattern,
				   struct usk_err *err)
{
	glob_t g;
	int failed = glob(pattern, 0, NULL, &g);
	if (failed) {
		return usk_fail(err, USK_EINPUT, 0,
				failed == GLOB_NOSPACE ? "%s: matches too many files"
						       : "%s: no file matches",
				pattern);
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		add(o, name, kept(usk_strdup(g.gl_pathv[i])));
	}
	globfree(&g);
	return USK_OK;
}

static enum usk_status add_folder(struct operands *o, const char *name, const char *folder,
				  struct usk_err *err)
{
	size_t n = 0;
	const char **in;
	enum usk_status status = find_traces(folder, &in, &n, err);
	for (size_t i = 0; i < n && !status; i++) {
		add(o, name, in[i]);
	}
	return status;
}

static enum usk_status add_operand(struct operands *o, const char *operand, struct usk_err *err)
{
	const char *name, *path = args_split_name(operand, &name);
	struct stat st;
	bool there = !stat(path, &st);
	if (!there && strpbrk(path, "*?[")) {
		return add_pattern(o, name, path, err);
	}
	if (there && S_ISDIR(st.st_mode) && holds_files(path)) {
		return add_folder(o, name, path, err);
	}
	add(o, NULL, operand);
	return USK_OK;
}

enum usk_status operand_files(const char *operand, const char ***out, size_t *n,
			      struct usk_err *err)
{
	struct operands o = { 0 };
	enum usk_status status = add_operand(&o, operand, err);
	*out = kept(o.path);
	*n = status ? 0 : o.n;
	return status;
}

void operands_expand(struct args *args, size_t first)
{
	static struct operands o;
	for (size_t i = first; i < args_operands(args); i++) {
		must(add_operand(&o, args_operand(args, i), &why));
	}
	args_replace_operands(args, first, o.path, o.n);
}
