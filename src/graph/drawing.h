/* SPDX-License-Identifier: MIT */
/*
 * drawing.h - a clock's knots while they are chosen: what the files of publish.c share
 */
#ifndef USK_GRAPH_DRAWING_H
#define USK_GRAPH_DRAWING_H

#include "graph/work.h"

/* The offset's bounds at a stamp, the lower, the upper: between neighbours both are straight, or
 * there is no stamp. */
struct usk_bound_at {
	int64_t x, bound[2];
};

/* Where the offset has to pass, and where it would like to. */
struct usk_passage {
	int64_t x, lo, hi, wish;
};

struct usk_drawing {
	const struct usk_work *w;
	uint32_t clock, from, to; /* events that are known, to: behind the last */
	bool has[2];		  /* lower, upper */
	bool tied[2];		  /* what is known goes on from the first, the last event */
	bool adrift;		  /* order alone bounds each of them */
	struct usk_bound_at *corner;
	size_t n_corners;
	struct usk_passage *gate;
	size_t n_gates;
	struct usk_knot *knot;
	size_t n_knots;
	struct usk_drawn *drawn; /* how it came out before, and now */
};

/** Corners of the bounds and gates of the estimate, from events (gates.c). */
void usk_draw_corners(struct usk_drawing *d);
void usk_draw_gates(struct usk_drawing *d);
/** Knots through them (knots.c). */
void usk_draw_knots(struct usk_drawing *d);
/** Bounds that go on between knots outside of all corners, as near as these allow (hold.c). */
void usk_hold_bounds(struct usk_drawing *d);
/** Jumps and disturbed stretches of the clock (jumps.c); reach: those that nothing is known behind
 * last until the end. */
void usk_write_jumps(const struct usk_work *w, uint32_t i, struct usk_clock *k);
void usk_reach_ends(const struct usk_drawing *d, struct usk_clock *k);
void usk_write_stretches(const struct usk_work *w, uint32_t i, struct usk_clock *k);

#endif
