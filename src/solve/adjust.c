/* SPDX-License-Identifier: MIT */
/*
 * adjust.c - one estimate for all clocks out of the pairs' own
 *
 * In    ties with their estimates, moments
 * Out   x of clocks at the moments
 * Why   a shortest path uses the estimates of a few ties; geodesists adjust a network by all of
 *       them. The normal equations are the graph's Laplacian, positive definite once the reference
 * is held: conjugate gradients (Hestenes and Stiefel 1952), with the diagonal as preconditioner Not
 * order, bands (order.c)
 */
#include "base/parallel.h"
#include "fit/fit.h"
#include "solve/adjust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIES_AT_ONCE = 32, MOMENTS_AT_ONCE = 8, MOST_STEPS = 1000 };

/* The rest of the equations, as a share of the right-hand side. */
#define ENOUGH 1e-9

struct sight {		    /* a tie with an estimate */
	uint32_t tie, a, b; /* a, b: numbers in the core */
	double weight;
};

struct network {
	const struct usk_moments *m;
	struct sight *sight;
	size_t n;
	double *apart;	  /* [n * n_moments]: x_b - x_a by the tie's M */
	double *diagonal; /* by clock; 0: not connected to the reference */
	int64_t *x;
};

static void find_sights(struct network *w)
{
	const struct usk_moments *m = w->m;
	bool *seen = usk_alloc(m->w->graph->first[m->w->graph->n_clocks] + 1, sizeof *seen);
	w->sight = usk_alloc(m->n_flows + 1, sizeof *w->sight);
	for (size_t f = 0; f < m->n_flows; f++) {
		uint32_t tie = m->flow[f].tie;
		const struct usk_tie *t = &m->w->tie[tie];
		struct usk_link l = usk_tie_link(t, m->w->opt->max_skew_e12);
		if (seen[tie] || !l.has[USK_MIDDLE]) {
			continue;
		}
		seen[tie] = true;
		uint64_t fewer = t->messages[0] < t->messages[1] ? t->messages[0] : t->messages[1];
		double half = (double)m->w->weight[tie];
		half = half < 1 ? 1 : half;
		w->sight[w->n++] = (struct sight){ tie, m->number[t->a], m->number[t->b],
						   (double)(fewer ? fewer : 1) / (half * half) };
	}
	free(seen);
}

/* Clocks that sights connect to the reference, and the sums of their weights. */
static void connect(struct network *w, bool *found)
{
	found[w->m->reference] = true;
	for (bool more = true; more;) {
		more = false;
		for (size_t s = 0; s < w->n; s++) {
			const struct sight *g = &w->sight[s];
			if (found[g->a] != found[g->b]) {
				found[g->a] = found[g->b] = more = true;
			}
		}
	}
	for (size_t s = 0; s < w->n; s++) {
		const struct sight *g = &w->sight[s];
		if (found[g->a]) {
			w->diagonal[g->a] += g->weight;
			w->diagonal[g->b] += g->weight;
		}
	}
}

static void look(void *ctx, size_t from, size_t to)
{
	struct network *w = ctx;
	const struct usk_moments *m = w->m;
	for (size_t s = from; s < to; s++) {
		const struct sight *g = &w->sight[s];
		struct usk_link l = usk_tie_link(&m->w->tie[g->tie], m->w->opt->max_skew_e12);
		usk_hint at = 0;
		for (size_t k = 0; k < m->n_moments; k++) {
			int64_t b = m->local[usk_moments_at(m, g->b, k)];
			int64_t a = m->local[usk_moments_at(m, g->a, k)];
			w->apart[s * m->n_moments + k] =
				(double)((usk_i128)usk_link_at(&l, USK_MIDDLE, b, &at) - a);
		}
	}
}

/* out = Laplacian in, the reference held at 0. */
static void apply(const struct network *w, const double *in, double *out)
{
	size_t n = w->m->n;
	for (size_t i = 0; i < n; i++) {
		out[i] = w->diagonal[i] * in[i];
	}
	for (size_t s = 0; s < w->n; s++) {
		const struct sight *g = &w->sight[s];
		out[g->a] -= g->weight * in[g->b];
		out[g->b] -= g->weight * in[g->a];
	}
	out[w->m->reference] = 0;
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++) {
		sum += a[i] * b[i];
	}
	return sum;
}

struct vectors {
	double *x, *rest, *scaled, *way, *image;
};

/* z = rest / diagonal */
static void scale(const struct network *w, const struct vectors *v)
{
	for (size_t i = 0; i < w->m->n; i++) {
		v->scaled[i] = w->diagonal[i] > 0 ? v->rest[i] / w->diagonal[i] : 0;
	}
}

static void solve_moment(const struct network *w, size_t k, struct vectors *v)
{
	const struct usk_moments *m = w->m;
	size_t n = m->n;
	memset(v->x, 0, n * sizeof *v->x);
	memset(v->rest, 0, n * sizeof *v->rest);
	for (size_t s = 0; s < w->n; s++) {
		const struct sight *g = &w->sight[s];
		double pull = g->weight * w->apart[s * m->n_moments + k];
		v->rest[g->b] += w->diagonal[g->b] > 0 ? pull : 0;
		v->rest[g->a] -= w->diagonal[g->a] > 0 ? pull : 0;
	}
	v->rest[m->reference] = 0;
	scale(w, v);
	memcpy(v->way, v->scaled, n * sizeof *v->way);
	double size = dot(v->rest, v->scaled, n), enough = size * ENOUGH * ENOUGH;
	for (int step = 0; step < MOST_STEPS && size > enough; step++) {
		apply(w, v->way, v->image);
		double along = dot(v->way, v->image, n);
		if (!(along > 0)) {
			break;
		}
		double by = size / along;
		for (size_t i = 0; i < n; i++) {
			v->x[i] += by * v->way[i];
			v->rest[i] -= by * v->image[i];
		}
		scale(w, v);
		double next = dot(v->rest, v->scaled, n);
		for (size_t i = 0; i < n; i++) {
			v->way[i] = v->scaled[i] + next / size * v->way[i];
		}
		size = next;
	}
}

static void solve(void *ctx, size_t from, size_t to)
{
	struct network *w = ctx;
	const struct usk_moments *m = w->m;
	double *all = usk_alloc(5 * m->n, sizeof *all);
	struct vectors v = { all, all + m->n, all + 2 * m->n, all + 3 * m->n, all + 4 * m->n };
	for (size_t k = from; k < to; k++) {
		solve_moment(w, k, &v);
		for (size_t i = 0; i < m->n; i++) {
			if (w->diagonal[i] > 0) {
				double most = (double)(USK_TIME_MAX / 2);
				double x = fmax(fmin(v.x[i], most), -most);
				w->x[usk_moments_at(m, i, k)] = (int64_t)round(x);
			}
		}
	}
	free(all);
}

void usk_adjust(const struct usk_moments *m, int64_t *x, bool *found)
{
	struct network w = { .m = m, .x = x };
	find_sights(&w);
	w.diagonal = usk_alloc(m->n, sizeof *w.diagonal);
	w.apart = usk_alloc(w.n * m->n_moments + 1, sizeof *w.apart);
	connect(&w, found);
	usk_parallel(w.n, TIES_AT_ONCE, m->threads, look, &w);
	usk_parallel(m->n_moments, MOMENTS_AT_ONCE, m->threads, solve, &w);
	free(w.sight);
	free(w.diagonal);
	free(w.apart);
}
