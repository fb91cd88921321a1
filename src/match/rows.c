/* SPDX-License-Identifier: MIT */
/*
 * rows.c - clocks that tables name and that were set back: the order of rows may tell
 *
 * In    the stamps of every clock, row by row
 * Out   where they were set back
 * Why   many tables are written while things happen, and their rows follow one another as a
 *       capture's records do
 * Not   captures (epochs.c), tables of the same time, of which each is a sequence of rows of its own
 * (flow/table_order.c), the epochs of stamps (row_place.c), by how much a clock was set back
 * in truth: the messages tell
 *
 * A row holds two moments, and is written at one of them. So rows are in order of sending, of
 * receipt, or in none: the column in which clocks fall least often is the one they were written by,
 * and the other one shows delays as well. In that column a clock was set back where it falls by S
 * and stays there: four of its stamps or more follow, none by a leap of 3/4 S, before it shows the
 * time again from where it fell. That goes for any S from 1 ms on if no clock falls otherwise;
 * where some do, by D at most, for S from 8 D on. A leap says that the rows before it were late,
 * unless they are eight, and another clock stands in them and in the row of the leap, and goes on
 * there: then this one was set forward again.
 *
 * Where all rows of one pair follow those of another, both clocks of a row begin anew, or one of
 * them for the first time: then nobody was set back, and no order says anything. So whenever a
 * clock is set back the other one of the row has to go on. Where pairs talked for different times
 * that is not enough: so it also has to show times again to somebody to whom it showed times
 * before. Rows that are sorted by size tell nothing, as all pairs may begin anew with a size.
 *
 * The other column follows: what was received was received after the moment of its row, and what
 * was sent was sent before. So stamps of receipt that fall with those of sending count as well, and
 * then it does not matter how far the last leap goes. Where four of a clock's stamps take longer
 * than S, or rows were sorted by stamps afterwards, nothing tells; then the messages contradict
 * each other, and --from and --to help.
 */
#include "base/index.h"
#include "match/match.h"

#include <stdlib.h>

/* ENOUGH: more than are left out as wrong, in a direction. */
enum { SENT, RECEIVED, LEAST_STAMPS = 4, ENOUGH = 8, LIKE = 8, MOST_EPOCHS = 4096 };

struct fall {
	uint64_t n; /* stamps since; 0: there is none */
	uint64_t record, row;
	int64_t from, to, reached, widest;
	bool goes_on; /* the other clock of the row */
	bool sure;    /* not rows that were written late */
	bool again;   /* a message in the same direction between the same two came before it, too */
};

/* One clock in one column. */
struct column {
	uint64_t n; /* stamps */
	int64_t highest, last;
	uint64_t row;		 /* of the last one */
	struct fall fall, inner; /* inner: within the other one, and small against it */
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

/* Messages from one clock to another. */
struct direction {
	uint64_t first[2]; /* stamps that the clock of each column had before the first of these */
};

/* What rows show besides stamps. */
struct row_order {
	struct usk_index by_clocks; /* numbers of directions, from 1 on */
	struct direction *direction;
	size_t n, cap;
	uint64_t row;
	uint32_t bytes; /* of the last row */
	bool grew, shrank;
};

/* The clock beside a stamp in its row. */
struct beside {
	bool goes_on;
	int64_t ahead;	   /* of its last stamp */
	uint64_t row, now; /* where that was, and where this one is; from 1 on */
};

/* ---- rows ----------------------------------------------------------------------------------- */

/* The direction of the next row, whose clocks have so many stamps in its two columns. */
static const struct direction *direction_of(struct row_order *o, const struct usk_msg *m,
					    uint64_t sent, uint64_t received)
{
	if (o->n) {
		o->grew = o->grew || m->bytes > o->bytes;
		o->shrank = o->shrank || m->bytes < o->bytes;
	}
	o->bytes = m->bytes;
	uint64_t *number = usk_index_value(&o->by_clocks, m->from, m->to);
	if (!*number) {
		*USK_ADD(o->direction, o->n, o->cap) = (struct direction){ { sent, received } };
		*number = o->n;
	}
	return &o->direction[*number - 1];
}

static void order_free(struct row_order *o)
{
	if (o) {
		usk_index_free(&o->by_clocks);
		free(o->direction);
	}
	free(o);
}

/* ---- falls ---------------------------------------------------------------------------------- */

static void disorder(struct column *c, int64_t size)
{
	c->disorder = size > c->disorder ? size : c->disorder;
	c->strays++;
}

static struct fall fall_of(const struct column *c, int64_t from, int64_t to, const struct beside *o)
{
	return (struct fall){ .n = 1,
			      .record = c->n - 1,
			      .row = o->now,
			      .from = from,
			      .to = to,
			      .reached = to,
			      .goes_on = o->goes_on };
}

static void begin_fall(struct column *c, int64_t from, int64_t to, const struct beside *o)
{
	int64_t size = usk_saturate((usk_i128)from - to);
	if (size < USK_LEAST_FALL) {
		disorder(c, size);
		return;
	}
	c->fall = fall_of(c, from, to, o);
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
		*USK_ADD(c->found.epoch, c->found.n, c->cap) = (struct usk_epoch){
			.record = f->record, .before_ns = f->from, .after_ns = f->to
		};
		c->mixed = c->mixed || !f->goes_on || !f->again;
	}
	c->fall.n = 0;
}

static void leap(struct fall *f, int64_t t, const struct beside *o)
{
	int64_t by = t - f->reached;
	bool alone = f->n >= ENOUGH && o->row >= f->row && o->ahead < by / 2;
	f->widest = by > f->widest && !alone ? by : f->widest;
}

static void reach(struct fall *f, int64_t t, const struct beside *o)
{
	leap(f, t, o);
	f->reached = t;
	f->n++;
}

/* It shows the time again from where it fell. */
static void catch_up(struct fall *f, int64_t t, const struct beside *o)
{
	if (!f->sure) {
		leap(f, t, o);
	}
}

/* The clock was set back once more meanwhile, or some rows were written late. */
static void end_inner(struct column *c)
{
	const struct fall inner = c->inner;
	c->inner.n = 0;
	if (!stays(&inner)) {
		disorder(c, inner.from - inner.to);
		c->fall.n += inner.n;
		return;
	}
	end_fall(c);
	c->fall = inner;
	end_fall(c);
	c->highest = inner.reached;
}

/* The stamp goes on in the inner fall; false: that has ended. */
static bool note_inner(struct column *c, int64_t t, const struct beside *o)
{
	struct fall *f = &c->inner;
	if (t >= f->from) {
		catch_up(f, t, o);
		end_inner(c);
		return false;
	}
	if (t >= f->reached) {
		reach(f, t, o);
		return true;
	}
	if (f->reached - t >= (c->fall.from - c->fall.to) / LIKE) {
		end_inner(c);
		return false;
	}
	disorder(c, f->reached - t);
	f->n++;
	return true;
}

static void note(struct column *c, int64_t t, const struct beside *o)
{
	struct fall *f = &c->fall;
	if (!c->n++) {
		c->highest = t;
		c->ahead = c->other_first ? usk_saturate((usk_i128)c->other_highest - t) : 0;
	}
	c->last = t;
	c->row = o->now;
	if (c->inner.n && note_inner(c, t, o)) {
		return;
	}
	if (!f->n && t >= c->highest) {
		c->highest = t;
	} else if (!f->n) {
		begin_fall(c, c->highest, t, o);
	} else if (t >= f->from) {
		catch_up(f, t, o);
		end_fall(c);
		c->highest = t;
	} else if (t >= f->reached) {
		reach(f, t, o);
	} else if (f->reached - t < USK_LEAST_FALL) {
		disorder(c, f->reached - t);
		f->n++;
	} else if (f->reached - t < (f->from - f->to) / LIKE) {
		c->inner = fall_of(c, f->reached, t, o);
	} else {
		int64_t from = stays(f) ? f->reached : f->from;
		end_fall(c);
		begin_fall(c, from, t, o);
	}
}

/* A row's other clock, by the column that rows may be written by; if that knows nothing of it, by
 * the one that it stands in. */
static struct beside beside_of(const struct row_watch *other, int column, int64_t t,
			       const struct column *c, int64_t now, uint64_t row)
{
	const struct column *by = &other->column[column];
	by = by->n ? by : &other->column[!column];
	usk_i128 fell = (usk_i128)(c->fall.n ? c->fall.reached : c->highest) - now;
	return (struct beside){ .goes_on = by->n && ((usk_i128)by->last - t) * 2 < fell,
				.ahead = usk_saturate((usk_i128)t - by->last),
				.row = by->row,
				.now = row };
}

/* first: the record of the first stamp of this one's direction. */
static void note_again(struct column *c, uint64_t first)
{
	c->fall.again = c->fall.again || first < c->fall.record;
	c->inner.again = c->inner.again || first < c->inner.record;
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

/* The clock of that number; those in between are there then, too. */
static struct row_watch *watch_of(struct usk_rows *r, uint32_t clock)
{
	while (r->n <= clock) {
		*USK_ADD(r->clock, r->n, r->cap) = (struct usk_row_clock){ .watch = NULL };
	}
	struct usk_row_clock *c = &r->clock[clock];
	c->watch = c->watch ? c->watch : usk_alloc(1, sizeof *c->watch);
	c->noted = true;
	return c->watch;
}

void usk_rows_note(struct usk_rows *r, const struct usk_msg *m)
{
	if (m->from == m->to) {
		return;
	}
	struct row_watch *from = watch_of(r, m->from), *to = watch_of(r, m->to);
	r->order = r->order ? r->order : usk_alloc(1, sizeof *r->order);
	struct column *x = &from->column[SENT], *y = &to->column[RECEIVED];
	uint64_t row = ++r->order->row;
	struct beside x_by = beside_of(to, SENT, m->received_ns, x, m->sent_ns, row);
	struct beside y_by = beside_of(from, RECEIVED, m->sent_ns, y, m->received_ns, row);
	struct fall *both[] = { &to->column[SENT].fall, &to->column[SENT].inner };
	/* Received after the moment of a row that was written when it was sent, and yet earlier. */
	for (int k = 0; k < 2; k++) {
		if (both[k]->n && m->received_ns < both[k]->from) {
			both[k]->n++;
			both[k]->sure = true;
		}
	}
	note_other(&from->column[RECEIVED], m->sent_ns);
	note_other(&to->column[SENT], m->received_ns);
	const struct direction *d = direction_of(r->order, m, x->n, y->n);
	note(x, m->sent_ns, &x_by);
	note(y, m->received_ns, &y_by);
	note_again(x, d->first[SENT]);
	note_again(y, d->first[RECEIVED]);
}

static void watch_free(struct row_watch *w)
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

static struct order order_of(const struct usk_rows *r, int column)
{
	struct order o = { .mixed = r->order && r->order->grew != r->order->shrank };
	for (size_t i = 0; i < r->n; i++) {
		if (!r->clock[i].watch) {
			continue;
		}
		struct column *c = &r->clock[i].watch->column[column];
		if (c->inner.n) {
			end_inner(c);
		}
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

/* ---- all of it ------------------------------------------------------------------------------ */

void usk_rows_told(struct usk_rows *r, uint32_t clock, const struct usk_epochs *known)
{
	if (clock < r->n) {
		r->clock[clock].told = true;
		usk_epochs_copy(known, &r->clock[clock].known);
	}
}

bool usk_rows_found(struct usk_rows *r)
{
	const struct order o[] = { order_of(r, SENT), order_of(r, RECEIVED) };
	bool any = false;
	r->by = written_by(o);
	r->fell = o[SENT].epochs + o[RECEIVED].epochs > 0;
	for (size_t i = 0; i < r->n; i++) {
		struct usk_row_clock *c = &r->clock[i];
		if (c->watch) {
			struct column *by = &c->watch->column[r->by];
			keep_far(by, o[r->by].disorder);
			bool same = !c->told || usk_epochs_agree(&by->found, &c->known);
			if (by->found.n && same && !o[r->by].mixed) {
				c->epochs = by->found;
				by->found = (struct usk_epochs){ 0 };
				any = true;
			}
		}
		watch_free(c->watch);
		c->watch = NULL;
	}
	order_free(r->order);
	r->order = NULL;
	return any;
}

void usk_rows_renumber(struct usk_rows *r, const uint32_t *now, size_t n)
{
	struct usk_row_clock *clock = usk_alloc(n, sizeof *clock);
	for (size_t i = 0; i < r->n; i++) {
		clock[now[i]] = r->clock[i];
	}
	free(r->clock);
	r->clock = clock;
	r->n = r->cap = n;
}

void usk_rows_free(struct usk_rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		watch_free(r->clock[i].watch);
		usk_epochs_free(&r->clock[i].epochs);
		usk_epochs_free(&r->clock[i].known);
		free(r->clock[i].own);
	}
	order_free(r->order);
	free(r->clock);
	*r = (struct usk_rows){ 0 };
}
