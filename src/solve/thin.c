/* SPDX-License-Identifier: MIT */
/*
 * thin.c - fewer knots for a band that holds the same
 *
 * In    a band
 * Out   a band around it with as many knots as were asked for
 * Why   a chain of clocks would multiply its knots with every link
 * Not   bands that shrink
 *
 * A knot may go if the chord of those that stay passes it within a tolerance, on either side; then
 * the ends of a chord are lifted by what it would cut off. The tolerance is the smallest power of
 * two that leaves few enough.
 */
#include "fit/fit.h"
#include "solve/link.h"

#include <stdlib.h>
#include <string.h>

static int64_t offset(const struct usk_knot *k, enum usk_curve c)
{
	return c == USK_LOWER ? k->lo_ns : c == USK_UPPER ? k->hi_ns : k->offset_ns;
}

static struct usk_slope slope(const struct usk_knot *a, const struct usk_knot *b, enum usk_curve c,
			      int64_t more)
{
	return (struct usk_slope){ (usk_i128)offset(b, c) - offset(a, c) + more,
				   (usk_i128)b->local_ns - a->local_ns };
}

/* Slopes of chords from one knot that pass all knots so far within the tolerance. */
struct funnel {
	bool any;
	struct usk_slope min, max;
};

static bool passes(const struct funnel *f, struct usk_slope s)
{
	return !f->any || (usk_slope_cmp(s, f->min) >= 0 && usk_slope_cmp(s, f->max) <= 0);
}

static void narrow(struct funnel *f, struct usk_slope min, struct usk_slope max)
{
	f->min = !f->any || usk_slope_cmp(min, f->min) > 0 ? min : f->min;
	f->max = !f->any || usk_slope_cmp(max, f->max) < 0 ? max : f->max;
	f->any = true;
}

/* The knots that stay, greedily from the left; returns how many. */
static size_t choose(const struct usk_link *b, int64_t tolerance, size_t *stay)
{
	size_t n = 0;
	for (size_t i = 0;;) {
		struct funnel f[3] = { { .any = false } };
		stay[n++] = i;
		if (i + 1 == b->n) {
			return n;
		}
		size_t last = i + 1;
		bool open = true;
		for (size_t k = i + 1; k < b->n && open; k++) {
			bool good = true;
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
				good = good &&
				       (!b->has[c] ||
					passes(&f[c], slope(&b->knot[i], &b->knot[k], c, 0)));
			}
			last = good ? k : last;
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
				if (b->has[c]) {
					narrow(&f[c],
					       slope(&b->knot[i], &b->knot[k], c, -tolerance),
					       slope(&b->knot[i], &b->knot[k], c, tolerance));
					open = open && usk_slope_cmp(f[c].min, f[c].max) <= 0;
				}
			}
		}
		i = last;
	}
}

/* By how much the chord from a to b cuts off the knots between. */
static int64_t cut_off(const struct usk_link *b, enum usk_curve c, size_t from, size_t to)
{
	int64_t most = 0;
	const struct usk_knot *k = &b->knot[from], *end = &b->knot[to];
	usk_i128 rise = (usk_i128)offset(end, c) - offset(k, c);
	usk_i128 run = (usk_i128)end->local_ns - k->local_ns;
	for (size_t i = from + 1; i < to; i++) {
		usk_i128 over = rise * ((usk_i128)b->knot[i].local_ns - k->local_ns);
		usk_i128 chord = offset(k, c) + (c == USK_UPPER ? usk_floor_div(over, run)
								: usk_ceil_div(over, run));
		usk_i128 cut = offset(&b->knot[i], c) - chord;
		cut = c == USK_UPPER ? cut : -cut;
		most = cut > most ? usk_saturate(cut) : most;
	}
	return most;
}

/* Only stay[n] of the knots, and lifted. */
static void keep(struct usk_link *b, const size_t *stay, size_t n)
{
	struct usk_knot *k = usk_alloc(n, sizeof *k);
	for (size_t i = 0; i < n; i++) {
		k[i] = b->knot[stay[i]];
	}
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
		for (size_t i = 0; b->has[c] && i + 1 < n; i++) {
			/* Lifting either end lifts the chord; each end by the more of its two. */
			int64_t by = cut_off(b, c, stay[i], stay[i + 1]);
			for (size_t end = i; end <= i + 1; end++) {
				const struct usk_knot *was = &b->knot[stay[end]];
				if (c == USK_UPPER) {
					int64_t hi = usk_cut((usk_i128)was->hi_ns + by);
					k[end].hi_ns = hi > k[end].hi_ns ? hi : k[end].hi_ns;
				} else {
					int64_t lo = usk_cut((usk_i128)was->lo_ns - by);
					k[end].lo_ns = lo < k[end].lo_ns ? lo : k[end].lo_ns;
				}
			}
		}
	}
	struct usk_link out = usk_link_of(k, n, b->skew_e12);
	free(k);
	usk_link_free(b);
	*b = out;
}

void usk_link_smooth(struct usk_link *b, int64_t tolerance_ns)
{
	size_t *stay = usk_alloc(b->n, sizeof *stay), n = choose(b, tolerance_ns, stay);
	if (n < b->n) {
		keep(b, stay, n);
	}
	free(stay);
}

void usk_link_thin(struct usk_link *b, size_t most)
{
	size_t *stay = usk_alloc(b->n, sizeof *stay), n = b->n;
	for (int64_t tolerance = 1; n > most && n > 2; tolerance *= 2) {
		n = choose(b, tolerance, stay);
		if (tolerance >= USK_TIME_MAX) {
			break;
		}
	}
	if (n < b->n) {
		keep(b, stay, n);
	}
	free(stay);
}
