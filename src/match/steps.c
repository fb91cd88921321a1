/* SPDX-License-Identifier: MIT */
/*
 * steps.c - the coarse map follows clocks that were stepped
 *
 * In    medians of groups of sightings, the sightings
 * Out   more knots: on both sides of each step
 * Why   a line from group to group is wrong by up to the step for as long as a group lasts, and
 *       messages that are further off the map than delays are can be missed
 * Not   exactness: nothing of this reaches the answer
 *
 * Between two groups whose offsets lie further apart than they mostly do, there was a step if two
 * constants, parted where fewest sightings speak against it, stand for the sightings at least twice
 * as well as a line. What lies between two steps that are nearer than groups are is a run of
 * sightings that agree with each other and not with the map: matching has to wait for these.
 */
#include "match/steps.h"

#include <math.h>
#include <stdlib.h>

/* The median slope from knot to knot: a few steps do not move it. */
static double slope_of_neighbours(const struct usk_coarse *c)
{
	double *slope = usk_alloc(c->n_knots, sizeof *slope);
	size_t n = 0;
	for (size_t i = 0; i + 1 < c->n_knots && c->n_knots > 3; i++) {
		const struct usk_coarse_knot *a = &c->knot[i], *b = a + 1;
		slope[n++] = (double)((usk_i128)b->p_minus_q_ns - a->p_minus_q_ns) /
			     (double)((usk_i128)b->q_ns - a->q_ns);
	}
	if (n) {
		qsort(slope, n, sizeof *slope, usk_by_double);
	}
	double rate = n ? slope[n / 2] : 0;
	free(slope);
	return rate;
}

/* From where on sightings are nearer to the second of two offsets: the split that fewest speak
 * against. */
static size_t split(const struct usk_sighting *s, size_t from, size_t to, int64_t before,
		    int64_t behind)
{
	size_t best = from;
	int64_t score = 0, most = 0; /* of those left of i: for less against the first offset */
	for (size_t i = from; i < to; i++) {
		usk_i128 d0 = (usk_i128)usk_sighting_offset(&s[i]) - before;
		usk_i128 d1 = (usk_i128)usk_sighting_offset(&s[i]) - behind;
		d0 = d0 < 0 ? -d0 : d0;
		d1 = d1 < 0 ? -d1 : d1;
		score += d0 < d1 ? 1 : -1;
		if (score > most) {
			most = score;
			best = i + 1;
		}
	}
	return best;
}

/* Do two offsets from k on stand for s[from, to) much better than the line from knot to knot? */
static bool is_step(const struct usk_coarse_knot *a, const struct usk_sighting *s, size_t from,
		    size_t to, size_t k)
{
	const struct usk_coarse_knot *b = a + 1;
	double rise = (double)((usk_i128)b->p_minus_q_ns - a->p_minus_q_ns);
	double run = (double)((usk_i128)b->q_ns - a->q_ns), line = 0, step = 0;
	for (size_t i = from; i < to; i++) {
		double at = (double)((usk_i128)s[i].q_ns - a->q_ns) / run * rise;
		double y = (double)((usk_i128)usk_sighting_offset(&s[i]) - a->p_minus_q_ns);
		line += fabs(y - at);
		step += fabs(i < k ? y : y - rise);
	}
	return step * 2 <= line;
}

static void slopes(struct usk_coarse *c)
{
	for (size_t g = 0; g + 1 < c->n_knots; g++) {
		struct usk_coarse_knot *k = &c->knot[g];
		k->slope = (double)(usk_i128)((usk_i128)k[1].p_minus_q_ns - k[0].p_minus_q_ns) /
			   (double)(usk_i128)((usk_i128)k[1].q_ns - k[0].q_ns);
	}
}

static void add_knot(struct usk_coarse *c, size_t *cap, int64_t q_ns, int64_t p_minus_q_ns)
{
	if (!c->n_knots || q_ns > c->knot[c->n_knots - 1].q_ns) {
		c->knot = usk_room(c->knot, c->n_knots, cap, sizeof *c->knot);
		c->knot[c->n_knots++] = (struct usk_coarse_knot){ q_ns, p_minus_q_ns, 0 };
	}
}

struct usk_stretch usk_coarse_steps(struct usk_coarse *c, const struct usk_sighting *s, size_t n)
{
	size_t n_old = c->n_knots, at = 0, last = 0, cap = 0;
	struct usk_coarse_knot *old = c->knot;
	double rate = slope_of_neighbours(c), *step = usk_alloc(n_old, sizeof *step);
	for (size_t i = 0; i + 1 < n_old; i++) {
		step[i] = usk_coarse_apart(&old[i], &old[i + 1], rate);
	}
	qsort(step, n_old - 1, sizeof *step, usk_by_double);
	/* Few groups do not tell what is usual. */
	double usual = n_old > 3 ? 32 * step[(n_old - 1) / 2] + 1e6 : 1e9;
	struct usk_stretch longest = { 0, 0 };
	c->knot = NULL;
	c->n_knots = 0;
	for (size_t i = 0; i < n_old; i++) {
		const struct usk_coarse_knot *a = &old[i], *b = a + 1;
		add_knot(c, &cap, a->q_ns, a->p_minus_q_ns);
		if (i + 1 == n_old || usk_coarse_apart(a, b, rate) <= usual) {
			continue;
		}
		while (s[at].q_ns < a->q_ns) {
			at++;
		}
		size_t end = at;
		while (end < n && s[end].q_ns < b->q_ns) {
			end++;
		}
		size_t k = split(s, at, end, a->p_minus_q_ns, b->p_minus_q_ns);
		if (!is_step(a, s, at, end, k)) {
			continue;
		}
		if (k) {
			add_knot(c, &cap, s[k - 1].q_ns, a->p_minus_q_ns);
		}
		if (k < n && s[k].q_ns < b->q_ns) {
			add_knot(c, &cap, s[k].q_ns, b->p_minus_q_ns);
		}
		if (k - last > longest.n) {
			longest = (struct usk_stretch){ last, k - last };
		}
		last = k;
	}
	if (n - last > longest.n) {
		longest = (struct usk_stretch){ last, n - last };
	}
	free(old);
	free(step);
	slopes(c);
	return longest;
}

/* ---- between two steps that groups do not tell apart --------------------------------------------
 */

enum { LEAST_RUN = 4 };

/* Matching waits for no more. */
#define MOST_OFF_NS INT64_C(1000000000)

static int64_t size_of(int64_t v)
{
	return v < 0 ? -v : v;
}

int64_t usk_coarse_off(const struct usk_coarse *c, const struct usk_sighting *s, size_t n,
		       int64_t middle_ns)
{
	int64_t *r = usk_alloc(n, sizeof *r), most = 0;
	size_t hint = 0;
	for (size_t i = 0; i < n; i++) {
		usk_i128 off = (usk_i128)s[i].p_ns - usk_coarse_to_p(c, s[i].q_ns, &hint);
		r[i] = off > USK_TIME_MAX    ? USK_TIME_MAX
		       : off < -USK_TIME_MAX ? -USK_TIME_MAX
					     : (int64_t)off;
	}
	int64_t usual = middle_ns < MOST_OFF_NS ? 8 * middle_ns + 1000000 : MOST_OFF_NS;
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		int64_t off = size_of(r[i]);
		if (off <= usual || off > MOST_OFF_NS) {
			continue;
		}
		while (end < n && r[end] - r[i] <= usual && r[i] - r[end] <= usual) {
			end++;
		}
		most = end - i >= LEAST_RUN && off > most ? off : most;
	}
	free(r);
	return most;
}
