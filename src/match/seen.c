/* SPDX-License-Identifier: MIT */
/*
 * seen.c - do two clocks show the same order?
 *
 * In    what two clocks showed when the same packets passed, in the order in which they passed one
 * Out   whether the other one was set back meanwhile
 * Why   packets tell the order of a clock's files, and of its rows, where its stamps may not
 * Not   which of the two clocks it was, and where exactly (epochs.c, rows.c)
 *
 * Stamps fall where packets overtake each other, too, or wait in a queue. But p - q is too large by
 * the way of a packet that came to p's machine, and too small by that of one that left it. So among
 * packets of both directions one at least is no larger than the clocks were apart, and one no
 * smaller: if all before are larger than all after, p was set back, or q forward, whatever ways were.
 *
 * A few sightings are of different packets that look alike: these lie near no neighbour.
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

/* Packets before or behind a place, until some are of both directions. */
struct window {
	int64_t least, most; /* p - q */
	int64_t from_ns, to_ns;
	bool both;
};

enum { FEWEST = 4, MOST = 64 };

static int64_t offset_of(const struct usk_seen *s)
{
	return usk_saturate((usk_i128)s->p_ns - s->q_ns);
}

static struct window window_of(const struct usk_seen *s, size_t n, size_t at, bool behind)
{
	struct window w = { INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, false };
	for (size_t k = 0; k < MOST && (k < FEWEST || !w.both); k++) {
		const size_t i = behind ? at + k : at - 1 - k;
		if (i >= n) { /* below 0, too */
			break;
		}
		for (size_t m = 0; m < k && !w.both; m++) {
			const struct usk_seen *x = &s[behind ? at + m : at - 1 - m];
			w.both = x->with == s[i].with && x->back != s[i].back;
		}
		int64_t offset = offset_of(&s[i]), q = s[i].q_ns;
		w.least = offset < w.least ? offset : w.least;
		w.most = offset > w.most ? offset : w.most;
		w.from_ns = q < w.from_ns ? q : w.from_ns;
		w.to_ns = q > w.to_ns ? q : w.to_ns;
	}
	return w;
}

/* By how much p was set back at least before this one; rates differ by 500 ppm at most. */
static usk_i128 set_back_at(const struct usk_seen *s, size_t n, size_t at)
{
	const struct window before = window_of(s, n, at, false), after = window_of(s, n, at, true);
	if (!before.both || !after.both) {
		return 0;
	}
	int64_t from = before.from_ns < after.from_ns ? before.from_ns : after.from_ns;
	int64_t to = before.to_ns > after.to_ns ? before.to_ns : after.to_ns;
	return (usk_i128)before.least - after.most - ((usk_i128)to - from) / 2000;
}

/* Since it showed the most it has fallen by so much: because the clock was set back? */
static bool was_set_back(const struct usk_seen *s, size_t n, size_t most, size_t at)
{
	const usk_i128 fall = (usk_i128)s[most].p_ns - s[at].p_ns;
	for (size_t k = 0; k < MOST && at - k > most; k++) {
		usk_i128 by = set_back_at(s, n, at - k);
		if (by > 0 && fall > by / 2) {
			return true;
		}
	}
	return false;
}

size_t usk_seen_fall(const struct usk_seen *s, size_t n)
{
	/* The highest, and the highest of all other parts; SIZE_MAX: none yet. */
	size_t high = SIZE_MAX, other = SIZE_MAX, asked = 0;
	for (size_t i = 0; i < n; i++) {
		const bool same = high != SIZE_MAX && s[i].part == s[high].part;
		const size_t most = same ? other : high;
		if (most != SIZE_MAX && (usk_i128)s[most].p_ns - s[i].p_ns > LEAST_FALL &&
		    i >= asked) {
			if (was_set_back(s, n, most, i)) {
				return i;
			}
			asked = i + FEWEST; /* the next ones say the same */
		}
		if (high == SIZE_MAX || s[i].p_ns > s[high].p_ns) {
			other = same ? other : high;
			high = i;
		} else if (!same && (other == SIZE_MAX || s[i].p_ns > s[other].p_ns)) {
			other = i;
		}
	}
	return SIZE_MAX;
}

bool usk_seen_contradict(const struct usk_seen *s, size_t n)
{
	/* What p showed when it sent those that had come to q by now: the highest first. */
	int64_t sent_ns[FEWEST];
	size_t sent = 0, came = 0, late = 0;
	for (size_t i = 0; i < n && late < FEWEST; i++) {
		for (; came < i && s[came].q_ns < s[i].q_ns; came++) {
			int64_t t = s[came].p_ns;
			for (size_t k = 0; k < FEWEST && !s[came].back; k++) {
				if (k == sent) {
					sent_ns[sent++] = t;
					break;
				}
				if (t > sent_ns[k]) {
					int64_t lower = sent_ns[k];
					sent_ns[k] = t;
					t = lower;
				}
			}
		}
		late += s[i].back && sent == FEWEST &&
			(usk_i128)sent_ns[FEWEST - 1] - s[i].p_ns > LEAST_FALL;
	}
	return late == FEWEST;
}
