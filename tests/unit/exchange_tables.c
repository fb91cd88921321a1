/* SPDX-License-Identifier: MIT */
#include "exchange_tables.h"
#include "fit/estimator.h"

static int64_t within(struct usk_rng *r, int64_t lo, int64_t hi)
{
	return (int64_t)((uint64_t)lo + usk_rng_below(r, (uint64_t)hi - (uint64_t)lo + 1));
}

static void from_case(struct table *t, struct usk_rng *r)
{
	fit_case_make(&t->c, t->seed);
	t->is_case = true;
	t->n = t->c.pts.n;
	for (size_t i = 0; i < t->n; i++) {
		t->msg[i] = fit_case_msg(t->c.pts.p[i], t->c.pts.ceiling[i]);
	}
	t->frame = t->c.frame;
	t->max_skew_e12 = t->c.max_skew_e12;
	t->q_a = t->c.q_a;
	t->q_b = t->c.q_b;
	t->window_ns = within(r, 0, 1) ? within(r, 1, 9) : INT64_C(1) << within(r, 3, 62);
}

/* Requests and answers at an epoch; now and then two are under way at once. */
static void asking(struct table *t, struct usk_rng *r)
{
	int64_t epoch = within(r, 0, 2) * 850000000000000000, theta = INT64_C(1)
								      << within(r, 0, 59);
	int64_t ppb = within(r, -500000, 500000), period = INT64_C(1) << within(r, 1, 38), now = 0;
	int64_t tail = INT64_C(1) << within(r, 0, 22);
	int mostly = (int)within(r, 0, 2);
	theta *= within(r, -1, 1);
	t->n = 0;
	while (t->n + 2 <= MOST && (within(r, 0, 29) || t->n < 4)) {
		uint32_t asker = mostly == 2 ? (uint32_t)within(r, 0, 1) : (uint32_t)mostly;
		int64_t at[4] = { now };
		for (int i = 1; i < 4; i++) {
			at[i] = at[i - 1] + tail / 4 + within(r, 0, tail);
		}
		for (int i = 0; i < 4; i++) { /* local stamps */
			int64_t gain = (int64_t)((usk_i128)at[i] * ppb / 1000000000);
			bool local = (i == 0 || i == 3) == (asker == 1);
			at[i] += epoch + (local ? gain - theta : 0);
		}
		t->msg[t->n++] = (struct usk_msg){ at[0], at[1], asker, !asker, 0 };
		t->msg[t->n++] = (struct usk_msg){ at[2], at[3], !asker, asker, 0 };
		now += within(r, 0, 2 * period);
	}
	t->frame = (struct usk_frame){ epoch - theta, theta, 0, 400000, 0, false };
	t->window_ns = within(r, 0, 1) ? 3 * period : within(r, 1, 50 * period);
}

/* Stamps on a tiny grid, in any order; `falling`: the local clock runs backwards. */
static void grid(struct table *t, struct usk_rng *r)
{
	int64_t wide = within(r, 0, 20), far = within(r, 0, 2) * 850000000000000000;
	bool falling = !within(r, 0, 3), free = within(r, 0, 1);
	t->n = (size_t)within(r, 1, 14);
	for (size_t i = 0; i < t->n; i++) {
		int64_t g = within(r, 0, wide), d = within(r, 0, 3);
		int64_t l = free ? within(r, 0, wide) : falling ? wide - g : g;
		bool back = within(r, 0, 1);
		t->msg[i] = back ? (struct usk_msg){ far + l, far + g + d, 1, 0, 0 }
				 : (struct usk_msg){ far + g, far + l + d, 0, 1, 0 };
	}
	t->frame = (struct usk_frame){ far, 0, 0, 400000, 0, false };
	t->window_ns = within(r, 1, 8);
}

/* One each way, all at one instant, vertical or coincident points, one direction only. */
static void degenerate(struct table *t, struct usk_rng *r)
{
	int64_t far = within(r, 0, 1) * INT64_C(1700000000000000000), gap = within(r, 0, 1000000);
	int kind = (int)within(r, 0, 4);
	t->n = kind ? (size_t)within(r, 2, 9) : 2;
	for (size_t i = 0; i < t->n; i++) {
		int64_t k = kind == 1 || kind == 3 ? 0 : (int64_t)i * gap; /* instant, coincident */
		int64_t d = kind == 3 ? 5 : within(r, 0, 50);
		bool back = kind == 4 ? t->seed & 1 : i & 1;
		if (kind == 2) { /* vertical: the local clock stands still */
			t->msg[i] = back ? (struct usk_msg){ far, far + k + d, 1, 0, 0 }
					 : (struct usk_msg){ far + k, far, 0, 1, 0 };
		} else {
			t->msg[i] = (struct usk_msg){ far + k, far + k + d, back, !back, 0 };
		}
	}
	t->frame = (struct usk_frame){ far, 0, 0, 400000, 0, false };
	t->window_ns = within(r, 0, 1) ? 0 : within(r, 1, 2000000);
}

void table_make(struct table *t, uint64_t seed)
{
	static void (*const kinds[])(struct table *, struct usk_rng *) = {
		from_case, from_case, asking, asking, grid, degenerate,
	};
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*t = (struct table){ .seed = seed, .max_skew_e12 = 500000000 };
	kinds[usk_rng_below(&r, COUNT(kinds))](t, &r);
	usk_msg_sort(t->msg, t->n, 1);
	for (size_t i = 0; !t->is_case && t->n <= ORACLE_MAX && i < t->n; i++) {
		const struct usk_msg *m = &t->msg[i];
		t->c.pts.ceiling[i] = m->from == 1;
		t->c.pts.p[i].local_ns = local_of(m);
		t->c.pts.p[i].offset_ns = reference_of(m) - local_of(m);
		t->c.pts.n = t->n;
	}
}
