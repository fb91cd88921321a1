/* SPDX-License-Identifier: MIT */
/*
 * suspects.c - which messages keep a line from fitting
 *
 * In    a corridor that no line fits
 * Out   the points that have to go, so that one fits the rest
 * Why   one wrong pair is poison for a hull: it hides every right one, and nothing fits any more
 * Not   reading the messages again without them, which is the caller's
 *
 * Source  the line of least total violation: Ashton 1995, 4.2.2, over hull vertices
 *
 * Two wrong pairs can be most of a hull's vertices. So the fastest messages of each of some hundred
 * spans of time have their say too: wrong ones are few among these, and right ones cost nothing on
 * the right side of a line.
 *
 * The sum of violations is convex in (intercept, slope), and it is smallest on a line through one
 * of the points. For a fixed one it is convex and piecewise straight in the slope, with corners at
 * the slopes to the others: sort these, and walk until the derivative turns. One far point
 * pulls the line no harder than one near point, but several pull it over as many of the other
 * side. So only those that are over half as far out as the furthest go at a time, and in the end
 * those come back that fit the line of the others.
 */
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

struct point {
	struct usk_xy p; /* relative, weakened, mirrored if a ceiling */
	bool ceiling, out, asked;
	usk_i128 excess;
};

/* Spans of time, each of whose fastest message of a direction is asked. */
enum { SPANS = 200 };

struct crowd {
	struct point *point; /* floors, then ceilings; each sorted */
	size_t n, n_floor, n_out;
	struct usk_xy *hull[2], *asked[2];
	size_t n_hull[2], n_asked[2];
	int64_t rate_e12;
};

/* A line through p and q, or p alone if its slope is at the limit; not mirrored. */
struct line {
	struct usk_xy p, q;
	struct usk_slope s;
	usk_i128 total; /* violation, each rounded up */
	size_t wrong;	/* vertices on the wrong side */
};

/* By how much a point is on the wrong side, rounded up; at most 0 if it is not. */
static usk_i128 excess(const struct line *l, struct usk_xy p, bool ceiling)
{
	struct usk_over over = usk_line_over(&(struct usk_line){ l->p, l->s }, p, ceiling);
	return over.whole + (over.rest > 0);
}

static void score(const struct crowd *c, struct line *l)
{
	l->total = 0;
	l->wrong = 0;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < c->n_asked[side]; i++) {
			usk_i128 e = excess(l, c->asked[side][i], side);
			l->total += e > 0 ? e : 0;
			l->wrong += e > 0;
		}
	}
}

static void keep_better(const struct crowd *c, struct line *best, struct usk_xy p, struct usk_xy q,
			struct usk_slope s)
{
	struct line l = { .p = p, .q = q, .s = s };
	score(c, &l);
	if (!best->s.den || l.total < best->total ||
	    (l.total == best->total && l.wrong < best->wrong)) {
		*best = l;
	}
}

/* Where the violation of another point begins or ends as the line turns. */
struct corner {
	struct usk_slope s;
	struct usk_xy q; /* the other */
	usk_i128 weight;
	bool below; /* violated while the slope is under s; else while it is over s */
};

static int compare_corners(const void *pa, const void *pb)
{
	return usk_slope_cmp(((const struct corner *)pa)->s, ((const struct corner *)pb)->s);
}

/* The best lines through p. corner has room for all points. */
static void turn(const struct crowd *c, struct usk_xy p, struct usk_slope limit,
		 struct corner *corner, struct line *best)
{
	size_t n = 0;
	usk_i128 down = 0; /* derivative just over the lower limit */
	struct usk_slope lowest = usk_slope_neg(limit);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < c->n_asked[side]; i++) {
			struct usk_xy q = c->asked[side][i];
			usk_i128 dx = (usk_i128)q.x - p.x;
			usk_i128 dy = (side == USK_CEILING ? -(usk_i128)q.y : q.y) - p.y;
			if (!dx) {
				continue;
			}
			bool right = dx > 0;
			struct corner k = {
				.s = { right ? dy : -dy, right ? dx : -dx },
				.q = { q.x, side == USK_CEILING ? -q.y : q.y },
				.weight = right ? dx : -dx,
				.below = right == (side == USK_FLOOR),
			};
			bool passed = usk_slope_cmp(k.s, lowest) <= 0;
			if (k.below && !passed) {
				down -= k.weight;
			} else if (!k.below && passed) {
				down += k.weight;
			}
			if (!passed) {
				corner[n++] = k;
			}
		}
	}
	if (n) {
		qsort(corner, n, sizeof *corner, compare_corners);
	}
	struct corner at = { .s = lowest, .q = p };
	for (size_t i = 0; down < 0; i++) {
		if (i == n || usk_slope_cmp(corner[i].s, limit) >= 0) {
			at = (struct corner){ .s = limit, .q = p };
			break;
		}
		at = corner[i];
		down += corner[i].weight;
		if (!down && i + 1 < n) { /* flat up to the next corner: both ends are best */
			struct corner next = corner[i + 1];
			bool over = usk_slope_cmp(next.s, limit) > 0;
			keep_better(c, best, p, over ? p : next.q, over ? limit : next.s);
		}
	}
	keep_better(c, best, p, at.q, at.s);
}

/* The line of least total violation. */
static struct line least_violation(const struct crowd *c, struct usk_slope limit)
{
	/* All are tried while there are few, else a share of them: the square of their number is
	 * what it costs. From there on the line turns about the other of its two points. */
	enum { WORK = 40000 };
	size_t all = c->n_asked[0] + c->n_asked[1];
	size_t step = 1 + all * all / WORK;
	struct corner *corner = usk_alloc(all, sizeof *corner);
	struct line best = { .s = { 0, 0 } };
	for (size_t i = 0; i < all; i += step) {
		bool ceiling = i >= c->n_asked[0];
		struct usk_xy p = ceiling ? c->asked[1][i - c->n_asked[0]] : c->asked[0][i];
		p.y = ceiling ? -p.y : p.y;
		turn(c, p, limit, corner, &best);
	}
	for (usk_i128 total = best.total + 1; best.total < total;) {
		total = best.total;
		turn(c, best.q, limit, corner, &best);
	}
	free(corner);
	return best;
}

/* Of each span of time the point furthest over the trend. */
static void ask_fastest(struct crowd *c, bool ceiling, size_t from, size_t to)
{
	usk_i128 first = c->point[from].p.x;
	usk_i128 span = (c->point[to - 1].p.x - first) / SPANS + 1;
	usk_i128 best = 0, end = first;
	struct point *fastest = NULL;
	for (size_t i = from; i < to; i++) {
		struct point *p = &c->point[i];
		usk_i128 over = (usk_i128)p->p.y * INT64_C(1000000000000) -
				(usk_i128)p->p.x * (ceiling ? -c->rate_e12 : c->rate_e12);
		p->asked = false;
		if (p->p.x >= end) {
			fastest = NULL;
			end = p->p.x + span - (p->p.x - first) % span;
		}
		if (!p->out && (!fastest || over > best)) {
			if (fastest) {
				fastest->asked = false;
			}
			best = over;
			fastest = p;
			p->asked = true;
		}
	}
}

/* Hulls of those that are still in, and who is asked of them: vertices and fastest points. */
static void rehull(struct crowd *c)
{
	for (int side = 0; side < 2; side++) {
		size_t from = side ? c->n_floor : 0, to = side ? c->n : c->n_floor;
		size_t n = 0, m = 0, v = 0;
		for (size_t i = from; i < to; i++) {
			if (!c->point[i].out) {
				n = usk_hull_push(c->hull[side], n, c->point[i].p);
			}
		}
		if (n) {
			ask_fastest(c, side, from, to);
		}
		for (size_t i = from; i < to && n; i++) {
			const struct point *p = &c->point[i];
			while (v + 1 < n && c->hull[side][v].x < p->p.x) {
				v++;
			}
			if (p->asked || (!p->out && p->p.x == c->hull[side][v].x &&
					 p->p.y == c->hull[side][v].y)) {
				c->asked[side][m++] = p->p;
			}
		}
		c->n_hull[side] = n;
		c->n_asked[side] = m;
	}
}

static bool fits(const struct usk_lines *l, struct usk_xy *const hull[2], const size_t n[2])
{
	struct usk_lines *now =
		usk_lines_of(&l->frame, (const struct usk_xy *const[2]){ hull[0], hull[1] }, n,
			     l->q_ns, (int64_t)l->limit.num);
	bool fit = now->quality != USK_CONTRADICTED;
	usk_lines_free(now);
	return fit;
}

/* Everything the corridor remembers of a side: its hull and its undominated points, each once. */
static size_t remember(struct usk_corridor *c, bool ceiling, int64_t q, struct point *out)
{
	size_t n[2], k = 0;
	const struct usk_xy *from[2];
	from[0] = usk_corridor_half(c, ceiling, &n[0]);
	from[1] = usk_corridor_undominated(c, ceiling, &n[1]);
	for (size_t i = 0, j = 0; i < n[0] || j < n[1];) {
		bool first = j == n[1] || (i < n[0] && from[0][i].x <= from[1][j].x);
		struct usk_xy p = first ? from[0][i++] : from[1][j++];
		p.y -= q;
		if (!k || out[k - 1].p.x != p.x || out[k - 1].p.y != p.y) {
			out[k++] = (struct point){ .p = p, .ceiling = ceiling };
		}
	}
	return k;
}

static struct crowd gather(struct usk_corridor *c, const struct usk_lines *l)
{
	struct crowd k = { .rate_e12 = l->frame.rate_e12 };
	size_t n = 0, m;
	for (int side = 0; side < 2; side++) {
		usk_corridor_half(c, side, &m);
		n += m;
		usk_corridor_undominated(c, side, &m);
		n += m;
	}
	k.point = usk_alloc(n + 1, sizeof *k.point);
	k.n_floor = remember(c, USK_FLOOR, l->q_ns[USK_FLOOR], k.point);
	k.n = k.n_floor + remember(c, USK_CEILING, l->q_ns[USK_CEILING], k.point + k.n_floor);
	for (int side = 0; side < 2; side++) {
		k.hull[side] = usk_alloc(k.n + 1, sizeof *k.hull[side]);
		k.asked[side] = usk_alloc(k.n + 1, sizeof *k.asked[side]);
	}
	rehull(&k);
	return k;
}

/* Send out those furthest on the wrong side. */
static void accuse(struct crowd *c, const struct line *l)
{
	usk_i128 worst = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct point *p = &c->point[i];
		if (!p->out) {
			p->excess = excess(l, p->p, p->ceiling);
			worst = p->excess > worst ? p->excess : worst;
		}
	}
	for (size_t i = 0; i < c->n; i++) {
		struct point *p = &c->point[i];
		if (!p->out && p->excess > 0 && p->excess >= worst / 2) {
			p->out = true;
			c->n_out++;
		}
	}
}

/* Furthest out first; then by place, so that the order is one. */
static int compare_points(const void *pa, const void *pb)
{
	const struct point *a = *(struct point *const *)pa, *b = *(struct point *const *)pb;
	if (a->excess != b->excess) {
		return a->excess < b->excess ? 1 : -1;
	}
	return (a > b) - (a < b);
}

static struct point **list_out(const struct crowd *c)
{
	struct point **out = usk_alloc(c->n_out + 1, sizeof *out);
	size_t n = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (c->point[i].out) {
			out[n++] = &c->point[i];
		}
	}
	qsort(out, n, sizeof *out, compare_points);
	return out;
}

/* Take back, nearest first, who fits with all that are in. */
static void readmit(struct crowd *c, const struct usk_lines *l)
{
	struct point **out = list_out(c);
	size_t n = c->n_out;
	struct usk_xy *with = usk_alloc(c->n + 1, sizeof *with);
	while (n--) {
		struct point *p = out[n];
		int side = p->ceiling;
		size_t m = 0, at = usk_xy_find(c->hull[side], c->n_hull[side], p->p.x);
		for (size_t i = 0; i <= c->n_hull[side]; i++) {
			if (i == at) {
				m = usk_hull_push(with, m, p->p);
			}
			if (i < c->n_hull[side]) {
				m = usk_hull_push(with, m, c->hull[side][i]);
			}
		}
		struct usk_xy *hull[2] = { side ? c->hull[0] : with, side ? with : c->hull[1] };
		size_t n_hull[2] = { side ? c->n_hull[0] : m, side ? m : c->n_hull[1] };
		if (fits(l, hull, n_hull)) {
			p->out = false;
			c->n_out--;
			memcpy(c->hull[side], with, m * sizeof *with);
			c->n_hull[side] = m;
		}
	}
	free(with);
	free(out);
}

/* By how much each that is out misses the band of those that are in. */
static void measure(struct crowd *c, const struct usk_lines *l)
{
	struct usk_lines *now =
		usk_lines_of(&l->frame, (const struct usk_xy *const[2]){ c->hull[0], c->hull[1] },
			     c->n_hull, l->q_ns, (int64_t)l->limit.num);
	for (size_t i = 0; i < c->n; i++) {
		struct point *p = &c->point[i];
		if (p->out) {
			/* the other side's bound, mirrored: hi = -h for a floor, lo = h for a
			 * ceiling */
			p->excess = p->p.y + usk_lines_half_floor(now, !p->ceiling, p->p.x);
			p->excess = p->excess < 1 ? 1 : p->excess;
		}
	}
	usk_lines_free(now);
}

size_t usk_corridor_suspects(struct usk_corridor *c, const struct usk_lines *l, size_t max,
			     struct usk_suspect **out, size_t *n_out)
{
	*out = NULL;
	*n_out = 0;
	if (l->quality != USK_CONTRADICTED) {
		return 0;
	}
	struct crowd k = gather(c, l);
	/* Each round sends at least one out, so this ends; a bound on the work all the same. */
	enum { ROUNDS = 100 };
	bool fit = false;
	for (int round = 0; round < ROUNDS && !fit && k.n_hull[0] && k.n_hull[1]; round++) {
		struct line line = least_violation(&k, l->limit);
		accuse(&k, &line);
		rehull(&k);
		fit = k.n_hull[0] && k.n_hull[1] && fits(l, k.hull, k.n_hull);
		if (!fit && k.n_out / 4 > max) { /* not even taking most of them back would do */
			break;
		}
	}
	if (fit) {
		readmit(&k, l);
		measure(&k, l);
	}
	struct point **guilty = list_out(&k);
	size_t found = fit ? k.n_out : k.n_out > max ? k.n_out : max + 1;
	size_t n = k.n_out <= max ? k.n_out : max + 1;
	*out = usk_alloc(n ? n : 1, sizeof **out);
	for (size_t i = 0; i < n; i++) {
		const struct point *p = guilty[i];
		int64_t y = p->p.y + l->q_ns[p->ceiling];
		(*out)[i] = (struct usk_suspect){
			{ l->frame.local_ns + p->p.x, l->frame.offset_ns + (p->ceiling ? -y : y) },
			p->ceiling,
			usk_cut(p->excess),
		};
	}
	*n_out = n;
	free(guilty);
	free(k.point);
	for (int side = 0; side < 2; side++) {
		free(k.hull[side]);
		free(k.asked[side]);
	}
	return found;
}
