/* SPDX-License-Identifier: MIT */
/*
 * csv.h - lines, fields and times of a CSV file (RFC 4180, but a line end always ends a row)
 *
 * In    the window of an input
 * Out   fields that point into it, or into the caller's scratch where they were quoted
 * Not   what the columns mean
 */
#ifndef USK_CSV_H
#define USK_CSV_H

#include "base/bytes.h"
#include "base/io.h"

#include <string.h>

struct usk_csv_line {
	const char *text; /* in the window, until the next line is read */
	size_t n, n_end;  /* without its line end, and of that; both 0: no more lines */
};

/**
 * The next line, at in->data + *used; *used moves behind it. USK_EINPUT: it is longer than 1 MiB,
 * and was passed over. Others are the input's.
 */
enum usk_status usk_csv_next_line(struct usk_input *in, size_t *used, struct usk_csv_line *out,
				  struct usk_err *err);

struct usk_csv_field {
	const char *text;
	size_t n;
};

/**
 * The field at *p, which moves to the one after it, NULL behind the last. *scratch has room for as
 * many bytes as the line has left, and moves behind what was unquoted. False: a quote is not
 * closed, or something other than a comma follows it.
 */
static inline bool usk_csv_next_field(const char **p, const char *end, char **scratch,
				      struct usk_csv_field *out)
{
	const char *s = *p;
	if (s < end && *s == '"') {
		char *to = *scratch;
		out->text = to;
		for (s++;; s++) {
			if (s == end) {
				return false;
			}
			if (*s == '"') {
				if (s + 1 < end && s[1] == '"') {
					s++;
				} else {
					break;
				}
			}
			*to++ = *s;
		}
		out->n = (size_t)(to - out->text);
		*scratch = to;
		s++;
		if (s < end && *s != ',') {
			return false;
		}
	} else {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		out->text = s;
		s = comma ? comma : end;
		out->n = (size_t)(s - out->text);
	}
	*p = s < end ? s + 1 : NULL;
	return true;
}

bool usk_csv_is(struct usk_csv_field f, const char *text);

enum usk_csv_unit { USK_CSV_NS, USK_CSV_S, USK_CSV_RFC3339, USK_CSV_TICKS };

/** Is it the column NAME_ns, NAME_ticks (integers), NAME_s (decimals) or NAME (RFC 3339)? */
bool usk_csv_is_time(struct usk_csv_field f, const char *name, enum usk_csv_unit *unit);

/** USK_ERANGE: a time, but over USK_TIME_MAX. */
enum usk_status usk_csv_any_time(struct usk_csv_field f, enum usk_csv_unit unit, int64_t *ns,
				 struct usk_err *err);

/* Eight digits at once: one by one each waits for the product of those before. false: it is not
 * eight. */
static inline bool usk_csv_eight(const char *text, uint64_t *x)
{
	const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), ascii = UINT64_C(0x3030303030303030);
	const uint64_t twos = UINT64_C(0x00ff00ff00ff00ff), fours = UINT64_C(0x0000ffff0000ffff);
	uint64_t v = usk_be64((const uint8_t *)text);
	if ((v & high) != ascii || ((v + UINT64_C(0x0606060606060606)) & high) != ascii) {
		return false;
	}
	v -= ascii;
	v = (v >> 8 & twos) * 10 + (v & twos);
	v = (v >> 16 & fours) * 100 + (v & fours);
	*x = *x * 100000000 + (v >> 32) * 10000 + (v & UINT32_MAX);
	return true;
}

/** The same, and fast where it can be. */
static inline enum usk_status usk_csv_time(struct usk_csv_field f, enum usk_csv_unit unit,
					   int64_t *ns, struct usk_err *err)
{
	bool minus = f.n && f.text[0] == '-';
	if (unit == USK_CSV_NS && f.n - minus > 0 && f.n - minus <= 19) {
		/* Up to 19 digits, as stamps of today have, cannot overflow 64 bits. */
		uint64_t x = 0;
		size_t i = minus;
		while (i + 8 <= f.n && usk_csv_eight(f.text + i, &x)) {
			i += 8;
		}
		for (; i < f.n && (unsigned char)(f.text[i] - '0') < 10; i++) {
			x = x * 10 + (unsigned char)(f.text[i] - '0');
		}
		if (i == f.n && x <= (uint64_t)USK_TIME_MAX) {
			*ns = minus ? -(int64_t)x : (int64_t)x;
			return USK_OK;
		}
	}
	return usk_csv_any_time(f, unit, ns, err);
}

/* Rows that cannot be read: how many, and the first one. */
struct usk_csv_bad {
	uint64_t n, line;
	char *why;
	bool open; /* the last one has a quote that is not closed */
};
/** Is this line the second half of such a row? Asked once a row, which forgets it. */
bool usk_csv_is_rest(struct usk_csv_bad *bad, const char *s, const char *end);
void usk_csv_bad_add(struct usk_csv_bad *bad, uint64_t line, const char *why);
/** "line 17: "x" is not a whole number; 3 rows of it are left out", the caller's; NULL if none. */
char *usk_csv_bad_text(const struct usk_csv_bad *bad);
/** Frees what it holds and sets it to none. */
void usk_csv_bad_clear(struct usk_csv_bad *bad);

#endif
