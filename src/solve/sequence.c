/* SPDX-License-Identifier: MIT */
/*
 * sequence.c - times for events so that none is before what led to it
 *
 * In    events with their bands and what is wished; who is before whom
 * Out   a time for each
 * Why   times at which nothing is before its cause (Lamport 1978) are solutions of difference
 *       constraints. Raised from the left as little as that takes, any times become one; lowered
 *       from the right likewise; and the mean of two solutions is one
 * Not   which events, what is drawn through them (mend.c)
 *
 * Bands are times too: the lower one raised and the upper one lowered say the same as both did, and
 * are a solution each. Where they cross they contradict the messages, and the mean of the two is
 * both. What is asked for step by step, equality, then 1 ns, may cost the room that there is
 * between them, and no more.
 */
#include "solve/sequence.h"

#include <stdlib.h>
#include <string.h>

/* What is asked of the difference of two times. */
enum { WITHIN_Q, NOT_BEFORE, BEHIND, LEVELS };

/* Of events in the order of their times few are raised by one that comes later. A way round on
 * which 1 ns is asked for would be raised without end. */
enum { SWEEPS = 100000, FEW_SWEEPS = 50 };

struct net {
	const struct usk_event_time *event;
	size_t n;
	uint32_t *order;  /* of events, by what is wished */
	size_t *first[2]; /* where an event's sequels begin in list: those to it, from it */
	struct usk_sequel *list[2]; /* sorted by behind, by before */
};

static void link_up(struct net *g, const struct usk_sequel *sequel, size_t n)
{
	for (int from = 0; from < 2; from++) {
		size_t *first = usk_alloc(g->n + 2, sizeof *first);
		g->list[from] = usk_alloc(n + 1, sizeof *g->list[from]);
		for (size_t i = 0; i < n; i++) {
			first[(from ? sequel[i].before : sequel[i].behind) + 2]++;
		}
		for (size_t i = 2; i < g->n + 2; i++) {
			first[i] += first[i - 1];
		}
		for (size_t i = 0; i < n; i++) {
			size_t *at = &first[(from ? sequel[i].before : sequel[i].behind) + 1];
			g->list[from][(*at)++] = sequel[i];
		}
		g->first[from] = first;
	}
}

struct by_time {
	int64_t wish;
	uint32_t event;
};

static int compare(const void *pa, const void *pb)
{
	const struct by_time *a = pa, *b = pb;
	return a->wish != b->wish ? (a->wish > b->wish) - (a->wish < b->wish)
				  : (a->event > b->event) - (a->event < b->event);
}

static void put_in_order(struct net *g)
{
	struct by_time *t = usk_alloc(g->n + 1, sizeof *t);
	g->order = usk_alloc(g->n + 1, sizeof *g->order);
	for (uint32_t i = 0; i < g->n; i++) {
		t[i] = (struct by_time){ g->event[i].wish, i };
	}
	qsort(t, g->n, sizeof *t, compare);
	for (size_t i = 0; i < g->n; i++) {
		g->order[i] = t[i].event;
	}
	free(t);
}

static int64_t least_gap(const struct usk_sequel *s, int level)
{
	return level == WITHIN_Q ? -s->q_ns : level == NOT_BEFORE ? 0 : 1;
}

static bool same_clock(const struct net *g, size_t a, size_t b)
{
	return b < g->n && g->event[a].clock == g->event[b].clock;
}

/* What an event's neighbours ask of it, from its causes on or (back) from its consequences. */
static int64_t asked(const struct net *g, const int64_t *time, size_t i, int level, bool back)
{
	int64_t t = time[i];
	size_t next = back ? i + 1 : i - 1; /* wraps round to none */
	if (same_clock(g, i, next)) {
		t = back ? (time[next] < t ? time[next] : t) : (time[next] > t ? time[next] : t);
	}
	for (size_t k = g->first[back][i]; k < g->first[back][i + 1]; k++) {
		const struct usk_sequel *s = &g->list[back][k];
		int64_t gap = least_gap(s, level);
		int64_t to = back ? time[s->behind] - gap : time[s->before] + gap;
		t = back ? (to < t ? to : t) : (to > t ? to : t);
	}
	return t;
}

/*
 * Raises times to what their causes ask for, or (back) lowers them to what their consequences do;
 * not beyond the limits. false: no end was found.
 */
static bool spread(const struct net *g, int64_t *time, const int64_t *limit, int level, bool back)
{
	int most = level == BEHIND ? FEW_SWEEPS : SWEEPS;
	for (int sweep = 0; sweep < most; sweep++) {
		bool changed = false;
		for (size_t k = 0; k < g->n; k++) {
			size_t i = g->order[back ? g->n - 1 - k : k];
			int64_t t = asked(g, time, i, level, back);
			t = back ? (t < limit[i] ? limit[i] : t) : (t > limit[i] ? limit[i] : t);
			if (back ? t < time[i] : t > time[i]) {
				time[i] = t;
				changed = true;
			}
		}
		if (!changed) {
			return true;
		}
	}
	return false;
}

static int64_t clamp(int64_t t, int64_t low, int64_t high)
{
	return t < low ? low : t > high ? high : t;
}

/* floor((a + b) / 2) */
static int64_t mean(int64_t a, int64_t b)
{
	return (int64_t)usk_floor_div((usk_i128)a + b, 2);
}

/* Takes in the bands of a rank, within what lower ones leave: each side is a solution then. */
static void take_in(const struct net *g, enum usk_rank rank, int64_t *low, int64_t *high)
{
	int64_t *least = usk_alloc(g->n + 1, sizeof *least);
	int64_t *most = usk_alloc(g->n + 1, sizeof *most);
	memcpy(least, low, g->n * sizeof *least);
	memcpy(most, high, g->n * sizeof *most);
	for (size_t i = 0; i < g->n; i++) {
		const struct usk_event_time *e = &g->event[i];
		if (e->rank == rank) {
			low[i] = clamp(e->low, least[i], most[i]);
			high[i] = clamp(e->high, least[i], most[i]);
		}
	}
	spread(g, low, most, WITHIN_Q, false);
	spread(g, high, least, WITHIN_Q, true);
	for (size_t i = 0; i < g->n; i++) {
		if (low[i] > high[i]) {
			low[i] = high[i] = mean(low[i], high[i]);
		}
	}
	free(least);
	free(most);
}

static void settle_bands(const struct net *g, int64_t *low, int64_t *high)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct usk_event_time *e = &g->event[i];
		low[i] = e->rank == USK_RANK_FIXED ? e->wish : -USK_TIME_MAX;
		high[i] = e->rank == USK_RANK_FIXED ? e->wish : USK_TIME_MAX;
	}
	/* Fixed times may contradict each other: they stay. */
	spread(g, high, low, WITHIN_Q, true);
	spread(g, low, high, WITHIN_Q, false);
	for (enum usk_rank rank = USK_RANK_SOUND; rank < USK_RANKS; rank++) {
		take_in(g, rank, low, high);
	}
}

/* Asks for more where there is room. false: nothing was changed. */
static bool ask_more(const struct net *g, int64_t *low, int64_t *high, int level)
{
	size_t size = g->n * sizeof *low;
	int64_t *l = usk_alloc(g->n + 1, sizeof *l), *h = usk_alloc(g->n + 1, sizeof *h);
	memcpy(l, low, size);
	memcpy(h, high, size);
	bool good = spread(g, h, l, level, true) && spread(g, l, h, level, false);
	if (good) {
		memcpy(low, l, size);
		memcpy(high, h, size);
	}
	free(l);
	free(h);
	return good;
}

/* The wish raised from the left, and lowered from the right. */
static bool both_ways(const struct net *g, const int64_t *low, const int64_t *high, int level,
		      struct usk_event_time *event)
{
	int64_t *up = usk_alloc(g->n + 1, sizeof *up), *down = usk_alloc(g->n + 1, sizeof *down);
	for (size_t i = 0; i < g->n; i++) {
		event[i].time_ns = up[i] = down[i] = clamp(event[i].wish, low[i], high[i]);
	}
	bool good = spread(g, up, high, level, false) && spread(g, down, low, level, true);
	for (size_t i = 0; i < g->n && good; i++) {
		event[i].time_ns = mean(up[i], down[i]);
	}
	free(up);
	free(down);
	return good;
}

void usk_sequence(struct usk_event_time *event, size_t n, const struct usk_sequel *sequel,
		  size_t n_sequels)
{
	struct net g = { .event = event, .n = n };
	int64_t *low = usk_alloc(n + 1, sizeof *low), *high = usk_alloc(n + 1, sizeof *high);
	int level = WITHIN_Q;
	link_up(&g, sequel, n_sequels);
	put_in_order(&g);
	settle_bands(&g, low, high);
	while (level + 1 < LEVELS && ask_more(&g, low, high, level + 1)) {
		level++;
	}
	while (!both_ways(&g, low, high, level, event) && level) {
		level--;
	}
	for (int from = 0; from < 2; from++) {
		free(g.first[from]);
		free(g.list[from]);
	}
	free(g.order);
	free(low);
	free(high);
}
