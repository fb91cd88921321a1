/* SPDX-License-Identifier: MIT */
/*
 * mesh.h - many clocks whose truth is known, the messages between them, and the ties they make
 *
 * A clock shows floor(t + offset + drift t + sway sin(2 pi t / period)) at the true time t: in long
 * doubles of numbers under 2^50, so to far less than 1 ns.
 */
#ifndef USK_TESTS_MESH_H
#define USK_TESTS_MESH_H

#include "base/base.h"
#include "solve/solve.h"

enum mesh_shape {
	MESH_FULL,
	MESH_SPARSE, /* a ring and some chords */
	MESH_CHAIN,
	MESH_STAR,
	MESH_RING,
	MESH_RING_ONE_WAY,
	MESH_ISLANDS, /* two full meshes */
	MESH_NEAR,    /* a ring, everybody with the ten next on either side */
	MESH_SHAPES,
};

struct mesh_options {
	uint64_t seed;
	enum mesh_shape shape;
	size_t clocks;
	double seconds, rate;	  /* messages a second, pair and direction */
	double least_ns, tail_ns; /* delays: least + exponential */
	double drift_ppm;	  /* drifts are within +- this */
	double sway_ppm;	  /* rates sway by so much */
	double step_ns;		  /* clock `stepper` jumps forward in the middle */
	uint32_t stepper;
	bool paths; /* jointly without the linear program */
	unsigned threads;
	int64_t q_ns; /* stamps are rounded down to it; 0: 1 ns */
	const char *model;
};

struct mesh_clock {
	long double offset, drift, sway, period, phase, step_at, step;
};

struct mesh {
	struct mesh_options o;
	struct mesh_clock *clock;
	struct usk_msg *msg; /* in the order of sending */
	size_t n_msgs;
	struct usk_clocks *answer;
	struct usk_tie *tie;
	struct usk_part *part;
	struct usk_clock *fitted;
	size_t n_ties;
	struct usk_span *span;
};

/** Clocks and messages. */
void mesh_make(struct mesh *m, const struct mesh_options *o);
/** Every pair fitted by itself. */
void mesh_fit(struct mesh *m);
/** Solved, into m->answer. reference: USK_NO_CLOCK, or the one asked for. */
enum usk_status mesh_solve(struct mesh *m, bool tree, uint32_t reference, struct usk_err *err);
void mesh_free(struct mesh *m);

/** What a clock shows at a true time, not rounded, and the reverse. */
long double mesh_shows(const struct mesh_clock *k, long double t);
long double mesh_true(const struct mesh_clock *k, long double local);

/** Does the truth lie in the bands of all clocks that have one? At n moments of each, to 1 ns and
 * what stamps are rounded to. Prints the first that does not. */
bool mesh_truth_in_band(const struct mesh *m, size_t n);
/** Messages that are out of order by more than the receiver's rounding; by how much at most. */
size_t mesh_inversions(const struct mesh *m, int64_t *worst_ns);
/** Mean of the half widths of all bounded clocks but references, at n moments of each. */
double mesh_half_width(const struct mesh *m, size_t n);

#endif
