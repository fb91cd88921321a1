/* SPDX-License-Identifier: MIT */
/*
 * wander_knots.c - few knots through a band: the estimate, and the band at them
 *
 * In    a band; the line that an estimator drew, or none for the band's middle
 * Out   knots in whole ns
 * Why   a polyline in a tube around the middle needs few knots and is as good as the middle itself
 * Not   the band (wander_band.c), its chords (wander_chords.c)
 *
 * The tube is the middle +- h/20, h being half the band's width; or the estimator's line cut to the
 * band, and a little either way. A polyline through it has the fewest links there are
 * (num/polyline.h).
 *
 * It is in order with every message as it lies in the band: over lo at every point that lo touches
 * and at every knot, so everywhere, as lo is convex between these points; under hi + 1 likewise, as
 * the map rounds down. Rounding its knots to whole ns may spoil that by 1 ns where the band is that
 * narrow: a point that is missed becomes a knot of its own.
 */
#include "fit/wander.h"
#include "num/cone.h"
#include "num/polyline.h"

#include <stdlib.h>
#include <string.h>

#define E12 USK_E12
#define FAR (USK_TIME_MAX - 1) /* what a hull can take */

/* ---- walls ------------------------------------------------------------------------- */

/* Whole offsets that keep order: as recorded and by 1 ns where there is room. */
struct walls {
	usk_i128 from, to;
};

static struct walls walls_of(const struct usk_band *b, usk_i128 lo, usk_i128 hi)
{
	usk_i128 room = hi - lo - b->q_ns[0] - b->q_ns[1];
	usk_i128 off = room >= 2;
	if (room < 0) {
		return (struct walls){ lo, hi };
	}
	return (struct walls){ lo + b->q_ns[0] + off, hi - b->q_ns[1] - off };
}

/* Both rounded up: the map rounds down. */
static struct walls walls_at(const struct usk_band *b, const size_t next[2], usk_i128 x)
{
	return walls_of(b, usk_ceil_div(usk_band_half_e12(b, false, next[0], x), E12),
			-usk_floor_div(usk_band_half_e12(b, true, next[1], x), E12));
}

static usk_i128 between(usk_i128 v, usk_i128 from, usk_i128 to)
{
	return v < from ? from : v > to ? to : v;
}

/* ---- the polyline ------------------------------------------------------------------ */

/* What an estimator drew, cut to the band; or the band's middle. */
struct wish {
	const struct usk_knot *line;
	size_t n, i;
};

static usk_i128 wished(struct wish *w, const struct usk_frame *f, int64_t x, usk_i128 lo,
		       usk_i128 hi)
{
	if (!w->n) {
		return usk_floor_div(lo + hi, 2);
	}
	usk_i128 t = (usk_i128)x + f->local_ns;
	while (w->i + 2 < w->n && w->line[w->i + 1].local_ns < t) {
		w->i++;
	}
	const struct usk_knot *a = &w->line[w->i], *b = a + 1;
	usk_i128 rise = (usk_i128)b->offset_ns - a->offset_ns;
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return a->offset_ns - (usk_i128)f->offset_ns +
	       usk_floor_div(rise * (t - a->local_ns) + run / 2, run);
}

/* A gate of the tube; share: what part of h it may be off. */
static struct usk_gate gate_at(const struct usk_band *b, const struct usk_bend *at, struct wish *w,
			       int64_t share)
{
	struct walls in = walls_of(b, at->lo, at->hi);
	usk_i128 want = wished(w, &b->frame, at->x, at->lo, at->hi);
	usk_i128 r = ((usk_i128)at->hi - at->lo) / (2 * share);
	usk_i128 least = (in.to - in.from) / 2 < 2 ? (in.to - in.from) / 2 : 2;
	if (w->n) { /* true to the estimator inside, yet not along every bend of a wall */
		r = want < in.from || want > in.to ? 2 * r : r / 5;
	}
	if (in.to - in.from > 4) { /* ends of gates are rounded */
		in.from++;
		in.to--;
	}
	r = r < least ? least : r;
	want = between(want, in.from, in.to);
	usk_i128 lo = between(want - r, in.from, in.to), hi = between(want + r, in.from, in.to);
	return (struct usk_gate){ at->x, (int64_t)between(lo, -FAR, FAR),
				  (int64_t)between(hi, -FAR, FAR) };
}

/* Does the chord of a and b pass gates from..to, each as wide again on both sides? */
static bool chord_passes(const struct usk_gate *g, size_t from, size_t to, struct usk_xy a,
			 struct usk_xy b)
{
	for (size_t i = from; i < to; i++) {
		usk_i128 dx = (usk_i128)b.x - a.x, more = (usk_i128)g[i].hi - g[i].lo;
		usk_i128 up = ((usk_i128)b.y - a.y) * ((usk_i128)g[i].x - a.x);
		if (up < (g[i].lo - more - a.y) * dx || up > (g[i].hi + more - a.y) * dx) {
			return false;
		}
	}
	return true;
}

/* Leave out knots less than 1 s from the one before (or from the end) where that does little. */
static size_t thin_out(const struct usk_gate *g, size_t n, struct usk_xy *k, size_t m)
{
	size_t kept = 1, from = 0;
	for (size_t i = 1; i + 1 < m; i++) {
		bool close = k[i].x - k[kept - 1].x < USK_SECOND ||
			     (i + 2 == m && k[m - 1].x - k[i].x < USK_SECOND);
		size_t to = from;
		while (close && to < n && g[to].x < k[i + 1].x) {
			to++;
		}
		if (!close || !chord_passes(g, from, to, k[kept - 1], k[i + 1])) {
			k[kept++] = k[i];
			while (from < n && g[from].x < k[i].x) {
				from++;
			}
		}
	}
	k[kept++] = k[m - 1];
	return kept;
}

/* The tube's polyline. A band too narrow for knots 1 s apart gets a wider tube. */
static struct usk_xy *draw(const struct usk_band *b, const struct usk_bends *bends,
			   const struct wish *wish, size_t *n_out, int64_t *share)
{
	enum { SHARE = 20, LEAST_SHARE = 2, FEW = 16 };
	size_t n = bends->n, m;
	struct usk_gate *g = usk_alloc(n, sizeof *g);
	struct usk_xy *k = usk_alloc(n + 1, sizeof *k);
	int64_t span = (bends->at[n - 1].x - bends->at[0].x) / USK_SECOND;
	int64_t slow = wish->n ? -E12 : b->slow_e12, fast = wish->n ? E12 : b->fast_e12;
	for (*share = SHARE;; *share /= 2) {
		struct wish w = *wish;
		for (size_t i = 0; i < n; i++) {
			g[i] = gate_at(b, &bends->at[i], &w, *share);
		}
		m = usk_polyline(g, n, slow, fast, k);
		if (m <= FEW || (int64_t)m <= span || *share <= LEAST_SHARE) {
			break;
		}
	}
	*n_out = thin_out(g, n, k, m);
	free(g);
	return k;
}

/* ---- whole knots in order ------------------------------------------------------------ */

struct node {
	int64_t x;
	usk_i128 want, y;
	struct walls in;
};

/*
 * From left to right T = x + y takes the value in its walls that is nearest to what is wanted, is
 * not under the last T, and not over any wall to come. There always is one: a real path in the band
 * whose T never falls, rounded up, is in the weakest walls.
 */
static void settle(const struct usk_band *b, struct node *k, size_t n)
{
	size_t next[2] = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		for (int side = 0; side < 2; side++) {
			while (next[side] < b->n[side] && b->tip[side][next[side]].x < k[i].x) {
				next[side]++;
			}
		}
		k[i].in = walls_at(b, next, k[i].x);
	}
	usk_i128 *ahead = usk_alloc(n, sizeof *ahead);
	for (size_t i = n; i-- > 0;) {
		usk_i128 to = k[i].x + k[i].in.to;
		ahead[i] = i + 1 < n && ahead[i + 1] < to ? ahead[i + 1] : to;
	}
	usk_i128 last = k[0].x + k[0].in.from;
	for (size_t i = 0; i < n; i++) {
		usk_i128 from = k[i].x + k[i].in.from;
		from = from > last ? from : last;
		usk_i128 t = k[i].x + k[i].want;
		t = t < from ? from : t > ahead[i] ? ahead[i] : t;
		last = t > from ? t : from;
		k[i].y = last - k[i].x;
	}
	free(ahead);
}

/* Tips that the polyline misses, the worst of each link, or all: into more. */
static size_t missed(const struct usk_band *b, const struct node *k, size_t n, bool all,
		     int64_t *more)
{
	size_t m = 0;
	size_t other[2] = { 0, 0 };
	for (int side = 0; side < 2; side++) {
		usk_i128 worst = 0;
		size_t link = n;
		for (size_t i = 0, j = 0; i < b->n[side]; i++) {
			int64_t x = b->tip[side][i].x;
			size_t next[2];
			while (j + 2 < n && k[j + 1].x < x) {
				j++;
			}
			while (other[side] < b->n[!side] && b->tip[!side][other[side]].x < x) {
				other[side]++;
			}
			next[side] = i;
			next[!side] = other[side];
			struct walls in = walls_at(b, next, x);
			usk_i128 y = k[j].y +
				     usk_floor_div((k[j + 1].y - k[j].y) * ((usk_i128)x - k[j].x),
						   (usk_i128)k[j + 1].x - k[j].x);
			usk_i128 miss = side ? y - in.to : in.from - y;
			if (miss <= 0 || x == k[j].x || x == k[j + 1].x) {
				continue;
			}
			if (all || link != j) {
				more[m++] = x;
				worst = miss;
			} else if (miss > worst) {
				more[m - 1] = x;
				worst = miss;
			}
			link = j;
		}
	}
	return m;
}

static int by_x(const void *pa, const void *pb)
{
	const struct node *a = pa, *b = pb;
	return (a->x > b->x) - (a->x < b->x);
}

/* Settle; make knots of points that are missed; again. */
static size_t repair(const struct usk_band *b, const struct wish *wish, struct node **nodes,
		     size_t n)
{
	enum { ROUNDS = 30 };
	int64_t *more = usk_alloc(b->n[0] + b->n[1], sizeof *more);
	struct node *k = *nodes;
	size_t m = 1;
	for (int round = 0; m; round++) {
		settle(b, k, n);
		m = missed(b, k, n, round >= ROUNDS, more);
		k = usk_grow(k, n + m, sizeof *k);
		for (size_t i = 0; i < m; i++) {
			struct wish w = *wish;
			usk_i128 lo, hi;
			usk_band_lo(b, more[i], &lo);
			usk_band_hi(b, more[i], &hi);
			k[n + i] = (struct node){
				.x = more[i],
				.want = wished(&w, &b->frame, more[i], lo, hi),
			};
		}
		qsort(k, n + m, sizeof *k, by_x);
		size_t all = n + m;
		n = 1;
		for (size_t i = 1; i < all; i++) { /* two sides may miss at one moment */
			if (k[i].x != k[n - 1].x) {
				k[n++] = k[i];
			}
		}
	}
	free(more);
	*nodes = k;
	return n;
}

/* ---- all of it --------------------------------------------------------------------------- */

static struct usk_knot *blank(const struct usk_band *b, const int64_t *x, size_t n)
{
	struct usk_knot *k = usk_alloc(n, sizeof *k);
	for (size_t i = 0; i < n; i++) {
		k[i].local_ns = (int64_t)((usk_i128)b->frame.local_ns + x[i]);
		k[i].offset_ns = USK_NONE;
	}
	return k;
}

/* Knots of a polyline at most `off` outside of one side's bound. */
static size_t follow(const struct usk_band *b, const struct usk_bends *bends, int side, int64_t off,
		     struct usk_gate *g, struct usk_xy *out)
{
	int64_t least = side ? -b->fast_e12 : b->slow_e12, most = side ? -b->slow_e12 : b->fast_e12;
	for (size_t i = 0; i < bends->n; i++) {
		int64_t y = side ? -bends->at[i].hi : bends->at[i].lo;
		y = y < -USK_TIME_MAX / 2 ? -USK_TIME_MAX / 2 : y;
		g[i] = (struct usk_gate){ bends->at[i].x, y - off, y };
	}
	return usk_polyline(g, bends->n, least, most, out);
}

/* A band without a roof or a ground has no width to compare with: knots as fine as half the mean
 * distance of its points makes it anyway, and finer as long as they are few. */
static struct usk_knot *one_sided(const struct usk_band *b, const struct usk_bends *bends,
				  size_t *n)
{
	enum { FEW = 64, FINER = 8 };
	int side = !b->n[0];
	size_t m = bends->n, more;
	struct usk_gate *g = usk_alloc(m, sizeof *g);
	struct usk_xy *p = usk_alloc(m + 1, sizeof *p), *q = usk_alloc(m + 1, sizeof *q);
	usk_i128 gap = ((usk_i128)bends->at[m - 1].x - bends->at[0].x) / (usk_i128)b->n[side];
	int64_t off = usk_cut(((usk_i128)b->fast_e12 - b->slow_e12) * gap / E12 + 1);
	off = off > USK_TIME_MAX / 4 ? USK_TIME_MAX / 4 : off;
	*n = follow(b, bends, side, off, g, p);
	while (off > 0 && (more = follow(b, bends, side, off / FINER, g, q)) <= FEW) {
		memcpy(p, q, more * sizeof *p);
		*n = more;
		off /= FINER;
	}
	int64_t *x = usk_alloc(*n, sizeof *x);
	for (size_t i = 0; i < *n; i++) {
		x[i] = p[i].x;
	}
	struct usk_knot *k = blank(b, x, *n);
	free(g);
	free(p);
	free(q);
	free(x);
	return k;
}

/*
 * Where the band has knots: those of the line x[n], and where chords would be off by h/16 or more
 * (against h/20 in the tube). That is 70 an hour of a message a second, and its band is as wide as
 * it has to be to 3 %. A short trace has few knots anyway, and affords more: h/64.
 */
static size_t split(const struct usk_bends *bends, int64_t **x, size_t n, int64_t share)
{
	enum { FEW = 64 };
	for (int64_t finer = 4;; finer /= 2) {
		int64_t *y = usk_alloc(n, sizeof *y);
		memcpy(y, *x, n * sizeof *y);
		size_t m = usk_bends_split(bends, &y, n, finer * (share - share / 5));
		if (m <= FEW || finer == 1) {
			free(*x);
			*x = y;
			return m;
		}
		free(y);
	}
}

static struct usk_knot *two_sided(const struct usk_band *b, struct usk_bends *bends,
				  const struct wish *wish, size_t *n_out)
{
	size_t n, m = 0;
	int64_t share;
	struct usk_xy *p = draw(b, bends, wish, &n, &share);
	int64_t *x = usk_alloc(n, sizeof *x);
	for (size_t i = 0; i < n; i++) {
		x[i] = p[i].x;
	}
	int64_t x0 = bends->at[0].x, x1 = bends->at[bends->n - 1].x;
	free(bends->at);
	usk_bends_of(b, x0, x1, x, n, bends);
	m = split(bends, &x, n, share);
	struct node *k = usk_alloc(m, sizeof *k);
	for (size_t i = 0, j = 0; i < m; i++) {
		while (j + 2 < n && p[j + 1].x < x[i]) {
			j++;
		}
		k[i].x = x[i];
		usk_i128 dx = (usk_i128)p[j + 1].x - p[j].x;
		usk_i128 rise = ((usk_i128)p[j + 1].y - p[j].y) * ((usk_i128)x[i] - p[j].x);
		k[i].want = p[j].y + usk_floor_div(rise + dx / 2, dx);
	}
	m = repair(b, wish, &k, m);
	x = usk_grow(x, m, sizeof *x);
	for (size_t i = 0; i < m; i++) {
		x[i] = k[i].x;
	}
	struct usk_knot *knot = blank(b, x, m);
	for (size_t i = 0; i < m; i++) {
		knot[i].offset_ns = usk_cut(b->frame.offset_ns + k[i].y);
	}
	free(p);
	free(x);
	free(k);
	*n_out = m;
	return knot;
}

struct usk_knot *usk_band_knots(const struct usk_band *b, usk_i128 x0, usk_i128 x1,
				const struct usk_knot *line, size_t n_line, size_t *n)
{
	struct usk_bends bends;
	struct wish wish = { line, line ? n_line : 0, 0 };
	int64_t *more = usk_alloc(wish.n + 1, sizeof *more);
	for (size_t i = 0; i < wish.n; i++) {
		more[i] = usk_saturate((usk_i128)line[i].local_ns - b->frame.local_ns);
	}
	x0 = between(x0, -FAR, FAR - 1);
	x1 = between(x1, x0 + 1, FAR);
	usk_bends_of(b, (int64_t)x0, (int64_t)x1, more, wish.n, &bends);
	free(more);
	struct usk_knot *k =
		b->n[0] && b->n[1] ? two_sided(b, &bends, &wish, n) : one_sided(b, &bends, n);
	usk_bends_chords(b, &bends, k, *n);
	free(bends.at);
	return k;
}
