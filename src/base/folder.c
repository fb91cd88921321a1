/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel hands them out: readdir(3) would allocate, and this runs in signal handlers. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static void empty(int fd, int depth);

static bool remove_entry(int fd, const char *name, int depth)
{
	enum { DEEPEST = 16 };
	if (!unlinkat(fd, name, 0)) {
		return true;
	}
	int below = depth < DEEPEST
			    ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			    : -1;
	if (below >= 0) {
		empty(below, depth + 1);
	}
	return !unlinkat(fd, name, AT_REMOVEDIR);
}

/* All that is in the folder fd, which is closed. */
static void empty(int fd, int depth)
{
	uint8_t buffer[2048];
	bool removed = true;
	/* Where entries went, others may have moved up: until nothing more goes. */
	while (removed) {
		removed = false;
		lseek(fd, 0, SEEK_SET);
		for (long n; (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
			for (long at = 0; at < n;) {
				const struct entry *e = (const void *)(buffer + at);
				at += e->length;
				removed |= strcmp(e->name, ".") && strcmp(e->name, "..") &&
					   remove_entry(fd, e->name, depth);
			}
		}
	}
	close(fd);
}

void usk_folder_remove(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		empty(fd, 0);
		rmdir(path);
	}
}

bool usk_is_folder(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool usk_folder_make(const char *path)
{
	char *p = usk_strdup(path);
	bool good = true;
	for (char *slash = strchr(p + 1, '/'); slash && good; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		good = !mkdir(p, 0777) || errno == EEXIST;
		*slash = '/';
	}
	good = good && (!mkdir(p, 0777) || errno == EEXIST);
	free(p);
	return good;
}

enum usk_status usk_copy_file(const char *from, const char *to, uint64_t n, struct usk_err *err)
{
	char block[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	const char *where = in < 0 ? from : to;
	bool good =
		in >= 0 && (out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) >= 0;
	while (n && good) {
		ssize_t m =
			usk_read_most(in, -1, block, n < sizeof block ? (size_t)n : sizeof block);
		where = m < 0 ? from : to;
		good = m >= 0 && usk_write_all(out, block, (size_t)m);
		n = m > 0 ? n - (uint64_t)m : 0;
	}
	enum usk_status status =
		good ? USK_OK : usk_fail(err, USK_EIO, 0, "%s: %s", where, strerror(errno));
	if (in >= 0) {
		close(in);
	}
	if (out >= 0 && close(out) && !status) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", to, strerror(errno));
	}
	return status;
}

static int make_folder(const char *name)
{
	return mkdir(name, 0777);
}

enum usk_status usk_folder_open(struct usk_folder *f, const char *path, bool replace,
				struct usk_err *err)
{
	memset(f, 0, sizeof *f);
	struct stat st;
	bool exists = !lstat(path, &st);
	if (exists && !replace) {
		return usk_fail(err, USK_EIO, 0, "%s: exists already; use --force to replace it",
				path);
	}
	if (exists && !S_ISDIR(st.st_mode)) {
		return usk_fail(err, USK_EIO, 0, "%s: is not a folder; name another", path);
	}
	if (usk_make_beside(path, make_folder, &f->temporary) < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	f->path = usk_strdup(path);
	f->replace = exists;
	return USK_OK;
}

/* All that was written into it: it holds files of libraries that sync none. */
static int settle(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int failed = fd < 0 || syncfs(fd) ? -1 : 0, error = errno;
	if (fd >= 0) {
		close(fd);
	}
	errno = error;
	return failed;
}

/* A folder cannot be replaced in one step: the old one goes aside first. */
static int put_in_place(const struct usk_folder *f)
{
	char *old = usk_format("%s.old", f->temporary);
	int failed = 0;
	if (f->replace && rename(f->path, old)) {
		free(old);
		return -1;
	}
	/* An empty folder that appeared meanwhile is nobody's loss. */
	if (rename(f->temporary, f->path)) {
		int error = errno;
		failed = -1;
		if (f->replace) {
			rename(old, f->path);
		}
		errno = error;
	} else if (f->replace) {
		usk_folder_remove(old);
	}
	free(old);
	return failed;
}

enum usk_status usk_folder_commit(struct usk_folder *f, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	if (settle(f->temporary) || put_in_place(f)) {
		status = usk_fail(err, USK_EIO, 0, "%s: not written: %s", f->path, strerror(errno));
	} else {
		usk_output_forget(f->temporary);
		free(f->temporary);
		f->temporary = NULL;
	}
	usk_folder_close(f);
	return status;
}

void usk_folder_close(struct usk_folder *f)
{
	if (f->temporary) {
		usk_folder_remove(f->temporary);
		usk_output_forget(f->temporary);
	}
	USK_FREE(f->temporary, f->path);
	memset(f, 0, sizeof *f);
}
