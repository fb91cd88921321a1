/* SPDX-License-Identifier: MIT */
/*
 * ratio.h - which of two fractions is larger, whatever their size
 *
 * Cross products of 128-bit numbers do not fit. Euclid's steps do: the whole parts decide, and
 * where they are equal, what is left is compared upside down.
 */
#ifndef USK_NUM_RATIO_H
#define USK_NUM_RATIO_H

#include "base/base.h"

/** <0, 0, >0 as a/b is smaller than, equal to, greater than c/d; b, d > 0. */
static inline int usk_ratio_cmp(usk_u128 a, usk_u128 b, usk_u128 c, usk_u128 d)
{
	for (int sign = 1;; sign = -sign) {
		usk_u128 left = a / b, right = c / d;
		if (left != right) {
			return left < right ? -sign : sign;
		}
		usk_u128 more = a % b, rest = c % d;
		if (!more || !rest) {
			return sign * ((more > 0) - (rest > 0));
		}
		a = b;
		b = more;
		c = d;
		d = rest;
	}
}

#endif
