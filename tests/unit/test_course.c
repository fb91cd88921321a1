/* SPDX-License-Identifier: MIT */
/* test_course.c - what is asked of a pair's points in the order of time, point by point */
#include "courses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- questions ------------------------------------------------------------------------------ */

static void ask_points(struct course *k, const struct usk_course_point *p, size_t at, bool behind)
{
	const struct usk_course *w = &k->w;
	const size_t begin = behind ? at : 0, end = behind ? w->n : at;
	for (size_t from = begin; from < end; from++) {
		size_t want = w->n;
		for (size_t i = from; i >= begin && i < end && want == w->n;
		     i += behind ? 1 : (size_t)-1) {
			const bool found = is_fresh(w->p, w->n, i, behind) ||
					   against(k->c, p, &w->p[i], behind);
			want = found ? i : want;
		}
		CHECK(usk_course_nearest(w, k->outlook, k->c, p, from, behind) == want, k);
	}
	for (size_t first = begin; first <= end; first++) {
		for (int last = 0; last < 2; last++) {
			const struct usk_range r = { first, (size_t)among(&k->r, (int64_t)first,
									  (int64_t)end) };
			size_t want = w->n;
			for (size_t i = r.first; i < r.end; i++) {
				if (against(k->c, p, &w->p[i], behind)) {
					const int64_t a = a_stamp(w->part, &w->p[i]);
					const int64_t b =
						want < w->n ? a_stamp(w->part, &w->p[want]) : 0;
					want = want == w->n || (last ? a > b : a < b) ? i : want;
				}
			}
			CHECK(usk_course_outermost(k->stamps, k->outlook, k->c, p, r, behind,
						   last) == want,
			      k);
		}
	}
}

/* What a point contradicts, and what is left open at it, whether it is among them or not. */
static void test_points(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct course k;
		course_begin(&k, seed);
		const struct usk_course *w = &k.w;
		const struct usk_course_point p = course_point(&k, among(&k.r, 0, k.p[w->n - 1].x));
		size_t at = 0;
		while (at < w->n && w->p[at].x < p.x) {
			at++;
		}
		for (int behind = 0; behind < 2; behind++) {
			ask_points(&k, &p, at, behind);
			if (at > 0 && at < w->n) { /* on both sides there is one */
				CHECK(offsets_alike(usk_course_look(k.outlook, k.c, &p, at, behind),
						    course_look(k.c, w->p, w->n, &p, at, behind)),
				      &k);
			}
			for (size_t i = 0; i < w->n; i++) {
				const size_t next = behind ? i + 1 : i;
				const struct usk_offsets want =
					course_look(k.c, w->p, w->n, &w->p[i], next, behind);
				k.w.outlook = NULL;
				CHECK(offsets_alike(usk_course_left_open(w, k.c, i, behind), want),
				      &k);
				k.w.outlook = k.outlook;
				CHECK(offsets_alike(usk_course_left_open(w, k.c, i, behind), want),
				      &k);
			}
		}
		course_end(&k);
	}
}

/* Stamps of the other clock: the nearest of a kind in some of the points, the outermost of all of these. */
static void test_stamps(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct course k;
		course_begin(&k, seed);
		for (size_t first = 0; first < k.w.n; first++) {
			const size_t end = first + 1 + usk_rng_below(&k.r, k.w.n - first);
			const bool ceiling = usk_rng_below(&k.r, 2), next = usk_rng_below(&k.r, 2);
			const int64_t own = a_stamp(&k.part, &k.p[usk_rng_below(&k.r, k.w.n)]) +
					    among(&k.r, -1, 1);
			int64_t least = INT64_MAX, most = INT64_MIN, want = 7, got = 7, l, m;
			bool any = false;
			for (size_t i = first; i < end; i++) {
				const int64_t a = a_stamp(&k.part, &k.p[i]);
				least = a < least ? a : least;
				most = a > most ? a : most;
				if (k.p[i].ceiling == ceiling && (next ? a >= own : a <= own)) {
					want = !any || (next ? a < want : a > want) ? a : want;
					any = true;
				}
			}
			usk_course_stamps_between(k.stamps, first, end - 1, &l, &m);
			CHECK(l == least && m == most, &k);
			CHECK(usk_course_next_stamp(k.stamps, (struct usk_range){ first, end },
						    ceiling, next, own, &got) == any &&
				      got == want,
			      &k);
		}
		course_end(&k);
	}
}

/* By how much the offset rose over a span, but for what the clocks' rates explain: at least, at most, and by floors and
 * ceilings alone at the rate in the middle. */
static bool is_rise(const struct course *k, const struct usk_span *s, const struct usk_rise *got)
{
	const struct usk_course_point *p = k->p;
	const struct usk_offsets l = course_look(k->c, p, k->w.n, &p[s->from], s->from, false);
	const struct usk_offsets r = course_look(k->c, p, k->w.n, &p[s->to], s->to + 1, true);
	const usk_i128 d = (usk_i128)p[s->to].x - p[s->from].x;
	const usk_i128 least = usk_floor_div(r.lo - l.hi - d * k->c.fast_e12, USK_E12);
	const usk_i128 most = usk_ceil_div(r.hi - l.lo - d * k->c.slow_e12, USK_E12);
	const usk_i128 mean = d * (k->c.slow_e12 + k->c.fast_e12) / 2;
	const usk_i128 by[] = { usk_floor_div(r.lo - l.lo - mean, USK_E12),
				usk_floor_div(r.hi - l.hi - mean, USK_E12) };
	return got->least_ns == (r.has[0] && l.has[1] ? least : USK_NONE) &&
	       got->most_ns == (r.has[1] && l.has[0] ? most : USK_NONE) &&
	       got->likely_ns[0] == (r.has[0] && l.has[0] ? by[0] : USK_NONE) &&
	       got->likely_ns[1] == (r.has[1] && l.has[1] ? by[1] : USK_NONE);
}

static void test_brackets(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct course k;
		course_begin(&k, seed);
		for (size_t from = 0; from + 1 < k.w.n; from++) {
			const struct usk_span s = { .from = from,
						    .to = (size_t)among(&k.r, (int64_t)from + 1,
									(int64_t)k.w.n - 1),
						    .rises = usk_rng_below(&k.r, 2) };
			const struct usk_bracket want = bracket(&k.part, k.p, k.w.n, &s);
			struct usk_bracket b;
			k.w.stamps = NULL;
			usk_course_bracket(&k.w, &s, &b);
			CHECK(same_bracket(&b, &want), &k);
			const struct usk_rise rise = usk_course_rise(&k.w, k.c, &s);
			CHECK(is_rise(&k, &s, &rise), &k);
			k.w.stamps = k.stamps;
			usk_course_bracket(&k.w, &s, &b);
			CHECK(same_bracket(&b, &want), &k);
		}
		course_end(&k);
	}
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* The next point on one side of number i, whether that one is there; false: i is at the end. */
static bool go(const struct course *k, bool back, size_t *i)
{
	const bool more = back ? *i > 0 : *i + 1 < k->w.n;
	*i += !more ? 0 : back ? (size_t)-1 : 1;
	return more;
}

/* Does a point contradict any from `from` on, up to the one before it as they are walked? */
static bool contradicts_any(const struct course *k, bool back, size_t from, size_t i)
{
	bool any = false;
	for (size_t l = from; l != i; l += back ? (size_t)-1 : 1) {
		any = any || against(k->c, &k->p[l], &k->p[i], !back);
	}
	return any;
}

struct cuts {
	size_t at[MOST], n;
	bool rises[MOST];
};

/* Where the fewest events are, each as late as the points allow (back: as early). */
static struct cuts cuts_of(const struct course *k, bool back)
{
	struct cuts c = { .n = 0 };
	size_t i = back ? k->w.n - 1 : 0, from = i;
	while (go(k, back, &i)) {
		if (is_fresh(k->p, k->w.n, i, !back)) {
			from = i;
		} else if (contradicts_any(k, back, from, i)) {
			c.at[c.n] = from = i;
			c.rises[c.n++] = k->p[i].ceiling == back;
		}
	}
	return c;
}

/* The nearest point that contradicts what lies between it and i, or one beyond a break; i: there is none. */
static size_t nearest_against(const struct course *k, bool back, size_t at)
{
	size_t i = at;
	while (go(k, back, &i)) {
		if (is_fresh(k->p, k->w.n, i, !back) || contradicts_any(k, back, at, i)) {
			return i;
		}
	}
	return at;
}

static bool meet(const struct usk_span *a, const struct usk_span *b)
{
	return a->from <= b->to && b->from <= a->to;
}

static bool meets_any(const struct usk_span *x, const struct usk_spans *s)
{
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		any = any || meet(x, &s->span[i]);
	}
	return any;
}

/* Spans in about their order, and what is said of them: where something may have happened, where each and all behind
 * it begin, and where each and all before it end. */
static struct usk_spans some_spans(struct course *k)
{
	struct usk_spans s = { .n = k->w.n > 1 ? usk_rng_below(&k->r, 4) : 0, .cone = k->c };
	s.span = usk_alloc(s.n + 1, sizeof *s.span);
	for (size_t i = 0; i < s.n; i++) {
		const size_t from = usk_rng_below(&k->r, k->w.n - 1);
		s.span[i] = (struct usk_span){
			.from = i && s.span[i - 1].from > from ? s.span[i - 1].from : from,
			.rises = usk_rng_below(&k->r, 2),
		};
		s.span[i].to =
			s.span[i].from + 1 + usk_rng_below(&k->r, k->w.n - 1 - s.span[i].from);
	}
	bool *happens = usk_course_happens(&k->w, &s);
	struct usk_reach reach = usk_course_reach(&k->w, &s);
	for (size_t i = 0; i < k->w.n; i++) {
		bool any = false;
		for (size_t l = 0; l < s.n; l++) {
			any = any || (s.span[l].from < i && i <= s.span[l].to);
		}
		CHECK(happens[i] == any, k);
	}
	for (size_t l = 0; l < s.n; l++) {
		int64_t from = INT64_MAX, to = INT64_MIN;
		for (size_t i = 0; i < s.n; i++) {
			const int64_t x = k->p[s.span[i].from].x, y = k->p[s.span[i].to].x;
			from = i >= l && x < from ? x : from;
			to = i <= l && y > to ? y : to;
		}
		CHECK(reach.from[l] == from && reach.to[l] == to, k);
	}
	usk_course_reach_free(&reach);
	free(happens);
	return s;
}

/* What the skew limit alone tells; and of spans which of them meet that, that all of it is in one of them in its
 * direction, and that nothing else became of them. */
static void test_steps(void **state)
{
	(void)state;
	size_t many = 0;
	for (uint64_t seed = case_first(10000); seed < case_end(10000); seed++) {
		struct course k;
		course_begin(&k, seed);
		k.w.skew_e12 = k.c.fast_e12 > 0 ? k.c.fast_e12 : 0;
		k.c = (struct usk_slope_range){ -k.w.skew_e12, k.w.skew_e12 };
		const struct cuts forth = cuts_of(&k, false), back = cuts_of(&k, true);
		struct usk_spans s = usk_course_steps(&k.w), some = some_spans(&k), was = some;
		CHECK(s.n == forth.n && s.n == back.n, &k);
		for (size_t i = 0; i < s.n; i++) {
			const size_t l = forth.at[i], e = back.at[s.n - 1 - i];
			const size_t before = nearest_against(&k, true, l),
				     behind = nearest_against(&k, false, e);
			const size_t from = before < e ? before : e, to = behind > l ? behind : l;
			CHECK(s.span[i].from == from && s.span[i].to == to, &k);
			CHECK(s.span[i].rises == forth.rises[i], &k);
		}
		many += s.n > 1;
		was.span = usk_alloc(some.n + 1, sizeof *was.span);
		memcpy(was.span, some.span, some.n * sizeof *was.span);
		bool any = false;
		for (size_t i = 0; i < some.n; i++) {
			any = any || !meets_any(&some.span[i], &s);
		}
		CHECK(usk_course_slewed(&k.w, &some) == any, &k);
		for (size_t i = 0; i < some.n; i++) {
			CHECK(some.span[i].step == meets_any(&some.span[i], &s), &k);
		}
		CHECK(usk_course_hold_steps(&k.w, &some) == s.n, &k);
		CHECK(some.n <= was.n + s.n, &k);
		for (size_t i = 0; i < s.n; i++) {
			bool held = false;
			for (size_t l = 0; l < some.n; l++) {
				const struct usk_span *x = &some.span[l];
				held = held ||
				       (x->from <= s.span[i].from && s.span[i].to <= x->to &&
					x->rises == s.span[i].rises && x->step);
			}
			CHECK(held, &k);
		}
		for (size_t l = 0; l < some.n; l++) {
			/* Each is one that was, or a step; and goes no further than those that met it. */
			const struct usk_span *x = &some.span[l];
			bool from = false, to = false;
			for (size_t i = 0; i < was.n + s.n; i++) {
				const struct usk_span *y =
					i < was.n ? &was.span[i] : &s.span[i - was.n];
				from = from || (y->from == x->from && y->rises == x->rises);
				to = to || (y->to == x->to && y->rises == x->rises);
			}
			CHECK(from && to, &k);
			CHECK(x->step == meets_any(x, &s), &k);
		}
		USK_FREE(s.span, some.span, was.span);
		course_end(&k);
	}
	assert_true(many > case_count(10000) / 10);
}

/* How long a message was under way, e12, if what is left open at `at` goes on to it; negative: that says nothing, or
 * excludes it. */
static usk_i128 flight(const struct course *k, struct usk_offsets v, int64_t at,
		       const struct usk_course_point *p)
{
	const usk_i128 d = (usk_i128)p->x - at, slow = d * k->c.slow_e12, fast = d * k->c.fast_e12;
	const usk_i128 most = (slow > fast ? slow : fast) + v.hi - usk_e12(offset(p));
	const usk_i128 least = usk_e12(offset(p)) - v.lo - (slow < fast ? slow : fast);
	return !v.has[!p->ceiling] ? -1 : p->ceiling ? least : most;
}

/* Of steps by which b was set back: the longest time that any message was under way, by the end that says least of it, if
 * that is long enough to be so in the span. */
static void test_flights(void **state)
{
	(void)state;
	size_t beyond = 0;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct course k;
		course_begin(&k, seed);
		struct usk_spans s = some_spans(&k);
		for (size_t i = 0; i < s.n; i++) {
			s.span[i].step = usk_rng_below(&k.r, 4) > 0;
		}
		k.w.outlook = k.outlook;
		int64_t *got = usk_course_flights(&k.w, k.c, &s);
		for (size_t i = 0; i < s.n; i++) {
			const struct usk_span *x = &s.span[i];
			const struct usk_course_point *a = &k.p[x->from], *b = &k.p[x->to];
			const struct usk_offsets before =
				course_look(k.c, k.p, k.w.n, a, x->from, false);
			const struct usk_offsets behind =
				course_look(k.c, k.p, k.w.n, b, x->to + 1, true);
			usk_i128 longest = 0;
			for (size_t l = 0; l < k.w.n && x->step && !x->rises; l++) {
				const usk_i128 u = flight(&k, before, a->x, &k.p[l]);
				const usk_i128 v = flight(&k, behind, b->x, &k.p[l]);
				const usk_i128 least = u < 0 || (v >= 0 && v < u) ? v : u;
				const int64_t far = l < x->from ? a->x - k.p[l].x
						    : l > x->to ? k.p[l].x - b->x
								: 0;
				if (least > longest && least >= usk_e12(far)) {
					longest = least;
					beyond += l < x->from || l > x->to;
				}
			}
			CHECK(got[i] == (int64_t)usk_ceil_div(longest, USK_E12), &k);
		}
		USK_FREE(s.span, got);
		course_end(&k);
	}
	assert_true(beyond > case_count(6000) / 100);
}

/* What points of a span leave open at number `at` within the skew limit, those on one side of it, up to an end of the
 * span at which that is known; false: nothing, or records tell of a break. */
static bool within_limit(const struct course *k, struct usk_offsets v, size_t end, size_t at,
			 struct usk_offsets *out)
{
	const size_t from = end < at ? end : at, to = end < at ? at : end;
	const usk_i128 limit = k->w.skew_e12, far = ((usk_i128)k->p[to].x - k->p[from].x) * limit;
	bool known = true;
	v.lo -= far;
	v.hi += far;
	for (size_t i = from; i <= to; i++) {
		const usk_i128 y = usk_e12(offset(&k->p[i]));
		const int64_t d = i < at ? k->p[at].x - k->p[i].x : k->p[i].x - k->p[at].x;
		const bool ceiling = k->p[i].ceiling;
		v.hi = ceiling && (!v.has[1] || y + d * limit < v.hi) ? y + d * limit : v.hi;
		v.lo = !ceiling && (!v.has[0] || y - d * limit > v.lo) ? y - d * limit : v.lo;
		v.has[ceiling] = true;
		known = known && !(i > from && k->p[i].fresh);
	}
	*out = v;
	return known && !(v.has[0] && v.has[1] && v.lo > v.hi);
}

static bool both_known(const struct usk_offsets *v)
{
	return v->has[0] && v->has[1];
}

/* From where both sides are known of what is before, to where they are of what is behind; the most that the offset may
 * have risen or fallen by between two neighbours there, twice; and by how much it rose there in all. */
static void test_sized(void **state)
{
	(void)state;
	size_t known = 0, parts = 0;
	for (uint64_t seed = case_first(6000); seed < case_end(6000); seed++) {
		struct course k;
		course_begin(&k, seed);
		struct usk_spans s = some_spans(&k);
		k.w.outlook = k.outlook;
		for (size_t i = 0; i < s.n; i++) {
			const struct usk_span *x = &s.span[i];
			const struct usk_offsets before =
				course_look(k.c, k.p, k.w.n, &k.p[x->from], x->from, false);
			const struct usk_offsets behind =
				course_look(k.c, k.p, k.w.n, &k.p[x->to], x->to + 1, true);
			size_t from = x->to + 1, to = x->from;
			struct usk_offsets l, r, first = { .has = { false } }, last = first;
			bool good = true;
			for (size_t at = x->from; at <= x->to; at++) {
				good = within_limit(&k, before, x->from, at, &l) && good;
				good = within_limit(&k, behind, x->to, at, &r) && good;
				if (from > at && both_known(&l)) {
					from = at;
					first = l;
				}
				if (both_known(&r)) {
					to = at;
					last = r;
				}
			}
			good = good && from < to;
			usk_i128 most = 0;
			for (size_t at = from; good && at < to; at++) {
				within_limit(&k, before, x->from, at, &l);
				within_limit(&k, behind, x->to, at + 1, &r);
				const usk_i128 d = (usk_i128)k.p[at + 1].x - k.p[at].x;
				const usk_i128 up = r.hi - l.lo, down = l.hi - r.lo;
				const usk_i128 here = (up > down ? up : down) + d * k.w.skew_e12;
				most = here > most ? here : most;
			}
			const struct usk_sized got = usk_course_sized(&k.w, k.c, x);
			CHECK((got.from < got.to) == good, &k);
			if (good) {
				const usk_i128 d = (usk_i128)k.p[to].x - k.p[from].x;
				const usk_i128 least = last.lo - first.hi - d * k.c.fast_e12,
					       rise = last.hi - first.lo - d * k.c.slow_e12;
				CHECK(got.from == from && got.to == to, &k);
				CHECK(got.once_ns == (int64_t)usk_ceil_div(2 * most, USK_E12), &k);
				CHECK(got.size.least_ns == (int64_t)usk_floor_div(least, USK_E12),
				      &k);
				CHECK(got.size.most_ns == (int64_t)usk_ceil_div(rise, USK_E12), &k);
			} else {
				CHECK(got.once_ns == USK_NONE && got.size.least_ns == USK_NONE, &k);
			}
			known += good;
			parts += good && (from > x->from || to < x->to);
		}
		free(s.span);
		course_end(&k);
	}
	assert_true(known > case_count(6000) / 100);
	assert_true(parts > case_count(6000) / 100);
}

/* ---- brackets of all pairs ------------------------------------------------------------------ */

/* Of those that begin before one ends all that overlap it come, each once, and none of those before which all had ended. */
static void test_near(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(2000); seed < case_end(2000); seed++) {
		struct usk_rng r;
		struct usk_seen seen[MOST] = { 0 };
		struct usk_seen_nth order[MOST];
		struct usk_work w = { .seen = seen };
		usk_rng_seed(&r, seed);
		w.n_seen = usk_rng_below(&r, MOST + 1);
		const struct usk_seen_order all = { order, w.n_seen };
		int64_t from = 0, latest = INT64_MIN;
		for (size_t i = 0; i < w.n_seen; i++) {
			struct usk_seen *s = &seen[w.n_seen - 1 - i];
			from += among(&r, 0, 3);
			s->from = from;
			s->to = from + among(&r, 0, 6);
			latest = s->to > latest ? (int64_t)s->to : latest;
			order[i] = (struct usk_seen_nth){ (uint32_t)(w.n_seen - 1 - i), latest };
		}
		const struct usk_seen s = { .from = among(&r, 0, from),
					    .to = s.from + among(&r, 0, 4) };
		const struct usk_seen *t;
		size_t at = all.n, next = all.n;
		while (next && seen[order[next - 1].seen].from > s.to) {
			next--;
		}
		while ((t = usk_seen_near(&w, &all, &s, &at))) {
			assert_true(next > 0 && t == &seen[order[--next].seen]);
		}
		for (size_t i = 0; i < next; i++) {
			assert_true(seen[order[i].seen].to < s.from);
		}
		assert_true(!next || order[next - 1].latest < s.from);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),	 cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_brackets), cmocka_unit_test(test_steps),
		cmocka_unit_test(test_flights),	 cmocka_unit_test(test_sized),
		cmocka_unit_test(test_near),
	};
	return cmocka_run_group_tests_name("course", tests, NULL, NULL);
}
