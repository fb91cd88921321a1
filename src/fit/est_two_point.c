/* SPDX-License-Identifier: MIT */
/*
 * est_two_point.c - the line through two good exchanges far apart
 *
 * Source  Ashton 1995, 4.1.2: "2"; the error of an exchange after Cristian 1989
 *
 * An exchange whose delays are alike says what both clocks showed at its middle: an equivalence
 * (a, b). It is off by at most E = (RTD - 2 min1way)/2, RTD being the sum of its delays, and
 * min1way half of the smallest RTD of all. Exchanges that took 50 ms or more do not count: over
 * such a time clocks drift apart.
 *
 * Of each tenth of the time that the messages span, the ten equivalences of the smallest E are
 * asked; of these, the two with the smallest (E1 + E2)/|a1 - a2| make the rate. The offset is that
 * of the equivalence of smallest E.
 *
 * What the paper leaves open: of equal E the smaller a goes first, then the smaller b; of equal
 * pairs that with the larger |a1 - a2|, then the earlier one. The last tenth has its end.
 *
 * two-point+delta (Ashton 4.2.2: "c.2") takes the minimum delays of the model for the error of an
 * exchange, E = (RTD - delta_i - delta_j)/2, and for nothing else: equivalences stay where they
 * are. Where that is negative the model is wrong, and E is 0. Two messages of different length have
 * different delays, which the middle of their stamps takes for alike: two-point+moved, which is
 * ours, moves the stamps of a message towards each other by half its minimum delay, as Ashton does
 * for regress and hull. E is the same.
 *
 * Everything is exact in units of a quarter until the line is drawn.
 */
#include "fit/fit.h"
#include "num/ratio.h"

#include <stdlib.h>

enum { TENTHS = 10, BEST = 10 };

#define MAX_TOOK_NS 50000000

/* a and b are fourfold; rtd is 2 E and a constant. */
struct equivalence {
	usk_i128 rtd, a, b;
};

static bool better(const struct equivalence *e, const struct equivalence *f)
{
	if (e->rtd != f->rtd) {
		return e->rtd < f->rtd;
	}
	return e->a != f->a ? e->a < f->a : e->b < f->b;
}

static bool earlier(const struct equivalence *e, const struct equivalence *f)
{
	if (e->a != f->a) {
		return e->a < f->a;
	}
	return e->b != f->b ? e->b < f->b : e->rtd < f->rtd;
}

/* The best of a tenth, best first. */
struct tenth {
	struct equivalence e[BEST];
	size_t n;
};

static void enter(struct tenth *t, const struct equivalence *e)
{
	if (t->n == BEST && !better(e, &t->e[BEST - 1])) {
		return;
	}
	size_t i = t->n < BEST ? t->n++ : BEST - 1;
	while (i && better(e, &t->e[i - 1])) {
		t->e[i] = t->e[i - 1];
		i--;
	}
	t->e[i] = *e;
}

static void select_of(const struct usk_fit *fit, uint32_t asker, usk_i128 first, usk_i128 last,
		      struct tenth *tenth)
{
	size_t n;
	struct usk_exchange *x = usk_exchanges(fit, asker, &n);
	for (size_t i = 0; i < n; i++) {
		if (usk_exchange_took(&x[i]) >= MAX_TOOK_NS) {
			continue;
		}
		struct equivalence e = { usk_exchange_delays(&x[i]),
					 2 * usk_exchange_middle2(&x[i], fit->a),
					 2 * usk_exchange_middle2(&x[i], fit->b) };
		if (fit->by->delta) {
			usk_i128 there = usk_msg_least(fit, x[i].there);
			usk_i128 back = usk_msg_least(fit, x[i].back);
			e.rtd -= there + back;
			e.rtd = e.rtd > 0 ? e.rtd : 0;
			if (fit->by->moved) {
				usk_i128 later = asker == fit->a ? there - back : back - there;
				e.a += later;
				e.b -= later;
			}
		}
		/* Outside of the first and the last only by a model that is wrong. */
		usk_i128 k = last > first ? TENTHS * (e.a - 4 * first) / (4 * (last - first)) : 0;
		enter(&tenth[k < 0 ? 0 : k < TENTHS ? k : TENTHS - 1], &e);
	}
	free(x);
}

/* All that are asked, in order of time. */
static size_t gather(const struct tenth *tenth, struct equivalence *out)
{
	size_t n = 0;
	for (size_t k = 0; k < TENTHS; k++) {
		for (size_t i = 0; i < tenth[k].n; i++) {
			size_t j = n++;
			for (; j && earlier(&tenth[k].e[i], &out[j - 1]); j--) {
				out[j] = out[j - 1];
			}
			out[j] = tenth[k].e[i];
		}
	}
	return n;
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	struct tenth tenth[TENTHS] = { { .n = 0 } };
	struct equivalence e[TENTHS * BEST];
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < fit->n_msgs; i++) {
		int64_t a = usk_msg_stamp(&fit->msg[i], fit->a);
		first = a < first ? a : first;
		last = a > last ? a : last;
	}
	select_of(fit, fit->a, first, last, tenth);
	select_of(fit, fit->b, first, last, tenth);
	size_t asked = gather(tenth, e);
	if (!asked) {
		return usk_fail(err, USK_EINPUT, 0,
				"two-point needs exchanges, a message and one back within 50 ms");
	}
	const struct equivalence *best = &e[0];
	for (size_t i = 1; i < asked; i++) {
		best = better(&e[i], best) ? &e[i] : best;
	}
	usk_i128 none = fit->by->delta ? 0 : best->rtd; /* 2 min1way */
	usk_u128 least = 0, apart = 0;
	usk_i128 run = 0;
	for (size_t i = 0; i < asked; i++) {
		for (size_t j = i + 1; j < asked; j++) {
			usk_u128 wide = (usk_u128)(e[j].a - e[i].a);
			usk_u128 off = (usk_u128)(e[i].rtd - none) + (usk_u128)(e[j].rtd - none);
			if (!wide) {
				continue;
			}
			int order = apart ? usk_ratio_cmp(off, wide, least, apart) : -1;
			if (order < 0 || (!order && wide > apart)) {
				least = off;
				apart = wide;
				run = e[j].b - e[i].b;
			}
		}
	}
	if (!apart) {
		return usk_fail(err, USK_EINPUT, 0,
				"two-point needs exchanges at two times, each within 50 ms");
	}
	if (run <= 0) {
		return usk_fail(err, USK_EINPUT, 0,
				"between its two best exchanges the clock stands still or runs "
				"backwards: they are too near for their delays");
	}
	/* B's stamp and the offset, A's less B's, as integers and quarters. */
	usk_i128 at = usk_floor_div(best->b, 4), off = usk_floor_div(best->a - best->b, 4);
	return usk_fit_through(fit, (struct usk_point){ usk_cut(at), usk_cut(off) },
			       usk_real(best->b - 4 * at) / 4,
			       usk_real(best->a - best->b - 4 * off) / 4,
			       usk_real((usk_i128)apart - run) / usk_real(run), out, n);
}

USK_ESTIMATOR(two_point, "two-point", "Ashton 1995, section 4.1.2",
	      "the line through two exchanges that are quick and far apart", true,
	      .estimate = estimate);
USK_ESTIMATOR(two_point_delta, "two-point+delta", "Ashton 1995, section 4.2.2: c.2",
	      "two-point whose errors are what exchanges took beyond their minimum; stamps stay",
	      true, .estimate = estimate, .delta = true);
USK_ESTIMATOR(two_point_moved, "two-point+moved", "unskew, after Ashton's c.2",
	      "two-point+delta on stamps moved as those of regress+delta", true,
	      .estimate = estimate, .delta = true, .moved = true);
