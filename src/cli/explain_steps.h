/* SPDX-License-Identifier: MIT */
/*
 * explain_steps.h - the steps that imply a bound: what explain.c finds, explain_words.c says and
 * explain_draw.c draws
 */
#ifndef USK_CLI_EXPLAIN_STEPS_H
#define USK_CLI_EXPLAIN_STEPS_H

#include "located.h"

#include "fit/cone.h"
#include "print.h"

#define NO_STEP UINT32_MAX

enum rule { REFERENCE, MESSAGE, CONE, CHORD, PAIR, SUM };

struct step {
	enum rule rule;
	bool upper, slope;
	uint32_t clock;
	int64_t x;
	usk_i128 at;
	uint32_t message, a, b; /* a, b: steps; b of a cone: a slope, or NO_STEP, the skew limit */
	uint32_t term, n_terms; /* of a sum */
	uint32_t said;		/* its number, 0: it is not needed */
};

/* A message of a sum, and how often that takes it. */
struct term {
	uint32_t message;
	double often;
};

struct message {
	uint32_t clock[2];
	int64_t x[2];
};

struct explaining {
	const struct usk_clocks *c;
	struct usk_trace **trace;
	struct located located;
	struct step *step;
	size_t n_steps, cap_steps;
	struct message *message;
	size_t n_messages, cap_messages;
	struct term *term;
	size_t n_terms, cap_terms;
};

/* A bound: the steps that say so of its stamp, or of stamps around it. */
struct explained {
	uint32_t clock;
	int64_t x, bound_ns;
	bool upper;
	bool steps_alone; /* bound_ns is to be what the steps imply, if the band says less */
	uint32_t step[2]; /* the same twice: of the stamp itself */
};

/** Seconds with nine digits. */
struct text unit_seconds(usk_i128 ns);
const char *explain_name(const struct explaining *e, uint32_t clock);
/** Of its clock's reference. */
const char *explain_reference(const struct explaining *e, uint32_t clock);
/** Between the stamps of two steps of one clock. */
int64_t explain_distance(const struct step *a, const struct step *b);
struct usk_msg explain_msg(const struct message *m);

/** Numbered sentences, each from earlier ones. */
void explain_in_words(FILE *out, const struct explaining *e, const struct explained *b);
/** The same as a picture, SVG within HTML; false, and nothing, if there are too many steps. */
bool explain_as_picture(FILE *out, const struct explaining *e, const struct explained *b);

#endif
