/* SPDX-License-Identifier: MIT */
/*
 * est_hull_or_two_point.c - hull or two-point, whichever does better on this pair
 *
 * Source  Ashton 1995, section 7.4: where minimum delays are not known, "both can be tried and the
 *         one that gives the best results can be used"; what is better, after his section 6.1
 *
 * He has two checks. A message may not have taken less than its minimum delay (0 where none is
 * known) by the corrected stamps: the line with fewer of these is better, of as many the one that
 * lacks less in all. And what is repeated has the same rate: so each draws lines through five parts
 * of the trace, as many as he has replications, and the one whose rates have the smaller range is
 * better. Of equal ones it is hull. Parts are of equal time by the local clock; one counts if both
 * have a line in it, and one alone tells nothing.
 *
 * Where only one of the two has an answer it is that one.
 */
#include "fit/fit.h"

#include <stdlib.h>

enum { HULL, TWO_POINT, BOTH, PARTS = 5 };

static const struct usk_estimator *const tried[BOTH] = { &usk_est_hull, &usk_est_two_point };

struct drawing {
	struct usk_knot *line;
	size_t n;
	const char *by;
	uint64_t too_fast;
	usk_u128 lacks; /* ns, of all of these */
};

static enum usk_status draw(const struct usk_fit *fit, int which, struct drawing *d,
			    struct usk_err *err)
{
	struct usk_fit own = *fit;
	*d = (struct drawing){ .by = tried[which]->name };
	own.drawn_by = &d->by;
	return tried[which]->estimate(&own, &d->line, &d->n, err);
}

/* Messages that took less than they need, beyond what stamps are rounded by. */
static void judge(const struct usk_fit *fit, struct drawing *d)
{
	size_t at = 0;
	for (size_t i = 0; i < fit->n_msgs; i++) {
		const struct usk_msg *m = &fit->msg[i];
		usk_i128 local = usk_msg_local(fit, m);
		usk_i128 later =
			local + usk_line_at(d->line, d->n, &at, local) - usk_msg_stamp(m, fit->a);
		usk_i128 took = m->from == fit->a ? later : -later;
		usk_i128 lacks = usk_msg_least(fit, m) - took - fit->lines->q_ns[m->from == fit->b];
		if (lacks > 0) {
			d->too_fast++;
			d->lacks += (usk_u128)lacks;
		}
	}
}

static long double slope_of(const struct drawing *d)
{
	const struct usk_knot *k = d->line, *last = k + d->n - 1;
	return usk_real((usk_i128)last->offset_ns - k->offset_ns) /
	       usk_real((usk_i128)last->local_ns - k->local_ns);
}

/* Both lines through the messages msg[n] alone; do both have one? */
static bool slopes_of(const struct usk_fit *fit, const struct usk_msg *msg, size_t n,
		      long double slope[BOTH])
{
	const struct usk_lines *l = fit->lines;
	struct usk_corridor *c = usk_corridor_new(&l->frame);
	bool good = n && !usk_corridor_add(c, fit->a, fit->b, msg, n, NULL);
	struct usk_lines *lines =
		usk_lines_new(c, l->q_ns[USK_CEILING], l->q_ns[USK_FLOOR], (int64_t)l->limit.num);
	struct usk_fit part = *fit;
	part.corridor = c;
	part.lines = lines;
	part.plain = NULL;
	part.msg = msg;
	part.n_msgs = n;
	for (int k = 0; k < BOTH && good; k++) {
		struct drawing d;
		good = !draw(&part, k, &d, NULL);
		slope[k] = good ? slope_of(&d) : 0;
		free(d.line);
	}
	usk_lines_free(lines);
	usk_corridor_free(c);
	return good;
}

/* Is the range of two-point's rates the smaller one? */
static bool spreads_less(const struct usk_fit *fit)
{
	int64_t first = usk_msg_local(fit, &fit->msg[0]);
	usk_i128 span = (usk_i128)usk_msg_local(fit, &fit->msg[fit->n_msgs - 1]) - first + 1;
	long double lo[BOTH] = { 0 }, hi[BOTH] = { 0 };
	bool any = false;
	for (size_t k = 0, from = 0; k < PARTS; k++) {
		usk_i128 end = first + usk_ceil_div(span * (usk_i128)(k + 1), PARTS);
		size_t n = 0;
		while (from + n < fit->n_msgs && usk_msg_local(fit, &fit->msg[from + n]) < end) {
			n++;
		}
		long double s[BOTH];
		bool good = slopes_of(fit, &fit->msg[from], n, s);
		for (int i = 0; i < BOTH && good; i++) {
			lo[i] = !any || s[i] < lo[i] ? s[i] : lo[i];
			hi[i] = !any || s[i] > hi[i] ? s[i] : hi[i];
		}
		any = any || good;
		from += n;
	}
	return hi[TWO_POINT] - lo[TWO_POINT] < hi[HULL] - lo[HULL];
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	struct drawing d[BOTH];
	struct usk_err none = { 0 };
	enum usk_status status[BOTH] = { draw(fit, HULL, &d[HULL], err),
					 draw(fit, TWO_POINT, &d[TWO_POINT], &none) };
	if (status[HULL] && status[TWO_POINT]) {
		return status[HULL];
	}
	int best = status[HULL] ? TWO_POINT : HULL;
	if (!status[HULL] && !status[TWO_POINT]) {
		const struct drawing *h = &d[HULL], *t = &d[TWO_POINT];
		judge(fit, &d[HULL]);
		judge(fit, &d[TWO_POINT]);
		best = t->too_fast != h->too_fast ? t->too_fast < h->too_fast
		       : t->lacks != h->lacks	  ? t->lacks < h->lacks
						  : spreads_less(fit);
	}
	free(d[!best].line);
	*out = d[best].line;
	*n = d[best].n;
	usk_fit_drawn_by(fit, d[best].by);
	return USK_OK;
}

USK_ESTIMATOR(hull_or_two_point, "hull-or-two-point", "Ashton 1995, sections 6.1 and 7.4",
	      "whichever of the two leaves fewer messages too fast, by less, with rates that "
	      "spread less over five parts of the trace",
	      true, .estimate = estimate, .violates = true);
