/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 18)

static enum usk_status spool(int from, const char *path, int *spooled, struct usk_err *err)
{
	const char *dir = getenv("TMPDIR");
	char *name = usk_format("%s/unskew-XXXXXX", dir && *dir ? dir : "/tmp");
	int to = mkstemp(name);
	if (to < 0) {
		enum usk_status s = usk_fail(err, USK_EIO, 0, "%s: cannot spool it to %s: %s", path,
					     name, strerror(errno));
		free(name);
		return s;
	}
	unlink(name);
	free(name);
	uint8_t *block = usk_alloc(BLOCK, 1);
	enum usk_status status = USK_OK;
	for (;;) {
		ssize_t n = read(from, block, BLOCK);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			status = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
		}
		if (n <= 0) {
			break;
		}
		for (ssize_t done = 0; done < n;) {
			ssize_t m = write(to, block + done, (size_t)(n - done));
			if (m < 0 && errno == EINTR) {
				continue;
			}
			if (m < 0) {
				status = usk_fail(err, USK_EIO, 0,
						  "%s: cannot spool it to a temporary file: %s",
						  path, strerror(errno));
				goto out;
			}
			done += m;
		}
	}
out:
	free(block);
	if (status) {
		close(to);
	} else {
		*spooled = to;
	}
	return status;
}

/* Reads are at a place (pread), so that a descriptor may be shared. */
static void begin(struct usk_input *in, int fd, uint64_t size)
{
	memset(in, 0, sizeof *in);
	in->fd = fd;
	in->size = size;
	in->capacity = BLOCK;
	in->buffer = usk_alloc(in->capacity, 1);
	in->data = in->buffer;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

enum usk_status usk_input_open(struct usk_input *in, const char *path, struct usk_err *err)
{
	memset(in, 0, sizeof *in);
	in->fd = -1;
	bool standard = !strcmp(path, "-");
	int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	struct stat st;
	if (fstat(fd, &st)) {
		enum usk_status s = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
		close(fd);
		return s;
	}
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return usk_fail(err, USK_EIO, 0, "%s: is a directory, not a trace file", path);
	}
	if (!S_ISREG(st.st_mode) || (standard && lseek(fd, 0, SEEK_CUR) != 0)) {
		int copy = -1;
		enum usk_status s = spool(fd, path, &copy, err);
		close(fd);
		if (s) {
			return s;
		}
		fd = copy;
		if (fstat(fd, &st)) {
			s = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
			close(fd);
			return s;
		}
	}
	begin(in, fd, (uint64_t)st.st_size);
	return USK_OK;
}

enum usk_status usk_input_again(struct usk_input *in, const struct usk_input *from,
				struct usk_err *err)
{
	if (from->memory) {
		usk_input_memory(in, from->memory, (size_t)from->size);
		return USK_OK;
	}
	int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "cannot be opened twice: %s", strerror(errno));
	}
	begin(in, fd, from->size);
	return USK_OK;
}

void usk_input_memory(struct usk_input *in, const void *data, size_t size)
{
	memset(in, 0, sizeof *in);
	in->fd = -1;
	in->memory = data;
	in->data = data;
	in->have = size;
	in->size = size;
	in->end = true;
}

void usk_input_close(struct usk_input *in)
{
	if (in->fd >= 0) {
		close(in->fd);
	}
	free(in->buffer);
	memset(in, 0, sizeof *in);
	in->fd = -1;
}

enum usk_status usk_input_seek(struct usk_input *in, uint64_t at, struct usk_err *err)
{
	(void)err;
	if (at > in->size) {
		at = in->size;
	}
	in->at = at;
	if (in->memory) {
		in->data = in->memory + at;
		in->have = (size_t)(in->size - at);
		return USK_OK;
	}
	in->data = in->buffer;
	in->have = 0;
	in->end = false;
	return USK_OK;
}

enum usk_status usk_input_need(struct usk_input *in, size_t used, size_t want, struct usk_err *err)
{
	in->data += used;
	in->have -= used;
	in->at += used;
	if (in->have >= want || in->end) {
		return USK_OK;
	}
	if (want > in->capacity) {
		/* Bounded by the bytes present: a header's claim alone allocates nothing. */
		uint64_t present = in->size > in->at ? in->size - in->at : 0;
		if (want > present) {
			want = (size_t)present;
		}
		if (want > in->capacity) {
			uint8_t *bigger = usk_alloc(want, 1);
			memcpy(bigger, in->data, in->have);
			free(in->buffer);
			in->buffer = bigger;
			in->capacity = want;
			in->data = bigger;
		}
	}
	if (in->have && in->data != in->buffer) {
		memmove(in->buffer, in->data, in->have);
	}
	in->data = in->buffer;
	while (in->have < in->capacity) {
		ssize_t n = pread(in->fd, in->buffer + in->have, in->capacity - in->have,
				  (off_t)(in->at + in->have));
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return usk_fail(err, USK_EIO, in->at, "reading failed at byte %llu: %s",
					(unsigned long long)(in->at + in->have), strerror(errno));
		}
		if (n == 0) {
			in->end = true;
			break;
		}
		in->have += (size_t)n;
		if (in->have >= want) {
			break;
		}
	}
	return USK_OK;
}

/* ---- output ---------------------------------------------------------------- */

/* Temporary names for the signal handler: fixed slots, set and cleared whole, by any thread. */
static char *_Atomic open_temporary[64];

void usk_output_abandon_all(void)
{
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		char *name = open_temporary[i];
		if (name) {
			unlink(name);
		}
	}
}

static void remember(char *name)
{
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		char *empty = NULL;
		if (atomic_compare_exchange_strong(&open_temporary[i], &empty, name)) {
			return;
		}
	}
}

static void forget(const char *name)
{
	for (size_t i = 0; i < COUNT(open_temporary); i++) {
		if (open_temporary[i] == name) {
			open_temporary[i] = NULL;
		}
	}
}

/* A new file beside path, with the rights that open(2) gives. -1: errno says why. */
static int open_beside(const char *path, char **temporary)
{
	int fd = -1, error = EEXIST;
	for (uint64_t turn = 0; turn < 100 && fd < 0 && error == EEXIST; turn++) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		uint64_t x = usk_mix((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32 ^ turn << 56);
		char *name = usk_format("%s.%06x", path, (unsigned)(x & 0xffffff));
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		error = errno;
		if (fd < 0) {
			free(name);
		} else {
			*temporary = name;
		}
	}
	errno = error;
	return fd;
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
		out->fd = open_beside(path, &out->temporary);
		if (out->fd >= 0) {
			remember(out->temporary);
		}
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
	out->buffer = usk_alloc(BLOCK, 1);
	return USK_OK;
}

static void flush(struct usk_output *out)
{
	for (size_t done = 0; done < out->used && !out->failed;) {
		ssize_t n = write(out->fd, out->buffer + done, out->used - done);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			out->failed = true;
			out->error = errno;
			break;
		}
		done += (size_t)n;
	}
	out->written += out->used;
	out->used = 0;
}

void usk_output_write(struct usk_output *out, const void *data, size_t n)
{
	const uint8_t *p = data;
	while (n) {
		if (out->used == BLOCK) {
			flush(out);
		}
		size_t m = BLOCK - out->used < n ? BLOCK - out->used : n;
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
		char *all = usk_alloc((size_t)n + 1, 1);
		va_start(ap, fmt);
		vsnprintf(all, (size_t)n + 1, fmt, ap);
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
	flush(out);
	int fd = out->fd;
	out->fd = -1; /* gone, even if closing it fails */
	if (close(fd) && !out->failed) {
		out->failed = true;
		out->error = errno;
	}
	if (!out->failed && out->temporary && put_in_place(out)) {
		out->failed = true;
		out->error = errno;
	}
	if (out->failed) {
		enum usk_status s =
			out->error == EEXIST
				? usk_fail(err, USK_EIO, out->written,
					   "%s: not written: it appeared meanwhile; use --force to "
					   "replace it",
					   out->path)
				: usk_fail(err, USK_EIO, out->written, "%s: not written: %s",
					   out->path, strerror(out->error));
		usk_output_close(out);
		return s;
	}
	if (out->temporary) {
		forget(out->temporary);
		free(out->temporary);
		out->temporary = NULL;
	}
	usk_output_close(out);
	return USK_OK;
}

void usk_output_close(struct usk_output *out)
{
	if (out->fd >= 0 && out->path) {
		close(out->fd);
	}
	if (out->temporary) {
		unlink(out->temporary);
		forget(out->temporary);
		free(out->temporary);
	}
	free(out->path);
	free(out->buffer);
	memset(out, 0, sizeof *out);
	out->fd = -1;
}
