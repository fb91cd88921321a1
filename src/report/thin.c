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
 *
 * Messages come nearly in the order of time, so most are of their direction's last bucket. Others
 * begin a new entry, whether or not there is one of their bucket: before entries are half again as
 * many as points may be, they are sorted, those of one bucket become one, and buckets as long as
 * they must.
 */
#include "report/summary.h"

#include <stdlib.h>

/* Messages of a bucket; of one that is known from several entries, not yet all. */
struct entry {
	struct usk_thin_point low, high;
	uint64_t n;
};

struct lane {
	struct entry *entry;
	size_t n, cap;
	struct usk_thin_point *list; /* without a limit: every message, and no entries */
	size_t cap_list;
	uint64_t total; /* messages */
};

struct usk_thin {
	size_t most;
	bool all;	/* no limit */
	bool whole;	/* so far every message is held: a bucket is one message */
	unsigned shift; /* else a bucket is 2^shift ns */
	struct lane lane[2];
	size_t room;	  /* entries, before they are settled */
	uint64_t settled; /* as many messages were, of both directions */
};

enum { SPARE = 64, LAST_SHIFT = 62 };

struct usk_thin *usk_thin_new(size_t most)
{
	struct usk_thin *t = usk_alloc(1, sizeof *t);
	t->most = most < 8 ? 8 : most;
	t->all = most == SIZE_MAX;
	t->whole = true;
	t->room = t->most / 2 * 3 + SPARE;
	return t;
}

void usk_thin_free(struct usk_thin *t)
{
	for (int back = 0; t && back < 2; back++) {
		USK_FREE(t->lane[back].entry, t->lane[back].list);
	}
	free(t);
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

static inline int in_time(const struct usk_thin_point *a, const struct usk_thin_point *b)
{
	int first = usk_order(a->local_epoch, b->local_epoch);
	first = first ? first : usk_order(a->local_ns, b->local_ns);
	first = first ? first : usk_order(a->other_ns, b->other_ns);
	return first ? first : order(a, b);
}

static size_t points_of(const struct entry *e)
{
	return order(&e->low, &e->high) ? 2 : 1;
}

/* Of what is highest in both, 1 is the lowest bit: buckets of two stamps differ if it is over the
 * shift. 64: those of two epochs always do. */
static inline unsigned apart(const struct usk_thin_point *a, const struct usk_thin_point *b)
{
	uint64_t differ = (uint64_t)a->local_ns ^ (uint64_t)b->local_ns;
	return a->local_epoch != b->local_epoch ? 64
	       : differ				? 64u - (unsigned)__builtin_clzll(differ)
						: 0;
}

static inline bool same_bucket(const struct usk_thin *t, const struct usk_thin_point *a,
			       const struct usk_thin_point *b)
{
	return t->whole ? !order(a, b) : apart(a, b) <= t->shift;
}

static inline void unite(struct entry *to, const struct usk_thin_point *low,
			 const struct usk_thin_point *high, uint64_t n)
{
	to->n += n;
	if (low->level <= to->low.level && order(low, &to->low) < 0) {
		to->low = *low;
	}
	if (high->level >= to->high.level && order(high, &to->high) > 0) {
		to->high = *high;
	}
}

/* ---- settling -------------------------------------------------------------------------- */

static int by_low(const void *pa, const void *pb)
{
	return in_time(&((const struct entry *)pa)->low, &((const struct entry *)pb)->low);
}

/* They lie nearly in order; where they do not after some steps for each, as any others. */
static void sort(struct lane *l)
{
	struct entry *e = l->entry;
	size_t steps = 8 * l->n;
	for (size_t i = 1; i < l->n; i++) {
		if (by_low(&e[i - 1], &e[i]) <= 0) {
			continue;
		}
		struct entry moved = e[i];
		size_t k = i;
		for (; k && steps && by_low(&e[k - 1], &moved) > 0; k--, steps--) {
			e[k] = e[k - 1];
		}
		e[k] = moved;
		if (!steps) {
			qsort(e, l->n, sizeof *e, by_low);
			return;
		}
	}
}

/* Entries that are sorted: of a bucket one is left. How many points there are. */
static size_t coalesce(struct usk_thin *t)
{
	size_t points = 0;
	for (int back = 0; back < 2; back++) {
		struct lane *l = &t->lane[back];
		size_t m = 0;
		for (size_t i = 0; i < l->n; i++) {
			const struct entry *e = &l->entry[i];
			if (m && same_bucket(t, &l->entry[m - 1].low, &e->low)) {
				unite(&l->entry[m - 1], &e->low, &e->high, e->n);
				continue;
			}
			points += m ? points_of(&l->entry[m - 1]) : 0;
			l->entry[m++] = *e;
		}
		points += m ? points_of(&l->entry[m - 1]) : 0;
		l->n = m;
	}
	return points;
}

/* The shortest buckets that are few enough: they may have two points each, so it may be too short.
 */
static unsigned least_shift(const struct usk_thin *t)
{
	size_t count[65] = { 0 }, buckets = 0;
	for (int back = 0; back < 2; back++) {
		const struct lane *l = &t->lane[back];
		for (size_t i = 0; i < l->n; i++) {
			count[i ? apart(&l->entry[i - 1].low, &l->entry[i].low) : 64]++;
		}
	}
	unsigned shift = LAST_SHIFT;
	for (buckets = count[64] + count[63]; shift; shift--) {
		if (buckets + count[shift] > t->most) {
			break;
		}
		buckets += count[shift];
	}
	return shift;
}

static void settle(struct usk_thin *t)
{
	if (t->all || t->settled == t->lane[0].total + t->lane[1].total) {
		return;
	}
	t->settled = t->lane[0].total + t->lane[1].total;
	sort(&t->lane[0]);
	sort(&t->lane[1]);
	while (coalesce(t) > t->most && (t->whole || t->shift < LAST_SHIFT)) {
		unsigned longer = t->whole ? 0 : t->shift + 1, least = least_shift(t);
		t->whole = false;
		t->shift = least > longer ? least : longer;
	}
}

/* ---- messages -------------------------------------------------------------------------- */

/* No bucket is of two epochs, so there may be more than should be. */
static void give_room(struct usk_thin *t)
{
	size_t n = t->lane[0].n + t->lane[1].n;
	size_t room = n + n / 2 + SPARE;
	t->room = room > t->room ? room : t->room;
}

void usk_thin_add(struct usk_thin *t, bool back, const struct usk_thin_point *p)
{
	struct lane *l = &t->lane[back];
	if (t->all) {
		*USK_ADD(l->list, l->total, l->cap_list) = *p;
		return;
	}
	l->total++;
	if (l->n && same_bucket(t, &l->entry[l->n - 1].low, p)) {
		unite(&l->entry[l->n - 1], p, p, 1);
		return;
	}
	if (t->lane[0].n + t->lane[1].n >= t->room) {
		/* Of all but this one: it is in no entry yet. */
		l->total--;
		settle(t);
		l->total++;
		give_room(t);
	}
	*USK_ADD(l->entry, l->n, l->cap) = (struct entry){ *p, *p, 1 };
}

/* ---- what is held ---------------------------------------------------------------------- */

int64_t usk_thin_bucket_ns(struct usk_thin *t)
{
	settle(t);
	return INT64_C(1) << t->shift;
}

uint64_t usk_thin_total(const struct usk_thin *t, bool back)
{
	return t->lane[back].total;
}

size_t usk_thin_held(struct usk_thin *t, bool back)
{
	const struct lane *l = &t->lane[back];
	size_t n = t->all ? l->total : 0;
	settle(t);
	for (size_t i = 0; i < l->n; i++) {
		n += points_of(&l->entry[i]);
	}
	return n;
}

static int by_time(const void *pa, const void *pb)
{
	return in_time(&((const struct usk_thin_row *)pa)->point,
		       &((const struct usk_thin_row *)pb)->point);
}

size_t usk_thin_rows(struct usk_thin *t, bool back, struct usk_thin_row **out)
{
	const struct lane *l = &t->lane[back];
	size_t n = 0;
	settle(t);
	struct usk_thin_row *row = usk_alloc((t->all ? l->total : 2 * l->n) + 1, sizeof *row);
	for (; t->all && n < l->total; n++) {
		row[n] = (struct usk_thin_row){ l->list[n], 1 };
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *e = &l->entry[i];
		bool low_first = in_time(&e->low, &e->high) <= 0;
		row[n++] = (struct usk_thin_row){ low_first ? e->low : e->high, e->n };
		if (points_of(e) == 2) {
			row[n++] = (struct usk_thin_row){ low_first ? e->high : e->low, 0 };
		}
	}
	if (t->all) {
		qsort(row, n, sizeof *row, by_time);
	}
	*out = row;
	return n;
}
