/* SPDX-License-Identifier: MIT */
/*
 * net.c - measured times, less what reading the clock costs
 *
 * In    four reads around each run: two before, two after; a thread that samples meanwhile
 * Out   net times by three ways of compensation, and how much each improves
 * Why   a measured interval is too long by one read, whose cost depends on the load
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

/* ---- a thread that reads the clock twice, again and again ------------------------------ */

struct pair_read {
	int64_t at, took;
};

/* As many as a minute gives at one a 15 us. */
enum { SAMPLES_MAX = 4000000 };

struct sampler {
	const struct source *source;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	struct pair_read *sample;
	size_t n, cap;
};

static void *sample(void *ctx)
{
	struct sampler *p = ctx;
	while (!atomic_load_explicit(&p->stop, memory_order_relaxed) && p->n < SAMPLES_MAX) {
		int64_t first = p->source->read(p->source), second = p->source->read(p->source);
		p->sample = usk_room(p->sample, p->n, &p->cap, sizeof *p->sample);
		p->sample[p->n++] = (struct pair_read){ first, second - first };
		for (volatile int i = 0; i < 200; i++) {
			continue; /* to disturb no more than it must */
		}
	}
	return NULL;
}

static int64_t nearest(const struct sampler *p, int64_t at)
{
	size_t lo = 0, hi = p->n - 1;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (p->sample[mid].at < at) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	bool before = lo && at - p->sample[lo - 1].at < p->sample[lo].at - at;
	return p->sample[lo - before].took;
}

/* ---- runs -------------------------------------------------------------------------------- */

void runs_begin(struct runs *r, const struct source *source, bool sampled)
{
	*r = (struct runs){ .source = source };
	if (sampled) {
		struct sampler *p = r->sampler = usk_alloc(1, sizeof *p);
		p->source = source;
		p->running = !pthread_create(&p->thread, NULL, sample, p);
	}
}

void runs_before(struct runs *r)
{
	r->run = usk_room(r->run, r->n, &r->cap, sizeof *r->run);
	/* Memory that is written for the first time costs a thousand reads: not between two of
	 * them. */
	r->run[r->n] = (struct usk_four_stamps){ { 0 } };
	int64_t *t = r->run[r->n].t_ns;
	t[0] = r->source->read(r->source);
	t[1] = r->source->read(r->source);
}

void runs_after(struct runs *r)
{
	int64_t *t = r->run[r->n].t_ns;
	t[2] = r->source->read(r->source);
	t[3] = r->source->read(r->source);
	r->n++;
}

void runs_end(struct runs *r)
{
	struct sampler *p = r->sampler;
	if (p && p->running) {
		atomic_store(&p->stop, true);
		pthread_join(p->thread, NULL);
		p->running = false;
	}
}

void runs_free(struct runs *r)
{
	runs_end(r);
	if (r->sampler) {
		free(r->sampler->sample);
		free(r->sampler);
	}
	free(r->run);
	memset(r, 0, sizeof *r);
}

/* T_1, T_m and T_4 of a run, by the method. */
static void parts(const struct runs *r, size_t i, enum compensation c, double out[3])
{
	const int64_t *t = r->run[i].t_ns;
	for (int k = 0; k < 3; k++) {
		out[k] = (double)(t[k + 1] - t[k]);
	}
	if (c == METHOD_2 && r->sampler && r->sampler->n) {
		out[0] = (double)nearest(r->sampler, t[1]);
		out[2] = (double)nearest(r->sampler, t[2]);
	}
}

void runs_net(const struct runs *r, enum compensation c, struct samples *out)
{
	double mean = 0, part[3];
	for (size_t i = 0; i < r->n && c == LONG_TERM; i++) {
		parts(r, i, c, part);
		mean += (part[0] + part[2]) / 2 / (double)r->n;
	}
	for (size_t i = 0; i < r->n; i++) {
		parts(r, i, c, part);
		double cost = c > LONG_TERM ? (part[0] + part[2]) / 2 : mean;
		samples_add(out, (part[1] - cost) * r->source->ns_per_tick);
	}
}

/* ---- nothing, measured ----------------------------------------------------------------- */

/* k among the runs of which no part is in the longest 1 %: one read that waited for a processor
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

static void improvement(const struct runs *r, enum compensation c, struct zero *z)
{
	struct samples t[3] = { { .n = 0 } }, sorted[3] = { { .n = 0 } };
	struct figures f[3];
	for (size_t i = 0; i < r->n; i++) {
		double part[3];
		parts(r, i, c, part);
		for (int k = 0; k < 3; k++) {
			samples_add(&t[k], part[k]);
			samples_add(&sorted[k], part[k]);
		}
	}
	for (int k = 0; k < 3; k++) {
		f[k] = samples_figures(&sorted[k]);
	}
	double raw = z->net[RAW].deviation, net = z->net[c].deviation;
	double one = f[0].deviation * r->source->ns_per_tick;
	z->k[c] = raw * raw / (net * net);
	z->k1[c] = one * one / (net * net);
	z->k_calm[c] = 1;
	z->predicted[c] = NAN;
	if (c > LONG_TERM) {
		const struct usk_read_noise noise = {
			.rho_13 = samples_correlation(t[0].v, t[1].v, r->n),
			.rho_34 = samples_correlation(t[1].v, t[2].v, r->n),
			.rho_14 = samples_correlation(t[0].v, t[2].v, r->n),
		};
		z->predicted[c] = 1 / usk_elapsed_variance_short(&noise);
		z->k_calm[c] = calm_improvement(t, f);
	}
	for (int k = 0; k < 3; k++) {
		samples_free(&t[k]);
	}
}

void zero_figures(const struct runs *r, struct zero *out)
{
	out->best = RAW;
	for (int c = 0; c < COMPENSATIONS; c++) {
		struct samples net = { .n = 0 };
		runs_net(r, (enum compensation)c, &net);
		out->net[c] = samples_figures(&net);
		improvement(r, (enum compensation)c, out);
		bool sampled = c != METHOD_2 || (r->sampler && r->sampler->n);
		if (c > LONG_TERM && sampled && out->k_calm[c] > 1 &&
		    (out->best == RAW || out->k_calm[c] > out->k_calm[out->best])) {
			out->best = (enum compensation)c;
		}
	}
	/* Without improvement the mean is right at least by the long-term cost. */
	out->best = out->best == RAW ? LONG_TERM : out->best;
}

void zero_measure(const struct source *s, size_t n, struct zero *out)
{
	struct runs r;
	runs_begin(&r, s, true);
	const int64_t start_up_ns = 2000000;
	usk_sleep_ns(start_up_ns);
	for (size_t i = 0; i < n; i++) {
		runs_before(&r);
		runs_after(&r);
		for (volatile int k = 0; k < 500; k++) {
			continue; /* injected, not one after the other (section 4.1) */
		}
	}
	runs_end(&r);
	zero_figures(&r, out);
	runs_free(&r);
}
