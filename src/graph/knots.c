/* SPDX-License-Identifier: MIT */
/*
 * knots.c - the fewest knots that hold a clock's bounds and pass the gates of its estimate
 *
 * In    corners, gates
 * Out   knots in whole ns
 * Why   a week has millions of events, and between them bounds bend
 * Not   how bounds hold what they are to hold between knots (hold.c)
 *
 * Each line is the polyline with the fewest links through its gates. Whatever rounding does to it
 * is looked at with the integers that are written; a knot at each event is the fallback, which is
 * in order as the events are.
 *
 * A bound may be written wider than it is, by a small share of the width. Which share brings few
 * knots is found by trying; what is tried goes no further than it has to, and where gates and
 * corners are what they were when the graph was solved before, nothing is tried.
 */
#include "fit/fit.h"
#include "graph/drawing.h"
#include "num/polyline.h"

#include <stdlib.h>
#include <string.h>

/* ---- polylines ---------------------------------------------------------------------------------
 */

struct line {
	struct usk_xy *p;
	size_t n;
};

/* Where knots are to be: rising, each once. */
struct places {
	int64_t *x;
	size_t n;
};

/* Those of a line, too. */
static struct places with_line(const struct places *some, const struct line *l)
{
	struct places all = { usk_grow(NULL, some->n + l->n + 1, sizeof *all.x), 0 };
	for (size_t i = 0, k = 0; i < some->n || k < l->n;) {
		bool own = k < l->n && (i == some->n || l->p[k].x < some->x[i]);
		int64_t x = own ? l->p[k].x : some->x[i];
		i += i < some->n && some->x[i] == x;
		while (k < l->n && l->p[k].x == x) {
			k++;
		}
		all.x[all.n++] = x;
	}
	return all;
}

/* On the line through its neighbours, rounded down or up. */
static int64_t line_at(const struct line *l, size_t *hint, int64_t x, bool up)
{
	return usk_saturate(usk_chords_at(l->p, l->n, hint, x, up));
}

/* The slopes of all runs of the clock: messages that were dropped while thinning are in order if
 * estimates keep to them. */
static struct usk_slopes slopes_of(const struct usk_drawing *d)
{
	const struct usk_work *w = d->w;
	struct usk_slopes s = { w->p->max_skew_e12, -w->p->max_skew_e12 };
	for (size_t i = w->run_of[w->first[d->clock]]; i < w->n_runs && w->run[i].clock == d->clock;
	     i++) {
		const struct usk_run *r = &w->run[i];
		s.least_e12 = r->slow_e12 < s.least_e12 ? r->slow_e12 : s.least_e12;
		s.most_e12 = r->fast_e12 > s.most_e12 ? r->fast_e12 : s.most_e12;
	}
	return s;
}

static int64_t share_of(int64_t lo, int64_t hi, int64_t share)
{
	int64_t width;
	if (!__builtin_sub_overflow(hi, lo, &width)) {
		return width / share;
	}
	return usk_saturate(((usk_i128)hi - lo) / share);
}

struct bound {
	const struct usk_drawing *d;
	bool upper;
	int64_t share;
};

/* A bound, wider by a share of the width. */
static struct usk_gate bound_gate(const void *row, size_t i)
{
	const struct bound *b = row;
	const struct usk_bound_at *c = &b->d->corner[i];
	bool both = b->d->has[0] && b->d->has[1];
	int64_t at = c->bound[b->upper];
	int64_t more = both ? share_of(c->bound[0], c->bound[1], b->share) : 100;
	return b->upper ? (struct usk_gate){ c->x, at, usk_saturate((usk_i128)at + more) }
			: (struct usk_gate){ c->x, usk_saturate((usk_i128)at - more), at };
}

/* No more than most knots, its own and the places beside together. */
static struct line draw_bound(const struct usk_drawing *d, bool upper, int64_t share, size_t most,
			      const struct places *beside)
{
	const struct bound b = { d, upper, share };
	int64_t skew = d->w->p->max_skew_e12;
	struct line l;
	l.n = usk_polyline(bound_gate, &b, d->n_corners, -skew, skew, beside->x, beside->n,
			   most - beside->n, &l.p);
	return l;
}

/* Near the wish, and 1 ns inside the gate, as the ends of links are rounded. */
static struct usk_gate estimate_gate(const void *row, size_t i)
{
	enum { SHARE = 4096 };
	const struct usk_drawing *d = row;
	const struct usk_passage *c = &d->gate[i];
	int64_t more = share_of(c->lo, c->hi, SHARE) + 1;
	int64_t lo = usk_saturate((usk_i128)c->wish - more);
	int64_t hi = usk_saturate((usk_i128)c->wish + more);
	int64_t in = (usk_i128)c->hi - c->lo >= 4;
	struct usk_gate g = { c->x, lo > c->lo + in ? lo : c->lo + in,
			      hi < c->hi - in ? hi : c->hi - in };
	g.lo = g.lo < c->wish ? g.lo : c->wish;
	g.hi = g.hi > c->wish ? g.hi : c->wish;
	return g;
}

static struct line draw_estimate(const struct usk_drawing *d)
{
	struct usk_slopes s = slopes_of(d);
	struct line l;
	l.n = usk_polyline(estimate_gate, d, d->n_gates, s.least_e12, s.most_e12, NULL, 0, SIZE_MAX,
			   &l.p);
	return l;
}

/* ---- knots -------------------------------------------------------------------------------------
 */

/* Bounds as lines have them, and the estimate's rounding gives way to them. */
static void keep_exact(const struct usk_straight *s, struct usk_knot *k)
{
	if (s->lines) {
		usk_lines_at(s->lines, k->local_ns, &k->lo_ns, &k->hi_ns);
	}
	if (k->offset_ns != USK_NONE) {
		/* A bound that is out of range is none: USK_NONE is under every offset. */
		bool over = k->hi_ns != USK_NONE && k->offset_ns > k->hi_ns;
		k->offset_ns = k->offset_ns < k->lo_ns ? k->lo_ns : over ? k->hi_ns : k->offset_ns;
	}
}

static void set_knots(struct usk_drawing *d, const struct line *lo, const struct line *hi,
		      const struct line *mid, const struct places *all)
{
	size_t at[3] = { 0 };
	d->knot = usk_grow(d->knot, all->n + 1, sizeof *d->knot);
	d->n_knots = all->n;
	for (size_t i = 0; i < all->n; i++) {
		int64_t x = all->x[i];
		d->knot[i] =
			(struct usk_knot){ x, mid ? line_at(mid, &at[0], x, false) : USK_NONE,
					   d->has[0] ? line_at(lo, &at[1], x, false) : USK_NONE,
					   d->has[1] ? line_at(hi, &at[2], x, true) : USK_NONE, 0 };
		if (usk_is_straight(d->w, d->clock)) {
			keep_exact(&d->w->straight[d->clock], &d->knot[i]);
		}
	}
}

/* Does the map, which rounds down, miss a gate over the link behind a knot? By cross products: one
 * is asked for each event. */
static bool misses(const struct usk_knot *k, const struct usk_passage *g)
{
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 rise = ((usk_i128)k[1].offset_ns - k->offset_ns) * ((usk_i128)g->x - k->local_ns);
	return rise < ((usk_i128)g->lo - k->offset_ns) * run ||
	       rise >= ((usk_i128)g->hi - k->offset_ns + 1) * run;
}

/*
 * Between events, where a bound jumps, lines may fall: not what is written. Knots give way to those behind them, down to
 * the wish where they are at a gate. As wishes do not fall, what is raised then rises to no more than the wish of a gate.
 */
static void keep_rising(struct usk_drawing *d)
{
	for (size_t i = d->n_knots - 1, g = d->n_gates; i--;) {
		struct usk_knot *k = &d->knot[i];
		const usk_i128 next = (usk_i128)k[1].local_ns + k[1].offset_ns;
		while (g && d->gate[g - 1].x > k->local_ns) {
			g--;
		}
		if ((usk_i128)k->local_ns + k->offset_ns > next) {
			const bool gate = g && d->gate[g - 1].x == k->local_ns;
			const int64_t down = usk_saturate(next - k->local_ns);
			const int64_t least = gate ? d->gate[g - 1].wish : down;
			const int64_t to = least > down ? least : down;
			k->offset_ns = to < k->offset_ns ? to : k->offset_ns;
		}
	}
	for (size_t i = 1; i < d->n_knots; i++) {
		struct usk_knot *k = &d->knot[i];
		const usk_i128 last = (usk_i128)k[-1].local_ns + k[-1].offset_ns;
		if ((usk_i128)k->local_ns + k->offset_ns < last) {
			k->offset_ns = usk_saturate(last - k->local_ns);
		}
	}
}

/* Gates that the knots as they are written miss: places that need a knot. */
static struct places missed(const struct usk_drawing *d)
{
	struct places out = { NULL, 0 };
	size_t at = 0, cap = 0;
	for (size_t i = 0; i < d->n_gates; i++) {
		const struct usk_passage *g = &d->gate[i];
		while (at + 2 < d->n_knots && d->knot[at + 1].local_ns < g->x) {
			at++;
		}
		if (misses(&d->knot[at], g)) {
			*USK_ADD(out.x, out.n, cap) = g->x;
		}
	}
	return out;
}

/* At the places the wish itself. */
static void pin(struct usk_drawing *d, const struct places *place)
{
	const int64_t *x = place->x;
	for (size_t i = 0, k = 0, g = 0; i < place->n; i++) {
		while (g < d->n_gates && d->gate[g].x < x[i]) {
			g++;
		}
		while (k < d->n_knots && d->knot[k].local_ns < x[i]) {
			k++;
		}
		if (k < d->n_knots && g < d->n_gates && d->knot[k].local_ns == x[i]) {
			d->knot[k].offset_ns = d->gate[g].wish;
		}
	}
}

/* Ends of cells over which a bound is open: it jumps there. */
static struct places jump_places(const struct usk_drawing *d)
{
	struct places out = { NULL, 0 };
	size_t cap = 0;
	for (uint32_t i = d->from; i + 1 < d->to; i++) {
		if (usk_cell_jumps(d->w->cell[i])) {
			int64_t from = d->w->x[i], to = d->w->x[i + 1];
			int64_t at[4] = { from, from + 1, to - 1, to };
			for (size_t k = 0; k < 4; k++) {
				bool behind = !out.n || at[k] > out.x[out.n - 1];
				if (at[k] >= from && at[k] <= to && behind) {
					*USK_ADD(out.x, out.n, cap) = at[k];
				}
			}
		}
	}
	return out;
}

static struct line copy(const struct usk_xy *p, size_t n)
{
	struct line l = { usk_grow(NULL, n, sizeof *l.p), n };
	memcpy(l.p, p, n * sizeof *p);
	return l;
}

/* What goes by no share, and so stays from draw to draw. */
struct kept {
	bool both;	  /* bounds, and so an estimate */
	struct line wish; /* the estimate's */
	struct places at; /* its knots, and where bounds jump */
	bool sure;	  /* knots on it rise and miss no gate, wherever they lie */
};

/* Does T never fall along a line? */
static bool rises(const struct line *l)
{
	bool all = true;
	for (size_t i = 1; i < l->n; i++) {
		const struct usk_xy a = l->p[i - 1], b = l->p[i];
		all = all && (usk_i128)a.x + a.y <= (usk_i128)b.x + b.y;
	}
	return all;
}

/* Rounded down a knot lies by less than 1 under the line, and so does what lies between two. */
static bool clears_gates(const struct usk_drawing *d, const struct line *l)
{
	bool all = true;
	for (size_t i = 0, at = 0; i < d->n_gates && all; i++) {
		struct usk_passage g = d->gate[i];
		while (at + 2 < l->n && l->p[at + 1].x < g.x) {
			at++;
		}
		const struct usk_xy a = l->p[at], b = l->p[at + 1];
		const struct usk_knot k[] = { { .local_ns = a.x, .offset_ns = a.y },
					      { .local_ns = b.x, .offset_ns = b.y } };
		g.lo = usk_saturate((usk_i128)g.lo + 1);
		all = !misses(k, &g);
	}
	return all;
}

static struct kept keep(const struct usk_drawing *d)
{
	const struct usk_straight *s =
		usk_is_straight(d->w, d->clock) ? &d->w->straight[d->clock] : NULL;
	struct places jumps = jump_places(d);
	struct kept out = { .both = d->has[0] && d->has[1] };
	if (out.both) {
		bool is_line = s && s->line[0].x < s->line[1].x;
		out.wish = is_line ? copy(s->line, 2) : draw_estimate(d);
		out.sure = !s && rises(&out.wish) && clears_gates(d, &out.wish);
	}
	out.at = with_line(&jumps, &out.wish);
	free(jumps.x);
	return out;
}

/* Lines as far from the bounds as a share of their width allows, and the places of all knots: none
 * where these are more than most. */
static struct places draw_lines(const struct usk_drawing *d, int64_t share, size_t most,
				const struct kept *kept, struct line line[2])
{
	const struct usk_straight *s =
		usk_is_straight(d->w, d->clock) ? &d->w->straight[d->clock] : NULL;
	const struct line none = { NULL, 0 };
	struct places all = with_line(&kept->at, &none);
	for (int k = 0; k < 2 && all.n <= most; k++) {
		if (d->has[k]) {
			line[k] = s ? copy(s->bound[k], s->n[k])
				    : draw_bound(d, k, share, most, &all);
			struct places some = all;
			all = with_line(&some, &line[k]);
			all.n = line[k].n ? all.n : SIZE_MAX;
			free(some.x);
		}
	}
	all.n = all.n <= most ? all.n : 0;
	return all;
}

enum { PINS = 12 };

static struct line line_of(const struct usk_knot *k, size_t n)
{
	struct line l = { usk_grow(NULL, n + 1, sizeof *l.p), n };
	for (size_t i = 0; i < n; i++) {
		l.p[i] = (struct usk_xy){ k[i].local_ns, k[i].offset_ns };
	}
	return l;
}

static struct line wishes(const struct usk_drawing *d)
{
	struct line l = { usk_grow(NULL, d->n_gates + 1, sizeof *l.p), d->n_gates };
	for (size_t i = 0; i < l.n; i++) {
		l.p[i] = (struct usk_xy){ d->gate[i].x, d->gate[i].wish };
	}
	return l;
}

/* Knots at gates that are missed, as often as that helps; then at all gates, and all others on the line from wish to
 * wish. */
static void pin_missed(struct usk_drawing *d, const struct line bound[2])
{
	for (int round = 0; round <= PINS; round++) {
		keep_rising(d);
		struct places place = missed(d);
		if (!place.n) {
			return;
		}
		/* Those that were pinned before stay so. */
		struct line mid = round < PINS ? line_of(d->knot, d->n_knots) : wishes(d);
		struct line now = line_of(d->knot, d->n_knots);
		struct places some = with_line(&place, &now), all = with_line(&some, &mid);
		set_knots(d, &bound[0], &bound[1], &mid, &all);
		pin(d, &place);
		USK_FREE(mid.p, now.p, place.x, some.x, all.x);
	}
}

/* Lines by a share of the width, and the knots of all of them. false: more than most, and what was
 * drawn before still stands. */
static bool draw(struct usk_drawing *d, int64_t share, size_t most, const struct kept *kept)
{
	struct line line[2] = { { NULL, 0 }, { NULL, 0 } };
	struct places all = draw_lines(d, share, most, kept, line);
	struct usk_drawing now = *d;
	now.knot = NULL;
	if (all.n) {
		set_knots(&now, &line[0], &line[1], kept->both ? &kept->wish : NULL, &all);
		if (kept->both && !kept->sure) {
			pin_missed(&now, line);
		}
	}
	bool good = all.n && now.n_knots <= most;
	if (good) {
		free(d->knot);
		*d = now;
	} else {
		free(now.knot);
	}
	USK_FREE(line[0].p, line[1].p, all.x);
	return good;
}

enum { NEAR = 768, NEARER = 32, FAR = 24, FEW_KNOTS = 128, MOST_KNOTS = 1 << 14 };

/* Every pair of a clock goes through its knots, so with few pairs they may be nearer: at 32 chords
 * cost about 2 % of the width, at 24 3 %. */
static int64_t far_share(const struct usk_work *w, uint32_t k)
{
	enum { FEW_PAIRS = 16 };
	return w->pairs_of[k] > FEW_PAIRS ? FAR : NEARER;
}

/* As near to the bounds as a share of the width, and less so the more knots that takes: half as
 * near brings half as many. Returns the share. */
static int64_t draw_near(struct usk_drawing *d, const struct kept *kept)
{
	const int64_t far = far_share(d->w, d->clock);
	int64_t share = 0, next = NEAR;
	while (next / 2 > far) {
		next /= 2;
	}
	for (; next <= NEAR && draw(d, next, FEW_KNOTS, kept); next *= 2) {
		share = next;
	}
	if (share) {
		return share;
	}
	/* Where that is not few no share in between brings it down to few. */
	for (share = far; !draw(d, share, share > 1 ? MOST_KNOTS : SIZE_MAX, kept);) {
		share /= 2;
	}
	return share;
}

static uint64_t mix(uint64_t h, const void *words, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof h) {
		uint64_t v;
		memcpy(&v, (const uint8_t *)words + i, sizeof v);
		h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

/* All that the share goes by; never 0. */
static uint64_t sum_of(const struct usk_drawing *d, const struct kept *kept)
{
	uint64_t more[] = { (uint64_t)far_share(d->w, d->clock), d->has[0], d->has[1] };
	uint64_t h = mix(0, d->corner, d->n_corners * sizeof *d->corner);
	h = mix(h, d->gate, d->n_gates * sizeof *d->gate);
	h = mix(h, kept->at.x, kept->at.n * sizeof *kept->at.x);
	return mix(h, more, sizeof more) | 1;
}

void usk_draw_knots(struct usk_drawing *d)
{
	struct kept kept = keep(d);
	struct usk_drawn now = { .sum = sum_of(d, &kept) };
	if (d->drawn->sum == now.sum) {
		draw(d, d->drawn->share, SIZE_MAX, &kept);
	} else {
		now.share = draw_near(d, &kept);
		*d->drawn = now;
	}
	usk_hold_bounds(d);
	USK_FREE(kept.wish.p, kept.at.x);
}
