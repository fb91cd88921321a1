/* SPDX-License-Identifier: MIT */
/*
 * units.h - quantities for people: with a unit, and with no more digits than are known
 *
 * In    integers in ns, doubles in ppm
 * Out   short text; the exact values are in clocks.json
 */
#ifndef UNITS_H
#define UNITS_H

#include "cmd.h"

enum { UNIT_TEXT = 64 };

/* Each writes into out, and returns it. */

/** "39.4 us": three significant digits, rounded to nearest. USK_NONE is "-". */
const char *unit_span(int64_t ns, char out[UNIT_TEXT]);
/** The same with as many digits as tell the spread: "1.000057 s" among delays 50 us apart. */
const char *unit_span_among(int64_t ns, int64_t spread_ns, char out[UNIT_TEXT]);
/** The same, rounded away from zero: for what is promised not to be exceeded. */
const char *unit_bound(int64_t ns, char out[UNIT_TEXT]);
/** The same, rounded down, or up, of the signed value: what it is over, or under, stays true. */
const char *unit_at_least(int64_t ns, char out[UNIT_TEXT]);
const char *unit_at_most(int64_t ns, char out[UNIT_TEXT]);
/**
 * "-957.3333 ms +- 39.4 us", the value to the third significant digit of its half width; lo and hi
 * lie within what is printed.
 */
const char *unit_between(int64_t value_ns, int64_t lo_ns, int64_t hi_ns, char out[UNIT_TEXT]);
/** "21.0 (18.3 to 23.7)", the range rounded outwards; "-" if NAN. */
const char *unit_drift(double ppm, double min, double max, char out[UNIT_TEXT]);
/** "6,112" */
const char *unit_count(uint64_t n, char out[UNIT_TEXT]);

/*
 * A table with aligned columns: cells are added row by row, widths are found at the end.
 */
struct table {
	size_t columns;
	const bool *right; /* right-aligned columns */
	char **cell;
	size_t n, cap;
};
/** Of n columns, with its heading. */
struct table table_begin(const char *const *heading, const bool *right, size_t n);
void table_cell(struct table *t, const char *text); /* copied */
void table_own(struct table *t, char *text);	    /* freed */
void table_count(struct table *t, uint64_t n);
void table_span(struct table *t, int64_t ns);
void table_print(FILE *out, struct table *t); /* the first row is the heading; frees cells */

/** Print a name so that a terminal survives it: control characters as ?. malloc'ed. */
char *printable(const char *name);

#endif
