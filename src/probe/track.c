/* SPDX-License-Identifier: MIT */
/*
 * track.c - the other clock as it is now, from burst to burst
 *
 * Source  Loeser 2003, sections 3.2 and 4: two exchanges X and Y make a map
 *
 * He takes the last two. Here Y is the one, and X the one among those of the last max_age, that
 * leave the map most precise a period later: jitters of microseconds over two seconds are some ppm
 * of drift, over a minute a tenth. A burst that went badly therefore changes nothing; the bound
 * goes on growing from the one before.
 *
 * A map and a new exchange are two statements about the same moment. If they exclude each other, a
 * clock was set or left its allowance: what was known before is worthless and is forgotten.
 */
#include "probe/probe.h"

#include <string.h>

/* Y alone: rates are the same within the skew limit. */
static bool map_of_one(const struct usk_probe_track *t, const struct usk_three_stamps *y,
		       struct usk_live_map *out)
{
	enum { CONV_BITS = 56, DRIFT_BITS = 32 };
	if (y->after < y->before || y->before <= -USK_TICKS_MAX || y->after >= USK_TICKS_MAX ||
	    y->remote <= -USK_TICKS_MAX || y->remote >= USK_TICKS_MAX) {
		return false;
	}
	/* This clock gains 1 - S to 1 + S while the other gains 1. */
	*out = (struct usk_live_map){
		.remote = y->remote,
		.local_2 = y->before + y->after,
		.jitter_2 = y->after - y->before,
		.conv = UINT64_C(1) << CONV_BITS,
		.drift = (uint64_t)usk_ceil_div((usk_i128)t->skew_e12 << DRIFT_BITS, 1000000000000),
		.max_age = t->max_age_ns,
	};
	return true;
}

static int64_t precision_at(const struct usk_live_map *m, usk_i128 remote)
{
	struct usk_live_time at;
	if (remote > INT64_MAX || usk_live_map_at(m, (int64_t)remote, &at) != USK_LIVE) {
		return INT64_MAX;
	}
	return at.precision;
}

static bool best_map(const struct usk_probe_track *t, const struct usk_three_stamps *y,
		     usk_i128 horizon, struct usk_live_map *out)
{
	if (!map_of_one(t, y, out)) {
		return false;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct usk_live_map m;
		if ((usk_i128)y->remote - t->slot[i].remote <= t->max_age_ns &&
		    !usk_live_map_of(&t->slot[i], y, t->allowance_e12, t->max_age_ns, &m, NULL) &&
		    precision_at(&m, horizon) < precision_at(out, horizon)) {
			*out = m;
		}
	}
	return true;
}

static int64_t jitter_2(const struct usk_three_stamps *s)
{
	return s->after - s->before;
}

/* Slots are spread over max_age; the narrowest exchange of its time has each. */
static void keep(struct usk_probe_track *t, const struct usk_three_stamps *y)
{
	struct usk_three_stamps *last = t->n ? &t->slot[t->n - 1] : NULL;
	if (last && y->remote - t->slot_from_ns < t->max_age_ns / USK_PROBE_SLOTS) {
		if (jitter_2(y) <= jitter_2(last)) {
			*last = *y;
		}
		return;
	}
	if (t->n == USK_PROBE_SLOTS) {
		memmove(t->slot, t->slot + 1, (USK_PROBE_SLOTS - 1) * sizeof *t->slot);
		t->n--;
	}
	t->slot_from_ns = y->remote;
	t->slot[t->n++] = *y;
}

static bool contradicts(const struct usk_live_map *m, const struct usk_three_stamps *y)
{
	struct usk_live_time at;
	if (usk_live_map_at(m, y->remote, &at) != USK_LIVE) {
		return y->remote <= m->remote;
	}
	return (usk_i128)at.local + at.precision < y->before ||
	       (usk_i128)at.local - at.precision > y->after;
}

void usk_probe_track_forget(struct usk_probe_track *t)
{
	t->n = 0;
	t->has = false;
}

enum usk_probe_news usk_probe_track_add(struct usk_probe_track *t, const struct usk_three_stamps *y)
{
	struct usk_live_map m;
	bool set = t->has && contradicts(&t->map, y);
	if (set) {
		usk_probe_track_forget(t);
	}
	usk_i128 horizon = (usk_i128)y->remote + t->period_ns;
	if (!best_map(t, y, horizon, &m)) {
		return set ? USK_PROBE_SET : USK_PROBE_WORSE;
	}
	keep(t, y);
	if (t->has && precision_at(&t->map, horizon) <= precision_at(&m, horizon)) {
		return USK_PROBE_WORSE;
	}
	t->map = m;
	t->has = true;
	return set ? USK_PROBE_SET : USK_PROBE_BETTER;
}

int64_t usk_probe_track_remote(const struct usk_probe_track *t, int64_t local_ns)
{
	if (!t->has) {
		return 0;
	}
	long double gone = (long double)((usk_i128)2 * local_ns - t->map.local_2) / 2;
	long double remote = gone / ((long double)t->map.conv / (UINT64_C(1) << 56));
	return usk_saturate((usk_i128)t->map.remote + (usk_i128)remote);
}
