/* SPDX-License-Identifier: MIT */
/*
 * contradict.c - which clocks' stamps are not in the order of time
 *
 * In    samples of the messages of all pairs, of tables and of what was joined
 * Out   clocks that were set back, or that have messages with one that was
 * Why   of a clock that was set back the stamps of two times are mixed, and no bounds by them are true
 * Not   where, which of them it was, and by how much: the order of rows, of records or of files tells
 *
 * What a clock showed earlier was earlier, and what was received was sent before: then an order of time goes
 * through all sends and receipts (Lamport, Time, clocks, and the ordering of events in a distributed system,
 * CACM 21, 1978). Where a clock was set back it would have to go round. Mostly two clocks say so by themselves;
 * else all together may. An order is made from the first on, and another from the last; what is in neither
 * goes round, or lies between what does.
 */
#include "flow/flow.h"

#include <stdlib.h>

/* MOST: of messages that are looked at, all pairs together. ENOUGH: a few may be wrong. */
enum { MOST = 1 << 18, ENOUGH = 8 };

/* One pair's messages as seen.c has them; how many agree with others. */
static size_t agreeing(const struct pair_source *s, uint32_t mask, struct usk_seen **out,
		       int64_t *ways)
{
	const struct table_sample *t = &s->sample;
	struct usk_seen *seen = usk_alloc(t->n + 1, sizeof *seen);
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct usk_sighting *x = &t->s[i];
		if (!(usk_mix(x->way) & mask)) {
			seen[n++] = (struct usk_seen){ .p_ns = x->p_ns,
						       .q_ns = x->q_ns,
						       .back = !x->ttl_p };
		}
	}
	usk_sort(seen, n, sizeof *seen,
		 KEYS(BY(usk_seen, q_ns), BY(usk_seen, p_ns), BY(usk_seen, back)));
	for (size_t i = 0, all = n; i < all; i++) { /* two tables may hold the same row */
		const struct usk_seen *a = &seen[i], *b = i ? &seen[n - 1] : NULL;
		n = i ? n : 0;
		if (!b || a->p_ns != b->p_ns || a->q_ns != b->q_ns || a->back != b->back) {
			seen[n++] = *a;
		}
	}
	*out = seen;
	return usk_seen_agreeing(seen, n, ways);
}

/* ---- all together ----------------------------------------------------------------------------------- */

/* A send or a receipt; the other one of its message is at number ^ 1 before they are sorted. */
struct event {
	int64_t ns;
	uint32_t clock, number;
};

struct line {
	struct event *event; /* in order of clocks and stamps */
	size_t n, cap;
	size_t *place; /* by number */
	size_t *begin; /* by clock */
	size_t *done;  /* by clock: how many of its first are in the order */
	size_t *asked; /* by clock: how many have been looked at */
	bool *in, *waits;
	uint32_t *turn; /* clocks to be looked at */
	size_t n_turn;
	bool *in_turn;
	/* By clock. Stamps that are no further apart may be of either order: as messages of a pair are under way
	 * for more or less time, or are stamped late. */
	int64_t *late_ns;
	unsigned first; /* of a message the number that ends so is the earlier one */
};

static void call(struct line *l, uint32_t clock)
{
	if (!l->in_turn[clock]) {
		l->in_turn[clock] = true;
		l->turn[l->n_turn++] = clock;
	}
}

static void put(struct line *l, size_t at)
{
	const struct event *e = &l->event[at];
	const size_t *begin = &l->begin[e->clock];
	size_t *done = &l->done[e->clock];
	l->in[at] = true;
	while (begin[0] + *done < begin[1] && l->in[begin[0] + *done]) {
		++*done;
	}
	if ((e->number & 1) == l->first) {
		const size_t other = l->place[e->number ^ 1];
		if (l->waits[other]) {
			put(l, other);
			call(l, l->event[other].clock);
		}
	}
}

/* As far as a clock's events are known to be next. */
static void look(struct line *l, uint32_t clock)
{
	const size_t from = l->begin[clock], n = l->begin[clock + 1] - from;
	for (size_t *i = &l->asked[clock]; *i < n; ++*i) {
		const struct event *e = &l->event[from + *i], *late = e - *i + l->done[clock];
		/* Those that were clearly before it are in the order. */
		if (l->done[clock] < *i && (usk_i128)e->ns - late->ns > l->late_ns[clock]) {
			break;
		}
		const bool earlier = (e->number & 1) == l->first;
		if (earlier || l->in[l->place[e->number ^ 1]]) {
			put(l, from + *i);
		} else {
			l->waits[from + *i] = true;
		}
	}
}

static void sort(struct line *l, size_t n_clocks)
{
	usk_sort(l->event, l->n, sizeof *l->event,
		 KEYS(BY(event, clock), BY(event, ns), BY(event, number)));
	for (size_t i = 0, clock = 0; clock <= n_clocks; clock++) {
		while (i < l->n && l->event[i].clock < clock) {
			i++;
		}
		l->begin[clock] = i;
	}
}

/* The last of each clock is the first, and receipts are before sends. */
static void turn_round(struct line *l, size_t n_clocks)
{
	l->first = !l->first;
	for (size_t i = 0; i < l->n; i++) {
		l->event[i].ns = -l->event[i].ns;
	}
	for (size_t i = 0; i < n_clocks; i++) {
		for (size_t a = l->begin[i], b = l->begin[i + 1]; a + 1 < b; a++) {
			const struct event e = l->event[--b];
			l->event[b] = l->event[a];
			l->event[a] = e;
		}
	}
}

/* All that can be in an order that begins with the first of each clock. in[] by number. */
static void put_all(struct line *l, size_t n_clocks, bool *in)
{
	for (size_t i = 0; i < l->n; i++) {
		l->place[l->event[i].number] = i;
		l->in[i] = l->waits[i] = false;
	}
	for (uint32_t i = 0; i < n_clocks; i++) {
		l->done[i] = l->asked[i] = 0;
		call(l, i);
	}
	while (l->n_turn) {
		const uint32_t clock = l->turn[--l->n_turn];
		l->in_turn[clock] = false;
		look(l, clock);
	}
	for (size_t i = 0; i < l->n; i++) {
		in[l->event[i].number] |= l->in[i];
	}
}

static uint32_t thinned(const struct parties *p)
{
	size_t all = 0;
	uint32_t mask = 0;
	for (size_t i = 0; i < p->n_pairs; i++) {
		all += p->pair[i].sample.n;
	}
	for (; all > MOST; all /= 2) {
		mask = mask * 2 + 1;
	}
	return mask;
}

/* Of each pair; the clocks of those that contradict by themselves are counted. */
static bool take_messages(struct line *l, const struct parties *p, bool tables, size_t *those)
{
	const uint32_t mask = thinned(p);
	bool any = false;
	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct pair_source *s = &p->pair[i];
		struct usk_seen *seen = NULL;
		int64_t ways = 0;
		size_t n = tables && !s->in_tables ? 0 : agreeing(s, mask, &seen, &ways);
		const bool alone = usk_seen_contradict(seen, n);
		those[s->a] += alone;
		those[s->b] += alone;
		any = any || alone;
		n = n < ENOUGH ? 0 : n; /* by how much these are late nobody knows */
		for (int side = 0; side < 2 && n; side++) {
			int64_t *late = &l->late_ns[side ? s->b : s->a];
			*late = ways > *late ? ways : *late;
		}
		for (size_t k = 0; k < n; k++) {
			const struct event a = { seen[k].p_ns, s->a, (uint32_t)l->n };
			const struct event b = { seen[k].q_ns, s->b, (uint32_t)l->n };
			*USK_ADD(l->event, l->n, l->cap) = seen[k].back ? b : a;
			*USK_ADD(l->event, l->n, l->cap) = seen[k].back ? a : b;
			l->event[l->n - 1].number++;
		}
		free(seen);
	}
	return any;
}

static bool all_contradict(const struct parties *p, struct line *l, size_t *those)
{
	bool any = false;
	size_t *room = usk_alloc(l->n + 3 * p->n + 2, sizeof *room);
	bool *flags = usk_alloc(3 * l->n + p->n + 1, sizeof *flags), *in = flags + 2 * l->n;
	l->place = room;
	l->begin = l->place + l->n;
	l->done = l->begin + p->n + 1;
	l->asked = l->done + p->n;
	l->turn = usk_alloc(p->n + 1, sizeof *l->turn);
	l->in = flags;
	l->waits = flags + l->n;
	l->in_turn = in + l->n;
	sort(l, p->n);
	put_all(l, p->n, in);
	turn_round(l, p->n);
	put_all(l, p->n, in);
	for (size_t i = 0; i < l->n; i++) {
		those[l->event[i].clock] += !in[l->event[i].number];
	}
	for (size_t i = 0; i < p->n; i++) {
		those[i] = those[i] >= ENOUGH ? those[i] : 0;
		any = any || those[i];
	}
	USK_FREE(room, l->turn, flags);
	return any;
}

bool usk_clocks_contradict(const struct parties *p, bool tables, size_t *those)
{
	if (p->model.kind == USK_LINEAR) {
		return false; /* of which no clock was set back */
	}
	struct line l = { .late_ns = usk_alloc(p->n + 1, sizeof *l.late_ns) };
	const bool any = take_messages(&l, p, tables, those) || all_contradict(p, &l, those);
	USK_FREE(l.event, l.late_ns);
	return any;
}

bool usk_leave_out_most(struct parties *p, const size_t *those, bool (*may)(const struct party *y))
{
	size_t most = 1;
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		most = may(&p->party[i]) && those[i] > most ? those[i] : most;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		if (may(y) && those[i] == most) {
			y->unordered = any = true;
			usk_survey_free(&y->survey);
			usk_party_breaks(y);
		}
	}
	return any;
}
