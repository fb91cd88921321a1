/* SPDX-License-Identifier: MIT */
/*
 * rates.c - shortest paths through the logarithms of rates
 */
#include "solve/rates.h"

#include <math.h>
#include <stdlib.h>

/* Rounding of a sum of logarithms, generously, in e12. */
#define ROUNDING 2

/* ln(1 + slope) of b against a: from, to. */
static void slopes(const struct usk_tie *t, int64_t max_skew_e12, double *from, double *to)
{
	const struct usk_clock *k = t->fitted;
	double most = (double)max_skew_e12 * 1e-12, wander = (double)t->wander_e12 * 1e-12;
	double min = -most, max = most;
	if (!isnan(k->drift_min_ppm) && !isnan(k->drift_max_ppm)) {
		min = fmax(min, -k->drift_max_ppm * 1e-6 - wander);
		max = fmin(max, -k->drift_min_ppm * 1e-6 + wander);
	}
	*from = log1p(min);
	*to = log1p(max);
}

struct search {
	const struct usk_graph *g;
	const struct usk_tie *tie;
	const bool *leave_out;
	int64_t max_skew_e12;
	double *dist;
	uint32_t *queue, *hops;
	bool *queued;
};

/*
 * The largest ln of T's rate (sign 1), or the largest of its negative. The length of an arc from x
 * to y is the most that r_y - r_x can be. Bellman and Ford's, with a queue; false: a negative
 * cycle.
 */
static bool search(struct search *s, uint32_t origin, int sign)
{
	size_t n = s->g->n_clocks, head = 0, count = 1;
	for (size_t i = 0; i < n; i++) {
		s->dist[i] = INFINITY;
		s->hops[i] = 0;
		s->queued[i] = false;
	}
	s->dist[origin] = 0;
	s->queue[0] = origin;
	while (count) {
		uint32_t at = s->queue[head];
		head = (head + 1) % n;
		count--;
		s->queued[at] = false;
		for (size_t k = s->g->first[at]; k < s->g->first[at + 1]; k++) {
			const struct usk_arc *a = &s->g->arc[k];
			if (!a->holds ||
			    (s->leave_out && (s->leave_out[at] || s->leave_out[a->to]))) {
				continue;
			}
			double from, to;
			slopes(&s->tie[a->tie], s->max_skew_e12, &from, &to);
			/* T_b' = T_a' (1 + slope) */
			double most = (sign > 0) != a->turned ? to : -from;
			double next = s->dist[at] + most;
			if (next < s->dist[a->to] - 1e-15) {
				s->dist[a->to] = next;
				s->hops[a->to] = s->hops[at] + 1;
				if (s->hops[a->to] > n) {
					return false;
				}
				if (!s->queued[a->to]) {
					s->queued[a->to] = true;
					s->queue[(head + count++) % n] = a->to;
				}
			}
		}
	}
	return true;
}

/* The least sum of wanders on a path. */
static void wander(struct search *s, uint32_t origin, struct usk_rates *rates)
{
	int64_t *weight =
		usk_alloc(s->g->arc ? s->g->first[s->g->n_clocks] + 1 : 1, sizeof *weight);
	struct usk_way *way = usk_alloc(s->g->n_clocks, sizeof *way);
	for (size_t k = 0; k < s->g->first[s->g->n_clocks]; k++) {
		weight[s->g->arc[k].tie] = s->tie[s->g->arc[k].tie].wander_e12;
	}
	usk_graph_paths(s->g, weight, origin, NULL, 0, way);
	for (size_t i = 0; i < s->g->n_clocks; i++) {
		uint32_t at = (uint32_t)i;
		usk_i128 sum = 0; /* ties in one direction wander too */
		while (way[at].reached && way[at].from != USK_NO_CLOCK) {
			sum += s->tie[s->g->arc[way[at].arc].tie].wander_e12;
			at = way[at].from;
		}
		rates[i].wander_e12 = sum > s->max_skew_e12 ? s->max_skew_e12 : (int64_t)sum;
	}
	free(weight);
	free(way);
}

bool usk_rates_of(const struct usk_graph *g, const struct usk_tie *tie, uint32_t origin,
		  int64_t max_skew_e12, const bool *leave_out, struct usk_rates *rates)
{
	size_t n = g->n_clocks;
	bool good = true;
	struct search s = {
		.g = g, .tie = tie, .leave_out = leave_out, .max_skew_e12 = max_skew_e12
	};
	s.dist = usk_alloc(n, sizeof *s.dist);
	s.queue = usk_alloc(n, sizeof *s.queue);
	s.hops = usk_alloc(n, sizeof *s.hops);
	s.queued = usk_alloc(n, sizeof *s.queued);
	for (size_t i = 0; i < n; i++) {
		rates[i] = (struct usk_rates){ -max_skew_e12, max_skew_e12, 0 };
	}
	for (int sign = 1; sign >= -1 && good; sign -= 2) {
		good = search(&s, origin, sign);
		for (size_t i = 0; i < n && good; i++) {
			if (isinf(s.dist[i])) {
				continue;
			}
			double rate = expm1(sign * s.dist[i]) * 1e12;
			int64_t *bound = sign > 0 ? &rates[i].max_e12 : &rates[i].min_e12;
			int64_t e12 = sign > 0 ? (int64_t)ceil(rate) + ROUNDING
					       : (int64_t)floor(rate) - ROUNDING;
			*bound = sign > 0 ? (e12 < *bound ? e12 : *bound)
					  : (e12 > *bound ? e12 : *bound);
		}
	}
	for (size_t i = 0; i < n; i++) {
		good = good && rates[i].min_e12 <= rates[i].max_e12;
	}
	for (size_t i = 0; i < n && !good; i++) {
		rates[i] = (struct usk_rates){ -max_skew_e12, max_skew_e12, 0 };
	}
	rates[origin].min_e12 = rates[origin].max_e12 = 0;
	wander(&s, origin, rates);
	free(s.dist);
	free(s.queue);
	free(s.hops);
	free(s.queued);
	return good;
}
