/* SPDX-License-Identifier: MIT */
/*
 * burst.c - what the exchanges of a burst say together
 *
 * In    exchanges within some milliseconds, four stamps each
 * Out   which pairs kept their spacing; and one triple: this clock at least, the other clock,
 *       this at most
 * Why   two packets sent back to back that arrive as far apart as they left met no queue, or the
 *       same (Geng and others 2018, "Exploiting a natural network effect for scalable,
 *       fine-grained clock synchronization": coded probes)
 * Not   rates: within a burst they are bounded by the skew limit
 *
 * Of a burst every exchange bounds the other clock, also one that queued: it only says less. So all
 * of them narrow the triple, and pairs decide whether to ask again.
 */
#include "probe/probe.h"

/* Stamps are rounded down to whole ns, those of a clock that is distorted for trial twice. */
enum { READING_NS = 2 };

bool usk_probe_whole(const struct usk_probe_exchange *e)
{
	return e->answered && usk_probe_one_clock(e->t1, e->t4) &&
	       usk_probe_one_clock(e->t2, e->t3) && e->t4.ns >= e->t1.ns && e->t3.ns >= e->t2.ns;
}

static bool near(int64_t a, int64_t b, int64_t slack)
{
	usk_i128 d = (usk_i128)a - b;
	return d <= slack && d >= -(usk_i128)slack;
}

bool usk_probe_spaced(const struct usk_probe_exchange *a, const struct usk_probe_exchange *b,
		      int64_t slack_ns)
{
	return usk_probe_whole(a) && usk_probe_whole(b) &&
	       near(b->t2.ns - a->t2.ns, b->t1.ns - a->t1.ns, slack_ns) &&
	       near(b->t4.ns - a->t4.ns, b->t3.ns - a->t3.ns, slack_ns);
}

/*
 * What this clock gains, at least, while the other gains d: d (1 - S) or d (1 + S), whichever is
 * less, rounded down.
 */
static usk_i128 gains(usk_i128 d, int64_t skew_e12)
{
	usk_i128 most = d < 0 ? -d : d;
	return d - usk_ceil_div(most * skew_e12, 1000000000000);
}

bool usk_probe_stamps(const struct usk_probe_exchange *e, size_t n, int64_t skew_e12,
		      struct usk_three_stamps *out)
{
	usk_i128 sum = 0, lo = 0, hi = 0;
	size_t whole = 0;
	for (size_t i = 0; i < n; i++) {
		if (usk_probe_whole(&e[i])) {
			sum += (usk_i128)e[i].t2.ns + e[i].t3.ns;
			whole++;
		}
	}
	if (!whole) {
		return false;
	}
	usk_i128 remote = usk_floor_div(sum, 2 * (usk_i128)whole);
	bool first = true;
	for (size_t i = 0; i < n; i++) {
		if (!usk_probe_whole(&e[i])) {
			continue;
		}
		/* Ours read t1 at least when theirs read t2 and something; t4 at most at t3. */
		usk_i128 l = e[i].t1.ns + gains(remote - e[i].t2.ns - READING_NS, skew_e12);
		usk_i128 h =
			(usk_i128)e[i].t4.ns + READING_NS - gains(e[i].t3.ns - remote, skew_e12);
		lo = first || l > lo ? l : lo;
		hi = first || h < hi ? h : hi;
		first = false;
	}
	if (lo > hi || lo <= -USK_TICKS_MAX || hi >= USK_TICKS_MAX) {
		return false;
	}
	*out = (struct usk_three_stamps){ (int64_t)lo, (int64_t)remote, (int64_t)hi };
	return true;
}
