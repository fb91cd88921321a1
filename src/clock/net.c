/* SPDX-License-Identifier: MIT */
/*
 * net.c - measured times, less what reading the clock costs
 *
 * In    four reads around each run: two before, two after; pairs of reads of another thread
 * Out   net times by three ways of compensation, how much each improves, how many runs each has no
 *       answer for
 * Why   a measured interval is too long by one read, whose cost depends on the load
 * Not   the other thread (sampler.c)
 *
 * Source  Kong, Spector and Siewiorek 1986, sections 4.2 (methods), 4.4 and 4.5 (zero elapsed
 *         time), 4.7 (choose by it)
 */
#include "clock/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *compensation_name(enum compensation c)
{
	static const char *const name[] = { "raw", "long-term", "method-1", "method-2" };
	return name[c];
}

struct usk_elapsed usk_elapsed(const struct usk_four_stamps *s)
{
	const int64_t *t = s->t_ns;
	struct usk_elapsed e = { .measured_2 = 2 * (t[2] - t[1]),
				 .cost_2 = (t[1] - t[0]) + (t[3] - t[2]) };
	e.net_2 = e.measured_2 - e.cost_2;
	return e;
}

double usk_elapsed_variance_short(const struct usk_read_noise *n)
{
	return 1.5 - n->rho_13 - n->rho_34 + n->rho_14 / 2;
}

/* ---- runs -------------------------------------------------------------------------------- */

void runs_begin(struct runs *r, const struct source *source, struct sampler *sampler)
{
	*r = (struct runs){ .source = source, .sampler = sampler };
}

static int64_t *next_run(struct runs *r)
{
	r->run = usk_room(r->run, r->n, &r->cap, sizeof *r->run);
	/* Memory that is written for the first time costs a thousand reads: not between two of
	 * them. */
	r->run[r->n] = (struct run){ .beside = { { .away = INT64_MAX }, { .away = INT64_MAX } } };
	return r->run[r->n].s.t_ns;
}

int64_t *runs_before(struct runs *r)
{
	int64_t *t = next_run(r);
	if (r->sampler) {
		sampler_run(r->sampler);
	}
	two_reads(r->source, t); /* cold ones */
	return t;
}

static void find_beside(struct run *run, struct sampler *p)
{
	for (int k = 0; k < 2 && p; k++) {
		run->beside[k] = sampler_nearest(p, run->s.t_ns[k + 1]);
	}
}

void runs_after(struct runs *r)
{
	if (r->sampler) {
		sampler_rest(r->sampler);
	}
	find_beside(&r->run[r->n++], r->sampler);
}

void runs_nothing(struct runs *r)
{
	int64_t *t = runs_before(r);
	for (int i = 0; i < 2; i++) { /* the first time through, the code itself is cold */
		two_reads(r->source, t);
		two_reads(r->source, t + 2);
	}
	runs_after(r);
}

void runs_add(struct runs *r, const struct usk_four_stamps *s)
{
	next_run(r);
	r->run[r->n].s = *s;
	find_beside(&r->run[r->n++], r->sampler);
}

void runs_free(struct runs *r)
{
	free(r->run);
	memset(r, 0, sizeof *r);
}

/* ---- which of them count ------------------------------------------------------------------- */

/*
 * Two reads that took longer than this, in ticks, were split. An interrupt is part of what a read
 * costs and may take some hundreds of ns; another thread has the processor for several us at least,
 * and a coarse clock steps by more than its reads take.
 */
static double split_limit(const struct runs *r)
{
	enum { READS = 16, LEAST_NS = 2000 };
	struct samples took = { .n = 0 };
	double tick = INFINITY;
	for (size_t i = 0; i < r->n; i++) {
		const int64_t *t = r->run[i].s.t_ns;
		for (int k = 0; k < 3; k += 2) {
			double d = (double)(t[k + 1] - t[k]);
			samples_add(&took, d);
			tick = d > 0 && d < tick ? d : tick;
		}
	}
	double median = samples_figures(&took).median;
	return LEAST_NS / r->source->ns_per_tick + READS * median + (isfinite(tick) ? 2 * tick : 0);
}

/* T_1, T_m and T_4 of a run, by the method; false: it has no answer for it. */
static bool parts(const struct runs *r, size_t i, enum compensation c, double limit, double out[3])
{
	const struct run *run = &r->run[i];
	bool good = true;
	for (int k = 0; k < 3; k++) {
		out[k] = (double)(run->s.t_ns[k + 1] - run->s.t_ns[k]);
	}
	for (int k = 0; k < 3; k += 2) {
		if (c == METHOD_2) {
			out[k] = (double)run->beside[k / 2].took;
			good = good && (double)run->beside[k / 2].away <= limit;
		}
		good = good && out[k] <= limit;
	}
	return c == RAW || (good && (!r->nothing || out[1] <= limit));
}

/* T_1, T_m and T_4 of the runs that a method has an answer for, in ticks. */
struct kept_parts {
	struct samples t[3];
};

static struct kept_parts keep(const struct runs *r, enum compensation c)
{
	struct kept_parts kept = { .t = { { .n = 0 } } };
	double limit = split_limit(r), part[3];
	for (size_t i = 0; i < r->n; i++) {
		bool good = parts(r, i, c, limit, part);
		for (int k = 0; k < 3 && good; k++) {
			samples_add(&kept.t[k], part[k]);
		}
	}
	return kept;
}

static void keep_free(struct kept_parts *kept)
{
	for (int k = 0; k < 3; k++) {
		samples_free(&kept->t[k]);
	}
}

bool runs_enough(size_t kept, size_t n)
{
	enum { ENOUGH = 30 };
	return kept && (2 * kept >= n || (kept >= ENOUGH && 10 * kept >= n));
}

static void net_of(const struct kept_parts *kept, enum compensation c, double ns_per_tick,
		   struct samples *out)
{
	const struct samples *t = kept->t;
	double mean = 0;
	for (size_t i = 0; i < t->n && c == LONG_TERM; i++) {
		mean += (t[0].v[i] + t[2].v[i]) / 2 / (double)t->n;
	}
	for (size_t i = 0; i < t->n; i++) {
		double cost = c > LONG_TERM ? (t[0].v[i] + t[2].v[i]) / 2 : mean;
		samples_add(out, (t[1].v[i] - cost) * ns_per_tick);
	}
}

void runs_net(const struct runs *r, enum compensation c, struct samples *out)
{
	struct kept_parts kept = keep(r, c);
	net_of(&kept, c, r->source->ns_per_tick, out);
	keep_free(&kept);
}

/* ---- nothing, measured ----------------------------------------------------------------- */

static struct figures figures_of(const struct samples *s)
{
	struct samples copy = { .n = 0 };
	for (size_t i = 0; i < s->n; i++) {
		samples_add(&copy, s->v[i]);
	}
	return samples_figures(&copy);
}

/* k among the runs of which no part is in the longest 1 %: one read that an interrupt made longer
 * outweighs all others in a variance. f: of t. */
static double calm_improvement(const struct samples t[3], const struct figures f[3])
{
	struct samples raw = { .n = 0 }, net = { .n = 0 };
	for (size_t i = 0; i < t->n; i++) {
		double before = t[0].v[i], measured = t[1].v[i], after = t[2].v[i];
		if (before <= f[0].p99 && measured <= f[1].p99 && after <= f[2].p99) {
			samples_add(&raw, measured);
			samples_add(&net, measured - (before + after) / 2);
		}
	}
	double a = samples_figures(&raw).deviation, b = samples_figures(&net).deviation;
	return a * a / (b * b);
}

/* How T_1, T_m and T_4 vary together, and what eq. 5 makes of it. */
static void correlate(const struct samples t[3], struct zero_row *z)
{
	z->rho[0] = samples_correlation(t[0].v, t[1].v, t->n);
	z->rho[1] = samples_correlation(t[1].v, t[2].v, t->n);
	z->rho[2] = samples_correlation(t[0].v, t[2].v, t->n);
	z->rho_next = samples_correlation(t[0].v, t[0].v + 1, t->n - 1);
	const struct usk_read_noise noise = { .rho_13 = z->rho[0],
					      .rho_34 = z->rho[1],
					      .rho_14 = z->rho[2] };
	z->predicted = 1 / usk_elapsed_variance_short(&noise);
}

static struct zero_row zero_row(const struct runs *r, enum compensation c)
{
	struct kept_parts kept = keep(r, c);
	struct zero_row z = { .runs = r->n, .kept = kept.t->n };
	struct samples net = { .n = 0 };
	z.k = z.k1 = z.k_calm = z.predicted = z.rho_next = NAN;
	z.rho[0] = z.rho[1] = z.rho[2] = NAN;
	if (runs_enough(kept.t->n, r->n)) {
		struct figures f[3];
		for (int k = 0; k < 3; k++) {
			f[k] = figures_of(&kept.t[k]);
		}
		net_of(&kept, c, r->source->ns_per_tick, &net);
		z.net = samples_figures(&net);
		double one = z.net.deviation / r->source->ns_per_tick;
		z.k = f[1].deviation * f[1].deviation / (one * one);
		z.k1 = f[0].deviation * f[0].deviation / (one * one);
		z.k_calm = 1;
		if (c > LONG_TERM) {
			correlate(kept.t, &z);
			z.k_calm = calm_improvement(kept.t, f);
		}
	} else {
		z.net = samples_figures(&net);
	}
	keep_free(&kept);
	return z;
}

void zero_figures(const struct runs *r, struct zero *out)
{
	out->best = LONG_TERM; /* without improvement the mean is right at least */
	double most = 1;
	for (int c = 0; c < COMPENSATIONS; c++) {
		out->row[c] = zero_row(r, (enum compensation)c);
		if (c > LONG_TERM && out->row[c].k_calm > most) {
			most = out->row[c].k_calm;
			out->best = (enum compensation)c;
		}
	}
}

void zero_measure(const struct source *s, size_t n, struct zero *out)
{
	struct runs r;
	struct sampler *sampler = sampler_start(s);
	runs_begin(&r, s, sampler);
	r.nothing = true;
	for (size_t i = 0; i < n; i++) {
		runs_nothing(&r);
		for (volatile int k = 0; k < 500; k++) {
			continue; /* injected, not one after the other (section 4.1) */
		}
	}
	sampler_stop(sampler);
	zero_figures(&r, out);
	runs_free(&r);
}
