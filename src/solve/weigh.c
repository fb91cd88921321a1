/* SPDX-License-Identifier: MIT */
/*
 * weigh.c - how far messages and pairs bound clocks at moments
 *
 * In    moments, rates, pairs' points and bands
 * Out   least[]: for each flow from i to j and each moment an upper bound of x_i - x_j
 * Why   a sweep: what a message says of all later moments differs by a constant from what another
 *       says, so the best one so far is one number
 *
 * A message sent at p, received at y says T_i(p) <= T_j(y). With R_i(p, t) the most that T_i rises
 * from p to t, by rates [min_i, max_i],
 *
 *     x_i - x_j = T_i(t_i) - T_j(t_j) <= R_i(p, t_i) + R_j(t_j, y)
 *
 *     both before the moment:   (1 + max_i) t_i - (1 + min_j) t_j - [(1 + max_i) p - (1 + min_j) y]
 *     both behind it:           (1 + min_i) t_i - (1 + max_j) t_j + [(1 + max_j) y - (1 + min_i) p]
 *
 * where the brackets are the message's. Messages on the way at the moment are asked one by one.
 */
#include "base/parallel.h"
#include "fit/fit.h"
#include "num/cone.h"
#include "solve/moments.h"

#include <stdlib.h>

#define NONE (((usk_i128)1 << 126) - 1)

/* A message is asked at so many moments while it is on its way. */
enum { ON_THE_WAY = 8, FLOWS_AT_ONCE = 16 };

/* The most that T rises from one local time to another, times 10^12. */
static usk_i128 most_rise(const struct usk_rates *r, int64_t from, int64_t to)
{
	usk_i128 d = (usk_i128)to - from;
	return d * (USK_E12 + (d >= 0 ? r->max_e12 : r->min_e12));
}

/* ---- what the pair says by itself ------------------------------------------------------ */

static void by_pair(const struct usk_moments *m, size_t f, int64_t *least)
{
	const struct usk_flow *flow = &m->flow[f];
	const struct usk_tie *t = &m->w->tie[flow->tie];
	struct usk_link l = usk_tie_link(t, m->w->opt->max_skew_e12);
	enum usk_curve c = flow->ceiling ? USK_UPPER : USK_LOWER;
	const struct usk_rates *rates = &m->w->rates[t->a];
	const int64_t *at_a = m->local + usk_moments_at(m, m->number[t->a], 0);
	const int64_t *at_b = m->local + usk_moments_at(m, m->number[t->b], 0);
	usk_hint hint = 0;
	for (size_t k = 0; k < m->n_moments; k++) {
		least[k] = USK_FAR;
		if (l.has[c]) {
			/* L: T_a(L) <= T_b. U: T_b <= T_a(U). */
			int64_t x = usk_link_at(&l, c, at_b[k], &hint);
			usk_i128 rise = flow->ceiling ? most_rise(rates, at_a[k], x)
						      : most_rise(rates, x, at_a[k]);
			rise = usk_ceil_div(rise, USK_E12);
			least[k] = rise < USK_FAR ? (int64_t)(rise > -USK_FAR ? rise : -USK_FAR)
						  : USK_FAR;
		}
	}
}

/* ---- what its messages say -------------------------------------------------------------- */

/* The first moment at which the clock shows t or more; from a near one on. */
static size_t moment_of(const int64_t *local, size_t n, int64_t t, size_t near)
{
	size_t k = near;
	while (k < n && local[k] < t) {
		k++;
	}
	while (k && local[k - 1] >= t) {
		k--;
	}
	return k;
}

static void by_messages(const struct usk_moments *m, size_t f, int64_t *least, usk_i128 *before,
			usk_i128 *behind)
{
	const struct usk_flow *flow = &m->flow[f];
	const struct usk_part *part = m->w->tie[flow->tie].part;
	const struct usk_rates *ri = &m->w->rates[m->clock[flow->from]];
	const struct usk_rates *rj = &m->w->rates[m->clock[flow->to]];
	const int64_t *ti = m->local + usk_moments_at(m, flow->from, 0);
	const int64_t *tj = m->local + usk_moments_at(m, flow->to, 0);
	size_t n = m->n_moments, at_i = 0, at_j = 0;
	for (size_t k = 0; k < n; k++) {
		before[k] = behind[k] = NONE;
	}
	for (size_t g = 0; g < part->n[flow->ceiling]; g++) {
		int64_t p, y;
		usk_flow_times(m, flow, part->point[flow->ceiling][g], &p, &y);
		at_i = moment_of(ti, n, p, at_i);
		at_j = moment_of(tj, n, y, at_j);
		size_t first = at_i < at_j ? at_i : at_j, last = at_i < at_j ? at_j : at_i;
		if (last < n) {
			usk_i128 own = ((usk_i128)y - tj[0]) * (USK_E12 + rj->min_e12) -
				       ((usk_i128)p - ti[0]) * (USK_E12 + ri->max_e12);
			before[last] = own < before[last] ? own : before[last];
		}
		if (first > 0) {
			usk_i128 own = ((usk_i128)y - tj[0]) * (USK_E12 + rj->max_e12) -
				       ((usk_i128)p - ti[0]) * (USK_E12 + ri->min_e12);
			behind[first - 1] = own < behind[first - 1] ? own : behind[first - 1];
		}
		for (size_t k = first; k < last && k < first + ON_THE_WAY; k++) {
			usk_i128 rise = most_rise(ri, p, ti[k]) + most_rise(rj, tj[k], y);
			rise = usk_ceil_div(rise, USK_E12);
			least[k] = rise < least[k] ? usk_saturate(rise) : least[k];
		}
	}
	for (size_t k = 1; k < n; k++) {
		before[k] = before[k - 1] < before[k] ? before[k - 1] : before[k];
	}
	for (size_t k = n - 1; k-- > 0;) {
		behind[k] = behind[k + 1] < behind[k] ? behind[k + 1] : behind[k];
	}
	for (size_t k = 0; k < n; k++) {
		usk_i128 di = (usk_i128)ti[k] - ti[0], dj = (usk_i128)tj[k] - tj[0];
		usk_i128 best = NONE;
		if (before[k] < NONE) {
			best = di * (USK_E12 + ri->max_e12) - dj * (USK_E12 + rj->min_e12) +
			       before[k];
		}
		if (behind[k] < NONE) {
			usk_i128 next = di * (USK_E12 + ri->min_e12) -
					dj * (USK_E12 + rj->max_e12) + behind[k];
			best = next < best ? next : best;
		}
		best = best < NONE ? usk_ceil_div(best, USK_E12) : best;
		if (best < least[k]) {
			least[k] = (int64_t)(best > -USK_FAR ? best : -USK_FAR);
		}
	}
}

static void weigh(void *ctx, size_t from, size_t to)
{
	struct usk_moments *m = ctx;
	usk_i128 *before = usk_alloc(m->n_moments, sizeof *before);
	usk_i128 *behind = usk_alloc(m->n_moments, sizeof *behind);
	for (size_t f = from; f < to; f++) {
		int64_t *least = m->least + f * m->n_moments;
		by_pair(m, f, least);
		by_messages(m, f, least, before, behind);
	}
	free(before);
	free(behind);
}

void usk_moments_weigh(struct usk_moments *m)
{
	usk_parallel(m->n_flows, FLOWS_AT_ONCE, m->threads, weigh, m);
}
