/* SPDX-License-Identifier: MIT */
/*
 * table_order.c - which of several tables was written first
 *
 * In    tables of which the order of rows shows clocks that were set back
 * Out   the order in which they are to be read, and which of them are one sequence
 * Why   from table to table a clock may seem to be set back only because they are named in another order
 * Not   what rows tell (match/rows.c): tables of the same time are sequences of their own
 *
 * A clock all of whose stamps in one table are earlier than those in another says that this one was
 * first. Those that were set back may say otherwise: what goes on with the least gap is right, and what
 * contradicts that is not.
 */
#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

/* The stamps of a clock in a table. */
struct extent {
	uint32_t clock;
	bool any;
	int64_t first_ns, last_ns;
};

struct extents {
	struct extent *of; /* by clock, of the table that is being read */
	size_t n_clocks, table;
	struct known {
		struct extent *of; /* by clock */
		size_t n;
	} * known; /* by table */
};

static void end_table(struct extents *x)
{
	struct known *k = &x->known[x->table];
	for (size_t i = 0; i < x->n_clocks; i++) {
		if (x->of[i].any) {
			*USK_APPEND(k->of, k->n) = x->of[i];
		}
	}
	memset(x->of, 0, x->n_clocks * sizeof *x->of);
}

static void begin_table(void *ctx, size_t which)
{
	struct extents *x = ctx;
	end_table(x);
	x->table = which;
}

static void note(void *ctx, const struct usk_msg *m)
{
	struct extents *x = ctx;
	const uint32_t clock[] = { m->from, m->to };
	const int64_t stamp[] = { m->sent_ns, m->received_ns };
	for (int i = 0; i < 2; i++) {
		struct extent *e = &x->of[clock[i]];
		if (!e->any) {
			*e = (struct extent){ clock[i], true, stamp[i], stamp[i] };
		}
		e->first_ns = stamp[i] < e->first_ns ? stamp[i] : e->first_ns;
		e->last_ns = stamp[i] > e->last_ns ? stamp[i] : e->last_ns;
	}
}

/* One table before another, by the clock that goes on with the least gap. */
struct step {
	uint64_t gap;
	uint32_t from, to;
};

/* What two tables tell of that; false: nothing. */
static bool step_of(const struct known *known, uint32_t one, uint32_t other, struct step *out)
{
	const struct known *a = &known[one], *b = &known[other];
	bool any = false;
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct extent *x = &a->of[i], *y = &b->of[k];
		i += x->clock <= y->clock;
		k += y->clock <= x->clock;
		if (x->clock != y->clock) {
			continue;
		}
		usk_i128 forth = (usk_i128)y->first_ns - x->last_ns;
		usk_i128 back = (usk_i128)x->first_ns - y->last_ns;
		uint64_t gap = (uint64_t)(forth > back ? forth : back);
		if ((forth >= 0 || back >= 0) && (!any || gap < out->gap)) {
			*out = forth > back ? (struct step){ gap, one, other }
					    : (struct step){ gap, other, one };
			any = true;
		}
	}
	return any;
}

/* before[i * n + k]: table i comes before table k. */
static void put_before(bool *before, size_t n, size_t from, size_t to)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n && (i == from || before[i * n + from]); k++) {
			before[i * n + k] |= k == to || before[to * n + k];
		}
	}
}

static bool *all_before(const struct known *known, size_t n)
{
	bool *before = usk_alloc(n * n + 1, sizeof *before);
	struct step *step = NULL, x;
	size_t n_steps = 0, cap = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (step_of(known, (uint32_t)i, (uint32_t)k, &x)) {
				*USK_ADD(step, n_steps, cap) = x;
			}
		}
	}
	usk_sort(step, n_steps, sizeof *step, KEYS(BY(step, gap), BY(step, from), BY(step, to)));
	for (size_t i = 0; i < n_steps; i++) {
		size_t from = step[i].from, to = step[i].to;
		if (!before[from * n + to] && !before[to * n + from]) {
			put_before(before, n, from, to);
		}
	}
	free(step);
	return before;
}

/* The first of the tables left that no other one has to come before. */
static size_t next_of(const bool *before, size_t all, const size_t *left, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool may = true;
		for (size_t k = 0; k < n && may; k++) {
			may = !before[left[k] * all + left[i]];
		}
		if (may) {
			return i;
		}
	}
	return 0;
}

static void sort(struct parties *p, const bool *before)
{
	size_t *left = usk_alloc(p->n_traces + 1, sizeof *left);
	memcpy(left, p->table, p->n_traces * sizeof *left);
	for (size_t i = 0; i < p->n_traces; i++) {
		size_t n = p->n_traces - i, next = next_of(before, p->n_traces, left, n);
		p->table[i] = left[next];
		memmove(left + next, left + next + 1, (n - next - 1) * sizeof *left);
	}
	free(left);
}

/* Each table goes on where another one ends, or begins a sequence of its own. */
static void join(struct parties *p, const struct known *known, const bool *before)
{
	size_t *last = usk_alloc(p->n_traces + 1, sizeof *last), n = 0;
	for (size_t i = 0; i < p->n_traces; i++) {
		const size_t which = p->table[i];
		size_t k = 0;
		if (!known[which].n) {
			continue;
		}
		while (k < n && !before[last[k] * p->n_traces + which]) {
			k++;
		}
		n += k == n;
		last[k] = which;
		p->rows_of[which] = k;
	}
	free(last);
	for (size_t i = 0; i < p->n_rows; i++) {
		usk_rows_free(&p->rows[i]);
	}
	free(p->rows);
	p->n_rows = n ? n : 1;
	p->rows = usk_alloc(p->n_rows, sizeof *p->rows);
}

enum usk_status usk_tables_order(struct parties *p, struct usk_err *err)
{
	struct extents x = { .n_clocks = p->n, .table = p->n_traces };
	x.of = usk_alloc(p->n + 1, sizeof *x.of);
	x.known = usk_alloc(p->n_traces + 1, sizeof *x.known);
	p->work_all += usk_tables_size(p);
	enum usk_status status = usk_tables_read(
		p, &(struct table_sink){ .ctx = &x, .row = note, .begin = begin_table }, err);
	if (!status) {
		end_table(&x);
		bool *before = all_before(x.known, p->n_traces);
		sort(p, before);
		join(p, x.known, before);
		free(before);
	}
	for (size_t i = 0; i <= p->n_traces; i++) {
		free(x.known[i].of);
	}
	USK_FREE(x.known, x.of);
	return status;
}
