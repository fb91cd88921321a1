/* SPDX-License-Identifier: MIT */
/*
 * part.c - what a corridor remembers, as one sorted list a side
 *
 * In    a corridor, the resolutions of its clocks
 * Out   its hull vertices and undominated points, weakened; any stretch of them
 * Why   what a model needs beyond straight lines are points in the order of time
 */
#include "fit/model.h"

#include <stdlib.h>

static size_t unite(struct usk_corridor *c, bool ceiling, int64_t q, struct usk_xy **out)
{
	size_t n[2], k = 0;
	const struct usk_xy *from[2];
	from[0] = usk_corridor_half(c, ceiling, &n[0]);
	from[1] = usk_corridor_undominated(c, ceiling, &n[1]);
	struct usk_xy *p = *out = usk_alloc(n[0] + n[1] + 1, sizeof *p);
	for (size_t i = 0, j = 0; i < n[0] || j < n[1];) {
		bool first = j == n[1] || (i < n[0] && from[0][i].x <= from[1][j].x);
		struct usk_xy next = first ? from[0][i++] : from[1][j++];
		next.y -= q;
		/* At one moment the higher one says all. */
		if (k && p[k - 1].x == next.x) {
			p[k - 1].y = next.y > p[k - 1].y ? next.y : p[k - 1].y;
		} else {
			p[k++] = next;
		}
	}
	return k;
}

void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out)
{
	out->frame = *usk_corridor_frame(c);
	for (int side = 0; side < 2; side++) {
		out->q_ns[side] = q_ns[side];
		out->n[side] = unite(c, side, q_ns[side], &out->point[side]);
	}
}

void usk_part_free(struct usk_part *p)
{
	free(p->point[0]);
	free(p->point[1]);
	*p = (struct usk_part){ .n = { 0 } };
}

struct usk_part usk_part_between(const struct usk_part *p, int64_t x0, int64_t x1)
{
	struct usk_part part = *p;
	for (int side = 0; side < 2; side++) {
		size_t from = usk_xy_find(p->point[side], p->n[side], x0);
		size_t to = usk_xy_find(p->point[side], p->n[side], x1 + 1);
		part.point[side] = p->point[side] + from;
		part.n[side] = to > from ? to - from : 0;
	}
	return part;
}

bool usk_part_next(const struct usk_part *p, int64_t *x)
{
	bool any = false;
	int64_t best = 0;
	for (int side = 0; side < 2; side++) {
		size_t i = usk_xy_find(p->point[side], p->n[side], *x + 1);
		if (i < p->n[side] && (!any || p->point[side][i].x < best)) {
			best = p->point[side][i].x;
			any = true;
		}
	}
	*x = any ? best : *x;
	return any;
}

struct usk_corridor *usk_part_corridor(const struct usk_part *p)
{
	enum { SOME = 256 };
	struct usk_corridor *c = usk_corridor_new(&p->frame);
	struct usk_msg m[SOME];
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0, n = 0; i < p->n[side]; i++) {
			struct usk_xy q = p->point[side][i];
			int64_t y = q.y + p->q_ns[side], local = p->frame.local_ns + q.x;
			int64_t on_a = local + p->frame.offset_ns + (side ? -y : y);
			m[n++] = side ? (struct usk_msg){ local, on_a, 1, 0, 0 }
				      : (struct usk_msg){ on_a, local, 0, 1, 0 };
			if (n == SOME || i + 1 == p->n[side]) {
				/* They were in a corridor of this frame before. */
				usk_corridor_add(c, 0, 1, m, n, NULL);
				n = 0;
			}
		}
	}
	return c;
}
