/* SPDX-License-Identifier: MIT */
/*
 * test_course.c - what is asked of a pair's points in the order of time, point by point
 *
 * Few points at small numbers, so that they lie on one another, and at what slopes leave open.
 */
#include "../part.h"
#include "graph/course.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 9 };

struct course {
	uint64_t seed;
	struct usk_rng r;
	struct usk_part part;
	struct usk_course_point p[MOST + 1];
	struct usk_slope_range c;
	struct usk_between happened[2];
	struct usk_course w;
	struct usk_outlook *outlook;
	struct usk_stamps *stamps;
};

static int64_t among(struct usk_rng *r, int64_t from, int64_t to)
{
	return from + (int64_t)usk_rng_below(r, (uint64_t)(to - from) + 1);
}

static struct usk_course_point random_point(struct course *k, int64_t x)
{
	const int64_t wide = 1 + (int64_t)(k->seed % 12);
	return (struct usk_course_point){ .x = x,
					  .y = among(&k->r, -wide, wide),
					  .ceiling = usk_rng_below(&k->r, 2) };
}

static void begin(struct course *k, uint64_t seed)
{
	*k = (struct course){ .seed = seed };
	usk_rng_seed(&k->r, seed);
	const int64_t slow = among(&k->r, -4, 2), fast = slow + among(&k->r, 0, 4);
	k->c = (struct usk_slope_range){ slow * USK_E12 / 4, fast * USK_E12 / 4 };
	k->part = (struct usk_part){ .frame = { .local_ns = 1000, .offset_ns = -300 },
				     .q_ns = { among(&k->r, 0, 2), among(&k->r, 0, 2) },
				     .spread_ns = among(&k->r, 0, 3) };
	k->w = (struct usk_course){ .part = &k->part,
				    .p = k->p,
				    .n = (size_t)among(&k->r, 1, MOST),
				    .skew_e12 = 2 * USK_E12,
				    .cone = k->c };
	int64_t x = 0;
	for (size_t i = 0; i < k->w.n; i++) {
		k->p[i] = random_point(k, x);
		k->p[i].fresh = i && seed % 2 && !usk_rng_below(&k->r, 5);
		x += among(&k->r, 0, 3);
	}
	k->w.happened = k->happened;
	for (k->w.n_happened = usk_rng_below(&k->r, 3), x = 0; x < (int64_t)k->w.n_happened; x++) {
		const int64_t from = among(&k->r, 0, 3 * MOST);
		k->happened[x] = (struct usk_between){ from, from + among(&k->r, 1, 3) };
	}
	k->outlook = usk_course_outlook(&k->w, k->c);
	k->stamps = usk_course_stamps(&k->w);
}

static void end(struct course *k)
{
	usk_course_outlook_free(k->outlook);
	usk_course_stamps_free(k->stamps);
}

/* ---- the same, point by point ------------------------------------------------------------- */

static int64_t offset(const struct usk_course_point *p)
{
	return p->ceiling ? -p->y : p->y;
}

/* What a showed as the message says that p is of. */
static int64_t a_stamp(const struct usk_part *part, const struct usk_course_point *p)
{
	const int64_t zero = part->frame.local_ns + part->frame.offset_ns;
	return zero + p->x + offset(p) - (p->ceiling ? part->q_ns[1] : 0);
}

/* Is no slope possible between a floor and a ceiling? */
static bool contradict(struct usk_slope_range c, const struct usk_course_point *first,
		       const struct usk_course_point *second)
{
	const usk_i128 d = second->x - first->x, up = (usk_i128)offset(second) - offset(first);
	return first->ceiling != second->ceiling &&
	       (second->ceiling ? up * USK_E12 < d * c.slow_e12 : up * USK_E12 > d * c.fast_e12);
}

static bool against(struct usk_slope_range c, const struct usk_course_point *p,
		    const struct usk_course_point *q, bool behind)
{
	return behind ? contradict(c, p, q) : contradict(c, q, p);
}

/* Do records tell of a break between point i of p[n] and the one before as seen from nearby? */
static bool is_fresh(const struct usk_course_point *p, size_t n, size_t i, bool behind)
{
	return behind ? p[i].fresh : i + 1 < n && p[i + 1].fresh;
}

/* Points from p[next] on, or those before it, as far as they can be of one event with q: what they leave open there. */
static struct usk_offsets look(struct usk_slope_range c, const struct usk_course_point *p, size_t n,
			       const struct usk_course_point *q, size_t next, bool behind)
{
	struct usk_offsets v = { .has = { !q->ceiling, q->ceiling },
				 .lo = usk_e12(offset(q)),
				 .hi = usk_e12(offset(q)) };
	for (size_t i = behind ? next : next - 1; i < n && !is_fresh(p, n, i, behind);
	     i += behind ? 1 : (size_t)-1) {
		const usk_i128 d = (usk_i128)q->x - p[i].x, y = usk_e12(offset(&p[i]));
		struct usk_offsets x = v;
		if (p[i].ceiling) {
			const usk_i128 hi = y + d * (behind ? c.slow_e12 : c.fast_e12);
			x.hi = !x.has[1] || hi < x.hi ? hi : x.hi;
			x.has[1] = true;
		} else {
			const usk_i128 lo = y + d * (behind ? c.fast_e12 : c.slow_e12);
			x.lo = !x.has[0] || lo > x.lo ? lo : x.lo;
			x.has[0] = true;
		}
		if (x.has[0] && x.has[1] && x.lo > x.hi) {
			break;
		}
		v = x;
	}
	return v;
}

static bool alike(struct usk_offsets a, struct usk_offsets b)
{
	return a.has[0] == b.has[0] && a.has[1] == b.has[1] && (!a.has[0] || a.lo == b.lo) &&
	       (!a.has[1] || a.hi == b.hi);
}

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
		begin(&k, seed);
		const struct usk_course *w = &k.w;
		const struct usk_course_point p = random_point(&k, among(&k.r, 0, k.p[w->n - 1].x));
		size_t at = 0;
		while (at < w->n && w->p[at].x < p.x) {
			at++;
		}
		for (int behind = 0; behind < 2; behind++) {
			ask_points(&k, &p, at, behind);
			if (at > 0 && at < w->n) { /* on both sides there is one */
				CHECK(alike(usk_course_look(k.outlook, k.c, &p, at, behind),
					    look(k.c, w->p, w->n, &p, at, behind)),
				      &k);
			}
			for (size_t i = 0; i < w->n; i++) {
				const size_t next = behind ? i + 1 : i;
				const struct usk_offsets want =
					look(k.c, w->p, w->n, &w->p[i], next, behind);
				k.w.outlook = NULL;
				CHECK(alike(usk_course_left_open(w, k.c, i, behind), want), &k);
				k.w.outlook = k.outlook;
				CHECK(alike(usk_course_left_open(w, k.c, i, behind), want), &k);
			}
		}
		end(&k);
	}
}

/* Stamps of the other clock: the nearest of a kind in some of the points, the outermost of all of these. */
static void test_stamps(void **state)
{
	(void)state;
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct course k;
		begin(&k, seed);
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
		end(&k);
	}
}

/* From the last message that b sent before and that a received before it sent the one that is before, to the first one
 * behind of which the same is true the other way round; and one more on each side for stamps of a. */
static struct usk_bracket bracket(const struct usk_part *part, const struct usk_course_point *p,
				  size_t n, const struct usk_span *s)
{
	size_t from = s->from, to = s->to;
	const int64_t first = a_stamp(part, &p[from]), last = a_stamp(part, &p[to]);
	while (from && !(p[from].ceiling && a_stamp(part, &p[from]) <= first)) {
		from--;
	}
	while (to + 1 < n && !(!p[to].ceiling && a_stamp(part, &p[to]) >= last)) {
		to++;
	}
	struct usk_bracket b = { .b0_ns = part->frame.local_ns + p[from].x,
				 .b1_ns = part->frame.local_ns + p[to].x,
				 .from_ns = part->frame.local_ns + p[s->from].x,
				 .to_ns = part->frame.local_ns + p[s->to].x,
				 .a0_ns = INT64_MAX,
				 .a1_ns = INT64_MIN,
				 .rises = s->rises,
				 .falls = last < first };
	for (size_t i = from ? from - 1 : 0; i < n && i <= to + 1; i++) {
		const int64_t a = a_stamp(part, &p[i]);
		b.a0_ns = a < b.a0_ns ? a : b.a0_ns;
		b.a1_ns = a > b.a1_ns ? a : b.a1_ns;
	}
	return b;
}

static bool same_bracket(const struct usk_bracket *a, const struct usk_bracket *b)
{
	return a->b0_ns == b->b0_ns && a->b1_ns == b->b1_ns && a->a0_ns == b->a0_ns &&
	       a->a1_ns == b->a1_ns && a->from_ns == b->from_ns && a->to_ns == b->to_ns &&
	       a->rises == b->rises && a->falls == b->falls && a->doubted == b->doubted &&
	       a->both == b->both && a->open == b->open && a->least_ns == b->least_ns &&
	       a->most_ns == b->most_ns && a->step == b->step;
}

/* By how much the offset rose over a span, but for what the clocks' rates explain: at least, at most, and by floors and
 * ceilings alone at the rate in the middle. */
static bool is_rise(const struct course *k, const struct usk_span *s, const struct usk_rise *got)
{
	const struct usk_course_point *p = k->p;
	const struct usk_offsets l = look(k->c, p, k->w.n, &p[s->from], s->from, false);
	const struct usk_offsets r = look(k->c, p, k->w.n, &p[s->to], s->to + 1, true);
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
		begin(&k, seed);
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
		end(&k);
	}
}

/* ---- doubts --------------------------------------------------------------------------------- */

static struct usk_suspect random_suspect(struct course *k)
{
	const struct usk_part *part = &k->part;
	const struct usk_course_point p = random_point(k, among(&k->r, -1, k->p[k->w.n - 1].x + 1));
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
	return look(k->c, m->p, m->n, &m->p[i], i + behind, behind);
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
 * somewhen between it and what it contradicts and never returned, as far as it goes without a break. */
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
	const int64_t x = m.p[set_back ? m.at : near].x,
		      y = m.p[last ? end : first].x + (last ? 1 : -1);
	const int64_t from = last ? x : y, to = last ? y : x, zero = k->part.frame.local_ns;
	*b = (struct usk_bracket){ .b0_ns = zero + from,
				   .b1_ns = zero + to,
				   .a0_ns = surely_beyond(k, &m, last ? near : m.at, false),
				   .a1_ns = surely_beyond(k, &m, last ? m.at : near, true),
				   .step = true,
				   .doubted = true,
				   .both = true,
				   .least_ns = set_back ? 0 : USK_NONE,
				   .most_ns = set_back ? USK_NONE : 0 };
	bool happened = false;
	for (size_t i = 0; i < k->w.n_happened; i++) {
		happened = happened || (k->happened[i].to > from && k->happened[i].from < to);
	}
	return !happened;
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
	size_t asked = 0, open = 0, ends = 0;
	for (uint64_t seed = case_first(20000); seed < case_end(20000); seed++) {
		struct course k;
		struct usk_bracket want;
		begin(&k, seed);
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
		/* Nor need it have returned, if it contradicts both sides. */
		const bool at_end =
			(!between || want.both) && (any[0] || any[1]) &&
			(doubt_at_end(&k, &s, true, &want) || doubt_at_end(&k, &s, false, &want));
		CHECK(c.n_doubts == (size_t)between + at_end, &k);
		CHECK(!at_end || same_bracket(&c.doubt[between], &want), &k);
		ends += at_end;
		forget(&c);
		end(&k);
	}
	assert_true(asked > case_count(20000) / 3 && open && ends);
}

/* Several are asked one by one, in their order, but for those that are right. */
static void test_doubts(void **state)
{
	(void)state;
	enum { SOME = 4 };
	for (uint64_t seed = case_first(3000); seed < case_end(3000); seed++) {
		struct course k;
		begin(&k, seed);
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
		end(&k);
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
		begin(&k, seed);
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
		end(&k);
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
		begin(&k, seed);
		struct usk_spans s = some_spans(&k);
		for (size_t i = 0; i < s.n; i++) {
			s.span[i].step = usk_rng_below(&k.r, 4) > 0;
		}
		k.w.outlook = k.outlook;
		int64_t *got = usk_course_flights(&k.w, k.c, &s);
		for (size_t i = 0; i < s.n; i++) {
			const struct usk_span *x = &s.span[i];
			const struct usk_course_point *a = &k.p[x->from], *b = &k.p[x->to];
			const struct usk_offsets before = look(k.c, k.p, k.w.n, a, x->from, false);
			const struct usk_offsets behind = look(k.c, k.p, k.w.n, b, x->to + 1, true);
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
		end(&k);
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
		begin(&k, seed);
		struct usk_spans s = some_spans(&k);
		k.w.outlook = k.outlook;
		for (size_t i = 0; i < s.n; i++) {
			const struct usk_span *x = &s.span[i];
			const struct usk_offsets before =
				look(k.c, k.p, k.w.n, &k.p[x->from], x->from, false);
			const struct usk_offsets behind =
				look(k.c, k.p, k.w.n, &k.p[x->to], x->to + 1, true);
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
		end(&k);
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
		struct usk_seen_order order[MOST];
		struct usk_work w = { .seen = seen, .by_begin = order };
		usk_rng_seed(&r, seed);
		w.n_by_begin = w.n_seen = usk_rng_below(&r, MOST + 1);
		int64_t from = 0, latest = INT64_MIN;
		for (size_t i = 0; i < w.n_seen; i++) {
			struct usk_seen *s = &seen[w.n_seen - 1 - i];
			from += among(&r, 0, 3);
			s->from = from;
			s->to = from + among(&r, 0, 6);
			latest = s->to > latest ? (int64_t)s->to : latest;
			order[i] = (struct usk_seen_order){ (uint32_t)(w.n_seen - 1 - i), latest };
		}
		const struct usk_seen s = { .from = among(&r, 0, from),
					    .to = s.from + among(&r, 0, 4) };
		const struct usk_seen *t;
		size_t at = w.n_by_begin, next = w.n_by_begin;
		while (next && seen[order[next - 1].seen].from > s.to) {
			next--;
		}
		while ((t = usk_seen_near(&w, &s, &at))) {
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
		cmocka_unit_test(test_brackets), cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_doubts),	 cmocka_unit_test(test_steps),
		cmocka_unit_test(test_flights),	 cmocka_unit_test(test_sized),
		cmocka_unit_test(test_near),
	};
	return cmocka_run_group_tests_name("course", tests, NULL, NULL);
}
