/* SPDX-License-Identifier: MIT */
/*
 * queue.c - receives and collectives of a thread in the order in which they began
 *
 * In    what began, what of it ended or will not
 * Out   the same, settled, in the order of its beginnings
 * Why   MPI matches by the order in which receives are posted and collectives are called, but only at
 *       its end an event says of which sender or communicator one is
 * Not   numbers (number.c)
 *
 * A receive may be open for as long as the program runs, as one that waits for the word to stop. So
 * no more than MOST wait behind one.
 */
#include "otf/otf.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16, SPARE = 1024 };

/* Requests are not taken out of the index when they are settled. */
static void clean(struct otf2_queue *q)
{
	usk_index_free(&q->open);
	for (size_t i = 0; i < q->n; i++) {
		const struct otf2_post *p = &q->post[q->first + i];
		if (p->state == OTF2_OPEN) {
			*usk_index_value(&q->open, p->request, 0) = q->passed + i + 1;
		}
	}
}

struct otf2_post *usk_otf2_push(struct otf2_queue *q, struct otf2_post post)
{
	if (q->first + q->n == q->cap && q->first > q->cap / 2) {
		memmove(q->post, q->post + q->first, q->n * sizeof *q->post);
		q->first = 0;
	}
	q->post = usk_room(q->post, q->first + q->n, &q->cap, sizeof *q->post);
	struct otf2_post *p = &q->post[q->first + q->n++];
	*p = post;
	if (post.state == OTF2_OPEN) {
		*usk_index_value(&q->open, post.request, 0) = q->passed + q->n;
	}
	if (q->open.n > SPARE + 2 * q->n) {
		clean(q);
	}
	return p;
}

struct otf2_post *usk_otf2_open(struct otf2_queue *q, uint64_t request)
{
	uint64_t at = usk_index_find(&q->open, request, 0);
	if (at <= q->passed || at > q->passed + q->n) {
		return NULL;
	}
	struct otf2_post *p = &q->post[q->first + (size_t)(at - 1 - q->passed)];
	return p->state == OTF2_OPEN && p->request == request ? p : NULL;
}

struct otf2_post *usk_otf2_front(struct otf2_queue *q)
{
	struct otf2_post *p = q->n ? &q->post[q->first] : NULL;
	return p && (p->state != OTF2_OPEN || q->n > MOST) ? p : NULL;
}

void usk_otf2_pop(struct otf2_queue *q)
{
	q->first++;
	q->n--;
	q->passed++;
	q->first = q->n ? q->first : 0;
}

void usk_otf2_empty(struct otf2_queue *q)
{
	free(q->post);
	usk_index_free(&q->open);
	*q = (struct otf2_queue){ 0 };
}
