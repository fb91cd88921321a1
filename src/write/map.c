/* SPDX-License-Identifier: MIT */
/*
 * map.c - a clock's knots turned into corrected stamps
 *
 * In    integer knots (local, offset, lo, hi) of one clock
 * Out   reference time and band of a stamp; bulk conversion of many
 * Why   one definition in 128-bit integers, so that everyone who applies the knots gets the same
 *       bits; the fast way must equal it for every stamp
 * Not   choosing knots (fit/, solve/), stamps of later epochs
 *
 * Between knots x0 < x <= x1:  T(x) = x + o0 + floor((o1 - o0)(x - x0) / (x1 - x0)). Beyond an
 * outermost knot its slope goes on, cut to the least and most that the clock's rate allows there,
 * through that knot: it stays between lo and hi, which part by these two.
 *
 * The fast way: with d = x1 - x0 and T1 - T0 = d + o1 - o0 = k*d + b, 0 <= b < d, the same is
 *
 *     T(x) = T0 + k*n + floor(n*b / d),   n = x - x0
 *
 * for rising and falling offsets alike (the floor passes over whole multiples of d). The quotient
 * is Loser's fixed point (2003, section 3.1): m = ceil(b * 2^64 / d), q = high half of n*m. As
 * m = b * 2^64 / d + e with 0 <= e < 1 and n < 2^64, q is the true quotient or one more, and
 * r = n*b - q*d, which lies in [-d, d) and so survives modulo 2^64 for d <= 2^63, is negative
 * exactly if it is one more. b < d keeps m below 2^64; |x| <= 2^62 keeps d <= 2^63. So it is
 * exact for every segment, and only stamps whose result would leave the range go the slow way.
 */
#include "base/base.h"
#include "num/polyline.h"
#include "write/write.h"

#include <stdlib.h>
#include <string.h>

#define E12 INT64_C(1000000000000)

/* One straight piece, prepared; unsigned numbers are modulo 2^64. */
struct segment {
	int64_t first, last; /* stamps whose result is in range; first > last: none */
	uint64_t x0, t0;     /* origin; n = x - x0 is in [0, 2^64) */
	uint64_t k, b, d, m;
};

/* T(x) = x + o0 + floor(rise * (x - x0) / run), run > 0. */
struct line {
	int64_t x0, o0;
	usk_i128 rise, run;
};

struct usk_map {
	struct usk_knot *knot; /* of one epoch */
	size_t n_knots;
	struct segment *segment; /* n_knots + 1: before the first knot, between, behind the last */
	struct usk_slopes before, after;
	struct usk_beyond *beyond; /* bounds before the first knot, behind the last */
	size_t n_beyond;
	struct line first, last; /* beyond the outermost knots */
	bool has_offset;
};

/* How many knots lie before x: the index of x's segment. */
static size_t segment_of(const struct usk_map *m, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, m->n_knots, m->knot[i].local_ns >= x);
	return i;
}

static struct line between(const struct usk_knot *k)
{
	return (struct line){ k->local_ns, k->offset_ns, (usk_i128)k[1].offset_ns - k->offset_ns,
			      (usk_i128)k[1].local_ns - k->local_ns };
}

/* Through an outermost knot, on by the slope of the line that ends there, cut to s. */
static struct line beyond(struct line l, const struct usk_knot *from, const struct usk_slopes *s)
{
	usk_i128 least = s->least_e12 * l.run, most = s->most_e12 * l.run, rise = l.rise * E12;
	if (rise < least || rise > most) {
		l.rise = rise < least ? s->least_e12 : s->most_e12;
		l.run = E12;
	}
	l.x0 = from->local_ns;
	l.o0 = from->offset_ns;
	return l;
}

static struct line line_of(const struct usk_map *m, size_t i)
{
	return i == 0 ? m->first : i == m->n_knots ? m->last : between(&m->knot[i - 1]);
}

/* The definition. |result| < 2^127. */
static usk_i128 exact(struct line l, int64_t x)
{
	usk_i128 n = (usk_i128)x - l.x0;
	return (usk_i128)x + l.o0 + usk_floor_div(l.rise * n, l.run);
}

/* The last stamp of [lo, hi] whose T, which does not fall, is not beyond the range; lo - 1 if there
 * is none. sign -1: all of it mirrored. */
static int64_t clip(struct line k, int64_t lo, int64_t hi, int sign)
{
	int64_t x = hi;
	for (lo--; lo < hi; x = hi - (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2)) {
		if (sign * exact(k, sign * x) <= USK_TIME_MAX) {
			lo = x;
		} else {
			hi = x - 1;
		}
	}
	return hi;
}

static struct segment prepare(const struct usk_map *m, size_t i)
{
	struct line l = line_of(m, i);
	struct segment s = {
		.first = i == 0 ? -USK_TIME_MAX : m->knot[i - 1].local_ns + 1,
		.last = i == m->n_knots ? USK_TIME_MAX : m->knot[i].local_ns,
	};
	usk_i128 climb = l.run + l.rise;
	if (climb < 0) { /* not a clock's map; leave it to the definition */
		s.last = s.first - 1;
		return s;
	}
	/* Before the first knot n would be negative: start whole lengths earlier. */
	usk_i128 back = i ? 0 : usk_ceil_div((usk_i128)l.x0 + USK_TIME_MAX, l.run);
	usk_i128 b = climb % l.run;
	s.d = (uint64_t)l.run;
	s.k = (uint64_t)(climb / l.run);
	s.b = (uint64_t)b;
	s.m = (uint64_t)((((usk_u128)b << 64) + (usk_u128)(l.run - 1)) / (usk_u128)l.run);
	s.x0 = (uint64_t)l.x0 - (uint64_t)back * s.d;
	s.t0 = (uint64_t)l.x0 + (uint64_t)l.o0 - (uint64_t)back * (uint64_t)climb;
	s.first = -clip(l, -s.last, -s.first, -1);
	s.last = clip(l, s.first, s.last, 1);
	return s;
}

/* knot[n >= 2] is copied. */
static struct usk_map *prepare_all(const struct usk_knot *knot, size_t n, struct usk_slopes before,
				   struct usk_slopes after)
{
	struct usk_map *m = usk_alloc(1, sizeof *m);
	m->knot = usk_alloc(n, sizeof *m->knot);
	memcpy(m->knot, knot, n * sizeof *m->knot);
	m->n_knots = n;
	m->before = before;
	m->after = after;
	m->has_offset = true;
	for (size_t i = 0; i < n; i++) {
		m->has_offset = m->has_offset && m->knot[i].offset_ns != USK_NONE;
	}
	if (m->has_offset) {
		m->first = beyond(between(knot), knot, &before);
		m->last = beyond(between(knot + n - 2), knot + n - 1, &after);
		m->segment = usk_alloc(n + 1, sizeof *m->segment);
		for (size_t i = 0; i <= n; i++) {
			m->segment[i] = prepare(m, i);
		}
	}
	return m;
}

struct usk_map *usk_map_of_epoch(const struct usk_clock *clock, uint32_t epoch,
				 int64_t max_skew_e12)
{
	const struct usk_slopes limit = { -max_skew_e12, max_skew_e12 };
	size_t from = 0, to;
	while (from < clock->n_knots && clock->knot[from].epoch < epoch) {
		from++;
	}
	for (to = from; to < clock->n_knots && clock->knot[to].epoch == epoch;) {
		to++;
	}
	if (to - from < 2) {
		return NULL;
	}
	struct usk_map *m = prepare_all(clock->knot + from, to - from, from ? limit : clock->before,
					to < clock->n_knots ? limit : clock->after);
	if (clock->n_beyond) {
		m->n_beyond = clock->n_beyond;
		m->beyond = usk_alloc(m->n_beyond, sizeof *m->beyond);
		memcpy(m->beyond, clock->beyond, m->n_beyond * sizeof *m->beyond);
	}
	return m;
}

struct usk_map *usk_map_new(const struct usk_clock *clock, int64_t max_skew_e12)
{
	return usk_map_of_epoch(clock, 0, max_skew_e12);
}

struct usk_map *usk_map_of_line(const struct usk_knot *line, size_t n)
{
	const struct usk_slopes any = { INT64_MIN, INT64_MAX };
	struct usk_knot *knot = usk_alloc(n, sizeof *knot);
	for (size_t i = 0; i < n; i++) {
		knot[i] = (struct usk_knot){ line[i].local_ns, line[i].offset_ns, USK_NONE,
					     USK_NONE, 0 };
	}
	struct usk_map *m = n < 2 ? NULL : prepare_all(knot, n, any, any);
	free(knot);
	return m;
}

struct usk_map *usk_map_of(const struct usk_clocks *c, uint32_t clock, uint32_t epoch)
{
	return clock < c->n_clocks ? usk_map_of_epoch(&c->clock[clock], epoch, c->max_skew_e12)
				   : NULL;
}

void usk_map_free(struct usk_map *m)
{
	if (m) {
		USK_FREE(m->knot, m->segment, m->beyond, m);
	}
}

static enum usk_status out_of_range(struct usk_err *err, uint64_t at, int64_t x)
{
	return usk_fail(
		err, USK_ERANGE, at,
		"stamp %lld ns: it or its corrected time is further than 146 years from 1970",
		(long long)x);
}

/* sign times the bound beyond an outermost knot, rounded up. */
static usk_i128 bound_beyond(const struct usk_map *m, struct usk_xy in, int64_t x, int sign)
{
	bool left = x < in.x;
	const struct usk_slopes *s = left ? &m->before : &m->after;
	int64_t slope = (sign > 0) == left ? s->least_e12 : s->most_e12;
	for (size_t i = 0; i < m->n_beyond; i++) {
		const struct usk_beyond *b = &m->beyond[left ? m->n_beyond - 1 - i : i];
		struct usk_xy out = { b->local_ns, sign > 0 ? b->hi_ns : b->lo_ns };
		if (left != (out.x < in.x)) {
			continue;
		}
		if (left ? out.x <= x : out.x >= x) {
			return sign * (left ? usk_chord(out, in, x, sign > 0)
					    : usk_chord(in, out, x, sign > 0));
		}
		in = out;
	}
	return sign * (usk_i128)in.y + usk_ceil_div(sign * ((usk_i128)x - in.x) * slope, E12);
}

/* hi (sign 1) or lo (sign -1) at x as an absolute time; false if nothing bounds it there. */
static bool bound_at(const struct usk_map *m, size_t i, int64_t x, int sign, usk_i128 *out)
{
	/* Both are the ceiling of sign * bound, so rounding outward is written once. */
	const struct usk_knot *k = m->knot;
	bool outside = i == m->n_knots || (i == 0 && x < k[0].local_ns);
	size_t right = i == m->n_knots ? i - 1 : i;
	int64_t v1 = sign > 0 ? k[right].hi_ns : k[right].lo_ns;
	usk_i128 bound;
	if (outside) {
		if ((i ? &m->after : &m->before)->most_e12 >= E12) {
			return false;
		}
		bound = bound_beyond(m, (struct usk_xy){ k[right].local_ns, v1 }, x, sign);
	} else if (x == k[right].local_ns) {
		bound = sign * (usk_i128)v1;
	} else {
		int64_t v0 = sign > 0 ? k[i - 1].hi_ns : k[i - 1].lo_ns;
		if (v0 == USK_NONE) {
			return false;
		}
		bound = sign * usk_chord((struct usk_xy){ k[i - 1].local_ns, v0 },
					 (struct usk_xy){ k[i].local_ns, v1 }, x, sign > 0);
	}
	*out = x + sign * bound;
	return v1 != USK_NONE;
}

enum usk_status usk_map_at(const struct usk_map *m, int64_t local_ns, struct usk_stamp *out,
			   struct usk_err *err)
{
	if (!usk_is_time(local_ns)) {
		return out_of_range(err, 0, local_ns);
	}
	size_t i = segment_of(m, local_ns);
	usk_i128 value = 0, lo, hi;
	out->reference_ns = out->lo_ns = out->hi_ns = USK_NONE;
	if (m->has_offset) {
		value = exact(line_of(m, i), local_ns);
		out->reference_ns = (int64_t)value;
	}
	bool has_lo = bound_at(m, i, local_ns, -1, &lo);
	bool has_hi = bound_at(m, i, local_ns, 1, &hi);
	if (!usk_is_time(value) || (has_lo && !usk_is_time(lo)) || (has_hi && !usk_is_time(hi))) {
		return out_of_range(err, 0, local_ns);
	}
	out->lo_ns = has_lo ? (int64_t)lo : USK_NONE;
	out->hi_ns = has_hi ? (int64_t)hi : USK_NONE;
	return USK_OK;
}

/* Converts the stamps up to the first outside the segment; returns how many. */
static size_t run(const struct segment *s, const int64_t *x, size_t n, int64_t *out)
{
	const uint64_t first = (uint64_t)s->first, span = (uint64_t)s->last - first;
	const uint64_t x0 = s->x0, t0 = s->t0, k = s->k, b = s->b, d = s->d, m = s->m;
	size_t i = 0;
	if (s->first > s->last) {
		return 0;
	}
	for (; i < n && (uint64_t)x[i] - first <= span; i++) {
		uint64_t from = (uint64_t)x[i] - x0;
		uint64_t q = (uint64_t)((usk_u128)from * m >> 64);
		uint64_t r = from * b - q * d;
		out[i] = (int64_t)(t0 + from * k + q - (r >> 63));
	}
	return i;
}

enum usk_status usk_map_many(const struct usk_map *m, const int64_t *local_ns, size_t n,
			     int64_t *out, struct usk_err *err)
{
	if (!m->has_offset) {
		return usk_fail(err, USK_EINPUT, 0,
				"the clock is bounded on one side only, so it has no offset");
	}
	size_t at = 0;
	for (size_t i = 0; i < n;) {
		i += run(&m->segment[at], local_ns + i, n - i, out + i);
		if (i == n) {
			break;
		}
		int64_t x = local_ns[i];
		bool next = at < m->n_knots && x > m->knot[at].local_ns &&
			    (at + 1 == m->n_knots || x <= m->knot[at + 1].local_ns);
		at = next ? at + 1 : segment_of(m, x);
		const struct segment *s = &m->segment[at];
		if (s->first <= s->last && x >= s->first && x <= s->last) {
			continue;
		}
		usk_i128 t = exact(line_of(m, at), x);
		if (!usk_is_time(x) || !usk_is_time(t)) {
			return out_of_range(err, i, x);
		}
		out[i++] = (int64_t)t;
	}
	return USK_OK;
}

enum usk_status usk_map_bands(const struct usk_map *m, const int64_t *local_ns, size_t n,
			      int64_t *lo_ns, int64_t *hi_ns, struct usk_err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct usk_stamp at;
		enum usk_status status = usk_map_at(m, local_ns[i], &at, err);
		if (status) {
			if (err) {
				err->at = i;
			}
			return status;
		}
		lo_ns[i] = at.lo_ns;
		hi_ns[i] = at.hi_ns;
	}
	return USK_OK;
}
