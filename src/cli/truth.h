/* SPDX-License-Identifier: MIT */
/* truth.h - an answer against the truth that a simulation wrote beside its traces */
#ifndef TRUTH_H
#define TRUTH_H

#include "cmd.h"

struct truth;

/** Read truth.json: moments, and what every clock showed at them; straight lines between. */
enum usk_status truth_open(const char *path, struct truth **out, struct usk_err *err);
void truth_free(struct truth *t);

struct truth_score {
	int64_t worst_ns;    /* largest |estimate - truth| between the outer knots; USK_NONE */
	int64_t worst_at_ns; /* where, on the clock itself */
	int64_t outside_ns;  /* by how much the band missed the truth at most, beyond 1 ns; 0: never
			      */
	bool known;	     /* the truth has this clock and its reference */
};

/**
 * Compare one clock at all corners of both lines: between corners both are straight, so that
 * nothing larger lies there but the stamps' own rounding of 1 ns.
 */
enum usk_status truth_compare(const struct truth *t, const struct usk_clocks *c, size_t clock,
			      struct truth_score *out, struct usk_err *err);

/* Estimate - truth at the truth's first, middle and last moment, and over all of them. */
enum { AT_START, AT_MIDDLE, AT_END, RMS, ERRORS };
struct truth_errors {
	int64_t ns[ERRORS]; /* USK_NONE where it is not known */
	/* The truth has both clocks, neither was set back, and the line has a time at every moment.
	 */
	bool known;
};
#define TRUTH_UNKNOWN                                                                              \
	(struct truth_errors)                                                                      \
	{                                                                                          \
		{ USK_NONE, USK_NONE, USK_NONE, USK_NONE }, false                                  \
	}

enum usk_status truth_errors(const struct truth *t, const char *reference, const char *clock,
			     const struct usk_map *map, struct truth_errors *out,
			     struct usk_err *err);

#endif
