/* SPDX-License-Identifier: MIT */
/*
 * coarse.c - how two clocks lie to each other, roughly and robustly
 *
 * In    sightings: pairs of stamps of nearly one moment, some of them wrong
 * Out   a piecewise map from one clock to the other, its spread, a robust rate
 * Why   medians of groups follow drift, slews and steps and ignore wrong joins; the walk only
 *       needs to know where to look, the corridor needs an origin and a slope
 * Not   an estimate: nothing of this reaches the answer
 */
#include "match/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 15, MAX_GROUPS = 512, SLOPES = 4096 };

/* No packet is under way for longer. */
#define LONGEST_WAY_NS 10e9

/* p - q. */
static int64_t offset_of(const struct usk_sighting *s)
{
	return usk_cut((usk_i128)s->p_ns - s->q_ns);
}

/* How far a lies from the line through b that has that rate. */
static double apart(const struct usk_coarse_knot *a, const struct usk_coarse_knot *b, double rate)
{
	double run = (double)((usk_i128)a->q_ns - b->q_ns);
	double rise = (double)((usk_i128)a->p_minus_q_ns - b->p_minus_q_ns);
	return rise < run * rate ? run * rate - rise : rise - run * rate;
}

/* Sightings of one stretch of time without a step. */
struct stretch {
	size_t from, n;
};

static int by_q(const void *pa, const void *pb)
{
	const struct usk_sighting *a = pa, *b = pb;
	int order = usk_order(a->q_ns, b->q_ns);
	return order ? order : usk_order(a->p_ns, b->p_ns);
}

/* How far off the map it lies. */
static usk_i128 off_map_by(const struct usk_coarse *c, const struct usk_sighting *s, size_t *hint)
{
	return (usk_i128)s->p_ns - usk_coarse_to_p(c, s->q_ns, hint);
}

/* Does it lie where the map says? Without a map yet all do. */
static bool on_map(const struct usk_coarse *c, const struct usk_sighting *s)
{
	size_t hint = 0;
	usk_i128 r = c ? off_map_by(c, s, &hint) : 0;
	return !c || (r <= c->spread_ns && -r <= c->spread_ns);
}

/* From knot to knot offsets mostly rise or fall by no more than this beyond their rate. */
static double usual_step(const struct usk_coarse_knot *knot, size_t n, double rate)
{
	double *step = usk_alloc(n, sizeof *step);
	for (size_t i = 0; i + 1 < n; i++) {
		step[i] = apart(&knot[i], &knot[i + 1], rate);
	}
	qsort(step, n - 1, sizeof *step, usk_by_double);
	double usual = 32 * step[(n - 1) / 2] + 1e6;
	free(step);
	return usual;
}

/* The median slope between sightings of the first and of the last third (after Theil and Sen). */
static double robust_rate(const struct usk_sighting *s, size_t n, const struct usk_coarse *map)
{
	size_t third = n / 3, step = third / SLOPES + 1, m = 0;
	double slope[SLOPES];
	for (size_t i = 0; i < third && m < SLOPES; i += step) {
		const struct usk_sighting *a = &s[i], *b = &s[n - third + i];
		if (b->q_ns > a->q_ns && on_map(map, a) && on_map(map, b)) {
			/* Differences of stamps first: what is left fits a double. */
			double run = (double)((usk_i128)b->q_ns - a->q_ns);
			double rise = (double)(usk_i128)((usk_i128)b->p_ns - b->q_ns -
							 ((usk_i128)a->p_ns - a->q_ns));
			slope[m++] = rise / run;
		}
	}
	if (!m) {
		return 0;
	}
	qsort(slope, m, sizeof *slope, usk_by_double);
	return slope[m / 2];
}

/*
 * A group of mostly wrong joins stands alone: no neighbour but one lies near it, as near as
 * neighbours mostly are or a slew of 0.1 % takes them.
 */
static void drop_strays(struct usk_coarse *c)
{
	size_t n = c->n_knots, kept = 0;
	if (n < 3) {
		return;
	}
	struct usk_sighting *middle = usk_alloc(n, sizeof *middle);
	for (size_t i = 0; i < n; i++) {
		const struct usk_coarse_knot *k = &c->knot[i];
		middle[i].q_ns = k->q_ns;
		middle[i].p_ns = usk_saturate((usk_i128)k->q_ns + k->p_minus_q_ns);
	}
	double rate = robust_rate(middle, n, NULL);
	bool *stray = usk_alloc(n, sizeof *stray);
	double usual = usual_step(c->knot, n, rate);
	for (size_t i = 0; i < n; i++) {
		size_t from = i < 2 ? 0 : i - 2, to = i + 2 < n ? i + 2 : n - 1;
		stray[i] = true;
		for (size_t k = from; k <= to; k++) {
			double run = (double)((usk_i128)c->knot[i].q_ns - c->knot[k].q_ns);
			double near = usual + (run < 0 ? -run : run) * 1e-3;
			if (k != i && apart(&c->knot[i], &c->knot[k], rate) <= near) {
				stray[i] = false;
			}
		}
		kept += !stray[i];
	}
	if (kept * 2 > n) {
		c->n_knots = 0;
		for (size_t i = 0; i < n; i++) {
			if (!stray[i]) {
				c->knot[c->n_knots++] = c->knot[i];
			}
		}
	}
	free(middle);
	free(stray);
}

/* ---- steps --------------------------------------------------------------------------------- */

/*
 * A line from group to group is wrong by up to a step for as long as a group lasts, and messages
 * that are further off the map than delays are can be missed.
 *
 * Between two groups whose offsets lie further apart than they mostly do, there was a step if two
 * constants, parted where fewest sightings speak against it, stand for the sightings at least twice
 * as well as a line. What lies between two steps that are nearer than groups are is a run of
 * sightings that agree with each other and not with the map: matching has to wait for these.
 */

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
		usk_i128 d0 = (usk_i128)offset_of(&s[i]) - before;
		usk_i128 d1 = (usk_i128)offset_of(&s[i]) - behind;
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
		double y = (double)((usk_i128)offset_of(&s[i]) - a->p_minus_q_ns);
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
		*USK_ADD(c->knot, c->n_knots, *cap) =
			(struct usk_coarse_knot){ q_ns, p_minus_q_ns, 0 };
	}
}

/* Knots on both sides of steps, so that the map follows them to the sighting, and the slopes of
 * all. s[n] sorted by q; c has two knots at least. Returns the longest stretch between two steps.
 */
static struct stretch follow_steps(struct usk_coarse *c, const struct usk_sighting *s, size_t n)
{
	size_t n_old = c->n_knots, at = 0, last = 0, cap = 0;
	struct usk_coarse_knot *old = c->knot;
	double rate = slope_of_neighbours(c);
	/* Few groups do not tell what is usual. */
	double usual = n_old > 3 ? usual_step(old, n_old, rate) : 1e9;
	struct stretch longest = { 0, 0 };
	c->knot = NULL;
	c->n_knots = 0;
	for (size_t i = 0; i < n_old; i++) {
		const struct usk_coarse_knot *a = &old[i], *b = a + 1;
		add_knot(c, &cap, a->q_ns, a->p_minus_q_ns);
		if (i + 1 == n_old || apart(a, b, rate) <= usual) {
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
			longest = (struct stretch){ last, k - last };
		}
		last = k;
	}
	if (n - last > longest.n) {
		longest = (struct stretch){ last, n - last };
	}
	free(old);
	slopes(c);
	return longest;
}

enum { LEAST_RUN = 4 };

static int64_t size_of(int64_t v)
{
	return v < 0 ? -v : v;
}

/* How far off the map each is. */
static int64_t *all_off(const struct usk_coarse *c, const struct usk_sighting *s, size_t n)
{
	int64_t *r = usk_alloc(n, sizeof *r);
	size_t hint = 0;
	for (size_t i = 0; i < n; i++) {
		r[i] = usk_cut(off_map_by(c, &s[i], &hint));
	}
	return r;
}

/* So far off the map is unusual. middle_ns: how far the middle one of all is. */
static int64_t unusual(int64_t middle_ns)
{
	return middle_ns < USK_COARSE_FOLLOWS_NS ? 8 * middle_ns + 1000000 : USK_COARSE_FOLLOWS_NS;
}

/* The median slope from one to the next, of some: a few steps do not move it either. */
static double slope_of_sightings(const struct usk_sighting *s, size_t n)
{
	double slope[SLOPES];
	size_t m = 0;
	for (size_t i = 1; i < n; i += n / SLOPES + 1) {
		const double run = (double)((usk_i128)s[i].q_ns - s[i - 1].q_ns);
		const double rise = (double)((usk_i128)offset_of(&s[i]) - offset_of(&s[i - 1]));
		if (run > 0) {
			slope[m++] = rise / run;
		}
	}
	qsort(slope, m, sizeof *slope, usk_by_double);
	return m ? slope[m / 2] : 0;
}

/* The end of the sightings from i on that are further off, and of which each agrees with the next, unlike
 * wrong joins: as far apart as clocks run apart at that rate, whatever the map says there. */
static size_t run_of(const struct usk_sighting *s, const int64_t *r, size_t n, size_t i,
		     double rate, int64_t usual)
{
	for (i++; i < n && size_of(r[i]) > usual; i++) {
		const double run = (double)((usk_i128)s[i].q_ns - s[i - 1].q_ns);
		const double rise =
			(double)((usk_i128)offset_of(&s[i]) - offset_of(&s[i - 1])) - run * rate;
		if (rise > (double)usual || -rise > (double)usual) {
			break;
		}
	}
	return i;
}

/* How far off the map runs are: 0 if none are unusually far; those that are beyond 1 s do not count. */
static int64_t off_map(const struct usk_coarse *c, const struct usk_sighting *s, size_t n,
		       int64_t middle_ns)
{
	int64_t *r = all_off(c, s, n), most = 0, usual = unusual(middle_ns);
	double rate = NAN; /* asked for where it is needed: mostly all are near */
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		int64_t off = size_of(r[i]);
		if (off > usual && off <= USK_COARSE_FOLLOWS_NS) {
			rate = isnan(rate) ? slope_of_sightings(s, n) : rate;
			end = run_of(s, r, n, i, rate, usual);
			most = end - i >= LEAST_RUN && off > most ? off : most;
		}
	}
	free(r);
	return most;
}

/* The map, but between s[from] and s[to - 1] as these say. */
static void follow(struct usk_coarse *c, const struct usk_sighting *s, size_t n, size_t from,
		   size_t to)
{
	struct usk_coarse old = *c;
	size_t cap = 0, hint = 0, i = 0;
	c->knot = NULL;
	c->n_knots = 0;
	for (; i < old.n_knots && from && old.knot[i].q_ns < s[from - 1].q_ns; i++) {
		add_knot(c, &cap, old.knot[i].q_ns, old.knot[i].p_minus_q_ns);
	}
	for (size_t k = from ? from - 1 : 0; k <= to && k < n; k++) {
		if (k == from || k + 1 == to) {
			add_knot(c, &cap, s[k].q_ns, offset_of(&s[k]));
		} else if (k + 1 == from || k == to) {
			int64_t at = usk_coarse_to_p(&old, s[k].q_ns, &hint);
			add_knot(c, &cap, s[k].q_ns, usk_cut((usk_i128)at - s[k].q_ns));
		}
	}
	for (i = 0; i < old.n_knots && to < n; i++) {
		if (old.knot[i].q_ns > s[to].q_ns) {
			add_knot(c, &cap, old.knot[i].q_ns, old.knot[i].p_minus_q_ns);
		}
	}
	free(old.knot);
	slopes(c);
}

/* Matching does not wait for runs that are further off: the map goes there. Few at an end may be all that show a
 * clock that was set just before, or just behind: they count where no others show that joins may be wrong. */
static bool follow_runs(struct usk_coarse *c, const struct usk_sighting *s, size_t n,
			int64_t middle_ns)
{
	int64_t *r = all_off(c, s, n), usual = unusual(middle_ns);
	const int64_t agree = usual > USK_COARSE_AGREES_NS ? usual : USK_COARSE_AGREES_NS;
	double rate = NAN;
	bool any = false, wrong = false;
	struct stretch ends[2] = { { 0, 0 }, { 0, 0 } };
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (size_of(r[i]) > USK_COARSE_FOLLOWS_NS && size_of(r[i]) > usual) {
			rate = isnan(rate) ? slope_of_sightings(s, n) : rate;
			end = run_of(s, r, n, i, rate, agree);
			if (end - i >= LEAST_RUN) {
				follow(c, s, n, i, end);
				any = true;
			} else if (!i || end == n) {
				ends[i > 0] = (struct stretch){ i, end - i };
			} else {
				wrong = true;
			}
		}
	}
	for (int k = 0; k < 2 && !wrong; k++) {
		if (ends[k].n) {
			follow(c, s, n, ends[k].from, ends[k].from + ends[k].n);
			any = true;
		}
	}
	free(r);
	return any;
}

/* The same as sizes, sorted. */
static void distances(const struct usk_coarse *c, const struct usk_sighting *s, size_t n,
		      int64_t *d)
{
	size_t hint = 0;
	for (size_t i = 0; i < n; i++) {
		usk_i128 r = off_map_by(c, &s[i], &hint);
		d[i] = usk_saturate(r < 0 ? -r : r);
	}
	usk_sort_numbers(d, n);
}

/* ---- the map ------------------------------------------------------------------------------- */

void usk_coarse_fit(struct usk_sighting *s, size_t n, struct usk_coarse *out)
{
	memset(out, 0, sizeof *out);
	out->joins = n;
	if (!n) {
		return;
	}
	bool sorted = true;
	for (size_t i = 1; i < n && sorted; i++) {
		sorted = s[i - 1].q_ns <= s[i].q_ns;
	}
	if (!sorted) {
		qsort(s, n, sizeof *s, by_q);
	}
	size_t groups = n / GROUP;
	groups = groups < 1 ? 1 : groups > MAX_GROUPS ? MAX_GROUPS : groups;
	out->knot = usk_alloc(groups, sizeof *out->knot);
	int64_t *d = usk_alloc(n, sizeof *d);
	for (size_t g = 0; g < groups; g++) {
		size_t from = n * g / groups, to = n * (g + 1) / groups;
		for (size_t i = from; i < to; i++) {
			d[i - from] = offset_of(&s[i]);
		}
		usk_sort_numbers(d, to - from);
		struct usk_coarse_knot k = { s[from + (to - from) / 2].q_ns, d[(to - from) / 2],
					     0 };
		if (!out->n_knots || k.q_ns > out->knot[out->n_knots - 1].q_ns) {
			out->knot[out->n_knots++] = k;
		}
	}
	drop_strays(out);
	struct stretch longest = { 0, n };
	if (out->n_knots > 1) {
		longest = follow_steps(out, s, n);
	}
	distances(out, s, n, d);
	if (follow_runs(out, s, n, d[n / 2])) {
		distances(out, s, n, d);
	}
	/* Wrong joins may lie anywhere: what is far beyond the bulk does not count. */
	usk_i128 bulk = (usk_i128)d[n - 1 - n / 20] * 8 + 1000000;
	usk_i128 most = (usk_i128)d[n / 2] * 64 + 1000000000;
	if ((double)d[n - 1 - n / 20] > LONGEST_WAY_NS && most < bulk) {
		bulk = most; /* more than a twentieth are wrong */
	}
	out->spread_ns = usk_saturate(d[n - 1] < bulk ? d[n - 1] : bulk);
	int64_t off = off_map(out, s, n, d[n / 2]);
	free(d);
	out->spread_ns = off > out->spread_ns ? off : out->spread_ns;
	out->rate = robust_rate(s + longest.from, longest.n, out);
}

void usk_coarse_free(struct usk_coarse *c)
{
	USK_FREE(c->knot, c->seen, c->doubtful);
	memset(c, 0, sizeof *c);
}
