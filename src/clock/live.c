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
 *
 * A mapped file that is cut short ends whoever touches it by SIGBUS, and there is no way to see it
 * coming without a system call for each reading. So the signal is caught: memory of our own takes
 * the place of the page, all zero, and by that the thread sees that the file is gone.
 */
#include "base/base.h"
#include "unskew_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 6, AGE = 5 };

#define MAGIC UINT64_C(0x31306576696c6b75) /* "uklive01" */

struct page {
	_Atomic uint64_t magic;
	_Atomic uint64_t sequence; /* odd: being written; 0: never was */
	_Atomic uint64_t word[WORDS];
};

_Static_assert(sizeof(struct page) == 8 * (2 + WORDS), "the same layout for every compiler");

struct usk_live {
	struct page *page;
	char *path;
	int fd; /* of a writer: its lock goes with it, however it ends */
};

/* ---- files that are cut short ------------------------------------------------------- */

/* What this thread reads or writes now. A handler must not be the first to ask for its place. */
static _Thread_local struct page *volatile touched __attribute__((tls_model("initial-exec")));

static struct sigaction before;

/* As if we were not there. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else if (before.sa_handler == SIG_DFL || info->si_code > 0) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	const int error = errno;
	struct page *p = touched;
	bool ours = p && info->si_code > 0 &&
		    (uintptr_t)info->si_addr - (uintptr_t)p < sizeof(struct page);
	if (!ours || mmap(p, sizeof *p, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p) {
		pass_on(number, info, context);
	}
	errno = error;
}

/* Again if the one before us was put back. Any other one may call ours: over it, that would go
 * round for ever. */
static void catch_sigbus(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool caught;
	struct sigaction ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction now;
	sigemptyset(&ours.sa_mask);
	pthread_mutex_lock(&lock);
	sigaction(SIGBUS, NULL, &now);
	if (!caught || now.sa_sigaction == before.sa_sigaction) {
		before = now;
		sigaction(SIGBUS, &ours, NULL);
		caught = true;
	}
	pthread_mutex_unlock(&lock);
}

static void touch(struct page *p)
{
	touched = p;
	atomic_signal_fence(memory_order_seq_cst);
}

static void leave(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	touched = NULL;
}

/* ---- files -------------------------------------------------------------------------- */

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

static void write_map(struct page *p, const struct usk_live_map *m)
{
	/* Too old at any time. */
	static const struct usk_live_map none = { .max_age = -1 };
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

static bool begin(struct page *p)
{
	touch(p);
	uint64_t magic = atomic_load(&p->magic), n = atomic_load(&p->sequence);
	bool good = !magic || magic == MAGIC;
	if (good && n & 1) {
		/* A writer that was killed half-way leaves an odd number, and words of two maps. */
		atomic_store(&p->sequence, n - 1);
		write_map(p, NULL);
	} else if (good && !n) {
		/* Zero is what the end of a file takes away. */
		atomic_store(&p->word[AGE], UINT64_MAX);
	}
	if (good) {
		atomic_store(&p->magic, MAGIC);
	}
	leave();
	return good;
}

static bool begun(struct page *p)
{
	touch(p);
	bool good = atomic_load(&p->magic) == MAGIC;
	leave();
	return good;
}

/* A writer's lock goes with fd. */
static enum usk_status map_file(int fd, const char *path, bool writes, struct usk_live **out,
				struct usk_err *err)
{
	off_t size = 0;
	enum usk_status status = check_file(fd, path, &size, err);
	if (!status && size != sizeof(struct page) && (size || !writes)) {
		status = not_ours(path, err);
	} else if (!status && writes && !size && ftruncate(fd, sizeof(struct page))) {
		status = usk_fail(err, USK_EIO, 0, "%s: cannot be made: %s", path, strerror(errno));
	}
	status = status || !writes ? status : take_pen(fd, path, err);
	if (status) {
		return status;
	}
	catch_sigbus();
	struct page *p = mmap(NULL, sizeof *p, writes ? PROT_READ | PROT_WRITE : PROT_READ,
			      MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be mapped: %s", path, strerror(errno));
	}
	if (!(writes ? begin : begun)(p)) {
		munmap(p, sizeof *p);
		return not_ours(path, err);
	}
	*out = usk_alloc(1, sizeof **out);
	(*out)->page = p;
	(*out)->path = usk_strdup(path);
	(*out)->fd = writes ? fd : -1;
	return USK_OK;
}

enum usk_status usk_live_create(const char *path, struct usk_live **out, struct usk_err *err)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
	/* A new file, or the one that an earlier writer left. */
	int fd = open(path, flags | O_CREAT | O_EXCL, 0644);
	fd = fd < 0 && errno == EEXIST ? open(path, flags) : fd;
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s", path, strerror(errno));
	}
	enum usk_status status = map_file(fd, path, true, out, err);
	if (status) {
		close(fd);
	}
	return status;
}

enum usk_status usk_live_open(const char *path, struct usk_live **out, struct usk_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		return usk_fail(err, USK_EIO, 0, "%s: cannot be opened: %s", path, strerror(errno));
	}
	enum usk_status status = map_file(fd, path, false, out, err);
	close(fd);
	return status;
}

void usk_live_close(struct usk_live *l)
{
	if (l) {
		munmap(l->page, sizeof *l->page);
		free(l->path);
		if (l->fd >= 0) {
			close(l->fd);
		}
		free(l);
	}
}

enum usk_status usk_live_publish(struct usk_live *l, const struct usk_live_map *m,
				 struct usk_err *err)
{
	struct stat s;
	bool whole = !fstat(l->fd, &s) && s.st_size == sizeof(struct page);
	if (whole) {
		touch(l->page);
		write_map(l->page, m);
		whole = atomic_load_explicit(&l->page->magic, memory_order_relaxed) == MAGIC;
		leave();
	}
	return whole ? USK_OK
		     : usk_fail(err, USK_EIO, 0,
				"%s: somebody changed its size while the clock was kept there; "
				"remove it and begin again",
				l->path);
}

/* A writer that died half-way must not hold readers for ever. */
enum { TRIES = 1000000 };

/* What the end of a file takes away reads as zero, first of all the greatest age, which never is.
 */
static enum usk_live_state read_map(struct page *p, struct usk_live_map *out)
{
	uint64_t word[WORDS];
	for (int i = 0; i < TRIES; i++) {
		uint64_t n = atomic_load_explicit(&p->sequence, memory_order_acquire);
		if (!n) {
			bool whole = atomic_load(&p->magic) == MAGIC && atomic_load(&p->word[AGE]);
			return whole ? USK_LIVE_NONE : USK_LIVE_CUT;
		}
		for (int k = 0; k < WORDS; k++) {
			word[k] = atomic_load_explicit(&p->word[k], memory_order_relaxed);
		}
		atomic_thread_fence(memory_order_acquire);
		if (n % 2 == 0 && atomic_load_explicit(&p->sequence, memory_order_relaxed) == n) {
			*out = (struct usk_live_map){ (int64_t)word[0], (int64_t)word[1],
						      (int64_t)word[2], word[3],
						      word[4],		(int64_t)word[5] };
			return out->max_age ? USK_LIVE : USK_LIVE_CUT;
		}
	}
	return USK_LIVE_STALE;
}

enum usk_live_state usk_live_convert(const struct usk_live *l, int64_t remote,
				     struct usk_live_time *out)
{
	struct usk_live_map m;
	touch(l->page);
	enum usk_live_state state = read_map(l->page, &m);
	leave();
	return state == USK_LIVE ? usk_live_map_at(&m, remote, out) : state;
}
