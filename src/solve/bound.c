/* SPDX-License-Identifier: MIT */
/*
 * bound.c - shortest paths at every moment
 *
 * In    moments and the lengths of their arcs
 * Out   bounds of every clock at every moment, or the messages that contradict each other
 * Why   the least upper bound of x_i - x_reference that sums of bounds say is the shortest path
 *       from the reference to i (Bellman 1958); lengths may be negative, so no Dijkstra
 */
#include "base/parallel.h"
#include "fit/wander.h"
#include "num/cone.h"
#include "solve/moments.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOMENTS_AT_ONCE = 8 };

void usk_run_new(struct usk_run *r, size_t n)
{
	r->dist = usk_alloc(n + 1, sizeof *r->dist);
	r->queue = usk_alloc(n + 1, sizeof *r->queue);
	r->hops = usk_alloc(n + 1, sizeof *r->hops);
	r->last = usk_alloc(n + 1, sizeof *r->last);
	r->queued = usk_alloc(n + 1, sizeof *r->queued);
}

void usk_run_free(struct usk_run *r)
{
	free(r->dist);
	free(r->queue);
	free(r->hops);
	free(r->last);
	free(r->queued);
}

uint32_t usk_moments_run(const struct usk_moments *m, const int64_t *length, bool back,
			 struct usk_run *r)
{
	size_t n = m->n, head = 0, count = 0;
	for (uint32_t i = 0; i < n; i++) {
		r->hops[i] = 0;
		r->last[i] = UINT32_MAX;
		r->queued[i] = r->dist[i] < USK_FAR;
		if (r->queued[i]) {
			r->queue[count++] = i;
		}
	}
	while (count) {
		uint32_t at = r->queue[head];
		head = head + 1 == n ? 0 : head + 1;
		count--;
		r->queued[at] = false;
		const size_t *first = back ? m->out : m->in;
		const uint32_t *list = back ? m->by_from : m->by_to;
		for (size_t k = first[at]; k < first[at + 1]; k++) {
			uint32_t f = list[k], to = back ? m->flow[f].to : m->flow[f].from;
			if (length[f] >= USK_FAR) {
				continue;
			}
			int64_t next = r->dist[at] + length[f];
			if (next >= r->dist[to]) {
				continue;
			}
			r->dist[to] = next;
			r->last[to] = f;
			r->hops[to] = r->hops[at] + 1;
			if (r->hops[to] > n || next < -USK_FAR) {
				return to;
			}
			if (!r->queued[to]) {
				size_t tail = head + count++;
				r->queued[to] = true;
				r->queue[tail < n ? tail : tail - n] = to;
			}
		}
	}
	return USK_NO_CLOCK;
}

/* ---- contradictions -------------------------------------------------------------------- */

/* The point of a flow that bounds it most at moment k. */
static struct usk_xy decisive(const struct usk_moments *m, uint32_t f, size_t k)
{
	const struct usk_flow *flow = &m->flow[f];
	const struct usk_tie *t = &m->w->tie[flow->tie];
	const struct usk_part *part = t->part;
	const struct usk_xy *p = part->point[flow->ceiling];
	int64_t local = m->local[usk_moments_at(m, m->number[t->b], k)];
	/* How far a point is from where the pair's own rate would have it. */
	double rate = t->fitted->drift_ppm;
	double slope = rate == rate ? -rate * 1e-6 : 0, spread = 1e-6;
	size_t best = 0;
	double most = 0;
	for (size_t g = 0; g < part->n[flow->ceiling]; g++) {
		double d = (double)local - (double)part->frame.local_ns - (double)p[g].x;
		double high = (double)p[g].y + (flow->ceiling ? -1 : 1) * slope * d -
			      spread * (d < 0 ? -d : d);
		if (!g || high > most) {
			most = high;
			best = g;
		}
	}
	return p[best];
}

/* The messages of a negative cycle that clock `on` leads to. */
static void follow(const struct usk_moments *m, const struct usk_run *r, uint32_t on, bool back,
		   size_t k, struct usk_conflict *out)
{
	for (size_t i = 0; i < m->n && r->last[on] != UINT32_MAX; i++) { /* into the cycle */
		const struct usk_flow *f = &m->flow[r->last[on]];
		on = back ? f->from : f->to;
	}
	uint32_t start = on;
	for (size_t i = 0; i < m->n && r->last[on] != UINT32_MAX; i++) {
		uint32_t f = r->last[on];
		out->row = usk_grow(out->row, out->n + 1, sizeof *out->row);
		out->row[out->n++] = (struct usk_against){ m->flow[f].tie, m->flow[f].ceiling,
							   decisive(m, f, k) };
		on = back ? m->flow[f].from : m->flow[f].to;
		if (on == start) {
			break;
		}
	}
}

/* ---- bounds -------------------------------------------------------------------------------- */

struct bounding {
	struct usk_moments *m;
	atomic_size_t wrong; /* the first moment that has no solution; n_moments: none */
};

static int64_t *lengths(const struct usk_moments *m, size_t k, int64_t *length)
{
	for (size_t f = 0; f < m->n_flows; f++) {
		length[f] = m->least[f * m->n_moments + k];
	}
	return length;
}

static uint32_t run_from_reference(const struct usk_moments *m, const int64_t *length, bool back,
				   struct usk_run *r)
{
	for (size_t i = 0; i < m->n; i++) {
		r->dist[i] = USK_FAR;
	}
	r->dist[m->reference] = 0;
	return usk_moments_run(m, length, back, r);
}

static void bound(void *ctx, size_t from, size_t to)
{
	struct bounding *b = ctx;
	struct usk_moments *m = b->m;
	struct usk_run r;
	int64_t *length = usk_alloc(m->n_flows + 1, sizeof *length);
	usk_run_new(&r, m->n);
	for (size_t k = from; k < to && k < atomic_load(&b->wrong); k++) {
		lengths(m, k, length);
		for (int back = 0; back < 2; back++) {
			if (run_from_reference(m, length, back, &r) != USK_NO_CLOCK) {
				size_t seen = atomic_load(&b->wrong);
				while (k < seen &&
				       !atomic_compare_exchange_weak(&b->wrong, &seen, k)) {
				}
				break;
			}
			for (size_t i = 0; i < m->n; i++) {
				int64_t d = r.dist[i];
				*(back ? m->low + usk_moments_at(m, i, k)
				       : m->high + usk_moments_at(m, i, k)) = back ? -d : d;
			}
		}
	}
	free(length);
	usk_run_free(&r);
}

bool usk_moments_bound(struct usk_moments *m, struct usk_conflict *conflict)
{
	struct bounding b = { .m = m };
	atomic_init(&b.wrong, m->n_moments);
	usk_parallel(m->n_moments, MOMENTS_AT_ONCE, m->threads, bound, &b);
	size_t k = atomic_load(&b.wrong);
	if (k == m->n_moments) {
		return true;
	}
	struct usk_run r;
	int64_t *length = usk_alloc(m->n_flows + 1, sizeof *length);
	usk_run_new(&r, m->n);
	lengths(m, k, length);
	for (int back = 0; conflict && back < 2; back++) {
		uint32_t on = run_from_reference(m, length, back, &r);
		if (on != USK_NO_CLOCK) {
			follow(m, &r, on, back, k, conflict);
			break;
		}
	}
	free(length);
	usk_run_free(&r);
	return false;
}

/* ---- rates ----------------------------------------------------------------------------------- */

/* A bound that shrinks by less than this share is not worth another round. */
#define WORTH 0.1

bool usk_moments_rates(struct usk_moments *m)
{
	bool worth = false;
	size_t n = m->n_moments;
	struct usk_xy *floor = usk_alloc(n, sizeof *floor),
		      *ceiling = usk_alloc(n, sizeof *ceiling);
	for (uint32_t i = 0; i < m->n; i++) {
		struct usk_rates *r = &m->w->rates[m->clock[i]];
		int64_t min = r->min_e12, max = r->max_e12;
		struct usk_part part = { .point = { floor, ceiling } };
		for (size_t k = 0; i != m->reference && k < n; k++) {
			size_t at = usk_moments_at(m, i, k);
			usk_i128 x = (usk_i128)m->local[at] - m->local[at - k];
			usk_i128 y = (usk_i128)m->moment[k] - m->moment[0] - x;
			if (k && m->local[at] == m->local[at - 1]) {
				continue;
			}
			if (m->low[at] > -USK_FAR) {
				floor[part.n[0]++] =
					(struct usk_xy){ (int64_t)x, usk_cut(y + m->low[at]) };
			}
			if (m->high[at] < USK_FAR) {
				ceiling[part.n[1]++] =
					(struct usk_xy){ (int64_t)x, usk_cut(-y - m->high[at]) };
			}
		}
		if (i == m->reference) {
			continue;
		}
		struct usk_need need;
		usk_need_of(&part, &need);
		usk_i128 more = 2 * (usk_i128)r->wander_e12;
		if (need.has_lo) {
			usk_i128 lo = usk_floor_div(need.s_lo.num * USK_E12, need.s_lo.den) - more;
			min = lo > min ? usk_saturate(lo) : min;
		}
		if (need.has_hi) {
			usk_i128 hi = usk_ceil_div(need.s_hi.num * USK_E12, need.s_hi.den) + more;
			max = hi < max ? usk_saturate(hi) : max;
		}
		if (min > max) {
			continue; /* narrower than its wander: the messages will say so */
		}
		double was = (double)(r->max_e12 - r->min_e12), is = (double)(max - min);
		worth = worth || is < was * (1 - WORTH);
		r->min_e12 = min;
		r->max_e12 = max;
	}
	free(floor);
	free(ceiling);
	return worth;
}

/* ---- links --------------------------------------------------------------------------------------
 */

/*
 * By how much what is known between two moments is over the chord between their bounds: U rises by
 * 1 + max at most behind the left one and by 1 + min at least before the right one; where the two
 * meet it is highest.
 */
static int64_t tent(const struct usk_rates *r, int64_t run, usk_i128 rise)
{
	/* (max - s)(s - min) run / (max - min), s the chord's slope less 1: largest in between. */
	long double s = usk_real(rise - run) / (long double)run * (long double)USK_E12;
	long double over =
		((long double)r->max_e12 - s) * (s - (long double)r->min_e12) * (long double)run /
		(((long double)r->max_e12 - (long double)r->min_e12) * (long double)USK_E12);
	return over > 0 ? (int64_t)over + 1 : 0;
}

/* One side of the bounds as a link; n = 0 if it is nowhere known. */
static struct usk_link side_of(const struct usk_moments *m, uint32_t i, enum usk_curve c)
{
	const struct usk_rates *r = &m->w->rates[m->clock[i]];
	const int64_t *bound = c == USK_UPPER ? m->high : m->low;
	struct usk_link l = { .skew_e12 = m->w->opt->max_skew_e12 };
	size_t n = m->n_moments, *at = usk_alloc(n, sizeof *at);
	l.knot = usk_alloc(n + 1, sizeof *l.knot);
	l.has[c] = true;
	for (size_t k = 0; k < n; k++) {
		size_t here = usk_moments_at(m, i, k);
		bool known = bound[here] < USK_FAR && bound[here] > -USK_FAR;
		if (known && (!k || m->local[here] > m->local[here - 1])) {
			usk_i128 o = (usk_i128)m->moment[k] + bound[here] - m->local[here];
			l.knot[l.n] =
				(struct usk_knot){ m->local[here], USK_NONE,
						   c == USK_LOWER ? usk_cut(o) : USK_NONE,
						   c == USK_UPPER ? usk_cut(o) : USK_NONE, 0 };
			at[l.n++] = here;
		}
	}
	int64_t *lift = usk_alloc(l.n + 1, sizeof *lift);
	for (size_t k = 0; k + 1 < l.n; k++) {
		const struct usk_knot *a = &l.knot[k], *b = &l.knot[k + 1];
		usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
		usk_i128 rise = run + (c == USK_UPPER ? (usk_i128)b->hi_ns - a->hi_ns
						      : (usk_i128)b->lo_ns - a->lo_ns);
		int64_t by = tent(r, (int64_t)run, rise);
		lift[k] = by > lift[k] ? by : lift[k];
		lift[k + 1] = by;
	}
	for (size_t k = 0; k < l.n; k++) {
		if (c == USK_UPPER) {
			l.knot[k].hi_ns = usk_cut((usk_i128)l.knot[k].hi_ns + lift[k]);
		} else {
			l.knot[k].lo_ns = usk_cut((usk_i128)l.knot[k].lo_ns - lift[k]);
		}
	}
	free(at);
	free(lift);
	if (l.n < 2) {
		usk_link_free(&l);
	}
	return l;
}

void usk_moments_bands(struct usk_moments *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct usk_link *l = &m->w->link[m->clock[i]];
		usk_hint at[3] = { 0 };
		for (size_t k = 0; k < m->n_moments; k++) {
			size_t here = usk_moments_at(m, i, k);
			int64_t *low = &m->low[here], *high = &m->high[here];
			if (i == m->reference) {
				*low = *high = 0;
				continue;
			}
			*low = -USK_FAR;
			*high = USK_FAR;
			if (l->n && l->has[USK_LOWER]) {
				*low = usk_cut((usk_i128)usk_link_at(l, USK_LOWER, m->local[here],
								     &at[USK_LOWER]) -
					       m->moment[k]);
			}
			if (l->n && l->has[USK_UPPER]) {
				*high = usk_cut((usk_i128)usk_link_at(l, USK_UPPER, m->local[here],
								      &at[USK_UPPER]) -
						m->moment[k]);
			}
		}
	}
}

void usk_moments_narrow(struct usk_moments *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (i == m->reference) {
			continue;
		}
		struct usk_link lower = side_of(m, i, USK_LOWER), upper = side_of(m, i, USK_UPPER);
		struct usk_link both = { 0 }, *to = &m->w->link[m->clock[i]];
		const struct usk_span *span = &m->w->opt->span[m->clock[i]];
		if (lower.n && upper.n) {
			both = usk_link_meet(&upper, &lower);
		} else if (lower.n || upper.n) {
			both = lower.n ? lower : upper;
			both = usk_link_of(both.knot, both.n, both.skew_e12);
		}
		usk_link_free(&lower);
		usk_link_free(&upper);
		if (both.n) {
			usk_joint_narrow_smoothly(to, &both, usk_knots_most(m->n));
			usk_link_crop(to, span->first_ns, span->last_ns);
		}
		usk_link_free(&both);
	}
}
