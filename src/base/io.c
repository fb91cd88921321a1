/* SPDX-License-Identifier: MIT */
/*
 * io.c - whole reads and writes, files without a name
 *
 * In    descriptors
 * Out   all of the bytes, or an error
 * Why   signals interrupt calls, and calls do less than they are asked
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool usk_write_all(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;
	for (size_t done = 0; done < n;) {
		ssize_t m = write(fd, p + done, n - done);
		if (m < 0 && errno != EINTR) {
			return false;
		}
		done += m > 0 ? (size_t)m : 0;
	}
	return true;
}

ssize_t usk_read_most(int fd, int64_t at, void *out, size_t n)
{
	uint8_t *p = out;
	size_t done = 0;
	while (done < n) {
		ssize_t m = at < 0 ? read(fd, p + done, n - done)
				   : pread(fd, p + done, n - done, (off_t)at + (off_t)done);
		if (m == 0 || (m < 0 && errno != EINTR)) {
			return m ? m : (ssize_t)done;
		}
		done += m > 0 ? (size_t)m : 0;
	}
	return (ssize_t)done;
}

enum usk_status usk_scratch_file(int *fd, const char *why, struct usk_err *err)
{
	const char *dir = getenv("TMPDIR");
	dir = dir && *dir ? dir : "/tmp";
	*fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	if (*fd >= 0) {
		return USK_OK;
	}
	/* Not every file system has files without a name. */
	char *name = usk_format("%s/unskew-XXXXXX", dir);
	usk_output_hold();
	*fd = mkostemp(name, O_CLOEXEC);
	int error = errno;
	if (*fd >= 0) {
		unlink(name);
	}
	usk_output_release();
	enum usk_status status =
		*fd < 0 ? usk_fail(err, USK_EIO, 0, "%s %s: %s", why, name, strerror(error))
			: USK_OK;
	free(name);
	return status;
}
