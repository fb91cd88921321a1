/* SPDX-License-Identifier: MIT */
/*
 * chain.c - lines of given length that meet: the model `segments=DURATION`
 *
 * In    the points of a stretch, where its borders are
 * Out   knots with band and estimate
 * Why   a rate that is constant for half an hour is believed where one that is constant for a day
 *       is not (Clement 2009)
 * Not   stretches that no chain fits (chain_cuts.c)
 *
 * F_1 is what the lines of the first segment say at its end; F_k what those lines of segment k say
 * at its end that begin in F_(k-1): that far chains from the left can come. The same from the
 * right, and where both meet is all that any chain of the whole can be at a border: a value there
 * has a way to the left and a way to the right. So the band of a segment is that of the lines
 * between its two borders' gates. A gate is two points more, a floor and a ceiling, so segments are
 * hulls like any other. The estimate goes from the middle of the last gate back, each time through
 * the middle of where the segment's lines come from.
 */
#include "fit/chain.h"
#include "fit/timeline.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one segment --------------------------------------------------------------------------- */

struct usk_lines *usk_chain_lines(const struct usk_part *segment, int64_t x0,
				  const struct usk_gate *g0, int64_t x1, const struct usk_gate *g1,
				  int64_t max_skew_e12)
{
	struct usk_xy *hull[2];
	size_t n[2];
	for (int side = 0; side < 2; side++) {
		struct usk_xy *h = hull[side] = usk_alloc(segment->n[side] + 2, sizeof *h);
		size_t m = 0;
		if (g0->has[side]) {
			m = usk_hull_push(h, m, (struct usk_xy){ x0, g0->y[side] });
		}
		for (size_t i = 0; i < segment->n[side]; i++) {
			m = usk_hull_push(h, m, segment->point[side][i]);
		}
		if (g1->has[side]) {
			m = usk_hull_push(h, m, (struct usk_xy){ x1, g1->y[side] });
		}
		n[side] = m;
	}
	struct usk_lines *l =
		usk_lines_of(&segment->frame, (const struct usk_xy *const[2]){ hull[0], hull[1] },
			     n, segment->q_ns, max_skew_e12);
	free(hull[0]);
	free(hull[1]);
	if (l->quality == USK_CONTRADICTED) {
		usk_lines_free(l);
		return NULL;
	}
	return l;
}

struct usk_gate usk_chain_gate(const struct usk_lines *l, int64_t x)
{
	struct usk_gate g = { { false, false }, { 0, 0 } };
	for (int side = 0; side < 2; side++) {
		if (l->half[side].n) {
			usk_i128 y = usk_lines_half_floor(l, side, x);
			g.has[side] = y > -USK_TIME_MAX; /* else it says nothing */
			g.y[side] = usk_cut(y);
		}
	}
	return g;
}

/* ---- the chain ------------------------------------------------------------------------------- */

struct chain {
	int64_t skew;
	size_t n;	       /* segments */
	int64_t *x;	       /* n + 1 borders, the ends included */
	struct usk_part *part; /* of each; a point on a border is the left one's */
	struct usk_gate *gate; /* n + 1 */
	struct usk_lines **line;
	bool *many; /* is it several, without a point? Then it bends within */
};

static const struct usk_gate open_gate = { { false, false }, { 0, 0 } };

/* Borders between two points that follow each other: the first and the last, as lines through empty
 * segments reach as far as one line through all of them. */
static void add_borders(struct chain *c, const struct usk_grid *g, usk_i128 from, usk_i128 to,
			size_t *cap)
{
	usk_i128 first = usk_grid_next(g, from - 1), last = usk_grid_next(g, to - 1) - g->length;
	const usk_i128 both[] = { first, last };
	for (size_t i = 0; i < 2 && first <= last; i++) {
		if (both[i] > c->x[c->n - 1]) {
			c->x = usk_room(c->x, c->n + 1, cap, sizeof *c->x);
			c->x[c->n++] = (int64_t)both[i];
		}
	}
}

static void chain_begin(struct chain *c, const struct usk_part *p, const struct usk_grid *g,
			int64_t x0, int64_t x1, int64_t skew)
{
	size_t cap = 2;
	*c = (struct chain){ .n = 1, .skew = skew, .x = usk_alloc(cap, sizeof *c->x) };
	c->x[0] = x0;
	int64_t at = x0;
	for (int64_t x = x0; usk_part_next(p, &x) && x < x1; at = x) {
		add_borders(c, g, at, x, &cap);
	}
	add_borders(c, g, at, x1, &cap);
	c->x[c->n] = x1;
	c->part = usk_alloc(c->n, sizeof *c->part);
	c->gate = usk_alloc(c->n + 1, sizeof *c->gate);
	c->line = usk_alloc(c->n, sizeof(struct usk_lines *));
	c->many = usk_alloc(c->n, sizeof *c->many);
	for (size_t i = 0; i < c->n; i++) {
		c->part[i] = usk_part_between(p, i ? c->x[i] + 1 : -USK_TIME_MAX,
					      i + 1 < c->n ? c->x[i + 1] : USK_TIME_MAX);
		c->many[i] = (usk_i128)c->x[i + 1] - c->x[i] > g->length;
	}
}

static void chain_free(struct chain *c)
{
	for (size_t i = 0; i < c->n; i++) {
		usk_lines_free(c->line[i]);
	}
	free(c->x);
	free(c->part);
	free(c->gate);
	free(c->line);
	free(c->many);
}

static struct usk_lines *lines_of(const struct chain *c, size_t i, const struct usk_gate *g0,
				  const struct usk_gate *g1)
{
	return usk_chain_lines(&c->part[i], c->x[i], g0, c->x[i + 1], g1, c->skew);
}

static struct usk_gate narrower(struct usk_gate a, struct usk_gate b)
{
	for (int side = 0; side < 2; side++) {
		if (b.has[side] && (!a.has[side] || b.y[side] > a.y[side])) {
			a.has[side] = true;
			a.y[side] = b.y[side];
		}
	}
	return a;
}

/* Forward, backward, and all lines between. false: no chain. */
static bool chain_solve(struct chain *c)
{
	struct usk_gate back = open_gate;
	bool good = true;
	for (size_t i = 0; i + 1 < c->n && good; i++) {
		struct usk_lines *l = lines_of(c, i, &c->gate[i], &open_gate);
		good = l != NULL;
		if (l) {
			c->gate[i + 1] = usk_chain_gate(l, c->x[i + 1]);
			usk_lines_free(l);
		}
	}
	for (size_t i = c->n - 1; i > 0 && good; i--) {
		struct usk_lines *l = lines_of(c, i, &open_gate, &back);
		good = l != NULL;
		if (l) {
			back = usk_chain_gate(l, c->x[i]);
			c->gate[i] = narrower(c->gate[i], back);
			back = c->gate[i];
			usk_lines_free(l);
		}
	}
	for (size_t i = 0; i < c->n && good; i++) {
		c->line[i] = lines_of(c, i, &c->gate[i], &c->gate[i + 1]);
		good = c->line[i] != NULL;
	}
	return good;
}

/* The middle of a gate. */
static int64_t middle(const struct usk_gate *g)
{
	return (int64_t)usk_floor_div((usk_i128)g->y[0] - g->y[1], 2);
}

/* The estimate at the borders, from the last one back; both sides of every gate are known. */
static void trace_back(const struct chain *c, int64_t *y)
{
	struct usk_gate at = usk_chain_gate(c->line[c->n - 1], c->x[c->n]);
	y[c->n] = middle(&at);
	for (size_t i = c->n; i-- > 0;) {
		struct usk_gate end = { { true, true }, { y[i + 1], -y[i + 1] } };
		struct usk_lines *l = lines_of(c, i, &c->gate[i], &end);
		/* Rounded to a whole ns it may miss the lines by less than that. */
		at = usk_chain_gate(l ? l : c->line[i], c->x[i]);
		y[i] = middle(&at);
		usk_lines_free(l);
	}
}

/* ---- knots ------------------------------------------------------------------------------------
 */

#define END_NS INT64_C(1000000000)

static int by_value(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

/* Several segments without a point bend as they like: from either gate at the skew limit. Floors,
 * or ceilings mirrored, rounded down. */
static int64_t reached(const struct chain *c, size_t i, int side, int64_t x)
{
	const struct usk_gate *g = &c->gate[i];
	usk_i128 left = g[0].y[side] - usk_ceil_div(c->skew * ((usk_i128)x - c->x[i]), USK_E12);
	usk_i128 right =
		g[1].y[side] - usk_ceil_div(c->skew * ((usk_i128)c->x[i + 1] - x), USK_E12);
	return usk_cut(!g[1].has[side] || (g[0].has[side] && left > right) ? left : right);
}

/* Where what comes from the left meets what comes from the right, and 1 ns on. */
static size_t add_corners(const struct chain *c, size_t i, int64_t *x, size_t n)
{
	for (int side = 0; side < 2 && c->many[i] && c->skew; side++) {
		const struct usk_gate *g = &c->gate[i];
		if (!g[0].has[side] || !g[1].has[side]) {
			continue;
		}
		usk_i128 rise = (usk_i128)g[0].y[side] - g[1].y[side];
		usk_i128 at =
			usk_floor_div(rise * USK_E12 + c->skew * ((usk_i128)c->x[i] + c->x[i + 1]),
				      2 * (usk_i128)c->skew);
		for (int next = 0; next < 2; next++) {
			if (at + next > c->x[i] && at + next < c->x[i + 1]) {
				x[n++] = (int64_t)at + next;
			}
		}
	}
	return n;
}

/* Borders and vertices, each once. Of the vertices within 1 s of either end those alone that `ends`
 * asks for: what goes on beyond should be the rate of more than two neighbours. Between borders lo
 * is concave and hi convex, so chords hold the band without them. */
static struct usk_knot *knots_of(const struct chain *c, bool ends, size_t *n_out)
{
	size_t n = 0, m = 0, cap = 6 * c->n + 2;
	for (size_t i = 0; i < c->n; i++) {
		cap += c->line[i]->half[0].n + c->line[i]->half[1].n;
	}
	int64_t *x = usk_alloc(cap, sizeof *x), x0 = c->x[0], x1 = c->x[c->n];
	for (size_t i = 0; i < c->n; i++) {
		x[n++] = c->x[i];
		x[n++] = c->x[i + 1];
		n = add_corners(c, i, x, n);
		for (int side = 0; side < 2; side++) {
			const struct usk_half *h = &c->line[i]->half[side];
			for (size_t k = 0; k < h->n; k++) {
				int64_t at = h->hull[k].x;
				if (ends || (at - x0 >= END_NS && x1 - at >= END_NS)) {
					x[n++] = at;
				}
			}
		}
	}
	qsort(x, n, sizeof *x, by_value);
	struct usk_knot *k = usk_alloc(n, sizeof *k);
	for (size_t i = 0; i < n; i++) {
		int64_t at = c->part[0].frame.local_ns + x[i];
		if (!m || k[m - 1].local_ns != at) {
			k[m++].local_ns = at;
		}
	}
	free(x);
	*n_out = m;
	return k;
}

static void band(const struct chain *c, struct usk_knot *k, size_t n)
{
	for (size_t i = 0, s = 0; i < n; i++) {
		int64_t x = k[i].local_ns - c->part[0].frame.local_ns;
		while (s + 1 < c->n && x > c->x[s + 1]) {
			s++;
		}
		usk_lines_at(c->line[s], k[i].local_ns, &k[i].lo_ns, &k[i].hi_ns);
		k[i].offset_ns = USK_NONE;
		if (c->many[s] && x > c->x[s] && x < c->x[s + 1]) {
			int64_t origin = c->part[0].frame.offset_ns;
			if (k[i].lo_ns != USK_NONE) {
				k[i].lo_ns = origin + reached(c, s, USK_FLOOR, x);
			}
			if (k[i].hi_ns != USK_NONE) {
				k[i].hi_ns = origin - reached(c, s, USK_CEILING, x);
			}
		}
	}
}

/* A segment's line: what an estimator draws through its own messages; else the chain's, own[2]. */
static void draw_segment(const struct chain *c, size_t s, const struct usk_fit *fit,
			 const struct usk_estimator *method, const struct usk_knot own[2],
			 struct usk_knot *k, size_t n)
{
	const struct usk_knot *line = own;
	struct usk_knot *drawn = NULL;
	size_t n_line = 2, n_drawn = 0, at = 0;
	if (method->estimate != usk_est_middle) {
		struct usk_fit sub = usk_fit_part(fit, &c->part[s], own[0].local_ns,
						  own[1].local_ns, !s, s + 1 == c->n);
		const struct usk_lines *its = sub.lines;
		sub.lines = sub.plain = c->line[s];
		if (!method->estimate(&sub, &drawn, &n_drawn, NULL)) {
			line = drawn;
			n_line = n_drawn;
		}
		sub.lines = its;
		usk_fit_part_free(&sub);
	}
	for (size_t i = 0; i < n; i++) {
		k[i].offset_ns = usk_line_at(line, n_line, &at, k[i].local_ns);
	}
	free(drawn);
}

static void draw(const struct chain *c, const struct usk_fit *fit,
		 const struct usk_estimator *method, const int64_t *y, struct usk_knot *k, size_t n)
{
	const struct usk_frame *f = &c->part[0].frame;
	for (size_t s = 0, i = 0, end = 0; s < c->n; s++, i = end) {
		struct usk_knot own[2];
		for (size_t e = 0; e < 2; e++) {
			own[e].local_ns = f->local_ns + c->x[s + e];
			own[e].offset_ns = usk_cut((usk_i128)f->offset_ns + y[s + e]);
		}
		while (end < n && (k[end].local_ns <= own[1].local_ns || s + 1 == c->n)) {
			end++;
		}
		draw_segment(c, s, fit, method, own, k + i, end - i);
	}
}

static bool settle(const struct chain *c, bool strict, struct usk_knot *k, size_t n)
{
	struct usk_room *room = usk_alloc(n, sizeof *room);
	const struct usk_frame *f = &c->part[0].frame;
	for (size_t i = 0, s = 0; i < n; i++) {
		int64_t x = k[i].local_ns - f->local_ns;
		while (s + 1 < c->n && x > c->x[s + 1]) {
			s++;
		}
		room[i] = usk_room_of(&k[i]);
		usk_room_between(&room[i], c->line[s], strict, k[i].local_ns);
		if (s + 1 < c->n && x == c->x[s + 1]) {
			usk_room_between(&room[i], c->line[s + 1], strict, k[i].local_ns);
		}
	}
	bool good = usk_rooms_settle(room, k, n);
	free(room);
	return good;
}

/* ---- a stretch --------------------------------------------------------------------------------
 */

static double ppm(struct usk_slope s)
{
	return 1e6 * (double)s.num / (double)s.den;
}

static void rates(const struct chain *c, struct usk_clock *clock)
{
	const struct usk_knot *a = clock->knot, *z = a + clock->n_knots - 1;
	clock->drift_ppm = 0 - ppm((struct usk_slope){ (usk_i128)z->offset_ns - a->offset_ns,
						       (usk_i128)z->local_ns - a->local_ns });
	for (size_t i = 0; i < c->n; i++) {
		double least = 0 - ppm(c->line[i]->max), most = 0 - ppm(c->line[i]->min);
		clock->drift_min_ppm =
			!i || least < clock->drift_min_ppm ? least : clock->drift_min_ppm;
		clock->drift_max_ppm =
			!i || most > clock->drift_max_ppm ? most : clock->drift_max_ppm;
	}
}

static bool in_order(const struct usk_knot *k, size_t n, const struct usk_part *p)
{
	struct usk_timeline line = { .part = p };
	int64_t at;
	usk_timeline_add(&line, k, n);
	bool good = usk_timeline_check(&line, NULL, 0, &at);
	free(line.knot);
	return good;
}

static enum usk_status estimate(const struct chain *c, const struct usk_fit *fit,
				const struct usk_part *part, const struct usk_estimator *method,
				struct usk_clock *clock, struct usk_err *err)
{
	int64_t *y = usk_alloc(c->n + 1, sizeof *y);
	bool strict = !part->q_ns[0] && !part->q_ns[1], good = false;
	trace_back(c, y);
	for (int ends = 0; ends < 2 && !good; ends++) {
		free(clock->knot);
		clock->knot = knots_of(c, ends, &clock->n_knots);
		band(c, clock->knot, clock->n_knots);
		draw(c, fit, method, y, clock->knot, clock->n_knots);
		good = settle(c, strict, clock->knot, clock->n_knots) &&
		       in_order(clock->knot, clock->n_knots, part);
	}
	free(y);
	return good ? USK_OK
		    : usk_fail(err, USK_EINPUT, 0,
			       "the correction failed its own check at %lld ns: please report this",
			       (long long)clock->knot[0].local_ns);
}

int64_t usk_chain_reach(const struct usk_fit *fit, const struct usk_part *part,
			const struct usk_grid *g)
{
	struct chain c;
	int64_t first = INT64_MAX, last = INT64_MIN, most = 0;
	for (int side = 0; side < 2; side++) {
		if (part->n[side]) {
			int64_t a = part->point[side][0].x;
			int64_t z = part->point[side][part->n[side] - 1].x;
			first = a < first ? a : first;
			last = z > last ? z : last;
		}
	}
	chain_begin(&c, part, g, first, last > first ? last : first + 1, fit->max_skew_e12);
	bool good = chain_solve(&c);
	for (size_t i = 0; good && i < c.n; i++) {
		const struct usk_lines *l = c.line[i];
		int64_t rate = part->frame.rate_e12;
		usk_i128 up = usk_ceil_div(l->max.num * USK_E12, l->max.den) - rate;
		usk_i128 down = rate - usk_floor_div(l->min.num * USK_E12, l->min.den);
		usk_i128 most_here = up > down ? up : down;
		most = most_here > most ? (int64_t)most_here : most;
	}
	chain_free(&c);
	return most;
}

enum usk_status usk_chain_fit(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
			      const struct usk_estimator *method, struct usk_clock *clock,
			      struct usk_err *err)
{
	const struct usk_grid *grid = ctx;
	struct chain c;
	usk_i128 x0, x1;
	enum usk_status status = USK_OK;
	usk_fit_span(fit, &x0, &x1);
	chain_begin(&c, part, grid, usk_cut(x0), usk_cut(x1), fit->max_skew_e12);
	bool both = part->n[0] && part->n[1];
	clock->quality = both ? USK_BOUNDED : USK_ONE_SIDED;
	clock->resolution_ns = part->q_ns[USK_FLOOR];
	clock->drift_ppm = clock->drift_min_ppm = clock->drift_max_ppm = NAN;
	clock->before = clock->after = usk_skew_slopes(fit->max_skew_e12);
	clock->knot = NULL;
	clock->n_knots = 0;
	if (!chain_solve(&c)) {
		status =
			usk_fail(err, USK_EINPUT, 0,
				 "no line of each segment meets those of its neighbours at %lld ns",
				 (long long)fit->first_local_ns);
	} else if (both) {
		status = estimate(&c, fit, part, method, clock, err);
		if (!status) {
			rates(&c, clock);
		}
	} else {
		clock->knot = knots_of(&c, true, &clock->n_knots);
		band(&c, clock->knot, clock->n_knots);
	}
	if (status) {
		free(clock->knot);
		clock->knot = NULL;
		clock->n_knots = 0;
	}
	chain_free(&c);
	return status;
}
