/* SPDX-License-Identifier: MIT */
/*
 * lamport.c - is there an order of time that all sends and receipts can have had?
 *
 * In    messages: when they were sent and received, by which clocks
 * Out   of each clock how many sends and receipts can be in no such order
 * Why   a clock that was set back shows times twice, and then there is none
 * Not   which clock that was (flow/contradict.c, flow/falls.c)
 *
 * What a clock showed earlier was earlier, and what was received was sent before: then an order of time goes
 * through all sends and receipts (Lamport, Time, clocks, and the ordering of events in a distributed system,
 * CACM 21, 1978). Where a clock was set back it would have to go round. An order is made from the first on, and
 * another from the last; what is in neither goes round, or lies between what does.
 */
#include "match/match.h"

#include <stdlib.h>

/* A send or a receipt; the other one of its message is at number ^ 1 before they are sorted. */
struct lamport_event {
	int64_t ns;
	uint32_t clock, number;
};

struct line {
	struct lamport_event *event; /* in order of clocks and stamps */
	size_t n;
	size_t *place; /* by number */
	size_t *begin; /* by clock */
	size_t *done;  /* by clock: how many of its first are in the order */
	size_t *asked; /* by clock: how many have been looked at */
	bool *in, *waits;
	uint32_t *turn; /* clocks to be looked at */
	size_t n_turn;
	bool *in_turn;
	const int64_t *late_ns; /* by clock */
	unsigned first;		/* of a message the number that ends so is the earlier one */
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
	const struct lamport_event *e = &l->event[at];
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
		const struct lamport_event *e = &l->event[from + *i],
					   *late = e - *i + l->done[clock];
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
		 KEYS(BY(lamport_event, clock), BY(lamport_event, ns), BY(lamport_event, number)));
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
			const struct lamport_event e = l->event[--b];
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

void usk_lamport_message(struct usk_lamport *x, uint32_t from, int64_t sent_ns, uint32_t to,
			 int64_t received_ns)
{
	const uint32_t number = (uint32_t)x->n;
	*USK_ADD(x->event, x->n, x->cap) = (struct lamport_event){ sent_ns, from, number };
	*USK_ADD(x->event, x->n, x->cap) = (struct lamport_event){ received_ns, to, number + 1 };
}

size_t usk_lamport_left(struct usk_lamport *x, size_t n_clocks, const int64_t *late_ns,
			size_t *left)
{
	struct line l = { .event = x->event, .n = x->n, .late_ns = late_ns };
	size_t *room = usk_alloc(l.n + 3 * n_clocks + 2, sizeof *room), all = 0;
	bool *flags = usk_alloc(3 * l.n + n_clocks + 1, sizeof *flags), *in = flags + 2 * l.n;
	l.place = room;
	l.begin = l.place + l.n;
	l.done = l.begin + n_clocks + 1;
	l.asked = l.done + n_clocks;
	l.turn = usk_alloc(n_clocks + 1, sizeof *l.turn);
	l.in = flags;
	l.waits = flags + l.n;
	l.in_turn = in + l.n;
	sort(&l, n_clocks);
	put_all(&l, n_clocks, in);
	turn_round(&l, n_clocks);
	put_all(&l, n_clocks, in);
	for (size_t i = 0; i < l.n; i++) {
		left[l.event[i].clock] += !in[l.event[i].number];
		all += !in[l.event[i].number];
	}
	USK_FREE(room, l.turn, flags);
	return all;
}

void usk_lamport_free(struct usk_lamport *x)
{
	free(x->event);
	*x = (struct usk_lamport){ 0 };
}
