/* SPDX-License-Identifier: MIT */
/*
 * est_regress.c - least squares over all messages, whichever way they went
 *
 * Source  Duda, Harrus, Haddad, Bernard: Estimating global time in distributed systems (ICDCS
 *         1987); Ashton 1995, section 3: "regress"
 *
 * B's stamp y over A's stamp x, both directions alike: beta = Sxy/Sxx through the means. Delays of
 * the two directions are to cancel, so a slow message pulls the line and nothing keeps it between
 * the directions.
 *
 * With d = y - x, Sxy = Sxx + Sxd, so that the slope of the offset over B's stamp is
 *
 *     1/beta - 1 = -Sxd/Sxy,
 *
 * and no digit of it is lost in 1 + (beta - 1). Stamps are taken off their means, which are kept as
 * an integer and a fraction, before anything is squared.
 *
 * regress+delta (Ashton 4.2: "c.regress") moves the stamps of a message towards each other by half
 * its minimum delay. So all are doubled.
 */
#include "fit/fit.h"

/* A mean: sum / n = whole + part, 0 <= part < 1. */
struct mean {
	usk_i128 whole;
	long double part;
};

static struct mean mean_of(usk_i128 sum, size_t n, usk_i128 origin)
{
	usk_i128 q = usk_floor_div(sum, (usk_i128)n);
	return (struct mean){ q + origin, usk_real(sum - q * (usk_i128)n) / (long double)n };
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const bool delta = fit->by->delta;
	usk_i128 sum_x = 0, sum_d = 0;
	size_t count = fit->n_msgs, from_a = 0;
	usk_i128 origin = count ? usk_msg_stamp2(fit, &fit->msg[0], fit->a, delta) : 0;
	for (size_t i = 0; i < count; i++) {
		usk_i128 x = usk_msg_stamp2(fit, &fit->msg[i], fit->a, delta);
		sum_x += x - origin;
		sum_d += usk_msg_stamp2(fit, &fit->msg[i], fit->b, delta) - x;
		from_a += fit->msg[i].from == fit->a;
	}
	if (!from_a || from_a == count) {
		return usk_fail(err, USK_EINPUT, 0,
				"least squares need messages in both directions");
	}
	struct mean x = mean_of(sum_x, count, origin), d = mean_of(sum_d, count, 0);
	long double sxx = 0, sxd = 0;
	for (size_t i = 0; i < count; i++) {
		usk_i128 a = usk_msg_stamp2(fit, &fit->msg[i], fit->a, delta);
		usk_i128 from_b = usk_msg_stamp2(fit, &fit->msg[i], fit->b, delta) - a;
		long double u = usk_real(a - x.whole) - x.part;
		long double v = usk_real(from_b - d.whole) - d.part;
		sxx += u * u;
		sxd += u * v;
	}
	long double sxy = sxx + sxd;
	if (!(sxx > 0)) {
		return usk_fail(err, USK_EINPUT, 0,
				"least squares need messages at two times of the reference clock");
	}
	if (sxy <= sxx * 1e-12L) { /* so little is rounding */
		return usk_fail(err, USK_EINPUT, 0,
				"by least squares the clock stands still or runs backwards: the "
				"messages span too little time for their delays");
	}
	/* Through the means: B's is x + d, and the offset there is -d; halved. */
	usk_i128 at = usk_floor_div(x.whole + d.whole, 2), off = usk_floor_div(-d.whole, 2);
	return usk_fit_through(fit, (struct usk_point){ usk_cut(at), usk_cut(off) },
			       (usk_real(x.whole + d.whole - 2 * at) + x.part + d.part) / 2,
			       (usk_real(-d.whole - 2 * off) - d.part) / 2, -sxd / sxy, out, n);
}

USK_ESTIMATOR(regress, "regress", "Duda et al., ICDCS 1987; Ashton 1995, section 3",
	      "least squares of one clock's stamps over the other's, all messages alike", true,
	      .estimate = estimate);
USK_ESTIMATOR(regress_delta, "regress+delta", "Ashton 1995, section 4.2: c.regress",
	      "regress on stamps moved towards each other by half the minimum delay", true,
	      .estimate = estimate, .delta = true);
