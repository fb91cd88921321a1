/* SPDX-License-Identifier: MIT */
/*
 * joint.c - what the ways of solving all messages together share
 */
#include "fit/fit.h"
#include "solve/joint.h"

/* Is the bound nowhere wider than the link, to so much? */
static bool stands_alone(const struct usk_link *link, const struct usk_link *by,
			 const struct usk_link *both, int64_t slack_ns)
{
	usk_hint at[2][3] = { { 0 } };
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
		for (size_t i = 0; link->has[c] && i < both->n; i++) {
			int64_t x = both->knot[i].local_ns;
			usk_i128 more = (usk_i128)usk_link_at(by, c, x, &at[0][c]) -
					usk_link_at(link, c, x, &at[1][c]);
			if ((c == USK_UPPER ? more : -more) > slack_ns) {
				return false;
			}
		}
	}
	return true;
}

static void narrow(struct usk_link *link, const struct usk_link *by, int64_t slack_ns)
{
	if (!link->n) {
		*link = usk_link_of(by->knot, by->n, by->skew_e12);
		return;
	}
	struct usk_link both = usk_link_meet(link, by);
	both.has[USK_MIDDLE] = false;
	if (stands_alone(link, by, &both, slack_ns)) {
		usk_link_free(&both);
		both = usk_link_of(by->knot, by->n, by->skew_e12);
	}
	usk_link_free(link);
	*link = both;
}

void usk_joint_narrow(struct usk_link *link, const struct usk_link *by)
{
	narrow(link, by, 2); /* rounding */
}

/* Knots may go that are worth less than this share of the mean half width. */
#define WORTH_A_KNOT 200

static void smooth(struct usk_link *l)
{
	usk_i128 sum = 0;
	for (size_t k = 0; k < l->n && l->has[USK_LOWER] && l->has[USK_UPPER]; k++) {
		sum += (usk_i128)l->knot[k].hi_ns - l->knot[k].lo_ns;
	}
	usk_i128 tolerance = sum / (2 * WORTH_A_KNOT * (usk_i128)l->n);
	usk_link_smooth(l, tolerance < 1 ? 1 : usk_cut(tolerance));
}

void usk_joint_narrow_smoothly(struct usk_link *link, const struct usk_link *by, size_t most)
{
	struct usk_link both =
		link->n ? usk_link_meet(link, by) : usk_link_of(by->knot, by->n, by->skew_e12);
	both.has[USK_MIDDLE] = false;
	smooth(&both);
	usk_link_thin(&both, most);
	/* Smoothing may have gone over the link itself. */
	narrow(link, &both, 0);
	usk_link_free(&both);
}
