/* SPDX-License-Identifier: MIT */
/*
 * find.c - the CTF traces at a path
 *
 * In    a folder: a trace itself, a session of LTTng with one per domain, or what keeps several
 * Out   the folders that have a file "metadata"
 * Why   what users name is the folder that `lttng create -o` made, not those within it
 */
#include "ctf/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* archives/CHUNK/ust/uid/1000/64-bit is the deepest that LTTng makes. */
enum { MAX_DEPTH = 7, MAX_FOLDERS = 2000 };

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcoll((*a)->fts_name, (*b)->fts_name);
}

static bool is_trace(const char *folder)
{
	char *path = usk_format("%s/metadata", folder);
	struct stat st;
	bool file = !stat(path, &st) && S_ISREG(st.st_mode);
	free(path);
	return file;
}

/* Links are not followed: they may lead back. Nor is looked for traces where a name is hidden. */
static void look(struct ctf_traces *t, FTS *tree, const char *path)
{
	size_t looked_at = 0, root = strlen(path);
	while (root && path[root - 1] == '/') {
		root--;
	}
	t->only = true;
	for (FTSENT *e; (e = fts_read(tree)) != NULL;) {
		if (e->fts_info == FTS_DP) {
			continue;
		}
		if (e->fts_info != FTS_D || looked_at++ > MAX_FOLDERS) {
			t->only = false;
			fts_set(tree, e, FTS_SKIP);
		} else if (is_trace(e->fts_accpath)) {
			fts_set(tree, e, FTS_SKIP);
			if (!strstr(e->fts_path + root, "/.")) {
				*USK_APPEND(t->folder, t->n) = usk_strdup(e->fts_path);
			}
		} else if (e->fts_level >= MAX_DEPTH) {
			t->only = false;
			fts_set(tree, e, FTS_SKIP);
		}
	}
}

enum usk_status usk_ctf_find(const char *path, struct ctf_traces *out, struct usk_err *err)
{
	char *name = usk_strdup(path);
	memset(out, 0, sizeof *out);
	DIR *d = opendir(path);
	FTS *tree = d ? fts_open((char *[]){ name, NULL },
				 FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name)
		      : NULL;
	enum usk_status status = USK_OK;
	if (!tree) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	} else {
		look(out, tree, path);
		fts_close(tree);
	}
	if (!status && !out->n) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "%s: is a folder without a CTF trace: there is no file metadata "
				  "in it",
				  path);
	}
	if (d) {
		closedir(d);
	}
	free(name);
	return status;
}

uint64_t usk_ctf_size(char *const *folder, size_t n)
{
	uint64_t size = 0;
	struct stat st;
	for (size_t i = 0; i < n; i++) {
		DIR *d = opendir(folder[i]);
		for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
			bool file = e->d_name[0] != '.' && !fstatat(dirfd(d), e->d_name, &st, 0) &&
				    S_ISREG(st.st_mode);
			size += file ? (uint64_t)st.st_size : 0;
		}
		if (d) {
			closedir(d);
		}
	}
	return size;
}
