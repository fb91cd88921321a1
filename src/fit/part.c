/* SPDX-License-Identifier: MIT */
/*
 * part.c - what a corridor remembers, as one sorted list a side
 *
 * In    a corridor, the resolutions of its clocks
 * Out   its hull vertices and undominated points, weakened
 * Why   what a model needs beyond straight lines are points in the order of time
 */
#include "fit/fit.h"

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
		/* Received by so much later: it says no more than it does there. */
		next.x += ceiling ? 0 : q;
		next.y -= q;
		/* At one moment the higher one says all. */
		if (k && p[k - 1].x == next.x) {
			p[k - 1].y = next.y > p[k - 1].y ? next.y : p[k - 1].y;
		} else {
			p[k++] = next;
		}
	}
	*out = usk_grow(p, k + 1, sizeof *p);
	return k;
}

void usk_part_of(struct usk_corridor *c, const int64_t q_ns[2], struct usk_part *out)
{
	*out = (struct usk_part){ .frame = *usk_corridor_frame(c) };
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
