/* SPDX-License-Identifier: MIT */
/*
 * straight.c - estimates of clocks of constant rates, as straight lines
 *
 * In    lines that are a solution, and what the estimates of all pairs say together
 * Out   lines that are a solution, and as near to that as can be on the way from the first
 * Why   solutions are convex: between one and any wish there is a last one. And a line needs two
 *       knots, where an estimate that is put in order point by point bends
 * Not   rates that change (order.c)
 */
#include "fit/fit.h"
#include "solve/adjust.h"
#include "solve/order.h"

#include <math.h>
#include <stdlib.h>

/* In order by this: 1 ns in the end, 1 for each of two roundings, twice. */
#define MARGIN 5

/* offset(t) = zero_offset + base + slope (t - zero); ns. */
struct straight {
	int64_t zero, zero_offset;
	long double base, slope;
};

static long double value(const struct straight *s, int64_t local)
{
	return s->base + s->slope * ((long double)local - (long double)s->zero);
}

/* Least squares of what is wanted at the moments. */
static struct straight fit(const struct usk_moments *m, uint32_t i, const int64_t *x)
{
	size_t zero = usk_moments_at(m, i, 0);
	struct straight s = { .zero = m->local[zero] };
	long double st = 0, sy = 0, stt = 0, sty = 0, n = (long double)m->n_moments;
	s.zero_offset = usk_cut((usk_i128)m->moment[0] - m->local[zero]);
	for (size_t k = 0; k < m->n_moments; k++) {
		long double t = usk_real((usk_i128)m->local[zero + k] - s.zero);
		long double y = usk_real((usk_i128)m->moment[k] + x[zero + k] - m->local[zero + k] -
					 s.zero_offset);
		st += t;
		sy += y;
		stt += t * t;
		sty += t * y;
	}
	s.slope = (n * sty - st * sy) / (n * stt - st * st);
	s.base = (sy - s.slope * st) / n;
	return s;
}

struct moving {
	const struct usk_moments *m;
	struct straight *to; /* by clock of the core */
	bool *moves;
	long double share; /* of the way */
};

/* T by M as it is, and by the line that is wanted, both less the local time. */
static void both(const struct moving *v, uint32_t i, int64_t local, usk_hint *at, usk_i128 *is,
		 long double *more)
{
	const struct usk_link *l = &v->m->w->link[v->m->clock[i]];
	*is = local;
	*more = 0;
	if (i == v->m->reference) {
		return;
	}
	*is = usk_link_at(l, USK_MIDDLE, local, at);
	if (v->moves[i]) {
		const struct straight *s = &v->to[i];
		*more = value(s, local) - usk_real(*is - local - s->zero_offset);
	}
}

/* How far all can move until a point of the flow is in order by no more than the margin. */
static void limit(struct moving *v, const struct usk_flow *f)
{
	const struct usk_part *part = v->m->w->tie[f->tie].part;
	usk_hint at[2] = { 0 };
	for (size_t k = 0; k < part->n[f->ceiling]; k++) {
		int64_t sent, received;
		usk_i128 ti, tj;
		long double mi, mj;
		usk_flow_times(v->m, f, part->point[f->ceiling][k], &sent, &received);
		both(v, f->from, sent, &at[0], &ti, &mi);
		both(v, f->to, received, &at[1], &tj, &mj);
		long double room = usk_real(tj - ti) - MARGIN, nearer = mi - mj;
		if (nearer > 0 && nearer * v->share > room) {
			v->share = room > 0 ? room / nearer : 0;
		}
	}
}

/* Bands too. */
static void limit_band(struct moving *v, uint32_t i)
{
	const struct usk_link *l = &v->m->w->link[v->m->clock[i]];
	for (size_t k = 0; k < l->n; k++) {
		const struct usk_knot *at = &l->knot[k];
		long double more = value(&v->to[i], at->local_ns) -
				   usk_real((usk_i128)at->offset_ns - v->to[i].zero_offset);
		long double room = more > 0 ? usk_real((usk_i128)at->hi_ns - at->offset_ns)
					    : usk_real((usk_i128)at->offset_ns - at->lo_ns);
		more = fabsl(more);
		if (more * v->share > room) {
			v->share = room / more;
		}
	}
}

static void move(const struct moving *v, uint32_t i)
{
	const struct usk_link *l = &v->m->w->link[v->m->clock[i]];
	const struct straight *s = &v->to[i];
	/* Straight from the first to the last knot, as it was. */
	const struct usk_knot *a = &l->knot[0], *z = &l->knot[l->n - 1];
	long double ya = usk_real((usk_i128)a->offset_ns - s->zero_offset);
	long double yz = usk_real((usk_i128)z->offset_ns - s->zero_offset);
	long double run = (long double)z->local_ns - (long double)a->local_ns;
	ya += v->share * (value(s, a->local_ns) - ya);
	yz += v->share * (value(s, z->local_ns) - yz);
	for (size_t k = 0; k < l->n; k++) {
		struct usk_knot *at = &l->knot[k];
		long double t = ((long double)at->local_ns - (long double)a->local_ns) / run;
		int64_t o = usk_cut(s->zero_offset + (usk_i128)floorl(ya + (yz - ya) * t));
		at->offset_ns = o < at->lo_ns ? at->lo_ns : o > at->hi_ns ? at->hi_ns : o;
	}
}

void usk_order_straight(struct usk_moments *m)
{
	struct moving v = { .m = m, .share = 1 };
	int64_t *x = usk_alloc(m->n * m->n_moments, sizeof *x);
	v.to = usk_alloc(m->n, sizeof *v.to);
	v.moves = usk_alloc(m->n, sizeof *v.moves);
	usk_adjust(m, x, v.moves);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct usk_link *l = &m->w->link[m->clock[i]];
		v.moves[i] = v.moves[i] && i != m->reference && l->n && l->has[USK_LOWER] &&
			     l->has[USK_UPPER];
		if (v.moves[i]) {
			v.to[i] = fit(m, i, x);
			limit_band(&v, i);
		}
	}
	for (size_t f = 0; f < m->n_flows; f++) {
		limit(&v, &m->flow[f]);
	}
	for (uint32_t i = 0; i < m->n; i++) {
		if (v.moves[i]) {
			move(&v, i);
		}
	}
	free(x);
	free(v.to);
	free(v.moves);
}
