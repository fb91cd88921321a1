/* SPDX-License-Identifier: MIT */
/*
 * segments.h - the model `segments`, a row of the table of models
 */
#ifndef USK_FIT_SEGMENTS_H
#define USK_FIT_SEGMENTS_H

#include "fit/pieces.h"

void usk_segments_ask(const struct usk_fit *fit, size_t max_outliers, struct usk_verdict *out);
enum usk_status usk_segments_fit(const struct usk_fit *fit, const struct usk_verdict *v,
				 const struct usk_estimator *method, struct usk_clock *clock,
				 struct usk_err *err);

#endif
