/* SPDX-License-Identifier: MIT */
/*
 * ctf_child.c - libbabeltrace2 in a process of its own
 *
 * In    as ctf_graph.c, which does the work in the child
 * Out   the same through a pipe; where the child dies, what it had sent, and a sentence
 * Why   the library aborts on some damaged traces (a packet that claims to be larger than 2^60
 *       bits), and a damaged input is no reason to die; it decodes while the parent matches
 * Not   a sandbox
 */
#include "base/child.h"
#include "base/io.h"
#include "read/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 256, PIPE_BYTES = 1 << 18 };

/* What goes through the pipe: one of these, then so many items, no more of each than it has. */
struct frame {
	struct ctf_totals totals; /* so far */
	enum usk_status status;
	struct usk_err err;
	size_t n, bytes;
	bool last;
};

struct ctf_child {
	pid_t pid; /* 0: it was waited for */
	int fd;	   /* -1: nothing more comes */
	struct ctf_totals totals;
	struct ctf_item item[ITEMS];
	size_t at, n;
	uint8_t packed[ITEMS * sizeof(struct ctf_item)];
};

/* ---- the child ------------------------------------------------------------------------------ */

static void send_all(int fd, const void *data, size_t n)
{
	if (!usk_write_all(fd, data, n)) {
		_exit(1); /* nobody listens any more */
	}
}

static void set_limit(__rlimit_resource_t what, rlim_t to)
{
	struct rlimit limit;
	if (!getrlimit(what, &limit)) {
		limit.rlim_cur = to < limit.rlim_max ? to : limit.rlim_max;
		setrlimit(what, &limit);
	}
}

/* Bytes that this process has of its own. */
static rlim_t memory_now(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f) {
		if (fscanf(f, "%*u %*u %*u %*u %*u %llu", &pages) != 1) {
			pages = 0;
		}
		fclose(f);
	}
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/*
 * On some damaged traces (a packet of no bytes) the library goes on for ever when it opens them,
 * and takes memory as it goes. It may look at each packet, and these may be small; of metadata it
 * makes 60 times their size, in 0.25 s for a megabyte.
 */
static void limit_opening(char *const *folder, size_t n)
{
	enum { LEAST_S = 3, LEAST_BYTES = 128 << 20, MB = 1 << 20 };
	uint64_t bytes = usk_ctf_size(folder, n), metadata = 0;
	for (size_t i = 0; i < n; i++) {
		char *path = usk_format("%s/metadata", folder[i]);
		struct stat st;
		metadata += stat(path, &st) ? 0 : (uint64_t)st.st_size;
		free(path);
	}
	set_limit(RLIMIT_CPU, LEAST_S + bytes / (8 * MB) + 3 * metadata / MB);
	set_limit(RLIMIT_DATA, memory_now() + LEAST_BYTES + bytes / 4 + 150 * metadata);
}

static void limit_no_more(void)
{
	set_limit(RLIMIT_CPU, RLIM_INFINITY);
	set_limit(RLIMIT_DATA, RLIM_INFINITY);
}

static void child_main(int fd, char *const *folder, size_t n, const struct ctf_visitor *visitor)
{
	struct ctf_graph *g = NULL;
	static struct ctf_item item[ITEMS];
	static uint8_t packed[sizeof item];
	struct frame f;
	/* What lies between members goes through the pipe, too. */
	memset(&f, 0, sizeof f);
	usk_child_begin();
	limit_opening(folder, n);
	f.status = usk_ctf_open(folder, n, visitor, &g, &f.err);
	limit_no_more();
	if (!f.status) {
		f.totals = *usk_ctf_totals(g);
	}
	f.last = f.status != USK_OK;
	send_all(fd, &f, sizeof f);
	while (!f.last) {
		f.status = usk_ctf_next(g, item, ITEMS, &f.n, &f.err);
		f.totals = *usk_ctf_totals(g);
		f.last = f.status || !f.n;
		f.bytes = 0;
		for (size_t i = 0; i < f.n; i++) {
			memcpy(packed + f.bytes, &item[i], usk_ctf_item_size(&item[i]));
			f.bytes += usk_ctf_item_size(&item[i]);
		}
		send_all(fd, &f, sizeof f);
		send_all(fd, packed, f.bytes);
	}
	/* Everything goes with the process. */
	_exit(0);
}

/* ---- the parent ----------------------------------------------------------------------------- */

/* The items of a frame, from what came through the pipe. */
static void unpack(struct ctf_child *c, size_t n)
{
	const uint8_t *p = c->packed;
	for (size_t i = 0; i < n; i++) {
		memcpy(&c->item[i], p, offsetof(struct ctf_item, bytes));
		memcpy(&c->item[i], p, usk_ctf_item_size(&c->item[i]));
		p += usk_ctf_item_size(&c->item[i]);
	}
	c->n = n;
}

static enum usk_status try_open(void *ctx, struct usk_err *err)
{
	char *folder = ctx;
	limit_opening(&folder, 1);
	return usk_ctf_opens(ctx) ? USK_OK : usk_fail(err, USK_EINPUT, 0, "it is not taken");
}

bool usk_ctf_is_readable(const char *folder)
{
	return !usk_child_run(try_open, (void *)(uintptr_t)folder, folder, NULL);
}

/* Wait for its end; how it died, 0 for no signal. */
static int bury(struct ctf_child *c)
{
	int status = 0;
	if (c->fd >= 0) {
		close(c->fd);
		c->fd = -1;
	}
	while (c->pid > 0 && waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
	}
	c->pid = 0;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* The next frame and its items. */
static enum usk_status next_frame(struct ctf_child *c, struct usk_err *err)
{
	struct frame f;
	c->at = c->n = 0;
	if (usk_read_all(c->fd, &f, sizeof f) && f.n <= ITEMS && f.bytes <= sizeof c->packed &&
	    usk_read_all(c->fd, c->packed, f.bytes)) {
		c->totals = f.totals;
		unpack(c, f.n);
		if (f.last) {
			bury(c);
		}
		if (f.status && err) {
			*err = f.err;
		}
		return f.status;
	}
	int signal_number = bury(c);
	if (!c->totals.damage[0]) {
		snprintf(c->totals.damage, sizeof c->totals.damage,
			 "libbabeltrace2 died (%s) after %llu events, and what follows is lost",
			 signal_number ? strsignal(signal_number) : "it does not say of what",
			 (unsigned long long)c->totals.events);
	}
	return USK_OK;
}

enum usk_status usk_ctf_start(char *const *folder, size_t n, const struct ctf_visitor *visitor,
			      struct ctf_child **out, struct usk_err *err)
{
	int fd[2];
	if (pipe2(fd, O_CLOEXEC)) {
		return usk_fail(err, USK_EIO, 0, "no pipe: %s", strerror(errno));
	}
	struct ctf_child *c = usk_alloc(1, sizeof *c);
	c->fd = fd[0];
	/* With little room the two take turns instead of working side by side. */
	fcntl(fd[0], F_SETPIPE_SZ, PIPE_BYTES);
	c->pid = fork();
	if (c->pid == 0) {
		close(fd[0]);
		child_main(fd[1], folder, n, visitor);
	}
	close(fd[1]);
	enum usk_status status = USK_OK;
	if (c->pid < 0) {
		c->pid = 0;
		status = usk_fail(err, USK_EIO, 0, "no process to read it: %s", strerror(errno));
	} else {
		status = next_frame(c, err);
		if (!status && c->fd < 0) {
			status =
				usk_fail(err, USK_EINPUT, 0, "%s: %s", folder[0], c->totals.damage);
		}
	}
	if (status) {
		usk_ctf_stop(c);
		return status;
	}
	*out = c;
	return USK_OK;
}

enum usk_status usk_ctf_read(struct ctf_child *c, struct ctf_item *out, size_t cap, size_t *n,
			     struct usk_err *err)
{
	enum usk_status status = USK_OK;
	*n = 0;
	while (!status && c->at == c->n && c->fd >= 0) {
		status = next_frame(c, err);
	}
	if (!status) {
		*n = c->n - c->at < cap ? c->n - c->at : cap;
		memcpy(out, c->item + c->at, *n * sizeof *out);
		c->at += *n;
	}
	return status;
}

const struct ctf_totals *usk_ctf_read_totals(const struct ctf_child *c)
{
	return &c->totals;
}

void usk_ctf_stop(struct ctf_child *c)
{
	if (c) {
		/* It may be in the middle of something; it has nothing to lose. */
		if (c->pid > 0 && c->fd >= 0) {
			kill(c->pid, SIGKILL);
		}
		bury(c);
	}
	free(c);
}
