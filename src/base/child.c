/* SPDX-License-Identifier: MIT */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin(void)
{
	const struct rlimit none = { 0, 0 };
	for (int i = 1; i < NSIG; i++) {
		signal(i, SIG_DFL);
	}
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	setrlimit(RLIMIT_CORE, &none);
}

enum usk_status usk_child_start(struct usk_child *c, void (*work)(void *ctx, FILE *out), void *ctx,
				struct usk_err *err)
{
	enum { PIPE_BYTES = 1 << 18 };
	int fd[2];
	if (pipe2(fd, O_CLOEXEC)) {
		return usk_fail(err, USK_EIO, 0, "no pipe: %s", strerror(errno));
	}
	/* With little room the two take turns instead of working side by side. */
	fcntl(fd[0], F_SETPIPE_SZ, PIPE_BYTES);
	c->in = fdopen(fd[0], "r");
	c->pid = c->in ? fork() : -1;
	if (c->pid == 0) {
		close(fd[0]);
		begin();
		FILE *out = fdopen(fd[1], "w");
		if (out) {
			work(ctx, out);
		}
		/* Everything goes with the process. */
		_exit(!out || fflush(out));
	}
	close(fd[1]);
	if (c->pid < 0) {
		c->pid = 0;
		usk_fail(err, USK_EIO, 0, "no process of its own: %s", strerror(errno));
		usk_child_end(c);
		return USK_EIO;
	}
	return USK_OK;
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

void usk_child_limit(rlim_t cpu_s, rlim_t more_bytes)
{
	set_limit(RLIMIT_CPU, cpu_s);
	set_limit(RLIMIT_DATA,
		  more_bytes == RLIM_INFINITY ? RLIM_INFINITY : memory_now() + more_bytes);
}

bool usk_child_read(struct usk_child *c, void *out, size_t n)
{
	size_t got = fread(out, 1, n, c->in);
	while (got < n && ferror(c->in) && errno == EINTR) {
		clearerr(c->in);
		got += fread((uint8_t *)out + got, 1, n - got, c->in);
	}
	return got == n;
}

const char *usk_child_end(struct usk_child *c)
{
	int state = 0;
	if (c->in) {
		fclose(c->in);
		c->in = NULL;
	}
	while (c->pid > 0 && waitpid(c->pid, &state, 0) < 0 && errno == EINTR) {
	}
	c->pid = 0;
	return WIFSIGNALED(state) ? strsignal(WTERMSIG(state)) : "it does not say of what";
}

void usk_child_kill(struct usk_child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
	}
	usk_child_end(c);
}

struct report {
	enum usk_status (*work)(void *ctx, struct usk_err *err);
	void *ctx;
	enum usk_status status;
	struct usk_err err;
};

static void run(void *ctx, FILE *out)
{
	struct report *r = ctx;
	/* Whoever ends the parent wants no more of this either. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r->status = r->work(r->ctx, &r->err);
	fwrite(r, sizeof *r, 1, out);
}

enum usk_status usk_child_run(enum usk_status (*work)(void *ctx, struct usk_err *err), void *ctx,
			      const char *what, struct usk_err *err)
{
	struct report r;
	struct usk_child c;
	/* What lies between members goes through the pipe, too. */
	memset(&r, 0, sizeof r);
	r.work = work;
	r.ctx = ctx;
	enum usk_status status = usk_child_start(&c, run, &r, err);
	if (status) {
		return status;
	}
	bool whole = usk_child_read(&c, &r, sizeof r);
	const char *how = usk_child_end(&c);
	if (!whole) {
		return usk_fail(err, USK_EINPUT, 0, "%s: libbabeltrace2 died of it (%s)", what,
				how);
	}
	if (r.status && err) {
		*err = r.err;
	}
	return r.status;
}
