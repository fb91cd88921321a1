/* SPDX-License-Identifier: MIT */
/*
 * json_to.c - the table of clocks as clocks.json
 *
 * In    struct usk_clocks
 * Out   one JSON text: fixed key order, every key present, a row a line
 * Not   what its keys are (clocks_fields.c), reading it back (json_from.c)
 */
#include "write/clocks_fields.h"

#include <string.h>

enum { LINE = 100 };

/* ---- layout ------------------------------------------------------------------ */

/* A value on one line if it fits there, else a member a line: a knot or a message is a row. */

struct page {
	char *text;
	size_t n, capacity;
};

static char *space(struct page *p, size_t more)
{
	while (p->capacity - p->n < more + 1) {
		p->capacity = p->capacity ? 2 * p->capacity : 4096;
		p->text = usk_grow(p->text, p->capacity, 1);
	}
	return p->text + p->n;
}

static void print(struct page *p, const char *s, size_t n)
{
	memcpy(space(p, n), s, n);
	p->n += n;
	p->text[p->n] = 0;
}

static const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);

static void line_break(struct page *p, size_t indent)
{
	memset(space(p, indent + 1), ' ', indent + 1);
	p->text[p->n] = '\n';
	p->n += indent + 1;
	p->text[p->n] = 0;
}

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

static int put_page(const char *text, size_t n, void *ctx)
{
	print(ctx, text, n);
	return 0;
}

static void begin_member(struct page *p, const char *key, size_t indent, bool first)
{
	print(p, ",", first ? 0 : 1);
	line_break(p, indent);
	print(p, "\"", 1);
	print(p, key, strlen(key));
	print(p, "\": ", 3);
}

static void lay_out(struct page *p, const json_t *v, size_t indent, size_t taken)
{
	struct row row = { .room = indent + taken < LINE ? LINE - indent - taken : 0 };
	if (!json_is_array(v) && !json_is_object(v)) {
		json_dump_callback(v, put_page, p, flags);
		return;
	}
	if (!json_dump_callback(v, put_row, &row, flags)) {
		print(p, row.text, row.n);
		return;
	}
	bool list = json_is_array(v);
	bool first = true;
	print(p, list ? "[" : "{", 1);
	if (list) {
		for (size_t i = 0; i < json_array_size(v); i++) {
			print(p, ",", first ? 0 : 1);
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
	print(p, list ? "]" : "}", 1);
}

/* ---- all of it ----------------------------------------------------------------- */

static void member(struct page *p, const char *key, json_t *v)
{
	begin_member(p, key, 2, p->text[p->n - 1] == '{');
	lay_out(p, v, 2, strlen(key) + 5);
	json_decref(v);
}

static void members(struct page *p, const struct usk_clocks *c, const struct usk_field *f)
{
	for (; f->key; f++) {
		member(p, f->key, usk_field_put(c, f, c));
	}
}

/* Items that are too long for a line, one at a time: all of them together may be a hundred MB. */
static void member_list(struct page *p, const char *key, const struct usk_clocks *c,
			const struct usk_field *f, const void *row, size_t n, size_t size)
{
	begin_member(p, key, 2, false);
	print(p, "[", 1);
	for (size_t i = 0; i < n; i++) {
		json_t *v = usk_fields_put(c, f, (const char *)row + i * size);
		print(p, ",", i ? 1 : 0);
		line_break(p, 4);
		lay_out(p, v, 4, 1);
		json_decref(v);
	}
	if (n) {
		line_break(p, 2);
	}
	print(p, "]", 1);
}

char *usk_clocks_to_json(const struct usk_clocks *c)
{
	struct page p = { 0 };
	print(&p, "{", 1);
	member(&p, "unskew_clocks", usk_json_had(json_integer(1)));
	members(&p, c, usk_clocks_head);
	member_list(&p, "clocks", c, usk_clock_fields, c->clock, c->n_clocks, sizeof *c->clock);
	member_list(&p, "pairs", c, usk_pair_fields, c->pair, c->n_pairs, sizeof *c->pair);
	member_list(&p, "corridors", c, usk_corridor_fields, c->pair, c->n_pairs, sizeof *c->pair);
	members(&p, c, usk_clocks_tail);
	line_break(&p, 0);
	print(&p, "}\n", 2);
	return p.text;
}
