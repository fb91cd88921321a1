/* SPDX-License-Identifier: MIT */
/*
 * us.c - times as numbers of us, as profilers write them
 *
 * In    a JSON number's text
 * Out   whole ns, and by how much they may be off
 * Why   who writes us in decimals either has whole ns, or had a double, or cut them off: digits tell
 * Not   exponents
 */
#include "read/read.h"

static bool digits(struct usk_csv_field f, size_t *i, int64_t *x, size_t most)
{
	size_t from = *i;
	for (; *i < f.n && f.text[*i] >= '0' && f.text[*i] <= '9'; ++*i) {
		if (*i - from < most && (__builtin_mul_overflow(*x, 10, x) ||
					 __builtin_add_overflow(*x, f.text[*i] - '0', x))) {
			return false;
		}
	}
	return *i > from;
}

bool usk_us_read(struct usk_csv_field f, struct usk_us *out)
{
	size_t i = f.n && f.text[0] == '-', first = i, point;
	int64_t whole = 0, fraction = 0;
	bool minus = i > 0;
	*out = (struct usk_us){ 0 };
	if (!digits(f, &i, &whole, SIZE_MAX) || whole > USK_TIME_MAX / 1000) {
		return false;
	}
	point = i;
	if (i < f.n && f.text[i] == '.') {
		i++;
		if (!digits(f, &i, &fraction, 3)) {
			return false;
		}
	}
	if (i != f.n || first == f.n) {
		return false; /* an exponent, or no number */
	}
	size_t decimals = f.n > point ? f.n - point - 1 : 0;
	for (size_t k = decimals; k < 3; k++) {
		fraction *= 10;
	}
	out->ns = minus ? -(whole * 1000 + fraction) - (decimals > 3) : whole * 1000 + fraction;
	bool cut = decimals < 3 && !fraction; /* "68.0" is a whole number that became a double */
	out->more_ns = cut ? 999 : decimals > 3;
	/* A double has 53 bits: half of its last one. */
	for (int64_t step = (int64_t)1 << 43; !cut && step <= whole; step *= 2) {
		out->off_ns = out->off_ns ? out->off_ns * 2 : 1;
	}
	return true;
}
