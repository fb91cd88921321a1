/* SPDX-License-Identifier: MIT */
/*
 * drift.c - by how much the rate of one clock against another changes, over hours
 *
 * In    moments: what one clock showed between two readings of another; of this machine, or of a
 *       table of exchanges between two machines
 * Out   the rate from each moment to the next with its error, and the largest change among them
 * Why   whoever knows another clock now (line, probe, convert --exchange) takes for granted that
 *       its rate stays within an allowance: is that so here?
 * Not   the mean drift of a second (sources.c)
 *
 * Source  Loeser 2003, section 3.2.3: at most 10^-7 seen over hours, an allowance of 10^-6; the
 *         error of a rate is eq. 3
 */
#include "clock/clock.h"

#include <math.h>
#include <stdlib.h>

bool bracket_rate(const struct bracket *a, const struct bracket *b, double ns_per_tick,
		  double coarse_ns, struct rate *out)
{
	double ticks = (double)(b->time - a->time) * ns_per_tick;
	double ns = ((double)(b->before - a->before) + (double)(b->after - a->after)) / 2;
	double widths = (double)(a->after - a->before) + (double)(b->after - b->before);
	*out = (struct rate){ .ppm = (ticks / ns - 1) * 1e6,
			      .error_ppm = (widths / 2 + coarse_ns) / ns * 1e6,
			      .seconds = ns / 1e9 };
	return ns > 0;
}

void drift_add(struct drift *d, const struct bracket *b, unsigned load)
{
	struct rate r;
	bool first = !d->n_moments++;
	if (first) {
		d->first = *b;
	} else if (!(d->ns_per_tick > 0)) {
		/* A counter of unknown frequency: its first rate is what others are held against.
		 */
		d->ns_per_tick = ((double)(b->before - d->first.before) +
				  (double)(b->after - d->first.after)) /
				 2 / (double)(b->time - d->first.time);
	}
	if (!first && bracket_rate(&d->last, b, d->ns_per_tick, 0, &r)) {
		r.load = load;
		r.at_s = (double)(b->after - d->first.before) / 1e9;
		*USK_ADD(d->rate, d->n, d->cap) = r;
	}
	d->last = *b;
}

struct drift_figures drift_figures(const struct drift *d)
{
	struct drift_figures f = { .mean_ppm = NAN, .change_ppm = NAN, .certain_ppm = NAN };
	double sure_high = -INFINITY, sure_low = INFINITY;
	f.least = f.most = (struct rate){ .ppm = NAN, .error_ppm = NAN };
	for (size_t i = 0; i < d->n; i++) {
		const struct rate *r = &d->rate[i];
		f.least = i && f.least.ppm <= r->ppm ? f.least : *r;
		f.most = i && f.most.ppm >= r->ppm ? f.most : *r;
		sure_high = fmax(sure_high, r->ppm - r->error_ppm);
		sure_low = fmin(sure_low, r->ppm + r->error_ppm);
	}
	struct rate all;
	if (d->n && bracket_rate(&d->first, &d->last, d->ns_per_tick, 0, &all)) {
		f.mean_ppm = all.ppm;
		f.change_ppm = f.most.ppm - f.least.ppm;
		f.certain_ppm = fmax(0, sure_high - sure_low);
	}
	return f;
}

void drift_free(struct drift *d)
{
	free(d->rate);
	d->rate = NULL;
}
