/* SPDX-License-Identifier: MIT */
/*
 * before.c - which of two events came first, as far as their bounds tell
 */
#include "base/base.h"

const char *usk_order_name(enum usk_order o)
{
	static const char *const name[] = {
		[USK_BEFORE] = "yes", [USK_NOT_BEFORE] = "no", [USK_UNDECIDABLE] = "undecidable"
	};
	return name[o];
}

/* How far from is under to; false if one is not known. */
static bool gap(int64_t from, int64_t to, usk_i128 *out)
{
	*out = (usk_i128)to - from;
	return from != USK_NONE && to != USK_NONE;
}

enum usk_order usk_before(const struct usk_stamp *a, const struct usk_stamp *b, int64_t *margin_ns)
{
	usk_i128 ahead, behind, margin;
	bool can_be_yes = gap(a->hi_ns, b->lo_ns, &ahead);
	bool can_be_no = gap(b->hi_ns, a->lo_ns, &behind);
	enum usk_order order = can_be_yes && ahead > 0	 ? USK_BEFORE
			       : can_be_no && behind > 0 ? USK_NOT_BEFORE
							 : USK_UNDECIDABLE;
	if (order != USK_UNDECIDABLE) {
		margin = order == USK_BEFORE ? ahead : behind;
	} else {
		margin = can_be_yes && (!can_be_no || ahead > behind) ? -ahead : -behind;
	}
	if (margin_ns) {
		*margin_ns = can_be_yes || can_be_no ? usk_saturate(margin) : USK_NONE;
	}
	return order;
}
