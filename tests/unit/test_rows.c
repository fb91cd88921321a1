/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c - where clocks were set back, as the order of a table's rows tells it
 *
 * In    rows as they were written, by sending or by receipt, of clocks that are set back once or never, and forward again
 * Out   the same stamps, looked at all at once (match/rows.c looks at them row by row)
 * Not   rows that are in no order (tests/sim/row_order.py), whose epochs stamps are of (tests/sim)
 */
#include "../part.h"
#include "base/base.h"
#include "match/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CLOCKS = 4, ROWS = 240, SENT = 0, RECEIVED = 1 };

#define US INT64_C(1000)
#define MS INT64_C(1000000)

struct table {
	uint64_t seed;
	size_t clocks;
	int by; /* the column that rows were written by */
	struct written {
		int64_t t;
		struct usk_msg m;
	} row[ROWS];
	struct usk_rows rows;
	bool by_size; /* and they are sorted by that */
};

static int by_time(const void *pa, const void *pb)
{
	const struct written *a = pa, *b = pb;
	return (a->t > b->t) - (a->t < b->t);
}

/* Some clocks are set back, each at a moment of its own or all at once, and by as much or not. */
static void write_rows(struct table *x, uint64_t seed)
{
	struct usk_rng r;
	int64_t at[CLOCKS], until[CLOCKS], by[CLOCKS], t = 0;
	usk_rng_seed(&r, seed);
	*x = (struct table){ .seed = seed, .clocks = 2 + usk_rng_below(&r, CLOCKS - 1) };
	x->by = (int)(seed % 2);
	x->by_size = seed % 16 < 2;
	const int64_t step = 1 + (int64_t)usk_rng_below(&r, 800), all = ROWS * step * US;
	const int64_t unit =
		seed % 4 ? 20 * US : MS / 2; /* so that much is as much as something else */
	const int64_t once = (int64_t)usk_rng_below(&r, (uint64_t)all);
	for (size_t k = 0; k < CLOCKS; k++) {
		at[k] = usk_rng_below(&r, 3) ? (int64_t)usk_rng_below(&r, (uint64_t)all) : once;
		by[k] = (int64_t)usk_rng_below(&r, (uint64_t)all) / unit * unit;
		until[k] = usk_rng_below(&r, 3) ? INT64_MAX
						: at[k] + (int64_t)usk_rng_below(&r, (uint64_t)all);
		at[k] = usk_rng_below(&r, 3) ? at[k] : INT64_MAX;
	}
	for (size_t i = 0; i < ROWS; i++) {
		t += (int64_t)usk_rng_below(&r, 2 * (uint64_t)(step * US)) / unit * unit;
		const int64_t u = t + unit + (int64_t)usk_rng_below(&r, 4000) * US / unit * unit;
		const uint32_t from = (uint32_t)usk_rng_below(&r, x->clocks);
		const uint32_t to = (from + 1 + (uint32_t)usk_rng_below(&r, x->clocks - 1)) %
				    (uint32_t)x->clocks;
		x->row[i].t = x->by == SENT ? t : u;
		x->row[i].m = (struct usk_msg){
			.from = from,
			.to = to,
			.sent_ns = t - (t >= at[from] && t < until[from] ? by[from] : 0),
			.received_ns = u - (u >= at[to] && u < until[to] ? by[to] : 0),
			.bytes = seed / 2 % 2 ? (uint32_t)usk_rng_below(&r, 9) : 1
		};
	}
	qsort(x->row, ROWS, sizeof *x->row, by_time);
	for (size_t i = 0; i < ROWS; i++) {
		if (x->by_size) {
			x->row[i].m.bytes =
				seed % 32 < 16 ? (uint32_t)i / 50 : 9 - (uint32_t)i / 50;
		}
		usk_rows_note(&x->rows, &x->row[i].m);
	}
}

static uint32_t clock_in(const struct usk_msg *m, int column)
{
	return column == SENT ? m->from : m->to;
}

static int64_t stamp_in(const struct usk_msg *m, int column)
{
	return column == SENT ? m->sent_ns : m->received_ns;
}

/* The last stamp of a clock in a column before row i, and its row; false: there is none. */
static bool last_before(const struct table *x, size_t i, uint32_t clock, int column, int64_t *t,
			size_t *row)
{
	while (i--) {
		if (clock_in(&x->row[i].m, column) == clock) {
			*t = stamp_in(&x->row[i].m, column);
			*row = i;
			return true;
		}
	}
	return false;
}

/* By how much the other clock of row i is behind its last stamp, as far as the column that rows are by shows it, or else
 * the other one; and the row of that. false: there is none. */
static bool beside(const struct table *x, size_t i, int64_t *behind, size_t *row)
{
	const struct usk_msg *m = &x->row[i].m;
	const uint32_t other = clock_in(m, !x->by);
	int64_t last = 0;
	const bool any = last_before(x, i, other, x->by, &last, row) ||
			 last_before(x, i, other, !x->by, &last, row);
	*behind = last - stamp_in(m, !x->by);
	return any;
}

/* Had the two of row `of` a message in its direction before row i? */
static bool known_before(const struct table *x, size_t of, size_t i)
{
	while (i--) {
		if (x->row[i].m.from == x->row[of].m.from && x->row[i].m.to == x->row[of].m.to) {
			return true;
		}
	}
	return false;
}

/* What a clock received, as it was sent, behind one row and before another, and yet before it showed so much. */
static size_t received_before(const struct table *x, uint32_t clock, size_t row, size_t end,
			      int64_t from)
{
	size_t n = 0;
	while (++row < end) {
		n += x->row[row].m.to == clock && x->row[row].m.received_ns < from;
	}
	return n;
}

/* What the rows say of a clock, in the column that they are by. */
struct told {
	bool fell;	/* it fell, and stays there: four stamps or more, no leap of 3/4 of it */
	bool mixed;	/* then the other clock of the row did not go on, or nobody was told both */
	bool forward;	/* it was set forward again */
	int64_t strays; /* it fell otherwise, by so much */
	struct usk_epoch at;
	bool apart; /* and its stamps of both columns do not go together */
};

/* Is what a clock shows in the other column as near as the fall asks for? */
static bool is_apart(const struct table *x, uint32_t clock, int64_t size)
{
	int64_t ahead = 0, behind = 0, highest = 0, last = 0;
	size_t row;
	bool any = false;
	for (size_t i = 0; i < ROWS; i++) {
		const bool begun = last_before(x, i, clock, x->by, &last, &row);
		const int64_t t = stamp_in(&x->row[i].m, !x->by);
		if (clock_in(&x->row[i].m, !x->by) == clock && begun) {
			behind = last - t > behind ? last - t : behind;
		} else if (clock_in(&x->row[i].m, !x->by) == clock) {
			highest = any && highest > t ? highest : t;
			any = true;
		} else if (clock_in(&x->row[i].m, x->by) == clock && !begun) {
			ahead = any ? highest - stamp_in(&x->row[i].m, x->by) : 0;
		}
	}
	return size / 2 < ahead || size < behind / 2;
}

static struct told told_of(const struct table *x, uint32_t clock)
{
	struct told out = { .fell = false };
	size_t of[ROWS], n = 0, begin = 1, end;
	int64_t t[ROWS], widest = 0, behind;
	bool again = false;
	size_t forward = 0, others;
	for (size_t i = 0; i < ROWS; i++) {
		if (clock_in(&x->row[i].m, x->by) == clock) {
			t[n] = stamp_in(&x->row[i].m, x->by);
			of[n++] = i;
		}
	}
	while (begin < n && t[begin] >= t[begin - 1]) {
		begin++;
	}
	if (begin >= n) {
		return out;
	}
	const int64_t from = t[begin - 1], size = from - t[begin];
	for (end = begin; end < n && t[end] < from; end++) {
		again = again || known_before(x, of[end], of[begin]);
	}
	const size_t row = of[begin], last = end < n ? of[end] : ROWS;
	const size_t more = x->by == SENT ? received_before(x, clock, row, last, from) : 0;
	/* Rows that lead to a leap were late, unless they are eight and another clock, which stands in them too, goes on
	 * at the leap: then this one was set forward. */
	for (size_t i = begin + 1; i < n && i < end + !more; i++) {
		const size_t so_far =
			x->by == SENT ? received_before(x, clock, row, of[i], from) : 0;
		const int64_t by = t[i] - t[i - 1];
		const bool other = beside(x, of[i], &behind, &others) && others >= row;
		const bool alone = i - begin + so_far >= 8 && other && -behind < by / 2;
		widest = by > widest && !alone ? by : widest;
		forward += alone && by > size / 4 * 3;
	}
	out.fell = size >= USK_LEAST_FALL && end - begin + more >= 4 && widest <= size / 4 * 3;
	out.forward = forward > 0;
	out.strays = out.fell ? 0 : size;
	out.at = (struct usk_epoch){ .record = begin, .before_ns = from, .after_ns = t[begin] };
	const bool goes_on = beside(x, row, &behind, &others) && behind * 2 < size;
	out.mixed = !goes_on || !again;
	out.apart = is_apart(x, clock, size);
	return out;
}

static void test_told(void **state)
{
	(void)state;
	size_t compared = 0, found = 0, forward = 0;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct table x;
		struct told told[CLOCKS];
		write_rows(&x, seed);
		bool mixed = x.by_size, any = false;
		int64_t strays = 0;
		for (uint32_t k = 0; k < x.clocks; k++) {
			told[k] = told_of(&x, k);
			mixed = mixed || (told[k].fell && told[k].mixed);
			forward += told[k].fell && told[k].forward;
			strays = told[k].strays > strays ? told[k].strays : strays;
		}
		const bool got = usk_rows_found(&x.rows);
		for (uint32_t k = 0; k < x.clocks && x.rows.by == x.by; k++) {
			const int64_t size = told[k].at.before_ns - told[k].at.after_ns;
			const struct usk_epochs *e = &x.rows.clock[k].epochs;
			const bool want =
				told[k].fell && !mixed && size / 8 >= strays && !told[k].apart;
			CHECK(e->n == want, &x);
			CHECK(!want || (e->epoch[0].record == told[k].at.record &&
					e->epoch[0].before_ns == told[k].at.before_ns &&
					e->epoch[0].after_ns == told[k].at.after_ns),
			      &x);
			any = any || want;
			compared++;
		}
		CHECK(got == any || x.rows.by != x.by, &x);
		found += any;
		usk_rows_free(&x.rows);
	}
	assert_true(compared > case_count(3000) && found > case_count(3000) / 8 && forward > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_told) };
	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
