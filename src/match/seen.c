/* SPDX-License-Identifier: MIT */
/*
 * seen.c - do two clocks show the same order?
 *
 * In    what two clocks showed when the same packets passed, in the order in which they passed one
 * Out   whether the other one showed less later, by more than ways differ
 * Why   no clock runs backwards: then one of the two was set back, or what it stamped is out of order
 * Not   which of them, and where (epochs.c, rows.c)
 *
 * A few of them are of different packets that look alike: these lie near no neighbour.
 */
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

/* Ways differ by so many times what they differ by between neighbours. */
enum { USUAL = 32 };

#define LEAST_FALL  INT64_C(1000000)
#define LEAST_KNOWN INT64_C(1000000000)

static int64_t apart(int64_t a, int64_t b)
{
	return usk_saturate(a < b ? (usk_i128)b - a : (usk_i128)a - b);
}

/* By how much ways differ at most, as far as neighbours of each part tell. prev: of each the last one
 * of its part. */
static int64_t ways_of(const struct usk_seen *s, size_t n, const size_t *prev)
{
	int64_t *d = usk_alloc(n + 1, sizeof *d);
	size_t k = 0;
	for (size_t i = 0; i < n; i++) {
		if (prev[i] != SIZE_MAX) {
			const struct usk_seen *a = &s[prev[i]], *b = &s[i];
			d[k++] = apart(usk_saturate((usk_i128)b->p_ns - a->p_ns),
				       usk_saturate((usk_i128)b->q_ns - a->q_ns));
		}
	}
	usk_sort_numbers(d, k);
	usk_i128 ways = k ? (usk_i128)d[k / 2] * USUAL + LEAST_FALL : LEAST_KNOWN;
	free(d);
	return usk_saturate(ways);
}

static bool near(const struct usk_seen *a, const struct usk_seen *b, int64_t ways)
{
	int64_t p = usk_saturate((usk_i128)b->p_ns - a->p_ns);
	int64_t q = usk_saturate((usk_i128)b->q_ns - a->q_ns);
	return apart(p, q) <= (usk_i128)ways + apart(a->q_ns, b->q_ns) / 1000;
}

static size_t *neighbours(const struct usk_seen *s, size_t n)
{
	uint32_t most = 0;
	for (size_t i = 0; i < n; i++) {
		most = s[i].part > most ? s[i].part : most;
	}
	size_t *prev = usk_alloc(n + 1, sizeof *prev);
	size_t *last = usk_alloc((size_t)most + 1, sizeof *last);
	memset(last, 0xff, ((size_t)most + 1) * sizeof *last);
	for (size_t i = 0; i < n; i++) {
		prev[i] = last[s[i].part];
		last[s[i].part] = i;
	}
	free(last);
	return prev;
}

size_t usk_seen_agreeing(struct usk_seen *s, size_t n, int64_t *ways)
{
	size_t *prev = neighbours(s, n), kept = 0;
	bool *agrees = usk_alloc(n + 1, sizeof *agrees);
	*ways = ways_of(s, n, prev);
	for (size_t i = 0; i < n; i++) {
		if (prev[i] != SIZE_MAX && near(&s[prev[i]], &s[i], *ways)) {
			agrees[prev[i]] = agrees[i] = true;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (agrees[i]) {
			s[kept++] = s[i];
		}
	}
	USK_FREE(prev, agrees);
	return kept;
}

size_t usk_seen_fall(const struct usk_seen *s, size_t n, int64_t ways, bool parts)
{
	/* The highest, and the highest of all other parts. */
	struct usk_seen high = { -USK_TIME_MAX, 0, UINT32_MAX }, other = high;
	for (size_t i = 0; i < n; i++) {
		const bool same = parts && s[i].part == high.part;
		if ((usk_i128)(same ? other.p_ns : high.p_ns) - s[i].p_ns > ways) {
			return i;
		}
		if (s[i].p_ns > high.p_ns) {
			other = s[i].part == high.part ? other : high;
			high = s[i];
		} else if (s[i].part != high.part && s[i].p_ns > other.p_ns) {
			other = s[i];
		}
	}
	return SIZE_MAX;
}
