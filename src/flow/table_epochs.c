/* SPDX-License-Identifier: MIT */
/*
 * table_epochs.c - clocks that tables name and that were set back: the order of rows may tell
 *
 * In    the stamps of every clock, row by row
 * Out   their epochs; a time that runs on
 * Why   many tables are written while things happen, and their rows follow one another as a
 *       capture's records do
 * Not   captures (match/epochs.c), by how much a clock was set back in truth: the messages told
 *
 * A row holds two moments, and is written at one of them. So rows are in order of sending, of
 * receipt, or in none: the column in which clocks fall least often is the one they were written by,
 * and the other one shows delays as well. In that column a clock was set back where it falls by S
 * and stays there: four of its stamps or more follow, none by a leap of 3/4 S, before it shows the
 * time again from where it fell. That goes for any S from 1 ms on if no clock falls otherwise;
 * where some do, by D at most, for S from 8 D on.
 *
 * Where all rows of one pair follow those of another, both clocks of a row begin anew, or one of
 * them for the first time: then nobody was set back, and no order says anything. So whenever a
 * clock is set back the other one of the row has to go on.
 *
 * The other column follows: what was received was received after the moment of its row, and what
 * was sent was sent before. So stamps of receipt that fall with those of sending count as well, and
 * then it does not matter how far the last leap goes. Only a message that took about S is
 * taken for one of the wrong epoch. Where four of a clock's stamps take longer than S, or rows were
 * sorted by stamps afterwards, nothing tells; then the messages contradict each other, and --from
 * and --to help.
 */
#include "flow/flow.h"

#include <stdlib.h>

#define LEAST_FALL INT64_C(1000000)

enum { SENT, RECEIVED, LEAST_STAMPS = 4, LIKE = 8, MOST_EPOCHS = 4096 };

struct fall {
	uint64_t n; /* stamps since; 0: there is none */
	uint64_t record;
	int64_t from, to, reached, widest;
	bool goes_on; /* the other clock of the row */
	bool sure;    /* not rows that were written late */
};

/* One clock in one column. */
struct column {
	uint64_t n; /* stamps */
	int64_t highest, last;
	struct fall fall;
	struct usk_epochs found;
	size_t cap;
	int64_t disorder; /* the most by which it fell otherwise */
	uint64_t strays;  /* how often */
	/* What the clock shows in the other column: before it stands in this one, the highest; and
	 * by how much it is ahead of the first here, and behind the last at any time. */
	bool other_first;
	int64_t other_highest, ahead, behind;
	bool mixed;
};

struct row_watch {
	struct column column[2];
};

/* ---- falls ---------------------------------------------------------------------------------- */

static void disorder(struct column *c, int64_t size)
{
	c->disorder = size > c->disorder ? size : c->disorder;
	c->strays++;
}

static void begin_fall(struct column *c, int64_t from, int64_t to, bool goes_on)
{
	int64_t size = usk_saturate((usk_i128)from - to);
	c->fall.n = 0;
	if (size < LEAST_FALL) {
		disorder(c, size);
		return;
	}
	c->fall = (struct fall){ .n = 1,
				 .record = c->n - 1,
				 .from = from,
				 .to = to,
				 .reached = to,
				 .goes_on = goes_on };
}

static bool stays(const struct fall *f)
{
	return f->n >= LEAST_STAMPS && f->widest <= (f->from - f->to) / 4 * 3;
}

/* It was set back, or it was not. */
static void end_fall(struct column *c)
{
	const struct fall *f = &c->fall;
	int64_t size = f->from - f->to;
	if (!stays(f) || c->found.n == MOST_EPOCHS) {
		disorder(c, size);
	} else {
		c->found.epoch =
			usk_room(c->found.epoch, c->found.n, &c->cap, sizeof *c->found.epoch);
		c->found.epoch[c->found.n++] = (struct usk_epoch){ .record = f->record,
								   .before_ns = f->from,
								   .after_ns = f->to };
		c->mixed = c->mixed || !f->goes_on;
	}
	c->fall.n = 0;
}

static void reach(struct fall *f, int64_t t)
{
	f->widest = t - f->reached > f->widest ? t - f->reached : f->widest;
	f->reached = t;
	f->n++;
}

static void note(struct column *c, int64_t t, bool goes_on)
{
	struct fall *f = &c->fall;
	if (!c->n++) {
		c->highest = t;
		c->ahead = c->other_first ? usk_saturate((usk_i128)c->other_highest - t) : 0;
	}
	c->last = t;
	if (!f->n && t >= c->highest) {
		c->highest = t;
	} else if (!f->n) {
		begin_fall(c, c->highest, t, goes_on);
	} else if (t >= f->from) {
		if (t - f->reached > f->widest && !f->sure) {
			f->widest = t - f->reached;
		}
		end_fall(c);
		c->highest = t;
	} else if (t >= f->reached) {
		reach(f, t);
	} else if (f->reached - t < (f->from - f->to) / LIKE) {
		disorder(c, f->reached - t);
		f->n++;
	} else {
		int64_t from = stays(f) ? f->reached : f->from;
		end_fall(c);
		c->highest = from;
		begin_fall(c, from, t, goes_on);
	}
}

/* A row's other clock, by the column that rows may be written by; if that knows nothing of it, by
 * the one that it stands in. */
static bool goes_on(const struct row_watch *other, int column, int64_t t, const struct column *c,
		    int64_t now)
{
	const struct column *by = &other->column[column];
	by = by->n ? by : &other->column[!column];
	usk_i128 fell = (usk_i128)(c->fall.n ? c->fall.reached : c->highest) - now;
	return by->n && ((usk_i128)by->last - t) * 2 < fell;
}

static void note_other(struct column *c, int64_t t)
{
	if (!c->n) {
		c->other_highest = c->other_first && c->other_highest > t ? c->other_highest : t;
		c->other_first = true;
	} else {
		int64_t by = usk_saturate((usk_i128)c->last - t);
		c->behind = by > c->behind ? by : c->behind;
	}
}

void usk_row_note(struct parties *p, const struct usk_msg *m)
{
	struct party *from = &p->party[m->from], *to = &p->party[m->to];
	/* A clock that was set back keeps no line, whatever the order. */
	if (m->from == m->to || p->model.kind == USK_LINEAR) {
		return;
	}
	from->watch = from->watch ? from->watch : usk_alloc(1, sizeof *from->watch);
	to->watch = to->watch ? to->watch : usk_alloc(1, sizeof *to->watch);
	struct column *x = &from->watch->column[SENT], *y = &to->watch->column[RECEIVED];
	bool x_on = goes_on(to->watch, SENT, m->received_ns, x, m->sent_ns);
	bool y_on = goes_on(from->watch, RECEIVED, m->sent_ns, y, m->received_ns);
	struct fall *f = &to->watch->column[SENT].fall;
	/* Received after the moment of a row that was written when it was sent, and yet earlier. */
	if (f->n && m->received_ns < f->from) {
		f->n++;
		f->sure = true;
	}
	note_other(&from->watch->column[RECEIVED], m->sent_ns);
	note_other(&to->watch->column[SENT], m->received_ns);
	note(x, m->sent_ns, x_on);
	note(y, m->received_ns, y_on);
}

void usk_row_watch_free(struct row_watch *w)
{
	for (int i = 0; i < 2 && w; i++) {
		usk_epochs_free(&w->column[i].found);
	}
	free(w);
}

/* ---- which column --------------------------------------------------------------------------- */

/* A column over all clocks. */
struct order {
	int64_t disorder;
	uint64_t strays;
	size_t epochs;
	bool mixed;
};

static struct order order_of(struct parties *p, int column)
{
	struct order o = { .epochs = 0 };
	for (size_t i = 0; i < p->n; i++) {
		if (!p->party[i].watch) {
			continue;
		}
		struct column *c = &p->party[i].watch->column[column];
		if (c->fall.n) {
			end_fall(c);
		}
		o.disorder = c->disorder > o.disorder ? c->disorder : o.disorder;
		o.strays += c->strays;
		o.epochs += c->found.n;
		o.mixed = o.mixed || c->mixed;
	}
	return o;
}

/* Those far beyond what rows are out of order by. The clock's stamps of both columns go together,
 * to the delays that messages have: else rows of one direction follow those of the other. */
static void keep_far(struct column *c, int64_t disorder_ns)
{
	struct usk_epochs *e = &c->found;
	size_t n = 0;
	int64_t most = 0;
	for (size_t i = 0; i < e->n; i++) {
		int64_t size = e->epoch[i].before_ns - e->epoch[i].after_ns;
		most = size > most ? size : most;
	}
	for (size_t i = 0; i < e->n && most >= c->behind / 2; i++) {
		int64_t size = e->epoch[i].before_ns - e->epoch[i].after_ns;
		if (size / LIKE >= disorder_ns && size / 2 >= c->ahead) {
			e->epoch[n++] = e->epoch[i];
		}
	}
	e->n = n; /* none, if they do not */
}

/* The column that rows were written by; with the fewer falls if both may be. */
static int written_by(const struct order o[2])
{
	if (o[SENT].strays != o[RECEIVED].strays) {
		return o[SENT].strays < o[RECEIVED].strays ? SENT : RECEIVED;
	}
	return o[RECEIVED].epochs < o[SENT].epochs ? RECEIVED : SENT;
}

/* ---- the epoch of a stamp ------------------------------------------------------------------- */

static usk_i128 far(int64_t a, int64_t b)
{
	return a > b ? (usk_i128)a - b : (usk_i128)b - a;
}

/* The next stamp in the column that rows are written by. */
static size_t epoch_of_own(const struct usk_epochs *e, struct row_place *at, int64_t t)
{
	while (at->epoch < e->n && e->epoch[at->epoch].record <= at->record) {
		at->began = t;
		at->epoch++;
	}
	at->record++;
	at->last = t;
	return at->epoch;
}

/*
 * A stamp in the other column: near its row's moment, or where the clock was set back? That may
 * have been before the row's moment already, as the last own stamp is older. What was sent may be
 * older still, where rows were written by receipt. Whichever is nearest; but that something was
 * received before its row was written takes a clock that was set back unseen meanwhile, and so
 * counts for more than that it was under way for long.
 */
static size_t epoch_of_other(const struct party *y, const struct row_place *at, int64_t t,
			     bool older)
{
	size_t k = at->epoch;
	if (!at->record) {
		return k;
	}
	usk_i128 same = far(t, at->last) * (!older && t < at->last ? LIKE : 1);
	usk_i128 before = same, behind = same;
	if (k && older) {
		before = far(y->fell[k - 1].before_ns, t) + far(at->last, at->began);
	}
	if (k < y->survey.epochs.n) {
		behind = far(y->fell[k].before_ns, at->last) + far(t, y->fell[k].after_ns);
	}
	return behind < same && behind <= before ? k + 1 : before < same ? k - 1 : k;
}

static void place_row(const struct parties *p, struct row_place *place, const struct usk_msg *m,
		      size_t epoch[2])
{
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int k = 0; k < 2; k++) {
		const struct party *y = &p->party[clock[k]];
		struct row_place *at = &place[clock[k]];
		epoch[k] = y->trace != SIZE_MAX || !y->survey.epochs.n ? 0
			   : k == p->rows_by ? epoch_of_own(&y->survey.epochs, at, stamp[k])
					     : epoch_of_other(y, at, stamp[k], k == SENT);
	}
}

void usk_row_run_on(const struct parties *p, struct row_place *place, struct usk_msg *m)
{
	size_t epoch[2];
	if (m->from != m->to) {
		place_row(p, place, m, epoch);
		m->sent_ns += usk_epoch_offset(&p->party[m->from].survey.epochs, epoch[SENT]);
		m->received_ns += usk_epoch_offset(&p->party[m->to].survey.epochs, epoch[RECEIVED]);
	}
}

/* ---- all of it ------------------------------------------------------------------------------ */

struct extents {
	const struct parties *p;
	struct row_place *place;
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
	place_row(x->p, x->place, m, epoch);
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

static bool nothing(void *ctx, uint32_t pair, const struct usk_msg *msg, size_t n)
{
	(void)ctx;
	(void)pair;
	(void)msg;
	(void)n;
	return true;
}

static enum usk_status find_extents(struct parties *p, struct usk_err *err)
{
	struct extents x = { p, usk_alloc(p->n, sizeof *x.place) };
	bool *wanted = usk_alloc(p->n_pairs + 1, sizeof *wanted);
	const struct table_sink sink = {
		.ctx = &x, .wanted = wanted, .put = nothing, .row = note_extent
	};
	for (size_t i = 0; i < p->n; i++) {
		struct usk_epochs *e = &p->party[i].survey.epochs;
		if (p->party[i].trace != SIZE_MAX || !e->n) {
			continue;
		}
		p->party[i].fell = usk_alloc(e->n, sizeof *p->party[i].fell);
		for (size_t k = 0; k < e->n; k++) {
			p->party[i].fell[k] =
				(struct usk_gap){ e->epoch[k].before_ns, e->epoch[k].after_ns };
			e->epoch[k].before_ns = -USK_TIME_MAX;
			e->epoch[k].after_ns = USK_TIME_MAX;
		}
	}
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(p, &sink, err);
	p->work_done += usk_tables_size(p);
	free(x.place);
	free(wanted);
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
	const struct order o[] = { order_of(p, SENT), order_of(p, RECEIVED) };
	enum usk_status status = USK_OK;
	bool any = false;
	p->rows_by = written_by(o);
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		struct usk_epochs *e = y->watch ? &y->watch->column[p->rows_by].found : NULL;
		if (e) {
			keep_far(&y->watch->column[p->rows_by], o[p->rows_by].disorder);
		}
		if (e && e->n && y->trace == SIZE_MAX && !o[p->rows_by].mixed) {
			y->survey.epochs = *e;
			*e = (struct usk_epochs){ 0 };
			any = true;
		}
		usk_row_watch_free(y->watch);
		y->watch = NULL;
	}
	if (any) {
		status = find_extents(p, err);
	}
	for (size_t i = 0; i < p->n && any && !status; i++) {
		if (p->party[i].trace == SIZE_MAX && p->party[i].survey.epochs.n) {
			shift(&p->party[i]);
		}
	}
	p->rows_repeat = any;
	return status;
}
