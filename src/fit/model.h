/* SPDX-License-Identifier: MIT */
/*
 * model.h - what a clock may do: the table of models
 */
#ifndef USK_FIT_MODEL_H
#define USK_FIT_MODEL_H

#include "base/base.h"

/** The cone that a corridor needs for a model to begin with: max(0.4 ppm, 4 wander). */
int64_t usk_model_kappa(const struct usk_model *m);

#endif
