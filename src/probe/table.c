/* SPDX-License-Identifier: MIT */
/*
 * table.c - exchanges as they come, into a table that `unskew sync` reads
 *
 * In    exchanges of a burst
 * Out   a,b,t1_ns,t2_ns,t3_ns,t4_ns: one write of whole rows each time, on the disk before it
 *       returns
 * Why   who watches clocks for a week must not lose it to a crash; so unlike all other outputs
 *       this one is there from the start, and complete after every burst
 * Not   reading it (src/read/tables.c)
 */
#include "base/io.h"
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char heading[] = "a,b,t1_ns,t2_ns,t3_ns,t4_ns\n";

static enum usk_status refuse(struct usk_probe_table *t, const char *path, const char *what,
			      struct usk_err *err)
{
	enum usk_status status = usk_fail(err, USK_EIO, 0, "%s: %s", path, what);
	usk_probe_table_close(t);
	return status;
}

static bool has_heading(int fd)
{
	char first[sizeof heading - 1];
	return pread(fd, first, sizeof first, 0) == (ssize_t)sizeof first &&
	       !memcmp(first, heading, sizeof first);
}

/* Up to and with the last line end. */
static enum usk_status cut_tail(struct usk_probe_table *t, const char *path, off_t size,
				uint64_t *cut, struct usk_err *err)
{
	off_t whole = size;
	char c;
	while (whole > 0 && pread(t->fd, &c, 1, whole - 1) == 1 && c != '\n') {
		whole--;
		if (size - whole > 4096) {
			return refuse(t, path, "its last line is no row of exchanges", err);
		}
	}
	*cut = (uint64_t)(size - whole);
	if (*cut && ftruncate(t->fd, whole)) {
		return refuse(t, path, strerror(errno), err);
	}
	return USK_OK;
}

static enum usk_status begin(const char *path, bool force, struct usk_err *err)
{
	struct usk_output out;
	size_t n = strlen(path);
	if ((n > 3 && !strcmp(path + n - 3, ".gz")) || (n > 4 && !strcmp(path + n - 4, ".zst"))) {
		return usk_fail(err, USK_EUSAGE, 0,
				"%s: a table that grows cannot be packed; name it .csv", path);
	}
	enum usk_status status = usk_output_open(&out, path, force, err);
	if (!status) {
		usk_output_write(&out, heading, sizeof heading - 1);
		status = usk_output_commit(&out, err);
	}
	return status;
}

enum usk_status usk_probe_table_open(struct usk_probe_table *t, const char *path, const char *a,
				     const char *b, bool force, bool append, uint64_t *cut,
				     struct usk_err *err)
{
	struct stat s;
	bool go_on = append && !stat(path, &s);
	*cut = 0;
	*t = (struct usk_probe_table){ .fd = -1 };
	enum usk_status status = go_on ? USK_OK : begin(path, force, err);
	if (status) {
		return status;
	}
	t->fd = open(path, (go_on ? O_RDWR : O_WRONLY) | O_APPEND | O_CLOEXEC);
	if (t->fd < 0 || fstat(t->fd, &s)) {
		return refuse(t, path, strerror(errno), err);
	}
	t->path = usk_strdup(path);
	t->a = usk_strdup(a);
	t->b = usk_strdup(b);
	if (go_on && (!S_ISREG(s.st_mode) || !has_heading(t->fd))) {
		return refuse(t, path, "is no table of exchanges made here, so nothing is appended",
			      err);
	}
	return go_on ? cut_tail(t, path, s.st_size, cut, err) : USK_OK;
}

enum usk_status usk_probe_table_add(struct usk_probe_table *t, const struct usk_probe_exchange *e,
				    size_t n, struct usk_err *err)
{
	size_t row = strlen(t->a) + strlen(t->b) + 6 * 21 + 8, used = 0;
	char *text = usk_alloc(n + 1, row);
	for (size_t i = 0; i < n; i++) {
		used += (size_t)snprintf(
			text + used, row, "%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n",
			t->a, t->b, e[i].t1.ns, e[i].t2.ns, e[i].t3.ns, e[i].t4.ns);
	}
	ssize_t wrote;
	do {
		wrote = write(t->fd, text, used);
	} while (wrote < 0 && errno == EINTR);
	free(text);
	int error = wrote < 0 ? errno : ENOSPC;
	if (wrote != (ssize_t)used) {
		struct stat s;
		/* Half a row would be read as a damaged one. */
		if (wrote > 0 && !fstat(t->fd, &s) && S_ISREG(s.st_mode) &&
		    ftruncate(t->fd, s.st_size - wrote)) {
			error = errno;
		}
		return usk_fail(err, USK_EIO, 0, "%s: not written: %s; the rows before are whole",
				t->path, strerror(error));
	}
	/* A pipe or a terminal has no disk to be on. */
	if (fdatasync(t->fd) && errno != EINVAL && errno != EROFS) {
		return usk_fail(err, USK_EIO, 0, "%s: not on the disk: %s", t->path,
				strerror(errno));
	}
	t->rows += n;
	return USK_OK;
}

void usk_probe_table_close(struct usk_probe_table *t)
{
	if (t->fd >= 0) {
		close(t->fd);
	}
	USK_FREE(t->path, t->a, t->b);
	*t = (struct usk_probe_table){ .fd = -1 };
}
