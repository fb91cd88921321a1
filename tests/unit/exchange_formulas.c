/* SPDX-License-Identifier: MIT */
#include "exchange_formulas.h"

#include <math.h>
#include <stdlib.h>

/* ---- exchanges, by their definition ------------------------------------------------ */

size_t trips(const struct table *t, struct trip *out)
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

/* -1, 0, 1: smaller round trip, then earlier by the reference, then by the local clock */
static int order(const struct trip *a, const struct trip *b)
{
	usk_i128 d = rtd(a) - rtd(b);
	d = d ? d : twice_g(a) - twice_g(b);
	d = d ? d : twice_l(a) - twice_l(b);
	return (d > 0) - (d < 0);
}

/* ---- what they should draw --------------------------------------------------------- */

static struct answer line(Q at, Q y, Q slope)
{
	return (struct answer){ .any = true, .at = at, .y = y, .slope = slope };
}

static struct answer line_of(const struct trip *e, Q slope)
{
	return line(half(twice_l(e)), half(twice_g(e) - twice_l(e)), slope);
}

bool exchange_ends(const struct table *t, struct trip *x, struct trip *y)
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
	return exchange_ends(t, &x, &y) ? line_of(&x, q_int(0)) : (struct answer){ .any = false };
}

static struct answer interval(const struct table *t)
{
	struct trip x, y;
	if (!exchange_ends(t, &x, &y) || twice_l(&x) == twice_l(&y)) {
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

bool clement_over(const struct trip *all, size_t found, uint32_t asker, double z, struct sums *s)
{
	struct trip e[MOST];
	size_t n = 0;
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
		s->margin = q_add(s->margin ? s->margin : q_int(0), half(rtd(&e[i])));
		s->first = !kept || e[i].t1 < s->first ? e[i].t1 : s->first;
		s->last = !kept || e[i].t1 > s->last ? e[i].t1 : s->last;
		st = q_add(st, T[kept]);
		sd = q_add(sd, D[kept]);
		stt = q_add(stt, q_mul(T[kept], T[kept]));
		std = q_add(std, q_mul(T[kept], D[kept]));
		kept++;
	}
	s->n = kept;
	count = q_int((usk_i128)kept);
	s->margin = q_div(s->margin, count);
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

uint32_t shorter_asker(const struct trip *e, size_t n)
{
	size_t count[2] = { 0, 0 };
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
	return asker;
}

bool clement(const struct table *t, double z, struct sums *s)
{
	struct trip e[MOST];
	size_t n = trips(t, e);
	uint32_t asker = shorter_asker(e, n);
	return clement_over(e, n, asker, z, s) || clement_over(e, n, !asker, z, s);
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

const struct row formulas[] = {
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
	{ NULL, NULL },
};
