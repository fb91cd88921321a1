/* SPDX-License-Identifier: MIT */
/*
 * queue.c - the events to come, the packets in flight, and rings of what waits
 *
 * A heap with four children a node: half as deep as a binary one, and the children share a
 * cache line. Equal times leave in the order they came, so that a run is determined.
 */
#include "world.h"

#include <stdlib.h>
#include <string.h>

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

void world_later(struct world *w, int64_t at_ns, enum event_kind kind, const struct sim_packet *p)
{
	struct pool *pool = &w->pool;
	uint32_t slot = pool->n_vacant ? pool->vacant[--pool->n_vacant] : (uint32_t)pool->n++;
	pool->slot = usk_room(pool->slot, slot, &pool->cap, sizeof *pool->slot);
	pool->slot[slot] = *p;
	queue_push(&w->queue, at_ns, kind, slot);
}

struct sim_packet world_take(struct world *w, uint32_t slot)
{
	struct pool *pool = &w->pool;
	pool->vacant =
		usk_room(pool->vacant, pool->n_vacant, &pool->cap_vacant, sizeof *pool->vacant);
	pool->vacant[pool->n_vacant++] = slot;
	return pool->slot[slot];
}

void *sim_ring_room(void *p, uint64_t first, uint64_t last, size_t *cap, size_t size)
{
	size_t old = *cap, mask = old - 1;
	if (last - first < old) {
		return p;
	}
	*cap = old ? old * 2 : 16;
	char *bigger = usk_alloc(*cap, size);
	for (uint64_t i = first; i < last; i++) {
		memcpy(bigger + (i & (*cap - 1)) * size, (char *)p + (i & mask) * size, size);
	}
	free(p);
	return bigger;
}
