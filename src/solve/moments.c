/* SPDX-License-Identifier: MIT */
/*
 * moments.c - which moments, what clocks show there, who sends to whom
 *
 * In    the core of an island, ways through it
 * Out   the moments and their arcs, without lengths
 * Not   lengths (weigh.c), paths (bound.c)
 */
#include "solve/moments.h"
#include "fit/fit.h"
#include "solve/times.h"

#include <stdlib.h>
#include <string.h>

static void find_clocks(struct usk_moments *m)
{
	struct usk_island_work *w = m->w;
	m->clock = usk_alloc(w->n, sizeof *m->clock);
	m->number = usk_alloc(w->graph->n_clocks, sizeof *m->number);
	for (size_t k = 0; k < w->n; k++) {
		uint32_t i = w->clock[k];
		if (usk_in_core(w, i)) {
			m->number[i] = (uint32_t)m->n;
			m->clock[m->n++] = i;
		}
	}
	m->reference = m->number[w->reference];
}

static void find_flows(struct usk_moments *m)
{
	const struct usk_island_work *w = m->w;
	const struct usk_graph *g = w->graph;
	size_t cap = 0;
	for (size_t k = 0; k < m->n; k++) {
		for (size_t j = g->first[m->clock[k]]; j < g->first[m->clock[k] + 1]; j++) {
			const struct usk_arc *a = &g->arc[j];
			const struct usk_tie *t = &w->tie[a->tie];
			for (int side = 0; side < 2; side++) {
				if (a->turned || !usk_tie_in_core(w, t) || !t->part->n[side]) {
					continue;
				}
				uint32_t from = m->number[side ? t->b : t->a];
				uint32_t to = m->number[side ? t->a : t->b];
				if (m->n_flows == cap) {
					cap = cap ? 2 * cap : 64;
					m->flow = usk_grow(m->flow, cap, sizeof *m->flow);
				}
				m->flow[m->n_flows++] =
					(struct usk_flow){ from, to, a->tie, side == USK_CEILING };
			}
		}
	}
	m->in = usk_alloc(m->n + 1, sizeof *m->in);
	m->out = usk_alloc(m->n + 1, sizeof *m->out);
	m->by_to = usk_alloc(m->n_flows + 1, sizeof *m->by_to);
	m->by_from = usk_alloc(m->n_flows + 1, sizeof *m->by_from);
	for (size_t f = 0; f < m->n_flows; f++) {
		m->in[m->flow[f].to + 1]++;
		m->out[m->flow[f].from + 1]++;
	}
	for (size_t i = 0; i < m->n; i++) {
		m->in[i + 1] += m->in[i];
		m->out[i + 1] += m->out[i];
	}
	size_t *fill = usk_alloc(2 * m->n + 1, sizeof *fill);
	memcpy(fill, m->in, m->n * sizeof *fill);
	memcpy(fill + m->n, m->out, m->n * sizeof *fill);
	for (uint32_t f = 0; f < m->n_flows; f++) {
		m->by_to[fill[m->flow[f].to]++] = f;
		m->by_from[fill[m->n + m->flow[f].from]++] = f;
	}
	free(fill);
}

void usk_flow_times(const struct usk_moments *m, const struct usk_flow *f, struct usk_xy p,
		    int64_t *sent, int64_t *received)
{
	struct usk_point at = usk_part_point(m->w->tie[f->tie].part, f->ceiling, p);
	int64_t other = usk_cut((usk_i128)at.local_ns + at.offset_ns);
	*sent = f->ceiling ? at.local_ns : other;
	*received = f->ceiling ? other : at.local_ns;
}

static int64_t to_reference(const struct usk_moments *m, uint32_t clock, int64_t local)
{
	return usk_tree_time(m->w->graph, m->w->tie, m->w->way, clock, local,
			     m->w->opt->max_skew_e12);
}

/* All times of messages if they are few, else evenly. */
static void choose_moments(struct usk_moments *m, size_t most)
{
	const struct usk_island_work *w = m->w;
	struct usk_times t = { 0 };
	size_t points = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < m->n; i++) {
		const struct usk_span *s = &w->opt->span[m->clock[i]];
		int64_t from = to_reference(m, m->clock[i], s->first_ns);
		int64_t to = to_reference(m, m->clock[i], s->last_ns);
		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	last = last > first ? last : first + 1;
	for (size_t f = 0; f < m->n_flows; f++) {
		points += w->tie[m->flow[f].tie].part->n[m->flow[f].ceiling];
	}
	usk_times_add(&t, first);
	usk_times_add(&t, last);
	if (2 * points + 2 <= most) {
		for (size_t f = 0; f < m->n_flows; f++) {
			const struct usk_flow *flow = &m->flow[f];
			const struct usk_part *part = w->tie[flow->tie].part;
			for (size_t k = 0; k < part->n[flow->ceiling]; k++) {
				int64_t sent, received;
				usk_flow_times(m, flow, part->point[flow->ceiling][k], &sent,
					       &received);
				sent = to_reference(m, m->clock[flow->from], sent);
				received = to_reference(m, m->clock[flow->to], received);
				usk_times_add(&t, sent);
				usk_times_add(&t, received);
			}
		}
	} else {
		for (size_t k = 1; k + 1 < most; k++) {
			usk_times_add(&t, first + (int64_t)(((usk_i128)last - first) * (usk_i128)k /
							    (usk_i128)(most - 1)));
		}
	}
	usk_times_settle(&t);
	m->moment = t.x;
	m->n_moments = t.n;
}

static void find_locals(struct usk_moments *m)
{
	const struct usk_island_work *w = m->w;
	m->local = usk_alloc(m->n * m->n_moments, sizeof *m->local);
	for (size_t i = 0; i < m->n; i++) {
		usk_tree_locals(w->graph, w->tie, w->way, m->clock[i], m->moment, m->n_moments,
				w->opt->max_skew_e12, m->local + usk_moments_at(m, i, 0));
	}
}

struct usk_moments *usk_moments_new(struct usk_island_work *w, size_t most)
{
	struct usk_moments *m = usk_alloc(1, sizeof *m);
	m->w = w;
	m->threads = w->opt->threads;
	find_clocks(m);
	find_flows(m);
	choose_moments(m, most);
	find_locals(m);
	m->least = usk_alloc(m->n_flows * m->n_moments + 1, sizeof *m->least);
	m->low = usk_alloc(m->n * m->n_moments, sizeof *m->low);
	m->high = usk_alloc(m->n * m->n_moments, sizeof *m->high);
	return m;
}

void usk_moments_free(struct usk_moments *m)
{
	if (m) {
		free(m->clock);
		free(m->number);
		free(m->moment);
		free(m->local);
		free(m->flow);
		free(m->in);
		free(m->out);
		free(m->by_to);
		free(m->by_from);
		free(m->least);
		free(m->low);
		free(m->high);
		free(m);
	}
}
