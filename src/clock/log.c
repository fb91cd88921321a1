/* SPDX-License-Identifier: MIT */
/*
 * log.c - a line a second: what CLOCK_REALTIME showed between two readings of the raw clock
 *
 * A timer that a set clock cancels (timerfd_create(2)) wakes at once, so that a step is known to
 * less than a second.
 */
#include "clock/log.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <unistd.h>

enum { TRIES = 7 };
#define SECOND INT64_C(1000000000)

static enum usk_status failed(struct clock_log *l, const char *what, struct usk_err *err)
{
	return usk_fail(err, USK_EIO, 0, "%s: cannot be %s: %s", l->path, what, strerror(errno));
}

/* In one write each, so that a line that stands is whole. */
static enum usk_status put(struct clock_log *l, char *text, struct usk_err *err)
{
	bool good = usk_write_all(l->fd, text, strlen(text));
	enum usk_status status = good ? USK_OK : failed(l, "written", err);
	free(text);
	return status;
}

/* frequency: 2^-16 ppm; tick: us of what 10,000 us are. modes 0 only asks. */
static void state_now(char text[48])
{
	struct timex t = { .modes = 0 };
	int state = adjtimex(&t);
	if (state >= 0) {
		int64_t hz = sysconf(_SC_CLK_TCK), one = 1000000 / (hz > 0 ? hz : 100);
		int64_t rate = (int64_t)t.freq * 1000000 / 65536 +
			       (t.tick - one) * (INT64_C(1000000000000) / one);
		snprintf(text, 48, "%lld,%d", (long long)rate, t.status);
	}
}

/* Far away: it is there to be cancelled. */
static void arm(const struct clock_log *l)
{
	const struct itimerspec far = { .it_value = { .tv_sec = INT64_C(1) << 33 } };
	timerfd_settime(l->timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
}

/* Since it was asked last. */
static bool was_set(const struct clock_log *l)
{
	uint64_t expired;
	bool set = read(l->timer, &expired, sizeof expired) < 0 && errno == ECANCELED;
	if (set) {
		arm(l);
	}
	return set;
}

/* CLOCK_REALTIME and the network cards' clocks, by the raw clock, which is the first source. */
static enum usk_status lines(struct clock_log *l, bool set, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < l->n_sources && !status;) {
		const struct source *s = &l->source[i];
		bool real = !strcmp(s->name, "realtime"), again = false;
		if (real || s->fd >= 0) {
			char state[48] = ",";
			struct bracket b = source_bracket(s, l->source, TRIES);
			if (real) {
				state_now(state);
				again = was_set(l);
				set = set || again;
				l->lines++;
			}
			status =
				put(l,
				    usk_format("%s,%lld,%lld,%lld,%s,%s\n", s->name,
					       (long long)b.before, (long long)b.time,
					       (long long)b.after, state, real && set ? "set" : ""),
				    err);
		}
		/* Set while it was read, it left a line that is as doubtful: the next at once. */
		i += !again;
	}
	return status;
}

static enum usk_status header(struct clock_log *l, struct usk_err *err)
{
	char boot[64] = "unknown", host[65] = "unknown";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, boot, sizeof boot - 1);
	if (n > 0) {
		boot[n] = 0;
		boot[strcspn(boot, "\n")] = 0;
	}
	if (fd >= 0) {
		close(fd);
	}
	if (gethostname(host, sizeof host - 1)) {
		host[0] = 0;
	}
	return put(l,
		   usk_format("# unskew clock log, raw clock of boot %s, host %s\n"
			      "clock,before_ns,time_ns,after_ns,rate_e12,status,event\n",
			      boot, host),
		   err);
}

enum usk_status clock_log_open(struct clock_log *l, const char *path, bool force,
			       struct usk_err *err)
{
	*l = (struct clock_log){ .timer = -1 };
	l->path = usk_strdup(path);
	l->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	if (l->fd < 0 && errno == EEXIST) {
		return usk_fail(err, USK_EIO, 0, "%s: exists already; use --force to replace it",
				path);
	}
	if (l->fd < 0) {
		return failed(l, "written", err);
	}
	l->n_sources = sources_open(l->source);
	l->timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	arm(l);
	l->next_ns = usk_clock_ns(CLOCK_MONOTONIC) + SECOND;
	enum usk_status status = header(l, err);
	return status ? status : lines(l, false, err);
}

enum usk_status clock_log_wait(struct clock_log *l, int also, int64_t most_ns, bool *readable,
			       struct usk_err *err)
{
	int64_t end = most_ns < 0 ? INT64_MAX : usk_clock_ns(CLOCK_MONOTONIC) + most_ns;
	enum usk_status status = USK_OK;
	*readable = false;
	while (!status && !*readable) {
		struct pollfd fd[] = { { l->timer, POLLIN, 0 }, { also, POLLIN, 0 } };
		int64_t now = usk_clock_ns(CLOCK_MONOTONIC);
		int64_t left = (l->next_ns < end ? l->next_ns : end) - now;
		int got = poll(fd, 2, left > 0 ? (int)((left + 999999) / 1000000) : 0);
		if (got > 0 && fd[0].revents) {
			bool set = was_set(l);
			arm(l);
			status = set ? lines(l, true, err) : USK_OK;
		}
		*readable = got > 0 && fd[1].revents;
		now = usk_clock_ns(CLOCK_MONOTONIC);
		if (!status && now >= l->next_ns) {
			status = lines(l, false, err);
			/* A machine that slept owes nobody the lines of that time. */
			l->next_ns += (now - l->next_ns) / SECOND * SECOND + SECOND;
		}
		if (now >= end) {
			break;
		}
	}
	return status;
}

enum usk_status clock_log_close(struct clock_log *l, struct usk_err *err)
{
	enum usk_status status = USK_OK;
	if (l->fd >= 0 && l->lines) {
		status = lines(l, false, err);
	}
	if (l->fd >= 0 && close(l->fd) && !status) {
		status = failed(l, "written", err);
	}
	if (l->timer >= 0) {
		close(l->timer);
	}
	sources_close(l->source, l->n_sources);
	free(l->path);
	l->path = NULL;
	return status;
}
