/* SPDX-License-Identifier: MIT */
/*
 * group.c - the lines by which all clocks received all broadcasts soonest
 *
 * In    stamps of what two clocks both received, of all pairs
 * Out   a line for each clock: no lines have a smaller sum of delays
 * Why   pair by pair each broadcast counts once for every pair, and answers of three pairs need not
 *       fit together; the likelihood is of all clocks together
 * Not   messages: lines may turn some round
 *
 * Source  Scheuermann, Kiess, Roos, Jarre, Mauve: On the time synchronization of distributed log
 *         files in networks with local broadcast media (IEEE/ACM ToN 17(2), 2009), as Poirier 2010,
 *         section 2.3, tells it
 *
 * Clock j received broadcast k when it showed y_kj. With delays of reception that are exponential
 * and of one mean the likelihood is largest where
 *
 *     minimise   F = sum over k, j of T_j(y_kj) - t_k     so that   t_k <= T_j(y_kj)          (1)
 *
 * T_j a line, the root's what it shows. The best t_k is the earliest T_j(y_kj), which leaves a
 * function of the lines alone, convex and piecewise linear. It is not solved as one large linear
 * program, which has a row for each reception: broadcasts are gathered in bundles, each tells its
 * value and slope at the lines so far, and the next lines are the best by all that was told
 * (Kelley 1960, a cut for each bundle). What those promise is a bound, so it is known how far from
 * the best one is.
 */
#include "fit/group_work.h"
#include "num/lp.h"

#include <math.h>
#include <stdlib.h>

enum { BUNDLES = 200, ROUNDS = 500 };

/* Unknowns stay within so many units, the mean delay that the first guess leaves. */
#define FAR 1e6

/* A reception, once those of one broadcast are found. */
struct node {
	int64_t y;
	uint32_t clock;
	size_t up; /* another one of the same broadcast, nearer to the one that stands for it */
};

/* ---- which receptions are of one broadcast ------------------------------------------------ */

static int by_place(const void *pa, const void *pb)
{
	const struct node *a = pa, *b = pb;
	int order = usk_order(a->clock, b->clock);
	return order ? order : usk_order(a->y, b->y);
}

static size_t top(struct node *node, size_t i)
{
	while (node[i].up != i) {
		node[i].up = node[node[i].up].up;
		i = node[i].up;
	}
	return i;
}

static size_t find(const struct node *node, size_t n, uint32_t clock, int64_t y)
{
	struct node key = { .clock = clock, .y = y };
	return (size_t)((const struct node *)bsearch(&key, node, n, sizeof key, by_place) - node);
}

/* All receptions, each once, those of a broadcast under one `up`. */
static struct node *nodes_of(const struct usk_group_pair *pair, size_t n_pairs, size_t *n)
{
	size_t all = 0, kept = 0;
	for (size_t i = 0; i < n_pairs; i++) {
		all += 2 * pair[i].n;
	}
	struct node *node = usk_alloc(all + 1, sizeof *node);
	for (size_t i = 0; i < n_pairs; i++) {
		for (size_t k = 0; k < pair[i].n; k++) {
			node[kept++] = (struct node){ pair[i].broadcasts[k].a_ns, pair[i].a, 0 };
			node[kept++] = (struct node){ pair[i].broadcasts[k].b_ns, pair[i].b, 0 };
		}
	}
	qsort(node, all, sizeof *node, by_place);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (!i || by_place(&node[*n - 1], &node[i])) {
			node[*n] = node[i];
			node[*n].up = *n;
			++*n;
		}
	}
	for (size_t i = 0; i < n_pairs; i++) {
		for (size_t k = 0; k < pair[i].n; k++) {
			const struct usk_reception *h = &pair[i].broadcasts[k];
			size_t a = top(node, find(node, *n, pair[i].a, h->a_ns));
			size_t b = top(node, find(node, *n, pair[i].b, h->b_ns));
			node[a > b ? a : b].up = a < b ? a : b;
		}
	}
	return node;
}

/* Two broadcasts that one clock stamped alike are left out: whose other stamps are is not known. */
static void broadcasts_of(struct usk_group_work *g, struct node *node, size_t n)
{
	size_t kept = 0;
	g->at = usk_alloc(n + 1, sizeof *g->at);
	g->first = usk_alloc(n + 2, sizeof *g->first);
	for (size_t i = 0; i < n; i++) {
		g->at[i] = (struct usk_group_seen){ .y = node[i].y,
						    .clock = node[i].clock,
						    .broadcast = (uint32_t)top(node, i) };
	}
	usk_sort(g->at, n, sizeof *g->at,
		 KEYS(BY(usk_group_seen, broadcast), BY(usk_group_seen, clock),
		      BY(usk_group_seen, y)));
	for (size_t i = 0, end; i < n; i = end) {
		bool twice = false;
		for (end = i + 1; end < n && g->at[end].broadcast == g->at[i].broadcast; end++) {
			twice |= g->at[end].clock == g->at[end - 1].clock;
		}
		if (!twice) {
			g->first[g->n_broadcasts++] = kept;
			for (size_t k = i; k < end; k++) {
				g->at[kept++] = g->at[k];
			}
		}
	}
	g->first[g->n_broadcasts] = g->n = kept;
}

/* ---- the program -------------------------------------------------------------------------- */

/* Unknowns of a reception; NULL: it is the root's. */
static const double *unknown_of(const struct usk_group_work *g, const struct usk_group_seen *s,
				const double *u)
{
	size_t number = g->clock[s->clock].number;
	return number ? u + 2 * (number - 1) : NULL;
}

/* What a bundle's broadcasts, from k to end, come to with these unknowns; its slope in g->slope. */
static double value(struct usk_group_work *g, size_t k, size_t end, const double *u)
{
	double sum = 0;
	for (size_t i = 0; i < g->n_unknown; i++) {
		g->slope[i] = 0;
	}
	for (; k < end; k++) {
		size_t n = g->first[k + 1] - g->first[k], least = g->first[k];
		double all = 0, min = INFINITY;
		for (size_t i = g->first[k]; i < g->first[k + 1]; i++) {
			const struct usk_group_seen *s = &g->at[i];
			const double *own = unknown_of(g, s, u);
			double z = s->r + (own ? own[0] + s->x * own[1] : 0);
			all += z;
			least = z < min ? i : least;
			min = z < min ? z : min;
			if (own) {
				g->slope[own - u]++;
				g->slope[own - u + 1] += s->x;
			}
		}
		const double *own = unknown_of(g, &g->at[least], u);
		if (own) {
			g->slope[own - u] -= (double)n;
			g->slope[own - u + 1] -= (double)n * g->at[least].x;
		}
		sum += all - (double)n * min;
	}
	return sum;
}

/*
 * The dual of: minimise sum of v_b so that v_b >= c_i + s_i . u for each cut i of bundle b, and
 * |u| <= FAR. Rows: unknowns, then bundles; the prices of the former are the unknowns, those of
 * the latter -v.
 */
struct cuts {
	struct usk_lp *lp;
	size_t bundles;
	int *row;
	double *value, *least; /* least: by bundle, what the cuts so far promise */
};

static struct usk_lp *begin(const struct usk_group_work *g, size_t bundles)
{
	size_t n = g->n_unknown;
	int *start = usk_alloc(2 * n + 1, sizeof *start), *row = usk_alloc(2 * n + 1, sizeof *row);
	double *cell = usk_alloc(2 * n + 1, sizeof *cell),
	       *cost = usk_alloc(2 * n + 1, sizeof *cost);
	double *rhs = usk_alloc(n + bundles, sizeof *rhs);
	for (size_t i = 0; i < 2 * n; i++) {
		start[i] = (int)i;
		row[i] = (int)(i / 2);
		cell[i] = i % 2 ? -1 : 1;
		cost[i] = FAR;
	}
	start[2 * n] = (int)(2 * n);
	for (size_t i = 0; i < bundles; i++) {
		rhs[n + i] = 1;
	}
	const struct usk_lp_problem p = { .n_rows = (int)(n + bundles),
					  .n_cols = (int)(2 * n),
					  .start = start,
					  .row = row,
					  .value = cell,
					  .cost = cost,
					  .row_lo = rhs,
					  .row_hi = rhs };
	struct usk_lp *lp = usk_lp_new(&p);
	USK_FREE(start, row, cell, cost, rhs);
	return lp;
}

static void cut(const struct usk_group_work *g, struct cuts *c, size_t bundle, double f,
		const double *u)
{
	int start[2] = { 0, 0 };
	double cost = -f;
	for (size_t i = 0; i < g->n_unknown; i++) {
		if (g->slope[i] != 0) {
			c->row[start[1]] = (int)i;
			c->value[start[1]++] = g->slope[i];
			cost += g->slope[i] * u[i];
		}
	}
	c->row[start[1]] = (int)(g->n_unknown + bundle);
	c->value[start[1]++] = 1;
	const struct usk_lp_problem p = {
		.n_cols = 1, .start = start, .row = c->row, .value = c->value, .cost = &cost
	};
	usk_lp_add_cols(c->lp, &p);
}

/* All bundles at u: their sum, and cuts where they are above what was promised. */
static double look(struct usk_group_work *g, struct cuts *c, const double *u, bool *more)
{
	double sum = 0;
	*more = false;
	for (size_t b = 0; b < c->bundles; b++) {
		double f = value(g, b * g->n_broadcasts / c->bundles,
				 (b + 1) * g->n_broadcasts / c->bundles, u);
		sum += f;
		if (f > c->least[b] + 1e-9 * (1 + fabs(f))) {
			cut(g, c, b, f, u);
			*more = true;
		}
	}
	return sum;
}

/* best: the unknowns. false: there is no solver, or it does not get there. */
static bool minimise(struct usk_group_work *g, double *best)
{
	size_t n = g->n_unknown;
	struct cuts c = { .bundles = g->n_broadcasts < BUNDLES ? g->n_broadcasts : BUNDLES };
	double *u = usk_alloc(n + 1, sizeof *u), least = INFINITY, promised = -INFINITY;
	bool more = true, good = false;
	c.lp = begin(g, c.bundles);
	c.row = usk_alloc(n + 1, sizeof *c.row);
	c.value = usk_alloc(n + 1, sizeof *c.value);
	c.least = usk_alloc(c.bundles, sizeof *c.least);
	for (size_t b = 0; b < c.bundles; b++) {
		c.least[b] = -INFINITY;
	}
	for (int round = 0; c.lp && round < ROUNDS && !good; round++) {
		double sum = look(g, &c, u, &more);
		for (size_t i = 0; i < n && sum < least; i++) {
			best[i] = u[i];
		}
		least = sum < least ? sum : least;
		good = !more || least - promised <= 1e-7 * (1 + least);
		if (good || usk_lp_solve(c.lp, USK_LP_PRIMAL) != USK_LP_OPTIMAL) {
			break;
		}
		const double *price = usk_lp_price(c.lp);
		promised = 0;
		for (size_t i = 0; i < n; i++) {
			u[i] = price[i];
		}
		for (size_t b = 0; b < c.bundles; b++) {
			c.least[b] = -price[n + b];
			promised += c.least[b];
		}
	}
	usk_lp_free(c.lp);
	USK_FREE(c.row, c.value, c.least, u);
	return good;
}

static void settle(struct usk_group_work *g, const double *u)
{
	for (size_t i = 0; i < g->out->n_clocks; i++) {
		struct usk_group_clock *c = &g->clock[i];
		struct usk_group_line *l = &g->out->line[i];
		if (c->number) {
			const double *own = u + 2 * (c->number - 1);
			long double half = usk_real((usk_i128)c->to - c->from) / 2;
			l->rest_ns += (long double)own[0] * g->unit;
			l->slope += (long double)own[1] * g->unit / half;
		}
	}
}

/* ---- all of it ---------------------------------------------------------------------------- */

enum usk_status usk_group_of(const struct usk_group_pair *pair, size_t n_pairs, size_t n_clocks,
			     uint32_t root, struct usk_group **out, struct usk_err *err)
{
	struct usk_group_work g = { .out = usk_alloc(1, sizeof *g.out) };
	size_t n;
	struct node *node = nodes_of(pair, n_pairs, &n);
	g.out->n_clocks = n_clocks;
	g.out->line = usk_alloc(n_clocks + 1, sizeof *g.out->line);
	g.clock = usk_alloc(n_clocks + 1, sizeof *g.clock);
	broadcasts_of(&g, node, n);
	usk_group_guess(&g, root);
	g.out->broadcasts = g.n_broadcasts;
	g.out->receptions = g.n;
	g.slope = usk_alloc(g.n_unknown + 1, sizeof *g.slope);
	double *best = usk_alloc(g.n_unknown + 1, sizeof *best);
	enum usk_status status = USK_OK;
	if (!g.n_broadcasts) {
		status = usk_fail(err, USK_EINPUT, 0, USK_NO_BROADCAST, "broadcast");
	} else if (!usk_lp_solver()) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "broadcast needs a solver of linear programs, which is not built "
				  "in; broadcast-pairwise needs none");
	} else if (!minimise(&g, best)) {
		status = usk_fail(err, USK_EINPUT, 0,
				  "the linear program of all clocks found no end; "
				  "broadcast-pairwise needs none");
	} else {
		settle(&g, best);
	}
	USK_FREE(best, g.slope, g.clock, g.shared, g.first, g.at, node);
	if (status) {
		usk_group_free(g.out);
	} else {
		*out = g.out;
	}
	return status;
}

void usk_group_free(struct usk_group *g)
{
	if (g) {
		free(g->line);
		free(g);
	}
}

/* ---- the estimator ------------------------------------------------------------------------ */

/* The other clock's reading when T shows what this line says at y: T_a(z) = T_b(y), less y. */
static usk_i128 offset_at(const struct usk_group_line *a, const struct usk_group_line *b, int64_t y)
{
	/* T_b(y) - y, whole and rest; then z = y + w with w (1 + s_a) = T_b - T_a at y. */
	long double rest =
		b->rest_ns - a->rest_ns + b->slope * usk_real((usk_i128)y - b->local_ns) -
		a->slope * usk_real((usk_i128)y + b->offset_ns - a->offset_ns - a->local_ns);
	usk_i128 whole = (usk_i128)b->offset_ns - a->offset_ns;
	return whole + usk_whole_ns(rest / (1 + a->slope));
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_group *g = fit->group;
	struct usk_group *own = NULL;
	if (!g && !fit->group_failed) { /* two clocks are a group, too */
		struct usk_group_pair pair = { 0, 1, fit->broadcasts, fit->n_broadcasts };
		enum usk_status status = usk_group_of(&pair, 1, 2, 0, &own, err);
		if (status) {
			return status;
		}
	}
	const struct usk_group_line *a = own ? &own->line[0] : g ? &g->line[fit->a] : NULL;
	const struct usk_group_line *b = own ? &own->line[1] : g ? &g->line[fit->b] : NULL;
	enum usk_status status = USK_OK;
	if (!a || !a->known || !b->known || a->root != b->root || !(1 + a->slope > 1e-3L)) {
		status = usk_fail(err, USK_EINPUT, 0, fit->group_failed ? "%s" : USK_NO_BROADCAST,
				  fit->group_failed ? fit->group_failed : "broadcast");
	} else {
		const struct usk_frame *f = &fit->lines->frame;
		usk_i128 x[2], y[2];
		usk_fit_span(fit, &x[0], &x[1]);
		for (int i = 0; i < 2; i++) {
			y[i] = offset_at(a, b, usk_saturate(f->local_ns + x[i])) - f->offset_ns;
		}
		status = usk_fit_straight(fit, y[0], y[1], out, n);
	}
	usk_group_free(own);
	return status;
}

USK_ESTIMATOR(broadcast, "broadcast",
	      "Scheuermann et al., IEEE/ACM ToN 17(2), 2009; Poirier 2010, section 2.3",
	      "by which all clocks together received broadcasts soonest: the likeliest lines if "
	      "delays of reception are exponential",
	      false, .estimate = estimate, .together = true);
