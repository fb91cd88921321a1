/* SPDX-License-Identifier: MIT */
/*
 * thin.c - the lowest and the highest message of each bucket of local time
 *
 * In    messages as points, any order
 * Out   those that are extreme in their bucket, and how many each bucket had
 * Why   a page can hold 100,000 points of a billion messages, and a corridor drawn from them must
 *       be neither wider nor narrower than the messages make it
 * Not   what a level is (summary.c)
 *
 * Points are never fewer when a message is added and never more when buckets are doubled. So the
 * last bucket is the smallest power of two with which all messages fit, whatever their order.
 */
#include "report/summary.h"

#include <stdlib.h>

struct entry {
	int64_t bucket;
	uint32_t epoch; /* of the local clock */
	bool back;
	uint64_t n; /* messages; 0: an empty slot */
	struct usk_thin_point low, high;
};

struct usk_thin {
	size_t most;
	bool all; /* no limit: every message in `list`, and no buckets */
	struct usk_thin_point *list[2];
	size_t cap[2];
	bool whole;	   /* so far every message is held: a bucket is one message */
	unsigned shift;	   /* else a bucket is 2^shift ns */
	size_t points;	   /* held */
	uint64_t total[2]; /* messages, of each direction */
	struct entry *slot;
	size_t n_slots, n_used;
	size_t last[2]; /* slot of the last message: the next one is likely to be of it too */
};

enum { FIRST_SLOTS = 64, LAST_SHIFT = 62 };

struct usk_thin *usk_thin_new(size_t most)
{
	struct usk_thin *t = usk_alloc(1, sizeof *t);
	t->most = most < 8 ? 8 : most;
	t->all = most == SIZE_MAX;
	t->whole = true;
	t->n_slots = t->all ? 0 : FIRST_SLOTS;
	t->slot = usk_alloc(t->n_slots, sizeof *t->slot);
	return t;
}

void usk_thin_free(struct usk_thin *t)
{
	if (t) {
		free(t->list[0]);
		free(t->list[1]);
		free(t->slot);
		free(t);
	}
}

/* By level; a total order, so that it does not depend on who came first: 0 is for the same point
 * only. */
static inline int order(const struct usk_thin_point *a, const struct usk_thin_point *b)
{
	int first = usk_order(a->level, b->level);
	first = first ? first : usk_order(a->local_ns, b->local_ns);
	first = first ? first : usk_order(a->other_ns, b->other_ns);
	first = first ? first : usk_order(a->local_epoch, b->local_epoch);
	return first ? first : usk_order(a->other_epoch, b->other_epoch);
}

static size_t points_of(const struct entry *e)
{
	return order(&e->low, &e->high) ? 2 : 1;
}

static bool same_bucket(const struct usk_thin *t, const struct entry *x, const struct entry *e)
{
	return x->n && x->bucket == e->bucket && x->epoch == e->epoch && x->back == e->back &&
	       (!t->whole || !order(&x->low, &e->low));
}

static size_t find(const struct usk_thin *t, const struct entry *e)
{
	/* Buckets that follow each other lie together, as messages come in the order of time. */
	uint64_t more = t->whole ? (uint64_t)e->low.other_ns : 0;
	uint64_t key = usk_fold((uint64_t)(e->bucket >> 3), (uint64_t)e->epoch << 1 | e->back);
	size_t i = (usk_mix(key ^ more) << 3 | (e->bucket & 7)) & (t->n_slots - 1);
	while (t->slot[i].n && !same_bucket(t, &t->slot[i], e)) {
		i = (i + 1) & (t->n_slots - 1);
	}
	return i;
}

/* Into the slot of its bucket; the table has room. */
static size_t merge(struct usk_thin *t, const struct entry *e)
{
	size_t i = t->last[e->back];
	if (!same_bucket(t, &t->slot[i], e)) {
		i = find(t, e);
	}
	struct entry *x = &t->slot[i];
	if (!x->n) {
		*x = *e;
		t->n_used++;
		t->points += points_of(x);
		return i;
	}
	size_t before = points_of(x);
	x->n += e->n;
	x->low = order(&e->low, &x->low) < 0 ? e->low : x->low;
	x->high = order(&e->high, &x->high) > 0 ? e->high : x->high;
	t->points += points_of(x) - before;
	return i;
}

static void rebuild(struct usk_thin *t, size_t n_slots, unsigned shift)
{
	struct entry *old = t->slot;
	size_t n = t->n_slots;
	unsigned wider = shift - t->shift;
	t->slot = usk_alloc(n_slots, sizeof *t->slot);
	t->n_slots = n_slots;
	t->shift = shift;
	t->n_used = t->points = t->last[0] = t->last[1] = 0;
	for (size_t i = 0; i < n; i++) {
		if (old[i].n) {
			/* Of a negative number, too, a shift rounds down: gcc and clang promise it.
			 */
			old[i].bucket >>= wider;
			merge(t, &old[i]);
		}
	}
	free(old);
}

void usk_thin_add(struct usk_thin *t, bool back, const struct usk_thin_point *p)
{
	if (t->all) {
		t->list[back] = usk_room(t->list[back], t->total[back], &t->cap[back], sizeof *p);
		t->list[back][t->total[back]++] = *p;
		return;
	}
	struct entry *x = &t->slot[t->last[back]];
	t->total[back]++;
	/* Most messages come in the bucket of the one before, and are no extreme of it. */
	if (!t->whole && x->n && x->bucket == p->local_ns >> t->shift && x->back == back &&
	    x->epoch == p->local_epoch && x->low.level < p->level && p->level < x->high.level) {
		x->n++;
		return;
	}
	const struct entry one = { .bucket = p->local_ns >> t->shift,
				   .epoch = p->local_epoch,
				   .back = back,
				   .n = 1,
				   .low = *p,
				   .high = *p };
	if (2 * (t->n_used + 1) > t->n_slots) {
		rebuild(t, 2 * t->n_slots, t->shift);
	}
	t->last[back] = merge(t, &one);
	if (t->points > t->most && t->whole) {
		t->whole = false;
		rebuild(t, t->n_slots, 0);
	}
	while (t->points > t->most && t->shift < LAST_SHIFT) {
		rebuild(t, t->n_slots, t->shift + 1);
	}
}

int64_t usk_thin_bucket_ns(const struct usk_thin *t)
{
	return INT64_C(1) << t->shift;
}

uint64_t usk_thin_total(const struct usk_thin *t, bool back)
{
	return t->total[back];
}

size_t usk_thin_held(const struct usk_thin *t, bool back)
{
	size_t n = t->all ? t->total[back] : 0;
	for (size_t i = 0; i < t->n_slots; i++) {
		const struct entry *e = &t->slot[i];
		n += e->n && e->back == back ? points_of(e) : 0;
	}
	return n;
}

static int in_time(const struct usk_thin_point *a, const struct usk_thin_point *b)
{
	int first = usk_order(a->local_epoch, b->local_epoch);
	first = first ? first : usk_order(a->local_ns, b->local_ns);
	first = first ? first : usk_order(a->other_ns, b->other_ns);
	return first ? first : order(a, b);
}

static int by_time(const void *pa, const void *pb)
{
	return in_time(&((const struct usk_thin_row *)pa)->point,
		       &((const struct usk_thin_row *)pb)->point);
}

size_t usk_thin_rows(const struct usk_thin *t, bool back, struct usk_thin_row **out)
{
	size_t n = 0;
	*out = usk_alloc((t->all ? t->total[back] : t->points) + 1, sizeof **out);
	for (; t->all && n < t->total[back]; n++) {
		(*out)[n] = (struct usk_thin_row){ t->list[back][n], 1 };
	}
	for (size_t i = 0; i < t->n_slots; i++) {
		const struct entry *e = &t->slot[i];
		if (!e->n || e->back != back) {
			continue;
		}
		bool low_first = in_time(&e->low, &e->high) <= 0;
		(*out)[n++] = (struct usk_thin_row){ low_first ? e->low : e->high, e->n };
		if (points_of(e) == 2) {
			(*out)[n++] = (struct usk_thin_row){ low_first ? e->high : e->low, 0 };
		}
	}
	qsort(*out, n, sizeof **out, by_time);
	return n;
}
