/* SPDX-License-Identifier: MIT */
/*
 * read_table.c - histories as tables: a row for each operation
 *
 * In    CSV with a header, or JSON lines: clock, process, op, call, return, status, key, input, output
 * Out   operations, their values as EDN
 * Why   whoever stamps calls in a program of their own writes that most easily
 */
#include "history/history.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK, PROCESS, OP, CALL, RETURN, STATUS, KEY, INPUT, OUTPUT };

static const struct usk_table_kind kind = {
	"the table of operations",
	9,
	{
		[CLOCK] = { "clock", false, false, 0, false },
		[PROCESS] = { "process", true, false, 0, false },
		[OP] = { "op", true, false, 0, false },
		[CALL] = { "call", true, true, CLOCK, false },
		[RETURN] = { "return", false, true, CLOCK, false },
		[STATUS] = { "status", false, false, 0, false },
		[KEY] = { "key", false, false, 0, true },
		[INPUT] = { "input", false, false, 0, true },
		[OUTPUT] = { "output", false, false, 0, true },
	},
};

struct reading {
	const struct usk_history_options *opt;
	struct usk_history *h;
	struct usk_table table;
	struct usk_edn_text value; /* room */
	uint32_t file;
	struct usk_err *err;
};

static enum usk_status wrong(struct reading *r, const char *what)
{
	return usk_fail(r->err, USK_EINPUT, r->table.number, "line %llu: %s",
			(unsigned long long)r->table.number, what);
}

/* ---- values ------------------------------------------------------------------------------ */

/* A number, nil, a vector ...; a symbol is none of them but a word that somebody wrote. */
static bool is_value(struct usk_csv_field f)
{
	static const char *const words[] = { "nil", "true", "false" };
	struct usk_edn form;
	if (!usk_edn_whole(f.text, f.n, &form)) {
		return false;
	}
	bool is = form.kind != USK_EDN_WORD || memchr("0123456789+-", *form.text, 12);
	for (size_t i = 0; i < COUNT(words); i++) {
		is = is || usk_edn_is(&form, words[i]);
	}
	return is;
}

/* Into the room, in brackets: as a member of something it may not be nested too deeply. */
static bool put_value(struct reading *r, struct usk_csv_field f, bool json)
{
	struct usk_edn form;
	r->value.n = 0;
	usk_edn_put(&r->value, "[", 1);
	if (!json || !usk_edn_from_json(&r->value, f.text, f.n)) {
		r->value.n = 1;
		if (!is_value(f)) {
			return false;
		}
		usk_edn_put(&r->value, f.text, f.n);
	}
	usk_edn_put(&r->value, "]", 1);
	return usk_edn_whole(r->value.s, r->value.n, &form);
}

/* JSON where it looks like that, else EDN if it is, else a text as it stands. */
static struct usk_part value_of(struct reading *r, const struct usk_cell *cell)
{
	struct usk_csv_field f = cell->f;
	if (!f.text || !f.n) {
		return (struct usk_part){ 0, 0 };
	}
	if (r->table.json) {
		f = (struct usk_csv_field){ cell->raw, cell->n_raw };
	}
	bool json = r->table.json || *f.text == '{' || *f.text == '[' || usk_csv_is(f, "null");
	if (put_value(r, f, json)) {
		return usk_history_part(r->h, r->value.s + 1, r->value.n - 2);
	}
	r->value.n = 0;
	usk_edn_put_string(&r->value, f.text, f.n);
	return usk_history_part(r->h, r->value.s, r->value.n);
}

/* "read" is :read; what is no word is a string. */
static struct usk_part function_of(struct reading *r, struct usk_csv_field f)
{
	bool word = f.n && f.n < 100;
	for (size_t i = 0; i < f.n && word; i++) {
		char c = f.text[i];
		word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		       (c >= '0' && c <= '9' && i) || (c && strchr("-_?!*", c) && i);
	}
	r->value.n = 0;
	if (word) {
		usk_edn_put(&r->value, ":", 1);
		usk_edn_put(&r->value, f.text, f.n);
	} else {
		usk_edn_put_string(&r->value, f.text, f.n);
	}
	return usk_history_part(r->h, r->value.s, r->value.n);
}

/* A number as it is, else a string. */
static uint32_t client_of(struct reading *r, uint32_t clock, struct usk_csv_field f)
{
	r->value.n = 0;
	if (usk_history_number(f.text, f.n) >= 0) {
		usk_edn_put(&r->value, f.text, f.n);
	} else {
		usk_edn_put_string(&r->value, f.text, f.n);
	}
	return usk_history_client(r->h, clock, r->value.s, r->value.n);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool find_clock(struct reading *r, struct usk_csv_field *name)
{
	struct usk_csv_field process = r->table.cell[PROCESS].f;
	struct usk_csv_field clock = r->table.cell[CLOCK].f;
	if (r->opt->clock) {
		*name = (struct usk_csv_field){ r->opt->clock, strlen(r->opt->clock) };
		return true;
	}
	if (usk_history_clock_of(r->opt, process.text, process.n, true, name)) {
		return true;
	}
	if (clock.text && clock.n) {
		*name = clock;
		return !memchr(clock.text, 0, clock.n);
	}
	return usk_history_clock_of(r->opt, process.text, process.n, false, name);
}

/* An empty stamp is not known. */
static enum usk_status stamp_of(struct reading *r, struct usk_csv_field clock, size_t column,
				int64_t *ns)
{
	const struct usk_cell *cell = &r->table.cell[column];
	*ns = USK_NONE;
	if (!cell->f.text || !cell->f.n) {
		return USK_OK;
	}
	enum usk_status status = usk_cell_time(r->opt->read, clock, cell, ns, NULL, r->err);
	return usk_fail_in(status, r->err, "line %llu: %s", (unsigned long long)r->table.number,
			   kind.column[column].name);
}

/* Without a status one that returned is ok, and of one that did not nothing is known. */
static bool end_of(struct reading *r, struct usk_op *op)
{
	static const char *const names[] = { "ok", "fail", "info" };
	struct usk_csv_field f = r->table.cell[STATUS].f;
	op->end = op->return_ns == USK_NONE ? USK_OP_NONE : USK_OP_OK;
	if (!f.text || !f.n) {
		return true;
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		if (usk_csv_is(f, names[i])) {
			op->end = (enum usk_op_end)(USK_OP_OK + i);
			op->return_ns = op->end == USK_OP_INFO ? USK_NONE : op->return_ns;
			return true;
		}
	}
	return false;
}

static enum usk_status take_row(struct reading *r)
{
	struct usk_table *t = &r->table;
	struct usk_csv_field clock;
	if (!find_clock(r, &clock)) {
		return wrong(r, "says not which clock its stamps are of: it needs a column clock, "
				"or give the file as CLOCK=FILE, or --clock-of, or --nodes");
	}
	struct usk_op op = { .file = r->file, .line = t->number };
	enum usk_status status = stamp_of(r, clock, CALL, &op.call_ns);
	status = status ? status : stamp_of(r, clock, RETURN, &op.return_ns);
	if (status) {
		return status;
	}
	if (!end_of(r, &op)) {
		return wrong(r, "its status is none of ok, fail and info");
	}
	op.client = client_of(r, usk_history_clock(r->h, clock.text, clock.n), t->cell[PROCESS].f);
	op.f = function_of(r, t->cell[OP].f);
	op.key = value_of(r, &t->cell[KEY]);
	op.input = value_of(r, &t->cell[INPUT]);
	op.output = value_of(r, &t->cell[OUTPUT]);
	*usk_history_add(r->h) = op;
	return USK_OK;
}

static enum usk_status read_rows(struct reading *r, struct usk_input *in)
{
	size_t used = 0;
	enum usk_status status = usk_table_start(&r->table, &kind, in, &used, r->err);
	for (bool more = true; !status;) {
		status = usk_table_next(&r->table, in, &used, &more, r->err);
		if (status == USK_EINPUT) {
			usk_fail_in(status, r->err, "line %llu",
				    (unsigned long long)r->table.number);
		}
		if (status || !more) {
			return status;
		}
		status = r->table.blank ? USK_OK : take_row(r);
	}
	return status;
}

enum usk_status usk_history_read_table(struct usk_input *in, uint32_t file,
				       const struct usk_history_options *opt, struct usk_history *h,
				       struct usk_err *err)
{
	struct reading r = { .opt = opt, .h = h, .file = file, .err = err };
	enum usk_status status = read_rows(&r, in);
	usk_table_free(&r.table);
	free(r.value.s);
	return status;
}
