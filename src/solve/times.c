/* SPDX-License-Identifier: MIT */
/*
 * times.c - lists of times
 */
#include "solve/times.h"

#include <stdlib.h>

void usk_times_add(struct usk_times *t, int64_t x)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->x = usk_grow(t->x, t->cap, sizeof *t->x);
	}
	t->x[t->n++] = x;
}

static int compare(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
	return (a > b) - (a < b);
}

void usk_times_settle(struct usk_times *t)
{
	bool sorted = true;
	for (size_t i = 1; i < t->n && sorted; i++) {
		sorted = t->x[i - 1] <= t->x[i];
	}
	if (!sorted) {
		qsort(t->x, t->n, sizeof *t->x, compare);
	}
	size_t k = t->n != 0;
	for (size_t i = 1; i < t->n; i++) {
		if (t->x[i] != t->x[k - 1]) {
			t->x[k++] = t->x[i];
		}
	}
	t->n = k;
}
