/* SPDX-License-Identifier: MIT */
/*
 * pair.c - one pair of clocks from its messages to its correction
 *
 * In    the messages of two clocks, readable as often as needed
 * Out   the local clock's knots and quality, the pair's figures
 * Why   what is asked of a pair stands together: its correction, its figures, what can be drawn
 * Not   reading, wrong messages (reading.c), more than two clocks (sync.c)
 */
#include "flow/reading.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWN_POINTS = 4000 };

/* Added to those of other pairs; percent is of all messages, which sync.c knows. */
static void too_fast(const struct usk_judge *j, struct usk_evaluation *e)
{
	struct usk_violations v = usk_judge_violations(j), *all = &e->too_fast;
	usk_i128 sum = (usk_i128)all->mean_ns * (usk_i128)all->count + j->violation_sum;
	all->count += v.count;
	all->max_ns = v.max_ns > all->max_ns ? v.max_ns : all->max_ns;
	all->mean_ns = all->count ? (int64_t)(sum / (usk_i128)all->count) : 0;
}

enum usk_status usk_pair_check(struct pair_source *s, struct usk_pair *pair,
			       struct usk_counts *counts, struct usk_evaluation *evaluation,
			       struct usk_err *err)
{
	struct reading r = usk_reading_of(s, err);
	struct usk_witness witness = { 0 };
	usk_pair_blank(pair, s);
	r.judge.with_delays = true;
	r.witness = &witness;
	enum usk_status status = usk_reading_once(&r, counts, &pair->evidence);
	usk_reading_recorded(&r, pair);
	usk_witness_pair(&witness, false, NULL, NULL, pair);
	usk_witness_free(&witness);
	evaluation->heard_recorded =
		usk_differences_add(evaluation->heard_recorded, pair->heard_recorded);
	evaluation->recorded_inversions += usk_pair_inversions(pair);
	too_fast(&r.judge, evaluation);
	usk_judge_free(&r.judge);
	return status;
}

/* ---- what can be drawn ----------------------------------------------------------------- */

/* The extreme point of each bucket, relative to the coarse slope, so that drift does not favour
 * one end of it. */
static struct usk_point *thin_out(const struct usk_point *p, size_t n, const struct usk_frame *f,
				  int64_t first, int64_t bucket, bool ceiling, size_t *n_out)
{
	struct usk_point *out = usk_alloc(n < DRAWN_POINTS ? n : DRAWN_POINTS, sizeof *out);
	size_t m = 0;
	usk_i128 best = 0;
	int64_t current = -1;
	for (size_t i = 0; i < n; i++) {
		int64_t b = (p[i].local_ns - first) / bucket;
		usk_i128 level = (usk_i128)(p[i].offset_ns - f->offset_ns) * 1000000000000 -
				 (usk_i128)f->rate_e12 * (p[i].local_ns - f->local_ns);
		level = ceiling ? -level : level;
		if (b != current) {
			current = b;
			out[m++] = p[i];
			best = level;
		} else if (level > best) {
			out[m - 1] = p[i];
			best = level;
		}
	}
	*n_out = m;
	return out;
}

static void draw(struct usk_corridor *c, const struct usk_frame *f, struct usk_pair *pair)
{
	size_t n[2];
	const struct usk_point *p[2];
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (int side = 0; side < 2; side++) {
		p[side] = usk_corridor_kept(c, side, &n[side]);
		if (n[side]) {
			first = p[side][0].local_ns < first ? p[side][0].local_ns : first;
			last = p[side][n[side] - 1].local_ns > last ? p[side][n[side] - 1].local_ns
								    : last;
		}
	}
	if (first > last) {
		return;
	}
	pair->bucket_ns = (last - first) / DRAWN_POINTS + 1;
	pair->floor = thin_out(p[0], n[0], f, first, pair->bucket_ns, false, &pair->n_floor);
	pair->ceiling = thin_out(p[1], n[1], f, first, pair->bucket_ns, true, &pair->n_ceiling);
}

/* ---- after the fit ------------------------------------------------------------------------ */

/*
 * Violations after correction. Where the vertices of both hulls are in order every message is
 * (doc/guarantees.md), and none needs to be looked at again. With minimum delays the hulls tell
 * what is left beyond these, so all messages are looked at for the delays themselves.
 */
static enum usk_status corrected(struct pair_source *s, struct usk_corridor *c,
				 const struct usk_witness *w, const struct usk_clock *clock,
				 struct usk_pair *pair, struct usk_evaluation *e,
				 struct usk_err *err)
{
	struct usk_map *map = usk_map_new(clock, usk_limit_e12(s->parties->opt));
	enum usk_status status = USK_OK;
	if (!map) {
		usk_witness_pair(w, false, NULL, NULL, pair);
		return USK_OK;
	}
	struct reading r = usk_reading_of(s, err);
	bool leans = r.judge.least[0] || r.judge.least[1];
	usk_min_delays(clock, c, &pair->min_delay_a_to_b_ns, &pair->min_delay_b_to_a_ns);
	bool wrong = (pair->min_delay_a_to_b_ns != USK_NONE && pair->min_delay_a_to_b_ns < 0) ||
		     (pair->min_delay_b_to_a_ns != USK_NONE && pair->min_delay_b_to_a_ns < 0);
	if (wrong || leans) {
		r.judge.map_b = map;
		r.judge.with_delays = leans;
		status = usk_reading_once(&r, NULL, NULL);
		e->corrected_inversions += r.judge.inversions[0] + r.judge.inversions[1];
		too_fast(&r.judge, e);
	}
	/* A clock bounded on one side has no estimate, and no delay by it. */
	if (leans && pair->min_delay_a_to_b_ns != USK_NONE) {
		pair->min_delay_a_to_b_ns = usk_judge_delays(&r.judge, false).min_ns;
	}
	if (leans && pair->min_delay_b_to_a_ns != USK_NONE) {
		pair->min_delay_b_to_a_ns = usk_judge_delays(&r.judge, true).min_ns;
	}
	usk_witness_pair(w, clock->quality == USK_BOUNDED, NULL, map, pair);
	usk_judge_free(&r.judge);
	usk_map_free(map);
	return status;
}

void usk_counts_add(struct usk_counts *to, const struct usk_counts *found)
{
	to->matched += found->matched;
	to->unmatched += found->unmatched;
	to->ambiguous += found->ambiguous;
	to->expired += found->expired;
	to->unsure += found->unsure;
	to->direction_unknown += found->direction_unknown;
	to->outliers += found->outliers;
}

enum usk_status usk_pair_fit(struct pair_source *s, struct usk_pair *pair, struct usk_clock *clock,
			     struct usk_counts *counts, struct usk_evaluation *evaluation,
			     struct usk_err *err)
{
	const struct usk_sync_options *o = s->parties->opt;
	const struct party *b = &s->parties->party[s->b];
	const struct usk_estimator *method = usk_estimator_find(o->method ? o->method : "middle");
	struct gathered g;
	enum usk_status status = usk_pair_gather(s, method->needs_messages, pair, &g, err);
	if (!status) {
		struct usk_fit fit = usk_gathered_fit(&g, s);
		evaluation->recorded_inversions += usk_pair_inversions(pair);
		usk_counts_add(counts, &g.found);
		status = usk_model_row(fit.model.kind)->fit(&fit, &g.verdict, method, clock, err);
	}
	if (!status) {
		size_t n;
		clock->resolution_ns = b->resolution_ns ? b->resolution_ns : 1;
		usk_corridor_hull(g.corridor, false, &n);
		pair->hull_floor = n;
		usk_corridor_hull(g.corridor, true, &n);
		pair->hull_ceiling = n;
		draw(g.corridor, &g.frame, pair);
		status = corrected(s, g.corridor, &g.witness, clock, pair, evaluation, err);
		evaluation->heard_recorded =
			usk_differences_add(evaluation->heard_recorded, pair->heard_recorded);
		evaluation->heard_corrected =
			usk_differences_add(evaluation->heard_corrected, pair->heard_corrected);
	}
	usk_gathered_free(&g);
	return status;
}
