/* SPDX-License-Identifier: MIT */
/*
 * est_interval.c - the line through the first and the last exchange
 *
 * Source  Loeser: Measuring microsecond delays (2003), section 3.2
 *
 * X is the first, Y the last exchange; time is the middle of one on the reference's clock, remote
 * that on the local clock, jitter j half the round trip. conv = (time_Y - time_X)/(remote_Y -
 * remote_X) and local = conv (remote - remote_Y) + time_Y. As each middle is known to +-j, the line
 * is off by at most the line through j_X and j_Y between them, and beyond by what it becomes if
 * they err in opposite directions; clocks that drift add 1e-6 of the distance to the nearer one.
 */
#include "fit/fit.h"

#include <math.h>

/* What quartz oscillators may do that no exchange has seen; section 3.2.3. */
#define WILD 1e-6

static enum usk_status ends(const struct usk_fit *fit, struct usk_couple *x, struct usk_couple *y,
			    struct usk_err *err)
{
	if (!usk_couple_ends(fit, x, y)) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "interval");
	}
	if (x->local2 == y->local2) {
		return usk_fail(err, USK_EINPUT, 0,
				"interval needs a first and a last exchange at two times");
	}
	return USK_OK;
}

enum usk_status usk_est_interval(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				 struct usk_err *err)
{
	struct usk_couple x, y;
	enum usk_status status = ends(fit, &x, &y, err);
	if (status) {
		return status;
	}
	long double slope = usk_real(y.offset2 - x.offset2) / usk_real(y.local2 - x.local2);
	return usk_fit_from_couple(fit, &y, slope, out, n);
}

enum usk_status usk_interval_of(const struct usk_fit *fit, struct usk_interval *out,
				struct usk_err *err)
{
	struct usk_couple x, y;
	enum usk_status status = ends(fit, &x, &y, err);
	if (status) {
		return status;
	}
	usk_i128 x2 = x.local2 + x.offset2, y2 = y.local2 + y.offset2;
	if (x2 >= y2) {
		return usk_fail(
			err, USK_EINPUT, 0,
			"the last exchange is not after the first by the reference's clock");
	}
	out->origin_ns = (int64_t)usk_floor_div(x2, 2);
	out->first_ns = (double)(x2 - 2 * (usk_i128)out->origin_ns) / 2;
	out->last_ns = (double)(y2 - 2 * (usk_i128)out->origin_ns) / 2;
	/* A clock that ran away during an exchange can make its round trip negative. */
	out->first_half_ns = x.delays > 0 ? (double)x.delays / 2 : 0;
	out->last_half_ns = y.delays > 0 ? (double)y.delays / 2 : 0;
	return USK_OK;
}

double usk_interval_precision(const struct usk_interval *i, int64_t reference_ns)
{
	double t = (double)((usk_i128)reference_ns - i->origin_ns);
	double x = i->first_ns, y = i->last_ns, jx = i->first_half_ns, jy = i->last_half_ns;
	double rate = (jx + jy) / (y - x);
	if (t >= y) {
		return jy + (t - y) * (rate + WILD);
	}
	if (t <= x) {
		return jx + (x - t) * (rate + WILD);
	}
	return (jx * (y - t) + jy * (t - x)) / (y - x) + WILD * fmin(t - x, y - t);
}
