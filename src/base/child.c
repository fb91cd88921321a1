/* SPDX-License-Identifier: MIT */
#include "base/child.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void usk_child_begin(void)
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

struct report {
	enum usk_status status;
	struct usk_err err;
};

enum usk_status usk_child_run(enum usk_status (*work)(void *ctx, struct usk_err *err), void *ctx,
			      const char *what, struct usk_err *err)
{
	struct report r = { USK_EINPUT, { .code = USK_EINPUT } };
	int fd[2], state = 0;
	if (pipe2(fd, O_CLOEXEC)) {
		return usk_fail(err, USK_EIO, 0, "no pipe: %s", strerror(errno));
	}
	pid_t pid = fork();
	if (pid == 0) {
		usk_child_begin();
		/* Whoever ends the parent wants no more of this either. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* What lies between members goes through the pipe, too. */
		memset(&r, 0, sizeof r);
		r.status = work(ctx, &r.err);
		ssize_t n = write(fd[1], &r, sizeof r);
		_exit(n != sizeof r);
	}
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return usk_fail(err, USK_EIO, 0, "no process of its own: %s", strerror(errno));
	}
	bool whole = usk_read_all(fd[0], &r, sizeof r);
	close(fd[0]);
	while (waitpid(pid, &state, 0) < 0 && errno == EINTR) {
	}
	if (!whole) {
		return usk_fail(err, USK_EINPUT, 0, "%s: libbabeltrace2 died of it (%s)", what,
				WIFSIGNALED(state) ? strsignal(WTERMSIG(state))
						   : "it does not say of what");
	}
	if (r.status && err) {
		*err = r.err;
	}
	return r.status;
}
