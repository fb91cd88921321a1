/* SPDX-License-Identifier: MIT */
/*
 * log_forms.c - the forms that stamps of logs have, as rows of a table
 *
 * In    text that may begin with a stamp; or a stamp, and the date to put there
 * Out   its parts; the stamp with that date, as long as before
 * Why   one pattern says how a form is read and how it is written
 * Not   what moment that is, where in a line it is (log_stamp.c); hours of 12; months by number
 *       beside days by number, as 11/12/2026
 */
#include "base/text.h"
#include "log_forms.h"

#include <stddef.h>
#include <string.h>

/*
 * %Y %y %m %d %H %M %S as in strftime, all digits there, and %y of this century; %e a day with a blank or a zero before it;
 * %b %a names; %T "T" or a blank; %L a letter of a level; %f a fraction and %z a zone, if there is
 * one; %0 %3 %6 %9 a number of s, ms, us, ns since 1970. A stamp keeps its length, so it can be
 * written where it stood.
 */
static const struct {
	const char *pattern, *example;
} forms[] = {
	{ "%Y-%m-%d%T%H:%M:%S%f%z", "2026-11-22T10:00:00.123Z" },
	{ "%a %Y-%m-%d%T%H:%M:%S%f%z", "Sun 2026-11-22 10:00:00 UTC" },
	{ "%Y/%m/%d%T%H:%M:%S%f%z", "2026/11/22 10:00:00" },
	{ "%Y.%m.%d%T%H:%M:%S%f%z", "2026.11.22 10:00:00.123" },
	{ "%y/%m/%d %H:%M:%S%f", "26/11/22 10:00:00" },
	{ "%Y%m%d%T%H%M%S%f%z", "20261122T100000Z" },
	{ "%d/%b/%Y:%H:%M:%S%f%z", "22/Nov/2026:10:00:00 +0000" },
	{ "%d-%b-%Y%T%H:%M:%S%f%z", "22-Nov-2026 10:00:00.123" },
	{ "%d.%m.%Y%T%H:%M:%S%f%z", "22.11.2026 10:00:00" },
	{ "%d %b %Y %H:%M:%S%f%z", "22 Nov 2026 10:00:00.123" },
	{ "%a, %d %b %Y %H:%M:%S%f%z", "Sun, 22 Nov 2026 10:00:00 GMT" },
	{ "%a %b %e %H:%M:%S%f%z %Y", "Sun Nov 22 10:00:00.123456 2026" },
	{ "%b %e %Y %H:%M:%S%f%z", "Nov 22 2026 10:00:00" },
	{ "%b %e %H:%M:%S%f%z", "Nov 22 10:00:00" },
	{ "%L%m%d %H:%M:%S%f", "I1122 10:00:00.123456" },
	{ "%L%Y%m%d %H:%M:%S%f", "I20261122 10:00:00.123456" },
	{ "%m-%d %H:%M:%S%f", "11-22 10:00:00.123" },
	{ "%0%f", "1795341600.123" },
	{ "%3%f", "1795341600123" },
	{ "%6%f", "1795341600123456" },
	{ "%9", "1795341600123456789" },
};

static const char month_name[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					"Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char day_name[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

/* Those of RFC 5322, and those of Europe, which name one offset each. */
static const struct {
	const char *name;
	int hours;
} zones[] = {
	{ "UTC", 0 },  { "GMT", 0 },  { "WET", 0 },  { "WEST", 1 }, { "BST", 1 },
	{ "CET", 1 },  { "CEST", 2 }, { "EET", 2 },  { "EEST", 3 }, { "EST", -5 },
	{ "EDT", -4 }, { "CST", -6 }, { "CDT", -5 }, { "MST", -7 }, { "MDT", -6 },
	{ "PST", -8 }, { "PDT", -7 }, { "Z", 0 },    { "z", 0 },
};

#define SECOND INT64_C(1000000000)

/* Tokens that are as many digits as that. */
static const struct {
	char token;
	uint8_t digits;
	int least, most;
	size_t member;
} numbers[] = {
#define PART(name) offsetof(struct log_parts, name)
	{ 'Y', 4, 1, 9999, PART(year) }, { 'y', 2, 0, 99, PART(year) },
	{ 'm', 2, 1, 12, PART(month) },	 { 'd', 2, 1, 31, PART(day) },
	{ 'e', 2, 1, 31, PART(day) },	 { 'H', 2, 0, 23, PART(hour) },
	{ 'M', 2, 0, 59, PART(minute) }, { 'S', 2, 0, 60, PART(second) },
#undef PART
};

size_t log_forms(void)
{
	return COUNT(forms);
}

const char *log_form_example(size_t form)
{
	return form < COUNT(forms) ? forms[form].example : NULL;
}

size_t log_form_digits(size_t form)
{
	char token = forms[form].pattern[1];
	return token <= '9' ? 10 + (size_t)(token - '0') : 0;
}

/* Digits, as many as that; -1: there are not. */
static int64_t take_digits(const char *s, size_t n, size_t want)
{
	int64_t value = 0;
	if (n < want) {
		return -1;
	}
	for (size_t i = 0; i < want; i++) {
		if (!usk_is_digit(s[i])) {
			return -1;
		}
		value = value * 10 + (s[i] - '0');
	}
	return value;
}

/* The name that s begins with, from 1 on; 0: none. */
static int take_name(const char *s, size_t n, const char (*name)[4], int count)
{
	for (int i = 0; n >= 3 && i < count; i++) {
		if (!memcmp(s, name[i], 3)) {
			return i + 1;
		}
	}
	return 0;
}

/* A comma ends a column as well as it begins a fraction, which then has 3, 6 or 9 digits. */
static size_t take_fraction(const char *s, size_t n, char separator, struct log_parts *p)
{
	size_t i = 1;
	if (n < 2 || (s[0] != '.' && s[0] != ',') || s[0] == separator || !usk_is_digit(s[1])) {
		return 0;
	}
	while (i < n && usk_is_digit(s[i])) {
		i++;
	}
	if ((s[0] == ',' && (i - 1) % 3) || (p->number_ns && i > 10)) {
		return 0;
	}
	for (size_t k = 1; k < i && p->scale < SECOND; k++) {
		p->fraction = p->fraction * 10 + (s[k] - '0');
		p->scale *= 10;
	}
	return i;
}

/* Of what s begins with; 0: no zone. */
static size_t take_zone(const char *s, size_t n, int64_t *zone_s)
{
	size_t letters = 0;
	if (n > 2 && (s[0] == '+' || s[0] == '-')) {
		int64_t hours = take_digits(s + 1, n - 1, 2);
		size_t colon = n > 3 && s[3] == ':';
		int64_t minutes = n > 3 ? take_digits(s + 3 + colon, n - 3 - colon, 2) : -1;
		*zone_s =
			(s[0] == '-' ? -1 : 1) * (hours * 3600 + (minutes < 0 ? 0 : minutes) * 60);
		return hours < 0 || hours > 23 || minutes > 59 ? 0 : minutes < 0 ? 3 : 5 + colon;
	}
	while (letters < n && letters < 5 && usk_is_letter(s[letters])) {
		letters++;
	}
	for (size_t i = 0; letters && i < COUNT(zones); i++) {
		if (strlen(zones[i].name) == letters && !memcmp(zones[i].name, s, letters)) {
			*zone_s = zones[i].hours * 3600;
			return letters;
		}
	}
	return 0;
}

bool log_zone(const char *s, size_t n, int64_t *zone_s)
{
	return n && take_zone(s, n, zone_s) == n;
}

/* Behind a blank "-04" may be anything, and a number with "-" before it too: only four digits. */
static size_t take_optional_zone(const char *s, size_t n, struct log_parts *p)
{
	size_t blank = n && s[0] == ' ';
	size_t used = take_zone(s + blank, n - blank, &p->zone_s);
	bool sign = used && !usk_is_letter(s[blank]);
	size_t end = blank + used;
	if (!used || (blank && sign && used < 5) ||
	    (end < n && (usk_is_letter(s[end]) || usk_is_digit(s[end])))) {
		return 0;
	}
	p->zoned = true;
	return end;
}

/* The row of numbers[] for that token; its length: there is none. */
static size_t number_of(char token)
{
	size_t i = 0;
	while (i < COUNT(numbers) && numbers[i].token != token) {
		i++;
	}
	return i;
}

static size_t take_number(size_t row, const char *s, size_t n, struct log_parts *p)
{
	size_t digits = numbers[row].digits;
	size_t blank = numbers[row].token == 'e' && n && s[0] == ' ';
	int64_t value = n < digits ? -1 : take_digits(s + blank, n - blank, digits - blank);
	*(int *)(void *)((char *)p + numbers[row].member) =
		(int)value + (numbers[row].token == 'y' ? 2000 : 0);
	return value >= numbers[row].least && value <= numbers[row].most ? digits : SIZE_MAX;
}

/* A token of a pattern; how much it takes, SIZE_MAX: it does not fit. */
static size_t take(char token, const char *s, size_t n, char separator, struct log_parts *p)
{
	size_t row = number_of(token), digits;
	if (row < COUNT(numbers)) {
		return take_number(row, s, n, p);
	}
	switch (token) {
	case 'b':
		p->month = take_name(s, n, month_name, 12);
		return p->month ? 3 : SIZE_MAX;
	case 'a':
		p->weekday = take_name(s, n, day_name, 7) - 1;
		return p->weekday >= 0 ? 3 : SIZE_MAX;
	case 'T':
		return n && (s[0] == 'T' || s[0] == 't' || s[0] == ' ') ? 1 : SIZE_MAX;
	case 'L':
		return n && memchr("IWEF", s[0], 4) ? 1 : SIZE_MAX;
	case 'f':
		return take_fraction(s, n, separator, p);
	case 'z':
		return take_optional_zone(s, n, p);
	default: /* 0, 3, 6, 9 */
		digits = 10 + (size_t)(token - '0');
		p->number = take_digits(s, n, digits);
		p->number_ns = SECOND;
		for (char i = '0'; i < token; i++) {
			p->number_ns /= 10;
		}
		return p->number >= 0 ? digits : SIZE_MAX;
	}
}

size_t log_form_take(size_t form, const char *s, size_t n, char separator, struct log_parts *p)
{
	size_t at = 0;
	*p = (struct log_parts){ .scale = 1 };
	for (const char *f = forms[form].pattern; *f; f++) {
		if (*f != '%') {
			if (at == n || s[at] != *f) {
				return 0;
			}
			at++;
			continue;
		}
		size_t used = take(*++f, s + at, n - at, separator, p);
		if (used == SIZE_MAX) {
			return 0;
		}
		at += used;
	}
	/* "10:00:00.5.7" and "10:00:00:01" are something else; "10:00:00." ends a sentence. */
	bool more = at < n && (usk_is_letter(s[at]) || usk_is_digit(s[at]) || s[at] == '_' ||
			       (at + 1 < n && memchr(".:-/", s[at], 4) && usk_is_digit(s[at + 1])));
	return more ? 0 : at;
}

/* ---- writing ------------------------------------------------------------------------ */

bool log_put_digits(char *s, size_t n, int64_t value)
{
	bool fits = value >= 0;
	for (size_t i = n; i-- > 0; value /= 10) {
		s[i] = (char)('0' + (fits ? value % 10 : 0));
	}
	return fits && !value;
}

/* fraction: in ns. Returns how long the token is there, which for some the text itself says. */
static size_t put(char token, char *s, size_t n, const struct log_parts *p)
{
	struct log_parts old = { .scale = 1 };
	int64_t fraction = p->fraction;
	size_t row = number_of(token), used;
	if (row < COUNT(numbers)) {
		bool blank = token == 'e' && s[0] != '0';
		log_put_digits(s, numbers[row].digits,
			       *(const int *)(const void *)((const char *)p + numbers[row].member));
		s[0] = blank && s[0] == '0' ? ' ' : s[0];
		return numbers[row].digits;
	}
	switch (token) {
	case 'b':
		memcpy(s, month_name[p->month - 1], 3);
		return 3;
	case 'a':
		memcpy(s, day_name[p->weekday], 3);
		return 3;
	case 'f':
		used = take_fraction(s, n, 0, &old);
		for (size_t i = 1; i < used; i++) { /* beyond ns: zeros */
			fraction *= 10;
			s[i] = (char)('0' + fraction / SECOND);
			fraction %= SECOND;
		}
		return used;
	case 'z':
		return take_optional_zone(s, n, &old);
	default: /* T, L */
		return 1;
	}
}

void log_form_put(size_t form, char *s, size_t n, const struct log_parts *p)
{
	size_t at = 0;
	for (const char *f = forms[form].pattern; *f; f++) {
		at += *f == '%' ? put(*++f, s + at, n - at, p) : 1;
	}
}
