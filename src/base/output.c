/* SPDX-License-Identifier: MIT */
/*
 * output.c - one door for output: whole under its name, or not at all
 *
 * In    bytes, and the path they are for
 * Out   the file, once all of it is on the disk
 * Why   what is half written looks like an answer; and whatever ends the program leaves no
 *       temporary file
 */
#include "base/io.h"
#include "base/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Temporary names for the signal handler: fixed slots, set and cleared whole, by any thread. */
static char *_Atomic open_temporary[64];

/* Threads that make a name which is in no slot yet; whether the process is about to end. */
static atomic_int making;
static atomic_bool abandoned;
static _Thread_local sigset_t held;

void usk_output_abandon_all(void)
{
	abandoned = true;
	/* Never this thread, which would have taken no signal. */
	while (making) {
		poll(NULL, 0, 1);
	}
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		char *name = open_temporary[i];
		if (name && unlink(name)) {
			usk_folder_remove(name);
		}
	}
}

void usk_output_remember(char *name)
{
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		char *empty = NULL;
		if (atomic_compare_exchange_strong(&open_temporary[i], &empty, name)) {
			return;
		}
	}
}

void usk_output_forget(const char *name)
{
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		if (open_temporary[i] == name) {
			open_temporary[i] = NULL;
		}
	}
}

void usk_output_hold(void)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &held);
	making++;
	if (abandoned) {
		making--;
		for (;;) {
			pause();
		}
	}
}

void usk_output_release(void)
{
	making--;
	pthread_sigmask(SIG_SETMASK, &held, NULL);
}

int usk_make_beside(const char *path, int (*make)(const char *name), char **temporary)
{
	int fd = -1, error = EEXIST;
	for (uint64_t turn = 0; turn < 100 && fd < 0 && error == EEXIST; turn++) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		uint64_t x = usk_mix((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32 ^ turn << 56);
		char *name = usk_format("%s.%06x", path, (unsigned)(x & 0xffffff));
		usk_output_hold();
		fd = make(name);
		error = errno;
		if (fd >= 0) {
			usk_output_remember(name);
		}
		usk_output_release();
		if (fd < 0) {
			free(name);
		} else {
			*temporary = name;
		}
	}
	errno = error;
	return fd;
}

/* With the rights that open(2) gives. */
static int make_file(const char *name)
{
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

enum usk_status usk_output_open(struct usk_output *out, const char *path, bool force,
				struct usk_err *err)
{
	memset(out, 0, sizeof *out);
	out->replace = force;
	struct stat st;
	bool exists = !stat(path, &st);
	if (exists && S_ISDIR(st.st_mode)) {
		out->fd = -1;
		return usk_fail(err, USK_EIO, 0, "%s: is a directory; name a file", path);
	}
	out->direct = exists && !S_ISREG(st.st_mode);
	if (out->direct) {
		out->fd = open(path, O_WRONLY | O_CLOEXEC);
		out->temporary = NULL;
	} else if (exists && !force) {
		out->fd = -1;
		return usk_fail(err, USK_EIO, 0, "%s: exists already; use --force to replace it",
				path);
	} else {
		out->fd = usk_make_beside(path, make_file, &out->temporary);
		if (out->fd >= 0 && exists) {
			(void)fchmod(out->fd, st.st_mode & 07777);
		}
	}
	if (out->fd < 0) {
		enum usk_status s = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
		free(out->temporary);
		out->temporary = NULL;
		return s;
	}
	out->path = usk_strdup(path);
	out->buffer = usk_grow(NULL, USK_IO_BLOCK, 1);
	enum usk_packing packing = out->direct ? USK_PLAIN : usk_packing_of_name(path);
	out->pack = packing == USK_PLAIN ? NULL : usk_packer_new(packing, out->fd);
	return USK_OK;
}

/* The first failure is the one that is told. */
static void fail(struct usk_output *out, int error)
{
	out->error = out->failed ? out->error : error;
	out->failed = true;
}

static void put(struct usk_output *out)
{
	if (!out->failed && !usk_write_all(out->fd, out->buffer, out->used)) {
		fail(out, errno);
	}
}

static void flush(struct usk_output *out, bool last)
{
	if (!out->pack) {
		put(out);
	} else if (!out->failed) {
		int error = usk_packer_give(out->pack, &out->buffer, USK_IO_BLOCK, out->used, last);
		if (error) {
			fail(out, error);
		}
	}
	out->written += out->used;
	out->used = 0;
}

void usk_output_write(struct usk_output *out, const void *data, size_t n)
{
	const uint8_t *p = data;
	while (n) {
		if (out->used == USK_IO_BLOCK) {
			flush(out, false);
		}
		size_t m = USK_IO_BLOCK - out->used < n ? USK_IO_BLOCK - out->used : n;
		memcpy(out->buffer + out->used, p, m);
		out->used += m;
		p += m;
		n -= m;
	}
}

void usk_output_format(struct usk_output *out, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof line) {
		usk_output_write(out, line, (size_t)n);
	} else if (n >= 0) {
		va_start(ap, fmt);
		char *all = usk_vformat(fmt, ap);
		va_end(ap);
		usk_output_write(out, all, (size_t)n);
		free(all);
	}
}

/*
 * Give the temporary file its name. Without force a file that appeared meanwhile stays: link(2)
 * fails where rename(2) would replace it. Not every file system has links.
 */
static int put_in_place(const struct usk_output *out)
{
	if (out->replace) {
		return rename(out->temporary, out->path);
	}
	if (!link(out->temporary, out->path)) {
		unlink(out->temporary);
		return 0;
	}
	if (errno == EEXIST) {
		return -1;
	}
	if (!access(out->path, F_OK)) {
		errno = EEXIST;
		return -1;
	}
	return rename(out->temporary, out->path);
}

enum usk_status usk_output_commit(struct usk_output *out, struct usk_err *err)
{
	flush(out, true);
	int fd = out->fd;
	/* What has its name is on the disk: after a crash there is the old file, or all of the new.
	 */
	if (out->temporary && !out->failed && fsync(fd)) {
		fail(out, errno);
	}
	out->fd = -1; /* gone, even if closing it fails */
	if (close(fd) || (!out->failed && out->temporary && put_in_place(out))) {
		fail(out, errno);
	}
	if (out->failed) {
		usk_fail(err, USK_EIO, out->written, "%s: not written: %s", out->path,
			 out->error == EEXIST ? "it appeared meanwhile; use --force to replace it"
					      : strerror(out->error));
	} else if (out->temporary) {
		usk_output_forget(out->temporary);
		free(out->temporary);
		out->temporary = NULL;
	}
	enum usk_status status = out->failed ? USK_EIO : USK_OK;
	usk_output_close(out);
	return status;
}

void usk_output_close(struct usk_output *out)
{
	usk_packer_free(out->pack);
	if (out->fd >= 0 && out->path) {
		close(out->fd);
	}
	if (out->temporary) {
		unlink(out->temporary);
		usk_output_forget(out->temporary);
		free(out->temporary);
	}
	USK_FREE(out->path, out->buffer);
	memset(out, 0, sizeof *out);
	out->fd = -1;
}
