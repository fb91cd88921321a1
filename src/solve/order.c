/* SPDX-License-Identifier: MIT */
/*
 * order.c - estimates of all clocks that put every message in order
 *
 * In    bands of all clocks, moments and what messages say there
 * Out   M of every link
 * Why   middles of bands are not in order with each other. But of difference constraints the mean
 *       of two solutions is one, and shortest paths give the largest solution under, the smallest
 *       over any wish: their mean is the wish itself where that is a solution
 * Not   bounds (bound.c)
 *
 * T_i is drawn through (t_i, moment + x_i) at the moments. With all clocks in the base's time s, in
 * which t_i is the moment, a message from i to j asks for x_i(p) - x_j(y) <= y - p, and as x hardly
 * changes while it is on its way, D = x_i - x_j <= y - p at p. D is straight between moments: so it
 * is wherever D(moment) <= W(moment) for a polyline W that is under all messages of the flow. W is
 * least[], lowered by what its chords are over a message. What that "hardly" leaves is found by the
 * check of every point, and taken off W there.
 */
#include "base/parallel.h"
#include "fit/fit.h"
#include "solve/adjust.h"
#include "solve/order.h"

#include <stdlib.h>
#include <string.h>

/* In order by this at moments: 1 ns in the end, 1 for each of two roundings, and for each of two
 * lines that leave knots out. */
#define MARGIN INT64_C(5)
/* The wish keeps this share of the band's half width off its middle. */
#define SMOOTH 20

enum { ROUNDS = 8, FLOWS_AT_ONCE = 16, MOMENTS_AT_ONCE = 8 };

/* ---- the check ---------------------------------------------------------------------------- */

/* T of a clock as it will be applied. */
static int64_t applied(const struct usk_island_work *w, uint32_t i, int64_t local, usk_hint *at)
{
	return i == w->reference ? local : usk_link_at(&w->link[i], USK_MIDDLE, local, at);
}

int64_t usk_order_slack(const struct usk_island_work *w, const struct usk_tie *t, bool ceiling,
			struct usk_xy p, usk_hint at[2])
{
	struct usk_point point = usk_part_point(t->part, ceiling, p);
	int64_t other = usk_cut((usk_i128)point.local_ns + point.offset_ns);
	int64_t a = applied(w, t->a, other, &at[0]), b = applied(w, t->b, point.local_ns, &at[1]);
	return ceiling ? a - b : b - a;
}

static bool drawn(const struct usk_island_work *w, uint32_t i)
{
	return i == w->reference || (w->link[i].n && w->link[i].has[USK_MIDDLE]);
}

size_t usk_order_wrong(const struct usk_island_work *w, int64_t least_ns)
{
	size_t wrong = 0;
	for (size_t k = 0; k < w->n; k++) {
		const struct usk_graph *g = w->graph;
		for (size_t j = g->first[w->clock[k]]; j < g->first[w->clock[k] + 1]; j++) {
			const struct usk_tie *t = &w->tie[g->arc[j].tie];
			if (g->arc[j].turned || !usk_tie_in_core(w, t) || !drawn(w, t->a) ||
			    !drawn(w, t->b)) {
				continue;
			}
			for (int side = 0; side < 2; side++) {
				usk_hint at[2] = { 0 };
				for (size_t p = 0; p < t->part->n[side]; p++) {
					struct usk_xy at_p = t->part->point[side][p];
					wrong += usk_order_slack(w, t, side, at_p, at) < least_ns;
				}
			}
		}
	}
	return wrong;
}

/* ---- the polyline under the messages ----------------------------------------------------------
 */

struct drawing {
	struct usk_moments *m;
	int64_t *drop; /* [n_flows * n_moments]: least[] less this is W */
	int64_t *wish; /* [n * n_moments] */
	int64_t *x;    /* likewise: the result */
	bool anew;
	size_t *wrong; /* by flow: points out of order in the last check */
};

/* The interval of moments [k, k + 1] that a local time lies in, or the nearest. */
static size_t interval(const int64_t *local, size_t n, int64_t t, size_t near)
{
	size_t k = near;
	while (k + 2 < n && local[k + 1] < t) {
		k++;
	}
	while (k && local[k] >= t) {
		k--;
	}
	return k;
}

/* A local time in the base's. */
static usk_i128 in_base(const struct usk_moments *m, const int64_t *local, size_t k, int64_t t,
			bool up)
{
	usk_i128 run = (usk_i128)local[k + 1] - local[k];
	usk_i128 rise = (usk_i128)m->moment[k + 1] - m->moment[k];
	if (run == 0) {
		return up ? m->moment[k + 1] : m->moment[k];
	}
	usk_i128 over = rise * ((usk_i128)t - local[k]);
	return m->moment[k] + (up ? usk_ceil_div(over, run) : usk_floor_div(over, run));
}

/* Values at two moments, straight between: at s, rounded up. */
static usk_i128 chord(const struct usk_moments *m, size_t k, int64_t left, int64_t right,
		      usk_i128 s)
{
	usk_i128 run = (usk_i128)m->moment[k + 1] - m->moment[k];
	return left + usk_ceil_div(((usk_i128)right - left) * (s - m->moment[k]), run);
}

static void raise(int64_t *drop, size_t k, usk_i128 by)
{
	int64_t to = usk_cut(by);
	drop[k] = to > drop[k] ? to : drop[k];
	drop[k + 1] = to > drop[k + 1] ? to : drop[k + 1];
}

static void lower(void *ctx, size_t from, size_t to)
{
	struct drawing *d = ctx;
	struct usk_moments *m = d->m;
	size_t n = m->n_moments;
	for (size_t f = from; f < to; f++) {
		const struct usk_flow *flow = &m->flow[f];
		const struct usk_part *part = m->w->tie[flow->tie].part;
		const int64_t *ti = m->local + usk_moments_at(m, flow->from, 0);
		const int64_t *tj = m->local + usk_moments_at(m, flow->to, 0);
		const int64_t *least = m->least + f * n;
		int64_t *drop = d->drop + f * n;
		size_t at_i = 0, at_j = 0;
		for (size_t k = 0; k < n; k++) {
			drop[k] = MARGIN;
		}
		for (size_t g = 0; g < part->n[flow->ceiling]; g++) {
			int64_t p, y;
			usk_flow_times(m, flow, part->point[flow->ceiling][g], &p, &y);
			at_i = interval(ti, n, p, at_i);
			at_j = interval(tj, n, y, at_j);
			usk_i128 s = in_base(m, ti, at_i, p, true);
			usk_i128 most = in_base(m, tj, at_j, y, false) - s;
			usk_i128 w = chord(m, at_i, least[at_i], least[at_i + 1], s);
			raise(drop, at_i, w - most + MARGIN);
		}
	}
}

/* ---- the wish -----------------------------------------------------------------------------------
 */

/* What is wanted of a clock at all moments: M as it is. */
static void wish_kept(const struct usk_moments *m, uint32_t i, int64_t *wish)
{
	const struct usk_link *l = &m->w->link[m->clock[i]];
	usk_hint at = 0;
	for (size_t k = 0; k < m->n_moments; k++) {
		wish[k] = usk_cut((usk_i128)usk_link_at(l, USK_MIDDLE,
							m->local[usk_moments_at(m, i, k)], &at) -
				  m->moment[k]);
	}
}

/*
 * For a clock without estimates of its pairs: the middle of the band, smoothed. Straight for as
 * long as it stays near, then a bend. From one bend the slopes that have passed near all middles so
 * far are an interval.
 */
static void wish_middle(const struct usk_moments *m, const int64_t *low, const int64_t *high,
			int64_t *wish)
{
	size_t n = m->n_moments;
	wish[0] = (int64_t)usk_floor_div((usk_i128)low[0] + high[0], 2);
	for (size_t from = 0, to; from + 1 < n; from = to) {
		long double min = -1e30L, max = 1e30L, y0 = (long double)wish[from];
		to = from;
		for (size_t k = from + 1; k < n; k++) {
			long double run = (long double)(m->moment[k] - m->moment[from]);
			long double mid = ((long double)low[k] + (long double)high[k]) / 2 - y0;
			long double near =
				((long double)high[k] - (long double)low[k]) / (2 * SMOOTH);
			long double least = (mid - near) / run, most = (mid + near) / run;
			if (least > max || most < min) {
				break;
			}
			min = least > min ? least : min;
			max = most < max ? most : max;
			to = k;
		}
		long double slope = (min + max) / 2;
		for (size_t k = from + 1; k <= to; k++) {
			long double run = (long double)(m->moment[k] - m->moment[from]);
			wish[k] = (int64_t)(y0 + slope * run);
		}
	}
}

/* ---- solutions
 * ------------------------------------------------------------------------------------ */

/* Largest solution under the bands, or smallest over them (back), or so with the wish. */
static bool solution(const struct usk_moments *m, const int64_t *length, const int64_t *start,
		     bool back, struct usk_run *r)
{
	for (size_t i = 0; i < m->n; i++) {
		r->dist[i] = back ? -start[i] : start[i];
	}
	return usk_moments_run(m, length, back, r) == USK_NO_CLOCK;
}

struct scratch {
	int64_t *length, *low, *high, *start;
	struct usk_run r;
};

/* The moment's lengths, each drop divided by share; 0: none. */
static void lengths(const struct drawing *d, size_t k, int64_t share, int64_t *length)
{
	const struct usk_moments *m = d->m;
	for (size_t f = 0; f < m->n_flows; f++) {
		size_t at = f * m->n_moments + k;
		int64_t drop = share ? d->drop[at] / share : 0;
		length[f] = m->least[at] >= USK_FAR ? USK_FAR : m->least[at] - drop;
	}
}

/* Bounds under the lowered lengths; false: they leave nothing. */
static bool bounds(const struct drawing *d, size_t k, struct scratch *s)
{
	const struct usk_moments *m = d->m;
	for (size_t i = 0; i < m->n; i++) {
		s->low[i] = m->low[usk_moments_at(m, i, k)];
		s->high[i] = m->high[usk_moments_at(m, i, k)];
	}
	if (!solution(m, s->length, s->high, false, &s->r)) {
		return false;
	}
	memcpy(s->high, s->r.dist, m->n * sizeof *s->high);
	if (!solution(m, s->length, s->low, true, &s->r)) {
		return false;
	}
	for (size_t i = 0; i < m->n; i++) {
		s->low[i] = -s->r.dist[i];
		if (s->low[i] > s->high[i]) {
			return false;
		}
	}
	return s->high[m->reference] == 0 && s->low[m->reference] == 0;
}

static void draw_moments(void *ctx, size_t from, size_t to)
{
	struct drawing *d = ctx;
	const struct usk_moments *m = d->m;
	struct scratch s;
	s.length = usk_alloc(m->n_flows + 1, sizeof *s.length);
	s.low = usk_alloc(m->n, sizeof *s.low);
	s.high = usk_alloc(m->n, sizeof *s.high);
	s.start = usk_alloc(m->n, sizeof *s.start);
	usk_run_new(&s.r, m->n);
	for (size_t k = from; k < to; k++) {
		bool found = false;
		for (int64_t share = 1; share <= 4 && !found; share *= 2) {
			lengths(d, k, share < 4 ? share : 0, s.length);
			found = bounds(d, k, &s);
		}
		for (size_t i = 0; i < m->n && found; i++) {
			int64_t wish = d->wish[usk_moments_at(m, i, k)];
			s.start[i] = wish < s.low[i]	? s.low[i]
				     : wish > s.high[i] ? s.high[i]
							: wish;
		}
		found = found && solution(m, s.length, s.start, false, &s.r);
		memcpy(s.high, s.r.dist, m->n * sizeof *s.high);
		found = found && solution(m, s.length, s.start, true, &s.r);
		for (size_t i = 0; i < m->n; i++) {
			size_t at = usk_moments_at(m, i, k);
			d->x[at] =
				found ? (int64_t)usk_floor_div((usk_i128)s.high[i] - s.r.dist[i], 2)
				      : d->wish[at];
		}
	}
	free(s.length);
	free(s.low);
	free(s.high);
	free(s.start);
	usk_run_free(&s.r);
}

/* ---- M
 * ------------------------------------------------------------------------------------------------
 */

/* x as M of the clock's link: knots at the moments, too. */
static void write_link(const struct drawing *d, uint32_t i)
{
	const struct usk_moments *m = d->m;
	struct usk_link *l = &m->w->link[m->clock[i]];
	struct usk_link line = { .skew_e12 = l->skew_e12, .has = { false, true, false } };
	line.knot = usk_alloc(m->n_moments + 1, sizeof *line.knot);
	for (size_t k = 0; k < m->n_moments; k++) {
		size_t at = usk_moments_at(m, i, k);
		usk_i128 t = (usk_i128)m->moment[k] + d->x[at];
		struct usk_knot *last = line.n ? &line.knot[line.n - 1] : NULL;
		if (last && last->local_ns == m->local[at]) {
			continue;
		}
		if (last && t < (usk_i128)last->local_ns + last->offset_ns) {
			t = (usk_i128)last->local_ns + last->offset_ns; /* never falls */
		}
		line.knot[line.n++] = (struct usk_knot){ m->local[at], usk_cut(t - m->local[at]),
							 USK_NONE, USK_NONE, l->knot[0].epoch };
	}
	if (line.n < 2) {
		usk_link_free(&line);
		return;
	}
	int64_t first = l->knot[0].local_ns, last = l->knot[l->n - 1].local_ns;
	usk_link_smooth(&line, 1);
	l->has[USK_MIDDLE] = false;
	struct usk_link with = usk_link_meet(l, &line);
	usk_link_crop(&with, first, last);
	usk_link_free(&line);
	usk_link_free(l);
	*l = with;
}

static usk_i128 least_drop(const int64_t *drop, size_t k)
{
	return drop[k] < drop[k + 1] ? drop[k] : drop[k + 1];
}

/* Every point again, by M as it will be applied; what is missing is taken off W. */
static void check(void *ctx, size_t from, size_t to)
{
	struct drawing *d = ctx;
	struct usk_moments *m = d->m;
	const struct usk_island_work *w = m->w;
	for (size_t f = from; f < to; f++) {
		const struct usk_flow *flow = &m->flow[f];
		const struct usk_tie *t = &w->tie[flow->tie];
		const int64_t *ti = m->local + usk_moments_at(m, flow->from, 0);
		const int64_t *tj = m->local + usk_moments_at(m, flow->to, 0);
		int64_t *drop = d->drop + f * m->n_moments;
		usk_hint at[2] = { 0 };
		size_t k_i = 0, k_j = 0;
		d->wrong[f] = 0;
		for (size_t g = 0; g < t->part->n[flow->ceiling]; g++) {
			struct usk_xy p = t->part->point[flow->ceiling][g];
			int64_t s = usk_order_slack(w, t, flow->ceiling, p, at), sent, received;
			if (s >= 0) {
				continue;
			}
			d->wrong[f]++;
			/* x may have changed on the way: at both ends of it. */
			usk_flow_times(m, flow, p, &sent, &received);
			k_i = interval(ti, m->n_moments, sent, k_i);
			k_j = interval(tj, m->n_moments, received, k_j);
			raise(drop, k_i, least_drop(drop, k_i) + MARGIN - s);
			if (k_j != k_i) {
				raise(drop, k_j, least_drop(drop, k_j) + MARGIN - s);
			}
		}
	}
}

size_t usk_order_draw(struct usk_moments *m, bool anew)
{
	struct drawing d = { .m = m, .anew = anew };
	size_t n = m->n * m->n_moments, wrong = 0;
	d.drop = usk_alloc(m->n_flows * m->n_moments + 1, sizeof *d.drop);
	d.wish = usk_alloc(n, sizeof *d.wish);
	d.x = usk_alloc(n, sizeof *d.x);
	d.wrong = usk_alloc(m->n_flows + 1, sizeof *d.wrong);
	usk_moments_bands(m);
	bool *found = usk_alloc(m->n, sizeof *found);
	if (anew) {
		usk_adjust(m, d.wish, found);
	}
	for (uint32_t i = 0; i < m->n; i++) {
		size_t at = usk_moments_at(m, i, 0);
		const struct usk_link *l = &m->w->link[m->clock[i]];
		if (i == m->reference || found[i]) {
			continue;
		}
		if (l->n && l->has[USK_MIDDLE]) {
			wish_kept(m, i, d.wish + at);
		} else {
			wish_middle(m, m->low + at, m->high + at, d.wish + at);
		}
	}
	free(found);
	usk_parallel(m->n_flows, FLOWS_AT_ONCE, m->threads, lower, &d);
	for (int round = 0; round < ROUNDS; round++) {
		usk_parallel(m->n_moments, MOMENTS_AT_ONCE, m->threads, draw_moments, &d);
		for (uint32_t i = 0; i < m->n; i++) {
			if (i != m->reference) {
				write_link(&d, i);
			}
		}
		usk_parallel(m->n_flows, FLOWS_AT_ONCE, m->threads, check, &d);
		wrong = 0;
		for (size_t f = 0; f < m->n_flows; f++) {
			wrong += d.wrong[f];
		}
		if (!wrong) {
			break;
		}
	}
	free(d.drop);
	free(d.wish);
	free(d.x);
	free(d.wrong);
	return wrong;
}
