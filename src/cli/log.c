/* SPDX-License-Identifier: MIT */
/*
 * log.c - whole logs on the reference's clock, one by one or merged
 *
 * In    logs, each of one clock; a table of clocks
 * Out   the same lines, their stamps on the reference's clock and nothing else changed; merged: by
 *       that time, what has no stamp behind the line that has
 * Why   what happened first is seen where all lines stand in one file
 * Not   lines of one file among themselves: they stay in order, whatever their stamps say, as the
 *       file was written so
 */
#include "log.h"
#include "log_stamp.h"
#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1 << 24, BLOCK = 1 << 18 };

struct log_file {
	const char *path, *name; /* NULL: standard input; of its clock */
	uint32_t clock;
	struct usk_input in;
	struct log_place place;
	struct log_scan scan;
	/* Bytes that were read; s[from, end) is the line, s[end, have) what follows. */
	char *s;
	size_t room, from, end, have;
	uint64_t line; /* its number */
	bool over;     /* nothing follows s[have) */
	bool done;     /* there is no line */
	bool found;    /* some line had a stamp */
	int64_t key;   /* the line's time, or that of those before it if they were later */
};

struct logs {
	const struct log_options *o;
	struct log_file *file;
	size_t n;
	bool open;    /* the last line printed had no end */
	bool unknown; /* the clock says nothing of some stamp */
};

/* ---- lines -------------------------------------------------------------------------- */

/* Bytes behind s[have); what is done is flushed before waiting for standard input. */
static void read_more(struct log_file *f)
{
	if (f->path) {
		must_in(usk_input_need(&f->in, 0, 1, &why), f->path);
		size_t got = f->in.have < f->room - f->have ? f->in.have : f->room - f->have;
		memcpy(f->s + f->have, f->in.data, got);
		f->have += got;
		f->over = !got;
		must_in(usk_input_need(&f->in, got, 0, &why), f->path);
		return;
	}
	ssize_t got;
	fflush(stdout);
	do {
		got = read(STDIN_FILENO, f->s + f->have, f->room - f->have);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		say_failed("standard input: %s", strerror(errno));
	}
	f->have += (size_t)got;
	f->over = !got;
}

static const char *title(const struct log_file *f)
{
	return f->path ? f->path : "standard input";
}

static void next_line(struct log_file *f)
{
	size_t looked = f->end;
	f->from = f->end;
	f->line++;
	for (;;) {
		const char *end = memchr(f->s + looked, '\n', f->have - looked);
		if (end || f->over) {
			f->end = end ? (size_t)(end - f->s) + 1 : f->have;
			f->done = f->end == f->from;
			return;
		}
		f->have -= f->from;
		memmove(f->s, f->s + f->from, f->have);
		f->from = f->end = 0;
		looked = f->have;
		if (f->have >= LONGEST) {
			say_failed("%s: line %llu: is longer than 16 MiB", title(f),
				   (unsigned long long)f->line);
		}
		if (f->have == f->room) {
			f->room *= 2;
			f->s = usk_grow(f->s, f->room, 1);
		}
		read_more(f);
	}
}

static void put_line(struct logs *l, const struct log_file *f)
{
	size_t n = f->end - f->from;
	if (l->open) {
		putc_unlocked('\n', stdout);
	}
	if (l->o->names) {
		fputs(f->name, stdout);
		putc_unlocked(' ', stdout);
	}
	fwrite_unlocked(f->s + f->from, 1, n, stdout);
	l->open = n && f->s[f->end - 1] != '\n';
}

/* ---- stamps ------------------------------------------------------------------------- */

static bool find(struct log_file *f, const char *s, size_t n, struct log_stamp *at)
{
	struct log_place *p = &f->place;
	size_t from, end;
	if (p->column && f->line == 1) {
		p->field = log_column(s, n, p->column, p->separator);
		if (!p->field) {
			say_failed("%s: its first line names no column \"%s\"", title(f),
				   p->column);
		}
		return false;
	}
	if (p->key) {
		return log_key(s, n, p->key, &from, &end) && log_find_at(&f->scan, s, from, n, at);
	}
	if (p->field) {
		return log_field(s, n, p->field, p->separator, &from, &end) &&
		       log_find_at(&f->scan, s, from, n, at);
	}
	return log_find(&f->scan, s, n, at);
}

/* Put the line's stamp on the reference's clock; false: it has none. */
static bool convert_line(struct logs *l, struct log_file *f)
{
	struct log_stamp at;
	struct stamps_answer a;
	char *s = f->s + f->from;
	size_t n = f->end - f->from;
	n -= n && s[n - 1] == '\n';
	n -= n && s[n - 1] == '\r';
	if (!find(f, s, n, &at)) {
		return false;
	}
	f->found = true;
	if (stamps_at(l->o->stamps, f->clock, at.ns, &a, &why)) {
		say_sentence("%s: line %llu: %s", title(f), (unsigned long long)f->line, why.msg);
		leave(why.code == USK_EUSAGE ? EXIT_USAGE : EXIT_FAILED);
	}
	stamps_tell(l->o->stamps, f->clock, at.ns, &a);
	if (a.at.reference_ns == USK_NONE) {
		l->unknown = true;
		return true;
	}
	if (!log_write(&f->scan, &at, a.at.reference_ns, s)) {
		say_failed("%s: line %llu: the reference's time, %lld ns, does not fit where the "
			   "stamp is",
			   title(f), (unsigned long long)f->line, (long long)a.at.reference_ns);
	}
	f->key = a.at.reference_ns > f->key ? a.at.reference_ns : f->key;
	return true;
}

/* The next line that has a stamp; those before it, which have none, are printed. */
static void advance(struct logs *l, struct log_file *f)
{
	for (next_line(f); !f->done && !convert_line(l, f); next_line(f)) {
		put_line(l, f);
	}
}

/* ---- files -------------------------------------------------------------------------- */

static void begin_file(const struct logs *l, struct log_file *f)
{
	const struct usk_clock *k = &l->o->stamps->clocks->clock[f->clock];
	if (!k->n_knots) {
		say_failed("%s: nothing ties clock %s to the reference, so its stamps have no time "
			   "there",
			   title(f), k->name);
	}
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < k->n_knots; i++) {
		first = k->knot[i].local_ns < first ? k->knot[i].local_ns : first;
		last = k->knot[i].local_ns > last ? k->knot[i].local_ns : last;
	}
	const usk_i128 span = (usk_i128)last - first;
	const usk_i128 margin = span > STAMPS_STRANGE_NS ? span : STAMPS_STRANGE_NS;
	log_scan_begin(&f->scan, usk_saturate(first - margin), usk_saturate(last + margin),
		       l->o->zone_s);
	f->place = l->o->place;
	f->scan.separator = f->place.separator;
	f->room = BLOCK;
	f->s = usk_alloc(f->room, 1);
	f->key = INT64_MIN;
	if (f->path) {
		must(usk_input_open(&f->in, f->path, NULL, &why));
	}
}

static void end_file(const struct log_file *f)
{
	if (f->path && f->in.lost) {
		say_failed("%s: %s", f->path, f->in.lost);
	}
	if (!f->found && f->line > 1) {
		say_failed(
			"%s: no line has a stamp of a known form that is of clock %s's years; name "
			"its place with --field, --column or --json-key",
			title(f), f->name);
	}
}

static void close_file(struct log_file *f)
{
	if (f->path) {
		usk_input_close(&f->in);
	}
	free(f->s);
	f->s = NULL;
}

static void one_by_one(struct logs *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct log_file *f = &l->file[i];
		begin_file(l, f);
		for (advance(l, f); !f->done; advance(l, f)) {
			put_line(l, f);
		}
		end_file(f);
		close_file(f);
	}
}

/* Of those that are not at their end the earliest, the first named of equal ones; *limit: the key
 * up to which it stays so. */
static struct log_file *earliest(const struct logs *l, int64_t *limit)
{
	struct log_file *best = NULL;
	*limit = INT64_MAX;
	for (size_t i = 0; i < l->n; i++) {
		struct log_file *f = &l->file[i];
		if (f->done) {
			continue;
		}
		if (!best || f->key < best->key) {
			*limit = best ? best->key - 1 : *limit;
			best = f;
		} else if (f->key < *limit) {
			*limit = f->key;
		}
	}
	return best;
}

static void merged(struct logs *l)
{
	int64_t limit;
	struct log_file *f;
	for (size_t i = 0; i < l->n; i++) {
		begin_file(l, &l->file[i]);
		advance(l, &l->file[i]);
	}
	while ((f = earliest(l, &limit))) {
		do {
			put_line(l, f);
			advance(l, f);
		} while (!f->done && f->key <= limit);
	}
	for (size_t i = 0; i < l->n; i++) {
		end_file(&l->file[i]);
		close_file(&l->file[i]);
	}
}

static void name_file(const struct log_options *o, const char *operand, struct log_file *f)
{
	const struct usk_clocks *c = o->stamps->clocks;
	f->path = operand ? args_split_name(operand, &f->name) : NULL;
	f->clock = f->name ? usk_clocks_find(c, f->name, NULL, NULL) : o->stamps->clock;
	if (f->name && f->clock == USK_NO_CLOCK) {
		say_usage("%s: the table has no clock %s", operand, f->name);
	}
	if (f->clock == USK_NO_CLOCK) {
		say_usage("%s: whose log is it? Write NAME=%s, or give --clock", title(f),
			  f->path ? f->path : "FILE");
	}
	f->name = c->clock[f->clock].name;
}

int logs_convert(const struct log_options *o, const char *const *file, size_t n)
{
	static char buffer[BLOCK];
	struct logs l = { .o = o, .n = n ? n : 1 };
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	l.file = usk_alloc(l.n, sizeof *l.file);
	for (size_t i = 0; i < l.n; i++) {
		name_file(o, n ? file[i] : NULL, &l.file[i]);
	}
	(o->merge ? merged : one_by_one)(&l);
	free(l.file);
	if (l.unknown) {
		say(o->stamps->args, "unskew: note: stamps of which the clock says nothing stay as "
				     "they were");
	}
	return l.unknown ? EXIT_PARTIAL : EXIT_DONE;
}
