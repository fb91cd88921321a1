/* SPDX-License-Identifier: MIT */
/*
 * pair.c - what is kept of one pair of clocks
 *
 * In    what the messages of two clocks allow
 * Out   its points, a method's line, the pair's figures, what can be drawn of it
 * Why   this is all that is kept of a pair: the points that may bound something, not messages
 * Not   reading, wrong messages (gather.c), bounds and estimates (graph/)
 */
#include "flow/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of a side that are kept for drawing: of a pair, and of all pairs together. */
enum { DRAWN_POINTS = 4000, ALL_DRAWN_POINTS = 200000, LEAST_DRAWN_POINTS = 16 };

/* ---- what can be drawn --------------------------------------------------------------- */

/* The extreme point of each bucket, relative to the coarse slope, so that drift does not favour
 * one end of it. */
static struct usk_point *thin_out(const struct usk_point *p, size_t n, const struct usk_frame *f,
				  int64_t first, int64_t bucket, size_t most, bool ceiling,
				  size_t *n_out)
{
	struct usk_point *out = usk_alloc(n < most ? n : most, sizeof *out);
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

static void draw(struct usk_corridor *c, const struct usk_frame *f, size_t most,
		 struct usk_pair *pair)
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
	pair->bucket_ns = (last - first) / (int64_t)most + 1;
	pair->floor = thin_out(p[0], n[0], f, first, pair->bucket_ns, most, false, &pair->n_floor);
	pair->ceiling =
		thin_out(p[1], n[1], f, first, pair->bucket_ns, most, true, &pair->n_ceiling);
}

/* ---- what is kept -------------------------------------------------------------------- */

static size_t drawn_points(const struct parties *p)
{
	size_t n = ALL_DRAWN_POINTS / (p->n_pairs ? p->n_pairs : 1);
	return n > DRAWN_POINTS ? DRAWN_POINTS : n < LEAST_DRAWN_POINTS ? LEAST_DRAWN_POINTS : n;
}

/* A method that has no answer for a pair takes none from it: the band is the same, and a note says who
 * drew the estimate. */
static enum usk_status draw_line(const struct pair_source *s, const struct gathered *g,
				 struct fitted *out, struct usk_err *err)
{
	const struct parties *p = s->parties;
	const struct usk_estimator *middle = usk_estimator_find("middle");
	struct usk_fit fit = usk_gathered_fit(g, s);
	struct usk_err why = { 0 };
	fit.drawn_by = &out->drawn_by;
	/* But for straight lines the middle is that of the graph. */
	if ((p->method == middle && p->model.kind != USK_LINEAR) ||
	    !usk_corridor_count(g->corridor, false) || !usk_corridor_count(g->corridor, true)) {
		return USK_OK;
	}
	enum usk_status status = usk_estimator_run(p->method, &fit, &out->line, &out->n_line, &why);
	if (status == USK_EINPUT && p->method == middle) {
		return USK_OK;
	}
	if (status == USK_EINPUT) {
		out->failed = usk_strdup(why.msg);
		status = USK_OK;
	}
	return status ? usk_fail(err, status, why.at, "%s", why.msg) : USK_OK;
}

/* Er, where the method is one through round trips. */
static int64_t residual_of(const struct pair_source *s, const struct gathered *g)
{
	const struct usk_estimator *by = s->parties->method;
	struct usk_fit fit = usk_gathered_fit(g, s);
	struct usk_round_trips r;
	if (!(by->z > 0) || usk_fit_round_trips(by, &fit, &r) || !isfinite(r.residual_ns)) {
		return 0;
	}
	int64_t ns = r.residual_ns < 0x1p61 ? llround(r.residual_ns) : INT64_C(1) << 61;
	return ns ? ns : 1;
}

/* The least that a ceiling is over a floor next to it: half of it is the half width there. */
static void measure(const struct usk_part *p, struct usk_pair *pair)
{
	usk_i128 best = 0;
	bool any = false;
	for (size_t i = 0, k = 0; i < p->n[0] && k < p->n[1];) {
		struct usk_xy f = p->point[0][i], c = p->point[1][k];
		usk_i128 width = -((usk_i128)f.y + c.y);
		if (width >= 0 && (!any || width < best)) {
			best = width;
			any = true;
			pair->half_width_ns = usk_saturate((width + 1) / 2);
			pair->half_width_at_ns = p->frame.local_ns + (f.x < c.x ? c.x : f.x);
		}
		i += f.x <= c.x;
		k += c.x < f.x;
	}
}

/* Of messages as they were recorded, which those of clocks with a log or with epochs are not. */
static void keep_hulls(const struct pair_source *s, const struct gathered *g, struct fitted *out)
{
	const struct parties *p = s->parties;
	const struct party *a = &p->party[s->a], *b = &p->party[s->b];
	const struct usk_sink *sink = p->opt->messages;
	bool wanted = sink && sink->hull && p->n_pairs <= sink->most_hulls;
	bool moved = a->carry || b->carry || a->in_epoch || b->in_epoch;
	for (int side = 0; side < 2 && wanted && !moved; side++) {
		size_t *n = &out->n_hull[side];
		const struct usk_point *hull = usk_corridor_hull(
			g->plain_corridor ? g->plain_corridor : g->corridor, side, n);
		out->hull[side] = usk_alloc(*n + 1, sizeof *hull);
		memcpy(out->hull[side], hull, *n * sizeof *hull);
	}
}

enum usk_status usk_pair_fit(const struct pair_source *s, struct gathered *g, struct usk_pair *pair,
			     struct fitted *out, struct usk_err *err)
{
	const struct parties *p = s->parties;
	size_t n;
	out->found = g->found;
	out->too_many = g->too_many;
	/* A log tells which time a stamp is of. */
	out->astray = p->party[s->a].carry || p->party[s->b].carry ? 0 : s->coarse.astray;
	usk_delay_samples_settle(&g->samples);
	out->samples = g->samples;
	g->samples = (struct usk_delay_samples){ 0 };
	enum usk_status status = draw_line(s, g, out, err);
	if (!status) {
		usk_corridor_hull(g->corridor, false, &n);
		pair->hull_floor = n;
		usk_corridor_hull(g->corridor, true, &n);
		pair->hull_ceiling = n;
		keep_hulls(s, g, out);
		pair->residual_ns = residual_of(s, g);
		draw(g->corridor, &g->frame, drawn_points(p), pair);
		usk_part_of(g->corridor, g->lines->q_ns, &out->part);
		out->part.left_out = s->left_out;
		out->part.n_left_out = s->n_left_out;
		out->part.moved_ns = g->moved_ns;
		measure(&out->part, pair);
	}
	return status;
}

void usk_fitted_free(struct fitted *f)
{
	usk_part_free(&f->part);
	usk_delay_samples_free(&f->samples);
	USK_FREE(f->line, f->hull[0], f->hull[1], f->failed);
	*f = (struct fitted){ 0 };
}
