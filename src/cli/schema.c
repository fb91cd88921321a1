/* SPDX-License-Identifier: MIT */
/*
 * schema.c - what clocks.json holds, for programs and for people
 *
 * In    the tables of its fields (write/fields.h), which write it and read it
 * Out   a JSON Schema, draft 2020-12; or a page with a table for each kind of row
 * Why   a key that is added to the tables is documented and checked at once
 */
#include "cmd.h"
#include "units.h"

#include "write/fields.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NS_PATTERN "^-?[0-9]{1,19}$"

/* ---- schema ------------------------------------------------------------------------------------
 */

static json_t *object_of(const struct usk_field *f);

static json_t *type_of(const char *type, bool nullable)
{
	return nullable ? json_pack("{s:[ss]}", "type", type, "null")
			: json_pack("{s:s}", "type", type);
}

static json_t *within(const char *type, double least, double most)
{
	return json_pack("{s:s,s:f,s:f}", "type", type, "minimum", least, "maximum", most);
}

static json_t *ns_of(bool nullable)
{
	json_t *o = type_of("string", nullable);
	json_object_set_new(o, "pattern", json_string(NS_PATTERN));
	return o;
}

static json_t *names_of(const struct usk_field *f)
{
	json_t *names = json_array();
	for (unsigned i = 0; i <= f->last; i++) {
		json_array_append_new(names, json_string(f->name(i)));
	}
	return json_pack("{s:o}", "enum", names);
}

/* Of one value: a field's, or each of a list's. */
static json_t *value_of(const struct usk_field *f, enum usk_field_kind kind)
{
	switch (kind) {
	case FIELD_TIME:
		return ns_of(false);
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		return ns_of(true);
	case FIELD_RATE:
		return within("number", -1e6, 1e6);
	case FIELD_WANDER:
		return within("number", 0, 1e6);
	case FIELD_NUMBER:
		return type_of("number", true);
	case FIELD_COUNT:
		return json_pack("{s:s,s:i}", "type", "integer", "minimum", 0);
	case FIELD_SMALL:
		return within("integer", 0, UINT32_MAX);
	case FIELD_BOOL:
		return type_of("boolean", false);
	case FIELD_NAME:
		return names_of(f);
	case FIELD_CLOCK_OR_NULL:
		return type_of("string", true);
	case FIELD_POINT:
		return json_pack("{s:s,s:o,s:i,s:i}", "type", "array", "items", ns_of(false),
				 "minItems", 2, "maxItems", 2);
	case FIELD_OBJECT:
		return object_of(f->fields);
	case FIELD_LIST:
		return json_pack("{s:s,s:o}", "type", "array", "items", value_of(f, f->each));
	case FIELD_OWN:
		return f->fields ? object_of(f->fields)
				 : type_of(f->each == FIELD_TEXT ? "string" : "number", true);
	default: /* FIELD_TEXT, FIELD_CLOCK */
		return type_of("string", false);
	}
}

static void add_key(json_t *keys, json_t *required, const struct usk_field *f)
{
	json_t *value = value_of(f, f->kind);
	json_object_set_new(value, "description", json_string(f->help));
	json_object_set_new(keys, f->key, value);
	if (!(f->flags & FIELD_MAY_MISS)) {
		json_array_append_new(required, json_string(f->key));
	}
}

static json_t *object_of(const struct usk_field *f)
{
	json_t *keys = json_object(), *required = json_array();
	for (; f->key; f++) {
		add_key(keys, required, f);
	}
	return json_pack("{s:s,s:o,s:o}", "type", "object", "properties", keys, "required",
			 required);
}

static void write_schema(FILE *out)
{
	json_t *keys = json_pack("{s:{s:i}}", "unskew_clocks", "const", 1);
	json_t *required = json_pack("[s]", "unskew_clocks");
	const struct usk_field *f;
	for (size_t i = 0; (f = usk_clocks_key(i)); i++) {
		add_key(keys, required, f);
	}
	json_t *root = json_pack("{s:s,s:s,s:s,s:s,s:o,s:o}", "$schema",
				 "https://json-schema.org/draft/2020-12/schema", "title",
				 "clocks.json of unskew", "description",
				 "Times are ns, as decimal strings, as doubles step by 256 ns.",
				 "type", "object", "properties", keys, "required", required);
	json_dumpf(root, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(root);
}

/* ---- page --------------------------------------------------------------------------------------
 */

static const char *word_of(const struct usk_field *f, enum usk_field_kind kind)
{
	switch (kind) {
	case FIELD_TIME:
		return "ns";
	case FIELD_TIME_OR_NULL:
	case FIELD_SPAN_OR_NULL:
		return "ns or null";
	case FIELD_RATE:
	case FIELD_WANDER:
		return "ppm";
	case FIELD_NUMBER:
		return "number or null";
	case FIELD_COUNT:
	case FIELD_SMALL:
		return "count";
	case FIELD_BOOL:
		return "true, false";
	case FIELD_CLOCK:
		return "clock";
	case FIELD_CLOCK_OR_NULL:
		return "clock or null";
	case FIELD_OBJECT:
		return "object";
	case FIELD_OWN:
		return f->fields	       ? "object"
		       : f->each == FIELD_TEXT ? "text or null"
					       : "number or null";
	default:
		return kind == FIELD_POINT ? "[ns, ns]" : "text";
	}
}

static void write_row(FILE *out, const struct usk_field *f)
{
	bool list = f->kind == FIELD_LIST;
	fprintf(out, "| `%s` | %s%s | %s%s |\n", f->key, list ? "list: " : "",
		word_of(f, list ? f->each : f->kind), f->help,
		f->flags & FIELD_OMIT	    ? " Left out where there is none."
		: f->flags & FIELD_MAY_MISS ? " Others need not write it."
					    : "");
}

#define TABLE_HEAD "| key | value | what it is |\n|---|---|---|\n"

static void write_head(FILE *out, const char *path)
{
	fprintf(out, "\n## `%s`\n\n", path);
}

/* Tables that stand on the page already, and where. */
struct written {
	const struct usk_field *fields;
	const char *path;
};

struct page {
	FILE *out;
	struct written *had;
	size_t n;
};

static void write_tables(struct page *p, const char *up, const struct usk_field *f);

/* A table of an object, then those of the objects in it. */
static void write_table(struct page *p, const char *path, const struct usk_field *of)
{
	write_head(p->out, path);
	for (size_t i = 0; i < p->n; i++) {
		if (p->had[i].fields == of) {
			fprintf(p->out, "As `%s`.\n", p->had[i].path);
			return;
		}
	}
	*USK_APPEND(p->had, p->n) = (struct written){ of, path };
	fputs(TABLE_HEAD, p->out);
	for (const struct usk_field *f = of; f->key; f++) {
		write_row(p->out, f);
	}
	for (const struct usk_field *f = of; f->key; f++) {
		write_tables(p, path, f);
	}
}

/* Those of what a key has in it; up: "" at the root. */
static void write_tables(struct page *p, const char *up, const struct usk_field *f)
{
	if (f->fields && (f->kind != FIELD_LIST || f->each == FIELD_OBJECT)) {
		const char *rows = f->kind == FIELD_LIST ? "[]" : "";
		write_table(p, kept(usk_format("%s%s%s%s", up, *up ? "." : "", f->key, rows)),
			    f->fields);
	}
}

static void write_page(FILE *out)
{
	const struct usk_field *f;
	fputs("# What clocks.json holds\n\n"
	      "`unskew sync -o clocks.json` writes it; `apply`, `convert`, `before` and `report` "
	      "read it. This page and the JSON Schema beside it\n"
	      "(`clocks.schema.json`, installed with unskew) are made of the tables that write and "
	      "read the file: `unskew --schema`, `unskew --schema page`.\n\n"
	      "- Times and offsets are whole ns in decimal *strings*: most readers of JSON take "
	      "numbers as doubles, which step by 256 ns at today's epoch.\n"
	      "- An offset is *reference - local*: add it to a stamp of the clock to get the "
	      "reference's time.\n"
	      "- Clocks are called by their names. Keys come in the order of these tables; readers "
	      "pass over those that they do not know.\n",
	      out);
	write_head(out, "clocks.json");
	fputs(TABLE_HEAD "| `unskew_clocks` | 1 | The version of the format. |\n", out);
	for (size_t i = 0; (f = usk_clocks_key(i)); i++) {
		write_row(out, f);
	}
	struct page p = { .out = out };
	for (size_t i = 0; (f = usk_clocks_key(i)); i++) {
		write_tables(&p, "", f);
	}
	free(p.had);
}

bool schema(FILE *out, const char *form)
{
	bool page = !strcmp(form, "page");
	if (!page && strcmp(form, "json") != 0) {
		return false;
	}
	(page ? write_page : write_schema)(out);
	return true;
}
