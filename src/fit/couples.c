/* SPDX-License-Identifier: MIT */
/*
 * couples.c - exchanges as points: where the two clocks stood at one moment
 *
 * In    every message of a pair
 * Out   the first and last exchange, the best of all, the best of each window; what each window's
 *       messages say of the offset, joined
 * Why   half of the papers draw their line through two or a few of these points
 * Not   what is drawn through them (est_*.c), which messages make an exchange (exchanges.c)
 *
 * An exchange's couple (G, L) is the reference and local stamp at its middle. With a constant rate
 * and equal delays G is right however long the answer took, as both clocks are halved at the same
 * moment. Everything is doubled here, so that the halves are integers.
 */
#include "fit/fit.h"

#include <stdlib.h>

int64_t usk_fit_window(const struct usk_fit *fit)
{
	return fit->window_ns > 0 ? fit->window_ns : USK_WINDOW_NS;
}

enum usk_status usk_fit_windows(const struct usk_fit *fit, usk_windowed *offset_of,
				struct usk_knot **out, size_t *n, struct usk_err *err)
{
	const int64_t window = usk_fit_window(fit);
	const struct usk_msg *msg = fit->msg, *end = fit->n_msgs ? msg + fit->n_msgs : msg;
	usk_i128 first = fit->n_msgs ? usk_msg_local(fit, msg) : 0;
	usk_i128 last = fit->n_msgs ? usk_msg_local(fit, end - 1) : 0;
	struct usk_knot *k = NULL;
	size_t m = 0, cap = 0;
	while (msg < end) {
		const struct usk_msg *begin = msg;
		usk_i128 start = usk_msg_local(fit, msg) - first;
		start = first + start - start % window;
		while (msg < end && usk_msg_local(fit, msg) < start + window) {
			msg++;
		}
		int64_t offset_ns;
		if (offset_of(fit, begin, (size_t)(msg - begin), &offset_ns)) {
			usk_i128 until = start + window < last ? start + window : last;
			*USK_ADD(k, m, cap) = (struct usk_knot){
				.local_ns = (int64_t)usk_floor_div(start + until, 2),
				.offset_ns = offset_ns,
			};
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

/* Of either asker; asked and answered so quickly, in that window. */
struct seen {
	struct usk_couple couple;
	usk_i128 took, window;
};

static struct seen *all_of(const struct usk_fit *fit, size_t *n)
{
	size_t m[2], k = 0;
	struct usk_exchange *e[] = { usk_exchanges(fit, fit->a, &m[0]),
				     usk_exchanges(fit, fit->b, &m[1]) };
	struct seen *s = usk_alloc(m[0] + m[1], sizeof *s);
	usk_i128 start2 = fit->n_msgs ? 2 * (usk_i128)usk_msg_local(fit, &fit->msg[0]) : 0;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < m[side]; i++, k++) {
			const struct usk_exchange *x = &e[side][i];
			usk_i128 local2 = usk_exchange_middle2(x, fit->b);
			s[k].couple.local2 = local2;
			s[k].couple.offset2 = usk_exchange_middle2(x, fit->a) - local2;
			s[k].couple.delays = usk_exchange_delays(x);
			s[k].took = usk_exchange_took(x);
			s[k].window =
				usk_floor_div(local2 - start2, 2 * (usk_i128)usk_fit_window(fit));
		}
		free(e[side]);
	}
	*n = k;
	return s;
}

static int order(usk_i128 a, usk_i128 b)
{
	return (a > b) - (a < b);
}

/* Of two couples the one with the smaller round trip; then the earlier one. */
static int by_quality(const struct usk_couple *a, const struct usk_couple *b)
{
	int delays = order(a->delays, b->delays);
	int other = order(a->local2 + a->offset2, b->local2 + b->offset2);
	return delays ? delays : other ? other : order(a->local2, b->local2);
}

static int by_window(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;
	int window = order(a->window, b->window);
	return window ? window : by_quality(&a->couple, &b->couple);
}

bool usk_couple_ends(const struct usk_fit *fit, struct usk_couple *first, struct usk_couple *last)
{
	size_t n;
	struct seen *s = all_of(fit, &n);
	for (size_t i = 0; i < n; i++) {
		const struct usk_couple *c = &s[i].couple;
		int early = i ? order(c->local2, first->local2) : -1;
		int late = i ? order(c->local2, last->local2) : 1;
		*first = early < 0 || (!early && by_quality(c, first) < 0) ? *c : *first;
		*last = late > 0 || (!late && by_quality(c, last) < 0) ? *c : *last;
	}
	free(s);
	return n > 0;
}

bool usk_couple_best(const struct usk_fit *fit, int64_t under_ns, struct usk_couple *best)
{
	size_t n;
	bool quick = false;
	struct seen *s = all_of(fit, &n);
	for (size_t i = 0; i < n; i++) {
		bool is_quick = s[i].took < under_ns;
		if (!i || is_quick > quick ||
		    (is_quick == quick && by_quality(&s[i].couple, best) < 0)) {
			*best = s[i].couple;
		}
		quick |= is_quick;
	}
	free(s);
	return n > 0;
}

struct usk_couple *usk_couples(const struct usk_fit *fit, size_t *n)
{
	size_t all;
	struct seen *s = all_of(fit, &all);
	struct usk_couple *best = usk_alloc(all, sizeof *best);
	qsort(s, all, sizeof *s, by_window);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (!i || s[i].window != s[i - 1].window) {
			best[(*n)++] = s[i].couple;
		}
	}
	free(s);
	return best;
}

struct usk_knot usk_couple_knot(const struct usk_couple *c)
{
	return (struct usk_knot){ .local_ns = (int64_t)usk_floor_div(c->local2, 2),
				  .offset_ns = (int64_t)usk_floor_div(c->offset2 + 1, 2) };
}

enum usk_status usk_fit_from_couple(const struct usk_fit *fit, const struct usk_couple *c,
				    long double slope, struct usk_knot **out, size_t *n)
{
	struct usk_point p = { (int64_t)usk_floor_div(c->local2, 2),
			       (int64_t)usk_floor_div(c->offset2, 2) };
	return usk_fit_through(fit, p, usk_real(c->local2 - 2 * (usk_i128)p.local_ns) / 2,
			       usk_real(c->offset2 - 2 * (usk_i128)p.offset_ns) / 2, slope, out, n);
}
