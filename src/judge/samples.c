/* SPDX-License-Identifier: MIT */
/*
 * samples.c - what is kept of a pair to judge it by, once its clocks are known
 *
 * In    messages and broadcasts as they are read
 * Out   delays and differences of reception, as recorded and as corrected
 * Why   Ashton 6.1 and Poirier 4.1 ask for them after correction, and that is known at the end only
 * Not   inversions and what is too fast: no message may be missing there (judge.c)
 */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_MSGS = 8192,
	LEAST_MSGS = 64,
	ALL_MSGS = 1 << 19,
	MOST_BROADCASTS = 1 << 18,
	BLOCK = 512
};

const struct usk_difference usk_no_difference = { 0, USK_NONE, USK_NONE, USK_NONE, USK_NONE };

/* Every stride-th of the items that come next; where there are too many, every other one goes
 * first. */
static void *take(struct usk_thinner *t, void *row, size_t *n, size_t *cap, size_t most,
		  const void *items, size_t many, size_t size)
{
	const char *item = items;
	t->stride = t->stride ? t->stride : 1;
	for (;;) {
		uint64_t skip = -t->seen & (t->stride - 1); /* a power of two */
		if (skip >= many) {
			t->seen += many;
			return row;
		}
		if (*n == most) {
			for (size_t k = 1; k < most / 2; k++) {
				memcpy((char *)row + k * size, (char *)row + 2 * k * size, size);
			}
			*n = most / 2;
			t->stride *= 2;
			continue;
		}
		item += skip * size;
		row = usk_room(row, *n, cap, size);
		memcpy((char *)row + (*n)++ * size, item, size);
		item += size;
		many -= skip + 1;
		t->seen += skip + 1;
	}
}

size_t usk_delay_samples_share(size_t pairs)
{
	size_t n = ALL_MSGS / (pairs ? pairs : 1) / 2 * 2;
	return n > MOST_MSGS ? MOST_MSGS : n < LEAST_MSGS ? LEAST_MSGS : n;
}

void usk_delay_samples_msgs(struct usk_delay_samples *w, const struct usk_msg *msg, size_t n)
{
	w->msg = take(&w->msgs, w->msg, &w->n_msgs, &w->cap_msgs, w->most ? w->most : MOST_MSGS,
		      msg, n, sizeof *msg);
}

void usk_delay_samples_broadcasts(struct usk_delay_samples *w,
				  const struct usk_reception *broadcasts, size_t n)
{
	w->broadcasts = take(&w->received, w->broadcasts, &w->n_broadcasts, &w->cap_broadcasts,
			     MOST_BROADCASTS, broadcasts, n, sizeof *broadcasts);
}

void usk_delay_samples_settle(struct usk_delay_samples *w)
{
	w->cap_msgs = w->msg ? w->n_msgs : 0;
	w->msg = w->msg ? usk_grow(w->msg, w->n_msgs, sizeof *w->msg) : NULL;
	w->cap_broadcasts = w->broadcasts ? w->n_broadcasts : 0;
	w->broadcasts = w->broadcasts
				? usk_grow(w->broadcasts, w->n_broadcasts, sizeof *w->broadcasts)
				: NULL;
}

void usk_delay_samples_free(struct usk_delay_samples *w)
{
	USK_FREE(w->msg, w->broadcasts);
	*w = (struct usk_delay_samples){ 0 };
}

void usk_delay_samples_delays(const struct usk_delay_samples *w, uint32_t a,
			      const struct usk_map *map_a, const struct usk_map *map_b,
			      struct usk_delays out[2])
{
	struct usk_judge j = { .a = a, .map_a = map_a, .map_b = map_b, .with_delays = true };
	usk_judge_add(&j, w->msg, w->n_msgs);
	out[0] = usk_judge_delays(&j, false);
	out[1] = usk_judge_delays(&j, true);
	usk_judge_free(&j);
}

struct usk_difference usk_delay_samples_difference(const struct usk_delay_samples *w,
						   const struct usk_map *map_a,
						   const struct usk_map *map_b)
{
	struct usk_difference d = usk_no_difference;
	usk_i128 sum = 0;
	double square = 0;
	int64_t origin = 0;
	for (size_t from = 0, m; from < w->n_broadcasts; from += m) {
		int64_t a[BLOCK], b[BLOCK], on_a[BLOCK], on_b[BLOCK];
		m = w->n_broadcasts - from < BLOCK ? w->n_broadcasts - from : BLOCK;
		for (size_t i = 0; i < m; i++) {
			a[i] = w->broadcasts[from + i].a_ns;
			b[i] = w->broadcasts[from + i].b_ns;
		}
		usk_judge_correct(map_a, a, m, on_a);
		usk_judge_correct(map_b, b, m, on_b);
		for (size_t i = 0; i < m; i++) {
			int64_t v = usk_saturate((usk_i128)on_b[i] - on_a[i]);
			v = v == INT64_MIN ? -INT64_MAX : v;
			origin = d.n ? origin : v;
			d.min_ns = !d.n || v < d.min_ns ? v : d.min_ns;
			d.max_ns = !d.n || v > d.max_ns ? v : d.max_ns;
			d.n++;
			sum += v;
			/* From the first one: squares of an offset of hours would hide the rest. */
			double far = (double)((usk_i128)v - origin);
			square += far * far;
		}
	}
	if (d.n) {
		usk_i128 n = (usk_i128)d.n;
		double mean = (double)(sum - n * origin) / (double)d.n;
		double variance = square / (double)d.n - mean * mean;
		d.mean_ns = (int64_t)usk_floor_div(2 * sum + n, 2 * n);
		d.sd_ns = (int64_t)llround(sqrt(variance > 0 ? variance : 0));
	}
	return d;
}

struct usk_difference usk_differences_add(struct usk_difference a, struct usk_difference b)
{
	if (!a.n || !b.n) {
		return a.n ? a : b;
	}
	usk_i128 n = (usk_i128)a.n + b.n;
	usk_i128 sum = (usk_i128)a.n * a.mean_ns + (usk_i128)b.n * b.mean_ns;
	double apart = (double)((usk_i128)a.mean_ns - b.mean_ns), whole = (double)n;
	double variance = ((double)a.n * (double)a.sd_ns * (double)a.sd_ns +
			   (double)b.n * (double)b.sd_ns * (double)b.sd_ns +
			   (double)a.n * (double)b.n / whole * apart * apart) /
			  whole;
	a.n += b.n;
	a.min_ns = a.min_ns < b.min_ns ? a.min_ns : b.min_ns;
	a.max_ns = a.max_ns > b.max_ns ? a.max_ns : b.max_ns;
	a.mean_ns = (int64_t)usk_floor_div(2 * sum + n, 2 * n);
	a.sd_ns = variance < 0x1p62 * 0x1p62 ? (int64_t)llround(sqrt(variance)) : USK_TIME_MAX;
	return a;
}

void usk_delay_samples_pair(const struct usk_delay_samples *w, bool corrected,
			    const struct usk_map *map_a, const struct usk_map *map_b,
			    struct usk_pair *pair)
{
	static const struct usk_delay_samples nothing;
	struct usk_delays d[2];
	usk_delay_samples_delays(corrected ? w : &nothing, pair->a, map_a, map_b, d);
	for (int i = 0; i < 2; i++) {
		/* All messages have told the smallest one; of the largest only a part has. */
		int64_t min = i ? pair->min_delay_b_to_a_ns : pair->min_delay_a_to_b_ns;
		d[i].min_ns = d[i].n && min != USK_NONE && min < d[i].min_ns ? min : d[i].min_ns;
		d[i].max_ns = w->msgs.stride > 1 ? USK_NONE : d[i].max_ns;
	}
	pair->corrected_a_to_b = d[0];
	pair->corrected_b_to_a = d[1];
	pair->broadcasts_recorded = usk_delay_samples_difference(w, NULL, NULL);
	pair->broadcasts_corrected =
		corrected ? usk_delay_samples_difference(w, map_a, map_b) : usk_no_difference;
}
