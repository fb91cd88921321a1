/* SPDX-License-Identifier: MIT */
/*
 * seen.c - do two clocks show the same order?
 *
 * In    what two clocks showed when the same packets passed, in the order in which they passed one
 * Out   whether the other one was set back meanwhile
 * Why   packets tell the order of a clock's files, and of its rows, where its stamps may not
 * Not   which of the two clocks it was, and where exactly (epochs.c, rows.c)
 *
 * Stamps fall where packets overtake each other, too, or wait in a queue. But of two packets that passed
 * in opposite directions one left p's machine and one came there. If both passed q's before two others did,
 * the one that left had left p's by then, and of the others the one that came did so later; so where p
 * shows more for each of the former than for each of the latter it, or q, was set back, whatever ways
 * were and whoever sent what. Where senders are known one of each is enough.
 *
 * A few sightings are of different packets that look alike: these lie near no neighbour.
 */
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

/* Ways differ by so many times what they differ by between neighbours. */
enum { USUAL = 32 };

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
	usk_i128 ways = k ? (usk_i128)d[k / 2] * USUAL + USK_LEAST_FALL : LEAST_KNOWN;
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

/* ---- orders that contradict each other ---------------------------------------------------------- */

struct talk {
	uint32_t with, part;
	uint64_t at;
};

/* Of each packet the next one of its conversation and part, if that went the other way; SIZE_MAX: it did
 * not. One of the two came from p, then, and one went there. */
static size_t *couples_of(const struct usk_seen *s, size_t n)
{
	struct talk *t = usk_alloc(n + 1, sizeof *t);
	size_t *next = usk_alloc(n + 1, sizeof *next);
	for (size_t i = 0; i < n; i++) {
		t[i] = (struct talk){ s[i].with, s[i].part, i };
		next[i] = SIZE_MAX;
	}
	usk_sort(t, n, sizeof *t, KEYS(BY(talk, with), BY(talk, part), BY(talk, at)));
	for (size_t i = 1; i < n; i++) {
		const struct talk *a = &t[i - 1], *b = &t[i];
		if (a->with == b->with && a->part == b->part && s[a->at].back != s[b->at].back) {
			next[a->at] = b->at;
		}
	}
	free(t);
	return next;
}

/* FEWEST say so, as some that look alike may be others. */
enum { FEWEST = 2, TOP = 2 * FEWEST };

/* What p showed of late, the most first; of no part more than FEWEST. */
struct top {
	int64_t p_ns[TOP];
	uint32_t part[TOP];
	size_t n;
};

static void put(struct top *t, int64_t p_ns, uint32_t part)
{
	size_t own = 0, last = 0, at;
	for (size_t i = 0; i < t->n; i++) {
		own += t->part[i] == part;
		last = t->part[i] == part ? i : last;
	}
	if (own == FEWEST && p_ns <= t->p_ns[last]) {
		return;
	}
	if (own == FEWEST) {
		for (t->n--; last < t->n; last++) {
			t->p_ns[last] = t->p_ns[last + 1];
			t->part[last] = t->part[last + 1];
		}
	}
	for (at = t->n; at && t->p_ns[at - 1] < p_ns; at--) {
		if (at < TOP) {
			t->p_ns[at] = t->p_ns[at - 1];
			t->part[at] = t->part[at - 1];
		}
	}
	if (at < TOP) {
		t->p_ns[at] = p_ns;
		t->part[at] = part;
		t->n += t->n < TOP;
	}
}

/* What FEWEST of other parts show at least. */
static int64_t shown_by(const struct top *t, uint32_t part)
{
	size_t others = 0;
	for (size_t i = 0; i < t->n; i++) {
		others += t->part[i] != part;
		if (others == FEWEST) {
			return t->p_ns[i];
		}
	}
	return INT64_MIN;
}

size_t usk_seen_fall(const struct usk_seen *s, size_t n)
{
	size_t *next = couples_of(s, n), *before = usk_alloc(n + 1, sizeof *before);
	size_t late = 0, first = SIZE_MAX;
	struct top top = { .n = 0 };
	memset(before, 0xff, (n + 1) * sizeof *before);
	for (size_t i = 0; i < n && late < FEWEST; i++) {
		const int64_t p = s[i].p_ns;
		if (next[i] != SIZE_MAX) {
			const int64_t other = s[next[i]].p_ns, most = p > other ? p : other;
			before[next[i]] = i;
			if ((usk_i128)shown_by(&top, s[i].part) - most > USK_LEAST_FALL) {
				first = late++ ? first : i;
			}
		}
		if (before[i] != SIZE_MAX) {
			const int64_t other = s[before[i]].p_ns;
			put(&top, p < other ? p : other, s[i].part);
		}
	}
	USK_FREE(next, before);
	return late == FEWEST ? first : SIZE_MAX;
}

bool usk_seen_contradict(const struct usk_seen *s, size_t n)
{
	/* What p showed when it sent those that had come to q by now: the highest first. */
	enum { ENOUGH = 8 }; /* more than are left out as wrong */
	int64_t sent_ns[ENOUGH];
	size_t sent = 0, came = 0, late = 0;
	for (size_t i = 0; i < n && late < ENOUGH; i++) {
		for (; came < i && s[came].q_ns < s[i].q_ns; came++) {
			int64_t t = s[came].p_ns;
			for (size_t k = 0; k < ENOUGH && !s[came].back; k++) {
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
		late += s[i].back && sent == ENOUGH &&
			(usk_i128)sent_ns[ENOUGH - 1] - s[i].p_ns > USK_LEAST_FALL;
	}
	return late == ENOUGH;
}
