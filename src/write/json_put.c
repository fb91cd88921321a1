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

static void put(struct usk_json_out *o, const char *text, size_t n)
{
	o->over = o->over || (o->tried && n > o->end - o->n);
	if (o->over) {
		return;
	}
	while (o->cap - o->n <= n) {
		o->text = usk_room(o->text, o->cap, &o->cap, 1);
	}
	memcpy(o->text + o->n, text, n);
	o->n += n;
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
	static const char spaces[] = "                ";
	put_word(o, "\n");
	o->line = o->n;
	for (size_t n, left = o->indent; left; left -= n) {
		n = left < sizeof spaces ? left : sizeof spaces - 1;
		put(o, spaces, n);
	}
}

/* The text up to here ends with a value, or with what opens a list or an object. */
static void separate(struct usk_json_out *o)
{
	bool first = o->over || o->text[o->n - 1] == '[' || o->text[o->n - 1] == '{';
	put_word(o, first ? "" : ",");
	if (!o->tried) {
		break_line(o);
	} else if (!first) {
		put_word(o, " ");
	}
}

static void put_inner(struct usk_json_out *o, const char *brackets, struct usk_json_inner inner)
{
	put(o, brackets, 1);
	o->indent += 2;
	inner.put(o, inner.ctx);
	o->indent -= 2;
	if (!o->tried) {
		break_line(o);
	}
	put(o, brackets + 1, 1);
}

static void put_nest(struct usk_json_out *o, const char *brackets, struct usk_json_inner inner)
{
	size_t at = o->n, room = o->line + LINE - 1; /* a comma follows */
	if (!o->tried) {
		o->tried = true;
		o->end = room > at ? room : at;
		put_inner(o, brackets, inner);
		o->tried = false;
		if (!o->over) {
			return;
		}
		o->over = false;
		o->n = at;
	}
	put_inner(o, brackets, inner);
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
	put_word(o, "\"");
	put_word(o, key);
	put_word(o, "\": ");
}

/* What separates its first item from those before goes by the byte before it. */
void usk_json_piece(struct usk_json_out *piece, size_t indent, bool first)
{
	piece->n = 0;
	piece->indent = indent;
	put_word(piece, first ? "[" : " ");
}

void usk_json_append(struct usk_json_out *o, const struct usk_json_out *piece)
{
	put(o, piece->text + 1, piece->n - 1);
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

static int put_text(const char *text, size_t n, void *ctx)
{
	put(ctx, text, n);
	return 0;
}

void usk_json_put(struct usk_json_out *o, json_t *value)
{
	const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
	if (json_dump_callback(value, put_text, o, flags)) {
		usk_json_had(NULL);
	}
	json_decref(value);
}

void usk_json_end(struct usk_json_out *o)
{
	put_word(o, "\n");
}
