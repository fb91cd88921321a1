/* SPDX-License-Identifier: MIT */
/*
 * table_epochs.c - clocks that tables name and that were set back, on a time that runs on
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

void usk_row_run_on(const struct parties *p, struct usk_row_place *place, struct usk_msg *m)
{
	size_t epoch[2];
	if (m->from != m->to) {
		usk_rows_place(&p->rows, place, m, epoch);
		m->sent_ns += usk_epoch_offset(&p->party[m->from].survey.epochs, epoch[SENT]);
		m->received_ns += usk_epoch_offset(&p->party[m->to].survey.epochs, epoch[RECEIVED]);
	}
}

struct extents {
	const struct parties *p;
	struct usk_row_place *place;
};

/* First and last stamp of each epoch, of both columns. */
static void note_extent(void *ctx, const struct usk_msg *m)
{
	const struct extents *x = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	size_t epoch[2];
	if (m->from == m->to) {
		return;
	}
	usk_rows_place(&x->p->rows, x->place, m, epoch);
	for (int k = 0; k < 2; k++) {
		struct usk_epochs *e = &x->p->party[clock[k]].survey.epochs;
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

static void note_lag(void *ctx, const struct usk_msg *m)
{
	const struct extents *x = ctx;
	size_t epoch[2];
	if (m->from != m->to) {
		usk_rows_place(&x->p->rows, x->place, m, epoch);
	}
}

static bool nothing(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	(void)ctx;
	(void)pair;
	(void)msg;
	(void)n;
	return true;
}

/* All rows once more. */
static enum usk_status look(struct extents *x, struct parties *p,
			    void (*row)(void *ctx, const struct usk_msg *m), struct usk_err *err)
{
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted);
	const struct table_sink sink = { .ctx = x, .wanted = wanted, .put = nothing, .row = row };
	p->work_all += usk_tables_size(p);
	memset(x->place, 0, p->n * sizeof *x->place);
	enum usk_status status = usk_tables_read(p, &sink, err);
	p->work_done += usk_tables_size(p);
	free(wanted);
	return status;
}

static enum usk_status find_extents(struct parties *p, struct usk_err *err)
{
	struct extents x = { p, usk_alloc(p->n + 1, sizeof *x.place) };
	for (size_t i = 0; i < p->n; i++) {
		struct usk_epochs *e = &p->party[i].survey.epochs;
		for (size_t k = 0; k < e->n && p->party[i].trace == SIZE_MAX; k++) {
			e->epoch[k].before_ns = -USK_TIME_MAX;
			e->epoch[k].after_ns = USK_TIME_MAX;
		}
	}
	enum usk_status status = look(&x, p, note_lag, err);
	usk_rows_lags(&p->rows, x.place);
	status = status ? status : look(&x, p, note_extent, err);
	free(x.place);
	return status;
}

/* A time that runs on. */
static void shift(struct party *y)
{
	struct usk_epochs *e = &y->survey.epochs;
	usk_i128 all = 0;
	for (size_t i = 0; i < e->n; i++) {
		struct usk_epoch *x = &e->epoch[i];
		all += (usk_i128)x->before_ns - x->after_ns + USK_EPOCH_GAP_NS;
		if (all + x->before_ns > USK_TIME_MAX) {
			e->n = i; /* no time runs on that far */
			break;
		}
		x->shift_ns = (int64_t)all;
	}
	y->in_epoch = usk_alloc(e->n + 1, sizeof *y->in_epoch);
	usk_party_breaks(y, &y->back, &y->n_back);
	y->stamped = false;
}

void usk_row_span(struct parties *p, const struct usk_msg *m)
{
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		struct party *y = &p->party[clock[k]];
		if (y->trace == SIZE_MAX && y->in_epoch) {
			y->first_ns =
				!y->stamped || stamp[k] < y->first_ns ? stamp[k] : y->first_ns;
			y->last_ns = !y->stamped || stamp[k] > y->last_ns ? stamp[k] : y->last_ns;
			y->stamped = true;
		}
	}
}

enum usk_status usk_row_epochs(struct parties *p, struct usk_err *err)
{
	struct usk_rows *r = &p->rows;
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < r->n; i++) {
		r->clock[i].others_tell = p->party[i].trace != SIZE_MAX;
	}
	const bool any = usk_rows_found(r);
	for (size_t i = 0; i < r->n; i++) {
		const struct usk_epochs *found = &r->clock[i].epochs;
		struct usk_epochs *e = &p->party[i].survey.epochs;
		if (found->n) {
			e->epoch = usk_alloc(found->n, sizeof *e->epoch);
			memcpy(e->epoch, found->epoch, found->n * sizeof *e->epoch);
			e->n = found->n;
		}
	}
	if (any) {
		status = find_extents(p, err);
	}
	for (size_t i = 0; i < r->n && any && !status; i++) {
		if (r->clock[i].epochs.n) {
			shift(&p->party[i]);
			r->clock[i].epochs.n = p->party[i].survey.epochs.n;
		}
	}
	p->rows_repeat = any;
	return status;
}
