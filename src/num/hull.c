/* SPDX-License-Identifier: MIT */
/*
 * hull.c - upper convex hulls of integer points
 *
 * In    points sorted by x
 * Out   the strictly convex upper hull, its value at x, its touching point for a slope
 * Why   a band is two hulls and two slopes (fit/lines.c)
 * Not   what the points mean, unsorted streams (fit/corridor.c)
 */
#include "num/hull.h"

#include <stdlib.h>
#include <string.h>

/* Without branches: which of two points comes first nobody could foresee. */
static inline bool before(struct usk_xy a, struct usk_xy b)
{
	return (a.x < b.x) | ((a.x == b.x) & (a.y > b.y));
}

/* By insertion, as long as points move a few places; false: they do not. */
static bool insert(struct usk_xy *p, size_t n)
{
	size_t budget = 8 * n;
	for (size_t i = 1; i < n; i++) {
		struct usk_xy v = p[i];
		size_t j = i;
		while (j && before(v, p[j - 1])) {
			p[j] = p[j - 1];
			j--;
		}
		p[j] = v;
		if (i - j > budget) {
			return false;
		}
		budget -= i - j;
	}
	return true;
}

/* room: for half of them. */
static void merge_halves(struct usk_xy *p, size_t n, struct usk_xy *room)
{
	enum { SHORT = 16 }; /* within the budget in any order */
	if (n <= SHORT) {
		insert(p, n);
		return;
	}
	size_t half = n / 2, j = half;
	merge_halves(p, half, room);
	merge_halves(p + half, n - half, room);
	memcpy(room, p, half * sizeof *p);
	for (size_t i = 0; i < half;) {
		bool second = j < n && before(p[j], room[i]);
		p[i + j - half] = second ? p[j] : room[i];
		i += !second;
		j += second;
	}
}

void usk_xy_sort(struct usk_xy *p, size_t n)
{
	if (!insert(p, n)) {
		struct usk_xy *room = usk_grow(NULL, n / 2, sizeof *room);
		merge_halves(p, n, room);
		free(room);
	}
}

size_t usk_hull_of_sorted(const struct usk_xy *p, size_t n, struct usk_xy *h)
{
	/* Most of many points are no higher than the highest of their stretch and its neighbour, and between these. */
	enum { STRETCH = 64 };
	int64_t last_top = INT64_MIN; /* that of the last stretch */
	size_t k = 0, from = 0;
	for (size_t i = 0; i < n; i += STRETCH) {
		size_t end = n - i < STRETCH ? n : i + STRETCH, top = i;
		for (size_t j = i + 1; j < end; j++) {
			top = p[j].y > p[top].y ? j : top;
		}
		const int64_t low = last_top < p[top].y ? last_top : p[top].y;
		for (; from < top; from++) {
			k = p[from].y > low ? usk_hull_push(h, k, p[from]) : k;
		}
		k = usk_hull_push(h, k, p[top]);
		from = top + 1;
		last_top = p[top].y;
	}
	for (; from < n; from++) {
		k = usk_hull_push(h, k, p[from]);
	}
	return k;
}

size_t usk_xy_find(const struct usk_xy *p, size_t n, int64_t x)
{
	size_t i;
	USK_FIRST(i, 0, n, p[i].x >= x);
	return i;
}

/* (y - a.y)(b.x - a.x) of the hull's edge a-b at x, and b.x - a.x. */
static struct usk_slope rise_at(const struct usk_xy *h, size_t n, int64_t x, int64_t *from)
{
	size_t i = usk_xy_find(h, n, x);
	if (h[i].x == x) {
		*from = h[i].y;
		return (struct usk_slope){ 0, 1 };
	}
	struct usk_xy a = h[i - 1], b = h[i];
	*from = a.y;
	return (struct usk_slope){ (usk_i128)(b.y - a.y) * (x - a.x), b.x - a.x };
}

int64_t usk_hull_floor(const struct usk_xy *h, size_t n, int64_t x)
{
	int64_t from;
	struct usk_slope rise = rise_at(h, n, x, &from);
	return (int64_t)(from + usk_floor_div(rise.num, rise.den));
}

int64_t usk_hull_ceil(const struct usk_xy *h, size_t n, int64_t x)
{
	int64_t from;
	struct usk_slope rise = rise_at(h, n, x, &from);
	return (int64_t)(from + usk_ceil_div(rise.num, rise.den));
}

static struct usk_slope edge_of(const struct usk_xy *h)
{
	return (struct usk_slope){ h[1].y - h[0].y, h[1].x - h[0].x };
}

size_t usk_hull_touch(const struct usk_xy *h, size_t n, struct usk_slope s)
{
	/* The edges' slopes fall, so y - s x rises while they are over s. */
	size_t i;
	USK_FIRST(i, 0, n - 1, usk_slope_cmp(edge_of(&h[i]), s) <= 0);
	return i;
}

/* rise(p, h[i]) >= rise(p, h[i + 1]), by what these differ by */
static inline bool is_top(const struct usk_xy *h, size_t i, struct usk_xy p)
{
	return (usk_i128)(h[i + 1].y - h[i].y) * (p.x - h[i].x) +
		       ((usk_i128)p.y + h[i].y) * (h[i + 1].x - h[i].x) <=
	       0;
}

struct usk_xy usk_hull_steepest(const struct usk_xy *h, size_t n, struct usk_xy p, size_t *near)
{
	size_t i = *near;
	bool again = i < n && (i + 1 == n || is_top(h, i, p)) && (!i || !is_top(h, i - 1, p));
	if (!again) {
		USK_FIRST(i, 0, n - 1, is_top(h, i, p));
	}
	*near = i;
	return h[i];
}

usk_i128 usk_line_floor(struct usk_xy p, struct usk_slope s, usk_i128 x)
{
	return p.y + usk_floor_div(s.num * (x - p.x), s.den);
}
