/* SPDX-License-Identifier: MIT */
#include "cases.h"
#include "fit/estimator.h"

#include <float.h>
#include <stdlib.h>

static int64_t within(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return (int64_t)((uint64_t)lo + usk_rng_below(r, (uint64_t)hi - (uint64_t)lo + 1));
}

static void tiny_grid(struct fit_case *c, struct usk_rng *r)
{
	int64_t wide = within(r, 0, 12), high = within(r, 0, 12), apart = within(r, -2, 8);
	int64_t t0 = within(r, -3, 3), tilt = within(r, -2, 2);
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t = within(r, 0, wide);
		c->pts.p[i].local_ns = t0 + t;
		c->pts.p[i].offset_ns =
			within(r, 0, high) + (c->pts.ceiling[i] ? apart : -apart) + t * tilt / 4;
	}
	static const int64_t skews[] = { 500000000000, 500000000000, 500000000, 0, 250000000000 };
	c->max_skew_e12 = skews[within(r, 0, 4)];
	c->frame.local_ns = within(r, -20, 20);
	c->frame.offset_ns = within(r, -20, 20);
}

static void ordinary(struct fit_case *c, struct usk_rng *r)
{
	int64_t t0 = within(r, 0, 2) * 850000000000000000, span = INT64_C(1) << within(r, 1, 45);
	int64_t ppb = within(r, -600000, 600000), theta = INT64_C(1) << within(r, 0, 60);
	theta *= within(r, -1, 1);
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t = within(r, 0, span);
		int64_t off = theta + (int64_t)((usk_i128)t * ppb / 1000000000);
		int64_t delay = within(r, 0, INT64_C(1) << within(r, 0, 20));
		delay -= within(r, 0, 20) / 20;
		c->pts.p[i].local_ns = t0 + t;
		c->pts.p[i].offset_ns = c->pts.ceiling[i] ? off + delay : off - delay;
	}
	c->max_skew_e12 = within(r, 0, 1) ? 500000000 : 1000000000;
	c->frame.local_ns = t0 + within(r, -span, span);
	c->frame.offset_ns = theta + within(r, -1000, 1000);
}

static void thin(struct fit_case *c, struct usk_rng *r)
{
	int64_t span = within(r, 1, 200), num = within(r, -span, span) / 2, shift = within(r, 0, 1);
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t = within(r, 0, span);
		usk_i128 up = (usk_i128)num * t;
		c->pts.p[i].local_ns = t;
		c->pts.p[i].offset_ns =
			c->pts.ceiling[i]
				? (int64_t)usk_ceil_div(up, span) + within(r, 0, 1) * shift
				: (int64_t)usk_floor_div(up, span) - within(r, 0, 1);
	}
	c->max_skew_e12 = 500000000000;
	c->frame.local_ns = within(r, -span, span);
}

/* A waist between two curves: hulls of many vertices. */
static void curved(struct fit_case *c, struct usk_rng *r)
{
	int64_t half = within(r, 1, 1000), unit = within(r, 0, 1) ? 1 : within(r, 1, 1000000000);
	int64_t gap = within(r, -2, 4), tilt = within(r, -half, half),
		bend = within(r, 1, 3 * half);
	c->pts.n = (size_t)within(r, 10, ORACLE_MAX);
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t = within(r, -half, half), curve = t * t / bend + gap;
		c->pts.ceiling[i] = within(r, 0, 1);
		c->pts.p[i].local_ns = t * unit;
		c->pts.p[i].offset_ns = t * tilt / half / 2 + (c->pts.ceiling[i] ? curve : -curve);
	}
	c->max_skew_e12 = within(r, 0, 3) ? 500000000000 : 1000000000;
	c->frame.local_ns = within(r, -half, half);
}

static void extreme(struct fit_case *c, struct usk_rng *r)
{
	int64_t far = USK_TIME_MAX - within(r, 0, 1) * 1000;
	for (size_t i = 0; i < c->pts.n; i++) {
		int64_t t, x;
		do {
			t = within(r, 0, 2) ? within(r, -far, far) : within(r, 0, 1) ? far : -far;
			x = within(r, 0, 2) ? within(r, -far, far) : within(r, 0, 1) ? far : -far;
			if (within(r, 0, 1)) { /* near a line of slope 0 */
				x = t + within(r, -1000000, 1000000);
				x = x > far ? far : x < -far ? -far : x;
			}
		} while ((usk_i128)x - t >= USK_TIME_MAX || (usk_i128)x - t <= -USK_TIME_MAX ||
			 t == USK_TIME_MAX || t == -USK_TIME_MAX);
		c->pts.p[i] = (struct usk_point){ t, x - t };
	}
	c->max_skew_e12 = within(r, 0, 1) ? 500000000000 : 500000000;
}

void fit_case_make(struct fit_case *c, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*c = (struct fit_case){ .seed = seed };
	c->pts.n = (size_t)within(&r, 1, within(&r, 0, 3) ? 6 : 16);
	uint64_t sides = usk_rng_below(&r, 12);
	for (size_t i = 0; i < c->pts.n; i++) {
		c->pts.ceiling[i] = sides < 2 ? sides == 1 : within(&r, 0, 1) == 1;
	}
	static void (*const kinds[])(struct fit_case *, struct usk_rng *) = {
		tiny_grid, tiny_grid, ordinary, thin, thin, extreme, curved, curved,
	};
	kinds[usk_rng_below(&r, COUNT(kinds))](c, &r);
	if (!within(&r, 0, 2)) {
		c->q_a = within(&r, 0, 3) ? within(&r, 0, 3) : 1000000;
		c->q_b = within(&r, 0, 3) ? within(&r, 0, 3) : 1000;
	}
	c->frame.rate_e12 = within(&r, -600000000, 600000000);
	c->frame.kappa_e12 = within(&r, 0, 2) ? 400000 : 400000000;
}

struct usk_msg fit_case_msg(struct usk_point p, bool ceiling)
{
	int64_t local = p.local_ns, remote = p.local_ns + p.offset_ns;
	return ceiling ? (struct usk_msg){ local, remote, 1, 0, 0 }
		       : (struct usk_msg){ remote, local, 0, 1, 0 };
}

void fit_case_msgs(const struct fit_case *c, struct usk_msg *msg)
{
	for (size_t i = 0; i < c->pts.n; i++) {
		msg[i] = fit_case_msg(c->pts.p[i], c->pts.ceiling[i]);
	}
	usk_msg_sort(msg, c->pts.n, 1);
}

struct usk_corridor *fit_case_corridor(const struct fit_case *c)
{
	struct usk_corridor *k = usk_corridor_new(&c->frame);
	for (size_t i = 0; i < c->pts.n; i++) {
		struct usk_msg m = fit_case_msg(c->pts.p[i], c->pts.ceiling[i]);
		struct usk_err err = { 0 };
		if (usk_corridor_add(k, 0, 1, &m, 1, &err)) {
			abort();
		}
	}
	return k;
}

int64_t fit_case_time(const struct fit_case *c, struct usk_rng *r)
{
	int64_t t = c->pts.p[usk_rng_below(r, c->pts.n)].local_ns;
	int64_t u = c->pts.p[usk_rng_below(r, c->pts.n)].local_ns;
	switch (usk_rng_below(r, 4)) {
	case 0:
		return t;
	case 1:
		return t < u ? within(r, t, u) : within(r, u, t);
	case 2:
		return within(r, t - 30, t + 30);
	default:
		return within(r, -USK_TIME_MAX, USK_TIME_MAX);
	}
}

bool no_long_double(void)
{
	volatile long double little = LDBL_EPSILON;
	return 1 + little == 1;
}
