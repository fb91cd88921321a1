/* SPDX-License-Identifier: MIT */
/*
 * meet.c - what two bands of one clock say together
 *
 * In    two links of the same clock against the same reference
 * Out   the smaller U and the larger L of them at every moment
 * Why   both hold the truth; so no answer needs to be wider than another that is known
 *
 * Between neighbouring knots of either both are straight, so they cross once at most: there a knot
 * on either side of the crossing.
 */
#include "fit/fit.h"
#include "solve/link.h"
#include "solve/times.h"

#include <stdlib.h>
#include <string.h>

static void add_crossing(struct usk_times *t, const struct usk_link *a, const struct usk_link *b,
			 enum usk_curve c, int64_t from, int64_t to, usk_hint at[2])
{
	usk_i128 d0 = (usk_i128)usk_link_at(a, c, from, &at[0]) - usk_link_at(b, c, from, &at[1]);
	usk_i128 d1 = (usk_i128)usk_link_at(a, c, to, &at[0]) - usk_link_at(b, c, to, &at[1]);
	if ((d0 < 0) == (d1 < 0) || !d0 || !d1) {
		return;
	}
	d0 = d0 < 0 ? -d0 : d0;
	d1 = d1 < 0 ? -d1 : d1;
	/* Differences of rounded numbers: within a ns of the crossing where it matters. */
	int64_t x = from + (int64_t)usk_floor_div(d0 * ((usk_i128)to - from), d0 + d1);
	usk_times_add(t, x);
	usk_times_add(t, x + 1);
}

/* Knots of both, and where they cross. */
static struct usk_times knots_of(const struct usk_link *a, const struct usk_link *b)
{
	struct usk_times t = { 0 };
	usk_hint at[3][2] = { { 0 } };
	for (size_t i = 0; i < a->n; i++) {
		usk_times_add(&t, a->knot[i].local_ns);
	}
	for (size_t i = 0; i < b->n; i++) {
		usk_times_add(&t, b->knot[i].local_ns);
	}
	usk_times_settle(&t);
	size_t n = t.n;
	for (size_t i = 0; i + 1 < n; i++) {
		for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c += 2) {
			if (a->has[c] && b->has[c]) {
				add_crossing(&t, a, b, c, t.x[i], t.x[i + 1], at[c]);
			}
		}
	}
	usk_times_settle(&t);
	return t;
}

struct usk_link usk_link_meet(const struct usk_link *a, const struct usk_link *b)
{
	struct usk_times t = knots_of(a, b);
	struct usk_link out = { .n = t.n, .skew_e12 = a->skew_e12 };
	usk_hint at[2][3] = { { 0 } };
	out.knot = usk_alloc(out.n, sizeof *out.knot);
	for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
		out.has[c] = a->has[c] || b->has[c];
	}
	for (size_t i = 0; i < t.n; i++) {
		int64_t v[2][3], *k = v[0];
		for (int of = 0; of < 2; of++) {
			const struct usk_link *l = of ? b : a;
			for (enum usk_curve c = USK_LOWER; c <= USK_UPPER; c++) {
				v[of][c] = USK_NONE;
				if (l->has[c]) {
					v[of][c] = usk_cut(
						(usk_i128)usk_link_at(l, c, t.x[i], &at[of][c]) -
						t.x[i]);
				}
			}
		}
		int64_t lo = k[USK_LOWER] == USK_NONE ||
					     (b->has[USK_LOWER] && v[1][USK_LOWER] > k[USK_LOWER])
				     ? v[1][USK_LOWER]
				     : k[USK_LOWER];
		int64_t hi = k[USK_UPPER] == USK_NONE ||
					     (b->has[USK_UPPER] && v[1][USK_UPPER] < k[USK_UPPER])
				     ? v[1][USK_UPPER]
				     : k[USK_UPPER];
		if (lo != USK_NONE && hi != USK_NONE && lo > hi) {
			lo = k[USK_LOWER]; /* they contradict each other: a's alone */
			hi = k[USK_UPPER];
		}
		int64_t mid = a->has[USK_MIDDLE] ? k[USK_MIDDLE] : v[1][USK_MIDDLE];
		if (mid != USK_NONE && lo != USK_NONE && mid < lo) {
			mid = lo;
		}
		if (mid != USK_NONE && hi != USK_NONE && mid > hi) {
			mid = hi;
		}
		out.knot[i] = (struct usk_knot){ t.x[i], mid, lo, hi, a->knot[0].epoch };
	}
	free(t.x);
	return out;
}
