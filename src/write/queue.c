/* SPDX-License-Identifier: MIT */
#include "write/queue.h"

#include <stdlib.h>
#include <string.h>

/* Packet bytes lie in chunks that are given back once all their packets are gone. */
struct chunk {
	size_t size, used, live;
	uint8_t bytes[];
};

enum { CHUNK = 1 << 16 };

void usk_queue_init(struct queue *q)
{
	memset(q, 0, sizeof *q);
	q->newest_ns = INT64_MIN;
}

static bool before(const struct packet *a, const struct packet *b)
{
	if (a->time_ns != b->time_ns) {
		return a->time_ns < b->time_ns;
	}
	return a->local_ns != b->local_ns ? a->local_ns < b->local_ns : a->number < b->number;
}

/* ---- bytes ------------------------------------------------------------------- */

static void give_back(struct queue *q, struct chunk *c)
{
	if (c->size == CHUNK && !q->spare) {
		c->used = 0;
		q->spare = c;
		return;
	}
	q->bytes -= c->size;
	free(c);
}

static uint8_t *room(struct queue *q, size_t n)
{
	struct chunk *c = q->filling;
	if (!c || c->size - c->used < n) {
		if (c && !c->live) {
			give_back(q, c);
		}
		if (q->spare && n <= CHUNK) {
			c = q->spare;
			q->spare = NULL;
		} else {
			size_t size = n > CHUNK ? n : CHUNK;
			c = usk_grow(NULL, sizeof *c + size, 1);
			*c = (struct chunk){ .size = size };
			q->bytes += size;
		}
		q->filling = c;
	}
	uint8_t *p = c->bytes + c->used;
	c->used += n;
	c->live++;
	return p;
}

void usk_queue_drop(struct queue *q, const struct packet *p)
{
	struct chunk *c = p->chunk;
	if (--c->live == 0 && c != q->filling) {
		give_back(q, c);
	}
}

/* ---- order ------------------------------------------------------------------- */

static struct packet *slot(const struct queue *q, size_t i)
{
	return &q->ring[(q->first + i) & (q->capacity - 1)];
}

static void push_ring(struct queue *q, const struct packet *p)
{
	if (q->n == q->capacity) {
		size_t capacity = q->capacity ? 2 * q->capacity : 256;
		struct packet *ring = usk_alloc(capacity, sizeof *ring);
		for (size_t i = 0; i < q->n; i++) {
			ring[i] = *slot(q, i);
		}
		free(q->ring);
		q->ring = ring;
		q->capacity = capacity;
		q->first = 0;
	}
	q->n++;
	*slot(q, q->n - 1) = *p;
}

static void push_heap(struct queue *q, const struct packet *p)
{
	q->heap = usk_room(q->heap, q->n_heap, &q->cap_heap, sizeof *q->heap);
	size_t i = q->n_heap++;
	while (i && before(p, &q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = *p;
}

static struct packet pop_heap(struct queue *q)
{
	struct packet top = q->heap[0], last = q->heap[--q->n_heap];
	size_t i = 0;
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= q->n_heap) {
			break;
		}
		if (child + 1 < q->n_heap && before(&q->heap[child + 1], &q->heap[child])) {
			child++;
		}
		if (!before(&q->heap[child], &last)) {
			break;
		}
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return top;
}

void usk_queue_put(struct queue *q, const struct usk_record *r, int64_t time_ns)
{
	uint8_t *data = room(q, r->captured);
	if (r->captured) {
		memcpy(data, r->data, r->captured);
	}
	struct packet p = { .time_ns = time_ns,
			    .local_ns = r->time_ns,
			    .number = q->numbered++,
			    .data = data,
			    .chunk = q->filling,
			    .captured = r->captured,
			    .length = r->length,
			    .iface = r->iface,
			    .side = r->side };
	if (!q->n || !before(&p, slot(q, q->n - 1))) {
		push_ring(q, &p);
	} else {
		push_heap(q, &p);
	}
	q->newest_ns = time_ns > q->newest_ns ? time_ns : q->newest_ns;
}

const struct packet *usk_queue_head(const struct queue *q)
{
	const struct packet *ring = q->n ? slot(q, 0) : NULL;
	if (!q->n_heap) {
		return ring;
	}
	return !ring || before(&q->heap[0], ring) ? &q->heap[0] : ring;
}

struct packet usk_queue_pop(struct queue *q)
{
	if (q->n_heap && usk_queue_head(q) == &q->heap[0]) {
		return pop_heap(q);
	}
	struct packet p = *slot(q, 0);
	q->first = (q->first + 1) & (q->capacity - 1);
	q->n--;
	return p;
}

void usk_queue_free(struct queue *q)
{
	while (usk_queue_head(q)) {
		struct packet p = usk_queue_pop(q);
		usk_queue_drop(q, &p);
	}
	free(q->filling);
	free(q->spare);
	free(q->ring);
	free(q->heap);
	usk_queue_init(q);
}
