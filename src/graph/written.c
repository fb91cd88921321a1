/* SPDX-License-Identifier: MIT */
/*
 * written.c - messages that knots put out of order, as these are written
 *
 * In    every clock's knots; points of pairs, or messages
 * Out   constraints to solve with once more
 * Why   lines ask for the vertices of hulls alone, and of very many points some become edges; knots
 *       are whole ns, and so may turn round what lies within one of those that were looked at
 * Not   messages that points stand for (flow/)
 */
#include "fit/fit.h"
#include "graph/work.h"

#include <stdlib.h>

enum { BLOCK = 256 };

struct written {
	const struct usk_clocks *c;
	struct usk_map **map; /* NULL: the reference, or nothing is known */
	const struct usk_graph_problem *p;
	struct usk_more *more;	/* constraints already, sorted */
	struct usk_more *found; /* by pair; of messages one list */
};

/* As usk_msg_order(), which is above this stage. */
KEYS_CALLED(by_stamps, BY(usk_msg, from), BY(usk_msg, to), BY(usk_msg, sent_ns),
	    BY(usk_msg, received_ns));

static bool correct(const struct usk_map *m, const int64_t *t, size_t n, int64_t *out)
{
	for (size_t i = 0; i < n && !m; i++) {
		out[i] = t[i];
	}
	return !m || !usk_map_many(m, t, n, out, NULL);
}

/* All of the same two clocks, n <= BLOCK. */
static void look(const struct written *x, const struct usk_msg *msg, size_t n,
		 struct usk_more *found)
{
	int64_t sent[BLOCK], received[BLOCK], q;
	for (size_t i = 0; i < n; i++) {
		sent[i] = msg[i].sent_ns;
		received[i] = msg[i].received_ns;
	}
	if (!n || !correct(x->map[msg->from], sent, n, sent) ||
	    !correct(x->map[msg->to], received, n, received)) {
		return;
	}
	q = x->c->clock[msg->to].resolution_ns;
	q = q > 1 ? q : 0;
	for (size_t i = 0; i < n; i++) {
		if ((usk_i128)received[i] - sent[i] >= -(usk_i128)q ||
		    usk_find(&msg[i], x->more->msg, x->more->n, sizeof *msg, by_stamps)) {
			continue;
		}
		*USK_ADD(found->msg, found->n, found->cap) = msg[i];
	}
}

static bool comparable(const struct usk_clocks *c, uint32_t a, uint32_t b)
{
	const struct usk_clock *x = &c->clock[a], *y = &c->clock[b];
	return x->reference == y->reference &&
	       (x->quality == USK_BOUNDED || x->quality == USK_REFERENCE) &&
	       (y->quality == USK_BOUNDED || y->quality == USK_REFERENCE);
}

static void look_at_points(const struct written *x, const struct usk_graph_pair *p,
			   struct usk_more *found)
{
	struct usk_msg msg[BLOCK];
	for (int side = 0; side < 2 && comparable(x->c, p->a, p->b); side++) {
		for (size_t i = 0, n = 0; i < p->part->n[side]; i++) {
			struct usk_point point =
				usk_part_recorded(p->part, p->part->point[side][i], side);
			msg[n++] = usk_point_message(p->a, p->b, point, side);
			if (n == BLOCK || i + 1 == p->part->n[side]) {
				look(x, msg, n, found);
				n = 0;
			}
		}
	}
}

static void look_at_some(void *ctx, size_t from, size_t to)
{
	const struct written *x = ctx;
	for (size_t i = from; i < to; i++) {
		look_at_points(x, &x->p->pair[i], &x->found[i]);
	}
}

static struct written begin(const struct usk_clocks *c, struct usk_more *more, size_t lists)
{
	struct written x = { .c = c, .more = more };
	x.map = usk_alloc(c->n_clocks + 1, sizeof(struct usk_map *));
	x.found = usk_alloc(lists + 1, sizeof *x.found);
	for (size_t i = 0; i < c->n_clocks; i++) {
		const struct usk_clock *k = &c->clock[i];
		x.map[i] = k->quality == USK_BOUNDED ? usk_map_new(k, c->max_skew_e12) : NULL;
	}
	usk_sort(more->msg, more->n, sizeof *more->msg, by_stamps);
	return x;
}

static bool end(struct written *x, size_t lists)
{
	struct usk_more *more = x->more;
	const size_t known = more->n;
	for (size_t i = 0; i < x->c->n_clocks; i++) {
		usk_map_free(x->map[i]);
	}
	for (size_t i = 0; i < lists; i++) {
		for (size_t k = 0; k < x->found[i].n; k++) {
			*USK_ADD(more->msg, more->n, more->cap) = x->found[i].msg[k];
		}
		free(x->found[i].msg);
	}
	USK_FREE(x->map, x->found);
	return more->n > known;
}

bool usk_written_points(const struct usk_clocks *c, const struct usk_graph_problem *p,
			struct usk_more *more)
{
	enum { PAIRS = 16 }; /* for a thread at a time */
	struct written x = begin(c, more, p->n_pairs);
	x.p = p;
	usk_parallel(p->n_pairs, PAIRS, p->threads, look_at_some, &x);
	return end(&x, p->n_pairs);
}

bool usk_written_messages(const struct usk_clocks *c, const struct usk_msg *msg, size_t n,
			  struct usk_more *more)
{
	struct written x = begin(c, more, 1);
	for (size_t i = 0; i < n; i++) {
		if (comparable(c, msg[i].from, msg[i].to)) {
			look(&x, &msg[i], 1, x.found);
		}
	}
	return end(&x, 1);
}
