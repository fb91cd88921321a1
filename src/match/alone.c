/* SPDX-License-Identifier: MIT */
/*
 * alone.c - the one epoch that can have shown a stamp
 *
 * In    the epochs of a clock that was set back; its stamps in any order
 * Out   the epoch of each, where only one comes into question
 * Why   tables, events and spans of such a clock do not always come in an order that tells epochs;
 *       a stamp in the wrong epoch is a wrong message, and none is better
 * Not   stamps in order (epochs.c, row_place.c)
 *
 * By how much a clock was set back nobody knows yet: it showed a, then b, which is earlier by D,
 * and in between, while nothing was seen of it, it may have gone on, and have begun again earlier.
 * Falls are only found where the stamps behind them are much closer to each other than D (epochs.c,
 * rows.c), so that this was for 8 D is not to be expected: both epochs may reach so far.
 */
#include "match/match.h"

#include <stdlib.h>

/* Where epochs begin, or end, in the order of time. */
struct limit {
	int64_t ns;
	size_t epoch;
	size_t sum; /* of the epochs up to this one, which may wrap around */
};

struct usk_alone {
	struct limit *begin, *end;
	size_t n;
};

static void sort(struct limit *x, size_t n)
{
	size_t sum = 0;
	usk_sort(x, n, sizeof *x, KEYS(BY(limit, ns), BY(limit, epoch)));
	for (size_t i = 0; i < n; i++) {
		x[i].sum = sum += x[i].epoch;
	}
}

struct usk_alone *usk_alone_new(const struct usk_epochs *e)
{
	struct usk_alone *x = usk_alloc(1, sizeof *x);
	x->n = e->n;
	x->begin = usk_alloc(e->n + 1, sizeof *x->begin);
	x->end = usk_alloc(e->n + 1, sizeof *x->end);
	for (size_t i = 0; i < e->n; i++) {
		const struct usk_epoch *y = &e->epoch[i];
		usk_i128 reach = USK_ALONE_REACH * ((usk_i128)y->before_ns - y->after_ns);
		x->end[i] = (struct limit){ usk_saturate(y->before_ns + reach), i, 0 };
		x->begin[i] = (struct limit){ usk_saturate(y->after_ns - reach), i + 1, 0 };
	}
	sort(x->begin, x->n);
	sort(x->end, x->n);
	return x;
}

void usk_alone_free(struct usk_alone *x)
{
	if (x) {
		USK_FREE(x->begin, x->end, x);
	}
}

/* How many lie before t, or with also at it. */
static size_t before(const struct limit *x, size_t n, int64_t t, bool also)
{
	size_t i;
	USK_FIRST(i, 0, n, x[i].ns > t || (!also && x[i].ns == t));
	return i;
}

/* Epoch 0 has always begun, and the last one never ends. Of those that have begun less those that
 * have ended one is left: then it is the sum of their numbers. */
size_t usk_alone_epoch(const struct usk_alone *x, int64_t t)
{
	size_t begun = before(x->begin, x->n, t, true), ended = before(x->end, x->n, t, false);
	if (1 + begun - ended != 1) {
		return SIZE_MAX;
	}
	return (begun ? x->begin[begun - 1].sum : 0) - (ended ? x->end[ended - 1].sum : 0);
}
