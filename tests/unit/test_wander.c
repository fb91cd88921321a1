/* SPDX-License-Identifier: MIT */
/*
 * The model `wander` against its formulas, written out in rationals over all pairs of points, and
 * against clocks whose rate is known.
 */
#include "cases.h"
#include "fit/wander.h"
#include "rational.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define E12 INT64_C(1000000000000)

/* ---- points as the model gets them --------------------------------------------------- */

struct points {
	uint64_t seed;
	struct usk_frame frame;
	struct usk_point *p; /* absolute, as recorded */
	bool *ceiling;
	size_t n;
	int64_t q[2]; /* of floors, of ceilings */
	int64_t limit_e12;
};

static void points_of(const struct fit_case *c, struct points *out)
{
	*out = (struct points){ c->seed,
				c->frame,
				usk_alloc(c->pts.n, sizeof *out->p),
				usk_alloc(c->pts.n, 1),
				c->pts.n,
				{ c->q_b, c->q_a },
				c->max_skew_e12 };
	memcpy(out->p, c->pts.p, c->pts.n * sizeof *out->p);
	memcpy(out->ceiling, c->pts.ceiling, c->pts.n);
}

static void points_free(struct points *p)
{
	free(p->p);
	free(p->ceiling);
}

/* All of them, none left to a corridor. */
static void part_of(const struct points *p, struct usk_part *out)
{
	out->frame = p->frame;
	for (int side = 0; side < 2; side++) {
		struct usk_xy *xy = out->point[side] = usk_alloc(p->n + 1, sizeof *xy);
		size_t n = 0, m = 0;
		for (size_t i = 0; i < p->n; i++) {
			if (p->ceiling[i] == (side == 1)) {
				int64_t y =
					(int64_t)((usk_i128)p->p[i].offset_ns - p->frame.offset_ns);
				xy[n++] = (struct usk_xy){ p->p[i].local_ns - p->frame.local_ns,
							   (side ? -y : y) - p->q[side] };
			}
		}
		usk_xy_sort(xy, n);
		for (size_t i = 0; i < n; i++) {
			if (!m || xy[m - 1].x != xy[i].x) {
				xy[m++] = xy[i];
			}
		}
		out->n[side] = m;
		out->q_ns[side] = p->q[side];
	}
}

/* ---- the formulas ---------------------------------------------------------------------- */

static Q value(const struct points *p, size_t i)
{
	return q_int((usk_i128)p->p[i].offset_ns + (p->ceiling[i] ? p->q[1] : -p->q[0]));
}

static Q pick(Q a, Q b, bool larger)
{
	return !a ? b : !b ? a : (q_cmp(a, b) < 0) == larger ? b : a;
}

struct formula {
	Q s_lo, s_hi; /* NULL: none */
	bool crossed;
	Q slow, fast;	       /* slopes that the band spreads with */
	Q least, most, wander; /* mean rates */
	bool cut;	       /* one of them by the skew limit */
};

/* s_lo and s_hi over all pairs. */
static struct formula formula_of(const struct points *p)
{
	struct formula f = { .s_lo = NULL };
	for (size_t m = 0; m < p->n; m++) {
		for (size_t k = 0; k < p->n; k++) {
			if (p->ceiling[m] || !p->ceiling[k]) {
				continue;
			}
			Q rise = q_sub(value(p, m), value(p, k));
			usk_i128 dt = (usk_i128)p->p[m].local_ns - p->p[k].local_ns;
			if (!dt) {
				f.crossed |= q_cmp(rise, q_int(0)) > 0;
			} else if (dt > 0) {
				f.s_lo = pick(f.s_lo, q_div(rise, q_int(dt)), true);
			} else {
				f.s_hi = pick(f.s_hi, q_div(rise, q_int(dt)), false);
			}
		}
	}
	return f;
}

static Q whole(Q v, bool up)
{
	mpz_t z;
	mpq_t out;
	mpz_init(z);
	mpq_init(out);
	(up ? mpz_cdiv_q : mpz_fdiv_q)(z, mpq_numref(v), mpq_denref(v));
	mpq_set_z(out, z);
	Q q = q_of(out);
	mpz_clear(z);
	mpq_clear(out);
	return q;
}

static Q e12(Q v)
{
	return q_mul(v, q_int(E12));
}

static Q within(Q v, int64_t limit, bool *cut)
{
	Q l = q_int(limit), in = pick(pick(v, q_sub(q_int(0), l), true), l, false);
	*cut |= q_cmp(in, v) != 0;
	return q_div(in, q_int(E12));
}

/* Slopes and rates in whole e12, outwards. */
static void slopes(const struct points *p, struct formula *f, int64_t wander)
{
	int64_t limit = p->limit_e12;
	Q w = q_int(wander), lo = q_int(-2 * (usk_i128)limit - 2 * (usk_i128)wander),
	  hi = q_sub(q_int(0), lo);
	lo = f->s_lo ? whole(e12(f->s_lo), false) : lo;
	hi = f->s_hi ? whole(e12(f->s_hi), true) : hi;
	f->cut = false;
	f->slow = within(q_sub(q_sub(lo, w), w), limit, &f->cut);
	f->fast = within(q_add(q_add(hi, w), w), limit, &f->cut);
	f->least = within(q_sub(lo, w), limit, &f->cut);
	f->most = within(q_add(hi, w), limit, &f->cut);
	f->wander = q_div(w, q_int(E12));
}

/* The band at x, word for word; NULL: none. */
static void band_at(const struct points *p, const struct formula *f, int64_t x, Q *lo, Q *hi)
{
	*lo = *hi = NULL;
	for (size_t i = 0; i < p->n; i++) {
		usk_i128 dt = (usk_i128)x - p->p[i].local_ns;
		bool outer = (dt >= 0) == p->ceiling[i];
		Q y = q_add(value(p, i), q_mul(outer ? f->fast : f->slow, q_int(dt)));
		*(p->ceiling[i] ? hi : lo) = pick(p->ceiling[i] ? *hi : *lo, y, !p->ceiling[i]);
	}
}

/* What point i says of x at a rate. */
static Q says(const struct points *p, const struct formula *f, size_t i, int64_t x, Q rate)
{
	usk_i128 dt = (usk_i128)x - p->p[i].local_ns;
	bool outer = (dt >= 0) == p->ceiling[i];
	Q slope = outer ? q_add(rate, f->wander) : q_sub(rate, f->wander);
	return q_add(value(p, i), q_mul(slope, q_int(dt)));
}

/* A bound at x, the weakest over all rates: each two points at the rate that suits them worst,
 * which by Helly's theorem (in one dimension) is the worst for all. */
static Q exact_at(const struct points *p, const struct formula *f, bool side, int64_t x)
{
	Q best = NULL;
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->n; k++) {
			usk_i128 di = (usk_i128)x - p->p[i].local_ns,
				 dk = (usk_i128)x - p->p[k].local_ns;
			if (p->ceiling[i] != side || p->ceiling[k] != side ||
			    (i != k && (di < 0 || dk >= 0))) {
				continue;
			}
			Q rate = (di >= 0) != side ? f->least : f->most;
			if (i != k) {
				/* where both say the same */
				Q zero = q_int(0);
				Q a = says(p, f, i, x, zero), b = says(p, f, k, x, zero);
				rate = q_div(q_sub(b, a), q_int(di - dk));
				rate = pick(pick(rate, f->least, true), f->most, false);
			}
			Q y = says(p, f, i, x, rate);
			y = i != k ? pick(y, says(p, f, k, x, rate), !side) : y;
			best = pick(best, y, !side);
		}
	}
	return best;
}

/* ---- needed ------------------------------------------------------------------------------ */

static bool same(struct usk_slope s, Q q)
{
	return !q_cmp(q_div(q_int(s.num), q_int(s.den)), q);
}

static void check_need(const struct points *p, const struct usk_need *n, const struct formula *f)
{
	CHECK(n->crossed == f->crossed, p);
	CHECK(n->has_lo == (f->s_lo != NULL) && n->has_hi == (f->s_hi != NULL), p);
	if (f->crossed) {
		CHECK(usk_need_wander(n) == USK_NO_WANDER, p);
		return;
	}
	CHECK(!f->s_lo || same(n->s_lo, f->s_lo), p);
	CHECK(!f->s_hi || same(n->s_hi, f->s_hi), p);
	Q need = q_int(0);
	if (f->s_lo && f->s_hi) {
		need = pick(need, q_div(q_sub(f->s_lo, f->s_hi), q_int(2)), true);
	}
	need = whole(e12(need), true);
	int64_t got = usk_need_wander(n);
	CHECK(got == USK_NO_WANDER - 1 ? q_cmp(need, q_int(got)) >= 0 : !q_cmp(need, q_int(got)),
	      p);
	Q limit = q_div(q_int(p->limit_e12), q_int(E12));
	bool beyond = (f->s_lo && q_cmp(f->s_lo, limit) > 0) ||
		      (f->s_hi && q_cmp(f->s_hi, q_sub(q_int(0), limit)) < 0);
	CHECK(usk_need_within(n, p->limit_e12) == (beyond ? USK_NO_WANDER : got), p);
}

/* From the other end: what is needed is the same, s_lo and s_hi change places. */
static void check_backwards(const struct points *p, const struct usk_part *part,
			    const struct usk_need *n)
{
	struct usk_needing g = { .n = { 0 } };
	size_t i = part->n[0], j = part->n[1];
	usk_needing_push(&g, true, (struct usk_xy){ -USK_TIME_MAX, 0 });
	usk_needing_clear(&g);
	while (i || j) {
		bool ceiling = !i || (j && part->point[1][j - 1].x > part->point[0][i - 1].x);
		struct usk_xy q = ceiling ? part->point[1][--j] : part->point[0][--i];
		usk_needing_push(&g, ceiling, (struct usk_xy){ -q.x, q.y });
	}
	CHECK(g.need.crossed == n->crossed, p);
	CHECK(g.need.has_lo == n->has_hi && g.need.has_hi == n->has_lo, p);
	CHECK(usk_need_wander(&g.need) == usk_need_wander(n), p);
	if (!n->crossed) {
		CHECK(!n->has_hi || !usk_slope_cmp(g.need.s_lo, usk_slope_neg(n->s_hi)), p);
		CHECK(!n->has_lo || !usk_slope_cmp(g.need.s_hi, usk_slope_neg(n->s_lo)), p);
	}
	usk_needing_free(&g);
}

static void test_needed_is_the_formula(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(2000); seed++) {
		struct fit_case c;
		struct points p;
		struct usk_part part;
		struct usk_need need;
		fit_case_make(&c, seed);
		points_of(&c, &p);
		part_of(&p, &part);
		usk_need_of(&part, &need);
		struct formula f = formula_of(&p);
		check_need(&p, &need, &f);
		check_backwards(&p, &part, &need);
		q_done();
		usk_part_free(&part);
		points_free(&p);
	}
}

/* ---- the band ------------------------------------------------------------------------------ */

/* A wander that is enough, or USK_NO_WANDER. */
static int64_t enough(const struct points *p, const struct usk_need *need, struct usk_rng *r)
{
	int64_t w = usk_need_within(need, p->limit_e12);
	static const int64_t more[] = { 0, 1, 100000, 1000000, 500000000 };
	return w == USK_NO_WANDER ? w : w + more[usk_rng_below(r, COUNT(more))];
}

/* At least as narrow as the formula, and no narrower than the weakest of all rates. */
static void check_band(const struct points *p, const struct formula *f, const struct usk_band *b,
		       int64_t x)
{
	usk_i128 rel = (usk_i128)x - p->frame.local_ns, y;
	Q bound[2];
	band_at(p, f, x, &bound[0], &bound[1]);
	for (int side = 0; side < 2; side++) {
		bool any = side ? usk_band_hi(b, rel, &y) : usk_band_lo(b, rel, &y);
		CHECK(any == (bound[side] != NULL), p);
		if (any) {
			Q got = q_int(y + p->frame.offset_ns), exact = exact_at(p, f, side, x);
			int wider = q_cmp(whole(bound[side], side), got);
			CHECK(side ? wider >= 0 : wider <= 0, p);
			int narrower = q_cmp(got, exact);
			CHECK(f->cut || (side ? narrower >= 0 : narrower <= 0), p);
		}
	}
	CHECK(!bound[0] || !bound[1] || q_cmp(bound[0], bound[1]) <= 0, p);
}

/* The weakest of all rates, but for what whole e12 cost. */
static void check_exactly(const struct points *p, const struct formula *f,
			  const struct usk_part *part, struct usk_band *b, struct usk_rng *r)
{
	for (int side = 0; side < 2; side++) {
		struct usk_exactly e = { .n = { 0 } };
		int64_t x = INT64_MIN;
		for (int k = 0; k < 6 && b->n[side]; k++) {
			const struct usk_xy *q = part->point[side];
			size_t i = usk_rng_below(r, part->n[side]),
			       j = usk_rng_below(r, part->n[side]);
			int64_t t = q[i].x + (q[j].x - q[i].x) / 2;
			if (t < x) {
				continue;
			}
			x = t;
			usk_i128 y = usk_exactly_at(&e, b, side, x);
			Q exact = exact_at(p, f, side, (int64_t)(x + (usk_i128)p->frame.local_ns));
			Q got = q_int((side ? -y : y) + p->frame.offset_ns);
			Q off = side ? q_sub(got, exact) : q_sub(exact, got);
			CHECK(f->cut || q_cmp(off, q_int(0)) >= 0, p);
			/* 1 for rounding, and 1e-12 of the longest way to a point */
			usk_i128 way = (usk_i128)q[part->n[side] - 1].x - q[0].x;
			CHECK(f->cut || q_cmp(off, q_int(1 + way / E12 + 1)) <= 0, p);
		}
		usk_exactly_free(&e);
	}
}

static void test_band_is_the_formula(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(1200); seed++) {
		struct usk_rng r;
		struct fit_case c;
		struct points p;
		struct usk_part part;
		struct usk_need need;
		struct usk_band b;
		usk_rng_seed(&r, seed);
		fit_case_make(&c, seed);
		points_of(&c, &p);
		part_of(&p, &part);
		usk_need_of(&part, &need);
		struct formula f = formula_of(&p);
		int64_t wander = enough(&p, &need, &r);
		if (wander != USK_NO_WANDER) {
			usk_band_of(&part, &need, wander, p.limit_e12, &b);
			slopes(&p, &f, wander);
			for (int k = 0; k < 4; k++) {
				check_band(&p, &f, &b, fit_case_time(&c, &r));
			}
			check_exactly(&p, &f, &part, &b, &r);
			usk_band_free(&b);
		}
		q_done();
		usk_part_free(&part);
		points_free(&p);
	}
}

/* ---- knots ----------------------------------------------------------------------------------- */

static usk_i128 chord(usk_i128 x0, usk_i128 y0, usk_i128 x1, usk_i128 y1, usk_i128 x)
{
	return y0 + usk_floor_div((y1 - y0) * (x - x0), x1 - x0);
}

static const struct usk_knot *span_of(const struct usk_knot *k, size_t n, int64_t x)
{
	size_t i = 0, to = n - 1;
	while (to - i > 1) {
		size_t mid = i + (to - i) / 2;
		if (k[mid].local_ns < x) {
			i = mid;
		} else {
			to = mid;
		}
	}
	return &k[i];
}

/* What everyone computes who applies the knots. */
static usk_i128 applied(const struct usk_knot *k, size_t n, int64_t x)
{
	const struct usk_knot *a = span_of(k, n, x);
	return chord(a->local_ns, a->offset_ns, a[1].local_ns, a[1].offset_ns, x);
}

/* The chords hold the band at x. */
static void check_held(const struct points *p, const struct usk_band *b, const struct usk_knot *k,
		       size_t n, int64_t x)
{
	usk_i128 rel = (usk_i128)x - p->frame.local_ns, y;
	const struct usk_knot *a = span_of(k, n, x);
	if (x < k[0].local_ns || x > k[n - 1].local_ns) {
		return;
	}
	/* where offsets end there is no room for what a chord cuts off */
	if (usk_band_lo(b, rel, &y) && a->lo_ns > -USK_TIME_MAX && a[1].lo_ns > -USK_TIME_MAX) {
		CHECK(chord(a->local_ns, a->lo_ns, a[1].local_ns, a[1].lo_ns, x) <=
			      usk_cut(y + p->frame.offset_ns),
		      p);
	}
	if (usk_band_hi(b, rel, &y) && a->hi_ns < USK_TIME_MAX && a[1].hi_ns < USK_TIME_MAX) {
		CHECK(-chord(a->local_ns, -(usk_i128)a->hi_ns, a[1].local_ns, -(usk_i128)a[1].hi_ns,
			     x) >= usk_cut(y + p->frame.offset_ns),
		      p);
	}
}

static void check_knots(const struct points *p, const struct usk_band *b, const struct usk_knot *k,
			size_t n)
{
	CHECK(n >= 2, p);
	for (size_t i = 0; i < n; i++) {
		CHECK((k[i].lo_ns != USK_NONE) == (b->n[0] > 0), p);
		CHECK((k[i].hi_ns != USK_NONE) == (b->n[1] > 0), p);
		CHECK(!k[i].epoch, p);
		if (b->n[0] && b->n[1]) {
			CHECK(k[i].lo_ns <= k[i].offset_ns && k[i].offset_ns <= k[i].hi_ns, p);
			CHECK(!i || (usk_i128)k[i].local_ns + k[i].offset_ns >=
					      (usk_i128)k[i - 1].local_ns + k[i - 1].offset_ns,
			      p);
		} else {
			CHECK(k[i].offset_ns == USK_NONE, p);
		}
		CHECK(!i || k[i].local_ns > k[i - 1].local_ns, p);
	}
}

/* No message is turned round; off: by how much each keeps its order as recorded, at least. */
static void check_order(const struct points *p, const struct usk_knot *k, size_t n, int64_t off)
{
	for (size_t i = 0; i < p->n; i++) {
		usk_i128 y = applied(k, n, p->p[i].local_ns) - p->p[i].offset_ns;
		CHECK((p->ceiling[i] ? -y : y) >= (off == USK_NONE ? -p->q[p->ceiling[i]] : off),
		      p);
	}
}

static void test_knots_of_anything(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(2000); seed++) {
		struct usk_rng r;
		struct fit_case c;
		struct points p;
		struct usk_part part;
		struct usk_need need;
		struct usk_band b;
		usk_rng_seed(&r, seed);
		fit_case_make(&c, seed);
		points_of(&c, &p);
		part_of(&p, &part);
		usk_need_of(&part, &need);
		int64_t wander = enough(&p, &need, &r);
		if (wander != USK_NO_WANDER) {
			int64_t first = INT64_MAX, last = INT64_MIN;
			for (size_t i = 0; i < p.n; i++) {
				int64_t t = p.p[i].local_ns;
				first = t < first ? t : first;
				last = t > last ? t : last;
			}
			first -= (int64_t)usk_rng_below(&r, 3) * 10;
			last += 1 + (int64_t)usk_rng_below(&r, 100);
			struct usk_knot line[2] = {
				{ .local_ns = first, .offset_ns = p.p[0].offset_ns },
				{ .local_ns = last, .offset_ns = p.p[p.n - 1].offset_ns }
			};
			bool drawn = usk_rng_below(&r, 3) == 0;
			usk_band_of(&part, &need, wander, p.limit_e12, &b);
			size_t n;
			struct usk_knot *k = usk_band_knots(&b, (usk_i128)first - p.frame.local_ns,
							    (usk_i128)last - p.frame.local_ns,
							    drawn ? line : NULL, 2, &n);
			check_knots(&p, &b, k, n);
			for (int i = 0; i < 20; i++) {
				check_held(&p, &b, k, n, fit_case_time(&c, &r));
			}
			if (b.n[0] && b.n[1]) {
				check_order(&p, k, n, USK_NONE);
			}
			free(k);
			usk_band_free(&b);
		}
		usk_part_free(&part);
		points_free(&p);
	}
}

/* ---- clocks whose rate is known ------------------------------------------------------------- */

enum { STEPS = 64 };

/* An offset whose slope changes at times apart by every_ns, within mean +- wander. */
struct truth {
	int64_t start, every_ns, mean_e12, wander_e12;
	int64_t rate_e12[STEPS];
	usk_i128 at_e12[STEPS + 1]; /* the offset where each step begins */
};

static void truth_make(struct truth *t, struct usk_rng *r, int64_t start, int64_t span)
{
	static const int64_t wander[] = { 0, 10000, 100000, 1000000, 100000000 };
	t->start = start;
	t->every_ns = span / STEPS + 1;
	t->mean_e12 = (int64_t)usk_rng_below(r, 600000001) - 300000000;
	t->wander_e12 = wander[usk_rng_below(r, COUNT(wander))];
	t->at_e12[0] = ((usk_i128)usk_rng_below(r, 2000000000) - 1000000000) * E12;
	int64_t rate = 0;
	for (int i = 0; i < STEPS; i++) {
		int64_t w = t->wander_e12;
		switch (usk_rng_below(r, 4)) { /* now and then from one end to the other */
		case 0:
			rate = usk_rng_below(r, 2) ? w : -w;
			break;
		case 1:
			rate = (int64_t)usk_rng_below(r, 2 * (uint64_t)w + 1) - w;
			break;
		default:
			break;
		}
		t->rate_e12[i] = t->mean_e12 + rate;
		t->at_e12[i + 1] = t->at_e12[i] + (usk_i128)t->rate_e12[i] * t->every_ns;
	}
}

static usk_i128 truth_e12(const struct truth *t, int64_t x)
{
	int64_t i = (x - t->start) / t->every_ns;
	i = i < 0 ? 0 : i < STEPS ? i : STEPS - 1;
	return t->at_e12[i] + (usk_i128)t->rate_e12[i] * (x - t->start - i * t->every_ns);
}

static int64_t down_to(int64_t x, int64_t q)
{
	return q ? (int64_t)(usk_floor_div(x, q) * q) : x;
}

struct scene {
	struct points p;
	struct truth truth;
	int64_t first, last; /* of the local clock */
};

/* Messages of a truth, stamped at the local time t and rounded down to the resolutions. */
static void scene_make(struct scene *s, uint64_t seed)
{
	struct usk_rng r;
	usk_rng_seed(&r, seed);
	static const int64_t spans[] = { 1000, 1000000, 1000000000, 60000000000, 36000000000000 };
	static const int64_t q[] = { 0, 0, 0, 100, 1000, 10000000 };
	static const double tails[] = { 0.5, 50, 20000, 1e6 };
	int64_t span = spans[usk_rng_below(&r, COUNT(spans))];
	struct points *p = &s->p;
	*p = (struct points){ .seed = seed, .n = 2 + usk_rng_below(&r, 400) };
	p->p = usk_alloc(p->n, sizeof *p->p);
	p->ceiling = usk_alloc(p->n, 1);
	p->limit_e12 = 500000000;
	p->q[0] = q[usk_rng_below(&r, COUNT(q))];
	p->q[1] = q[usk_rng_below(&r, COUNT(q))];
	s->first = (int64_t)usk_rng_below(&r, 2) * 1700000000000000000;
	s->last = s->first + span;
	truth_make(&s->truth, &r, s->first, span);
	int64_t dmin = (int64_t)usk_rng_below(&r, 2) * 39000;
	double tail = tails[usk_rng_below(&r, COUNT(tails))];
	for (size_t i = 0; i < p->n; i++) {
		int64_t t = s->first + (int64_t)usk_rng_below(&r, (uint64_t)span + 1);
		bool up = p->ceiling[i] = usk_rng_below(&r, 2);
		usk_i128 a_e12 = truth_e12(&s->truth, t) + (usk_i128)t * E12;
		int64_t delay = dmin + (int64_t)usk_rng_exponential(&r, tail);
		int64_t a = (int64_t)usk_floor_div(a_e12 + (up ? E12 - 1 : 0), E12);
		a = down_to(a + (up ? delay : -delay), p->q[1]);
		int64_t local = down_to(t, p->q[0]);
		p->p[i] = (struct usk_point){ local, a - local };
		s->first = local < s->first ? local : s->first;
	}
	p->q[0] += p->q[0] / 2000; /* what the offset falls meanwhile */
	p->frame =
		(struct usk_frame){ s->p.p[0].local_ns, s->p.p[0].offset_ns,
				    s->truth.mean_e12 + (int64_t)usk_rng_below(&r, 200000) - 100000,
				    400000 };
}

/* What a corridor remembers of it, with a cone that is wide enough. */
static struct usk_corridor *remember(struct scene *s, struct usk_band *b, struct usk_need *need,
				     int64_t *wander)
{
	for (;;) {
		struct usk_corridor *c = usk_corridor_new(&s->p.frame);
		for (size_t i = 0; i < s->p.n; i++) {
			struct usk_msg m = fit_case_msg(s->p.p[i], s->p.ceiling[i]);
			CHECK(!usk_corridor_add(c, 0, 1, &m, 1, NULL), &s->p);
		}
		struct usk_part part;
		usk_part_of(c, s->p.q, &part);
		usk_need_of(&part, need);
		int64_t needed = usk_need_within(need, s->p.limit_e12);
		CHECK(needed != USK_NO_WANDER && needed <= s->truth.wander_e12 + 1, &s->p);
		*wander = s->truth.wander_e12 > needed ? s->truth.wander_e12 : needed;
		usk_band_of(&part, need, *wander, s->p.limit_e12, b);
		usk_part_free(&part);
		int64_t up = b->fast_e12 - b->frame.rate_e12,
			down = b->frame.rate_e12 - b->slow_e12;
		if (up <= s->p.frame.kappa_e12 && down <= s->p.frame.kappa_e12) {
			return c;
		}
		s->p.frame.kappa_e12 = up > down ? up : down;
		usk_band_free(b);
		usk_corridor_free(c);
	}
}

static void check_truth(const struct scene *s, const struct usk_knot *k, size_t n, int64_t x)
{
	const struct usk_knot *a = span_of(k, n, x);
	usk_i128 truth = truth_e12(&s->truth, x);
	CHECK(a->lo_ns == USK_NONE ||
		      chord(a->local_ns, a->lo_ns, a[1].local_ns, a[1].lo_ns, x) * E12 <= truth,
	      &s->p);
	/* a ceiling's receive stamp is rounded down by less than 1 ns, too */
	CHECK(a->hi_ns == USK_NONE ||
		      -chord(a->local_ns, -(usk_i128)a->hi_ns, a[1].local_ns, -(usk_i128)a[1].hi_ns,
			     x) * E12 >=
			      truth - E12,
	      &s->p);
}

static void test_truth_and_order(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= fit_cases(250); seed++) {
		struct scene s;
		struct usk_need need, all_need;
		struct usk_band b, all;
		struct usk_part part;
		int64_t wander;
		struct usk_rng r;
		usk_rng_seed(&r, seed);
		scene_make(&s, seed);
		struct usk_corridor *c = remember(&s, &b, &need, &wander);
		part_of(&s.p, &part);
		usk_need_of(&part, &all_need);
		usk_band_of(&part, &all_need, wander, s.p.limit_e12, &all);
		/* What the corridor let go says nothing. */
		CHECK(all.slow_e12 == b.slow_e12 && all.fast_e12 == b.fast_e12, &s.p);
		for (int side = 0; side < 2; side++) {
			CHECK(all.n[side] == b.n[side] && !memcmp(all.tip[side], b.tip[side],
								  b.n[side] * sizeof *b.tip[side]),
			      &s.p);
		}
		size_t n;
		struct usk_knot *k =
			usk_band_knots(&b, (usk_i128)s.first - s.p.frame.local_ns,
				       (usk_i128)s.last - s.p.frame.local_ns, NULL, 0, &n);
		check_knots(&s.p, &b, k, n);
		for (int i = 0; i < 50; i++) {
			int64_t x = s.first +
				    (int64_t)usk_rng_below(&r, (uint64_t)(s.last - s.first) + 1);
			check_truth(&s, k, n, x);
			check_held(&s.p, &b, k, n, x);
		}
		if (b.n[0] && b.n[1]) {
			bool room = s.p.q[0] + s.p.q[1] == 0;
			check_order(&s.p, k, n, room ? 0 : USK_NONE);
		}
		free(k);
		usk_band_free(&b);
		usk_band_free(&all);
		usk_part_free(&part);
		usk_corridor_free(c);
		points_free(&s.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needed_is_the_formula),
		cmocka_unit_test(test_band_is_the_formula),
		cmocka_unit_test(test_knots_of_anything),
		cmocka_unit_test(test_truth_and_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
