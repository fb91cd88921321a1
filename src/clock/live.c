/* SPDX-License-Identifier: MIT */
/*
 * live.c - a map that one process writes and others read while it changes
 *
 * In    a file that all of them map, usually in memory
 * Out   the map as it is now, never half of one and half of the next
 * Why   a seqlock: readers write nothing, so they neither wait for each other nor slow the writer
 * Not   what the map says (live_map.c)
 *
 * The words are atomics of relaxed order between two fences, so that no read races a write by
 * C's rules either. Contents are another process's: whatever they are, a reader ends with some
 * answer or none.
 */
#include "base/base.h"
#include "unskew_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 6 };

#define MAGIC UINT64_C(0x31306576696c6b75) /* "uklive01" */

struct page {
	_Atomic uint64_t magic;
	_Atomic uint64_t sequence; /* odd: being written; 0: never was */
	_Atomic uint64_t word[WORDS];
};

_Static_assert(sizeof(struct page) == 8 * (2 + WORDS), "the same layout for every compiler");

struct usk_live {
	struct page *page;
	int fd; /* of a writer: its lock goes with it, however it ends */
};

static enum usk_status map_file(int fd, const char *path, int protection, struct usk_live **out,
				struct usk_err *err)
{
	void *p = mmap(NULL, sizeof(struct page), protection, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be mapped: %s", path, strerror(errno));
	}
	*out = usk_alloc(1, sizeof **out);
	(*out)->page = p;
	(*out)->fd = -1;
	return USK_OK;
}

static enum usk_status not_ours(const char *path, struct usk_err *err)
{
	return usk_fail(err, USK_EINPUT, 0, "%s: is no file of a live clock", path);
}

/* Who can write to it says what time it is, and who can cut it short ends whoever reads it. */
static enum usk_status check_file(int fd, const char *path, off_t *size, struct usk_err *err)
{
	struct stat s;
	if (fstat(fd, &s)) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	*size = s.st_size;
	if (!S_ISREG(s.st_mode)) {
		return not_ours(path, err);
	}
	if (s.st_uid != geteuid() && s.st_uid) {
		return usk_fail(err, USK_EINPUT, 0,
				"%s: belongs to another user (%u), who may say what time it is; "
				"let root or this user keep the clock there",
				path, (unsigned)s.st_uid);
	}
	return s.st_mode & 022 ? usk_fail(err, USK_EINPUT, 0,
					  "%s: others than its owner may write to it (its mode is "
					  "%o): chmod go-w",
					  path, (unsigned)s.st_mode & 0777)
			       : USK_OK;
}

/* A new file, or the one that an earlier writer left. */
static int open_or_make(const char *path)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(path, flags | O_CREAT | O_EXCL, 0644);
	return fd < 0 && errno == EEXIST ? open(path, flags) : fd;
}

/* Two who write at once would leave a mixture that looks whole. */
static enum usk_status take_pen(int fd, const char *path, struct usk_err *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (!fcntl(fd, F_OFD_SETLK, &lock)) {
		return USK_OK;
	}
	bool taken = errno == EAGAIN || errno == EACCES;
	return usk_fail(err, USK_EIO, 0, "%s: %s%s", path,
			taken ? "another process keeps its clock there; name another file"
			      : "cannot be locked: ",
			taken ? "" : strerror(errno));
}

enum usk_status usk_live_create(const char *path, struct usk_live **out, struct usk_err *err)
{
	int fd = open_or_make(path);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s", path, strerror(errno));
	}
	off_t size;
	enum usk_status status = check_file(fd, path, &size, err);
	if (!status && size && size != sizeof(struct page)) {
		status = not_ours(path, err);
	} else if (!status && !size && ftruncate(fd, sizeof(struct page))) {
		status = usk_fail(err, USK_EIO, 0, "%s: cannot be made: %s", path, strerror(errno));
	}
	status = status ? status : take_pen(fd, path, err);
	status = status ? status : map_file(fd, path, PROT_READ | PROT_WRITE, out, err);
	if (status) {
		close(fd);
		return status;
	}
	struct page *p = (*out)->page;
	uint64_t magic = atomic_load(&p->magic);
	(*out)->fd = fd;
	if (magic && magic != MAGIC) {
		usk_live_close(*out);
		*out = NULL;
		return not_ours(path, err);
	}
	/* A writer that was killed half-way leaves an odd number, and words of two maps. */
	uint64_t n = atomic_load(&p->sequence);
	if (n & 1) {
		atomic_store(&p->sequence, n - 1);
		usk_live_publish(*out, NULL);
	}
	atomic_store(&p->magic, MAGIC);
	return USK_OK;
}

enum usk_status usk_live_open(const char *path, struct usk_live **out, struct usk_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s", path, strerror(errno));
	}
	off_t size;
	enum usk_status status = check_file(fd, path, &size, err);
	if (!status && size != sizeof(struct page)) {
		status = not_ours(path, err);
	}
	status = status ? status : map_file(fd, path, PROT_READ, out, err);
	close(fd);
	if (!status && atomic_load(&(*out)->page->magic) != MAGIC) {
		usk_live_close(*out);
		*out = NULL;
		return not_ours(path, err);
	}
	return status;
}

void usk_live_close(struct usk_live *l)
{
	if (l) {
		munmap(l->page, sizeof *l->page);
		if (l->fd >= 0) {
			close(l->fd);
		}
		free(l);
	}
}

void usk_live_publish(struct usk_live *l, const struct usk_live_map *m)
{
	/* Too old at any time. */
	static const struct usk_live_map none = { .max_age = -1 };
	struct page *p = l->page;
	m = m ? m : &none;
	const uint64_t word[WORDS] = {
		(uint64_t)m->remote, (uint64_t)m->local_2, (uint64_t)m->jitter_2, m->conv, m->drift,
		(uint64_t)m->max_age
	};
	uint64_t n = atomic_load_explicit(&p->sequence, memory_order_relaxed);
	atomic_store_explicit(&p->sequence, n + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (int i = 0; i < WORDS; i++) {
		atomic_store_explicit(&p->word[i], word[i], memory_order_relaxed);
	}
	atomic_store_explicit(&p->sequence, n + 2, memory_order_release);
}

/* A writer that died half-way must not hold readers for ever. */
enum { TRIES = 1000000 };

enum usk_live_state usk_live_convert(const struct usk_live *l, int64_t remote,
				     struct usk_live_time *out)
{
	struct page *p = l->page;
	uint64_t word[WORDS];
	for (int i = 0; i < TRIES; i++) {
		uint64_t n = atomic_load_explicit(&p->sequence, memory_order_acquire);
		if (!n) {
			return USK_LIVE_NONE;
		}
		for (int k = 0; k < WORDS; k++) {
			word[k] = atomic_load_explicit(&p->word[k], memory_order_relaxed);
		}
		atomic_thread_fence(memory_order_acquire);
		if (n % 2 == 0 && atomic_load_explicit(&p->sequence, memory_order_relaxed) == n) {
			struct usk_live_map m = { (int64_t)word[0], (int64_t)word[1],
						  (int64_t)word[2], word[3],
						  word[4],	    (int64_t)word[5] };
			return usk_live_map_at(&m, remote, out);
		}
	}
	return USK_LIVE_STALE;
}
