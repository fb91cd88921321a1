/* SPDX-License-Identifier: MIT */
/*
 * repeated.c - where no time for each stamp puts all messages in order
 *
 * In    bounds of all events; solutions in order that cross
 * Out   an interval for each event, so that order never moves an estimate out of it
 * Why   a clock that was set back unseen shows stamps twice, and what is written has one time for
 *       each: its messages of both moments ask for what cannot be. Asked of others nevertheless
 *       they would move those out of what is certain of them
 * Not   which messages are left out for it: those that turn out to be out of order (flow/)
 *
 * By order alone, each clock by itself, bounds may contradict each other: such stamps were shown
 * twice for certain, and their messages are asked of nobody. Where the others' contradict each
 * other nevertheless a chain of them leads over such a stamp, and nothing says which one it is: so
 * none of them is asked either. The rest meet, and their solutions are the intervals.
 */
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

/* The bound that is farther in; USK_NONE is none. */
static int64_t inner(int64_t a, int64_t b, bool upper)
{
	if (a == USK_NONE || b == USK_NONE) {
		return a == USK_NONE ? b : a;
	}
	return upper == (b < a) ? b : a;
}

/* One clock's, by the order of its stamps. */
static bool close_clock(const struct usk_work *w, uint32_t k, int64_t *bound, bool upper)
{
	uint32_t first = w->first[k], n = w->first[k + 1] - first;
	int64_t last = USK_NONE;
	bool moved = false;
	for (uint32_t done = 0, same; done < n; done += same) {
		uint32_t i = upper ? first + n - 1 - done : first + done;
		for (same = 0; done + same < n; same++) { /* one stamp, one time */
			uint32_t e = upper ? i - same : i + same;
			if (w->x[e] != w->x[i]) {
				break;
			}
			last = inner(last, bound[e], upper);
		}
		for (uint32_t m = 0; m < same; m++) {
			uint32_t e = upper ? i - m : i + m;
			moved = moved || bound[e] != last;
			bound[e] = last;
		}
	}
	return moved;
}

/* What is wished of an event, as far as its other bound allows: then no other one is crossed. */
static int64_t by_wish(const struct usk_work *w, const int64_t *bound, uint32_t i, bool upper,
		       const int64_t *limit)
{
	int64_t v = bound[usk_wish_end(w, i)], q = usk_wish_slack(w, i);
	q = q > 0 ? q : 0; /* that it takes time at least would lead round in small steps */
	if (v == USK_NONE || limit[i] == USK_NONE) {
		return USK_NONE;
	}
	return usk_saturate((usk_i128)inner(v + (upper ? q : -q), limit[i], !upper));
}

/* The least solution over what is asked, for upper bounds the largest. limit: the other bounds, as
 * far as which wishes are asked, too; NULL: these are not. */
static void close_all(const struct usk_work *w, int64_t *bound, bool upper, const bool *apart,
		      const int64_t *limit)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (uint32_t k = 0; k < w->n_clocks; k++) {
			if (k != w->reference) {
				close_clock(w, k, bound, upper);
			}
		}
		for (uint32_t i = 0; i < w->n; i++) {
			uint32_t p = w->peer[i];
			if (w->sent[i] != upper || apart[i] || w->owner[i] == w->reference) {
				continue;
			}
			int64_t v = bound[i];
			if (p != USK_NO_EVENT && !apart[p]) {
				v = inner(v, bound[p], upper);
			}
			p = usk_wish_end(w, i);
			if (p != USK_NO_EVENT && !apart[p] && limit) {
				v = inner(v, by_wish(w, bound, i, upper, limit), upper);
			}
			moved = moved || v != bound[i];
			bound[i] = v;
		}
	}
}

static bool cross(const int64_t *lo, const int64_t *hi, uint32_t i)
{
	return lo[i] != USK_NONE && hi[i] != USK_NONE && lo[i] > hi[i];
}

static bool note_crossed(const struct usk_work *w, const int64_t *lo, const int64_t *hi,
			 bool *apart)
{
	bool any = false;
	for (uint32_t i = 0; i < w->n; i++) {
		bool now = w->owner[i] != w->reference && !apart[i] && cross(lo, hi, i);
		any = any || now;
		apart[i] = apart[i] || now;
	}
	return any;
}

/* Of stamps that were shown twice: what those around them leave. */
static void open_crossed(const struct usk_work *w, int64_t *lo, int64_t *hi)
{
	bool *crossed = usk_alloc(w->n + 1, sizeof *crossed);
	for (uint32_t i = 0; i < w->n; i++) {
		crossed[i] = w->owner[i] != w->reference && cross(lo, hi, i);
	}
	for (uint32_t k = 0; k < w->n_clocks; k++) {
		uint32_t first = w->first[k], end = w->first[k + 1];
		int64_t v = -USK_TIME_MAX;
		for (uint32_t i = first; i < end; i++) {
			v = crossed[i] || lo[i] == USK_NONE ? v : lo[i];
			lo[i] = crossed[i] ? v : lo[i];
		}
		v = USK_TIME_MAX;
		for (uint32_t i = end; i-- > first;) {
			v = crossed[i] || hi[i] == USK_NONE ? v : hi[i];
			hi[i] = crossed[i] ? v : hi[i];
		}
	}
	free(crossed);
}

bool usk_repeated(const struct usk_work *w, int64_t *lo, int64_t *hi)
{
	bool any = false;
	for (uint32_t i = 0; i < w->n && w->n_breaks; i++) {
		any = any || (w->owner[i] != w->reference && cross(lo, hi, i));
	}
	if (!any) {
		return false;
	}
	bool *apart = usk_alloc(w->n + 1, sizeof *apart);
	memset(apart, true, w->n * sizeof *apart);
	memcpy(lo, w->lo_ns, w->n * sizeof *lo);
	memcpy(hi, w->hi_ns, w->n * sizeof *hi);
	close_all(w, lo, false, apart, NULL);
	close_all(w, hi, true, apart, NULL);
	memset(apart, false, w->n * sizeof *apart);
	note_crossed(w, lo, hi, apart);
	do {
		memcpy(lo, w->lo_ns, w->n * sizeof *lo);
		memcpy(hi, w->hi_ns, w->n * sizeof *hi);
		close_all(w, lo, false, apart, NULL);
		close_all(w, hi, true, apart, NULL);
	} while (note_crossed(w, lo, hi, apart));
	close_all(w, lo, false, apart, hi);
	close_all(w, hi, true, apart, lo);
	open_crossed(w, lo, hi);
	free(apart);
	return true;
}
