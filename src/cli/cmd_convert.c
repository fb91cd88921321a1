/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c - local stamps to the reference's time, with their bounds
 *
 * In    clocks.json, or two exchanges; stamps as operands, or one a line on standard input, or a
 *       field of each line; logs
 * Out   local_ns, reference_ns, lo_ns, hi_ns per stamp, all absolute, "-" where not known; of a
 *       field: the lines as they are, with the last three behind; of logs: the same lines, their
 *       stamps on the reference's clock
 * Why   for stamps in logs that have no format of their own
 * Not   tables and captures (apply)
 */
#include "base/text.h"
#include "log.h"
#include "log_forms.h"
#include "stamps.h"
#include "unskew_clock.h"

#include <stdlib.h>
#include <string.h>

struct convert {
	struct stamps stamps;
	const struct args *args;
	bool exchanged; /* stamps are the other side's of map, not of a clock of the table */
	struct usk_live_map map;
	bool stale;	/* one was further from the second exchange than --max-age */
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
	char text[20], *end = text + sizeof text, *begin = usk_digits(ns, end);
	memcpy(to, begin, (size_t)(end - begin));
	return (size_t)(end - begin);
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

/* By two exchanges (Loeser 2003, eq. 7 and 8): within the precision of what this side showed. */
static struct usk_stamp convert_by_map(struct convert *v, int64_t remote)
{
	struct usk_live_time t;
	if (usk_live_map_at(&v->map, remote, &t) != USK_LIVE) {
		v->stale = true;
		return (struct usk_stamp){ USK_NONE, USK_NONE, USK_NONE };
	}
	return (struct usk_stamp){ .reference_ns = t.local,
				   .lo_ns = usk_saturate((usk_i128)t.local - t.precision),
				   .hi_ns = usk_saturate((usk_i128)t.local + t.precision) };
}

static enum usk_status parse(const struct convert *v, const char *s, size_t n, uint32_t *clock,
			     int64_t *local_ns, struct usk_err *err)
{
	*clock = USK_NO_CLOCK;
	return v->exchanged ? usk_parse_time(s, n, local_ns, err)
			    : stamps_parse(&v->stamps, s, n, clock, local_ns, err);
}

static enum usk_status convert(struct convert *v, uint32_t clock, int64_t local_ns,
			       struct usk_stamp *out, struct usk_err *err)
{
	struct stamps_answer a;
	if (v->exchanged) {
		*out = convert_by_map(v, local_ns);
		return USK_OK;
	}
	enum usk_status status = stamps_at(&v->stamps, clock, local_ns, &a, err);
	if (!status) {
		stamps_tell(&v->stamps, clock, local_ns, &a);
	}
	*out = a.at;
	return status;
}

/* A line whose field is a stamp, or the first with the names of columns. */
static enum usk_status convert_field(struct convert *v, const char *s, size_t n, uint64_t line,
				     struct usk_err *err)
{
	char join = v->separator ? v->separator : ' ';
	size_t from, end;
	uint32_t clock;
	int64_t local_ns = 0;
	struct usk_stamp at;
	if (!log_field(s, n, v->field, v->separator, &from, &end)) {
		return usk_fail(err, USK_EINPUT, line, "there is no field %lld",
				(long long)v->field);
	}
	const char *field = s + from;
	size_t size = end - from;
	enum usk_status status = parse(v, field, size, &clock, &local_ns, err);
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
	enum usk_status status = parse(v, s, n, &clock, &local_ns, err);
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

/* The operands are stamps; before them stands the table, if there is one. */
static size_t first_stamp(const struct convert *v)
{
	return v->exchanged ? 0 : 1;
}

static int convert_operands(struct convert *v)
{
	for (size_t i = first_stamp(v); i < args_operands(v->args); i++) {
		const char *s = args_operand(v->args, i);
		must(convert_stamp(v, s, strlen(s), true, &why));
	}
	return EXIT_DONE;
}

/* --separator: a character, or what some cannot be typed as. */
static void read_separator(struct convert *v)
{
	const char *s = args_string(v->args, "separator");
	if (s && !v->field && !args_given(v->args, "column")) {
		say_usage("--separator needs --field N or --column NAME: where the stamp is");
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

/* "BEFORE,REMOTE,AFTER" */
static struct usk_three_stamps read_exchange(const char *text)
{
	int64_t t[3] = { 0 };
	const char *at = text;
	for (int i = 0; i < 3; i++) {
		size_t n = i < 2 ? strcspn(at, ",") : strlen(at);
		if (usk_parse_time(at, n, &t[i], &why)) {
			say_usage("--exchange %s: is not BEFORE,REMOTE,AFTER: %s", text, why.msg);
		}
		at += n + (at[n] == ',');
	}
	return (struct usk_three_stamps){ t[0], t[1], t[2] };
}

static void read_exchanges(struct convert *v)
{
	static const char *const of_a_table[] = { "clock",  "tick-rate", "epoch", "log", "merge",
						  "column", "json-key",	 "names", "zone" };
	size_t n;
	const char *const *text = args_list(v->args, "exchange", &n);
	for (size_t i = 0; i < COUNT(of_a_table); i++) {
		if (args_given(v->args, of_a_table[i])) {
			say_usage("--%s is of a table of clocks, and --exchange needs none",
				  of_a_table[i]);
		}
	}
	if (n != 2) {
		say_usage("--exchange: two of them say how the clocks run, and %zu %s given", n,
			  n == 1 ? "was" : "were");
	}
	const struct usk_three_stamps x = read_exchange(text[0]), y = read_exchange(text[1]);
	must_in(usk_live_map_of(&x, &y, args_int(v->args, "allowance-ppm"),
				args_int(v->args, "max-age"), &v->map, &why),
		"--exchange");
}

static void open_clocks(struct convert *v)
{
	v->exchanged = args_given(v->args, "exchange");
	if (v->exchanged) {
		read_exchanges(v);
	} else if (!args_operands(v->args)) {
		say_usage("convert needs CLOCKS, a table of clocks that `unskew sync` wrote, or "
			  "--exchange twice");
	} else {
		stamps_open(&v->stamps, v->args);
		find_clock(v);
	}
}

/* Operands are logs. */
static bool of_logs(const struct args *args)
{
	static const char *const tells[] = {
		"log", "merge", "column", "json-key", "names", "zone"
	};
	bool any = false;
	for (size_t i = 0; i < COUNT(tells); i++) {
		any = any || args_given(args, tells[i]);
	}
	return any;
}

static struct log_place read_place(const struct convert *v)
{
	struct log_place p = { .field = v->field, .separator = v->separator };
	p.column = args_string(v->args, "column");
	p.key = args_string(v->args, "json-key");
	if ((p.field != 0) + (p.column != NULL) + (p.key != NULL) > 1) {
		say_usage("--field, --column and --json-key name one place: give one of them");
	}
	p.separator = p.column && !p.separator ? ',' : p.separator;
	return p;
}

static int convert_logs(struct convert *v)
{
	struct log_options o = { .stamps = &v->stamps, .place = read_place(v) };
	const char *zone = args_string(v->args, "zone");
	size_t n = args_operands(v->args) - 1;
	if (args_given(v->args, "tick-rate")) {
		say_usage("--tick-rate is of stamps that are integers, and those of logs are dates "
			  "or times since 1970");
	}
	if (zone && !log_zone(zone, strlen(zone), &o.zone_s)) {
		say_usage("--zone %s: write it as +01:00 or UTC", zone);
	}
	o.merge = args_flag(v->args, "merge");
	o.names = args_flag(v->args, "names");
	const char **file = usk_alloc(n, sizeof *file);
	for (size_t i = 0; i < n; i++) {
		file[i] = args_operand(v->args, i + 1);
	}
	int status = logs_convert(&o, file, n);
	free(file);
	return status;
}

static void tell_unknown(const struct convert *v)
{
	if (v->stale) {
		say(v->args, "unskew: note: \"-\" stands where a stamp is further than --max-age "
			     "from the second exchange");
	} else if (!v->stamps.repeats) {
		say(v->args, "unskew: note: \"-\": no message bounds the clock on that side");
	}
}

static int convert_run(const struct args *args)
{
	static struct convert v;
	v = (struct convert){ .args = args, .field = args_int(args, "field") };
	open_clocks(&v);
	read_separator(&v);
	if (of_logs(args)) {
		int done = convert_logs(&v);
		stamps_free(&v.stamps);
		return done;
	}
	bool given = args_operands(args) > first_stamp(&v);
	if (v.field && given) {
		say_usage("--field reads standard input; do not pass stamps as well");
	}
	int status = given ? convert_operands(&v) : stamps_lines(convert_line, &v);
	if (!status && v.unknown) {
		tell_unknown(&v);
		status = EXIT_PARTIAL;
	}
	if (!v.exchanged) {
		stamps_free(&v.stamps);
	}
	return status;
}

static const struct option_group convert_input = {
	"Input",
	{
		{ "clock", "the clock of the stamps; without it write each as CLOCK:T",
		  TEXT("NAME"), .letter = 'c' },
		{ "field",
		  "read lines of text in which field N, counted from 1, is the stamp; print each "
		  "line with reference_ns, lo_ns and hi_ns appended; of logs: where the stamp "
		  "begins",
		  INTEGER("N", NULL, "1", NULL), .letter = 'F' },
		{ "separator",
		  "the character between fields, or \"tab\"; otherwise any blanks and tabs",
		  TEXT("CHAR"), .letter = 's' },
		TICK_ROW,
		EPOCH_ROW,
	},
};

static const struct option_group convert_log = {
	"Whole logs: the same lines with their stamps on the reference's clock",
	{
		{ "log", "operands are logs: [CLOCK=]FILE each, or standard input if there is none",
		  FLAG },
		{ "merge",
		  "the same of several logs, as one: records by the reference's time, the lines "
		  "without a stamp after the line that has theirs",
		  FLAG },
		{ "names", "put the clock's name and a blank before each line", FLAG },
		{ "column",
		  "the stamp is in the column that the first line gives this name, of CSV "
		  "or with --separator",
		  TEXT("NAME") },
		{ "json-key",
		  "a line is a JSON object that has the stamp at this key, as ts or log.time",
		  TEXT("KEY") },
		{ "zone", "the time zone of dates that name none, as +01:00; otherwise UTC",
		  TEXT("ZONE") },
	},
};

static const struct option_group convert_exchange = {
	"Without a table: two clocks and two exchanges",
	{
		{ "exchange",
		  "this side's clock before, the other's meanwhile, this side's after: give two, "
		  "the later one last, and stamps of the other side",
		  TEXTS("BEFORE,REMOTE,AFTER") },
		{ "allowance-ppm", "by how much the rates may change after the second exchange",
		  PPM("1", "0", "1000") },
		{ "max-age", "no answer further than that from the second exchange",
		  DURATION("100s", "1ns", NULL) },
	},
};

const struct command cmd_convert = {
	.name = "convert",
	.run = convert_run,
	.operands = "[CLOCKS] [T... | [CLOCK=]LOG...]",
	.max_operands = SIZE_MAX,
	.example = {
		{ "one stamp, with its error bounds", "convert clocks.json --clock server 2026-11-22T10:00:00.5Z" },
		{ "the logs of two hosts as one, in true order", "convert clocks.json --merge --names web=access.log db=postgresql.log" },
		{ "the third column of a CSV: three columns more", "convert clocks.json --clock db --field 3 --separator , <queries.csv" },
	},
	.brief = { "clock", "log", "merge", "names", "column", "json-key", "field", "separator", "zone" },
	.help = "convert stamps of one clock to the reference's time, with error bounds",
	.more = "T is in ns, or 1700000000.5s, or RFC 3339, or ticks (--tick-rate); without T, "
		"stamps are read from standard input, one a line. Prints local_ns, reference_ns, "
		"lo_ns and hi_ns, separated by tabs: the stamp, the estimate of the reference's "
		"time, and the bounds between which that time lies, all absolute; `-` where "
		"messages give no bound (then the status is 3). A stamp that is years away from the "
		"recording is refused: it is in another unit, or of another clock. With --field a line is text with "
		"the stamp in it; a first line without a digit in that field is taken for the "
		"names of the columns.\n\n"
		"With --log, --merge or another option of logs, the operands are logs, packed ones too, "
		"and every line is printed with its stamp on the reference's clock, in the form, the "
		"time zone and with as many digits as it had, rounded to the nearest: a correction "
		"smaller than half of the last digit leaves it as it was. All other bytes stay. A "
		"stamp is a date in one of the forms of doc/logs.md, or a number of 10, 13, 16 or 19 "
		"digits, which counts s, ms, us or ns since 1970 and may have a fraction. The first "
		"stamp says which form the log has, and if it begins its line, those of all other "
		"lines do. A line without a stamp is of the record before it. --merge orders records "
		"by the reference's time in ns, and those of one log stay in the order they have "
		"there.\n\n"
		"With --exchange, stamps of one clock become the time of another by two exchanges "
		"between them, as a row of the table of `unskew line` has them (t1_ns, t2_ns and "
		"t4_ns): reference_ns is what this side's clock showed when the other's showed "
		"local_ns, and is no further off than the precision, which lo_ns and hi_ns "
		"enclose, as long as the rates stay within the allowance of what they were between "
		"the exchanges (Loeser 2003, eq. 7 and 8). Stamps may be ticks: of each side its "
		"own, and the answer is in this side's; then --max-age is in the other's, 1 ns for "
		"a tick.",
	.group = { &convert_input, &convert_log, &convert_exchange, &options_common },
};
