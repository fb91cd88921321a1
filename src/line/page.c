/* SPDX-License-Identifier: MIT */
/*
 * page.c - a line whose pins are words of memory that two processes share
 *
 * In    a file that both map
 * Out   a line: a pin is seen as soon as its cache line has come over
 * Why   two clocks of one machine can be tied, and the procedure tried, without a cable
 *
 * What the other process writes may be anything; only two bits of it are looked at.
 */
#include "line/line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x3130656e696c6b75) /* "ukline01" */

/* Each side's words lie apart, so that polling one does not slow the other's. */
struct page {
	_Atomic uint64_t magic;
	char apart[120];
	struct end {
		_Atomic uint32_t pins;
		_Atomic uint32_t asleep; /* waits for the other's pins to change */
		char apart[120];
	} end[2];
};

_Static_assert(sizeof(struct page) == 384, "the same layout for every compiler");

struct page_line {
	struct line line; /* first: a line is what it begins with */
	struct page *page;
	struct end *ours, *theirs;
	int fd;
	unsigned seen, looked; /* what was there last, and how often in a row */
};

static struct page_line *of(struct line *l)
{
	return (struct page_line *)l;
}

static void set(struct line *l, unsigned pins)
{
	struct page_line *p = of(l);
	atomic_store(&p->ours->pins, pins);
	if ((pins & LINE_D3) && atomic_load(&p->theirs->asleep)) {
		syscall(SYS_futex, &p->ours->pins, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
}

/* Whoever looks for long in vain may be in the other's way: both can be on one processor. */
static unsigned pins(struct line *l)
{
	enum { PATIENCE = 200 };
	struct page_line *p = of(l);
	unsigned now = atomic_load(&p->theirs->pins) & (LINE_D1 | LINE_D3);
	p->looked = now == p->seen ? p->looked + 1 : 0;
	p->seen = now;
	if (p->looked > PATIENCE) {
		p->looked = 0;
		sched_yield();
	}
	return now;
}

static void wait_for(struct line *l, int64_t ns)
{
	enum { LOOKS = 2000 };
	struct page_line *p = of(l);
	for (int i = 0; i < LOOKS; i++) {
		if (pins(l) & LINE_D3) {
			return;
		}
	}
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };
	atomic_store(&p->ours->asleep, 1);
	uint32_t now = atomic_load(&p->theirs->pins);
	if (!(now & LINE_D3)) {
		syscall(SYS_futex, &p->theirs->pins, FUTEX_WAIT, now, &t, NULL, 0);
	}
	atomic_store(&p->ours->asleep, 0);
}

static void close_page(struct line *l)
{
	struct page_line *p = of(l);
	if (p->page) {
		atomic_store(&p->ours->pins, 0);
		munmap(p->page, sizeof *p->page);
	}
	close(p->fd);
	free(p);
}

/* A process has a side for itself; the lock goes with it, however it ends. */
static enum usk_status take_side(int fd, const char *path, enum line_side side, struct usk_err *err)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)side, .l_len = 1
	};
	if (side == LINE_LOOP_BACK) {
		lock.l_start = 0;
		lock.l_len = 2;
	}
	if (!fcntl(fd, F_OFD_SETLK, &lock)) {
		return USK_OK;
	}
	if (errno == EAGAIN || errno == EACCES) {
		return usk_fail(err, USK_EIO, 0, "%s: another process %s here already", path,
				side == LINE_ASKS      ? "asks"
				: side == LINE_ANSWERS ? "answers"
						       : "is at work");
	}
	return usk_fail(err, USK_EIO, 0, "%s: cannot be locked: %s", path, strerror(errno));
}

static enum usk_status map_page(struct page_line *p, const char *path, struct usk_err *err)
{
	struct stat s;
	if (fstat(p->fd, &s)) {
		return usk_fail(err, USK_EIO, 0, "%s: %s", path, strerror(errno));
	}
	if (!S_ISREG(s.st_mode) || (s.st_size && s.st_size != sizeof *p->page)) {
		return usk_fail(err, USK_EINPUT, 0, "%s: is no page of a line", path);
	}
	/* Both sides may find it empty: then both make it as large. */
	if (!s.st_size && ftruncate(p->fd, sizeof *p->page)) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be made: %s", path, strerror(errno));
	}
	void *page = mmap(NULL, sizeof *p->page, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (page == MAP_FAILED) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be mapped: %s", path, strerror(errno));
	}
	uint64_t none = 0;
	if (!atomic_compare_exchange_strong(&((struct page *)page)->magic, &none, MAGIC) &&
	    none != MAGIC) {
		munmap(page, sizeof *p->page);
		return usk_fail(err, USK_EINPUT, 0, "%s: is no page of a line", path);
	}
	p->page = page;
	return USK_OK;
}

enum usk_status line_page_open(const char *path, enum line_side side, struct line_counter counter,
			       struct line **out, struct usk_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s", path, strerror(errno));
	}
	struct page_line *p = usk_alloc(1, sizeof *p);
	p->fd = fd;
	p->line = (struct line){ .set = set,
				 .pins = pins,
				 .wait = wait_for,
				 .pause = line_sleep,
				 .time_ns = line_boot_time_ns,
				 .close = close_page,
				 .counter = counter };
	enum usk_status status = take_side(fd, path, side, err);
	if (!status) {
		status = map_page(p, path, err);
	}
	if (status) {
		close_page(&p->line);
		return status;
	}
	p->ours = &p->page->end[side == LINE_ANSWERS];
	p->theirs = &p->page->end[side == LINE_ASKS];
	if (side == LINE_LOOP_BACK) {
		p->theirs = p->ours;
	}
	/* One who was killed here may have left its pins up. */
	atomic_store(&p->ours->pins, 0);
	atomic_store(&p->ours->asleep, 0);
	p->line.rests_until = line_boot_time_ns(NULL) + LINE_REST_NS;
	*out = &p->line;
	return USK_OK;
}
