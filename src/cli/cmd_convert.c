/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c - local stamps to the reference's time, with their bounds
 *
 * In    clocks.json; stamps as operands, or one a line on standard input
 * Out   local_ns, reference_ns, lo_ns, hi_ns per stamp, all absolute, "-" where not known
 * Why   for stamps in logs that have no format of their own
 * Not   tables and captures (apply)
 */
#include "cmd.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IN = 1 << 18, OUT = 1 << 16, ROW = 4 * 21 };

struct convert {
	const struct usk_clocks *clocks;
	struct usk_map **map; /* by clock; made when first needed */
	bool *ready;
	uint32_t clock; /* of --clock; USK_NO_CLOCK: each stamp names its own */
	bool unknown;	/* a stamp had no reference time or lacks a bound */
	char *out;
	size_t n_out;
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

static void flush(struct convert *v)
{
	fwrite(v->out, 1, v->n_out, stdout);
	v->n_out = 0;
}

static void put_row(struct convert *v, int64_t local_ns, const struct usk_stamp *s)
{
	const int64_t columns[] = { local_ns, s->reference_ns, s->lo_ns, s->hi_ns };
	if (OUT - v->n_out < ROW) {
		flush(v);
	}
	for (size_t i = 0; i < COUNT(columns); i++) {
		v->n_out += put_ns(v->out + v->n_out, columns[i]);
		v->out[v->n_out++] = i + 1 < COUNT(columns) ? '\t' : '\n';
		v->unknown = v->unknown || columns[i] == USK_NONE;
	}
}

static enum usk_status parse_stamp(const char *s, size_t n, int64_t *out, struct usk_err *err)
{
	if (n && n <= 18) { /* ns as they are: nearly every line */
		uint64_t value = 0;
		size_t i = 0;
		for (; i < n && s[i] >= '0' && s[i] <= '9'; i++) {
			value = value * 10 + (uint64_t)(s[i] - '0');
		}
		if (i == n) {
			*out = (int64_t)value;
			return USK_OK;
		}
	}
	return usk_parse_time(s, n, out, err);
}

/*
 * CLOCK:T at the last colon that leaves a known clock before it and a time behind: times in
 * RFC 3339 and names of clocks have colons of their own.
 */
static enum usk_status split(const struct convert *v, const char *s, size_t n, uint32_t *clock,
			     int64_t *local_ns, struct usk_err *err)
{
	bool any = false;
	for (size_t i = n; i-- > 0;) {
		if (s[i] != ':') {
			continue;
		}
		char *name = usk_format("%.*s", (int)i, s);
		*clock = usk_clocks_find(v->clocks, name, NULL, NULL);
		free(name);
		if (*clock != USK_NO_CLOCK) {
			any = true;
			if (!parse_stamp(s + i + 1, n - i - 1, local_ns, err)) {
				return USK_OK;
			}
		}
	}
	const char *colon = memrchr(s, ':', n);
	if (any) {
		return err ? err->code : USK_EINPUT;
	}
	if (!colon) {
		return usk_fail(err, USK_EINPUT, 0,
				"\"%.*s\" names no clock: write CLOCK:T or give --clock",
				n > 60 ? 60 : (int)n, s);
	}
	return usk_fail(err, USK_EINPUT, 0, "\"%.*s\" is not a clock of the table",
			colon - s > 60 ? 60 : (int)(colon - s), s);
}

static enum usk_status clock_ready(struct convert *v, uint32_t i, struct usk_err *err)
{
	const struct usk_clock *k = &v->clocks->clock[i];
	if (k->n_knots && k->knot[k->n_knots - 1].epoch) {
		return usk_fail(
			err, USK_EINPUT, 0,
			"clock %s was put back while it recorded, so that a stamp alone does "
			"not tell its moment",
			k->name);
	}
	v->map[i] = usk_map_new(k, v->clocks->max_skew_e12);
	v->ready[i] = true;
	return USK_OK;
}

/* What a stamp says: its clock and its time. */
static enum usk_status understand(const struct convert *v, const char *s, size_t n, uint32_t *clock,
				  int64_t *local_ns, struct usk_err *err)
{
	*clock = v->clock;
	return *clock == USK_NO_CLOCK ? split(v, s, n, clock, local_ns, err)
				      : parse_stamp(s, n, local_ns, err);
}

static enum usk_status convert(struct convert *v, uint32_t clock, int64_t local_ns,
			       struct usk_err *err)
{
	enum usk_status status = v->ready[clock] ? USK_OK : clock_ready(v, clock, err);
	struct usk_stamp stamp = { USK_NONE, USK_NONE, USK_NONE };
	if (!status && v->map[clock]) {
		status = usk_map_at(v->map[clock], local_ns, &stamp, err);
	}
	if (!status) {
		put_row(v, local_ns, &stamp);
	}
	return status;
}

static int bad_line(struct convert *v, uint64_t line, const struct usk_err *err)
{
	flush(v);
	return say_failed("line %llu: %s", (unsigned long long)line, err->msg);
}

/* Lines of standard input; what is done is printed before waiting for more. */
static int lines(struct convert *v)
{
	char *in = usk_alloc(IN, 1);
	size_t have = 0;
	uint64_t line = 0;
	int status = EXIT_DONE;
	for (bool end = false; !end && !status;) {
		ssize_t n = read(STDIN_FILENO, in + have, IN - have);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			status = say_failed("standard input: %s", strerror(errno));
			break;
		}
		end = n == 0;
		have += (size_t)n;
		if (end && have) {
			in[have++] = '\n'; /* there is room: a full buffer was an error before */
		}
		size_t at = 0;
		const char *nl;
		while (!status && (nl = memchr(in + at, '\n', have - at))) {
			struct usk_err err = { 0 };
			const char *s = in + at;
			size_t size = (size_t)(nl - s);
			at += size + 1;
			line++;
			size -= size && s[size - 1] == '\r';
			uint32_t clock;
			int64_t local_ns = 0;
			if (size && (understand(v, s, size, &clock, &local_ns, &err) ||
				     convert(v, clock, local_ns, &err))) {
				status = bad_line(v, line, &err);
			}
		}
		have -= at;
		memmove(in, in + at, have);
		if (!status && have == IN) {
			struct usk_err err = { .msg = "is too long for a stamp" };
			status = bad_line(v, line + 1, &err);
		}
		flush(v);
		fflush(stdout);
	}
	free(in);
	return status;
}

static int operands(struct convert *v, const struct args *args)
{
	for (size_t i = 1; i < args_operands(args); i++) {
		struct usk_err err = { 0 };
		const char *s = args_operand(args, i);
		uint32_t clock;
		int64_t local_ns = 0;
		if (understand(v, s, strlen(s), &clock, &local_ns, &err)) {
			flush(v);
			return say_usage("%s", err.msg);
		}
		if (convert(v, clock, local_ns, &err)) {
			flush(v);
			return say_error(&err);
		}
	}
	return EXIT_DONE;
}

static int convert_run(const struct args *args)
{
	struct usk_clocks *c = NULL;
	const char *name = args_string(args, "clock");
	int status = clocks_read(args_operand(args, 0), &c);
	if (status) {
		return status;
	}
	struct convert v = { .clocks = c, .clock = USK_NO_CLOCK };
	if (name) {
		v.clock = usk_clocks_find(c, name, NULL, NULL);
		if (v.clock == USK_NO_CLOCK) {
			status = say_usage("%s: the table has no clock of that name", name);
		}
	}
	v.map = usk_alloc(c->n_clocks, sizeof *v.map);
	v.ready = usk_alloc(c->n_clocks, sizeof *v.ready);
	v.out = usk_alloc(OUT, 1);
	if (!status) {
		status = args_operands(args) > 1 ? operands(&v, args) : lines(&v);
		flush(&v);
	}
	if (!status && v.unknown) {
		say(args, "unskew: note: \"-\" stands where the clock is not bounded");
		status = EXIT_PARTIAL;
	}
	for (size_t i = 0; i < c->n_clocks; i++) {
		usk_map_free(v.map[i]);
	}
	free(v.map);
	free(v.ready);
	free(v.out);
	usk_clocks_free(c);
	return status;
}

static const struct option_group convert_input = {
	"Input",
	(const struct option_row[]){
		{ .name = "clock",
		  .letter = 'c',
		  .type = OPTION_STRING,
		  .value = "NAME",
		  .help = "the clock that made the stamps; without it each is written CLOCK:T" },
		{ 0 },
	},
};

const struct command cmd_convert = {
	.name = "convert",
	.run = convert_run,
	.operands = "CLOCKS [T...]",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.help = "turn stamps of one clock into the reference's time, with bounds",
	.more = "T is in ns, or 1700000000.5s, or RFC 3339; without T, stamps are read from "
		"standard "
		"input, one a line. Prints local_ns, reference_ns, lo_ns and hi_ns, separated by "
		"tabs, all absolute; `-` where the clock is not bounded (then the status is 3).",
	.group = { &convert_input, &options_common },
};
