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
 * large. Where a clock bends sharply, as daemons make it, windows stay short. A clock of constant
 * rate is one window, whose knots are on one straight line.
 */
#include "graph/curve.h"
#include "graph/course.h"

#include <math.h>
#include <stdlib.h>

/* Hulls of cells side by side; both sides are upper hulls, as in usk_part. */
struct cells {
	size_t n;
	int64_t *end;	      /* [n + 1]: cell i is from end[i] to before end[i + 1] */
	int64_t *half;	      /* [n]: where two cells became this one, INT64_MIN: none did */
	uint32_t *piece;      /* [n] */
	struct usk_xy *xy[2]; /* vertices, cell by cell */
	size_t *first[2];     /* [n + 1] */
};

/* The two hulls over the middle of a window; how far apart they are there and over the middles of
 * its cells. */
struct middle {
	int64_t x;
	uint32_t piece;
	bool good; /* both hulls span it */
	bool any;  /* or say something of it at least */
	long double y, slope;
	struct place {
		int64_t x; /* INT64_MIN: it has none */
		long double gap;
	} over[3];
};

struct middles {
	struct middle *at;
	size_t n;
};

/* Points without a break among them. */
struct piece {
	int64_t from, to;	 /* first and last point */
	size_t begin[2], end[2]; /* of points */
	size_t cells;
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* Points one by one, with the brackets that lie before them. */
static void cut(const struct usk_part *p, const struct usk_calm *calm,
		const struct usk_graph_back *back_a, const struct usk_graph_back *back_b,
		struct pieces *out)
{
	size_t i[2] = { 0, 0 }, bracket = 0;
	bool fresh = true;
	int64_t last_a = 0, last_b = 0;
	while (i[0] < p->n[0] || i[1] < p->n[1]) {
		bool ceiling = usk_part_turn(p, i[0], i[1]);
		struct usk_xy at = p->point[ceiling][i[ceiling]];
		int64_t b = p->frame.local_ns + at.x, a = usk_part_other(p, at, ceiling);
		while (bracket < calm->n_brackets && calm->bracket[bracket].b1_ns <= b) {
			bracket++;
			fresh = true;
		}
		fresh = fresh || usk_back_between(back_b, last_b, b) ||
			usk_back_between(back_a, last_a, a);
		bool inside = bracket < calm->n_brackets && calm->bracket[bracket].b0_ns < b;
		if (fresh && !inside) {
			*USK_ADD(out->at, out->n, out->cap) =
				(struct piece){ at.x, at.x, { i[0], i[1] }, { i[0], i[1] }, 0 };
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
	c->half = usk_grow(NULL, n + 1, sizeof *c->half);
	c->piece = usk_grow(NULL, n + 1, sizeof *c->piece);
	for (size_t i = 0; i < all->n; i++) {
		const struct piece *s = &all->at[i];
		usk_i128 length = (usk_i128)s->to - s->from + 1;
		for (size_t k = 0; k < s->cells; k++) {
			c->piece[c->n] = (uint32_t)i;
			c->half[c->n] = INT64_MIN;
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
					h = usk_hull_push(c->xy[side] + v[side], h, c->xy[side][e]);
				}
				c->first[side][m] = v[side];
				v[side] += h;
			}
			c->half[m] = by == 2 ? c->end[k + 1] : INT64_MIN;
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

/* A hull over x: its edge there, or the one next to it, as a line. */
struct facing {
	bool spans;
	long double y, slope;
};

static struct facing face(const struct usk_xy *h, size_t n, int64_t x)
{
	struct facing f = { usk_hull_spans(h, n, x), 0, 0 };
	if (n) {
		size_t i = usk_xy_find(h, n, x);
		i = i + 1 < n ? i : n - 1;
		i -= i > 0;
		const struct usk_xy *a = &h[i], *b = &h[i + (n > 1)];
		f.slope = n > 1 ? (long double)(b->y - a->y) / (long double)(b->x - a->x) : 0;
		f.y = (long double)a->y + f.slope * (long double)(x - a->x);
	}
	return f;
}

static struct middle look_at(const struct cells *c, size_t i, struct usk_xy *const room[2])
{
	struct middle m = { .x = c->end[i + 1], .piece = c->piece[i] };
	struct facing f[2];
	size_t n[2] = { 0, 0 };
	for (int side = 0; side < 2; side++) {
		for (size_t v = c->first[side][i]; v < c->first[side][i + 2]; v++) {
			n[side] = usk_hull_push(room[side], n[side], c->xy[side][v]);
		}
		f[side] = face(room[side], n[side], m.x);
	}
	for (int side = 0; side < 2; side++) {
		if (n[side] == 1) { /* takes the other side's */
			f[side].slope = -f[!side].slope;
			f[side].y += f[side].slope * (long double)(m.x - room[side][0].x);
		}
	}
	m.good = f[0].spans && f[1].spans;
	m.any = n[0] && n[1];
	m.y = (f[0].y - f[1].y) / 2;
	m.slope = (f[0].slope - f[1].slope) / 2;
	const int64_t over[3] = { c->half[i], m.x, c->half[i + 1] };
	for (int k = 0; k < 3; k++) {
		m.over[k].x = INT64_MIN;
		if (over[k] == INT64_MIN) {
			continue;
		}
		struct facing lo = face(room[0], n[0], over[k]), hi = face(room[1], n[1], over[k]);
		if (lo.spans && hi.spans) {
			m.over[k] = (struct place){ over[k], -lo.y - hi.y };
		}
	}
	return m;
}

static struct middles look(const struct cells *c, struct usk_xy *const room[2])
{
	struct middles out = { usk_alloc(c->n + 1, sizeof *out.at), 0 };
	for (size_t i = 0; i + 1 < c->n; i++) {
		if (c->piece[i] == c->piece[i + 1]) {
			out.at[out.n++] = look_at(c, i, room);
		}
	}
	return out;
}

/* The first window of m whose middle is x or later. */
static size_t find(const struct middles *m, uint32_t piece, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, m->n,
		  m->at[i].piece > piece || (m->at[i].piece == piece && m->at[i].x >= x));
	return i;
}

static const struct middle *middle_at(const struct middles *m, uint32_t piece, int64_t x)
{
	size_t i = find(m, piece, x);
	bool is = i < m->n && m->at[i].piece == piece && m->at[i].x == x && m->at[i].good;
	return is ? &m->at[i] : NULL;
}

/* By how much a window's hulls are closer than those of shorter windows: each place that both have.
 * Returns how many. */
static size_t closer(const struct middles *fine, const struct middle *m, long double by[3])
{
	size_t n = 0;
	for (int k = 0; k < 3; k++) {
		const struct middle *f =
			m->over[k].x == INT64_MIN ? NULL : middle_at(fine, m->piece, m->over[k].x);
		if (f) {
			by[n++] = f->over[1].gap - m->over[k].gap;
		}
	}
	return n;
}

static int by_size(const void *pa, const void *pb)
{
	long double a = *(const long double *)pa, b = *(const long double *)pb;
	return (a > b) - (a < b);
}

/* The mean, but for the largest quarter: few sharp bends say nothing of the others. */
static long double mean_closer(const struct middles *fine, const struct middles *coarse, size_t *n)
{
	long double *by = usk_grow(NULL, 3 * coarse->n + 1, sizeof *by), sum = 0;
	*n = 0;
	for (size_t i = 0; i < coarse->n; i++) {
		*n += closer(fine, &coarse->at[i], by + *n);
	}
	qsort(by, *n, sizeof *by, by_size);
	for (size_t i = 0; i < *n - *n / 4; i++) {
		sum += by[i];
	}
	free(by);
	return *n ? sum / (long double)(*n - *n / 4) : 0;
}

static bool most_good(const struct middles *m)
{
	size_t good = 0;
	for (size_t i = 0; i < m->n; i++) {
		good += m->at[i].good;
	}
	return 4 * good >= 3 * m->n;
}

/* ---- their length ------------------------------------------------------------------------------
 */

enum { LEVELS = 16 };

/* Windows by length, the shortest first. */
struct levels {
	struct middles at[LEVELS];
	long double closer[LEVELS]; /* than those before */
	size_t n, best;
};

/* What is left of noise in windows twice as long: half of it, more where the fastest messages are
 * rare. Of few windows chance is large. */
static bool bends(long double by, long double noise, size_t n)
{
	return by > noise * (1.5L + 4 / sqrtl((long double)n));
}

static void look_by_length(struct cells *c, const struct usk_part *p, struct levels *l)
{
	struct usk_xy *room[2];
	long double noise = -1, least = -1;
	size_t least_at = 0;
	for (int side = 0; side < 2; side++) {
		room[side] = usk_grow(NULL, p->n[side] + 1, sizeof *room[side]);
	}
	l->at[0] = look(c, room);
	l->n = 1;
	l->best = 0;
	for (bool bent = false; !bent && merge(c); l->n++) {
		size_t n;
		l->at[l->n] = look(c, room);
		bool usable = most_good(&l->at[l->n - 1]);
		long double by = l->closer[l->n] = mean_closer(&l->at[l->n - 1], &l->at[l->n], &n);
		if (!usable || !n) {
			l->best = l->n;
			continue;
		}
		noise *= 0.707L;
		bent = noise >= 0 && bends(by, noise, n);
		noise = noise < 0 || by < noise ? by : noise;
		if (least < 0 || by < least) {
			least = by;
			least_at = l->n;
		}
		l->best = bent ? least_at : l->n;
	}
	free(room[0]);
	free(room[1]);
}

/* ---- knots -------------------------------------------------------------------------------------
 */

struct knots {
	struct usk_knot *at;
	size_t n;
};

static void put(const struct usk_part *p, uint32_t piece, struct knots *k, int64_t x, long double y)
{
	struct usk_knot at = { .local_ns = usk_saturate((usk_i128)p->frame.local_ns + x),
			       .offset_ns = usk_saturate((usk_i128)p->frame.offset_ns +
							 (usk_i128)roundl(y)),
			       .epoch = piece };
	if (!k->n || k->at[k->n - 1].local_ns < at.local_ns) {
		k->at[k->n++] = at;
	}
}

/* Sharp bends show in single windows. */
static bool is_sharp(const struct levels *l, size_t level, const struct middle *m)
{
	enum { SHARP = 10 };
	long double by[3];
	size_t n = level && l->closer[level] > 0 ? closer(&l->at[level - 1], m, by) : 0;
	bool sharp = false;
	for (size_t i = 0; i < n; i++) {
		sharp = sharp || by[i] > SHARP * l->closer[level];
	}
	return sharp;
}

/* A window's middle; of those with a sharp bend the middles of shorter ones. */
static void choose(const struct levels *l, size_t level, const struct middle *m,
		   struct middles *out)
{
	if (!is_sharp(l, level, m)) {
		out->at[out->n++] = *m;
		return;
	}
	for (int k = 0; k < 3; k++) {
		const struct middle *f =
			m->over[k].x == INT64_MIN
				? NULL
				: middle_at(&l->at[level - 1], m->piece, m->over[k].x);
		if (f) {
			choose(l, level - 1, f, out);
		}
	}
}

static struct middles choose_all(const struct levels *l)
{
	size_t most = 0;
	const struct middles *from = &l->at[l->best];
	for (size_t i = 0; i <= l->best; i++) {
		most += 2 * l->at[i].n;
	}
	struct middles out = { usk_alloc(most + 1, sizeof *out.at), 0 };
	for (size_t i = 0; i < from->n; i++) {
		choose(l, l->best, &from->at[i], &out);
	}
	usk_sort(out.at, out.n, sizeof *out.at, KEYS(BY(middle, piece), BY(middle, x)));
	return out;
}

/* Beyond the outermost middles of a piece their slopes go on. */
static void put_piece(const struct usk_part *p, const struct piece *s, const struct middle *m,
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
		return;
	}
	put(p, m->piece, k, s->from, first->y + first->slope * (long double)(s->from - first->x));
	for (const struct middle *i = first; n > 1 && i <= last; i++) {
		if (i->good) {
			put(p, m->piece, k, i->x, i->y);
		}
	}
	int64_t to = s->to > s->from ? s->to : s->from + 1;
	put(p, m->piece, k, to, last->y + last->slope * (long double)(to - last->x));
}

struct usk_knot *usk_pair_curve(const struct usk_part *p, const struct usk_calm *calm,
				const struct usk_graph_back *back_a,
				const struct usk_graph_back *back_b, size_t *n)
{
	struct pieces all = { NULL, 0, 0 };
	struct cells c;
	struct levels l;
	struct knots k = { NULL, 0 };
	*n = 0;
	if (!p->n[0] || !p->n[1]) {
		return NULL;
	}
	cut(p, calm, back_a, back_b, &all);
	make_cells(p, &all, count_cells(p, &all), &c);
	look_by_length(&c, p, &l);
	struct middles m = choose_all(&l);
	k.at = usk_alloc(m.n + 2 * all.n + 1, sizeof *k.at);
	for (size_t i = 0, to; i < m.n; i = to) {
		for (to = i; to < m.n && m.at[to].piece == m.at[i].piece; to++) {
		}
		put_piece(p, &all.at[m.at[i].piece], &m.at[i], to - i, &k);
	}
	for (int side = 0; side < 2; side++) {
		USK_FREE(c.xy[side], c.first[side]);
	}
	for (size_t i = 0; i < l.n; i++) {
		free(l.at[i].at);
	}
	USK_FREE(c.half, c.end, c.piece, m.at, all.at);
	if (k.n < 2) {
		free(k.at);
		return NULL;
	}
	*n = k.n;
	return k.at;
}
