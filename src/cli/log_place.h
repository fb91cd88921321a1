/* SPDX-License-Identifier: MIT */
/* log_place.h - which part of a line is said to hold its stamp */
#ifndef LOG_PLACE_H
#define LOG_PLACE_H

#include "base/base.h"

/* One of the first three, or none. */
struct log_place {
	int64_t field;	    /* the N-th word, or the N-th part between separators; 0: not said */
	const char *column; /* a name in the first line: field is learned from it */
	const char *key;    /* "time", "log.time" of a line in JSON */
	char separator;	    /* 0: blanks and tabs, as many as there are */
};

/** The field of that number, from 1 on, without quotes; false: there are not as many. */
bool log_field(const char *s, size_t n, int64_t number, char separator, size_t *from, size_t *end);
/** The number of the field that reads so; 0: none. */
int64_t log_column(const char *s, size_t n, const char *name, char separator);
/**
 * The value of a key in s[n], an object: text or a number, without quotes. "a.b" is the key a.b, or
 * b of the object at a; names are compared as they are written.
 */
bool log_key(const char *s, size_t n, const char *key, size_t *from, size_t *end);

#endif
