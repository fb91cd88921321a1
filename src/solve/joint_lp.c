/* SPDX-License-Identifier: MIT */
/*
 * joint_lp.c - clocks of constant rates, all in one linear program
 *
 * In    ties of the core, their parts; links along the tree
 * Out   the core's links, narrowed to what all messages together allow
 * Why   Ashton's "more ambitious project" (1995, section 7): aware of all constraints
 * Not   rates that change (joint_paths.c)
 *
 * Clock i is T(y) = B(y) + phi(y): B a line near the truth, through (e0, t0) and (e1, t1), and
 *
 *     phi(y) = ((e1 - y) u + (y - e0) v) / (e1 - e0)                                         (1)
 *
 * with two unknowns u, v. A message from i at p to j at y says phi_i(p) - phi_j(y) <= c,
 * c = B_j(y) - B_i(p); of a tie the vertices of its hulls say all. The largest phi_i(t) is asked in
 * dual form: with a column of A' per message
 *
 *     minimise c.x   so that   A' x = the weights of u, v in (1) at t,   x >= 0              (2)
 *
 * Every question has the same feasible prices, so the dual simplex goes on from the last basis; the
 * prices are the u, v of a solution, whose line touches the bound. And any x >= 0 proves one:
 *
 *     phi_i(t) <= c.x + sum over rows of |rest of (2)| times the largest |u| or |v|          (3)
 */
#include "num/lp.h"
#include "solve/corners.h"
#include "solve/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fixed point: units of 2^-20 ns. */
enum { BITS = 20 };
/* Knots of a bound at most. */
enum { CORNERS = 16 };
#define E12 INT64_C(1000000000000)

struct line {
	uint32_t clock;
	int64_t e0, e1, t0, t1;
	int row;	  /* of u in (2), v is the next; -1: the reference */
	long double most; /* |u|, |v| <= most, ns */
	long double u, v; /* sums over the solutions met */
};

/* A column of (2): a message, or a limit of a rate. */
struct column {
	struct usk_against say;
	bool limit;
	long double c; /* ns, rounded up */
};

struct program {
	struct usk_island_work *w;
	struct line *line; /* of the core's clocks */
	size_t n_lines;
	uint32_t *number; /* clock -> line */
	int n_rows;
	struct column *column;
	size_t n_columns, cap_columns;
	int *start, *row;
	double *value, *cost;
	size_t n_values, cap_values;
	long double unit; /* ns */
	struct usk_lp *lp;
	int asked; /* line of the last question; -1 none */
	uint64_t solutions;
};

/* ---- the base ------------------------------------------------------------------------- */

/* B(y) in fixed point, rounded down; the reference's is y. */
static usk_i128 base(const struct line *l, int64_t y)
{
	usk_i128 d = (usk_i128)l->e1 - l->e0, bend = (usk_i128)l->t1 - l->t0 - d;
	usk_i128 num = bend * ((usk_i128)y - l->e0), whole = usk_floor_div(num, d);
	usk_i128 rest = ((num - whole * d) << BITS) / d;
	return (((usk_i128)y + l->t0 - l->e0 + whole) << BITS) + rest;
}

static long double in_ns(usk_i128 fixed)
{
	return usk_real(fixed) / (1 << BITS);
}

/* Where the way of a clock leads a time of it to, on the reference: near enough to start from. */
static int64_t at_reference(const struct usk_island_work *w, uint32_t i, int64_t local)
{
	return usk_tree_time(w->graph, w->tie, w->way, i, local, w->opt->max_skew_e12);
}

static void make_lines(struct program *p)
{
	struct usk_island_work *w = p->w;
	p->line = usk_alloc(w->n, sizeof *p->line);
	p->number = usk_alloc(w->graph->n_clocks, sizeof *p->number);
	for (size_t k = 0; k < w->n; k++) {
		uint32_t i = w->clock[k];
		if (!usk_in_core(w, i)) {
			continue;
		}
		struct line *l = &p->line[p->n_lines];
		p->number[i] = (uint32_t)p->n_lines++;
		l->clock = i;
		l->row = -1;
		l->e0 = w->opt->span[i].first_ns;
		l->e1 = w->opt->span[i].last_ns;
		l->e1 = l->e1 > l->e0 ? l->e1 : l->e0 + 1;
		l->t0 = l->e0;
		l->t1 = l->e1;
		if (i != w->reference) {
			l->row = p->n_rows;
			p->n_rows += 2;
			l->t0 = at_reference(w, i, l->e0);
			l->t1 = at_reference(w, i, l->e1);
		}
	}
}

/* ---- columns ---------------------------------------------------------------------------- */

static void put_value(struct program *p, int row, long double value)
{
	if (value == 0) {
		return;
	}
	if (p->n_values == p->cap_values) {
		p->cap_values = p->cap_values ? 2 * p->cap_values : 1024;
		p->row = usk_grow(p->row, p->cap_values, sizeof *p->row);
		p->value = usk_grow(p->value, p->cap_values, sizeof *p->value);
	}
	p->row[p->n_values] = row;
	p->value[p->n_values++] = (double)value;
}

/* sign x phi(y) */
static void put_phi(struct program *p, const struct line *l, int64_t y, long double sign)
{
	if (l->row >= 0) {
		long double v = ((long double)y - (long double)l->e0) /
				((long double)l->e1 - (long double)l->e0);
		put_value(p, l->row, sign * (1 - v));
		put_value(p, l->row + 1, sign * v);
	}
}

static struct column *new_column(struct program *p)
{
	if (p->n_columns == p->cap_columns) {
		p->cap_columns = p->cap_columns ? 2 * p->cap_columns : 256;
		p->column = usk_grow(p->column, p->cap_columns, sizeof *p->column);
		p->start = usk_grow(p->start, p->cap_columns + 1, sizeof *p->start);
	}
	p->start[p->n_columns] = (int)p->n_values;
	p->column[p->n_columns] = (struct column){ .limit = true };
	return &p->column[p->n_columns++];
}

/* T_i(p) <= T_j(y) */
static void put_message(struct program *p, struct usk_against say, const struct line *i,
			int64_t sent, const struct line *j, int64_t received)
{
	struct column *c = new_column(p);
	c->say = say;
	c->limit = false;
	c->c = in_ns(base(j, received) + (j->row >= 0) - base(i, sent));
	put_phi(p, i, sent, 1);
	put_phi(p, j, received, -1);
}

static void put_tie(struct program *p, uint32_t number)
{
	const struct usk_tie *t = &p->w->tie[number];
	const struct usk_part *part = t->part;
	const struct line *a = &p->line[p->number[t->a]], *b = &p->line[p->number[t->b]];
	for (int side = 0; side < 2; side++) {
		struct usk_xy *h = usk_alloc(part->n[side] + 1, sizeof *h);
		size_t n = usk_hull_of_sorted(part->point[side], part->n[side], h);
		for (size_t k = 0; k < n; k++) {
			struct usk_against say = { number, side == USK_CEILING, h[k] };
			struct usk_point at = usk_part_point(part, side, h[k]);
			int64_t other = usk_cut((usk_i128)at.local_ns + at.offset_ns);
			if (side == USK_FLOOR) {
				put_message(p, say, a, other, b, at.local_ns);
			} else {
				put_message(p, say, b, at.local_ns, a, other);
			}
		}
		free(h);
	}
}

/* sign (T_b' - rate T_a') <= 0: the rate of b against a is within the skew limit. */
static void put_limit(struct program *p, const struct line *a, const struct line *b, int sign)
{
	long double s = (long double)p->w->opt->max_skew_e12 / E12, rate = 1 + sign * s;
	long double db = (long double)b->e1 - (long double)b->e0;
	long double da = (long double)a->e1 - (long double)a->e0;
	/* Slopes of B less 1; times db throughout. */
	long double bend_b = (long double)((b->t1 - b->t0) - (b->e1 - b->e0));
	long double bend_a = (long double)((a->t1 - a->t0) - (a->e1 - a->e0)) / da * db;
	struct column *c = new_column(p);
	c->c = sign * (bend_a * rate - bend_b) + s * db;
	c->c += 1e-15L * s * db;
	if (b->row >= 0) {
		put_value(p, b->row, -sign);
		put_value(p, b->row + 1, sign);
	}
	if (a->row >= 0) {
		put_value(p, a->row, sign * rate * db / da);
		put_value(p, a->row + 1, -sign * rate * db / da);
	}
}

static void make_columns(struct program *p)
{
	const struct usk_island_work *w = p->w;
	const struct line *ref = &p->line[p->number[w->reference]];
	for (size_t k = 0; k < w->n; k++) {
		uint32_t i = w->clock[k];
		if (!usk_in_core(w, i)) {
			continue;
		}
		const struct line *l = &p->line[p->number[i]];
		for (int sign = -1; sign <= 1 && l->row >= 0; sign += 2) {
			put_limit(p, ref, l, sign);
		}
		for (size_t j = w->graph->first[i]; j < w->graph->first[i + 1]; j++) {
			const struct usk_arc *arc = &w->graph->arc[j];
			const struct usk_tie *t = &w->tie[arc->tie];
			if (arc->turned || !usk_tie_in_core(w, t)) {
				continue;
			}
			put_tie(p, arc->tie);
			for (int sign = -1; sign <= 1 && t->a != w->reference; sign += 2) {
				put_limit(p, l, &p->line[p->number[t->b]], sign);
			}
		}
	}
	p->start = usk_grow(p->start, p->n_columns + 1, sizeof *p->start);
	p->start[p->n_columns] = (int)p->n_values;
}

static int compare(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* The unit is what a message typically leaves. */
static void scale(struct program *p)
{
	double *size = usk_alloc(p->n_columns + 1, sizeof *size);
	p->cost = usk_alloc(p->n_columns + 1, sizeof *p->cost);
	for (size_t k = 0; k < p->n_columns; k++) {
		size[k] = fabs((double)p->column[k].c);
	}
	qsort(size, p->n_columns, sizeof *size, compare);
	p->unit = p->n_columns ? size[p->n_columns / 2] : 1;
	p->unit = p->unit > 1 ? p->unit : 1;
	for (size_t k = 0; k < p->n_columns; k++) {
		p->cost[k] = (double)(p->column[k].c / p->unit);
	}
	free(size);
}

/*
 * Largest |u| and |v|. Where the tree bounds a clock it says so; else a way to the reference and
 * back along messages, one a tie, at whose times the lines differ by no more than the skew limit.
 */
static void bound_unknowns(struct program *p)
{
	const struct usk_island_work *w = p->w;
	long double skew = 2 * (long double)w->opt->max_skew_e12 / E12, all = 0, from = 0, to = 0;
	for (size_t k = 0; k < p->n_columns; k++) {
		all += p->column[k].limit ? 0 : fabsl(p->column[k].c);
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		const struct line *l = &p->line[k];
		from = fminl(from, (long double)(l->t0 - p->line[0].t0));
		to = fmaxl(to, (long double)(l->t1 - p->line[0].t0));
	}
	all += skew * (to - from) * (long double)(2 * p->n_lines);
	for (size_t k = 0; k < p->n_lines; k++) {
		struct line *l = &p->line[k];
		const struct usk_link *link = &w->link[l->clock];
		l->most = all;
		if (link->n && link->has[USK_LOWER] && link->has[USK_UPPER]) {
			usk_hint at = 0;
			l->most = 1;
			for (int end = 0; end < 2; end++) {
				int64_t e = end ? l->e1 : l->e0, t = end ? l->t1 : l->t0;
				int64_t hi = usk_link_at(link, USK_UPPER, e, &at);
				int64_t lo = usk_link_at(link, USK_LOWER, e, &at);
				l->most = fmaxl(l->most, fabsl((long double)hi - (long double)t));
				l->most = fmaxl(l->most, fabsl((long double)t - (long double)lo));
			}
		}
	}
}

/* ---- questions ------------------------------------------------------------------------- */

/* The bound of u weight[0] + v weight[1] of line i, ns, by (3); INFINITY if there is none. */
static long double ask(struct program *p, int i, const double weight[2])
{
	const struct line *l = &p->line[i];
	if (p->asked >= 0 && p->asked != i) {
		usk_lp_set_row(p->lp, p->line[p->asked].row, 0, 0);
		usk_lp_set_row(p->lp, p->line[p->asked].row + 1, 0, 0);
	}
	p->asked = i;
	for (int k = 0; k < 2; k++) {
		usk_lp_set_row(p->lp, l->row + k, weight[k], weight[k]);
	}
	if (usk_lp_solve(p->lp, USK_LP_DUAL) != USK_LP_OPTIMAL &&
	    usk_lp_solve(p->lp, USK_LP_PRIMAL) != USK_LP_OPTIMAL) {
		return INFINITY;
	}
	const double *x = usk_lp_x(p->lp), *price = usk_lp_price(p->lp);
	long double *rest = usk_alloc((size_t)p->n_rows, sizeof *rest), bound = 0;
	rest[l->row] = weight[0];
	rest[l->row + 1] = weight[1];
	for (size_t k = 0; k < p->n_columns; k++) {
		if (x[k] <= 0) {
			continue;
		}
		bound += x[k] * p->column[k].c;
		for (int j = p->start[k]; j < p->start[k + 1]; j++) {
			rest[p->row[j]] -= (long double)x[k] * p->value[j];
		}
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		struct line *other = &p->line[k];
		for (int j = 0; j < 2 && other->row >= 0; j++) {
			/* What a double of a coefficient leaves out, too. */
			bound += (fabsl(rest[other->row + j]) + 1e-15L) * other->most;
		}
		if (other->row >= 0) {
			other->u += price[other->row] * p->unit;
			other->v += price[other->row + 1] * p->unit;
		}
	}
	free(rest);
	p->solutions++;
	return bound;
}

struct question {
	struct program *program;
	int line, sign;
};

/* The bound of sign phi_i(x), and the solution that reaches it. */
static bool ask_at(void *ctx, int64_t x, struct usk_corner *out)
{
	const struct question *q = ctx;
	struct program *p = q->program;
	const struct line *l = &p->line[q->line];
	long double v =
		((long double)x - (long double)l->e0) / ((long double)l->e1 - (long double)l->e0);
	double weight[2] = { (double)(q->sign * (1 - v)), (double)(q->sign * v) };
	out->x = x;
	out->y = ask(p, q->line, weight);
	if (isinf(out->y)) {
		return false;
	}
	/* Weights as doubles are off by less than 1e-16. */
	out->y += 2e-16L * l->most;
	const double *price = usk_lp_price(p->lp);
	out->slope = q->sign * ((long double)price[l->row + 1] - (long double)price[l->row]) *
		     p->unit / ((long double)l->e1 - (long double)l->e0);
	return true;
}

/* ---- answers --------------------------------------------------------------------------- */

/* The bound as a link that has this side only. */
static bool side_of(struct program *p, int i, enum usk_curve c, struct usk_link *out)
{
	const struct line *l = &p->line[i];
	struct usk_corner corner[CORNERS];
	struct question q = { p, i, c == USK_UPPER ? 1 : -1 };
	size_t n = usk_corners(ask_at, &q, l->e0, l->e1, CORNERS, corner);
	if (!n) {
		return false;
	}
	*out = (struct usk_link){ .n = n, .skew_e12 = p->w->opt->max_skew_e12 };
	out->has[c] = true;
	out->knot = usk_alloc(n, sizeof *out->knot);
	for (size_t k = 0; k < n; k++) {
		usk_i128 b = base(l, corner[k].x);
		usk_i128 whole = b >> BITS;
		long double rest = in_ns(b - (whole << BITS));
		struct usk_knot *to = &out->knot[k];
		*to = (struct usk_knot){ corner[k].x, USK_NONE, USK_NONE, USK_NONE, 0 };
		whole -= corner[k].x;
		if (c == USK_UPPER) {
			long double over = ceill(rest + corner[k].y + 1.0L / (1 << BITS));
			to->hi_ns =
				usk_cut(whole + (int64_t)fminl(over, (long double)USK_TIME_MAX));
		} else {
			long double under = floorl(rest - corner[k].y);
			to->lo_ns =
				usk_cut(whole + (int64_t)fmaxl(under, -(long double)USK_TIME_MAX));
		}
	}
	return true;
}

/* The largest and smallest rate that any solution has. */
static bool rates_of(struct program *p, int i, struct usk_rates *out)
{
	const struct line *l = &p->line[i];
	long double d = (long double)l->e1 - (long double)l->e0;
	long double bend = (long double)((l->t1 - l->t0) - (l->e1 - l->e0));
	long double bound[2];
	for (int sign = -1; sign <= 1; sign += 2) {
		double weight[2] = { -sign, sign };
		bound[sign > 0] = ask(p, i, weight);
		if (isinf(bound[sign > 0])) {
			return false;
		}
	}
	long double max = ceill((bend + bound[1]) / d * E12);
	long double min = floorl((bend - bound[0]) / d * E12);
	out->max_e12 = max < (long double)out->max_e12 ? (int64_t)max : out->max_e12;
	out->min_e12 = min > (long double)out->min_e12 ? (int64_t)min : out->min_e12;
	return true;
}

/* M along the mean of all solutions met: each is one, so their mean is. */
static void draw_mean(struct program *p, const struct line *l, struct usk_link *link)
{
	struct line mean = *l;
	long double n = (long double)p->solutions;
	mean.t0 = usk_cut(mean.t0 + (usk_i128)roundl(l->u / n));
	mean.t1 = usk_cut(mean.t1 + (usk_i128)roundl(l->v / n));
	link->has[USK_MIDDLE] = true;
	for (size_t k = 0; k < link->n; k++) {
		struct usk_knot *at = &link->knot[k];
		int64_t m = usk_cut((base(&mean, at->local_ns) >> BITS) - at->local_ns);
		m = m < at->lo_ns ? at->lo_ns : m > at->hi_ns ? at->hi_ns : m;
		at->offset_ns = m;
	}
}

static bool narrow(struct program *p)
{
	struct usk_island_work *w = p->w;
	struct usk_link *found = usk_alloc(p->n_lines, sizeof *found);
	bool good = true;
	for (size_t k = 0; k < p->n_lines && good; k++) {
		struct usk_link side[3] = { { 0 } };
		if (p->line[k].row < 0) {
			continue;
		}
		good = side_of(p, (int)k, USK_UPPER, &side[USK_UPPER]) &&
		       side_of(p, (int)k, USK_LOWER, &side[USK_LOWER]) &&
		       rates_of(p, (int)k, &w->rates[p->line[k].clock]);
		if (good) {
			found[k] = usk_link_meet(&side[USK_UPPER], &side[USK_LOWER]);
		}
		usk_link_free(&side[USK_UPPER]);
		usk_link_free(&side[USK_LOWER]);
		if (w->opt->progress) {
			w->opt->progress(w->opt->progress_ctx, (double)(k + 1) / (double)p->n_lines,
					 "solving");
		}
	}
	for (size_t k = 0; k < p->n_lines; k++) {
		const struct line *l = &p->line[k];
		if (good && found[k].n) {
			struct usk_link *link = &w->link[l->clock];
			bool keep = link->has[USK_MIDDLE] && usk_keeps_method(w);
			usk_joint_narrow(link, &found[k], keep);
			if (!keep) {
				draw_mean(p, l, link);
			}
		}
		usk_link_free(&found[k]);
	}
	free(found);
	return good;
}

/* ---- contradictions ----------------------------------------------------------------------- */

/* A direction in which (2) falls for ever: its messages cannot all be true. */
static bool find_conflict(struct program *p, struct usk_conflict *out)
{
	double *ray = usk_lp_ray(p->lp), most = 0;
	if (!ray) {
		return false;
	}
	long double sum = 0, size = 0;
	for (size_t k = 0; k < p->n_columns; k++) {
		most = fmax(most, ray[k]);
		sum += ray[k] * p->column[k].c;
		size += fabsl(ray[k] * p->column[k].c);
	}
	for (size_t k = 0; k < p->n_columns && sum < -1e-9L * size; k++) {
		if (ray[k] > 1e-9 * most && !p->column[k].limit) {
			out->row = usk_grow(out->row, out->n + 1, sizeof *out->row);
			out->row[out->n++] = p->column[k].say;
		}
	}
	free(ray);
	return out->n > 0;
}

enum usk_joint_answer usk_joint_lp(struct usk_island_work *w, bool ask_only,
				   struct usk_conflict *conflict)
{
	struct program p = { .w = w, .asked = -1 };
	enum usk_joint_answer answer = USK_JOINT_NONE;
	if (!usk_lp_solver()) {
		return answer;
	}
	make_lines(&p);
	make_columns(&p);
	scale(&p);
	bound_unknowns(&p);
	double *zero = usk_alloc((size_t)p.n_rows + 1, sizeof *zero);
	struct usk_lp_problem problem = { .n_rows = p.n_rows,
					  .n_cols = (int)p.n_columns,
					  .start = p.start,
					  .row = p.row,
					  .value = p.value,
					  .cost = p.cost,
					  .row_lo = zero,
					  .row_hi = zero };
	p.lp = usk_lp_new(&problem);
	/* x = 0 is there to begin with. */
	enum usk_lp_answer first = usk_lp_solve(p.lp, USK_LP_PRIMAL);
	if (first == USK_LP_OPTIMAL) {
		answer = ask_only || narrow(&p) ? USK_JOINT_DONE : USK_JOINT_NONE;
	} else if (first == USK_LP_UNBOUNDED && find_conflict(&p, conflict)) {
		answer = USK_JOINT_CONTRADICTED;
	}
	usk_lp_free(p.lp);
	free(zero);
	free(p.line);
	free(p.number);
	free(p.column);
	free(p.start);
	free(p.row);
	free(p.value);
	free(p.cost);
	return answer;
}
