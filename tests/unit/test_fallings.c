/* SPDX-License-Identifier: MIT */
/*
 * test_fallings.c - by how much T of a clock may have fallen between two stamps, break by break
 *
 * Few breaks at small numbers, so that they begin and end together, and at the stamps that are asked for.
 */
#include "../part.h"
#include "graph/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fell) };
	return cmocka_run_group_tests_name("fallings", tests, NULL, NULL);
}
