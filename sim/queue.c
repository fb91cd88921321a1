/* SPDX-License-Identifier: MIT */
/*
 * queue.c - the events to come, and the packets in flight
 *
 * A heap with four children a node: half as deep as a binary one, and the children share a
 * cache line. Equal times leave in the order they came, so that a run is determined.
 */
#include "world.h"

static bool before(const struct event *a, const struct event *b)
{
	if (a->at_ns != b->at_ns) {
		return a->at_ns < b->at_ns;
	}
	return (int32_t)(a->order - b->order) < 0;
}

void queue_push(struct queue *q, int64_t at_ns, enum event_kind kind, uint32_t index)
{
	q->heap = usk_room(q->heap, q->n, &q->cap, sizeof *q->heap);
	struct event e = { at_ns, q->order++, (uint32_t)kind << 28 | index };
	size_t i = q->n++;
	while (i) {
		size_t parent = (i - 1) / 4;
		if (!before(&e, &q->heap[parent])) {
			break;
		}
		q->heap[i] = q->heap[parent];
		i = parent;
	}
	q->heap[i] = e;
}

struct event queue_pop(struct queue *q)
{
	struct event top = q->heap[0], e = q->heap[--q->n];
	size_t i = 0;
	for (;;) {
		size_t child = 4 * i + 1, last = child + 4 < q->n ? child + 4 : q->n;
		if (child >= q->n) {
			break;
		}
		size_t least = child;
		for (size_t c = child + 1; c < last; c++) {
			if (before(&q->heap[c], &q->heap[least])) {
				least = c;
			}
		}
		if (!before(&q->heap[least], &e)) {
			break;
		}
		q->heap[i] = q->heap[least];
		i = least;
	}
	q->heap[i] = e;
	return top;
}

uint32_t pool_take(struct pool *p)
{
	if (p->n_vacant) {
		return p->vacant[--p->n_vacant];
	}
	p->slot = usk_room(p->slot, p->n, &p->cap, sizeof *p->slot);
	return (uint32_t)p->n++;
}

void pool_give(struct pool *p, uint32_t i)
{
	p->vacant = usk_room(p->vacant, p->n_vacant, &p->cap_vacant, sizeof *p->vacant);
	p->vacant[p->n_vacant++] = i;
}
