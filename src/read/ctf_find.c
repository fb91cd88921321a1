/* SPDX-License-Identifier: MIT */
/*
 * ctf_find.c - the CTF traces at a path
 *
 * In    a folder: a trace itself, a session of LTTng with one per domain, or what keeps several
 * Out   the folders that have a file "metadata"
 * Why   what users name is the folder that `lttng create -o` made, not those within it
 */
#include "read/ctf.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* archives/CHUNK/ust/uid/1000/64-bit is the deepest that LTTng makes. */
enum { MAX_DEPTH = 7, MAX_FOLDERS = 2000 };

struct found {
	char **folder;
	size_t n, cap;
	size_t looked_at;
};

static bool is_file(const char *folder, const char *name)
{
	char *path = usk_format("%s/%s", folder, name);
	struct stat st;
	bool file = !stat(path, &st) && S_ISREG(st.st_mode);
	free(path);
	return file;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void look(struct found *f, const char *path, int depth)
{
	if (is_file(path, "metadata")) {
		f->folder = usk_room(f->folder, f->n, &f->cap, sizeof *f->folder);
		f->folder[f->n++] = usk_strdup(path);
		return;
	}
	struct dirent **entry = NULL;
	int n = depth < MAX_DEPTH ? scandir(path, &entry, visible, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		char *below = usk_format("%s/%s", path, entry[i]->d_name);
		struct stat st;
		/* Links are not followed: they may lead back. */
		if (f->looked_at < MAX_FOLDERS && !lstat(below, &st) && S_ISDIR(st.st_mode)) {
			f->looked_at++;
			look(f, below, depth + 1);
		}
		free(below);
		free(entry[i]);
	}
	free(entry);
}

enum usk_status usk_ctf_find(const char *path, char ***folder, size_t *n, struct usk_err *err)
{
	struct found f = { 0 };
	DIR *d = opendir(path);
	if (!d) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	closedir(d);
	look(&f, path, 0);
	if (!f.n) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: is a folder without a CTF trace: there is no file metadata in "
				"it",
				path);
	}
	*folder = f.folder;
	*n = f.n;
	return USK_OK;
}

static bool only(const char *path, int depth)
{
	if (is_file(path, "metadata")) {
		return true;
	}
	struct dirent **entry = NULL;
	int n = depth < MAX_DEPTH ? scandir(path, &entry, NULL, alphasort) : 0;
	bool good = n > 0;
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		if (good && strcmp(name, ".") && strcmp(name, "..")) {
			char *below = usk_format("%s/%s", path, name);
			struct stat st;
			good = !lstat(below, &st) && S_ISDIR(st.st_mode) && only(below, depth + 1);
			free(below);
		}
		free(entry[i]);
	}
	free(entry);
	return good;
}

bool usk_ctf_only(const char *path)
{
	return only(path, 0);
}

uint64_t usk_ctf_size(char *const *folder, size_t n)
{
	uint64_t size = 0;
	for (size_t i = 0; i < n; i++) {
		struct dirent **entry = NULL;
		int entries = scandir(folder[i], &entry, visible, alphasort);
		for (int k = 0; k < entries; k++) {
			char *path = usk_format("%s/%s", folder[i], entry[k]->d_name);
			struct stat st;
			size += !stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
			free(path);
			free(entry[k]);
		}
		free(entry);
	}
	return size;
}

enum usk_status usk_ctf_files(const char *folder, char ***name, size_t *n, struct usk_err *err)
{
	size_t cap = 0;
	*name = NULL;
	*n = 0;
	for (int index = 0; index < 2; index++) {
		char *from = usk_format("%s%s", folder, index ? "/index" : "");
		struct dirent **entry = NULL;
		int entries = scandir(from, &entry, visible, alphasort);
		for (int i = 0; i < entries; i++) {
			if (is_file(from, entry[i]->d_name)) {
				*name = usk_room(*name, *n, &cap, sizeof **name);
				(*name)[(*n)++] =
					usk_format("%s%s", index ? "index/" : "", entry[i]->d_name);
			}
			free(entry[i]);
		}
		free(entry);
		free(from);
		if (entries < 0 && !index) {
			return usk_fail(err, USK_EIO, 0, "%s: %s", folder, strerror(errno));
		}
	}
	return USK_OK;
}
