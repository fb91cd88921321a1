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

struct usk_bins {
	size_t most;
	int64_t width;
	uint64_t n;
	int64_t min, max;
	struct usk_index cells; /* how many values are in [a, a + 1) x width */
};

enum { FEWEST = 10, MOST = 100 };
#define WIDEST INT64_C(1000000000000000000)

struct usk_bins *usk_bins_new(size_t most)
{
	struct usk_bins *b = usk_alloc(1, sizeof *b);
	b->most = most < 16 ? 16 : most;
	b->width = 1;
	return b;
}

void usk_bins_free(struct usk_bins *b)
{
	if (b) {
		usk_index_free(&b->cells);
		free(b);
	}
}

static int64_t cell_of(int64_t value, int64_t width)
{
	return value / width - (value % width < 0);
}

static void widen(struct usk_bins *b)
{
	struct usk_index old = b->cells;
	b->cells = (struct usk_index){ 0 };
	b->width *= 10;
	for (size_t i = 0; i < old.n_slots; i++) {
		if (old.slot[i].value) {
			int64_t at = cell_of((int64_t)old.slot[i].a, 10);
			*usk_index_value(&b->cells, (uint64_t)at, 0) += old.slot[i].value;
		}
	}
	usk_index_free(&old);
}

void usk_bins_add(struct usk_bins *b, int64_t value)
{
	b->min = !b->n || value < b->min ? value : b->min;
	b->max = !b->n || value > b->max ? value : b->max;
	b->n++;
	++*usk_index_value(&b->cells, (uint64_t)cell_of(value, b->width), 0);
	while (b->cells.n > b->most && b->width < WIDEST) {
		widen(b);
	}
}

static int by_place(const void *pa, const void *pb)
{
	const struct usk_slot *a = pa, *b = pb;
	return usk_order((int64_t)a->a, (int64_t)b->a);
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
	struct usk_slot *cell = usk_alloc(b->cells.n, sizeof *cell);
	int64_t body = bins_for(b->n);
	size_t n = 0;
	for (size_t i = 0; i < b->cells.n_slots; i++) {
		if (b->cells.slot[i].value) {
			cell[n++] = b->cells.slot[i];
		}
	}
	qsort(cell, n, sizeof *cell, by_place);
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
