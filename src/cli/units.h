/* SPDX-License-Identifier: MIT */
/*
 * units.h - quantities for people: with a unit, and with no more digits than are known
 *
 * In    integers in ns, doubles in ppm
 * Out   short text; the exact values are in clocks.json
 */
#ifndef UNITS_H
#define UNITS_H

#include "base/stream.h"
#include "cmd.h"

/* A short text by value: unit_span(ns).s */
struct text {
	char s[64];
};

/** printf() of what is known to be short. */
struct text text_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** "39.4 us": three significant digits, rounded to nearest. USK_NONE is "-". */
struct text unit_span(int64_t ns);
/** The same with as many digits as tell the spread: "1.000057 s" among delays 50 us apart. */
struct text unit_span_among(int64_t ns, int64_t spread_ns);
/** The same, rounded away from zero: for what is promised not to be exceeded. */
struct text unit_bound(int64_t ns);
/** The same, rounded down, or up, of the signed value: what it is over, or under, stays true. */
struct text unit_at_least(int64_t ns);
struct text unit_at_most(int64_t ns);
/** The same of offsets, which may be years and known to a ms: never coarser than 1 ms. */
struct text unit_offset_at_least(int64_t ns);
struct text unit_offset_at_most(int64_t ns);
/**
 * "-957.3333 ms +- 39.4 us", the value to the third significant digit of its half width; lo and hi
 * lie within what is printed.
 */
struct text unit_between(int64_t value_ns, int64_t lo_ns, int64_t hi_ns);
/** "21.0 (18.3 to 23.7)", the range rounded outwards; "-" if NAN. */
struct text unit_drift(double ppm, double min, double max);
/** "6,112" */
struct text unit_count(uint64_t n);
/** A stamp: s with nine decimals. */
struct text unit_seconds(usk_i128 ns);

/* A table with aligned columns: cells are added row by row, widths are found at the end. */
struct table {
	size_t columns;
	bool right[16]; /* right-aligned columns */
	char **cell;
	size_t n, cap;
};
/** Headings with tabs between; '>' before one of a right-aligned column. */
struct table table_begin(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void table_cell(struct table *t, const char *text); /* copied */
/** Cells with tabs between: one, some, or all of a row. */
void table_add(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_free(struct table *t);
void table_print(FILE *out, struct table *t); /* the first row is the heading; frees cells */

/** Text as usk_html_text() has it. */
void put_html(FILE *out, const char *text);

/** What was allocated and lives as long as the command: a text that somebody reads, an array. */
void *kept(void *what);
/** A name as usk_visible() has it. Kept, or name itself. */
const char *printable(const char *name);

#endif
