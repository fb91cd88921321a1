/* SPDX-License-Identifier: MIT */
/*
 * est_round_trip.c - least squares through exchanges, less those that took unusually long
 *
 * Source  Clement 2009, sections 9, 12 and 13, equations 3 to 8
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

/* Margins are doubled and less the first; n times the deviation from the mean is exact. */
struct spread {
	usk_i128 base, sum, n;
	long double squares;
};

static usk_i128 deviation(const struct spread *s, const struct usk_exchange *e)
{
	return (usk_exchange_delays(e) - s->base) * s->n - s->sum;
}

static struct spread spread_of(const struct usk_exchange *e, size_t n)
{
	struct spread s = { .base = n ? usk_exchange_delays(&e[0]) : 0, .n = (usk_i128)n };
	for (size_t i = 0; i < n; i++) {
		s.sum += usk_exchange_delays(&e[i]) - s.base;
	}
	for (size_t i = 0; i < n; i++) {
		long double d = usk_real(deviation(&s, &e[i]));
		s.squares += d * d;
	}
	return s;
}

/* Is its margin within mean +- z sigma? */
static bool within(const struct spread *s, const struct usk_exchange *e, double z)
{
	long double d = usk_real(deviation(s, e));
	return isinf(z) ||
	       d * d * (long double)s->n <= (long double)z * (long double)z * s->squares;
}

static size_t keep(struct usk_exchange *e, size_t n, double z, struct usk_round_trips *out)
{
	struct spread s = spread_of(e, n);
	long double count = (long double)n;
	usk_i128 sum = 0;
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (within(&s, &e[i], z)) {
			sum += usk_exchange_delays(&e[i]) - s.base;
			e[kept++] = e[i];
		}
	}
	out->margin_ns = (double)((usk_real(s.base) + usk_real(s.sum) / count) / 2);
	out->sigma_ns = (double)(sqrtl(s.squares / count) / count / 2);
	out->kept_margin_ns = (double)((usk_real(s.base) + usk_real(sum) / (long double)kept) / 2);
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

/* The exchanges of both sides, those of shorter ones first. */
struct sides {
	struct usk_exchange *e[2];
	size_t n[2];
	int first;
};

static struct sides sides_of(const struct usk_fit *fit)
{
	struct sides s;
	for (int side = 0; side < 2; side++) {
		s.e[side] = usk_exchanges(fit, side ? fit->b : fit->a, &s.n[side]);
	}
	s.first = length(s.e[1], s.n[1]) < length(s.e[0], s.n[0]);
	return s;
}

static enum usk_status no_line(const struct sides *s, struct usk_err *err)
{
	if (!s->n[0] && !s->n[1]) {
		return usk_fail(err, USK_EINPUT, 0, USK_NO_EXCHANGE, "round-trip");
	}
	return usk_fail(err, USK_EINPUT, 0, "round-trip needs exchanges that began at two times");
}

static void sides_free(struct sides *s)
{
	USK_FREE(s->e[0], s->e[1]);
}

/* What is kept is moved to the front; false: no line. */
static bool line_of(const struct usk_fit *fit, struct usk_exchange *e, size_t n, int side, double z,
		    struct usk_round_trips *out)
{
	*out = (struct usk_round_trips){
		.by_local = side,
		.exchanges = n,
		.origin_ns = e[0].there->sent_ns,
		.origin_offset_ns = (int64_t)usk_floor_div(offset2(fit, &e[0]), 2),
	};
	out->kept = keep(e, n, z, out);
	return regress(fit, e, out->kept, out);
}

enum usk_status usk_round_trips_of(const struct usk_fit *fit, double z, struct usk_round_trips *out,
				   struct usk_err *err)
{
	struct sides s = sides_of(fit);
	bool good = false;
	for (int turn = 0; turn < 2 && !good; turn++) {
		int side = s.first ^ turn;
		good = s.n[side] && line_of(fit, s.e[side], s.n[side], side, z, out);
	}
	enum usk_status status = good ? USK_OK : no_line(&s, err);
	sides_free(&s);
	return status;
}

struct usk_margin *usk_margins_of(const struct usk_fit *fit, bool *by_local, size_t *n)
{
	static const double level[] = { USK_Z_90, USK_Z_95, USK_Z_99 };
	struct sides s = sides_of(fit);
	int side = s.n[s.first] ? s.first : !s.first;
	const struct usk_exchange *e = s.e[side];
	struct spread spread = spread_of(e, s.n[side]);
	struct usk_margin *out = usk_alloc(s.n[side] + 1, sizeof *out);
	for (size_t i = 0; i < s.n[side]; i++) {
		out[i].t1_ns = e[i].there->sent_ns;
		out[i].margin_ns = (double)(usk_real(usk_exchange_delays(&e[i])) / 2);
		out[i].z = INFINITY;
		for (size_t k = COUNT(level); k--;) {
			out[i].z = within(&spread, &e[i], level[k]) ? level[k] : out[i].z;
		}
	}
	*by_local = side;
	*n = s.n[side];
	sides_free(&s);
	return out;
}

/* ---- segments (section 13) -------------------------------------------------------------------
 */

/* Where a line stands at T, as a knot. */
static struct usk_knot knot_at(const struct usk_round_trips *r, int64_t t)
{
	long double run = usk_real((usk_i128)t - r->origin_ns);
	long double y = r->intercept_ns + r->slope * run;
	int64_t offset = usk_cut(r->origin_offset_ns + (usk_i128)floorl(y + 0.5L));
	return (struct usk_knot){ .local_ns = r->by_local ? t : usk_cut((usk_i128)t - offset),
				  .offset_ns = offset };
}

/* Exchanges from i on that lie in the segment that begins at from. */
static size_t in_segment(const struct usk_exchange *e, size_t n, size_t i, usk_i128 from,
			 int64_t length)
{
	usk_i128 rest = (usk_i128)e[n - 1].there->sent_ns - from;
	size_t k = i;
	while (k < n &&
	       (2 * rest < 3 * (usk_i128)length || (usk_i128)e[k].there->sent_ns - from < length)) {
		k++;
	}
	return k - i;
}

static void add_segment(struct usk_round_trips *all, long double *rr,
			const struct usk_round_trips *r)
{
	uint64_t kept = all->kept + r->kept;
	double mean = all->kept_margin_ns;
	mean += (r->kept_margin_ns - mean) * ((double)r->kept / (double)kept);
	*rr += r->kept > 2
		       ? (long double)r->residual_ns * r->residual_ns * (long double)(r->kept - 2)
		       : 0;
	if (!all->kept) {
		*all = *r;
		all->s_slope = all->s_intercept_ns = NAN;
	}
	all->kept = kept;
	all->kept_margin_ns = mean;
}

static size_t segments(const struct usk_fit *fit, const struct sides *s, int side, double z,
		       int64_t length, struct usk_round_trips *all, struct usk_knot *knot)
{
	struct usk_exchange *e = s->e[side];
	size_t n = 0, count = s->n[side];
	uint64_t free_of = 0;
	usk_i128 from = count ? e[0].there->sent_ns : 0;
	long double rr = 0;
	*all = (struct usk_round_trips){ .kept = 0 };
	for (size_t i = 0, m; i < count; i += m, from += length) {
		struct usk_round_trips r;
		usk_i128 empty = usk_floor_div((usk_i128)e[i].there->sent_ns - from, length);
		from += empty * length;
		m = in_segment(e, count, i, from, length);
		if (!line_of(fit, e + i, m, side, z, &r)) {
			continue;
		}
		add_segment(all, &rr, &r);
		free_of += r.kept > 2 ? r.kept - 2 : 0;
		for (int end = 0; end < 2; end++) {
			struct usk_knot k =
				knot_at(&r, e[i + (end ? r.kept - 1 : 0)].there->sent_ns);
			if (!n || k.local_ns > knot[n - 1].local_ns) {
				knot[n++] = k;
			}
		}
	}
	all->exchanges = count;
	all->residual_ns = free_of ? (double)sqrtl(rr / (long double)free_of) : NAN;
	return n;
}

enum usk_status usk_round_trip_segments_of(const struct usk_fit *fit, double z, int64_t segment_ns,
					   struct usk_round_trips *all, struct usk_knot **out,
					   size_t *n, struct usk_err *err)
{
	struct sides s = sides_of(fit);
	struct usk_knot *knot = usk_alloc(2 * (s.n[0] + s.n[1]) + 1, sizeof *knot);
	*n = 0;
	for (int turn = 0; turn < 2 && *n < 2; turn++) {
		*n = segments(fit, &s, s.first ^ turn, z, segment_ns, all, knot);
	}
	enum usk_status status = *n >= 2 ? USK_OK : no_line(&s, err);
	sides_free(&s);
	if (status) {
		*n = 0;
		free(knot);
		return status;
	}
	*out = knot;
	return USK_OK;
}

int64_t usk_fit_segment(const struct usk_fit *fit)
{
	const struct usk_model *m = &fit->model;
	return m->kind == USK_SEGMENTS && m->segment_ns ? m->segment_ns : USK_SEGMENT_NS;
}

static enum usk_status round_trip_segments(const struct usk_fit *fit, struct usk_knot **out,
					   size_t *n, struct usk_err *err)
{
	struct usk_round_trips all;
	return usk_round_trip_segments_of(fit, fit->by->z, usk_fit_segment(fit), &all, out, n, err);
}

enum usk_status usk_fit_round_trips(const struct usk_estimator *by, const struct usk_fit *fit,
				    struct usk_round_trips *out)
{
	struct usk_err err;
	if (by->estimate != round_trip_segments) {
		return usk_round_trips_of(fit, by->z, out, &err);
	}
	struct usk_knot *knot = NULL;
	size_t n;
	enum usk_status status =
		usk_round_trip_segments_of(fit, by->z, usk_fit_segment(fit), out, &knot, &n, &err);
	free(knot);
	return status;
}

/* ---- one line ---------------------------------------------------------------------------------
 */

static enum usk_status round_trip(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
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

USK_ESTIMATOR(round_trip, "round-trip", "Clement et al. 2009, sections 9 and 12, equations 3 to 8",
	      "least squares through the exchanges without outliers in length, at 95 % confidence",
	      true, .estimate = round_trip, .z = USK_Z_95);
USK_ESTIMATOR(round_trip_90, "round-trip-90", "Clement et al. 2009, sections 9 and 12, table 2",
	      "round-trip at 90 % confidence", true, .estimate = round_trip, .z = USK_Z_90);
USK_ESTIMATOR(round_trip_99, "round-trip-99", "Clement et al. 2009, sections 9 and 12, table 2",
	      "round-trip at 99 % confidence", true, .estimate = round_trip, .z = USK_Z_99);
USK_ESTIMATOR(round_trip_100, "round-trip-100", "Clement et al. 2009, sections 9 and 12",
	      "round-trip through all exchanges", true, .estimate = round_trip, .z = INFINITY);
USK_ESTIMATOR(round_trip_segments, "round-trip-segments", "Clement et al. 2009, section 13",
	      "round-trip-90 in segments of 30 min, or of --model segments=DURATION", true,
	      .estimate = round_trip_segments, .z = USK_Z_90);
