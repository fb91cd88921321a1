/* SPDX-License-Identifier: MIT */
/*
 * log_stamp.c - stamps in lines of text, in the forms that logs have, found and written again
 *
 * In    a line; the span of time that its clock recorded
 * Out   where its stamp is and what it says; the line with another time in that place
 * Why   a log is worth reading only as it was written, so nothing else of it may change
 * Not   the forms (log_forms.c), which member of a line it is (log_place.c), clocks, files (log.c)
 */
#include "base/text.h"
#include "log_stamp.h"

#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define DAY    INT64_C(86400)

/* Seconds of that day's midnight; false: there is no such day. */
static bool midnight(struct log_scan *c, int year, int month, int day, int64_t *out)
{
	int date = year * 10000 + month * 100 + day;
	if (date != c->date) {
		struct tm t = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
		int64_t s = timegm(&t);
		if (t.tm_mon != month - 1 || t.tm_mday != day) {
			return false;
		}
		c->date = date;
		c->midnight_s = s;
	}
	*out = c->midnight_s;
	return true;
}

/* The date of a day, counted from 1970. */
static const struct log_parts *date_of(struct log_scan *c, int64_t day)
{
	struct tm t;
	if (day != c->day || !c->of_day.year) {
		gmtime_r(&(time_t){ day * DAY }, &t);
		c->day = day;
		c->of_day = (struct log_parts){ .year = t.tm_year + 1900,
						.month = t.tm_mon + 1,
						.day = t.tm_mday,
						.weekday = t.tm_wday };
	}
	return &c->of_day;
}

/* The year that puts a date without one nearest to the middle of the recording. */
static int year_of(struct log_scan *c, const struct log_parts *p)
{
	int64_t middle_s = c->least_ns / 2 / SECOND + c->most_ns / 2 / SECOND;
	int there = date_of(c, (int64_t)usk_floor_div(middle_s, DAY))->year, best = 0;
	int64_t best_s = INT64_MAX;
	for (int year = there - 1; year <= there + 1; year++) {
		int64_t s;
		if (midnight(c, year, p->month, p->day, &s)) {
			int64_t away = s > middle_s ? s - middle_s : middle_s - s;
			best = away < best_s ? year : best;
			best_s = away < best_s ? away : best_s;
		}
	}
	return best;
}

static bool time_of(struct log_scan *c, const struct log_parts *p, struct log_stamp *out)
{
	int64_t s = 0, unit = p->number_ns ? p->number_ns : SECOND;
	usk_i128 total = (usk_i128)p->number * unit;
	if (unit % p->scale) {
		return false; /* finer than 1 ns */
	}
	out->unit_ns = unit / p->scale;
	out->zone_s = p->zoned ? p->zone_s : p->number_ns ? 0 : c->zone_s;
	if (!p->number_ns) {
		int year = p->year ? p->year : year_of(c, p);
		if (!year || !midnight(c, year, p->month, p->day, &s)) {
			return false;
		}
		s += p->hour * 3600 + p->minute * 60 + p->second - out->zone_s;
		total = (usk_i128)s * SECOND;
	}
	total += (usk_i128)p->fraction * out->unit_ns;
	/* What is beyond the range of times is beyond the recording too, and refused with it. */
	out->ns = usk_saturate(usk_clamp(total, -USK_TIME_MAX, USK_TIME_MAX));
	return out->ns == total || (c->least_ns > -USK_TIME_MAX && c->most_ns < USK_TIME_MAX);
}

/* A stamp of that form at s[from]. */
static bool try_form(struct log_scan *c, size_t form, const char *s, size_t from, size_t n,
		     struct log_stamp *out)
{
	struct log_parts p;
	size_t used = log_form_take(form, s + from, n - from, c->separator, &p);
	*out = (struct log_stamp){ .at = from, .n = used, .form = (uint8_t)form };
	return used && time_of(c, &p, out);
}

/* Any, or of the learned form. firm: in a place where nothing else stands, so that a date that
 * cannot be of this clock is one, to be refused. */
static bool try_at(struct log_scan *c, const char *s, size_t from, size_t n, bool firm,
		   struct log_stamp *out)
{
	size_t first = c->learned ? c->form : 0, end = c->learned ? first + 1 : log_forms();
	for (size_t form = first; form < end; form++) {
		if (!try_form(c, form, s, from, n, out)) {
			continue;
		}
		bool number = log_form_digits(form) != 0;
		if ((out->ns >= c->least_ns && out->ns <= c->most_ns) ||
		    (firm && (c->learned || !number))) {
			c->learned = true;
			c->form = (uint8_t)form;
			return true;
		}
	}
	return false;
}

/* Colours, a mark of UTF-8, a priority of syslog, brackets and quotes stand before a first stamp.
 */
static size_t skip_openers(const char *s, size_t n)
{
	size_t i = n > 2 && !memcmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
	for (; i < n; i++) {
		if (s[i] == '\x1b' || s[i] == '<') {
			const char *end =
				memchr(s + i, s[i] == '<' ? '>' : 'm', n - i < 12 ? n - i : 12);
			if (!end) {
				break;
			}
			i = (size_t)(end - s);
		} else if (!memchr("[({\"'", s[i], 5)) {
			break;
		}
	}
	return i;
}

/* May a stamp begin at s[i]? Not within a word, a number, a path or another stamp. */
static bool begins(const char *s, size_t i)
{
	static const char before[] = " \t[({\"'=:,;|<>@\r";
	if (!usk_is_digit(s[i]) && !usk_is_letter(s[i])) {
		return false;
	}
	if (!i || (s[i - 1] & 0x80) || memchr(before, s[i - 1], sizeof before - 1)) {
		return true;
	}
	size_t k = i - 1; /* behind a colour: ESC [ 2 m */
	if (s[k] != 'm') {
		return false;
	}
	while (k && (usk_is_digit(s[k - 1]) || s[k - 1] == ';')) {
		k--;
	}
	return k > 1 && s[k - 1] == '[' && s[k - 2] == '\x1b';
}

bool log_find_at(struct log_scan *c, const char *s, size_t from, size_t n, struct log_stamp *out)
{
	return try_at(c, s, from + skip_openers(s + from, n - from), n, true, out);
}

bool log_find(struct log_scan *c, const char *s, size_t n, struct log_stamp *out)
{
	size_t start = skip_openers(s, n);
	bool first = !c->learned;
	if (try_at(c, s, start, n, true, out)) {
		c->starts = c->starts || first;
		return true;
	}
	for (size_t i = start; i < n && !c->starts; i++) {
		if (begins(s, i) && try_at(c, s, i, n, false, out)) {
			return true;
		}
	}
	return false;
}

/* ---- writing ------------------------------------------------------------------------ */

static void put_date(struct log_scan *c, const struct log_stamp *stamp, usk_i128 wall_ns, char *s)
{
	int64_t wall_s = (int64_t)usk_floor_div(wall_ns, SECOND);
	int64_t day = (int64_t)usk_floor_div(wall_s, DAY);
	int second = (int)(wall_s - day * DAY);
	struct log_parts p = *date_of(c, day);
	p.hour = second / 3600;
	p.minute = second / 60 % 60;
	p.second = second % 60;
	p.fraction = (int64_t)(wall_ns - (usk_i128)wall_s * SECOND);
	log_form_put(stamp->form, s, stamp->n, &p);
}

/* Ties go up. */
static usk_i128 nearest(int64_t ns, int64_t unit_ns)
{
	return usk_floor_div((usk_i128)ns + unit_ns / 2, unit_ns) * unit_ns;
}

bool log_write(struct log_scan *c, const struct log_stamp *stamp, int64_t ns, char *s)
{
	size_t whole = log_form_digits(stamp->form);
	usk_i128 t = nearest(ns, stamp->unit_ns);
	s += stamp->at;
	if (!whole) {
		put_date(c, stamp, t + (usk_i128)stamp->zone_s * SECOND, s);
		return true;
	}
	int64_t value = (int64_t)(t / stamp->unit_ns);
	char digits[40];
	size_t n = stamp->n - (stamp->n > whole);
	if (n > sizeof digits || t < 0 || !log_put_digits(digits, n, value)) {
		return false;
	}
	memcpy(s, digits, whole);
	if (n > whole) { /* behind the point */
		memcpy(s + whole + 1, digits + whole, n - whole);
	}
	return true;
}

void log_scan_begin(struct log_scan *c, int64_t least_ns, int64_t most_ns, int64_t zone_s)
{
	*c = (struct log_scan){ .least_ns = least_ns, .most_ns = most_ns, .zone_s = zone_s };
}
