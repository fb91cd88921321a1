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

/* The bound as a link that has this side only. */
static bool side_of(struct usk_asker *a, int i, enum usk_curve c, struct usk_link *out)
{
	const struct usk_lp_line *l = &a->program->line[i];
	struct usk_corner corner[CORNERS];
	struct question q = { a, i, c == USK_UPPER ? 1 : -1 };
	size_t n = usk_corners(ask_at, &q, l->e0, l->e1, CORNERS, corner);
	if (!n) {
		return false;
	}
	*out = (struct usk_link){ .n = n, .skew_e12 = a->program->w->opt->max_skew_e12 };
	out->has[c] = true;
	out->knot = usk_alloc(n, sizeof *out->knot);
	for (size_t k = 0; k < n; k++) {
		usk_i128 base = usk_lp_base(l, corner[k].x), whole = base >> USK_LP_BITS;
		long double unit = 1 << USK_LP_BITS;
		long double rest = usk_real(base - (whole << USK_LP_BITS)) / unit;
		struct usk_knot *to = &out->knot[k];
		*to = (struct usk_knot){ corner[k].x, USK_NONE, USK_NONE, USK_NONE, 0 };
		whole -= corner[k].x;
		if (c == USK_UPPER) {
			long double over = ceill(rest + corner[k].y + 1 / unit);
			over = fminl(over, (long double)USK_TIME_MAX);
			to->hi_ns = usk_cut(whole + (int64_t)over);
		} else {
			long double under = floorl(rest - corner[k].y);
			under = fmaxl(under, -(long double)USK_TIME_MAX);
			to->lo_ns = usk_cut(whole + (int64_t)under);
		}
	}
	return true;
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
		struct usk_link side[3] = { { 0 } };
		if (s->program.line[k].row < 0) {
			s->good[k] = true;
			continue;
		}
		good = good && side_of(&a, (int)k, USK_UPPER, &side[USK_UPPER]) &&
		       side_of(&a, (int)k, USK_LOWER, &side[USK_LOWER]) &&
		       rates_of(&a, (int)k, &s->rates[k]);
		if (good) {
			s->link[k] = usk_link_meet(&side[USK_UPPER], &side[USK_LOWER]);
		}
		s->good[k] = good;
		usk_link_free(&side[USK_UPPER]);
		usk_link_free(&side[USK_LOWER]);
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
		bool keep = link->has[USK_MIDDLE] && usk_keeps_method(w);
		usk_joint_narrow(link, &s->link[k], keep);
		w->rates[i] = s->rates[k];
		if (!keep) {
			draw_mean(s, k, link);
		}
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
