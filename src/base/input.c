/* SPDX-License-Identifier: MIT */
/*
 * input.c - one door for input: a file, a pipe or memory, packed or not
 *
 * In    a path, or bytes
 * Out   a window of plain bytes that slides
 * Why   memory is bounded by itself, and offsets are those of the plain bytes
 */
#include "base/io.h"
#include "base/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file whose bytes are packed, and the piece of it that is being unpacked. */
struct usk_packed {
	enum usk_packing packing;
	struct usk_unpack *unpack;
	uint64_t size, at; /* of the file; of bytes[0] in it */
	size_t n, used;
	uint8_t bytes[1 << 16];
};

/* What begins like nothing that is wanted is not read to its end: it may have none. */
static enum usk_status spool(int from, const char *path, usk_sniff *sniff, int *spooled,
			     struct usk_err *err)
{
	int to;
	enum usk_status status = usk_scratch_file(&to, "cannot spool it to", err);
	if (status) {
		return usk_fail_in(status, err, "%s", path);
	}
	uint8_t *block = usk_alloc(USK_IO_BLOCK, 1);
	bool first = true;
	for (ssize_t n = 1; n && !status; first = false) {
		n = usk_read_most(from, -1, block, USK_IO_BLOCK);
		if (n < 0) {
			status = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
		} else if (!usk_write_all(to, block, (size_t)n)) {
			status = usk_fail(err, USK_EIO, 0,
					  "%s: cannot spool it to a temporary file: %s", path,
					  strerror(errno));
		} else if (first && sniff && !sniff(block, (size_t)n) &&
			   usk_packing_of(block, (size_t)n) == USK_PLAIN) {
			break;
		}
	}
	free(block);
	if (status) {
		close(to);
	} else {
		*spooled = to;
	}
	return status;
}

/* Reads are at a place (pread), so that a descriptor may be shared. fd below 0: memory. */
static void begin(struct usk_input *in, int fd, const void *memory, uint64_t size)
{
	uint8_t first[USK_PACKING_MAGIC];
	*in = (struct usk_input){ .fd = fd, .memory = memory, .size = size };
	ssize_t n = fd < 0 ? (ssize_t)size : pread(fd, first, sizeof first, 0);
	enum usk_packing packing = usk_packing_of(fd < 0 ? memory : first, n > 0 ? (size_t)n : 0);
	if (packing != USK_PLAIN) {
		in->packed = usk_alloc(1, sizeof *in->packed);
		in->packed->packing = packing;
		in->packed->size = size;
		in->size = UINT64_MAX;
	}
	if (in->packed || fd >= 0) {
		in->capacity = USK_IO_BLOCK;
		in->buffer = usk_grow(NULL, in->capacity, 1);
	}
	if (fd >= 0) {
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	usk_input_rewind(in);
}

bool usk_sniff_json(const uint8_t *d, size_t n)
{
	size_t i = n >= 3 && !memcmp(d, "\xef\xbb\xbf", 3) ? 3 : 0;
	while (i < n && strchr(" \t\r\n", d[i]) && d[i]) {
		i++;
	}
	return i < n && d[i] == '{';
}

bool usk_sniff_text(const uint8_t *d, size_t n)
{
	return !memchr(d, 0, n);
}

enum usk_status usk_input_open(struct usk_input *in, const char *path, usk_sniff *sniff,
			       struct usk_err *err)
{
	*in = (struct usk_input){ .fd = -1 };
	bool standard = !strcmp(path, "-");
	int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: %s%s", path, strerror(errno),
				errno == EMFILE ? "; raise the limit with `ulimit -n`" : "");
	}
	struct stat st;
	enum usk_status status = USK_OK;
	bool known = !fstat(fd, &st);
	if (known && S_ISDIR(st.st_mode)) {
		status = usk_fail(err, USK_EIO, 0, "%s: is a directory, not a trace file", path);
	} else if (known && (!S_ISREG(st.st_mode) || (standard && lseek(fd, 0, SEEK_CUR) != 0))) {
		int from = fd;
		status = spool(from, path, sniff, &fd, err);
		if (!status) {
			close(from);
			known = !fstat(fd, &st);
		}
	}
	if (!known) {
		status = usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	if (status) {
		close(fd);
		return status;
	}
	begin(in, fd, NULL, (uint64_t)st.st_size);
	return USK_OK;
}

enum usk_status usk_input_again(struct usk_input *in, const struct usk_input *from,
				struct usk_err *err)
{
	if (from->fd < 0) {
		usk_input_memory(in, from->memory, (size_t)usk_input_bytes(from));
		return USK_OK;
	}
	int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "cannot be opened twice: %s", strerror(errno));
	}
	begin(in, fd, NULL, usk_input_bytes(from));
	return USK_OK;
}

void usk_input_memory(struct usk_input *in, const void *data, size_t size)
{
	begin(in, -1, data, size);
}

void usk_input_close(struct usk_input *in)
{
	if (in->fd >= 0) {
		close(in->fd);
	}
	if (in->packed) {
		usk_unpack_free(in->packed->unpack);
	}
	USK_FREE(in->packed, in->lost, in->buffer);
	*in = (struct usk_input){ .fd = -1 };
}

void usk_input_rewind(struct usk_input *in)
{
	struct usk_packed *p = in->packed;
	const bool all_there = in->fd < 0 && !p;
	if (p) {
		usk_unpack_free(p->unpack);
		p->unpack = usk_unpack_new(p->packing);
		p->at = 0;
		p->n = p->used = 0;
		free(in->lost);
		in->lost = NULL;
	}
	in->at = 0;
	in->data = all_there ? in->memory : in->buffer;
	in->have = all_there ? (size_t)in->size : 0;
	in->end = all_there;
}

/* Bytes of the file as they are in it; *got is 0 at its end. */
static enum usk_status fetch(const struct usk_input *in, uint64_t at, uint8_t *to, size_t n,
			     size_t *got, struct usk_err *err)
{
	if (in->memory) {
		uint64_t left = in->packed->size - at;
		*got = n < left ? n : (size_t)left;
		memcpy(to, in->memory + at, *got);
		return USK_OK;
	}
	for (;;) {
		ssize_t m = pread(in->fd, to, n, (off_t)at);
		if (m >= 0) {
			*got = (size_t)m;
			return USK_OK;
		}
		if (errno != EINTR) {
			return usk_fail(err, USK_EIO, at, "reading failed at byte %llu: %s",
					(unsigned long long)at, strerror(errno));
		}
	}
}

/* The same, unpacked. Where the packed bytes break off, the input ends, and in->lost says so. */
static enum usk_status unpack(struct usk_input *in, uint8_t *to, size_t n, size_t *got,
			      struct usk_err *err)
{
	struct usk_packed *p = in->packed;
	*got = 0;
	while (!*got && !in->lost) {
		if (p->used == p->n) {
			p->at += p->n;
			p->used = 0;
			enum usk_status status =
				fetch(in, p->at, p->bytes, sizeof p->bytes, &p->n, err);
			if (status) {
				return status;
			}
		}
		size_t used;
		/* At the end of the file too: what was read may not all have come out yet. */
		bool good = usk_unpack(p->unpack, p->bytes + p->used, p->n - p->used, &used, to, n,
				       got);
		p->used += used;
		if (!good || (p->n && !used && !*got)) {
			in->lost =
				usk_format("its %s data are damaged at byte %llu; the rest is lost",
					   usk_packing_name(p->packing),
					   (unsigned long long)(p->at + p->used));
		} else if (!p->n && !*got) {
			if (!usk_unpack_is_whole(p->unpack)) {
				in->lost = usk_format("its %s data are cut short at byte %llu",
						      usk_packing_name(p->packing),
						      (unsigned long long)p->at);
			}
			break;
		}
	}
	return USK_OK;
}

/* Room for `want` bytes, as far as they are there: a header's claim alone allocates nothing. */
static void make_room(struct usk_input *in, size_t want)
{
	uint64_t present = in->packed	       ? 2 * (uint64_t)in->have
			   : in->size > in->at ? in->size - in->at
					       : 0;
	want = want < present ? want : (size_t)present;
	if (want > in->capacity) {
		uint8_t *bigger = usk_alloc(want, 1);
		memcpy(bigger, in->data, in->have);
		free(in->buffer);
		in->buffer = bigger;
		in->capacity = want;
		in->data = bigger;
	}
}

enum usk_status usk_input_need(struct usk_input *in, size_t used, size_t want, struct usk_err *err)
{
	in->data += used;
	in->have -= used;
	in->at += used;
	if (in->have >= want || in->end) {
		return USK_OK;
	}
	make_room(in, want);
	if (in->have && in->data != in->buffer) {
		memmove(in->buffer, in->data, in->have);
	}
	in->data = in->buffer;
	while (in->have < want && !in->end) {
		if (in->have == in->capacity) {
			make_room(in, want);
			/* There is room for all that was there when it was opened. */
			in->end = in->have == in->capacity;
			continue;
		}
		uint8_t *to = in->buffer + in->have;
		size_t room = in->capacity - in->have, n;
		enum usk_status status = in->packed
						 ? unpack(in, to, room, &n, err)
						 : fetch(in, in->at + in->have, to, room, &n, err);
		if (status) {
			return status;
		}
		in->have += n;
		if (!n) {
			in->end = true;
			in->size = in->packed ? in->at + in->have : in->size;
		}
	}
	return USK_OK;
}

enum usk_status usk_input_all(struct usk_input *in, struct usk_err *err)
{
	size_t limit = in->packed ? (size_t)1 << 28 : (size_t)in->size;
	enum usk_status status = usk_input_need(in, 0, limit, err);
	if (!status && in->packed && !in->end) {
		status = usk_fail(err, USK_EINPUT, 0, "unpacks to more than 256 MiB");
	} else if (!status && in->lost) {
		status = usk_fail(err, USK_EINPUT, 0, "%s", in->lost);
	}
	return status;
}

uint64_t usk_input_bytes(const struct usk_input *in)
{
	return in->packed ? in->packed->size : in->size;
}

uint64_t usk_input_pos(const struct usk_input *in, size_t used)
{
	return in->packed ? in->packed->at + in->packed->used : in->at + used;
}

const char *usk_input_rest(const struct usk_input *in, uint64_t from, char out[48])
{
	if (in->size == UINT64_MAX) {
		return "the rest was";
	}
	snprintf(out, 48, "the last %llu bytes were", (unsigned long long)(in->size - from));
	return out;
}
