/* SPDX-License-Identifier: MIT */
/*
 * json_put.h - JSON as text, laid out while it is written
 *
 * In    values, one after the other
 * Out   a list or an object on one line if it fits there, else a line for each of its members: a
 *       knot or a message is a row
 * Why   a tree of values first, and then its text, costs five times as much as the text does, and
 *       clocks.json of many clocks is tens of MB. Lines are what most of it ends as, so all is
 *       written as lines, and what would fit on one is drawn together afterwards
 * Not   what is written (fields.c), reading (json_get.h); several threads, as 60 MB take 0.1 s, and memory of more
 *       texts as long again
 */
#ifndef USK_JSON_PUT_H
#define USK_JSON_PUT_H

#include "base/base.h"

#include <jansson.h>

/* Begins as all 0. */
struct usk_json_out {
	char *text; /* malloc'ed; ends with a 0 */
	size_t n, cap;
	size_t line;   /* where the line begins */
	size_t indent; /* of what is on it */
	size_t plain;  /* so many bytes would there be if all of it were on one line */
};

/** What a list or an object holds: put() writes its items, or its members, each begun as below. */
struct usk_json_inner {
	void (*put)(struct usk_json_out *o, const void *ctx);
	const void *ctx;
};

void usk_json_put_list(struct usk_json_out *o, struct usk_json_inner inner);
void usk_json_put_object(struct usk_json_out *o, struct usk_json_inner inner);
/** Begins an item of a list, a member of an object; the key is plain. */
void usk_json_item(struct usk_json_out *o);
void usk_json_member(struct usk_json_out *o, const char *key);

/** A string of ns; null for USK_NONE. */
void usk_json_put_ns(struct usk_json_out *o, int64_t ns);
void usk_json_put_integer(struct usk_json_out *o, int64_t v);
/** v / 10^6, all digits; v is 0, or its size 100 at least: others are written with an exponent. */
void usk_json_put_millionths(struct usk_json_out *o, int64_t v);
/** A string; NULL is an empty one. */
void usk_json_put_text(struct usk_json_out *o, const char *text);
/** Any other value that is no list and no object. It is given away. */
void usk_json_put(struct usk_json_out *o, json_t *value);

/** Ends the text with a line break. */
void usk_json_end(struct usk_json_out *o);

/** v, which jansson may have failed to make: then this does not return. */
json_t *usk_json_had(json_t *v);
json_t *usk_json_text(const char *text);

#endif
