/* SPDX-License-Identifier: MIT */
/* log_forms.h - the forms that stamps of logs have, as rows of a table */
#ifndef LOG_FORMS_H
#define LOG_FORMS_H

#include "base/base.h"

/* What a stamp consists of. */
struct log_parts {
	int year, month, day, hour, minute, second; /* year 0: it has none */
	int weekday;				    /* 0: Sunday */
	int64_t number, number_ns;		    /* and what one of it is; 0: it is a date */
	int64_t fraction, scale;		    /* fraction / scale, scale a power of ten */
	int64_t zone_s;
	bool zoned;
};

/* Rows; what one looks like, NULL behind the last. */
size_t log_forms(void);
const char *log_form_example(size_t form);
/* How many digits a form of numbers has before its fraction; 0: its stamps are dates. */
size_t log_form_digits(size_t form);

/**
 * How many characters of s[n] that form takes; 0: s begins with something else. separator: a
 * character that begins no fraction.
 */
size_t log_form_take(size_t form, const char *s, size_t n, char separator, struct log_parts *p);
/** Write a date over one of that form and length. */
void log_form_put(size_t form, char *s, size_t n, const struct log_parts *p);
/** As many digits as that; false: the value has more, or is negative. */
bool log_put_digits(char *s, size_t n, int64_t value);

/** "+01:00", "-0530", "CET", "Z": s[n] in seconds; false: it is none. */
bool log_zone(const char *s, size_t n, int64_t *zone_s);

#endif
