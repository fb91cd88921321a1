/* SPDX-License-Identifier: MIT */
/*
 * messages.c - sources of constraints: none is received before it is sent
 *
 * In    what corridors remember of each pair; messages that this does not stand for
 * Out   T of the sender at the send stamp <= T of the receiver at the receive stamp
 *
 * A stamp is rounded down to its clock's resolution q, or to 1 ns: the sender's rounding only
 * weakens, the receiver may have been up to q later. Minimum delays are in the points already.
 * What is written is asked for by the stamp itself: no message is received more than q early.
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* 0 of a clock that shows each ns. */
static int64_t tick(const struct usk_work *w, uint32_t clock)
{
	int64_t q = w->c->clock[clock].resolution_ns;
	return q > 1 ? q : 0;
}

static int64_t later(const struct usk_work *w, uint32_t clock, int64_t ns)
{
	return usk_saturate((usk_i128)ns + tick(w, clock));
}

KEYS_CALLED(by_time, BY(usk_suspect, ceiling), BY(usk_suspect, point.local_ns),
	    BY(usk_suspect, point.offset_ns));

/* Of more events than this, and so many for each clock, the best are taken. The more clocks may
 * wander the sooner a message says nothing any more: twice as many for more than 1 ppm. */
enum { MOST_EVENTS = 1 << 18, MOST_OF_MANY = 3 << 9 };
#define MUCH_E12 INT64_C(1000000)

usk_i128 usk_messages_share(const struct usk_work *w)
{
	usk_i128 n = 0, most = (usk_i128)MOST_OF_MANY * w->n_clocks;
	usk_i128 few = w->p->model.wander_e12 > MUCH_E12 ? 2 * MOST_EVENTS : MOST_EVENTS;
	most = most > few ? most : few;
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_part *part = w->p->pair[i].part;
		n += w->tied[i] ? 2 * ((usk_i128)part->n[0] + part->n[1]) : 0;
	}
	return n <= most || w->p->model.kind == USK_LINEAR ? USK_ALL : most * USK_ALL / n;
}

static bool in_bracket(const struct usk_calm *c, int64_t b)
{
	bool in = false;
	for (size_t i = 0; i < c->n_brackets && !in; i++) {
		in = b >= (usk_i128)c->bracket[i].b0_ns - USK_MARGIN_NS &&
		     b <= (usk_i128)c->bracket[i].b1_ns + USK_MARGIN_NS;
	}
	return in;
}

/* Which points of a side become edges: of each stretch of time the one that says most, by the
 * pair's rate; all where something happened. Leaving some out only widens bounds. */
static bool *choose(const struct usk_part *part, int side, const struct usk_calm *calm,
		    usk_i128 share)
{
	enum { LEAST = 16 };
	size_t n = part->n[side], most = (size_t)(n * share / USK_ALL);
	bool *take = usk_alloc(n + 1, sizeof *take);
	const struct usk_xy *p = part->point[side];
	int64_t rate = side ? -part->frame.rate_e12 : part->frame.rate_e12;
	most = most < LEAST ? LEAST : most;
	if (n <= most) {
		memset(take, true, n * sizeof *take);
		return take;
	}
	usk_i128 length = ((usk_i128)p[n - 1].x - p[0].x) / (usk_i128)most + 1, best = 0, last = -1;
	for (size_t i = 0, of = 0; i < n; i++) {
		usk_i128 d = (usk_i128)p[i].x - p[0].x;
		usk_i128 level = (usk_i128)p[i].y * USK_E12 - d * rate;
		if (calm->n_brackets && in_bracket(calm, part->frame.local_ns + p[i].x)) {
			take[i] = true;
			continue;
		}
		if (d / length != last || level > best) {
			take[of] = take[of] && d / length != last;
			last = d / length;
			best = level;
			of = i;
			take[i] = true;
		}
	}
	return take;
}

/* Does a minimum delay move a's stamp, to x, over a time that a may have shown twice though no record
 * of its own says so? It was measured by another clock than that, then. */
static bool moved_over(const struct usk_work *w, const struct usk_graph_pair *p, int64_t x,
		       bool later)
{
	int64_t by = p->part->moved_ns;
	usk_i128 from = later ? (usk_i128)x - by : x, to = later ? x : (usk_i128)x + by;
	bool over = false;
	for (size_t i = 0; i < w->n_breaks && by && !over; i++) {
		const struct usk_break *b = &w->brk[i];
		over = b->clock == p->a && b->up && from < b->to_ns && to > b->from_ns;
	}
	return over;
}

void usk_source_messages(const struct usk_work *w, struct usk_constraints *out)
{
	usk_i128 share = usk_messages_share(w);
	for (size_t i = 0; i < w->p->n_pairs; i++) {
		const struct usk_graph_pair *p = &w->p->pair[i];
		const struct usk_calm *calm = &w->calm[i];
		if (!w->tied[i]) {
			continue;
		}
		usk_sort(calm->outlier, calm->n_outliers, sizeof *calm->outlier, by_time);
		for (int side = 0; side < 2; side++) {
			const struct usk_xy *point = p->part->point[side];
			size_t n = p->part->n[side];
			struct usk_xy *hull = NULL;
			bool *take = NULL;
			if (w->hulls && !calm->n_outliers) {
				hull = usk_grow(NULL, n + 1, sizeof *hull);
				n = usk_hull_of_sorted(point, n, hull);
				point = hull;
			} else {
				take = choose(p->part, side, calm, share);
			}
			for (size_t k = 0; k < n; k++) {
				struct usk_suspect s = { .point = usk_part_recorded(p->part,
										    point[k], side),
							 .ceiling = side };
				int64_t b = s.point.local_ns;
				int64_t a = usk_saturate((usk_i128)b + s.point.offset_ns);
				if ((take && !take[k]) || moved_over(w, p, a, !side) ||
				    (calm->n_outliers &&
				     usk_find(&s, calm->outlier, calm->n_outliers, sizeof s,
					      by_time))) {
					continue;
				}
				uint32_t from = side ? p->b : p->a, to = side ? p->a : p->b;
				usk_constraint_add(out, (struct usk_constraint){
								.from = from,
								.to = to,
								.from_ns = side ? b : a,
								.to_ns = later(w, to, side ? a : b),
								.pair = (uint32_t)i });
			}
			free(hull);
			free(take);
		}
	}
}

static struct usk_constraint constraint_of(const struct usk_work *w, const struct usk_msg *m)
{
	return (struct usk_constraint){ .from = m->from,
					.to = m->to,
					.from_ns = m->sent_ns,
					.to_ns = later(w, m->to, m->received_ns),
					.wish_ns = m->received_ns,
					.early_ns = tick(w, m->to),
					.pair = UINT32_MAX };
}

void usk_source_more(const struct usk_work *w, struct usk_constraints *out)
{
	for (size_t i = 0; i < w->p->n_more; i++) {
		struct usk_constraint r = constraint_of(w, &w->p->more[i]);
		/* By how much its estimate rises to there a clock that jumps does not say. */
		r.wish = r.early_ns;
		usk_constraint_add(out, r);
	}
}

void usk_source_likely(const struct usk_work *w, struct usk_constraints *out)
{
	for (size_t i = 0; i < w->p->n_likely; i++) {
		const struct usk_likely *l = &w->p->likely[i];
		struct usk_constraint r = constraint_of(w, &l->msg);
		r.wish = r.only = true;
		r.early_ns += l->early_ns;
		usk_constraint_add(out, r);
	}
}
