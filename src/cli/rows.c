/* SPDX-License-Identifier: MIT */
/*
 * rows.c - an answer as rows for scripts: CSV, TSV or JSON
 *
 * In    clocks.json; the tables of its fields, which say what the columns are
 * Out   a row for each clock, pair, knot, jump or outlier; keys of objects become columns, a.b
 * Why   columns follow the tables, so they are the same whatever the answer holds
 * Not   lists within rows: those have rows of their own; messages (messages.c)
 */
#include "print.h"
#include "messages.h"
#include "rows.h"

#include "write/fields.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Where rows are, and whose: each row begins with these keys of the row that holds it. */
struct source {
	const char *name, *list, *inner;
	const char *owner[2];
};

static const struct source sources[] = {
	{ "clocks", "clocks", NULL, { NULL } },
	{ "pairs", "pairs", NULL, { NULL } },
	{ "knots", "clocks", "knots", { "name" } },
	{ "jumps", "clocks", "jumps", { "name" } },
	{ "outliers", "pairs", "outliers", { "a", "b" } },
};

/* ---- columns ----------------------------------------------------------------------------------- */

enum { DEEP = 4 };

struct column {
	const char *name;      /* "clock", "wander.used_ppm" */
	const char *key[DEEP]; /* the way to its value */
	size_t depth;
	bool count; /* none is 0 */
	bool owned; /* of the row that holds it */
};

struct columns {
	struct column *at;
	size_t n;
};

static void add_column(struct columns *c, struct column x)
{
	*USK_APPEND(c->at, c->n) = x;
}

static void add_fields(struct columns *c, const struct column *up, const struct usk_field *f)
{
	for (; f->key; f++) {
		struct column x = up ? *up : (struct column){ .name = "" };
		if (f->kind == FIELD_LIST || x.depth == DEEP) {
			continue;
		}
		x.name = up ? kept(usk_format("%s.%s", up->name, f->key)) : f->key;
		x.key[x.depth++] = f->key;
		x.count = f->kind == FIELD_SMALL || f->kind == FIELD_COUNT;
		if (f->fields) {
			add_fields(c, &x, f->fields);
		} else {
			add_column(c, x);
		}
	}
}

static const struct usk_field *field_named(const struct usk_field *f, const char *key)
{
	while (f->key && strcmp(f->key, key) != 0) {
		f++;
	}
	return f->key ? f : NULL;
}

static const struct usk_field *root_named(const char *key)
{
	const struct usk_field *f;
	for (size_t i = 0; (f = usk_clocks_key(i)) && strcmp(f->key, key) != 0; i++) {
	}
	return f;
}

static struct columns columns_of(const struct source *s)
{
	struct columns c = { 0 };
	const struct usk_field *rows = root_named(s->list)->fields;
	for (size_t i = 0; i < COUNT(s->owner) && s->owner[i]; i++) {
		const char *shown = strcmp(s->owner[i], "name") ? s->owner[i] : "clock";
		add_column(&c, (struct column){ .name = shown,
						.key = { s->owner[i] },
						.depth = 1,
						.owned = true });
	}
	add_fields(&c, NULL, s->inner ? field_named(rows, s->inner)->fields : rows);
	return c;
}

static const json_t *value_of(const struct column *c, const json_t *owner, const json_t *row)
{
	const json_t *v = c->owned ? owner : row;
	for (size_t i = 0; i < c->depth && v; i++) {
		v = json_object_get(v, c->key[i]);
	}
	return v;
}

/* ---- forms ------------------------------------------------------------------------------------- */

enum form { CSV, TSV, JSON };

/* A tab or line break within a name would begin another column or row. */
static void put_tsv(FILE *out, const char *text)
{
	for (; *text; text++) {
		const char *at = strchr("\t\n\r\\", *text);
		if (at) {
			fprintf(out, "\\%c", "tnr\\"[at - "\t\n\r\\"]);
		} else {
			fputc(*text, out);
		}
	}
}

static void put_text(FILE *out, enum form form, const char *text)
{
	if (form == TSV) {
		put_tsv(out, text);
	} else {
		fputs(csv_text(text), out);
	}
}

static void put_value(FILE *out, enum form form, const json_t *v)
{
	if (form != JSON && json_is_string(v)) {
		put_text(out, form, json_string_value(v));
	} else if (form == JSON || (v && !json_is_null(v))) {
		enum { DIGITS = 9 };
		json_dumpf(v ? v : json_null(), out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));
	}
}

struct rows {
	FILE *out;
	enum form form;
	struct columns columns;
	size_t n;
};

static void put_row(struct rows *r, const json_t *owner, const json_t *row)
{
	const char *between = r->form == TSV ? "\t" : r->form == CSV ? "," : ", ";
	fputs(r->form != JSON ? "" : r->n ? ",\n {" : "\n {", r->out);
	for (size_t i = 0; i < r->columns.n; i++) {
		const struct column *c = &r->columns.at[i];
		fputs(i ? between : "", r->out);
		if (r->form == JSON) {
			fprintf(r->out, "\"%s\": ", c->name);
		}
		const json_t *v = value_of(c, owner, row);
		if (!v && c->count) {
			fputc('0', r->out);
		} else {
			put_value(r->out, r->form, v);
		}
	}
	fputs(r->form == JSON ? "}" : "\n", r->out);
	r->n++;
}

static void put_head(struct rows *r)
{
	if (r->form == JSON) {
		fputc('[', r->out);
		return;
	}
	for (size_t i = 0; i < r->columns.n; i++) {
		fputs(!i ? "" : r->form == TSV ? "\t" : ",", r->out);
		fputs(r->columns.at[i].name, r->out);
	}
	fputc('\n', r->out);
}

void rows_print(FILE *out, const char *json, size_t rows, size_t form)
{
	const struct source *s = &sources[rows];
	struct rows r = { .out = out, .form = (enum form)form, .columns = columns_of(s) };
	json_t *root = json_loads(json, 0, NULL);
	const json_t *owner, *row;
	size_t i, k;
	put_head(&r);
	json_array_foreach(json_object_get(root, s->list), i, owner)
	{
		if (!s->inner) {
			put_row(&r, NULL, owner);
			continue;
		}
		json_array_foreach(json_object_get(owner, s->inner), k, row)
		{
			put_row(&r, owner, row);
		}
	}
	fputs(r.form == JSON ? r.n ? "\n]\n" : "]\n" : "", out);
	json_decref(root);
	free(r.columns.at);
}
