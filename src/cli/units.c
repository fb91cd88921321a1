/* SPDX-License-Identifier: MIT */
#include "units.h"
#include "write/write.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int64_t ns;
	int places; /* decimal places down to 1 ns */
} scales[] = {
	{ "ns", 1, 0 },
	{ "us", 1000, 3 },
	{ "ms", 1000000, 6 },
	{ "s", 1000000000, 9 },
};

struct text text_of(const char *fmt, ...)
{
	struct text out;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(out.s, sizeof out.s, fmt, ap);
	va_end(ap);
	return out;
}

static uint64_t size_of(int64_t ns)
{
	return ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
}

static uint64_t power10(int n)
{
	uint64_t p = 1;
	while (n-- > 0) {
		p *= 10;
	}
	return p;
}

static int digits_of(uint64_t n)
{
	int digits = 1;
	for (; n > 9; n /= 10) {
		digits++;
	}
	return digits;
}

enum rounding { NEAREST, AWAY, DOWN, UP };

/* The size of ns, a multiple of step. DOWN and UP are of the signed value. */
static uint64_t rounded(int64_t ns, uint64_t step, enum rounding mode)
{
	uint64_t n = size_of(ns), rest = n % step;
	bool grow =
		mode == NEAREST ? rest >= step - rest : mode == AWAY || (mode == DOWN) == (ns < 0);
	return n - rest + (rest && grow ? step : 0);
}

/* Round to a multiple of step, then print in the unit that suits the larger of ns and beside. */
static struct text print_rounded(int64_t ns, uint64_t beside, uint64_t step, enum rounding mode)
{
	struct text out;
	uint64_t n = rounded(ns, step, mode);
	size_t s = 0;
	uint64_t larger = n > beside ? n : beside;
	while (s + 1 < COUNT(scales) && larger >= (uint64_t)scales[s + 1].ns) {
		s++;
	}
	int places = scales[s].places - (digits_of(step) - 1);
	uint64_t whole = n / (uint64_t)scales[s].ns, part = n % (uint64_t)scales[s].ns;
	int at = snprintf(out.s, sizeof out.s, "%s%llu", ns < 0 && n ? "-" : "",
			  (unsigned long long)whole);
	if (places > 0) {
		part /= power10(scales[s].places - places);
		at += snprintf(out.s + at, sizeof out.s - (size_t)at, ".%0*llu", places,
			       (unsigned long long)part);
	}
	sprintf(out.s + at, " %s", scales[s].name);
	return out;
}

static uint64_t step_for(uint64_t n, int significant)
{
	int digits = digits_of(n);
	return power10(digits > significant ? digits - significant : 0);
}

static struct text print_span(int64_t ns, enum rounding mode)
{
	if (ns == USK_NONE) {
		return (struct text){ "-" };
	}
	uint64_t n = size_of(ns), step = step_for(n, 3);
	/* 999,999 rounds to 1,000,000: a digit more, which three digits do not hold. */
	if (digits_of(rounded(ns, step, mode)) > digits_of(n) && step > 1) {
		step *= 10;
	}
	return print_rounded(ns, 0, step, mode);
}

struct text unit_span(int64_t ns)
{
	return print_span(ns, NEAREST);
}

struct text unit_span_among(int64_t ns, int64_t spread_ns)
{
	uint64_t spread = spread_ns > 0 ? (uint64_t)spread_ns : 0;
	if (ns == USK_NONE || !spread || size_of(ns) / 50 < spread) {
		return unit_span(ns);
	}
	return print_rounded(ns, spread, step_for(spread, 2), NEAREST);
}

struct text unit_bound(int64_t ns)
{
	return print_span(ns, AWAY);
}

struct text unit_at_least(int64_t ns)
{
	return print_span(ns, DOWN);
}

struct text unit_at_most(int64_t ns)
{
	return print_span(ns, UP);
}

/* An offset may be years, and its bound as sharp as a delay: no coarser than 1 ms. */
static struct text print_offset(int64_t ns, enum rounding mode)
{
	uint64_t step = step_for(size_of(ns), 3);
	return step > 1000000 ? print_rounded(ns, 0, 1000000, mode) : print_span(ns, mode);
}

struct text unit_offset_at_least(int64_t ns)
{
	return print_offset(ns, DOWN);
}

struct text unit_offset_at_most(int64_t ns)
{
	return print_offset(ns, UP);
}

static uint64_t farther(usk_i128 value, int64_t lo_ns, int64_t hi_ns)
{
	usk_i128 below = value - lo_ns, above = hi_ns - value;
	return (uint64_t)usk_saturate(below > above ? below : above);
}

struct text unit_seconds(usk_i128 ns)
{
	usk_i128 s = usk_floor_div(ns, 1000000000);
	return text_of("%lld.%09d", (long long)s, (int)(ns - s * 1000000000));
}

struct text unit_between(int64_t value_ns, int64_t lo_ns, int64_t hi_ns)
{
	/* The larger of both sides, so that value +- half holds the band whatever the estimator. */
	uint64_t half = farther(value_ns, lo_ns, hi_ns), step = step_for(half, 3);
	usk_i128 shown = rounded(value_ns, step, NEAREST);
	shown = value_ns < 0 ? -shown : shown;
	return text_of("%s \xc2\xb1 %s", print_rounded(value_ns, half, step, NEAREST).s,
		       unit_bound((int64_t)farther(shown, lo_ns, hi_ns)).s);
}

struct text unit_drift(double ppm, double min, double max)
{
	if (isnan(ppm)) {
		return (struct text){ "-" };
	}
	if (isnan(min) || isnan(max)) {
		return text_of("%.3g", ppm);
	}
	/* Over a span of a few ns, knots rounded to whole ns tilt the line out of its range. */
	ppm = ppm < min ? min : ppm > max ? max : ppm;
	double half = (max - min) / 2;
	int places = half > 0 ? 1 - (int)floor(log10(half)) : 6;
	places = places < 0 ? 0 : places > 6 ? 6 : places;
	double scale = (double)power10(places);
	/* + 0.0 turns a negative zero into zero. */
	return text_of("%.*f (%.*f to %.*f)", places, round(ppm * scale) / scale + 0.0, places,
		       floor(min * scale) / scale + 0.0, places, ceil(max * scale) / scale + 0.0);
}

struct text unit_count(uint64_t n)
{
	char plain[24];
	struct text out;
	int len = snprintf(plain, sizeof plain, "%llu", (unsigned long long)n);
	char *to = out.s;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0) {
			*to++ = ',';
		}
		*to++ = plain[i];
	}
	*to = 0;
	return out;
}

/* Columns that a text takes on a terminal: one for each UTF-8 sequence. */
static int columns_of(const char *text)
{
	int n = 0;
	for (; *text; text++) {
		n += ((unsigned char)*text & 0xc0) != 0x80;
	}
	return n;
}

void table_cell(struct table *t, const char *text)
{
	*USK_ADD(t->cell, t->n, t->cap) = usk_strdup(text);
}

static void add_cells(struct table *t, const char *fmt, va_list ap)
{
	char *cells;
	if (vasprintf(&cells, fmt, ap) < 0) {
		usk_alloc(SIZE_MAX, 1);
	}
	for (char *rest = cells, *cell; (cell = strsep(&rest, "\t"));) {
		table_cell(t, cell);
	}
	free(cells);
}

void table_add(struct table *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add_cells(t, fmt, ap);
	va_end(ap);
}

struct table table_begin(const char *fmt, ...)
{
	struct table t = { 0 };
	va_list ap;
	va_start(ap, fmt);
	add_cells(&t, fmt, ap);
	va_end(ap);
	for (; t.columns < t.n; t.columns++) {
		char *cell = t.cell[t.columns];
		t.right[t.columns] = *cell == '>';
		memmove(cell, cell + t.right[t.columns], strlen(cell + t.right[t.columns]) + 1);
	}
	return t;
}

void table_free(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->cell[i]);
	}
	free(t->cell);
}

void table_print(FILE *out, struct table *t)
{
	int *width = usk_alloc(t->columns, sizeof *width);
	for (size_t i = 0; i < t->n; i++) {
		int w = columns_of(t->cell[i]);
		size_t c = i % t->columns;
		width[c] = w > width[c] ? w : width[c];
	}
	for (size_t i = 0; i < t->n; i++) {
		size_t c = i % t->columns, row = i - c;
		size_t last = t->columns; /* cells after the last one with text need no padding */
		while (last > 1 && (row + last > t->n || !*t->cell[row + last - 1])) {
			last--;
		}
		int pad = width[c] - columns_of(t->cell[i]);
		if (c == 0) {
			fputs(i == 0 ? colour(out, "bold") : "", out);
		}
		if (c < last) {
			fprintf(out, "%s%*s%s%*s", c ? "  " : "", t->right[c] ? pad : 0, "",
				t->cell[i], !t->right[c] && c + 1 < last ? pad : 0, "");
		}
		if (c + 1 == t->columns) {
			fprintf(out, "%s\n", row == 0 ? colour(out, "off") : "");
		}
	}
	free(width);
	table_free(t);
}

void put_html(FILE *out, const char *text)
{
	char *html = usk_html_text(text);
	fputs(html, out);
	free(html);
}

void *kept(void *what)
{
	static void **all;
	static size_t n, cap;
	all = usk_room(all, n, &cap, sizeof *all);
	return all[n++] = what;
}

const char *printable(const char *name)
{
	char *visible = usk_visible(name, false);
	if (strcmp(visible, name)) {
		return kept(visible);
	}
	free(visible);
	return name;
}
