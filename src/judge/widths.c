/* SPDX-License-Identifier: MIT */
/*
 * widths.c - how wide a clock's band is
 *
 * In    a clock's knots
 * Out   half widths: best, worst, mean over time
 * Why   bands are straight between knots, so knots and trapezoids say all, exactly; the brackets of
 *       jumps are of the band, too: a mean that left them out would promise more than the answer
 *       has
 * Not   the band itself (graph/)
 */
#include "fit/fit.h"

#include "fit/cone.h"

#include <math.h>

bool usk_jump_spans(const struct usk_jump *j, uint32_t epoch, int64_t first_ns, int64_t second_ns)
{
	return (epoch > j->epoch || (epoch == j->epoch && first_ns > j->after_local_ns)) &&
	       (epoch < j->end_epoch || (epoch == j->end_epoch && second_ns < j->before_local_ns));
}

static bool begins_before(const struct usk_jump *j, const struct usk_knot *k)
{
	return k->epoch > j->epoch || (k->epoch == j->epoch && k->local_ns > j->after_local_ns);
}

static bool ends_by(const struct usk_jump *j, const struct usk_knot *k)
{
	return k->epoch > j->end_epoch ||
	       (k->epoch == j->end_epoch && k->local_ns >= j->before_local_ns);
}

struct usk_widths usk_band_widths(const struct usk_clock *clock)
{
	struct usk_widths w = { USK_NONE, USK_NONE, USK_NONE, USK_NONE, 0, 0 };
	usk_u128 area = 0, span = 0; /* area / (4 span) is the mean; area <= 2^127 */
	bool any = false, last = false;
	for (size_t i = 0; i < clock->n_knots; i++) {
		const struct usk_knot *k = &clock->knot[i];
		bool known = k->lo_ns != USK_NONE && k->hi_ns != USK_NONE, from = last;
		bool runs = i && k[-1].epoch == k->epoch;
		uint64_t run = runs ? (uint64_t)k->local_ns - (uint64_t)k[-1].local_ns : 0;
		last = known;
		w.span_ns = usk_saturate((usk_i128)w.span_ns + run);
		w.open_ns = usk_saturate((usk_i128)w.open_ns + (known && from ? 0 : run));
		if (!known) {
			continue;
		}
		uint64_t width = (uint64_t)k->hi_ns - (uint64_t)k->lo_ns;
		int64_t half = (int64_t)(width / 2 + width % 2);
		if (!any || half < w.best_ns) {
			w.best_ns = half;
			w.best_at_ns = k->local_ns;
		}
		if (!any || half > w.worst_ns) {
			w.worst_ns = half;
		}
		any = true;
		if (from && runs) {
			uint64_t before = (uint64_t)k[-1].hi_ns - (uint64_t)k[-1].lo_ns;
			area += ((usk_u128)width + before) * run;
			span += run;
		}
	}
	w.mean_ns = span ? (int64_t)((area + 4 * span - 1) / (4 * span)) : w.best_ns;
	return w;
}

double usk_clock_drift(const struct usk_clock *k)
{
	double rise = 0, run = 0;
	size_t passed = 0;
	for (size_t i = 1; i < k->n_knots; i++) {
		const struct usk_knot *a = &k->knot[i - 1], *b = &k->knot[i];
		bool apart = a->epoch == b->epoch;
		while (passed < k->n_jumps && ends_by(&k->jump[passed], a)) {
			passed++;
		}
		for (size_t j = passed; j < k->n_jumps && begins_before(&k->jump[j], b) && apart;
		     j++) {
			apart = !usk_jump_spans(&k->jump[j], a->epoch, b->local_ns, a->local_ns);
		}
		if (apart) {
			rise += (double)((usk_i128)b->offset_ns - a->offset_ns);
			run += (double)((usk_i128)b->local_ns - a->local_ns);
		}
	}
	return run > 0 ? 0 - 1e6 * rise / run : NAN;
}

void usk_clock_reference(struct usk_clock *clock, int64_t first_ns, int64_t last_ns)
{
	if (first_ns >= last_ns) {
		last_ns = first_ns < USK_TIME_MAX ? first_ns + 1 : first_ns;
		first_ns = last_ns - 1;
	}
	clock->quality = USK_REFERENCE;
	clock->drift_ppm = clock->drift_min_ppm = clock->drift_max_ppm = 0;
	clock->before = clock->after = (struct usk_slopes){ 0, 0 };
	clock->n_knots = 2;
	clock->knot = usk_alloc(2, sizeof *clock->knot);
	clock->knot[0].local_ns = first_ns;
	clock->knot[1].local_ns = last_ns;
}
