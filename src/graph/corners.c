/* SPDX-License-Identifier: MIT */
/*
 * corners.c - where a bound of a linear program's clock bends
 *
 * In    an asker, a line, a side
 * Out   points of the bound, proved, whose chords are next to nothing over it
 * Why   a bound is asked next where the tangents of two neighbours cross: where it has a corner
 *       that is the corner
 */
#include "graph/corners.h"

#include <math.h>
#include <string.h>

/* Solutions that count for the mean, of a bound: where it bends often later ones are much alike. */
enum { IN_MEAN = 16 };

/* Bends further away than so many lengths of the recording are left out: from the last one that is
 * not the band opens by the outermost rate, which is wider than needed, never wrong. */
enum { FAR_LENGTHS = 1024 };

/* No chord may be further over the bound, ns. */
static const long double SLACK = 1 / 32.0L;

static const struct usk_lp_line *line_of(const struct usk_bound_asked *q)
{
	return &q->asker->program->line[q->line];
}

/* false: nothing bounds it. */
static bool ask_at(struct usk_bound_asked *q, int64_t x, struct usk_corner *out)
{
	const struct usk_program *p = q->asker->program;
	const struct usk_lp_line *l = line_of(q);
	long double run = (long double)l->e1 - (long double)l->e0;
	long double v = ((long double)x - (long double)l->e0) / run;
	double weight[2] = { (double)(q->sign * (1 - v)), (double)(q->sign * v) };
	out->x = x;
	out->y = usk_ask(q->asker, q->line, weight);
	if (isinf(out->y)) {
		return false;
	}
	/* Weights as doubles are off by less than 1e-16 of them. */
	out->y += 2e-16L * l->most * (fabsl(1 - v) + fabsl(v));
	const double *price = usk_lp_price(q->asker->lp);
	out->slope = q->sign * ((long double)price[l->row + 1] - (long double)price[l->row]) *
		     p->unit / run;
	return true;
}

/* How far the chord of a and b can be over the function at most, and where. */
static long double gap(const struct usk_corner *a, const struct usk_corner *b, int64_t *at)
{
	long double run = (long double)b->x - (long double)a->x;
	long double turn = b->slope - a->slope;
	if (b->x - a->x < 2 || turn <= 0) {
		return 0;
	}
	/* a.y + a.slope d = b.y - b.slope (run - d) */
	long double d = (b->y - a->y - b->slope * run) / -turn;
	d = roundl(fminl(fmaxl(d, 1), run - 1));
	*at = a->x + (int64_t)d;
	long double left = a->y + a->slope * d, right = b->y - b->slope * (run - d);
	return a->y + (b->y - a->y) * (d / run) - fmaxl(left, right);
}

/* Until chords are near, or there are `most`. false: a question had no answer; what is there holds. */
static bool refine(struct usk_bound_asked *q, struct usk_corner *c, size_t *n, size_t most)
{
	while (*n < most) {
		long double widest = SLACK, g;
		int64_t at = 0, here = 0;
		size_t after = *n;
		struct usk_corner new;
		for (size_t i = 0; i + 1 < *n; i++) {
			if ((g = gap(&c[i], &c[i + 1], &here)) > widest) {
				widest = g;
				after = i;
				at = here;
			}
		}
		if (after == *n) {
			break;
		}
		q->asker->counts = q->asked++ < IN_MEAN;
		if (!ask_at(q, at, &new)) {
			return false;
		}
		memmove(&c[after + 2], &c[after + 1], (*n - after - 1) * sizeof *c);
		c[after + 1] = new;
		++*n;
	}
	return true;
}

size_t usk_ask_corners(struct usk_bound_asked *q, size_t most, struct usk_corner *out)
{
	const struct usk_lp_line *l = line_of(q);
	size_t n = 2;
	q->asker->counts = true;
	q->asked = 2;
	bool good =
		ask_at(q, l->e0, &out[0]) && ask_at(q, l->e1, &out[1]) && refine(q, out, &n, most);
	return good ? n : 0;
}

/* How far beyond a corner, ns, its tangent meets the line that is the bound far away; 0: it is on
 * that line already, or they meet too far away. */
static int64_t until(const struct usk_bound_asked *q, const struct usk_corner *c,
		     const struct usk_outermost *o, bool right)
{
	const struct usk_lp_line *l = line_of(q);
	long double run = (long double)l->e1 - (long double)l->e0;
	long double slope = q->sign * (o->v - o->u) / run;
	long double from = (long double)c->x - (long double)(right ? l->e1 : l->e0);
	long double over = c->y - (q->sign * (right ? o->v : o->u) + slope * from);
	long double turn = right ? slope - c->slope : c->slope - slope;
	if (over <= SLACK || turn * run * FAR_LENGTHS <= over) {
		return 0;
	}
	long double d = fmaxl(1, ceill(over / turn));
	long double x = (long double)c->x + (right ? d : -d);
	return x > -(long double)USK_TIME_MAX && x < (long double)USK_TIME_MAX ? (int64_t)d : 0;
}

size_t usk_ask_beyond(struct usk_bound_asked *q, const struct usk_corner *end,
		      const struct usk_outermost *o, struct usk_corner out[USK_CORNERS_BEYOND])
{
	bool right = end->x == line_of(q)->e1;
	size_t n = 1;
	int64_t d;
	out[0] = *end;
	q->asker->counts = false;
	q->asked = IN_MEAN;
	while (n < USK_CORNERS_BEYOND && (d = until(q, &out[n - 1], o, right)) &&
	       ask_at(q, out[n - 1].x + (right ? d : -d), &out[n])) {
		n++;
	}
	for (size_t i = 0; i < n / 2 && !right; i++) {
		struct usk_corner c = out[i];
		out[i] = out[n - 1 - i];
		out[n - 1 - i] = c;
	}
	refine(q, out, &n, USK_CORNERS_BEYOND);
	return n;
}
