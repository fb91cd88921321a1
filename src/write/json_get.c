/* SPDX-License-Identifier: MIT */
#include "write/json_get.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
	for (char *c = what; *c; c++) {
		*c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c; /* quoted from the input */
	}
	r->status = usk_fail(r->err, USK_EINPUT, 0, "%s: %s", where, what);
}

/* jansson quotes the input in its sentences: keep them printable and to one line. */
static void not_json(struct usk_err *err, const json_error_t *e)
{
	char what[JSON_ERROR_TEXT_LENGTH];
	size_t n = 0;
	for (; e->text[n] && n + 1 < sizeof what; n++) {
		unsigned char c = (unsigned char)e->text[n];
		what[n] = (char)(c >= 32 && c < 127 ? c : '?');
	}
	what[n] = 0;
	usk_fail(err, USK_EINPUT, e->position > 0 ? (uint64_t)e->position : 0,
		 "line %d: not JSON: %s", e->line, what);
}

json_t *usk_json_load(const char *text, size_t size, struct usk_err *err)
{
	json_error_t e;
	memset(&e, 0, sizeof e);
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
	if (!root) {
		not_json(err, &e);
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

const json_t *usk_json_object(struct reader *r, const struct place *at, const json_t *o,
			      const char *key)
{
	const json_t *v = usk_json_get(r, at, o, key);
	if (v && !json_is_object(v)) {
		usk_json_wrong(r, at, key, "is not an object");
	}
	return v;
}

const json_t *usk_json_array(struct reader *r, const struct place *at, const json_t *o,
			     const char *key)
{
	const json_t *v = usk_json_get(r, at, o, key);
	if (v && !json_is_array(v)) {
		usk_json_wrong(r, at, key, "is not an array");
	}
	return v;
}

char *usk_json_string(struct reader *r, const struct place *at, const json_t *o, const char *key)
{
	const json_t *v = usk_json_get(r, at, o, key);
	if (v && !json_is_string(v)) {
		usk_json_wrong(r, at, key, "is not a string");
	}
	return usk_strdup(json_is_string(v) ? json_string_value(v) : "");
}

int64_t usk_json_ns_value(struct reader *r, const struct place *at, const char *key,
			  const json_t *v, uint64_t limit, bool nullable)
{
	if (json_is_null(v) && nullable) {
		return USK_NONE;
	}
	const char *s = json_string_value(v);
	size_t n = json_string_length(v), digits = s && s[0] == '-' ? 1 : 0;
	uint64_t size = 0;
	bool good = s && n > digits && n - digits <= 19;
	for (size_t i = digits; good && i < n; i++) {
		good = s[i] >= '0' && s[i] <= '9';
		size = size * 10 + (uint64_t)(s[i] - '0');
	}
	if (v && !good) {
		usk_json_wrong(r, at, key, "is not a whole number of ns in a string%s",
			       nullable ? " or null" : "");
	} else if (v && size > limit) {
		usk_json_wrong(r, at, key, "is more than 2^%d ns", limit > USK_TIME_MAX ? 63 : 62);
	}
	if (r->status) {
		return 0;
	}
	return digits ? -(int64_t)size : (int64_t)size;
}

static uint64_t count_value(struct reader *r, const struct place *at, const char *key,
			    const json_t *v)
{
	if (v && (!json_is_integer(v) || json_integer_value(v) < 0)) {
		usk_json_wrong(r, at, key, "is not a count");
		return 0;
	}
	return (uint64_t)json_integer_value(v);
}

uint64_t usk_json_count(struct reader *r, const struct place *at, const json_t *o, const char *key)
{
	return count_value(r, at, key, usk_json_get(r, at, o, key));
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

uint32_t usk_json_clock_value(struct reader *r, const struct place *at, const char *key,
			      const json_t *v)
{
	const char *name = json_string_value(v);
	const char **found = name && r->name ? bsearch(&name, r->name, r->c->n_clocks,
						       sizeof *r->name, usk_by_string)
					     : NULL;
	if (v && !name) {
		usk_json_wrong(r, at, key, "is not a clock's name");
	} else if (v && !found) {
		usk_json_wrong(r, at, key,
			       "names the clock \"%.60s\", which is not among the clocks", name);
	}
	return found ? r->index[found - r->name] : 0;
}

uint32_t usk_json_clock(struct reader *r, const struct place *at, const json_t *o, const char *key)
{
	return usk_json_clock_value(r, at, key, usk_json_get(r, at, o, key));
}

enum usk_quality usk_json_quality(struct reader *r, const struct place *at, const json_t *o)
{
	char *s = usk_json_string(r, at, o, "quality");
	enum usk_quality q = USK_REFERENCE;
	while (q < USK_CONTRADICTED && strcmp(s, usk_quality_name(q)) != 0) {
		q++;
	}
	if (strcmp(s, usk_quality_name(q)) != 0) {
		usk_json_wrong(r, at, "quality",
			       "\"%.40s\" is none of reference, bounded, one-sided, "
			       "absent, contradicted",
			       s);
	}
	free(s);
	return q;
}
