/* SPDX-License-Identifier: MIT */
/*
 * bins.c - a histogram whose range is not known before the values are
 *
 * In    values in ns, any order
 * Out   counts in bins of one width, exact; the rule is in summary.h
 * Why   delays of two clocks an hour apart, or of a link with a long tail, fit no range that is
 *       chosen beforehand, and values are seen once
 * Not   bins by octaves (judge/judge.c): good for quantiles, hard to read
 */
#include "report/summary.h"

#include <stdlib.h>

/* How many values are in [cell, cell + 1) x width: of cells around the first value's in an array,
 * which most values are in, of others in an index. */
struct usk_bins {
	size_t most;
	int64_t width;
	uint64_t inverse; /* 2^64 / width, rounded down; not of 1 */
	uint64_t n;
	int64_t min, max;
	int64_t middle; /* the first value's cell, mostly */
	uint64_t *near; /* of cells from middle - n_near / 2 on; NULL before the first value */
	size_t n_near, used_near;
	struct usk_index far;
};

enum { FEWEST = 10, MOST = 100 };
#define WIDEST INT64_C(1000000000000000000)

struct usk_bins *usk_bins_new(size_t most)
{
	struct usk_bins *b = usk_alloc(1, sizeof *b);
	b->most = most < 16 ? 16 : most;
	b->n_near = 4 * b->most;
	b->width = 1;
	return b;
}

void usk_bins_free(struct usk_bins *b)
{
	if (b) {
		usk_index_free(&b->far);
		free(b->near);
		free(b);
	}
}

static int64_t cell_of(int64_t value, int64_t width)
{
	return value / width - (value % width < 0);
}

/* The same by a multiplication. The quotient is short by 1 at most, and of -1 - value that of value
 * is the complement. */
static inline int64_t cell_at(const struct usk_bins *b, int64_t value)
{
	uint64_t sign = value < 0 ? UINT64_MAX : 0, size = (uint64_t)value ^ sign;
	uint64_t width = (uint64_t)b->width;
	if (width == 1) {
		return value;
	}
	uint64_t cell = (uint64_t)((usk_u128)size * b->inverse >> 64);
	cell += size - cell * width >= width;
	return (int64_t)(cell ^ sign);
}

static int64_t near_cell(const struct usk_bins *b, size_t i)
{
	return b->middle + (int64_t)i - (int64_t)(b->n_near / 2);
}

/* Not under n_near: in the index. */
static inline uint64_t place_of(const struct usk_bins *b, int64_t cell)
{
	return (uint64_t)cell - (uint64_t)b->middle + b->n_near / 2;
}

static void count(struct usk_bins *b, int64_t cell, uint64_t n)
{
	uint64_t at = place_of(b, cell);
	if (at < b->n_near) {
		b->used_near += !b->near[at];
		b->near[at] += n;
	} else {
		*usk_index_value(&b->far, (uint64_t)cell, 0) += n;
	}
}

static void widen(struct usk_bins *b)
{
	struct usk_bins old = *b;
	b->far = (struct usk_index){ 0 };
	b->near = usk_alloc(b->n_near, sizeof *b->near);
	b->used_near = 0;
	b->width *= 10;
	b->inverse = (uint64_t)(((usk_u128)1 << 64) / (uint64_t)b->width);
	b->middle = cell_of(old.middle, 10);
	for (size_t i = 0; i < old.n_near; i++) {
		if (old.near[i]) {
			count(b, cell_of(near_cell(&old, i), 10), old.near[i]);
		}
	}
	for (size_t i = 0; i < old.far.n_slots; i++) {
		if (old.far.slot[i].value) {
			count(b, cell_of((int64_t)old.far.slot[i].a, 10), old.far.slot[i].value);
		}
	}
	usk_index_free(&old.far);
	free(old.near);
}

/* As many of value[n] as are near, from the first on. */
static size_t add_near(struct usk_bins *b, const int64_t *value, size_t n)
{
	uint64_t *near = b->near;
	const struct usk_bins of = *b;
	int64_t min = b->min, max = b->max;
	size_t i = 0, used = 0;
	for (; i < n; i++) {
		uint64_t at = place_of(&of, cell_at(&of, value[i]));
		if (at >= of.n_near) {
			break;
		}
		used += !near[at];
		near[at]++;
		min = value[i] < min ? value[i] : min;
		max = value[i] > max ? value[i] : max;
	}
	b->min = min;
	b->max = max;
	b->used_near += used;
	return i;
}

void usk_bins_add(struct usk_bins *b, const int64_t *value, size_t n)
{
	if (!b->n && n) {
		b->near = usk_alloc(b->n_near, sizeof *b->near);
		b->min = b->max = value[0];
		b->middle = (int64_t)usk_clamp(value[0], INT64_MIN / 2, INT64_MAX / 2);
	}
	b->n += n;
	for (size_t i = add_near(b, value, n); i < n; i += add_near(b, value + i, n - i)) {
		b->min = value[i] < b->min ? value[i] : b->min;
		b->max = value[i] > b->max ? value[i] : b->max;
		count(b, cell_at(b, value[i++]), 1);
	}
	while (b->used_near + b->far.n > b->most && b->width < WIDEST) {
		widen(b);
	}
}

static int by_place(const void *pa, const void *pb)
{
	const struct usk_slot *a = pa, *b = pb;
	return usk_order((int64_t)a->a, (int64_t)b->a);
}

/* All that are in use, in order; *out is handed over. */
static size_t cells_of(const struct usk_bins *b, struct usk_slot **out)
{
	struct usk_slot *cell = usk_alloc(b->used_near + b->far.n, sizeof *cell);
	size_t n = 0;
	for (size_t i = 0; i < b->n_near; i++) {
		if (b->near[i]) {
			cell[n++] = (struct usk_slot){ (uint64_t)near_cell(b, i), 0, b->near[i] };
		}
	}
	for (size_t i = 0; i < b->far.n_slots; i++) {
		if (b->far.slot[i].value) {
			cell[n++] = b->far.slot[i];
		}
	}
	if (b->far.n) {
		qsort(cell, n, sizeof *cell, by_place);
	}
	*out = cell;
	return n;
}

/* Lower edge of the fine bin that the k-th value (from 0) is in. */
static int64_t value_at(const struct usk_bins *b, const struct usk_slot *cell, uint64_t k)
{
	size_t i = 0;
	for (uint64_t sum = cell[0].value; sum <= k; sum += cell[i].value) {
		i++;
	}
	usk_i128 edge = (usk_i128)(int64_t)cell[i].a * b->width;
	return edge < b->min ? b->min : (int64_t)edge;
}

/* 1, 2, 5, 10, 20, 50 ... */
static int64_t next_width(int64_t width)
{
	int64_t lead = width;
	while (lead >= 10) {
		lead /= 10;
	}
	return lead == 2 ? width / 2 * 5 : width * 2;
}

/* Bins that values up to the 99th percentile may take: 2 sqrt(n), between 10 and 100. */
static int64_t bins_for(uint64_t n)
{
	int64_t bins = FEWEST;
	while (bins < MOST && (uint64_t)(bins * bins) < 4 * n) {
		bins++;
	}
	return bins;
}

void usk_bins_show(const struct usk_bins *b, struct usk_bins_shown *out)
{
	*out = (struct usk_bins_shown){ .n = b->n };
	if (!b->n) {
		return;
	}
	struct usk_slot *cell;
	int64_t body = bins_for(b->n);
	size_t n = cells_of(b, &cell);
	out->min_ns = b->min;
	out->max_ns = b->max;
	out->median_ns = value_at(b, cell, b->n / 2);
	out->p99_ns = value_at(b, cell, b->n - 1 - b->n / 100);
	out->fine_ns = out->bin_ns = b->width;
	while (out->bin_ns < WIDEST &&
	       (usk_i128)cell_of(out->p99_ns, out->bin_ns) - cell_of(b->min, out->bin_ns) >= body) {
		out->bin_ns = next_width(out->bin_ns);
	}
	int64_t first = cell_of(b->min, out->bin_ns);
	usk_i128 low = (usk_i128)first * out->bin_ns;
	out->low_ns = usk_saturate(low);
	for (size_t i = 0; i < n; i++) {
		usk_i128 at = (usk_i128)cell_of((int64_t)cell[i].a, out->bin_ns / b->width) - first;
		if (at < USK_BINS_SHOWN) {
			out->bin[at] += cell[i].value;
			out->n_bins = (size_t)at + 1;
		} else {
			out->above += cell[i].value;
		}
	}
	free(cell);
}
