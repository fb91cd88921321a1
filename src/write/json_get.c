/* SPDX-License-Identifier: MIT */
#include "write/json_get.h"
#include "write/fields.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t spell(const struct place *p, char *out, size_t size)
{
	if (!p) {
		out[0] = 0;
		return 0;
	}
	size_t n = spell(p->up, out, size);
	int more = p->key ? snprintf(out + n, size - n, n ? ".%s" : "%s", p->key)
			  : snprintf(out + n, size - n, "[%zu]", p->index);
	return more > 0 && (size_t)more < size - n ? n + (size_t)more : n;
}

/* What is quoted from the input: on one line, and no byte over `most`. */
static void printable(char *text, int most)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		*c = *c < 32 || *c == 127 || *c > most ? '?' : *c;
	}
}

void usk_json_wrong(struct reader *r, const struct place *up, const char *key, const char *fmt, ...)
{
	if (r->status) {
		return;
	}
	char where[160], what[240];
	struct place p = { up, key, 0 };
	spell(key ? &p : up, where, sizeof where);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	printable(what, UCHAR_MAX);
	r->status = usk_fail(r->err, USK_EINPUT, 0, "%s: %s", where, what);
}

json_t *usk_json_load(const char *text, size_t size, struct usk_err *err)
{
	json_error_t e;
	memset(&e, 0, sizeof e);
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
	if (!root && json_error_code(&e) == json_error_out_of_memory) {
		usk_json_had(NULL);
	}
	if (!root) {
		printable(e.text, 126);
		usk_fail(err, USK_EINPUT, e.position > 0 ? (uint64_t)e.position : 0,
			 "line %d: not JSON: %s", e.line, e.text);
	}
	return root;
}

const json_t *usk_json_get(struct reader *r, const struct place *at, const json_t *o,
			   const char *key)
{
	const json_t *v = json_object_get(o, key);
	if (!v) {
		usk_json_wrong(r, at, key,
			       json_is_object(o) ? "is missing" : "is not inside an object");
	}
	return v;
}

/* Of that type, or it is said what it is not: then what comes back is empty to whoever looks. */
static const json_t *get(struct reader *r, const struct place *at, const json_t *o, const char *key,
			 json_type type, const char *otherwise)
{
	const json_t *v = usk_json_get(r, at, o, key);
	if (v && json_typeof(v) != type) {
		usk_json_wrong(r, at, key, "%s", otherwise);
	}
	return v;
}

const json_t *usk_json_object(struct reader *r, const struct place *at, const json_t *o,
			      const char *key)
{
	return get(r, at, o, key, JSON_OBJECT, "is not an object");
}

const json_t *usk_json_array(struct reader *r, const struct place *at, const json_t *o,
			     const char *key)
{
	return get(r, at, o, key, JSON_ARRAY, "is not an array");
}

char *usk_json_string(struct reader *r, const struct place *at, const json_t *o, const char *key)
{
	const char *text = json_string_value(get(r, at, o, key, JSON_STRING, "is not a string"));
	return usk_strdup(text ? text : "");
}

uint64_t usk_json_count(struct reader *r, const struct place *at, const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(get(r, at, o, key, JSON_INTEGER, "is not a count"));
	if (n < 0) {
		usk_json_wrong(r, at, key, "is not a count");
	}
	return n < 0 ? 0 : (uint64_t)n;
}

double usk_json_number(struct reader *r, const struct place *at, const json_t *o, const char *key,
		       bool nullable)
{
	const json_t *v = usk_json_get(r, at, o, key);
	if (nullable && json_is_null(v)) {
		return NAN;
	}
	if (v && !json_is_number(v)) {
		usk_json_wrong(r, at, key, "is not a number%s", nullable ? " or null" : "");
	}
	return json_number_value(v);
}
