/* SPDX-License-Identifier: MIT */
/*
 * est_first_offset.c - the offset of the first exchange, for all of the trace
 *
 * Source  Clement 2009, section 4, on his reference 12
 *
 * Every node tells a monitoring node its time when tracing starts. The paper has one message and
 * takes all delays to be equal; an exchange tells the delay, so that half of it can be taken off.
 * The rate is taken to be 1: what the clock gains from then on is the method's error.
 */
#include "fit/fit.h"

enum usk_status usk_est_first_offset(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				     struct usk_err *err)
{
	struct usk_couple first, last;
	if (!usk_couple_ends(fit, &first, &last)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "first-offset");
	}
	return usk_fit_from_couple(fit, &first, 0, out, n);
}
