/* SPDX-License-Identifier: MIT */
/*
 * falls.c - where stamps fall because the clock was set back
 *
 * In    surveys: where stamps of clocks fall, packets that they share
 * Out   of each clock the records at which it was set back; these are to be read once more
 * Why   where records are late stamps fall, too, and often nothing but packets tells one from the other:
 *       at the end of a file, within another fall, where falls repeat
 * Not   what the order of records tells by itself (match/epochs.c), unless packets say other; the order of files
 *       (arrange.c)
 *
 * Stamps of late records are right, and through those of a clock that was set back no order of time
 * goes (match/lamport.c). Often addresses tell who sent a packet. Where they do not, of two that
 * follow each other in the two directions of a conversation, in the same order at both machines, the
 * first passed each machine before the second one passed the other, whatever ways were: as if each
 * had sent a message then. So a fall is believed if there is more of an order with it than without.
 * Larger ones are asked for first, as smaller ones lie within them; in the end each is asked whether
 * there is less of one without it.
 */
#include "flow/met.h"

#include <stdlib.h>
#include <string.h>

/* ENOUGH: so many sends and receipts more have an order, as some packets that look alike are others. MOST: packets
 * that are put in order, all times together: of very many clocks the largest falls are asked. */
enum { ENOUGH = 8, MOST = 1 << 25 };

/* What runs in one order of records: a clock, or one of its files. */
struct moment {
	uint32_t line;
	uint64_t record;
	int64_t ns; /* as recorded */
};

/* One of them was before the other. */
struct sure {
	struct moment first, second;
};

/* One of these, and what those before it show at most, and from it on at least. */
struct shown {
	uint32_t line;
	uint64_t record;
	int64_t ns, most_ns, least_ns;
};

struct fall {
	int64_t size;
	uint64_t at;
	uint32_t line;
	bool back; /* the clock was set back, */
	bool was;  /* as the order of records tells */
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
	struct sure *sure;
	size_t n_sure, cap_sure;
	struct shown *shown; /* by lines and records */
	size_t n_shown;
	size_t **of; /* by line: the falls of it that are believed */
	size_t *n_of;
	int64_t *late_ns;
	size_t *left;			 /* by line: how much has no order */
	const struct usk_epochs **known; /* by line: what the order of records tells */
	uint64_t asked;
};

/* ---- packets -------------------------------------------------------------------------------- */

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

/* Addresses that are surely the clock's, as against another one's. */
static size_t own_of(const struct party *y, const struct party *other, struct usk_addr own[2])
{
	bool guess;
	const size_t n = usk_survey_own(&y->survey, &other->survey, own, &guess);
	return guess ? 0 : n;
}

/* Did the clock's machine send that, 1, or receive it, -1? 0: it is not known. */
static int sent_by(const struct party *y, const struct met *m, const struct usk_addr *own, size_t n)
{
	const struct usk_ends *way = &y->survey.way[m->way];
	if (y->order) {
		return m->way ? 1 : -1;
	}
	const struct usk_addr *mine = y->n_stated ? y->stated : own;
	const size_t n_mine = y->n_stated ? y->n_stated : n;
	const bool src = usk_addr_among(way->src, mine, n_mine);
	return src == usk_addr_among(way->dst, mine, n_mine) ? 0 : src ? 1 : -1;
}

/* Of more files than are told apart nobody knows which has it. */
static bool is_of_no_file(const struct falls *x, const struct met *m)
{
	return x->parts &&
	       (m->seen.part == USK_MOST_PARTS || (m->other & UINT16_MAX) == USK_MOST_PARTS);
}

static void add(struct falls *x, const struct moment *first, const struct moment *second)
{
	*USK_ADD(x->sure, x->n_sure, x->cap_sure) = (struct sure){ *first, *second };
}

/* Of two packets that follow each other in their conversation. */
static void take_couple(struct falls *x, const struct met *a, const struct met *b)
{
	struct moment first[2], second[2];
	moments_of(x, a, first);
	moments_of(x, b, second);
	if (a->seen.with == b->seen.with && a->seen.back != b->seen.back &&
	    follows(&first[0], &second[0]) && follows(&first[1], &second[1])) {
		add(x, &first[0], &second[1]);
		add(x, &first[1], &second[0]);
	}
}

/* Packets that two files share. */
static void take_group(struct falls *x, struct met *m, size_t n)
{
	const struct party *p = &x->p->party[m->clock], *q = &x->p->party[m->other >> 16];
	struct usk_seen *seen = usk_alloc(n + 1, sizeof *seen);
	struct talk {
		uint32_t with;
		uint64_t at;
	} *t = usk_alloc(n + 1, sizeof *t);
	struct usk_addr own[2];
	int64_t ways;
	const size_t n_own = own_of(p, q, own);
	for (size_t i = 0; i < n; i++) {
		m[i].seen.number = (uint32_t)i;
	}
	size_t left = usk_met_order(m, n, false, seen, &ways), open = 0;
	for (size_t i = 0; i < left; i++) {
		const struct met *one = &m[seen[i].number];
		const int by = sent_by(p, one, own, n_own);
		struct moment at[2];
		if (is_of_no_file(x, one)) {
			continue;
		}
		moments_of(x, one, at);
		if (by) {
			add(x, &at[by < 0], &at[by > 0]);
		} else if (m->clock < m->other >> 16) {
			t[open++] = (struct talk){ seen[i].with, seen[i].number };
		}
	}
	usk_sort(t, open, sizeof *t, KEYS(BY(talk, with), BY(talk, at)));
	for (size_t i = 1; i < open; i++) {
		take_couple(x, &m[t[i - 1].at], &m[t[i].at]);
	}
	USK_FREE(seen, t);
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
	USK_FREE(met, all);
}

/* ---- falls ----------------------------------------------------------------------------------- */

static bool is_known(const struct usk_epochs *e, const struct usk_drop *d)
{
	size_t i;
	USK_FIRST(i, 0, e->n, e->epoch[i].record >= d->record);
	return i < e->n && e->epoch[i].record == d->record;
}

static void take_falls(struct falls *x, uint32_t line, const struct usk_drops *drops,
		       const struct usk_epochs *known, struct usk_told *told)
{
	x->known[line] = known;
	for (size_t i = 0; i < drops->n; i++) {
		const struct usk_drop *d = &drops->drop[i];
		const bool was = is_known(known, d);
		*USK_ADD(x->fall, x->n, x->cap) =
			(struct fall){ .size = usk_saturate((usk_i128)d->from_ns - d->to_ns),
				       .at = d->at,
				       .line = line,
				       .back = was,
				       .was = was,
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

/* ---- all together ------------------------------------------------------------------------------ */

static void show_all(struct falls *x)
{
	struct shown *all = x->shown;
	size_t n = 0;
	for (size_t i = 0; i < x->n_sure; i++) {
		const struct moment *m[] = { &x->sure[i].first, &x->sure[i].second };
		for (int k = 0; k < 2; k++) {
			all[n++] = (struct shown){ m[k]->line, m[k]->record, run_on(x, m[k]),
						   INT64_MIN, INT64_MAX };
		}
	}
	x->n_shown = n;
	usk_sort(all, n, sizeof *all, KEYS(BY(shown, line), BY(shown, record)));
	for (size_t i = 1; i < n; i++) {
		const struct shown *b = &all[i - 1];
		if (b->line == all[i].line) {
			all[i].most_ns = b->ns > b->most_ns ? b->ns : b->most_ns;
		}
	}
	for (size_t i = n; i-- > 0;) {
		const struct shown *b =
			i + 1 < n && all[i + 1].line == all[i].line ? &all[i + 1] : NULL;
		all[i].least_ns = b && b->least_ns < all[i].ns ? b->least_ns : all[i].ns;
	}
}

/* Do packets behind a fall show less than some before it? Else nothing is of another order with it. */
static bool tells(const struct falls *x, const struct fall *f)
{
	size_t i;
	USK_FIRST(i, 0, x->n_shown,
		  x->shown[i].line > f->line ||
			  (x->shown[i].line == f->line && x->shown[i].record >= f->at));
	return x->left[f->line] && i < x->n_shown && x->shown[i].line == f->line &&
	       x->shown[i].most_ns > x->shown[i].least_ns;
}

/* How much has no order. */
static size_t left_by(struct falls *x)
{
	struct usk_lamport l = { 0 };
	for (size_t i = 0; i < x->n_sure; i++) {
		const struct moment *a = &x->sure[i].first, *b = &x->sure[i].second;
		usk_lamport_message(&l, a->line, run_on(x, a), b->line, run_on(x, b));
	}
	memset(x->left, 0, x->n_lines * sizeof *x->left);
	size_t all = usk_lamport_left(&l, x->n_lines, x->late_ns, x->left);
	usk_lamport_free(&l);
	x->asked += x->n_sure;
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

static void take_out(struct usk_told *told, uint64_t record)
{
	size_t kept = 0;
	for (size_t i = 0; i < told->n; i++) {
		told->record[kept] = told->record[i];
		kept += told->record[i] != record;
	}
	told->n = kept;
}

/* Where anything is other than the order of records told by itself all is told: falls that are none, and those
 * that the order of records told and packets were not asked for, as there are too many larger ones. */
static void take_told(struct falls *x)
{
	const struct fall **other = usk_alloc(x->n_lines + 1, sizeof(struct fall *));
	for (size_t i = 0; i < x->n; i++) {
		const struct fall *f = &x->fall[i];
		other[f->line] = f->back != f->was ? f : other[f->line];
	}
	for (size_t line = 0; line < x->n_lines; line++) {
		const struct usk_epochs *e = x->known[line];
		for (size_t i = 0; other[line] && i < e->n; i++) {
			insert(other[line]->told, e->epoch[i].record);
		}
	}
	for (size_t i = 0; i < x->n; i++) {
		struct fall *f = &x->fall[i];
		if (other[f->line]) {
			f->told->all = true;
			(f->back ? insert : take_out)(f->told, f->drop->record);
		}
	}
	free(other);
}

static void doubt(struct falls *x, size_t i)
{
	const uint32_t line = x->fall[i].line;
	size_t kept = 0;
	for (size_t k = 0; k < x->n_of[line]; k++) {
		x->of[line][kept] = x->of[line][k];
		kept += x->of[line][k] != i;
	}
	x->n_of[line] = kept;
}

/*
 * Where records of before are among those of after there is a fall before each; one of them is enough. What the order
 * of records tells goes if there is more of an order without it: else it stays open, which bands allow for
 * (graph/late.c).
 */
static void take_back(struct falls *x, size_t left)
{
	for (size_t i = x->n; i-- > 0;) {
		struct fall *f = &x->fall[i];
		if (!f->back || (f->was && (f->size > USK_LATEST_NS || x->asked >= MOST))) {
			continue;
		}
		doubt(x, i);
		size_t without = left_by(x);
		if (f->was ? without + ENOUGH <= left : without < left + ENOUGH) {
			f->back = false;
			left = without;
		} else {
			believe(x, i);
		}
	}
}

static void tell_all(struct falls *x)
{
	for (size_t i = 0; i < x->n; i++) {
		if (x->fall[i].back) {
			believe(x, i);
		}
	}
	take_back(x, left_by(x));
	size_t left = left_by(x), lines = x->n_lines * sizeof *x->left;
	size_t *was = usk_alloc(x->n_lines + 1, sizeof *was);
	show_all(x);
	for (size_t i = 0; i < x->n && left >= ENOUGH && x->asked < MOST; i++) {
		struct fall *f = &x->fall[i];
		if (f->back || !tells(x, f)) {
			continue;
		}
		believe(x, i);
		memcpy(was, x->left, lines);
		size_t now = left_by(x);
		if (now + ENOUGH <= left) {
			f->back = true;
			left = now;
			show_all(x);
		} else {
			doubt(x, i);
			memcpy(x->left, was, lines);
		}
	}
	free(was);
	take_back(x, left);
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
		n += y->told[i].n + y->told[i].all;
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
	x.known = usk_alloc(x.n_lines + 1, sizeof(struct usk_epochs *));
	x.left = usk_alloc(x.n_lines + 1, sizeof *x.left);
	for (size_t i = 0; i < x.n_lines; i++) {
		x.late_ns[i] = USK_LEAST_FALL;
	}
	take_all_falls(&x, p, those);
	take_packets(&x);
	x.shown = usk_alloc(2 * x.n_sure + 1, sizeof *x.shown);
	tell_all(&x);
	take_told(&x);
	for (size_t i = 0; i < p->n; i++) {
		those[i] = n_told(&p->party[i]) > before[i];
		any = any || those[i];
	}
	for (size_t i = 0; i < x.n_lines; i++) {
		free(x.of[i]);
	}
	USK_FREE(x.line, x.of, x.n_of, x.late_ns, x.left, x.known, x.fall, x.sure, x.shown, before);
	return any;
}

void usk_falls_free(struct party *y)
{
	for (size_t i = 0; i < y->n_told; i++) {
		free(y->told[i].record);
	}
	free(y->told);
}
