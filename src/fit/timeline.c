/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - corrected time held back or lifted to a level, and checked against every point
 *
 * In    knots, the points that they have to be in order with
 * Out   the same knots, changed where they are beyond a level
 * Why   where two pieces of a clock meet, the estimate of one may have to wait for the other's
 * Not   which level (join.c)
 *
 * Where T meets the level a knot is put in, and the line that is left of the segment is rounded
 * anew: by less than 1 ns. Points that are nearer than 2 ns get a knot of their own, so that the
 * rounding turns none of them round.
 */
#include "fit/timeline.h"

#include <stdlib.h>
#include <string.h>

void usk_timeline_add(struct usk_timeline *l, const struct usk_knot *k, size_t n)
{
	if (l->n + n > l->cap) {
		l->cap = (l->n + n) * 2;
		l->knot = usk_grow(l->knot, l->cap, sizeof *l->knot);
	}
	memcpy(l->knot + l->n, k, n * sizeof *k);
	l->n += n;
}

/* A value on the chord from a to b, rounded down or up. */
static int64_t chord(int64_t ya, int64_t yb, const struct usk_knot *a, const struct usk_knot *b,
		     int64_t x, bool up)
{
	usk_i128 rise = ((usk_i128)yb - ya) * ((usk_i128)x - a->local_ns);
	usk_i128 run = (usk_i128)b->local_ns - a->local_ns;
	return (int64_t)(ya + (up ? usk_ceil_div(rise, run) : usk_floor_div(rise, run)));
}

/* The line and its band between two knots. */
static struct usk_knot between(const struct usk_knot *a, const struct usk_knot *b, int64_t x)
{
	struct usk_knot k = { .local_ns = x, .lo_ns = USK_NONE, .hi_ns = USK_NONE };
	k.offset_ns = chord(a->offset_ns, b->offset_ns, a, b, x, false);
	if (a->lo_ns != USK_NONE && b->lo_ns != USK_NONE) {
		k.lo_ns = chord(a->lo_ns, b->lo_ns, a, b, x, false);
	}
	if (a->hi_ns != USK_NONE && b->hi_ns != USK_NONE) {
		k.hi_ns = chord(a->hi_ns, b->hi_ns, a, b, x, true);
	}
	return k;
}

/* The last knot that is not right of x, but for the last of all. */
static size_t segment(const struct usk_timeline *l, int64_t x)
{
	size_t lo = 0, hi = l->n - 1;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (l->knot[mid].local_ns <= x) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	return lo;
}

usk_i128 usk_timeline_at(const struct usk_timeline *l, int64_t x)
{
	const struct usk_knot *k = &l->knot[segment(l, x)];
	if (k->local_ns == x) {
		return usk_knot_time(k);
	}
	if (k[1].local_ns == x) {
		return usk_knot_time(&k[1]);
	}
	struct usk_knot at = between(&k[0], &k[1], x);
	return usk_knot_time(&at);
}

static int by_time(const void *pa, const void *pb)
{
	const struct usk_knot *a = pa, *b = pb;
	return (a->local_ns > b->local_ns) - (a->local_ns < b->local_ns);
}

/* The points strictly between two stamps whose wall is less than 2 ns off the line from a to b. */
static size_t near(const struct usk_part *p, const struct usk_knot *a, const struct usk_knot *b,
		   int64_t from, int64_t to, struct usk_knot **out)
{
	struct usk_knot *k = NULL;
	size_t n = 0, cap = 0;
	int64_t origin = p->frame.local_ns;
	for (int side = 0; side < 2; side++) {
		size_t i = usk_xy_find(p->point[side], p->n[side],
				       usk_cut((usk_i128)from + 1 - origin));
		for (; i < p->n[side] && origin + p->point[side][i].x < to; i++) {
			struct usk_knot at = between(a, b, origin + p->point[side][i].x);
			usk_i128 y = (usk_i128)at.offset_ns - p->frame.offset_ns;
			if ((side == USK_FLOOR ? y : -y) < (usk_i128)p->point[side][i].y + 2) {
				k = usk_room(k, n, &cap, sizeof *k);
				k[n++] = at;
			}
		}
	}
	if (n) {
		qsort(k, n, sizeof *k, by_time);
	}
	*out = k;
	return n;
}

/* Put knots behind the first i, those whose stamp is there already left out. */
static void insert(struct usk_timeline *l, size_t i, const struct usk_knot *k, size_t n)
{
	size_t behind = l->n - i, at = i;
	struct usk_knot *rest = usk_alloc(behind + 1, sizeof *rest);
	memcpy(rest, l->knot + i, behind * sizeof *rest);
	l->n = i;
	for (size_t j = 0; j < n; j++) {
		if ((!at || k[j].local_ns > l->knot[l->n - 1].local_ns) &&
		    (!behind || k[j].local_ns < rest[0].local_ns)) {
			usk_timeline_add(l, &k[j], 1);
			at++;
		}
	}
	usk_timeline_add(l, rest, behind);
	free(rest);
}

static void set_time(struct usk_knot *k, usk_i128 t)
{
	k->offset_ns = usk_cut(t - k->local_ns);
}

/* The last stamp between two knots where T is not over (before: under) the level. */
static int64_t meets(const struct usk_knot *a, const struct usk_knot *b, usk_i128 level, bool under)
{
	int64_t lo = a->local_ns, hi = b->local_ns;
	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;
		struct usk_knot k = between(a, b, mid);
		usk_i128 t = usk_knot_time(&k);
		if (under ? t < level : t <= level) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	return lo;
}

void usk_timeline_lower(struct usk_timeline *l, usk_i128 level)
{
	size_t k = l->n;
	while (k && usk_knot_time(&l->knot[k - 1]) > level) {
		k--;
	}
	if (k == l->n) {
		return;
	}
	struct usk_knot a = { 0 }, b = l->knot[k];
	if (k) {
		a = l->knot[k - 1];
	}
	for (size_t i = k; i < l->n; i++) {
		set_time(&l->knot[i], level);
	}
	if (k) {
		int64_t x = meets(&a, &b, level, false);
		struct usk_knot *more, pair[2];
		size_t n = near(l->part, &a, &b, a.local_ns, x, &more);
		pair[0] = between(&a, &b, x);
		pair[1] = between(&a, &b, x + 1);
		set_time(&pair[1], level);
		insert(l, k, pair, 2);
		insert(l, k, more, n);
		free(more);
	}
}

void usk_timeline_lift(struct usk_timeline *l, size_t from, usk_i128 level)
{
	size_t k = from;
	while (k < l->n && usk_knot_time(&l->knot[k]) < level) {
		k++;
	}
	if (k == from) {
		return;
	}
	struct usk_knot a = l->knot[k - 1];
	for (size_t i = from; i < k; i++) {
		set_time(&l->knot[i], level);
	}
	if (k < l->n) {
		struct usk_knot b = l->knot[k], *more, pair[2];
		int64_t x = meets(&a, &b, level, true);
		size_t n = near(l->part, &a, &b, x + 1, b.local_ns, &more);
		pair[0] = between(&a, &b, x);
		set_time(&pair[0], level);
		pair[1] = between(&a, &b, x + 1);
		insert(l, k, more, n);
		insert(l, k, pair, 2);
		free(more);
	}
}

static usk_i128 bound(const struct usk_knot *k, bool upper)
{
	return (usk_i128)k->local_ns + (upper ? k->hi_ns : k->lo_ns);
}

/* A knot on the line from knot i to the next, where a bound of T reaches the level. */
static void divide(struct usk_timeline *l, size_t i, bool upper, usk_i128 level)
{
	struct usk_knot a = l->knot[i], b = l->knot[i + 1];
	int64_t lo = a.local_ns, hi = b.local_ns;
	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;
		struct usk_knot k = between(&a, &b, mid);
		if (bound(&k, upper) <= level) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	/* On the safe side of the level: before a lower bound gets there, after an upper one. */
	int64_t x = upper ? hi : lo;
	if (x > a.local_ns && x < b.local_ns) {
		struct usk_knot at = between(&a, &b, x), *more;
		size_t n = near(l->part, &a, &b, a.local_ns, b.local_ns, &more);
		insert(l, i + 1, more, n);
		size_t k = i + 1;
		while (l->knot[k].local_ns < x) {
			k++;
		}
		insert(l, k, &at, 1);
		free(more);
	}
}

void usk_timeline_mark_lower(struct usk_timeline *l, usk_i128 level)
{
	size_t k = l->n;
	while (k && bound(&l->knot[k - 1], false) > level) {
		k--;
	}
	if (k && k < l->n) {
		divide(l, k - 1, false, level);
	}
}

void usk_timeline_mark_upper(struct usk_timeline *l, size_t from, usk_i128 level)
{
	size_t k = from;
	while (k < l->n && bound(&l->knot[k], true) < level) {
		k++;
	}
	if (k > from && k < l->n) {
		divide(l, k - 1, true, level);
	}
}

bool usk_timeline_check(const struct usk_timeline *l, const int64_t *run, size_t n_runs,
			int64_t *at)
{
	const struct usk_knot *k = l->knot;
	for (size_t i = 0, r = 0; i < l->n; i++) {
		bool begins = r < n_runs && run[r] == k[i].local_ns;
		r += begins;
		*at = k[i].local_ns;
		if ((k[i].lo_ns != USK_NONE && k[i].lo_ns > k[i].offset_ns) ||
		    (k[i].hi_ns != USK_NONE && k[i].hi_ns < k[i].offset_ns) ||
		    (i && k[i].local_ns <= k[i - 1].local_ns) ||
		    (i && !begins && usk_knot_time(&k[i]) < usk_knot_time(&k[i - 1]))) {
			return false;
		}
	}
	const struct usk_part *p = l->part;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < p->n[side]; i++) {
			*at = p->frame.local_ns + p->point[side][i].x;
			if (*at < k[0].local_ns || *at > k[l->n - 1].local_ns) {
				return false;
			}
			usk_i128 y = usk_timeline_at(l, *at) - *at - p->frame.offset_ns;
			if ((side == USK_FLOOR ? y : -y) < p->point[side][i].y) {
				return false;
			}
		}
	}
	return true;
}
