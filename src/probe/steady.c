/* SPDX-License-Identifier: MIT */
/*
 * steady.c - was this machine's clock set?
 *
 * In    CLOCK_REALTIME between two readings of CLOCK_MONOTONIC, now and then
 * Out   whether the former was set since
 * Why   a step that is smaller than a round trip contradicts no exchange, and makes false bounds
 *       all the same
 * Not   slewing: both clocks are slewed as one, and the allowance is for that
 *
 * What lies between the two clocks is constant but for steps, and for sleep, in which one of them
 * stops and what the other gained is a guess. Each triple of readings says between which bounds it
 * is; they are narrowed as long as they agree, to some tens of ns, and no larger step is missed.
 */
#include "probe/probe.h"

bool usk_probe_steady_add(struct usk_probe_steady *s, int64_t before_ns, int64_t real_ns,
			  int64_t after_ns)
{
	int64_t lo = real_ns - after_ns, hi = real_ns - before_ns;
	bool set = s->has && (lo > s->hi_ns || hi < s->lo_ns);
	bool narrow = s->has && !set;
	s->lo_ns = narrow && s->lo_ns > lo ? s->lo_ns : lo;
	s->hi_ns = narrow && s->hi_ns < hi ? s->hi_ns : hi;
	s->has = true;
	return !set;
}
