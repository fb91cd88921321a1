/* SPDX-License-Identifier: MIT */
/*
 * judge.c - delays and violations of messages
 *
 * In    messages of a pair, and the two clocks' corrections or none
 * Out   inversions, too fast ones, delays in each direction
 * Why   Ashton 6.1 and Poirier 4.1: what a correction is worth shows in what it leaves wrong
 * Not   the truth, which only a simulation knows
 */
#include "judge/judge.h"
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 64, OCTAVES = 64, SIDE = STEPS * (OCTAVES - 5) };

/* Small values have a bucket each; above, the top 7 bits name it. */
static inline size_t bucket_of(uint64_t size)
{
	if (size < 2 * STEPS) {
		return (size_t)size;
	}
	unsigned shift = 57u - (unsigned)__builtin_clzll(size);
	return (size_t)shift * STEPS + (size_t)(size >> shift);
}

static uint64_t bucket_top(size_t b)
{
	if (b < 2 * STEPS) {
		return b;
	}
	unsigned shift = (unsigned)(b / STEPS) - 1;
	return ((uint64_t)(b % STEPS + STEPS) << shift) + (((uint64_t)1 << shift) - 1);
}

static struct usk_bar *bar_of(struct usk_histogram *h, size_t bucket)
{
	/* Most buckets are neighbours: a multiplication scatters them well enough. */
	size_t i = (size_t)(bucket * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (h->n_slots - 1);
	while (h->bar[i].count && h->bar[i].bucket != bucket) {
		i = (i + 1) & (h->n_slots - 1);
	}
	return &h->bar[i];
}

static void widen(struct usk_histogram *h)
{
	struct usk_bar *old = h->bar;
	size_t n = h->n_slots;
	h->n_slots = n ? 2 * n : 32;
	h->bar = usk_alloc(h->n_slots, sizeof *h->bar);
	for (size_t i = 0; i < n; i++) {
		if (old[i].count) {
			*bar_of(h, old[i].bucket) = old[i];
		}
	}
	free(old);
}

static inline void count_in(struct usk_histogram *h, size_t bucket)
{
	if (h->n_used * 2 >= h->n_slots) {
		widen(h);
	}
	struct usk_bar *bar = bar_of(h, bucket);
	if (!bar->count) {
		bar->bucket = bucket & UINT16_MAX;
		h->n_used++;
	}
	bar->count++;
}

/* So many are listed: a hash of them would be larger, and far from all else in memory. */
enum { FEW = 2048 };

/* The first FEW are listed; the next one turns the list into bars. Apart, as it is rare in a long run. */
static __attribute__((noinline)) void list_or_count(struct usk_histogram *h, size_t bucket)
{
	*USK_ADD(h->few, h->n_few, h->cap_few) = bucket & UINT16_MAX;
	if (h->n <= FEW) {
		return;
	}
	for (size_t i = 0; i < h->n_few; i++) {
		count_in(h, h->few[i]);
	}
	free(h->few);
	h->few = NULL;
	h->n_few = h->cap_few = 0;
}

void usk_histogram_add(struct usk_histogram *h, int64_t v)
{
	if (!h->n) {
		h->min = h->max = h->origin = v;
	}
	h->n++;
	h->min = v < h->min ? v : h->min;
	h->max = v > h->max ? v : h->max;
	bool above = v >= h->origin;
	uint64_t far =
		above ? (uint64_t)v - (uint64_t)h->origin : (uint64_t)h->origin - (uint64_t)v;
	/* What lies below begins at 1, so that the two sides share no bucket. */
	size_t bucket = above ? SIDE + bucket_of(far) : SIDE - 1 - bucket_of(far - 1);
	if (h->n <= FEW || h->few) {
		list_or_count(h, bucket);
	} else {
		count_in(h, bucket);
	}
}

enum { COUNT_BITS = 48 };
_Static_assert(2 * SIDE < 1 << (63 - COUNT_BITS), "a bucket and a count in one number");

/* Its bars in order, each its bucket and its count in one number, those that are listed one by one;
 * to be freed. */
static int64_t *sorted(const struct usk_histogram *h)
{
	int64_t *bar = usk_grow(NULL, h->n_used + h->n_few + 1, sizeof *bar);
	size_t n = 0;
	for (size_t i = 0; i < h->n_few; i++) {
		bar[n++] = ((int64_t)h->few[i] << COUNT_BITS) + 1;
	}
	for (size_t i = 0; i < h->n_slots; i++) {
		if (h->bar[i].count) {
			bar[n++] = ((int64_t)h->bar[i].bucket << COUNT_BITS) +
				   (int64_t)h->bar[i].count;
		}
	}
	usk_sort_numbers(bar, n);
	return bar;
}

void usk_histogram_quantiles(const struct usk_histogram *h, const double *share, size_t n,
			     int64_t *out)
{
	int64_t *bar = sorted(h);
	for (size_t k = 0; k < n; k++) {
		uint64_t want = (uint64_t)(share[k] * (double)h->n), sum = 0;
		size_t i = 0;
		if (!h->n) {
			out[k] = USK_NONE;
			continue;
		}
		while ((sum += (uint64_t)bar[i] & ((UINT64_C(1) << COUNT_BITS) - 1)) <= want &&
		       sum != h->n) {
			i++;
		}
		size_t at = (size_t)(bar[i] >> COUNT_BITS);
		usk_i128 far = at >= SIDE ? (usk_i128)bucket_top(at - SIDE)
					  : -(usk_i128)bucket_top(SIDE - 1 - at) - 1;
		usk_i128 v = h->origin + far;
		out[k] = v < h->min ? h->min : v > h->max ? h->max : (int64_t)v;
	}
	free(bar);
}

void usk_histogram_free(struct usk_histogram *h)
{
	free(h->bar);
	free(h->few);
	*h = (struct usk_histogram){ 0 };
}

enum { BLOCK = 512 };

uint64_t usk_judge_correct(const struct usk_map *m, const int64_t *t, size_t n, int64_t *out)
{
	uint64_t left = 0;
	if (!m) {
		memcpy(out, t, n * sizeof *t);
		return 0;
	}
	if (!usk_map_many(m, t, n, out, NULL)) {
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct usk_stamp s;
		bool known = !usk_map_at(m, t[i], &s, NULL) && s.reference_ns != USK_NONE;
		out[i] = known ? s.reference_ns : t[i];
		left += !known;
	}
	return left;
}

/* Directions come in no order that a processor could foresee: so they are an index, not a branch.
 */
static inline bool is_inverted(const struct usk_judge *j, size_t back, int64_t delay)
{
	const int64_t q[2] = { j->q_b_ns, j->q_a_ns };
	return delay < -q[back];
}

/* Is it inverted? */
static inline bool count(struct usk_judge *j, size_t back, int64_t delay, uint32_t bytes)
{
	bool inverted = is_inverted(j, back, delay);
	int64_t least = j->least[back] ? usk_delay_model_ns(j->least[back], bytes) : 0;
	bool first = !j->count[back]++;
	j->fastest[back] = first || delay < j->fastest[back] ? delay : j->fastest[back];
	j->slowest[back] = first || delay > j->slowest[back] ? delay : j->slowest[back];
	j->inversions[back] += inverted;
	if (delay < least) {
		usk_i128 off = (usk_i128)least - delay;
		j->too_fast[back]++;
		j->violation_sum += off;
		off = off > INT64_MAX ? INT64_MAX : off;
		j->violation_max = off > j->violation_max ? (int64_t)off : j->violation_max;
	}
	if (j->with_delays) {
		usk_histogram_add(&j->delay[back], delay);
	}
	return inverted;
}

/* Stamps may be 2^63 apart, a ns more than fits on either side. */
static inline int64_t delay_of(int64_t sent, int64_t received)
{
	int64_t d;
	if (__builtin_sub_overflow(received, sent, &d)) {
		return received > sent ? INT64_MAX : -INT64_MAX;
	}
	return d < -INT64_MAX ? -INT64_MAX : d;
}

int64_t usk_judge_excluded(const struct usk_map *from, const struct usk_map *to,
			   const struct usk_msg *msg, int64_t q_ns)
{
	int64_t later = usk_saturate((usk_i128)msg->received_ns + q_ns);
	struct usk_stamp sent = { .lo_ns = msg->sent_ns }, received = { .hi_ns = later };
	if ((from && usk_map_at(from, msg->sent_ns, &sent, NULL)) ||
	    (to && usk_map_at(to, later, &received, NULL)) || sent.lo_ns == USK_NONE ||
	    received.hi_ns == USK_NONE || received.hi_ns >= sent.lo_ns) {
		return 0;
	}
	return usk_saturate((usk_i128)sent.lo_ns - received.hi_ns);
}

static void keep(struct usk_judge *j, const struct usk_msg *msg)
{
	*USK_ADD(j->inverted, j->n_inverted, j->cap_inverted) = *msg;
}

/* Does the answer leave it out? */
static bool is_left_out(const struct usk_judge *j, const struct usk_msg *msg)
{
	return j->n_left_out &&
	       bsearch(msg, j->left_out, j->n_left_out, sizeof *msg, usk_msg_order);
}

static void keep_excluded(struct usk_judge *j, const struct usk_msg *msg, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool back = msg[i].from != j->a;
		if (usk_judge_excluded(back ? j->map_b : j->map_a, back ? j->map_a : j->map_b,
				       &msg[i], back ? j->q_a_ns : j->q_b_ns) &&
		    !is_left_out(j, &msg[i])) {
			keep(j, &msg[i]);
		}
	}
}

void usk_judge_add(struct usk_judge *j, const struct usk_msg *msg, size_t n)
{
	if (j->by_bounds) {
		keep_excluded(j, msg, n);
		return;
	}
	if (!j->map_a && !j->map_b) {
		for (size_t i = 0; i < n; i++) {
			count(j, msg[i].from != j->a, delay_of(msg[i].sent_ns, msg[i].received_ns),
			      msg[i].bytes);
		}
		return;
	}
	for (size_t m; n; msg += m, n -= m) {
		int64_t a[BLOCK], b[BLOCK], on_a[BLOCK], on_b[BLOCK];
		m = n < BLOCK ? n : BLOCK;
		for (size_t i = 0; i < m; i++) {
			const int64_t stamp[2] = { msg[i].sent_ns, msg[i].received_ns };
			size_t back = msg[i].from != j->a;
			a[i] = stamp[back];
			b[i] = stamp[!back];
		}
		j->uncorrected += usk_judge_correct(j->map_a, a, m, on_a) +
				  usk_judge_correct(j->map_b, b, m, on_b);
		for (size_t i = 0; i < m; i++) {
			const int64_t stamp[2] = { on_a[i], on_b[i] };
			size_t back = msg[i].from != j->a;
			int64_t delay = delay_of(stamp[back], stamp[!back]);
			if (is_left_out(j, &msg[i])) {
				j->left_out_inversions += is_inverted(j, back, delay);
				continue;
			}
			bool inverted = count(j, back, delay, msg[i].bytes);
			if (inverted && j->keep_inverted) {
				keep(j, &msg[i]);
			}
		}
	}
}

struct usk_delays usk_judge_delays(const struct usk_judge *j, bool back)
{
	const struct usk_histogram *h = &j->delay[back];
	struct usk_delays d = {
		.n = j->count[back],
		.inversions = j->inversions[back],
		.min_ns = USK_NONE,
		.median_ns = USK_NONE,
		.p99_ns = USK_NONE,
		.max_ns = USK_NONE,
	};
	if (h->n) {
		d.min_ns = h->min;
		const double share[] = { 0.5, 0.99 };
		int64_t at[COUNT(share)];
		usk_histogram_quantiles(h, share, COUNT(share), at);
		d.median_ns = at[0];
		d.p99_ns = at[1];
		d.max_ns = h->max;
	}
	return d;
}

struct usk_violations usk_judge_violations(const struct usk_judge *j)
{
	uint64_t all = j->count[0] + j->count[1];
	struct usk_violations v = { 0 };
	usk_violations_add(&v, j->too_fast[0] + j->too_fast[1], j->violation_sum, j->violation_max);
	v.percent = all ? 100.0 * (double)v.count / (double)all : 0;
	return v;
}

void usk_violations_add(struct usk_violations *all, uint64_t n, usk_i128 sum_ns, int64_t max_ns)
{
	sum_ns += (usk_i128)all->mean_ns * (usk_i128)all->count;
	all->count += n;
	all->max_ns = max_ns > all->max_ns ? max_ns : all->max_ns;
	all->mean_ns = all->count ? (int64_t)(sum_ns / (usk_i128)all->count) : 0;
}

void usk_judge_free(struct usk_judge *j)
{
	usk_histogram_free(&j->delay[0]);
	usk_histogram_free(&j->delay[1]);
	free(j->inverted);
	j->inverted = NULL;
	j->n_inverted = j->cap_inverted = 0;
}
