/* SPDX-License-Identifier: MIT */
/*
 * apart.c - outputs that would replace what is read, or each other
 *
 * A file is its device and inode, whatever it is called and however many names it has; one that
 * is not there yet is its folder and the last part of its path.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct identity {
	const char *path;
	bool known, regular;
	dev_t device;
	ino_t inode;
	const char *base; /* in that folder; "": the file is there */
};

static struct identity identify(const char *path, bool input)
{
	struct identity id = { .path = path, .base = "" };
	struct stat st;
	if (input && !strcmp(path, "-") ? !fstat(STDIN_FILENO, &st) : !stat(path, &st)) {
		id.known = true;
		id.regular = S_ISREG(st.st_mode);
	} else {
		const char *slash = strrchr(path, '/');
		char *folder =
			slash ? usk_format("%.*s/", (int)(slash - path), path) : usk_strdup(".");
		id.known = !stat(folder, &st);
		id.base = slash ? slash + 1 : path;
		free(folder);
	}
	if (id.known) {
		id.device = st.st_dev;
		id.inode = st.st_ino;
	}
	return id;
}

static bool same(const struct identity *a, const struct identity *b)
{
	if (!a->known || !b->known) { /* in a folder that is made later */
		return a->path && b->path && !strcmp(a->path, b->path);
	}
	return a->device == b->device && a->inode == b->inode && !strcmp(a->base, b->base);
}

int files_apart(const char *const *in, size_t n_in, const char *const *out, size_t n_out)
{
	for (size_t i = 0; i < n_out; i++) {
		if (out[i] && (!*out[i] || !strcmp(out[i], "-"))) {
			return say_usage("\"%s\" names no file to write: what is written appears "
					 "whole or not at all; /dev/stdout is one that does not",
					 out[i]);
		}
	}
	struct identity *id = usk_alloc(n_in + n_out, sizeof *id);
	int status = EXIT_DONE;
	for (size_t i = 0; i < n_in + n_out; i++) {
		const char *path = i < n_in ? in[i] : out[i - n_in];
		if (path) {
			id[i] = identify(path, i < n_in);
		}
	}
	for (size_t i = n_in; i < n_in + n_out && !status; i++) {
		for (size_t j = 0; j < i && !status; j++) {
			const char *path = out[i - n_in];
			if (!same(&id[i], &id[j])) {
				continue;
			}
			if (j >= n_in) {
				const char *other = out[j - n_in];
				status = strcmp(path, other)
						 ? say_usage("%s and %s are the same file: two "
							     "outputs cannot share it",
							     other, path)
						 : say_usage("%s: two outputs cannot share it",
							     path);
			} else if (id[i].regular) {
				status = strcmp(path, in[j])
						 ? say_usage("%s is the same file as %s, which is "
							     "read; write to another",
							     path, in[j])
						 : say_usage("%s: is read, so it cannot be an "
							     "output too; write to another",
							     path);
			}
		}
	}
	free(id);
	return status;
}

int operands_apart(const struct args *args)
{
	static const char *const written[] = { "output", "messages", "merge", "timeline" };
	const char *out[COUNT(written)];
	size_t n = args_operands(args);
	const char **in = usk_alloc(n + 1, sizeof *in);
	for (size_t i = 0; i < n; i++) {
		char *name = NULL;
		in[i] = args_split_name(args_operand(args, i), &name);
		free(name);
	}
	in[n] = args_has(args, "truth") ? args_string(args, "truth") : NULL;
	for (size_t i = 0; i < COUNT(written); i++) {
		out[i] = args_has(args, written[i]) ? args_string(args, written[i]) : NULL;
	}
	int status = files_apart(in, n + 1, out, COUNT(out));
	free(in);
	return status;
}
