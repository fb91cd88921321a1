/* SPDX-License-Identifier: MIT */
/*
 * fail.c - preloaded into unskew: one call of it fails
 *
 * In    FAIL="KIND N": the N-th call of that kind fails; none fails of N = 0
 * Out   FAIL_SEEN, a file: how many calls of that kind there were
 * Why   what no test meets by chance: every call of reading, publishing and allocating can fail
 * Not   stdio's own calls, which no preloaded library sees; whether unskew does the right thing
 *       (run.py)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dlfcn.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static atomic_long seen;
static long fails_at;
static const char *kind = "";

static __attribute__((constructor)) void begin(void)
{
	const char *what = getenv("FAIL"), *space = what ? strchr(what, ' ') : NULL;
	if (space) {
		fails_at = atol(space + 1);
		kind = what;
	}
}

/* Is this the call? */
static bool fails(const char *of)
{
	size_t n = strlen(of);
	return !strncmp(kind, of, n) && kind[n] == ' ' && ++seen == fails_at;
}

static __attribute__((destructor)) void end(void)
{
	const char *path = getenv("FAIL_SEEN");
	char text[32];
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600)
		      : -1;
	if (fd >= 0) {
		int n = snprintf(text, sizeof text, "%ld\n", (long)seen);
		syscall(SYS_write, fd, text, n);
		syscall(SYS_close, fd);
	}
}

/* The real call of that name, but for the one that fails with `error`. */
#define FAILING(type, failed, error, name, parameters, arguments)                                  \
	type name parameters                                                                       \
	{                                                                                          \
		static type(*real) parameters;                                                     \
		if (fails(#name)) {                                                                \
			errno = error;                                                             \
			return failed;                                                             \
		}                                                                                  \
		if (!real) {                                                                       \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                                 \
		}                                                                                  \
		return real arguments;                                                             \
	}

FAILING(ssize_t, -1, EIO, read, (int fd, void *to, size_t n), (fd, to, n))
FAILING(ssize_t, -1, EIO, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
FAILING(ssize_t, -1, ENOSPC, write, (int fd, const void *from, size_t n), (fd, from, n))
FAILING(ssize_t, -1, ENOSPC, pwrite, (int fd, const void *from, size_t n, off_t at),
	(fd, from, n, at))
FAILING(off_t, -1, EIO, lseek, (int fd, off_t to, int whence), (fd, to, whence))
FAILING(int, -1, EIO, ftruncate, (int fd, off_t size), (fd, size))
FAILING(int, -1, EIO, fsync, (int fd), (fd))
FAILING(int, -1, EIO, syncfs, (int fd), (fd))
FAILING(int, -1, EIO, stat, (const char *path, struct stat *out), (path, out))
FAILING(int, -1, EIO, lstat, (const char *path, struct stat *out), (path, out))
FAILING(int, -1, EIO, fstat, (int fd, struct stat *out), (fd, out))
FAILING(int, -1, EPERM, fchmod, (int fd, mode_t mode), (fd, mode))
FAILING(int, -1, ENOSPC, mkdir, (const char *path, mode_t mode), (path, mode))
FAILING(int, -1, EIO, rename, (const char *from, const char *to), (from, to))
FAILING(int, -1, EPERM, link, (const char *from, const char *to), (from, to))
FAILING(int, -1, EMFILE, dup, (int fd), (fd))
FAILING(int, -1, EMFILE, mkostemp, (char *name, int flags), (name, flags))
FAILING(char *, NULL, ENOSPC, mkdtemp, (char *name), (name))
FAILING(int, -1, EMFILE, pipe2, (int fd[2], int flags), (fd, flags))
FAILING(pid_t, -1, EAGAIN, fork, (void), ())

/* It is closed all the same, as the kernel does it. */
int close(int fd)
{
	bool failed = fails("close");
	long done = syscall(SYS_close, fd);
	if (failed) {
		errno = EIO;
	}
	return failed ? -1 : (int)done;
}

static mode_t mode_of(int flags, va_list rest)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = mode_of(flags, rest);
	va_end(rest);
	if (fails("open")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = mode_of(flags, rest);
	va_end(rest);
	if (fails("openat")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, fd, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
	va_list rest;
	va_start(rest, command);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (fails("fcntl")) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t n)
{
	return fails("memory") ? no_memory() : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails("memory") ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails("memory") ? no_memory() : __libc_realloc(p, n);
}
