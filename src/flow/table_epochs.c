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
 * direction those of the other, every clock of a row begins anew: then nobody was put back. So a
 * clock counts as put back only where the other one of the row goes on.
 */
#include "flow/flow.h"

#include <stdlib.h>

/* Does a stamp lie so far below all of its clock's before? */
static bool falls(const struct usk_epoch_watch *w, int64_t t, int64_t by)
{
	return !w->n || (usk_i128)w->highest - t >= by;
}

/* The next stamp of a clock; the other clock of the row as it was before the row. */
static void note(struct usk_epoch_watch *w, int64_t t, const struct usk_epoch_watch *other,
		 int64_t other_t)
{
	usk_epoch_note(w, t);
	if (w->fall.n == 1 && falls(other, other_t, (w->fall.from - w->fall.to) / 2)) {
		w->fall.n = 0;
	}
}

void usk_row_note(struct parties *p, const struct usk_msg *m)
{
	struct party *from = &p->party[m->from], *to = &p->party[m->to];
	if (m->from == m->to) {
		return;
	}
	from->watch = from->watch ? from->watch : usk_alloc(1, sizeof *from->watch);
	to->watch = to->watch ? to->watch : usk_alloc(1, sizeof *to->watch);
	struct usk_epoch_watch before = { .n = from->watch->n, .highest = from->watch->highest };
	note(from->watch, m->sent_ns, to->watch, m->received_ns);
	note(to->watch, m->received_ns, &before, m->sent_ns);
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
		if (e.n && y->trace == SIZE_MAX) {
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
