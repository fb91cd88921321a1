/* SPDX-License-Identifier: MIT */
#include "write/json_put.h"
#include "base/text.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 100 };

json_t *usk_json_had(json_t *v)
{
	if (!v) {
		usk_alloc(SIZE_MAX, 1);
	}
	return v;
}

json_t *usk_json_text(const char *text)
{
	char *shown = usk_shown(text ? text : "");
	json_t *v = usk_json_had(json_string(shown));
	free(shown);
	return v;
}

/* So many bytes and a 0 fit behind what is there. */
static char *room(struct usk_json_out *o, size_t n)
{
	while (o->cap - o->n <= n) {
		o->text = usk_room(o->text, o->cap, &o->cap, 1);
	}
	return o->text + o->n;
}

static void put(struct usk_json_out *o, const char *text, size_t n)
{
	memcpy(room(o, n), text, n);
	o->n += n;
	o->plain += n;
	o->text[o->n] = 0;
}

static void put_word(struct usk_json_out *o, const char *text)
{
	put(o, text, strlen(text));
}

/* ---- layout ------------------------------------------------------------------------------------
 */

static void break_line(struct usk_json_out *o)
{
	char *to = room(o, 1 + o->indent);
	*to = '\n';
	memset(to + 1, ' ', o->indent);
	to[1 + o->indent] = 0;
	o->n += 1 + o->indent;
	o->line = o->n - o->indent;
}

/* The text up to here ends with a value, or with what opens a list or an object. */
static void separate(struct usk_json_out *o)
{
	const char last = o->text[o->n - 1];
	if (last != '[' && last != '{') {
		put(o, ",", 1);
		o->plain++; /* the space behind it on one line */
	}
	break_line(o);
}

/* The lines of a list or an object that begins there, on one. In strings line breaks are escaped. */
static void draw_together(struct usk_json_out *o, size_t at)
{
	char *to = o->text + at;
	for (const char *s = to; *s;) {
		if (*s != '\n') {
			*to++ = *s++;
			continue;
		}
		s += 1 + strspn(s + 1, " ");
		if (to[-1] == ',') {
			*to++ = ' ';
		}
	}
	*to = 0;
	o->n = (size_t)(to - o->text);
}

static void put_nest(struct usk_json_out *o, const char *brackets, struct usk_json_inner inner)
{
	const size_t at = o->n, line = o->line, plain = o->plain;
	put(o, brackets, 1);
	o->indent += 2;
	inner.put(o, inner.ctx);
	o->indent -= 2;
	break_line(o);
	put(o, brackets + 1, 1);
	if (at - line + o->plain - plain < LINE) { /* a comma follows */
		draw_together(o, at);
		o->line = line;
	}
}

void usk_json_put_list(struct usk_json_out *o, struct usk_json_inner inner)
{
	put_nest(o, "[]", inner);
}

void usk_json_put_object(struct usk_json_out *o, struct usk_json_inner inner)
{
	put_nest(o, "{}", inner);
}

void usk_json_item(struct usk_json_out *o)
{
	separate(o);
}

void usk_json_member(struct usk_json_out *o, const char *key)
{
	separate(o);
	const size_t n = strlen(key);
	char *to = room(o, n + 4);
	*to = '"';
	memcpy(to + 1, key, n);
	memcpy(to + 1 + n, "\": ", 4);
	o->n += n + 4;
	o->plain += n + 4;
}

/* ---- values ------------------------------------------------------------------------------------
 */

void usk_json_put_ns(struct usk_json_out *o, int64_t ns)
{
	char text[24], *end = text + sizeof text;
	if (ns == USK_NONE) {
		put_word(o, "null");
		return;
	}
	*--end = '"';
	char *begin = usk_digits(ns, end);
	*--begin = '"';
	put(o, begin, (size_t)(end + 1 - begin));
}

void usk_json_put_integer(struct usk_json_out *o, int64_t v)
{
	char text[24], *end = text + sizeof text, *begin = usk_digits(v, end);
	put(o, begin, (size_t)(end - begin));
}

void usk_json_put_millionths(struct usk_json_out *o, int64_t v)
{
	enum { DIGITS = 6 };
	char text[32], *point = text + 24, *end = point + DIGITS;
	const uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char *begin = usk_digits((int64_t)(size / 1000000), point);
	uint64_t left = size % 1000000;
	*point = '.';
	for (int i = DIGITS; i; i--, left /= 10) {
		point[i] = (char)('0' + left % 10);
	}
	while (*end == '0') {
		end--;
	}
	*--begin = '-';
	begin += v >= 0;
	put(o, begin, (size_t)(end + (end != point) - begin));
}

static int put_dumped(const char *text, size_t n, void *ctx)
{
	put(ctx, text, n);
	return 0;
}

void usk_json_put(struct usk_json_out *o, json_t *value)
{
	const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
	if (json_dump_callback(value, put_dumped, o, flags)) {
		usk_json_had(NULL);
	}
	json_decref(value);
}

static bool is_plain(const char *text)
{
	while (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') {
		text++;
	}
	return !*text;
}

void usk_json_put_text(struct usk_json_out *o, const char *text)
{
	if (text && is_plain(text)) { /* as most are */
		put(o, "\"", 1);
		put_word(o, text);
		put(o, "\"", 1);
	} else {
		usk_json_put(o, usk_json_text(text));
	}
}

void usk_json_end(struct usk_json_out *o)
{
	put_word(o, "\n");
}
