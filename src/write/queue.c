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
		size_t size = n > CHUNK ? n : CHUNK;
		c = usk_grow(NULL, sizeof *c + size, 1);
		*c = (struct chunk){ .size = size };
		q->bytes += size;
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

static void push_line(struct queue *q, const struct packet *p)
{
	if (q->first + q->n == q->capacity && q->first > q->n / 2) {
		memmove(q->line, q->line + q->first, q->n * sizeof *q->line);
		q->first = 0;
	}
	q->line = usk_room(q->line, q->first + q->n, &q->capacity, sizeof *q->line);
	q->line[q->first + q->n++] = *p;
}

static void push_heap(struct queue *q, const struct packet *p)
{
	q->heap = usk_room(q->heap, q->n_heap, &q->cap_heap, sizeof *q->heap);
	USK_HEAP_PUT(q->heap, q->n_heap, *p, before);
	q->n_heap++;
}

void usk_queue_put(struct queue *q, const struct usk_record *r, int64_t time_ns, bool repeats)
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
			    .side = r->side,
			    .repeats = repeats };
	if (!q->n || !before(&p, &q->line[q->first + q->n - 1])) {
		push_line(q, &p);
	} else {
		push_heap(q, &p);
	}
	q->newest_ns = time_ns > q->newest_ns ? time_ns : q->newest_ns;
}

const struct packet *usk_queue_head(const struct queue *q)
{
	const struct packet *first = q->n ? &q->line[q->first] : NULL;
	if (!q->n_heap) {
		return first;
	}
	return !first || before(&q->heap[0], first) ? &q->heap[0] : first;
}

struct packet usk_queue_pop(struct queue *q)
{
	if (q->n_heap && usk_queue_head(q) == &q->heap[0]) {
		struct packet top = q->heap[0];
		q->n_heap--;
		USK_HEAP_TAKE(q->heap, q->n_heap, before);
		return top;
	}
	q->n--;
	return q->line[q->first++];
}

void usk_queue_free(struct queue *q)
{
	while (usk_queue_head(q)) {
		struct packet p = usk_queue_pop(q);
		usk_queue_drop(q, &p);
	}
	USK_FREE(q->filling, q->line, q->heap);
	usk_queue_init(q);
}
