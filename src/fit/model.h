/* SPDX-License-Identifier: MIT */
/*
 * model.h - what a clock may do: the table of models, and what each says of a pair's messages
 *
 * A reading of a pair's messages ends in a corridor. The model is asked for its verdict: do they
 * fit, who would have to go, is more of them needed than the corridor remembers? Read again if
 * so; else fit() draws band and estimate.
 */
#ifndef USK_FIT_MODEL_H
#define USK_FIT_MODEL_H

#include "fit/fit.h"

/*
 * All that a corridor remembers of a pair's messages: hull vertices and undominated points, each
 * once, sorted by x; relative to the frame, a ceiling's offset negated, weakened by q_ns.
 */
struct usk_part {
	struct usk_frame frame;
	struct usk_xy *point[2]; /* floors, ceilings */
	size_t n[2];
	int64_t q_ns[2]; /* floors by this, ceilings by that */
};

/** q_ns[2]: by how much floors and ceilings are weakened, as usk_lines has it. */
void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out);
void usk_part_free(struct usk_part *p);
/** The points from x0 to x1, both included: borrowed from p, not to be freed. */
struct usk_part usk_part_between(const struct usk_part *p, int64_t x0, int64_t x1);
/** The first point's x that is right of *x, into *x; false: there is none. */
bool usk_part_next(const struct usk_part *p, int64_t *x);
/** A corridor of these points alone, as recorded. */
struct usk_corridor *usk_part_corridor(const struct usk_part *p);

/* What a model says of the messages that were read. */
struct usk_verdict {
	enum usk_quality quality;
	struct usk_wander wander;
	/* Who has to go so that the others fit, worst first; too_many: more than were allowed. */
	struct usk_suspect *suspect;
	size_t n_suspects;
	bool too_many;
	size_t n_cuts; /* where no clock of the model goes on, these still in */
	/* > 0: the corridor's cones were too narrow for the rates that are feasible: read again
	 * with this much, or nothing that was dropped is sure to be in order. */
	int64_t kappa_e12;
	/* Around jumps a point must not stand in for one on the other side: read again with all
	 * points of these times, relative and sorted, if the corridor lacks some. */
	struct usk_apart *apart;
	size_t n_apart;
	/* If contradicted: the fewest points that contradict each other, absolute. */
	struct usk_point point[3];
	bool ceiling[3];
	size_t n_points;
};

void usk_verdict_free(struct usk_verdict *v);

struct usk_model_row {
	enum usk_model_kind kind;
	const char *name, *value, *help; /* value: "PPM", or NULL */
	/** max_outliers: no more than so many may be left out. Never fails: weak data is a quality.
	 */
	void (*ask)(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *out);
	/** As usk_fit_linear(): quality, drift, knots, jumps of the clock. v is what ask() said. */
	enum usk_status (*fit)(const struct usk_fit *fit, const struct usk_verdict *v,
			       const struct usk_estimator *method, struct usk_clock *clock,
			       struct usk_err *err);
};

/** The cone that a corridor needs for a model to begin with: max(0.4 ppm, 4 wander). */
int64_t usk_model_kappa(const struct usk_model *m);

/** The row of a kind; NULL behind the last. Static. */
const struct usk_model_row *usk_model_row(enum usk_model_kind kind);

#endif
