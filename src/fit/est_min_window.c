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
 * Windows are of the local clock, from its first message; the last one ends with the last message.
 * A window that lacks a direction says nothing. One window alone is a constant offset.
 */
#include "fit/fit.h"

#include <stdlib.h>

enum usk_status usk_est_min_window(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				   struct usk_err *err)
{
	int64_t window = usk_fit_window(fit);
	usk_i128 first = fit->n_msgs ? usk_msg_local(fit, &fit->msg[0]) : 0;
	usk_i128 last = fit->n_msgs ? usk_msg_local(fit, &fit->msg[fit->n_msgs - 1]) : 0;
	struct usk_knot *k = NULL;
	size_t m = 0, cap = 0;
	for (size_t i = 0; i < fit->n_msgs;) {
		usk_i128 start = usk_msg_local(fit, &fit->msg[i]) - first;
		start = first + start - start % window;
		usk_i128 end = start + window;
		bool any[2] = { false, false }; /* a->b, b->a */
		int64_t least[2];
		for (; i < fit->n_msgs && usk_msg_local(fit, &fit->msg[i]) < end; i++) {
			bool back = fit->msg[i].from == fit->b;
			int64_t delay = fit->msg[i].received_ns - fit->msg[i].sent_ns;
			least[back] = any[back] && least[back] < delay ? least[back] : delay;
			any[back] = true;
		}
		if (any[0] && any[1]) {
			usk_i128 twice = (usk_i128)least[1] - least[0];
			end = end < last ? end : last;
			k = usk_room(k, m, &cap, sizeof *k);
			k[m++] = (struct usk_knot){ .local_ns =
							    (int64_t)usk_floor_div(start + end, 2),
						    .offset_ns =
							    (int64_t)usk_floor_div(twice + 1, 2) };
		}
	}
	if (!m) {
		return usk_fail(err, USK_EINPUT, 0,
				"no window of %g s has messages in both directions",
				(double)window * 1e-9);
	}
	if (m == 1) {
		usk_i128 y = (usk_i128)k[0].offset_ns - fit->lines->frame.offset_ns;
		free(k);
		return usk_fit_straight(fit, y, y, out, n);
	}
	*out = k;
	*n = m;
	return USK_OK;
}
