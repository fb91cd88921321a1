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

void usk_row_note(struct parties *p, size_t which, const struct usk_msg *m)
{
	/* A clock that was set back keeps no line, whatever the order. */
	if (p->model.kind != USK_LINEAR) {
		usk_rows_note(usk_rows_of(p, which), m);
	}
}

/* Those of the sequence that a table is of. */
static struct usk_row_place *places_of(const struct parties *p, size_t which,
				       struct usk_row_place *place)
{
	return place + p->rows_of[which] * p->n;
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
static bool in_no_order(const struct parties *p, size_t which, uint32_t clock)
{
	const struct usk_rows *r = usk_rows_of(p, which);
	return p->party[clock].alone && !(clock < r->n && r->clock[clock].epochs.n);
}

/* Where the order of rows tells nothing of a clock. False: nor does the stamp. */
static bool place_alone(const struct parties *p, size_t which, uint32_t clock, int64_t t,
			size_t *epoch, size_t *near)
{
	if (in_no_order(p, which, clock)) {
		*epoch = *near = usk_alone_epoch(p->party[clock].alone, t);
	}
	return *epoch != SIZE_MAX;
}

enum row_is usk_row_run_on(const struct parties *p, size_t which, struct usk_row_place *place,
			   struct usk_msg *m, struct usk_likely *likely)
{
	size_t epoch[2], near[2];
	if (m->from == m->to) {
		return ROW_CERTAIN;
	}
	if (p->party[m->from].unordered || p->party[m->to].unordered) {
		return ROW_SHOWN_TWICE;
	}
	*likely = (struct usk_likely){ .msg = *m };
	usk_rows_place(usk_rows_of(p, which), places_of(p, which, place), m, epoch, near);
	if (!place_alone(p, which, m->from, m->sent_ns, &epoch[SENT], &near[SENT]) ||
	    !place_alone(p, which, m->to, m->received_ns, &epoch[RECEIVED], &near[RECEIVED])) {
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

void usk_row_shown_twice(void *ctx, size_t which, const struct usk_msg *m)
{
	struct parties *p = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		struct party *y = &p->party[clock[k]];
		if (in_no_order(p, which, clock[k]) &&
		    usk_alone_epoch(y->alone, stamp[k]) == SIZE_MAX) {
			y->rows_shown_twice++;
			return;
		}
	}
}

struct extents {
	struct parties *p;
	struct usk_row_place *place;
	bool vague;
	size_t table;  /* that is being read */
	size_t *begun; /* by clock: the last one that had stamps of it, + 1 */
};

static void note_table(void *ctx, size_t which)
{
	((struct extents *)ctx)->table = which;
}

/* The first stamp of a clock in a table tells where it begins, if it can be of one epoch alone. */
static void note_begin(struct extents *x, uint32_t clock, size_t epoch, bool certain)
{
	if (x->begun[clock] == x->table + 1) {
		return;
	}
	x->begun[clock] = x->table + 1;
	struct begins *b = &x->p->begins[x->table];
	if (certain) {
		*USK_ADD(b->of, b->n, b->cap) =
			(struct usk_trace_begin){ clock, (uint32_t)epoch, 0 };
	}
}

static void place_row(const struct extents *x, const struct usk_msg *m, size_t epoch[2],
		      size_t likely[2])
{
	usk_rows_place(usk_rows_of(x->p, x->table), places_of(x->p, x->table, x->place), m, epoch,
		       likely);
}

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
	place_row(x, m, epoch, likely);
	for (int k = 0; k < 2; k++) {
		struct usk_epochs *e = &x->p->party[clock[k]].survey.epochs;
		if (!usk_rows_of(x->p, x->table)->clock[clock[k]].epochs.n) {
			continue;
		}
		note_begin(x, clock[k], epoch[k], epoch[k] == likely[k]);
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
	const struct extents *x = ctx;
	usk_rows_own(usk_rows_of(x->p, x->table), m);
}

static void note_lag(void *ctx, const struct usk_msg *m)
{
	const struct extents *x = ctx;
	size_t epoch[2], likely[2];
	if (m->from != m->to) {
		place_row(x, m, epoch, likely);
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
	const size_t n_places = p->n_rows * p->n;
	struct extents x = { .p = p,
			     .place = usk_alloc(n_places + 1, sizeof *x.place),
			     .begun = usk_alloc(p->n + 1, sizeof *x.begun) };
	void (*const each[])(void *ctx, const struct usk_msg *m) = { note_own, note_lag,
								     note_extent };
	enum usk_status status = USK_OK;
	for (size_t i = 0; i < p->n; i++) {
		struct usk_epochs *e = &p->party[i].survey.epochs;
		for (size_t k = 0; k < e->n && !p->party[i].capture; k++) {
			e->epoch[k].before_ns = -USK_TIME_MAX;
			e->epoch[k].after_ns = USK_TIME_MAX;
		}
	}
	for (size_t i = 0; i < COUNT(each) && !status; i++) {
		status = look(p,
			      (struct table_sink){ .ctx = &x, .row = each[i], .begin = note_table },
			      err);
		for (size_t k = 0; k < p->n_rows && each[i] == note_lag; k++) {
			usk_rows_lags(&p->rows[k], x.place + k * p->n);
		}
		memset(x.place, 0, n_places * sizeof *x.place);
	}
	p->rows_vague = x.vague;
	USK_FREE(x.place, x.begun);
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
static bool found_in(const struct parties *p, struct usk_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (p->party[i].capture) {
			usk_rows_told(r, (uint32_t)i, &p->party[i].survey.epochs);
		}
	}
	return usk_rows_found(r);
}

/* The steps that the most telling sequence of tables shows; NULL: another one does not, and messages do
 * not either. One that has few of a clock's stamps may not show what was: then it is by these alone
 * that the epochs of its stamps are told. */
static const struct usk_epochs *agreed(const struct parties *p, uint32_t clock, bool set_back)
{
	const struct usk_epochs *best = NULL;
	bool agree = true;
	for (size_t i = 0; i < p->n_rows; i++) {
		const struct usk_rows *r = &p->rows[i];
		if (clock < r->n && r->clock[clock].noted) {
			const struct usk_epochs *e = &r->clock[clock].epochs;
			best = !best || e->n > best->n ? e : best;
		}
	}
	for (size_t i = 0; i < p->n_rows && best; i++) {
		struct usk_rows *r = &p->rows[i];
		if (clock < r->n && r->clock[clock].noted &&
		    !usk_epochs_agree(&r->clock[clock].epochs, best)) {
			usk_epochs_free(&r->clock[clock].epochs);
			agree = false;
		}
	}
	return agree || set_back ? best : NULL;
}

static void forget(const struct parties *p, uint32_t clock)
{
	for (size_t i = 0; i < p->n_rows; i++) {
		struct usk_rows *r = &p->rows[i];
		if (clock < r->n) {
			usk_epochs_free(&r->clock[clock].epochs);
		}
	}
}

static bool find_epochs(struct parties *p, const size_t *set_back)
{
	bool any = false;
	for (size_t i = 0; i < p->n_rows; i++) {
		any = found_in(p, &p->rows[i]) || any;
	}
	for (size_t i = 0; i < p->n && any; i++) {
		if (p->party[i].capture) {
			continue;
		}
		const struct usk_epochs *e = agreed(p, (uint32_t)i, set_back && set_back[i] > 0);
		if (e) {
			usk_epochs_copy(e, &p->party[i].survey.epochs);
		} else {
			forget(p, (uint32_t)i);
		}
	}
	return any;
}

static size_t n_tables(const struct parties *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_traces; i++) {
		n += usk_trace_class(p->trace[i]) == USK_TRACE_TABLE;
	}
	return n;
}

struct turn {
	struct parties *p;
	size_t table;
};

static void note_in_turn(void *ctx, const struct usk_msg *m)
{
	const struct turn *x = ctx;
	if (x->table < x->p->n_traces) {
		usk_row_note(x->p, x->table, m);
	}
}

static void begin_turn(void *ctx, size_t which)
{
	((struct turn *)ctx)->table = which;
}

/* What the order of rows tells, of each sequence of tables by itself. */
static enum usk_status find_in_order(struct parties *p, const size_t *set_back, bool *any,
				     struct usk_err *err)
{
	struct turn x = { p, 0 };
	enum usk_status status = usk_tables_order(p, set_back, err);
	status = status ? status
			: look(p,
			       (struct table_sink){
				       .ctx = &x, .row = note_in_turn, .begin = begin_turn },
			       err);
	*any = !status && find_epochs(p, set_back);
	return status;
}

static bool rows_tell(const struct parties *p, uint32_t clock)
{
	bool tell = false;
	for (size_t i = 0; i < p->n_rows; i++) {
		const struct usk_rows *r = &p->rows[i];
		tell = tell || (clock < r->n && r->clock[clock].epochs.n);
	}
	return tell;
}

enum usk_status usk_row_epochs(struct parties *p, struct usk_err *err)
{
	const bool several = n_tables(p) > 1;
	bool any = several ? usk_rows_found(p->rows) : find_epochs(p, NULL);
	size_t *set_back = several ? usk_alloc(p->n + 1, sizeof *set_back) : NULL;
	p->rows_contradict = several && usk_clocks_contradict(p, true, set_back);
	const bool fell = several && (p->rows->fell || p->rows_contradict);
	enum usk_status status = fell ? find_in_order(p, set_back, &any, err) : USK_OK;
	free(set_back);
	status = any && !status ? find_extents(p, err) : status;
	p->rows_repeat = any;
	for (size_t i = 0; i < p->n && !status; i++) {
		struct party *y = &p->party[i];
		if (rows_tell(p, (uint32_t)i)) {
			shift(p, y);
		} else if (y->survey.epochs.n) {
			y->stamped = false; /* rows have told its span by stamps as recorded */
			usk_party_captured(p, y);
		}
		for (size_t k = 0; k < p->n_rows; k++) {
			struct usk_rows *r = &p->rows[k];
			struct usk_epochs *e = i < r->n ? &r->clock[i].epochs : NULL;
			if (e && e->n > y->survey.epochs.n) {
				e->n = y->survey.epochs.n;
			}
		}
		p->rows_repeat = p->rows_repeat || y->survey.epochs.n || y->unordered;
	}
	return status;
}

static bool may_leave_out(const struct party *y)
{
	return !y->capture && !y->unordered;
}

enum usk_status usk_row_epochs_check(struct parties *p, struct usk_err *err)
{
	bool again = p->rows_contradict || (p->rows_repeat && n_tables(p) > 1);
	enum usk_status status = USK_OK;
	while (again && !status) {
		size_t *those = usk_alloc(p->n + 1, sizeof *those);
		again = usk_clocks_contradict(p, true, those) &&
			usk_leave_out_most(p, those, may_leave_out);
		free(those);
		for (size_t i = 0; i < p->n && again; i++) {
			p->party[i].stamped = p->party[i].stamped && !p->party[i].unordered;
		}
		p->rows_repeat = p->rows_repeat || again;
		status = again ? usk_tables_sample_again(p, err) : USK_OK;
	}
	return status;
}
