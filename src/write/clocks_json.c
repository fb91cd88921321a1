/* SPDX-License-Identifier: MIT */
/*
 * clocks_json.c - the table of clocks as clocks.json, and back
 *
 * In    struct usk_clocks; or a text that anyone may have written, edited or damaged
 * Out   one JSON text: fixed key order, every key present, a row a line; or struct usk_clocks whose
 *       knots are known to be sound, or a sentence naming the key
 * Not   what its keys are (clocks_fields.c); those that are not known are passed over
 */
#include "base/stream.h"
#include "write/fields.h"

#include <stdio.h>
#include <stdlib.h>
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
		usk_json_had(json_dumpf(v, p, flags) ? NULL : (json_t *)(uintptr_t)v);
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
	struct usk_stream all;
	FILE *p = usk_stream_begin(&all);
	fputs("{", p);
	member(p, "unskew_clocks", usk_json_had(json_integer(1)), true);
	members(p, c, usk_clocks_head);
	member_list(p, "clocks", c, usk_clock_fields, c->clock, c->n_clocks, sizeof *c->clock);
	member_list(p, "pairs", c, usk_pair_fields, c->pair, c->n_pairs, sizeof *c->pair);
	member_list(p, "corridors", c, usk_corridor_fields, c->pair, c->n_pairs, sizeof *c->pair);
	members(p, c, usk_clocks_tail);
	fputs("\n}\n", p);
	return usk_stream_end(&all);
}

/* ---- and back -------------------------------------------------------------------- */

/* Names first, since everything else refers to clocks by them. */
static void read_names(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "clocks");
	const struct place list[] = { { NULL, "clocks", 0 } };
	size_t cap = 0;
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { list, NULL, i };
		c->clock = usk_room(c->clock, i, &cap, sizeof *c->clock);
		struct usk_clock *k = memset(&c->clock[c->n_clocks++], 0, sizeof *c->clock);
		k->before.least_e12 = k->after.least_e12 = USK_NONE; /* not written */
		k->name = usk_json_string(r, &at, json_array_get(a, i), "name");
		if (!k->name[0]) {
			usk_json_wrong(r, &at, "name", "is empty");
		}
	}
	if (c->n_clocks >= USK_NO_CLOCK) {
		usk_json_wrong(r, list, NULL, "holds too many clocks");
	}
	if (r->status || !c->n_clocks) {
		return;
	}
	r->name = usk_alloc(c->n_clocks, sizeof *r->name);
	for (size_t i = 0; i < c->n_clocks; i++) {
		r->name[i] = (struct clock_name){ c->clock[i].name, (uint32_t)i };
	}
	qsort(r->name, c->n_clocks, sizeof *r->name, usk_by_string);
	for (size_t i = 1; i < c->n_clocks; i++) {
		if (!strcmp(r->name[i - 1].name, r->name[i].name)) {
			usk_json_wrong(r, list, NULL, "two clocks are called \"%.60s\"",
				       r->name[i].name);
		}
	}
}

static void read_clocks(struct reader *r, const json_t *root)
{
	const json_t *a = json_object_get(root, "clocks");
	struct place list = { NULL, "clocks", 0 };
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		/* Its name is there already. */
		usk_fields_get(r, &at, json_array_get(a, i), usk_clock_fields + 1, &r->c->clock[i]);
		if (!r->status) {
			usk_clock_check(r, &at, &r->c->clock[i]);
		}
	}
}

static void read_pairs(struct reader *r, const json_t *root)
{
	const struct usk_field pairs = { "pairs",
					 FIELD_LIST,
					 .at = offsetof(struct usk_clocks, pair),
					 .each = FIELD_OBJECT,
					 .n_at = offsetof(struct usk_clocks, n_pairs),
					 .fields = usk_pair_fields,
					 .size = sizeof(struct usk_pair) };
	usk_field_get(r, NULL, root, &pairs, r->c);
}

/* A corridor belongs to the pair of the same place, or, where some are left out, to a later. */
static void read_corridors(struct reader *r, const json_t *root)
{
	struct usk_clocks *c = r->c;
	const json_t *a = usk_json_array(r, NULL, root, "corridors");
	struct place list = { NULL, "corridors", 0 };
	size_t next = 0;
	if (json_array_size(a) > c->n_pairs) {
		usk_json_wrong(r, NULL, "corridors", "holds more rows than pairs");
	}
	for (size_t i = 0; i < json_array_size(a) && !r->status; i++) {
		struct place at = { &list, NULL, i };
		const json_t *o = json_array_get(a, i);
		struct usk_pair of = { .a = 0 };
		usk_field_get(r, &at, o, &usk_corridor_fields[0], &of);
		usk_field_get(r, &at, o, &usk_corridor_fields[1], &of);
		while (next < c->n_pairs && (c->pair[next].a != of.a || c->pair[next].b != of.b)) {
			next++;
		}
		if (next == c->n_pairs) {
			usk_json_wrong(r, &at, NULL, "belongs to none of the pairs that remain");
			return;
		}
		usk_fields_get(r, &at, o, usk_corridor_fields, &c->pair[next++]);
	}
}

enum usk_status usk_clocks_from_json(const char *text, size_t size, struct usk_clocks **out,
				     struct usk_err *err)
{
	json_t *root = usk_json_load(text, size, err);
	if (!root) {
		return USK_EINPUT;
	}
	struct reader r = { .c = usk_alloc(1, sizeof *r.c), .err = err };
	const json_t *version = json_object_get(root, "unskew_clocks");
	if (!version) {
		usk_json_wrong(&r, NULL, "unskew_clocks", "is missing: this is not a clocks.json");
	} else if (!json_is_integer(version) || json_integer_value(version) != 1) {
		usk_json_wrong(&r, NULL, "unskew_clocks",
			       "is not 1, the version that this unskew reads");
	}
	if (!r.status) {
		read_names(&r, root);
		usk_fields_get(&r, NULL, root, usk_clocks_head, r.c);
		read_clocks(&r, root);
		read_pairs(&r, root);
		read_corridors(&r, root);
		usk_fields_get(&r, NULL, root, usk_clocks_tail, r.c);
	}
	json_decref(root);
	free(r.name);
	if (r.status) {
		usk_clocks_free(r.c);
		return r.status;
	}
	*out = r.c;
	return USK_OK;
}
