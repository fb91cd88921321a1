/* SPDX-License-Identifier: MIT */
/*
 * est_broadcast.c - the line by which two clocks received each broadcast at nearly the same time
 *
 * Source  Scheuermann, Kiess, Roos, Jarre, Mauve: On the time synchronization of distributed log
 *         files in networks with local broadcast media (IEEE/ACM ToN 17(2), 2009), as Poirier 2010,
 *         section 2.3, tells it
 *
 * In    broadcasts that both clocks of a pair received
 * Out   a line; it knows nothing of messages, so it may turn some round
 * Not   the likelihood of all clocks together (group.c), which is the paper's: of two it is this
 *
 * A broadcast k happens at t_k and is received by all a little later: minimise the sum over clocks j
 * and broadcasts k of T_j(y_kj) - t_k, none of them negative, the reference's T being what it
 * shows. With two clocks the best t_k is the earlier of A_k and T(B_k), and what remains is
 *
 *     minimise  sum |d_k - (a + s x_k)|        x_k = B_k, d_k = A_k - B_k: points of the offset
 *
 * The answer goes through two of the points. The sum is convex, so a line about none of whose
 * points a turn makes it smaller is the best one: from a line near the points it takes a few turns,
 * each to the best slope, in integers, where the paper's linear program has doubles.
 */
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>

/* Points of the offset, relative to the first broadcast. */
struct cloud {
	struct usk_xy *p;
	size_t n;
};

/* A line through p of this slope. */
static int side_of(const struct usk_line *l, struct usk_xy p)
{
	usk_i128 up = ((usk_i128)p.y - l->p.y) * l->s.den;
	usk_i128 line = l->s.num * ((usk_i128)p.x - l->p.x);
	return (up > line) - (up < line);
}

/* ---- where to begin --------------------------------------------------------------------- */

/* The point that is nearest to the line of least squares; all is relative to the first one. */
static struct usk_xy nearest(const struct cloud *c)
{
	double mx = 0, my = 0, xx = 0, xy = 0, n = (double)c->n, least = INFINITY;
	struct usk_xy best = c->p[0];
	for (size_t i = 0; i < c->n; i++) {
		mx += (double)c->p[i].x / n;
		my += (double)c->p[i].y / n;
	}
	for (size_t i = 0; i < c->n; i++) {
		double dx = (double)c->p[i].x - mx;
		xx += dx * dx;
		xy += dx * ((double)c->p[i].y - my);
	}
	for (size_t i = 0; i < c->n; i++) {
		double dx = (double)c->p[i].x - mx, dy = (double)c->p[i].y - my;
		double rest = fabs(dy - xy / xx * dx);
		best = rest < least ? c->p[i] : best;
		least = rest < least ? rest : least;
	}
	return best;
}

/* ---- and the answer ------------------------------------------------------------------------ */

/* A slope from the pivot to a point, and its weight. */
struct spoke {
	struct usk_slope s;
	usk_i128 weight;
	struct usk_xy p;
};

static int by_slope(const void *pa, const void *pb)
{
	const struct spoke *a = pa, *b = pb;
	int order = usk_slope_cmp(a->s, b->s);
	order = order ? order : (a->p.x > b->p.x) - (a->p.x < b->p.x);
	return order ? order : (a->p.y > b->p.y) - (a->p.y < b->p.y);
}

/* The best line through a point: the slope is a median of those to all others, weighted by how far
 * these are. */
static struct usk_line turn(const struct cloud *c, struct usk_xy pivot)
{
	struct spoke *spoke = usk_alloc(c->n, sizeof *spoke);
	size_t n = 0, i = 0;
	usk_i128 all = 0, sum = 0;
	for (size_t k = 0; k < c->n; k++) {
		usk_i128 dx = (usk_i128)c->p[k].x - pivot.x, dy = (usk_i128)c->p[k].y - pivot.y;
		if (dx) {
			int sign = dx > 0 ? 1 : -1;
			spoke[n++] = (struct spoke){ { sign * dy, sign * dx }, sign * dx, c->p[k] };
			all += sign * dx;
		}
	}
	qsort(spoke, n, sizeof *spoke, by_slope);
	while (i + 1 < n && 2 * (sum + spoke[i].weight) < all) {
		sum += spoke[i++].weight;
	}
	struct usk_line l = { pivot, spoke[i].s };
	free(spoke);
	return l;
}

/*
 * A point on the line about which turning it makes the sum smaller: what the others pull is more
 * than what those on the line hold. NULL if there is none: the sum is convex, and between these
 * turns it is straight, so nothing is better. Points are sorted by x.
 */
static const struct usk_xy *loose(const struct cloud *c, const struct usk_line *l)
{
	/* The others' signs, and those times x; of those on the line, all and the ones so far. */
	usk_i128 sides = 0, pulls = 0, all = 0, sum = 0, past = 0, before = 0;
	for (size_t i = 0; i < c->n; i++) {
		int side = side_of(l, c->p[i]);
		sides += side;
		pulls += (usk_i128)side * c->p[i].x;
		all += !side;
		sum += side ? 0 : c->p[i].x;
	}
	for (size_t i = 0; i < c->n; i++) {
		usk_i128 x = c->p[i].x;
		if (!side_of(l, c->p[i])) {
			usk_i128 pull = pulls - sides * x;
			usk_i128 hold = (2 * past - all) * x + sum - 2 * before;
			if (pull > hold || -pull > hold) {
				return &c->p[i];
			}
			past++;
			before += x;
		}
	}
	return NULL;
}

/* Rounded to the nearest; half up. */
static usk_i128 value_at(const struct usk_line *l, usk_i128 x)
{
	usk_i128 up = l->s.num * (x - l->p.x), den = l->s.den;
	usk_i128 whole = usk_floor_div(up, den);
	return l->p.y + whole + (up - whole * den >= den - den / 2);
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	struct cloud c = { usk_alloc(fit->n_broadcasts + 1, sizeof *c.p), 0 };
	const struct usk_frame *f = &fit->lines->frame;
	const usk_i128 far = USK_TIME_MAX;
	bool wide = false;
	for (size_t i = 0; i < fit->n_broadcasts; i++) {
		usk_i128 x = (usk_i128)fit->broadcasts[i].b_ns - f->local_ns;
		usk_i128 y =
			(usk_i128)fit->broadcasts[i].a_ns - fit->broadcasts[i].b_ns - f->offset_ns;
		if (x < far && -x < far && y < far && -y < far) {
			c.p[c.n++] = (struct usk_xy){ (int64_t)x, (int64_t)y };
			wide |= c.p[c.n - 1].x != c.p[0].x;
		}
	}
	usk_xy_sort(c.p, c.n);
	enum usk_status status = USK_OK;
	if (!wide) {
		status = usk_fail(err, USK_EINPUT, 0, USK_NO_BROADCAST, "broadcast-pairwise");
	} else {
		struct usk_line l = turn(&c, nearest(&c));
		for (const struct usk_xy *pivot; (pivot = loose(&c, &l));) {
			l = turn(&c, *pivot);
		}
		usk_i128 x0, x1;
		usk_fit_span(fit, &x0, &x1);
		status = usk_fit_straight(fit, value_at(&l, x0), value_at(&l, x1), out, n);
	}
	free(c.p);
	return status;
}

USK_ESTIMATOR(broadcast_pairwise, "broadcast-pairwise", "unskew, after Scheuermann et al. 2009",
	      "the same of two clocks by themselves: least absolute deviations", false,
	      .estimate = estimate);
