/* SPDX-License-Identifier: MIT */
/*
 * epochs.c - a clock that was set back, told from records that are out of order
 *
 * In    the stamps of a trace in the order of its records
 * Out   where they went back and stayed back
 * Why   messages need not be asked: a clock does not run backwards, so one that shows less than
 *       before was set back, or the record is late
 * Not   how far it was set back in truth: the messages tell
 *
 * Captures of several queues or interfaces hold batches of late records, by microseconds to
 * milliseconds as a rule and by a second at most. What tells them from a clock that was set back by
 * S: after late records the stamps leap forward again, those of a clock pass the point where they
 * were before as they pass any other. So a fall is a new epoch if
 *
 * - four records or more follow before the highest stamp is reached again, or any if the trace ends
 *   before that, and none of them is 3/4 of S ahead of those before;
 * - no other fall of S/8 or more lies within 2 S, and 1 s, of time before, and none of S/8 to 8 S
 *   after it: batches repeat;
 * - it is by 1 ms or more, by 1 s if the trace ends before the highest stamp is reached again or
 *   stamps then fall to even earlier ones.
 *
 * Nothing is late by over 10 s: there eight records are enough. A few stamps that were ahead of all
 * others are no time to fall back from.
 *
 * That leaves falls open that stamps alone do not tell: the largest are handed over, for packets to
 * tell (flow/falls.c), and a trace is watched once more with those that were told.
 */
#include "match/match.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_AT_END INT64_C(1000000000)
#define LEAST_SOON   INT64_C(1000000000)

enum { LEAST_RECORDS = 4, ENOUGH_RECORDS = 8, LIKE = 8, SOON = 2, MOST_EPOCHS = 4096 };
enum { MOST_DROPS = 64 };

/* ---- drops: wherever stamps fall ------------------------------------------------------------ */

static int64_t size_of(const struct usk_drop *d)
{
	return usk_saturate((usk_i128)d->from_ns - d->to_ns);
}

static void find_least(struct usk_drops *d)
{
	for (size_t i = d->least = 0; i < d->n; i++) {
		d->least = size_of(&d->drop[i]) < size_of(&d->drop[d->least]) ? i : d->least;
	}
}

/* Of too many the smallest goes. */
static void keep_drop(struct usk_drops *d, struct usk_drop drop)
{
	if (!d->drop) {
		d->drop = usk_alloc(MOST_DROPS, sizeof *d->drop);
	}
	if (d->n < MOST_DROPS) {
		d->drop[d->n++] = drop;
	} else if (size_of(&drop) > size_of(&d->drop[d->least])) {
		d->drop[d->least] = drop;
	} else {
		return;
	}
	if (d->n == MOST_DROPS) {
		find_least(d);
	}
}

/* A stamp below the highest, or one of a fall; w->n counts it. */
static void note_drop(struct usk_epoch_watch *w, int64_t t)
{
	if (w->low_record + 1 != w->n) { /* the one before was above all others */
		w->reached = w->highest;
	}
	w->low_record = w->n;
	if ((usk_i128)w->reached - t >= USK_LEAST_FALL) {
		keep_drop(&w->drops, (struct usk_drop){ w->n - 1, w->at, w->reached, t });
		w->reached = t;
	}
	w->reached = t > w->reached ? t : w->reached;
}

/* ---- epochs ----------------------------------------------------------------------------------- */

static bool is_soon(int64_t at, int64_t then, int64_t size)
{
	usk_i128 soon = (usk_i128)SOON * size;
	return (usk_i128)at - then <= (soon > LEAST_SOON ? soon : LEAST_SOON);
}

/* Was there a fall of about that size or more not long ago? The last one that was is the nearest. */
static bool repeats(const struct usk_epoch_watch *w, int64_t at, int64_t size)
{
	size_t n = w->n_fell;
	while (n && w->fell[n - 1].size < size / LIKE) {
		n--;
	}
	return n && is_soon(at, w->fell[n - 1].at, size);
}

/* Who looks for an earlier fall that was no larger finds this one first. */
static void remember(struct usk_epoch_watch *w, int64_t at, int64_t size)
{
	while (w->n_fell && w->fell[w->n_fell - 1].size <= size) {
		w->n_fell--;
	}
	if (w->n_fell == COUNT(w->fell)) {
		memmove(w->fell, w->fell + 1, --w->n_fell * sizeof *w->fell);
	}
	w->fell[w->n_fell].at = at;
	w->fell[w->n_fell++].size = size;
}

static void begin_epoch(struct usk_epoch_watch *w, bool doubtful)
{
	const struct usk_fall *f = &w->fall;
	int64_t shift = w->found.n ? w->found.epoch[w->found.n - 1].shift_ns : 0;
	usk_i128 more = (usk_i128)f->from - f->to + USK_EPOCH_GAP_NS + shift;
	if (more + f->from > USK_TIME_MAX || w->found.n == MOST_EPOCHS) {
		return;
	}
	*USK_ADD(w->found.epoch, w->found.n, w->cap) = (struct usk_epoch){
		.record = f->record,
		.before_ns = f->from,
		.after_ns = f->to,
		.lowest_ns = f->lowest,
		.shift_ns = (int64_t)more,
	};
	w->doubtful = doubtful;
}

/* Were the stamps before it a few that leapt ahead, and goes it on where they did? A pause before a
 * clock is set back looks like a leap, if not one of 10 s. */
static bool goes_on(const struct usk_epoch_watch *w, int64_t t, int64_t size)
{
	uint64_t most = size > USK_LATEST_NS ? USK_EPOCH_AHEAD : 2;
	return w->n - w->leap_record <= most && w->leap_ns >= size / 2 &&
	       (usk_i128)w->leap_from - t < size / LIKE;
}

static bool alike(int64_t a, int64_t b)
{
	return a >= b / LIKE && b >= a / LIKE;
}

static void begin_fall(struct usk_epoch_watch *w, int64_t t)
{
	int64_t size = usk_saturate((usk_i128)w->highest - t);
	bool again = size <= USK_LATEST_NS && size >= LIKE && repeats(w, w->highest, size);
	remember(w, w->highest, size);
	if (goes_on(w, t, size)) {
		w->highest = t;
		return;
	}
	if (w->doubtful) {
		const struct usk_epoch *e = &w->found.epoch[w->found.n - 1];
		int64_t last = e->before_ns - e->after_ns;
		if (alike(size, last) && is_soon(w->highest, e->before_ns, last)) {
			w->found.n--;
			w->doubtful = false;
			again = true;
		}
	}
	if (!again && size >= USK_LEAST_FALL) {
		w->fall = (struct usk_fall){ .n = 1,
					     .record = w->n - 1,
					     .from = w->highest,
					     .to = t,
					     .reached = t,
					     .lowest = w->lowest };
	}
}

/* May the order of records alone tell that the clock was set back? */
static bool may_tell(const struct usk_epoch_watch *w)
{
	return !w->told.all || w->fall.from - w->fall.to > USK_LATEST_NS;
}

static bool no_leap(const struct usk_fall *f)
{
	return f->widest <= (f->from - f->to) / 4 * 3;
}

static bool smooth(const struct usk_fall *f)
{
	return f->n >= LEAST_RECORDS && no_leap(f);
}

/* Has the clock been set back again, before it showed the time from where it fell? Late batches are
 * not later each time. */
static bool lower(const struct usk_fall *f, int64_t t)
{
	int64_t size = f->from - f->to;
	return smooth(f) && size >= LEAST_AT_END && t < f->to && f->to - t >= size / LIKE;
}

/* It is not below the highest stamp any more. */
static void end_low(struct usk_epoch_watch *w, int64_t highest)
{
	w->highest = highest;
	w->n_fell = 0;
	w->fall.n = 0;
}

/* Packets tell that the clock was set back here. */
static bool was_told(struct usk_epoch_watch *w, int64_t t)
{
	struct usk_fall *f = &w->fall;
	while (w->n_told < w->told.n && w->told.record[w->n_told] < w->n - 1) {
		w->n_told++;
	}
	if (w->n_told == w->told.n || w->told.record[w->n_told] != w->n - 1) {
		return false;
	}
	if (f->n && may_tell(w) && smooth(f) && f->from - f->to >= LEAST_AT_END) {
		begin_epoch(w, false);
		w->highest = f->reached;
	}
	*f = (struct usk_fall){
		.record = w->n - 1, .from = w->highest, .to = t, .lowest = w->lowest
	};
	begin_epoch(w, false);
	end_low(w, t);
	return true;
}

void usk_epoch_out_of_order(struct usk_epoch_watch *w, int64_t t)
{
	struct usk_fall *f = &w->fall;
	note_drop(w, t);
	if (was_told(w, t)) {
		w->lowest = t < w->lowest ? t : w->lowest;
		return;
	}
	if (!f->n) {
		begin_fall(w, t);
	} else if (t >= f->from) { /* back where it was */
		f->widest = t - f->reached > f->widest ? t - f->reached : f->widest;
		if (may_tell(w) && smooth(f)) {
			begin_epoch(w, true);
		}
		f->n = 0;
		w->highest = t;
	} else if (may_tell(w) && lower(f, t)) {
		begin_epoch(w, false);
		end_low(w, f->reached);
		begin_fall(w, t);
	} else {
		int64_t size = f->from - f->to;
		if (t > f->reached) {
			f->widest = t - f->reached > f->widest ? t - f->reached : f->widest;
			f->reached = t;
		} else if (size <= USK_LATEST_NS && f->reached - t >= size / LIKE) {
			remember(w, f->from, size);
			f->n = 0;
			return;
		}
		if (++f->n >= ENOUGH_RECORDS && size > USK_LATEST_NS) {
			begin_epoch(w, false);
			end_low(w, f->reached);
		}
	}
	if (t < w->lowest) {
		w->lowest = t;
	}
}

void usk_epoch_finish(struct usk_epoch_watch *w, struct usk_epochs *out, struct usk_drops *drops)
{
	struct usk_fall *f = &w->fall;
	if (f->n && may_tell(w) && no_leap(f) && f->from - f->to >= LEAST_AT_END) {
		begin_epoch(w, false);
		w->highest = f->reached;
	}
	*out = w->found;
	w->found = (struct usk_epochs){ 0 };
	*drops = w->drops;
	w->drops = (struct usk_drops){ 0 };
}

void usk_epochs_free(struct usk_epochs *e)
{
	free(e->epoch);
	memset(e, 0, sizeof *e);
}

void usk_epochs_copy(const struct usk_epochs *e, struct usk_epochs *out)
{
	*out = (struct usk_epochs){ usk_alloc(e->n + 1, sizeof *e->epoch), e->n };
	if (e->n) {
		memcpy(out->epoch, e->epoch, e->n * sizeof *e->epoch);
	}
}

/* To half of a fall each: stamps that are rarer do not tell which it was. */
bool usk_epochs_agree(const struct usk_epochs *e, const struct usk_epochs *known)
{
	bool agree = e->n == known->n;
	for (size_t i = 0; i < e->n && agree; i++) {
		const struct usk_epoch *x = &e->epoch[i], *y = &known->epoch[i];
		usk_i128 half = ((usk_i128)y->before_ns - y->after_ns + 1) / 2;
		usk_i128 ahead = (usk_i128)x->before_ns - y->before_ns;
		agree = ahead <= half && -ahead <= half &&
			(usk_i128)x->before_ns - x->after_ns >= half;
	}
	return agree;
}

size_t usk_epoch_of(const struct usk_epochs *e, int64_t running_ns)
{
	const struct usk_epoch *x = e->epoch;
	size_t i;
	USK_FIRST(i, 0, e->n, running_ns < x[i].after_ns + x[i].shift_ns - USK_EPOCH_GAP_NS / 2);
	return i;
}

int64_t usk_epoch_recorded(const struct usk_epochs *e, int64_t running_ns)
{
	size_t k = usk_epoch_of(e, running_ns);
	return k ? running_ns - e->epoch[k - 1].shift_ns : running_ns;
}
