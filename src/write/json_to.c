/* SPDX-License-Identifier: MIT */
/*
 * json_to.c - the table of clocks as clocks.json
 *
 * In    struct usk_clocks
 * Out   one JSON text: fixed key order, every key present, a row a line
 * Not   what its keys are (clocks_fields.c), reading it back (json_from.c)
 */
#include "write/clocks_fields.h"

#include <stdio.h>
#include <string.h>

enum { LINE = 100 };

/* ---- layout ------------------------------------------------------------------ */

/* A value on one line if it fits there, else a member a line: a knot or a message is a row. */

static const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);

/* Text that ends where it does not fit on the line any more. */
struct row {
	char text[LINE];
	size_t n, room;
	bool over;
};

static int put_row(const char *text, size_t n, void *ctx)
{
	struct row *r = ctx;
	/* jansson goes on where a key did not fit. */
	r->over = r->over || n > r->room - r->n;
	if (r->over) {
		return -1;
	}
	memcpy(r->text + r->n, text, n);
	r->n += n;
	return 0;
}

static void line_break(FILE *f, size_t indent)
{
	fprintf(f, "\n%*s", (int)indent, "");
}

static void begin_member(FILE *f, const char *key, size_t indent, bool first)
{
	fputs(first ? "" : ",", f);
	line_break(f, indent);
	fprintf(f, "\"%s\": ", key);
}

static void lay_out(FILE *p, const json_t *v, size_t indent, size_t taken)
{
	struct row row = { .room = indent + taken < LINE ? LINE - indent - taken : 0 };
	if (!json_is_array(v) && !json_is_object(v)) {
		json_dumpf(v, p, flags);
		return;
	}
	if (!json_dump_callback(v, put_row, &row, flags)) {
		fwrite(row.text, 1, row.n, p);
		return;
	}
	bool list = json_is_array(v);
	bool first = true;
	fputs(list ? "[" : "{", p);
	if (list) {
		for (size_t i = 0; i < json_array_size(v); i++) {
			fputs(first ? "" : ",", p);
			first = false;
			line_break(p, indent + 2);
			lay_out(p, json_array_get(v, i), indent + 2, 1);
		}
	} else {
		const char *key;
		json_t *member;
		json_object_foreach((json_t *)(uintptr_t)v, key, member)
		{
			begin_member(p, key, indent + 2, first);
			first = false;
			lay_out(p, member, indent + 2, strlen(key) + 5);
		}
	}
	line_break(p, indent);
	fputs(list ? "]" : "}", p);
}

/* ---- all of it ----------------------------------------------------------------- */

static void member(FILE *p, const char *key, json_t *v, bool first)
{
	begin_member(p, key, 2, first);
	lay_out(p, v, 2, strlen(key) + 5);
	json_decref(v);
}

static void members(FILE *p, const struct usk_clocks *c, const struct usk_field *f)
{
	for (; f->key; f++) {
		member(p, f->key, usk_field_put(c, f, c), false);
	}
}

/* Items that are too long for a line, one at a time: all of them together may be a hundred MB. */
static void member_list(FILE *p, const char *key, const struct usk_clocks *c,
			const struct usk_field *f, const void *row, size_t n, size_t size)
{
	begin_member(p, key, 2, false);
	fputs("[", p);
	for (size_t i = 0; i < n; i++) {
		json_t *v = usk_fields_put(c, f, (const char *)row + i * size);
		fputs(i ? "," : "", p);
		line_break(p, 4);
		lay_out(p, v, 4, 1);
		json_decref(v);
	}
	if (n) {
		line_break(p, 2);
	}
	fputs("]", p);
}

char *usk_clocks_to_json(const struct usk_clocks *c)
{
	char *text = NULL;
	size_t size;
	FILE *p = open_memstream(&text, &size);
	if (!p) {
		usk_json_had(NULL);
	}
	fputs("{", p);
	member(p, "unskew_clocks", usk_json_had(json_integer(1)), true);
	members(p, c, usk_clocks_head);
	member_list(p, "clocks", c, usk_clock_fields, c->clock, c->n_clocks, sizeof *c->clock);
	member_list(p, "pairs", c, usk_pair_fields, c->pair, c->n_pairs, sizeof *c->pair);
	member_list(p, "corridors", c, usk_corridor_fields, c->pair, c->n_pairs, sizeof *c->pair);
	members(p, c, usk_clocks_tail);
	fputs("\n}\n", p);
	bool whole = !ferror(p);
	if (fclose(p) || !whole) {
		usk_json_had(NULL);
	}
	return text;
}
