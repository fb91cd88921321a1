/* SPDX-License-Identifier: MIT */
/*
 * text.h - numbers, durations and times as people write them, in exact integers
 *
 * In    text[n], which need not end in NUL; blanks are not skipped
 * Out   int64_t nanoseconds (or parts per 10^12), never through a double
 * Why   0.1 s is 100,000,000 ns; a double at today's epoch steps by 256 ns
 * Not   locale, exponents, leap seconds (:60 is taken as the next second, as POSIX time does)
 */
#ifndef USK_TEXT_H
#define USK_TEXT_H

#include "base/base.h"

static inline bool usk_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool usk_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/** Its digits, to the byte before `end`, where 20 have room; returns the first. */
char *usk_digits(int64_t value, char *end);

/** A decimal integer with optional sign. USK_ERANGE outside int64_t. */
enum usk_status usk_parse_int(const char *text, size_t n, int64_t *out, struct usk_err *err);

/**
 * A decimal fraction times 10^shift, rounded down to an integer: ("1.5", 9) is 1500000000.
 * *exact (may be NULL) says whether nothing was cut off. USK_ERANGE over USK_TIME_MAX.
 */
enum usk_status usk_parse_decimal(const char *text, size_t n, unsigned shift, int64_t *out,
				  bool *exact, struct usk_err *err);

/** "30min", "39us", "1.5ms", "1h30min", "-2s", "0". Finer than 1 ns is an error, not a rounding. */
enum usk_status usk_parse_duration(const char *text, size_t n, int64_t *ns, struct usk_err *err);
/** The same in picoseconds, down to 1 ps and up to 53 days. */
enum usk_status usk_parse_duration_ps(const char *text, size_t n, int64_t *ps, struct usk_err *err);

/**
 * "1700000000000000000" (ns), "1700000000.5s" (also ms, us, ns), or RFC 3339
 * "2023-11-14T22:13:20.5Z", "2023-11-14 23:13:20+01:00". Rounded down to whole ns.
 */
enum usk_status usk_parse_time(const char *text, size_t n, int64_t *ns, struct usk_err *err);

/** RFC 3339 alone; years 0001 to 9999 that fit into USK_TIME_MAX. */
enum usk_status usk_parse_rfc3339(const char *text, size_t n, int64_t *ns, struct usk_err *err);

/** RFC 3339 in UTC with 9 digits, e.g. "2023-11-14T22:13:20.500000000Z". */
void usk_time_text(int64_t ns, char out[64]);

#endif
