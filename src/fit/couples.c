/* SPDX-License-Identifier: MIT */
/*
 * couples.c - exchanges as points: where the two clocks stood at one moment
 *
 * In    every message of a pair
 * Out   the first and last exchange, the best of all, the best of each window
 * Why   half of the papers draw their line through two or a few of these points
 * Not   what is drawn through them (est_*.c), which messages make an exchange (exchanges.c)
 *
 * An exchange's couple (G, L) is the reference and local stamp at its middle. With a constant rate
 * and equal delays G is right however long the answer took, as both clocks are halved at the same
 * moment. Everything is doubled here, so that the halves are integers.
 */
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

int64_t usk_fit_window(const struct usk_fit *fit)
{
	return fit->window_ns > 0 ? fit->window_ns : USK_WINDOW_NS;
}

static struct usk_couple couple_of(const struct usk_fit *fit, const struct usk_exchange *e)
{
	usk_i128 local2 = usk_exchange_middle2(e, fit->b);
	return (struct usk_couple){ local2, usk_exchange_middle2(e, fit->a) - local2,
				    usk_exchange_delays(e) };
}

/* Of two couples the one with the smaller round trip; then the earlier one. */
static bool better(const struct usk_couple *a, const struct usk_couple *b)
{
	if (a->delays != b->delays) {
		return a->delays < b->delays;
	}
	if (a->local2 + a->offset2 != b->local2 + b->offset2) {
		return a->local2 + a->offset2 < b->local2 + b->offset2;
	}
	return a->local2 < b->local2;
}

bool usk_couple_ends(const struct usk_fit *fit, struct usk_couple *first, struct usk_couple *last)
{
	bool any = false;
	for (int side = 0; side < 2; side++) {
		size_t n;
		struct usk_exchange *e = usk_exchanges(fit, side ? fit->b : fit->a, &n);
		for (size_t i = 0; i < n; i++) {
			struct usk_couple c = couple_of(fit, &e[i]);
			if (!any || c.local2 < first->local2 ||
			    (c.local2 == first->local2 && better(&c, first))) {
				*first = c;
			}
			if (!any || c.local2 > last->local2 ||
			    (c.local2 == last->local2 && better(&c, last))) {
				*last = c;
			}
			any = true;
		}
		free(e);
	}
	return any;
}

bool usk_couple_best(const struct usk_fit *fit, int64_t under_ns, struct usk_couple *best)
{
	bool any = false, quick = false;
	for (int side = 0; side < 2; side++) {
		size_t n;
		struct usk_exchange *e = usk_exchanges(fit, side ? fit->b : fit->a, &n);
		for (size_t i = 0; i < n; i++) {
			struct usk_couple c = couple_of(fit, &e[i]);
			bool is_quick = usk_exchange_took(&e[i]) < under_ns;
			if (!any || (is_quick && !quick) ||
			    (is_quick == quick && better(&c, best))) {
				*best = c;
			}
			any = true;
			quick |= is_quick;
		}
		free(e);
	}
	return any;
}

/* Couples by window: sorted, one each. */
struct windows {
	struct usk_couple *couple;
	usk_i128 *number;
	size_t n, cap, cap_number;
};

static void put(struct windows *w, usk_i128 number, const struct usk_couple *c)
{
	size_t from = 0, to = w->n;
	if (w->n && w->number[w->n - 1] < number) {
		from = w->n; /* as a rule they come in order */
	} else if (w->n && w->number[w->n - 1] == number) {
		from = to = w->n - 1;
	}
	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (w->number[mid] < number) {
			from = mid + 1;
		} else {
			to = mid;
		}
	}
	if (from < w->n && w->number[from] == number) {
		if (better(c, &w->couple[from])) {
			w->couple[from] = *c;
		}
		return;
	}
	w->couple = usk_room(w->couple, w->n, &w->cap, sizeof *w->couple);
	w->number = usk_room(w->number, w->n, &w->cap_number, sizeof *w->number);
	memmove(&w->couple[from + 1], &w->couple[from], (w->n - from) * sizeof *w->couple);
	memmove(&w->number[from + 1], &w->number[from], (w->n - from) * sizeof *w->number);
	w->couple[from] = *c;
	w->number[from] = number;
	w->n++;
}

struct usk_couple *usk_couples(const struct usk_fit *fit, size_t *n)
{
	struct windows w = { .n = 0 };
	usk_i128 twice = 2 * (usk_i128)usk_fit_window(fit);
	for (int side = 0; side < 2; side++) {
		size_t n_exchanges;
		struct usk_exchange *e = usk_exchanges(fit, side ? fit->b : fit->a, &n_exchanges);
		for (size_t i = 0; i < n_exchanges; i++) {
			struct usk_couple c = couple_of(fit, &e[i]);
			usk_i128 start2 = 2 * (usk_i128)usk_msg_local(fit, &fit->msg[0]);
			put(&w, usk_floor_div(c.local2 - start2, twice), &c);
		}
		free(e);
	}
	free(w.number);
	*n = w.n;
	return w.couple;
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
