/* SPDX-License-Identifier: MIT */
/*
 * table_epochs.c - clocks that tables name and that were set back, on unwrapped time
 *
 * In    the rows of all tables, in their order; what that tells (match/rows.c)
 * Out   first and last stamp of each epoch, shifts, and rows whose stamps run on
 * Why   all that follows never meets a stamp twice
 * Not   captures (captures.c); by how much a clock was set back in truth: the messages told
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { SENT, RECEIVED };

void usk_row_note(struct parties *p, const struct usk_msg *m)
{
	/* A clock that was set back keeps no line, whatever the order. */
	if (p->model.kind != USK_LINEAR) {
		usk_rows_note(&p->rows, m);
	}
}

static void run_on(const struct parties *p, struct usk_msg *m, const size_t epoch[2])
{
	m->sent_ns += usk_epoch_offset(&p->party[m->from].survey.epochs, epoch[SENT]);
	m->received_ns += usk_epoch_offset(&p->party[m->to].survey.epochs, epoch[RECEIVED]);
}

/* What may be of an epoch, though its clock's other stamps there do not reach so far, was received
 * no later than the first of these, and sent no earlier than the last. */
static void say_least(const struct parties *p, struct usk_msg *m, const size_t epoch[2])
{
	const struct usk_epochs *from = &p->party[m->from].survey.epochs;
	const struct usk_epochs *to = &p->party[m->to].survey.epochs;
	if (epoch[SENT] < from->n && m->sent_ns > from->epoch[epoch[SENT]].before_ns) {
		m->sent_ns = from->epoch[epoch[SENT]].before_ns;
	}
	if (epoch[RECEIVED] && m->received_ns < to->epoch[epoch[RECEIVED] - 1].after_ns) {
		m->received_ns = to->epoch[epoch[RECEIVED] - 1].after_ns;
	}
}

/* The nearest stamp that is certainly of an epoch; after, before: of the first and the last one. */
static int64_t within(const struct usk_epochs *e, size_t epoch, int64_t t)
{
	int64_t after = epoch ? e->epoch[epoch - 1].after_ns : t;
	int64_t before = epoch < e->n ? e->epoch[epoch].before_ns : t;
	return t < after ? after : t > before ? before : t;
}

/* Unwrapped time goes no further than stamps are certainly of an epoch: one that is beyond these
 * stands for as much of the clock's time. */
static void keep_within(const struct parties *p, struct usk_likely *l, const size_t epoch[2])
{
	int64_t sent = within(&p->party[l->msg.from].survey.epochs, epoch[SENT], l->msg.sent_ns);
	int64_t received =
		within(&p->party[l->msg.to].survey.epochs, epoch[RECEIVED], l->msg.received_ns);
	l->early_ns = usk_saturate((usk_i128)sent - l->msg.sent_ns + l->msg.received_ns - received);
	l->msg.sent_ns = sent;
	l->msg.received_ns = received;
}

/* The clock has epochs that the order of its rows does not show. */
static bool in_no_order(const struct parties *p, uint32_t clock)
{
	return p->party[clock].alone && !p->rows.clock[clock].epochs.n;
}

/* Where the order of rows tells nothing of a clock. False: nor does the stamp. */
static bool place_alone(const struct parties *p, uint32_t clock, int64_t t, size_t *epoch,
			size_t *near)
{
	if (in_no_order(p, clock)) {
		*epoch = *near = usk_alone_epoch(p->party[clock].alone, t);
	}
	return *epoch != SIZE_MAX;
}

enum row_is usk_row_run_on(const struct parties *p, struct usk_row_place *place, struct usk_msg *m,
			   struct usk_likely *likely)
{
	size_t epoch[2], near[2];
	if (m->from == m->to) {
		return ROW_CERTAIN;
	}
	*likely = (struct usk_likely){ .msg = *m };
	usk_rows_place(&p->rows, place, m, epoch, near);
	if (!place_alone(p, m->from, m->sent_ns, &epoch[SENT], &near[SENT]) ||
	    !place_alone(p, m->to, m->received_ns, &epoch[RECEIVED], &near[RECEIVED])) {
		return ROW_SHOWN_TWICE;
	}
	say_least(p, m, epoch);
	run_on(p, m, epoch);
	if (epoch[SENT] == near[SENT] && epoch[RECEIVED] == near[RECEIVED]) {
		return ROW_CERTAIN;
	}
	keep_within(p, likely, near);
	run_on(p, &likely->msg, near);
	return ROW_VAGUE;
}

void usk_row_shown_twice(void *ctx, const struct usk_msg *m)
{
	struct parties *p = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		struct party *y = &p->party[clock[k]];
		if (in_no_order(p, clock[k]) && usk_alone_epoch(y->alone, stamp[k]) == SIZE_MAX) {
			y->shown_twice++;
			return;
		}
	}
}

struct extents {
	const struct parties *p;
	struct usk_row_place *place;
	bool vague;
};

/* First and last stamp of each epoch, of both columns. */
static void note_extent(void *ctx, const struct usk_msg *m)
{
	struct extents *x = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	size_t epoch[2], likely[2];
	if (m->from == m->to) {
		return;
	}
	usk_rows_place(&x->p->rows, x->place, m, epoch, likely);
	for (int k = 0; k < 2; k++) {
		struct usk_epochs *e = &x->p->party[clock[k]].survey.epochs;
		if (!x->p->rows.clock[clock[k]].epochs.n) {
			continue;
		}
		if (epoch[k] != likely[k]) {
			x->p->party[clock[k]].vague++;
			x->vague = true;
			continue;
		}
		if (epoch[k] < e->n) {
			struct usk_epoch *next = &e->epoch[epoch[k]];
			next->before_ns = stamp[k] > next->before_ns ? stamp[k] : next->before_ns;
		}
		if (epoch[k]) {
			struct usk_epoch *own = &e->epoch[epoch[k] - 1];
			own->after_ns = stamp[k] < own->after_ns ? stamp[k] : own->after_ns;
		}
	}
}

static void note_own(void *ctx, const struct usk_msg *m)
{
	usk_rows_own(ctx, m);
}

static void note_lag(void *ctx, const struct usk_msg *m)
{
	const struct extents *x = ctx;
	size_t epoch[2], likely[2];
	if (m->from != m->to) {
		usk_rows_place(&x->p->rows, x->place, m, epoch, likely);
	}
}

/* All rows once more. */
static enum usk_status look(struct parties *p, struct table_sink sink, struct usk_err *err)
{
	p->work_all += usk_tables_size(p);
	return usk_tables_read(p, &sink, err);
}

enum usk_status usk_rows_likely(struct parties *p, void *ctx,
				void (*row)(void *ctx, const struct usk_likely *l),
				struct usk_err *err)
{
	return p->rows_vague ? look(p, (struct table_sink){ .ctx = ctx, .likely = row }, err)
			     : USK_OK;
}

static enum usk_status find_extents(struct parties *p, struct usk_err *err)
{
	struct extents x = { p, usk_alloc(p->n + 1, sizeof *x.place), false };
	for (size_t i = 0; i < p->n; i++) {
		struct usk_epochs *e = &p->party[i].survey.epochs;
		for (size_t k = 0; k < e->n && !p->party[i].capture; k++) {
			e->epoch[k].before_ns = -USK_TIME_MAX;
			e->epoch[k].after_ns = USK_TIME_MAX;
		}
	}
	enum usk_status status =
		look(p, (struct table_sink){ .ctx = &p->rows, .row = note_own }, err);
	status = status ? status : look(p, (struct table_sink){ .ctx = &x, .row = note_lag }, err);
	usk_rows_lags(&p->rows, x.place);
	memset(x.place, 0, p->n * sizeof *x.place);
	status = status ? status
			: look(p, (struct table_sink){ .ctx = &x, .row = note_extent }, err);
	p->rows_vague = x.vague;
	free(x.place);
	return status;
}

/* Unwrapped time, now that all stamps of each epoch are known. */
static void shift(struct parties *p, struct party *y)
{
	struct usk_epochs e;
	usk_i128 all = 0;
	usk_epochs_copy(&y->survey.epochs, &e);
	for (size_t i = 0; i < e.n; i++) {
		struct usk_epoch *x = &e.epoch[i];
		all += (usk_i128)x->before_ns - x->after_ns + USK_EPOCH_GAP_NS;
		if (all + x->before_ns > USK_TIME_MAX) {
			e.n = i; /* unwrapped time ends here */
			break;
		}
		x->shift_ns = (int64_t)all;
	}
	usk_survey_epochs(&y->survey, &e);
	usk_epochs_free(&e);
	usk_party_breaks(y);
	y->stamped = false;
	if (y->capture) {
		usk_party_captured(p, y);
	}
}

void usk_row_span(void *ctx, const struct usk_msg *m)
{
	struct parties *p = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		struct party *y = &p->party[clock[k]];
		if (y->in_epoch) {
			usk_party_span(y, stamp[k], stamp[k]);
		}
	}
}

/* Of clocks that captures tell of no row has other epochs. */
static bool find_epochs(struct parties *p)
{
	struct usk_rows *r = &p->rows;
	for (size_t i = 0; i < r->n; i++) {
		if (p->party[i].capture) {
			usk_rows_told(r, (uint32_t)i, &p->party[i].survey.epochs);
		}
	}
	const bool any = usk_rows_found(r);
	for (size_t i = 0; i < r->n && any; i++) {
		if (r->clock[i].epochs.n && !r->clock[i].told) {
			usk_epochs_copy(&r->clock[i].epochs, &p->party[i].survey.epochs);
		}
	}
	return any;
}

enum usk_status usk_row_epochs(struct parties *p, struct usk_err *err)
{
	struct usk_rows *r = &p->rows;
	const bool any = find_epochs(p);
	enum usk_status status = any ? find_extents(p, err) : USK_OK;
	p->rows_repeat = any;
	for (size_t i = 0; i < r->n && !status; i++) {
		struct party *y = &p->party[i];
		if (r->clock[i].epochs.n) {
			shift(p, y);
			r->clock[i].epochs.n = y->survey.epochs.n;
		} else if (y->survey.epochs.n) {
			y->stamped = false; /* rows have told its span by stamps as recorded */
			usk_party_captured(p, y);
		}
		p->rows_repeat = p->rows_repeat || y->survey.epochs.n;
	}
	return status;
}
