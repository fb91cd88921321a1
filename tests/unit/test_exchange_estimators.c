/* SPDX-License-Identifier: MIT */
/*
 * The estimators that work on exchanges and windows, against their papers' formulas in rationals:
 * exchanges found by trying all pairs, sums as they are printed, nothing centred and nothing
 * rounded.
 */
#include "cases.h"
#include "rational.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 48 };

/* ---- tables ---------------------------------------------------------------------- */

struct table {
	uint64_t seed;
	struct usk_msg msg[MOST];
	size_t n;
	int64_t window_ns, max_skew_e12;
	struct usk_frame frame;
	int64_t q_a, q_b;
	struct fit_case c; /* its points are the same, or none if there are too many */
	bool is_case;
};

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
	t->frame = (struct usk_frame){ epoch - theta, theta, 0, 400000 };
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
	t->frame = (struct usk_frame){ far, 0, 0, 400000 };
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
	t->frame = (struct usk_frame){ far, 0, 0, 400000 };
	t->window_ns = within(r, 0, 1) ? 0 : within(r, 1, 2000000);
}

static int64_t local_of(const struct usk_msg *m)
{
	return m->from == 1 ? m->sent_ns : m->received_ns;
}

static int64_t reference_of(const struct usk_msg *m)
{
	return m->from == 0 ? m->sent_ns : m->received_ns;
}

static void table_make(struct table *t, uint64_t seed)
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

/* ---- what an estimator draws ------------------------------------------------------ */

struct drawn {
	struct usk_corridor *corridor;
	struct usk_lines *lines;
	struct usk_fit fit;
};

static bool drawn_new(struct drawn *d, const struct table *t)
{
	*d = (struct drawn){ .corridor = usk_corridor_new(&t->frame) };
	if (usk_corridor_add(d->corridor, 0, 1, t->msg, t->n, NULL)) {
		usk_corridor_free(d->corridor);
		return false;
	}
	d->lines = usk_lines_new(d->corridor, t->q_a, t->q_b, t->max_skew_e12);
	d->fit = (struct usk_fit){ d->corridor,
				   d->lines,
				   local_of(&t->msg[0]),
				   local_of(&t->msg[t->n - 1]),
				   t->msg,
				   t->n,
				   0,
				   1,
				   t->window_ns };
	return true;
}

static void drawn_free(struct drawn *d)
{
	usk_lines_free(d->lines);
	usk_corridor_free(d->corridor);
}

/* ---- exchanges, by their definition ------------------------------------------------ */

struct trip {
	uint32_t asker;
	int64_t t1, t2, t3, t4; /* t1 and t4 on the asker */
};

static size_t trips(const struct table *t, struct trip *out)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_msg *m = &t->msg[i], *best = NULL;
		for (size_t j = 0; j < t->n; j++) {
			const struct usk_msg *b = &t->msg[j];
			if (b->from == m->from || b->sent_ns < m->received_ns) {
				continue;
			}
			if (!best || b->sent_ns < best->sent_ns ||
			    (b->sent_ns == best->sent_ns && b->received_ns < best->received_ns)) {
				best = b;
			}
		}
		if (best) {
			out[n++] = (struct trip){ m->from, m->sent_ns, m->received_ns,
						  best->sent_ns, best->received_ns };
		}
	}
	return n;
}

static usk_i128 rtd(const struct trip *e)
{
	return ((usk_i128)e->t4 - e->t1) - ((usk_i128)e->t3 - e->t2);
}

static usk_i128 twice_g(const struct trip *e)
{
	return e->asker == 0 ? (usk_i128)e->t1 + e->t4 : (usk_i128)e->t2 + e->t3;
}

static usk_i128 twice_l(const struct trip *e)
{
	return e->asker == 1 ? (usk_i128)e->t1 + e->t4 : (usk_i128)e->t2 + e->t3;
}

static Q half(usk_i128 v)
{
	return q_div(q_int(v), q_int(2));
}

/* -1, 0, 1: smaller round trip, then earlier by the reference, then by the local clock */
static int order(const struct trip *a, const struct trip *b)
{
	usk_i128 d = rtd(a) - rtd(b);
	d = d ? d : twice_g(a) - twice_g(b);
	d = d ? d : twice_l(a) - twice_l(b);
	return (d > 0) - (d < 0);
}

/* ---- what they should draw --------------------------------------------------------- */

/* offset(x) = y + slope (x - at); or corners to draw straight lines between */
struct answer {
	bool any;
	Q at, y, slope;
	size_t corners;
	int64_t local[MOST * 2];
	Q offset[MOST * 2];
};

static struct answer line(Q at, Q y, Q slope)
{
	return (struct answer){ .any = true, .at = at, .y = y, .slope = slope };
}

static struct answer line_of(const struct trip *e, Q slope)
{
	return line(half(twice_l(e)), half(twice_g(e) - twice_l(e)), slope);
}

static bool ends(const struct table *t, struct trip *x, struct trip *y)
{
	struct trip e[MOST];
	size_t n = trips(t, e);
	for (size_t i = 0; i < n; i++) {
		usk_i128 dx = twice_l(&e[i]) - twice_l(i ? x : &e[i]);
		usk_i128 dy = twice_l(&e[i]) - twice_l(i ? y : &e[i]);
		*x = !i || dx < 0 || (!dx && order(&e[i], x) < 0) ? e[i] : *x;
		*y = !i || dy > 0 || (!dy && order(&e[i], y) < 0) ? e[i] : *y;
	}
	return n;
}

static struct answer first_offset(const struct table *t)
{
	struct trip x, y;
	return ends(t, &x, &y) ? line_of(&x, q_int(0)) : (struct answer){ .any = false };
}

static struct answer interval(const struct table *t)
{
	struct trip x, y;
	if (!ends(t, &x, &y) || twice_l(&x) == twice_l(&y)) {
		return (struct answer){ .any = false };
	}
	/* local = conv (remote - remote_Y) + time_Y */
	Q conv = q_div(q_int(twice_g(&y) - twice_g(&x)), q_int(twice_l(&y) - twice_l(&x)));
	return line_of(&y, q_sub(conv, q_int(1)));
}

/* Couples: the best of each window, by trying windows in turn. */
static size_t couples(const struct table *t, struct trip *out)
{
	struct trip e[MOST];
	size_t n = trips(t, e), count = 0;
	usk_i128 w = t->window_ns ? t->window_ns : INT64_C(180000000000);
	usk_i128 done = -((usk_i128)1 << 100);
	for (;;) {
		/* the first exchange not yet in a window opens the next one */
		const struct trip *next = NULL;
		for (size_t i = 0; i < n; i++) {
			if (twice_l(&e[i]) >= done && (!next || twice_l(&e[i]) < twice_l(next))) {
				next = &e[i];
			}
		}
		if (!next) {
			return count;
		}
		usk_i128 first = 2 * (usk_i128)local_of(&t->msg[0]);
		usk_i128 start = first + (twice_l(next) - first) / (2 * w) * (2 * w);
		done = start + 2 * w;
		const struct trip *best = NULL;
		for (size_t i = 0; i < n; i++) {
			if (twice_l(&e[i]) >= start && twice_l(&e[i]) < done &&
			    (!best || order(&e[i], best) < 0)) {
				best = &e[i];
			}
		}
		out[count++] = *best;
	}
}

static Q ratio(const struct trip *x, const struct trip *y)
{
	return q_div(q_int(twice_g(y) - twice_g(x)), q_int(twice_l(y) - twice_l(x)));
}

static struct answer rate_ratio(const struct table *t)
{
	struct trip c[MOST];
	size_t n = couples(t, c);
	if (n < 2) {
		return (struct answer){ .any = false };
	}
	Q sum = q_int(0);
	for (size_t i = 1; i < n; i++) {
		Q r = ratio(&c[i - 1], &c[i]);
		sum = q_add(sum, q_mul(r, r));
	}
	Q big_r = q_sqrt(q_div(sum, q_int((usk_i128)n - 1)));
	return line_of(&c[0], q_sub(big_r, q_int(1)));
}

static struct answer rate_last(const struct table *t)
{
	struct trip c[MOST];
	size_t n = couples(t, c);
	return n < 2 ? (struct answer){ .any = false }
		     : line_of(&c[0], q_sub(ratio(&c[0], &c[n - 1]), q_int(1)));
}

static struct answer rate_segments(const struct table *t)
{
	struct trip c[MOST];
	struct answer a = { .corners = couples(t, c) };
	a.any = a.corners >= 2;
	for (size_t i = 0; i < a.corners; i++) {
		a.local[i] = (int64_t)usk_floor_div(twice_l(&c[i]), 2);
		a.offset[i] = half(twice_g(&c[i]) - twice_l(&c[i]));
	}
	return a;
}

static struct answer min_window(const struct table *t)
{
	struct answer a = { .corners = 0 };
	usk_i128 w = t->window_ns ? t->window_ns : INT64_C(180000000000);
	usk_i128 first = local_of(&t->msg[0]), last = local_of(&t->msg[t->n - 1]);
	for (size_t i = 0; i < t->n; i++) {
		/* each message's window, once */
		usk_i128 k = (local_of(&t->msg[i]) - first) / w;
		if (i && (local_of(&t->msg[i - 1]) - first) / w == k) {
			continue;
		}
		bool any[2] = { false, false };
		int64_t least[2] = { 0, 0 };
		for (size_t j = 0; j < t->n; j++) {
			const struct usk_msg *m = &t->msg[j];
			int64_t d = m->received_ns - m->sent_ns;
			if ((local_of(m) - first) / w == k &&
			    (!any[m->from] || d < least[m->from])) {
				any[m->from] = true;
				least[m->from] = d;
			}
		}
		if (any[0] && any[1]) {
			usk_i128 end = first + (k + 1) * w;
			end = end > last ? last : end;
			a.local[a.corners] = (int64_t)usk_floor_div(first + k * w + end, 2);
			a.offset[a.corners++] = half((usk_i128)least[1] - least[0]);
		}
	}
	a.any = a.corners > 0;
	return a.corners == 1 ? line(q_int(a.local[0]), a.offset[0], q_int(0)) : a;
}

/* Clement's sums as printed; D is what the local clock is ahead, T from the first T1. */
struct sums {
	size_t all, n;
	uint32_t asker;
	int64_t origin;
	Q x, d0, er2, sx2, sd2; /* slope, intercept, squares of Er and standard errors */
};

static bool clement_of(const struct table *t, uint32_t asker, double z, struct sums *s)
{
	struct trip all[MOST], e[MOST];
	size_t found = trips(t, all), n = 0;
	*s = (struct sums){ .asker = asker, .origin = INT64_MAX };
	Q se = q_int(0), see = q_int(0);
	for (size_t i = 0; i < found; i++) {
		if (all[i].asker == asker) {
			e[n++] = all[i];
			se = q_add(se, half(rtd(&all[i])));
			see = q_add(see, q_mul(half(rtd(&all[i])), half(rtd(&all[i]))));
			s->origin = all[i].t1 < s->origin ? all[i].t1 : s->origin;
		}
	}
	if (!n) {
		return false;
	}
	s->all = n;
	Q count = q_int((usk_i128)n), mean = q_div(se, count);
	Q var = q_sub(q_div(see, count), q_mul(mean, mean));
	Q st = q_int(0), sd = q_int(0), stt = q_int(0), std = q_int(0);
	Q T[MOST], D[MOST];
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		Q off = q_sub(half(rtd(&e[i])), mean);
		if (!isinf(z) &&
		    q_cmp(q_mul(off, off), q_mul(var, q_mul(q_double(z), q_double(z)))) > 0) {
			continue;
		}
		T[kept] = q_int((usk_i128)e[i].t1 - s->origin);
		D[kept] = half(((usk_i128)e[i].t2 - e[i].t1) + ((usk_i128)e[i].t3 - e[i].t4));
		if (asker == 1) { /* the reference was asked: how far the local clock is ahead */
			D[kept] = q_sub(q_int(0), D[kept]);
		}
		st = q_add(st, T[kept]);
		sd = q_add(sd, D[kept]);
		stt = q_add(stt, q_mul(T[kept], T[kept]));
		std = q_add(std, q_mul(T[kept], D[kept]));
		kept++;
	}
	s->n = kept;
	count = q_int((usk_i128)kept);
	Q delta = q_sub(q_mul(count, stt), q_mul(st, st));
	if (!q_cmp(delta, q_int(0))) {
		return false;
	}
	s->x = q_div(q_sub(q_mul(count, std), q_mul(st, sd)), delta);
	s->d0 = q_div(q_sub(q_mul(stt, sd), q_mul(st, std)), delta);
	if (kept > 2) {
		Q rr = q_int(0);
		for (size_t i = 0; i < kept; i++) {
			Q r = q_sub(q_sub(D[i], q_mul(s->x, T[i])), s->d0);
			rr = q_add(rr, q_mul(r, r));
		}
		s->er2 = q_div(rr, q_int((usk_i128)kept - 2));
		s->sx2 = q_div(q_mul(s->er2, count), delta);
		s->sd2 = q_div(q_mul(s->er2, stt), delta);
	}
	return true;
}

static bool clement(const struct table *t, double z, struct sums *s)
{
	struct trip e[MOST];
	size_t n = trips(t, e), count[2] = { 0, 0 };
	usk_i128 took[2] = { 0, 0 };
	for (size_t i = 0; i < n; i++) {
		count[e[i].asker]++;
		took[e[i].asker] += (usk_i128)e[i].t4 - e[i].t1;
	}
	uint32_t asker = 0;
	if (count[1]) {
		asker = !count[0] || q_cmp(q_div(q_int(took[1]), q_int((usk_i128)count[1])),
					   q_div(q_int(took[0]), q_int((usk_i128)count[0]))) < 0;
	}
	return clement_of(t, asker, z, s) || clement_of(t, !asker, z, s);
}

static struct answer round_trip(const struct table *t, double z)
{
	struct sums s;
	if (!clement(t, z, &s)) {
		return (struct answer){ .any = false };
	}
	Q minus_x = q_sub(q_int(0), s.x), minus_d = q_sub(q_int(0), s.d0), at = q_int(s.origin);
	if (s.asker == 1) {
		return line(at, minus_d, minus_x);
	}
	/* B = A + D(A): at A = origin, B = origin + d0, and dB = (1 + x) dA */
	Q rate = q_add(q_int(1), s.x);
	if (q_cmp(rate, q_double(1e-12)) < 0) { /* stands still */
		return (struct answer){ .any = false };
	}
	return line(q_add(at, s.d0), minus_d, q_sub(q_div(q_int(1), rate), q_int(1)));
}

static struct answer round_trip_90(const struct table *t)
{
	return round_trip(t, 1.64);
}

static struct answer round_trip_95(const struct table *t)
{
	return round_trip(t, 1.96);
}

static struct answer round_trip_99(const struct table *t)
{
	return round_trip(t, 2.58);
}

static struct answer round_trip_100(const struct table *t)
{
	return round_trip(t, (double)INFINITY);
}

/* The polygon of feasible lines by brute force, cut at the value nearest to the equivalence's. */
static struct answer lp_rate(const struct table *t)
{
	struct trip e[MOST];
	size_t n = trips(t, e);
	const struct trip *best = NULL;
	bool quick = false;
	for (size_t i = 0; i < n; i++) {
		quick |= (usk_i128)e[i].t4 - e[i].t1 < 50000000;
	}
	for (size_t i = 0; i < n; i++) {
		if (!quick || (usk_i128)e[i].t4 - e[i].t1 < 50000000) {
			best = !best || order(&e[i], best) < 0 ? &e[i] : best;
		}
	}
	if (!best) {
		return (struct answer){ .any = false };
	}
	struct oracle *o = oracle_new(&t->c.pts, t->q_a, t->q_b, t->max_skew_e12);
	Q x = half(twice_l(best)), y = half(twice_g(best) - twice_l(best)), lo = NULL, hi = NULL;
	Q *v = calloc(o->n + 1, sizeof *v), *s = calloc(o->n + 1, sizeof *s);
	size_t count = 0; /* vertices come many times over */
	for (size_t i = 0; i < o->n; i++) {
		bool again = false;
		for (size_t j = 0; j < i && !again; j++) {
			again = mpq_equal(o->slope[i], o->slope[j]) &&
				mpq_equal(o->at_zero[i], o->at_zero[j]);
		}
		if (again) {
			continue;
		}
		s[count] = q_of(o->slope[i]);
		v[count] = q_add(q_of(o->at_zero[i]), q_mul(s[count], x));
		lo = !lo || q_cmp(v[count], lo) < 0 ? v[count] : lo;
		hi = !hi || q_cmp(v[count], hi) > 0 ? v[count] : hi;
		count++;
	}
	y = q_cmp(y, lo) < 0 ? lo : q_cmp(y, hi) > 0 ? hi : y;
	Q low = NULL, high = NULL;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			Q cut = s[i];
			if (q_cmp(v[i], y)) {
				if (q_cmp(v[i], y) > 0 || q_cmp(v[j], y) < 0) {
					continue;
				}
				Q share = q_div(q_sub(y, v[i]), q_sub(v[j], v[i]));
				cut = q_add(s[i], q_mul(share, q_sub(s[j], s[i])));
			}
			low = !low || q_cmp(cut, low) < 0 ? cut : low;
			high = !high || q_cmp(cut, high) > 0 ? cut : high;
		}
	}
	free(v);
	free(s);
	oracle_free(o);
	return line(x, y, q_div(q_add(low, high), q_int(2)));
}

static const struct row {
	const char *name;
	struct answer (*answer)(const struct table *t);
} rows[] = {
	{ "round-trip", round_trip_95 },
	{ "round-trip-90", round_trip_90 },
	{ "round-trip-99", round_trip_99 },
	{ "round-trip-100", round_trip_100 },
	{ "interval", interval },
	{ "min-window", min_window },
	{ "first-offset", first_offset },
	{ "rate-ratio", rate_ratio },
	{ "rate-last", rate_last },
	{ "rate-segments", rate_segments },
	{ "lp-rate", lp_rate },
};

/* ---- the tests --------------------------------------------------------------------- */

/* 1 ns; beyond 2^53 ns from where the line starts, as many digits as a long double has */
static bool is_near(int64_t got, Q want, Q from)
{
	Q limit = q_int(USK_TIME_MAX), low = q_int(-USK_TIME_MAX);
	want = q_cmp(want, limit) > 0 ? limit : q_cmp(want, low) < 0 ? low : want;
	long double off = fabsl(q_value(q_sub(q_int(got), want)));
	long double far = fabsl(q_value(q_sub(want, from)));
	return off <= 1 + (far > 0x1p53L ? far * 0x1p-58L : 0);
}

static void compare(const struct table *t, const struct row *row, const struct answer *a,
		    const struct usk_knot *k, size_t n)
{
	CHECK(n >= 2, t);
	for (size_t i = 1; i < n; i++) {
		CHECK(k[i].local_ns > k[i - 1].local_ns, t);
	}
	if (a->corners > 1) {
		CHECK(n == a->corners, t);
		for (size_t i = 0; i < n; i++) {
			CHECK(k[i].local_ns == a->local[i], t);
			CHECK(is_near(k[i].offset_ns, a->offset[i], a->offset[i]), t);
		}
		return;
	}
	CHECK(n == 2, t);
	for (size_t i = 0; i < 2; i++) {
		Q want = q_add(a->y, q_mul(a->slope, q_sub(q_int(k[i].local_ns), a->at)));
		if (!is_near(k[i].offset_ns, want, a->y)) {
			fail_msg("case of seed %llu, %s: %lld at %lld, not %.3Lf",
				 (unsigned long long)t->seed, row->name, (long long)k[i].offset_ns,
				 (long long)k[i].local_ns, q_value(want));
		}
	}
	usk_i128 run = (usk_i128)k[1].local_ns - k[0].local_ns;
	bool cut = k[0].offset_ns == USK_TIME_MAX || k[0].offset_ns == -USK_TIME_MAX ||
		   k[1].offset_ns == USK_TIME_MAX || k[1].offset_ns == -USK_TIME_MAX;
	if (run > 2000000000 && !cut && fabsl(q_value(a->slope)) < 0.5L) {
		long double rise = (long double)((usk_i128)k[1].offset_ns - k[0].offset_ns);
		CHECK(fabsl(rise / (long double)run - q_value(a->slope)) < 1e-9L, t);
	}
}

static bool no_long_double(void)
{
	volatile long double little = LDBL_EPSILON;
	return 1 + little == 1; /* under valgrind they are doubles */
}

static void test_formulas(void **state)
{
	(void)state;
	if (no_long_double()) {
		skip();
	}
	size_t compared[COUNT(rows)] = { 0 }, refused[COUNT(rows)] = { 0 };
	for (uint64_t seed = 1; seed <= fit_cases(6000); seed++) {
		struct table t;
		struct drawn d;
		table_make(&t, seed);
		if (!drawn_new(&d, &t)) {
			continue;
		}
		for (size_t i = 0; i < COUNT(rows); i++) {
			bool lp = rows[i].answer == lp_rate;
			if (lp && (!t.c.pts.n || usk_lines_quality(d.lines) != USK_BOUNDED)) {
				continue;
			}
			struct usk_err err = { 0 };
			struct usk_knot *k = NULL;
			size_t n = 0;
			enum usk_status status =
				usk_estimator_find(rows[i].name)->estimate(&d.fit, &k, &n, &err);
			struct answer a = rows[i].answer(&t);
			if (a.any != !status) {
				fail_msg("case of seed %llu, %s: status %d %s",
					 (unsigned long long)seed, rows[i].name, (int)status,
					 err.msg);
			}
			if (a.any) {
				compare(&t, &rows[i], &a, k, n);
				compared[i]++;
			} else {
				CHECK(status == USK_EINPUT && err.msg[0] && !k, &t);
				refused[i]++;
			}
			free(k);
		}
		drawn_free(&d);
		q_done();
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		print_message("%s: %zu compared, %zu refused\n", rows[i].name, compared[i],
			      refused[i]);
		assert_true(compared[i] > fit_cases(6000) / 20);
	}
}

/* Into the band: in order, and every message too, whatever was drawn. */
static void test_settled(void **state)
{
	(void)state;
	size_t settled = 0;
	for (uint64_t seed = 1; seed <= fit_cases(6000); seed++) {
		struct table t;
		struct drawn d;
		table_make(&t, seed);
		if (!drawn_new(&d, &t)) {
			continue;
		}
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct usk_clock clock = { .n_knots = 0 };
			struct usk_err err = { 0 };
			const struct usk_estimator *e = usk_estimator_find(rows[i].name);
			enum usk_status status = usk_fit_linear(&d.fit, e, &clock, &err);
			bool says = strstr(err.msg, "need") || strstr(err.msg, "no window") ||
				    strstr(err.msg, "backwards");
			if (status && (status != USK_EINPUT || !says)) {
				fail_msg("case of seed %llu, %s: %s", (unsigned long long)seed,
					 rows[i].name, err.msg);
			}
			if (status || clock.quality != USK_BOUNDED) {
				free(clock.knot);
				continue;
			}
			for (size_t k = 0; k < clock.n_knots; k++) {
				const struct usk_knot *at = &clock.knot[k];
				CHECK(at->lo_ns == USK_NONE || at->lo_ns <= at->offset_ns, &t);
				CHECK(at->hi_ns == USK_NONE || at->hi_ns >= at->offset_ns, &t);
			}
			struct usk_map *map = usk_map_new(&clock, t.max_skew_e12);
			for (size_t k = 0; k < t.n; k++) {
				struct usk_stamp s;
				const struct usk_msg *m = &t.msg[k];
				if (!usk_map_at(map, local_of(m), &s, NULL)) {
					usk_i128 delay = (usk_i128)s.reference_ns - reference_of(m);
					delay = m->from == 0 ? delay : -delay;
					CHECK(delay >= -(usk_i128)(m->from == 0 ? t.q_b : t.q_a),
					      &t);
				}
			}
			usk_map_free(map);
			free(clock.knot);
			settled++;
		}
		drawn_free(&d);
	}
	print_message("%zu clocks\n", settled);
	assert_true(settled > fit_cases(6000));
}

/* want^2 is known; `floor` is what rounding may leave where it is 0 */
static bool root_near(double got, Q want2, long double floor)
{
	long double want = q_value(q_sqrt(want2));
	return fabsl((long double)got - want) <= 1e-9L * want + floor;
}

static void test_standard_errors(void **state)
{
	(void)state;
	if (no_long_double()) {
		skip();
	}
	static const double zs[] = { USK_Z_90, USK_Z_95, USK_Z_99, INFINITY };
	size_t compared = 0;
	for (uint64_t seed = 1; seed <= fit_cases(3000); seed++) {
		struct table t;
		table_make(&t, seed);
		struct usk_fit fit = { .msg = t.msg, .n_msgs = t.n, .a = 0, .b = 1 };
		for (size_t i = 0; i < COUNT(zs); i++) {
			struct usk_round_trips r;
			struct sums s;
			bool any = clement(&t, zs[i], &s);
			CHECK(any == !usk_round_trips_of(&fit, zs[i], &r, NULL), &t);
			if (!any) {
				continue;
			}
			CHECK(r.by_local == (s.asker == 1) && r.exchanges == s.all &&
				      r.kept == s.n && r.origin_ns == s.origin,
			      &t);
			/* over 2^53 ns, as many digits as a long double has */
			long double run = 0, scale = 0;
			for (size_t k = 0; k < t.n; k++) {
				usk_i128 c =
					r.by_local ? local_of(&t.msg[k]) : reference_of(&t.msg[k]);
				run = fmaxl(run, fabsl((long double)(c - r.origin_ns)));
			}
			scale = run * fabsl(r.slope) + fabsl(r.intercept_ns);
			scale = scale > 0x1p53L ? scale * 0x1p-58L : 0;
			CHECK(fabsl((long double)r.slope + q_value(s.x)) <=
				      1e-9L + 1e-15L * fabsl(q_value(s.x)),
			      &t);
			Q intercept = q_sub(q_sub(q_int(0), s.d0), q_int(r.origin_offset_ns));
			CHECK(fabsl(r.intercept_ns - q_value(intercept)) <= 1e-3L + scale, &t);
			if (s.n < 3) {
				CHECK(isnan(r.residual_ns) && isnan(r.s_slope), &t);
				continue;
			}
			long double span = 0;
			for (size_t k = 0; k < t.n; k++) {
				long double o =
					(long double)((usk_i128)reference_of(&t.msg[k]) -
						      local_of(&t.msg[k]) - r.origin_offset_ns);
				span = fmaxl(span, fabsl(o));
			}
			long double er = 1e-6L + span * 0x1p-55L;
			CHECK(root_near(r.residual_ns, s.er2, er), &t);
			long double unit = q_value(
				q_sqrt(q_div(s.sx2, s.er2->_mp_num._mp_size ? s.er2 : q_int(1))));
			CHECK(root_near(r.s_slope, s.sx2, er * (unit > 0 ? unit : 1)), &t);
			CHECK(isfinite(r.s_intercept_ns), &t);
			if (s.er2->_mp_num._mp_size) {
				long double k = q_value(q_sqrt(q_div(s.sd2, s.er2)));
				CHECK(root_near(r.s_intercept_ns, s.sd2, er * k), &t);
			}
			compared++;
		}
		q_done();
	}
	print_message("%zu regressions compared\n", compared);
	assert_true(compared > fit_cases(3000) / 4);
}

/* Loeser's precision by his equations 3 and 4 and the design's three pieces, in rationals. */
static void test_precision(void **state)
{
	(void)state;
	size_t compared = 0;
	for (uint64_t seed = 1; seed <= fit_cases(6000); seed++) {
		struct table t;
		table_make(&t, seed);
		struct usk_fit fit = { .msg = t.msg, .n_msgs = t.n, .a = 0, .b = 1 };
		struct usk_interval got;
		struct trip x, y;
		bool any =
			ends(&t, &x, &y) && twice_l(&x) != twice_l(&y) && twice_g(&x) < twice_g(&y);
		CHECK(any == !usk_interval_of(&fit, &got, NULL), &t);
		struct usk_rng r;
		usk_rng_seed(&r, seed + 1);
		for (int i = 0; i < 6 && any; i++) {
			int64_t at = (int64_t)(i & 1 ? twice_g(&x) / 2 : twice_g(&y) / 2);
			int64_t span = (int64_t)((twice_g(&y) - twice_g(&x)) / 2);
			span = span < 1 ? 1 : span > INT64_C(1) << 60 ? INT64_C(1) << 60 : span;
			at += within(&r, -span, span);
			Q jx = half(rtd(&x) > 0 ? rtd(&x) : 0),
			  jy = half(rtd(&y) > 0 ? rtd(&y) : 0);
			Q gx = half(twice_g(&x)), gy = half(twice_g(&y)), q = q_int(at), want;
			Q wild = q_div(q_int(1), q_int(1000000));
			Q drift = q_add(q_div(q_add(jx, jy), q_sub(gy, gx)), wild);
			if (q_cmp(q, gy) >= 0) {
				want = q_add(jy, q_mul(q_sub(q, gy), drift));
			} else if (q_cmp(q, gx) <= 0) {
				want = q_add(jx, q_mul(q_sub(gx, q), drift));
			} else {
				Q a = q_sub(q, gx), b = q_sub(gy, q);
				want = q_div(q_add(q_mul(jx, b), q_mul(jy, a)), q_sub(gy, gx));
				want = q_add(want, q_mul(wild, q_cmp(a, b) < 0 ? a : b));
			}
			long double p = (long double)usk_interval_precision(&got, at);
			long double tiny = 1e-6L + 1e-15L * q_value(q_mul(q_sub(gy, gx), drift));
			CHECK(fabsl(p - q_value(want)) <= tiny + 1e-12L * q_value(want), &t);
			compared++;
		}
		q_done();
	}
	print_message("%zu values compared\n", compared);
	assert_true(compared > fit_cases(6000) / 2);
}

static void test_windows(void **state)
{
	(void)state;
	/* floor 90 and ceiling 130 in the first window; the second has one direction only */
	struct usk_msg msg[] = {
		{ 1100, 1010, 0, 1, 0 }, { 1020, 1151, 1, 0, 0 }, { 1050, 1180, 1, 0, 0 },
		{ 1170, 1090, 0, 1, 0 }, { 1250, 1150, 0, 1, 0 }, { 1400, 1300, 0, 1, 0 },
		{ 1305, 1408, 1, 0, 0 },
	};
	struct usk_fit fit = { .msg = msg, .n_msgs = COUNT(msg), .b = 1, .window_ns = 100 };
	struct usk_window_offset *w;
	assert_int_equal(usk_window_offsets(&fit, &w), 2);
	assert_int_equal(w[0].local_ns, 1060);
	assert_int_equal(w[0].offset_ns, 110);
	assert_int_equal(w[0].error_ns, 20);
	assert_int_equal(w[1].local_ns, 1257); /* 1210 to 1305, where the table ends */
	free(w);
}

/* Values of the windows between the corridor's vertices are knots of the answer. */
static void test_bends_stay(void **state)
{
	(void)state;
	enum { WINDOWS = 8 };
	static const int64_t bend[WINDOWS] = { 0, 300, -200, 100, -300, 250, -50, 0 };
	struct table t = { .max_skew_e12 = 500000000, .window_ns = 1000000000, .n = 0 };
	for (int i = 0; i < WINDOWS; i++) {
		/* local = reference - 5000; delays of 1000 +- bend, 2000 in all */
		int64_t at = i * t.window_ns + 400000000, there = 1000 + bend[i];
		t.msg[t.n++] = (struct usk_msg){ at, at + there - 5000, 0, 1, 0 };
		t.msg[t.n++] = (struct usk_msg){ at + there - 5000, at + 2000, 1, 0, 0 };
	}
	usk_msg_sort(t.msg, t.n, 1);
	struct drawn d;
	assert_true(drawn_new(&d, &t));
	struct usk_clock clock;
	assert_int_equal(usk_fit_linear(&d.fit, usk_estimator_find("rate-segments"), &clock, NULL),
			 USK_OK);
	struct answer a = rate_segments(&t);
	size_t found = 0, want = 0;
	for (size_t i = 0; i < a.corners; i++) {
		/* the outermost segments are 1 s long at least */
		if (a.local[i] < d.fit.first_local_ns + 1000000000 ||
		    a.local[i] > d.fit.last_local_ns - 1000000000) {
			continue;
		}
		want++;
		for (size_t k = 0; k < clock.n_knots; k++) {
			found += clock.knot[k].local_ns == a.local[i] &&
				 is_near(clock.knot[k].offset_ns, a.offset[i], a.offset[i]);
		}
	}
	assert_true(want >= WINDOWS - 3);
	assert_int_equal(found, want);
	q_done();
	free(clock.knot);
	drawn_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formulas),  cmocka_unit_test(test_settled),
		cmocka_unit_test(test_precision), cmocka_unit_test(test_standard_errors),
		cmocka_unit_test(test_windows),	  cmocka_unit_test(test_bends_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
