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

#endif
