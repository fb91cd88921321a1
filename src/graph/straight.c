/* SPDX-License-Identifier: MIT */
/*
 * straight.c - clocks of constant rates: all lines that fit, instead of cones
 *
 * In    edges of an island in which nothing is broken, bounds that hold already
 * Out   each clock's exact band, its rates, a line as its estimate; narrower bounds of events
 * Why   a cone lets one rate come from the left and another from the right. Two clocks: the polygon
 *       of lines, exact. More: Ashton's "more ambitious project" (1995, section 7), a linear
 *       program that is aware of all constraints
 * Not   clocks that wander or were set (rates.c)
 *
 * Clocks are asked about in groups, each by an asker of its own, so that several threads can ask;
 * groups do not depend on how many there are.
 */
#include "fit/fit.h"
#include "graph/corners.h"
#include "num/polyline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Clocks of a linear program at most: of more it costs more than it narrows. Knots of a bound at
 * most, each of them a question: few clocks get all their bounds have, of many these are as long as
 * chords are next to nothing over them. Lines of a group.
 */
enum { LP_CLOCKS = 64, FEW_CLOCKS = 16, CORNERS = 64, CORNERS_OF_MANY = 16 };
enum { GROUP = 4 };

bool usk_straight_applies(const struct usk_work *w)
{
	bool few =
		w->n_clocks <= 2 || (w->n_clocks <= LP_CLOCKS && usk_lp_solver() && !w->p->paths);
	return w->p->model.kind == USK_LINEAR && few && !w->n_breaks;
}

struct usk_lines *usk_straight_pair(const struct usk_part *p, int64_t max_skew_e12)
{
	struct usk_xy *at[2];
	for (int side = 0; side < 2; side++) {
		at[side] = usk_grow(NULL, p->n[side] + 1, sizeof *at[side]);
		for (size_t i = 0; i < p->n[side]; i++) {
			/* Lines have points at stamps as recorded. */
			at[side][i] = p->point[side][i];
			at[side][i].x -= side ? 0 : p->q_ns[side];
		}
	}
	struct usk_lines *l = usk_lines_of(&p->frame, at, p->n, p->q_ns, max_skew_e12);
	free(at[0]);
	free(at[1]);
	return l;
}

/* ---- two clocks --------------------------------------------------------------------------------
 */

static struct usk_lines *lines_of(const struct usk_work *w, uint32_t k, struct usk_frame *f)
{
	static const int64_t none[2] = { 0, 0 };
	uint32_t a = w->first[k], z = w->first[k + 1];
	struct usk_xy *point[2];
	size_t n[2] = { 0 };
	bool any = false;
	*f = (struct usk_frame){ .local_ns = w->x[a] };
	for (int side = 0; side < 2; side++) {
		point[side] = usk_grow(NULL, (size_t)(z - a) + 1, sizeof *point[side]);
	}
	for (uint32_t i = a; i < z; i++) {
		if (w->peer[i] == USK_NO_EVENT) {
			continue;
		}
		/* At x the reference showed at least so much if this was received, at most if sent.
		 */
		usk_i128 y = (usk_i128)w->x[w->peer[i]] - w->x[i];
		f->offset_ns = any ? f->offset_ns : usk_saturate(y);
		any = true;
		y -= f->offset_ns;
		int side = w->sent[i] ? USK_CEILING : USK_FLOOR;
		point[side][n[side]++] =
			(struct usk_xy){ w->x[i] - f->local_ns,
					 usk_saturate(side == USK_CEILING ? -y : y) };
	}
	struct usk_lines *l = usk_lines_of(f, point, n, none, w->p->max_skew_e12);
	free(point[0]);
	free(point[1]);
	return l;
}

static void add_corner(struct usk_straight *s, int side, int64_t x, usk_i128 y)
{
	if (!s->n[side] || s->bound[side][s->n[side] - 1].x < x) {
		s->bound[side][s->n[side]++] = (struct usk_xy){ x, usk_saturate(y) };
	}
}

/* Corners are vertices of the hulls, between those at which the extreme lines touch. */
static void bound_by_lines(const struct usk_lines *l, struct usk_straight *s, int64_t x0,
			   int64_t x1)
{
	const struct usk_frame *f = &l->frame;
	for (int side = 0; side < 2; side++) {
		const struct usk_half *h = &l->half[side];
		if (!h->n) {
			continue;
		}
		s->bound[side] = usk_alloc(h->n + 2, sizeof *s->bound[side]);
		for (size_t i = h->touch_steep; i <= h->touch_flat + 2; i++) {
			bool first = i == h->touch_steep, last = i == h->touch_flat + 2;
			usk_i128 x = first  ? (usk_i128)x0 - f->local_ns
				     : last ? (usk_i128)x1 - f->local_ns
					    : h->hull[i - 1].x;
			usk_i128 y = usk_lines_half_floor(l, side, x);
			add_corner(s, side, (int64_t)(f->local_ns + x),
				   f->offset_ns + (side == USK_CEILING ? -y : y));
		}
	}
	s->rate = (struct usk_slopes){ usk_slope_e12(l->min, false), usk_slope_e12(l->max, true) };
}

/* The events of a clock; a line is between two moments. */
static void ends_of(const struct usk_work *w, uint32_t k, int64_t *x0, int64_t *x1)
{
	*x0 = w->x[w->first[k]];
	*x1 = w->x[w->first[k + 1] - 1];
	*x1 = *x1 > *x0 ? *x1 : *x0 + 1;
}

static enum usk_straight_answer solve_pair(struct usk_work *w)
{
	uint32_t k = w->reference == 0;
	struct usk_straight *s = &w->straight[k];
	struct usk_frame f;
	struct usk_lines *l = lines_of(w, k, &f);
	enum usk_straight_answer answer = USK_STRAIGHT_NONE;
	int64_t x[2];
	ends_of(w, k, &x[0], &x[1]);
	if (l->quality == USK_CONTRADICTED) {
		w->torn = &w->run[w->run_of[w->first[k]]];
		answer = USK_STRAIGHT_CONTRADICTED;
	} else if (l->quality != USK_ABSENT) {
		bound_by_lines(l, s, x[0], x[1]);
		answer = USK_STRAIGHT_DONE;
	}
	if (l->quality == USK_BOUNDED) {
		const usk_i128 at[2] = { (usk_i128)x[0] - f.local_ns, (usk_i128)x[1] - f.local_ns };
		usk_i128 y[2];
		usk_lines_mean(l, at, y);
		for (int i = 0; i < 2; i++) {
			s->line[i] = (struct usk_xy){ x[i], usk_saturate(f.offset_ns + y[i]) };
		}
	}
	s->lines = l;
	return answer;
}

/* ---- many --------------------------------------------------------------------------------------
 */

struct answers {
	struct usk_program program;
	const struct usk_asker *first;
	struct usk_straight *straight; /* by line */
	bool *good;
	long double *unknown; /* by group and row: sums over the solutions met, ns */
	uint64_t *solutions;  /* by group */
};

/* Corners of a bound in whole ns, outwards: of events, or beyond them. */
static void write_corners(const struct usk_lp_line *l, const struct usk_corner *corner, size_t n,
			  bool upper, struct usk_straight *out)
{
	const long double unit = 1 << USK_LP_BITS, far = (long double)USK_TIME_MAX;
	for (size_t k = 0; k < n; k++) {
		const struct usk_corner *c = &corner[k];
		usk_i128 base = usk_lp_base(l, c->x), whole = base >> USK_LP_BITS;
		long double rest = usk_real(base - whole * (1 << USK_LP_BITS)) / unit;
		/* Once; the base was rounded down. */
		long double y = upper ? ceill(rest + c->y + 1 / unit) : floorl(rest - c->y);
		usk_i128 offset = whole - c->x + (int64_t)fmaxl(fminl(y, far), -far);
		if (c->x >= l->e0 && c->x <= l->e1) {
			add_corner(out, upper, c->x, offset);
		} else {
			out->beyond[upper][out->n_beyond[upper]++] =
				(struct usk_xy){ c->x, usk_saturate(offset) };
		}
	}
}

/* The largest and smallest rate that any solution has, and which these are. */
static bool ask_rates(struct usk_asker *a, int i, struct usk_slopes *out,
		      struct usk_outermost outermost[2])
{
	const struct usk_program *p = a->program;
	const struct usk_lp_line *l = &p->line[i];
	long double d = (long double)l->e1 - (long double)l->e0;
	long double bend = (long double)((l->t1 - l->t0) - (l->e1 - l->e0));
	long double bound[2], skew = (long double)p->w->p->max_skew_e12;
	a->counts = true;
	for (int sign = -1; sign <= 1; sign += 2) {
		double weight[2] = { -sign, sign };
		bound[sign > 0] = usk_ask(a, i, weight);
		if (isinf(bound[sign > 0])) {
			return false;
		}
		const double *price = usk_lp_price(a->lp);
		outermost[sign > 0] = (struct usk_outermost){ price[l->row] * p->unit,
							      price[l->row + 1] * p->unit };
	}
	out->most_e12 = (int64_t)fminl(ceill((bend + bound[1]) / d * USK_E12), skew);
	out->least_e12 = (int64_t)fmaxl(floorl((bend - bound[0]) / d * USK_E12), -skew);
	return true;
}

/* All that is asked about a line. */
static bool ask_line(struct usk_asker *a, int i, struct usk_straight *out)
{
	const struct usk_lp_line *l = &a->program->line[i];
	size_t most = a->program->n_lines <= FEW_CLOCKS ? CORNERS : CORNERS_OF_MANY, n[2];
	struct usk_bound_asked q[2] = { { a, i, -1, 0 }, { a, i, 1, 0 } };
	struct usk_corner corner[2][CORNERS], beyond[USK_CORNERS_BEYOND];
	struct usk_outermost o[2];
	for (int upper = 1; upper >= 0; upper--) {
		if (!(n[upper] = usk_ask_corners(&q[upper], most, corner[upper]))) {
			return false;
		}
	}
	if (!ask_rates(a, i, &out->rate, o)) {
		return false;
	}
	for (int upper = 0; upper < 2; upper++) {
		size_t last = n[upper] - 1, m;
		out->bound[upper] = usk_alloc(n[upper] + 1, sizeof *out->bound[upper]);
		out->beyond[upper] = usk_alloc(2 * USK_CORNERS_BEYOND, sizeof *out->beyond[upper]);
		/* To the left an upper bound rises by the smallest rate, to the right by the largest. */
		m = usk_ask_beyond(&q[upper], &corner[upper][0], &o[!upper], beyond);
		write_corners(l, beyond, m - 1, upper, out);
		write_corners(l, corner[upper], n[upper], upper, out);
		m = usk_ask_beyond(&q[upper], &corner[upper][last], &o[upper], beyond);
		write_corners(l, beyond + 1, m - 1, upper, out);
	}
	return true;
}

/* One group of lines. */
static void ask_group(void *ctx, size_t from, size_t to)
{
	struct answers *s = ctx;
	const struct usk_program *p = &s->program;
	struct usk_asker a;
	size_t group = from / GROUP;
	bool good = usk_asker_new(&a, p, s->first) == USK_LP_OPTIMAL;
	for (size_t k = from; k < to; k++) {
		struct usk_straight *out = &s->straight[k];
		if (p->line[k].row >= 0) {
			good = good && ask_line(&a, (int)k, out);
		}
		s->good[k] = good;
	}
	memcpy(s->unknown + group * (size_t)p->n_rows, a.unknown,
	       (size_t)p->n_rows * sizeof *s->unknown);
	s->solutions[group] = a.solutions;
	usk_asker_free(&a);
}

/* ---- estimates of many -------------------------------------------------------------------------
 */

/* A pair's line as a sight from one clock to the other: geodesists adjust a network by all of them.
 */
struct network {
	const struct answers *s;
	long double *a; /* [rows, rows + 1] of the normal equations, row by row */
};

static usk_i128 base_ns(const struct usk_lp_line *l, int64_t y)
{
	return usk_lp_base(l, y) >> USK_LP_BITS;
}

/* Weight (phi_b(y) - phi_a(x) - apart)^2 to the normal equations; u and v apart are phi at the ends
 * of a clock. */
static void add_sight(const struct network *n, const struct usk_lp_line *b, int64_t y,
		      const struct usk_lp_line *a, int64_t x, long double apart, long double weight)
{
	const struct usk_lp_line *line[2] = { b, a };
	const int64_t at[2] = { y, x };
	int row[4], rows = n->s->program.n_rows;
	long double value[4];
	size_t values = 0;
	for (int k = 0; k < 2; k++) {
		const struct usk_lp_line *l = line[k];
		if (l->row >= 0) {
			long double v = ((long double)at[k] - (long double)l->e0) /
					((long double)l->e1 - (long double)l->e0);
			row[values] = l->row;
			value[values++] = (k ? -1 : 1) * (1 - v);
			row[values] = l->row + 1;
			value[values++] = (k ? -1 : 1) * v;
		}
	}
	for (size_t i = 0; i < values; i++) {
		long double *r = n->a + (size_t)row[i] * (size_t)(rows + 1);
		for (size_t j = 0; j < values; j++) {
			r[row[j]] += weight * value[i] * value[j];
		}
		r[rows] += weight * value[i] * apart;
	}
}

/* Gauss with the largest of a column; what nothing says stays 0. */
static void eliminate(long double *a, size_t rows, long double *out)
{
	size_t cols = rows + 1;
	for (size_t k = 0; k < rows; k++) {
		long double pivot = a[k * cols + k];
		/* Positive semidefinite: the diagonal is a pivot, or nothing is left of the row. */
		for (size_t i = k + 1; i < rows && pivot > 0; i++) {
			long double by = a[i * cols + k] / pivot;
			for (size_t j = k; j < cols && by != 0; j++) {
				a[i * cols + j] -= by * a[k * cols + j];
			}
		}
	}
	for (size_t k = rows; k-- > 0;) {
		long double sum = a[k * cols + rows];
		for (size_t j = k + 1; j < rows; j++) {
			sum -= a[k * cols + j] * out[j];
		}
		out[k] = a[k * cols + k] > 0 ? sum / a[k * cols + k] : 0;
	}
}

/* How well a pair by itself knows the offset in the middle of its time: half its band there. */
static long double half_width(const struct usk_work *w, const struct usk_graph_pair *g,
			      int64_t middle)
{
	int64_t lo, hi;
	struct usk_lines *l = usk_straight_pair(g->part, w->p->max_skew_e12);
	usk_lines_at(l, middle, &lo, &hi);
	usk_lines_free(l);
	return lo == USK_NONE || hi == USK_NONE ? (long double)USK_TIME_MAX
						: fmaxl(1, ((long double)hi - (long double)lo) / 2);
}

/* Least squares of what all pairs' lines say, at both ends of what they have in common. false: no
 * pair has a line. */
static bool adjust(const struct answers *s, const long double *mean, long double *out)
{
	const struct usk_program *p = &s->program;
	const struct usk_work *w = p->w;
	size_t rows = (size_t)p->n_rows;
	struct network n = { s, usk_alloc(rows * (rows + 1), sizeof *n.a) };
	bool any = false;
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *g = &w->p->pair[i];
		if (!w->tied[i] || !g->n_line || p->number[g->a] == UINT32_MAX ||
		    p->number[g->b] == UINT32_MAX) {
			continue;
		}
		const struct usk_lp_line *a = &p->line[p->number[g->a]];
		const struct usk_lp_line *b = &p->line[p->number[g->b]];
		uint64_t fewer = g->messages[0] < g->messages[1] ? g->messages[0] : g->messages[1];
		long double half = half_width(w, g, b->e0 + (b->e1 - b->e0) / 2);
		any = true;
		for (int end = 0; end < 2; end++) {
			size_t hint = 0;
			int64_t y = end ? b->e1 : b->e0;
			int64_t x = usk_saturate((usk_i128)y +
						 usk_line_at(g->line, g->n_line, &hint, y));
			add_sight(&n, b, y, a, x, usk_real(base_ns(a, x) - base_ns(b, y)),
				  (long double)(fewer ? fewer : 1) / (half * half));
		}
	}
	/* Whom no line leads to stays at the mean. */
	for (size_t k = 0; k < rows; k++) {
		long double *r = n.a + k * (rows + 1), little = 1e-18L;
		r[k] += little;
		r[rows] += little * mean[k];
	}
	eliminate(n.a, rows, out);
	free(n.a);
	return any;
}

/* In order by this: 1 ns in the end, 1 for each of two roundings, twice. */
#define MARGIN 5

/* From a solution towards a wish, rows [from, to) alone, until something is out of order. */
static void move(const struct usk_program *p, long double *at, const long double *wish, size_t from,
		 size_t to)
{
	size_t rows = (size_t)p->n_rows;
	long double *way = usk_alloc(rows + 1, sizeof *way), share = 1;
	for (size_t k = from; k < to; k++) {
		way[k] = wish[k] - at[k];
	}
	for (size_t k = 0; k < p->n_columns && share > 0; k++) {
		long double more = usk_column_takes(p, k, way);
		if (more <= 0) {
			continue;
		}
		long double room = p->column[k].c - usk_column_takes(p, k, at) - MARGIN;
		if (more * share > room) {
			share = room > 0 ? room / more : 0;
		}
	}
	for (size_t k = from; k < to; k++) {
		at[k] += share * way[k];
	}
	free(way);
}

/* Rounds in which each clock goes on by itself, when the way of all together has ended. */
enum { ROUNDS = 4 };

/*
 * Each solution met is one, so their mean is. From there as far as can be towards what all pairs'
 * lines say together: solutions are convex, so on that way there is a last one.
 */
static void draw(struct answers *s)
{
	const struct usk_program *p = &s->program;
	size_t rows = (size_t)p->n_rows;
	long double *mean = usk_alloc(rows + 1, sizeof *mean), solutions = 0;
	long double *wish = usk_alloc(rows + 1, sizeof *wish);
	for (size_t group = 0; group * GROUP < p->n_lines; group++) {
		for (size_t k = 0; k < rows; k++) {
			mean[k] += s->unknown[group * rows + k];
		}
		solutions += (long double)s->solutions[group];
	}
	for (size_t k = 0; k < rows; k++) {
		mean[k] /= solutions;
	}
	if (adjust(s, mean, wish)) {
		move(p, mean, wish, 0, rows);
		for (int round = 0; round < ROUNDS; round++) {
			for (size_t k = 0; k < rows; k += 2) {
				move(p, mean, wish, k, k + 2);
			}
		}
	}
	for (size_t i = 0; i < p->n_lines; i++) {
		const struct usk_lp_line *l = &p->line[i];
		for (int end = 0; end < 2 && l->row >= 0; end++) {
			long double by = mean[l->row + end];
			int64_t t = end ? l->t1 : l->t0, e = end ? l->e1 : l->e0;
			s->straight[i].line[end] = (struct usk_xy){
				e, usk_saturate((usk_i128)t + (usk_i128)roundl(by) - e)
			};
		}
	}
	free(mean);
	free(wish);
}

static void free_bounds(struct usk_straight *s)
{
	usk_lines_free(s->lines);
	for (int upper = 0; upper < 2; upper++) {
		USK_FREE(s->bound[upper], s->beyond[upper]);
	}
}

static bool narrow(struct answers *s)
{
	const struct usk_program *p = &s->program;
	size_t n = p->n_lines, groups = (n + GROUP - 1) / GROUP;
	bool good = true;
	s->straight = usk_alloc(n, sizeof *s->straight);
	s->good = usk_alloc(n, sizeof *s->good);
	s->unknown = usk_alloc(groups * (size_t)p->n_rows + 1, sizeof *s->unknown);
	s->solutions = usk_alloc(groups, sizeof *s->solutions);
	usk_parallel(n, GROUP, p->w->p->threads, ask_group, s);
	for (size_t k = 0; k < n; k++) {
		good = good && s->good[k];
	}
	if (good) {
		draw(s);
	}
	for (size_t k = 0; k < n; k++) {
		if (good) {
			p->w->straight[p->line[k].clock] = s->straight[k];
		} else {
			free_bounds(&s->straight[k]);
		}
	}
	USK_FREE(s->straight, s->good, s->unknown, s->solutions);
	return good;
}

static enum usk_straight_answer solve_many(struct usk_work *w)
{
	enum usk_straight_answer answer = USK_STRAIGHT_NONE;
	struct answers s = { .straight = NULL };
	struct usk_asker first;
	usk_program_of(w, &s.program);
	if (s.program.n_rows) {
		enum usk_lp_answer there_is = usk_asker_new(&first, &s.program, NULL);
		uint32_t whose =
			there_is == USK_LP_UNBOUNDED ? usk_ask_whose(&first) : USK_NO_CLOCK;
		s.first = &first;
		if (there_is == USK_LP_OPTIMAL && narrow(&s)) {
			answer = USK_STRAIGHT_DONE;
		} else if (whose != USK_NO_CLOCK) {
			w->torn = &w->run[w->run_of[w->first[whose]]];
			answer = USK_STRAIGHT_CONTRADICTED;
		}
		usk_asker_free(&first);
	}
	usk_program_free(&s.program);
	return answer;
}

/* ---- both --------------------------------------------------------------------------------------
 */

void usk_straight_forget(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n_clocks && w->straight; i++) {
		free_bounds(&w->straight[i]);
	}
	free(w->straight);
	w->straight = NULL;
}

/* T by a polyline, its offset rounded down or up. */
static usk_i128 time_at(const struct usk_xy *p, size_t n, size_t *hint, int64_t x, bool up)
{
	return x + usk_chords_at(p, n, hint, x, up);
}

/* A bound of T: of two clocks rounded once, of more between corners that are rounded already. */
static usk_i128 bound_at(const struct usk_straight *s, int side, size_t *hint, int64_t x)
{
	if (!s->lines) {
		return time_at(s->bound[side], s->n[side], hint, x, side == USK_CEILING);
	}
	const struct usk_frame *f = &s->lines->frame;
	usk_i128 y = usk_lines_half_floor(s->lines, side, (usk_i128)x - f->local_ns);
	return (usk_i128)x + f->offset_ns + (side == USK_CEILING ? -y : y);
}

/* Bounds of events, and the run's rate: whatever comes after goes on from these. */
static void take_over(struct usk_work *w, uint32_t k)
{
	const struct usk_straight *s = &w->straight[k];
	struct usk_run *r = &w->run[w->run_of[w->first[k]]];
	size_t at[2] = { 0, 0 };
	for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
		usk_i128 lo = -USK_INF, hi = USK_INF;
		if (s->n[0]) {
			lo = bound_at(s, USK_FLOOR, &at[0], w->x[i]) * USK_E12;
		}
		if (s->n[1]) {
			hi = bound_at(s, USK_CEILING, &at[1], w->x[i]) * USK_E12;
		}
		w->lo[i] = lo > w->lo[i] ? lo : w->lo[i];
		w->hi[i] = hi < w->hi[i] ? hi : w->hi[i];
	}
	r->least_e12 = s->rate.least_e12;
	r->most_e12 = s->rate.most_e12;
	usk_run_slopes(w, r);
}

enum usk_straight_answer usk_straight_solve(struct usk_work *w)
{
	usk_straight_forget(w);
	w->straight = usk_alloc(w->c->n_clocks, sizeof *w->straight);
	enum usk_straight_answer answer = w->n_clocks == 2 ? solve_pair(w) : solve_many(w);
	for (uint32_t i = 0; i < w->n_clocks && answer == USK_STRAIGHT_DONE; i++) {
		if (usk_is_straight(w, i)) {
			take_over(w, i);
		}
	}
	if (answer != USK_STRAIGHT_DONE) {
		usk_straight_forget(w);
	}
	return answer;
}

void usk_straight_wish(struct usk_work *w)
{
	for (uint32_t i = 0; i < w->n_clocks; i++) {
		struct usk_straight *s = &w->straight[i];
		uint32_t a = w->first[i], z = w->first[i + 1] - 1;
		if (!usk_is_straight(w, i) || w->t_ns[a] == USK_NONE) {
			continue;
		}
		const struct usk_graph_pair *g = NULL;
		for (size_t p = 0; p < w->p->n_pairs && w->n_clocks == 2; p++) {
			g = w->tied[p] && w->p->pair[p].n_line ? &w->p->pair[p] : g;
		}
		if (g && g->n_line > 2) { /* not a line: each event's own wish */
			s->line[0] = s->line[1] = (struct usk_xy){ 0, 0 };
			continue;
		}
		if (g) {
			s->line[0].y = usk_saturate((usk_i128)w->t_ns[a] - w->x[a]);
			s->line[1].y = s->line[0].y;
			if (w->x[z] > w->x[a]) {
				s->line[1].y = usk_saturate((usk_i128)w->t_ns[z] - w->x[z]);
			}
		}
		for (uint32_t e = a; e <= z; e++) {
			size_t hint = 0;
			w->t_ns[e] = usk_saturate(time_at(s->line, 2, &hint, w->x[e], false));
		}
	}
}

/* A line that had to be moved by more than rounding is none any more. */
void usk_straight_settled(struct usk_work *w)
{
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		struct usk_straight *s = &w->straight[k];
		for (uint32_t e = w->first[k]; e < w->first[k + 1]; e++) {
			size_t hint = 0;
			if (s->line[0].x == s->line[1].x || w->t_ns[e] == USK_NONE) {
				break;
			}
			usk_i128 off = time_at(s->line, 2, &hint, w->x[e], false) - w->t_ns[e];
			if (off > 2 || off < -2) {
				s->line[1] = s->line[0];
			}
		}
	}
}
