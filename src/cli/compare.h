/* SPDX-License-Identifier: MIT */
/* compare.h - a comparison of estimators, told: for people, as JSON, as CSV; and of several sets */
#ifndef COMPARE_H
#define COMPARE_H

#include "cmd.h"
#include "units.h"

/* A comparison, and beside each score its errors; not known without a truth. */
struct compared {
	const struct usk_comparison *c;
	struct truth_errors *errors; /* n_pairs x n_methods */
	bool with_truth;
};

static inline const struct truth_errors *errors_of(const struct compared *x, size_t pair,
						   size_t method)
{
	return &x->errors[pair * x->c->n_methods + method];
}

/** Measures every line against the truth, which may be NULL; x->c stands. free() x->errors. */
enum usk_status compare_measure(const struct truth *truth, struct compared *x, struct usk_err *err);

void compare_print(FILE *out, const struct compared *x);
void compare_print_json(FILE *out, const struct compared *x);
void compare_print_csv(FILE *out, const struct compared *x);

/** A number of thousandths as a decimal with three digits. */
struct text milli_text(usk_i128 thousandths);

/*
 * One method on one pair of clocks, over several sets of traces: how tightly its rates lie
 * together (Ashton 1995, section 6.1).
 */
struct repeated {
	const char *a, *b; /* names of reference and clock */
	const struct usk_estimator *method;
	size_t answers, failures;
	double mean, square; /* of beta - 1: mean, sum of squared deviations from it */
	uint64_t messages, recorded_inversions, corrected_inversions, too_fast;
	double rms_ns; /* mean of the errors' root mean squares, over `known` of the answers */
	size_t known;
};

struct repeats {
	size_t sets;
	struct repeated *row; /* pairs as they turn up, methods in their order */
	size_t n, cap;
	size_t next; /* the row that is looked for first */
	bool with_truth;
};

/** Takes in the comparison of one more set. */
void repeats_add(struct repeats *r, const struct compared *x);
void repeats_free(struct repeats *r);
void repeats_print(FILE *out, const struct repeats *r);
void repeats_print_json(FILE *out, const struct repeats *r);
void repeats_print_csv(FILE *out, const struct repeats *r);

#endif
