/* SPDX-License-Identifier: MIT */
/*
 * table_order.c - which of several tables was written first
 *
 * In    tables of which the order of rows shows clocks that were set back
 * Out   the order in which they are to be read, and which of them are one sequence
 * Why   from table to table a clock may seem to be set back only because they are named in another order
 * Not   what rows tell (match/rows.c): tables of the same time are sequences of their own
 *
 * A clock that ends in one table and goes on in another says that the one was first. One that was set
 * back in between says otherwise. So tables are linked to sequences, one by one: first where the fewest
 * clocks contradict, then where clocks go on with the least gap. Who contradicts must have been set back
 * at some time, as messages say; others show tables of the same time. Of each clock only tables next to
 * each other are asked, and of sequences their ends.
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

enum { SENT, RECEIVED, BOTH, WAYS };

struct range {
	int64_t least_ns, greatest_ns; /* the greatest is less: nothing */
};

/* The stamps of a clock in a table, and later in a sequence of some. */
struct extent {
	uint32_t clock, table;
	/* In the order of rows. */
	struct stretch {
		bool any;
		int64_t first_ns, last_ns;
		bool fell; /* to the last one, from this */
		int64_t from_ns;
	} of[WAYS];
	/* Before and behind its greatest fall. */
	struct parts {
		int64_t fall_ns;
		struct range before, behind;
	} parts[BOTH];
};

struct extents {
	struct extent *all;
	size_t n, cap, n_tables, table;
	size_t *at;		/* by clock: behind its extent in all[], if that is of this table */
	const size_t *set_back; /* by clock: it or a partner, as messages say */
	uint64_t falls[BOTH];
	int by; /* by which of its stamps a row was written */
	/* By how much a row's stamp is less than the one before, and than the next. */
	int64_t disorder_ns[WAYS];
};

static void begin_table(void *ctx, size_t which)
{
	((struct extents *)ctx)->table = which;
}

static void widen(struct range *r, int64_t least, int64_t greatest)
{
	r->least_ns = least < r->least_ns ? least : r->least_ns;
	r->greatest_ns = greatest > r->greatest_ns ? greatest : r->greatest_ns;
}

static const struct range nothing = { INT64_MAX, INT64_MIN };

static struct extent *extent_of(struct extents *x, uint32_t clock)
{
	size_t *at = &x->at[clock];
	if (!*at || x->all[*at - 1].table != x->table) {
		const struct parts none = { 0, nothing, nothing };
		*USK_ADD(x->all, x->n, x->cap) = (struct extent){ .clock = clock,
								  .table = (uint32_t)x->table,
								  .parts = { none, none } };
		*at = x->n;
	}
	return &x->all[*at - 1];
}

static void note_part(struct parts *p, int64_t fall_ns, int64_t now)
{
	if (fall_ns > p->fall_ns) {
		widen(&p->before, p->behind.least_ns, p->behind.greatest_ns);
		p->behind = nothing;
		p->fall_ns = fall_ns;
	}
	widen(&p->behind, now, now);
}

static int64_t note_way(struct extents *x, struct extent *e, int way, int64_t now)
{
	struct stretch *s = &e->of[way];
	const int64_t fall = s->any ? usk_cut((usk_i128)s->last_ns - now) : 0;
	if (s->fell && now >= s->from_ns) {
		int64_t by = usk_cut((usk_i128)s->from_ns - s->last_ns);
		x->disorder_ns[way] = by > x->disorder_ns[way] ? by : x->disorder_ns[way];
	}
	s->fell = fall > 0;
	s->from_ns = s->last_ns;
	s->first_ns = s->any ? s->first_ns : now;
	s->last_ns = now;
	s->any = true;
	return fall;
}

static void note(void *ctx, const struct usk_msg *m)
{
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	struct extents *x = ctx;
	for (int way = 0; way < BOTH && x->table < x->n_tables; way++) {
		struct extent *e = extent_of(x, clock[way]);
		const int64_t fall = note_way(x, e, way, stamp[way]);
		x->falls[way] += fall > 0;
		note_part(&e->parts[way], fall, stamp[way]);
		note_way(x, e, BOTH, stamp[way]);
	}
}

/* ---- what goes on where -------------------------------------------------------------------------- */

/* A sequence, or one table, right behind another. */
struct step {
	uint32_t from, to;
	uint32_t against; /* clocks that do not go on */
	uint64_t gap;	  /* the widest of those that do */
};

struct steps {
	struct step *step;
	size_t n, cap;
};

/* Where a clock's stamps of a table begin or end; those of one moment begin where they end. */
struct turn {
	int64_t ns;
	uint8_t kind;
	uint32_t table;
};

enum { ENDS, STANDS, BEGINS };

/* From each end to the next beginning, and to each beginning from the last end. */
static void ask_turns(struct steps *s, const struct turn *t, size_t n)
{
	const struct turn *end = NULL, *begin = NULL;
	for (size_t i = 0; i < n; i++) {
		if (t[i].kind != ENDS && end) {
			*USK_ADD(s->step, s->n, s->cap) =
				(struct step){ end->table, t[i].table, 0, 0 };
		}
		end = t[i].kind != BEGINS ? &t[i] : end;
	}
	for (size_t i = n; i-- > 0;) {
		if (t[i].kind != BEGINS && begin) {
			*USK_ADD(s->step, s->n, s->cap) =
				(struct step){ t[i].table, begin->table, 0, 0 };
		}
		begin = t[i].kind != ENDS ? &t[i] : begin;
	}
}

/* Of extents in order of clocks, some of which may overlap by so much. */
static void ask_clocks(struct steps *s, const struct extents *x, int way, int64_t overlap)
{
	struct turn *t = usk_alloc(2 * x->n + 1, sizeof *t);
	for (size_t i = 0, n; i < x->n; i = n) {
		size_t turns = 0;
		for (n = i; n < x->n && x->all[n].clock == x->all[i].clock; n++) {
			const struct stretch *e = &x->all[n].of[way];
			const int64_t first = usk_cut((usk_i128)e->first_ns + overlap);
			const bool stands = first == e->last_ns;
			const uint32_t table = x->all[n].table;
			if (e->any) {
				t[turns++] =
					(struct turn){ first, stands ? STANDS : BEGINS, table };
			}
			if (e->any && !stands) {
				t[turns++] = (struct turn){ e->last_ns, ENDS, table };
			}
		}
		usk_sort(t, turns, sizeof *t, KEYS(BY(turn, ns), BY(turn, kind), BY(turn, table)));
		ask_turns(s, t, turns);
	}
	free(t);
}

/* Each once, of any clock. */
static void ask_all(struct steps *s, const struct extents *x)
{
	size_t n = 0;
	ask_clocks(s, x, BOTH, 0);
	ask_clocks(s, x, x->by, 0);
	if (x->disorder_ns[x->by]) {
		ask_clocks(s, x, x->by, x->disorder_ns[x->by]);
	}
	usk_sort(s->step, s->n, sizeof *s->step, KEYS(BY(step, from), BY(step, to)));
	for (size_t i = 0; i < s->n; i++) {
		const struct step *last = n ? &s->step[n - 1] : NULL, next = s->step[i];
		if (!last || last->from != next.from || last->to != next.to) {
			s->step[n++] = next;
		}
	}
	s->n = n;
}

/* ---- sequences ----------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

struct chain {
	uint32_t next;	      /* table, or NONE */
	uint32_t part_of;     /* another table of its sequence, or itself: that has */
	uint32_t first, last; /* tables */
	struct extent *clock; /* in order of their numbers */
	size_t n;
};

static uint32_t sequence_of(struct chain *c, uint32_t table)
{
	while (c[table].part_of != table) {
		table = c[table].part_of = c[c[table].part_of].part_of;
	}
	return table;
}

static struct chain *chains_new(const struct extents *x)
{
	struct chain *c = usk_alloc(x->n_tables + 1, sizeof *c);
	for (size_t i = 0; i < x->n_tables; i++) {
		c[i].next = NONE;
		c[i].part_of = c[i].first = c[i].last = (uint32_t)i;
	}
	for (size_t i = 0; i < x->n; i++) { /* in order of clocks */
		struct chain *t = &c[x->all[i].table];
		*USK_APPEND(t->clock, t->n) = x->all[i];
	}
	return c;
}

static void chains_free(struct chain *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(c[i].clock);
	}
	free(c);
}

/* Rows are in order of some of their stamps; the others may be early or late. */
static bool goes_on(const struct extents *x, const struct extent *a, const struct extent *b,
		    usk_i128 *gap)
{
	const int way = a->of[x->by].any && b->of[x->by].any ? x->by : BOTH;
	*gap = (usk_i128)b->of[way].first_ns - a->of[way].last_ns;
	return *gap >= -x->disorder_ns[way];
}

/* What a clock says that both have; false: it contradicts, and cannot. */
static bool hear(struct step *s, const struct extents *x, const struct extent *a,
		 const struct extent *b)
{
	usk_i128 gap;
	if (!goes_on(x, a, b, &gap)) {
		s->against++;
		return x->set_back[a->clock] > 0;
	}
	s->gap = gap > 0 && (uint64_t)gap > s->gap ? (uint64_t)gap : s->gap;
	return true;
}

static bool overlap(const struct range *a, const struct range *b, int64_t disorder_ns)
{
	return (usk_i128)a->greatest_ns - b->least_ns > disorder_ns &&
	       (usk_i128)b->greatest_ns - a->least_ns > disorder_ns;
}

/* Stamps of one table are between those of the other one. */
static bool is_beside(const struct extents *x, const struct extent *a, const struct extent *b)
{
	const struct parts *p = &a->parts[x->by], *q = &b->parts[x->by];
	const int64_t d = x->disorder_ns[x->by];
	return overlap(&p->before, &q->before, d) || overlap(&p->before, &q->behind, d) ||
	       overlap(&p->behind, &q->before, d) || overlap(&p->behind, &q->behind, d);
}

/* Does a clock say that one table was written behind another? */
static bool is_said(const struct step *s, const struct extents *x, const struct chain *c)
{
	const struct chain *a = &c[s->from], *b = &c[s->to];
	bool said = false;
	for (size_t i = 0, k = 0; !said && i < a->n && k < b->n;) {
		const struct extent *p = &a->clock[i], *q = &b->clock[k];
		usk_i128 gap;
		said = p->clock == q->clock && goes_on(x, p, q, &gap) && !is_beside(x, p, q);
		i += p->clock <= q->clock;
		k += q->clock <= p->clock;
	}
	return said;
}

/* false: a clock contradicts, and was not set back. */
static bool weigh(struct step *s, const struct extents *x, struct chain *c)
{
	const struct chain *a = &c[sequence_of(c, s->from)], *b = &c[sequence_of(c, s->to)];
	bool may = true;
	s->against = 0;
	s->gap = 0;
	for (size_t i = 0, k = 0; may && i < a->n && k < b->n;) {
		const struct extent *p = &a->clock[i], *q = &b->clock[k];
		may = p->clock != q->clock || hear(s, x, p, q);
		i += p->clock <= q->clock;
		k += q->clock <= p->clock;
	}
	return may;
}

/* One clock's stamps, and those behind them. */
static struct extent in_turn(struct extent a, const struct extent *b)
{
	for (int way = 0; way < WAYS; way++) {
		if (a.of[way].any && b->of[way].any) {
			a.of[way].last_ns = b->of[way].last_ns;
		} else if (b->of[way].any) {
			a.of[way] = b->of[way];
		}
	}
	return a;
}

static void link(struct chain *c, struct chain *a, struct chain *b)
{
	struct extent *all = usk_alloc(a->n + b->n, sizeof *all);
	size_t n = 0;
	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		const struct extent *p = i < a->n ? &a->clock[i] : NULL;
		const struct extent *q = k < b->n ? &b->clock[k] : NULL;
		const bool first = p && (!q || p->clock <= q->clock);
		const bool second = q && (!p || q->clock <= p->clock);
		all[n++] = first && second ? in_turn(*p, q) : first ? *p : *q;
		i += first;
		k += second;
	}
	free(a->clock);
	free(b->clock);
	a->clock = all;
	a->n = n;
	b->clock = NULL;
	b->n = 0;
	c[a->last].next = b->first;
	a->last = b->last;
	b->part_of = (uint32_t)(a - c);
}

static bool before(const struct step *a, const struct step *b)
{
	KEYS_CALLED(order, BY(step, against), BY(step, gap), BY(step, from), BY(step, to));
	return usk_order_by(a, b, order) < 0;
}

/* Of two tables the sequences that they are in by then, as their ends say: a step may be worth less than it
 * was. */
static void link_all(struct steps *s, const struct extents *x, struct chain *c)
{
	struct step *heap = usk_alloc(s->n + 1, sizeof *heap);
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct step next = s->step[i];
		if (next.from != next.to && is_said(&next, x, c) && weigh(&next, x, c)) {
			USK_HEAP_PUT(heap, n, next, before);
			n++;
		}
	}
	while (n) {
		struct step next = heap[0], now = next;
		const uint32_t from = sequence_of(c, next.from), to = sequence_of(c, next.to);
		n--;
		USK_HEAP_TAKE(heap, n, before);
		if (from == to || !weigh(&now, x, c)) {
			continue;
		}
		if (before(&next, &now)) {
			USK_HEAP_PUT(heap, n, now, before);
			n++;
		} else {
			link(c, &c[from], &c[to]);
		}
	}
	free(heap);
}

/* Tables without rows are of the first sequence. */
static void take(struct parties *p, struct chain *c)
{
	size_t sequences = 0, n = 0;
	for (size_t i = 0; i < p->n_traces; i++) {
		const struct chain *of = &c[sequence_of(c, (uint32_t)i)];
		if (of->first == i) {
			const bool has_rows = of->n > 0;
			for (uint32_t k = (uint32_t)i; k != NONE; k = c[k].next) {
				p->table[n++] = k;
				p->rows_of[k] = has_rows ? sequences : 0;
			}
			sequences += has_rows;
		}
	}
	for (size_t i = 0; i < p->n_rows; i++) {
		usk_rows_free(&p->rows[i]);
	}
	free(p->rows);
	p->n_rows = sequences ? sequences : 1;
	p->rows = usk_alloc(p->n_rows, sizeof *p->rows);
}

enum usk_status usk_tables_order(struct parties *p, const size_t *set_back, struct usk_err *err)
{
	struct extents x = { .n_tables = p->n_traces, .set_back = set_back };
	struct steps s = { 0 };
	x.at = usk_alloc(p->n + 1, sizeof *x.at);
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(
		p, &(struct table_sink){ .ctx = &x, .row = note, .begin = begin_table }, err);
	if (!status) {
		x.by = x.falls[RECEIVED] < x.falls[SENT] ? RECEIVED : SENT;
		usk_sort(x.all, x.n, sizeof *x.all, KEYS(BY(extent, clock), BY(extent, table)));
		ask_all(&s, &x);
		struct chain *c = chains_new(&x);
		link_all(&s, &x, c);
		take(p, c);
		chains_free(c, x.n_tables);
	}
	USK_FREE(x.all, x.at, s.step);
	return status;
}
