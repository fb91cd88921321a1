/* SPDX-License-Identifier: MIT */
/*
 * live_map.c - another clock's stamps on this one, by two exchanges, in fixed point
 *
 * Source  Loeser 2003, sections 3.2 and 4: equations 2 to 8
 *
 * He had 25 fractional bits of the rate in 64-bit products, which bounds spans to 100 s; 56 bits in
 * 128-bit products bound nothing that stamps can reach. Middles are kept doubled, so
 * that half ticks are exact.
 */
#include "base/base.h"
#include "unskew_clock.h"

enum { CONV_BITS = 56, DRIFT_BITS = 32 };

static bool in_range(const struct usk_three_stamps *s)
{
	return s->before > -USK_TICKS_MAX && s->after < USK_TICKS_MAX &&
	       s->remote > -USK_TICKS_MAX && s->remote < USK_TICKS_MAX;
}

enum usk_status usk_live_map_of(const struct usk_three_stamps *x, const struct usk_three_stamps *y,
				int64_t allowance_e12, int64_t max_age, struct usk_live_map *out,
				struct usk_err *err)
{
	enum { FACTOR = 100 };
	if (x->after < x->before || y->after < y->before) {
		return usk_fail(err, USK_EINPUT, 0, "an exchange ended before it began");
	}
	if (!in_range(x) || !in_range(y)) {
		return usk_fail(err, USK_ERANGE, 0, "a stamp is 2^62 ticks or more from 0");
	}
	int64_t local_2 = y->before + y->after;
	usk_i128 gone_2 = (usk_i128)local_2 - (x->before + x->after);
	usk_i128 remote = (usk_i128)y->remote - x->remote;
	if (gone_2 <= 0 || remote < 2) {
		return usk_fail(err, USK_EINPUT, 0,
				"the second exchange is not after the first on both clocks");
	}
	if (gone_2 > 2 * FACTOR * remote || 2 * remote > FACTOR * gone_2) {
		return usk_fail(err, USK_EINPUT, 0,
				"one clock ran more than %d times as fast as the other", FACTOR);
	}
	/* gone_2 is under 2^64, so 120 bits after the shift. Rounded to the nearest. */
	usk_i128 conv = ((gone_2 << CONV_BITS) + remote) / (2 * remote);
	/* Y's middle less X's is off by both jitters and a tick, and the count of remote ticks by
	 * one, which is conv of ours. */
	usk_i128 jitter_2 = ((usk_i128)x->after - x->before) + ((usk_i128)y->after - y->before) + 2;
	usk_i128 tick_2 = (conv >> (CONV_BITS - DRIFT_BITS - 1)) + 1; /* 2^-32, rounded up */
	usk_i128 drift = usk_ceil_div((jitter_2 << DRIFT_BITS) + tick_2, gone_2);
	drift += usk_ceil_div(drift, remote - 1); /* as many ticks, or up to one fewer */
	usk_i128 allowance = usk_ceil_div((usk_i128)allowance_e12 << DRIFT_BITS, 1000000000000);
	/* The allowance is of a rate that is itself off by the drift. */
	drift += allowance + usk_ceil_div(drift * allowance, (usk_i128)1 << DRIFT_BITS);
	*out = (struct usk_live_map){
		.remote = y->remote,
		.local_2 = local_2,
		.jitter_2 = y->after - y->before,
		.conv = (uint64_t)conv,
		.drift = drift > UINT64_MAX ? UINT64_MAX : (uint64_t)drift,
		.max_age = max_age,
	};
	return USK_OK;
}

enum usk_live_state usk_live_map_at(const struct usk_live_map *m, int64_t remote,
				    struct usk_live_time *out)
{
	usk_i128 from_y = (usk_i128)remote - m->remote;
	usk_i128 age = from_y < 0 ? -from_y : from_y;
	if (age > m->max_age) {
		return USK_LIVE_STALE;
	}
	/* age is under 2^63 and conv under 2^64: 127 bits. */
	usk_u128 gone = (usk_u128)age * m->conv; /* 2^-56 */
	usk_u128 half = gone >> (CONV_BITS - 1); /* doubled, rounded down */
	if (half > (usk_u128)2 * USK_TICKS_MAX) {
		return USK_LIVE_STALE;
	}
	usk_i128 local_2 = m->local_2 + (from_y < 0 ? -(usk_i128)half : (usk_i128)half);
	/* In halves of a tick: rounding of conv (age / 2^57), of half (1), of local (1); and the
	 * stamps' own: a tick of ours, and one of theirs, which is conv of ours. */
	usk_u128 tick_2 = 2 * ((m->conv >> CONV_BITS) + 1);
	usk_u128 error_2 = (half + 1 + tick_2) * m->drift; /* 2^-32; under 64 + 64 bits */
	error_2 = (error_2 >> DRIFT_BITS) + 1 + (uint64_t)m->jitter_2 + 1 +
		  (usk_u128)(age >> CONV_BITS) + 1 + 1 + 2 + tick_2;
	if (error_2 > (usk_u128)2 * USK_TICKS_MAX || local_2 > 2 * (usk_i128)USK_TICKS_MAX ||
	    local_2 < -2 * (usk_i128)USK_TICKS_MAX) {
		return USK_LIVE_STALE;
	}
	out->local = (int64_t)((local_2 + (local_2 > 0)) / 2);
	out->precision = (int64_t)((error_2 + 1) / 2);
	return USK_LIVE;
}
