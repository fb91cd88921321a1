/* SPDX-License-Identifier: MIT */
/*
 * joint_lp.c - clocks of constant rates, all in one linear program
 *
 * In    ties of the core, their parts; links along the tree
 * Out   the core's links, narrowed to what all messages together allow
 * Why   Ashton's "more ambitious project" (1995, section 7): aware of all constraints
 * Not   rates that change (bound.c)
 *
 * Clocks are asked about in groups, each by an asker of its own, so that several threads can ask;
 * groups do not depend on how many there are.
 */
#include "base/parallel.h"
#include "fit/fit.h"
#include "num/cone.h"
#include "solve/asker.h"
#include "solve/corners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Knots of a bound at most; lines of a group. */
enum { CORNERS = 16, GROUP = 4 };

struct answers {
	struct usk_program program;
	struct usk_link *link;	 /* by line */
	struct usk_rates *rates; /* by line */
	bool *good;
	long double *u, *v;  /* by group and line: sums over the solutions met, ns */
	uint64_t *solutions; /* by group */
};

struct question {
	struct usk_asker *asker;
	int line, sign;
};

/* The bound of sign phi_i(x), and the solution that reaches it. */
static bool ask_at(void *ctx, int64_t x, struct usk_corner *out)
{
	const struct question *q = ctx;
	const struct usk_program *p = q->asker->program;
	const struct usk_lp_line *l = &p->line[q->line];
	long double run = (long double)l->e1 - (long double)l->e0;
	long double v = ((long double)x - (long double)l->e0) / run;
	double weight[2] = { (double)(q->sign * (1 - v)), (double)(q->sign * v) };
	out->x = x;
	out->y = usk_ask(q->asker, q->line, weight);
	if (isinf(out->y)) {
		return false;
	}
	/* Weights as doubles are off by less than 1e-16. */
	out->y += 2e-16L * l->most;
	const double *price = usk_lp_price(q->asker->lp);
	out->slope = q->sign * ((long double)price[l->row + 1] - (long double)price[l->row]) *
		     p->unit / run;
	return true;
}

/* A side's bound of a line: corners of sign phi. */
struct side {
	struct usk_corner corner[CORNERS];
	size_t n;
};

static bool ask_side(struct usk_asker *a, int i, int sign, struct side *out)
{
	const struct usk_lp_line *l = &a->program->line[i];
	struct question q = { a, i, sign };
	out->n = usk_corners(ask_at, &q, l->e0, l->e1, CORNERS, out->corner);
	return out->n > 0;
}

/* Its polyline at x, which is not left of corner *at. */
static long double side_at(const struct side *s, size_t *at, int64_t x)
{
	while (*at + 2 < s->n && s->corner[*at + 1].x < x) {
		++*at;
	}
	const struct usk_corner *c = &s->corner[*at];
	long double run = (long double)(c[1].x - c->x);
	return c->y + (c[1].y - c->y) * ((long double)(x - c->x) / run);
}

/* T = B + phi from the two, rounded outwards once. */
static struct usk_link link_of(const struct usk_asker *a, int i, const struct side *upper,
			       const struct side *lower)
{
	const struct usk_lp_line *l = &a->program->line[i];
	struct usk_link out = { .skew_e12 = a->program->w->opt->max_skew_e12 };
	size_t u = 0, d = 0, at_u = 0, at_d = 0;
	const long double unit = 1 << USK_LP_BITS, most = (long double)USK_TIME_MAX;
	out.has[USK_LOWER] = out.has[USK_UPPER] = true;
	out.knot = usk_alloc(upper->n + lower->n, sizeof *out.knot);
	while (u < upper->n || d < lower->n) {
		int64_t xu = u < upper->n ? upper->corner[u].x : INT64_MAX;
		int64_t xd = d < lower->n ? lower->corner[d].x : INT64_MAX;
		int64_t x = xu < xd ? xu : xd;
		u += xu == x;
		d += xd == x;
		usk_i128 base = usk_lp_base(l, x), whole = base >> USK_LP_BITS;
		long double rest = usk_real(base - whole * (1 << USK_LP_BITS)) / unit;
		long double over = ceill(rest + side_at(upper, &at_u, x) + 1 / unit);
		long double under = floorl(rest - side_at(lower, &at_d, x));
		whole -= x;
		out.knot[out.n++] =
			(struct usk_knot){ x, USK_NONE,
					   usk_cut(whole + (int64_t)fmaxl(under, -most)),
					   usk_cut(whole + (int64_t)fminl(over, most)), 0 };
	}
	return out;
}

/* The largest and smallest rate that any solution has. */
static bool rates_of(struct usk_asker *a, int i, struct usk_rates *out)
{
	const struct usk_lp_line *l = &a->program->line[i];
	long double d = (long double)l->e1 - (long double)l->e0;
	long double bend = (long double)((l->t1 - l->t0) - (l->e1 - l->e0));
	long double bound[2];
	for (int sign = -1; sign <= 1; sign += 2) {
		double weight[2] = { -sign, sign };
		bound[sign > 0] = usk_ask(a, i, weight);
		if (isinf(bound[sign > 0])) {
			return false;
		}
	}
	long double max = ceill((bend + bound[1]) / d * USK_E12);
	long double min = floorl((bend - bound[0]) / d * USK_E12);
	out->max_e12 = max < (long double)out->max_e12 ? (int64_t)max : out->max_e12;
	out->min_e12 = min > (long double)out->min_e12 ? (int64_t)min : out->min_e12;
	return true;
}

/* One group of lines. */
static void ask_group(void *ctx, size_t from, size_t to)
{
	struct answers *s = ctx;
	struct usk_asker a;
	size_t group = from / GROUP, n = s->program.n_lines;
	bool good = usk_asker_new(&a, &s->program) == USK_LP_OPTIMAL;
	for (size_t k = from; k < to; k++) {
		struct side upper, lower;
		if (s->program.line[k].row < 0) {
			s->good[k] = true;
			continue;
		}
		good = good && ask_side(&a, (int)k, 1, &upper) &&
		       ask_side(&a, (int)k, -1, &lower) && rates_of(&a, (int)k, &s->rates[k]);
		if (good) {
			s->link[k] = link_of(&a, (int)k, &upper, &lower);
		}
		s->good[k] = good;
	}
	memcpy(s->u + group * n, a.u, n * sizeof *s->u);
	memcpy(s->v + group * n, a.v, n * sizeof *s->v);
	s->solutions[group] = a.solutions;
	usk_asker_free(&a);
}

/* M along the mean of all solutions met: each is one, so their mean is. */
static void draw_mean(const struct answers *s, size_t line, struct usk_link *link)
{
	struct usk_lp_line mean = s->program.line[line];
	size_t n = s->program.n_lines;
	long double u = 0, v = 0, solutions = 0;
	for (size_t group = 0; group * GROUP < n; group++) {
		u += s->u[group * n + line];
		v += s->v[group * n + line];
		solutions += (long double)s->solutions[group];
	}
	mean.t0 = usk_cut(mean.t0 + (usk_i128)roundl(u / solutions));
	mean.t1 = usk_cut(mean.t1 + (usk_i128)roundl(v / solutions));
	link->has[USK_MIDDLE] = true;
	for (size_t k = 0; k < link->n; k++) {
		struct usk_knot *at = &link->knot[k];
		int64_t m =
			usk_cut((usk_lp_base(&mean, at->local_ns) >> USK_LP_BITS) - at->local_ns);
		at->offset_ns = m < at->lo_ns ? at->lo_ns : m > at->hi_ns ? at->hi_ns : m;
	}
}

static void take_over(const struct answers *s)
{
	struct usk_island_work *w = s->program.w;
	for (size_t k = 0; k < s->program.n_lines; k++) {
		uint32_t i = s->program.line[k].clock;
		struct usk_link *link = &w->link[i];
		if (s->program.line[k].row < 0) {
			continue;
		}
		if (link->n) {
			usk_link_crop(link, s->program.line[k].e0, s->program.line[k].e1);
		}
		usk_joint_narrow(link, &s->link[k]);
		w->rates[i] = s->rates[k];
		draw_mean(s, k, link);
	}
}

static bool narrow(struct answers *s)
{
	const struct usk_island_work *w = s->program.w;
	size_t n = s->program.n_lines, groups = (n + GROUP - 1) / GROUP;
	bool good = true;
	s->link = usk_alloc(n, sizeof *s->link);
	s->rates = usk_alloc(n, sizeof *s->rates);
	s->good = usk_alloc(n, sizeof *s->good);
	s->u = usk_alloc(groups * n, sizeof *s->u);
	s->v = usk_alloc(groups * n, sizeof *s->v);
	s->solutions = usk_alloc(groups, sizeof *s->solutions);
	for (size_t k = 0; k < n; k++) {
		s->rates[k] = w->rates[s->program.line[k].clock];
	}
	usk_parallel(n, GROUP, w->opt->threads, ask_group, s);
	for (size_t k = 0; k < n; k++) {
		good = good && s->good[k];
	}
	if (good) {
		take_over(s);
	}
	for (size_t k = 0; k < n; k++) {
		usk_link_free(&s->link[k]);
	}
	free(s->link);
	free(s->rates);
	free(s->good);
	free(s->u);
	free(s->v);
	free(s->solutions);
	return good;
}

enum usk_joint_answer usk_joint_lp(struct usk_island_work *w, bool ask_only,
				   struct usk_conflict *conflict)
{
	enum usk_joint_answer answer = USK_JOINT_NONE;
	if (!usk_lp_solver()) {
		return answer;
	}
	struct answers s = { .link = NULL };
	struct usk_asker first;
	usk_program_of(w, &s.program);
	enum usk_lp_answer there_is = usk_asker_new(&first, &s.program);
	if (there_is == USK_LP_OPTIMAL) {
		answer = ask_only || narrow(&s) ? USK_JOINT_DONE : USK_JOINT_NONE;
	} else if (there_is == USK_LP_UNBOUNDED && usk_ask_why(&first, conflict)) {
		answer = USK_JOINT_CONTRADICTED;
	}
	usk_asker_free(&first);
	usk_program_free(&s.program);
	return answer;
}
