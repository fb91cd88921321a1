/* SPDX-License-Identifier: MIT */
/*
 * settle.c - times of events in order, raised or lowered by as little as that takes
 *
 * In    a time for each event, edges, cells, wishes
 * Out   times that are a solution
 * Why   the same is asked of bounds, as lines round them, and of estimates
 * Not   what is wished of an event by itself (estimate.c)
 */
#include "graph/marks.h"
#include "graph/work.h"

#include <stdlib.h>
#include <string.h>

int64_t usk_edge_spare(const struct usk_work *w, uint32_t i)
{
	uint32_t to = w->sent[i] ? w->peer[i] : i;
	int64_t q = w->c->clock[w->owner[to]].resolution_ns;
	bool exact = q <= 1 || w->owner[to] == w->reference;
	return exact ? 0 : 2 + (int64_t)((usk_i128)q * w->p->max_skew_e12 / USK_E12);
}

/* What the other end of an edge says. A receiver that rounds to q stands for its stamp and q: some
 * more is asked of it, so that by the stamp itself, whatever its rate is, the message is q late at
 * most; as far as bounds allow. */
static int64_t by_edge(const struct usk_work *w, const int64_t *t, uint32_t i, bool down)
{
	uint32_t p = w->peer[i];
	usk_i128 more = usk_edge_spare(w, i), v = t[p] + (down ? -more : more);
	int64_t bound = down ? w->lo_ns[i] : w->hi_ns[i];
	if (bound != USK_NONE && down == (v < bound)) {
		v = bound;
	}
	return down == (v < t[p]) ? usk_saturate(v) : t[p];
}

/* What is wished goes as far as bounds do, so that all that is certain is kept. */
static int64_t by_wish(const struct usk_work *w, const int64_t *t, uint32_t i, bool down)
{
	usk_i128 v = t[usk_wish_end(w, i)];
	int64_t q = usk_wish_slack(w, i), bound = down ? w->lo_ns[i] : w->hi_ns[i];
	v += down ? q : -q;
	return usk_saturate(bound != USK_NONE && down == (v < bound) ? bound : v);
}

int64_t usk_settled(const struct usk_work *w, const int64_t *t, uint32_t i, bool down, bool wishes)
{
	uint32_t first = w->first[w->owner[i]], last = w->first[w->owner[i] + 1] - 1;
	bool asked = w->sent[i] == down;
	uint32_t by[3] = { i > first ? i - 1 : USK_NO_EVENT, i < last ? i + 1 : USK_NO_EVENT,
			   asked ? w->peer[i] : USK_NO_EVENT };
	int64_t v = t[i];
	bool spare = wishes || !w->circles;
	uint32_t wish = wishes && asked ? usk_wish_end(w, i) : USK_NO_EVENT;
	if (wish != USK_NO_EVENT && t[wish] != USK_NONE) {
		int64_t u = by_wish(w, t, i, down);
		v = down == (u < v) ? u : v;
	}
	for (int k = 0; k < 3; k++) {
		/* The neighbour on the far side says something of the same stamp alone. */
		if (by[k] != USK_NO_EVENT && t[by[k]] != USK_NONE &&
		    (k == 2 || k == down || w->x[by[k]] == w->x[i])) {
			int64_t u = k == 2 && spare ? by_edge(w, t, i, down) : t[by[k]];
			v = down == (u < v) ? u : v;
		}
	}
	return v;
}

/* By as little as slopes ask, within the bounds, which meet them. */
static int64_t in_slopes(const struct usk_work *w, const int64_t *t, uint32_t i, bool down)
{
	usk_i128 v = t[i], rise;
	uint32_t from = w->first[w->owner[i]], to = w->first[w->owner[i] + 1];
	int sign = down ? -1 : 1;
	for (int behind = 0; behind < 2; behind++) {
		uint32_t k = behind ? i + 1 : i - 1, cell = behind ? i : i - 1;
		if ((behind ? i + 1 >= to : i <= from) || t[k] == USK_NONE) {
			continue;
		}
		/* Most ask for nothing, which takes no division to see. */
		usk_i128 d = (usk_i128)w->x[cell + 1] - w->x[cell], lacks = sign * (v - t[k]);
		if (behind == down) { /* it rises by no less */
			if (usk_cell_least(w, cell, d, &rise) && rise >= (lacks + 1) * USK_E12) {
				v = t[k] + sign * usk_floor_div(rise, USK_E12);
			}
		} else if (usk_cell_most(w, cell, d, &rise) && rise <= -(lacks + 1) * USK_E12) {
			v = t[k] - sign * usk_ceil_div(rise, USK_E12);
		}
	}
	v = down ? (v < w->lo_ns[i] ? w->lo_ns[i] : v) : (v > w->hi_ns[i] ? w->hi_ns[i] : v);
	return sign * v > sign * (usk_i128)t[i] ? (int64_t)v : t[i];
}

/* Times that are raised (lowered, down), no further than to limits, if there are any. */
struct settling {
	const struct usk_work *w;
	const uint32_t *place; /* by event: in w->order; USK_NO_EVENT: the reference's */
	int64_t *t;
	bool down;
	const int64_t *limit;
	uint64_t *todo; /* by place: what it goes by has changed */
};

static void mark_event(struct settling *s, uint32_t i)
{
	if (i != USK_NO_EVENT && s->place[i] != USK_NO_EVENT) {
		usk_mark(s->todo, s->place[i]);
	}
}

/* Whoever goes by its time. */
static void mark_others(struct settling *s, uint32_t i)
{
	const struct usk_work *w = s->w;
	mark_event(s, i > w->first[w->owner[i]] ? i - 1 : USK_NO_EVENT);
	mark_event(s, i + 1 < w->first[w->owner[i] + 1] ? i + 1 : USK_NO_EVENT);
	mark_event(s, w->peer[i]);
	mark_event(s, usk_wish_end(w, i));
}

/* false: it stays. */
static bool settle_event(struct settling *s, uint32_t i, bool slopes)
{
	const struct usk_work *w = s->w;
	int64_t *t = s->t;
	bool down = s->down;
	if (t[i] == USK_NONE) {
		return false;
	}
	int64_t v = usk_settled(w, t, i, down, slopes);
	int64_t u = slopes ? in_slopes(w, t, i, down) : v;
	v = down == (u < v) ? u : v;
	v = s->limit && down == (v < s->limit[i]) ? s->limit[i] : v;
	if (v == t[i]) {
		return false;
	}
	t[i] = v;
	mark_others(s, i);
	return true;
}

/* Raises times (lowers, down) by as little as it takes that T never falls, no message is turned
 * round, and rates are possible: then messages that thinning dropped are in order as well. */
static void settle(struct settling *s)
{
	/* Rounds: where a clock fell, or a stamp is wrong, they might chase each other for long. */
	enum { SLOPES = 16 };
	const struct usk_work *w = s->w;
	uint32_t words = w->n_order / 64 + 1;
	int round = 0;
	s->todo = usk_alloc(words, sizeof *s->todo);
	for (bool moved = w->n_order > 0; moved; round++) {
		bool back = s->down != (round % 2 == 1 && round < SLOPES);
		for (uint32_t k = 0; k < w->n_order && (!round || round == SLOPES); k++) {
			usk_mark(s->todo, k);
		}
		moved = false;
		for (uint32_t k = back ? w->n_order : 0; !back || k; k += !back) {
			k = back ? usk_last_mark(s->todo, k - 1) : usk_next_mark(s->todo, words, k);
			if (k == USK_NO_MARK) {
				break;
			}
			usk_unmark(s->todo, k);
			moved = settle_event(s, w->order[k], round < SLOPES) || moved;
		}
	}
	free(s->todo);
}

static void settle_some(void *ctx, size_t from, size_t to)
{
	struct settling *s = ctx;
	for (size_t i = from; i < to; i++) {
		settle(&s[i]);
	}
}

void usk_settle_both(const struct usk_work *w, int64_t *up, const int64_t *most, int64_t *down,
		     const int64_t *least)
{
	uint32_t *place = usk_grow(NULL, w->n + 1, sizeof *place);
	memset(place, 0xff, w->n * sizeof *place);
	for (uint32_t k = 0; k < w->n_order; k++) {
		place[w->order[k]] = k;
	}
	struct settling s[] = { { w, place, up, false, most, NULL },
				{ w, place, down, true, least, NULL } };
	usk_parallel(2, 1, usk_threads(w), settle_some, s);
	free(place);
}
