/* SPDX-License-Identifier: MIT */
/* knots.h - are knots the same? Member by member: what lies between members has no value. */
#ifndef USK_TESTS_KNOTS_H
#define USK_TESTS_KNOTS_H

#include "base/base.h"

static inline bool same_knots(const struct usk_knot *a, const struct usk_knot *b, size_t n)
{
	bool same = true;
	for (size_t i = 0; i < n; i++) {
		same = same && a[i].local_ns == b[i].local_ns && a[i].offset_ns == b[i].offset_ns &&
		       a[i].lo_ns == b[i].lo_ns && a[i].hi_ns == b[i].hi_ns &&
		       a[i].epoch == b[i].epoch;
	}
	return same;
}

#endif
