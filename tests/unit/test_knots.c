/* SPDX-License-Identifier: MIT */
/*
 * test_knots.c - a clock's knots as they are written, against the gates and corners that they are drawn through
 *
 * Few events at small numbers and steep jumps, so that rounding, jumps and gates lie on one another.
 */
#include "../part.h"
#include "base/base.h"
#include "graph/drawing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 40 };

struct drawing {
	uint64_t seed;
	struct usk_graph_problem p;
	struct usk_work w;
	int64_t x[MOST];
	struct usk_cell cell[MOST];
	uint32_t first[2], run_of[MOST], pairs_of[1];
	struct usk_run run[1];
	struct usk_bound_at corner[3 * MOST];
	struct usk_passage gate[MOST];
	struct usk_drawn drawn;
	struct usk_drawing d;
};

#define CHECK_AT(cond, x, i)                                                                       \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("seed %llu, number %zu: %s", (unsigned long long)(x)->seed,       \
				 (size_t)(i), #cond);                                              \
		}                                                                                  \
	} while (0)

static int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

static void corner(struct usk_drawing *d, int64_t x, int64_t lo, int64_t hi)
{
	d->corner[d->n_corners++] = (struct usk_bound_at){ x, { lo, hi } };
}

/* T never falls from wish to wish; bounds hold the wishes, and are wide within cells that jump. */
static void draw(struct drawing *y, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*y = (struct drawing){ .seed = seed,
			       .p = { .max_skew_e12 = among(&r, 1, 300) * 1000000000 } };
	y->w = (struct usk_work){ .p = &y->p,
				  .x = y->x,
				  .cell = y->cell,
				  .first = y->first,
				  .run = y->run,
				  .run_of = y->run_of,
				  .pairs_of = y->pairs_of,
				  .n_runs = 1,
				  .n_clocks = 1 };
	y->run[0] =
		(struct usk_run){ .slow_e12 = -y->p.max_skew_e12, .fast_e12 = y->p.max_skew_e12 };
	struct usk_drawing *d = &y->d;
	*d = (struct usk_drawing){ .w = &y->w,
				   .has = { true, true },
				   .corner = y->corner,
				   .gate = y->gate,
				   .drawn = &y->drawn };
	const int64_t far = among(&r, 2, 40), wide = among(&r, 0, 30), steps = among(&r, 1, 60);
	const bool tight = usk_rng_below(&r, 2);
	const size_t n = (size_t)among(&r, 2, MOST);
	int64_t t = among(&r, -9, 9), x = among(&r, -9, 9);
	for (size_t i = 0; i < n; i++) {
		const int64_t wish = t - x;
		const int64_t lo = wish - (tight ? 0 : among(&r, 0, wide));
		const int64_t hi = wish + (usk_rng_below(&r, 3) ? among(&r, 0, wide) : 0);
		const bool jumps = usk_rng_below(&r, 2);
		const int64_t by = among(&r, 1, far);
		y->x[i] = x;
		y->gate[i] = (struct usk_passage){ x, lo, hi, wish };
		corner(d, x, lo - among(&r, 0, wide), hi + among(&r, 0, wide));
		if (jumps && by > 2 && i + 1 < n) {
			y->cell[i].lower = y->cell[i].upper = USK_UNBOUNDED;
			corner(d, x + 1, lo - steps, hi + steps);
			corner(d, x + by - 1, lo - steps, hi + steps);
		}
		x += by;
		t += usk_rng_below(&r, 2) ? 0 : among(&r, 0, jumps ? steps : by + 1);
	}
	y->first[1] = d->to = (uint32_t)n;
	d->n_gates = n;
}

/* A map's offset over x, by the link behind knot k; floor of what is exact. */
static int64_t offset_at(const struct usk_knot *k, int64_t x)
{
	const int64_t run = k[1].local_ns - k->local_ns;
	return k->offset_ns +
	       (int64_t)usk_floor_div((usk_i128)(k[1].offset_ns - k->offset_ns) * (x - k->local_ns),
				      run);
}

static size_t link_at(const struct usk_drawing *d, int64_t x)
{
	size_t k = 0;
	while (k + 2 < d->n_knots && d->knot[k + 1].local_ns < x) {
		k++;
	}
	return k;
}

/* Is a bound over x, by that link, no further in than a corner? In parts of the run. */
static bool holds(const struct usk_knot *k, const struct usk_bound_at *c)
{
	const int64_t run = k[1].local_ns - k->local_ns, by = c->x - k->local_ns;
	return (c->bound[0] - k->lo_ns) * run >= (k[1].lo_ns - k->lo_ns) * by &&
	       (c->bound[1] - k->hi_ns) * run <= (k[1].hi_ns - k->hi_ns) * by;
}

static void test_drawn(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(40000); seed < case_end(40000); seed++) {
		struct drawing y;
		draw(&y, seed);
		struct usk_drawing *d = &y.d;
		usk_draw_knots(d);
		for (size_t i = 0; i + 1 < d->n_knots; i++) {
			const struct usk_knot *k = &d->knot[i];
			CHECK_AT(k->local_ns < k[1].local_ns, &y, i);
			CHECK_AT(k->local_ns + k->offset_ns <= k[1].local_ns + k[1].offset_ns, &y,
				 i);
			CHECK_AT(k->lo_ns <= k->offset_ns && k->offset_ns <= k->hi_ns, &y, i);
		}
		for (size_t i = 0; i < d->n_gates; i++) {
			const struct usk_passage *g = &d->gate[i];
			const int64_t o = offset_at(&d->knot[link_at(d, g->x)], g->x);
			CHECK_AT(g->lo <= o && o <= g->hi, &y, i);
		}
		for (size_t i = 0; i < d->n_corners; i++) {
			const struct usk_bound_at *c = &d->corner[i];
			CHECK_AT(holds(&d->knot[link_at(d, c->x)], c), &y, i);
		}
		free(d->knot);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_drawn) };
	return cmocka_run_group_tests_name("knots", tests, NULL, NULL);
}
