/* SPDX-License-Identifier: MIT */
/*
 * The first byte chooses the options of `unskew convert`, the others are its standard input: every
 * line has its row with bounds in order, up to one that is refused with a sentence; and how the
 * input is cut into pieces on its way changes nothing.
 */
#include "answer.h"
#include "cli/cmd.h"
#include "found.h"
#include "memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const struct command *const commands[] = { &cmd_convert, NULL };

enum { SETS = 8, WORDS = 7, PIECES = 15, MOST = 4096 };

static const struct set {
	const char *word[WORDS];
	int64_t field;
	char separator;
} sets[SETS] = {
	{ { "--clock", "host1" }, 0, 0 },
	{ { NULL }, 0, 0 },
	{ { "--clock", "host1", "--epoch", "1" }, 0, 0 },
	{ { "--clock", "a" }, 0, 0 },
	{ { "--tick-rate", "host1=32768", "--tick-rate", "a:b=0.000001" }, 0, 0 },
	{ { "--field", "2", "--separator", ",", "--clock", "host1" }, 2, ',' },
	{ { "--field", "1" }, 1, ' ' },
	{ { "--field", "3", "--separator", "tab", "--clock", "host2" }, 3, '\t' },
};

struct said {
	int status;
	char *out, *err;
	size_t n_out, n_err;
};

static void need(bool good)
{
	if (!good) {
		abort();
	}
}

/* Options and table are good, and what is wrong with a line ends no program. */
void leave(int status)
{
	(void)status;
	abort();
}

static const struct args *args_of(size_t which)
{
	static struct args *made[SETS];
	if (!made[which]) {
		static const char *word[SETS][WORDS + 1];
		const char **w = word[which];
		int n = 0;
		w[n++] = memory_file(1, answer_json, strlen(answer_json));
		for (int i = 0; i < WORDS && sets[which].word[i]; i++) {
			w[n++] = sets[which].word[i];
		}
		made[which] = args_parse(&cmd_convert, n, (char *const *)(uintptr_t)w);
	}
	return made[which];
}

/* With in as standard input, which is closed. */
static struct said run(size_t which, int in)
{
	struct said s = { 0 };
	FILE *const real_out = stdout, *const real_err = stderr;
	const struct args *args = args_of(which);
	FILE *out = open_memstream(&s.out, &s.n_out), *err = open_memstream(&s.err, &s.n_err);
	need(out && err && dup2(in, STDIN_FILENO) == STDIN_FILENO);
	close(in);
	stdout = out;
	stderr = err;
	s.status = cmd_convert.run(args);
	stdout = real_out;
	stderr = real_err;
	fclose(out);
	fclose(err);
	return s;
}

static int whole(const uint8_t *data, size_t size)
{
	return open(memory_file(0, data, size), O_RDONLY | O_CLOEXEC);
}

/* As somebody types it: each read() gets one piece. */
static int in_pieces(const uint8_t *data, size_t size)
{
	int end[2];
	need(!pipe2(end, O_CLOEXEC | O_DIRECT));
	size_t piece = size / PIECES + 1;
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		need(write(end[1], data + at, n) == (ssize_t)n);
	}
	close(end[1]);
	return end[0];
}

/* The next line, without its end; false: there is none. */
static bool next(const char **at, const char *end, const char **line, size_t *n)
{
	if (*at == end) {
		return false;
	}
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	*line = *at;
	*n = (size_t)((stop ? stop : end) - *at);
	*at = stop ? stop + 1 : end;
	return true;
}

static bool take_number(const char **s, const char *end, int64_t *ns)
{
	char *stop;
	*ns = USK_NONE;
	if (*s < end && **s == '-' && (*s + 1 == end || s[0][1] < '0' || s[0][1] > '9')) {
		++*s;
		return true;
	}
	*ns = strtoll(*s, &stop, 10);
	bool any = stop > *s && stop <= end;
	*s = stop;
	return any;
}

/* reference, lo and hi up to the line's end, a separator before each. */
static void check_columns(const char *s, const char *end, char separator, size_t n)
{
	int64_t ns[4];
	for (size_t i = 0; i < n; i++) {
		if (i || n == 3) {
			need(s < end && *s == separator);
			s++;
		}
		need(take_number(&s, end, &ns[i]));
	}
	need(s == end);
	int64_t reference = ns[n - 3], lo = ns[n - 2], hi = ns[n - 1];
	need(lo == USK_NONE || hi == USK_NONE || lo <= hi);
	need(reference == USK_NONE || lo == USK_NONE || lo <= reference);
	need(reference == USK_NONE || hi == USK_NONE || reference <= hi);
}

static bool is_heading(const char *s, size_t n, char separator)
{
	char *names = usk_format("%creference_ns%clo_ns%chi_ns", separator, separator, separator);
	size_t m = strlen(names);
	bool is = n >= m && !memcmp(s + n - m, names, m);
	free(names);
	return is;
}

static void check_rows(const struct set *set, const struct said *s, const char *in, size_t n)
{
	const char *out = s->out, *end = out + s->n_out, *line, *row;
	const char *in_end = in + n;
	size_t n_line, n_row;
	bool first = true;
	for (; next(&in, in_end, &line, &n_line); first = false) {
		n_line -= n_line && line[n_line - 1] == '\r';
		if (!n_line && !set->field) {
			continue;
		}
		if (!next(&out, end, &row, &n_row)) {
			need(s->status == EXIT_FAILED || s->status == EXIT_USAGE);
			return;
		}
		if (!n_line) {
			need(!n_row);
		} else if (!set->field) {
			check_columns(row, row + n_row, '\t', 4);
		} else {
			need(n_row > n_line && !memcmp(row, line, n_line));
			if (!first || !is_heading(row, n_row, set->separator)) {
				check_columns(row + n_line, row + n_row, set->separator, 3);
			}
		}
	}
	need(out == end && (s->status == EXIT_DONE || s->status == EXIT_PARTIAL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > MOST) {
		return -1;
	}
	size_t which = *data++ % SETS;
	size--;
	struct said one = run(which, whole(data, size)), two = run(which, in_pieces(data, size));
	need(one.status == two.status && one.n_out == two.n_out && one.n_err == two.n_err);
	need(!memcmp(one.out, two.out, one.n_out) && !memcmp(one.err, two.err, one.n_err));
	fuzz_found((uint64_t)one.status);
	fuzz_found_bytes(one.out, one.n_out);
	need(!one.n_out || one.out[one.n_out - 1] == '\n');
	bool failed = one.status == EXIT_FAILED || one.status == EXIT_USAGE;
	need(!failed || !strncmp(one.err, "unskew: ", 8));
	check_rows(&sets[which], &one, (const char *)data, size);
	free(one.out);
	free(one.err);
	free(two.out);
	free(two.err);
	return 0;
}
