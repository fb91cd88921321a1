/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The text for an error sentence: printable, and short enough for one line. */
static const char *quoted(const char *text, size_t n, char out[48])
{
	size_t m = 0;
	for (size_t i = 0; i < n && m < 40; i++) {
		out[m++] = (char)(text[i] >= 32 && text[i] < 127 ? text[i] : '?');
	}
	if (n > m) {
		memcpy(out + m, "...", 3);
		m += 3;
	}
	out[m] = 0;
	return out;
}

/* fmt has one %s: the text. */
static enum usk_status bad(struct usk_err *err, enum usk_status code, size_t at, const char *fmt,
			   const char *text, size_t n)
{
	char q[48];
	return usk_fail(err, code, at, fmt, quoted(text, n, q));
}

char *usk_digits(int64_t value, char *end)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	/* Two at a time, as a division waits for the one before. */
	for (; left >= 100; left /= 100) {
		const unsigned two = (unsigned)(left % 100);
		*--end = (char)('0' + two % 10);
		*--end = (char)('0' + two / 10);
	}
	do {
		*--end = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0) {
		*--end = '-';
	}
	return end;
}

enum usk_status usk_parse_int(const char *text, size_t n, int64_t *out, struct usk_err *err)
{
	bool minus = n && text[0] == '-';
	size_t i = n && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	if (i == n) {
		return bad(err, USK_EINPUT, 0, "\"%s\" is not a whole number", text, n);
	}
	uint64_t limit = (uint64_t)INT64_MAX + (minus ? 1 : 0);
	uint64_t value = 0;
	for (; i < n; i++) {
		if (!usk_is_digit(text[i])) {
			return bad(err, USK_EINPUT, i, "\"%s\" is not a whole number", text, n);
		}
		uint64_t d = (uint64_t)(text[i] - '0');
		if (value > (limit - d) / 10) {
			return bad(err, USK_ERANGE, i, "%s does not fit into 64 bits", text, n);
		}
		value = value * 10 + d;
	}
	*out = minus ? (int64_t)(0 - value) : (int64_t)value;
	return USK_OK;
}

/*
 * sign, digits, optional point and digits: the integer value x 10^shift, rounded towards zero.
 * Returns how many characters were taken, 0 if none make a number. *out saturates over 2^100.
 */
static size_t scan_decimal(const char *text, size_t n, unsigned shift, usk_u128 *out, bool *exact)
{
	const usk_u128 enough = (usk_u128)1 << 100;
	size_t i = 0, digits = 0;
	usk_u128 value = 0;
	*exact = true;
	for (; i < n && usk_is_digit(text[i]); i++, digits++) {
		value = value < enough ? value * 10 + (unsigned)(text[i] - '0') : value;
	}
	unsigned places = 0;
	if (i < n && text[i] == '.') {
		i++;
		for (; i < n && usk_is_digit(text[i]); i++, digits++) {
			if (places < shift) {
				value = value < enough ? value * 10 + (unsigned)(text[i] - '0')
						       : value;
				places++;
			} else if (text[i] != '0') {
				*exact = false;
			}
		}
	}
	for (; places < shift; places++) {
		value = value < enough ? value * 10 : value;
	}
	*out = value;
	return digits ? i : 0;
}

static enum usk_status settle(usk_u128 value, bool minus, bool exact, const char *text, size_t n,
			      int64_t *out, struct usk_err *err)
{
	if (minus && !exact) {
		value++; /* down is away from zero here */
	}
	if (value > (usk_u128)USK_TIME_MAX) {
		return bad(err, USK_ERANGE, 0, "%s is out of range", text, n);
	}
	*out = minus ? -(int64_t)value : (int64_t)value;
	return USK_OK;
}

enum usk_status usk_parse_decimal(const char *text, size_t n, unsigned shift, int64_t *out,
				  bool *exact, struct usk_err *err)
{
	size_t sign = n && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	usk_u128 value;
	bool whole;
	size_t used = scan_decimal(text + sign, n - sign, shift, &value, &whole);
	if (!used || used != n - sign) {
		return bad(err, USK_EINPUT, sign + used, "\"%s\" is not a decimal number", text, n);
	}
	if (exact) {
		*exact = whole;
	}
	return settle(value, sign && text[0] == '-', whole, text, n, out, err);
}

static const struct unit {
	const char *name;
	unsigned shift; /* decimal places down to a nanosecond */
	unsigned times; /* and a factor beyond them */
} units[] = {
	{ "ns", 0, 1 },	       { "us", 3, 1 },	 { "\xc2\xb5s", 3, 1 },
	{ "\xce\xbcs", 3, 1 }, { "ms", 6, 1 },	 { "s", 9, 1 },
	{ "min", 9, 60 },      { "h", 9, 3600 }, { "d", 9, 86400 },
};

/* The unit that the text begins with, up to the next digit. */
static const struct unit *scan_unit(const char *text, size_t n, size_t *used)
{
	size_t len = 0;
	while (len < n && !usk_is_digit(text[len]) && text[len] != '.') {
		len++;
	}
	for (size_t i = 0; i < COUNT(units); i++) {
		if (strlen(units[i].name) == len && !memcmp(units[i].name, text, len)) {
			*used = len;
			return &units[i];
		}
	}
	return NULL;
}

/* In ns less `more` decimal places; finest names the unit of that. */
static enum usk_status parse_duration(const char *text, size_t n, unsigned more, const char *finest,
				      int64_t *out, struct usk_err *err)
{
	char q[48];
	size_t i = n && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	bool minus = i && text[0] == '-';
	usk_u128 sum = 0;
	if (i == n) {
		return bad(err, USK_EINPUT, 0, "\"%s\" is not a duration such as 30min or 39us",
			   text, n);
	}
	while (i < n) {
		usk_u128 value;
		bool exact;
		size_t used = scan_decimal(text + i, n - i, 0, &value, &exact);
		if (!used) {
			return bad(err, USK_EINPUT, i,
				   "\"%s\" is not a duration such as 30min or 39us", text, n);
		}
		if (i + used == n && exact && !value) {
			break; /* zero needs no unit */
		}
		size_t length = 0;
		const struct unit *unit = scan_unit(text + i + used, n - i - used, &length);
		if (!unit) {
			return bad(err, USK_EINPUT, i + used,
				   "\"%s\" needs a unit: ns, us, ms, s, min, h or d", text, n);
		}
		/* Scaled by 10^6 beyond the unit's own places, so that 0.1min is exact. */
		scan_decimal(text + i, n - i, unit->shift + more + 6, &value, &exact);
		value *= unit->times;
		if (!exact || value % 1000000) {
			return usk_fail(err, USK_EINPUT, i, "%s is finer than 1 %s",
					quoted(text, n, q), finest);
		}
		sum += value / 1000000;
		if (sum > (usk_u128)USK_TIME_MAX) {
			return bad(err, USK_ERANGE, 0, "%s is out of range", text, n);
		}
		i += used + length;
	}
	return settle(sum, minus, true, text, n, out, err);
}

enum usk_status usk_parse_duration(const char *text, size_t n, int64_t *ns, struct usk_err *err)
{
	return parse_duration(text, n, 0, "ns", ns, err);
}

enum usk_status usk_parse_duration_ps(const char *text, size_t n, int64_t *ps, struct usk_err *err)
{
	return parse_duration(text, n, 3, "ps", ps, err);
}

/* `pattern` against text: '0' takes a digit, 'T' also a blank or t, the rest itself. */
static bool matches(const char *text, size_t n, const char *pattern)
{
	size_t len = strlen(pattern);
	if (n < len) {
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool fits = pattern[i] == '0'	? usk_is_digit(c)
			    : pattern[i] == 'T' ? c == 'T' || c == 't' || c == ' '
						: c == pattern[i];
		if (!fits) {
			return false;
		}
	}
	return true;
}

static int number(const char *text, size_t digits)
{
	int value = 0;
	for (size_t i = 0; i < digits; i++) {
		value = value * 10 + (text[i] - '0');
	}
	return value;
}

enum usk_status usk_parse_rfc3339(const char *text, size_t n, int64_t *ns, struct usk_err *err)
{
	static const char form[] = "0000-00-00T00:00:00";
	size_t i = sizeof form - 1;
	if (!matches(text, n, form)) {
		return bad(err, USK_EINPUT, 0,
			   "\"%s\" is not a time such as 2023-11-14T22:13:20.5Z", text, n);
	}
	int year = number(text, 4), month = number(text + 5, 2), day = number(text + 8, 2);
	int hour = number(text + 11, 2), minute = number(text + 14, 2);
	int second = number(text + 17, 2);
	struct tm date = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
	time_t midnight = timegm(&date);
	/* A day that its month does not have has become one of another. */
	if (year < 1 || date.tm_mon != month - 1 || date.tm_mday != day || hour > 23 ||
	    minute > 59 || second > 60) {
		return bad(err, USK_EINPUT, 0, "there is no such moment as \"%s\"", text, n);
	}
	usk_u128 fraction = 0;
	if (i < n && text[i] == '.') {
		bool exact;
		size_t used = scan_decimal(text + i, n - i, 9, &fraction, &exact);
		if (!used) {
			return bad(err, USK_EINPUT, i + 1, "\"%s\" has no digits after its point",
				   text, n);
		}
		i += used;
	}
	int zone = 0; /* minutes east of UTC */
	if (n - i == 6 && (matches(text + i, 6, "+00:00") || matches(text + i, 6, "-00:00"))) {
		int hours = number(text + i + 1, 2), minutes = number(text + i + 4, 2);
		if (hours > 23 || minutes > 59) {
			return bad(err, USK_EINPUT, i, "\"%s\": no such time zone", text, n);
		}
		zone = (text[i] == '-' ? -1 : 1) * (hours * 60 + minutes);
	} else if (i + 1 != n || (text[i] != 'Z' && text[i] != 'z')) {
		return bad(err, USK_EINPUT, i,
			   i < n && text[i] == ','
				   ? "\"%s\": write the fraction with a point, as 22:13:20.5Z"
				   : "\"%s\" lacks its time zone: end it with Z or +01:00",
			   text, n);
	}
	usk_i128 total = (usk_i128)midnight + hour * 3600 + minute * 60 + second - zone * 60;
	total = total * 1000000000 + (usk_i128)fraction;
	if (total > USK_TIME_MAX || total < -USK_TIME_MAX) {
		return bad(err, USK_ERANGE, 0, "%s is further than 146 years from 1970", text, n);
	}
	*ns = (int64_t)total;
	return USK_OK;
}

enum usk_status usk_parse_time(const char *text, size_t n, int64_t *ns, struct usk_err *err)
{
	char q[48];
	if (n > 10 && text[4] == '-' && text[7] == '-') {
		return usk_parse_rfc3339(text, n, ns, err);
	}
	size_t number_end = n;
	while (number_end && !usk_is_digit(text[number_end - 1]) && text[number_end - 1] != '.') {
		number_end--;
	}
	unsigned shift = 0;
	if (number_end < n) {
		size_t used;
		const struct unit *unit = scan_unit(text + number_end, n - number_end, &used);
		if (!unit || unit->times > 1) {
			return bad(err, USK_EINPUT, number_end,
				   "\"%s\" is not a time: write ns, 1700000000.5s or "
				   "2023-11-14T22:13:20.5Z",
				   text, n);
		}
		shift = unit->shift;
	} else if (memchr(text, '.', n)) {
		return usk_fail(err, USK_EINPUT, 0, "\"%s\" needs a unit: for seconds write %ss",
				quoted(text, n, q), q);
	}
	return usk_parse_decimal(text, number_end, shift, ns, NULL, err);
}

void usk_time_text(int64_t ns, char out[64])
{
	int64_t seconds = (int64_t)usk_floor_div(ns, 1000000000);
	int64_t fraction = ns - seconds * 1000000000;
	struct tm t;
	gmtime_r(&(time_t){ seconds }, &t);
	snprintf(out, 64, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", t.tm_year + 1900, t.tm_mon + 1,
		 t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)fraction);
}
