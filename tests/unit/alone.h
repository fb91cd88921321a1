/* SPDX-License-Identifier: MIT */
/*
 * alone.h - a pair's answer with the line of an estimator
 */
#ifndef USK_TESTS_ALONE_H
#define USK_TESTS_ALONE_H

#include "fit/estimator.h"

/** b's clock against a, in the model of fit, as near to the estimator's line as order and band
 * allow; the caller frees its knots. The estimator's status where it draws none. */
enum usk_status fit_alone(const struct usk_fit *fit, const struct usk_estimator *e,
			  struct usk_clock *out, struct usk_err *err);

#endif
