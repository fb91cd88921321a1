/* SPDX-License-Identifier: MIT */
/*
 * est_interval.c - the line through the first and the last exchange
 *
 * Source  Loeser: Measuring microsecond delays (2003), section 3.2
 *
 * X is the first, Y the last exchange; time is the middle of one on the reference's clock, remote
 * that on the local clock. conv = (time_Y - time_X)/(remote_Y - remote_X) and local = conv (remote
 * - remote_Y) + time_Y.
 */
#include "fit/fit.h"

enum usk_status usk_est_interval(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				 struct usk_err *err)
{
	struct usk_couple x, y;
	if (!usk_couple_ends(fit, &x, &y)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "interval");
	}
	if (x.local2 == y.local2) {
		return usk_fail(err, USK_EINPUT, 0,
				"interval needs a first and a last exchange at two times");
	}
	long double slope = usk_real(y.offset2 - x.offset2) / usk_real(y.local2 - x.local2);
	return usk_fit_from_couple(fit, &y, slope, out, n);
}
