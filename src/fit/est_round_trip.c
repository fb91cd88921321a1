/* SPDX-License-Identifier: MIT */
/*
 * est_round_trip.c - least squares through exchanges, less those that took unusually long
 *
 * Source  Clement 2009, sections 9 and 12, equations 3 to 8
 *
 * T1 and T4 are stamps of the clock that asked, T2 and T3 of the one that answered:
 *
 *     D = ((T2 - T1) + (T3 - T4))/2        what the other clock is ahead, at T1
 *     E = ((T4 - T1) - (T3 - T2))/2        the margin: D is wrong by no more
 *
 * Exchanges whose E is within mean +- z sigma are kept, with z = 1.64, 1.96, 2.58 for 90, 95, 99 %.
 * D over T1 is a straight line by least squares, T1 counted from the first:
 *
 *     Er = sqrt(sum of r^2/(n - 2)),  s_slope = Er sqrt(n/d),  s_intercept = Er sqrt(sum T^2/d)
 *
 * with d = n sum T^2 - (sum T)^2 = n sum (T - mean)^2, which is how it is computed: the first form
 * has no digits left after a few minutes of nanoseconds.
 *
 * Who asks? D belongs to the middle of an exchange and stands at its T1, so it is wrong by half its
 * length times the drift: nothing while a server answers at once, a millisecond if the "answer" is
 * a client's next request a minute later. The paper's askers are clients. Here it is the clock
 * whose exchanges are shorter in the mean.
 */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* Mean time between T1 and T4. */
static long double length(const struct usk_exchange *e, size_t n)
{
	usk_i128 sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += usk_exchange_took(&e[i]);
	}
	return n ? usk_real(sum) / (long double)n : INFINITY;
}

/* Leave out those whose margin is not within mean +- z sigma. */
static size_t keep(struct usk_exchange *e, size_t n, double z, struct usk_round_trips *out)
{
	/* Margins are doubled and less the first; n times the deviation from the mean is exact. */
	usk_i128 base = n ? usk_exchange_delays(&e[0]) : 0, sum = 0;
	long double squares = 0;
	for (size_t i = 0; i < n; i++) {
		sum += usk_exchange_delays(&e[i]) - base;
	}
	for (size_t i = 0; i < n; i++) {
		usk_i128 d = (usk_exchange_delays(&e[i]) - base) * (usk_i128)n - sum;
		squares += usk_real(d) * usk_real(d);
	}
	long double count = (long double)n;
	out->margin_ns = (double)((usk_real(base) + usk_real(sum) / count) / 2);
	out->sigma_ns = (double)(sqrtl(squares / count) / count / 2);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		usk_i128 d = (usk_exchange_delays(&e[i]) - base) * (usk_i128)n - sum;
		if (isinf(z) || usk_real(d) * usk_real(d) * count <=
					(long double)z * (long double)z * squares) {
			e[kept++] = e[i];
		}
	}
	return kept;
}

/* Twice reference - local at an exchange. */
static usk_i128 offset2(const struct usk_fit *fit, const struct usk_exchange *e)
{
	return usk_exchange_middle2(e, fit->a) - usk_exchange_middle2(e, fit->b);
}

/* Least squares; false if all T1 are one. */
static bool regress(const struct usk_fit *fit, const struct usk_exchange *e, size_t n,
		    struct usk_round_trips *out)
{
	usk_i128 sum_t = 0, sum_y = 0, base2 = 2 * (usk_i128)out->origin_offset_ns;
	for (size_t i = 0; i < n; i++) {
		sum_t += (usk_i128)e[i].there->sent_ns - out->origin_ns;
		sum_y += offset2(fit, &e[i]) - base2;
	}
	long double count = (long double)n;
	long double mean_t = usk_real(sum_t) / count, mean_y = usk_real(sum_y) / count / 2;
	long double tt = 0, ty = 0, rr = 0;
	for (size_t i = 0; i < n; i++) {
		long double t = usk_real((usk_i128)e[i].there->sent_ns - out->origin_ns);
		long double y = usk_real(offset2(fit, &e[i]) - base2) / 2;
		tt += (t - mean_t) * (t - mean_t);
		ty += (t - mean_t) * (y - mean_y);
	}
	if (n < 2 || e[0].there->sent_ns == e[n - 1].there->sent_ns) {
		return false;
	}
	long double slope = ty / tt;
	for (size_t i = 0; i < n; i++) {
		long double t = usk_real((usk_i128)e[i].there->sent_ns - out->origin_ns);
		long double y = usk_real(offset2(fit, &e[i]) - base2) / 2;
		long double r = y - mean_y - slope * (t - mean_t);
		rr += r * r;
	}
	long double er = n > 2 ? sqrtl(rr / (count - 2)) : NAN;
	out->slope = slope;
	out->intercept_ns = mean_y - slope * mean_t;
	out->residual_ns = (double)er;
	out->s_slope = (double)(er / sqrtl(tt));
	out->s_intercept_ns = (double)(er * sqrtl((tt / count + mean_t * mean_t) / tt));
	return true;
}

enum usk_status usk_round_trips_of(const struct usk_fit *fit, double z, struct usk_round_trips *out,
				   struct usk_err *err)
{
	struct usk_exchange *e[2];
	size_t n[2];
	for (int side = 0; side < 2; side++) {
		e[side] = usk_exchanges(fit, side ? fit->b : fit->a, &n[side]);
	}
	bool good = false, by_local = length(e[1], n[1]) < length(e[0], n[0]);
	for (int turn = 0; turn < 2 && !good; turn++) {
		int side = by_local != (turn == 1);
		if (!n[side]) {
			continue;
		}
		*out = (struct usk_round_trips){
			.by_local = side,
			.exchanges = n[side],
			.origin_ns = e[side][0].there->sent_ns,
			.origin_offset_ns = (int64_t)usk_floor_div(offset2(fit, &e[side][0]), 2),
		};
		out->kept = keep(e[side], n[side], z, out);
		good = regress(fit, e[side], out->kept, out);
	}
	free(e[0]);
	free(e[1]);
	if (good) {
		return USK_OK;
	}
	if (!n[0] && !n[1]) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "round-trip");
	}
	return usk_fail(err, USK_EINPUT, 0, "round-trip needs exchanges that began at two times");
}

enum usk_status usk_est_round_trip(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				   struct usk_err *err)
{
	struct usk_round_trips r;
	enum usk_status status = usk_round_trips_of(fit, fit->by->z, &r, err);
	if (status) {
		return status;
	}
	struct usk_point p = { r.origin_ns, r.origin_offset_ns };
	if (r.by_local) {
		return usk_fit_through(fit, p, 0, r.intercept_ns, r.slope, out, n);
	}
	/* Over the reference's time T: offset = c + s T at the local time T - (c + s T). */
	if (1 - r.slope < 1e-12L) {
		return usk_fail(err, USK_EINPUT, 0,
				"by its exchanges the clock stands still or runs backwards");
	}
	p.local_ns = r.origin_ns - r.origin_offset_ns;
	return usk_fit_through(fit, p, -r.intercept_ns, r.intercept_ns, r.slope / (1 - r.slope),
			       out, n);
}
