/* SPDX-License-Identifier: MIT */
/*
 * test_fallings.c - by how much T of a clock may have fallen between two stamps, break by break; which stamps are in
 * order where some were shown twice
 *
 * Few breaks at small numbers, so that they begin and end together, and at the stamps that are asked for.
 */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 7, CLOCKS = 3, SEEN = 3 };

static int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

static bool coin(struct usk_rng *r)
{
	return usk_rng_below(r, 2);
}

/* What one break says. */
struct row {
	int64_t from, to, step, by;
	int64_t begin, end; /* of what it shows twice */
};

/* Of those that count: all of them, or one that lies around what is asked for of all and says as much as the largest
 * step; where it was, as far as this is asked. */
struct answer {
	usk_i128 by;
	int64_t begin, end;
};

static struct answer together(const struct row *row, const bool *counts, size_t n, int64_t a,
			      int64_t b)
{
	struct answer out = { 0, INT64_MAX, INT64_MIN };
	int64_t from = INT64_MAX, to = INT64_MIN, step = 0;
	for (size_t i = 0; i < n; i++) {
		if (counts[i]) {
			out.by += row[i].by;
			out.begin = row[i].begin < out.begin ? row[i].begin : out.begin;
			out.end = row[i].end > out.end ? row[i].end : out.end;
			from = row[i].from < from ? row[i].from : from;
			to = row[i].to > to ? row[i].to : to;
			step = row[i].step > step ? row[i].step : step;
		}
	}
	from = from > a ? from : a;
	to = to < b ? to : b;
	for (size_t i = 0; i < n; i++) {
		if (counts[i] && row[i].from <= from && row[i].to >= to && row[i].by >= step &&
		    row[i].by < out.by) {
			out.by = row[i].by;
		}
	}
	return out;
}

/* The size of the step that a break is of, at least; where records tell it, all of it. */
static int64_t step_of(const struct usk_work *w, const struct usk_break *b)
{
	const struct usk_bracket *x = b->bracket < SEEN ? &w->seen[b->bracket].at : NULL;
	if (b->back) {
		return b->far_ns;
	}
	if (!x || x->least_ns == USK_NONE || x->most_ns == USK_NONE) {
		return 0;
	}
	return x->least_ns > 0 ? x->least_ns : x->most_ns < 0 ? -x->most_ns : 0;
}

static usk_i128 fell(const struct usk_work *w, uint32_t clock, int64_t a, int64_t b, bool twice)
{
	struct row row[MOST];
	bool counts[MOST], shown[MOST];
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *x = &w->brk[i];
		const int64_t lasts = x->to_ns - x->from_ns;
		const bool falls = x->falls && !x->of_reference;
		const int64_t far = x->far_ns ? x->far_ns : lasts;
		row[i] = (struct row){ x->from_ns,    x->to_ns,
				       step_of(w, x), !falls ? 0 : x->down ? far : x->fall_ns,
				       INT64_MAX,     INT64_MIN };
		counts[i] = x->clock == clock && row[i].by && x->from_ns < b && x->to_ns > a;
	}
	usk_i128 all = together(row, counts, w->n_breaks, a, b).by, more = 0;
	for (size_t i = 0; i < w->n_breaks; i++) {
		const struct usk_break *x = &w->brk[i];
		const int64_t begin = x->from_ns - x->fold_ns, end = x->to_ns + x->fold_ns;
		row[i].by = x->fold_ns;
		row[i].begin = begin;
		row[i].end = end;
		shown[i] = x->fold_ns && begin < a && end > b;
		counts[i] = twice && shown[i] && x->clock == clock;
	}
	const struct answer own = together(row, counts, w->n_breaks, INT64_MIN, INT64_MAX);
	for (size_t i = 0; i < w->n_breaks && own.by; i++) {
		const struct usk_break *x = &w->brk[i];
		const bool set = x->up && x->falls && x->bracket != UINT32_MAX;
		const bool both = x->falls && !x->of_reference &&
				  (x->down ? x->far_ns || x->to_ns > x->from_ns : x->fall_ns > 0);
		row[i].by = set ? usk_bracket_farthest(&w->seen[x->bracket].at) : 0;
		counts[i] = x->clock == clock && row[i].by && x->from_ns < own.end &&
			    x->to_ns > own.begin && (both || !shown[i]);
	}
	more = own.by + (own.by ? together(row, counts, w->n_breaks, own.begin, own.end).by : 0);
	all += more + usk_ceil_div(more * w->p->max_skew_e12, USK_E12);
	return all;
}

static void test_fell(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct usk_rng r;
		struct usk_break brk[MOST];
		struct usk_seen seen[SEEN];
		usk_rng_seed(&r, seed);
		const struct usk_graph_problem p = { .max_skew_e12 =
							     among(&r, 0, 3) * USK_E12 / 10 };
		struct usk_work w = { .p = &p, .brk = brk, .seen = seen, .n_clocks = CLOCKS };
		for (size_t i = 0; i < SEEN; i++) {
			const int64_t least = among(&r, -6, 6), most = least + among(&r, 0, 4);
			seen[i] =
				(struct usk_seen){ .at = { .least_ns = coin(&r) ? least : USK_NONE,
							   .most_ns = most } };
		}
		for (w.n_breaks = usk_rng_below(&r, MOST + 1); w.n_seen < w.n_breaks; w.n_seen++) {
			const int64_t from = among(&r, 0, 12);
			brk[w.n_seen] = (struct usk_break){
				.clock = (uint32_t)usk_rng_below(&r, CLOCKS),
				.from_ns = from,
				.to_ns = from + among(&r, 1, 8),
				.up = coin(&r),
				.down = coin(&r),
				.back = !usk_rng_below(&r, 4),
				.falls = usk_rng_below(&r, 4),
				.of_reference = !usk_rng_below(&r, 4),
				.fall_ns = among(&r, 0, 3),
				.far_ns = coin(&r) ? among(&r, 0, 9) : 0,
				.fold_ns = coin(&r) ? among(&r, 0, 6) : 0,
				.bracket = coin(&r) ? (uint32_t)usk_rng_below(&r, SEEN) : UINT32_MAX
			};
		}
		usk_fallings_of(&w);
		for (int i = 0; i < 30; i++) {
			const uint32_t clock = (uint32_t)usk_rng_below(&r, CLOCKS);
			const int64_t a = among(&r, -6, 20), b = a + among(&r, 0, 9);
			const bool twice = coin(&r);
			const usk_i128 got = usk_fell(&w, clock, a, b, twice),
				       want = fell(&w, clock, a, b, twice);
			if (got != want) {
				fail_msg("seed %llu, clock %u from %lld to %lld: %lld, not %lld",
					 (unsigned long long)seed, clock, (long long)a,
					 (long long)b, (long long)got, (long long)want);
			}
		}
		usk_fallings_free(&w);
	}
}

/* ---- stamps that were shown twice ----------------------------------------------------------- */

enum { EVENTS = 8 };

struct stretch {
	struct usk_graph_problem p;
	struct usk_work w;
	int64_t x[EVENTS], lo[EVENTS], hi[EVENTS];
	struct usk_cell cell[EVENTS];
	struct usk_slack slack[EVENTS];
};

/* May stamps of both have been shown twice, in one stretch? Then no further apart than this. */
static bool is_one_stretch(const struct stretch *s, uint32_t a, uint32_t b, int64_t *twice)
{
	uint32_t first = a, end = b;
	bool one = true;
	for (uint32_t i = a; i < b; i++) {
		one = one && s->cell[i].slack && s->cell[i].lower != USK_UNBOUNDED;
	}
	while (first && s->cell[first - 1].slack && s->cell[first - 1].lower != USK_UNBOUNDED) {
		first--;
	}
	while (s->cell[end].slack && s->cell[end].lower != USK_UNBOUNDED) {
		end++;
	}
	*twice = 0;
	for (uint32_t i = first; i < end && one; i++) {
		*twice = s->slack[i].twice_ns > *twice ? s->slack[i].twice_ns : *twice;
	}
	return one;
}

/* By how much T rises at least from one event to another one, whatever bends do. */
static usk_i128 rise_at_least(const struct stretch *s, uint32_t a, uint32_t b)
{
	usk_i128 rise = 0;
	for (uint32_t i = a; i < b; i++) {
		const int64_t faster = s->cell[i].lower == USK_FAST ? USK_FASTEST_E12 : 0;
		const int64_t pace = USK_E12 - s->p.max_skew_e12 - faster;
		rise += s->cell[i].lower == USK_MONOTONE ? 0
							 : (usk_i128)(s->x[i + 1] - s->x[i]) * pace;
	}
	return rise;
}

/* The nearest event that is further away than stamps were shown twice by says something of one, but for what falls from
 * the cell beside the one to the cell beside the other. */
static void test_in_order(void **state)
{
	(void)state;
	size_t said = 0;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct usk_rng r;
		struct stretch s = { .p = { .max_skew_e12 = USK_E12 / 100 } };
		usk_rng_seed(&r, seed);
		s.w = (struct usk_work){ .p = &s.p,
					 .n = EVENTS,
					 .x = s.x,
					 .cell = s.cell,
					 .slack = s.slack,
					 .n_slacks = EVENTS,
					 .lo_ns = s.lo,
					 .hi_ns = s.hi };
		int64_t x = 0, twice = 0;
		for (uint32_t i = 0; i < EVENTS; i++) {
			s.x[i] = x += among(&r, 0, 3);
			s.lo[i] = usk_rng_below(&r, 4) ? among(&r, 0, 99) : USK_NONE;
			s.hi[i] = usk_rng_below(&r, 4) ? among(&r, 0, 99) : USK_NONE;
			s.cell[i].lower = (uint8_t)usk_rng_below(&r, coin(&r) ? 4 : 5);
			s.cell[i].slack = i + 1 < EVENTS && usk_rng_below(&r, 6);
			twice = coin(&r) ? among(&r, 0, 4) : twice;
			s.slack[i] = (struct usk_slack){ .first = i,
							 .twice_ns = s.cell[i].slack ? twice : 0,
							 .rise_ns = among(&r, 0, 5),
							 .fall_ns = among(&r, 0, 5),
							 .ended_fall_ns = i };
		}
		usk_in_order(&s.w);
		for (uint32_t i = 0; i < EVENTS; i++) {
			for (int upper = 0; upper < 2; upper++) {
				/* Asked beside a cell with slack. */
				if (upper ? !i || !s.cell[i - 1].slack : !s.cell[i].slack) {
					continue;
				}
				uint32_t other = USK_NO_EVENT;
				int64_t far = 0;
				for (uint32_t k = 0; k < EVENTS; k++) {
					const uint32_t a = upper ? i : k, b = upper ? k : i;
					const bool nearer = other == USK_NO_EVENT || !upper;
					if (a < b && is_one_stretch(&s, a, b, &far) && far &&
					    s.x[b] - s.x[a] > far && nearer) {
						other = k;
					}
				}
				usk_i128 got = 0;
				const bool any = usk_in_order_says(&s.w, i, upper, &got);
				const int64_t *bound = upper ? s.hi : s.lo;
				assert_int_equal(any,
						 other != USK_NO_EVENT && bound[other] != USK_NONE);
				if (any) {
					const uint32_t a = upper ? i : other, b = upper ? other : i;
					const uint32_t first = upper ? i - 1 : other;
					const uint32_t last = upper ? other - 1 : i;
					const usk_i128 falls = usk_e12(s.slack[last].fall_ns) +
							       (s.slack[last].ended_fall_ns -
								s.slack[first].ended_fall_ns) *
								       USK_E12;
					const usk_i128 rise = rise_at_least(&s, a, b) - falls;
					assert_true(got ==
						    usk_e12(bound[other]) + (upper ? -rise : rise));
					said++;
				}
			}
		}
		USK_FREE(s.w.in_order.before, s.w.in_order.behind, s.w.in_order.rise);
	}
	assert_true(said > case_count(6000));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fell),
					    cmocka_unit_test(test_in_order) };
	return cmocka_run_group_tests_name("fallings", tests, NULL, NULL);
}
