/* SPDX-License-Identifier: MIT */
/* json.h - values that the commands' JSON have in common */
#ifndef JSON_H
#define JSON_H

#include "base/base.h"

#include <jansson.h>

/** A string, as other readers of JSON have doubles only; null for USK_NONE. */
json_t *json_ns(int64_t ns);
/** null for what is not finite. */
json_t *json_number(double v);
/** Names are bytes: those that are not UTF-8 as \xff. null for NULL. */
json_t *json_shown(const char *text);
json_t *json_list(char *const *text, size_t n);
json_t *json_violations(const struct usk_violations *v);
json_t *json_difference(const struct usk_difference *d);

/** Prints it, a line's end behind, and frees it. flags: of json_dumpf(). */
void json_print(FILE *out, json_t *j, size_t flags);

#endif
