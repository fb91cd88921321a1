/* SPDX-License-Identifier: MIT */
/*
 * table_epochs.c - clocks that tables name and that were put back: the order of rows may tell
 *
 * In    the stamps of every clock, row by row
 * Out   their epochs; a time that runs on
 * Why   many tables are written while things happen, and their rows follow one another as a
 *       capture's records do
 * Not   the rule (match/epochs.c)
 *
 * Tables may be in any order. Where all rows of one pair follow those of another, or those of one
 * direction those of the other, both clocks of a row begin anew, or one of them for the first time:
 * then nobody was put back, and no order says anything. So rows count as in order only if whenever
 * a clock falls by 1 s or more the other one of the row goes on.
 *
 * A row holds two moments, and is written at one of them: messages that all took long put their
 * other stamps back as a capture's late records never are. So a clock that fell by less than 1 s is
 * taken for one that did not.
 */
#include "flow/flow.h"

#include <stdlib.h>

#define LATEST_ROW INT64_C(1000000000)

/* A row's other clock, as it was before. */
struct other {
	bool known;
	int64_t highest, t;
};

/* The next stamp of a clock. false: rows are in no order. */
static bool note(struct usk_epoch_watch *w, int64_t t, const struct other *o)
{
	int64_t highest = w->highest;
	bool known = w->n > 0;
	usk_epoch_note(w, t);
	usk_i128 fell = known ? (usk_i128)highest - t : 0;
	usk_i128 size = w->fall.n ? (usk_i128)w->fall.from - w->fall.to : fell;
	bool goes_on = o->known && (usk_i128)o->highest - o->t < size / 2;
	if (fell > 0 && !goes_on) {
		w->fall.n = 0;
	}
	return fell < LATEST_ROW || goes_on;
}

void usk_row_note(struct parties *p, const struct usk_msg *m)
{
	struct party *from = &p->party[m->from], *to = &p->party[m->to];
	/* A clock that was put back keeps no line, whatever the order. */
	if (m->from == m->to || p->rows_mixed || p->model.kind == USK_LINEAR) {
		return;
	}
	from->watch = from->watch ? from->watch : usk_alloc(1, sizeof *from->watch);
	to->watch = to->watch ? to->watch : usk_alloc(1, sizeof *to->watch);
	struct other x = { from->watch->n > 0, from->watch->highest, m->sent_ns };
	struct other y = { to->watch->n > 0, to->watch->highest, m->received_ns };
	p->rows_mixed = !note(from->watch, m->sent_ns, &y) || !note(to->watch, m->received_ns, &x);
}

/* Did it fall by so much each time that no delay does? */
static bool far_enough(const struct usk_epochs *e)
{
	bool far = true;
	for (size_t i = 0; i < e->n; i++) {
		far = far && (usk_i128)e->epoch[i].before_ns - e->epoch[i].after_ns >= LATEST_ROW;
	}
	return far;
}

bool usk_row_epochs(struct parties *p)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		struct usk_epochs e = { .n = 0 };
		int64_t highest = y->watch ? y->watch->highest : 0;
		if (y->watch) {
			usk_epoch_finish(y->watch, &e);
		}
		if (e.n && y->trace == SIZE_MAX && !p->rows_mixed && far_enough(&e)) {
			y->survey.epochs = e;
			y->in_epoch = usk_alloc(e.n + 1, sizeof *y->in_epoch);
			usk_party_breaks(y, &y->back, &y->n_back);
			y->first_ns = e.epoch[0].lowest_ns;
			y->last_ns = highest + e.epoch[e.n - 1].shift_ns;
			any = true;
		} else {
			usk_epochs_free(&e);
		}
		free(y->watch);
		y->watch = NULL;
	}
	p->rows_repeat = any;
	return any;
}

void usk_row_run_on(const struct parties *p, struct usk_epoch_place *place, struct usk_msg *m)
{
	const uint32_t clock[] = { m->from, m->to };
	int64_t *const stamp[] = { &m->sent_ns, &m->received_ns };
	for (int k = 0; k < 2 && m->from != m->to; k++) {
		const struct party *y = &p->party[clock[k]];
		struct usk_epoch_place *at = &place[clock[k]];
		if (y->trace == SIZE_MAX) {
			*stamp[k] += usk_epoch_shift(&y->survey.epochs, at->record++, &at->at);
		}
	}
}
