/* SPDX-License-Identifier: MIT */
/*
 * log_place.c - which part of a line is said to hold its stamp
 *
 * In    a line; the number or name of a column, or a key
 * Out   from where to where that is
 * Why   the bytes around a stamp stay as they are, so it is looked for in the line itself: a parser
 *       of JSON forgets where a value stood
 * Not   whether that is a stamp (log_stamp.c); records of CSV over several lines
 */
#include "log_place.h"

#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Behind a text in quotes: of CSV two of them are one that is meant, of JSON one behind a "\". */
static size_t past_quotes(const char *s, size_t n, size_t at, char escape)
{
	for (at++; at < n; at++) {
		bool more = at + 1 < n;
		if (s[at] == escape && more && (escape == '\\' || s[at + 1] == '"')) {
			at++;
		} else if (s[at] == '"') {
			return at + 1;
		}
	}
	return n;
}

bool log_field(const char *s, size_t n, int64_t number, char separator, size_t *from, size_t *end)
{
	size_t at = 0;
	for (int64_t k = 1;; k++) {
		while (!separator && at < n && blank(s[at])) {
			at++;
		}
		*from = at;
		if (separator && at < n && s[at] == '"') {
			at = past_quotes(s, n, at, '"');
		}
		while (at < n && (separator ? s[at] != separator : !blank(s[at]))) {
			at++;
		}
		*end = at;
		if (k == number) {
			bool quoted = *end > *from + 1 && s[*from] == '"' && s[*end - 1] == '"';
			*from += quoted;
			*end -= quoted;
			return separator || *end > *from;
		}
		if (at == n) {
			return false;
		}
		at += separator != 0;
	}
}

int64_t log_column(const char *s, size_t n, const char *name, char separator)
{
	size_t from, end, want = strlen(name);
	for (int64_t k = 1; log_field(s, n, k, separator, &from, &end); k++) {
		if (end - from == want && !memcmp(s + from, name, want)) {
			return k;
		}
	}
	return 0;
}

static size_t past_blanks(const char *s, size_t n, size_t at)
{
	while (at < n && (blank(s[at]) || s[at] == '\r')) {
		at++;
	}
	return at;
}

/* Where the value at s[at] lies, if it is text or a number. */
static bool value_at(const char *s, size_t n, size_t at, size_t *from, size_t *end)
{
	if (at < n && s[at] == '"') {
		*from = at + 1;
		*end = past_quotes(s, n, at, '\\');
		*end -= *end > *from && s[*end - 1] == '"';
		return true;
	}
	*from = *end = at;
	while (*end < n && !blank(s[*end]) && !memchr(",]}\r", s[*end], 4)) {
		(*end)++;
	}
	return *end > *from && s[*from] != '{' && s[*from] != '[';
}

bool log_key(const char *s, size_t n, const char *key, size_t *from, size_t *end)
{
	size_t depth = 0, met = 0; /* objects that are open; those of them that the key names */
	for (size_t at = 0; at < n;) {
		if (s[at] == '{' || s[at] == '[') {
			depth++;
			at++;
		} else if (s[at] == '}' || s[at] == ']') {
			if (depth <= met + 1 && met) {
				return false; /* the object at a, and no b in it */
			}
			depth -= depth > 0;
			at++;
		} else if (s[at] != '"') {
			at++;
		} else {
			size_t name = at + 1;
			at = past_quotes(s, n, at, '\\');
			size_t size = at > name ? at - 1 - name : 0;
			size_t colon = past_blanks(s, n, at);
			if (depth != met + 1 || colon == n || s[colon] != ':') {
				continue;
			}
			at = past_blanks(s, n, colon + 1);
			size_t rest = strlen(key);
			if (size == rest && !memcmp(s + name, key, size)) {
				return value_at(s, n, at, from, end);
			}
			if (size < rest && key[size] == '.' && !memcmp(s + name, key, size) &&
			    at < n && s[at] == '{') {
				key += size + 1;
				met++;
			}
		}
	}
	return false;
}
