/* SPDX-License-Identifier: MIT */
/*
 * est_min_window.c - an offset per window from its smallest stamp difference in each direction
 *
 * Source  Clement 2009, section 4, on his reference 13
 *
 * Within a few minutes the offset is taken to be constant. A message a->b shows y - x = delay -
 * theta, one b->a x - y = delay + theta: the smallest of each had the smallest delay. Half the
 * difference of the two is the window's offset if these delays are equal, and half their sum is by
 * how much it can be wrong. The value stands at the window's middle, with lines between middles.
 *
 * Windows are of the local clock, from its first message; the last one ends with the last message.
 * A window that lacks a direction says nothing. One window alone is a constant offset.
 */
#include "fit/fit.h"

#include <stdlib.h>

struct smallest {
	bool any[2]; /* a->b, b->a */
	int64_t delay[2];
};

static void take(struct smallest *s, bool back, int64_t delay)
{
	if (!s->any[back] || delay < s->delay[back]) {
		s->any[back] = true;
		s->delay[back] = delay;
	}
}

size_t usk_window_offsets(const struct usk_fit *fit, struct usk_window_offset **out)
{
	int64_t window = usk_fit_window(fit);
	struct usk_window_offset *w = NULL;
	size_t n = 0, cap = 0;
	usk_i128 first = fit->n_msgs ? usk_msg_local(fit, &fit->msg[0]) : 0, last = first;
	if (fit->n_msgs) {
		last = usk_msg_local(fit, &fit->msg[fit->n_msgs - 1]);
	}
	for (size_t i = 0; i < fit->n_msgs;) {
		usk_i128 start = usk_msg_local(fit, &fit->msg[i]) - first;
		start = first + start - start % window;
		usk_i128 end = start + window;
		struct smallest s = { .any = { false, false } };
		for (; i < fit->n_msgs && usk_msg_local(fit, &fit->msg[i]) < end; i++) {
			const struct usk_msg *m = &fit->msg[i];
			take(&s, m->from == fit->b, m->received_ns - m->sent_ns);
		}
		if (!s.any[0] || !s.any[1]) {
			continue;
		}
		end = end < last ? end : last;
		usk_i128 twice = (usk_i128)s.delay[1] - s.delay[0];
		usk_i128 both = (usk_i128)s.delay[1] + s.delay[0];
		w = usk_room(w, n, &cap, sizeof *w);
		w[n++] = (struct usk_window_offset){
			(int64_t)usk_floor_div(start + end, 2),
			(int64_t)usk_floor_div(twice + 1, 2),
			(int64_t)usk_ceil_div(both, 2),
		};
	}
	*out = w;
	return n;
}

enum usk_status usk_est_min_window(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				   struct usk_err *err)
{
	struct usk_window_offset *w;
	size_t windows = usk_window_offsets(fit, &w);
	if (!windows) {
		return usk_fail(err, USK_EINPUT, 0,
				"no window of %g s has messages in both directions",
				(double)usk_fit_window(fit) * 1e-9);
	}
	if (windows == 1) {
		usk_i128 y = (usk_i128)w[0].offset_ns - fit->lines->frame.offset_ns;
		free(w);
		return usk_fit_straight(fit, y, y, out, n);
	}
	struct usk_knot *k = usk_alloc(windows, sizeof *k);
	for (size_t i = 0; i < windows; i++) {
		k[i].local_ns = w[i].local_ns;
		k[i].offset_ns = w[i].offset_ns;
	}
	free(w);
	*out = k;
	*n = windows;
	return USK_OK;
}
