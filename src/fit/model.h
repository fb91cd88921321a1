/* SPDX-License-Identifier: MIT */
/*
 * model.h - what a clock may do: the table of models
 */
#ifndef USK_FIT_MODEL_H
#define USK_FIT_MODEL_H

#include "base/base.h"

struct usk_model_row {
	enum usk_model_kind kind;
	const char *name, *value, *help; /* value: "PPM", or NULL */
};

/** The row of a kind; NULL behind the last. Static. */
const struct usk_model_row *usk_model_row(enum usk_model_kind kind);

/** The cone that a corridor needs for a model to begin with: max(0.4 ppm, 4 wander). */
int64_t usk_model_kappa(const struct usk_model *m);

#endif
