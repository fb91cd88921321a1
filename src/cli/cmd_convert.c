/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c - local stamps to the reference's time, with their bounds
 *
 * In    clocks.json; stamps as operands, or one a line on standard input, or a field of each line
 * Out   local_ns, reference_ns, lo_ns, hi_ns per stamp, all absolute, "-" where not known; of a
 *       field: the lines as they are, with the last three behind
 * Why   for stamps in logs that have no format of their own
 * Not   tables and captures (apply)
 */
#include "stamps.h"

#include <string.h>

struct convert {
	struct stamps stamps;
	int64_t field;	/* 0: a line is a stamp */
	char separator; /* 0: blanks and tabs, as many as there are */
	bool unknown;	/* a stamp had no reference time or lacks a bound */
};

static size_t put_ns(char *to, int64_t ns)
{
	if (ns == USK_NONE) {
		*to = '-';
		return 1;
	}
	char digits[20];
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	size_t n = 0, at = 0;
	do {
		digits[n++] = (char)('0' + size % 10);
	} while (size /= 10);
	if (ns < 0) {
		to[at++] = '-';
	}
	while (n) {
		to[at++] = digits[--n];
	}
	return at;
}

/* Numbers, a separator between them and a line's end behind. */
static void put_columns(struct convert *v, const int64_t *column, size_t n, char separator)
{
	char row[4 * 21];
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		used += put_ns(row + used, column[i]);
		row[used++] = i + 1 < n ? separator : '\n';
		v->unknown = v->unknown || column[i] == USK_NONE;
	}
	fwrite(row, 1, used, stdout);
}

static enum usk_status convert(struct convert *v, uint32_t clock, int64_t local_ns,
			       struct usk_stamp *out, struct usk_err *err)
{
	struct stamps_answer a;
	enum usk_status status = stamps_at(&v->stamps, clock, local_ns, &a, err);
	if (!status) {
		stamps_tell(&v->stamps, clock, local_ns, &a);
	}
	*out = a.at;
	return status;
}

/* The field of that number in s[n]; false: there are not as many. */
static bool find_field(const struct convert *v, const char *s, size_t n, const char **field,
		       size_t *size)
{
	size_t at = 0;
	for (int64_t k = 1;; k++) {
		size_t from = at;
		if (v->separator) {
			const char *end = memchr(s + at, v->separator, n - at);
			at = end ? (size_t)(end - s) : n;
		} else {
			while (from < n && (s[from] == ' ' || s[from] == '\t')) {
				from++;
			}
			for (at = from; at < n && s[at] != ' ' && s[at] != '\t'; at++) {
			}
			if (from == n) {
				return false;
			}
		}
		if (k == v->field) {
			*field = s + from;
			*size = at - from;
			return true;
		}
		if (at == n) {
			return false;
		}
		at += v->separator != 0;
	}
}

/* A line whose field is a stamp, or the first with the names of columns. */
static enum usk_status convert_field(struct convert *v, const char *s, size_t n, uint64_t line,
				     struct usk_err *err)
{
	char join = v->separator ? v->separator : ' ';
	const char *field;
	size_t size;
	uint32_t clock;
	int64_t local_ns = 0;
	struct usk_stamp at;
	if (!find_field(v, s, n, &field, &size)) {
		return usk_fail(err, USK_EINPUT, line, "there is no field %lld",
				(long long)v->field);
	}
	bool quoted = size > 1 && field[0] == '"' && field[size - 1] == '"';
	field += quoted;
	size -= quoted ? 2 : 0;
	enum usk_status status = stamps_parse(&v->stamps, field, size, &clock, &local_ns, err);
	bool digits = memchr(field, '0', size) != NULL;
	for (size_t i = 0; i < size && !digits; i++) {
		digits = field[i] > '0' && field[i] <= '9';
	}
	if (status && line == 1 && !digits) {
		fwrite(s, 1, n, stdout);
		printf("%creference_ns%clo_ns%chi_ns\n", join, join, join);
		return USK_OK;
	}
	status = status ? status : convert(v, clock, local_ns, &at, err);
	if (!status) {
		const int64_t column[] = { at.reference_ns, at.lo_ns, at.hi_ns };
		fwrite(s, 1, n, stdout);
		putchar(join);
		put_columns(v, column, COUNT(column), join);
	}
	return status;
}

static enum usk_status convert_stamp(struct convert *v, const char *s, size_t n, bool operand,
				     struct usk_err *err)
{
	uint32_t clock;
	int64_t local_ns = 0;
	struct usk_stamp at;
	enum usk_status status = stamps_parse(&v->stamps, s, n, &clock, &local_ns, err);
	if (status) {
		err->code = operand ? USK_EUSAGE : err->code;
		return status;
	}
	status = convert(v, clock, local_ns, &at, err);
	if (!status) {
		const int64_t column[] = { local_ns, at.reference_ns, at.lo_ns, at.hi_ns };
		put_columns(v, column, COUNT(column), '\t');
	}
	return status;
}

static enum usk_status convert_line(void *ctx, const char *s, size_t n, uint64_t line,
				    struct usk_err *err)
{
	struct convert *v = ctx;
	if (!n && v->field) {
		putchar('\n');
	}
	return !n	  ? USK_OK
	       : v->field ? convert_field(v, s, n, line, err)
			  : convert_stamp(v, s, n, false, err);
}

static int convert_operands(struct convert *v)
{
	for (size_t i = 1; i < args_operands(v->stamps.args); i++) {
		const char *s = args_operand(v->stamps.args, i);
		must(convert_stamp(v, s, strlen(s), true, &why));
	}
	return EXIT_DONE;
}

/* --separator: a character, or what some cannot be typed as. */
static void read_separator(struct convert *v)
{
	const char *s = args_string(v->stamps.args, "separator");
	if (s && !v->field) {
		say_usage("--separator needs --field N: the field that holds the stamp");
	}
	if (s) {
		v->separator = !strcmp(s, "tab") || !strcmp(s, "\\t") ? '\t' : s[0];
		if (v->separator != '\t' && s[1]) {
			say_usage("--separator %s: is one character, or \"tab\"", s);
		}
	}
}

static void find_clock(struct convert *v)
{
	const char *name = args_string(v->stamps.args, "clock");
	v->stamps.clock = name ? usk_clocks_find(v->stamps.clocks, name, NULL, NULL) : USK_NO_CLOCK;
	if (name && v->stamps.clock == USK_NO_CLOCK) {
		say_usage("%s: the table has no clock of that name", name);
	}
}

static int convert_run(const struct args *args)
{
	static struct convert v;
	v = (struct convert){ .field = args_int(args, "field") };
	stamps_open(&v.stamps, args);
	find_clock(&v);
	read_separator(&v);
	if (v.field && args_operands(args) > 1) {
		say_usage("--field reads standard input; do not pass stamps as well");
	}
	int status =
		args_operands(args) > 1 ? convert_operands(&v) : stamps_lines(convert_line, &v);
	if (!status && v.unknown) {
		if (!v.stamps.repeats) {
			say(args, "unskew: note: \"-\": no message bounds the clock on that side");
		}
		status = EXIT_PARTIAL;
	}
	stamps_free(&v.stamps);
	return status;
}

static const struct option_group convert_input = {
	"Input",
	{
		{ "clock", "the clock of the stamps; without it write each as CLOCK:T",
		  TEXT("NAME"), .letter = 'c' },
		{ "field",
		  "read lines of text in which field N, counted from 1, is the stamp; print each "
		  "line with reference_ns, lo_ns and hi_ns appended",
		  INTEGER("N", NULL, "1", NULL), .letter = 'F' },
		{ "separator",
		  "the character between fields, or \"tab\"; otherwise any blanks and tabs",
		  TEXT("CHAR"), .letter = 's' },
		TICK_ROW,
		EPOCH_ROW,
	},
};

const struct command cmd_convert = {
	.name = "convert",
	.run = convert_run,
	.operands = "CLOCKS [T...]",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.help = "convert stamps of one clock to the reference's time, with error bounds",
	.more = "T is in ns, or 1700000000.5s, or RFC 3339, or ticks (--tick-rate); without T, "
		"stamps are read from standard input, one a line. Prints local_ns, reference_ns, "
		"lo_ns and hi_ns, separated by tabs: the stamp, the estimate of the reference's "
		"time, and the bounds between which that time lies, all absolute; `-` where "
		"messages give no bound (then the status is 3). With --field a line is text with "
		"the stamp in it; a first line without a digit in that field is taken for the "
		"names of the columns.",
	.group = { &convert_input, &options_common },
};
