/* SPDX-License-Identifier: MIT */
/* Sorting by digits, the last one first: what is compared one by one takes several times as long.
 */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS = 8, VALUES = 256, SHORT = 256 };

static size_t digit(uint64_t key, int d)
{
	return key >> 8 * d & (VALUES - 1);
}

/* By one digit; how many words a row has is known where this is inlined. */
static inline __attribute__((always_inline)) void
move_rows(const uint64_t *from, uint64_t *to, size_t *at, int d, size_t n, size_t words)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t *p = from + i * words;
		uint64_t *q = to + at[digit(*p, d)]++ * words;
		for (size_t k = 0; k < words; k++) {
			q[k] = p[k];
		}
	}
}

void usk_sort_rows(uint64_t *row, size_t n, size_t words)
{
	size_t at[DIGITS][VALUES] = { { 0 } };
	uint64_t *from = row, *to = n ? usk_grow(NULL, n, words * sizeof *to) : NULL, *room = to;
	for (size_t i = 0; i < n; i++) {
		uint64_t key = row[i * words];
		for (int d = 0; d < DIGITS; d++) {
			at[d][digit(key, d)]++;
		}
	}
	for (int d = 0; d < DIGITS && n; d++) {
		if (at[d][digit(row[0], d)] == n) {
			continue; /* all have the same one */
		}
		for (size_t v = 0, sum = 0; v < VALUES; v++) {
			size_t count = at[d][v];
			at[d][v] = sum;
			sum += count;
		}
		if (words == 2) {
			move_rows(from, to, at[d], d, n, 2);
		} else if (words == 3) {
			move_rows(from, to, at[d], d, n, 3);
		} else {
			move_rows(from, to, at[d], d, n, words);
		}
		uint64_t *t = from;
		from = to;
		to = t;
	}
	if (from != row) {
		memcpy(row, from, n * words * sizeof *row);
	}
	free(room);
}

void usk_sort_by_key(void *item, void *room, size_t n, size_t size)
{
	/* Keys with their places are moved some times, and the items once. */
	uint64_t *row = n ? usk_grow(NULL, n, 2 * sizeof *row) : NULL;
	for (size_t i = 0; i < n; i++) {
		memcpy(&row[2 * i], (uint8_t *)item + i * size, sizeof *row);
		row[2 * i + 1] = i;
	}
	usk_sort_rows(row, n, 2);
	for (size_t i = 0; i < n; i++) {
		memcpy((uint8_t *)room + i * size, (uint8_t *)item + row[2 * i + 1] * size, size);
	}
	memcpy(item, room, n * size);
	free(row);
}

void usk_sort_numbers(int64_t *v, size_t n)
{
	if (n < SHORT) {
		if (n > 1) { /* of none there is no array either, and qsort() wants one */
			qsort(v, n, sizeof *v, usk_by_int64);
		}
		return;
	}
	/* Negative ones before the others. */
	uint64_t *key = usk_grow(NULL, n, sizeof *key);
	for (size_t i = 0; i < n; i++) {
		key[i] = (uint64_t)v[i] ^ UINT64_C(1) << 63;
	}
	usk_sort_rows(key, n, 1);
	for (size_t i = 0; i < n; i++) {
		v[i] = (int64_t)(key[i] ^ UINT64_C(1) << 63);
	}
	free(key);
}

size_t usk_sort_distinct(int64_t *v, size_t n)
{
	size_t m = 0;
	usk_sort_numbers(v, n);
	for (size_t i = 0; i < n; i++) {
		if (!i || v[i] != v[i - 1]) {
			v[m++] = v[i];
		}
	}
	return m;
}

void usk_most_before(int64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		v[i] = v[i - 1] > v[i] ? v[i - 1] : v[i];
	}
}

void usk_least_behind(int64_t *v, size_t n)
{
	for (size_t i = n; i-- > 1;) {
		v[i - 1] = v[i] < v[i - 1] ? v[i] : v[i - 1];
	}
}

/* ---- by members --------------------------------------------------------------------------------- */

static int compare_member(const struct usk_key *key, const void *a, const void *b)
{
	switch (key->kind) {
	case KEY_INT64:
		return usk_by_int64(a, b);
	case KEY_INT:
		return usk_order(*(const int *)a, *(const int *)b);
	case KEY_UINT64:
		return (*(const uint64_t *)a > *(const uint64_t *)b) -
		       (*(const uint64_t *)a < *(const uint64_t *)b);
	case KEY_UINT32:
		return usk_order(*(const uint32_t *)a, *(const uint32_t *)b);
	case KEY_UINT8:
		return *(const uint8_t *)a - *(const uint8_t *)b;
	case KEY_DOUBLE:
		return usk_by_double(a, b);
	default:
		return usk_by_string(a, b);
	}
}

int usk_order_by(const void *a, const void *b, const struct usk_key *key)
{
	int order = 0;
	for (; key->kind != KEYS_END && !order; key++) {
		order = compare_member(key, (const char *)a + key->at, (const char *)b + key->at);
		order = key->falling ? -order : order;
	}
	return order;
}

static int compare_rows(const void *a, const void *b, void *key)
{
	return usk_order_by(a, b, key);
}

void usk_sort(void *row, size_t n, size_t size, const struct usk_key *key)
{
	if (n > 1) {
		qsort_r(row, n, size, compare_rows, (void *)key);
	}
}

void *usk_find(const void *like, const void *row, size_t n, size_t size, const struct usk_key *key)
{
	const char *first = row;
	while (n) {
		const char *middle = first + n / 2 * size;
		int order = usk_order_by(like, middle, key);
		if (!order) {
			return (void *)middle;
		}
		first = order < 0 ? first : middle + size;
		n = order < 0 ? n / 2 : n - n / 2 - 1;
	}
	return NULL;
}
