/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c - run a recorder, and write beside it what this machine's clock does meanwhile
 *
 * In    a command line: tcpdump, lttng, anything
 * Out   the command's own output and exit status; a log of the clock (src/clock/log.h)
 * Why   a clock that a daemon steers is as good as its quartz, if it is known what was done to it
 * Not   stopping or setting anything: signals go to the command, which ends when it likes
 */
#include "units.h"
#include "clock/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
				 SIGUSR2, SIGCONT, SIGALRM, SIGWINCH };

/* Blocked, and read from *fd: nothing is lost between two lines. *was: as the command gets them. */
static int take_signals(sigset_t *was)
{
	sigset_t all;
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	for (size_t i = 0; i < COUNT(passed_on); i++) {
		sigaddset(&all, passed_on[i]);
	}
	sigprocmask(SIG_BLOCK, &all, was);
	return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

static pid_t start(char *const *command, const sigset_t *mask)
{
	fflush(NULL);
	pid_t pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		signal(SIGXFSZ, SIG_DFL);
		execvp(command[0], command);
		int error = errno;
		say_sentence("%s: %s", command[0], strerror(error));
		_exit(error == ENOENT ? 127 : 126);
	}
	return pid;
}

/* A key press on the terminal reaches the command by itself. */
static void pass_on(int fd, pid_t pid)
{
	struct signalfd_siginfo s;
	while (read(fd, &s, sizeof s) == sizeof s) {
		bool typed = s.ssi_code == SI_KERNEL;
		if (s.ssi_signo != SIGCHLD && !typed) {
			kill(pid, (int)s.ssi_signo);
		}
	}
}

/* Until the command has ended: its status as waitpid() tells it. */
static enum usk_status watch(struct clock_log *log, pid_t pid, int signals, int *ended,
			     struct usk_err *err)
{
	enum usk_status first = USK_OK;
	while (waitpid(pid, ended, WNOHANG) == 0) {
		bool readable;
		/* A full disk ends the log and not the recording. */
		if (first) {
			poll(&(struct pollfd){ signals, POLLIN, 0 }, 1, -1);
		} else if (clock_log_wait(log, signals, -1, &readable, err)) {
			first = USK_EIO;
		}
		pass_on(signals, pid);
	}
	return first;
}

static const char *default_path(void)
{
	char host[65] = "";
	if (gethostname(host, sizeof host - 1) || !*host) {
		return "clock.csv";
	}
	return kept(usk_format("%s.clock.csv", host));
}

/* What the shell would say of the command. */
static int status_of(int ended)
{
	return WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
}

static int record_run(const struct args *args)
{
	size_t n = args_operands(args);
	char **command = kept(usk_alloc(n + 1, sizeof *command));
	const char *given = args_string(args, "output"), *path = given ? given : default_path();
	static struct clock_log log;
	int ended = 0;
	sigset_t was;
	for (size_t i = 0; i < n; i++) {
		command[i] = kept(usk_strdup(args_operand(args, i)));
	}
	must(clock_log_open(&log, path, args_flag(args, "force"), &why));
	int signals = take_signals(&was);
	pid_t pid = start(command, &was);
	bool runs = pid >= 0 && signals >= 0;
	if (!runs) {
		say_sentence("%s: cannot be run: %s", command[0], strerror(errno));
	}
	enum usk_status logged = runs ? watch(&log, pid, signals, &ended, &why) : USK_OK;
	if (logged) {
		say_error(&why);
	}
	uint64_t lines = log.lines;
	enum usk_status closed = clock_log_close(&log, &why);
	if (closed) {
		say_error(&why);
	}
	say(args, "unskew: %llu lines on this machine's clock in %s", (unsigned long long)lines + 1,
	    path);
	return status_of(ended) || (runs && !logged && !closed) ? status_of(ended) : EXIT_FAILED;
}

static const struct option_group record_options = {
	"Writing",
	{
		{ "output", "the log of the clock (default: HOST.clock.csv)", PATH("FILE"),
		  .letter = 'o' },
		{ "force", "replace files that exist", FLAG, .letter = 'f' },
	},
};

const struct command cmd_record = {
	.name = "record",
	.run = record_run,
	OPERANDS("-- COMMAND...", 1, SIZE_MAX),
	.example = {
		{ "capture, and log what the time daemon does meanwhile", "record -o web.clock -- tcpdump -i eth0 -n -s 96 --nano -w web.pcap" },
		{ "the log's own name, replaced if it is there", "record -f -- tcpdump -i any -n -w all.pcap" },
		{ "with a recorder of your own", "record -o app.clock -- ./record-events" },
	},
	.help = "run a recorder, and log how a time daemon steps or slews this machine's clock "
		"meanwhile",
	.more = "COMMAND is the recorder: tcpdump, lttng, anything. It gets standard input and "
		"output, and the signals that unskew gets; its exit status is that of `unskew "
		"record`. Meanwhile unskew writes a line a second that compares CLOCK_REALTIME, "
		"and the clocks of network cards that have one, with CLOCK_MONOTONIC_RAW; a clock "
		"that is stepped gets its line at once. `unskew sync --clock-log NAME=FILE` reads "
		"it. This machine's clock is read, never set or slewed. The cost is some 30 us a "
		"second.",
	.group = { &record_options, &options_common },
};
