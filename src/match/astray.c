/* SPDX-License-Identifier: MIT */
/*
 * astray.c - is a clock of two times at once?
 *
 * In    sightings of two clocks
 * Out   how many of them agree with each other, and stand between others that say else
 * Why   of a clock that was set back, and whose records were sorted by stamps afterwards, stamps of two times are mixed
 * Not   which of the two clocks it is, clocks that an order of records parts (epochs.c), and tables, whose messages are
 *       all matched (graph/disturbed.c)
 *
 * In the order of a clock's stamps the other one goes on from packet to packet, but where one of them was set: then
 * some follow each other, and hardly come back to where others were. Of few between others some may look alike and be
 * others, anywhere, or were under way for long, or when a clock was set: these are of one direction.
 */
#include "match/match.h"

#include <stdlib.h>

/* A join by what one clock shows, and by how much the other one shows more. */
struct shown {
	int64_t ns, off_ns;
	uint64_t talk;	/* the same for both directions of a conversation */
	uint64_t run;	/* of joins that follow each other and agree */
	bool back, few; /* few: in its run */
};

/* How many of s[n] have another one of the other direction of their conversation. */
static size_t answered(struct shown *s, size_t n)
{
	size_t all = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, talk)));
	for (size_t i = 0, k; i < n; i = k) {
		size_t side[2] = { 0, 0 };
		for (k = i; k < n && s[k].talk == s[i].talk; k++) {
			side[s[k].back]++;
		}
		all += side[0] < side[1] ? side[0] : side[1];
	}
	return all;
}

static bool apart(const struct shown *a, const struct shown *b, int64_t by)
{
	usk_i128 d = (usk_i128)a->off_ns - b->off_ns;
	return d > by || -d > by;
}

static size_t number_runs(struct shown *s, size_t n)
{
	enum { RUN = 4 };
	size_t few = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, ns)));
	for (size_t i = 0, k, runs = 0; i < n; i = k, runs++) {
		for (k = i + 1; k < n && !apart(&s[k - 1], &s[k], USK_COARSE_FOLLOWS_NS); k++) {
		}
		for (size_t m = i; m < k; m++) {
			s[m].run = runs;
			s[m].few = k - i < RUN;
			few += s[m].few;
		}
	}
	return few;
}

/* s[n] agree. Those that are few between others; all but the most in a row, if they are so again and again. */
static size_t between(struct shown *s, size_t n)
{
	enum { OFTEN = 3 };
	size_t runs = 0, few = 0, longest = 0;
	uint64_t main_run = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, run)));
	for (size_t i = 0, k; i < n; i = k, runs++) {
		for (k = i + 1; k < n && s[k].run == s[i].run; k++) {
		}
		if (k - i > longest) {
			longest = k - i;
			main_run = s[i].run;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (s[i].few || (runs >= OFTEN && s[i].run != main_run)) {
			s[few++] = s[i];
		}
	}
	return few;
}

/* The end of those from i on that agree with the one before, in the order of how far apart the clocks are. */
static size_t agreeing(const struct shown *s, size_t n, size_t i)
{
	for (i++; i < n && !apart(&s[i - 1], &s[i], USK_COARSE_AGREES_NS); i++) {
	}
	return i;
}

/* By what one of the clocks shows: the most that agree, but for those that most do, if they are of both directions
 * and no small share of all that are few between others. */
static size_t between_others(struct shown *s, size_t n)
{
	enum { ENOUGH = 2, SHARE = 4 };
	size_t few = number_runs(s, n), most = 0, largest = 0;
	usk_sort(s, n, sizeof *s, KEYS(BY(shown, off_ns)));
	for (size_t i = 0, k; i < n; i = k) {
		k = agreeing(s, n, i);
		largest = k - i > largest ? k - i : largest;
	}
	for (size_t i = 0, k; i < n; i = k) {
		k = agreeing(s, n, i);
		size_t m = k - i < largest ? between(s + i, k - i) : 0;
		bool many = m > most && m * SHARE >= few && answered(s + i, m) >= ENOUGH;
		most = many ? m : most;
	}
	return most;
}

size_t usk_sightings_astray(const struct usk_sighting *s, size_t n, const struct usk_ends *way)
{
	size_t most = 0;
	usk_i128 least_off = INT64_MAX, most_off = INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		const usk_i128 off = (usk_i128)s[i].p_ns - s[i].q_ns;
		least_off = off < least_off ? off : least_off;
		most_off = off > most_off ? off : most_off;
	}
	if (most_off - least_off <= USK_COARSE_FOLLOWS_NS) {
		return 0;
	}
	struct shown *by = usk_alloc(n + 1, sizeof *by);
	for (int q = 0; q < 2 && !most; q++) {
		for (size_t i = 0; i < n; i++) {
			const struct usk_ends *e = &way[s[i].way];
			const uint64_t src = usk_fold(e->src.hi, e->src.lo);
			const uint64_t dst = usk_fold(e->dst.hi, e->dst.lo);
			by[i] = (struct shown){ .ns = q ? s[i].q_ns : s[i].p_ns,
						.off_ns = usk_saturate((usk_i128)s[i].p_ns -
								       s[i].q_ns),
						.talk = src + dst,
						.back = src < dst };
		}
		most = between_others(by, n);
	}
	free(by);
	return most;
}
