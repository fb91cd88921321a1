/* SPDX-License-Identifier: MIT */
/*
 * falls.c - where stamps fall because the clock was set back
 *
 * In    surveys: where stamps of clocks fall, packets that they share
 * Out   of each clock the records at which it was set back; these are to be read once more
 * Why   where records are late stamps fall, too, and often nothing but packets tells one from the other:
 *       at the end of a file, within another fall, where falls repeat
 * Not   falls that the order of records tells by itself (match/epochs.c), the order of files (arrange.c)
 *
 * Of two packets that came one after the other by another machine's records and stamps, the one behind the fall
 * was recorded late if it came there first, and the clock was set back if it came there second: the majority
 * tells. Where nobody saw packets of both sides of a fall all clocks may tell together. Stamps of late records
 * are right, and through those of a clock that was set back no order of time goes (match/lamport.c). Who
 * sent a packet is not known; but of two that follow each other in the two directions of a conversation, in the same
 * order at both machines, the first passed each machine before the second one passed the other, whatever ways
 * were: as if each had sent a message then. So a fall is believed if there is more of an order with it than
 * without. Larger ones are asked for first, as smaller ones lie within them.
 */
#include "flow/met.h"

#include <stdlib.h>
#include <string.h>

/* ENOUGH: so many sends and receipts more have an order, as some packets that look alike are others. NEAR: so many
 * packets before and behind a fall are asked. */
enum { ENOUGH = 8, NEAR = 128 };

/* What runs in one order of records: a clock, or one of its files. */
struct moment {
	uint32_t line;
	uint64_t record;
	int64_t ns; /* as recorded */
};

/* Two packets of both directions at two machines. */
struct couple {
	struct moment first[2], second[2];
};

/* One packet at a line, and in a file of another machine. */
struct shared {
	struct moment own;
	uint32_t line;	 /* own.line, to sort by */
	uint64_t record; /* own.record */
	uint64_t other, order;
	int64_t other_ns;
};

struct fall {
	int64_t size;
	uint64_t at;
	uint32_t line;
	bool back;     /* the clock was set back, */
	bool told_now; /* as packets tell */
	bool open;     /* nobody knows yet */
	const struct usk_drop *drop;
	struct usk_told *told;
};

struct falls {
	const struct parties *p;
	bool parts;
	size_t *line; /* by clock: its number, or that of its first file */
	size_t n_lines;
	struct fall *fall;
	size_t n, cap;
	struct couple *couple;
	size_t n_couples, cap_couples;
	struct shared *shared; /* by lines and records */
	size_t n_shared, cap_shared;
	size_t **of; /* by line: the falls of it that are believed */
	size_t *n_of;
	int64_t *late_ns;
	size_t *left;
};

/* ---- couples --------------------------------------------------------------------------------- */

static uint32_t line_of(const struct falls *x, size_t clock, size_t part)
{
	size_t n = x->p->party[clock].survey.n_parts;
	return (uint32_t)(x->line[clock] + (x->parts && n ? part : 0));
}

static void moments_of(const struct falls *x, const struct met *m, struct moment out[2])
{
	out[0] = (struct moment){ line_of(x, m->clock, m->seen.part), m->record, m->seen.p_ns };
	out[1] = (struct moment){ line_of(x, m->other >> 16, m->other & UINT16_MAX), m->order,
				  m->seen.q_ns };
}

static bool follows(const struct moment *a, const struct moment *b)
{
	return a->line == b->line && a->record < b->record && a->ns <= b->ns;
}

static void take_shared(struct falls *x, const struct met *m)
{
	struct moment at[2];
	moments_of(x, m, at);
	*USK_ADD(x->shared, x->n_shared, x->cap_shared) = (struct shared){ at[0],	 at[0].line,
									   at[0].record, m->other,
									   at[1].record, at[1].ns };
}

/* Packets that two files share, each in the order of the other one's records: those that follow each other in
 * their conversation. */
static void take_couples(struct falls *x, const struct met *m, const struct usk_seen *seen,
			 size_t n)
{
	struct talk {
		uint32_t with;
		uint64_t at;
	} *t = usk_alloc(n + 1, sizeof *t);
	for (size_t i = 0; i < n; i++) {
		t[i] = (struct talk){ seen[i].with, seen[i].number };
	}
	usk_sort(t, n, sizeof *t, KEYS(BY(talk, with), BY(talk, at)));
	for (size_t i = 1; i < n; i++) {
		const struct met *a = &m[t[i - 1].at], *b = &m[t[i].at];
		struct couple c;
		moments_of(x, a, c.first);
		moments_of(x, b, c.second);
		if (t[i - 1].with == t[i].with && a->seen.back != b->seen.back &&
		    follows(&c.first[0], &c.second[0]) && follows(&c.first[1], &c.second[1])) {
			*USK_ADD(x->couple, x->n_couples, x->cap_couples) = c;
		}
	}
	free(t);
}

static void take_group(struct falls *x, struct met *m, size_t n)
{
	struct usk_seen *seen = usk_alloc(n + 1, sizeof *seen);
	int64_t ways;
	for (size_t i = 0; i < n; i++) {
		m[i].seen.number = (uint32_t)i;
	}
	size_t left = usk_met_order(m, n, false, seen, &ways);
	for (size_t i = 0; i < left; i++) {
		take_shared(x, &m[seen[i].number]);
	}
	if (m->clock < m->other >> 16) {
		take_couples(x, m, seen, left);
	}
	free(seen);
}

static void take_packets(struct falls *x)
{
	size_t n;
	bool *all = usk_alloc(x->p->n + 1, sizeof *all);
	memset(all, true, x->p->n);
	struct met *met = usk_met_all(x->p, all, false, &n);
	for (size_t i = 0, k; i < n; i += k) {
		k = usk_met_group(met + i, n - i, false);
		take_group(x, met + i, k);
	}
	usk_sort(x->shared, x->n_shared, sizeof *x->shared,
		 KEYS(BY(shared, line), BY(shared, record), BY(shared, other)));
	USK_FREE(met, all);
}

/* ---- falls ----------------------------------------------------------------------------------- */

static bool is_known(const struct usk_epochs *e, const struct usk_drop *d)
{
	bool known = false;
	for (size_t i = 0; i < e->n; i++) {
		known = known || e->epoch[i].record == d->record;
	}
	return known;
}

static void take_falls(struct falls *x, uint32_t line, const struct usk_drops *drops,
		       const struct usk_epochs *known, struct usk_told *told)
{
	for (size_t i = 0; i < drops->n; i++) {
		const struct usk_drop *d = &drops->drop[i];
		*USK_ADD(x->fall, x->n, x->cap) =
			(struct fall){ .size = usk_saturate((usk_i128)d->from_ns - d->to_ns),
				       .at = d->at,
				       .line = line,
				       .back = is_known(known, d),
				       .drop = d,
				       .told = told };
	}
}

static void take_all_falls(struct falls *x, struct parties *p, const bool *those)
{
	for (size_t i = 0; i < p->n; i++) {
		struct party *y = &p->party[i];
		const struct usk_survey *s = &y->survey;
		if (!those[i]) {
			continue;
		}
		if (!y->told) {
			y->n_told = s->n_parts + 1;
			y->told = usk_alloc(y->n_told, sizeof *y->told);
		}
		if (!x->parts) {
			take_falls(x, line_of(x, i, 0), &s->drops, &s->epochs, &y->told[0]);
		}
		for (size_t k = 0; k < s->n_parts && x->parts; k++) {
			take_falls(x, line_of(x, i, k), &s->part[k].drops, &s->part[k].epochs,
				   &y->told[1 + k]);
		}
	}
	usk_sort(x->fall, x->n, sizeof *x->fall,
		 KEYS(FALLING(fall, size), BY(fall, line), BY(fall, at)));
}

static void believe(struct falls *x, size_t i)
{
	const uint32_t line = x->fall[i].line;
	*USK_APPEND(x->of[line], x->n_of[line]) = i;
}

/* What the clock would have shown, had it not been set back where that is believed. */
static int64_t run_on(const struct falls *x, const struct moment *m)
{
	usk_i128 t = m->ns;
	for (size_t i = 0; i < x->n_of[m->line]; i++) {
		const struct usk_drop *d = x->fall[x->of[m->line][i]].drop;
		t += m->record >= d->at ? (usk_i128)d->from_ns - d->to_ns : 0;
	}
	return usk_saturate(t);
}

/* ---- the majority ------------------------------------------------------------------------------ */

/* Did x, before a fall, come to the other machine before y, from behind it? 1: it did, -1: it came after that; 0: they
 * tell nothing. */
static int vote(const struct falls *f, const struct shared *x, const struct shared *y)
{
	if (x->other != y->other ||
	    (usk_i128)run_on(f, &x->own) - run_on(f, &y->own) <= USK_LEAST_FALL) {
		return 0;
	}
	bool before = x->order < y->order && x->other_ns <= y->other_ns;
	bool behind = x->order > y->order && x->other_ns >= y->other_ns;
	return before - behind;
}

/* Records between a fall and the ones before and behind it: [0] first, [1] end. */
static void between_falls(const struct falls *x, const struct fall *f, uint64_t out[2])
{
	out[0] = 0;
	out[1] = UINT64_MAX;
	for (size_t i = 0; i < x->n; i++) {
		const struct fall *o = &x->fall[i];
		if (o->line == f->line) {
			out[0] = o->at < f->at && o->at > out[0] ? o->at : out[0];
			out[1] = o->at > f->at && o->at < out[1] ? o->at : out[1];
		}
	}
}

/* The first of its line's packets from that record on. */
static size_t first_from(const struct falls *x, uint32_t line, uint64_t record)
{
	size_t i;
	USK_FIRST(i, 0, x->n_shared,
		  x->shared[i].line > line ||
			  (x->shared[i].line == line && x->shared[i].record >= record));
	return i;
}

/* How many more pairs of packets say that the clock was set back than that records are late. */
static int64_t votes(const struct falls *x, const struct fall *f)
{
	uint64_t ends[2];
	int64_t sum = 0;
	between_falls(x, f, ends);
	const size_t at = first_from(x, f->line, f->at);
	size_t from = first_from(x, f->line, ends[0]), to = first_from(x, f->line, ends[1]);
	from = at - from > NEAR ? at - NEAR : from;
	to = to - at > NEAR ? at + NEAR : to;
	for (size_t i = from; i < at; i++) {
		for (size_t k = at; k < to; k++) {
			sum += vote(x, &x->shared[i], &x->shared[k]);
		}
	}
	return sum;
}

/* ---- all together ------------------------------------------------------------------------------ */

/* How much has no order. */
static size_t left_by(struct falls *x)
{
	struct usk_lamport l = { 0 };
	for (size_t i = 0; i < x->n_couples; i++) {
		const struct couple *c = &x->couple[i];
		for (int k = 0; k < 2; k++) {
			usk_lamport_message(&l, c->first[k].line, run_on(x, &c->first[k]),
					    c->second[!k].line, run_on(x, &c->second[!k]));
		}
	}
	size_t all = usk_lamport_left(&l, x->n_lines, x->late_ns, x->left);
	usk_lamport_free(&l);
	return all;
}

static void insert(struct usk_told *told, uint64_t record)
{
	size_t at = told->n;
	for (size_t i = 0; i < told->n; i++) {
		if (told->record[i] == record) {
			return;
		}
	}
	*USK_APPEND(told->record, told->n) = record;
	for (; at && told->record[at - 1] > record; at--) {
		told->record[at] = told->record[at - 1];
	}
	told->record[at] = record;
}

static void tell(struct fall *f)
{
	f->back = f->told_now = true;
}

/* What the order of records told by itself is told with what it did not: it may not, once that is. */
static void take_told(struct falls *x)
{
	bool *any = usk_alloc(x->n_lines + 1, sizeof *any);
	for (size_t i = 0; i < x->n; i++) {
		any[x->fall[i].line] |= x->fall[i].told_now;
	}
	for (size_t i = 0; i < x->n; i++) {
		struct fall *f = &x->fall[i];
		if (f->back && any[f->line]) {
			insert(f->told, f->drop->record);
		}
	}
	free(any);
}

/* Falls that two machines tell of by themselves are taken out of what is asked. */
static size_t tell_by_votes(struct falls *x)
{
	size_t open = 0;
	for (size_t i = 0; i < x->n; i++) {
		struct fall *f = &x->fall[i];
		const int64_t sum = f->back ? 0 : votes(x, f);
		if (sum > 0) {
			tell(f);
		}
		if (f->back) {
			believe(x, i);
		}
		f->open = !f->back && !sum;
		open += f->open;
	}
	return open;
}

/* Of each fall that is open whether there is more of an order with it. */
static void tell_together(struct falls *x)
{
	size_t left = left_by(x);
	for (size_t i = 0; i < x->n && left >= ENOUGH; i++) {
		struct fall *f = &x->fall[i];
		if (!f->open) {
			continue;
		}
		believe(x, i);
		size_t now = left_by(x);
		if (now + ENOUGH <= left) {
			tell(f);
			left = now;
		} else {
			x->n_of[f->line]--;
		}
	}
}

/* ---- all of it ---------------------------------------------------------------------------------- */

bool usk_falls_open(const struct parties *p, bool parts, bool *those)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		const struct usk_survey *s = &p->party[i].survey;
		those[i] = !parts && s->drops.n;
		for (size_t k = 0; k < s->n_parts && parts; k++) {
			those[i] = those[i] || s->part[k].drops.n;
		}
		any = any || those[i];
	}
	return any;
}

static size_t n_told(const struct party *y)
{
	size_t n = 0;
	for (size_t i = 0; i < y->n_told; i++) {
		n += y->told[i].n;
	}
	return n;
}

bool usk_falls_tell(struct parties *p, bool parts, bool *those)
{
	struct falls x = { .p = p, .parts = parts, .line = usk_alloc(p->n + 1, sizeof *x.line) };
	size_t *before = usk_alloc(p->n + 1, sizeof *before);
	bool any = false;
	for (size_t i = 0; i < p->n; i++) {
		const size_t n = p->party[i].survey.n_parts;
		x.line[i] = x.n_lines;
		x.n_lines += parts && n ? n : 1;
		before[i] = n_told(&p->party[i]);
	}
	x.of = usk_alloc(x.n_lines + 1, sizeof *x.of);
	x.n_of = usk_alloc(x.n_lines + 1, sizeof *x.n_of);
	x.late_ns = usk_alloc(x.n_lines + 1, sizeof *x.late_ns);
	x.left = usk_alloc(x.n_lines + 1, sizeof *x.left);
	for (size_t i = 0; i < x.n_lines; i++) {
		x.late_ns[i] = USK_LEAST_FALL;
	}
	take_all_falls(&x, p, those);
	take_packets(&x);
	if (tell_by_votes(&x)) {
		tell_together(&x);
	}
	take_told(&x);
	for (size_t i = 0; i < p->n; i++) {
		those[i] = n_told(&p->party[i]) > before[i];
		any = any || those[i];
	}
	for (size_t i = 0; i < x.n_lines; i++) {
		free(x.of[i]);
	}
	USK_FREE(x.line, x.of, x.n_of, x.late_ns, x.left, x.fall, x.couple, x.shared, before);
	return any;
}

void usk_falls_free(struct party *y)
{
	for (size_t i = 0; i < y->n_told; i++) {
		free(y->told[i].record);
	}
	free(y->told);
}
