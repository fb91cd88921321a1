/* SPDX-License-Identifier: MIT */
/*
 * test_hold.c - bounds at knots, against what they are said to do
 *
 * Few knots and corners at small numbers, so that they lie on one another, on chords, and beyond.
 */
#include "../part.h"
#include "base/base.h"
#include "graph/drawing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

struct drawing {
	uint64_t seed;
	struct usk_work w;
	struct usk_straight straight[1];
	struct usk_bound_at corner[MOST];
	struct usk_knot knot[MOST + 1], was[MOST + 1];
	struct usk_drawing d;
};

#define CHECK_KNOT(cond, x, i)                                                                     \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fail_msg("seed %llu, knot %zu: %s", (unsigned long long)(x)->seed,         \
				 (size_t)(i), #cond);                                              \
		}                                                                                  \
	} while (0)

static int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

/* Sides 0, 1 or both are there; straight: its lines are bounds as they are. */
static void draw(struct drawing *x, uint64_t seed, bool lower, bool upper, bool straight)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	*x = (struct drawing){ .seed = seed };
	x->straight[0].n[0] = straight;
	x->w.straight = seed % 2 || straight ? x->straight : NULL;
	x->d = (struct usk_drawing){
		.w = &x->w, .has = { lower, upper }, .corner = x->corner, .knot = x->knot
	};
	struct usk_drawing *d = &x->d;
	const int64_t wide = among(&r, 1, 30), far = among(&r, 1, 12);
	int64_t at = among(&r, -5, 5);
	for (size_t n = (size_t)among(&r, 1, MOST); d->n_corners < n; d->n_corners++) {
		const int64_t lo = among(&r, -wide, wide), hi = lo + among(&r, 0, wide);
		x->corner[d->n_corners] = (struct usk_bound_at){ at, { lo, hi } };
		at += among(&r, 1, far);
	}
	at = x->corner[0].x - among(&r, 0, 1);
	int64_t last = x->corner[d->n_corners - 1].x + among(&r, 0, 1);
	last = last > at ? last : at + 1;
	d->n_knots = (size_t)among(&r, 2, last - at < MOST ? last - at + 1 : MOST);
	for (size_t i = 0, left = d->n_knots; left--; i++) {
		const int64_t offset = among(&r, -wide, wide);
		x->knot[i] = (struct usk_knot){ at, offset, offset - among(&r, 0, wide),
						offset + among(&r, 0, wide), 0 };
		x->knot[i].lo_ns = lower ? x->knot[i].lo_ns : USK_NONE;
		x->knot[i].hi_ns = upper ? x->knot[i].hi_ns : USK_NONE;
		x->knot[i].offset_ns = lower && upper ? offset : USK_NONE;
		const int64_t room = last - at - (int64_t)left + 1;
		const int64_t next =
			left > 1 ? among(&r, 1, room < 2 * far ? room : 2 * far) : room;
		at += next;
	}
	/* What lies behind them is none of them. */
	x->knot[d->n_knots] = (struct usk_knot){ at + among(&r, -far, far), -wide, wide, -wide, 0 };
	memcpy(x->was, x->knot, sizeof x->was);
}

static int64_t bound(const struct usk_knot *k, int side)
{
	return side ? k->hi_ns : k->lo_ns;
}

/* How far y is inside of the line through a and b at x; over 0: it cuts off what is there. In
 * parts of the run. */
static int64_t inside(struct usk_xy a, struct usk_xy b, int64_t x, int64_t y, int side)
{
	const int64_t over = a.y * (b.x - a.x) + (b.y - a.y) * (x - a.x) - y * (b.x - a.x);
	return side ? -over : over;
}

static struct usk_xy knot_at(const struct usk_knot *k, int side)
{
	return (struct usk_xy){ k->local_ns, bound(k, side) };
}

/* Is corner c over the link behind knot i? */
static bool is_over(const struct usk_knot *knot, size_t i, const struct usk_bound_at *c)
{
	return c->x <= knot[i + 1].local_ns && (c->x > knot[i].local_ns || !i);
}

/* What a knot between two corners has to leave open. */
static bool is_peak(const struct usk_drawing *d, const struct usk_knot *k, int side)
{
	bool any = false;
	for (size_t i = 0; i + 1 < d->n_corners; i++) {
		const struct usk_bound_at *c = &d->corner[i];
		if (c->x <= k->local_ns && k->local_ns <= c[1].x) {
			any = any || inside((struct usk_xy){ c->x, c->bound[side] },
					    (struct usk_xy){ c[1].x, c[1].bound[side] },
					    k->local_ns, bound(k, side), side) < 0;
		}
	}
	return any;
}

/* May the bounds at this knot be what they are, if those of its neighbours are? */
static bool holds(const struct usk_drawing *d, size_t i, int side)
{
	const struct usk_knot *k = &d->knot[i];
	const int64_t y = bound(k, side);
	bool good = (side ? y >= k->offset_ns : y <= k->offset_ns) && !is_peak(d, k, side);
	for (size_t m = 0; m < d->n_corners; m++) {
		const struct usk_bound_at *c = &d->corner[m];
		for (size_t l = i - (i > 0); l <= i && l + 1 < d->n_knots; l++) {
			const bool over =
				d->knot[l].local_ns <= c->x && c->x <= d->knot[l + 1].local_ns;
			good = good && !(over && inside(knot_at(&d->knot[l], side),
							knot_at(&d->knot[l + 1], side), c->x,
							c->bound[side], side) > 0);
		}
	}
	return good;
}

/* Where both bounds are drawn they hold all that is there, and none goes in by 1 more. */
static void test_both(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct drawing x;
		draw(&x, seed, true, true, false);
		struct usk_drawing *d = &x.d;
		usk_hold_bounds(d);
		for (size_t i = 0; i < d->n_knots; i++) {
			struct usk_knot *k = &d->knot[i];
			const bool beyond = k->local_ns < d->corner[0].x ||
					    k->local_ns > d->corner[d->n_corners - 1].x;
			CHECK_KNOT(holds(d, i, 0) && holds(d, i, 1), &x, i);
			k->lo_ns++;
			CHECK_KNOT(beyond || !holds(d, i, 0), &x, i);
			k->lo_ns--;
			k->hi_ns--;
			CHECK_KNOT(beyond || !holds(d, i, 1), &x, i);
			k->hi_ns++;
		}
	}
}

/* The most that links beside knot i cut off of a bound as they were, rounded up. */
static int64_t cut_off(const struct drawing *x, size_t i, int side)
{
	int64_t most = 0;
	for (size_t l = i - (i > 0); l <= i && l + 1 < x->d.n_knots; l++) {
		const struct usk_xy a = knot_at(&x->was[l], side),
				    b = knot_at(&x->was[l + 1], side);
		for (size_t m = 0; m < x->d.n_corners; m++) {
			const struct usk_bound_at *c = &x->corner[m];
			if (a.y != USK_NONE && b.y != USK_NONE && is_over(x->was, l, c)) {
				int64_t by = inside(a, b, c->x, c->bound[side], side),
					run = b.x - a.x;
				most = by > most * run ? (by + run - 1) / run : most;
			}
		}
	}
	return most;
}

/* One bound alone, and those of lines: at both ends of each link as much further out as the most that the link cut
 * off, and at knots themselves what corners say, but for lines. */
static void test_outwards(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct drawing x;
		const bool straight = seed % 3 == 2;
		draw(&x, seed, seed % 3 != 1, seed % 3 != 0, straight);
		const size_t none = seed % 6 ? MOST : seed / 6 % x.d.n_knots; /* out of range */
		x.knot[none].lo_ns = x.was[none].lo_ns = none < MOST ? USK_NONE : 0;
		usk_hold_bounds(&x.d);
		for (size_t i = 0; i < x.d.n_knots; i++) {
			struct usk_knot want = x.was[i];
			want.offset_ns = x.knot[i].offset_ns;
			for (int side = 0; side < 2; side++) {
				int64_t *y = side ? &want.hi_ns : &want.lo_ns;
				if (*y != USK_NONE) {
					*y += side ? cut_off(&x, i, 1) : -cut_off(&x, i, 0);
				}
				if (straight && side == (want.offset_ns > *y)) {
					*y = want.offset_ns;
				}
				while (!straight && *y != USK_NONE && is_peak(&x.d, &want, side)) {
					*y += side ? 1 : -1;
				}
				CHECK_KNOT(bound(&x.knot[i], side) == *y, &x, i);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_both),
					    cmocka_unit_test(test_outwards) };
	return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
