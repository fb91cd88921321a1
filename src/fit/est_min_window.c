/* SPDX-License-Identifier: MIT */
/*
 * est_min_window.c - an offset per window from its smallest stamp difference in each direction
 *
 * Source  Clement 2009, section 4, on his reference 13
 *
 * Within a few minutes the offset is taken to be constant. A message a->b shows y - x = delay -
 * theta, one b->a x - y = delay + theta: the smallest of each had the smallest delay. Half the
 * difference of the two is the window's offset if these delays are equal. The value stands at the
 * window's middle, with lines between middles.
 *
 * A window that lacks a direction says nothing; usk_fit_windows() says the rest.
 */
#include "fit/fit.h"

/* Halves go up. */
static bool smallest(const struct usk_fit *fit, const struct usk_msg *msg, size_t n,
		     int64_t *offset_ns)
{
	bool any[2] = { false, false }; /* a->b, b->a */
	int64_t least[2] = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		bool back = msg[i].from == fit->b;
		int64_t delay = msg[i].received_ns - msg[i].sent_ns;
		least[back] = any[back] && least[back] < delay ? least[back] : delay;
		any[back] = true;
	}
	*offset_ns = (int64_t)usk_floor_div((usk_i128)least[1] - least[0] + 1, 2);
	return any[0] && any[1];
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	return usk_fit_windows(fit, smallest, out, n, err);
}

USK_ESTIMATOR(min_window, "min-window", "Clement et al. 2009, section 4, reference 13",
	      "the smallest stamp differences in each window, lines between windows", true,
	      .estimate = estimate);
