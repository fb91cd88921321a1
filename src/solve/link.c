/* SPDX-License-Identifier: MIT */
/*
 * link.c - a link's three curves as maps, and their reverses
 */
#include "num/cone.h"
#include "solve/link.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

static int64_t offset(const struct usk_knot *k, enum usk_curve c)
{
	return c == USK_LOWER ? k->lo_ns : c == USK_UPPER ? k->hi_ns : k->offset_ns;
}

static usk_i128 value(const struct usk_knot *k, enum usk_curve c)
{
	return (usk_i128)k->local_ns + offset(k, c);
}

struct usk_link usk_link_of(const struct usk_knot *knot, size_t n, int64_t skew_e12)
{
	struct usk_link b = { .n = n, .has = { true, true, true }, .skew_e12 = skew_e12 };
	b.knot = usk_alloc(n, sizeof *b.knot);
	memcpy(b.knot, knot, n * sizeof *b.knot);
	for (size_t i = 0; i < n; i++) {
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
			b.has[c] = b.has[c] && offset(&knot[i], c) != USK_NONE;
		}
	}
	for (size_t i = 1; b.has[USK_UPPER] && i < n; i++) {
		usk_i128 before = value(&b.knot[i - 1], USK_UPPER);
		if (value(&b.knot[i], USK_UPPER) < before) {
			b.knot[i].hi_ns = (int64_t)(before - b.knot[i].local_ns);
		}
	}
	for (size_t i = n - 1; b.has[USK_LOWER] && i-- > 0;) {
		usk_i128 behind = value(&b.knot[i + 1], USK_LOWER);
		if (value(&b.knot[i], USK_LOWER) > behind) {
			b.knot[i].lo_ns = (int64_t)(behind - b.knot[i].local_ns);
		}
	}
	return b;
}

void usk_link_free(struct usk_link *b)
{
	free(b->knot);
	*b = (struct usk_link){ 0 };
}

/* How many knots are left of x; from the hint on. */
static size_t left_of(const struct usk_link *b, int64_t x, usk_hint *at)
{
	size_t lo = 0, hi = b->n, h = *at < b->n ? *at : b->n - 1;
	for (size_t step = 1; b->knot[h].local_ns < x; step *= 2) { /* gallop to the right */
		lo = h + 1;
		if (b->n - h <= step) {
			break;
		}
		h += step;
		hi = b->knot[h].local_ns >= x ? h : b->n;
	}
	if (lo == 0) {
		hi = h;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (b->knot[mid].local_ns < x) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	*at = lo;
	return lo;
}

int64_t usk_link_at(const struct usk_link *b, enum usk_curve c, int64_t x, usk_hint *at)
{
	size_t left = left_of(b, x, at);
	bool inside = left < b->n && (left > 0 || x == b->knot[0].local_ns);
	if (!inside && c != USK_MIDDLE) {
		const struct usk_knot *end = &b->knot[left ? b->n - 1 : 0];
		usk_i128 away = (usk_i128)x - end->local_ns;
		usk_i128 widen = usk_ceil_div((away < 0 ? -away : away) * b->skew_e12, USK_E12);
		return usk_cut(x + (usk_i128)offset(end, c) + (c == USK_UPPER ? widen : -widen));
	}
	size_t i = left == 0 ? 0 : left == b->n ? b->n - 2 : left - 1;
	const struct usk_knot *k = &b->knot[i];
	usk_i128 rise = (usk_i128)offset(&k[1], c) - offset(k, c);
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 over = rise * ((usk_i128)x - k->local_ns);
	return usk_cut(x + (usk_i128)offset(k, c) +
		       (c == USK_UPPER ? usk_ceil_div(over, run) : usk_floor_div(over, run)));
}

/* How many knots have a value under t, or (or_at) not over it. */
static size_t under(const struct usk_link *b, enum usk_curve c, int64_t t, bool or_at, usk_hint *at)
{
	size_t lo = 0, hi = b->n, h = *at < b->n ? *at : b->n - 1;
	usk_i128 limit = (usk_i128)t + or_at;
	for (size_t step = 1; value(&b->knot[h], c) < limit; step *= 2) {
		lo = h + 1;
		if (b->n - h <= step) {
			break;
		}
		h += step;
		hi = value(&b->knot[h], c) >= limit ? h : b->n;
	}
	if (lo == 0) {
		hi = h;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (value(&b->knot[mid], c) < limit) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	*at = lo;
	return lo;
}

/* Where the straight line through k[0] and k[1] reaches t. */
static usk_i128 reach(const struct usk_knot *k, enum usk_curve c, int64_t t, bool up)
{
	usk_i128 rise = value(&k[1], c) - value(k, c);
	usk_i128 run = (usk_i128)k[1].local_ns - k->local_ns;
	usk_i128 high = t - value(k, c);
	if (rise <= 0) { /* an outermost piece where time stands still: as if it ran */
		return k->local_ns + high;
	}
	return k->local_ns +
	       (up ? usk_ceil_div(high * run, rise) : usk_floor_div(high * run, rise));
}

int64_t usk_link_back(const struct usk_link *b, enum usk_curve c, int64_t t, usk_hint *at)
{
	size_t n = b->n, left = under(b, c, t, c == USK_LOWER, at);
	const struct usk_knot *first = &b->knot[0], *last = &b->knot[n - 1];
	usk_i128 s = b->skew_e12, beyond;
	if (c == USK_MIDDLE) {
		size_t i = left == 0 ? 0 : left == n ? n - 2 : left - 1;
		return left < n && value(&b->knot[left], c) == t
			       ? b->knot[left].local_ns
			       : usk_cut(reach(&b->knot[i], c, t, false));
	}
	if (left == 0) {
		beyond = (value(first, c) - t) * USK_E12;
		return usk_cut(first->local_ns - (c == USK_UPPER
							  ? usk_ceil_div(beyond, USK_E12 - s)
							  : usk_floor_div(beyond, USK_E12 + s)));
	}
	if (left == n) {
		beyond = (t - value(last, c)) * USK_E12;
		return usk_cut(last->local_ns + (c == USK_UPPER
							 ? usk_floor_div(beyond, USK_E12 + s)
							 : usk_ceil_div(beyond, USK_E12 - s)));
	}
	return usk_cut(reach(&b->knot[left - 1], c, t, c == USK_LOWER));
}

/* The link at a time, as a knot. */
static struct usk_knot knot_at(const struct usk_link *b, int64_t x)
{
	int64_t v[3] = { USK_NONE, USK_NONE, USK_NONE };
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
		usk_hint at = 0;
		if (b->has[c]) {
			v[c] = usk_cut((usk_i128)usk_link_at(b, c, x, &at) - x);
		}
	}
	if (b->has[USK_MIDDLE] && b->has[USK_LOWER] && v[USK_MIDDLE] < v[USK_LOWER]) {
		v[USK_MIDDLE] = v[USK_LOWER];
	}
	if (b->has[USK_MIDDLE] && b->has[USK_UPPER] && v[USK_MIDDLE] > v[USK_UPPER]) {
		v[USK_MIDDLE] = v[USK_UPPER];
	}
	return (struct usk_knot){ x, v[USK_MIDDLE], v[USK_LOWER], v[USK_UPPER], b->knot[0].epoch };
}

static void resize(struct usk_link *b, int64_t first_ns, int64_t last_ns, bool crop)
{
	struct usk_knot *k = usk_alloc(b->n + 2, sizeof *k);
	size_t n = 0;
	if (crop || first_ns < b->knot[0].local_ns) {
		k[n++] = knot_at(b, first_ns);
	}
	for (size_t i = 0; i < b->n; i++) {
		int64_t x = b->knot[i].local_ns;
		if (!crop || (x > first_ns && x < last_ns)) {
			k[n++] = b->knot[i];
		}
	}
	if (crop || last_ns > b->knot[b->n - 1].local_ns) {
		k[n++] = knot_at(b, last_ns);
	}
	free(b->knot);
	b->knot = k;
	b->n = n;
}

void usk_link_reach(struct usk_link *b, int64_t first_ns, int64_t last_ns)
{
	resize(b, first_ns, last_ns, false);
}

void usk_link_crop(struct usk_link *b, int64_t first_ns, int64_t last_ns)
{
	resize(b, first_ns, last_ns, true);
}
