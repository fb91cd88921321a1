/* SPDX-License-Identifier: MIT */
/*
 * joint.c - what the ways of solving all messages together share
 */
#include "solve/joint.h"

/* Is the bound nowhere wider than the link, to 2 ns of rounding? */
static bool stands_alone(const struct usk_link *link, const struct usk_link *by,
			 const struct usk_link *both)
{
	usk_hint at[2][3] = { { 0 } };
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
		for (size_t i = 0; link->has[c] && i < both->n; i++) {
			int64_t x = both->knot[i].local_ns;
			usk_i128 more = (usk_i128)usk_link_at(by, c, x, &at[0][c]) -
					usk_link_at(link, c, x, &at[1][c]);
			if ((c == USK_UPPER ? more : -more) > 2) {
				return false;
			}
		}
	}
	return true;
}

void usk_joint_narrow(struct usk_link *link, const struct usk_link *by)
{
	if (!link->n) {
		*link = usk_link_of(by->knot, by->n, by->skew_e12);
		return;
	}
	struct usk_link both = usk_link_meet(link, by);
	both.has[USK_MIDDLE] = false;
	if (stands_alone(link, by, &both)) {
		usk_link_free(&both);
		both = usk_link_of(by->knot, by->n, by->skew_e12);
	}
	usk_link_free(link);
	*link = both;
}
