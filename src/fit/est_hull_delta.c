/* SPDX-License-Identifier: MIT */
/*
 * est_hull_delta.c - the hull method on stamps that minimum delays have moved
 *
 * Source  Ashton 1995, sections 4.2.1 and 4.2.2: "c.hull"
 *
 * The stamps of a message are moved towards each other by half its minimum delay; hull is drawn
 * through what is left, and where no line fits that, because the model is wrong for a message, the
 * line of least violation. Half a nanosecond matters to hulls, so all is done in doubled stamps,
 * relative to the corridor's origin.
 */
#include "fit/fit.h"

#include <stdlib.h>

static bool fits(usk_i128 v)
{
	return v > -USK_TIME_MAX && v < USK_TIME_MAX;
}

/* Moved messages, doubled and relative. */
static enum usk_status moved(const struct usk_fit *fit, struct usk_corridor *c, struct usk_err *err)
{
	const struct usk_frame *f = &fit->lines->frame;
	usk_i128 origin[2] = { 2 * ((usk_i128)f->local_ns + f->offset_ns),
			       2 * (usk_i128)f->local_ns };
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < fit->n_msgs && !status; i++) {
		const struct usk_msg *m = &fit->msg[i];
		bool back = m->from == fit->b;
		usk_i128 x = usk_msg_stamp2(fit, m, fit->a, true) - origin[0];
		usk_i128 y = usk_msg_stamp2(fit, m, fit->b, true) - origin[1];
		if (!fits(x) || !fits(y) || !fits(x - y)) {
			return usk_fail(err, USK_EINPUT, 0,
					"hull+delta needs messages and offsets within 2^61 ns (73 "
					"years)");
		}
		struct usk_msg doubled = { (int64_t)(back ? y : x), (int64_t)(back ? x : y), back,
					   !back, 0 };
		status = usk_corridor_add(c, 0, 1, &doubled, 1, err);
	}
	return status;
}

/* The doubled line's offset at a relative x, to the nearest. */
static usk_i128 halved(const struct usk_knot *k, usk_i128 x)
{
	usk_i128 run = (usk_i128)k[1].local_ns - k[0].local_ns;
	usk_i128 rise = (usk_i128)k[1].offset_ns - k[0].offset_ns;
	/* All are under 2^64. */
	usk_i128 y2 = k[0].offset_ns + usk_floor_div(rise * (2 * x - k[0].local_ns), run);
	return usk_floor_div(y2 + 1, 2);
}

static enum usk_status estimate(const struct usk_fit *fit, struct usk_knot **out, size_t *n,
				struct usk_err *err)
{
	const struct usk_lines *l = fit->lines;
	struct usk_frame frame = { 0, 0, l->frame.rate_e12, l->frame.kappa_e12, 0, false };
	struct usk_corridor *c = usk_corridor_new(&frame);
	struct usk_knot *k = NULL;
	enum usk_status status = moved(fit, c, err);
	if (!status) {
		struct usk_lines *lines = usk_lines_new(
			c, 2 * l->q_ns[USK_CEILING], 2 * l->q_ns[USK_FLOOR], (int64_t)l->limit.num);
		usk_i128 x[2];
		size_t n_knots;
		usk_fit_span(fit, &x[0], &x[1]);
		struct usk_fit doubled = { .corridor = c, .lines = lines };
		doubled.first_local_ns = usk_cut(2 * x[0]);
		doubled.last_local_ns = usk_cut(2 * x[1]);
		switch (usk_lines_quality(lines)) {
		case USK_BOUNDED:
			status = usk_est_hull.estimate(&doubled, &k, &n_knots, err);
			break;
		case USK_CONTRADICTED:
			usk_fit_drawn_by(fit, "least-violation");
			status = usk_est_least_violation.estimate(&doubled, &k, &n_knots, err);
			break;
		default:
			status = usk_fail(err, USK_EINPUT, 0,
					  "hull+delta needs messages in both directions");
		}
		if (!status) {
			status = usk_fit_straight(fit, halved(k, x[0]), halved(k, x[1]), out, n);
		}
		usk_lines_free(lines);
	}
	free(k);
	usk_corridor_free(c);
	return status;
}

USK_ESTIMATOR(hull_delta, "hull+delta", "Ashton 1995, section 4.2: c.hull",
	      "hull likewise; least-violation where no line fits", true, .estimate = estimate,
	      .violates = true);
