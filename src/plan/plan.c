/* SPDX-License-Identifier: MIT */
/*
 * plan.c - which link, and how often
 *
 * In    links of a recording or of a topology, periods to try
 * Out   what more round trips on each link make of the widest band; how many a wanted width needs
 * Why   a forecast says what some round trips would give; a plan asks for the fewest
 * Not   all distributions of round trips among links: a wanted width is sought along the routes with
 *       the shortest round trips, then link after link is given as few as it can do with
 */
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct planning {
	const struct usk_network *n;
	const struct usk_plan_options *opt;
	struct usk_plan *out;
	uint32_t home;	    /* the reference */
	uint32_t *by;	    /* by clock: the link of its route towards home; USK_NO_CLOCK: none */
	int64_t *period_ns; /* by link: of the next forecast */
	int64_t *half_ns;   /* by clock: of the last one */
	size_t done, planned;
	struct usk_err *err;
};

/* ---- routes ------------------------------------------------------------------------------------
 */

#define FAR INT64_MAX

/* Is the way over a link to one of its clocks shorter than what is known? */
static bool shorten(struct planning *x, uint32_t link, int64_t *far)
{
	const struct usk_plan_link *l = &x->n->link[link];
	uint32_t from = far[l->a] <= far[l->b] ? l->a : l->b, to = from == l->a ? l->b : l->a;
	if (!usk_link_known(l) || far[from] == FAR) {
		return false;
	}
	int64_t d = usk_saturate((usk_i128)far[from] + l->way[0].delay_ns.value[0] +
				 l->way[1].delay_ns.value[0]);
	if (d >= far[to]) {
		return false;
	}
	far[to] = d;
	x->by[to] = link;
	return true;
}

static void find_routes(struct planning *x)
{
	const struct usk_network *n = x->n;
	int64_t *far = usk_alloc(n->n_clocks, sizeof *far);
	for (size_t i = 0; i < n->n_clocks; i++) {
		far[i] = i == x->home ? 0 : FAR;
		x->by[i] = USK_NO_CLOCK;
	}
	for (bool any = true; any;) {
		any = false;
		for (uint32_t i = 0; i < n->n_links; i++) {
			any = shorten(x, i, far) || any;
		}
	}
	for (size_t i = 0; i < n->n_clocks; i++) {
		x->out->floor_ns[i] = far[i] == FAR ? USK_NONE : far[i] / 2;
	}
	free(far);
}

/* The next clock on a route, towards home. */
static uint32_t next_of(const struct planning *x, uint32_t clock)
{
	const struct usk_plan_link *l = &x->n->link[x->by[clock]];
	return l->a == clock ? l->b : l->a;
}

static bool reachable(const struct planning *x, size_t clock)
{
	return clock != x->home && x->by[clock] != USK_NO_CLOCK;
}

/* ---- forecasts ---------------------------------------------------------------------------------
 */

static enum usk_status forecast(struct planning *x)
{
	if (x->opt->progress) {
		double share = (double)x->done++ / (double)x->planned;
		x->opt->progress(x->opt->progress_ctx, share < 1 ? share : 1, "forecasts");
	}
	return usk_forecast(x->n, x->period_ns, x->half_ns, x->err);
}

/* Open is wider than any width. */
static uint64_t width(int64_t half_ns)
{
	return half_ns == USK_NONE ? UINT64_MAX : (uint64_t)half_ns;
}

static uint32_t widest(const struct planning *x)
{
	uint32_t worst = USK_NO_CLOCK;
	for (uint32_t i = 0; i < x->n->n_clocks; i++) {
		if (reachable(x, i) &&
		    (worst == USK_NO_CLOCK || width(x->half_ns[i]) > width(x->half_ns[worst]))) {
			worst = i;
		}
	}
	return worst;
}

static enum usk_status try_row(struct planning *x, size_t link, int64_t period_ns,
			       struct usk_plan_row *out)
{
	x->period_ns[link] = period_ns;
	enum usk_status status = forecast(x);
	x->period_ns[link] = 0;
	if (!status) {
		uint32_t worst = widest(x);
		*out = (struct usk_plan_row){ .link = link,
					      .period_ns = period_ns,
					      .half_ns = x->half_ns[x->out->worst],
					      .worst = worst,
					      .worst_ns = x->half_ns[worst] };
	}
	return status;
}

/* ---- which link --------------------------------------------------------------------------------
 */

static int by_help(const void *pa, const void *pb)
{
	const struct usk_plan_row *a = pa, *b = pb;
	uint64_t x[] = { width(a->half_ns), width(a->worst_ns), a->link };
	uint64_t y[] = { width(b->half_ns), width(b->worst_ns), b->link };
	size_t i = 0;
	while (i < 2 && x[i] == y[i]) {
		i++;
	}
	return (x[i] > y[i]) - (x[i] < y[i]);
}

/* A mark at each clock of the worst one's route. */
static bool *mark_route(const struct planning *x)
{
	bool *on = usk_alloc(x->n->n_clocks, sizeof *on);
	uint32_t i = x->out->worst;
	for (; i != x->home; i = next_of(x, i)) {
		on[i] = true;
	}
	on[i] = true;
	return on;
}

/* Links with both ends on the route, then with one, then others; how many. */
static size_t choose_links(const struct planning *x, size_t *link)
{
	bool *on = mark_route(x);
	size_t n = 0;
	for (int ends = 2; ends >= 0; ends--) {
		for (size_t i = 0; i < x->n->n_links && n < USK_PLAN_LINKS; i++) {
			const struct usk_plan_link *l = &x->n->link[i];
			if (usk_link_known(l) && on[l->a] + on[l->b] == ends) {
				link[n++] = i;
			}
		}
	}
	free(on);
	return n;
}

static enum usk_status rank_links(struct planning *x)
{
	struct usk_plan *p = x->out;
	size_t link[USK_PLAN_LINKS], n = choose_links(x, link);
	enum usk_status status = USK_OK;
	x->planned += n;
	p->link = usk_alloc(n + 1, sizeof *p->link);
	for (size_t i = 0; i < n && !status; i++) {
		int64_t period_ns = x->opt->period_ns[x->opt->n_periods / 2];
		status = try_row(x, link[i], period_ns, &p->link[i]);
	}
	p->n_links = n;
	qsort(p->link, n, sizeof *p->link, by_help);
	return status;
}

static enum usk_status try_periods(struct planning *x)
{
	struct usk_plan *p = x->out;
	enum usk_status status = USK_OK;
	p->n_periods = x->opt->n_periods;
	p->period = usk_alloc(p->n_periods + 1, sizeof *p->period);
	for (size_t i = 0; i < p->n_periods && !status; i++) {
		status = try_row(x, p->link[0].link, x->opt->period_ns[i], &p->period[i]);
	}
	return status;
}

/* ---- how often ---------------------------------------------------------------------------------
 */

/* Periods by half octaves, from the longest that is to be tried to the shortest. */
static size_t rungs(const struct planning *x)
{
	const struct usk_plan_options *o = x->opt;
	double ratio = (double)o->period_ns[0] / (double)o->period_ns[o->n_periods - 1];
	return (size_t)floor(2 * log2(ratio) + 0.5) + 1;
}

static int64_t rung(const struct planning *x, size_t i)
{
	int64_t period = (int64_t)((double)x->opt->period_ns[0] * exp2(-(double)i / 2));
	return period > 1 ? period : 1;
}

/* Is no band wider than wanted? */
static enum usk_status wanted(struct planning *x, bool *yes)
{
	enum usk_status status = forecast(x);
	*yes = true;
	for (size_t i = 0; i < x->n->n_clocks && !status; i++) {
		*yes = *yes && (!reachable(x, i) || width(x->half_ns[i]) <= width(x->opt->want_ns));
	}
	return status;
}

static void set_links(struct planning *x, const bool *which, int64_t period_ns)
{
	for (size_t i = 0; i < x->n->n_links; i++) {
		x->period_ns[i] = which[i] ? period_ns : x->period_ns[i];
	}
}

/* The longest period for these links that suffices, of those up to the last rung, which does; none
 * at all is rung -1. They are set to it. */
static enum usk_status fewest(struct planning *x, const bool *which, size_t last)
{
	enum usk_status status = USK_OK;
	size_t low = 0, high = last + 1; /* 0: none; i + 1: rung i */
	while (low < high && !status) {
		size_t try = low + (high - low) / 2;
		bool yes;
		set_links(x, which, try ? rung(x, try - 1) : 0);
		status = wanted(x, &yes);
		low = yes ? low : try + 1;
		high = yes ?
		try : high
			;
	}
	set_links(x, which, high ? rung(x, high - 1) : 0);
	return status;
}

/* Links on routes of clocks whose bands are too wide. */
static bool *links_wanted(const struct planning *x)
{
	bool *which = usk_alloc(x->n->n_links, sizeof *which);
	for (uint32_t i = 0; i < x->n->n_clocks; i++) {
		bool wide = reachable(x, i) && width(x->out->now_ns[i]) > width(x->opt->want_ns);
		for (uint32_t k = i; wide && k != x->home && !which[x->by[k]]; k = next_of(x, k)) {
			which[x->by[k]] = true;
		}
	}
	return which;
}

static size_t rung_of(const struct planning *x, int64_t period_ns)
{
	size_t i = 0;
	while (i + 1 < rungs(x) && rung(x, i) != period_ns) {
		i++;
	}
	return i;
}

static enum usk_status each_fewest(struct planning *x, const bool *which)
{
	enum usk_status status = USK_OK;
	bool *one = usk_alloc(x->n->n_links, sizeof *one);
	for (size_t i = 0; i < x->n->n_links && !status; i++) {
		if (which[i] && x->period_ns[i]) {
			one[i] = true;
			status = fewest(x, one, rung_of(x, x->period_ns[i]));
			one[i] = false;
		}
	}
	free(one);
	return status;
}

static enum usk_status seek(struct planning *x)
{
	struct usk_plan *p = x->out;
	bool *which = links_wanted(x);
	size_t last = rungs(x) - 1, some = 0;
	for (size_t i = 0; i < x->n->n_links; i++) {
		some += which[i];
	}
	x->planned += (some + 1) * (size_t)(2 + log2((double)last + 2));
	set_links(x, which, rung(x, last));
	enum usk_status status = wanted(x, &p->reached);
	if (!status && p->reached) {
		status = fewest(x, which, last);
		status = status ? status : each_fewest(x, which);
		status = status ? status : forecast(x);
	}
	memcpy(p->then_ns, x->half_ns, x->n->n_clocks * sizeof *p->then_ns);
	memcpy(p->period_ns, x->period_ns, x->n->n_links * sizeof *p->period_ns);
	free(which);
	return status;
}

/* ---- a plan ------------------------------------------------------------------------------------
 */

static enum usk_status make(struct planning *x)
{
	struct usk_plan *p = x->out;
	find_routes(x);
	enum usk_status status = forecast(x);
	if (status) {
		return status;
	}
	memcpy(p->now_ns, x->half_ns, x->n->n_clocks * sizeof *p->now_ns);
	p->worst = widest(x);
	if (p->worst == USK_NO_CLOCK) {
		return usk_fail(x->err, USK_EINPUT, 0,
				"no clock has messages in both directions with %s, or with "
				"others that have",
				x->n->clock[x->home].name);
	}
	status = rank_links(x);
	status = status ? status : try_periods(x);
	return status || !x->opt->want_ns ? status : seek(x);
}

enum usk_status usk_plan_make(const struct usk_network *n, const struct usk_plan_options *opt,
			      struct usk_plan *out, struct usk_err *err)
{
	struct planning x = { .n = n,
			      .opt = opt,
			      .out = out,
			      .home = (uint32_t)usk_network_find(n, n->reference) - 1,
			      .by = usk_alloc(n->n_clocks, sizeof *x.by),
			      .period_ns = usk_alloc(n->n_links, sizeof *x.period_ns),
			      .half_ns = usk_alloc(n->n_clocks, sizeof *x.half_ns),
			      .planned = 1 + opt->n_periods,
			      .err = err };
	*out = (struct usk_plan){ .now_ns = usk_alloc(n->n_clocks, sizeof *out->now_ns),
				  .floor_ns = usk_alloc(n->n_clocks, sizeof *out->floor_ns),
				  .period_ns = usk_alloc(n->n_links, sizeof *out->period_ns),
				  .then_ns = usk_alloc(n->n_clocks, sizeof *out->then_ns) };
	enum usk_status status = make(&x);
	USK_FREE(x.by, x.period_ns, x.half_ns);
	if (status) {
		usk_plan_free(out);
	}
	return status;
}

void usk_plan_free(struct usk_plan *p)
{
	USK_FREE(p->now_ns, p->floor_ns, p->link, p->period, p->period_ns, p->then_ns);
	*p = (struct usk_plan){ .worst = USK_NO_CLOCK };
}
