/* SPDX-License-Identifier: MIT */
/*
 * thinned.c - do the points that a pair kept stand for the messages that it dropped?
 *
 * In    a corridor's frame, the two clocks' knots
 * Out   by how much less room a dropped message may have than the point it was dropped for
 * Why   then messages need not be read again to know that they are in order
 * Not   how much room points have (corrected.c)
 *
 * Let A(x) be what a shows when, by the two maps, b shows x: a message is in order if its stamp of
 * a is not over A(x), or for the other direction not under it. A corridor drops a message whose
 * cone, of slope kappa around its rate, lies in the cone of another of the same second. So if A
 * rises from the one to the other by no less and no more than cones do, the dropped one has the
 * room of the other by a's stamps. By what A leaves the cones, summed over a second, it may have
 * less: that is counted here, knot to knot, as is the time over which a map of a is so steep that
 * room on the common timeline is none by a's stamps.
 */
#include "flow/reading.h"
#include "fit/cone.h"

#include <math.h>
#include <stdlib.h>

/* From knot to knot of either clock. */
struct piece {
	long double x, u;      /* where it begins: b's stamp, a's, less the frame's origin */
	long double dx, du;    /* how far it goes */
	long double sum, more; /* what pieces before it lack, and itself */
};

struct usk_thinned {
	struct piece *piece;
	size_t n;
	struct usk_cone cone; /* its phase and window are of b's stamps */
	size_t at[4];	      /* where the last look found each end */
};

/* A knot, less origins. */
struct turn {
	long double x, t;
};

/* Further from its knots no clock of a pair has stamps. */
#define FAR 1e16L

/* As fmaxl() and fminl() have it, which are calls. */
static inline long double larger(long double a, long double b)
{
	return a > b ? a : b;
}

static inline long double smaller(long double a, long double b)
{
	return a < b ? a : b;
}

static long double sub(usk_i128 a, usk_i128 b)
{
	return usk_real(a - b);
}

static long double outer_slope(const struct usk_knot *k, struct usk_slopes s)
{
	long double rise = sub(k[1].offset_ns, k[0].offset_ns) / sub(k[1].local_ns, k[0].local_ns);
	return 1 + smaller(larger(rise, (long double)s.least_e12 / USK_E12),
			   (long double)s.most_e12 / USK_E12);
}

/* Its knots, and one far beyond either end. */
static struct turn *turns_of(const struct usk_clock *c, int64_t x0, int64_t t0, size_t *n)
{
	struct turn *p = usk_alloc(c->n_knots + 4, sizeof *p);
	if (c->quality == USK_REFERENCE) {
		p[0] = (struct turn){ -FAR, -FAR + sub(x0, t0) };
		p[1] = (struct turn){ FAR, FAR + sub(x0, t0) };
		*n = 2;
		return p;
	}
	const struct usk_knot *k = c->knot;
	size_t m = c->n_knots;
	for (size_t i = 0; i < m; i++) {
		p[i + 1] = (struct turn){ sub(k[i].local_ns, x0),
					  sub((usk_i128)k[i].local_ns + k[i].offset_ns, t0) };
	}
	p[0] = (struct turn){ p[1].x - FAR, p[1].t - FAR * outer_slope(k, c->before) };
	p[m + 1] = (struct turn){ p[m].x + FAR, p[m].t + FAR * outer_slope(k + m - 2, c->after) };
	*n = m + 2;
	return p;
}

static void put(struct usk_thinned *t, struct piece p, long double dt)
{
	long double slope = 1 + (long double)t->cone.rate_e12 / USK_E12;
	long double off =
		fabsl(p.du - slope * p.dx) - (long double)t->cone.kappa_e12 / USK_E12 * p.dx;
	long double steep = dt - 1.001L * p.du;
	p.more = larger(off, 0) + larger(steep, 0);
	if (t->n) {
		const struct piece *last = &t->piece[t->n - 1];
		p.sum = last->sum + last->more;
	}
	t->piece[t->n++] = p;
}

/* The share of a turn that lies in dt of the common timeline. */
static long double share(const struct turn *p, long double dt)
{
	long double all = p[1].t - p[0].t;
	return all > 0 ? (p[1].x - p[0].x) * (dt / all) : 0;
}

static void walk(struct usk_thinned *t, const struct turn *a, size_t na, const struct turn *b,
		 size_t nb)
{
	size_t i = 0, j = 0;
	long double x = b[0].x, u = a[0].x, now = larger(a[0].t, b[0].t);
	while (i + 2 < na && a[i + 1].t < now) {
		i++;
	}
	while (j + 2 < nb && b[j + 1].t < now) {
		j++;
	}
	u = a[i].x + share(a + i, now - a[i].t);
	x = b[j].x + share(b + j, now - b[j].t);
	while (i + 1 < na && j + 1 < nb) {
		long double next = smaller(a[i + 1].t, b[j + 1].t), dt = larger(next - now, 0);
		bool ends_a = a[i + 1].t <= next, ends_b = b[j + 1].t <= next;
		long double u1 = ends_a ? a[i + 1].x : u + share(a + i, dt);
		long double x1 = ends_b ? b[j + 1].x : x + share(b + j, dt);
		put(t, (struct piece){ x, u, larger(x1 - x, 0), larger(u1 - u, 0), 0, 0 }, dt);
		x = x1;
		u = u1;
		now = next;
		i += ends_a;
		j += ends_b;
	}
}

struct usk_thinned *usk_thinned_new(const struct usk_frame *f, const struct usk_clock *a,
				    const struct usk_clock *b)
{
	struct usk_thinned *t = usk_alloc(1, sizeof *t);
	size_t na, nb;
	int64_t u0 = usk_saturate((usk_i128)f->local_ns + f->offset_ns), t0 = u0;
	if (a->n_knots) {
		t0 = usk_saturate((usk_i128)a->knot[0].local_ns + a->knot[0].offset_ns);
	}
	struct turn *ta = turns_of(a, u0, t0, &na), *tb = turns_of(b, f->local_ns, t0, &nb);
	t->cone = usk_cone_of(f);
	t->piece = usk_alloc(na + nb, sizeof *t->piece);
	walk(t, ta, na, tb, nb);
	free(ta);
	free(tb);
	return t;
}

void usk_thinned_free(struct usk_thinned *t)
{
	if (t) {
		free(t->piece);
		free(t);
	}
}

/* What pieces lack up to a stamp, of b or a: where several pieces end there the first of them, or
 * the last. */
static long double up_to(struct usk_thinned *t, int which, bool of_a, bool last, long double v)
{
	const struct piece *p = t->piece;
	size_t i, low = t->at[which], high = low + 1;
#define BEGINS(k)    (of_a ? p[k].u : p[k].x)
#define IS_BEHIND(k) (last ? BEGINS(k) > v : BEGINS(k) >= v)
	for (size_t step = 1; low && IS_BEHIND(low); step *= 2) {
		high = low;
		low -= low > step ? step : low;
	}
	for (size_t step = 1; high < t->n && !IS_BEHIND(high); step *= 2) {
		low = high;
		high = t->n - high > step ? high + step : t->n;
	}
	USK_FIRST(i, low + 1, high, IS_BEHIND(i));
	i--;
#undef IS_BEHIND
	t->at[which] = i;
	long double run = of_a ? p[i].du : p[i].dx, in = v - BEGINS(i);
#undef BEGINS
	long double part = run > 0 ? smaller(larger(in / run, 0), 1) : last;
	return p[i].sum + part * p[i].more;
}

long double usk_thinned_lacks(struct usk_thinned *t, int64_t x, int64_t u)
{
	enum { ROUNDING = 4 };
	long double from = (long double)usk_cone_second(&t->cone, x) - ROUNDING;
	long double to = from + (long double)t->cone.window_ns + 2 * ROUNDING;
	if (!t->n || t->piece[t->n - 1].sum + t->piece[t->n - 1].more < 1) {
		return t->n ? 1 : HUGE_VALL;
	}
	long double b0 = up_to(t, 0, false, false, from), b1 = up_to(t, 1, false, true, to);
	long double a0 = up_to(t, 2, true, false, (long double)u - ROUNDING);
	long double a1 = up_to(t, 3, true, true, (long double)u + ROUNDING);
	return larger(a1, b1) - smaller(a0, b0) + 1;
}
