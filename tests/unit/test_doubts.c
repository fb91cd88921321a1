/* SPDX-License-Identifier: MIT */
/* test_doubts.c - what happened to the clocks of a pair if its outliers are right, point by point */
#include "courses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct usk_suspect random_suspect(struct course *k)
{
	const struct usk_part *part = &k->part;
	const struct usk_course_point p = course_point(k, among(&k->r, -1, k->p[k->w.n - 1].x + 1));
	const int64_t local = p.x - (p.ceiling ? 0 : part->q_ns[0]);
	const int64_t off = p.ceiling ? -p.y - part->q_ns[1] : p.y + part->q_ns[0];
	return (struct usk_suspect){ .point = { part->frame.local_ns + local,
						part->frame.offset_ns + off },
				     .ceiling = p.ceiling,
				     .excess_ns = among(&k->r, 1, 8) };
}

/* Points with an outlier among them, number `at`; and the nearest on either side that it contradicts, or
 * that ends a stretch: beyond a break that records tell of, or at an end of all. */
struct among_them {
	struct usk_course_point p[MOST + 1];
	size_t n, at, near[2];
	bool against[2], fresh[2];
};

static struct among_them put_among(const struct course *k, const struct usk_suspect *s)
{
	struct among_them m = { .n = k->w.n + 1 };
	const struct usk_course_point x = usk_course_point_of(&k->part, s);
	while (m.at < k->w.n && k->p[m.at].x < x.x) {
		m.at++;
	}
	memcpy(m.p, k->p, m.at * sizeof *m.p);
	memcpy(m.p + m.at + 1, k->p + m.at, (k->w.n - m.at) * sizeof *m.p);
	m.p[m.at] = x;
	for (int behind = 0; behind < 2; behind++) {
		m.near[behind] = m.at;
		for (size_t i = m.at; i != (behind ? m.n - 1 : 0);) {
			i = behind ? i + 1 : i - 1;
			m.near[behind] = i;
			m.against[behind] = against(k->c, &x, &m.p[i], behind);
			m.fresh[behind] = !m.against[behind] && is_fresh(m.p, m.n, i, behind);
			if (m.against[behind] || m.fresh[behind]) {
				break;
			}
		}
	}
	return m;
}

/* Two delays that are as on the side where both directions tell, or no slower than the slowest; USK_NONE: neither side
 * tells. */
static int64_t delays(struct usk_offsets l, struct usk_offsets r, int64_t spread)
{
	const struct usk_offsets *one = l.has[0] && l.has[1] ? &l : &r;
	return one->has[0] && one->has[1]
		       ? (int64_t)usk_ceil_div(one->hi - one->lo, USK_E12) + spread
		       : USK_NONE;
}

/* What delays may hide between two points: what is left open on both sides, or what those on one side say. */
static int64_t hidden(const struct course *k, struct usk_offsets l, struct usk_offsets r, int64_t d,
		      bool undone)
{
	const struct usk_slope_range c = k->c;
	if (l.has[0] && l.has[1] && r.has[0] && r.has[1]) {
		const usk_i128 most = r.hi - l.lo - (usk_i128)d * c.slow_e12;
		const usk_i128 least = r.lo - l.hi - (usk_i128)d * c.fast_e12;
		return (int64_t)(usk_ceil_div(most, USK_E12) - usk_floor_div(least, USK_E12));
	}
	const int64_t some = delays(l, r, undone || k->w.n_happened ? 0 : k->part.spread_ns);
	return some == USK_NONE && undone ? 0 : some;
}

static struct usk_offsets look_from(const struct course *k, const struct among_them *m, size_t i,
				    bool behind)
{
	return course_look(k->c, m->p, m->n, &m->p[i], i + behind, behind);
}

/* Are all that it contradicts on that side no farther than these delays? Then the farthest; else itself. */
static size_t crossing(const struct course *k, const struct among_them *m, bool behind,
		       int64_t slow)
{
	size_t last = m->at;
	for (size_t i = m->at; i != (behind ? m->n - 1 : 0);) {
		i = behind ? i + 1 : i - 1;
		const bool its = against(k->c, &m->p[m->at], &m->p[i], behind);
		const int64_t away = behind ? m->p[i].x - m->p[m->at].x : m->p[m->at].x - m->p[i].x;
		if (is_fresh(m->p, m->n, i, behind) || (its && away > slow)) {
			return m->at;
		}
		last = its ? i : last;
	}
	return last;
}

/* Where it has no end it ends with the outermost points. */
static void close_by_points(const struct course *k, const struct among_them *m,
			    struct usk_bracket *b)
{
	int64_t a[] = { INT64_MAX, INT64_MIN }, of_b[] = { INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < m->n; i++) {
		const int64_t x = a_stamp(&k->part, &m->p[i]),
			      y = k->part.frame.local_ns + m->p[i].x;
		a[0] = x < a[0] ? x : a[0];
		a[1] = x > a[1] ? x : a[1];
		of_b[0] = y < of_b[0] ? y : of_b[0];
		of_b[1] = y > of_b[1] ? y : of_b[1];
	}
	b->a0_ns = b->a0_ns == INT64_MIN ? a[0] : b->a0_ns;
	b->a1_ns = b->a1_ns == INT64_MAX ? a[1] : b->a1_ns;
	b->b0_ns = b->b0_ns == INT64_MIN ? of_b[0] : b->b0_ns;
	b->b1_ns = b->b1_ns == INT64_MAX ? of_b[1] : b->b1_ns;
}

/* What happened if an outlier is right, between the points that end it. false: no clock returns by so much. */
static bool doubt(const struct course *k, const struct usk_suspect *s, struct usk_bracket *b)
{
	const struct among_them m = put_among(k, s);
	bool ends[] = { m.against[0] || m.fresh[0], m.against[1] || m.fresh[1] };
	bool both = m.against[0] && m.against[1];
	size_t near[] = { ends[0] ? m.near[0] : m.at, ends[1] ? m.near[1] : m.at };
	const int64_t since = m.p[m.at].x - m.p[m.near[0]].x,
		      until = m.p[m.near[1]].x - m.p[m.at].x;
	if (!ends[0] && !ends[1]) {
		return false;
	}
	if (both && s->excess_ns > (since < until ? since : until)) {
		const int64_t slow =
			delays(look_from(k, &m, near[0], false), look_from(k, &m, near[1], true),
			       k->w.n_happened ? 0 : k->part.spread_ns);
		for (int behind = 1; behind >= 0 && both && slow != USK_NONE; behind--) {
			const size_t last = crossing(k, &m, behind, slow);
			if (last != m.at) {
				near[behind] = last;
				ends[behind] = both = false;
			}
		}
		if (both || slow == USK_NONE) {
			return false;
		}
	}
	const struct usk_span span = { .from = near[0],
				       .to = near[1],
				       .rises = ends[0] != s->ceiling };
	const int64_t lasts = m.p[span.to].x - m.p[span.from].x;
	*b = bracket(&k->part, m.p, m.n, &span);
	b->doubted = true;
	b->both = both;
	b->open = !both && s->excess_ns > lasts;
	const int64_t more = hidden(k, look_from(k, &m, span.from, false),
				    look_from(k, &m, span.to, true), lasts, both);
	b->most_ns = more == USK_NONE ? USK_NONE : s->excess_ns + more;
	b->least_ns = more == USK_NONE ? USK_NONE : -b->most_ns;
	if (b->open) {
		close_by_points(k, &m, b);
	}
	if (b->open) { /* a went on until b's first point, then b, as fast as is possible */
		const int64_t of_b = b->b1_ns - b->b0_ns, of_a = b->a1_ns - b->a0_ns;
		const int64_t most = (of_a + of_b) * (1 + k->w.skew_e12 / USK_E12);
		*(ends[0] ? &b->b1_ns : &b->b0_ns) = ends[0] ? b->b0_ns + most : b->b1_ns - most;
		*(ends[0] ? &b->a1_ns : &b->a0_ns) = ends[0] ? b->a0_ns + most : b->a1_ns - most;
	}
	return true;
}

/* A stamp of a beyond all that b did up to point i, or from it on (last): that of the next message that says so, or the
 * outermost. */
static int64_t surely_beyond(const struct course *k, const struct among_them *m, size_t i,
			     bool last)
{
	const int64_t own = a_stamp(&k->part, &m->p[i]);
	int64_t best = own, outermost = own;
	bool any = m->p[i].ceiling == last;
	for (size_t l = 0; l < m->n && m->p[i].ceiling != last; l++) {
		const int64_t a = a_stamp(&k->part, &m->p[l]);
		const bool beyond = last ? m->p[l].x >= m->p[i].x && a >= own
					 : m->p[l].x <= m->p[i].x && a <= own;
		outermost = (last ? a > outermost : a < outermost) ? a : outermost;
		if (m->p[l].ceiling == last && beyond && (!any || (last ? a < best : a > best))) {
			best = a;
			any = true;
		}
	}
	return any ? best : outermost;
}

/* An outlier that contradicts none that is behind it by a's stamps (last), or none before it: a clock that was set
 * somewhen between it and what it contradicts and did not return until something else happened, or until a break. */
static bool doubt_at_end(const struct course *k, const struct usk_suspect *s, bool last,
			 struct usk_bracket *b)
{
	const struct among_them m = put_among(k, s);
	const int64_t a = a_stamp(&k->part, &m.p[m.at]);
	size_t first = m.at, end = m.at, near = m.at;
	while (first && !m.p[first].fresh) {
		first--;
	}
	while (end + 1 < m.n && !m.p[end + 1].fresh) {
		end++;
	}
	for (size_t i = first; i <= end; i++) {
		const int64_t v = a_stamp(&k->part, &m.p[i]),
			      so_far = a_stamp(&k->part, &m.p[near]);
		if (i != m.at && against(k->c, &m.p[m.at], &m.p[i], i > m.at) &&
		    (near == m.at || (last ? v > so_far : v < so_far))) {
			near = i;
		}
	}
	const int64_t outermost = a_stamp(&k->part, &m.p[near]);
	if (near == m.at || (last ? outermost > a : outermost < a)) {
		return false;
	}
	/* If b was set back, is the outlier's stamp of a beyond the others by no more than any of these is beyond those before
	 * it, or nearer than those beyond a break? */
	const bool beyond = last ? end + 1 < m.n : first > 0;
	int64_t next = INT64_MAX, silence = 0;
	bool inside = true;
	for (size_t i = 0; i < m.n; i++) {
		const int64_t v = a_stamp(&k->part, &m.p[i]), away = last ? a - v : v - a;
		const bool others = last ? i > end : i < first;
		int64_t before = INT64_MAX;
		for (size_t l = 0; l < m.n && i != m.at; l++) {
			const int64_t since = v - a_stamp(&k->part, &m.p[l]);
			before = l != m.at && since > 0 && since < before ? since : before;
		}
		inside = inside && (!beyond || !others || (last ? v >= a : v <= a));
		silence = before < INT64_MAX && before > silence ? before : silence;
		next = i != m.at && away < next ? away : next;
	}
	inside = inside && (beyond || next <= silence);
	const bool set_back = inside && last == (m.at < near);
	const int64_t x = m.p[set_back ? m.at : near].x, zero = k->part.frame.local_ns;
	int64_t from = last ? x : m.p[first].x - 1, to = last ? m.p[end].x + 1 : x;
	/* Until something else happened, if that is apart. */
	for (size_t i = 0; i < k->w.n_happened; i++) {
		const struct usk_between h = k->happened[i];
		if (h.from <= x && x <= h.to && h.to > from && h.from < to) {
			return false;
		}
		to = last && h.from > x && h.to < to ? h.to : to;
		from = !last && h.to < x && h.from > from ? h.from : from;
	}
	*b = (struct usk_bracket){ .b0_ns = zero + from,
				   .b1_ns = zero + to,
				   .a0_ns = surely_beyond(k, &m, last ? near : m.at, false),
				   .a1_ns = surely_beyond(k, &m, last ? m.at : near, true),
				   .step = true,
				   .doubted = true,
				   .both = true,
				   .least_ns = set_back ? 0 : USK_NONE,
				   .most_ns = set_back ? USK_NONE : 0 };
	return true;
}

static struct usk_calm ask(struct course *k, struct usk_suspect *s, size_t n)
{
	const struct usk_spans none = { .cone = k->c };
	struct usk_calm c = { .outlier = s, .n_outliers = n };
	k->w.outlook = k->outlook;
	k->w.stamps = k->stamps;
	usk_doubts_note(&k->w, &none, SIZE_MAX, &c);
	return c;
}

static void forget(struct usk_calm *c)
{
	USK_FREE(c->doubt, c->explained);
}

/* One outlier, and no brackets that explain it: what happened if it is right. It is explained if it contradicts nothing
 * up to a break. */
static void test_doubt(void **state)
{
	(void)state;
	size_t asked = 0, open = 0, ends = 0, crossed = 0;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct course k;
		struct usk_bracket want;
		course_begin(&k, seed);
		struct usk_suspect s = random_suspect(&k);
		const struct among_them m = put_among(&k, &s);
		struct usk_calm c = ask(&k, &s, 1);
		const bool any[] = { m.against[0] || m.against[1], m.fresh[0] || m.fresh[1] };
		CHECK(c.n_known[0] == (!any[0] && any[1]) && !c.n_explained, &k);
		CHECK(any[0] || any[1] || !c.n_doubts, &k);
		const bool between = doubt(&k, &s, &want);
		CHECK(!between || (c.n_doubts && same_bracket(&c.doubt[0], &want)), &k);
		asked += between;
		open += between && want.open;
		crossed += between && m.against[0] && m.against[1] && !want.both;
		/* Nor need it have returned, if it contradicts both sides. */
		const bool at_end =
			(!between || want.both) && (any[0] || any[1]) &&
			(doubt_at_end(&k, &s, true, &want) || doubt_at_end(&k, &s, false, &want));
		CHECK(c.n_doubts == (size_t)between + at_end, &k);
		CHECK(!at_end || same_bracket(&c.doubt[between], &want), &k);
		ends += at_end;
		forget(&c);
		course_end(&k);
	}
	assert_true(asked > case_count(20000) / 3 && open && ends && crossed);
}

/* Several are asked one by one, in their order, but for those that are right. */
static void test_doubts(void **state)
{
	(void)state;
	enum { SOME = 4 };
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct course k;
		course_begin(&k, seed);
		struct usk_suspect s[SOME];
		for (size_t i = 0; i < SOME; i++) {
			s[i] = random_suspect(&k);
			s[i].right = !usk_rng_below(&k.r, 4);
		}
		struct usk_calm all = ask(&k, s, SOME);
		size_t n = 0, known = 0;
		for (size_t i = 0; i < SOME; i++) {
			struct usk_calm c = ask(&k, &s[i], 1);
			CHECK(n + c.n_doubts <= all.n_doubts && c.n_doubts <= 2 * !s[i].right, &k);
			for (size_t l = 0; l < c.n_doubts; l++) {
				CHECK(same_bracket(&all.doubt[n + l], &c.doubt[l]), &k);
			}
			n += c.n_doubts;
			known += c.n_known[0];
			forget(&c);
		}
		CHECK(n == all.n_doubts && known == all.n_known[0], &k);
		forget(&all);
		course_end(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_doubts),
	};
	return cmocka_run_group_tests_name("doubts", tests, NULL, NULL);
}
