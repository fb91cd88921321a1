/* SPDX-License-Identifier: MIT */
#include "mesh.h"
#include "num/cone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846L

long double mesh_shows(const struct mesh_clock *k, long double t)
{
	return t + k->offset + k->drift * t + k->sway * sinl(2 * PI * t / k->period + k->phase) +
	       (t >= k->step_at ? k->step : 0);
}

long double mesh_true(const struct mesh_clock *k, long double local)
{
	long double t = local - k->offset;
	for (int i = 0; i < 12; i++) {
		t -= mesh_shows(k, t) - local;
	}
	return t;
}

static int64_t stamp(const struct mesh *m, uint32_t i, long double t)
{
	int64_t s = (int64_t)floorl(mesh_shows(&m->clock[i], t)), q = m->o.q_ns;
	return q > 1 ? s - (s % q + q) % q : s;
}

/* Do a and b, a < b, exchange messages? [0]: from a to b, [1]: back */
static void talks(const struct mesh_options *o, uint32_t a, uint32_t b, bool way[2])
{
	size_t n = o->clocks;
	bool ring = b == a + 1 || (a == 0 && b == n - 1);
	bool both = false;
	way[0] = way[1] = false;
	switch (o->shape) {
	case MESH_FULL:
		both = true;
		break;
	case MESH_SPARSE:
		both = ring || (a * 7 + b * 13 + o->seed) % 4 == 0;
		break;
	case MESH_CHAIN:
		both = b == a + 1;
		break;
	case MESH_STAR:
		both = a == 0;
		break;
	case MESH_RING:
		both = ring;
		break;
	case MESH_RING_ONE_WAY:
		way[0] = b == a + 1;
		way[1] = n > 2 ? a == 0 && b == n - 1 : b == a + 1;
		return;
	case MESH_ISLANDS:
		both = (a < n / 2) == (b < n / 2);
		break;
	case MESH_NEAR:
		both = b - a <= 10 || a + n - b <= 10;
		break;
	case MESH_SHAPES:
		break;
	}
	way[0] = way[1] = both;
}

static int by_sending(const void *pa, const void *pb)
{
	const struct usk_msg *a = pa, *b = pb;
	return (a->sent_ns > b->sent_ns) - (a->sent_ns < b->sent_ns);
}

void mesh_make(struct mesh *m, const struct mesh_options *o)
{
	struct usk_rng r;
	usk_rng_seed(&r, o->seed * 1000003 + (uint64_t)o->shape);
	*m = (struct mesh){ .o = *o };
	m->clock = usk_alloc(o->clocks, sizeof *m->clock);
	m->span = usk_alloc(o->clocks, sizeof *m->span);
	long double end = o->seconds * 1e9L;
	for (size_t i = 0; i < o->clocks; i++) {
		struct mesh_clock *k = &m->clock[i];
		k->offset = floorl((long double)(usk_rng_unit(&r) * 2e12 - 1e12));
		k->drift = o->drift_ppm * (2 * usk_rng_unit(&r) - 1) * 1e-6L;
		k->period = end * (0.3L + usk_rng_unit(&r));
		k->phase = 2 * PI * usk_rng_unit(&r);
		k->sway = o->sway_ppm * 1e-6L * k->period / (2 * PI);
		k->step_at = o->step_ns != 0 && i == o->stepper ? end / 2 : 2 * end;
		k->step = o->step_ns;
		m->span[i].first_ns = stamp(m, (uint32_t)i, 0);
		m->span[i].last_ns = stamp(m, (uint32_t)i, end);
	}
	size_t cap = 0;
	for (uint32_t a = 0; a < o->clocks; a++) {
		for (uint32_t b = a + 1; b < o->clocks; b++) {
			bool way[2];
			talks(o, a, b, way);
			for (int back = 0; back < 2; back++) {
				long double t = usk_rng_exponential(&r, 1e9 / o->rate);
				for (; way[back] && t < end;
				     t += usk_rng_exponential(&r, 1e9 / o->rate)) {
					long double delay =
						o->least_ns + usk_rng_exponential(&r, o->tail_ns);
					uint32_t from = back ? b : a, to = back ? a : b;
					if (t + delay > end) {
						break;
					}
					if (m->n_msgs == cap) {
						cap = cap ? 2 * cap : 256;
						m->msg = usk_grow(m->msg, cap, sizeof *m->msg);
					}
					m->msg[m->n_msgs++] = (struct usk_msg){
						.sent_ns = stamp(m, from, t),
						.received_ns = stamp(m, to, t + delay),
						.from = from,
						.to = to,
					};
				}
			}
		}
	}
	if (m->n_msgs) {
		qsort(m->msg, m->n_msgs, sizeof *m->msg, by_sending);
	}
}

static void must(enum usk_status status, const struct mesh *m, const struct usk_err *err)
{
	if (status) {
		fprintf(stderr, "mesh: seed %llu: %s\n", (unsigned long long)m->o.seed, err->msg);
		abort();
	}
}

static void fit_pair(struct mesh *m, uint32_t a, uint32_t b, struct usk_msg *msg, size_t n)
{
	struct usk_model model;
	struct usk_err err = { 0 };
	must(usk_model_parse(m->o.model, &model, &err), m, &err);
	int64_t q = m->o.q_ns > 1 ? m->o.q_ns : 0, skew = INT64_C(500000000);
	const struct usk_msg *one = &msg[n / 2];
	int64_t local = one->from == b ? one->sent_ns : one->received_ns;
	int64_t other = one->from == b ? one->received_ns : one->sent_ns;
	int64_t rate = (int64_t)((m->clock[a].drift - m->clock[b].drift) * 1e12L);
	struct usk_frame frame = { local, other - local, rate, usk_model_kappa(&model) };
	struct usk_fit fit = { .model = model,
			       .max_skew_e12 = skew,
			       .first_local_ns = m->span[b].first_ns,
			       .last_local_ns = m->span[b].last_ns,
			       .a = a,
			       .b = b };
	const struct usk_model_row *row = usk_model_row(model.kind);
	struct usk_verdict v = { .quality = USK_ABSENT };
	struct usk_corridor *c = NULL;
	struct usk_lines *lines = NULL;
	for (int round = 0; !round || (round < 4 && v.kappa_e12 > frame.kappa_e12); round++) {
		frame.kappa_e12 = v.kappa_e12 > frame.kappa_e12 ? v.kappa_e12 : frame.kappa_e12;
		usk_verdict_free(&v);
		usk_lines_free(lines);
		usk_corridor_free(c);
		c = usk_corridor_new(&frame);
		must(usk_corridor_add(c, a, b, msg, n, &err), m, &err);
		fit.corridor = c;
		fit.lines = lines = usk_lines_new(c, q, q, skew);
		v.wander.assumed_e12 = model.wander_e12;
		row->ask(&fit, 0, &v);
	}
	size_t i = m->n_ties++;
	m->fitted[i] = (struct usk_clock){ .quality = USK_CONTRADICTED };
	if (v.quality != USK_CONTRADICTED) {
		must(row->fit(&fit, &v, usk_estimator_find("middle"), &m->fitted[i], &err), m,
		     &err);
	}
	int64_t weaker[2] = { q + (int64_t)((usk_i128)q * skew / USK_E12), q };
	usk_part_of(c, weaker, &m->part[i]);
	m->tie[i] = (struct usk_tie){ .a = a,
				      .b = b,
				      .part = &m->part[i],
				      .fitted = &m->fitted[i],
				      .wander_e12 = v.wander.used_e12,
				      .pair = (uint32_t)i };
	for (size_t k = 0; k < n; k++) {
		m->tie[i].messages[msg[k].from == b]++;
	}
	usk_verdict_free(&v);
	usk_lines_free(lines);
	usk_corridor_free(c);
}

void mesh_fit(struct mesh *m)
{
	size_t n = m->o.clocks, pairs = n * (n - 1) / 2;
	m->tie = usk_alloc(pairs + 1, sizeof *m->tie);
	m->part = usk_alloc(pairs + 1, sizeof *m->part);
	m->fitted = usk_alloc(pairs + 1, sizeof *m->fitted);
	size_t *start = usk_alloc(n * n + 1, sizeof *start);
	struct usk_msg *sorted = usk_alloc(m->n_msgs + 1, sizeof *sorted);
	for (size_t i = 0; i < m->n_msgs; i++) {
		const struct usk_msg *g = &m->msg[i];
		size_t a = g->from < g->to ? g->from : g->to, b = g->from + g->to - a;
		start[a * n + b + 1]++;
	}
	for (size_t i = 0; i < n * n; i++) {
		start[i + 1] += start[i];
	}
	size_t *fill = usk_alloc(n * n + 1, sizeof *fill);
	memcpy(fill, start, n * n * sizeof *fill);
	for (size_t i = 0; i < m->n_msgs; i++) {
		const struct usk_msg *g = &m->msg[i];
		size_t a = g->from < g->to ? g->from : g->to, b = g->from + g->to - a;
		sorted[fill[a * n + b]++] = *g;
	}
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = a + 1; b < n; b++) {
			size_t from = start[a * n + b], count = start[a * n + b + 1] - from;
			if (count) {
				fit_pair(m, a, b, sorted + from, count);
			}
		}
	}
	free(start);
	free(fill);
	free(sorted);
}

enum usk_status mesh_solve(struct mesh *m, bool tree, uint32_t reference, struct usk_err *err)
{
	struct usk_solve_options opt = { .max_skew_e12 = 500000000,
					 .reference = reference,
					 .tree = tree,
					 .paths = m->o.paths,
					 .threads = m->o.threads,
					 .span = m->span };
	usk_clocks_free(m->answer);
	struct usk_clocks *c = m->answer = usk_alloc(1, sizeof *c);
	if (usk_model_parse(m->o.model, &opt.model, err)) {
		abort();
	}
	c->n_clocks = m->o.clocks;
	c->clock = usk_alloc(c->n_clocks, sizeof *c->clock);
	for (size_t i = 0; i < c->n_clocks; i++) {
		c->clock[i].name = usk_format("c%zu", i);
		c->clock[i].resolution_ns = m->o.q_ns > 1 ? m->o.q_ns : 1;
	}
	c->n_pairs = m->n_ties;
	c->pair = usk_alloc(c->n_pairs + 1, sizeof *c->pair);
	for (size_t i = 0; i < m->n_ties; i++) {
		c->pair[i].a = m->tie[i].a;
		c->pair[i].b = m->tie[i].b;
		c->pair[i].quality = m->fitted[i].quality;
	}
	c->max_skew_e12 = opt.max_skew_e12;
	return usk_solve(c, m->tie, m->n_ties, &opt, err);
}

void mesh_free(struct mesh *m)
{
	for (size_t i = 0; i < m->n_ties; i++) {
		usk_part_free(&m->part[i]);
		free(m->fitted[i].knot);
		free(m->fitted[i].jump);
	}
	usk_clocks_free(m->answer);
	free(m->tie);
	free(m->part);
	free(m->fitted);
	free(m->clock);
	free(m->msg);
	free(m->span);
}

bool mesh_truth_in_band(const struct mesh *m, size_t n)
{
	struct usk_err err = { 0 };
	for (size_t i = 0; i < m->answer->n_clocks; i++) {
		const struct usk_clock *k = &m->answer->clock[i];
		struct usk_map *map = usk_map_new(k, m->answer->max_skew_e12);
		if (!map) {
			continue;
		}
		const struct mesh_clock *own = &m->clock[i], *ref = &m->clock[k->reference];
		for (size_t s = 0; s <= n; s++) {
			long double t = (long double)s / n * m->o.seconds * 1e9L;
			int64_t local = stamp(m, (uint32_t)i, t);
			struct usk_stamp at;
			if (usk_map_at(map, local, &at, &err)) {
				fprintf(stderr, "%s\n", err.msg);
				return false;
			}
			long double truth = mesh_shows(ref, mesh_true(own, local));
			long double slack =
				1 + (m->o.q_ns > 1 ? (long double)m->o.q_ns : 0) + 0.01L;
			if ((at.lo_ns != USK_NONE && truth < at.lo_ns - slack) ||
			    (at.hi_ns != USK_NONE && truth > at.hi_ns + slack)) {
				fprintf(stderr,
					"seed %llu: clock %zu at %Lg of the trace: truth is %Lf "
					"over "
					"lo, %Lf under hi\n",
					(unsigned long long)m->o.seed, i, (long double)s / n,
					truth - at.lo_ns, at.hi_ns - truth);
				usk_map_free(map);
				return false;
			}
		}
		usk_map_free(map);
	}
	return true;
}

size_t mesh_inversions(const struct mesh *m, int64_t *worst_ns)
{
	size_t n = m->answer->n_clocks, count = 0;
	struct usk_map **map = usk_alloc(n, sizeof *map);
	for (size_t i = 0; i < n; i++) {
		map[i] = usk_map_new(&m->answer->clock[i], m->answer->max_skew_e12);
	}
	*worst_ns = 0;
	for (size_t i = 0; i < m->n_msgs; i++) {
		const struct usk_msg *g = &m->msg[i];
		const struct usk_clock *from = &m->answer->clock[g->from];
		const struct usk_clock *to = &m->answer->clock[g->to];
		struct usk_stamp sent, received;
		if (!map[g->from] || !map[g->to] || from->reference != to->reference ||
		    usk_map_at(map[g->from], g->sent_ns, &sent, NULL) ||
		    usk_map_at(map[g->to], g->received_ns, &received, NULL) ||
		    sent.reference_ns == USK_NONE || received.reference_ns == USK_NONE) {
			continue;
		}
		int64_t early =
			sent.reference_ns - received.reference_ns - (m->o.q_ns > 1 ? m->o.q_ns : 0);
		if (early > 0) {
			count++;
			*worst_ns = early > *worst_ns ? early : *worst_ns;
		}
	}
	for (size_t i = 0; i < n; i++) {
		usk_map_free(map[i]);
	}
	free(map);
	return count;
}

double mesh_half_width(const struct mesh *m, size_t n)
{
	double sum = 0;
	size_t count = 0;
	for (size_t i = 0; i < m->answer->n_clocks; i++) {
		const struct usk_clock *k = &m->answer->clock[i];
		struct usk_map *map = usk_map_new(k, m->answer->max_skew_e12);
		for (size_t s = 0; map && k->quality == USK_BOUNDED && s <= n; s++) {
			struct usk_stamp at;
			int64_t local =
				stamp(m, (uint32_t)i, (long double)s / n * m->o.seconds * 1e9L);
			if (!usk_map_at(map, local, &at, NULL) && at.lo_ns != USK_NONE &&
			    at.hi_ns != USK_NONE) {
				sum += (double)(at.hi_ns - at.lo_ns) / 2;
				count++;
			}
		}
		usk_map_free(map);
	}
	return count ? sum / (double)count : NAN;
}
