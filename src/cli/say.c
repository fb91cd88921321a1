/* SPDX-License-Identifier: MIT */
/* What goes to people: sentences, colour, progress. Nothing of it goes to stdout. */
#include "cmd.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *colour(FILE *to, const char *what)
{
	static const struct {
		const char *name, *code;
	} codes[] = {
		{ "off", "\033[0m" },  { "bold", "\033[1m" },	{ "dim", "\033[2m" },
		{ "red", "\033[31m" }, { "green", "\033[32m" }, { "yellow", "\033[33m" },
	};
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	if ((no && *no) || !term || !strcmp(term, "dumb") || !is_terminal(fileno(to))) {
		return "";
	}
	for (size_t i = 0; i < COUNT(codes); i++) {
		if (!strcmp(codes[i].name, what)) {
			return codes[i].code;
		}
	}
	return "";
}

static const struct program alone = { .name = "unskew",
				      .typed = "unskew",
				      .purpose = "put the traces of many machines on one clock, "
						 "after the fact" };
static const struct program *running = &alone;

const struct program *program(void)
{
	return running;
}

void program_is(const struct program *p)
{
	running = p;
}

/* mpirun may give a terminal of its own, to whomever it then hands what is written. */
bool is_terminal(int fd)
{
	return !running->mpirun && isatty(fd);
}

/* It may quote names, which come from anywhere. */
static char *visible_line(const char *fmt, va_list ap)
{
	char *said = usk_vformat(fmt, ap), *visible = usk_visible(said, false);
	free(said);
	return visible;
}

void say_sentence(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	progress_end();
	fflush(stdout);
	char *line = visible_line(fmt, ap);
	if (running->failed) {
		running->failed(line);
	} else {
		fprintf(stderr, "%s%s:%s %s\n", colour(stderr, "red"), running->name,
			colour(stderr, "off"), line);
	}
	free(line);
	va_end(ap);
}

int say_error(const struct usk_err *err)
{
	say_sentence("%s", err->msg);
	return err->code == USK_EUSAGE ? EXIT_USAGE : EXIT_FAILED;
}

struct usk_err why;

void must(enum usk_status status)
{
	if (status) {
		leave(say_error(&why));
	}
}

void must_in(enum usk_status status, const char *context)
{
	if (status && context) {
		usk_fail_in(status, &why, "%s", context);
	}
	must(status);
}

void say(const struct args *args, const char *fmt, ...)
{
	if (args_flag(args, "quiet")) {
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	fflush(stdout);
	char *line = visible_line(fmt, ap);
	fprintf(running->lines ? running->lines : stderr, "%s\n", line);
	free(line);
	va_end(ap);
}

void say_notes(const struct args *args, char *const *note, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		say(args, "unskew: note: %s", note[i]);
	}
}

static struct {
	int64_t start_ns, shown_ns;
	bool on, visible;
} progress;

/* What is between two times that it is shown, and before the first. */
enum { FIRST_NS = 500000000, AGAIN_NS = 50000000 };
static const int64_t line_again_ns = 15000000000;

void progress_start(const struct args *args)
{
	progress.start_ns = usk_clock_ns(CLOCK_MONOTONIC);
	progress.on = !args_flag(args, "quiet") && (running->mpirun || isatty(STDERR_FILENO));
}

void progress_show(void *ctx, double done, const char *what)
{
	enum { WIDTH = 30 };
	int64_t now = progress.on ? usk_clock_ns(CLOCK_MONOTONIC) : 0;
	(void)ctx;
	if (!progress.on ||
	    now - progress.start_ns < (running->mpirun ? line_again_ns : FIRST_NS) ||
	    now - progress.shown_ns < (running->mpirun ? line_again_ns : AGAIN_NS)) {
		return;
	}
	progress.shown_ns = now;
	done = done < 0 ? 0 : done > 1 ? 1 : done;
	if (running->mpirun) {
		fprintf(stderr, "%s: %3d %% %s\n", running->name, (int)(done * 100),
			what ? what : "");
		return;
	}
	progress.visible = true;
	int full = (int)(done * WIDTH);
	static const char bar[] = "##############################";
	fprintf(stderr, "\r[%.*s%*s] %3d %% %-24.24s", full, bar, WIDTH - full, "",
		(int)(done * 100), what ? what : "");
}

void progress_end(void)
{
	if (progress.visible) {
		fprintf(stderr, "\r%60s\r", "");
		progress.visible = false;
	}
}
