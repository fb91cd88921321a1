/* SPDX-License-Identifier: MIT */
/*
 * test_jumps.c - clocks that are stepped, in tables whose truth is known: every step is found, when
 * it was, how large, and none besides
 */
#include "../part.h"
#include "tables.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 };

/* A step of b's clock at a true time; the clock is stepped forward by so much. */
struct step {
	int64_t at, by;
};

/* b's clock against a's, which is true time. */
struct scene {
	int64_t offset, drift_ppb;
	struct step step[MOST];
	size_t n;
	bool on_a; /* a is stepped instead, and b is true */
};

static int64_t stepped(const struct scene *s, int64_t t)
{
	int64_t sum = 0;
	for (size_t i = 0; i < s->n; i++) {
		sum += t >= s->step[i].at ? s->step[i].by : 0;
	}
	return sum;
}

static int64_t read_b(const struct scene *s, int64_t t)
{
	return t + s->offset + (int64_t)((usk_i128)(t - START) * s->drift_ppb / 1000000000) +
	       (s->on_a ? 0 : stepped(s, t));
}

static int64_t read_a(const struct scene *s, int64_t t)
{
	return t + (s->on_a ? stepped(s, t) : 0);
}

/* rate messages a second and direction, LAN delays: 39 us and Exp(20 us). */
static void traffic(struct bytes *b, const struct scene *s, struct usk_rng *r, int64_t seconds,
		    int64_t rate)
{
	int64_t gap = SECOND / rate;
	for (int64_t i = 0; i < seconds * rate; i++) {
		for (int back = 0; back < 2; back++) {
			int64_t t = START + i * gap + (int64_t)usk_rng_below(r, (uint64_t)gap);
			int64_t arrives = t + 39000 + (int64_t)usk_rng_exponential(r, 20000);
			row(b, back ? "b" : "a", back ? "a" : "b",
			    back ? read_b(s, t) : read_a(s, t),
			    back ? read_a(s, arrives) : read_b(s, arrives));
		}
	}
}

/* The true offset of b's clock at a true time. */
static int64_t offset_of(const struct scene *s, int64_t t)
{
	return read_a(s, t) - read_b(s, t);
}

static void show(const struct scene *s, const struct usk_clocks *c, const struct usk_clock *k)
{
	for (size_t i = 0; i < s->n; i++) {
		print_message("  true: %s at %.6f by %.6f ms\n", s->on_a ? "a" : "b",
			      (double)(read_b(s, s->step[i].at) - START) * 1e-9,
			      (double)s->step[i].by * 1e-6);
	}
	print_message("%s, %zu knots\n", usk_quality_name(k->quality), k->n_knots);
	for (size_t i = 0; i < k->n_jumps; i++) {
		const struct usk_jump *j = &k->jump[i];
		print_message("  %s of %s after %.6f before %.6f size %.6f .. %.6f ms\n",
			      j->kind == USK_JUMP ? "jump" : "bend", c->clock[j->of].name,
			      (double)(j->after_local_ns - START) * 1e-9,
			      (double)(j->before_local_ns - START) * 1e-9,
			      (double)j->size_lo_ns * 1e-6, (double)j->size_hi_ns * 1e-6);
	}
	for (size_t i = 0; i < c->n_notes; i++) {
		print_message("  note: %s\n", c->note[i]);
	}
}

#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			show(s, c, k);                                                             \
			fail_msg("seed %llu, %s: %s", (unsigned long long)seed, model, #cond);     \
		}                                                                                  \
	} while (0)

/* Every step is found, its moment, its size; none besides; the band holds the truth. */
static void check(const struct scene *s, uint64_t seed, int64_t seconds, const char *model,
		  const struct usk_clocks *c, const struct usk_clock *k)
{
	size_t jumps = 0;
	MUST(k->quality == USK_BOUNDED);
	MUST(c->evaluation.corrected_inversions == 0);
	for (size_t i = 0; i < k->n_jumps; i++) {
		jumps += k->jump[i].kind == USK_JUMP;
	}
	MUST(jumps == s->n);
	for (size_t i = 0, j = 0; i < s->n; i++, j++) {
		const struct step *x = &s->step[i];
		int64_t rise = s->on_a ? x->by : -x->by;
		while (k->jump[j].kind != USK_JUMP) {
			j++;
		}
		const struct usk_jump *y = &k->jump[j];
		MUST(read_b(s, x->at - 1) >= y->after_local_ns - 1);
		MUST(read_b(s, x->at) <= y->before_local_ns + 1);
		MUST(y->size_lo_ns <= rise && rise <= y->size_hi_ns);
		MUST(y->size_hi_ns - y->size_lo_ns < 2 * MS);
	}
	struct usk_map *map = usk_map_new(k, c->max_skew_e12);
	for (int64_t i = -100; i <= 1100; i++) {
		int64_t t = START + seconds * SECOND / 1000 * i, x = read_b(s, t);
		struct usk_stamp at;
		assert_int_equal(usk_map_at(map, x, &at, NULL), USK_OK);
		MUST(at.lo_ns - 1 <= x + offset_of(s, t) && x + offset_of(s, t) <= at.hi_ns + 1);
		bool inside = i >= 0 && i <= 1000;
		for (size_t j = 0; j < k->n_jumps; j++) {
			/* Where the offset fell by little, a little longer: cross.c. */
			inside = inside && (x <= k->jump[j].after_local_ns - 100 * MS ||
					    x >= k->jump[j].before_local_ns + 100 * MS);
		}
		MUST(!inside || at.hi_ns - at.lo_ns < MS / 4);
	}
	for (size_t i = 1; i < k->n_knots; i++) {
		const struct usk_knot *a = &k->knot[i - 1], *b = &k->knot[i];
		MUST(a->local_ns + a->offset_ns <= b->local_ns + b->offset_ns);
	}
	usk_map_free(map);
}

static void try(const struct scene *s, uint64_t seed, int64_t seconds, int64_t rate,
		const char *model)
{
	struct bytes b = { 0 };
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	put_text(&b, HEAD);
	traffic(&b, s, &r, seconds, rate);
	struct usk_sync_options o = defaults;
	o.model = model;
	o.reference = "a";
	struct usk_clocks *c = sync_table(&b, &o);
	check(s, seed, seconds, model, c, clock_named(c, "b"));
	usk_clocks_free(c);
	bytes_free(&b);
}

static const char *const models[] = { "segments=auto" };

static void one_step_in_the_middle(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(8); seed < case_end(8); seed++) {
		struct scene s = { .offset = 3 * MS, .drift_ppb = 20000, .n = 1 };
		s.on_a = seed / 2 % 2;
		s.step[0] = (struct step){ START + 100 * SECOND + 12345678, seed % 2 ? -MS : MS };
		try(&s, seed, 200, 50, models[seed % COUNT(models)]);
	}
}

/* Ten of 200 us to 1 s, at 50 messages a second and direction. Those of b that its stamps would
 * show in their order are forward. */
static void ten_steps(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(4); seed < case_end(4); seed++) {
		struct scene s = { .offset = -7 * SECOND, .drift_ppb = -35000, .n = 10 };
		struct usk_rng r;
		usk_rng_seed(&r, seed + 100);
		s.on_a = seed % 2;
		for (size_t i = 0; i < s.n; i++) {
			int64_t by = (int64_t)(200000 * pow(5000, usk_rng_unit(&r)));
			s.step[i].at = START + (int64_t)(i + 1) * 20 * SECOND +
				       (int64_t)usk_rng_below(&r, 10 * (uint64_t)SECOND);
			s.step[i].by = by < 5 * MS && usk_rng_below(&r, 2) ? -by : by;
		}
		try(&s, seed, 240, 50, models[seed % COUNT(models)]);
	}
}

/* ---- set back in a table -------------------------------------------------------------------- */

struct sending {
	int64_t left, arrived;
	bool back;
};

static int by_left(const void *pa, const void *pb)
{
	const struct sending *a = pa, *b = pb;
	return (a->left > b->left) - (a->left < b->left);
}

static int by_arrived(const void *pa, const void *pb)
{
	const struct sending *a = pa, *b = pb;
	return (a->arrived > b->arrived) - (a->arrived < b->arrived);
}

enum { SENDINGS = 2000 };

/* Rows as they are written when messages leave, or arrive; whole directions one after the other. */
static void write_rows(struct bytes *b, const struct scene *s, struct usk_rng *r, int order)
{
	static struct sending m[SENDINGS];
	for (int64_t i = 0; i < SENDINGS; i++) {
		m[i].back = i % 2;
		m[i].left = START + i * 10 * MS + (int64_t)usk_rng_below(r, 20 * MS);
		m[i].arrived = m[i].left + MS + (int64_t)usk_rng_exponential(r, 5e6);
	}
	qsort(m, SENDINGS, sizeof *m, order == 1 ? by_arrived : by_left);
	put_text(b, HEAD);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < SENDINGS; i++) {
			const struct sending *x = &m[i];
			if (order == 2 ? x->back != (pass == 1) : pass) {
				continue;
			}
			row(b, x->back ? "b" : "a", x->back ? "a" : "b",
			    x->back ? read_b(s, x->left) : read_a(s, x->left),
			    x->back ? read_a(s, x->arrived) : read_b(s, x->arrived));
		}
	}
}

/* By 0.2 to 2 s, and by 0: the order of rows tells, whichever it is. Where one direction follows
 * the other it tells nothing, and no epoch is made up. */
static void put_back_in_a_table(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(24); seed < case_end(24); seed++) {
		static const int64_t by[] = { 0, 200 * MS, 600 * MS, 2 * SECOND };
		const char *model = "segments=auto";
		struct scene scene = { .offset = 3 * MS, .drift_ppb = 20000 }, *s = &scene;
		struct bytes b = { 0 };
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		s->n = by[seed % 4] > 0;
		s->step[0] = (struct step){ START + 11 * SECOND, -by[seed % 4] };
		write_rows(&b, s, &r, (int)(seed / 4 % 3));
		struct usk_sync_options o = defaults;
		o.model = model;
		o.reference = "a";
		struct usk_clocks *c = sync_table(&b, &o);
		const struct usk_clock *k = clock_named(c, "b");
		bool told = seed / 4 % 3 != 2;
		MUST(!k->n_knots || k->knot[k->n_knots - 1].epoch == (told ? s->n : 0));
		MUST((k->quality == USK_BOUNDED && !c->counts.outliers) || (!told && s->n));
		MUST(k->n_jumps == s->n || !told);
		MUST(!c->evaluation.corrected_inversions || !told);
		for (size_t i = 0; i < k->n_jumps && told; i++) {
			const struct usk_jump *j = &k->jump[i];
			MUST(j->before_local_ns < j->after_local_ns);
			MUST(j->size_lo_ns <= by[seed % 4] && by[seed % 4] <= j->size_hi_ns);
		}
		usk_clocks_free(c);
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_back_in_a_table),
		cmocka_unit_test(one_step_in_the_middle),
		cmocka_unit_test(ten_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
