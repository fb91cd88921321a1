/* SPDX-License-Identifier: MIT */
/*
 * curve.c - the likeliest course of a pair, as a polyline
 *
 * In    a pair's points, the brackets in which something happened to it
 * Out   knots of the offset
 * Why   bounds allow for all the wander that is assumed, and their middle follows it; where a
 *       clock was the fastest messages of both directions say much better
 * Source  within a window as est_support.c, of all lines under the ceilings the one with the least
 *       summed distance: the hull's edge over the window's middle
 *
 * Windows are pairs of neighbouring cells, and each gives one knot, at its middle. Longer windows
 * bring the two hulls closer: at first since there are more messages and less is left of their
 * noise, by half as much each time the length doubles; then since the clock bends in them, by more
 * each time. Cells are doubled until it is by more, and where it was least noise and bends are as
 * large. A clock of constant rate is one window, whose knots are on one straight line.
 */
#include "graph/curve.h"
#include "fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Hulls of cells side by side; both sides are upper hulls, as in usk_part. */
struct cells {
	size_t n;
	int64_t *end;	      /* [n + 1]: cell i is from end[i] to before end[i + 1] */
	uint32_t *piece;      /* [n] */
	struct usk_xy *xy[2]; /* vertices, cell by cell */
	size_t *first[2];     /* [n + 1] */
};

/* The two hulls over the middle of a window. */
struct middle {
	int64_t x;
	uint32_t piece;
	bool good; /* both hulls span it */
	bool any;  /* or say something of it at least */
	long double y, slope, gap;
};

struct middles {
	struct middle *at;
	size_t n;
};

/* Points without a break among them. */
struct piece {
	int64_t from, to;     /* first and last point */
	size_t begin[2], end[2]; /* of points */
	size_t cells;
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

/* ---- pieces ------------------------------------------------------------------------------------
 */

static bool in_gap(const struct usk_graph_back *back, int64_t before, int64_t after)
{
	bool in = false;
	for (size_t i = 0; i < back->n && !in; i++) {
		in = before <= back->gap[i].before_ns && back->gap[i].after_ns <= after;
	}
	return in;
}

static int64_t a_stamp(const struct usk_part *p, struct usk_xy at, bool ceiling)
{
	struct usk_point r = usk_part_recorded(p, at, ceiling);
	return usk_saturate((usk_i128)r.local_ns + r.offset_ns);
}

/* Points one by one, with the brackets that lie before them. */
static void cut(const struct usk_part *p, const struct usk_calm *calm,
		const struct usk_graph_back *back_a, const struct usk_graph_back *back_b,
		struct pieces *out)
{
	size_t i[2] = { 0, 0 }, bracket = 0;
	bool fresh = true;
	int64_t last_a = 0, last_b = 0;
	while (i[0] < p->n[0] || i[1] < p->n[1]) {
		bool ceiling = i[0] == p->n[0] ||
			       (i[1] < p->n[1] && p->point[1][i[1]].x < p->point[0][i[0]].x);
		struct usk_xy at = p->point[ceiling][i[ceiling]];
		int64_t b = p->frame.local_ns + at.x, a = a_stamp(p, at, ceiling);
		while (bracket < calm->n_brackets && calm->bracket[bracket].b1_ns <= b) {
			bracket++;
			fresh = true;
		}
		fresh = fresh || in_gap(back_b, last_b, b) || in_gap(back_a, last_a, a);
		bool inside =
			bracket < calm->n_brackets && calm->bracket[bracket].b0_ns < b;
		if (fresh && !inside) {
			out->at = usk_room(out->at, out->n, &out->cap, sizeof *out->at);
			out->at[out->n++] = (struct piece){
				at.x, at.x, { i[0], i[1] }, { i[0], i[1] }, 0
			};
			fresh = false;
		}
		i[ceiling]++;
		if (!inside) {
			struct piece *now = &out->at[out->n - 1];
			now->to = at.x;
			now->end[ceiling] = i[ceiling];
			last_a = a;
			last_b = b;
		}
	}
}

/* ---- cells -------------------------------------------------------------------------------------
 */

/* The smallest cells have some points of either side. */
static size_t count_cells(const struct usk_part *p, struct pieces *all)
{
	enum { POINTS = 4, MOST = 1 << 14 };
	size_t few = p->n[0] < p->n[1] ? p->n[0] : p->n[1], sum = 0;
	usk_i128 span = 1;
	for (size_t i = 0; i < all->n; i++) {
		span += (usk_i128)all->at[i].to - all->at[i].from;
	}
	few = few / POINTS < MOST ? few / POINTS : MOST;
	for (size_t i = 0; i < all->n; i++) {
		struct piece *c = &all->at[i];
		usk_i128 length = (usk_i128)c->to - c->from;
		for (c->cells = 2; 2 * c->cells * span <= length * (usk_i128)few; c->cells *= 2) {
		}
		sum += c->cells;
	}
	return sum;
}

static void make_cells(const struct usk_part *p, const struct pieces *all, size_t n,
		       struct cells *c)
{
	c->n = 0;
	c->end = usk_grow(NULL, n + 1, sizeof *c->end);
	c->piece = usk_grow(NULL, n + 1, sizeof *c->piece);
	for (size_t i = 0; i < all->n; i++) {
		const struct piece *s = &all->at[i];
		usk_i128 length = (usk_i128)s->to - s->from + 1;
		for (size_t k = 0; k < s->cells; k++) {
			c->piece[c->n] = (uint32_t)i;
			c->end[c->n++] =
				(int64_t)(s->from + length * (usk_i128)k / (usk_i128)s->cells);
		}
	}
	c->end[n] = INT64_MAX;
	for (int side = 0; side < 2; side++) {
		size_t m = 0, k = 0;
		c->xy[side] = usk_grow(NULL, p->n[side] + 1, sizeof **c->xy);
		c->first[side] = usk_alloc(n + 1, sizeof **c->first);
		for (size_t cell = 0; cell < n; cell++) {
			const struct piece *s = &all->at[c->piece[cell]];
			struct usk_xy *hull = c->xy[side] + m;
			size_t h = 0;
			k = k < s->begin[side] ? s->begin[side] : k;
			for (; k < s->end[side] &&
			       (cell + 1 == n || c->piece[cell + 1] != c->piece[cell] ||
				p->point[side][k].x < c->end[cell + 1]);
			     k++) {
				h = usk_hull_push(hull, h, p->point[side][k]);
			}
			c->first[side][cell] = m;
			m += h;
		}
		c->first[side][n] = m;
	}
}

/* Two cells become one, where a piece has more than two. false: none has. */
static bool merge(struct cells *c)
{
	size_t m = 0, v[2] = { 0, 0 };
	bool any = false;
	for (size_t i = 0; i < c->n;) {
		/* Cells of a piece are a power of two. */
		size_t of = 1;
		while (i + of < c->n && c->piece[i + of] == c->piece[i]) {
			of++;
		}
		size_t by = of > 2 ? 2 : 1;
		any = any || by == 2;
		for (size_t k = i; k < i + of; k += by, m++) {
			for (int side = 0; side < 2; side++) {
				/* In place: no vertex is written before it is read. */
				size_t h = 0, from = c->first[side][k], to = c->first[side][k + by];
				for (size_t e = from; e < to; e++) {
					h = usk_hull_push(c->xy[side] + v[side], h,
							  c->xy[side][e]);
				}
				c->first[side][m] = v[side];
				v[side] += h;
			}
			c->piece[m] = c->piece[k];
			c->end[m] = c->end[k];
		}
		i += of;
	}
	c->n = m;
	c->end[m] = INT64_MAX;
	c->first[0][m] = v[0];
	c->first[1][m] = v[1];
	return any;
}

/* ---- windows -----------------------------------------------------------------------------------
 */

/* The line of a hull's edge over x, or of the edge next to it. */
struct facing {
	size_t n; /* vertices */
	bool spans;
	long double y, slope;
};

static struct facing face(const struct usk_xy *v, size_t n, int64_t x, struct usk_xy *h)
{
	struct facing f = { 0, false, 0, 0 };
	for (size_t i = 0; i < n; i++) {
		f.n = usk_hull_push(h, f.n, v[i]);
	}
	f.spans = usk_hull_spans(h, f.n, x);
	if (f.n) {
		size_t i = usk_xy_find(h, f.n, x);
		i = i + 1 < f.n ? i : f.n - 1;
		i -= i > 0;
		const struct usk_xy *a = &h[i], *b = &h[i + (f.n > 1)];
		f.slope = f.n > 1 ? (long double)(b->y - a->y) / (long double)(b->x - a->x) : 0;
		f.y = (long double)a->y + f.slope * (long double)(x - a->x);
	}
	return f;
}

static struct middles look(const struct cells *c, struct usk_xy *room)
{
	struct middles out = { usk_alloc(c->n + 1, sizeof *out.at), 0 };
	for (size_t i = 0; i + 1 < c->n; i++) {
		if (c->piece[i] != c->piece[i + 1]) {
			continue;
		}
		struct middle m = { .x = c->end[i + 1], .piece = c->piece[i] };
		struct facing f[2];
		for (int side = 0; side < 2; side++) {
			size_t from = c->first[side][i], to = c->first[side][i + 2];
			f[side] = face(c->xy[side] + from, to - from, m.x, room);
		}
		for (int side = 0; side < 2; side++) {
			if (f[side].n == 1) { /* takes the other side's */
				f[side].slope = -f[!side].slope;
				f[side].y += f[side].slope *
					     (long double)(m.x - c->xy[side][c->first[side][i]].x);
			}
		}
		m.good = f[0].spans && f[1].spans;
		m.any = f[0].n && f[1].n;
		m.y = (f[0].y - f[1].y) / 2;
		m.slope = (f[0].slope - f[1].slope) / 2;
		m.gap = -f[0].y - f[1].y;
		out.at[out.n++] = m;
	}
	return out;
}

/* By how much hulls came closer on average, where both windows have a middle; a window is as good
 * as the one before it unless fewer have one. */
struct closer {
	long double by;
	size_t windows;
};

static struct closer compare(const struct middles *fine, const struct middles *coarse)
{
	struct closer c = { 0, 0 };
	for (size_t i = 0, k = 0; i < coarse->n; i++) {
		const struct middle *m = &coarse->at[i];
		while (k < fine->n &&
		       (fine->at[k].piece < m->piece ||
			(fine->at[k].piece == m->piece && fine->at[k].x < m->x))) {
			k++;
		}
		if (k < fine->n && fine->at[k].x == m->x && fine->at[k].good && m->good) {
			c.by += fine->at[k].gap - m->gap;
			c.windows++;
		}
	}
	c.by = c.windows ? c.by / (long double)c.windows : 0;
	return c;
}

static bool most_good(const struct middles *m)
{
	size_t good = 0;
	for (size_t i = 0; i < m->n; i++) {
		good += m->at[i].good;
	}
	return 4 * good >= 3 * m->n;
}

/* More than noise that should have become less can explain: of few windows chance is large. */
static bool bends(struct closer now, long double least)
{
	long double chance = 2 / (long double)now.windows;
	return now.windows && now.by * now.by > 4 * least * least * (1 + 16 * chance);
}

static struct middles best_of(struct cells *c, const struct usk_part *p)
{
	size_t most = p->n[0] > p->n[1] ? p->n[0] : p->n[1];
	struct usk_xy *room = usk_grow(NULL, most + 1, sizeof *room);
	struct middles last = look(c, room), best = { NULL, 0 };
	long double least = -1;
	while (merge(c)) {
		struct middles now = look(c, room);
		struct closer by = compare(&last, &now);
		bool usable = most_good(&last);
		if (usable && least >= 0 && bends(by, least)) {
			free(last.at);
			free(now.at);
			last = best;
			best.at = NULL;
			break;
		}
		if (usable && by.windows && (least < 0 || by.by < least)) {
			least = by.by;
			free(best.at);
			best.at = usk_grow(NULL, now.n + 1, sizeof *best.at);
			memcpy(best.at, now.at, now.n * sizeof *now.at);
			best.n = now.n;
		}
		free(last.at);
		last = now;
	}
	free(best.at);
	free(room);
	return last;
}

/* ---- knots -------------------------------------------------------------------------------------
 */

struct knots {
	struct usk_knot *at;
	size_t n;
};

static void put(const struct usk_part *p, struct knots *k, int64_t x, long double y)
{
	struct usk_knot at = { .local_ns = usk_saturate((usk_i128)p->frame.local_ns + x),
			       .offset_ns = usk_saturate((usk_i128)p->frame.offset_ns +
							 (usk_i128)roundl(y)) };
	if (!k->n || k->at[k->n - 1].local_ns < at.local_ns) {
		k->at[k->n++] = at;
	}
}

/* Beyond the outermost middles of a piece their slopes go on. */
static bool put_piece(const struct usk_part *p, const struct piece *s, const struct middle *m,
		      size_t n, struct knots *k)
{
	const struct middle *first = NULL, *last = NULL;
	for (size_t i = 0; i < n; i++) {
		if (m[i].good || (n == 1 && m[i].any)) {
			first = first ? first : &m[i];
			last = &m[i];
		}
	}
	if (!first) {
		return false;
	}
	put(p, k, s->from, first->y + first->slope * (long double)(s->from - first->x));
	for (const struct middle *i = first; n > 1 && i <= last; i++) {
		if (i->good) {
			put(p, k, i->x, i->y);
		}
	}
	int64_t to = s->to > s->from ? s->to : s->from + 1;
	put(p, k, to, last->y + last->slope * (long double)(to - last->x));
	return true;
}

struct usk_knot *usk_pair_curve(const struct usk_part *p, const struct usk_calm *calm,
				const struct usk_graph_back *back_a,
				const struct usk_graph_back *back_b, size_t *n)
{
	struct pieces all = { NULL, 0, 0 };
	struct cells c;
	struct knots k = { NULL, 0 };
	*n = 0;
	if (!p->n[0] || !p->n[1]) {
		return NULL;
	}
	cut(p, calm, back_a, back_b, &all);
	make_cells(p, &all, count_cells(p, &all), &c);
	struct middles m = best_of(&c, p);
	k.at = usk_alloc(m.n + 2 * all.n + 1, sizeof *k.at);
	for (size_t i = 0, to; i < m.n; i = to) {
		for (to = i; to < m.n && m.at[to].piece == m.at[i].piece; to++) {
		}
		put_piece(p, &all.at[m.at[i].piece], &m.at[i], to - i, &k);
	}
	for (int side = 0; side < 2; side++) {
		free(c.xy[side]);
		free(c.first[side]);
	}
	free(c.end);
	free(c.piece);
	free(m.at);
	free(all.at);
	if (k.n < 2) {
		free(k.at);
		return NULL;
	}
	*n = k.n;
	return k.at;
}
