/* SPDX-License-Identifier: MIT */
/*
 * row_place.c - the epochs of a row's two stamps
 *
 * In    where clocks that tables name were set back (rows.c); the rows again, from the first
 * Out   the epoch of each stamp, and the one that is likely
 * Why   a row has one moment, and two stamps: the one of the column that rows were written by is
 *       where its clock's other stamps of that column say; the other was received later, or sent
 *       before, by a delay that nobody knows
 * Not   where clocks were set back
 *
 * The moment of a row lies between two stamps of that column, the last and the next, which each
 * clock has. So a stamp in the other column tells the least delay that it takes to be of an epoch.
 * The longest that is needed in any case is how long messages are under way.
 */
#include "match/match.h"

#include <stdlib.h>

enum { SENT, RECEIVED, LIKE = 8 };

void usk_rows_own(struct usk_rows *r, const struct usk_msg *m)
{
	uint32_t clock = r->by == SENT ? m->from : m->to;
	struct usk_row_clock *c = clock < r->n ? &r->clock[clock] : NULL;
	if (c && c->epochs.n) {
		*USK_ADD(c->own, c->n_own, c->own_cap) =
			r->by == SENT ? m->sent_ns : m->received_ns;
	}
}

static usk_i128 far(int64_t a, int64_t b)
{
	return a > b ? (usk_i128)a - b : (usk_i128)b - a;
}

/* The row's moment was before the clock's next own stamp of that epoch. False: the next one is of
 * another epoch, or there is none. */
static bool is_before(const struct usk_row_clock *c, const struct usk_row_place *at, int64_t *next)
{
	const struct usk_epochs *e = &c->epochs;
	if (at->record >= c->n_own ||
	    (at->epoch < e->n && e->epoch[at->epoch].record <= at->record)) {
		return false;
	}
	*next = c->own[at->record] > at->last ? c->own[at->record] : at->last;
	return true;
}

/* How long it is at least from a row's moment to the end of its epoch, and to t there. */
static usk_i128 until_end(const struct usk_row_clock *c, const struct usk_row_place *at)
{
	int64_t next;
	return is_before(c, at, &next) ? (usk_i128)c->epochs.epoch[at->epoch].before_ns - next : 0;
}

static usk_i128 until(const struct usk_row_clock *c, const struct usk_row_place *at, int64_t t)
{
	int64_t next;
	return is_before(c, at, &next) && t > next ? (usk_i128)t - next : 0;
}

/* How long before a row's moment at least its clock showed t, if in the same epoch; that it showed
 * the next own stamp before cannot be, and counts for more. */
static usk_i128 age(const struct usk_row_clock *c, const struct usk_row_place *at, int64_t t)
{
	int64_t next;
	if (t <= at->last || !is_before(c, at, &next)) {
		return far(t, at->last);
	}
	return t > next ? far(t, next) * LIKE : 0;
}

/* The next stamp in the column that rows are written by. */
static size_t epoch_of_own(const struct usk_epochs *e, struct usk_row_place *at, int64_t t)
{
	while (at->epoch < e->n && e->epoch[at->epoch].record <= at->record) {
		at->began = t;
		at->epoch++;
	}
	at->record++;
	at->last = t;
	return at->epoch;
}

/* Do a clock's other stamps say that it showed this one before the epoch's end (older: after its
 * begin)? */
static bool is_within(const struct usk_epochs *e, size_t epoch, int64_t t, bool older)
{
	return older ? !epoch || t >= e->epoch[epoch - 1].after_ns
		     : epoch == e->n || t <= e->epoch[epoch].before_ns;
}

/* Can a stamp be of the row's epoch alone? */
static bool is_sure(const struct usk_epochs *e, size_t epoch, int64_t t, bool older)
{
	return older ? !epoch || t > e->epoch[epoch - 1].before_ns
		     : epoch == e->n || t < e->epoch[epoch].after_ns;
}

/* May a stamp be of a later epoch (older: an earlier one), as messages of the clock were under way
 * for so long? Or as in the row's own it would have been longer than any that is sure. The one that
 * is furthest, and does not reach into the next one. */
static size_t furthest(const struct usk_row_clock *c, const struct usk_row_place *at, int64_t t,
		       bool older)
{
	const struct usk_epoch *e = c->epochs.epoch;
	size_t k = at->epoch, found = k, n = older ? k : c->epochs.n - k;
	usk_i128 passed = 0; /* from the row's moment to the end of an epoch that is nearer */
	usk_i128 anyway = older ? (usk_i128)at->last - t : until(c, at, t);
	for (size_t i = 0; i < n && (!i || passed <= c->lag_ns); i++) {
		size_t epoch = older ? k - 1 - i : k + 1 + i;
		const struct usk_epoch *x = older ? &e[k - 1 - i] : &e[k + i];
		passed += older ? (usk_i128)(i ? x[1].before_ns : at->last) - x->after_ns
			  : i	? (usk_i128)x->before_ns - x[-1].after_ns
				: until_end(c, at);
		usk_i128 beyond = older ? (usk_i128)x->before_ns - t : (usk_i128)t - x->after_ns;
		/* It may have begun before its clock's first stamp, and ended behind the last. */
		bool between = older ? t <= at->last : t >= at->last;
		beyond = beyond < 0 && between ? 0 : beyond;
		if (beyond >= 0 && is_within(&c->epochs, epoch, t, older) &&
		    ((!i && anyway > c->sure_ns) || passed + beyond <= c->lag_ns)) {
			found = epoch;
		}
	}
	return found;
}

/*
 * A stamp in the other column: near its row's moment, or where the clock was set back? That may
 * have been before the row's moment already, as the last own stamp is older. What was sent may be
 * older still, where rows were written by receipt. Whichever is nearest; but that something was
 * received before its row was written takes a clock that was set back unseen meanwhile, and so
 * counts for more than that it was under way for long.
 */
static size_t nearest(const struct usk_row_clock *c, struct usk_row_place *at, int64_t t,
		      bool older)
{
	const struct usk_epochs *e = &c->epochs;
	size_t k = at->epoch;
	bool early = older ? t > at->last : t < at->last;
	usk_i128 same = older ? age(c, at, t) : early ? far(t, at->last) * LIKE : until(c, at, t);
	usk_i128 before = same, behind = same;
	if (k && older) {
		before = far(e->epoch[k - 1].before_ns, t) + far(at->last, at->began);
	}
	if (k < e->n && older) {
		int64_t after = e->epoch[k].after_ns;
		behind = far(e->epoch[k].before_ns, at->last) +
			 far(t, after) * (t > after ? LIKE : 1);
	} else if (k < e->n) {
		int64_t after = e->epoch[k].after_ns;
		behind = until_end(c, at) + (t > after ? (usk_i128)t - after : 0);
	}
	size_t found = behind < same && behind <= before ? k + 1 : before < same ? k - 1 : k;
	usk_i128 lag = found > k ? (older ? 0 : behind) : found < k ? before : early ? 0 : same;
	at->lag_ns = lag > at->lag_ns ? usk_saturate(lag) : at->lag_ns;
	if (found == k && is_sure(e, k, t, older)) {
		at->sure_ns = lag > at->sure_ns ? usk_saturate(lag) : at->sure_ns;
	}
	return found;
}

/* If a stamp may be of several epochs it is of the one that says least: received in the latest,
 * sent in the earliest. Else of the nearest, which is likely in any case. */
static size_t epoch_of_other(const struct usk_row_clock *c, struct usk_row_place *at, int64_t t,
			     bool older, size_t *likely)
{
	size_t k = *likely = at->epoch;
	if (!at->record) {
		return k;
	}
	size_t may_be = furthest(c, at, t, older);
	*likely = nearest(c, at, t, older);
	return may_be != k ? may_be : *likely;
}

void usk_rows_place(const struct usk_rows *r, struct usk_row_place *place, const struct usk_msg *m,
		    size_t epoch[2], size_t likely[2])
{
	static const struct usk_row_clock none;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		const struct usk_row_clock *c = clock[k] < r->n ? &r->clock[clock[k]] : &none;
		struct usk_row_place *at = &place[clock[k]];
		if (c->epochs.n && k != r->by) {
			epoch[k] = epoch_of_other(c, at, stamp[k], k == SENT, &likely[k]);
		} else {
			epoch[k] = likely[k] =
				c->epochs.n ? epoch_of_own(&c->epochs, at, stamp[k]) : 0;
		}
	}
}

void usk_rows_lags(struct usk_rows *r, const struct usk_row_place *place)
{
	for (size_t i = 0; i < r->n; i++) {
		r->clock[i].lag_ns = place[i].lag_ns;
		r->clock[i].sure_ns = place[i].sure_ns;
	}
}
