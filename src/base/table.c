/* SPDX-License-Identifier: MIT */
/*
 * table.c - rows of tables, in CSV or as flat JSON objects, one a line
 *
 * In    lines; what kind of table they may be (table_kinds.c)
 * Out   cells, by the kind's columns
 * Why   who reads a table need not know which of the two it is
 * Not   what cells mean (read/)
 */
#include "base/table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON: one flat object a line ------------------------------------------------------- */

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) {
		p++;
	}
	return p;
}

/* One with an escape in it: rare, so out of the way of the others. Never shorter than what it
 * stands for. */
static __attribute__((noinline)) bool read_escaped(const char **p, const char *end, char **scratch,
						   struct usk_csv_field *out)
{
	const char *s = *p + 1;
	while (s < end && *s != '"') {
		s += 1 + (*s == '\\');
	}
	json_error_t e = { 0 };
	json_t *v =
		s < end ? json_loadb(*p, (size_t)(s + 1 - *p), JSON_DECODE_ANY | JSON_ALLOW_NUL, &e)
			: NULL;
	if (!v && s < end && json_error_code(&e) == json_error_out_of_memory) {
		usk_alloc(SIZE_MAX, 1);
	}
	if (!v) {
		return false;
	}
	*out = (struct usk_csv_field){ *scratch, json_string_length(v) };
	memcpy(*scratch, json_string_value(v), out->n);
	*scratch += out->n;
	json_decref(v);
	*p = s + 1;
	return true;
}

/* A string, *p at its first quote. Points into the line unless an escape is in it. */
static bool read_string(const char **p, const char *end, char **scratch, struct usk_csv_field *out)
{
	const char *s = *p + 1;
	while (s < end && *s != '"' && *s != '\\') {
		s++;
	}
	if (s < end && *s == '"') {
		*out = (struct usk_csv_field){ *p + 1, (size_t)(s - *p) - 1 };
		*p = s + 1;
		return true;
	}
	return read_escaped(p, end, scratch, out);
}

/* Past an object or an array, *p at its bracket. */
static bool read_nested(const char **p, const char *end)
{
	size_t depth = 0;
	for (const char *s = *p; s < end; s++) {
		if (*s == '"') {
			for (s++; s < end && *s != '"'; s++) {
				s += *s == '\\';
			}
		} else if (*s == '{' || *s == '[') {
			depth++;
		} else if ((*s == '}' || *s == ']') && !--depth) {
			*p = s + 1;
			return true;
		}
	}
	return false;
}

/* A number, true, false, null: what no other value is. */
static bool read_word(const char **p, const char *end, struct usk_csv_field *out)
{
	const char *s = *p;
	while (s < end && *s != ',' && *s != '}' && *s != ' ' && *s != '\t') {
		s++;
	}
	struct usk_csv_field word = { *p, (size_t)(s - *p) };
	if (!usk_csv_is(word, "null")) {
		*out = word;
	}
	*p = s;
	return word.n > 0;
}

/* A value of any kind; text NULL: null, or one that is nested. */
static bool read_value(const char **p, const char *end, char **scratch, struct usk_cell *out)
{
	*out = (struct usk_cell){ .raw = *p };
	char first = *p < end ? **p : 0;
	bool good = first == '"'		   ? read_string(p, end, scratch, &out->f)
		    : first == '{' || first == '[' ? read_nested(p, end)
						   : read_word(p, end, &out->f);
	out->n_raw = (size_t)(*p - out->raw);
	return good;
}

/* This character and the blanks around it. */
static bool token(const char **p, const char *end, char c)
{
	const char *s = skip_blanks(*p, end);
	if (s == end || *s != c) {
		return false;
	}
	*p = skip_blanks(s + 1, end);
	return true;
}

/* Hands each key with its value to take(). False: the line is no object. */
static bool read_object(const char *p, const char *end, char *scratch,
			void (*take)(void *ctx, struct usk_csv_field key, const struct usk_cell *v),
			void *ctx)
{
	if (!token(&p, end, '{')) {
		return false;
	}
	for (bool first = true; !token(&p, end, '}'); first = false) {
		struct usk_csv_field key;
		struct usk_cell value;
		if ((!first && !token(&p, end, ',')) || p == end || *p != '"' ||
		    !read_string(&p, end, &scratch, &key) || !token(&p, end, ':') ||
		    !read_value(&p, end, &scratch, &value)) {
			return false;
		}
		take(ctx, key, &value);
	}
	return p == end;
}

/* The column of the next member of a row, -1 if it is not known. */
static int member_column(struct usk_table *b, struct usk_csv_field key, enum usk_csv_unit *unit)
{
	struct usk_table_member *m =
		b->n_members < USK_TABLE_MEMBERS ? &b->member[b->n_members++] : NULL;
	if (m && m->n && m->n == key.n && !memcmp(m->key, key.text, key.n)) {
		*unit = m->unit;
		return m->column;
	}
	int c = usk_table_column_of(b->kind, key, unit);
	if (m && key.n && key.n <= sizeof m->key) {
		memcpy(m->key, key.text, key.n);
		m->n = (uint8_t)key.n;
		m->column = (int8_t)c;
		m->unit = *unit;
	}
	return c;
}

static void take_member(void *ctx, struct usk_csv_field key, const struct usk_cell *v)
{
	struct usk_table *b = ctx;
	enum usk_csv_unit unit = USK_CSV_NS;
	int c = member_column(b, key, &unit);
	bool nested = c >= 0 && b->kind->column[c].any && (*v->raw == '{' || *v->raw == '[');
	if (c >= 0 && (v->f.text || nested) && !b->cell[c].f.text) { /* the first, as in a header */
		b->cell[c] = *v;
		b->cell[c].f = nested ? (struct usk_csv_field){ v->raw, v->n_raw } : v->f;
		b->cell[c].unit = unit;
	}
}

/* ---- CSV --------------------------------------------------------------------------------- */

/* False: a quote is not closed. Every known field is written anew; units stay the header's. */
static bool csv_row(struct usk_table *b, size_t *fields)
{
	const char *p = b->line.text, *end = p + b->line.n;
	char *scratch = b->scratch;
	size_t i = 0;
	for (; i < b->width && p; i++) {
		struct usk_csv_field f;
		const char *raw = p;
		if (!usk_csv_next_field(&p, end, &scratch, &f)) {
			return false;
		}
		int c = b->column[i];
		if (c >= 0) {
			b->cell[c].f = f;
			b->cell[c].raw = raw;
			b->cell[c].n_raw = (size_t)((p ? p - 1 : end) - raw);
		}
	}
	*fields = i;
	return true;
}

static void make_scratch(struct usk_table *b)
{
	if (b->cap_scratch < b->line.n) {
		b->cap_scratch = b->line.n;
		b->scratch = usk_grow(b->scratch, b->cap_scratch, 1);
	}
}

static enum usk_status lacks(const struct usk_table *b, const struct usk_table_column *column,
			     struct usk_err *err)
{
	enum { LONGEST = 80 };
	const char *name = column->name;
	int n = b->line.n < LONGEST ? (int)b->line.n : LONGEST;
	return column->time ? usk_fail(err, USK_EINPUT, 1,
				       "line 1: %s needs %s_ns, %s_s, %s or %s_ticks; found %.*s",
				       b->kind->what, name, name, name, name, n, b->line.text)
			    : usk_fail(err, USK_EINPUT, 1, "line 1: %s needs %s; found %.*s",
				       b->kind->what, name, n, b->line.text);
}

static enum usk_status header(struct usk_table *b, struct usk_err *err)
{
	const char *p = b->line.text, *end = p + b->line.n;
	make_scratch(b);
	char *scratch = b->scratch;
	size_t n = 0;
	b->width = 0;
	for (size_t i = 0; p; i++) {
		struct usk_csv_field f;
		enum usk_csv_unit unit = USK_CSV_NS;
		if (!usk_csv_next_field(&p, end, &scratch, &f)) {
			return usk_fail(err, USK_EINPUT, 1,
					"line 1: a quote is not closed in the header");
		}
		int c = usk_table_column_of(b->kind, f, &unit);
		c = c >= 0 && b->cell[c].f.text ? -1 : c;
		*USK_ADD(b->column, n, b->cap_column) = (int8_t)c;
		if (c >= 0) {
			b->cell[c].f = f;
			b->cell[c].unit = unit;
			b->width = i + 1;
		}
	}
	for (size_t c = 0; c < b->kind->n; c++) {
		const struct usk_table_column *column = &b->kind->column[c];
		if (column->required && !b->cell[c].f.text) {
			return lacks(b, column, err);
		}
	}
	return USK_OK;
}

/* ---- either ------------------------------------------------------------------------------ */

static size_t bom(const char *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static bool is_object(const char *p, const char *end)
{
	p = skip_blanks(p, end);
	return p < end && *p == '{';
}

struct count {
	size_t found[USK_TABLE_KINDS];
};

static void count_name(void *ctx, struct usk_csv_field name, const struct usk_cell *v)
{
	struct count *c = ctx;
	(void)v;
	for (size_t i = 0; i < USK_TABLE_KINDS; i++) {
		enum usk_csv_unit unit;
		int column = usk_table_column_of(usk_table_kinds[i], name, &unit);
		c->found[i] += column >= 0 && usk_table_kinds[i]->column[column].required;
	}
}

/* Hands the names of the first line to take(). False: it is no text. */
static bool first_names(const uint8_t *d, size_t n,
			void (*take)(void *ctx, struct usk_csv_field key, const struct usk_cell *v),
			void *ctx, bool *json)
{
	const uint8_t *nl = n ? memchr(d, '\n', n) : NULL;
	const char *p = (const char *)d, *end = nl ? (const char *)nl : p + n;
	if (memchr(d, 0, (size_t)(end - p))) {
		return false;
	}
	p += bom(p, (size_t)(end - p));
	char *scratch = usk_alloc((size_t)(end - p) + 1, 1), *at = scratch;
	*json = is_object(p, end);
	if (*json) {
		/* The line may be longer than what is seen of it: what comes before counts. */
		read_object(p, end, scratch, take, ctx);
	} else {
		struct usk_csv_field f;
		end -= end > p && end[-1] == '\r';
		while (p && usk_csv_next_field(&p, end, &at, &f)) {
			take(ctx, f, NULL);
		}
	}
	free(scratch);
	return true;
}

struct names {
	char *text;
	size_t n;
};

static void add_name(void *ctx, struct usk_csv_field name, const struct usk_cell *v)
{
	enum { MOST = 6, LONGEST = 32 };
	struct names *x = ctx;
	(void)v;
	if (x->n++ <= MOST && name.text) {
		char *longer = x->n > MOST ? usk_format("%s ...", x->text)
					   : usk_format("%s%s%.*s", x->text, x->n > 1 ? ", " : "",
							name.n < LONGEST ? (int)name.n : LONGEST,
							name.text);
		free(x->text);
		x->text = longer;
	}
}

char *usk_table_found(const uint8_t *d, size_t n)
{
	struct names names = { usk_strdup(""), 0 };
	bool json = false;
	first_names(d, n, add_name, &names, &json);
	char *text = names.n < (json ? 1 : 2) ? usk_strdup("")
		     : json		      ? usk_format(" (JSON with the keys %s)", names.text)
			    : usk_format(" (a table with the columns %s)", names.text);
	free(names.text);
	return text;
}

const struct usk_table_kind *usk_table_sniff(const uint8_t *d, size_t n)
{
	struct count count = { { 0 } };
	bool json;
	if (!first_names(d, n, count_name, &count, &json)) {
		return NULL;
	}
	/* Half of what is needed: what is missing then is worth a sentence. */
	size_t best = 0;
	for (size_t i = 1; i < USK_TABLE_KINDS; i++) {
		best = count.found[i] > count.found[best] ? i : best;
	}
	size_t needed = 0;
	for (size_t c = 0; c < usk_table_kinds[best]->n; c++) {
		needed += usk_table_kinds[best]->column[c].required;
	}
	return 2 * count.found[best] >= needed ? usk_table_kinds[best] : NULL;
}

enum usk_status usk_table_start(struct usk_table *b, const struct usk_table_kind *kind,
				struct usk_input *in, size_t *used, struct usk_err *err)
{
	usk_csv_bad_clear(&b->bad);
	memset(b->cell, 0, sizeof b->cell);
	memset(b->member, 0, sizeof b->member);
	b->kind = kind;
	b->number = 0;
	enum usk_status status = usk_input_need(in, *used, 1, err);
	*used = 0;
	if (status) {
		return status;
	}
	const char *text = (const char *)in->data, *end = text + in->have;
	b->json = is_object(text + bom(text, in->have), end);
	if (b->json) {
		return USK_OK;
	}
	status = usk_csv_next_line(in, used, &b->line, err);
	if (status) {
		if (status == USK_EINPUT) {
			usk_fail_in(status, err, "line 1");
		}
		return status;
	}
	if (!b->line.n && !b->line.n_end) {
		return usk_fail(err, USK_EINPUT, 1, "has no header line");
	}
	size_t skip = bom(b->line.text, b->line.n);
	b->bom = skip > 0;
	b->line.text += skip;
	b->line.n -= skip;
	b->number = 1;
	return header(b, err);
}

static enum usk_status shape(struct usk_table *b, struct usk_err *err)
{
	const char *text = b->line.text, *end = text + b->line.n;
	make_scratch(b);
	if (b->json) {
		memset(b->cell, 0, sizeof b->cell);
		b->n_members = 0;
		size_t skip = b->number == 1 ? bom(text, b->line.n) : 0;
		return read_object(text + skip, end, b->scratch, take_member, b)
			       ? USK_OK
			       : usk_fail(err, USK_EINPUT, 0, "is not a JSON object");
	}
	if (b->bad.open && usk_csv_is_rest(&b->bad, text, end)) {
		return usk_fail(err, USK_EINPUT, 0, "is the rest of the row before it");
	}
	size_t fields = 0;
	if (!csv_row(b, &fields)) {
		b->bad.open = true;
		return usk_fail(err, USK_EINPUT, 0, "has a quote that is not closed");
	}
	if (fields < b->width) {
		return usk_fail(err, USK_EINPUT, 0, "has %zu %s where %zu are needed", fields,
				fields == 1 ? "column" : "columns", b->width);
	}
	return USK_OK;
}

enum usk_status usk_table_next(struct usk_table *b, struct usk_input *in, size_t *used, bool *more,
			       struct usk_err *err)
{
	enum usk_status status = usk_csv_next_line(in, used, &b->line, err);
	*more = status || b->line.n || b->line.n_end;
	b->blank = !status && *more && !b->line.n; /* common at the end */
	b->number++;
	if (status || !*more || b->blank) {
		return status;
	}
	status = shape(b, err);
	for (size_t c = 0; c < b->kind->n && !status; c++) {
		const struct usk_table_column *column = &b->kind->column[c];
		struct usk_csv_field f = b->cell[c].f;
		if (column->required && !column->time && (!f.text || !f.n)) {
			status = usk_fail(err, USK_EINPUT, 0, "has no %s", column->name);
		} else if (column->required && column->time && !f.text) {
			status = usk_fail(err, USK_EINPUT, 0, "has no %s_ns", column->name);
		} else if (column->required && !column->time && memchr(f.text, 0, f.n)) {
			status = usk_fail(err, USK_EINPUT, 0, "has a NUL byte in its %s",
					  column->name);
		}
	}
	return status;
}

void usk_table_left_out(struct usk_table *b, const char *why)
{
	usk_csv_bad_add(&b->bad, b->number, why);
}

void usk_table_free(struct usk_table *b)
{
	usk_csv_bad_clear(&b->bad);
	USK_FREE(b->column, b->scratch);
	memset(b, 0, sizeof *b);
}
