/* SPDX-License-Identifier: MIT */
/*
 * segments.c - the model `segments`: one rate for so long, or for as long as one fits
 *
 * In    a pair's corridor
 * Out   its verdict; the local clock's knots and jumps
 * Why   Clement cut long traces into pieces of 30 minutes; cut where the messages ask for it, they
 *       say when a clock was stepped, and by how much
 * Not   the cuts themselves (pieces.c), pieces of a fixed length (chain.c)
 */
#include "fit/segments.h"
#include "fit/chain.h"
#include "num/cone.h"

#include <math.h>
#include <stdlib.h>

/* ---- a line a piece ------------------------------------------------------------------------ */

static size_t who_bends(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
			size_t max, struct usk_suspect **out, size_t *n)
{
	(void)ctx;
	(void)part;
	return usk_corridor_suspects(fit->corridor, fit->lines, max, out, n);
}

static enum usk_status fit_line(void *ctx, const struct usk_fit *fit, const struct usk_part *part,
				const struct usk_estimator *method, struct usk_clock *clock,
				struct usk_err *err)
{
	(void)ctx;
	(void)part;
	return usk_fit_linear(fit, method, clock, err);
}

static const struct usk_piece_ask ask_lines = { NULL, who_bends };
static const struct usk_piece_fit fit_lines = { NULL, fit_line };

/* ---- the row -------------------------------------------------------------------------------- */

static void name_point(const struct usk_part *p, struct usk_xy at, bool ceiling,
		       struct usk_verdict *v)
{
	usk_i128 y = (usk_i128)at.y + p->q_ns[ceiling];
	v->ceiling[v->n_points] = ceiling;
	v->point[v->n_points++] = (struct usk_point){
		(int64_t)((usk_i128)p->frame.local_ns + at.x),
		(int64_t)(p->frame.offset_ns + (ceiling ? -y : y)),
	};
}

/* How far the slopes of a piece can lie from the frame's rate, e12: what its corridor let go is in
 * order with them if they are within its cone. */
static int64_t reach(const struct usk_part *p, int64_t skew)
{
	struct usk_corridor *c = usk_part_corridor(p);
	struct usk_lines *l = usk_lines_new(c, p->q_ns[1], p->q_ns[0], skew);
	usk_i128 up = usk_ceil_div(l->max.num * USK_E12, l->max.den) - p->frame.rate_e12;
	usk_i128 down = p->frame.rate_e12 - usk_floor_div(l->min.num * USK_E12, l->min.den);
	usk_lines_free(l);
	usk_corridor_free(c);
	return (int64_t)(up > down ? up : down);
}

/* Borders at every duration from the clock's first event on. */
static struct usk_grid grid_of(const struct usk_fit *fit, const struct usk_part *p)
{
	return (struct usk_grid){ usk_cut((usk_i128)fit->first_local_ns - p->frame.local_ns),
				  fit->model.segment_ns };
}

static void ask_auto(const struct usk_fit *fit, const struct usk_part *p, size_t max_outliers,
		     struct usk_pieces *s, struct usk_verdict *v)
{
	usk_pieces_of(fit, p, 0, s);
	if (s->never) {
		v->quality = USK_CONTRADICTED;
		name_point(p, s->floor, false, v);
		name_point(p, s->ceiling, true, v);
		v->n_suspects = usk_part_unordered(fit, p, max_outliers, &v->suspect);
	} else {
		usk_pieces_suspects(fit, p, s, &ask_lines, max_outliers, v);
	}
}

void usk_segments_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *v)
{
	struct usk_part part;
	struct usk_pieces s;
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	struct usk_grid grid = grid_of(fit, &part);
	v->quality = part.n[0] || part.n[1] ? USK_ONE_SIDED : USK_ABSENT;
	if (grid.length) {
		usk_chain_cuts(fit, &part, &grid, &ask_lines, max_outliers, &s, v);
		if (s.never && !v->n_suspects) {
			v->n_suspects = usk_part_unordered(fit, &part, max_outliers, &v->suspect);
		}
	} else {
		ask_auto(fit, &part, max_outliers, &s, v);
	}
	for (size_t i = 0; i <= s.n && !s.never; i++) {
		struct usk_part piece = usk_pieces_part(&part, &s, i);
		if (piece.n[0] && piece.n[1]) {
			v->quality = USK_BOUNDED;
		}
		if ((s.n || grid.length) && (piece.n[0] || piece.n[1])) {
			int64_t r = grid.length ? usk_chain_reach(fit, &piece, &grid)
						: reach(&piece, fit->max_skew_e12);
			v->kappa_e12 = r > v->kappa_e12 ? r : v->kappa_e12;
		}
	}
	usk_pieces_apart(&s, v);
	/* and a little more: what is found then may ask for more in turn */
	v->kappa_e12 = v->kappa_e12 > part.frame.kappa_e12 ? v->kappa_e12 + v->kappa_e12 / 8 : 0;
	v->n_cuts = s.n;
	if (v->kappa_e12 && s.n && !s.never && !grid.length) {
		/* A narrow cone remembers few of a short piece: a handful that only looks wrong. */
		free(v->suspect);
		v->suspect = NULL;
		v->n_suspects = 0;
	}
	usk_pieces_free(&s);
	usk_part_free(&part);
}

static enum usk_status fit_pieces(const struct usk_fit *fit, const struct usk_part *p,
				  const struct usk_pieces *s, const struct usk_estimator *method,
				  struct usk_clock *clock, struct usk_err *err)
{
	struct usk_grid grid = grid_of(fit, p);
	const struct usk_piece_fit chains = { &grid, usk_chain_fit };
	if (s->never) { /* as asked before */
		clock->quality = USK_CONTRADICTED;
		clock->drift_ppm = clock->drift_min_ppm = clock->drift_max_ppm = NAN;
		return USK_OK;
	}
	return !grid.length && !s->n ? usk_fit_linear(fit, method, clock, err)
				     : usk_pieces_fit(fit, p, s, grid.length ? &chains : &fit_lines,
						      method, clock, err);
}

enum usk_status usk_segments_fit(const struct usk_fit *fit, const struct usk_verdict *v,
				 const struct usk_estimator *method, struct usk_clock *clock,
				 struct usk_err *err)
{
	struct usk_part part;
	struct usk_pieces s;
	if (v->quality == USK_ABSENT) {
		return usk_fit_linear(fit, method, clock, err);
	}
	usk_part_of(fit->corridor, fit->lines->q_ns, &part);
	struct usk_grid grid = grid_of(fit, &part);
	if (grid.length) {
		struct usk_verdict again = { .n_points = 0 };
		usk_chain_cuts(fit, &part, &grid, &ask_lines, 0, &s, &again);
		usk_verdict_free(&again);
	} else {
		usk_pieces_of(fit, &part, 0, &s);
	}
	enum usk_status status = fit_pieces(fit, &part, &s, method, clock, err);
	usk_pieces_free(&s);
	usk_part_free(&part);
	return status;
}
