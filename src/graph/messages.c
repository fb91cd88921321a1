/* SPDX-License-Identifier: MIT */
/*
 * messages.c - sources of constraints: none is received before it is sent
 *
 * In    what corridors remember of each pair; messages that this does not stand for
 * Out   T of the sender at the send stamp <= T of the receiver at the receive stamp
 *
 * A stamp is rounded down to its clock's resolution q, or to 1 ns: the sender's rounding only
 * weakens, the receiver may have been up to q later. Minimum delays are in the points already.
 */
#include "graph/work.h"

#include <stdlib.h>

static int64_t later(const struct usk_work *w, uint32_t clock, int64_t ns)
{
	int64_t q = w->c->clock[clock].resolution_ns;
	return usk_saturate((usk_i128)ns + (q > 1 ? q : 0));
}

static int by_time(const void *pa, const void *pb)
{
	const struct usk_suspect *a = pa, *b = pb;
	if (a->ceiling != b->ceiling) {
		return a->ceiling - b->ceiling;
	}
	if (a->point.local_ns != b->point.local_ns) {
		return a->point.local_ns < b->point.local_ns ? -1 : 1;
	}
	return (a->point.offset_ns > b->point.offset_ns) -
	       (a->point.offset_ns < b->point.offset_ns);
}

void usk_source_messages(const struct usk_work *w, struct usk_constraints *out)
{
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		const struct usk_calm *calm = &w->calm[i];
		if (!w->tied[i]) {
			continue;
		}
		if (calm->n_outliers) {
			qsort(calm->outlier, calm->n_outliers, sizeof *calm->outlier, by_time);
		}
		for (int side = 0; side < 2; side++) {
			const struct usk_xy *point = p->part->point[side];
			size_t n = p->part->n[side];
			struct usk_xy *hull = NULL;
			if (w->hulls && !calm->n_outliers) {
				hull = usk_grow(NULL, n + 1, sizeof *hull);
				n = usk_hull_of_sorted(point, n, hull);
				point = hull;
			}
			for (size_t k = 0; k < n; k++) {
				struct usk_suspect s = { usk_part_recorded(p->part, point[k], side),
							 side, 0 };
				int64_t b = s.point.local_ns;
				int64_t a = usk_saturate((usk_i128)b + s.point.offset_ns);
				if (calm->n_outliers && bsearch(&s, calm->outlier, calm->n_outliers,
								sizeof s, by_time)) {
					continue;
				}
				if (!side) {
					usk_constraint_add(out, p->a, a, p->b, later(w, p->b, b),
							   (uint32_t)i);
				} else {
					usk_constraint_add(out, p->b, b, p->a, later(w, p->a, a),
							   (uint32_t)i);
				}
			}
			free(hull);
		}
	}
}

void usk_source_more(const struct usk_work *w, struct usk_constraints *out)
{
	bool *mine = usk_alloc(w->c->n_clocks, sizeof *mine);
	for (size_t i = 0; i < w->n_clocks; i++) {
		mine[w->clock[i]] = true;
	}
	for (size_t i = 0; i < w->p->n_more; i++) {
		const struct usk_msg *m = &w->p->more[i];
		if (mine[m->from] && mine[m->to]) {
			usk_constraint_add(out, m->from, m->sent_ns, m->to,
					   later(w, m->to, m->received_ns), UINT32_MAX);
		}
	}
	free(mine);
}
