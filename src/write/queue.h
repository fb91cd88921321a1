/* SPDX-License-Identifier: MIT */
/*
 * queue.h - packets of one trace, put into order while they wait to be merged
 *
 * In    packets nearly in order
 * Out   the earliest of those that wait
 * Why   captures of several queues or threads are out of order by micro- to milliseconds; those
 *       in order, nearly all, cost O(1), the others O(log n)
 * Not   sorting a whole trace: what waits is bounded by the caller
 */
#ifndef USK_QUEUE_H
#define USK_QUEUE_H

#include "base/base.h"
#include "read/trace.h"

struct chunk;

struct packet {
	int64_t time_ns, local_ns; /* corrected, as recorded */
	uint64_t number;	   /* in file order: the last tie-break */
	const uint8_t *data;
	struct chunk *chunk; /* where data lies */
	uint32_t captured, length;
	uint32_t iface; /* of the source */
	enum usk_side side;
	bool repeats; /* as usk_replay_undoable() says */
};

struct queue {
	struct packet *line; /* in order, from first on */
	size_t first, n, capacity;
	struct packet *heap; /* those that came late */
	size_t n_heap, cap_heap;
	struct chunk *filling;
	size_t bytes;	   /* in chunks, lines and heaps aside */
	int64_t newest_ns; /* largest corrected stamp so far */
	uint64_t numbered;
};

void usk_queue_init(struct queue *q);
void usk_queue_free(struct queue *q);
/** Copies the record's bytes. */
void usk_queue_put(struct queue *q, const struct usk_record *r, int64_t time_ns, bool repeats);
/** The earliest, or NULL; valid until put or pop. */
const struct packet *usk_queue_head(const struct queue *q);
/** Takes the earliest out; its data stay until usk_queue_drop(). */
struct packet usk_queue_pop(struct queue *q);
void usk_queue_drop(struct queue *q, const struct packet *p);

#endif
